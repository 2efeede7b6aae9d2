/* Pieces of text.h: numbers by decimal.h, without the host's locale. */
#include "text.h"

#include <stdio.h>
#include <string.h>

#include "../base/bits.h"
#include "decimal.h"

void gbti_put_bytes(gbti_file *out, const void *bytes, size_t n) {
  if (out->status != GBT_OK || n == 0) return;
  out->status = gbt_mem_grow(&out->mem, &out->at, &out->cap, out->n + n, 1, out->err);
  if (out->status != GBT_OK) return;
  memcpy(out->at + out->n, bytes, n);
  out->n += n;
}

void gbti_put(gbti_file *out, const char *text) { gbti_put_bytes(out, text, strlen(text)); }

void gbti_put_whole(gbti_file *out, int64_t x) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)x);
  gbti_put(out, text);
}

/* Infinities and NaN; 1 when x is one of them. */
static int put_odd(gbti_file *out, double x) {
  if (x - x == 0.0) return 0;
  gbti_put(out, x != x ? "nan" : x > 0.0 ? "inf" : "-inf");
  return 1;
}

/* n figures, the first of which is for 10^exponent. */
static void put_figures(gbti_file *out, const char *figure, int n, int exponent) {
  char text[48];
  int at = 0;
  if (exponent >= -5 && exponent < 0) {
    text[at++] = '0';
    text[at++] = '.';
    for (int i = -1; i > exponent; i--) text[at++] = '0';
    memcpy(text + at, figure, (size_t)n);
    at += n;
  } else if (exponent >= 0 && exponent < 17) {
    for (int i = 0; i < n || i <= exponent; i++) {
      if (i == exponent + 1) text[at++] = '.';
      text[at++] = i < n ? figure[i] : '0';
    }
  } else {
    text[at++] = figure[0];
    if (n > 1) text[at++] = '.';
    memcpy(text + at, figure + 1, (size_t)n - 1);
    at += n - 1;
    at += snprintf(text + at, sizeof text - (size_t)at, "e%s%02d", exponent < 0 ? "-" : "+",
                   exponent < 0 ? -exponent : exponent);
  }
  gbti_put_bytes(out, text, (size_t)at);
}

static void put_number(gbti_file *out, double x, int as_float) {
  char figure[GBTI_FIGURES];
  int exponent;
  if (put_odd(out, x)) return;
  if (gbt_bits(x) >> 63) gbti_put(out, "-");
  if (x == 0.0) {
    gbti_put(out, "0");
    return;
  }
  const int n = gbti_shortest(x < 0.0 ? -x : x, as_float, figure, &exponent);
  put_figures(out, figure, n, exponent);
}

void gbti_put_double(gbti_file *out, double x) { put_number(out, x, 0); }
void gbti_put_float(gbti_file *out, float x) { put_number(out, (double)x, 1); }

void gbti_put_hex(gbti_file *out, double x) {
  static const char digit[] = "0123456789abcdef";
  const uint64_t u = gbt_bits(x), fraction = u & (((uint64_t)1 << 52) - 1);
  const int field = (int)(u >> 52 & 0x7ff);
  char text[40];
  int at = 0, n = 13;
  if (u >> 63) text[at++] = '-';
  text[at++] = '0';
  text[at++] = 'x';
  text[at++] = field > 0 ? '1' : '0';
  while (n > 0 && (fraction >> (52 - 4 * n) & 15u) == 0) n--;
  if (n > 0) text[at++] = '.';
  for (int i = 0; i < n; i++) text[at++] = digit[fraction >> (48 - 4 * i) & 15u];
  const int exponent = x == 0.0 ? 0 : field > 0 ? field - 1023 : -1022;
  at += snprintf(text + at, sizeof text - (size_t)at, "p%+d", exponent);
  gbti_put_bytes(out, text, (size_t)at);
}

void gbti_put_json(gbti_file *out, const char *text) {
  char code[8];
  gbti_put(out, "\"");
  for (const char *at = text; *at != 0; at++) {
    const uint8_t b = (uint8_t)*at;
    if (b == '"' || b == '\\') {
      gbti_put(out, b == '"' ? "\\\"" : "\\\\");
    } else if (b < 0x20 || b == 0x7f) {
      snprintf(code, sizeof code, "\\u%04x", b);
      gbti_put(out, code);
    } else {
      gbti_put_bytes(out, at, 1);
    }
  }
  gbti_put(out, "\"");
}

/* Octal numbers have three digits, so that a digit after them is none of theirs; "??" could begin a trigraph. */
void gbti_put_c(gbti_file *out, const char *text) {
  char code[8];
  gbti_put(out, "\"");
  for (const char *at = text; *at != 0; at++) {
    const uint8_t b = (uint8_t)*at;
    if (b == '"' || b == '\\' || b == '?') {
      code[0] = '\\';
      code[1] = (char)b;
      gbti_put_bytes(out, code, 2);
    } else if (b < 0x20 || b >= 0x7f) {
      snprintf(code, sizeof code, "\\%03o", b);
      gbti_put(out, code);
    } else {
      gbti_put_bytes(out, at, 1);
    }
  }
  gbti_put(out, "\"");
}

void gbti_put_named(gbti_file *out, const char *name, const char *text) {
  for (const char *at = text; *at != 0;) {
    const size_t n = strcspn(at, "@");
    gbti_put_bytes(out, at, n);
    at += n;
    if (*at == '@') {
      gbti_put(out, name);
      at++;
    }
  }
}
