/* The zero-inflated Poisson distribution (Lambert 1992, Technometrics 34, 1-14): with probability p the count is 0,
 * else it is Poisson's of mean m. Scores are log m and the log odds of p. r is the probability that a count of 0 is one
 * of the first kind: p / (p + (1 - p) exp(-m)); 0 for other counts.
 *
 *   loss       -log(p + (1 - p) exp(-m)) of 0;  m - y log m + log y! - log(1 - p) of other counts
 *   gradients  (1 - r) m - y,  p - r
 *   hessians   (1 - r) m,  p (1 - p): those of the EM algorithm, a bound of the Fisher information, so that no step
 *              makes the loss larger */
#ifndef GBT_OBJECTIVE_DIST_ZIP_H
#define GBT_OBJECTIVE_DIST_ZIP_H

#include "counts.h"
#include "dist_gamma.h"

GBT_FN void gbt_dist_zip_gradient(double a, double b, double y, const double *param, double unit, gbt_gh gh[2]) {
  const double m = gbt_exp(a), p = gbt_sigmoid(b), rest = y > 0.0 ? 1.0 : gbt_sigmoid(-(b + m)); /* 1 - r */
  (void)param;
  (void)unit;
  gh[0].g = rest * m - y;
  gh[0].h = rest * m;
  gh[1].g = y > 0.0 ? p : rest - gbt_sigmoid(-b);
  gh[1].h = p * gbt_sigmoid(-b);
}

GBT_FN double gbt_dist_zip_nloglik(double a, double b, double y, const double *param) {
  const double m = gbt_exp(a);
  (void)param;
  if (y > 0.0) return ((m - y * a) + gbt_log_gamma(y + 1.0)) + gbt_softplus(b);
  return b > -m ? gbt_softplus(b) - (b + gbt_softplus(-(b + m))) : (gbt_softplus(b) + m) - gbt_softplus(b + m);
}

GBT_FN void gbt_dist_zip_natural(double a, double b, double out[2]) {
  out[0] = gbt_exp(a);
  out[1] = gbt_sigmoid(b);
}

GBT_FN double gbt_dist_zip_mean(double a, double b, const double *param) {
  (void)param;
  return gbt_exp(a) * gbt_sigmoid(-b);
}

GBT_FN double gbt_dist_zip_below(double a, double b, double y, const double *param) {
  (void)param;
  return y < 0.0 ? 0.0 : gbt_sigmoid(b) + gbt_sigmoid(-b) * gbt_poisson_below(gbt_exp(a), y);
}

GBT_FN double gbt_dist_zip_quantile(double a, double b, double p, const double *param) {
  const double zero = gbt_sigmoid(b), rest = (p - zero) / gbt_sigmoid(-b);
  (void)param;
  return rest > 0.0 ? gbt_poisson_quantile(gbt_exp(a), rest < 1.0 ? rest : 1.0) : 0.0;
}

GBT_FN double gbt_dist_zip_crps(double a, double b, double y, const double *param) {
  const double m = gbt_exp(a), zero = gbt_sigmoid(b), rest = gbt_sigmoid(-b);
  (void)param;
  if (m > GBT_COUNTS_ONE_BY_ONE) {
    /* a gamma distribution of mean and variance m in place of Poisson's: E|X - y| - E|X - X'| / 2 of the mixture */
    const double half = m * gbt_exp(gbt_log_gamma_half(m)) * 0.56418958354775628695 / m; /* E|G - G'| / 2 */
    const double far = gbt_gamma_crps(m, m, y) + half;                                  /* E|G - y| */
    return ((zero * y + rest * far) - (rest * rest) * half) - (zero * rest) * m;
  }
  double chance = gbt_exp(-m) * rest, below = zero + chance, sum = 0.0, j = 0.0;
  for (; 1.0 - below > 1e-8 * rest && !(j > m && chance < 1e-18); j += 1.0) {
    const double off = j < y ? below : 1.0 - below;
    sum += off * off;
    chance *= m / (j + 1.0);
    below += chance;
  }
  return y > j ? sum + (y - j) : sum;
}

#endif
