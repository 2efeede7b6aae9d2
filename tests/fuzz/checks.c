/* The checks of ../native/test.h for fuzzers: the first that does not hold ends the program, so that the input that led
 * there is kept. */
#include <stdarg.h>

#include "test.h"

static gbt_error err_record;
gbt_error *const test_err = &err_record;

static int hold(int ok, const char *file, int line, const char *text) {
  if (ok) return 1;
  fprintf(stderr, "FAILED (%s:%d): %s\n", file, line, text);
  abort();
}

int test_true(int ok, const char *file, int line, const char *text) { return hold(ok, file, line, text); }
int test_i64(int64_t a, int64_t b, const char *file, int line, const char *text) {
  return hold(a == b, file, line, text);
}
int test_u64(uint64_t a, uint64_t b, const char *file, int line, const char *text) {
  return hold(a == b, file, line, text);
}
int test_bits(double a, double b, const char *file, int line, const char *text) {
  return hold((isnan(a) && isnan(b)) || gbt_bits(a) == gbt_bits(b), file, line, text);
}
int test_text(const char *a, const char *b, const char *file, int line, const char *text) {
  return hold(strcmp(a, b) == 0, file, line, text);
}
int test_bytes(const void *a, const void *b, size_t n, const char *file, int line, const char *text) {
  return hold(n == 0 || memcmp(a, b, n) == 0, file, line, text);
}
int test_near(double a, double b, double tolerance, const char *file, int line, const char *text) {
  return hold(fabs(a - b) <= tolerance * fmax(1.0, fabs(b)), file, line, text);
}

int test_status(gbt_status got, gbt_status want, const char *part, const char *file, int line, const char *text) {
  if (got != want || (part != NULL && strstr(err_record.msg, part) == NULL))
    fprintf(stderr, "status %d, wanted %d, message \"%s\"\n", (int)got, (int)want, err_record.msg);
  return hold(got == want && (part == NULL || strstr(err_record.msg, part) != NULL), file, line, text);
}

void test_note(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vprintf(fmt, args);
  va_end(args);
  printf("\n");
}

void *test_alloc(size_t bytes) {
  void *block = malloc(bytes > 0 ? bytes : 1);
  if (block == NULL) abort();
  return block;
}

gbt_ctx test_ctx(const gbt_mem *mem, int n_threads) {
  gbt_ctx ctx;
  gbt_mem own = mem == NULL ? gbt_mem_default() : *mem;
  if (gbt_ctx_open(&ctx, own, n_threads, GBT_SIMD_AUTO, NULL, NULL, test_err) != GBT_OK) abort();
  return ctx;
}

void test_run(const char *name, void (*fn)(void)) {
  (void)name;
  fn();
}
