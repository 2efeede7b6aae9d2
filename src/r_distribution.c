/* Answers of predicted distributions. */
#include "r_gbt.h"

/* score: rows x 2; ask: of gbt_distribution_ask; at: chances, numbers of rows, or how many draws -> for each of them
 * numbers of the rows, one column after the other. */
SEXP r_gbt_distribution(SEXP objective, SEXP score, SEXP ask, SEXP at, SEXP seed, SEXP threads) {
  /* 1 */
  const gbt_objective of = r_arg_objective(objective, 2);
  const int kind = r_arg_int(ask, "ask");
  const r_threads t = r_arg_threads(threads);
  if (TYPEOF(score) != REALSXP || Rf_xlength(score) % 2 != 0) r_stop("`score` must be two numbers for every row");
  if (kind < 0 || kind >= GBT_N_ASKS) r_stop("there is no answer %d of a distribution", kind);
  if (!gbt_is_distribution(&of)) r_stop("the objective has no distribution");
  const R_xlen_t n = Rf_xlength(score) / 2;
  const int draws = kind == GBT_ASK_DRAW ? r_arg_int(at, "at") : 0;
  const double *values = kind == GBT_ASK_MEAN || kind == GBT_ASK_DRAW ? NULL : r_arg_reals(at, Rf_xlength(at), "at");
  if (kind == GBT_ASK_BELOW && Rf_xlength(at) != n) r_stop("`at` must be a number for every row");
  const R_xlen_t n_at = kind == GBT_ASK_QUANTILE ? Rf_xlength(at) : kind == GBT_ASK_DRAW ? (R_xlen_t)draws : 1;
  if (n_at < 0) r_stop("`at` must be 0 or more");
  SEXP out = PROTECT(Rf_allocVector(REALSXP, n * n_at));
  const uint64_t from = (uint64_t)r_arg_int(seed, "seed");
  gbt_ctx ctx;
  gbt_error err = {0};

  /* 2 */
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = gbt_distribution_answers(&ctx, &of, (gbt_distribution_ask)kind, (int64_t)n, REAL_RO(score), (int64_t)n_at,
                                      values, from, REAL(out), &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}
