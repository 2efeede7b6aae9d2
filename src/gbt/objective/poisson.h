/* Poisson deviance of counts y >= 0 with a log link, without its constant terms: exp(s) - y s. The response is the mean
 * exp(s). */
#ifndef GBT_OBJECTIVE_POISSON_H
#define GBT_OBJECTIVE_POISSON_H

#include "formula.h"

GBT_FN gbt_gh gbt_poisson_gradient(double s, double y, const double *param) {
  (void)param;
  double m = gbt_exp(s);
  gbt_gh r = {m - y, m};
  return r;
}

GBT_FN double gbt_poisson_response(double s, const double *param) {
  (void)param;
  return gbt_exp(s);
}

/* The minimiser: log(sum y / sum exp(offset)), the quotient at least 1e-9. */
GBT_FN gbt_base_terms gbt_poisson_base_terms(double y, double offset, const double *param) {
  (void)param;
  gbt_base_terms t = {y, gbt_exp(offset)};
  return t;
}

GBT_FN double gbt_poisson_base(double mean, const double *param) {
  (void)param;
  return gbt_log(mean > 1e-9 ? mean : 1e-9);
}

#endif
