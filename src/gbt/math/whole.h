/* Weights as whole numbers, whose sums do not depend on the order: round(w 2^k) with one k for all rows. */
#ifndef GBT_MATH_WHOLE_H
#define GBT_MATH_WHOLE_H

#include "../base/bits.h"

/* 2^k as two factors: k may be too large for one. */
typedef struct gbt_whole_scale {
  double up[2];
} gbt_whole_scale;

/* The largest k for which n weights up to max stay below 2^62 in sum. n <= 2^62. */
GBT_FN gbt_whole_scale gbt_whole_scale_of(double max, int64_t n) {
  int e = 0, bits = 0;
  gbt_whole_scale scale = {{1.0, 1.0}};
  if (!(max > 0.0)) return scale;
  uint64_t exponent = gbt_bits(max) >> 52, mantissa = gbt_bits(max);
  if (exponent > 0)
    e = (int)exponent - 1022;
  else
    for (e = -1074; mantissa != 0; mantissa >>= 1) e++;
  while ((int64_t)1 << bits < n) bits++;
  const int k = 62 - bits - e, half = k / 2; /* max < 2^e, n <= 2^bits */
  scale.up[0] = gbt_pow2(half);
  scale.up[1] = gbt_pow2(k - half);
  return scale;
}

/* round(w 2^k), but at least 1 for a positive weight: a value that counts a little must not count for nothing. */
GBT_FN uint64_t gbt_whole_weight(double w, gbt_whole_scale scale) {
  const double to_whole = 4503599627370496.0; /* 2^52: above it doubles are whole */
  double x = w * scale.up[0] * scale.up[1];
  if (x < to_whole) x = (x + to_whole) - to_whole;
  return x < 1.0 ? w > 0.0 : (uint64_t)x;
}

#endif
