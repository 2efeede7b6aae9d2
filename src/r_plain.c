/* Plain rows -> gbt_table without a frame: rows whose columns are of the kinds that the model was trained with, so that
 * nothing has to be converted, renamed or warned of. All else is left to R/data_encode.R and R/data_align.R, which know
 * every kind and every message. Here is no error: what is not plain is refused by 0.
 *
 * A data frame is plain if each needed column is there once, and has no other attributes than those of
 *   numbers   double, integer or logical vectors without a class
 *   factors   class "factor" or c("ordered", "factor") with levels
 *   texts     character vectors without a class
 *   times     class "Date", or c("POSIXct", "POSIXt")
 * and a matrix of numbers if its columns are those of the model in their order, or have no names; a sparse matrix of
 * class "dgCMatrix", "lgCMatrix" or "ngCMatrix" as well, whose shape is checked here and whose entries the engine
 * checks. Names, levels and texts are ASCII or UTF-8, so that equal ones have one address (see r_text.c). */
#include "r_gbt.h"

#include <string.h>

/* MOST_COMPARISONS: of names; more than that is done by hashing in R. FEW_ROWS: one for so many levels. */
enum { MOST_COMPARISONS = 100000, FEW_ROWS = 4 };

typedef enum kind { KIND_OTHER, KIND_NUMBER, KIND_LEVELS, KIND_ORDERED, KIND_DATE, KIND_TIME } kind;

static kind kind_of_tag(const char *tag) {
  static const struct {
    const char *tag;
    kind kind;
  } known[] = {{"double", KIND_NUMBER},    {"integer", KIND_NUMBER},  {"logical", KIND_NUMBER}, {"factor", KIND_LEVELS},
               {"character", KIND_LEVELS}, {"ordered", KIND_ORDERED}, {"Date", KIND_DATE},      {"POSIXct", KIND_TIME}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(tag, known[i].tag) == 0) return known[i].kind;
  return KIND_OTHER;
}

static int has_class(SEXP x, const char *first, const char *second) {
  SEXP class = Rf_getAttrib(x, R_ClassSymbol);
  const R_xlen_t n = second == NULL ? 1 : 2;
  if (TYPEOF(class) != STRSXP || Rf_xlength(class) != n) return 0;
  return strcmp(CHAR(STRING_ELT(class, 0)), first) == 0 &&
         (second == NULL || strcmp(CHAR(STRING_ELT(class, 1)), second) == 0);
}

static int is_number(SEXP x) { return TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP; }

static int is_plain_level(SEXP text) {
  return text == NA_STRING || (r_is_plain_text(text) && gbt_utf8_ok(CHAR(text), (size_t)Rf_xlength(text)));
}

/* Texts as the engine takes them, NULL for NA; NULL if one is not plain. */
static const char *const *plain_texts(SEXP x) {
  const R_xlen_t n = Rf_xlength(x);
  const char **out = (const char **)R_alloc((size_t)(n > 0 ? n : 1), sizeof *out);
  for (R_xlen_t i = 0; i < n; i++) {
    SEXP text = STRING_ELT(x, i);
    if (!is_plain_level(text)) return NULL;
    out[i] = text == NA_STRING ? NULL : CHAR(text);
  }
  return out;
}

/* A factor of few rows and many levels: the levels are those of the rows alone, so that the others are not looked at.
 * Returns the codes, which the caller protects. */
static SEXP put_few_codes(SEXP x, SEXP levels, gbt_column *col) {
  const int n = (int)Rf_xlength(x);
  const R_xlen_t n_levels = Rf_xlength(levels);
  SEXP codes = PROTECT(Rf_allocVector(INTSXP, n));
  const char **out = (const char **)R_alloc((size_t)(n > 0 ? n : 1), sizeof *out);
  int plain = 1;
  for (int i = 0; i < n && plain; i++) {
    const int code = INTEGER_RO(x)[i];
    INTEGER(codes)[i] = code == NA_INTEGER ? NA_INTEGER : i + 1;
    out[i] = NULL;
    if (code == NA_INTEGER) continue;
    plain = code > 0 && code <= n_levels && is_plain_level(STRING_ELT(levels, code - 1));
    if (plain && STRING_ELT(levels, code - 1) != NA_STRING) out[i] = CHAR(STRING_ELT(levels, code - 1));
  }
  col->levels = out;
  col->n_levels = n;
  col->storage = GBT_CODES;
  col->values = INTEGER_RO(codes);
  UNPROTECT(1);
  return plain ? codes : R_NilValue;
}

static int put_levels(SEXP levels, gbt_column *col) {
  if (TYPEOF(levels) != STRSXP || Rf_xlength(levels) > 2147483647 || r_text_twin(levels) > 0) return 0;
  col->levels = plain_texts(levels);
  col->n_levels = (int32_t)Rf_xlength(levels);
  col->storage = GBT_CODES;
  return col->levels != NULL;
}

/* Each row's text is a level, in the order of first sight. Returns the codes, which the caller protects. */
static SEXP put_character(SEXP x, gbt_column *col) {
  SEXP seen = PROTECT(r_gbt_text_codes(x));
  SEXP codes = VECTOR_ELT(seen, 0);
  if (Rf_asLogical(VECTOR_ELT(seen, 2)) != TRUE || !put_levels(VECTOR_ELT(seen, 1), col)) seen = R_NilValue;
  if (seen != R_NilValue) col->values = INTEGER_RO(codes);
  UNPROTECT(1);
  return seen;
}

static int put_numbers(SEXP x, gbt_column *col) {
  col->type = GBT_NUMERIC;
  col->storage = TYPEOF(x) == REALSXP ? GBT_F64 : GBT_I32;
  col->tag = TYPEOF(x) == REALSXP ? "double" : TYPEOF(x) == INTSXP ? "integer" : "logical";
  if (TYPEOF(x) == REALSXP)
    col->values = REAL_RO(x);
  else
    col->values = TYPEOF(x) == INTSXP ? INTEGER_RO(x) : LOGICAL_RO(x);
  return 1;
}

/* keep: at place j, what has to live as long as the table. */
static int put_column(SEXP x, kind what, gbt_column *col, SEXP keep, R_xlen_t j) {
  if (Rf_getAttrib(x, R_DimSymbol) != R_NilValue || Rf_isS4(x)) return 0;
  if (!Rf_isObject(x)) {
    if (what == KIND_NUMBER && is_number(x)) return put_numbers(x, col);
    if (what != KIND_LEVELS || TYPEOF(x) != STRSXP) return 0;
    SEXP codes = put_character(x, col);
    SET_VECTOR_ELT(keep, j, codes);
    col->tag = "character";
    col->type = GBT_CATEGORICAL;
    return codes != R_NilValue;
  }
  const int ordered = what == KIND_ORDERED;
  if (what == KIND_LEVELS || ordered) {
    if (TYPEOF(x) != INTSXP || !(ordered ? has_class(x, "ordered", "factor") : has_class(x, "factor", NULL))) return 0;
    col->tag = ordered ? "ordered" : "factor";
    col->type = ordered ? GBT_ORDINAL : GBT_CATEGORICAL;
    SEXP levels = Rf_getAttrib(x, R_LevelsSymbol);
    if (!ordered && TYPEOF(levels) == STRSXP && Rf_xlength(x) < Rf_xlength(levels) / FEW_ROWS) {
      SEXP codes = put_few_codes(x, levels, col);
      SET_VECTOR_ELT(keep, j, codes);
      return codes != R_NilValue;
    }
    col->values = INTEGER_RO(x);
    return put_levels(levels, col);
  }
  const int known = what == KIND_DATE ? has_class(x, "Date", NULL) : has_class(x, "POSIXct", "POSIXt");
  if (what == KIND_NUMBER || !known || (TYPEOF(x) != REALSXP && TYPEOF(x) != INTSXP)) return 0;
  put_numbers(x, col);
  col->tag = what == KIND_DATE ? "Date" : "POSIXct";
  return 1;
}

/* at[j]: the column of `given` that is called as needed[j]. 0: one is not there, or twice. */
static int find_columns(SEXP given, SEXP needed, R_xlen_t *at) {
  const R_xlen_t n = Rf_xlength(given), n_needed = Rf_xlength(needed);
  if (TYPEOF(given) != STRSXP || n < n_needed) return 0;
  const SEXP *name = STRING_PTR_RO(given), *want = STRING_PTR_RO(needed);
  R_xlen_t same = 0;
  while (same < n_needed && name[same] == want[same]) at[same] = same, same++;
  if ((double)n_needed * (double)(n - same) > MOST_COMPARISONS) return 0;
  for (R_xlen_t j = same; j < n_needed; j++) at[j] = -1;
  for (R_xlen_t k = same; k < n; k++)
    for (R_xlen_t j = 0; j < n_needed; j++) {
      if (name[k] != want[j]) continue;
      if (at[j] >= 0) return 0;
      at[j] = k;
    }
  for (R_xlen_t j = same; j < n_needed; j++)
    if (at[j] < 0) return 0;
  return 1;
}

static int plain_frame(SEXP x, SEXP names, const kind *kinds, gbt_column *cols, SEXP keep) {
  const R_xlen_t n = Rf_xlength(names);
  R_xlen_t *at = (R_xlen_t *)R_alloc((size_t)n, sizeof *at);
  if (!find_columns(Rf_getAttrib(x, R_NamesSymbol), names, at)) return 0;
  const R_xlen_t n_rows = Rf_xlength(Rf_getAttrib(x, R_RowNamesSymbol));
  for (R_xlen_t j = 0; j < n; j++) {
    SEXP column = VECTOR_ELT(x, at[j]);
    if (!put_column(column, kinds[j], &cols[j], keep, j) || Rf_xlength(column) != n_rows) return 0;
  }
  return (int)n_rows;
}

/* The columns of a matrix are numbers of these names, or have none. labels: the names of its rows and columns. */
static int are_columns(SEXP labels, SEXP names, const kind *kinds) {
  const R_xlen_t n = Rf_xlength(names);
  SEXP given = TYPEOF(labels) == VECSXP && Rf_xlength(labels) == 2 ? VECTOR_ELT(labels, 1) : R_NilValue;
  if (given != R_NilValue && (TYPEOF(given) != STRSXP || Rf_xlength(given) != n)) return 0;
  for (R_xlen_t j = 0; j < n; j++)
    if (kinds[j] != KIND_NUMBER || (given != R_NilValue && STRING_ELT(given, j) != STRING_ELT(names, j))) return 0;
  return 1;
}

static SEXP slot_of(SEXP x, const char *name) { return Rf_getAttrib(x, Rf_install(name)); }

/* Rows of a matrix, or 0. dim: its shape. */
static int rows_of(SEXP dim, R_xlen_t n_cols) {
  return TYPEOF(dim) == INTSXP && Rf_xlength(dim) == 2 && INTEGER_RO(dim)[1] == n_cols ? INTEGER_RO(dim)[0] : 0;
}

static int is_sparse(SEXP x) {
  return Rf_isS4(x) && (has_class(x, "dgCMatrix", NULL) || has_class(x, "lgCMatrix", NULL) ||
                        has_class(x, "ngCMatrix", NULL));
}

static int plain_sparse(SEXP x, SEXP names, const kind *kinds, gbt_column *cols) {
  const R_xlen_t n = Rf_xlength(names);
  SEXP p = slot_of(x, "p"), i = slot_of(x, "i"), labels = slot_of(x, "Dimnames");
  const int pattern = has_class(x, "ngCMatrix", NULL);
  SEXP values = pattern ? R_NilValue : slot_of(x, "x");
  const int n_rows = rows_of(slot_of(x, "Dim"), n);
  if (TYPEOF(labels) != VECSXP || Rf_xlength(labels) != 2 || !are_columns(labels, names, kinds)) return 0;
  SEXP own = VECTOR_ELT(labels, 0);
  if (own != R_NilValue && (TYPEOF(own) != STRSXP || Rf_xlength(own) != n_rows)) return 0;
  if (TYPEOF(p) != INTSXP || Rf_xlength(p) != n + 1 || TYPEOF(i) != INTSXP) return 0;
  const int type = has_class(x, "lgCMatrix", NULL) ? LGLSXP : REALSXP;
  if (!pattern && (TYPEOF(values) != type || Rf_xlength(values) != Rf_xlength(i))) return 0;
  const int *beg = INTEGER_RO(p);
  if (beg[0] != 0) return 0;
  for (R_xlen_t j = 0; j < n; j++) {
    if (beg[j + 1] < beg[j] || beg[j + 1] > Rf_xlength(i)) return 0;
    cols[j].type = GBT_NUMERIC;
    cols[j].storage = GBT_F64;
    cols[j].tag = "double";
    cols[j].rows = INTEGER_RO(i) + beg[j];
    cols[j].n_entries = beg[j + 1] - beg[j];
    if (pattern) continue;
    put_numbers(values, &cols[j]);
    cols[j].values = (const char *)cols[j].values + (size_t)beg[j] * (type == REALSXP ? 8 : 4);
  }
  return n_rows;
}

static int plain_matrix(SEXP x, SEXP names, const kind *kinds, gbt_column *cols) {
  const R_xlen_t n = Rf_xlength(names);
  const int n_rows = rows_of(Rf_getAttrib(x, R_DimSymbol), n);
  if (Rf_isObject(x) || n_rows == 0 || !are_columns(Rf_getAttrib(x, R_DimNamesSymbol), names, kinds)) return 0;
  for (R_xlen_t j = 0; j < n; j++) {
    put_numbers(x, &cols[j]);
    cols[j].values = (const char *)cols[j].values + (size_t)j * (size_t)n_rows * (TYPEOF(x) == REALSXP ? 8 : 4);
  }
  return n_rows;
}

int64_t r_plain_rows(SEXP x) {
  if (TYPEOF(x) == VECSXP) return Rf_xlength(x) > 0 ? (int64_t)Rf_xlength(VECTOR_ELT(x, 0)) : 0;
  SEXP dim = is_sparse(x) ? slot_of(x, "Dim") : is_number(x) ? Rf_getAttrib(x, R_DimSymbol) : R_NilValue;
  return TYPEOF(dim) == INTSXP && Rf_xlength(dim) == 2 ? INTEGER_RO(dim)[0] : 0;
}

int r_plain_has_levels(SEXP tags) {
  for (R_xlen_t j = 0; TYPEOF(tags) == STRSXP && j < Rf_xlength(tags); j++) {
    const kind its = kind_of_tag(CHAR(STRING_ELT(tags, j)));
    if (its == KIND_LEVELS || its == KIND_ORDERED) return 1;
  }
  return 0;
}

SEXP r_plain_table(SEXP x, SEXP names, SEXP tags, int absent_missing, gbt_table *out) {
  memset(out, 0, sizeof *out);
  if (TYPEOF(names) != STRSXP || TYPEOF(tags) != STRSXP || Rf_xlength(names) != Rf_xlength(tags)) return R_NilValue;
  const R_xlen_t n = Rf_xlength(names);
  if (n < 1 || n > 2147483647) return R_NilValue;
  gbt_column *cols = (gbt_column *)R_alloc((size_t)n, sizeof *cols);
  kind *kinds = (kind *)R_alloc((size_t)n, sizeof *kinds);
  memset(cols, 0, (size_t)n * sizeof *cols);
  for (R_xlen_t j = 0; j < n; j++) {
    SEXP name = STRING_ELT(names, j);
    kinds[j] = kind_of_tag(CHAR(STRING_ELT(tags, j)));
    if (kinds[j] == KIND_OTHER || !r_is_plain_text(name)) return R_NilValue;
    cols[j].name = CHAR(name);
  }
  SEXP keep = PROTECT(Rf_allocVector(VECSXP, n));
  int n_rows = 0;
  if (TYPEOF(x) == VECSXP && Rf_inherits(x, "data.frame") && !Rf_isS4(x))
    n_rows = plain_frame(x, names, kinds, cols, keep);
  else if (is_sparse(x))
    n_rows = plain_sparse(x, names, kinds, cols);
  else if (is_number(x))
    n_rows = plain_matrix(x, names, kinds, cols);
  *out = (gbt_table){.n_rows = n_rows, .n_cols = (int32_t)n, .cols = cols, .no_code_zero = 1,
                     .absent_missing = is_sparse(x) && absent_missing};
  UNPROTECT(1);
  return n_rows > 0 ? keep : R_NilValue;
}
