/* Huber loss of the residual r = s - y: r^2 / 2 up to |r| = d, d (|r| - d / 2) beyond (Huber 1964). param[0]: d. The
 * response is the score. The second derivative is 0 beyond d; h is g / r, the curvature of the quadratic that touches
 * the loss at r and lies nowhere below it (Huber and Ronchetti 2009, section 7.8, the weights of reweighted least
 * squares), so that a Newton step lowers the loss. */
#ifndef GBT_OBJECTIVE_HUBER_H
#define GBT_OBJECTIVE_HUBER_H

#include "formula.h"

GBT_FN gbt_gh gbt_huber_gradient(double s, double y, const double *param) {
  double d = param[0], r = s - y, size = r < 0.0 ? -r : r;
  double cut = r > d ? d : r;
  gbt_gh out = {cut < -d ? -d : cut, d / (size > d ? size : d)};
  return out;
}

GBT_FN double gbt_huber_response(double s, const double *param) {
  (void)param;
  return s;
}

#endif
