/* Opening the backend, batches of trees, and trees that are fitted once more. */
#pragma once

#include "backend.cuh"

/* Opens the backend on a device; see backend.h. With codes in these places: cu_open tries one after the other.
 * hooks: of tests; NULL: none. */
gbt_status cu_open_with(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, cu_resides codes,
                        const cu_hooks *hooks, gbt_backend **out, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_open(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                   gbt_error *err) GBT_MUST_CHECK;

/* Sizes of everything, before anything but the features' places is allocated. */
gbt_status cu_sizes_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_sizes_close(cu_backend *be);

/* A batch begins: launches the recording of such batches, or makes it before. Whatever is refused, be->graph.replays
 * is NULL then, and the batch is to be issued step by step. Another part of what the batch is grown by: the same. */
void cu_replay(gbt_ctx *ctx, cu_backend *be);
void cu_replay_part(cu_backend *be, cu_part part);
void cu_graph_close(cu_backend *be);

/* A part of a batch, for who records it. Neither polls nor waits. */
gbt_status cu_issue_part(gbt_ctx *ctx, cu_backend *be, cu_part part, gbt_error *err) GBT_MUST_CHECK;

/* The op refit_trees; what it has made is freed. */
gbt_status cu_refit_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                          const gbt_forest_view *like, uint64_t first, gbt_forest *forest,
                          gbt_error *err) GBT_MUST_CHECK;
void cu_refit_close(cu_backend *be);
