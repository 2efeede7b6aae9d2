/* Sum of doubles that does not depend on the order of the terms: an exact accumulator (Kulisch, Computer Arithmetic and
 * Validity, 2013).
 *
 * A double is mantissa * 2^e with a 53-bit mantissa. The accumulator is one long fixed-point number, kept as 64-bit
 * limbs of 32 payload bits each: limb i holds multiples of 2^(32 i - 1088). A term adds at most three 32-bit pieces, so
 * a limb takes 2^31 - 1 terms before it could overflow; a merge carries, so merged ones take as many again.
 * Accumulators add limb by limb: threads, pages, devices and ranks may be merged in any order and the rounded result is
 * the same bits. After a merge the limbs are in normal form, which is unique for a sum.
 *
 *   limb:   0          1          ...                    67
 *   weight: 2^-1088    2^-1056    ...                    2^1056
 */
#ifndef GBT_BASE_EXACT_SUM_H
#define GBT_BASE_EXACT_SUM_H

#include <stdint.h>

#include "hd.h"

#define GBT_EXACT_LIMBS 68
#define GBT_EXACT_ZERO_BIT 1088 /* place of 2^0 */

typedef struct gbt_exact_sum {
  int64_t limb[GBT_EXACT_LIMBS];
  int64_t n_nan; /* NaN terms */
  int64_t n_pos_inf, n_neg_inf;
} gbt_exact_sum;

/* A finite double, given by its bits, as what it adds to three neighbouring limbs. */
typedef struct gbt_exact_pieces {
  uint32_t limb; /* the first of them */
  int64_t low, mid, top;
} gbt_exact_pieces;

GBT_FN gbt_exact_pieces gbt_exact_split(uint64_t bits) {
  uint32_t e = (uint32_t)(bits >> 52) & 0x7ffu;
  uint64_t m = (bits & 0xfffffffffffffu) | (uint64_t)(e != 0) << 52;
  uint32_t bit = e + (e == 0) + (GBT_EXACT_ZERO_BIT - 1075); /* place of m's lowest bit */
  uint32_t shift = bit & 31u;
  int64_t sign = (int64_t)bits >> 63; /* 0 or -1; (v ^ sign) - sign negates */
  int64_t low = (int64_t)((m << shift) & 0xffffffffu);
  int64_t mid = (int64_t)((m << shift) >> 32);
  int64_t top = (int64_t)((m >> 1) >> (63u - shift));
  gbt_exact_pieces p = {bit >> 5, (low ^ sign) - sign, (mid ^ sign) - sign, (top ^ sign) - sign};
  return p;
}

/* An empty sum; a term more; the terms of another sum as well. No result depends on the order of these. */
void gbt_exact_zero(gbt_exact_sum *sum);
void gbt_exact_add(gbt_exact_sum *sum, double x);
void gbt_exact_merge(gbt_exact_sum *into, const gbt_exact_sum *from);

/* The sum rounded to double, to nearest even. NaN when a term was NaN or infinities of both signs met. */
double gbt_exact_value(const gbt_exact_sum *sum);

#endif
