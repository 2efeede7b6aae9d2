/* Pseudo-Huber loss of the residual r = s - y: d^2 (sqrt(1 + (r / d)^2) - 1) (Charbonnier et al. 1994). param[0]: d.
 * The response is the score. The second derivative falls with the third power of r; h is g / r, see huber.h. */
#ifndef GBT_OBJECTIVE_PSEUDO_HUBER_H
#define GBT_OBJECTIVE_PSEUDO_HUBER_H

#include "formula.h"

GBT_FN gbt_gh gbt_pseudo_huber_gradient(double s, double y, const double *param) {
  double d = param[0], z = (s - y) / d;
  z = z > 1e150 ? 1e150 : z;
  z = z < -1e150 ? -1e150 : z; /* whose square is finite */
  double h = 1.0 / gbt_sqrt(1.0 + z * z);
  gbt_gh r = {d * (z * h), h};
  return r;
}

GBT_FN double gbt_pseudo_huber_response(double s, const double *param) {
  (void)param;
  return s;
}

#endif
