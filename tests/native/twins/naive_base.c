/* The scores before the first tree, from their definition in objective/base_score.h. */
#include "../../src/gbt/base/exact_sum.h"
#include "../../src/gbt/objective/formulas.h"
#include "made.h"
#include "naive_impl.h"

/* sum of w * x over the rows, rounded once. */
static double weighted_sum(const gbt_dataset *ds, const double *x) {
  gbt_exact_sum sum;
  gbt_exact_zero(&sum);
  for (int64_t r = 0; r < ds->rows.n; r++) gbt_exact_add(&sum, gbt_weight_of(&ds->rows, r) * x[r]);
  return gbt_exact_value(&sum);
}

/* sum of w g over sum of w h at score `at`. */
static double newton_step(const gbt_trainer_spec *spec, double at, double *g) {
  const gbt_dataset *ds = spec->train;
  size_t n = (size_t)ds->rows.n;
  double *part[2] = {test_alloc(n * sizeof **part), test_alloc(n * sizeof **part)};
  for (int64_t r = 0; r < ds->rows.n; r++) {
    gbt_gh d = test_gradient(&spec->objective, at + gbt_offset_of(&ds->rows, r), gbt_label_of(&ds->rows, r));
    part[0][r] = d.g;
    part[1][r] = d.h;
  }
  double h = weighted_sum(ds, part[1]);
  *g = weighted_sum(ds, part[0]);
  free(part[0]);
  free(part[1]);
  return h > 0.0 ? *g / h : NAN;
}

/* As objective/base_score.c says: where gradients add up to 0. */
static double root(const gbt_trainer_spec *spec, double at, double low, double high) {
  double near = (high - low) * 1e-9;
  for (int step = 0; step < 50; step++) {
    double g, by = newton_step(spec, at, &g), next = at - by;
    if (g == 0.0 || isnan(by)) return at;
    if (g > 0.0) high = at;
    if (g < 0.0) low = at;
    if (!(next > low && next < high)) next = low + (high - low) * 0.5;
    double moved = fabs(next - at);
    at = next;
    if (moved <= near) return at;
  }
  return at;
}

/* What the objective's header says of rows and of their mean. */
static gbt_base_terms mean_terms(const gbt_objective *o, double y, double offset) {
  gbt_base_terms none = {NAN, NAN};
  switch ((gbt_objective_kind)o->kind) {
#define TERMS_MEAN(name) gbt_##name##_base_terms(y, offset, o->param)
#define TERMS_ZERO(name) none
#define TERMS_CLASS_SHARES(name) none
#define TERMS_RESIDUAL_MEAN(name) none
#define TERMS_RESIDUAL_ROOT(name) none
#define TERMS_RESIDUAL_QUANTILE(name) none
#define TERMS_SCALE(name) none
#define TERMS_INTERVALS(name) none
#define TERMS_DISTRIBUTION(name) none
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, ...) \
  case GBT_OBJ_##ID:                                                                     \
    return TERMS_##base(name);
#include "../../src/gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return none;
}

static double mean_metric(const gbt_objective *o, double mean) {
  switch ((gbt_objective_kind)o->kind) {
#define OF_MEAN(name) gbt_##name##_base(mean, o->param)
#define OF_ZERO(name) NAN
#define OF_CLASS_SHARES(name) NAN
#define OF_RESIDUAL_MEAN(name) NAN
#define OF_RESIDUAL_ROOT(name) NAN
#define OF_RESIDUAL_QUANTILE(name) NAN
#define OF_SCALE(name) NAN
#define OF_INTERVALS(name) NAN
#define OF_DISTRIBUTION(name) NAN
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, ...) \
  case GBT_OBJ_##ID:                                                                     \
    return OF_##base(name);
#include "../../src/gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return NAN;
}

/* Columns of a response are responses of their own. */
static void base_of_columns(const gbt_trainer_spec *spec, double *base) {
  for (int32_t k = 0; k < spec->objective.n_outputs; k++) {
    gbt_trainer_spec one = *spec;
    gbt_dataset its = *spec->train;
    its.rows = gbt_rows_of_output(&its.rows, k);
    one.train = &its;
    one.objective.n_outputs = 1;
    naive_base_scores(&one, &base[k]);
  }
}

void naive_base_scores(const gbt_trainer_spec *spec, double *base) {
  const gbt_dataset *ds = spec->train;
  if (gbt_has_columns(&spec->objective)) {
    base_of_columns(spec, base);
    return;
  }
  const gbt_base_rule rule = gbt_objective_info_of(spec->objective.kind)->base;
  size_t n = (size_t)ds->rows.n;
  double *top = test_alloc(n * sizeof *top), *bottom = test_alloc(n * sizeof *bottom);
  double low = INFINITY, high = -INFINITY;
  const int levels = gbt_has_levels(&spec->objective);
  for (int32_t k = 0; k < spec->objective.n_outputs; k++) {
    base[k] = 0.0;
    if (rule == GBT_BASE_ZERO) continue;
    for (int64_t r = 0; r < ds->rows.n; r++) {
      double offset = gbt_offset_of(&ds->rows, levels ? k * ds->rows.n + r : r), y = gbt_label_of(&ds->rows, r);
      gbt_base_terms t = {rule == GBT_BASE_CLASS_SHARES ? y == k : y - offset, 1.0};
      if (rule == GBT_BASE_MEAN) t = mean_terms(&spec->objective, y, offset);
      top[r] = t.top, bottom[r] = t.bottom;
      low = fmin(low, y - offset);
      high = fmax(high, y - offset);
    }
    double weights = weighted_sum(ds, bottom), mean = weights > 0.0 ? weighted_sum(ds, top) / weights : 0.0;
    if (rule == GBT_BASE_MEAN) base[k] = mean_metric(&spec->objective, mean);
    if (rule == GBT_BASE_CLASS_SHARES) base[k] = gbt_log(mean < 1e-9 ? 1e-9 : mean);
    if (rule == GBT_BASE_RESIDUAL_MEAN) base[k] = low == high ? top[0] : mean;
    if (rule == GBT_BASE_RESIDUAL_QUANTILE) base[k] = naive_quantile(spec, k, top, NULL, ds->rows.n);
    if (rule == GBT_BASE_RESIDUAL_ROOT)
      base[k] = low == high ? top[0] : weights > 0.0 ? root(spec, mean, low, high) : 0.0;
  }
  free(top), free(bottom);
}
