#include "rescale.h"

#include <string.h>

#include "../base/parallel.h"
#include "../math/shrink.h"
#include "trainer_state.h"

enum { POLL_ROWS = 1 << 16 };

int64_t gbti_model_rounds(const gbt_trainer *tr) {
  const int64_t best = tr->watching ? tr->stopper.best_round : 0;
  return gbti_rescales(&tr->params) && best > 0 ? best : tr->n_rounds;
}

/* ---- trees to scores ---- */

/* Adds all trees of some rounds of this training to the scores of a data set; times[i]: of round[i]. */
static gbt_status add_rounds(gbt_ctx *ctx, gbt_trainer *tr, int32_t which, const int64_t *round, const double *times,
                             int64_t n, gbt_error *err) {
  const int64_t per_output = tr->params.num_parallel_tree, n_outputs = tr->objective.n_outputs;
  const int64_t per_round = n_outputs * per_output, all = n * per_output; /* all: of an output */
  const uint64_t first = gbti_rounds_before(tr) * (uint64_t)per_round;
  const gbt_forest_view from = gbt_forest_look(tr->forest);
  gbt_tree_task task[GBT_MOST_TREES];
  for (int64_t done = 0; done < n_outputs * all;) {
    const int32_t k = gbt_batch_trees(tr->be->most_trees, n_outputs, all, done);
    for (int32_t i = 0; i < k; i++) {
      const int64_t output = (done + i) / all, at = (done + i) % all, its = at / per_output;
      const uint64_t tree = first + (uint64_t)(round[its] * per_round + output * per_output + at % per_output);
      task[i] = (gbt_tree_task){.tree = tree,
                                .output = (int32_t)output,
                                .shrinkage = times[its],
                                .variant = which == 0 ? tr->data[0]->n_variants - 1 : 0};
    }
    GBT_TRY(tr->be->ops->add_trees(ctx, tr->be, which, task, k, &from, err));
    done += k;
  }
  return GBT_OK;
}

static gbt_status settle(gbt_ctx *ctx, const gbt_trainer *tr, gbt_error *err) {
  return tr->be->ops->settle != NULL ? tr->be->ops->settle(ctx, tr->be, err) : GBT_OK;
}

/* ---- rounds ---- */

/* Times what they count before this round, or behind it, dropped rounds to the scores of a data set. */
static gbt_status add_dropped(gbt_ctx *ctx, gbt_trainer *tr, int32_t which, double times, gbt_error *err) {
  const gbti_round_plan *plan = &tr->plan;
  double *count = NULL;
  GBT_TRY(gbt_mem_array(&tr->mem, (size_t)plan->n_drop, sizeof *count, &count, err));
  for (int64_t i = 0; i < plan->n_drop; i++) count[i] = tr->factors.of[plan->drop[i]] * plan->shrink * times;
  const gbt_status status = add_rounds(ctx, tr, which, plan->drop, count, plan->n_drop, err);
  gbt_mem_free(&tr->mem, count);
  return status;
}

static gbt_status shrink(gbt_ctx *ctx, const gbt_trainer *tr, gbt_backend *be, int32_t which, gbt_error *err) {
  if (tr->plan.shrink == 1.0) return GBT_OK;
  return be->ops->shrink_scores(ctx, be, which, tr->forest->base, tr->plan.shrink, err);
}

/* The scores of a data set before the trees of the round. */
static gbt_status begin_set(gbt_ctx *ctx, gbt_trainer *tr, int32_t which, gbt_error *err) {
  GBT_TRY(shrink(ctx, tr, tr->be, which, err));
  return tr->plan.n_drop > 0 ? add_dropped(ctx, tr, which, -1.0, err) : GBT_OK;
}

/* The scores of stages before the last one: these know no dropped rounds. */
static gbt_status begin_others(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  gbti_scores scores;
  for (int32_t i = 0; gbti_round_scores(&tr->round, i, &scores); i++) {
    GBT_ASSERT(tr->plan.n_drop == 0);
    GBT_TRY(shrink(ctx, tr, scores.be, scores.which, err));
  }
  return GBT_OK;
}

static gbt_status begin(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  GBT_TRY(gbti_factors_reserve(&tr->mem, &tr->factors, tr->n_rounds, err));
  GBT_TRY(gbti_plan_round(tr, tr->n_rounds, &tr->plan, err));
  if (tr->plan.n_drop > 0) GBT_TRY(settle(ctx, tr, err));
  tr->broken = 1; /* until all scores are those of the round */
  GBT_TRY(begin_set(ctx, tr, 0, err));
  GBT_TRY(begin_others(ctx, tr, err));
  tr->broken = 0;
  tr->is_begun = 1;
  return GBT_OK;
}

gbt_status gbti_begin_round(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  return gbti_rescales(&tr->params) && !tr->is_begun ? begin(ctx, tr, err) : GBT_OK;
}

gbt_status gbti_begin_valid(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  for (int32_t s = 1; gbti_rescales(&tr->params) && s <= tr->n_valid; s++) GBT_TRY(begin_set(ctx, tr, s, err));
  return GBT_OK;
}

gbt_status gbti_end_round(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  if (!gbti_rescales(&tr->params)) return GBT_OK;
  GBT_ASSERT(tr->is_begun);
  if (tr->plan.n_drop > 0) GBT_TRY(settle(ctx, tr, err));
  for (int32_t s = 0; tr->plan.n_drop > 0 && s <= tr->n_valid; s++)
    GBT_TRY(add_dropped(ctx, tr, s, tr->plan.dropped, err));
  gbti_factors_step(&tr->factors, tr->n_rounds, &tr->plan);
  tr->is_begun = 0;
  return GBT_OK;
}

gbt_status gbti_resume_factors(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  if (!gbti_rescales(&tr->params)) return GBT_OK;
  return gbti_factors_at(ctx, tr, tr->n_rounds, &tr->factors, err);
}

/* ---- the model ---- */

/* Multiplies the leaves of trees [beg, end). */
static void scale_trees(gbt_forest *forest, uint64_t beg, uint64_t end, double times) {
  if (times == 1.0) return;
  for (uint64_t t = beg; t < end; t++) {
    const gbt_tree *tree = &forest->trees[t];
    for (uint64_t i = tree->node_beg; i < tree->node_beg + tree->n_nodes; i++) {
      gbt_node *node = &forest->nodes[i];
      if (node->left == 0) node->arg.value *= times;
    }
  }
}

static gbt_status make_model(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  const gbt_forest_view grown = gbt_forest_look(tr->forest);
  const uint64_t per_round = gbt_trees_per_round(&grown), before = gbti_rounds_before(tr) * per_round;
  const int64_t n_rounds = gbti_model_rounds(tr);
  const gbt_forest_view kept = gbt_forest_first(grown, before + (uint64_t)n_rounds * per_round);
  gbti_factors factors = {.of = NULL};
  if (tr->model == NULL) GBT_TRY(gbt_forest_new_like(&tr->mem, &grown, &tr->model, err));
  GBT_ASSERT(grown.n_leaf_outputs == 1);
  gbt_forest_cut(tr->model, 0);
  GBT_TRY(gbt_forest_append(tr->model, &kept, err));
  const gbt_status status = gbti_factors_of_model(ctx, tr, n_rounds, &factors, err);
  if (status == GBT_OK) {
    scale_trees(tr->model, 0, before, factors.init);
    for (int64_t r = 0; r < n_rounds; r++) {
      const uint64_t first = before + (uint64_t)r * per_round;
      scale_trees(tr->model, first, first + per_round, factors.of[r]);
    }
  }
  gbti_factors_free(&tr->mem, &factors);
  return status;
}

gbt_status gbt_trainer_model(gbt_ctx *ctx, gbt_trainer *tr, const gbt_forest_view **out, gbt_error *err) {
  tr->trees = gbt_forest_look(tr->forest);
  *out = &tr->trees;
  if (!gbti_rescales(&tr->params)) return GBT_OK;
  GBT_TRY(make_model(ctx, tr, err));
  tr->trees = gbt_forest_look(tr->model);
  return GBT_OK;
}

/* Scores of the rows before the first tree of this training, as the model has them. */
static gbt_status start_scores(gbt_ctx *ctx, const gbt_trainer *tr, double init, double *out, gbt_error *err) {
  const gbt_rows *rows = &tr->data[tr->keep_best]->rows;
  const double *offset = rows->field[GBT_OFFSET];
  for (int32_t k = 0; k < tr->objective.n_outputs; k++)
    for (int64_t i = 0; i < rows->n; i++) {
      const int64_t at = k * rows->n + i;
      const double base = offset != NULL ? tr->forest->base[k] + offset[at] : tr->forest->base[k];
      if (i % POLL_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
      out[at] = tr->start == NULL ? base : init == 1.0 ? tr->start[at] : gbt_shrunk(tr->start[at], base, init);
    }
  return GBT_OK;
}

static gbt_status add_model(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  const int64_t n_rounds = gbti_model_rounds(tr);
  gbti_factors factors = {.of = NULL};
  int64_t *round = NULL;
  gbt_status status = gbti_factors_of_model(ctx, tr, n_rounds, &factors, err);
  if (status == GBT_OK) status = gbt_mem_array(&tr->mem, (size_t)n_rounds, sizeof *round, &round, err);
  for (int64_t r = 0; status == GBT_OK && r < n_rounds; r++) round[r] = r;
  if (status == GBT_OK) status = start_scores(ctx, tr, factors.init, tr->kept, err);
  if (status == GBT_OK) status = tr->be->ops->set_scores(ctx, tr->be, tr->keep_best, tr->kept, err);
  if (status == GBT_OK) status = add_rounds(ctx, tr, tr->keep_best, round, factors.of, n_rounds, err);
  gbt_mem_free(&tr->mem, round);
  gbti_factors_free(&tr->mem, &factors);
  return status;
}

static gbt_status copy_scores(gbt_ctx *ctx, const gbt_trainer *tr, double *out, gbt_error *err) {
  const double *score;
  const size_t cells = gbti_kept_cells(tr);
  GBT_TRY(tr->be->ops->scores(ctx, tr->be, tr->keep_best, &score, err));
  if (cells > 0) memcpy(out, score, cells * sizeof *out);
  return GBT_OK;
}

/* By the backend's scores, which are put aside meanwhile. */
gbt_status gbti_score_model(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  double *aside = NULL;
  gbt_error later;
  GBT_TRY(settle(ctx, tr, err));
  GBT_TRY(gbt_mem_array(&tr->mem, gbti_kept_cells(tr), sizeof *aside, &aside, err));
  gbt_status status = copy_scores(ctx, tr, aside, err);
  if (status == GBT_OK) {
    status = add_model(ctx, tr, err);
    if (status == GBT_OK) status = copy_scores(ctx, tr, tr->kept, err);
    const gbt_status put = tr->be->ops->set_scores(ctx, tr->be, tr->keep_best, aside, status == GBT_OK ? err : &later);
    if (put != GBT_OK) tr->broken = 1;
    if (status == GBT_OK) status = put;
  }
  gbt_mem_free(&tr->mem, aside);
  return status;
}
