/* Operations on many rows at once, for each of the instruction sets. The same bits from all of them. */
#ifndef GBT_EXPLAIN_KERNEL_H
#define GBT_EXPLAIN_KERNEL_H

#include "../base/ctx.h"
#include "step.h"

typedef struct gbti_kernel {
  /* gbti_visit_tree, with the number of points as a constant where it is small. */
  void (*visit)(const gbti_visit *visit, const gbti_lanes *lanes, int pairs, double *acc);
  /* Which of 64 numbers are not above the cut: a bit each. */
  uint64_t (*below)(const double *x, double cut);
  /* at[r], for 64 rows: bit a is bit r of word[a * stride]. n <= 16 */
  void (*spread)(const uint64_t *word, size_t stride, int32_t n, uint16_t *at);
  /* to[r] += factor * table[at[r]] for 64 rows; the table has 2^bits numbers, 8 at least. */
  void (*look_up)(const double *table, int32_t bits, const uint16_t *at, double factor, double *to);
} gbti_kernel;

/* The functions for this instruction set. */
gbti_kernel gbti_kernel_for(gbt_simd simd);

#endif
