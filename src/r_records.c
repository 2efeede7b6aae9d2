/* Records in the bytes of a delimited text file: what R would do byte by byte in vectors of its own. */
#include "r_gbt.h"

#include <string.h>

static SEXP raw_arg(SEXP x) {
  if (TYPEOF(x) != RAWSXP) r_stop("`bytes` must be raw bytes");
  return x;
}

/* A record ends with a line end that has an even number of quotes before it; where quotes are not looked at, with any.
 * Numbers: bytes up to the last end; records; blank ones, with nothing in them; line ends up to there; zero bytes up to
 * there; and where the first record that is not blank begins and ends, in bytes before it, or NA. */
SEXP r_gbt_records(SEXP bytes, SEXP quote) {
  const unsigned char *x = RAW_RO(raw_arg(bytes));
  const R_xlen_t n = Rf_xlength(bytes);
  const int looks = Rf_asLogical(quote) == TRUE;
  double out[7] = {0.0, 0.0, 0.0, 0.0, 0.0, NA_REAL, NA_REAL};
  double lines = 0.0, zeros = 0.0;
  R_xlen_t beg = 0;
  int open = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    if (x[i] > '"') continue; /* most bytes */
    if (x[i] == '"') open ^= looks;
    zeros += x[i] == 0;
    if (x[i] != '\n') continue;
    lines += 1.0;
    if (open) continue;
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
  SEXP answer = Rf_allocVector(REALSXP, 7);
  memcpy(REAL(answer), out, sizeof out);
  return answer;
}

/* Which records are blank: one logical value for each. */
SEXP r_gbt_blank_records(SEXP bytes, SEXP quote) {
  const unsigned char *x = RAW_RO(raw_arg(bytes));
  const R_xlen_t n = Rf_xlength(bytes);
  const int looks = Rf_asLogical(quote) == TRUE;
  R_xlen_t n_records = 0, beg = 0, at = 0;
  int open = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    open ^= looks && x[i] == '"';
    n_records += x[i] == '\n' && !open;
  }
  SEXP out = Rf_allocVector(LGLSXP, n_records);
  open = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    open ^= looks && x[i] == '"';
    if (x[i] != '\n' || open) continue;
    LOGICAL(out)[at++] = i == beg || (i == beg + 1 && x[beg] == '\r');
    beg = i + 1;
  }
  return out;
}

/* The bytes without their blank records. */
SEXP r_gbt_drop_blank(SEXP bytes, SEXP quote) {
  const unsigned char *x = RAW_RO(raw_arg(bytes));
  const R_xlen_t n = Rf_xlength(bytes);
  const int looks = Rf_asLogical(quote) == TRUE;
  SEXP room = PROTECT(Rf_allocVector(RAWSXP, n));
  unsigned char *to = RAW(room);
  R_xlen_t beg = 0, taken = 0;
  int open = 0;
  for (R_xlen_t i = 0; i < n; i++) {
    open ^= looks && x[i] == '"';
    if (x[i] != '\n' || open) continue;
    if (i != beg && (i != beg + 1 || x[beg] != '\r')) {
      memcpy(to + taken, x + beg, (size_t)(i + 1 - beg));
      taken += i + 1 - beg;
    }
    beg = i + 1;
  }
  SEXP out = Rf_xlengthgets(room, taken);
  UNPROTECT(1);
  return out;
}

/* Bytes [beg, end), and those of `more` behind them. */
SEXP r_gbt_bytes_join(SEXP bytes, SEXP beg, SEXP end, SEXP more) {
  const double from = Rf_asReal(beg), to = Rf_asReal(end);
  if (!(from >= 0.0 && to >= from && to <= (double)Rf_xlength(raw_arg(bytes)))) r_stop("there are no such bytes");
  const R_xlen_t n = (R_xlen_t)(to - from), m = Rf_xlength(raw_arg(more));
  SEXP out = Rf_allocVector(RAWSXP, n + m);
  if (n > 0) memcpy(RAW(out), RAW_RO(bytes) + (R_xlen_t)from, (size_t)n);
  if (m > 0) memcpy(RAW(out) + n, RAW_RO(more), (size_t)m);
  return out;
}
