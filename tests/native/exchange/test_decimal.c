/* Numbers of texts, and thresholds of float32. */
#include "../../src/gbt/exchange/decimal.h"
#include "../../src/gbt/exchange/text.h"

#include <float.h>
#include <math.h>

#include "port.h"
#include "test.h"

/* Against strtod and strtof, which glibc rounds exactly. (The locale of the tests is "C".) */
static void check_text(const char *text) {
  const gbti_decimal d = gbti_read_decimal(text, strlen(text));
  CHECK_EQ_U64(d.n, strlen(text));
  CHECK_EQ_BITS(d.nearest, strtod(text, NULL));
  CHECK_EQ_BITS((double)d.nearest_f32, (double)strtof(text, NULL));
}

static void known_numbers(void) {
  static const char *const text[] = {"0",
                                     "-0",
                                     "1",
                                     "-1.5",
                                     "0.1",
                                     "1e-45",
                                     "7e-46",
                                     "1e-46",
                                     "1.17549435e-38",
                                     "1.1754942e-38",
                                     "3.4028235e38",
                                     "3.4028236e38",
                                     "5e-324",
                                     "2.4703282292062328e-324",
                                     "2.47032822920623272e-324",
                                     "2.2250738585072011e-308",
                                     "1.7976931348623157e308",
                                     "1.7976931348623159e308",
                                     "1e400",
                                     "1e-400",
                                     "0.000000000000000000000000000000000001",
                                     "123456789012345678901234567890",
                                     "9007199254740993",
                                     "9007199254740992.999999999999999999999999999",
                                     "16777217",
                                     "16777217.0000000000000000000000000001",
                                     "1.00000005960464477539062500",
                                     "1.000000059604644775390625001",
                                     "8.5899345920000001e9",
                                     "00012.50",
                                     "1E5",
                                     "1e+5",
                                     ".5",
                                     "5."};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) check_text(text[i]);
  CHECK_EQ_U64(gbti_read_decimal("1e", 2).n, 1);
  CHECK_EQ_U64(gbti_read_decimal("-", 1).n, 0);
  CHECK_EQ_U64(gbti_read_decimal("nan", 3).n, 0);
  CHECK_EQ_U64(gbti_read_decimal("12345", 2).n, 2);
  CHECK_EQ_U64(gbti_read_decimal("1.2.3", 5).n, 3);
}

static void random_numbers(void) {
  test_rng rng = {5};
  char text[1200];
  for (int i = 0; i < 200000; i++) {
    const uint64_t u = test_u(&rng);
    double x;
    float f;
    const uint32_t low = (uint32_t)u;
    memcpy(&x, &u, sizeof x);
    memcpy(&f, &low, sizeof f);
    if (x - x == 0.0) {
      snprintf(text, sizeof text, "%.*g", (int)(1 + u % 20), x);
      check_text(text);
    }
    if (f - f == 0.0f) {
      snprintf(text, sizeof text, "%.*g", (int)(1 + u % 12), (double)f);
      check_text(text);
    }
  }
  for (int i = 0; i < 2000; i++) { /* ties of doubles and of floats, and what is next to them */
    const double x = ldexp((double)(test_u(&rng) >> 11), (int)test_below(&rng, 2000) - 1050);
    if (x <= 0.0 || x > 1e308) continue;
    snprintf(text, sizeof text, "%.*e", (int)test_below(&rng, 1100), x);
    check_text(text);
  }
}

/* x <= the threshold says what the comparison in float32 says. */
static void check_threshold(float t, double x) {
  CHECK_EQ_I64(x <= gbti_below_f32(t, 0), (float)x < t);
  CHECK_EQ_I64(x <= gbti_below_f32(t, 1), (float)x <= t);
}

static void thresholds_of_float32(void) {
  test_rng rng = {6};
  static const float some[] = {
      0.0f,   -0.0f,         1.0f,        -1.0f,        0.1f,     FLT_MAX, -FLT_MAX, FLT_MIN,         -FLT_MIN,
      1e-45f, -1e-45f,       16777216.0f, -16777216.0f, INFINITY, 0.5f,    2.0f,     1.17549421e-38f, 3.0f,
      -0.3f,  2147483648.0f, 1e-30f};
  const size_t n_some = sizeof some / sizeof *some;
  for (int i = 0; i < 20000; i++) {
    const uint32_t u = (uint32_t)test_u(&rng);
    float t;
    memcpy(&t, &u, sizeof t);
    if ((size_t)i < n_some) t = some[i];
    if (t != t || (isinf(t) && t < 0)) continue;
    const float up = nextafterf(t, INFINITY), down = nextafterf(t, -INFINITY);
    const double at[] = {(double)t,
                         (double)up,
                         (double)down,
                         0.5 * ((double)t + (double)up),
                         0.5 * ((double)t + (double)down),
                         3.4028235677973366e38,
                         -3.4028235677973366e38,
                         0.0,
                         -0.0};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
      if (at[k] != at[k]) continue;
      check_threshold(t, at[k]);
      check_threshold(t, nextafter(at[k], INFINITY));
      check_threshold(t, nextafter(at[k], -INFINITY));
    }
    check_threshold(t, (double)INFINITY);
  }
}

/* The number of figures of a text, without zeros at either end. */
static int figures_in(const char *text) {
  int n = 0, zeros = 0;
  for (; *text != 0 && *text != 'e'; text++) {
    if (*text < '0' || *text > '9' || (n == 0 && *text == '0')) continue;
    zeros = *text == '0' ? zeros + 1 : 0;
    n++;
  }
  return n - zeros;
}

/* Figures that are read as x by way of a long double too: no tie is near. */
static void check_clear(double x) {
  char figure[GBTI_FIGURES], text[64];
  int exponent;
  if (x == 0.0) return;
  const int n = gbti_clear_figures(fabs(x), figure, &exponent);
  CHECK(n >= 1 && n <= GBTI_CLEAR_FIGURES && figure[0] != '0');
  snprintf(text, sizeof text, "%.*se%d", n, figure, exponent - (n - 1));
  CHECK_EQ_BITS(strtod(text, NULL), fabs(x));
  const volatile long double wide = strtold(text, NULL);
  CHECK_EQ_BITS((double)wide, fabs(x));
  CHECK(fabsl(wide - (long double)fabs(x)) <= 0.46L * (long double)(nextafter(fabs(x), INFINITY) - fabs(x)));
}

/* Written numbers are read back, and have no more figures than the shortest of glibc's that are. */
static void check_written(gbti_file *out, double x) {
  char text[64];
  out->n = 0;
  gbti_put_double(out, x);
  gbti_put_bytes(out, "", 1);
  CHECK_EQ_BITS(strtod((const char *)out->at, NULL), x);
  int n = 1;
  do snprintf(text, sizeof text, "%.*e", n - 1, x);
  while (strtod(text, NULL) != x && n++ < 17);
  /* strtod() of older Windows, and of wine, takes some texts for a number next to theirs */
  if (PORT_FORKS) CHECK_EQ_I64(figures_in((const char *)out->at), figures_in(text));
  check_clear(x);
  out->n = 0;
  gbti_put_hex(out, x);
  gbti_put_bytes(out, "", 1);
  CHECK_EQ_BITS(strtod((const char *)out->at, NULL), x);
  const float f = (float)x;
  if (isinf(f)) return;
  out->n = 0;
  gbti_put_float(out, f);
  gbti_put_bytes(out, "", 1);
  CHECK_EQ_BITS((double)strtof((const char *)out->at, NULL), (double)f);
}

static void written_numbers(void) {
  static const double some[] = {0.0,   -0.0,    1.0,    0.1,        1.0 / 3, 5e-324,  1e22,    1e23, 9007199254740993.0,
                                1e-5,  1.5e-7,  1e5,    1e17,       123456,  DBL_MAX, DBL_MIN, 1e16, 0.00012,
                                1e300, -2.5e-9, 1e-300, 299792458.0};
  gbti_file out = {.mem = gbt_mem_default(), .err = test_err};
  test_rng rng = {7};
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) check_written(&out, some[i]);
  for (int e = -1074; e < 1024; e++) check_written(&out, ldexp(1.0, e));
  for (int i = 0; i < 40000; i++) {
    const uint64_t u = test_u(&rng);
    double x;
    memcpy(&x, &u, sizeof x);
    if (i % 3 == 0) x = (double)(u % 1000000) / 1000.0;
    if (i % 3 == 1) x = (double)(float)((double)(u >> 11) * 1e-12);
    if (x - x == 0.0) check_written(&out, x);
  }
  gbt_mem_free(&out.mem, out.at);
}

static void floats_above(void) {
  test_rng rng = {8};
  for (int i = 0; i < 40000; i++) {
    const uint32_t u = (uint32_t)test_u(&rng);
    float f;
    memcpy(&f, &u, sizeof f);
    if (f != f) continue;
    const double at[] = {(double)f, nextafter((double)f, INFINITY), nextafter((double)f, -INFINITY)};
    for (int k = 0; k < 3; k++) {
      const float t = gbti_above_f32(at[k]);
      if (at[k] < -(double)FLT_MAX) {
        CHECK_EQ_BITS((double)t, -(double)FLT_MAX);
        continue;
      }
      CHECK((double)t > at[k] || isinf(at[k]));
      CHECK((double)nextafterf(t, -INFINITY) <= at[k]);
    }
    for (int k = 0; k < 3; k++) {
      const float t = gbti_at_most_f32(at[k]);
      CHECK((double)t <= at[k]);
      CHECK((double)nextafterf(t, INFINITY) > at[k] || at[k] == (double)INFINITY);
    }
  }
}

void suite_decimal(void) {
  RUN(known_numbers);
  RUN(random_numbers);
  RUN(thresholds_of_float32);
  RUN(written_numbers);
  RUN(floats_above);
}
