/* A stage whose backend grows trees, or fits the splits that are given. */
#include "backends.h"
#include "grow.h"
#include "round.h"

/* Trees of `splits` once more, as many at a time as the backend accepts. */
static gbt_status fit(gbt_ctx *ctx, gbt_backend *be, const gbt_tree_task *task, int32_t n, const gbti_splits *splits,
                      gbt_forest *forest, gbt_error *err) {
  for (int32_t i = 0, k; i < n; i += k) {
    k = n - i < be->most_trees ? n - i : be->most_trees;
    GBT_TRY(be->ops->refit_trees(ctx, be, task + i, k, &splits->trees, splits->first + (uint64_t)i, forest, err));
  }
  return GBT_OK;
}

gbt_status gbti_plain_gradients(gbt_ctx *ctx, gbti_stage *stage, gbti_stage *next, uint64_t round, gbt_error *err) {
  const double *score, *g, *h;
  (void)next;
  if (stage->joint == NULL) return stage->be->ops->gradients(ctx, stage->be, round, err);
  GBT_TRY(stage->be->ops->scores(ctx, stage->be, 0, &score, err));
  GBT_TRY(gbt_joint_gradients(ctx, stage->joint, round, score, &g, &h, err));
  return stage->be->ops->set_gradients(ctx, stage->be, round, g, h, err);
}

gbt_status gbti_plain_trees(gbt_ctx *ctx, gbti_stage *stage, gbt_tree_task *task, int32_t n, int first,
                            gbti_splits *splits, gbt_forest *forest, gbt_error *err) {
  gbt_backend *be = stage->be;
  gbt_forest *to = forest != NULL ? forest : stage->drafts;
  for (int32_t i = 0; i < n; i++) {
    task[i].variant = stage->variant;
    task[i].rates = stage->rates;
  }
  if (forest == NULL) gbt_forest_cut(to, 0);
  if (first)
    GBT_TRY(gbt_grow_trees(ctx, be, task, n, to, err));
  else
    GBT_TRY(fit(ctx, be, task, n, splits, to, err));
  if (forest != NULL) return GBT_OK;
  if (be->ops->settle != NULL) GBT_TRY(be->ops->settle(ctx, be, err));
  *splits = (gbti_splits){gbt_forest_view_of(to), 0};
  GBT_ASSERT(splits->trees.n_trees == (uint64_t)n);
  return GBT_OK;
}

void gbti_plain_close(gbti_stage *stage) {
  gbt_backend_close(stage->be);
  gbt_forest_free(stage->drafts);
}

const gbti_stage_ops gbti_plain_stage = {
  .gradients = gbti_plain_gradients, .trees = gbti_plain_trees, .has_outputs = 1, .close = gbti_plain_close};
