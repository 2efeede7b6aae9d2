/* Predictions. */
#include "r_gbt.h"

#include <stdlib.h>
#include <string.h>

/* Starting a thread costs as much as about so many steps of a row through a tree; and from so many on a device may be
 * quicker, of which R/arg_cuda.R knows. */
enum { STEPS_WORTH_THREADS = 300000, STEPS_WORTH_A_DEVICE = 10000000 };

/* Zone 2 whole: binds the table to the model and fills out. */
static gbt_status predict(r_threads threads, const gbt_model *model, const gbt_answer_place *at, const gbt_table *table,
                          gbt_answer what, gbt_tree_range trees, const double *offset, gbt_unseen unseen, void *out,
                          gbt_error *err) {
  gbt_ctx ctx;
  gbt_binding *binding = NULL;
  gbt_status status;
  GBT_TRY(r_ctx_open(&ctx, threads, err));
  GBT_TRY_GOTO(gbt_binding_new(&ctx, table, gbt_model_schema(model), unseen, &binding, err), done);
  status = gbt_model_answer(&ctx, model, at, binding, what, trees, offset, out, err);
done:
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  return status;
}

/* A vector or matrix for the answer; *values: where its numbers lie. */
static SEXP result_of(gbt_answer what, int64_t n_rows, int n_outputs, int n_trees, void **values) {
  SEXP out;
  if (what == GBT_ANSWER_LEAF)
    out = Rf_allocMatrix(INTSXP, (int)n_rows, n_trees);
  else if (what == GBT_ANSWER_CLASS)
    out = Rf_allocVector(INTSXP, (R_xlen_t)n_rows);
  else if (n_outputs == 1)
    out = Rf_allocVector(REALSXP, (R_xlen_t)n_rows);
  else
    out = Rf_allocMatrix(REALSXP, (int)n_rows, n_outputs);
  *values = TYPEOF(out) == INTSXP ? (void *)INTEGER(out) : (void *)REAL(out);
  return out;
}

/* Zones 1 to 3 from the table on: rounds round_beg + 1 .. round_end. */
static SEXP answer(SEXP handle, const gbt_table *table, gbt_answer_place at, gbt_answer what, gbt_tree_range trees,
                   const double *offset, gbt_unseen unseen, r_threads threads) {
  const gbt_model *model = r_model_get(handle);
  at.keep = r_model_predictor(handle);
  if ((double)table->n_rows * (double)(trees.end - trees.beg) < STEPS_WORTH_THREADS) threads.n = 1;
  if (table->n_rows > 2147483647 || trees.end - trees.beg > 2147483647) r_stop("the result is too large for a matrix");
  void *values;
  const int32_t k = gbt_model_objective(model)->n_outputs;
  SEXP out = PROTECT(result_of(what, table->n_rows, k, (int)(trees.end - trees.beg), &values));
  gbt_error err = {0};

  /* 2 */
  gbt_status status = predict(threads, model, &at, table, what, trees, offset, unseen, values, &err);

  /* 3 */
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}

/* kind: gbt_answer. device: NULL, or as for r_cuda_api. */
SEXP r_gbt_predict(SEXP state, SEXP cache, SEXP frame, SEXP kind, SEXP round_beg, SEXP round_end, SEXP offset,
                   SEXP unseen, SEXP threads, SEXP device) {
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_model *model = r_model_get(handle);
  gbt_answer_place at = {0};
  if (device != R_NilValue) at.api = r_cuda_api(device, &at.device);
  gbt_table table;
  r_table(frame, &table);
  gbt_tree_range trees = r_tree_range(gbt_model_forest(model), round_beg, round_end);
  const double *off = r_arg_reals(offset, (R_xlen_t)(table.n_rows * gbt_model_objective(model)->n_outputs), "offset");
  SEXP out = answer(handle, &table, at, (gbt_answer)r_arg_int(kind, "kind"), trees, off,
                    (gbt_unseen)r_arg_int(unseen, "unseen"), r_arg_threads(threads));
  UNPROTECT(1);
  return out;
}

/* No option or environment variable says where and how to predict. */
static int nothing_is_set(void) {
  static const char *const options[] = {"gbt.device", "gbt.device_costs", "gbt.simd"};
  static const char *const variables[] = {"GBT_DEVICE", "GBT_SIMD"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (Rf_GetOption1(Rf_install(options[i])) != R_NilValue) return 0;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *value = getenv(variables[i]);
    if (value != NULL && *value != '\0') return 0;
  }
  return 1;
}

/* Predictions of plain rows (see r_plain.c) of all rounds that a model uses, with the defaults of predict() for all
 * arguments but `unseen`. model: its fields. few: from so many rows on, predict() looks for new levels. rounds: how
 * many are used, or NULL for those that the model has chosen. threads: NULL where only few steps are to be taken, in
 * one thread; else an R function that says how many there are, asked where more than one is worth it. NULL where R has
 * to look at more: the rows, settings, a formula, a recipe or offsets. */
SEXP r_gbt_predict_plain(SEXP model, SEXP x, SEXP kind, SEXP few, SEXP unseen, SEXP rounds, SEXP threads) {
  static const char *const more[] = {"terms", "recipe", "exposure", "sparse_zero"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    if (r_item(model, more[i]) != R_NilValue) return R_NilValue;
  if (Rf_asLogical(r_item(model, "has_offset")) != FALSE || !nothing_is_set()) return R_NilValue;
  r_cache_adopt(model);
  SEXP handle = PROTECT(r_model_handle(r_item(model, "state"), r_item(model, "cache")));
  SEXP none = PROTECT(Rf_ScalarInteger(0));
  if (rounds == R_NilValue) rounds = r_item(model, "best_round");
  if (rounds == R_NilValue) rounds = r_item(model, "nrounds");
  gbt_tree_range trees = r_tree_range(gbt_model_forest(r_model_get(handle)), none, rounds);
  const int64_t n_rows = r_plain_rows(x);
  const double n_steps = (double)n_rows * (double)(trees.end - trees.beg);
  const int most = r_arg_int(few, "few"), many = n_steps >= STEPS_WORTH_THREADS;
  SEXP tags = r_item(model, "feature_types"), out = R_NilValue;
  /* before a column is looked at, as that takes long for many texts */
  if ((!many || Rf_isFunction(threads)) && n_steps < STEPS_WORTH_A_DEVICE &&
      (n_rows < most || !r_plain_has_levels(tags))) {
    gbt_table table;
    /* "missing", or not there: model_fault() */
    const int absent_missing = r_item(r_item(model, "params"), "sparse_zero") != R_NilValue;
    SEXP keep = PROTECT(r_plain_table(x, r_item(model, "feature_names"), tags, absent_missing, &table));
    if (keep != R_NilValue) {
      r_threads its = {1, GBT_SIMD_AUTO};
      if (many) {
        SEXP call = PROTECT(Rf_lang1(threads)), n = PROTECT(Rf_eval(call, R_GlobalEnv));
        its = r_arg_threads(n);
        UNPROTECT(2);
      }
      out = answer(handle, &table, (gbt_answer_place){0}, (gbt_answer)r_arg_int(kind, "kind"), trees, NULL,
                   (gbt_unseen)r_arg_int(unseen, "unseen"), its);
    }
    UNPROTECT(1);
  }
  UNPROTECT(2);
  return out;
}

/* The same for the rows of a data set, by its bins, on the CPU. */
SEXP r_gbt_predict_bins(SEXP state, SEXP cache, SEXP dataset, SEXP kind, SEXP round_beg, SEXP round_end, SEXP offset,
                        SEXP unseen, SEXP threads) {
  /* 1 */
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_model *model = r_model_get(handle);
  const gbt_dataset *ds = r_handle_get(dataset, R_DATASET);
  const int64_t n_rows = gbt_dataset_about(ds).n_rows;
  gbt_tree_range trees = r_tree_range(gbt_model_forest(model), round_beg, round_end);
  int32_t k = gbt_model_objective(model)->n_outputs;
  gbt_answer what = (gbt_answer)r_arg_int(kind, "kind");
  const double *off = r_arg_reals(offset, (R_xlen_t)(n_rows * k), "offset");
  gbt_unseen novel = (gbt_unseen)r_arg_int(unseen, "unseen");
  r_threads t = r_arg_threads(threads);
  if (n_rows > 2147483647 || trees.end - trees.beg > 2147483647) r_stop("the result is too large for a matrix");
  void *values;
  SEXP out = PROTECT(result_of(what, n_rows, k, (int)(trees.end - trees.beg), &values));
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = gbt_model_answer_bins(&ctx, model, r_model_predictor(handle), ds, novel, what, trees, off, values, &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  r_check(status, &err);
  UNPROTECT(2);
  return out;
}

/* Rows of the frame with a level that the model does not know, by column of the model. */
SEXP r_gbt_unseen(SEXP state, SEXP cache, SEXP frame, SEXP threads) {
  /* 1 */
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_model *model = r_model_get(handle);
  const int32_t n = gbt_model_schema(model)->n_columns;
  gbt_table table;
  r_table(frame, &table);
  const r_threads t = r_arg_threads(threads);
  int64_t *rows = (int64_t *)R_alloc((size_t)(n > 0 ? n : 1), sizeof *rows);
  memset(rows, 0, (size_t)n * sizeof *rows);
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n));

  /* 2 */
  gbt_ctx ctx;
  gbt_error err = {0};
  gbt_binding *binding = NULL;
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = gbt_binding_new(&ctx, &table, gbt_model_schema(model), GBT_UNSEEN_PRIOR, &binding, &err);
    if (status == GBT_OK) status = gbt_binding_unseen(&ctx, binding, rows, &err);
    gbt_binding_free(binding);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  r_check(status, &err);
  for (int32_t c = 0; c < n; c++) REAL(out)[c] = (double)rows[c];
  UNPROTECT(2);
  return out;
}

/* The objective's responses of raw scores: a copy of score with responses in it. */
SEXP r_gbt_responses(SEXP objective, SEXP n_outputs, SEXP score, SEXP threads) {
  /* 1 */
  const int k = r_arg_int(n_outputs, "n_outputs");
  gbt_objective of = r_arg_objective(objective, k);
  const r_threads t = r_arg_threads(threads);
  if (TYPEOF(score) != REALSXP || Rf_xlength(score) % k != 0) r_stop("`score` must be numbers for every output");
  SEXP out = PROTECT(Rf_duplicate(score));
  gbt_ctx ctx;
  gbt_error err = {0};

  /* 2 */
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = gbt_predict_response(&ctx, &of, (int64_t)Rf_xlength(score) / k, REAL(out), &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}
