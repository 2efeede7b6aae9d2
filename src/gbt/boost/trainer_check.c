#include "trainer_check.h"

#include <stdio.h>

#include "../bytes/sections.h"
#include "../data/dataset_impl.h"
#include "../objective/aft_scale.h"
#include "../schema/schema_impl.h"
#include "../tree/forest.h"
#include "metric_rows.h"
#include "ranks.h"
#include "sampling.h"
#include "shared_splits.h"
#include "supporting.h"

/* Of all ranks together: what the scales of gradients are made for (math/fixed.h). */
#define MOST_ROWS (((int64_t)1 << 47) - 1)

static gbt_status check_set(gbt_ctx *ctx, const gbt_trainer_spec *spec, const gbt_dataset *ds, const char *name,
                            gbt_error *err) {
  if (ds->cuts != spec->train->cuts)
    return gbt_fail(err, GBT_E_ARG,
                    "the %s data were not made with the training data as `reference`; make them again "
                    "with it",
                    name);
  const int32_t n_offset = ds->rows.n_outputs[GBT_OFFSET];
  if (n_offset > 0 && n_offset != spec->objective.n_outputs)
    return gbt_fail_on(err, GBT_E_DATA, "offset", "the offset of the %s data has %d columns; this objective needs %d",
                       name, (int)n_offset, (int)spec->objective.n_outputs);
  const int32_t n_columns = gbt_has_columns(&spec->objective) ? spec->objective.n_outputs : 1;
  const int32_t n_label = ds->rows.n_outputs[GBT_LABEL], n_weight = ds->rows.n_outputs[GBT_WEIGHT];
  if (n_label > 0 && n_label != n_columns)
    return gbt_fail_on(err, GBT_E_DATA, "label", "the label of the %s data has %d columns; this objective needs %d",
                       name, (int)n_label, (int)n_columns);
  if (n_weight > 1 && n_weight != n_columns)
    return gbt_fail_on(err, GBT_E_DATA, "weights",
                       "the weights of the %s data have %d columns; this objective needs %d", name, (int)n_weight,
                       (int)n_columns);
  if (ds->all_rows == 0) return gbt_fail(err, GBT_E_DATA, "the %s data have no rows", name);
  if (ds->rows.n == 0) return GBT_OK; /* a rank without rows */
  GBT_TRY(gbt_labels_check(ctx, &spec->objective, &ds->rows, name, err));
  return gbt_gradients_by_scale(&spec->objective) ? gbt_aft_check_rows(ctx, &ds->rows, name, err) : GBT_OK;
}

static gbt_status check_data(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_error *err) {
  char name[32] = "train";
  if (spec->train->rows.n > INT32_MAX)
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "a process can train on at most 2,147,483,647 rows, and these data have %lld; train on a part of "
                    "them (`mask`), or divide them among ranks",
                    (long long)spec->train->rows.n);
  if (spec->train->all_rows > MOST_ROWS)
    return gbt_fail(err, GBT_E_UNSUPPORTED, "the ranks have %lld rows together; up to %lld can be used",
                    (long long)spec->train->all_rows, (long long)MOST_ROWS);
  if (spec->train->cuts->n_features == 0)
    return gbt_fail(err, GBT_E_DATA,
                    "the training data have no columns; give at "
                    "least one");
  GBT_TRY(check_set(ctx, spec, spec->train, name, err));
  for (int32_t i = 0; i < spec->n_valid; i++) {
    snprintf(name, sizeof name, "valid %d", (int)i + 1);
    GBT_TRY(check_set(ctx, spec, spec->valid[i], name, err));
  }
  return GBT_OK;
}

static gbt_status check_metrics(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_error *err) {
  for (int32_t m = 0; m < spec->n_metrics; m++) {
    const gbt_metric *metric = &spec->metric[m];
    GBT_TRY(gbt_metric_check(metric, &spec->objective, err));
    for (int32_t s = spec->eval_train ? 0 : 1; s <= spec->n_valid; s++) {
      const gbt_dataset *ds = s == 0 ? spec->train : spec->valid[s - 1];
      if (ds->rows.n == 0) continue; /* a share of rows may be empty */
      if (!ds->rows.field[GBT_LABEL])
        return gbt_fail_on(err, GBT_E_DATA, "label", "metrics need labels in every data set they are evaluated on");
      char name[32] = "train";
      if (s > 0) snprintf(name, sizeof name, "valid %d", (int)s);
      if (gbt_metric_about(metric->kind)->form == GBT_FORM_QUERY && !ds->rows.field[GBT_GROUP])
        return gbt_fail_on(err, GBT_E_DATA, "group",
                           "metric \"%s\" needs `group`, the query of every row, in the %s data",
                           gbt_metric_about(metric->kind)->name, name);
      if (gbt_metric_about(metric->kind)->form == GBT_FORM_RISK)
        GBT_TRY(gbt_metric_risk_check(metric, &spec->objective, &ds->rows, name, err));
      GBT_TRY(gbt_metric_labels_check(ctx, metric, &ds->rows, name, err));
    }
  }
  if (spec->stop_rounds > 0 && spec->n_metrics > 0 && spec->n_valid == 0 && !spec->eval_train)
    return gbt_fail_on(err, GBT_E_ARG, "early_stopping_rounds", "`early_stopping_rounds` needs validation data");
  return GBT_OK;
}

gbt_status gbt_trainer_check_init(const gbt_trainer_spec *spec, gbt_error *err) {
  const gbt_forest_view *init = spec->init;
  if (!init) return GBT_OK;
  if (!spec->init_score) return gbt_fail(err, GBT_E_INTERNAL, "init needs its scores on the training data");
  for (int32_t i = 0; i < spec->n_valid; i++)
    if (!spec->init_valid[i]) return gbt_fail(err, GBT_E_INTERNAL, "init needs its scores on all validation data");
  const int32_t n_init = init->n_features - (spec->init_schema ? gbt_schema_n_tables(spec->init_schema) : 0);
  const int32_t n_data = spec->train->cuts->n_features - gbt_schema_n_tables(spec->train->cuts->schema);
  if (n_init != n_data || init->n_outputs != spec->objective.n_outputs)
    return gbt_fail_on(err, GBT_E_ARG, "init_model",
                       "the initial model has %d features and %d outputs; these data need %d and %d", (int)n_init,
                       (int)init->n_outputs, (int)n_data, (int)spec->objective.n_outputs);
  if (init->n_parallel != spec->params.num_parallel_tree)
    return gbt_fail_on(err, GBT_E_ARG, "num_parallel_tree",
                       "the initial model has %d parallel trees a round; `num_parallel_tree` must be the same",
                       (int)init->n_parallel);
  return GBT_OK;
}

/* The shrinkages must be what the parameter may be. */
static gbt_status check_eta(const gbt_trainer_spec *spec, gbt_error *err) {
  if (!(spec->init_eta >= 0.0 && spec->init_eta <= 1.0))
    return gbt_fail_on(err, GBT_E_ARG, "eta", "the `eta` of the initial model is %g; it must be above 0 and at most 1",
                       spec->init_eta);
  if (spec->eta == NULL) return GBT_OK;
  if (spec->n_eta < 1) return gbt_fail_on(err, GBT_E_ARG, "eta", "`eta` has no values; give one for each round");
  for (int64_t r = 0; r < spec->n_eta; r++)
    if (!(spec->eta[r] > 0.0 && spec->eta[r] <= 1.0))
      return gbt_fail_on(err, GBT_E_ARG, "eta", "`eta` of round %lld is %g; it must be above 0 and at most 1",
                         (long long)r + 1, spec->eta[r]);
  return GBT_OK;
}

/* A parameter that only one objective uses is an error with any other. */
static gbt_status check_hessian(const gbt_trainer_spec *spec, gbt_error *err) {
  const gbt_params usual = gbt_params_default();
  if (gbt_gradients_by_classes(&spec->objective) || spec->params.softmax_hessian == usual.softmax_hessian)
    return GBT_OK;
  return gbt_fail_on(err, GBT_E_ARG, "softmax_hessian",
                     "`softmax_hessian` needs the objective \"softmax\"; leave `softmax_hessian` out");
}

/* A custom loss has gradients only at the scores that its functions were called with. */
static gbt_status check_steps(const gbt_trainer_spec *spec, gbt_error *err) {
  if (spec->params.leaf_iterations == 1) return GBT_OK;
  if (gbt_gradients_are_joint(&spec->objective))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "leaf_iterations",
                       "`leaf_iterations` is %d; with the objective \"%s\" it must be 1",
                       (int)spec->params.leaf_iterations, gbt_objective_info_of(spec->objective.kind)->name);
  if (!gbt_gradients_by_host(&spec->objective)) return GBT_OK;
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, "leaf_iterations",
                     "`leaf_iterations` is %d; with a custom objective it must be 1",
                     (int)spec->params.leaf_iterations);
}

/* Slopes minimise a quadratic loss by sums over rows, without an L1 penalty and without bounds on the leaves' values
 * other than `max_delta_step`. */
static gbt_status check_leaf_model(const gbt_trainer_spec *spec, gbt_error *err) {
  const gbt_params *p = &spec->params;
  const char *rule = NULL;
  if (p->leaf_model == GBT_LEAF_CONSTANT) return GBT_OK;
  if (spec->monotone != NULL)
    for (int32_t c = 0; c < spec->train->cuts->schema->n_columns; c++)
      if (spec->monotone[c] != 0) rule = "does not support monotone constraints; leave `monotone` out";
  if (p->alpha > 0.0) rule = "needs `alpha = 0`";
  if (p->boosting == GBT_BOOSTING_ORDERED) rule = "needs `boosting = \"plain\"`";
  if (gbt_splits_are_shared(p)) rule = "needs `multi_strategy = \"one_output_per_tree\"`";
  if (rule != NULL)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "leaf_model", "`leaf_model = \"linear\"` %s", rule);
  if (!gbt_renews(&spec->objective)) return GBT_OK;
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, "leaf_model",
                     "`leaf_model` must be \"constant\" with the objective \"%s\", whose leaves are quantiles",
                     gbt_objective_info_of(spec->objective.kind)->name);
}

gbt_status gbt_trainer_check(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_error *err) {
  GBT_TRY(gbti_check_byte_order("train", err));
  GBT_TRY(gbt_params_check(&spec->params, err));
  GBT_TRY(check_eta(spec, err));
  GBT_TRY(gbt_objective_check(&spec->objective, err));
  GBT_TRY(gbt_aft_check_scale(&spec->objective, err));
  GBT_TRY(gbt_breaks_check(&spec->objective, err));
  GBT_TRY(gbt_levels_check(&spec->objective, err));
  GBT_TRY(check_steps(spec, err));
  GBT_TRY(check_hessian(spec, err));
  GBT_TRY(check_leaf_model(spec, err));
  GBT_TRY(gbt_shared_splits_check(&spec->objective, &spec->params, err));
  if (spec->params.boosting == GBT_BOOSTING_ORDERED)
    GBT_TRY(gbt_supporting_check(ctx, &spec->objective, &spec->train->rows, err));
  if (spec->n_valid < 0 || spec->n_valid > GBT_MAX_VALID)
    return gbt_fail_on(err, GBT_E_ARG, "valid", "at most %d validation sets are possible", GBT_MAX_VALID);
  if (spec->n_metrics < 0 || spec->n_metrics > GBT_MAX_METRICS)
    return gbt_fail_on(err, GBT_E_ARG, "eval_metric", "at most %d metrics are possible", GBT_MAX_METRICS);
  GBT_TRY(check_data(ctx, spec, err));
  GBT_TRY(gbt_sampling_check(spec, err));
  GBT_TRY(check_metrics(ctx, spec, err));
  if (spec->keep_best < 0 || spec->keep_best > spec->n_valid)
    return gbt_fail(err, GBT_E_ARG, "keep_best: there is no validation set %d", (int)spec->keep_best);
  GBT_TRY(gbt_ranks_check_spec(ctx, spec, err));
  for (int32_t s = 0; s <= spec->n_valid; s++) {
    const gbt_dataset *ds = s == 0 ? spec->train : spec->valid[s - 1];
    GBT_TRY(gbt_ranks_check_fields(ctx, &ds->rows, err));
    GBT_TRY(gbt_ranks_check_weights(ctx, ds, err));
  }
  return GBT_OK;
}
