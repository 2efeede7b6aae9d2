/* The enums that R's side names: each value by the engine's name of it, so that no number is written down in R. */
#include "r_gbt.h"

/* Values are consecutive from `first` on; what has no name ends them. */
typedef struct r_enum {
  const char *name;
  int first;
  const char *(*value_name)(int value);
} r_enum;

static const r_enum enums[] = {
    {"status", 0, gbt_status_name},
    {"simd", GBT_SIMD_AUTO, gbt_simd_here}, /* of this machine */
    {"feature_type", 0, gbt_feature_type_name},
    {"feature_kind", 0, gbt_feature_kind_name},
    {"cat_method", 0, gbt_cat_method_name}, /* numbers of bits */
    {"storage", 0, gbt_storage_name},
    {"unseen", 0, gbt_unseen_name},
    {"stop_reason", 0, gbt_stop_reason_name},
    {"answer", 0, gbt_answer_name},
    {"response", 0, gbt_response_name},
    {"codec", 0, gbt_codec_name},
    {"distribution", 0, gbt_distribution_ask_name},
};
enum { N_ENUMS = (int)(sizeof enums / sizeof enums[0]) };

static SEXP values_of(const r_enum *e) {
  int n = 0;
  while (e->value_name(e->first + n) != NULL) n++;
  SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
  SEXP names = Rf_allocVector(STRSXP, n);
  Rf_setAttrib(out, R_NamesSymbol, names);
  for (int k = 0; k < n; k++) {
    INTEGER(out)[k] = e->first + k;
    SET_STRING_ELT(names, k, r_text(e->value_name(e->first + k)));
  }
  UNPROTECT(1);
  return out;
}

/* list of named integer vectors */
SEXP r_gbt_enums(void) {
  SEXP out = PROTECT(Rf_allocVector(VECSXP, N_ENUMS));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, N_ENUMS));
  for (int k = 0; k < N_ENUMS; k++) {
    SET_STRING_ELT(names, k, r_text(enums[k].name));
    SET_VECTOR_ELT(out, k, values_of(&enums[k]));
  }
  Rf_setAttrib(out, R_NamesSymbol, names);
  UNPROTECT(2);
  return out;
}
