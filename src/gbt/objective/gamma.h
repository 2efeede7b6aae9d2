/* Gamma deviance of amounts y > 0 with a log link, without its constant terms and halved: y exp(-s) + s (McCullagh and
 * Nelder 1989, section 8.3; the minimiser does not depend on the shape). The response is the mean exp(s). */
#ifndef GBT_OBJECTIVE_GAMMA_H
#define GBT_OBJECTIVE_GAMMA_H

#include "formula.h"

GBT_FN gbt_gh gbt_gamma_gradient(double s, double y, const double *param) {
  (void)param;
  double ratio = y * gbt_exp(-s); /* label over mean */
  gbt_gh r = {1.0 - ratio, ratio};
  return r;
}

GBT_FN double gbt_gamma_response(double s, const double *param) {
  (void)param;
  return gbt_exp(s);
}

/* The minimiser: log(mean of y / exp(offset)), the mean at least 1e-300. */
GBT_FN gbt_base_terms gbt_gamma_base_terms(double y, double offset, const double *param) {
  (void)param;
  gbt_base_terms t = {y * gbt_exp(-offset), 1.0};
  return t;
}

GBT_FN double gbt_gamma_base(double mean, const double *param) {
  (void)param;
  return gbt_log(mean > 1e-300 ? mean : 1e-300);
}

#endif
