/* Sums over the pairs of a query: pairs_sum.c. */
#ifndef GBT_JOINT_PAIRS_SUM_H
#define GBT_JOINT_PAIRS_SUM_H

#include "../base/ctx.h"
#include "pairs.h"

/* The rows of a query by place, and their sums. Borrowed, n of each. */
typedef struct gbt_pair_rows {
  uint32_t n, top;                         /* one row of a pair is in a place below top; top <= n */
  const double *s, *label, *gain, *weight; /* see gbt_pair_row */
  int64_t *g, *h;
} gbt_pair_rows;

static inline gbt_pair_row gbt_pair_row_at(const gbt_pair_rows *rows, uint32_t at) {
  const gbt_pair_row row = {rows->s[at], rows->label[at], rows->gain[at], rows->weight[at]};
  return row;
}

/* g and h of one row; wrong: the sum of q D over the pairs of which it is the first place. */
typedef struct gbt_pair_sum {
  int64_t g, h, wrong;
} gbt_pair_sum;

typedef gbt_pair_sum (*gbt_pair_fn)(gbt_pair_target target, int by_distance, const gbt_pair_rows *rows,
                                    const gbt_pair_query *query, double up, uint32_t at);

typedef struct gbt_pair_kernels {
  gbt_pair_fn after;  /* a place < top with those after it, whose sums in rows it adds to; its own are returned */
  gbt_pair_fn around; /* a place with all its partners; nothing else is written */
} gbt_pair_kernels;

/* For this instruction set; all give the same numbers. */
gbt_pair_kernels gbt_pair_kernels_of(gbt_simd simd);

#endif
