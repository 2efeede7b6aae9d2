/* The engine's metrics: their table, and whether one goes with an objective and with labels. */
#include "r_gbt.h"

/* A column per field of gbt_metric_info; `maximise` is NA where no side is better, the columns of the parameter are NA
 * where there is none. */
SEXP r_gbt_metrics(void) {
  static const char *parts[] = {"name", "aliases",  "text",      "outputs", "maximise", "parameter", "default", "low",
                                "high", "open_low", "open_high", "whole",   "twin",     "by_query",  "by_time", ""};
  static const SEXPTYPE types[] = {STRSXP,  STRSXP,  STRSXP, INTSXP, LGLSXP, STRSXP, REALSXP,
                                   REALSXP, REALSXP, LGLSXP, LGLSXP, LGLSXP, STRSXP, LGLSXP, LGLSXP};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  for (int k = 0; k < 15; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(types[k], GBT_N_METRICS));
  for (int m = 0; m < GBT_N_METRICS; m++) {
    const gbt_metric_info *info = gbt_metric_about(m);
    const gbt_metric_param *p = &info->param;
    int none = p->name == NULL;
    SET_STRING_ELT(VECTOR_ELT(out, 0), m, r_text(info->name));
    SET_STRING_ELT(VECTOR_ELT(out, 1), m, r_text(info->aliases));
    SET_STRING_ELT(VECTOR_ELT(out, 2), m, r_text(info->text));
    INTEGER(VECTOR_ELT(out, 3))[m] = info->outputs;
    LOGICAL(VECTOR_ELT(out, 4))
    [m] = info->better == GBT_NEITHER_IS_BETTER ? NA_LOGICAL : info->better == GBT_LARGER_IS_BETTER;
    SET_STRING_ELT(VECTOR_ELT(out, 5), m, r_text(p->name));
    REAL(VECTOR_ELT(out, 6))[m] = none ? NA_REAL : p->def;
    REAL(VECTOR_ELT(out, 7))[m] = none ? NA_REAL : p->low;
    REAL(VECTOR_ELT(out, 8))[m] = none ? NA_REAL : p->high;
    LOGICAL(VECTOR_ELT(out, 9))[m] = none ? NA_LOGICAL : p->open_low;
    LOGICAL(VECTOR_ELT(out, 10))[m] = none ? NA_LOGICAL : p->open_high;
    LOGICAL(VECTOR_ELT(out, 11))[m] = none ? NA_LOGICAL : p->whole;
    SET_STRING_ELT(VECTOR_ELT(out, 12), m, r_text(p->twin));
    LOGICAL(VECTOR_ELT(out, 13))[m] = info->form == GBT_FORM_QUERY;
    LOGICAL(VECTOR_ELT(out, 14))[m] = info->form == GBT_FORM_RISK;
  }
  UNPROTECT(1);
  return out;
}

static gbt_metric metric_arg(SEXP metric, SEXP param) {
  gbt_metric m = {r_arg_int(metric, "metric"), r_arg_real(param, "param"), 0};
  if (m.kind < 0 || m.kind >= GBT_N_METRICS) r_stop("there is no metric %d", (int)m.kind);
  return m;
}

/* The bit of what an objective predicts. */
SEXP r_gbt_objective_outputs(SEXP objective) {
  return Rf_ScalarInteger(gbt_metric_outputs(r_arg_objective_kind(objective)));
}

/* The name of the objective's default metric. */
SEXP r_gbt_default_metric(SEXP objective) {
  const gbt_objective o = gbt_objective_make(r_arg_objective_kind(objective), 2);
  const gbt_metric metric = gbt_metric_usual(&o);
  char name[GBT_METRIC_NAME];
  gbt_metric_name(&metric, name);
  return Rf_mkString(name);
}

/* The parameter that a metric has where none is given. */
SEXP r_gbt_metric_default(SEXP metric, SEXP objective, SEXP n_outputs) {
  int m = r_arg_int(metric, "metric");
  if (m < 0 || m >= GBT_N_METRICS) r_stop("there is no metric %d", m);
  gbt_objective o = r_arg_objective(objective, r_arg_int(n_outputs, "n_outputs"));
  return Rf_ScalarReal(gbt_metric_for((gbt_metric_kind)m, &o).param);
}

/* Raises where the metric does not go with the objective, or its parameter is out of range. */
SEXP r_gbt_metric_check(SEXP metric, SEXP param, SEXP objective, SEXP n_outputs) {
  gbt_metric m = metric_arg(metric, param);
  gbt_objective o = r_arg_objective(objective, r_arg_int(n_outputs, "n_outputs"));
  gbt_error err = {0};
  r_check(gbt_metric_check(&m, &o, &err), &err);
  return R_NilValue;
}

/* Raises where a label is not what the metric is made for. data: the data set's name; numbers: those of its rows,
 * ascending from 1 on, or NULL for 1, 2, ... */
SEXP r_gbt_metric_labels_check(SEXP metric, SEXP param, SEXP label, SEXP data, SEXP numbers) {
  gbt_metric m = metric_arg(metric, param);
  gbt_error err = {0};
  const double *at = r_arg_reals(label, Rf_xlength(label), "label");
  if (at == NULL || TYPEOF(data) != STRSXP || Rf_xlength(data) != 1) r_stop("`label` and `data` must be given");
  gbt_rows rows = {.n = (int64_t)Rf_xlength(label), .field = {[GBT_LABEL] = at}};
  if (numbers != R_NilValue) {
    if (TYPEOF(numbers) != INTSXP || (int64_t)Rf_xlength(numbers) != rows.n) r_stop("`numbers` must be integers");
    uint32_t *table_row = (uint32_t *)R_alloc((size_t)rows.n + 1, sizeof *table_row);
    for (int64_t i = 0; i < rows.n; i++) table_row[i] = (uint32_t)(INTEGER_RO(numbers)[i] - 1);
    rows.table_row = table_row;
  }
  const char *name = r_utf8(STRING_ELT(data, 0));
  gbt_ctx ctx;
  gbt_status status = r_ctx_open(&ctx, (r_threads){1, GBT_SIMD_AUTO}, &err);
  if (status == GBT_OK) {
    status = gbt_metric_labels_check(&ctx, &m, &rows, name, &err);
    gbt_ctx_close(&ctx);
  }
  r_check(status, &err);
  return R_NilValue;
}

static gbt_status eval_all(gbt_ctx *ctx, const gbt_metric *metric, R_xlen_t n_metrics, const gbt_objective *objective,
                           const gbt_rows *rows, const gbt_metric_aids *aids, const double *score, double *out,
                           gbt_error *err) {
  for (R_xlen_t m = 0; m < n_metrics; m++) {
    const gbt_status status = gbt_metric_eval(ctx, &metric[m], objective, rows, aids, score, &out[m], err);
    if (status != GBT_OK) return status;
  }
  return GBT_OK;
}

/* Other fields of rows: a list by name, or NULL. */
static void read_others(SEXP fields, R_xlen_t n, gbt_rows *rows) {
  for (R_xlen_t i = 0; i < Rf_xlength(fields); i++) {
    const char *name = r_utf8(STRING_ELT(Rf_getAttrib(fields, R_NamesSymbol), i));
    rows->field[r_arg_field(name)] = r_arg_reals(VECTOR_ELT(fields, i), n, name);
  }
}

/* A model's baseline, list(time, hazard, stratum, n_times) as of r_gbt_trainer_hazards(), or NULL. Zone 1. */
static gbt_hazards read_hazards(SEXP baseline) {
  if (baseline == R_NilValue) return (gbt_hazards){.n_strata = 0};
  if (TYPEOF(baseline) != VECSXP || Rf_xlength(baseline) != 4) r_stop("`baseline` must be a list of four");
  const R_xlen_t n = Rf_xlength(VECTOR_ELT(baseline, 0)), n_strata = Rf_xlength(VECTOR_ELT(baseline, 2));
  const double *n_times = r_arg_reals(VECTOR_ELT(baseline, 3), n_strata, "n_times");
  uint32_t *start = (uint32_t *)R_alloc((size_t)n_strata + 1, sizeof *start);
  start[0] = 0;
  for (R_xlen_t s = 0; s < n_strata; s++) start[s + 1] = start[s] + (uint32_t)n_times[s];
  if (start[n_strata] != (uint32_t)n) r_stop("`n_times` must add up to the times");
  return (gbt_hazards){(uint32_t)n_strata, r_arg_reals(VECTOR_ELT(baseline, 2), n_strata, "stratum"), start,
                       r_arg_reals(VECTOR_ELT(baseline, 0), n, "time"),
                       r_arg_reals(VECTOR_ELT(baseline, 1), n, "hazard")};
}

/* The metrics of scores, as training computes them: one number each. metrics: kinds, params: their parameters, outputs:
 * see gbt_metric; label, weight and group (or NULL): a number for each row, label and weight also one for each row and
 * column of the response; fields: a list of other fields by name;
 * baseline: see read_hazards(); score: one for each row and output, column by column. */
SEXP r_gbt_metric_values(SEXP metrics, SEXP params, SEXP outputs, SEXP objective, SEXP n_outputs, SEXP score,
                         SEXP label, SEXP weight, SEXP group, SEXP fields, SEXP baseline, SEXP threads) {
  /* 1 */
  const R_xlen_t n_metrics = Rf_xlength(metrics);
  if (TYPEOF(metrics) != INTSXP || TYPEOF(outputs) != INTSXP || Rf_xlength(outputs) != n_metrics)
    r_stop("`metrics` and `outputs` must be integers");
  const gbt_objective o = r_arg_objective(objective, r_arg_int(n_outputs, "n_outputs"));
  const R_xlen_t n_columns = gbt_has_columns(&o) ? o.n_outputs : 1, n = Rf_xlength(label) / n_columns;
  const double *param = r_arg_reals(params, n_metrics, "params");
  if (param == NULL || label == R_NilValue) r_stop("`params` and `label` must be given");
  gbt_metric *metric = (gbt_metric *)R_alloc((size_t)n_metrics + 1, sizeof *metric);
  for (R_xlen_t m = 0; m < n_metrics; m++) {
    metric[m] = (gbt_metric){INTEGER_RO(metrics)[m], param[m], INTEGER_RO(outputs)[m]};
    if (metric[m].kind < 0 || metric[m].kind >= GBT_N_METRICS) r_stop("there is no metric %d", (int)metric[m].kind);
  }
  const double *scores = r_arg_reals(score, n * o.n_outputs, "score");
  if (scores == NULL) r_stop("`score` must be given");
  const R_xlen_t n_weights = Rf_xlength(weight) == n ? n : n * n_columns;
  gbt_rows rows = {.n = (int64_t)n,
                   .field = {[GBT_LABEL] = r_arg_reals(label, n * n_columns, "label"),
                             [GBT_WEIGHT] = r_arg_reals(weight, n_weights, "weight"),
                             [GBT_GROUP] = r_arg_reals(group, n, "group")},
                   .n_outputs = {[GBT_LABEL] = (int32_t)n_columns,
                                 [GBT_WEIGHT] = n_weights == n ? 1 : (int32_t)n_columns}};
  read_others(fields, n, &rows);
  const gbt_hazards hazards = read_hazards(baseline);
  const gbt_metric_aids aids = {.hazards = hazards.n_strata > 0 ? &hazards : NULL};
  r_threads t = r_arg_threads(threads);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n_metrics));
  double *values = REAL(out);
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = eval_all(&ctx, metric, n_metrics, &o, &rows, &aids, scores, values, &err);
    status = gbt_comm_agree(&ctx, status, &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}

/* Early stopping over a series of values: c(best = , stop = ), rounds from 1, NA where there is none. */
SEXP r_gbt_stopping(SEXP values, SEXP maximise, SEXP min_delta, SEXP patience) {
  const R_xlen_t n = Rf_xlength(values);
  const double *value = r_arg_reals(values, n, "values");
  gbt_stopper stopper;
  gbt_stopper_start(&stopper, r_arg_int64(patience, "patience"), r_arg_real(min_delta, "min_delta"),
                    Rf_asLogical(maximise) == TRUE);
  int stop = NA_INTEGER;
  for (R_xlen_t i = 0; i < n && stop == NA_INTEGER; i++)
    if (gbt_stopper_update(&stopper, (int64_t)i + 1, value[i])) stop = (int)i + 1;
  SEXP out = PROTECT(Rf_allocVector(INTSXP, 2)), names = PROTECT(Rf_allocVector(STRSXP, 2));
  INTEGER(out)[0] = stopper.best_round > 0 ? (int)stopper.best_round : NA_INTEGER;
  INTEGER(out)[1] = stop;
  SET_STRING_ELT(names, 0, Rf_mkChar("best"));
  SET_STRING_ELT(names, 1, Rf_mkChar("stop"));
  Rf_setAttrib(out, R_NamesSymbol, names);
  UNPROTECT(2);
  return out;
}
