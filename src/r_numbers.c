/* Whole numbers as categories: every different number gets a code in one pass over the column, and a text when the
 * engine is called, without a text of R's. The text is the number's decimal digits, whatever R's options and the locale
 * say: it is what predictions are matched by.
 *
 * A table of numbers, open addressing, at most half full:
 *   bucket[hash & mask], the next, ... = {number, code}, or code 0 where the search ends
 * It lies in memory of R (R_alloc), so that an interrupt may jump. */
#include "r_gbt.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { AT_ONCE = 1 << 16 }; /* numbers between two looks at Ctrl-C: a few milliseconds */

typedef struct bucket {
  int64_t number;
  int32_t code;
} bucket;

typedef struct table {
  bucket *buckets;
  uint64_t mask;
  int64_t *number; /* by code - 1, room for half the buckets */
  int32_t n;
} table;

static void table_start(table *t, uint64_t size) {
  t->buckets = (bucket *)R_alloc((size_t)size, sizeof *t->buckets);
  t->number = (int64_t *)R_alloc((size_t)size / 2, sizeof *t->number);
  memset(t->buckets, 0, (size_t)size * sizeof *t->buckets);
  t->mask = size - 1;
  t->n = 0;
}

/* The bucket of a number: its own, or the free one where it belongs. Numbers that follow each other, or that are
 * multiples of a power of two, must not meet in one place, so high bits come down. */
static bucket *table_find(const table *t, int64_t number) {
  uint64_t hash = (uint64_t)number * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
  for (uint64_t i = (hash ^ hash >> 32) & t->mask;; i = (i + 1) & t->mask)
    if (t->buckets[i].code == 0 || t->buckets[i].number == number) return &t->buckets[i];
}

static void table_grow(table *t) {
  const table old = *t;
  table_start(t, 2 * (old.mask + 1));
  for (int32_t k = 0; k < old.n; k++) {
    if (k % AT_ONCE == 0) R_CheckUserInterrupt();
    *table_find(t, old.number[k]) = (bucket){old.number[k], k + 1};
    t->number[k] = old.number[k];
  }
  t->n = old.n;
}

/* 1, 2, ... in the order of first sight. */
static int32_t table_code(table *t, int64_t number) {
  bucket *b = table_find(t, number);
  if (b->code != 0) return b->code;
  if (2 * (uint64_t)(t->n + 1) > t->mask + 1) {
    if (t->n == 2147483646) r_stop("there are more numbers than a factor can have levels");
    table_grow(t);
    b = table_find(t, number);
  }
  t->number[t->n++] = number;
  *b = (bucket){number, t->n};
  return t->n;
}

enum { IS_WHOLE = 0, IS_MISSING, NOT_WHOLE };

/* Number i of a column, as gbt_storage says how it lies. */
static int number_at(const void *x, int storage, R_xlen_t i, int64_t *number) {
  if (storage == GBT_I32) {
    *number = ((const int *)x)[i];
    return ((const int *)x)[i] == NA_INTEGER ? IS_MISSING : IS_WHOLE;
  }
  if (storage == GBT_I64) {
    memcpy(number, (const char *)x + (size_t)i * sizeof *number, sizeof *number);
    return *number == INT64_MIN ? IS_MISSING : IS_WHOLE;
  }
  const double d = ((const double *)x)[i];
  if (d != d) return IS_MISSING;
  if (!(fabs(d) < 9223372036854775808.0) || d != floor(d)) return NOT_WHOLE;
  *number = (int64_t)d;
  return IS_WHOLE;
}

/* list(codes = int, numbers = dbl, bad = dbl): the code of each number of x, NA for a missing one; the numbers of the
 * codes, in order of appearance, as the bits of 64-bit integers; the place (from 1) of the first that is no whole
 * number below 2^63, 0 when there is none. x: doubles, integers or logical values; storage: enums$storage, "integer64"
 * for the bits of one. */
SEXP r_gbt_number_codes(SEXP x, SEXP storage) {
  static const char *parts[] = {"codes", "numbers", "bad", ""};
  const int kind = Rf_asInteger(storage);
  const int is_double = TYPEOF(x) == REALSXP && (kind == GBT_F64 || kind == GBT_I64);
  if (!is_double && !((TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP) && kind == GBT_I32)) r_stop("numbers are expected");
  const R_xlen_t n = Rf_xlength(x);
  const void *from = is_double ? (const void *)REAL_RO(x) : TYPEOF(x) == INTSXP ? INTEGER_RO(x) : LOGICAL_RO(x);
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, n));
  int *codes = INTEGER(VECTOR_ELT(out, 0));
  R_xlen_t bad = 0;
  table t;
  table_start(&t, 4096);
  for (R_xlen_t i = 0; i < n && bad == 0; i++) {
    int64_t number = 0;
    if (i % AT_ONCE == 0) R_CheckUserInterrupt();
    const int what = number_at(from, kind, i, &number);
    codes[i] = what == IS_WHOLE ? table_code(&t, number) : NA_INTEGER;
    if (what == NOT_WHOLE) bad = i + 1;
  }
  SET_VECTOR_ELT(out, 1, Rf_allocVector(REALSXP, t.n));
  if (t.n > 0) memcpy(REAL(VECTOR_ELT(out, 1)), t.number, (size_t)t.n * sizeof *t.number);
  SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)bad));
  UNPROTECT(1);
  return out;
}

/* The decimal digits of a number to the end of `room`; returns where they begin. */
static const char *put_digits(int64_t number, char *end) {
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  char *at = end;
  *--at = 0;
  do *--at = (char)('0' + rest % 10);
  while ((rest /= 10) > 0);
  if (number < 0) *--at = '-';
  return at;
}

const char *const *r_number_texts(SEXP numbers) {
  enum { MOST_CHARS = 21 }; /* "-9223372036854775808" and its 0 */
  const double *from = REAL_RO(numbers);
  const R_xlen_t n = Rf_xlength(numbers);
  const char **out = (const char **)R_alloc((size_t)(n > 0 ? n : 1), sizeof *out);
  size_t n_chars = 0;
  for (int pass = 0; pass < 2; pass++) { /* pass 0 measures the texts, pass 1 writes them contiguously */
    char *to = pass ? R_alloc(n_chars > 0 ? n_chars : 1, 1) : NULL;
    for (R_xlen_t i = 0; i < n; i++) {
      char room[MOST_CHARS];
      int64_t number;
      if (i % AT_ONCE == 0) R_CheckUserInterrupt();
      memcpy(&number, &from[i], sizeof number);
      const char *digits = put_digits(number, room + sizeof room);
      const size_t length = (size_t)(room + sizeof room - digits);
      if (pass) {
        memcpy(to, digits, length);
        out[i] = to;
        to += length;
      } else {
        n_chars += length;
      }
    }
  }
  return out;
}
