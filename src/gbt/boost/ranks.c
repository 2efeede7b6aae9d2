#include "ranks.h"

#include "../base/bits.h"
#include "../base/find.h"
#include "../base/rng.h"
#include "../data/dataset_impl.h"
#include "../tree/forest.h"

/* ---- the same training everywhere ---- */

static uint64_t mix_double(uint64_t h, double x) { return gbt_mix64(h ^ gbt_bits(x)); }

static uint64_t mix_bytes(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  h = gbt_mix64(h ^ (uint64_t)(bytes != NULL));
  for (size_t i = 0; bytes != NULL && i < n; i++) h = gbt_mix64(h ^ at[i]);
  return h;
}

static uint64_t mix_params(const gbt_params *params) {
  int n;
  uint64_t h = 1;
  const gbt_param_info *info = gbt_params_table(&n);
  for (int i = 0; i < n; i++) h = mix_double(h, gbt_params_get(params, info[i].name));
  return h;
}

static uint64_t mix_constraints(uint64_t h, const gbt_trainer_spec *spec) {
  const size_t n = (size_t)spec->train->cuts->schema->n_columns, n_groups = (size_t)spec->n_interact;
  h = mix_bytes(h, spec->monotone, n);
  h = mix_bytes(h, spec->feature_weight, n * sizeof *spec->feature_weight);
  h = mix_bytes(h, spec->first_use_penalty, n * sizeof *spec->first_use_penalty);
  h = mix_bytes(h, spec->cat_method, n);
  h = mix_bytes(h, spec->class_rate, (size_t)spec->n_class_rates * sizeof *spec->class_rate);
  h = gbt_mix64(h ^ n_groups);
  if (n_groups == 0) return h;
  h = mix_bytes(h, spec->interact_beg, (n_groups + 1) * sizeof *spec->interact_beg);
  return mix_bytes(h, spec->interact_col, (size_t)spec->interact_beg[n_groups] * sizeof *spec->interact_col);
}

static uint64_t mix_start(uint64_t h, const gbt_trainer_spec *spec) {
  const gbt_forest_view *init = spec->init;
  h = mix_bytes(h, spec->base, (size_t)spec->objective.n_outputs * sizeof *spec->base);
  h = gbt_mix64(h ^ (uint64_t)(spec->init_score != NULL));
  h = mix_bytes(h, spec->eta, spec->eta != NULL ? (size_t)spec->n_eta * sizeof *spec->eta : 0);
  if (init == NULL) return h;
  h = mix_double(gbt_mix64(h ^ init->n_trees), spec->init_eta);
  h = mix_bytes(h, init->base, (size_t)init->n_outputs * sizeof *init->base);
  h = mix_bytes(h, init->nodes, init->n_nodes * sizeof *init->nodes);
  if (init->linear.n_leaves == 0) return h;
  h = mix_bytes(h, init->linear.of, init->n_nodes * sizeof *init->linear.of);
  h = mix_bytes(h, init->linear.leaf, init->linear.n_leaves * sizeof *init->linear.leaf);
  return mix_bytes(h, init->linear.term, init->linear.n_terms * sizeof *init->linear.term);
}

uint64_t gbt_ranks_mix_spec(const gbt_trainer_spec *spec) {
  uint64_t h = mix_params(&spec->params);
  h = gbt_mix64(h ^ (uint64_t)spec->objective.kind << 32 ^ (uint64_t)spec->objective.n_outputs);
  for (int i = 0; i < GBT_OBJECTIVE_PARAMS; i++) h = mix_double(h, spec->objective.param[i]);
  const double *of_outputs[] = {spec->objective.breaks, spec->objective.levels};
  for (int i = 0; i < 2; i++)
    if (of_outputs[i] != NULL)
      h = mix_bytes(h, of_outputs[i], (size_t)spec->objective.n_outputs * sizeof *of_outputs[i]);
  h = gbt_mix64(h ^ (uint64_t)spec->n_valid << 32 ^ (uint64_t)spec->n_metrics);
  for (int32_t m = 0; m < spec->n_metrics; m++)
    h = mix_double(gbt_mix64(h ^ (uint64_t)spec->metric[m].kind ^ (uint64_t)spec->metric[m].output << 32),
                   spec->metric[m].param);
  h = gbt_mix64(h ^ (uint64_t)(spec->eval_train != 0));
  h = gbt_mix64(h ^ (uint64_t)spec->stop_rounds << 32 ^ (uint64_t)spec->keep_best);
  h = mix_double(mix_double(h, spec->stop_min_delta), spec->max_seconds);
  return mix_start(mix_constraints(h, spec), spec);
}

gbt_status gbt_ranks_check_spec(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_error *err) {
  int same;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  GBT_TRY(gbt_comm_same(ctx, gbt_ranks_mix_spec(spec), &same, err));
  if (same) return GBT_OK;
  return gbt_fail(err, GBT_E_ARG,
                  "the ranks were given different trainings; give all of them the same parameters, objective, metrics, "
                  "constraints and initial model");
}

gbt_status gbt_ranks_check_weights(gbt_ctx *ctx, const gbt_dataset *ds, gbt_error *err) {
  const gbt_rows *rows = &ds->rows;
  const double *weight = rows->field[GBT_WEIGHT];
  int64_t found[2] = {rows->n > 0 && weight == NULL, 0}; /* rows that weigh 1; rows that weigh more than 0 */
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  if (weight != NULL) GBT_TRY(gbt_any_positive(ctx, weight, rows->n, &found[1], err));
  GBT_TRY(gbt_comm_max_i64(ctx, found, 2, err));
  if (found[0] || found[1]) return GBT_OK;
  return gbt_fail_on(err, GBT_E_DATA, "weights", "weights: all are 0; at least one must be larger");
}

gbt_status gbt_ranks_check_fields(gbt_ctx *ctx, const gbt_rows *rows, gbt_error *err) {
  enum { GIVEN, LACKED = GBT_N_FIELDS, N_FLAGS = 2 * GBT_N_FIELDS }; /* by a rank that has rows */
  int64_t flags[N_FLAGS];
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  for (int f = 0; f < GBT_N_FIELDS; f++) {
    flags[GIVEN + f] = rows->field[f] != NULL && rows->n > 0;
    flags[LACKED + f] = rows->field[f] == NULL && rows->n > 0;
  }
  GBT_TRY(gbt_comm_max_i64(ctx, flags, N_FLAGS, err));
  for (int f = 0; f < GBT_N_FIELDS; f++)
    if (f != GBT_WEIGHT && f != GBT_OFFSET && flags[GIVEN + f] && flags[LACKED + f])
      return gbt_fail_on(err, GBT_E_ARG, gbt_field_name(f), "%s: only some ranks have it; give it on all ranks",
                         gbt_field_name(f));
  return GBT_OK;
}

size_t gbt_ranks_spare(const gbt_ctx *ctx, const gbt_dataset *train) {
  const size_t slots = gbt_pages_layout(train->pages)->n_slots, ranks = (size_t)gbt_comm_size(ctx);
  return ((size_t)1 << 20) + 40 * slots + 1024 * ranks;
}

/* ---- time ---- */

gbt_status gbt_ranks_time_is_up(gbt_ctx *ctx, int *up, gbt_error *err) {
  int64_t first = *up;
  GBT_TRY(gbt_comm_broadcast(ctx, &first, sizeof first, 0, err));
  *up = first != 0;
  return GBT_OK;
}
