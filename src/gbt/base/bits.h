/* Doubles as bits. */
#ifndef GBT_BASE_BITS_H
#define GBT_BASE_BITS_H

#include <stdint.h>
#include <string.h>

#include "hd.h"
#include "ieee.h"

GBT_FN uint64_t gbt_bits(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u;
}

GBT_FN double gbt_from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, 8);
  return x;
}

/* NaN as one pattern of bits: machines differ in that of 0 / 0. */
GBT_FN double gbt_nan(void) { return gbt_from_bits(0x7ff8000000000000u); }

/* Keys that order like the numbers: x < y <=> key(x) < key(y); -0 and +0 get one key. NaN must not come here. */
GBT_FN uint64_t gbt_order_key(double x) {
  uint64_t u = gbt_bits(x + 0.0); /* -0 + 0 = +0 */
  uint64_t mask = (uint64_t)((int64_t)u >> 63) | 0x8000000000000000u;
  return u ^ mask;
}

GBT_FN double gbt_order_value(uint64_t key) {
  uint64_t mask = ((key >> 63) - 1u) | 0x8000000000000000u;
  return gbt_from_bits(key ^ mask);
}

/* How many bits x has: 0 for 0, 64 at most. */
GBT_FN int gbt_bit_length(uint64_t x) {
  int n = 0;
  while (n < 64 && x >> n != 0) n++;
  return n;
}

/* 2^e for -1022 <= e <= 1023. */
GBT_FN double gbt_pow2(int e) { return gbt_from_bits((uint64_t)(e + 1023) << 52); }

/* Nearest integer, ties to even, for |x| < 2^51. No conversion instruction: vectorises on every machine. */
GBT_FN int64_t gbt_round_i64(double x) {
  const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
  return (int64_t)(gbt_bits(x + magic) - gbt_bits(magic));
}

#endif
