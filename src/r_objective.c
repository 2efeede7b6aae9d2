/* The engine's table of objectives, for R. */
#include "r_gbt.h"

#include <string.h>

static int n_params(const gbt_objective_info *info) {
  int n = 0;
  while (n < GBT_OBJECTIVE_PARAMS && info->param[n].name != NULL) n++;
  return n;
}

/* list of columns as params_table() has them, and `aliases` */
static SEXP params_of(const gbt_objective_info *info) {
  static const char *parts[] = {"name",     "kind",      "default", "low",     "high",
                                "open_low", "open_high", "text",    "aliases", ""};
  static const SEXPTYPE types[] = {STRSXP, STRSXP, REALSXP, REALSXP, REALSXP, LGLSXP, LGLSXP, STRSXP, STRSXP};
  const int n = n_params(info);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  for (int k = 0; k < 9; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(types[k], n));
  for (int i = 0; i < n; i++) {
    const gbt_objective_param *p = &info->param[i];
    SET_STRING_ELT(VECTOR_ELT(out, 0), i, r_text(p->name));
    SET_STRING_ELT(VECTOR_ELT(out, 1), i, Rf_mkChar(p->whole ? "int" : "real"));
    REAL(VECTOR_ELT(out, 2))[i] = p->def;
    REAL(VECTOR_ELT(out, 3))[i] = p->low;
    REAL(VECTOR_ELT(out, 4))[i] = p->high;
    LOGICAL(VECTOR_ELT(out, 5))[i] = p->open_low != 0;
    LOGICAL(VECTOR_ELT(out, 6))[i] = p->open_high != 0;
    SET_STRING_ELT(VECTOR_ELT(out, 7), i, r_text(p->text));
    SET_STRING_ELT(VECTOR_ELT(out, 8), i, r_text(p->aliases));
  }
  UNPROTECT(1);
  return out;
}

/* By their numbers: name, aliases (with | between), text, the rules' names, and a list of parameters for each. */
SEXP r_gbt_objectives(void) {
  static const char *parts[] = {"name",     "aliases", "text", "gradient", "outputs", "labels",
                                "response", "hessian", "size", "leaves",   "params",  ""};
  enum { TEXTS = 10 };
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  for (int k = 0; k < TEXTS; k++) SET_VECTOR_ELT(out, k, Rf_allocVector(STRSXP, GBT_N_OBJECTIVES));
  SET_VECTOR_ELT(out, TEXTS, Rf_allocVector(VECSXP, GBT_N_OBJECTIVES));
  for (int i = 0; i < GBT_N_OBJECTIVES; i++) {
    const gbt_objective_info *info = gbt_objective_info_of(i);
    const char *texts[TEXTS] = {info->name,           info->aliases,      info->text,        info->rule.gradient,
                                info->rule.outputs,   info->rule.labels,  info->rule.response, info->rule.hessian,
                                info->rule.size,      info->rule.leaves};
    for (int k = 0; k < TEXTS; k++) SET_STRING_ELT(VECTOR_ELT(out, k), i, r_text(texts[k]));
    SET_VECTOR_ELT(VECTOR_ELT(out, TEXTS), i, params_of(info));
  }
  UNPROTECT(1);
  return out;
}

/* Rows' weights times those of their classes. label: class numbers from 0, doubles; weight: doubles or NULL; given: a
 * weight for each class, or NULL for those that balance n_classes of them. list(classes, rows) */
SEXP r_gbt_class_weights(SEXP label, SEXP weight, SEXP given, SEXP n_classes, SEXP threads) {
  /* 1 */
  const R_xlen_t n = Rf_xlength(label);
  const int32_t k = r_arg_int(n_classes, "n_classes");
  if (k < 1) r_stop("`n_classes` must be 1 or more");
  const gbt_rows rows = {
      .n = (int64_t)n,
      .field = {[GBT_LABEL] = r_arg_reals(label, n, "label"), [GBT_WEIGHT] = r_arg_reals(weight, n, "weights")}};
  const double *of_class = r_arg_reals(given, k, "class_weights");
  const r_threads t = r_arg_threads(threads);
  static const char *parts[] = {"classes", "rows", ""};
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SEXP classes = Rf_allocVector(REALSXP, k);
  SET_VECTOR_ELT(out, 0, classes);
  SEXP each = Rf_allocVector(REALSXP, n);
  SET_VECTOR_ELT(out, 1, each);
  double *class_weight = REAL(classes), *row_weight = REAL(each);
  gbt_error err = {0};
  gbt_ctx ctx;

  /* 2 */
  const gbt_objective classes_of = gbt_objective_make(GBT_OBJ_SOFTMAX, k);
  gbt_status status = r_ctx_open(&ctx, t, &err);
  if (status == GBT_OK) {
    status = gbt_labels_check(&ctx, &classes_of, &rows, "train", &err);
    if (of_class != NULL)
      memcpy(class_weight, of_class, (size_t)k * sizeof *class_weight);
    else if (status == GBT_OK)
      status = gbt_class_balance(&ctx, &rows, k, class_weight, &err);
    if (status == GBT_OK) status = gbt_class_weigh(&ctx, &rows, k, class_weight, row_weight, &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  r_check(status, &err);
  UNPROTECT(1);
  return out;
}
