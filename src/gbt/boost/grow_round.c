#include "grow_round.h"

#include "../base/clock.h"
#include "../tree/contest.h"
#include "grow.h"

/* Leaf values of the supporting models. */
static gbt_status fit_supporting(gbt_ctx *ctx, gbt_trainer *tr, const gbt_tree_task *task, int32_t n,
                                 const gbt_forest_view *drafts, gbt_error *err) {
  const int64_t t0 = gbt_clock_ns();
  if (tr->supporting == NULL) return GBT_OK;
  GBT_TRY(gbt_supporting_fit(ctx, tr->supporting, task, n, drafts, err));
  tr->grower->seconds[GBT_PHASE_LEAF] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}

/* Trees of `like`, the first one for task[0], once more on a backend, as many at a time as it likes. */
static gbt_status refit(gbt_ctx *ctx, gbt_backend *be, const gbt_tree_task *task, int32_t n,
                        const gbt_forest_view *like, uint64_t first, gbt_forest *forest, gbt_error *err) {
  for (int32_t i = 0, k; i < n; i += k) {
    k = n - i < be->most_trees ? n - i : be->most_trees;
    GBT_TRY(be->ops->refit_trees(ctx, be, task + i, k, like, first + (uint64_t)i, forest, err));
  }
  return GBT_OK;
}

/* Grows trees, or fits them to the splits that they share: `like`. */
static gbt_status grow_trees(gbt_ctx *ctx, gbt_trainer *tr, const gbt_tree_task *task, int32_t n,
                             const gbt_forest_view *like, gbt_forest *forest, gbt_error *err) {
  if (tr->shared == NULL) return gbt_grow_trees(ctx, gbti_growing(tr), task, n, forest, err);
  return refit(ctx, gbti_growing(tr), task, n, like, (uint64_t)task[0].output, forest, err);
}

/* Grows the trees by the bins of variant 0; their values come from those of variant 1, where there is one. */
static gbt_status grow_batch(gbt_ctx *ctx, gbt_trainer *tr, gbt_tree_task *task, int32_t n, const gbt_forest_view *like,
                             gbt_error *err) {
  if (tr->grower == NULL) return grow_trees(ctx, tr, task, n, like, tr->forest, err);
  gbt_forest_cut(tr->drafts, 0);
  GBT_TRY(grow_trees(ctx, tr, task, n, like, tr->drafts, err));
  if (tr->grower->ops->settle != NULL) GBT_TRY(tr->grower->ops->settle(ctx, tr->grower, err));
  const gbt_forest_view drafts = gbt_forest_look(tr->drafts);
  GBT_ASSERT(drafts.n_trees == (uint64_t)n);
  for (int32_t i = 0; i < n; i++) task[i].rates = 0; /* the drafts have their gains */
  GBT_TRY(fit_supporting(ctx, tr, task, n, &drafts, err));
  for (int32_t i = 0; i < n; i++) task[i].variant = tr->data[0]->n_variants - 1;
  return refit(ctx, tr->be, task, n, &drafts, 0, tr->forest, err);
}

gbt_status gbti_grow_round(gbt_ctx *ctx, gbt_trainer *tr, uint64_t round, gbt_error *err) {
  const int64_t per_output = tr->params.num_parallel_tree, per_round = tr->objective.n_outputs * per_output;
  const uint64_t first = tr->n_trees;
  const double eta = gbti_eta_of(tr, tr->n_rounds);
  const double noise = gbt_contest_noise(&tr->params, tr->data[0]->all_rows, round, eta);
  gbt_tree_task task[GBT_MOST_TREES];
  gbt_forest_view like;
  if (tr->shared != NULL) {
    task[0] = (gbt_tree_task){.tree = first, .round = round, .contest_noise = noise};
    GBT_TRY(gbt_shared_splits_grow(ctx, tr->shared, task, &like, err));
  }
  for (int64_t grown = 0; grown < per_round;) {
    const int32_t n = gbt_batch_trees(gbti_growing(tr)->most_trees, tr->objective.n_outputs, per_output, grown);
    for (int64_t i = 0; i < n; i++)
      task[i] = (gbt_tree_task){.tree = first + (uint64_t)(grown + i),
                                .round = round,
                                .output = (int32_t)((grown + i) / per_output),
                                .shrinkage = eta * tr->plan.entry / (double)per_output,
                                .contest_noise = noise,
                                .rates = tr->shared != NULL};
    GBT_TRY(grow_batch(ctx, tr, task, n, &like, err));
    grown += n;
  }
  return GBT_OK;
}
