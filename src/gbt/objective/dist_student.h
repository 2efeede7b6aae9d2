/* Student's t distribution with param[0] = df degrees of freedom: scores are the location, which is the mean, and the
 * logarithm of the scale. With z = (y - mean) / scale and w = (df + 1) / (df + z^2),
 *
 *   loss       log scale + (df + 1) / 2 log(1 + z^2 / df) + log(sqrt(df) B(1/2, df / 2))
 *   gradients  -w z / scale,  1 - w z^2      expected hessians  (df + 1) / ((df + 3) scale^2),  2 df / (df + 3)
 *
 * (Lange, Little & Taylor 1989, JASA 84, 881-896). The CRPS is that of Jordan, Krueger & Lerch 2019, Journal of
 * Statistical Software 90(12). */
#ifndef GBT_OBJECTIVE_DIST_STUDENT_H
#define GBT_OBJECTIVE_DIST_STUDENT_H

#include "../math/gamma_functions.h"
#include "formula.h"

GBT_FN void gbt_dist_student_gradient(double a, double b, double y, const double *param, double unit, gbt_gh gh[2]) {
  const double df = param[0], scale = gbt_exp(b), z = (y - a) / scale, relative = scale / unit;
  const double w = (df + 1.0) / (df + z * z);
  gh[0].g = -((w * z) * unit) / relative;
  gh[0].h = (df + 1.0) / ((df + 3.0) * (relative * relative));
  gh[1].g = 1.0 - (w * z) * z;
  gh[1].h = 2.0 * df / (df + 3.0);
}

/* log(sqrt(df) B(1/2, df / 2)) */
GBT_FN double gbt_student_constant(double df) {
  return 0.5 * gbt_log(df * 3.14159265358979323846) - gbt_log_gamma_half(0.5 * df);
}

GBT_FN double gbt_dist_student_nloglik(double a, double b, double y, const double *param) {
  const double df = param[0], z = (y - a) / gbt_exp(b);
  return (b + 0.5 * (df + 1.0) * gbt_log1p(z * z / df)) + gbt_student_constant(df);
}

GBT_FN void gbt_dist_student_natural(double a, double b, double out[2]) {
  out[0] = a;
  out[1] = gbt_exp(b);
}

GBT_FN double gbt_dist_student_mean(double a, double b, const double *param) {
  (void)b;
  (void)param;
  return a;
}

/* The probability of more than z >= 0. */
GBT_FN double gbt_student_above(double z, double df) {
  const double all = df + z * z;
  return 0.5 * gbt_beta_chance(0.5 * df, 0.5, df / all, (z * z) / all);
}

GBT_FN double gbt_student_density(double z, double df) {
  return gbt_exp(-(0.5 * (df + 1.0) * gbt_log1p(z * z / df) + gbt_student_constant(df)));
}

GBT_FN double gbt_dist_student_below(double a, double b, double y, const double *param) {
  const double z = (y - a) / gbt_exp(b), tail = gbt_student_above(z < 0.0 ? -z : z, param[0]);
  return z < 0.0 ? tail : 1.0 - tail;
}

/* Newton's steps for the logarithms of z and of the tail, kept between two numbers that enclose z. */
GBT_FN double gbt_dist_student_quantile(double a, double b, double p, const double *param) {
  const double df = param[0], q = p < 0.5 ? p : 1.0 - p, scale = gbt_exp(b);
  double low = -80.0, high = 700.0, u = 0.0;
  if (q == 0.5) return a;
  for (int i = 0; i < 200; i++) {
    if (!(u > low && u < high)) u = 0.5 * low + 0.5 * high;
    const double z = gbt_exp(u), at = gbt_student_above(z, df), slope = gbt_student_density(z, df) * z;
    if (at == q) break;
    if (at < q) high = u;
    if (at > q) low = u;
    const double next = at > 0.0 && slope > 0.0 ? u + gbt_log(at / q) * at / slope : low;
    const double least = 1e-15 * (1.0 + (u < 0.0 ? -u : u));
    if (high - low < least || (next - u < least && u - next < least)) break;
    u = next;
  }
  return p < 0.5 ? a - scale * gbt_exp(u) : a + scale * gbt_exp(u);
}

GBT_FN double gbt_dist_student_crps(double a, double b, double y, const double *param) {
  const double df = param[0], scale = gbt_exp(b), z = (y - a) / scale, size = z < 0.0 ? -z : z;
  const double above = gbt_student_above(size, df), density = gbt_student_density(z, df);
  /* 2 sqrt(df) / (df - 1) B(1/2, df - 1/2) / B(1/2, df / 2)^2; log B(1/2, x) = log sqrt(pi) - log_gamma_half(x) */
  const double log_ratio = 2.0 * gbt_log_gamma_half(0.5 * df) - gbt_log_gamma_half(df - 0.5);
  const double spread = 2.0 * gbt_sqrt(df) * 0.56418958354775628695 * gbt_exp(log_ratio);
  return scale * (size * (1.0 - 2.0 * above) + (2.0 * density * (df + z * z) - spread) / (df - 1.0));
}

#endif
