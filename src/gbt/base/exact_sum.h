/* Sum of doubles that does not depend on the order of the terms: an exact (Kulisch) accumulator.
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

#define GBT_EXACT_LIMBS 68

typedef struct gbt_exact_sum {
  int64_t limb[GBT_EXACT_LIMBS];
  int64_t n_nan; /* NaN terms */
  int64_t n_pos_inf, n_neg_inf;
} gbt_exact_sum;

void gbt_exact_zero(gbt_exact_sum *sum);
void gbt_exact_add(gbt_exact_sum *sum, double x);
void gbt_exact_merge(gbt_exact_sum *into, const gbt_exact_sum *from);

/* The sum rounded to double, to nearest even. NaN when a term was NaN or infinities of both signs met. */
double gbt_exact_value(const gbt_exact_sum *sum);

#endif
