/* The end of a tree: leaf values and scores. */
#pragma once

#include "../backend.cuh"

/* Fine sums, values, scores of all data sets. */
gbt_status cu_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* By cu_leaves: values to the scores of the rows of leaves, of the trees of a turn. */
gbt_status cu_add_scores(cu_backend *be, int32_t turn, gbt_error *err) GBT_MUST_CHECK;
/* By cu_leaves: rows that were not partitioned, of the trees of a turn. */
gbt_status cu_route(gbt_ctx *ctx, cu_backend *be, int32_t turn, gbt_error *err) GBT_MUST_CHECK;
/* All rows of a data set, of the trees of a turn. */
gbt_status cu_route_set(gbt_ctx *ctx, cu_backend *be, int32_t which, int32_t turn, gbt_error *err) GBT_MUST_CHECK;

/* Objectives whose leaves are quantiles; others have nothing of it. A round begins: its residuals. By cu_leaves: what
 * the values of leaves and kept nodes are made of. They issue work. */
gbt_status cu_renew_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_renew_close(cu_backend *be);
gbt_status cu_renew_outputs(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_renew_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Leaves that take further steps: nothing where there is one. Scores are kept where a round has several trees of an
 * output. A round begins. By cu_leaves: what the values of leaves and kept nodes are made of. They issue work. */
gbt_status cu_step_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_step_close(cu_backend *be);
gbt_status cu_step_round(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_step_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
