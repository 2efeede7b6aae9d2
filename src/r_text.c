/* Texts by the million. R's own unique() and match() hash without a look at Ctrl-C, so this is done here, with one.
 *
 * R keeps every text once for each encoding (its cache of CHARSXPs): within one encoding, texts are equal where their
 * addresses are, and no character of them is read. A table of addresses, open addressing, at most half full:
 *   bucket[hash & mask], the next, ... = {address, code}, or {NULL, 0} where the search ends
 * It lies in memory of R (R_alloc), so that an interrupt may jump. */
#include "r_gbt.h"

#include <stdint.h>
#include <string.h>

enum { AT_ONCE = 1 << 16 }; /* texts between two looks at Ctrl-C: a few milliseconds */

typedef struct bucket {
  const void *text;
  int32_t code;
} bucket;

typedef struct table {
  bucket *buckets;
  uint64_t mask;
  int32_t n;
} table;

static void table_start(table *t, uint64_t size) {
  t->buckets = (bucket *)R_alloc((size_t)size, sizeof *t->buckets);
  memset(t->buckets, 0, (size_t)size * sizeof *t->buckets);
  t->mask = size - 1;
  t->n = 0;
}

/* The bucket of a text: its own, or the free one where it belongs. */
static bucket *table_find(const table *t, const void *text) {
  uint64_t hash = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u;
  for (uint64_t i = (hash >> 20) & t->mask;; i = (i + 1) & t->mask) {
    if (t->buckets[i].text == text || t->buckets[i].text == NULL) return &t->buckets[i];
  }
}

static void table_grow(table *t) {
  table old = *t;
  table_start(t, 2 * (old.mask + 1));
  t->n = old.n;
  for (uint64_t i = 0; i <= old.mask; i++) {
    if (i % AT_ONCE == 0) R_CheckUserInterrupt();
    if (old.buckets[i].text != NULL) *table_find(t, old.buckets[i].text) = old.buckets[i];
  }
}

/* The code of a text, 1, 2, ... in the order of first sight; *is_new: whether this is the first. */
static int32_t table_code(table *t, SEXP text, int *is_new) {
  bucket *s = table_find(t, text);
  *is_new = s->text == NULL;
  if (!*is_new) return s->code;
  if (2 * (uint64_t)(t->n + 1) > t->mask + 1) {
    table_grow(t);
    s = table_find(t, text);
  }
  s->text = text;
  s->code = ++t->n;
  return s->code;
}

/* Plain texts are ASCII or marked as UTF-8: two of them are equal only if they are one. */
int r_is_plain_text(SEXP text) {
  if (Rf_getCharCE(text) == CE_UTF8) return 1;
  const char *s = CHAR(text);
  for (R_xlen_t i = 0, n = Rf_xlength(text); i < n; i++) {
    if ((unsigned char)s[i] > 127) return 0;
  }
  return 1;
}

static void need_texts(SEXP x) {
  if (TYPEOF(x) != STRSXP) r_stop("texts are expected");
}

/* list(codes = int, texts = chr, plain = lgl): the different texts in order of appearance, and for each text the place
 * of its own, NA for NA. Texts in several encodings (plain is FALSE) may be equal and yet have two codes. */
SEXP r_gbt_text_codes(SEXP x) {
  static const char *parts[] = {"codes", "texts", "plain", ""};
  need_texts(x);
  R_xlen_t n = Rf_xlength(x), room = 1024;
  SEXP out = PROTECT(Rf_mkNamed(VECSXP, parts));
  SET_VECTOR_ELT(out, 0, Rf_allocVector(INTSXP, n));
  SET_VECTOR_ELT(out, 1, Rf_allocVector(STRSXP, room)); /* holds what the table has the addresses of */
  int *codes = INTEGER(VECTOR_ELT(out, 0)), plain = 1;
  table t;
  table_start(&t, 4096);
  for (R_xlen_t i = 0; i < n; i++) {
    if (i % AT_ONCE == 0) R_CheckUserInterrupt();
    SEXP text = PROTECT(STRING_ELT(x, i)); /* vectors of other packages may make it just now */
    int is_new = 0;
    codes[i] = text == NA_STRING ? NA_INTEGER : table_code(&t, text, &is_new);
    if (is_new) {
      if (t.n == 2147483647) r_stop("there are more texts than a factor can have levels");
      if (t.n > room) {
        room *= 2;
        SET_VECTOR_ELT(out, 1, Rf_xlengthgets(VECTOR_ELT(out, 1), room));
      }
      SET_STRING_ELT(VECTOR_ELT(out, 1), t.n - 1, text);
      plain = plain && r_is_plain_text(text);
    }
    UNPROTECT(1);
  }
  SET_VECTOR_ELT(out, 1, Rf_xlengthgets(VECTOR_ELT(out, 1), t.n));
  SET_VECTOR_ELT(out, 2, Rf_ScalarLogical(plain));
  UNPROTECT(1);
  return out;
}

R_xlen_t r_text_twin(SEXP x) {
  need_texts(x);
  R_xlen_t n = Rf_xlength(x);
  uint64_t size = 8;
  while (size < 2 * (uint64_t)n) size *= 2;
  table t;
  const SEXP *texts = STRING_PTR_RO(x); /* all are there from now on, so that addresses stay theirs */
  table_start(&t, size);
  for (R_xlen_t i = 0; i < n; i++) {
    int is_new;
    if (i % AT_ONCE == 0) R_CheckUserInterrupt();
    table_code(&t, texts[i], &is_new);
    if (!is_new) return i + 1;
  }
  return 0;
}

SEXP r_gbt_text_twin(SEXP x) { return Rf_ScalarReal((double)r_text_twin(x)); }
