/* A stage of ordered boosting: a plain one whose gradients are taken at the scores of supporting models. */
#include "../base/clock.h"
#include "round.h"
#include "supporting.h"

/* Adds the time of its work to that of the backend. */
static void add_seconds(gbti_stage *stage, int phase, int64_t since) {
  stage->be->seconds[phase] += (double)(gbt_clock_ns() - since) * 1e-9;
}

gbt_status gbti_ordered_open(gbt_ctx *ctx, const gbti_round_spec *spec, gbti_stage *stage, gbt_error *err) {
  const double *start;
  gbt_supporting *models;
  gbt_backend_spec backend = spec->backend;
  backend.n_valid = 0;
  backend.together = NULL; /* they fit splits that are there */
  GBT_TRY(stage->be->ops->scores(ctx, stage->be, 0, &start, err));
  GBT_TRY(gbt_supporting_new(ctx, &backend, start, (uint64_t)backend.params->seed, &models, err));
  stage->own = models;
  return GBT_OK;
}

static gbt_status set_scores(gbt_ctx *ctx, gbti_stage *stage, uint64_t round, gbt_error *err) {
  const int64_t t0 = gbt_clock_ns();
  const double *score;
  GBT_TRY(gbt_supporting_begin(ctx, stage->own, round, &score, err));
  GBT_TRY(stage->be->ops->set_scores(ctx, stage->be, 0, score, err));
  add_seconds(stage, GBT_PHASE_GRADIENT, t0);
  return GBT_OK;
}

/* The backend's trees, whose splits give the supporting models values. */
static gbt_status trees(gbt_ctx *ctx, gbti_stage *stage, gbt_tree_task *task, int32_t n, int first,
                        gbti_splits *splits, gbt_forest *forest, gbt_error *err) {
  GBT_ASSERT(forest == NULL);
  GBT_TRY(gbti_plain_trees(ctx, stage, task, n, first, splits, forest, err));
  const int64_t t0 = gbt_clock_ns();
  for (int32_t i = 0; i < n; i++) task[i].rates = 0; /* the drafts have their gains */
  GBT_TRY(gbt_supporting_fit(ctx, stage->own, task, n, &splits->trees, err));
  add_seconds(stage, GBT_PHASE_LEAF, t0);
  return GBT_OK;
}

static int more_scores(const gbti_stage *stage, int32_t i, gbti_scores *out) {
  const gbt_supporting *models = stage->own;
  out->be = gbt_supporting_backend(models, i / 2);
  out->which = i % 2;
  if (out->be == NULL) return 0;
  out->n_rows = gbt_supporting_rows(models, i / 2, i % 2);
  return 1;
}

static void close_stage(gbti_stage *stage) {
  gbt_supporting_free(stage->own);
  gbti_plain_close(stage);
}

const gbti_stage_ops gbti_ordered_stage = {.set_scores = set_scores,
                                           .gradients = gbti_plain_gradients,
                                           .trees = trees,
                                           .more_scores = more_scores,
                                           .has_outputs = 1,
                                           .close = close_stage};
