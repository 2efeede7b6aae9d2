/* Runs all suites, or those named: `gbt_test [suite | suite/test]...`. Ends with "N passed, N failed"; the exit status
 * is 0 when none failed. */
#define _POSIX_C_SOURCE 200809L
#include "chunks.h"
#include "port.h"
#include "simd_switch.h"
#include "stores.h"
#include "test.h"

#include <stdarg.h>
#include <time.h>

#define SUITE(name) void suite_##name(void);
#include "suites.h"
#undef SUITE

typedef struct suite {
  const char *name;
  void (*fn)(void);
} suite;

static const suite suites[] = {
#define SUITE(name) {#name, suite_##name},
#include "suites.h"
#undef SUITE
};
enum {
  N_SUITES = sizeof suites / sizeof suites[0],
  SHOWN = 5,
  SUITE_SECONDS = 1200,
  SLOW_SECONDS = 2 /* of the processor: tests that take longer are reported */
};

static struct {
  const char *suite, *only; /* only: run this test alone, or NULL */
  int64_t n_checks, n_bad;  /* of the running test */
  int64_t n_passed, n_failed, n_all_checks;
} now;

static gbt_error err_record;
gbt_error *const test_err = &err_record;

static int count(int ok) {
  now.n_checks++;
  if (ok) return 1;
  now.n_bad++;
  return 0;
}

/* Starts a report line; 0 when enough were shown. */
static int report(const char *file, int line, const char *text) {
  if (now.n_bad > SHOWN) return 0;
  const char *slash = strrchr(file, '/');
  printf("  FAILED %s (%s:%d): %s", port_where, slash ? slash + 1 : file, line, text);
  return 1;
}

int64_t test_n_bad(void) { return now.n_bad; }

int test_few(void) {
  const char *cases = getenv("GBT_TEST_CASES");
  return cases != NULL && strcmp(cases, "few") == 0;
}

#if defined(GBT_TEST_DEVICE)
enum { FEWER = 10 }; /* emulated devices are slow */
#else
enum { FEWER = 5 };
#endif

uint64_t test_cases(uint64_t n) { return test_few() ? (n + FEWER - 1) / FEWER : n; }

int test_true(int ok, const char *file, int line, const char *text) {
  if (count(ok)) return 1;
  if (report(file, line, text)) printf("\n");
  return 0;
}

int test_i64(int64_t a, int64_t b, const char *file, int line, const char *text) {
  if (count(a == b)) return 1;
  if (report(file, line, text)) printf(": %" PRId64 " != %" PRId64 "\n", a, b);
  return 0;
}

int test_u64(uint64_t a, uint64_t b, const char *file, int line, const char *text) {
  if (count(a == b)) return 1;
  if (report(file, line, text)) printf(": %#" PRIx64 " != %#" PRIx64 "\n", a, b);
  return 0;
}

int test_bits(double a, double b, const char *file, int line, const char *text) {
  if (count((isnan(a) && isnan(b)) || gbt_bits(a) == gbt_bits(b))) return 1;
  if (report(file, line, text)) printf(": %.17g (%a) != %.17g (%a)\n", a, a, b, b);
  return 0;
}

int test_text(const char *a, const char *b, const char *file, int line, const char *text) {
  if (count(a == b || (a != NULL && b != NULL && strcmp(a, b) == 0))) return 1;
  if (report(file, line, text)) printf(": \"%s\" != \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
  return 0;
}

int test_bytes(const void *a, const void *b, size_t n, const char *file, int line, const char *text) {
  if (count(n == 0 || memcmp(a, b, n) == 0)) return 1;
  const unsigned char *x = a, *y = b;
  size_t i = 0;
  while (i < n && x[i] == y[i]) i++;
  if (report(file, line, text)) printf(": byte %zu of %zu: %02x != %02x\n", i, n, x[i], y[i]);
  return 0;
}

int test_near(double a, double b, double tolerance, const char *file, int line, const char *text) {
  double scale = fabs(b) > 1.0 ? fabs(b) : 1.0;
  if (count((isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * scale)) return 1;
  if (report(file, line, text)) printf(": %.17g is not near %.17g\n", a, b);
  return 0;
}

int test_status(gbt_status got, gbt_status want, const char *part, const char *file, int line, const char *text) {
  int ok = got == want;
  if (ok && got != GBT_OK) ok = err_record.code == want && (part == NULL || strstr(err_record.msg, part) != NULL);
  if (!count(ok) && report(file, line, text))
    printf(": status %d, wanted %d, message \"%s\"\n", (int)got, (int)want, err_record.msg);
  memset(&err_record, 0, sizeof err_record);
  return ok;
}

void test_note(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  printf("  %s: ", port_where);
  vprintf(fmt, args);
  printf("\n");
  va_end(args);
}

void *test_alloc(size_t bytes) {
  void *block = malloc(bytes > 0 ? bytes : 1);
  if (block != NULL) return block;
  printf("the tests ran out of memory\n");
  exit(2);
}

gbt_ctx test_ctx(const gbt_mem *mem, int n_threads) {
  gbt_ctx ctx;
  gbt_error err;
  gbt_mem own = mem == NULL ? gbt_mem_default() : *mem;
  if (gbt_ctx_open(&ctx, own, n_threads, GBT_SIMD_AUTO, NULL, NULL, &err) == GBT_OK) return ctx;
  printf("no context: %s\n", err.msg);
  exit(2);
}

void test_run(const char *name, void (*fn)(void)) {
  if (now.only != NULL && strcmp(now.only, name) != 0) return;
  const double before = port_processor_s();
  snprintf(port_where, sizeof port_where, "%s/%s", now.suite, name);
  now.n_checks = now.n_bad = 0;
  fn();
  if (now.n_checks == 0) printf("  FAILED %s: it checked nothing\n", port_where);
  if (now.n_bad > SHOWN) printf("  FAILED %s: %" PRId64 " checks in all\n", port_where, now.n_bad);
  if (now.n_checks == 0 || now.n_bad > 0)
    now.n_failed++;
  else
    now.n_passed++;
  now.n_all_checks += now.n_checks;
  const double took = port_processor_s() - before;
  if (took >= SLOW_SECONDS) printf("  %s: %.1f s of the processor\n", port_where, took);
  fflush(stdout);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double used; /* seconds of the processor at the start of the suite or the last alarm */
static double most; /* that the suite may have used */

/* A hang (a lost wake-up, say) must fail and say where. A suite that still computes is only slow, as on a machine that
 * has much other work. */
static void on_alarm(void) {
  const double before = used;
  used = port_processor_s();
  if (used - before >= 1.0 && used < most) {
    port_alarm(SUITE_SECONDS, on_alarm);
    return;
  }
  port_say("  FAILED, does not end: ");
  port_say(port_where);
  port_say("\n0 passed, 1 failed\n");
  _Exit(1);
}

static void run_suite(const suite *s, const char *only) {
  now.suite = s->name;
  now.only = only;
  int64_t passed = now.n_passed, failed = now.n_failed, checks = now.n_all_checks;
  double start = seconds();
  used = port_processor_s();
  most = used + 2 * SUITE_SECONDS;
  port_alarm(SUITE_SECONDS, on_alarm);
  s->fn();
  port_alarm(0, on_alarm);
  printf("%s: %" PRId64 " passed, %" PRId64 " failed, %" PRId64 " checks, %.1f s\n", s->name, now.n_passed - passed,
         now.n_failed - failed, now.n_all_checks - checks, seconds() - start);
  fflush(stdout);
}

/* Whether the name asks for the suite; *only: the single test it asks for, or NULL. */
static int asks_for(const char *name, const suite *s, const char **only) {
  size_t n = strcspn(name, "/");
  *only = name[n] == '/' ? name + n + 1 : NULL;
  return strlen(s->name) == n && memcmp(s->name, name, n) == 0;
}

int main(int argc, char **argv) {
  if (!stores_from_environment()) {
    printf("GBT_TEST_STORE is none of memory, poison, poison3, file\n");
    return 2;
  }
  if (!chunks_from_environment()) {
    printf("GBT_TEST_CHUNK is no number of rows\n");
    return 2;
  }
  if (!simd_from_environment()) return 2;
  if (port_is_child(argc, argv)) return port_be_child(argv);
  for (int i = 0; argc <= 1 && i < N_SUITES; i++) run_suite(&suites[i], NULL);
  for (int a = 1; a < argc; a++) {
    int found = 0;
    for (int i = 0; i < N_SUITES; i++) {
      const char *only;
      if (!asks_for(argv[a], &suites[i], &only)) continue;
      int64_t before = now.n_passed + now.n_failed;
      run_suite(&suites[i], only);
      found = now.n_passed + now.n_failed > before;
    }
    if (!found) {
      printf("  FAILED: there is no suite or test `%s`\n", argv[a]);
      now.n_failed++;
    }
  }
  printf("%" PRId64 " passed, %" PRId64 " failed\n", now.n_passed, now.n_failed);
  return now.n_failed == 0 && now.n_passed > 0 ? 0 : 1;
}
