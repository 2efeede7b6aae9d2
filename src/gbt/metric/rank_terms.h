/* The integers of an AUC (see boost/ranking.c): weights as fixed-point numbers, and 128-bit sums of their products. */
#ifndef GBT_METRIC_RANK_TERMS_H
#define GBT_METRIC_RANK_TERMS_H

#include "../base/bits.h"

enum { GBT_AUC_BITS = 61 }; /* a class's total weight lies in [2^60, 2^61), rounding apart */

typedef struct gbt_wide {
  uint64_t hi, lo;
} gbt_wide;

GBT_FN gbt_wide gbt_wide_add(gbt_wide a, gbt_wide b) {
  gbt_wide c = {a.hi + b.hi, a.lo + b.lo};
  c.hi += c.lo < a.lo;
  return c;
}

GBT_FN gbt_wide gbt_wide_sub(gbt_wide a, gbt_wide b) {
  gbt_wide c = {a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo};
  return c;
}

GBT_FN gbt_wide gbt_wide_double(gbt_wide a) {
  gbt_wide c = {a.hi << 1 | a.lo >> 63, a.lo << 1};
  return c;
}

GBT_FN int gbt_wide_less(gbt_wide a, gbt_wide b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }

GBT_FN gbt_wide gbt_wide_product(uint64_t a, uint64_t b) {
  uint64_t a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), mid2 = a0 * b1 + (mid & 0xffffffffu);
  gbt_wide c = {a1 * b1 + (mid >> 32) + (mid2 >> 32), mid2 << 32 | (low & 0xffffffffu)};
  return c;
}

/* a / b rounded to nearest even, for 0 <= a <= b < 2^126, b > 0: binary long division. */
GBT_FN double gbt_wide_ratio(gbt_wide a, gbt_wide b) {
  if (!gbt_wide_less(a, b)) return 1.0;
  if ((a.hi | a.lo) == 0) return 0.0;
  uint64_t m = 0; /* the quotient's bits from its first 1 on: 54 of them */
  int n_bits = 0; /* behind the binary point */
  while (m < (uint64_t)1 << 53) {
    a = gbt_wide_double(a);
    n_bits++;
    m <<= 1;
    if (gbt_wide_less(a, b)) continue;
    a = gbt_wide_sub(a, b);
    m |= 1;
  }
  uint64_t rest = (a.hi | a.lo) != 0;
  m = (m >> 1) + ((m & 1u) & (rest | (m >> 1 & 1u)));
  return (double)m * gbt_pow2(1 - n_bits);
}

/* The power of two that takes total into [2^60, 2^61), in two factors, as it may be beyond the doubles. */
GBT_FN void gbt_auc_scale(double total, double up[2]) {
  int e = GBT_AUC_BITS + 1022;
  uint64_t u = gbt_bits(total);
  if (u >> 52 == 0) u = gbt_bits(total * 0x1p64), e += 64; /* subnormal */
  e -= (int)(u >> 52);
  up[0] = gbt_pow2(e / 2);
  up[1] = gbt_pow2(e - e / 2);
}

GBT_FN uint64_t gbt_auc_weight(double w, const double up[2]) { return (uint64_t)(w * up[0] * up[1] + 0.5); }

#endif
