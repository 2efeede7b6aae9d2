/* Models as files of other programs. */
#include "r_gbt.h"

/* The formats: a list of texts `name`, `extension` and `text`. */
SEXP r_gbt_export_formats(void) {
  static const char *parts[] = {"name", "extension", "text", ""};
  const char *(*const of[])(int) = {gbt_export_name, gbt_export_extension, gbt_export_text};
  int n = 0;
  while (gbt_export_name(n) != NULL) n++;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  for (int k = 0; k < 3; k++) {
    SEXP texts = Rf_allocVector(STRSXP, n);
    SET_VECTOR_ELT(out, k, texts);
    for (int i = 0; i < n; i++) SET_STRING_ELT(texts, i, r_text(of[k](i)));
  }
  UNPROTECT(1);
  return out;
}

/* list(bytes, notes): a file with the model's first rounds. format: its number, from 0; levels: of the objective, or
 * NULL; outputs: names of the raw scores, or none. */
SEXP r_gbt_export(SEXP state, SEXP cache, SEXP rounds, SEXP format, SEXP name, SEXP has_offset, SEXP exposed,
                  SEXP levels, SEXP outputs) {
  /* 1 */
  static const char *parts[] = {"bytes", "notes", ""};
  SEXP handle = PROTECT(r_model_handle(state, cache));
  const gbt_model *model = r_model_get(handle);
  const gbt_objective *objective = gbt_model_objective(model);
  SEXP zero = PROTECT(Rf_ScalarInteger(0));
  if (TYPEOF(name) != STRSXP || Rf_xlength(name) != 1 || STRING_ELT(name, 0) == NA_STRING)
    r_stop("`name` must be one text");
  const R_xlen_t n_names = TYPEOF(outputs) == STRSXP ? Rf_xlength(outputs) : -1;
  if (n_names != 0 && n_names != objective->n_outputs) r_stop("`outputs` must be the names of the raw scores");
  const char **names = (const char **)R_alloc((size_t)n_names + 1, sizeof *names);
  for (R_xlen_t i = 0; i < n_names; i++) names[i] = r_utf8(STRING_ELT(outputs, i));
  const gbt_export_spec spec = {
      .model = model,
      .trees = r_tree_range(gbt_model_forest(model), zero, rounds),
      .format = r_arg_int(format, "format"),
      .name = r_utf8(STRING_ELT(name, 0)),
      .has_offset = r_arg_int(has_offset, "has_offset"),
      .exposed = r_arg_int(exposed, "exposed"),
      .outputs = n_names > 0 ? names : NULL,
      .levels = gbt_has_levels(objective) ? r_arg_reals(levels, objective->n_outputs, "levels") : NULL};
  r_blob *blob;
  PROTECT(r_blob_new(&blob));
  gbt_error err = {0};
  gbt_export_facts facts;
  gbt_ctx ctx;
  const r_threads one = {1, GBT_SIMD_AUTO};

  /* 2 */
  gbt_status status = r_ctx_open(&ctx, one, &err);
  if (status == GBT_OK) {
    status = gbt_export_model(&ctx, &spec, &facts, &blob->bytes, &blob->n_bytes, &err);
    gbt_ctx_close(&ctx);
  }

  /* 3 */
  r_check(status, &err);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, r_blob_take(blob));
  SET_VECTOR_ELT(out, 1, r_texts(facts.note, facts.n_notes));
  UNPROTECT(4);
  return out;
}
