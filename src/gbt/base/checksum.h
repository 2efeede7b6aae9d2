/* A hash of bytes that guards against damage, not against malice. */
#ifndef GBT_BASE_CHECKSUM_H
#define GBT_BASE_CHECKSUM_H

#include <string.h>

#include "rng.h"

GBT_FN uint64_t gbti_checksum_step(uint64_t lane, uint64_t word) {
  uint64_t x = (lane ^ word) * 0x9fb21c651e98df25u; /* odd: a change of one word always changes its lane */
  return (x << 29) | (x >> 35);
}

/* Of n bytes, a multiple of 8: words go round four lanes, so that the multiplications overlap; the lanes are mixed into
 * one at the end. */
GBT_FN uint64_t gbt_checksum(const uint8_t *bytes, uint64_t n) {
  uint64_t a = 1, b = 2, c = 3, d = 4, i = 0, w[4];
  for (; n - i >= 32; i += 32) {
    memcpy(w, bytes + i, 32);
    a = gbti_checksum_step(a, w[0]);
    b = gbti_checksum_step(b, w[1]);
    c = gbti_checksum_step(c, w[2]);
    d = gbti_checksum_step(d, w[3]);
  }
  for (; n - i >= 8; i += 8) {
    memcpy(w, bytes + i, 8);
    a = gbti_checksum_step(a, w[0]);
  }
  return gbt_mix64(gbt_mix64(gbt_mix64(gbt_mix64(a ^ n) ^ b) ^ c) ^ d);
}

#endif
