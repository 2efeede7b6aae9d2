#include "round.h"

#include "../tree/vectors.h"
#include "backends.h"
#include "shared_splits.h"

/* ---- life ---- */

/* Whether one backend grows the trees by one order of the rows and another one fits them by a second one. */
static int has_two_orders(const gbt_backend_spec *spec) {
  return spec->data[0]->n_variants > 1 || spec->params->boosting == GBT_BOOSTING_ORDERED;
}

static gbti_stage *add_stage(gbt_ctx *ctx, gbti_round *round, const gbti_stage_ops *ops) {
  GBT_ASSERT(round->n < GBTI_MOST_STAGES);
  gbti_stage *stage = &round->stage[round->n++];
  *stage = (gbti_stage){.ops = ops, .mem = ctx->mem};
  return stage;
}

/* Whether a device only grows trees, as it has no linear leaves: the CPU's backend fits these trees. */
static int fits_on_cpu(const gbti_round_spec *spec) {
  return spec->device != NULL && spec->backend.params->leaf_model == GBT_LEAF_LINEAR;
}

/* The last stage. Where a device's backend cannot fit splits that are given the CPU's does. */
static gbt_status open_last(gbt_ctx *ctx, const gbti_round_spec *spec, gbti_stage *stage, int fits, gbt_error *err) {
  if (fits_on_cpu(spec)) return gbt_backend_open(ctx, NULL, 0, &spec->backend, &stage->be, err);
  GBT_TRY(gbt_backend_open(ctx, spec->device, spec->device_number, &spec->backend, &stage->be, err));
  if (!fits || stage->be->ops->refit_trees != NULL) return GBT_OK;
  gbt_backend_close(stage->be);
  stage->be = NULL;
  return gbt_backend_open(ctx, NULL, 0, &spec->backend, &stage->be, err);
}

/* A forest for trees of one output each. */
static gbt_status new_parts(const gbt_mem *mem, const gbt_forest *forest, gbt_forest **out, gbt_error *err) {
  gbt_forest_view shape = gbt_forest_view_of(forest);
  shape.n_leaf_outputs = 1;
  shape.linear = (gbt_linear_view){0};
  return gbt_forest_new_like(mem, &shape, out, err);
}

/* The stage before the last one, whose trees that one fits; its backend has only the training set. */
static gbt_status open_drafts(gbt_ctx *ctx, const gbti_round_spec *spec, gbti_stage *stage, gbt_error *err) {
  gbt_backend_spec backend = spec->backend;
  backend.n_valid = 0;
  GBT_TRY(new_parts(&stage->mem, spec->forest, &stage->drafts, err));
  GBT_TRY(gbt_backend_open(ctx, spec->device, spec->device_number, &backend, &stage->be, err));
  return stage->ops == &gbti_ordered_stage ? gbti_ordered_open(ctx, spec, stage, err) : GBT_OK;
}

gbt_status gbti_round_open(gbt_ctx *ctx, const gbti_round_spec *spec, gbti_round *round, gbt_error *err) {
  const gbt_params *params = spec->backend.params;
  gbti_stage *structure = NULL, *drafts = NULL, *last;
  gbti_round_spec own = *spec;
  round->n_rows = spec->backend.data[0]->rows.n;
  round->shares = gbt_splits_are_shared(params);
  const int together = gbti_grows_together(&spec->backend.objective, params);
  if (round->shares && !together) structure = add_stage(ctx, round, &gbti_shared_stage);
  if (has_two_orders(&spec->backend))
    drafts = add_stage(ctx, round,
                       params->boosting == GBT_BOOSTING_ORDERED ? &gbti_ordered_stage : &gbti_plain_stage);
  else if (fits_on_cpu(spec))
    drafts = add_stage(ctx, round, &gbti_growing_stage);
  last = add_stage(ctx, round, &gbti_plain_stage);
  last->variant = spec->backend.data[0]->n_variants - 1;
  if (structure != NULL) (drafts != NULL ? drafts : last)->rates = 1;
  if (gbt_gradients_are_joint(&spec->backend.objective)) {
    GBT_TRY(gbt_joint_new(ctx, &spec->backend.objective, &spec->backend.data[0]->rows,
                          (uint64_t)spec->backend.params->seed, &round->joint, err));
    gbt_joint_set_base(round->joint, spec->backend.base);
    for (int32_t i = 0; i < round->n; i++) round->stage[i].joint = round->joint;
  }
  if (spec->forest->n_leaf_outputs > 1) GBT_TRY(new_parts(&ctx->mem, spec->forest, &round->parts, err));
  own.backend.n_backends = round->n - fits_on_cpu(spec);
  if (together) GBT_TRY(gbti_together_open(ctx, &spec->backend, &round->together, err));
  if (structure != NULL) GBT_TRY(gbti_shared_open(ctx, &own, structure, err));
  own.backend.together = together && drafts == NULL ? &round->together.by : NULL;
  GBT_TRY(open_last(ctx, &own, last, round->n > 1, err));
  own.backend.together = together ? &round->together.by : NULL;
  return drafts != NULL ? open_drafts(ctx, &own, drafts, err) : GBT_OK;
}

void gbti_round_close(gbti_round *round) {
  for (int32_t i = round->n - 1; i >= 0; i--) round->stage[i].ops->close(&round->stage[i]);
  round->n = 0;
  gbt_joint_free(round->joint);
  gbt_forest_free(round->parts);
  gbti_together_close(&round->together);
  round->joint = NULL;
  round->parts = NULL;
}

/* The first stage whose trees add to the outputs of the objective. */
static const gbti_stage *first_of_outputs(const gbti_round *round) {
  const gbti_stage *stage = round->stage;
  while (!stage->ops->has_outputs) stage++;
  return stage;
}

gbt_backend *gbti_round_grower(const gbti_round *round) { return first_of_outputs(round)->be; }

/* ---- rounds ---- */

gbt_status gbti_round_gradients(gbt_ctx *ctx, gbti_round *round, uint64_t number, gbt_error *err) {
  gbti_together_begin(&round->together, number);
  for (int32_t i = 0; i < round->n; i++) {
    gbti_stage *stage = &round->stage[i];
    if (stage->ops->set_scores != NULL) GBT_TRY(stage->ops->set_scores(ctx, stage, number, err));
  }
  for (int32_t i = 0; i < round->n; i++) {
    gbti_stage *stage = &round->stage[i], *next = i + 1 < round->n ? stage + 1 : NULL;
    GBT_TRY(stage->ops->gradients(ctx, stage, next, number, err));
  }
  return GBT_OK;
}

gbt_status gbti_round_set_gradients(gbt_ctx *ctx, gbti_round *round, uint64_t number, const double *g, const double *h,
                                    gbt_error *err) {
  for (const gbti_stage *stage = first_of_outputs(round); stage < round->stage + round->n; stage++)
    GBT_TRY(stage->be->ops->set_gradients(ctx, stage->be, number, g, h, err));
  return GBT_OK;
}

/* Trees of a batch, from stage to stage. */
static gbt_status make_trees(gbt_ctx *ctx, gbti_round *round, gbt_tree_task *task, int32_t n, gbt_forest *forest,
                             gbt_error *err) {
  gbti_splits splits = {.first = 0};
  for (int32_t i = 0; i < round->n; i++) {
    gbti_stage *stage = &round->stage[i];
    gbt_forest *to = i + 1 == round->n ? forest : NULL;
    GBT_TRY(stage->ops->trees(ctx, stage, task, n, i == 0, &splits, to, err));
  }
  return GBT_OK;
}

/* The number by which tree i of a round draws. */
static uint64_t tree_of_round(const gbti_round_task *what, int shares, int64_t i) {
  if (shares) return 0;
  return (uint64_t)(what->alike ? i % what->n_parallel : i);
}

/* Trees [grown, grown + n) of a round. */
static void make_tasks(const gbti_round_task *what, int shares, int64_t grown, int32_t n, gbt_tree_task *task) {
  for (int64_t i = 0; i < n; i++) {
    const int32_t output = (int32_t)((grown + i) / what->n_parallel);
    task[i] = (gbt_tree_task){.tree = what->first_tree + tree_of_round(what, shares, grown + i),
                              .round = what->number,
                              .output = output,
                              .shrinkage = output > 0 ? what->shrinkage * what->eta_scale : what->shrinkage,
                              .contest_noise = what->contest_noise,
                              .shares = shares};
  }
}

gbt_status gbti_round_grow(gbt_ctx *ctx, gbti_round *round, const gbti_round_task *what, gbt_forest *forest,
                           gbt_error *err) {
  const int64_t per_round = what->n_outputs * what->n_parallel;
  const int32_t most = gbti_round_grower(round)->most_trees;
  gbt_tree_task task[GBT_MOST_TREES];
  make_tasks(what, round->shares, 0, 1, task);
  for (int32_t i = 0; i < round->n; i++) {
    gbti_stage *stage = &round->stage[i];
    if (stage->ops->begin != NULL) GBT_TRY(stage->ops->begin(ctx, stage, task, err));
  }
  if (round->parts != NULL) gbt_forest_cut(round->parts, 0);
  for (int64_t grown = 0; grown < per_round;) {
    const int32_t n = gbt_batch_trees(most, what->n_outputs, what->n_parallel, grown);
    make_tasks(what, round->shares, grown, n, task);
    GBT_TRY(make_trees(ctx, round, task, n, round->parts != NULL ? round->parts : forest, err));
    grown += n;
  }
  if (round->parts == NULL) return GBT_OK;
  gbt_backend *last = round->stage[round->n - 1].be; /* a device may hold back what it has grown */
  if (last->ops->settle != NULL) GBT_TRY(last->ops->settle(ctx, last, err));
  const gbt_forest_view parts = gbt_forest_view_of(round->parts);
  return gbt_forest_add_joined(forest, &parts, err);
}

int gbti_round_scores(const gbti_round *round, int32_t i, gbti_scores *out) {
  const gbti_stage *order = first_of_outputs(round);
  if (order == &round->stage[round->n - 1] || order->ops == &gbti_growing_stage) return 0;
  *out = (gbti_scores){order->be, 0, round->n_rows};
  if (i == 0) return 1;
  return order->ops->more_scores != NULL && order->ops->more_scores(order, i - 1, out);
}
