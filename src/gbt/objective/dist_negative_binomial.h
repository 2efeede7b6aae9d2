/* The negative binomial distribution: scores are the logarithms of the mean m and of the size t; the variance is
 * m + m^2 / t (Hilbe 2011, "NB2").
 *
 *   loss       log Gamma(t) + log y! - log Gamma(y + t) - t log(t / (t + m)) - y log(m / (t + m))
 *   gradients  t (m - y) / (t + m),  -t (psi(y + t) - psi(t) + log(t / (t + m)) + (m - y) / (t + m))
 *   expected hessians  t m / (t + m),  sum over j >= 0 of P(Y > j) (t / (t + j))^2 - t m / (t + m)
 *
 * Sizes are kept between exp(-10) and exp(15). */
#ifndef GBT_OBJECTIVE_DIST_NEGATIVE_BINOMIAL_H
#define GBT_OBJECTIVE_DIST_NEGATIVE_BINOMIAL_H

#include "counts.h"
#include "dist_gamma.h"

/* log((t + m) / t) */
GBT_FN double gbt_negative_binomial_log(double t, double m) { return gbt_log1p(m / t); }

/* The information of log t. The first terms are added up; what is left is at most its value at the mean of the rows
 * beyond, as psi' is convex. */
GBT_FN double gbt_negative_binomial_information(double t, double m) {
  enum { TERMS = 64 };
  double p = gbt_exp(-t * gbt_negative_binomial_log(t, m)), above = 1.0 - p, sum = above, left = m;
  const double share = m / (t + m);
  int j = 1;
  for (; j < TERMS && above > 1e-14; j++) {
    const double x = (double)j, by = t / (t + x);
    p *= share * ((t + x - 1.0) / x);
    left -= p * x; /* of the mean, beyond j */
    above -= p;
    sum += above * (by * by);
  }
  if (j == TERMS && above > 1e-14) {
    const double mean = left > above * (double)j ? left / above : (double)j;
    sum += above * (t * t) * (gbt_trigamma(t + (double)j) - gbt_trigamma(t + mean));
  }
  const double information = sum - t * share;
  const double least = 1e-12 * t * share;
  return information > least ? information : least > 1e-300 ? least : 1e-300;
}

GBT_FN void gbt_dist_negative_binomial_gradient(double a, double b, double y, const double *param, double unit,
                                                gbt_gh gh[2]) {
  const double m = gbt_exp(a), t = gbt_exp(gbt_log_shape(b)), all = t + m;
  double rising = 0.0; /* psi(y + t) - psi(t) */
  (void)param;
  (void)unit;
  if (y < 16.0)
    for (double j = 0.0; j < y; j += 1.0) rising += 1.0 / (t + j);
  else
    rising = gbt_digamma(y + t) - gbt_digamma(t);
  gh[0].g = t * ((m - y) / all);
  gh[0].h = t * (m / all);
  gh[1].g = -t * ((rising - gbt_negative_binomial_log(t, m)) + (m - y) / all);
  gh[1].h = gbt_negative_binomial_information(t, m);
}

GBT_FN double gbt_dist_negative_binomial_nloglik(double a, double b, double y, const double *param) {
  const double m = gbt_exp(a), t = gbt_exp(gbt_log_shape(b));
  double rising = 0.0; /* log (Gamma(y + t) / Gamma(t)) - y log t */
  (void)param;
  if (y < 16.0)
    for (double j = 1.0; j < y; j += 1.0) rising += gbt_log1p(j / t);
  else
    rising = (gbt_log_gamma(y + t) - gbt_log_gamma(t)) - y * gbt_log(t);
  return ((gbt_log_gamma(y + 1.0) - rising) + (t + y) * gbt_negative_binomial_log(t, m)) - y * a;
}

GBT_FN void gbt_dist_negative_binomial_natural(double a, double b, double out[2]) {
  out[0] = gbt_exp(a);
  out[1] = gbt_exp(gbt_log_shape(b));
}

GBT_FN double gbt_dist_negative_binomial_mean(double a, double b, const double *param) {
  (void)b;
  (void)param;
  return gbt_exp(a);
}

GBT_FN double gbt_dist_negative_binomial_below(double a, double b, double y, const double *param) {
  const double m = gbt_exp(a), t = gbt_exp(gbt_log_shape(b));
  (void)param;
  return y < 0.0 ? 0.0 : gbt_beta_chance(t, gbt_floor(y) + 1.0, t / (t + m), m / (t + m));
}

/* Counts with larger deviations are treated as gamma distributions of their mean and variance, which differ by less
 * than a part in their variance. */
GBT_FN int gbt_counts_are_many(double m, double variance) { return m > GBT_COUNTS_ONE_BY_ONE || variance > 2.5e7; }

GBT_FN double gbt_dist_negative_binomial_quantile(double a, double b, double p, const double *param) {
  const double m = gbt_exp(a), t = gbt_exp(gbt_log_shape(b)), share = m / (t + m);
  if (m > GBT_COUNTS_ONE_BY_ONE) {
    GBT_SEARCH_COUNT(gbt_dist_negative_binomial_below(a, b, at, param), p, m);
  }
  double chance = gbt_exp(-t * gbt_negative_binomial_log(t, m)), sum = chance, y = 0.0;
  while (sum < p && y < 1e9) {
    y += 1.0;
    chance *= share * ((t + y - 1.0) / y);
    sum += chance;
    if (chance < 1e-18 && y > m) break; /* what is left is rounding */
  }
  return y;
}

GBT_FN double gbt_dist_negative_binomial_crps(double a, double b, double y, const double *param) {
  const double m = gbt_exp(a), t = gbt_exp(gbt_log_shape(b)), share = m / (t + m), variance = m + m * (m / t);
  (void)param;
  if (gbt_counts_are_many(m, variance)) return gbt_gamma_crps(m, t * share, y);
  double chance = gbt_exp(-t * gbt_negative_binomial_log(t, m)), below = chance, sum = 0.0, j = 0.0;
  for (; 1.0 - below > 1e-8 && j < 1e6; j += 1.0) {
    const double off = j < y ? below : 1.0 - below;
    sum += off * off;
    chance *= share * ((t + j) / (j + 1.0));
    below += chance;
  }
  return y > j ? sum + (y - j) : sum; /* what lies below is all of it */
}

#endif
