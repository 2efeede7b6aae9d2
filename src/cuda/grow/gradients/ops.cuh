/* Gradients and scores of a round, and the rows of a batch. */
#pragma once

#include "../backend.cuh"

/* Room for gradients, before the data sets are made: their scores, when they are, are cu_init_scores'. */
gbt_status cu_gradients_open(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_gradients_close(cu_backend *be);
/* Gradients of all outputs: the scales. Issues work, does not wait. */
gbt_status cu_gradients(gbt_ctx *ctx, cu_backend *be, uint64_t round, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_set_gradients(gbt_ctx *ctx, cu_backend *be, uint64_t round, const double *g, const double *h,
                            gbt_error *err) GBT_MUST_CHECK;
/* See set_projection of gbt_backend_ops. */
gbt_status cu_set_projection(gbt_ctx *ctx, cu_backend *be, const cu_backend *from, const double *u, uint64_t round,
                             gbt_error *err) GBT_MUST_CHECK;
/* Makes the fixed-point gradients of the trees' outputs, unless they exist already. Sets tree->unit, noise, wide,
 * whole; root and n_in: all rows, or none where rows are sampled. */
gbt_status cu_gradients_of_trees(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* The same where the gradients of the trees' outputs exist. */
gbt_status cu_set_trees(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* Whether the gradients of the batch exist from an earlier one, or from the host. */
static inline int cu_are_fixed(const cu_backend *be) {
  return gbt_gradients_are_kept(&be->objective) || be->grad.fixed_output == be->task[0].output;
}
/* Scores before the first tree. */
gbt_status cu_init_scores(gbt_ctx *ctx, cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) GBT_MUST_CHECK;

/* Where rows are sampled. The even order: the drawn rows with their gradients, then the others; tree->n_in and root. */
gbt_status cu_rows_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
