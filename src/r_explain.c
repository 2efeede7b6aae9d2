/* Contributions of players to scores. */
#include "r_gbt.h"

/* Zone 2 whole: binds the tables to the model and fills out. */
static gbt_status explain(r_threads threads, const gbt_model *model, const gbt_table *table,
                          const gbt_table *back, gbt_explain_spec spec, const double *offset, gbt_unseen unseen,
                          double *out, gbt_error *err) {
  gbt_ctx ctx;
  gbt_binding *binding = NULL, *background = NULL;
  gbt_status status;
  GBT_TRY(r_ctx_open(&ctx, threads, err));
  GBT_TRY_GOTO(gbt_binding_new(&ctx, table, gbt_model_schema(model), unseen, &binding, err), done);
  if (back != NULL) GBT_TRY_GOTO(gbt_binding_new(&ctx, back, gbt_model_schema(model), unseen, &background, err), done);
  spec.background = background;
  status = gbt_explain(&ctx, gbt_model_forest(model), binding, &spec, offset, out, err);
done:
  gbt_binding_free(binding);
  gbt_binding_free(background);
  gbt_ctx_close(&ctx);
  return status;
}

/* player: by feature, from 1. background: a frame, or NULL. device: NULL, or as for r_cuda_api. An array: rows, players
 * and the base (twice for interactions), outputs. */
SEXP r_gbt_explain(SEXP state, SEXP cache, SEXP frame, SEXP background, SEXP player, SEXP n_players, SEXP interactions,
                   SEXP round_end, SEXP offset, SEXP unseen, SEXP threads, SEXP device) {
  /* 1 */
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_model *model = r_model_get(handle);
  const gbt_forest_info about = gbt_forest_about(gbt_model_forest(model));
  gbt_table table, back;
  r_table(frame, &table);
  if (background != R_NilValue) r_table(background, &back);
  const int pairs = r_arg_int(interactions, "interactions"), n = r_arg_int(n_players, "n_players");
  if (TYPEOF(player) != INTSXP || Rf_xlength(player) != about.n_features)
    r_stop("`player` must be an integer a feature");
  int32_t *zero_based = (int32_t *)R_alloc((size_t)about.n_features + 1, sizeof *zero_based);
  for (int32_t f = 0; f < about.n_features; f++) zero_based[f] = INTEGER_RO(player)[f] - 1;
  SEXP zero = PROTECT(Rf_ScalarInteger(0));
  gbt_explain_spec spec = {.trees = r_tree_range(gbt_model_forest(model), zero, round_end),
                           .player = zero_based,
                           .n_players = n,
                           .interactions = pairs};
  if (device != R_NilValue) spec.api = r_cuda_api(device, &spec.device);
  const double *off = r_arg_reals(offset, (R_xlen_t)(table.n_rows * about.n_outputs), "offset");
  gbt_unseen novel = (gbt_unseen)r_arg_int(unseen, "unseen");
  r_threads t = r_arg_threads(threads);
  const double width = (double)n + 1.0, cells = (double)table.n_rows * width * (pairs ? width : 1.0);
  if (cells * about.n_outputs > 4503599627370496.0 || table.n_rows > 2147483647) r_stop("the result is too large");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(cells * about.n_outputs)));
  gbt_error err = {0};

  /* 2 */
  gbt_status status =
      explain(t, model, &table, background != R_NilValue ? &back : NULL, spec, off, novel, REAL(out), &err);

  /* 3 */
  r_check(status, &err);
  UNPROTECT(3);
  return out;
}
