/* The gamma distribution: scores are the logarithms of the mean m and of the shape k; the variance is m^2 / k.
 *
 *   loss       log Gamma(k) - k log k + k log m - (k - 1) log y + k y / m
 *   gradients  k (1 - y / m),  k (psi(k) - log k - 1 + log m - log y + y / m)
 *   expected hessians  k,  k (k psi'(k) - 1)
 *
 * Shapes are kept between exp(-10) and exp(15). The CRPS is that of Scheuerer & Moeller 2015, Annals of Applied
 * Statistics 9, 1328-1349. */
#ifndef GBT_OBJECTIVE_DIST_GAMMA_H
#define GBT_OBJECTIVE_DIST_GAMMA_H

#include "../math/gamma_functions.h"
#include "formula.h"

/* Logarithms of shapes and sizes are kept to this range. */
GBT_FN double gbt_log_shape(double b) { return b < -10.0 ? -10.0 : b > 15.0 ? 15.0 : b; }

GBT_FN void gbt_dist_gamma_gradient(double a, double b, double y, const double *param, double unit, gbt_gh gh[2]) {
  const double log_k = gbt_log_shape(b), k = gbt_exp(log_k), ratio = y / gbt_exp(a);
  const double information = k * (k * gbt_trigamma(k) - 1.0);
  (void)param;
  (void)unit;
  gh[0].g = k * (1.0 - ratio);
  gh[0].h = k;
  gh[1].g = k * ((((gbt_digamma(k) - log_k) - 1.0) + (a - gbt_log(y))) + ratio);
  gh[1].h = information > 0.25 ? information : 0.25; /* it is above 1/2; rounding apart */
}

GBT_FN double gbt_dist_gamma_nloglik(double a, double b, double y, const double *param) {
  const double log_k = gbt_log_shape(b), k = gbt_exp(log_k), ratio = y / gbt_exp(a), by = gbt_log(y) - a;
  (void)param;
  if (k < 8.0) return ((gbt_log_gamma(k) - k * log_k) + (k * (ratio - by))) + (by + a);
  /* log Gamma(k) - k log k = -k - log k / 2 + log sqrt(2 pi) + rest */
  return ((k * ((ratio - 1.0) - by) - 0.5 * log_k) + (GBT_LOG_SQRT_2PI + gbt_stirling_rest(k))) + (by + a);
}

GBT_FN void gbt_dist_gamma_natural(double a, double b, double out[2]) {
  out[0] = gbt_exp(a);
  out[1] = gbt_exp(gbt_log_shape(b));
}

GBT_FN double gbt_dist_gamma_mean(double a, double b, const double *param) {
  (void)b;
  (void)param;
  return gbt_exp(a);
}

GBT_FN double gbt_dist_gamma_below(double a, double b, double y, const double *param) {
  const double k = gbt_exp(gbt_log_shape(b));
  (void)param;
  return gbt_gamma_chance(k, y / gbt_exp(a) * k, 0);
}

GBT_FN double gbt_dist_gamma_quantile(double a, double b, double p, const double *param) {
  const double k = gbt_exp(gbt_log_shape(b));
  (void)param;
  return gbt_exp(a) * (gbt_gamma_quantile(k, p) / k);
}

/* Of mean m and shape k. */
GBT_FN double gbt_gamma_crps(double m, double k, double y) {
  const double x = y / m * k, below = gbt_gamma_chance(k, x, 0);
  const double next = x > 0.0 ? below - gbt_exp(gbt_gamma_term(k, x)) : 0.0; /* the probability of shape k + 1 */
  const double spread = gbt_exp(gbt_log_gamma_half(k)) * 0.56418958354775628695 / k; /* 1 / (k B(1/2, k)) */
  return (y * (2.0 * below - 1.0) - m * (2.0 * next - 1.0)) - m * spread;
}

GBT_FN double gbt_dist_gamma_crps(double a, double b, double y, const double *param) {
  (void)param;
  return gbt_gamma_crps(gbt_exp(a), gbt_exp(gbt_log_shape(b)), y);
}

#endif
