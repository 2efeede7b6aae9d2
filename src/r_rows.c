/* Rows: which are held out for validation, taking some of them, and the most probable class of each. Long loops with a
 * look at Ctrl-C, which R's own have not. What they need lies in memory of R, so that an interrupt may jump. */
#include "r_gbt.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { AT_ONCE = 1 << 16 }; /* steps between two looks at Ctrl-C */

static void look(R_xlen_t step) {
  if (step % AT_ONCE == 0) R_CheckUserInterrupt();
}

/* ---- rows held out ---- */

#define MASK31 0x7fffffffu

/* Multiply and xor-shift, twice: a bijection of [0, 2^31). */
static uint32_t mix31(uint32_t x) {
  x ^= x >> 16;
  x = (x * 0x21f0aaadu) & MASK31;
  x ^= x >> 15;
  x = (x * 0x735a2d97u) & MASK31;
  return x ^ (x >> 15);
}

/* 31 bits per row, of the seed and the row's number from 1. Rows get different numbers. */
static uint32_t row_draw(uint32_t key, int64_t row) { return mix31(mix31((uint32_t)(row + key) & MASK31) ^ key); }

static uint32_t key_of_seed(double seed) {
  uint64_t s = (uint64_t)seed;
  uint32_t key = mix31((uint32_t)(s & MASK31));
  return mix31((uint32_t)((key + (s >> 31)) & MASK31));
}

static void swap(uint32_t *a, uint32_t *b) {
  uint32_t t = *a;
  *a = *b;
  *b = t;
}

/* The k-th smallest (from 0) of n different numbers, by quickselect; their order is lost. Draws are in no order that
 * an attacker could choose, so the middle one is a fair pivot. */
static uint32_t kth_smallest(uint32_t *x, R_xlen_t n, R_xlen_t k) {
  R_xlen_t beg = 0, end = n;
  while (end - beg > 1) {
    swap(&x[beg + (end - beg) / 2], &x[end - 1]);
    uint32_t pivot = x[end - 1];
    R_xlen_t at = beg;
    for (R_xlen_t i = beg; i < end - 1; i++) {
      look(i);
      if (x[i] < pivot) swap(&x[i], &x[at++]);
    }
    swap(&x[at], &x[end - 1]);
    if (at == k) break;
    if (k < at)
      end = at;
    else
      beg = at + 1;
  }
  return x[k];
}

/* Of every class the largest draw that is held out, -1 for none. draws: of all rows, class after class. */
static int64_t *last_held(uint32_t *draws, const R_xlen_t *beg, int32_t n_classes, double share) {
  int64_t *last = (int64_t *)R_alloc((size_t)n_classes, sizeof *last);
  for (int32_t c = 0; c < n_classes; c++) {
    R_xlen_t n = beg[c + 1] - beg[c], k = (R_xlen_t)nearbyint(share * (double)n);
    if (k > n - 1) k = n - 1;
    look(c);
    last[c] = k > 0 ? (int64_t)kth_smallest(draws + beg[c], n, k - 1) : -1;
  }
  return last;
}

/* Ranks of all rows, class after class; beg: where each class begins. */
static uint32_t *draws_by_class(uint32_t key, const double *class, R_xlen_t n, R_xlen_t *beg, int32_t n_classes) {
  uint32_t *draws = (uint32_t *)R_alloc((size_t)n, sizeof *draws);
  R_xlen_t *at = (R_xlen_t *)R_alloc((size_t)n_classes, sizeof *at);
  memset(beg, 0, ((size_t)n_classes + 1) * sizeof *beg);
  for (R_xlen_t i = 0; i < n; i++) {
    look(i);
    beg[(class == NULL ? 0 : (int32_t) class[i]) + 1]++;
  }
  for (int32_t c = 0; c < n_classes; c++) {
    beg[c + 1] += beg[c];
    at[c] = beg[c];
  }
  for (R_xlen_t i = 0; i < n; i++) {
    look(i);
    draws[at[class == NULL ? 0 : (int32_t) class[i]]++] = row_draw(key, i + 1);
  }
  return draws;
}

/* The number of classes, when there are any. */
static int32_t count_classes(const double *class, R_xlen_t n) {
  double most = 0;
  for (R_xlen_t i = 0; class != NULL && i < n; i++) {
    look(i);
    if (!(class[i] >= 0 && class[i] < 2147483647)) r_stop("a class must be a number from 0");
    if (class[i] > most) most = class[i];
  }
  return (int32_t)most + 1;
}

static int is_held(uint32_t key, const double *class, const int64_t *last, int row) {
  look(row);
  return row_draw(key, (int64_t)row + 1) <= last[class == NULL ? 0 : (int32_t) class[row]];
}

static int lowest_draw(uint32_t key, int n) {
  int first = 0;
  for (int i = 1; i < n; i++) {
    look(i);
    if (row_draw(key, (int64_t)i + 1) < row_draw(key, (int64_t)first + 1)) first = i;
  }
  return first;
}

/* list(held, kept): numbers of rows from 1, ascending. class: doubles 0, 1, ..., or NULL. n is 2 or more. */
SEXP r_gbt_hold_out(SEXP n_rows, SEXP share, SEXP seed, SEXP class) {
  static const char *parts[] = {"held", "kept", ""};
  int n = r_arg_int(n_rows, "n");
  double part = r_arg_real(share, "share");
  uint32_t key = key_of_seed((double)r_arg_int64(seed, "seed"));
  const double *classes = r_arg_reals(class, n, "class");
  if (n < 2 || !(part > 0 && part < 1)) r_stop("no share of these rows can be held out");
  int32_t n_classes = count_classes(classes, n);
  R_xlen_t *beg = (R_xlen_t *)R_alloc((size_t)n_classes + 1, sizeof *beg);
  uint32_t *draws = draws_by_class(key, classes, n, beg, n_classes);
  int64_t *last = last_held(draws, beg, n_classes, part);
  int n_held = 0, first = -1;
  for (int i = 0; i < n; i++) n_held += is_held(key, classes, last, i);
  if (n_held == 0) first = lowest_draw(key, n); /* a share of nothing but small classes: then one row */
  n_held += first >= 0;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, n_held));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n - n_held));
  int *held = INTEGER(VECTOR_ELT(out, 0)), *kept = INTEGER(VECTOR_ELT(out, 1));
  for (int i = 0; i < n; i++) *(i == first || is_held(key, classes, last, i) ? held++ : kept++) = i + 1;
  UNPROTECT(1);
  return out;
}

/* For each of n rows after the first `before` a number below 2^31, a hash of the seed and the row. */
SEXP r_gbt_row_draws(SEXP n_rows, SEXP seed, SEXP before) {
  const int n = r_arg_int(n_rows, "n");
  const int64_t beg = r_arg_int64(before, "before");
  const uint32_t key = key_of_seed((double)r_arg_int64(seed, "seed"));
  if (n < 0) r_stop("there is no such number of rows");
  SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
  int *draw = INTEGER(out);
  for (int i = 0; i < n; i++) {
    look(i);
    draw[i] = (int)row_draw(key, beg + i + 1);
  }
  UNPROTECT(1);
  return out;
}

/* ---- rows drawn with replacement ---- */

static uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* How often each of n units is drawn when n are drawn with replacement: integers. The same for a seed and a replicate
 * on any machine. */
SEXP r_gbt_resample(SEXP n_units, SEXP seed, SEXP replicate) {
  const int n = r_arg_int(n_units, "n");
  if (n < 0) r_stop("there is no such number of units");
  const uint64_t of_seed = mix64((uint64_t)r_arg_int64(seed, "seed"));
  const uint64_t key = mix64(of_seed + (uint64_t)r_arg_int64(replicate, "replicate"));
  SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
  int *count = INTEGER(out);
  for (int i = 0; i < n; i++) count[i] = 0;
  for (int i = 0; i < n; i++) {
    look(i);
    const uint64_t draw = mix64(key + ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u);
    count[((draw >> 32) * (uint64_t)n) >> 32]++;
  }
  UNPROTECT(1);
  return out;
}

/* ---- some of the rows ---- */

static const int *rows_arg(SEXP rows, R_xlen_t n) {
  if (TYPEOF(rows) != INTSXP) r_stop("`rows` must be integers");
  const int *row = INTEGER_RO(rows);
  for (R_xlen_t i = 0; i < Rf_xlength(rows); i++) {
    look(i);
    if (row[i] < 1 || row[i] > n) r_stop("there is no such row");
  }
  return row;
}

static void take_column(SEXP x, R_xlen_t from, SEXP out, R_xlen_t to, const int *row, R_xlen_t n) {
  for (R_xlen_t beg = 0; beg < n; beg += AT_ONCE) {
    R_xlen_t end = n - beg < AT_ONCE ? n : beg + AT_ONCE;
    if (end - beg == AT_ONCE) R_CheckUserInterrupt();
    if (TYPEOF(x) == REALSXP) {
      const double *values = REAL_RO(x) + from;
      double *taken = REAL(out) + to;
      for (R_xlen_t i = beg; i < end; i++) taken[i] = values[row[i] - 1];
    } else if (TYPEOF(x) == STRSXP) {
      for (R_xlen_t i = beg; i < end; i++) SET_STRING_ELT(out, to + i, STRING_ELT(x, from + row[i] - 1));
    } else {
      const int *values = (TYPEOF(x) == LGLSXP ? LOGICAL_RO(x) : INTEGER_RO(x)) + from;
      int *taken = (TYPEOF(x) == LGLSXP ? LOGICAL(out) : INTEGER(out)) + to;
      for (R_xlen_t i = beg; i < end; i++) taken[i] = values[row[i] - 1];
    }
  }
}

/* x[rows] of a vector, x[rows, ] of a matrix, with no attributes but the dimensions. */
SEXP r_gbt_take(SEXP x, SEXP rows) {
  int type = TYPEOF(x);
  if (type != REALSXP && type != INTSXP && type != LGLSXP && type != STRSXP) r_stop("no vector to take rows of");
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  int is_matrix = Rf_xlength(dim) == 2;
  R_xlen_t n = is_matrix ? INTEGER_RO(dim)[0] : Rf_xlength(x), k = is_matrix ? INTEGER_RO(dim)[1] : 1;
  R_xlen_t m = Rf_xlength(rows);
  if (m > 2147483647) r_stop("there are too many rows");
  const int *row = rows_arg(rows, n);
  SEXP out = PROTECT(is_matrix ? Rf_allocMatrix((SEXPTYPE)type, (int)m, (int)k) : Rf_allocVector((SEXPTYPE)type, m));
  for (R_xlen_t j = 0; j < k; j++) {
    if (j % 64 == 0) R_CheckUserInterrupt();
    take_column(x, j * n, out, j * m, row, m);
  }
  UNPROTECT(1);
  return out;
}

/* Of every row its place in `rows` from 0, or -1; NULL when these do not ascend. */
static const int *places_of(const int *rows, R_xlen_t n, int n_rows) {
  int *place = (int *)R_alloc((size_t)n_rows + 1, sizeof *place);
  for (int r = 0; r < n_rows; r++) place[r] = -1;
  for (R_xlen_t i = 0; i < n; i++) {
    look(i);
    if (i > 0 && rows[i] <= rows[i - 1]) return NULL;
    place[rows[i] - 1] = (int)i;
  }
  return place;
}

/* How many entries of a sparse matrix are in the rows taken; -1 when its entries are not as they must be. */
static R_xlen_t count_taken(const int *p, const int *i, int n_cols, const int *place, int n_rows) {
  R_xlen_t n = 0;
  for (int c = 0; c < n_cols; c++) {
    look(c);
    for (int e = p[c]; e < p[c + 1]; e++) {
      look(e);
      if (i[e] < 0 || i[e] >= n_rows || (e > p[c] && i[e] <= i[e - 1])) return -1;
      n += place[i[e]] >= 0;
    }
  }
  return n;
}

/* x[rows, ] of a sparse matrix by columns, of which R has checked the shape: list(p, i, at), where `at` are the places
 * of its entries among those of x, from 1. NULL when rows do not ascend or entries are not as they must be. */
SEXP r_gbt_take_sparse(SEXP p, SEXP i, SEXP n_rows, SEXP rows) {
  static const char *parts[] = {"p", "i", "at", ""};
  if (TYPEOF(p) != INTSXP || TYPEOF(i) != INTSXP || Rf_xlength(p) < 1) r_stop("no sparse matrix to take rows of");
  int n = r_arg_int(n_rows, "n_rows"), n_cols = (int)Rf_xlength(p) - 1;
  const int *beg = INTEGER_RO(p), *row = INTEGER_RO(i);
  const int *taken = rows_arg(rows, n);
  const int *place = places_of(taken, Rf_xlength(rows), n);
  R_xlen_t n_taken = place == NULL ? -1 : count_taken(beg, row, n_cols, place, n);
  if (n_taken < 0) return R_NilValue;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, Rf_xlength(p)));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, n_taken));
  SET_VECTOR_ELT(out, 2, Rf_allocVector(INTSXP, n_taken));
  int *to_p = INTEGER(VECTOR_ELT(out, 0)), *to_i = INTEGER(VECTOR_ELT(out, 1)), *at = INTEGER(VECTOR_ELT(out, 2));
  int k = 0;
  to_p[0] = 0;
  for (int c = 0; c < n_cols; c++) {
    look(c);
    for (int e = beg[c]; e < beg[c + 1]; e++) {
      look(e);
      if (place[row[e]] < 0) continue;
      to_i[k] = place[row[e]];
      at[k++] = e + 1;
    }
    to_p[c + 1] = k;
  }
  UNPROTECT(1);
  return out;
}
