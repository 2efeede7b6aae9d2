/* Tweedie deviance of y >= 0 with a log link and variance mean^p, 1 < p < 2, without its constant terms and halved:
 * exp((2 - p) s) / (2 - p) - y exp((1 - p) s) / (1 - p) (Jorgensen 1987; Yang, Qian and Zou 2018 boost it).
 * param[0]: p. The response is the mean exp(s). Both terms of the hessian are positive for such p. */
#ifndef GBT_OBJECTIVE_TWEEDIE_H
#define GBT_OBJECTIVE_TWEEDIE_H

#include "formula.h"

GBT_FN gbt_gh gbt_tweedie_gradient(double s, double y, const double *param) {
  double p = param[0];
  double a = y * gbt_exp((1.0 - p) * s), b = gbt_exp((2.0 - p) * s);
  gbt_gh r = {b - a, (p - 1.0) * a + (2.0 - p) * b};
  return r;
}

GBT_FN double gbt_tweedie_response(double s, const double *param) {
  (void)param;
  return gbt_exp(s);
}

/* The minimiser: log(sum y exp((1 - p) offset) / sum exp((2 - p) offset)), the quotient at least 1e-9. */
GBT_FN gbt_base_terms gbt_tweedie_base_terms(double y, double offset, const double *param) {
  gbt_base_terms t = {y * gbt_exp((1.0 - param[0]) * offset), gbt_exp((2.0 - param[0]) * offset)};
  return t;
}

GBT_FN double gbt_tweedie_base(double mean, const double *param) {
  (void)param;
  return gbt_log(mean > 1e-9 ? mean : 1e-9);
}

#endif
