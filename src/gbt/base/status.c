/* Filling the error record. Texts are built aside first, so that a message may quote the record it replaces. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The longest n' <= n that does not end inside a UTF-8 character of s. */
static size_t whole_chars(const char *s, size_t n) {
  size_t beg = n;
  while (beg > 0 && n - beg < 3 && ((unsigned char)s[beg - 1] & 0xc0u) == 0x80u) beg--;
  if (beg == 0) return n;
  unsigned char lead = (unsigned char)s[beg - 1];
  size_t need = lead >= 0xf0u ? 4 : lead >= 0xe0u ? 3 : lead >= 0xc0u ? 2 : 1;
  return need > 1 && n - (beg - 1) < need ? beg - 1 : n;
}

/* Copies as much of s as fits. dst and s may overlap. */
static void copy_text(char *dst, size_t cap, const char *s) {
  size_t n = strlen(s);
  if (n >= cap) n = whole_chars(s, cap - 1);
  memmove(dst, s, n);
  dst[n] = 0;
}

static gbt_status GBT_PRINTF(4, 0)
    fill(gbt_error *err, gbt_status code, const char *subject, const char *fmt, va_list args) {
  if (err == NULL) return code;
  char msg[sizeof err->msg + 4]; /* longer than the record: what is cut here is cut there too, between characters */
  if (vsnprintf(msg, sizeof msg, fmt, args) < 0) copy_text(msg, sizeof msg, fmt);
  err->code = code;
  err->cpu_can = 0;
  err->ranks_know = 0;
  err->host[0] = 0;
  copy_text(err->subject, sizeof err->subject, subject == NULL ? "" : subject);
  copy_text(err->msg, sizeof err->msg, msg);
  return code;
}

gbt_status gbt_fail(gbt_error *err, gbt_status code, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  fill(err, code, "", fmt, args);
  va_end(args);
  return code;
}

gbt_status gbt_fail_on(gbt_error *err, gbt_status code, const char *subject, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  fill(err, code, subject, fmt, args);
  va_end(args);
  return code;
}

gbt_status gbt_fail_device(gbt_error *err, gbt_status code, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  fill(err, code, "device", fmt, args);
  va_end(args);
  if (err != NULL) err->cpu_can = 1;
  return code;
}

gbt_status gbt_fail_host(gbt_error *err, gbt_status code, const char *subject, const char *msg, const char *host) {
  gbt_fail_on(err, code, subject, "%s", msg);
  if (err != NULL) copy_text(err->host, sizeof err->host, host);
  return code;
}

gbt_status gbt_fail_mem(gbt_error *err, size_t bytes) {
  if (bytes < ((size_t)1 << 20)) return gbt_fail(err, GBT_E_MEM, "out of memory: %zu bytes were asked for", bytes);
  return gbt_fail(err, GBT_E_MEM, "out of memory: %zu bytes (%.1f MB) were asked for", bytes,
                  (double)bytes / (1024.0 * 1024.0));
}

const char *gbt_status_name(int status) {
  switch ((gbt_status)status) {
  case GBT_OK:
    return "ok";
  case GBT_E_ARG:
    return "argument";
  case GBT_E_DATA:
    return "data";
  case GBT_E_MEM:
    return "memory";
  case GBT_E_DEVICE:
    return "device";
  case GBT_E_FORMAT:
    return "format";
  case GBT_E_IO:
    return "io";
  case GBT_E_UNSUPPORTED:
    return "unsupported";
  case GBT_E_INTERNAL:
    return "internal";
  case GBT_CANCELLED:
    return "cancelled";
  }
  return NULL;
}
