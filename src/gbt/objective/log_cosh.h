/* log cosh of the residual r = s - y: r^2 / 2 for small ones, |r| - log 2 for large ones. The response is the score.
 * The second derivative falls exponentially; h is g / r, see huber.h. */
#ifndef GBT_OBJECTIVE_LOG_COSH_H
#define GBT_OBJECTIVE_LOG_COSH_H

#include "formula.h"

GBT_FN gbt_gh gbt_log_cosh_gradient(double s, double y, const double *param) {
  (void)param;
  double r = s - y, t = gbt_tanh(r);
  gbt_gh out = {t, r != 0.0 ? t / r : 1.0};
  return out;
}

GBT_FN double gbt_log_cosh_response(double s, const double *param) {
  (void)param;
  return s;
}

#endif
