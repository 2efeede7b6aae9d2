/* One tree, on any backend: the loop of the algorithm and nothing else. */
#ifndef GBT_BOOST_GROW_H
#define GBT_BOOST_GROW_H

#include "../backend/backend.h"

/* Grows a tree from the backend's current gradients and appends it to the forest. On failure the forest stays as it
 * was. */
gbt_status gbt_grow_tree(gbt_ctx *ctx, gbt_backend *be, const gbt_tree_task *task, gbt_forest *forest,
                         gbt_error *err) GBT_MUST_CHECK;

#endif
