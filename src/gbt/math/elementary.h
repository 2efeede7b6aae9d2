/* exp, log and related functions in double from only + - * / and bit shifts: gcc, clang and nvcc give the same bits
 * when contraction is off (-ffp-contract=off, -fmad=false). libm must not be used on any path that reaches a model.
 * Errors, measured in tests/native/math/test_math.c, in units of the last place: exp and log below 1, softplus below 2,
 * sigmoid below 2.5, expm1 below 4, log1p below 2, tanh below 3. */
#ifndef GBT_MATH_ELEMENTARY_H
#define GBT_MATH_ELEMENTARY_H

#include "../base/bits.h"

/* exp(x). Saturates at exp(+-708) (3e+-307): neither overflows nor becomes subnormal. NaN stays NaN.
 * x = n ln2 + r with |r| <= ln2 / 2; exp(r) by its Taylor series to r^13 (remainder below 5e-18). */
GBT_FN double gbt_exp(double x) {
  double c = x > 708.0 ? 708.0 : x;
  c = c < -708.0 ? -708.0 : c;
  const double magic = 6755399441055744.0;
  double t = c * 1.4426950408889634 + magic;
  double n = t - magic;
  double r = (c - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10; /* ln2 in two parts */
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  double y = (p * r) * r + r + 1.0;
  return gbt_from_bits(gbt_bits(y) + (gbt_bits(t) << 52));
}

/* log(x) for finite normal x > 0. Zero and subnormals give log(DBL_MIN) = -708.4, so that no infinity arises.
 * x = m 2^k, sqrt(1/2) <= m < sqrt(2); log m = 2 atanh(s), s = (m-1)/(m+1), odd series to s^23. */
GBT_FN double gbt_log(double x) {
  double c = x < 2.2250738585072014e-308 ? 2.2250738585072014e-308 : x;
  uint64_t u = gbt_bits(c);
  int64_t k = (int64_t)((u - 0x3fe6a09e667f3bcdu) >> 52);  /* floor(log2(x / sqrt(1/2))), as 12 bits */
  k = (k ^ 0x800) - 0x800;                                  /* sign-extend them */
  double m = gbt_from_bits(u - ((uint64_t)k << 52));
  double f = m - 1.0;
  double s = f / (m + 1.0), z = s * s;
  double p = 1.0 / 23.0;
  p = p * z + 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  /* log m = f - f^2/2 + s (f^2/2 + R), R = 2 z p - z ... written as 2 s + 2 s z p with the leading part exact */
  double h = 0.5 * f * f;
  double r = s * (h + 2.0 * z * p); /* 2 s = f - s f, and s f = h - s h: so log m = f - h + s (h + 2 z p) */
  const double magic = 6755399441055744.0; /* k as double without a conversion instruction: vectorises everywhere */
  double kd = gbt_from_bits(gbt_bits(magic) + (uint64_t)k) - magic;
  return kd * 6.93147180369123816490e-01 + (f - (h - (r + kd * 1.90821492927058770002e-10)));
}

/* exp(x) - 1 without loss near 0. From -1 on, saturating like gbt_exp. */
GBT_FN double gbt_expm1(double x) {
  double p = 1.0 / 6227020800.0; /* near 0 by the Taylor series of exp, without its 1 */
  p = p * x + 1.0 / 479001600.0;
  p = p * x + 1.0 / 39916800.0;
  p = p * x + 1.0 / 3628800.0;
  p = p * x + 1.0 / 362880.0;
  p = p * x + 1.0 / 40320.0;
  p = p * x + 1.0 / 5040.0;
  p = p * x + 1.0 / 720.0;
  p = p * x + 1.0 / 120.0;
  p = p * x + 1.0 / 24.0;
  p = p * x + 1.0 / 6.0;
  p = p * x + 0.5;
  double small = (p * x) * x + x, large = gbt_exp(x) - 1.0;
  return x > -0.35 && x < 0.35 ? small : large;
}

/* log(1 + x) for finite x > -1, without loss near 0. */
GBT_FN double gbt_log1p(double x) {
  double y = 1.0 + x;
  return gbt_log(y) + (x - (y - 1.0)) / y; /* the rounding of 1 + x put back */
}

/* The hyperbolic tangent, in [-1, 1]. */
GBT_FN double gbt_tanh(double x) {
  double e = gbt_expm1(x > 0.0 ? -2.0 * x : 2.0 * x); /* in (-1, 0] */
  double t = -e / (e + 2.0);
  return x > 0.0 ? t : -t;
}

/* 1 / (1 + exp(-x)), in (0, 1]: 1 from about x = 37 on. */
GBT_FN double gbt_sigmoid(double x) { return 1.0 / (1.0 + gbt_exp(-x)); }

/* log(1 + exp(x)) without overflow or loss: max(x, 0) + log(1 + exp(-|x|)). */
GBT_FN double gbt_softplus(double x) {
  return (x > 0.0 ? x : 0.0) + gbt_log1p(gbt_exp(x > 0.0 ? -x : x));
}

/* The correctly rounded square root of x >= 0: one instruction everywhere, so the same bits. */
GBT_FN double gbt_sqrt(double x) {
#if defined(__CUDACC__)
  return sqrt(x);
#else
  return __builtin_sqrt(x);
#endif
}

/* The normal deviate that is exceeded with probability q, 0 < q <= 1/2, wrong by less than 0.00045: Abramowitz and
 * Stegun, 26.2.23. */
GBT_FN double gbt_normal_above(double q) {
  double t = gbt_sqrt(-2.0 * gbt_log(q));
  double top = (0.010328 * t + 0.802853) * t + 2.515517;
  double bottom = ((0.001308 * t + 0.189269) * t + 1.432788) * t + 1.0;
  return t - top / bottom;
}

#endif
