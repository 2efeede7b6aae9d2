/* A hash of bytes that guards against damage, not against malice. */
#ifndef GBT_BASE_CHECKSUM_H
#define GBT_BASE_CHECKSUM_H

#include <string.h>

#include "rng.h"

GBT_FN uint64_t gbti_checksum_step(uint64_t lane, uint64_t word) {
  uint64_t x = (lane ^ word) * 0x9fb21c651e98df25u; /* odd: a change of one word always changes its lane */
  return (x << 29) | (x >> 35);
}

/* Words go round four lanes, so that the multiplications overlap; the lanes are mixed into one at the end. */
typedef struct gbt_checksum_lanes {
  uint64_t lane[4];
} gbt_checksum_lanes;

GBT_FN gbt_checksum_lanes gbt_checksum_begin(void) { return (gbt_checksum_lanes){{1, 2, 3, 4}}; }

/* The next n bytes, a multiple of 8, and of 32 unless they are the last ones. */
GBT_FN void gbt_checksum_add(gbt_checksum_lanes *lanes, const uint8_t *bytes, uint64_t n) {
  uint64_t a = lanes->lane[0], b = lanes->lane[1], c = lanes->lane[2], d = lanes->lane[3], i = 0, w[4];
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
  *lanes = (gbt_checksum_lanes){{a, b, c, d}};
}

/* n: bytes in all. */
GBT_FN uint64_t gbt_checksum_end(const gbt_checksum_lanes *lanes, uint64_t n) {
  const uint64_t *lane = lanes->lane;
  return gbt_mix64(gbt_mix64(gbt_mix64(gbt_mix64(lane[0] ^ n) ^ lane[1]) ^ lane[2]) ^ lane[3]);
}

/* Of n bytes, a multiple of 8. */
GBT_FN uint64_t gbt_checksum(const uint8_t *bytes, uint64_t n) {
  gbt_checksum_lanes lanes = gbt_checksum_begin();
  gbt_checksum_add(&lanes, bytes, n);
  return gbt_checksum_end(&lanes, n);
}

#endif
