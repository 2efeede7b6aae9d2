/* Reading arguments of .Call and making texts. The R side has checked what users give; what is found wrong here is a
 * fault of the package. */
#include "r_gbt.h"

#include <math.h>
#include <string.h>

r_threads r_arg_threads(SEXP x) {
  r_threads t;
  t.n = r_arg_int(x, "threads");
  SEXP simd = Rf_getAttrib(x, Rf_install("simd"));
  t.simd = simd == R_NilValue ? GBT_SIMD_AUTO : (gbt_simd)r_arg_int(simd, "simd");
  return t;
}

int64_t r_arg_int64(SEXP x, const char *what) {
  if (TYPEOF(x) == INTSXP && Rf_xlength(x) == 1 && INTEGER_RO(x)[0] != NA_INTEGER) return INTEGER_RO(x)[0];
  if (TYPEOF(x) == REALSXP && Rf_xlength(x) == 1) {
    double v = REAL_RO(x)[0];
    if (v >= -9007199254740992.0 && v <= 9007199254740992.0 && v == floor(v)) return (int64_t)v;
  }
  r_stop("`%s` must be one whole number", what);
}

int r_arg_int(SEXP x, const char *what) {
  int64_t v = r_arg_int64(x, what);
  if (v < -2147483647 || v > 2147483647) r_stop("`%s` is out of range", what);
  return (int)v;
}

gbt_objective_kind r_arg_objective_kind(SEXP x) {
  int kind = r_arg_int(x, "objective");
  if (kind < 0 || kind >= GBT_N_OBJECTIVES) r_stop("there is no objective %d", kind);
  return (gbt_objective_kind)kind;
}

gbt_objective r_arg_objective(SEXP x, int32_t n_outputs) {
  if (TYPEOF(x) != VECSXP || Rf_xlength(x) < 2 || Rf_xlength(x) > 3)
    r_stop("`objective` must be a list of a number, of parameters, and of a number for each output");
  SEXP param = VECTOR_ELT(x, 1);
  R_xlen_t n = Rf_xlength(param);
  if (TYPEOF(param) != REALSXP || n > GBT_OBJECTIVE_PARAMS) r_stop("an objective has at most %d parameters",
                                                                   GBT_OBJECTIVE_PARAMS);
  gbt_objective out = {.kind = (int32_t)r_arg_objective_kind(VECTOR_ELT(x, 0)), .n_outputs = n_outputs};
  const double *of_outputs = Rf_xlength(x) == 3 ? r_arg_reals(VECTOR_ELT(x, 2), n_outputs, "objective") : NULL;
  gbt_error err = {0};
  if (n > 0) memcpy(out.param, REAL_RO(param), (size_t)n * sizeof *out.param);
  if (gbt_has_levels(&out))
    out.levels = of_outputs;
  else
    out.breaks = of_outputs;
  r_check(gbt_objective_check(&out, &err), &err);
  return out;
}

double r_arg_real(SEXP x, const char *what) {
  if (Rf_xlength(x) == 1) {
    if (TYPEOF(x) == REALSXP) return REAL_RO(x)[0];
    if (TYPEOF(x) == INTSXP) return INTEGER_RO(x)[0] == NA_INTEGER ? NA_REAL : INTEGER_RO(x)[0];
  }
  r_stop("`%s` must be one number", what);
}

const double *r_arg_reals(SEXP x, R_xlen_t n, const char *what) {
  if (x == R_NilValue) return NULL;
  if (TYPEOF(x) != REALSXP || Rf_xlength(x) != n)
    r_stop("`%s` must be a double vector of length %.0f", what, (double)n);
  return REAL_RO(x);
}

const char *r_arg_path(SEXP x, const char *what) {
  if (TYPEOF(x) != STRSXP || Rf_xlength(x) != 1 || STRING_ELT(x, 0) == NA_STRING) r_stop("`%s` must be one text", what);
  return Rf_translateChar(STRING_ELT(x, 0)); /* as the system has it, whatever the locale */
}

SEXP r_item(SEXP list, const char *name) {
  if (TYPEOF(list) != VECSXP) r_stop("`%s` must be an element of a list", name);
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  if (names == R_NilValue) return R_NilValue;
  for (R_xlen_t i = 0; i < Rf_xlength(list); i++) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  return R_NilValue;
}

SEXP r_need(SEXP list, const char *name, SEXPTYPE type) {
  SEXP x = r_item(list, name);
  if ((SEXPTYPE)TYPEOF(x) != type) r_stop("`%s` must be of type %s", name, Rf_type2char(type));
  return x;
}

const char *r_utf8(SEXP charsxp) { return charsxp == NA_STRING ? NULL : Rf_translateCharUTF8(charsxp); }

SEXP r_text(const char *utf8) { return utf8 == NULL ? NA_STRING : Rf_mkCharCE(utf8, CE_UTF8); }

SEXP r_texts(const char *const *utf8, R_xlen_t n) {
  SEXP out = PROTECT(Rf_allocVector(STRSXP, n));
  for (R_xlen_t i = 0; i < n; i++) SET_STRING_ELT(out, i, r_text(utf8[i]));
  UNPROTECT(1);
  return out;
}
