#include "trainer_state.h"

#include <stdio.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/find.h"
#include "../objective/aft.h"
#include "../objective/aft_scale.h"
#include "../objective/base_score.h"
#include "../schema/schema_impl.h"
#include "../tree/relevel.h"
#include "../tree/vectors.h"
#include "checkpoint.h"
#include "columns.h"
#include "ranks.h"
#include "sampling.h"
#include "shared_splits.h"
#include "trainer_check.h"

/* ---- life ---- */

static gbt_status open_backends(gbt_ctx *ctx, gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  const double *init[1 + GBT_MAX_VALID];
  init[0] = spec->init_score;
  for (int32_t i = 0; i < spec->n_valid; i++) init[1 + i] = spec->init_valid[i];
  const gbti_round_spec round = {.backend = {.params = &tr->params,
                                             .objective = tr->objective,
                                             .data = tr->data,
                                             .n_valid = spec->n_valid,
                                             .base = tr->forest->base,
                                             .init = init,
                                             .monotone = tr->constraints.monotone,
                                             .rules = tr->rules,
                                             .handicap = tr->penalties.handicap,
                                             .class_rate = spec->class_rate,
                                             .n_class_rates = spec->n_class_rates,
                                             .devices = spec->devices,
                                             .n_devices = spec->n_devices},
                                 .device = spec->device,
                                 .device_number = spec->device_number,
                                 .forest = tr->forest};
  GBT_TRY(gbti_round_open(ctx, &round, &tr->round, err));
  tr->be = gbti_round_last(&tr->round);
  return GBT_OK;
}

/* The features of the trees. */
static gbt_status make_schema(gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  gbt_schema *now = spec->train->cuts->schema;
  if (spec->init && spec->init_schema) return gbt_schema_join(&tr->mem, now, spec->init_schema, &tr->schema, err);
  tr->schema = gbt_schema_ref(now);
  return GBT_OK;
}

/* Copies trees, in the levels of the training data and with the numbers that their features have there. */
static gbt_status take_trees(gbt_trainer *tr, const gbt_trainer_spec *spec, const gbt_forest_view *trees,
                             gbt_error *err) {
  gbt_forest *releveled;
  if (spec->init_schema == NULL) {
    gbt_forest_view same = *trees;
    same.n_features = tr->schema->n_features; /* derived features come after these */
    return gbt_forest_append(tr->forest, &same, err);
  }
  GBT_TRY(gbt_forest_relevel(&tr->mem, trees, spec->init_schema, tr->schema, &releveled, err));
  gbt_forest_view view = gbt_forest_view_of(releveled);
  gbt_status status = gbt_forest_append(tr->forest, &view, err);
  gbt_forest_free(releveled);
  return status;
}

/* The trees of spec->init. Where each output has trees of its own from now on, it has them from the beginning. */
static gbt_status take_over(gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  gbt_forest *apart;
  if (spec->init->n_leaf_outputs == tr->forest->n_leaf_outputs) return take_trees(tr, spec, spec->init, err);
  GBT_TRY(gbt_forest_apart(&tr->mem, spec->init, 0, spec->init->n_trees, &apart, err));
  const gbt_forest_view view = gbt_forest_view_of(apart);
  const gbt_status status = take_trees(tr, spec, &view, err);
  gbt_forest_free(apart);
  return status;
}

/* The numeric columns, whose cuts are those of the training data, are what linear leaves are linear in. */
static gbt_status use_linear(gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  const gbt_cuts *cuts = spec->train->cuts;
  const size_t n = (size_t)tr->schema->n_features;
  const double **cut = NULL;
  int32_t *n_bins = NULL;
  gbt_status status = GBT_OK;
  GBT_TRY_GOTO(gbt_mem_zeros(&tr->mem, n, sizeof *cut, &cut, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&tr->mem, n, sizeof *n_bins, &n_bins, err), done);
  for (int32_t f = 0; f < cuts->n_features; f++) {
    const gbt_feature *feat = &cuts->schema->feat[f];
    if (feat->kind != GBT_FEATURE_COLUMN || feat->type != GBT_NUMERIC) continue;
    cut[f] = cuts->feat[f].cut;
    n_bins[f] = cuts->feat[f].n_bins;
  }
  status = gbt_forest_use_linear(tr->forest, cut, n_bins, err);
done:
  gbt_mem_free(&tr->mem, cut);
  gbt_mem_free(&tr->mem, n_bins);
  return status;
}

/* Leaves hold a value for every output where trees share their splits, but behind trees of single outputs. */
static gbt_status make_forest(gbt_ctx *ctx, gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  const int joined = gbt_splits_are_shared(&spec->params) && (!spec->init || spec->init->n_leaf_outputs > 1);
  GBT_TRY(make_schema(tr, spec, err));
  const gbt_forest_view shape = {.n_features = tr->schema->n_features,
                                 .n_outputs = spec->objective.n_outputs,
                                 .n_leaf_outputs = joined ? spec->objective.n_outputs : 1,
                                 .n_parallel = (int32_t)spec->params.num_parallel_tree};
  GBT_TRY(gbt_forest_new_like(&tr->mem, &shape, &tr->forest, err));
  if (spec->params.leaf_model == GBT_LEAF_LINEAR) GBT_TRY(use_linear(tr, spec, err));
  if (spec->init) return take_over(tr, spec, err);
  if (spec->base)
    memcpy(tr->forest->base, spec->base, (size_t)spec->objective.n_outputs * sizeof *spec->base);
  else if (!spec->init_score)
    GBT_TRY(gbt_base_scores(ctx, &spec->objective, &spec->train->rows, tr->forest->base, err));
  return GBT_OK;
}

/* The scale at the scores of the training set is that of round n_rounds from now on: that of `round.joint`, after most
 * steps. */
static gbt_status move_scale(gbt_ctx *ctx, gbt_trainer *tr, int most, int64_t n_rounds, gbt_error *err) {
  const double *score;
  GBT_TRY(gbt_mem_grow(&tr->mem, &tr->scale, &tr->cap_scale, (size_t)n_rounds + 1, sizeof *tr->scale, err));
  GBT_TRY(tr->be->ops->scores(ctx, tr->be, 0, &score, err));
  GBT_TRY(gbt_joint_scale_steps(ctx, tr->round.joint, score, most, err));
  gbti_put_scale(tr, n_rounds, gbt_joint_scale(tr->round.joint));
  return GBT_OK;
}

/* The scale before the first round: given, or that of an initial model, or estimated. */
static gbt_status begin_scale(gbt_ctx *ctx, gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  enum { MOST_STEPS = 100 };
  if (!gbt_gradients_by_scale(&tr->objective)) return GBT_OK;
  const int known = !gbt_aft_estimates(&tr->objective) || spec->init_scale > 0.0;
  if (gbt_aft_estimates(&tr->objective)) gbt_joint_set_scale(tr->round.joint, known ? spec->init_scale : 1.0);
  return move_scale(ctx, tr, known ? 0 : MOST_STEPS, 0, err);
}

/* The biases of positions in round n_rounds are those that the gradients know now. */
static gbt_status keep_biases(gbt_trainer *tr, int64_t n_rounds, gbt_error *err) {
  const size_t at = (size_t)n_rounds * tr->n_bias;
  GBT_TRY(gbt_mem_grow(&tr->mem, &tr->bias, &tr->cap_bias, at + tr->n_bias, sizeof *tr->bias, err));
  memcpy(tr->bias + at, gbt_joint_biases(tr->round.joint), tr->n_bias * sizeof *tr->bias);
  return GBT_OK;
}

static gbt_status begin_biases(gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  if (tr->round.joint == NULL) return GBT_OK;
  tr->n_bias = gbt_joint_n_biases(tr->round.joint);
  if (tr->n_bias == 0) return GBT_OK;
  if (spec->init_bias != NULL &&
      (spec->n_init_bias != (int64_t)tr->n_bias || !gbt_joint_biases_fit(tr->round.joint, spec->init_bias)))
    return gbt_fail(err, GBT_E_INTERNAL, "the biases of the initial model do not fit the positions");
  if (spec->init_bias != NULL) gbt_joint_set_biases(tr->round.joint, spec->init_bias);
  return keep_biases(tr, 0, err);
}

static gbt_status move_biases(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  if (tr->n_bias == 0) return GBT_OK;
  GBT_TRY(gbt_joint_move_biases(ctx, tr->round.joint, gbti_eta_of(tr, tr->n_rounds), err));
  return keep_biases(tr, tr->n_rounds + 1, err);
}

const double *gbt_trainer_biases(const gbt_trainer *tr, int64_t *n) {
  const int64_t best = tr->stopper.best_round;
  *n = (int64_t)tr->n_bias;
  return tr->n_bias > 0 ? tr->bias + (size_t)(best > 0 ? best : tr->n_rounds) * tr->n_bias : NULL;
}

/* Copies the settings that need only the specification. */
static void copy_spec(gbt_trainer *tr, const gbt_trainer_spec *spec) {
  tr->params = spec->params;
  tr->objective = spec->objective;
  tr->n_valid = spec->n_valid;
  tr->n_metrics = spec->n_metrics;
  tr->eval_train = spec->eval_train;
  tr->max_seconds = spec->max_seconds;
  tr->keep_best = spec->keep_best;
  memcpy(tr->metric, spec->metric, sizeof tr->metric);
  tr->width = spec->n_metrics * (spec->n_valid + (spec->eval_train != 0));
  tr->data[0] = gbt_dataset_ref(spec->train);
  for (int32_t i = 0; i < spec->n_valid; i++) tr->data[1 + i] = gbt_dataset_ref(spec->valid[i]);
  if (spec->stop_rounds > 0 && tr->width > 0) {
    tr->watching = 1;
    gbt_stopper_start(&tr->stopper, spec->stop_rounds, spec->stop_min_delta,
                      gbt_metric_about(spec->metric[spec->n_metrics - 1].kind)->better == GBT_LARGER_IS_BETTER);
  } else {
    gbt_stopper_start(&tr->stopper, spec->stop_rounds, spec->stop_min_delta, 0);
  }
}

static gbt_status keep_eta(gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  tr->init_eta = spec->init_eta;
  if (spec->eta == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&tr->mem, (size_t)spec->n_eta, sizeof *tr->eta, &tr->eta, err));
  memcpy(tr->eta, spec->eta, (size_t)spec->n_eta * sizeof *tr->eta);
  tr->n_eta = spec->n_eta;
  return GBT_OK;
}

/* A number for each output, of the objective: copies them, *kept owning the copy. */
static gbt_status keep_of_outputs(gbt_trainer *tr, const double **of_outputs, double **kept, gbt_error *err) {
  const size_t n = (size_t)tr->objective.n_outputs;
  if (*of_outputs == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&tr->mem, n, sizeof **kept, kept, err));
  memcpy(*kept, *of_outputs, n * sizeof **kept);
  *of_outputs = *kept;
  return GBT_OK;
}

/* From the data sets on; the specification has those that the trainer works with. */
static gbt_status prepare(gbt_ctx *ctx, gbt_trainer *tr, const gbt_trainer_spec *spec, gbt_error *err) {
  gbt_constraints *c = &tr->constraints;
  GBT_TRY(gbt_trainer_check_init(spec, err));
  GBT_TRY(keep_eta(tr, spec, err));
  GBT_TRY(keep_of_outputs(tr, &tr->objective.breaks, &tr->breaks, err));
  GBT_TRY(keep_of_outputs(tr, &tr->objective.levels, &tr->levels, err));
  if (tr->keep_best > 0) GBT_TRY(gbt_mem_zeros(&tr->mem, gbti_n_kept_scores(tr), sizeof *tr->kept, &tr->kept, err));
  GBT_TRY(gbt_constraints_make(&tr->mem, spec, c, err));
  GBT_TRY(gbt_penalties_make(&tr->mem, spec, &tr->penalties, err));
  GBT_TRY(gbt_feature_rules_new(&tr->mem, spec->train->cuts->n_features, gbt_pages_layout(spec->train->pages)->unused,
                                &tr->params, c->weight, c->group_beg, c->group_feat, c->n_groups, &tr->rules, err));
  GBT_TRY(make_forest(ctx, tr, spec, err));
  tr->n_trees = tr->forest->n_trees;
  const gbt_forest_view start = gbt_forest_view_of(tr->forest);
  GBT_TRY(gbti_training_identity(ctx, spec, &start, &tr->identity, err));
  if (!gbt_comm_is_single(ctx))
    GBT_TRY(gbt_mem_array(&tr->mem, gbt_ranks_spare(ctx, tr->data[0]), 1, &tr->spare, err));
  GBT_TRY(open_backends(ctx, tr, spec, err));
  GBT_TRY(begin_biases(tr, spec, err));
  GBT_TRY(gbti_make_aids(ctx, tr, err));
  return begin_scale(ctx, tr, spec, err);
}

static gbt_status make_trainer(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_trainer **out, gbt_error *err) {
  gbt_trainer *tr = NULL;
  gbt_trainer_spec own = *spec;
  GBT_TRY(gbt_trainer_check(ctx, spec, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *tr, &tr, err));
  tr->mem = ctx->mem;
  copy_spec(tr, spec);
  gbt_status status = gbt_mem_array(&tr->mem, (size_t)spec->train->cuts->schema->n_columns, sizeof *tr->cat_method,
                                    &tr->cat_method, err);
  if (status == GBT_OK) status = gbti_encode_columns(ctx, spec, tr->data, tr->cat_method, err);
  own.train = tr->data[0];
  for (int32_t i = 0; i < spec->n_valid; i++) own.valid[i] = tr->data[1 + i];
  if (status == GBT_OK) status = prepare(ctx, tr, &own, err);
  if (status == GBT_OK)
    *out = tr;
  else
    gbt_trainer_free(tr);
  return status;
}

gbt_status gbt_trainer_new(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_trainer **out, gbt_error *err) {
  *out = NULL;
  gbt_status status = make_trainer(ctx, spec, out, err);
  status = gbt_comm_agree(ctx, status, err);
  if (status == GBT_OK) return GBT_OK;
  gbt_trainer_free(*out); /* another rank failed */
  *out = NULL;
  return status;
}

void gbt_trainer_free(gbt_trainer *tr) {
  if (!tr) return;
  gbt_mem mem = tr->mem;
  gbti_round_close(&tr->round);
  gbt_forest_free(tr->forest);
  gbt_schema_unref(tr->schema);
  gbt_feature_rules_free(tr->rules);
  for (int32_t s = 0; s <= tr->n_valid; s++) gbt_dataset_unref(tr->data[s]);
  gbt_constraints_free(&mem, &tr->constraints);
  gbt_penalties_free(&mem, &tr->penalties);
  gbt_mem_free(&mem, tr->cat_method);
  gbt_mem_free(&mem, tr->eta);
  gbt_mem_free(&mem, tr->breaks);
  gbt_mem_free(&mem, tr->levels);
  gbt_mem_free(&mem, tr->log);
  gbt_mem_free(&mem, tr->scale);
  gbt_mem_free(&mem, tr->bias);
  gbt_mem_free(&mem, tr->kept);
  gbt_mem_free(&mem, tr->at_best);
  gbt_mem_free(&mem, tr->hazard);
  gbt_mem_free(&mem, tr->spare);
  gbti_free_aids(tr);
  gbt_mem_free(&mem, tr);
}

/* ---- rounds ---- */

static uint64_t trees_per_round(const gbt_trainer *tr) {
  const gbt_forest_view forest = gbt_forest_view_of(tr->forest);
  return gbt_trees_per_round(&forest);
}

/* Rounds in the forest, those of the initial model included: the number of the round to come. */
static uint64_t rounds_of(const gbt_trainer *tr) { return tr->n_trees / trees_per_round(tr); }

/* All trees that have grown into the forest. */
static gbt_status settle(gbt_ctx *ctx, const gbt_trainer *tr, gbt_error *err) {
  return tr->be->ops->settle != NULL ? tr->be->ops->settle(ctx, tr->be, err) : GBT_OK;
}

/* After a failure: whole rounds stay. */
static void drop_parts(gbt_trainer *tr) {
  for (; tr->n_trees > tr->forest->n_trees; tr->n_rounds--) tr->n_trees -= (size_t)trees_per_round(tr);
  gbt_forest_cut(tr->forest, tr->n_trees);
  tr->broken = 1;
}

static gbt_status eval_metric(gbt_ctx *ctx, gbt_trainer *tr, int32_t which, const gbt_metric *metric, double *out,
                              gbt_error *err) {
  const double *scores;
  int done = 0;
  if (tr->be->ops->metric) GBT_TRY(tr->be->ops->metric(ctx, tr->be, which, metric, out, &done, err));
  if (done) return GBT_OK;
  GBT_TRY(tr->be->ops->scores(ctx, tr->be, which, &scores, err));
  const gbt_metric_aids aids = gbti_aids_of(tr, which);
  return gbt_metric_eval(ctx, metric, &tr->objective, &tr->data[which]->rows, &aids, scores, out, err);
}

gbt_status gbt_trainer_loss(gbt_ctx *ctx, gbt_trainer *tr, double *out, gbt_error *err) {
  const gbt_metric metric = gbt_metric_usual(&tr->objective);
  return gbt_comm_agree(ctx, eval_metric(ctx, tr, 0, &metric, out, err), err);
}

static gbt_status log_round(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  int64_t t0 = gbt_clock_ns();
  size_t at = (size_t)tr->n_rounds * (size_t)tr->width;
  GBT_TRY(gbt_mem_grow(&tr->mem, &tr->log, &tr->cap_log, at + (size_t)tr->width, sizeof *tr->log, err));
  GBT_TRY(gbti_update_aids(ctx, tr, err));
  for (int32_t s = tr->eval_train ? 0 : 1; s <= tr->n_valid; s++)
    for (int32_t m = 0; m < tr->n_metrics; m++) GBT_TRY(eval_metric(ctx, tr, s, &tr->metric[m], &tr->log[at++], err));
  tr->be->seconds[GBT_PHASE_METRIC] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}

/* Tells the backends about the rounds before, when rows are drawn by their gradients. */
static gbt_status give_size_reg(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  if (tr->params.sampling_method != GBT_SAMPLE_MVS) return GBT_OK;
  if (tr->params.mvs_reg < 0.0) GBT_TRY(settle(ctx, tr, err));
  const gbt_forest_view trees = gbt_forest_view_of(tr->forest);
  double eta = gbti_eta_of(tr, tr->n_rounds > 0 ? tr->n_rounds - 1 : 0);
  if (tr->n_rounds == 0 && tr->init_eta > 0.0) eta = tr->init_eta;
  const double size_reg = gbt_sampling_reg(&tr->params, eta, &trees);
  for (int32_t i = 0; i < tr->round.n; i++) tr->round.stage[i].be->size_reg = size_reg;
  return GBT_OK;
}

static gbt_status make_gradients(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  GBT_TRY(give_size_reg(ctx, tr, err));
  return gbti_round_gradients(ctx, &tr->round, rounds_of(tr), err);
}

/* The trees of a round, into the forest. */
static gbt_status grow_round(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  const int64_t n_parallel = tr->params.num_parallel_tree;
  const double eta = gbti_eta_of(tr, tr->n_rounds);
  const uint64_t number = rounds_of(tr);
  const int alike = gbt_has_columns(&tr->objective);
  const gbti_round_task what = {
      .number = number,
      .first_tree = number * (uint64_t)(alike ? 1 : tr->objective.n_outputs) * (uint64_t)n_parallel,
      .alike = alike,
      .n_outputs = tr->objective.n_outputs,
      .n_parallel = n_parallel,
      .shrinkage = eta / (double)n_parallel,
      .eta_scale = gbt_objective_param_of(&tr->objective, "eta_scale", 1.0),
      .contest_noise = gbt_contest_noise(&tr->params, tr->data[0]->all_rows, number, eta)};
  return gbti_round_grow(ctx, &tr->round, &what, tr->forest, err);
}

/* Which features the trees so far use, where that costs the others something. */
static gbt_status update_penalties(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  if (tr->penalties.handicap == NULL) return GBT_OK;
  GBT_TRY(settle(ctx, tr, err));
  const gbt_forest_view trees = gbt_forest_view_of(tr->forest);
  gbt_penalties_update(&tr->penalties, tr->data[0]->cuts->schema, tr->schema, &trees);
  return GBT_OK;
}

static gbt_status train_one_round(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_error later;
  GBT_TRY(update_penalties(ctx, tr, err));
  if (!gbt_gradients_by_host(&tr->objective)) GBT_TRY(make_gradients(ctx, tr, err));
  GBT_TRY_GOTO(grow_round(ctx, tr, err), failed);
  if (tr->scale != NULL) GBT_TRY_GOTO(move_scale(ctx, tr, 1, tr->n_rounds + 1, err), failed);
  GBT_TRY_GOTO(move_biases(ctx, tr, err), failed);
  GBT_TRY_GOTO(log_round(ctx, tr, err), failed);
  GBT_TRY_GOTO(gbt_comm_sync(ctx, err), failed); /* all ranks have the round, or none */
  tr->has_gradients = 0;
  tr->n_rounds++;
  tr->n_trees += (size_t)trees_per_round(tr);
  return GBT_OK;
failed:
  (void)settle(ctx, tr, &later);
  drop_parts(tr);
  return status;
}

/* The number that early stopping watches, after a round. *stop: whether training should end. */
static gbt_status update_stopper(gbt_ctx *ctx, gbt_trainer *tr, double value, int *stop, gbt_error *err) {
  *stop = gbt_stopper_update(&tr->stopper, tr->n_rounds, value);
  if (tr->stopper.best_round != tr->n_rounds) return GBT_OK;
  GBT_TRY(gbti_keep_hazards(ctx, tr, err));
  if (tr->keep_best == 0) return GBT_OK;
  const double *scores;
  const size_t cells = gbti_n_kept_scores(tr);
  GBT_TRY(tr->be->ops->scores(ctx, tr->be, tr->keep_best, &scores, err));
  if (cells > 0) memcpy(tr->kept, scores, cells * sizeof *tr->kept);
  tr->kept_round = tr->n_rounds;
  return GBT_OK;
}

/* Whether max_seconds is over, by the clock of the first rank. */
static gbt_status look_at_clock(gbt_ctx *ctx, const gbt_trainer *tr, int *over, gbt_error *err) {
  *over = tr->seconds >= tr->max_seconds;
  return gbt_ranks_time_is_up(ctx, over, err);
}

static gbt_status run_rounds(gbt_ctx *ctx, gbt_trainer *tr, int64_t n_rounds, gbt_stop_reason *why, gbt_error *err) {
  if (tr->broken)
    return gbt_fail(err, GBT_E_ARG,
                    "this training was stopped in the middle of a round; continue its model with `init_model`");
  if (gbt_gradients_by_host(&tr->objective) && n_rounds > 0 && (n_rounds > 1 || !tr->has_gradients))
    return gbt_fail(err, GBT_E_INTERNAL,
                    "with a custom objective give the gradients of each round, then run this round");
  for (int64_t i = 0; i < n_rounds; i++) {
    int64_t t0 = gbt_clock_ns();
    GBT_TRY(train_one_round(ctx, tr, err));
    tr->seconds += (double)(gbt_clock_ns() - t0) * 1e-9;
    if (tr->watching == 1) {
      double value = tr->log[(size_t)tr->n_rounds * (size_t)tr->width - 1];
      int stop;
      GBT_TRY(update_stopper(ctx, tr, value, &stop, err));
      if (stop) {
        *why = GBT_RUN_EARLY;
        return GBT_OK;
      }
    }
    int over = 0;
    if (tr->max_seconds > 0.0) GBT_TRY(look_at_clock(ctx, tr, &over, err));
    if (over) {
      *why = GBT_RUN_TIME;
      return GBT_OK;
    }
  }
  return GBT_OK;
}

gbt_status gbt_trainer_run(gbt_ctx *ctx, gbt_trainer *tr, int64_t n_rounds, gbt_stop_reason *why, gbt_error *err) {
  *why = GBT_RUN_DONE;
  gbt_error later;
  gbt_status status = gbt_comm_enter(ctx, (uint64_t)n_rounds, tr->spare, gbt_ranks_spare(ctx, tr->data[0]), err);
  if (status == GBT_OK) status = run_rounds(ctx, tr, n_rounds, why, err);
  const gbt_status settled = settle(ctx, tr, status == GBT_OK ? err : &later);
  if (settled != GBT_OK) drop_parts(tr);
  return gbt_comm_agree(ctx, status == GBT_OK ? settled : status, err);
}

/* at: number of the cell in an n_rows x n_outputs matrix, by columns. C libraries print NaN with a sign or without. */
static gbt_status refuse_derivative(const gbt_trainer *tr, const char *what, int64_t at, double value, const char *rule,
                                    gbt_error *err) {
  const gbt_rows *rows = &tr->data[0]->rows;
  const int64_t n = rows->n;
  char output[40] = "", number[40] = "NaN";
  if (tr->objective.n_outputs > 1) snprintf(output, sizeof output, ", output %lld", (long long)(at / n) + 1);
  if (value == value) snprintf(number, sizeof number, "%g", value);
  return gbt_fail_on(err, GBT_E_DATA, what, "%s of row %lld%s is %s; it must be %s", what,
                     (long long)gbt_row_number(rows, at % n), output, number, rule);
}

typedef struct derivative_search {
  const double *g, *h;
} derivative_search;

static int gradient_fits(double g) { return g < 1e290 && g > -1e290; }

static int64_t find_derivative(const void *arg, int64_t beg, int64_t end) {
  const derivative_search *s = arg;
  while (beg < end && gradient_fits(s->g[beg]) && s->h[beg] >= 0.0 && s->h[beg] < 1e290) beg++;
  return beg;
}

static gbt_status set_gradients(gbt_ctx *ctx, gbt_trainer *tr, const double *g, const double *h, gbt_error *err) {
  const int64_t cells = tr->data[0]->rows.n * tr->objective.n_outputs;
  const derivative_search search = {g, h};
  int64_t at;
  if (tr->broken) return gbt_fail(err, GBT_E_ARG, "this training was stopped in the middle of a round");
  GBT_TRY(gbt_find_first(ctx, cells, find_derivative, &search, &at, err));
  if (at < cells && !gradient_fits(g[at])) return refuse_derivative(tr, "gradient", at, g[at], "finite", err);
  if (at < cells) return refuse_derivative(tr, "hessian", at, h[at], "finite and 0 or more", err);
  GBT_TRY(give_size_reg(ctx, tr, err));
  GBT_TRY(gbti_round_set_gradients(ctx, &tr->round, rounds_of(tr), g, h, err));
  tr->has_gradients = 1;
  return GBT_OK;
}

gbt_status gbt_trainer_set_gradients(gbt_ctx *ctx, gbt_trainer *tr, const double *g, const double *h, gbt_error *err) {
  return gbt_comm_agree(ctx, set_gradients(ctx, tr, g, h, err), err);
}

/* ---- looking ---- */

gbt_status gbt_trainer_scores(gbt_ctx *ctx, const gbt_trainer *tr, int32_t which, const double **out, gbt_error *err) {
  return tr->be->ops->scores(ctx, tr->be, which, out, err);
}

gbt_status gbt_trainer_best_scores(gbt_ctx *ctx, gbt_trainer *tr, int32_t which, const double **out, gbt_error *err) {
  if (tr->keep_best == 0 || which != tr->keep_best || tr->stopper.best_round == 0)
    return tr->be->ops->scores(ctx, tr->be, which, out, err);
  if (tr->kept_round != tr->stopper.best_round)
    return gbt_fail(err, GBT_E_INTERNAL, "the scores of round %lld were not kept, as reading them failed",
                    (long long)tr->stopper.best_round);
  *out = tr->kept;
  return GBT_OK;
}

gbt_objective gbt_trainer_objective(const gbt_trainer *tr) {
  gbt_objective objective = tr->objective;
  const int64_t best = tr->stopper.best_round;
  if (tr->scale != NULL) objective.param[GBT_AFT_PARAM_SCALE] = tr->scale[best > 0 ? best : tr->n_rounds];
  return objective;
}

int64_t gbt_trainer_n_rows(const gbt_trainer *tr, int32_t which) { return tr->data[which]->rows.n; }
const gbt_schema *gbt_trainer_schema(const gbt_trainer *tr) { return tr->schema; }

const uint8_t *gbt_trainer_cat_methods(const gbt_trainer *tr) { return tr->cat_method; }
const gbt_forest *gbt_trainer_forest(const gbt_trainer *tr) { return tr->forest; }

const gbt_forest_view *gbt_trainer_trees(gbt_trainer *tr) {
  tr->trees = gbt_forest_view_of(tr->forest);
  return &tr->trees;
}

int64_t gbt_trainer_rounds(const gbt_trainer *tr) { return tr->n_rounds; }
int64_t gbt_trainer_best_round(const gbt_trainer *tr) { return tr->watching ? tr->stopper.best_round : 0; }

const double *gbt_trainer_log(const gbt_trainer *tr, int32_t *width) {
  *width = tr->width;
  return tr->log;
}

void gbt_trainer_watch(gbt_trainer *tr, int maximise) {
  tr->watching = 2;
  gbt_stopper_start(&tr->stopper, tr->stopper.patience, tr->stopper.min_delta, maximise);
}

gbt_status gbt_trainer_put_value(gbt_ctx *ctx, gbt_trainer *tr, double value, int *stop, gbt_error *err) {
  *stop = 0;
  if (tr->watching != 2 || tr->n_rounds == 0)
    return gbt_fail(err, GBT_E_INTERNAL, "the trainer was not set to watch a metric of the host");
  return gbt_comm_agree(ctx, update_stopper(ctx, tr, value, stop, err), err);
}

const char *gbt_trainer_backend(const gbt_trainer *tr) { return gbti_round_grower(&tr->round)->ops->name; }

uint64_t gbt_trainer_device_bytes(const gbt_trainer *tr) {
  uint64_t sum = 0;
  for (int32_t i = 0; i < tr->round.n; i++) sum += tr->round.stage[i].be->device_bytes;
  return sum;
}

uint64_t gbt_trainer_host_bytes(const gbt_trainer *tr) {
  uint64_t sum = 0;
  for (int32_t i = 0; i < tr->round.n; i++) sum += tr->round.stage[i].be->host_bytes;
  return sum;
}

void gbt_trainer_seconds(const gbt_trainer *tr, double out[GBT_N_PHASES]) {
  for (int p = 0; p < GBT_N_PHASES; p++) {
    out[p] = 0.0;
    for (int32_t i = 0; i < tr->round.n; i++) out[p] += tr->round.stage[i].be->seconds[p];
  }
}

const char *gbt_stop_reason_name(int reason) {
  switch ((gbt_stop_reason)reason) {
  case GBT_RUN_DONE:
    return "done";
  case GBT_RUN_EARLY:
    return "early";
  case GBT_RUN_TIME:
    return "time";
  }
  return NULL;
}
