/* The test driver's harness: checks that count, tests that have names, suites that register by their file name.
 *
 *   FOLDER/test_x.c   void suite_x(void) { RUN(something); RUN(something_else); }
 *   a test            static void something(void) { CHECK(...); CHECK_OK(...); }
 *
 * The Makefile lists suite_<stem> for every test_<stem>.c. A test passes when all its checks hold and there was at
 * least one. Checks belong on the main thread. */
#ifndef GBT_TEST_H
#define GBT_TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/gbt/base/ctx.h"
#include "../../src/gbt/base/rng.h"
#include "../../src/gbt/base/status.h"
#include "../../src/gbt/base/bits.h"

/* Runs a test function under its own name. */
#define RUN(fn) test_run(#fn, fn)
void test_run(const char *name, void (*fn)(void));

/* Each counts one check, reports a failure with file and line, and returns whether it held. */
int test_true(int ok, const char *file, int line, const char *text);
int test_i64(int64_t a, int64_t b, const char *file, int line, const char *text);
int test_u64(uint64_t a, uint64_t b, const char *file, int line, const char *text);
int test_bits(double a, double b, const char *file, int line, const char *text);
int test_text(const char *a, const char *b, const char *file, int line, const char *text);
int test_bytes(const void *a, const void *b, size_t n, const char *file, int line, const char *text);
int test_near(double a, double b, double tolerance, const char *file, int line, const char *text);
int test_status(gbt_status got, gbt_status want, const char *part, const char *file, int line, const char *text);

#define CHECK(cond) test_true((cond) != 0, __FILE__, __LINE__, #cond)
#define CHECK_EQ_I64(a, b) test_i64((int64_t)(a), (int64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_EQ_U64(a, b) test_u64((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a " == " #b)
/* Two doubles, bit by bit: -0 differs from 0; all NaNs are one. */
#define CHECK_EQ_BITS(a, b) test_bits((a), (b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_EQ_TEXT(a, b) test_text((a), (b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_EQ_BYTES(a, b, n) test_bytes((a), (b), (n), __FILE__, __LINE__, #a " == " #b)
/* |a - b| <= tolerance * max(1, |b|); only where a header allows a difference. */
#define CHECK_NEAR(a, b, tolerance) test_near((a), (b), (tolerance), __FILE__, __LINE__, #a " ~ " #b)
/* A call that must succeed (its last argument is test_err), or must fail with a code and a message that holds `part`.
 */
#define CHECK_OK(call) test_status((call), GBT_OK, NULL, __FILE__, __LINE__, #call)
#define CHECK_FAILS(call, code, part) test_status((call), (code), (part), __FILE__, __LINE__, #call)
/* Gives the test up when there is no sense in going on. */
#define REQUIRE(cond)         \
  do {                        \
    if (!CHECK(cond)) return; \
  } while (0)
#define REQUIRE_OK(call)         \
  do {                           \
    if (!CHECK_OK(call)) return; \
  } while (0)

/* The error record of the call under test. Cleared by CHECK_OK and CHECK_FAILS. */
extern gbt_error *const test_err;

/* Checks of the running test that did not hold so far. */
int64_t test_n_bad(void);

/* Whether cases that are drawn are to be few: GBT_TEST_CASES=few in the environment. So it is where a compiler or a
 * sanitizer looks at what another run goes through in full. */
int test_few(void);
/* How many of n such cases: all, or a fifth; where there is a device, a tenth. */
uint64_t test_cases(uint64_t n);
/* What must have been among all of them; not looked at where they are few. */
#define CHECK_SEEN(cond) CHECK(test_few() || (cond))

/* Says something in the report (measured errors and the like). */
void test_note(const char *fmt, ...) GBT_PRINTF(1, 2);

/* Random numbers of the tests: a stream, one seed per test. */
typedef struct test_rng {
  uint64_t state;
} test_rng;

GBT_FN uint64_t test_u(test_rng *rng) { return gbt_mix64(rng->state++); }
GBT_FN int64_t test_below(test_rng *rng, int64_t n) { return (int64_t)(test_u(rng) % (uint64_t)n); }
GBT_FN double test_unit(test_rng *rng) { return (double)(test_u(rng) >> 11) * 0x1p-53; } /* [0, 1) */
/* Bell-shaped, variance 1: the sum of 12 uniforms. */
GBT_FN double test_bell(test_rng *rng) {
  double s = -6.0;
  for (int i = 0; i < 12; i++) s += test_unit(rng);
  return s;
}

/* Memory of the tests themselves; gives up the whole run when there is none. */
void *test_alloc(size_t bytes);

/* An open context that is never asked to stop, on malloc when mem is NULL. Gives up the run when that fails. */
gbt_ctx test_ctx(const gbt_mem *mem, int n_threads);

/* Whom a context asks whether to stop (user of gbt_ctx_open): it says so from the answer after `last` on. */
typedef struct test_patience {
  int n_polls, last;
} test_patience;

GBT_FN int test_stop_later(void *user) {
  test_patience *p = (test_patience *)user;
  return ++p->n_polls > p->last;
}

/* A random permutation of 0 .. n-1, to be freed with free(). */
int64_t *test_permutation(test_rng *rng, int64_t n);

#endif
