/* The normal distribution: scores are the mean and the logarithm of the standard deviation. With z = (y - mean) / sd,
 *
 *   loss       log sd + z^2 / 2 + log sqrt(2 pi)
 *   gradients  -z / sd,  1 - z^2          expected hessians  1 / sd^2,  2
 *   CRPS       sd (z (2 F(z) - 1) + 2 f(z) - 1 / sqrt(pi))          (Gneiting & Raftery 2007, JASA 102, 359-378) */
#ifndef GBT_OBJECTIVE_DIST_NORMAL_H
#define GBT_OBJECTIVE_DIST_NORMAL_H

#include "../math/normal.h"
#include "formula.h"

GBT_FN void gbt_dist_normal_gradient(double a, double b, double y, const double *param, double unit, gbt_gh gh[2]) {
  const double sd = gbt_exp(b), z = (y - a) / sd, relative = sd / unit;
  (void)param;
  gh[0].g = -(z * unit) / relative;
  gh[0].h = 1.0 / (relative * relative);
  gh[1].g = 1.0 - z * z;
  gh[1].h = 2.0;
}

GBT_FN double gbt_dist_normal_nloglik(double a, double b, double y, const double *param) {
  const double z = (y - a) / gbt_exp(b);
  (void)param;
  return (b + 0.5 * z * z) + GBT_LOG_SQRT_2PI;
}

GBT_FN void gbt_dist_normal_natural(double a, double b, double out[2]) {
  out[0] = a;
  out[1] = gbt_exp(b);
}

GBT_FN double gbt_dist_normal_mean(double a, double b, const double *param) {
  (void)b;
  (void)param;
  return a;
}

GBT_FN double gbt_dist_normal_below(double a, double b, double y, const double *param) {
  (void)param;
  return gbt_normal_tail((a - y) / gbt_exp(b)) / GBT_SQRT_2PI;
}

GBT_FN double gbt_dist_normal_quantile(double a, double b, double p, const double *param) {
  (void)param;
  return a + gbt_exp(b) * gbt_normal_quantile(p);
}

GBT_FN double gbt_dist_normal_crps(double a, double b, double y, const double *param) {
  const double sd = gbt_exp(b), z = (y - a) / sd, size = z < 0.0 ? -z : z;
  const double above = gbt_normal_tail(size) / GBT_SQRT_2PI, density = gbt_normal_bell(z) / GBT_SQRT_2PI;
  (void)param;
  return sd * ((size * (1.0 - 2.0 * above) + 2.0 * density) - 0.56418958354775628695); /* 1 / sqrt(pi) */
}

#endif
