/* Predictions. */
#include "r_gbt.h"

/* Starting a thread costs as much as about so many steps of a row through a tree. */
enum { STEPS_WORTH_THREADS = 300000 };

/* A model, and where it is used: on the CPU by its predictor, or on a device. */
typedef struct r_place {
  const gbt_model *model;
  gbt_predictor *predictor;
  const gbt_device_api *api; /* NULL: the CPU */
  int32_t number;
} r_place;

static gbt_status leaves(gbt_ctx *ctx, const r_place *at, const gbt_binding *binding, gbt_tree_range trees,
                         int32_t *out, gbt_error *err) {
  if (at->api != NULL && gbt_device_offers(at->api, GBT_WORK_LEAVES))
    return gbt_device_leaves(ctx, at->api, at->number, &at->model->forest, binding, trees, out, err);
  return gbt_predictor_leaves(ctx, at->predictor, binding, trees, out, err);
}

static gbt_status scores(gbt_ctx *ctx, const r_place *at, const gbt_binding *binding, gbt_tree_range trees,
                         const double *offset, double *out, gbt_error *err) {
  if (at->api != NULL && gbt_device_offers(at->api, GBT_WORK_SCORES))
    return gbt_device_scores(ctx, at->api, at->number, &at->model->forest, binding, trees, offset, out, err);
  return gbt_predictor_scores(ctx, at->predictor, binding, trees, offset, out, err);
}

/* Zone 2 whole: binds the table to the model and fills out. */
static gbt_status predict(r_threads threads, const r_place *at, const gbt_table *table, r_predict_kind kind,
                          const gbt_objective *objective, gbt_tree_range trees, const double *offset, gbt_unseen unseen,
                          void *out, gbt_error *err) {
  const gbt_model *model = at->model;
  gbt_ctx ctx;
  gbt_binding *binding = NULL;
  gbt_status status;
  GBT_TRY(r_ctx_open(&ctx, threads, err));
  GBT_TRY_GOTO(gbt_table_check(&ctx, table, err), done);
  GBT_TRY_GOTO(gbt_binding_new(&ctx, table, model->schema, unseen, &binding, err), done);
  if (kind == R_LEAF) {
    status = leaves(&ctx, at, binding, trees, out, err);
  } else {
    GBT_TRY_GOTO(scores(&ctx, at, binding, trees, offset, out, err), done);
    if (kind == R_RESPONSE) status = gbt_predict_response(&ctx, objective, table->n_rows, out, err);
  }
done:
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  return status;
}

static SEXP result_of(r_predict_kind what, int64_t n_rows, int n_cols) {
  if (what == R_LEAF) return Rf_allocMatrix(INTSXP, (int)n_rows, n_cols);
  return n_cols == 1 ? Rf_allocVector(REALSXP, (R_xlen_t)n_rows) : Rf_allocMatrix(REALSXP, (int)n_rows, n_cols);
}

/* kind: r_predict_kind. device: NULL, or as for r_cuda_api. */
SEXP r_gbt_predict(SEXP state, SEXP cache, SEXP frame, SEXP kind, SEXP objective, SEXP round_beg, SEXP round_end,
                   SEXP offset, SEXP unseen, SEXP threads, SEXP device) {
  /* 1 */
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_model *model = r_model_get(handle);
  r_place at = {model, r_model_predictor(handle), NULL, 0};
  if (device != R_NilValue) at.api = r_cuda_api(device, &at.number);
  gbt_table table;
  r_table(frame, &table);
  gbt_tree_range trees = r_tree_range(&model->forest, round_beg, round_end);
  int32_t k = model->forest.n_outputs;
  r_predict_kind what = (r_predict_kind)r_arg_int(kind, "kind");
  const gbt_objective how = r_arg_objective(objective, k);
  const double *off = r_arg_reals(offset, (R_xlen_t)(table.n_rows * k), "offset");
  gbt_unseen novel = (gbt_unseen)r_arg_int(unseen, "unseen");
  r_threads t = r_arg_threads(threads);
  if ((double)table.n_rows * (double)(trees.end - trees.beg) < STEPS_WORTH_THREADS) t.n = 1;
  if (table.n_rows > 2147483647 || trees.end - trees.beg > 2147483647) r_stop("the result is too large for a matrix");
  SEXP out = PROTECT(result_of(what, table.n_rows, what == R_LEAF ? (int)(trees.end - trees.beg) : k));
  void *values = what == R_LEAF ? (void *)INTEGER(out) : (void *)REAL(out);
  gbt_error err = {0};

  /* 2 */
  gbt_status status = predict(t, &at, &table, what, &how, trees, off, novel, values, &err);

  /* 3 */
  r_check(status, &err);
  UNPROTECT(2);
  return out;
}
