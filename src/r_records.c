/* Records in the bytes of a delimited text file: what R would do byte by byte in vectors of its own. */
#include "r_gbt.h"

#include <string.h>

static SEXP raw_arg(SEXP x) {
  if (TYPEOF(x) != RAWSXP) r_stop("`bytes` must be raw bytes");
  return x;
}

/* Where quotes are looked at: what separates fields, and whether byte i is within a quoted field. A field is quoted
 * when it begins with a quote, blanks before it apart; in it two quotes stand for one. Other quotes are bytes like
 * others, as they are for data.table::fread(). */
typedef struct quotes {
  const unsigned char *x;
  R_xlen_t start;  /* of the first field: after a byte order mark */
  R_xlen_t closed; /* the last quote that closed a field */
  R_xlen_t doubled; /* so far: two quotes that stand for one */
  int looks, open;
  unsigned char sep;
} quotes;

static quotes quotes_of(SEXP bytes, SEXP sep) {
  quotes q = {.x = RAW_RO(raw_arg(bytes)), .closed = -2, .looks = sep != R_NilValue};
  if (q.looks) {
    if (TYPEOF(sep) != STRSXP || Rf_xlength(sep) != 1 || LENGTH(STRING_ELT(sep, 0)) != 1)
      r_stop("`sep` must be one character");
    q.sep = (unsigned char)CHAR(STRING_ELT(sep, 0))[0];
  }
  if (Rf_xlength(bytes) >= 3 && memcmp(q.x, "\xef\xbb\xbf", 3) == 0) q.start = 3;
  return q;
}

/* Whether a field begins at byte i, or with blanks before it. Blanks are looked at once, as a quote ends them. */
static int begins_field(const quotes *q, R_xlen_t i) {
  while (i > q->start && (q->x[i - 1] == ' ' || q->x[i - 1] == '\t') && q->x[i - 1] != q->sep) i--;
  return i <= q->start || q->x[i - 1] == q->sep || q->x[i - 1] == '\n';
}

/* Byte i is a quote. */
static void take_quote(quotes *q, R_xlen_t i) {
  if (!q->looks) return;
  if (q->open) {
    q->open = 0;
    q->closed = i;
  } else if (q->closed == i - 1) {
    q->open = 1;
    q->doubled++;
  } else {
    q->open = begins_field(q, i);
  }
}

/* A record ends with a line end that is not within a quoted field. sep: what separates fields; NULL where quotes are
 * not looked at. Numbers: bytes up to the last end; records; blank ones, with nothing in them; line ends up to there;
 * zero bytes up to there; where the first record that is not blank begins and ends, in bytes before it, or NA; and
 * pairs of quotes that stand for one. */
SEXP r_gbt_records(SEXP bytes, SEXP sep) {
  quotes q = quotes_of(bytes, sep);
  const unsigned char *x = q.x;
  const R_xlen_t n = Rf_xlength(bytes);
  double out[8] = {0.0, 0.0, 0.0, 0.0, 0.0, NA_REAL, NA_REAL, 0.0};
  double lines = 0.0, zeros = 0.0;
  R_xlen_t beg = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    if (x[i] > '"') continue; /* most bytes */
    if (x[i] == '"') take_quote(&q, i);
    zeros += x[i] == 0;
    if (x[i] != '\n') continue;
    lines += 1.0;
    if (q.open) continue;
    const int blank = i == beg || (i == beg + 1 && x[beg] == '\r');
    if (!blank && ISNA(out[5])) {
      out[5] = (double)beg;
      out[6] = (double)(i + 1);
    }
    out[0] = (double)(i + 1);
    out[1] += 1.0;
    out[2] += blank;
    out[3] = lines;
    out[4] = zeros;
    beg = i + 1;
  }
  out[7] = (double)q.doubled;
  SEXP answer = Rf_allocVector(REALSXP, 8);
  memcpy(REAL(answer), out, sizeof out);
  return answer;
}

/* The end of the record that begins at byte beg, or -1 where it is not complete. */
static R_xlen_t record_end(quotes *q, R_xlen_t beg, R_xlen_t n) {
  for (R_xlen_t i = beg; i < n; i++) {
    if (q->x[i] == '"') take_quote(q, i);
    if (q->x[i] == '\n' && !q->open) return i + 1;
  }
  return -1;
}

static int is_blank(const unsigned char *x, R_xlen_t beg, R_xlen_t end) {
  return end == beg + 1 || (end == beg + 2 && x[beg] == '\r');
}

/* Which records are blank: one logical value for each. */
SEXP r_gbt_blank_records(SEXP bytes, SEXP sep) {
  const R_xlen_t n = Rf_xlength(bytes);
  quotes q = quotes_of(bytes, sep);
  R_xlen_t n_records = 0, at = 0;
  for (R_xlen_t beg = 0; (beg = record_end(&q, beg, n)) >= 0;) n_records++;
  SEXP out = Rf_allocVector(LGLSXP, n_records);
  q = quotes_of(bytes, sep);
  for (R_xlen_t beg = 0, end; (end = record_end(&q, beg, n)) >= 0; beg = end)
    LOGICAL(out)[at++] = is_blank(q.x, beg, end);
  return out;
}

/* The bytes without their blank records. */
SEXP r_gbt_drop_blank(SEXP bytes, SEXP sep) {
  const R_xlen_t n = Rf_xlength(bytes);
  quotes q = quotes_of(bytes, sep);
  SEXP room = PROTECT(Rf_allocVector(RAWSXP, n));
  R_xlen_t taken = 0;
  for (R_xlen_t beg = 0, end; (end = record_end(&q, beg, n)) >= 0; beg = end) {
    if (is_blank(q.x, beg, end)) continue;
    memcpy(RAW(room) + taken, q.x + beg, (size_t)(end - beg));
    taken += end - beg;
  }
  SEXP out = Rf_xlengthgets(room, taken);
  UNPROTECT(1);
  return out;
}

/* The bytes with one byte for what may be in a quoted field only: marks[0] for every pair of quotes that stands for
 * one, marks[1] for every line feed. */
SEXP r_gbt_mark_quoted(SEXP bytes, SEXP sep, SEXP marks) {
  const R_xlen_t n = Rf_xlength(bytes);
  quotes q = quotes_of(bytes, sep);
  if (Rf_xlength(raw_arg(marks)) != 2) r_stop("`marks` must be two bytes");
  SEXP room = PROTECT(Rf_allocVector(RAWSXP, n));
  unsigned char *to = RAW(room);
  R_xlen_t taken = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    const R_xlen_t before = q.doubled;
    if (q.x[i] == '"') take_quote(&q, i);
    if (q.doubled > before)
      to[taken - 1] = RAW_RO(marks)[0]; /* in place of the first of them */
    else
      to[taken++] = q.open && q.x[i] == '\n' ? RAW_RO(marks)[1] : q.x[i];
  }
  SEXP out = Rf_xlengthgets(room, taken);
  UNPROTECT(1);
  return out;
}

/* Bytes [beg, end), followed by those of `more`. */
SEXP r_gbt_bytes_join(SEXP bytes, SEXP beg, SEXP end, SEXP more) {
  const double from = Rf_asReal(beg), to = Rf_asReal(end);
  if (!(from >= 0.0 && to >= from && to <= (double)Rf_xlength(raw_arg(bytes)))) r_stop("there are no such bytes");
  const R_xlen_t n = (R_xlen_t)(to - from), m = Rf_xlength(raw_arg(more));
  SEXP out = Rf_allocVector(RAWSXP, n + m);
  if (n > 0) memcpy(RAW(out), RAW_RO(bytes) + (R_xlen_t)from, (size_t)n);
  if (m > 0) memcpy(RAW(out) + n, RAW_RO(more), (size_t)m);
  return out;
}
