/* The standard normal distribution: f its density, F its distribution function. One text of + - * / and exp, so that
 * all devices have the same bits; nothing underflows or overflows for any finite z. */
#ifndef GBT_MATH_NORMAL_H
#define GBT_MATH_NORMAL_H

#include "elementary.h"

#define GBT_SQRT_2PI 2.5066282746310005024
#define GBT_LOG_SQRT_2PI 0.91893853320467274178

/* (1 - F(z)) / f(z) for z >= 0, Mills' ratio, wrong by less than 5e-16 of it. (z + 4) times it is a polynomial in
 * (z - 4) / (z + 4), cut from its Chebyshev series, whose next term is below 4e-18. */
GBT_FN double gbt_mills(double z) {
  const double t = (z - 4.0) / (z + 4.0);
  double p = 8.53083886026053e-10;
  p = p * t - 3.0073979672398766e-10;
  p = p * t - 9.35134044482434e-09;
  p = p * t - 1.4722998923746307e-09;
  p = p * t + 5.3711037651589576e-08;
  p = p * t + 4.473060051450323e-08;
  p = p * t - 2.1774195022039326e-07;
  p = p * t - 4.00493929251171e-07;
  p = p * t + 6.829633831673466e-07;
  p = p * t + 2.568755311229722e-06;
  p = p * t - 1.5787665654677373e-06;
  p = p * t - 1.4843277679080294e-05;
  p = p * t + 1.7963971214040778e-06;
  p = p * t + 8.809573121072337e-05;
  p = p * t - 4.783264259417208e-06;
  p = p * t - 0.0005792693046478719;
  p = p * t + 0.0003342446162328441;
  p = p * t + 0.004087855681200072;
  p = p * t - 0.008722295274260125;
  p = p * t - 0.018900450861711257;
  p = p * t + 0.15139176231244347;
  p = p * t - 0.4675409629983325;
  p = p * t + 0.9704095548675884;
  p = p * t - 1.5237709108199835;
  p = p * t + 1.8932190633084853;
  return p / (z + 4.0);
}

/* exp(-z^2 / 2), saturating as gbt_exp. */
GBT_FN double gbt_normal_bell(double z) { return gbt_exp(-0.5 * z * z); }

/* sqrt(2 pi) (1 - F(z)), of which a tail above about 37 saturates. */
GBT_FN double gbt_normal_tail(double z) {
  const double tail = gbt_normal_bell(z) * gbt_mills(z < 0.0 ? -z : z);
  return z < 0.0 ? GBT_SQRT_2PI - tail : tail;
}

/* The hazard f(z) / (1 - F(z)): near z for large z, near f(z) for small ones. */
GBT_FN double gbt_normal_hazard(double z) {
  return z < 0.0 ? gbt_normal_bell(z) / gbt_normal_tail(z) : 1.0 / gbt_mills(z);
}

/* log(1 - F(z)). */
GBT_FN double gbt_normal_log_above(double z) {
  if (z < 0.0) return gbt_log1p(-gbt_normal_bell(z) * gbt_mills(-z) / GBT_SQRT_2PI);
  return gbt_log(gbt_mills(z)) - 0.5 * z * z - GBT_LOG_SQRT_2PI;
}

/* z with F(z) = p, 0 < p < 1: Newton's steps on the logarithm of the smaller tail, which is concave. */
GBT_FN double gbt_normal_quantile(double p) {
  const double q = p < 0.5 ? p : 1.0 - p, to = gbt_log(q);
  double z = gbt_normal_above(q);
  if (q == 0.5) return 0.0;
  for (int i = 0; i < 4; i++) z += (gbt_normal_log_above(z) - to) / gbt_normal_hazard(z);
  return p < 0.5 ? -z : z;
}

#endif
