/* Groups of equal scores that ranks exchange for metrics of rows in the order of their scores (ranking.c). */
#ifndef GBT_BOOST_RANKING_H
#define GBT_BOOST_RANKING_H

#include "../base/exact_sum.h"
#include "../metric/ranking.h"
#include "metric_rows.h"

/* Rows with equal scores. */
typedef struct gbt_ranking_group {
  uint64_t key;
  gbt_ranking_pair sum;
} gbt_ranking_group;

/* Sends each group to the rank that has the range of its key. own: n groups of this rank, keys ascending, each once.
 * *out: the groups of all ranks in this rank's range, *n_out of them, the list of one rank after the other; owned by
 * the caller, from ctx. A rank's range has about the same number of groups as that of others. Collective. */
gbt_status gbti_ranking_swap(gbt_ctx *ctx, const gbt_ranking_group *own, int64_t n, gbt_ranking_group **out,
                             int64_t *n_out, gbt_error *err) GBT_MUST_CHECK;

/* *all: the sum of this rank's range, which becomes that of all ranks; *before: of the ranges before. Collective. */
gbt_status gbti_ranking_before(gbt_ctx *ctx, gbt_ranking_pair *all, gbt_ranking_pair *before,
                               gbt_error *err) GBT_MUST_CHECK;

/* Sums over the ranks, in place. Collective. */
gbt_status gbti_ranking_sum(gbt_ctx *ctx, gbt_wide *area, gbt_exact_sum *precisions, gbt_error *err) GBT_MUST_CHECK;

#endif
