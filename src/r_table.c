/* A frame (R/data_encode.R) -> gbt_table: pointers into R's vectors, nothing copied. */
#include "r_gbt.h"

#include <string.h>

/* The SEXPTYPE that holds each storage; logical vectors are ints as well. */
static int fits(SEXP x, int storage) {
  switch (storage) {
  case GBT_F64:
  case GBT_I64:
    return TYPEOF(x) == REALSXP;
  case GBT_I32:
    return TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP;
  case GBT_CODES:
    return TYPEOF(x) == INTSXP;
  default:
    return 0;
  }
}

static const char *data_of(SEXP x) {
  switch (TYPEOF(x)) {
  case REALSXP:
    return (const char *)REAL_RO(x);
  case INTSXP:
    return (const char *)INTEGER_RO(x);
  case LGLSXP:
    return (const char *)LOGICAL_RO(x);
  default:
    return NULL;
  }
}

static size_t size_of(int storage) { return storage == GBT_F64 || storage == GBT_I64 ? 8 : 4; }

static const char *const *levels_of(SEXP levels, gbt_column *col) {
  if (TYPEOF(levels) != STRSXP && TYPEOF(levels) != REALSXP) r_stop("column `%s` has codes but no levels", col->name);
  R_xlen_t n = Rf_xlength(levels);
  if (n > 2147483647) r_stop("column `%s` has too many levels", col->name);
  col->n_levels = (int32_t)n;
  if (TYPEOF(levels) == REALSXP) return r_number_texts(levels);
  const char **out = (const char **)R_alloc((size_t)(n > 0 ? n : 1), sizeof *out);
  for (R_xlen_t i = 0; i < n; i++) {
    if (i % 65536 == 0) R_CheckUserInterrupt(); /* nothing is held */
    out[i] = r_utf8(STRING_ELT(levels, i));
  }
  return out;
}

/* skip: columns without a vector are in the matrix. */
static void put_vectors(SEXP values, SEXP levels, int skip, int64_t n_rows, gbt_column *cols, int32_t n_cols) {
  if (Rf_xlength(values) != n_cols) r_stop("`values` does not have one vector per column");
  for (int32_t j = 0; j < n_cols; j++) {
    SEXP v = VECTOR_ELT(values, j);
    if (skip && v == R_NilValue) continue;
    if (!fits(v, (int)cols[j].storage) || Rf_xlength(v) != n_rows)
      r_stop("column `%s` is not a vector of %.0f values of storage %d", cols[j].name, (double)n_rows,
             (int)cols[j].storage);
    cols[j].values = data_of(v);
    if (cols[j].storage == GBT_CODES)
      cols[j].levels =
          levels_of(TYPEOF(levels) == VECSXP && j < Rf_xlength(levels) ? VECTOR_ELT(levels, j) : R_NilValue, &cols[j]);
  }
}

static void put_matrix(SEXP x, SEXP values, int64_t n_rows, gbt_column *cols, int32_t n_cols) {
  if (Rf_xlength(x) != (R_xlen_t)(n_rows * n_cols)) r_stop("`matrix` does not have n_rows x n_columns values");
  const char *at = data_of(x);
  for (int32_t j = 0; j < n_cols; j++) {
    if (values != R_NilValue && VECTOR_ELT(values, j) != R_NilValue) continue;
    if (cols[j].storage == GBT_CODES || !fits(x, (int)cols[j].storage)) r_stop("`matrix` has the wrong type");
    cols[j].values = at + (size_t)j * (size_t)n_rows * size_of((int)cols[j].storage);
  }
}

static void put_sparse(SEXP frame, gbt_column *cols, int32_t n_cols) {
  SEXP p = r_need(frame, "p", INTSXP), i = r_need(frame, "i", INTSXP), x = r_item(frame, "x");
  if (Rf_xlength(p) != (R_xlen_t)n_cols + 1) r_stop("`p` must have one element more than there are columns");
  const int *beg = INTEGER_RO(p), *rows = INTEGER_RO(i);
  const char *values = x == R_NilValue ? NULL : data_of(x);
  if (x != R_NilValue && Rf_xlength(x) != Rf_xlength(i)) r_stop("`x` and `i` differ in length");
  if (beg[0] != 0) r_stop("`p` must begin with 0");
  for (int32_t j = 0; j < n_cols; j++) {
    if (beg[j + 1] < beg[j] || beg[j + 1] > Rf_xlength(i)) r_stop("`p` must ascend and end within `i`");
    if (x != R_NilValue && !fits(x, (int)cols[j].storage)) r_stop("`x` has the wrong type");
    cols[j].rows = rows + beg[j];
    cols[j].n_entries = beg[j + 1] - beg[j];
    cols[j].values = values == NULL ? NULL : values + (size_t)beg[j] * size_of((int)cols[j].storage);
  }
}

void r_table(SEXP frame, gbt_table *out) {
  memset(out, 0, sizeof *out);
  out->n_rows = r_arg_int64(r_item(frame, "n_rows"), "n_rows");
  out->no_code_zero = 1; /* what is missing in a factor is NA */
  out->absent_missing = Rf_asLogical(r_item(frame, "absent_missing")) == TRUE;
  SEXP names = r_need(frame, "names", STRSXP), tag = r_need(frame, "tag", STRSXP);
  SEXP type = r_need(frame, "type", INTSXP), storage = r_need(frame, "storage", INTSXP);
  R_xlen_t n = Rf_xlength(names);
  if (n > 2147483647 || Rf_xlength(tag) != n || Rf_xlength(type) != n || Rf_xlength(storage) != n)
    r_stop("the parts of a frame differ in length");
  SEXP derive = r_item(frame, "derive");
  if (derive != R_NilValue && (TYPEOF(derive) != INTSXP || Rf_xlength(derive) != n))
    r_stop("`derive` must have one integer per column");
  gbt_column *cols = (gbt_column *)R_alloc((size_t)(n > 0 ? n : 1), sizeof *cols);
  memset(cols, 0, (size_t)(n > 0 ? n : 1) * sizeof *cols);
  for (R_xlen_t j = 0; j < n; j++) {
    cols[j].name = r_utf8(STRING_ELT(names, j));
    cols[j].tag = r_utf8(STRING_ELT(tag, j));
    cols[j].type = (gbt_feature_type)INTEGER_RO(type)[j];
    cols[j].storage = (gbt_storage)INTEGER_RO(storage)[j];
    if (cols[j].name == NULL || cols[j].tag == NULL) r_stop("a frame's names must not be NA");
    if (derive != R_NilValue) cols[j].derive = (uint32_t)INTEGER_RO(derive)[j];
  }
  SEXP values = r_item(frame, "values"), matrix = r_item(frame, "matrix");
  if (values != R_NilValue || matrix != R_NilValue) {
    if (values != R_NilValue)
      put_vectors(values, r_item(frame, "levels"), matrix != R_NilValue, out->n_rows, cols, (int32_t)n);
    if (matrix != R_NilValue) put_matrix(matrix, values, out->n_rows, cols, (int32_t)n);
  } else {
    put_sparse(frame, cols, (int32_t)n);
  }
  out->n_cols = (int32_t)n;
  out->cols = cols;
}
