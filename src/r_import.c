/* Models of other programs. */
#include "r_gbt.h"

/* list(state, program, version, objective, best_round, lacks, raw_only, levels, odd_parameter, has_offset): the bytes
 * of a model without meta values but `classes`, `response`, what classes were, and `outputs`, the names of its raw
 * scores; and facts about the file. lacks: what it does not say of nodes; the others: see gbt_import_facts. */
SEXP r_gbt_import(SEXP bytes) {
  /* 1 */
  static const char *parts[] = {"state",    "program", "version",       "objective", "best_round", "lacks",
                                "raw_only", "levels",  "odd_parameter", "has_offset", ""};
  if (TYPEOF(bytes) != RAWSXP) r_stop("`bytes` must be raw bytes");
  r_blob *blob;
  PROTECT(r_blob_new(&blob));
  gbt_error err = {0};
  gbt_mem mem = r_mem();
  gbt_import_facts facts;

  /* 2 */
  gbt_status status =
      gbt_import(&mem, RAW_RO(bytes), (size_t)Rf_xlength(bytes), &facts, &blob->bytes, &blob->n_bytes, &err);

  /* 3 */
  r_check(status, &err);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, r_blob_take(blob));
  const char *texts[] = {facts.program, facts.version, facts.objective};
  for (int i = 0; i < 3; i++) SET_VECTOR_ELT(out, 1 + i, Rf_ScalarString(r_text(texts[i])));
  SET_VECTOR_ELT(out, 4, Rf_ScalarReal((double)facts.best_round));
  const char *const name[] = {"gain", "cover", "count"};
  const int has[] = {facts.has_gain, facts.has_cover, facts.has_count};
  SEXP lacks = Rf_allocVector(STRSXP, 3 - (has[0] + has[1] + has[2]));
  SET_VECTOR_ELT(out, 5, lacks);
  for (int i = 0, n = 0; i < 3; i++)
    if (!has[i]) SET_STRING_ELT(lacks, n++, Rf_mkChar(name[i]));
  SET_VECTOR_ELT(out, 6, Rf_ScalarLogical(facts.raw_only));
  SET_VECTOR_ELT(out, 7, Rf_allocVector(REALSXP, facts.n_levels));
  for (int32_t i = 0; i < facts.n_levels; i++) REAL(VECTOR_ELT(out, 7))[i] = facts.level[i];
  SET_VECTOR_ELT(out, 8, Rf_ScalarString(r_text(facts.odd_parameter)));
  SET_VECTOR_ELT(out, 9, Rf_ScalarLogical(facts.has_offset));
  UNPROTECT(2);
  return out;
}
