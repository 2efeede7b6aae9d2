/* Exact sums over the rows of all ranks, by several threads. */
#ifndef GBT_OBJECTIVE_ROW_SUMS_H
#define GBT_OBJECTIVE_ROW_SUMS_H

#include "../base/ctx.h"
#include "../base/exact_sum.h"

/* Adds the terms of rows [beg, end) to sum[0 .. n_sums). */
typedef void (*gbt_row_sums_add)(const void *job, int64_t beg, int64_t end, gbt_exact_sum *sum);

/* out[0 .. n_sums): the sums, rounded. Called by all ranks. */
gbt_status gbt_row_sums(gbt_ctx *ctx, int64_t n_rows, int n_sums, gbt_row_sums_add add, const void *job, double *out,
                        gbt_error *err) GBT_MUST_CHECK;

#endif
