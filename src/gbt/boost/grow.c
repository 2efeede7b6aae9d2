#include "grow.h"

gbt_status gbt_grow_trees(gbt_ctx *ctx, gbt_backend *be, const gbt_tree_task *task, int32_t n_trees,
                          gbt_forest *forest, gbt_error *err) {
  const gbt_backend_ops *ops = be->ops;
  GBT_TRY(ops->begin_trees(ctx, be, task, n_trees, err));
  for (;;) {
    int32_t n_chosen = 0;
    GBT_TRY(ops->build_hist(ctx, be, err));
    GBT_TRY(ops->find_splits(ctx, be, err));
    GBT_TRY(ops->select(ctx, be, &n_chosen, err));
    if (n_chosen == 0) break;
    GBT_TRY(ops->partition(ctx, be, err));
  }
  return ops->finish_trees(ctx, be, forest, err);
}
