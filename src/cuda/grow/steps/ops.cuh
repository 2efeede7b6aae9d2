/* A step: histograms, which features nodes may use, the choice, rows to children. */
#pragma once

#include "../backend.cuh"

/* The root node, and the plan of its histogram. */
gbt_status cu_root(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Called once, when the data sets are made: lets kernels have the shared memory that the tiles need. */
gbt_status cu_hist_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* All builds of the plan. Their histograms are cleared: the root's by cu_root, others' by cu_partition. */
gbt_status cu_build_hist(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* By cu_partition, where it lists rows: builds of an extent's rows. */
gbt_status cu_build_listed(cu_backend *be, const cu_rows_view *extent, gbt_error *err) GBT_MUST_CHECK;

/* The rules of features onto the device. The features of a batch's trees: drawn on the host when it begins, sent to the
 * device. What every searched node may use, before the search: nothing where all may use the same. */
gbt_status cu_features_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_features_close(cu_backend *be);
void cu_features_draw(cu_backend *be);
gbt_status cu_features_send(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_features(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Fresh nodes get their splits and open; the policy chooses; pieces of the partition are planned. */
gbt_status cu_select(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Moves rows, clears what may be built next, makes children. The last step whose number is known has nothing to be
 * built next, but plans the leaves. */
gbt_status cu_partition(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Whether the step that was issued last is the last one, and k_partition knows it. */
static inline int cu_last_step_is_known(const cu_backend *be) {
  return be->bounds.looks == 0 && be->view.ahead == 0 && be->depth > 0 && be->depth >= be->bounds.max_steps;
}
