/* A batch of trees, on any backend: the loop of the algorithm and nothing else. */
#ifndef GBT_BOOST_GROW_H
#define GBT_BOOST_GROW_H

#include "../backend/backend.h"

/* Grows n_trees trees (see begin_trees in backend.h) from the backend's current gradients and appends them to the
 * forest. On failure the forest may hold some of them. */
gbt_status gbt_grow_trees(gbt_ctx *ctx, gbt_backend *be, const gbt_tree_task *task, int32_t n_trees,
                          gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;

#endif
