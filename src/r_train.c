/* Trainers. A trainer's handle keeps (prot) the handles of its data sets, the training set first. They are private
 * views of this training, so other trainings cannot change them. */
#include "r_gbt.h"

#include <math.h>
#include <string.h>

static gbt_trainer *trainer_of(SEXP x) { return r_handle_get(x, R_TRAINER); }

static int32_t n_outputs_of(gbt_trainer *trainer) { return gbt_forest_about(gbt_trainer_trees(trainer)).n_outputs; }

static SEXP datasets_of(SEXP x) { return R_ExternalPtrProtected(x); }

static void read_params(SEXP x, gbt_params *params) {
  *params = gbt_params_default();
  if (x == R_NilValue || Rf_xlength(x) == 0) return;
  SEXP names = Rf_getAttrib(x, R_NamesSymbol);
  if (TYPEOF(x) != REALSXP || names == R_NilValue) r_stop("`params` must be a named double vector");
  for (R_xlen_t i = 0; i < Rf_xlength(x); i++) {
    gbt_error err = {0};
    r_check(gbt_params_set(params, CHAR(STRING_ELT(names, i)), REAL_RO(x)[i], &err), &err);
  }
}

/* Checks what must hold between parameters. params: as in the spec of a trainer. */
SEXP r_gbt_params_check(SEXP params) {
  gbt_params all;
  gbt_error err = {0};
  read_params(params, &all);
  r_check(gbt_params_check(&all, &err), &err);
  return R_NilValue;
}

static void read_metrics(SEXP spec, gbt_trainer_spec *out) {
  SEXP x = r_item(spec, "metrics");
  if (x == R_NilValue) return;
  SEXP param = r_item(spec, "metric_params");
  if (TYPEOF(x) != INTSXP || Rf_xlength(x) > GBT_MAX_METRICS)
    r_stop("`metrics` must be at most %d integers", GBT_MAX_METRICS);
  SEXP outputs = r_need(spec, "metric_outputs", INTSXP);
  const double *params = r_arg_reals(param, Rf_xlength(x), "metric_params");
  if (params == NULL || Rf_xlength(outputs) != Rf_xlength(x))
    r_stop("`metric_params` and `metric_outputs` must be given with `metrics`");
  out->n_metrics = (int32_t)Rf_xlength(x);
  for (int32_t i = 0; i < out->n_metrics; i++) {
    out->metric[i].kind = INTEGER_RO(x)[i];
    out->metric[i].param = params[i];
    out->metric[i].output = INTEGER_RO(outputs)[i];
  }
}

/* Monotone signs, interaction groups and feature weights, in memory that lasts until the .Call returns. */
static void read_constraints(SEXP spec, int32_t n_columns, gbt_trainer_spec *out) {
  SEXP monotone = r_item(spec, "monotone"), groups = r_item(spec, "interactions");
  if (monotone != R_NilValue) {
    if (TYPEOF(monotone) != INTSXP || Rf_xlength(monotone) != n_columns)
      r_stop("`monotone` must have one integer per column");
    int8_t *sign = (int8_t *)R_alloc((size_t)n_columns, 1);
    for (int32_t c = 0; c < n_columns; c++) {
      int s = INTEGER_RO(monotone)[c];
      if (s < -1 || s > 1) r_stop("`monotone` must hold -1, 0 or 1");
      sign[c] = (int8_t)s;
    }
    out->monotone = sign;
  }
  if (groups != R_NilValue) {
    if (TYPEOF(groups) != VECSXP) r_stop("`interactions` must be a list");
    int32_t n_groups = (int32_t)Rf_xlength(groups);
    R_xlen_t total = 0;
    for (int32_t s = 0; s < n_groups; s++) {
      if (TYPEOF(VECTOR_ELT(groups, s)) != INTSXP) r_stop("`interactions` must hold integer vectors");
      total += Rf_xlength(VECTOR_ELT(groups, s));
    }
    if (total > 2147483647) r_stop("`interactions` has too many members");
    int32_t *beg = (int32_t *)R_alloc((size_t)n_groups + 1, sizeof *beg);
    int32_t *col = (int32_t *)R_alloc((size_t)total + 1, sizeof *col);
    beg[0] = 0;
    for (int32_t s = 0; s < n_groups; s++) {
      SEXP group = VECTOR_ELT(groups, s);
      int32_t n = (int32_t)Rf_xlength(group);
      if (n > 0) memcpy(col + beg[s], INTEGER_RO(group), (size_t)n * sizeof *col);
      beg[s + 1] = beg[s] + n;
    }
    out->interact_beg = beg;
    out->interact_col = col;
    out->n_interact = n_groups;
  }
  out->feature_weight = r_arg_reals(r_item(spec, "feature_weight"), n_columns, "feature_weight");
  out->first_use_penalty = r_arg_reals(r_item(spec, "first_use_penalty"), n_columns, "first_use_penalty");
}

static void read_class_rates(SEXP spec, gbt_trainer_spec *out) {
  SEXP x = r_item(spec, "class_rate");
  if (x == R_NilValue) return;
  out->n_class_rates = (int32_t)Rf_xlength(x);
  out->class_rate = r_arg_reals(x, Rf_xlength(x), "class_rate");
}

/* Sets of methods by column, as bits. */
static void read_cat_methods(SEXP spec, int32_t n_columns, gbt_trainer_spec *out) {
  SEXP x = r_item(spec, "cat_method");
  if (x == R_NilValue) return;
  if (TYPEOF(x) != INTSXP || Rf_xlength(x) != n_columns) r_stop("`cat_method` must have one integer per column");
  uint8_t *method = (uint8_t *)R_alloc((size_t)n_columns, 1);
  for (int32_t c = 0; c < n_columns; c++) {
    const int bits = INTEGER_RO(x)[c];
    if (bits < 0 || bits >= 1 << GBT_N_CAT_METHODS) r_stop("`cat_method` must hold sets of methods");
    method[c] = (uint8_t)bits;
  }
  out->cat_method = method;
}

static void read_eta(SEXP spec, gbt_trainer_spec *out) {
  SEXP x = r_item(spec, "eta");
  if (x != R_NilValue) {
    out->n_eta = (int64_t)Rf_xlength(x);
    out->eta = r_arg_reals(x, Rf_xlength(x), "eta");
  }
  x = r_item(spec, "init_eta");
  out->init_eta = x == R_NilValue ? 0.0 : r_arg_real(x, "init_eta");
  x = r_item(spec, "init_scale");
  out->init_scale = x == R_NilValue ? 0.0 : r_arg_real(x, "init_scale");
  x = r_item(spec, "init_bias");
  if (x == R_NilValue) return;
  out->n_init_bias = (int64_t)Rf_xlength(x);
  out->init_bias = r_arg_reals(x, Rf_xlength(x), "init_bias");
}

static const double *read_scores(SEXP x, const gbt_dataset *ds, int32_t n_outputs, const char *what) {
  return r_arg_reals(x, (R_xlen_t)(gbt_dataset_about(ds).n_rows * n_outputs), what);
}

/* Everything but the parameters and the first model. `handles`: list(train, valid ...). */
static void read_spec(SEXP spec, SEXP handles, gbt_trainer_spec *out) {
  memset(out, 0, sizeof *out);
  read_params(r_item(spec, "params"), &out->params);
  read_eta(spec, out);
  out->objective = r_arg_objective(r_item(spec, "objective"), r_arg_int(r_item(spec, "n_outputs"), "n_outputs"));
  const int32_t n_outputs = out->objective.n_outputs;
  out->train = r_handle_get(VECTOR_ELT(handles, 0), R_DATASET);
  out->n_valid = (int32_t)Rf_xlength(handles) - 1;
  for (int32_t v = 0; v < out->n_valid; v++) out->valid[v] = r_handle_get(VECTOR_ELT(handles, v + 1), R_DATASET);
  read_metrics(spec, out);
  out->eval_train = Rf_asLogical(r_item(spec, "eval_train")) == TRUE;
  read_constraints(spec, gbt_dataset_schema(out->train)->n_columns, out);
  read_class_rates(spec, out);
  read_cat_methods(spec, gbt_dataset_schema(out->train)->n_columns, out);
  out->init_score = read_scores(r_item(spec, "init_score"), out->train, n_outputs, "init_score");
  SEXP init_valid = r_item(spec, "init_valid");
  if (init_valid != R_NilValue) {
    if (TYPEOF(init_valid) != VECSXP || Rf_xlength(init_valid) != out->n_valid)
      r_stop("`init_valid` must be a list with one element per validation set");
    for (int32_t v = 0; v < out->n_valid; v++)
      out->init_valid[v] = read_scores(VECTOR_ELT(init_valid, v), out->valid[v], n_outputs, "init_valid");
  }
  out->base = r_arg_reals(r_item(spec, "base"), n_outputs, "base");
  SEXP x = r_item(spec, "stop_rounds");
  out->stop_rounds = x == R_NilValue ? 0 : r_arg_int64(x, "stop_rounds");
  x = r_item(spec, "stop_min_delta");
  out->stop_min_delta = x == R_NilValue ? 0.0 : r_arg_real(x, "stop_min_delta");
  x = r_item(spec, "keep_best");
  out->keep_best = x == R_NilValue ? 0 : r_arg_int(x, "keep_best");
  x = r_item(spec, "max_seconds");
  out->max_seconds = x == R_NilValue ? 0.0 : r_arg_real(x, "max_seconds");
  x = r_item(spec, "checkpoints");
  out->checkpoints = x != R_NilValue && Rf_asLogical(x) == TRUE;
  SEXP device = r_item(spec, "device");
  if (device == R_NilValue) return;
  out->device = r_cuda_api(device, &out->device_number);
  SEXP devices = r_item(device, "devices");
  if (devices == R_NilValue) return;
  if (TYPEOF(devices) != INTSXP || Rf_xlength(devices) > INT32_MAX) r_stop("`devices` must be whole numbers");
  out->devices = INTEGER(devices);
  out->n_devices = (int32_t)Rf_xlength(devices);
}

SEXP r_gbt_trainer_new(SEXP spec, SEXP threads) {
  /* 1 */
  SEXP valid = r_item(spec, "valid");
  R_xlen_t n_valid = valid == R_NilValue ? 0 : Rf_xlength(valid);
  if (n_valid > 0 && TYPEOF(valid) != VECSXP) r_stop("`valid` must be a list");
  if (n_valid > GBT_MAX_VALID) {
    gbt_error err;
    r_check(gbt_fail_on(&err, GBT_E_UNSUPPORTED, "valid", "`valid` has %d sets; at most %d are possible", (int)n_valid,
                        GBT_MAX_VALID),
            &err);
  }
  SEXP handles = PROTECT(Rf_allocVector(VECSXP, n_valid + 1));
  SET_VECTOR_ELT(handles, 0, r_item(spec, "train"));
  for (R_xlen_t v = 0; v < n_valid; v++) SET_VECTOR_ELT(handles, v + 1, VECTOR_ELT(valid, v));
  gbt_trainer_spec s;
  read_spec(spec, handles, &s);
  SEXP init_state = r_item(spec, "init_state");
  SEXP init = R_NilValue;
  if (init_state != R_NilValue) init = r_model_handle(init_state, R_NilValue);
  PROTECT(init);
  if (init != R_NilValue) {
    const gbt_model *first = r_model_get(init);
    s.init = gbt_model_forest(first);
    s.init_schema = gbt_model_schema(first);
  }
  r_threads t = r_arg_threads(threads);
  SEXP out = PROTECT(r_handle_new(R_TRAINER, handles));
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_trainer *trainer = NULL;
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = gbt_trainer_new(&ctx, &s, &trainer, &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  if (status == GBT_OK) R_SetExternalPtrAddr(out, trainer);
  r_check(status, &err);
  UNPROTECT(3);
  return out;
}

/* list(why, rounds, best_round, log) of a trainer that has run. */
static SEXP run_result(gbt_trainer *trainer, gbt_status status, gbt_stop_reason why) {
  static const char *parts[] = {"why", "rounds", "best_round", "log", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  const char *text = status == GBT_CANCELLED ? "interrupt" : gbt_stop_reason_name((int)why);
  int64_t rounds = gbt_trainer_rounds(trainer);
  SET_VECTOR_ELT(out, 0, Rf_mkString(text));
  SET_VECTOR_ELT(out, 1, Rf_ScalarReal((double)rounds));
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)gbt_trainer_best_round(trainer)));
  int32_t width = 0;
  const double *log = gbt_trainer_log(trainer, &width);
  SEXP table = Rf_allocMatrix(REALSXP, (int)rounds, width);
  SET_VECTOR_ELT(out, 3, table);
  for (int64_t r = 0; r < rounds; r++) {
    for (int32_t k = 0; k < width; k++) REAL(table)[k * rounds + r] = log[r * width + k];
  }
  UNPROTECT(1);
  return out;
}

SEXP r_gbt_trainer_run(SEXP trainer_xptr, SEXP n_rounds, SEXP threads) {
  /* 1 */
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  int64_t n = r_arg_int64(n_rounds, "n_rounds");
  r_threads t = r_arg_threads(threads);
  gbt_error err = {0};
  r_call call;

  /* 2 */
  gbt_stop_reason why = GBT_RUN_DONE;
  gbt_status status = r_call_begin(&call, trainer_xptr, t, &err);
  if (status == GBT_OK) status = gbt_trainer_run(&call.ctx, trainer, n, &why, &err);
  r_call_end(&call);

  /* 3: an interrupt is R's to decide, once it has the rounds so far */
  if (r_mem_interrupted()) status = GBT_CANCELLED;
  if (status == GBT_CANCELLED) r_ranks_note(&err);
  if (status != GBT_CANCELLED) r_check(status, &err);
  return run_result(trainer, status, why);
}

/* The same result, of the rounds so far. */
SEXP r_gbt_trainer_so_far(SEXP trainer_xptr) { return run_result(trainer_of(trainer_xptr), GBT_OK, GBT_RUN_DONE); }

/* Several trainings of the CPU at a time: a list of what r_gbt_trainer_run returns. trainers: a list. */
SEXP r_gbt_trainers_run(SEXP trainers, SEXP n_rounds, SEXP threads) {
  /* 1 */
  if (TYPEOF(trainers) != VECSXP) r_stop("a list of trainers is expected");
  const R_xlen_t n = Rf_xlength(trainers);
  gbt_trainer **all = (gbt_trainer **)R_alloc((size_t)n + 1, sizeof *all);
  gbt_stop_reason *why = (gbt_stop_reason *)R_alloc((size_t)n + 1, sizeof *why);
  r_use *use = (r_use *)R_alloc((size_t)n + 1, sizeof *use);
  for (R_xlen_t i = 0; i < n; i++) all[i] = trainer_of(VECTOR_ELT(trainers, i));
  const int64_t rounds = r_arg_int64(n_rounds, "n_rounds");
  r_threads t = r_arg_threads(threads);
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  for (R_xlen_t i = 0; i < n; i++) r_use_begin(&use[i], VECTOR_ELT(trainers, i));
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = gbt_trainers_run(&ctx, all, n, rounds, why, &err);
    gbt_ctx_close(&ctx);
  }
  for (R_xlen_t i = n - 1; i >= 0; i--) r_use_end(&use[i]);

  /* 3 */
  if (r_mem_interrupted()) status = GBT_CANCELLED;
  if (status != GBT_CANCELLED) r_check(status, &err);
  SEXP out = PROTECT(Rf_allocVector(VECSXP, n));
  for (R_xlen_t i = 0; i < n; i++) SET_VECTOR_ELT(out, i, run_result(all[i], status, why[i]));
  UNPROTECT(1);
  return out;
}

SEXP r_gbt_trainer_set_gradients(SEXP trainer_xptr, SEXP g, SEXP h, SEXP threads) {
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  R_xlen_t n = (R_xlen_t)(gbt_trainer_n_rows(trainer, 0) * n_outputs_of(trainer));
  const double *gp = r_arg_reals(g, n, "gradient"), *hp = r_arg_reals(h, n, "hessian");
  if (gp == NULL || hp == NULL) r_stop("gradient and hessian must be given");
  r_threads t = r_arg_threads(threads);
  gbt_error err = {0};
  r_call call;
  gbt_status status = r_call_begin(&call, trainer_xptr, t, &err);
  if (status == GBT_OK) status = gbt_trainer_set_gradients(&call.ctx, trainer, gp, hp, &err);
  r_call_end(&call);
  r_check(status, &err);
  return R_NilValue;
}

/* response: TRUE for responses, FALSE for raw scores. best: those of the best round, where the trainer keeps them. A
 * vector of n, or a matrix n x k. */
SEXP r_gbt_trainer_scores(SEXP trainer_xptr, SEXP which, SEXP response, SEXP best, SEXP threads) {
  /* 1 */
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  int32_t at = r_arg_int(which, "which");
  int64_t n_datasets = Rf_xlength(datasets_of(trainer_xptr));
  if (at < 0 || at >= n_datasets) r_stop("there is no data set %d", at);
  int64_t n = gbt_trainer_n_rows(trainer, at);
  int32_t k = n_outputs_of(trainer);
  int respond = Rf_asLogical(response) == TRUE, at_best = Rf_asLogical(best) == TRUE;
  r_threads t = respond ? r_arg_threads(threads) : (r_threads){1, GBT_SIMD_AUTO};
  SEXP out = PROTECT(k == 1 ? Rf_allocVector(REALSXP, (R_xlen_t)n) : Rf_allocMatrix(REALSXP, (int)n, k));
  double *x = REAL(out);
  const double *scores = NULL;
  const gbt_objective objective = gbt_trainer_objective(trainer);
  gbt_error err = {0};
  r_call call;

  /* 2 */
  gbt_status status = r_call_begin(&call, trainer_xptr, t, &err);
  if (status == GBT_OK) {
    status = at_best ? gbt_trainer_best_scores(&call.ctx, trainer, at, &scores, &err)
                     : gbt_trainer_scores(&call.ctx, trainer, at, &scores, &err);
    if (status == GBT_OK && n > 0) memcpy(x, scores, (size_t)n * (size_t)k * sizeof(double));
    if (status == GBT_OK && respond)
      status = gbt_predict_response(&call.ctx, &objective, n, x, &err);
  }
  r_call_end(&call);

  /* 3 */
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}

/* The objective's metric of the training rows; NA where it cannot be had, such as for lack of a device's memory: it is
 * asked for to warn, and the training does without. */
SEXP r_gbt_trainer_loss(SEXP trainer_xptr, SEXP threads) {
  /* 1 */
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  r_threads t = r_arg_threads(threads);
  double loss = NA_REAL;
  gbt_error err = {0};
  r_call call;

  /* 2 */
  gbt_status status = r_call_begin(&call, trainer_xptr, t, &err);
  if (status == GBT_OK) status = gbt_trainer_loss(&call.ctx, trainer, &loss, &err);
  r_call_end(&call);

  /* 3 */
  if (status == GBT_CANCELLED) r_check(status, &err);
  return Rf_ScalarReal(status == GBT_OK ? loss : NA_REAL);
}

/* The largest sum of hessians at a root of the training's first round, when none of its trees was split; else NA. */
SEXP r_gbt_trainer_unsplit(SEXP trainer_xptr) {
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  const gbt_forest_view *trees = gbt_trainer_trees(trainer);
  const gbt_forest_info about = gbt_forest_about(trees);
  const uint64_t first = about.n_trees - (uint64_t)gbt_trainer_rounds(trainer) * about.trees_per_round;
  double cover = NA_REAL;
  for (uint64_t t = first; t < about.n_trees && t < first + about.trees_per_round; t++) {
    const gbt_node_info root = gbt_tree_node(trees, t, 0);
    if (root.left != 0) return Rf_ScalarReal(NA_REAL);
    if (t == first || root.cover > cover) cover = root.cover;
  }
  return Rf_ScalarReal(cover);
}

/* How much the trees of this training do: c(how many have a split, the sum over trees of the span of their leaves'
 * values). */
SEXP r_gbt_trainer_learned(SEXP trainer_xptr) {
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  const gbt_forest_view *trees = gbt_trainer_trees(trainer);
  const gbt_forest_info about = gbt_forest_about(trees);
  const uint64_t first = about.n_trees - (uint64_t)gbt_trainer_rounds(trainer) * about.trees_per_round;
  double splits = 0, span = 0;
  for (uint64_t t = first; t < about.n_trees; t++) {
    if (gbt_tree_node(trees, t, 0).left == 0) continue;
    splits++;
    for (int32_t k = 0; k < about.n_leaf_outputs; k++) {
      double low = INFINITY, high = -INFINITY;
      for (uint32_t node = 0; node < gbt_tree_n_nodes(trees, t); node++) {
        const gbt_node_info info = gbt_tree_node(trees, t, node);
        if (info.left != 0) continue;
        if (info.value[k] < low) low = info.value[k];
        if (info.value[k] > high) high = info.value[k];
      }
      if (high > low) span += high - low;
    }
  }
  SEXP out = Rf_allocVector(REALSXP, 2);
  REAL(out)[0] = splits;
  REAL(out)[1] = span;
  return out;
}

/* One integer per column: its methods as bits, 0 where it is not categorical. */
SEXP r_gbt_trainer_cat_methods(SEXP trainer_xptr) {
  const gbt_trainer *trainer = trainer_of(trainer_xptr);
  const int32_t n = gbt_trainer_schema(trainer)->n_columns;
  SEXP out = Rf_allocVector(INTSXP, n);
  for (int32_t c = 0; c < n; c++) INTEGER(out)[c] = gbt_trainer_cat_methods(trainer)[c];
  return out;
}

SEXP r_gbt_trainer_watch(SEXP trainer_xptr, SEXP maximise) {
  gbt_trainer_watch(trainer_of(trainer_xptr), Rf_asLogical(maximise) == TRUE);
  return R_NilValue;
}

SEXP r_gbt_trainer_see(SEXP trainer_xptr, SEXP value) {
  /* 1 */
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  const double seen = r_arg_real(value, "value");
  int stop = 0;
  gbt_error err = {0};
  r_call call;

  /* 2 */
  gbt_status status = r_call_begin(&call, trainer_xptr, (r_threads){1, GBT_SIMD_AUTO}, &err);
  if (status == GBT_OK) status = gbt_trainer_put_value(&call.ctx, trainer, seen, &stop, &err);
  r_call_end(&call);

  /* 3 */
  r_check(status, &err);
  return Rf_ScalarLogical(stop != 0);
}

/* The parameters of the model's objective, in the engine's order. */
SEXP r_gbt_trainer_objective(SEXP trainer_xptr) {
  const gbt_objective objective = gbt_trainer_objective(trainer_of(trainer_xptr));
  SEXP out = Rf_allocVector(REALSXP, GBT_OBJECTIVE_PARAMS);
  memcpy(REAL(out), objective.param, sizeof objective.param);
  return out;
}

/* The biases of positions of the model, or NULL. */
SEXP r_gbt_trainer_biases(SEXP trainer_xptr) {
  int64_t n;
  const double *bias = gbt_trainer_biases(trainer_of(trainer_xptr), &n);
  if (n == 0) return R_NilValue;
  SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
  memcpy(REAL(out), bias, (size_t)n * sizeof *bias);
  return out;
}

/* The baseline hazard of the model: list(time, hazard, stratum, n_times), its cumulative values at the times of events,
 * of one stratum after the other; stratum: their numbers, n_times: how many times each has; NULL: none. Ranks:
 * collective. */
SEXP r_gbt_trainer_hazards(SEXP trainer_xptr, SEXP threads, SEXP score) {
  /* 1 */
  static const char *parts[] = {"time", "hazard", "stratum", "n_times", ""};
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  r_threads t = r_arg_threads(threads);
  const double *given = r_arg_reals(score, (R_xlen_t)gbt_trainer_n_rows(trainer, 0), "score");
  gbt_hazards baseline = {.n_strata = 0};
  gbt_error err = {0};
  r_call call;

  /* 2 */
  gbt_status status = r_call_begin(&call, trainer_xptr, t, &err);
  if (status == GBT_OK) status = gbt_trainer_hazards(&call.ctx, trainer, given, &baseline, &err);
  r_call_end(&call);

  /* 3 */
  r_check(status, &err);
  if (baseline.n_strata == 0) return R_NilValue;
  const size_t n = baseline.start[baseline.n_strata];
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  const double *from[3] = {baseline.time, baseline.hazard, baseline.stratum};
  const size_t size[4] = {n, n, baseline.n_strata, baseline.n_strata};
  for (int k = 0; k < 4; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, (R_xlen_t)size[k]));
  for (int k = 0; k < 3; k++) memcpy(REAL(VECTOR_ELT(out, k)), from[k], size[k] * sizeof(double));
  for (uint32_t s = 0; s < baseline.n_strata; s++)
    REAL(VECTOR_ELT(out, 3))[s] = (double)(baseline.start[s + 1] - baseline.start[s]);
  UNPROTECT(1);
  return out;
}

/* The bytes of the model. */
SEXP r_gbt_trainer_model(SEXP trainer_xptr, SEXP meta) {
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  gbt_model_spec spec = {.objective = gbt_trainer_objective(trainer),
                         .schema = gbt_trainer_schema(trainer),
                         .forest = gbt_trainer_trees(trainer)};
  spec.trees.end = gbt_forest_about(spec.forest).n_trees;
  return r_write_model(spec, meta);
}

SEXP r_gbt_trainer_free(SEXP trainer_xptr) {
  r_handle_free(trainer_xptr, R_TRAINER);
  return R_NilValue;
}

SEXP r_gbt_trainer_info(SEXP trainer_xptr) {
  gbt_trainer *trainer = trainer_of(trainer_xptr);
  static const char *parts[] = {"backend", "seconds", "n_trees", "device_bytes", "host_bytes", ""};
#define TEXT(name, text) text,
  static const char *phases[] = {GBT_PHASES(TEXT) ""};
#undef TEXT
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  double seconds[GBT_N_PHASES];
  gbt_trainer_seconds(trainer, seconds);
  SET_VECTOR_ELT(out, 0, Rf_mkString(gbt_trainer_backend(trainer)));
  SEXP table = Rf_mkNamed(REALSXP, phases);
  SET_VECTOR_ELT(out, 1, table);
  memcpy(REAL(table), seconds, sizeof seconds);
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)gbt_forest_about(gbt_trainer_trees(trainer)).n_trees));
  SET_VECTOR_ELT(out, 3, Rf_ScalarReal((double)gbt_trainer_device_bytes(trainer)));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal((double)gbt_trainer_host_bytes(trainer)));
  UNPROTECT(1);
  return out;
}
