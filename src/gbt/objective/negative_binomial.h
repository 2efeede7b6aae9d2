/* Negative log-likelihood of a negative binomial with a log link and variance m + a m^2, m the mean, without its
 * constant terms: (y + 1 / a) log(1 + a m) - y s, m = exp(s) (Hilbe 2011, section 8.2, "NB2"). param[0]: a, the
 * dispersion, is given. The response is m. Written by exp(-s), so that nothing overflows:
 * m / (1 + a m) = 1 / (exp(-s) + a). */
#ifndef GBT_OBJECTIVE_NEGATIVE_BINOMIAL_H
#define GBT_OBJECTIVE_NEGATIVE_BINOMIAL_H

#include "formula.h"

GBT_FN gbt_gh gbt_negative_binomial_gradient(double s, double y, const double *param) {
  double e = gbt_exp(-s);
  double q = 1.0 / (e + param[0]), share = e * q; /* share of the variance that is Poisson's */
  gbt_gh r = {q - y * share, (1.0 + param[0] * y) * (q * share)};
  return r;
}

GBT_FN double gbt_negative_binomial_response(double s, const double *param) {
  (void)param;
  return gbt_exp(s);
}

/* log(sum y / sum exp(offset)), the quotient at least 1e-9: the minimiser without offsets, and near it with them. */
GBT_FN gbt_base_terms gbt_negative_binomial_base_terms(double y, double offset, const double *param) {
  (void)param;
  gbt_base_terms t = {y, gbt_exp(offset)};
  return t;
}

GBT_FN double gbt_negative_binomial_base(double mean, const double *param) {
  (void)param;
  return gbt_log(mean > 1e-9 ? mean : 1e-9);
}

#endif
