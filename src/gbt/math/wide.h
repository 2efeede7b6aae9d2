/* Unsigned integers of 128 bits in two halves, for compilers that have none. Their sums do not depend on the order. */
#ifndef GBT_MATH_WIDE_H
#define GBT_MATH_WIDE_H

#include "../base/bits.h"

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
  int n_bits = 0; /* bits after the binary point */
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

/* x 2^e as a whole number, rounded down, but at least 1 for x > 0. 0 <= x, x 2^e < 2^127; -1000 <= e <= 1000. */
GBT_FN gbt_wide gbt_wide_from(double x, int e) {
  const uint64_t bits = gbt_bits(x);
  const int exponent = (int)(bits >> 52 & 0x7ff);
  const uint64_t mantissa = exponent > 0 ? (bits & 0xfffffffffffffu) | (uint64_t)1 << 52 : bits & 0xfffffffffffffu;
  const int shift = (exponent > 0 ? exponent : 1) - 1075 + e; /* x 2^e = mantissa 2^shift */
  gbt_wide out = {0, 0};
  if (shift >= 64) {
    out.hi = mantissa << (shift - 64);
  } else if (shift > 0) {
    out.lo = mantissa << shift;
    out.hi = mantissa >> (64 - shift);
  } else if (shift > -64) {
    out.lo = mantissa >> -shift;
  }
  if ((out.hi | out.lo) == 0 && x > 0.0) out.lo = 1;
  return out;
}

/* As a double: hi 2^64 + lo, each rounded. */
GBT_FN double gbt_wide_value(gbt_wide a) { return (double)a.hi * 18446744073709551616.0 + (double)a.lo; }

#endif
