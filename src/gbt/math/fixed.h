/* Gradients as integers. A row's gradient g and hessian h become 32-bit fixed-point numbers with power-of-two scales,
 *
 *   g32 = round(g * 2^eg)          |g32| <  2^31 - 2^16
 *   h32 = round(h * 2^eh)     0 <= h32   <  2^32 - 2^16
 *
 * and, for the histograms, 16-bit numbers by stochastic rounding of those (unbiased; Shi et al. 2022, "Quantized
 * training of gradient boosting decision trees", section 4, uses the same idea at fewer bits):
 *
 *   g16 = (g32 + r) >> 16,   r uniform in [0, 2^16) from the row's hash
 *
 * Everything after this point is integer addition, whose result does not depend on the order. Scales are powers of two
 * taken from maxima, so they are exact and order-free too. */
#ifndef GBT_MATH_FIXED_H
#define GBT_MATH_FIXED_H

#include "../base/bits.h"

typedef struct gbt_gh16 {
  int16_t g;
  uint16_t h;
} gbt_gh16;

typedef struct gbt_gh32 {
  int32_t g;
  uint32_t h;
} gbt_gh32;

/* Sums over rows, in units of 2^-exp_g and 2^-exp_h of the gradient's scale. */
typedef struct gbt_sum {
  int64_t g, h;
} gbt_sum;

typedef struct gbt_scale {
  int exp_g, exp_h;      /* g32 = round(g * 2^exp_g) */
  double up_g, up_h;     /* 2^exp_g, 2^exp_h */
  double down_g, down_h; /* 2^-exp_g, 2^-exp_h: a 32-bit sum to real numbers; 16-bit sums take * 2^16 */
} gbt_scale;

/* The exponent e of the scale for values up to `max` that are to stay below 2^bits (minus 2^16): the largest e in
 * [-1000, 1000] with max * 2^e < 2^bits (1 - 2^-13). max = 0 gives 0. */
GBT_FN int gbt_scale_exp(double max, int bits) {
  if (!(max > 0.0)) return 0;
  int e = (int)((gbt_bits(max) >> 52) & 0x7ff) - 1022; /* max < 2^e (subnormal: e = -1022) */
  double m = max * gbt_pow2(-e / 2) * gbt_pow2(-e - (-e / 2));
  if (m >= 1.0 - 1.0 / 8192.0) e++;
  e = bits - e;
  if (e > 1000) e = 1000; /* both 2^e and 2^-e stay normal */
  if (e < -1000) e = -1000;
  return e;
}

/* Scales for gradients that leave `spare` bits of 32 unused. */
GBT_FN gbt_scale gbt_scale_less(double max_g, double max_h, int spare) {
  gbt_scale s;
  s.exp_g = gbt_scale_exp(max_g, 31 - spare);
  s.exp_h = gbt_scale_exp(max_h, 32 - spare);
  s.up_g = gbt_pow2(s.exp_g);
  s.up_h = gbt_pow2(s.exp_h);
  s.down_g = gbt_pow2(-s.exp_g);
  s.down_h = gbt_pow2(-s.exp_h);
  return s;
}

GBT_FN gbt_scale gbt_scale_from(double max_g, double max_h) { return gbt_scale_less(max_g, max_h, 0); }

/* Bits that must be spare so that sums over n_rows stay within 64: none up to 2^31 rows, one more whenever these
 * double. At most 16: n_rows < 2^47. */
GBT_FN int gbt_scale_spare(int64_t n_rows) {
  int spare = 0;
  while (spare < 16 && n_rows > (int64_t)1 << (31 + spare)) spare++;
  return spare;
}

/* Maxima of gradients that can be scaled: neither NaN nor so large that sums could overflow. */
GBT_FN int gbt_scale_usable(double max_g, double max_h) { return max_g < 1e290 && max_h < 1e290; }

GBT_FN gbt_gh32 gbt_fix32(double g, double h, double up_g, double up_h) {
  gbt_gh32 q;
  q.g = (int32_t)gbt_round_i64(g * up_g);
  q.h = (uint32_t)gbt_round_i64(h * up_h);
  return q;
}

GBT_FN gbt_gh16 gbt_fix16(gbt_gh32 q, uint32_t bits) {
  gbt_gh16 r;
  r.g = (int16_t)((q.g + (int32_t)(bits & 0xffffu)) >> 16); /* cannot overflow: |g32| < 2^31 - 2^16 */
  r.h = (uint16_t)((q.h + (bits >> 16)) >> 16);
  return r;
}

/* The remainder of the 16 bits, q - 65536 r, takes 17 bits; the lower 16 of q's g and h and the row's hash tell it: low
 * = g mod 2^16 | (h mod 2^16) << 16. */
GBT_FN uint32_t gbt_fix_low(gbt_gh32 q) { return ((uint32_t)q.g & 0xffffu) | (q.h << 16); }

GBT_FN int32_t gbt_fix_rest_g(uint32_t low, uint32_t bits) {
  uint32_t part = low & 0xffffu;
  return (int32_t)part - (int32_t)((part + (bits & 0xffffu)) & 0x10000u);
}

GBT_FN int32_t gbt_fix_rest_h(uint32_t low, uint32_t bits) {
  uint32_t part = low >> 16;
  return (int32_t)part - (int32_t)((part + (bits >> 16)) & 0x10000u);
}

/* Integer sums over all rows of the 16-bit gradients of one output. */
typedef struct gbt_fixed_sums {
  int64_t size, square, h; /* |g|, g^2, h */
} gbt_fixed_sums;

/* Most gradients so small against the largest that 16 bits leave them little: fewer than 16 units on average. */
GBT_FN int gbt_fixed_coarse(int64_t size, int64_t n_rows) { return size < 16 * n_rows; }

/* Mean square of the gradients over mean hessian: the noise that a unit of hessian carries. About 1 for logistic and
 * Poisson losses, the residual variance for squared error. */
GBT_FN double gbt_noise(gbt_fixed_sums sums, const gbt_scale *scale) {
  if (sums.h <= 0) return 0.0;
  double unit_g = scale->down_g * 65536.0, unit_h = scale->down_h * 65536.0;
  return (((double)sums.square * unit_g) * unit_g) / ((double)sums.h * unit_h);
}

#endif
