/* The exact accumulator: against the hardware's own rounding, against 128-bit integers, and under every order. */
#include "test.h"

#include "../../src/gbt/base/exact_sum.h"

__extension__ typedef __int128 wide;

static double sum_of(const double *x, int64_t n) {
  gbt_exact_sum sum;
  gbt_exact_zero(&sum);
  for (int64_t i = 0; i < n; i++) gbt_exact_add(&sum, x[i]);
  return gbt_exact_value(&sum);
}

/* Any finite double; half of them with exponents near each other's. */
static double any_double(test_rng *rng, int near) {
  for (;;) {
    uint64_t u = test_u(rng);
    if (near) u = (u & 0x800fffffffffffffu) | (uint64_t)(near - 30 + test_below(rng, 60)) << 52;
    if ((u >> 52 & 0x7ff) != 0x7ff) return gbt_from_bits(u);
  }
}

/* The machine adds two numbers with one correct rounding, so it is the twin over the whole range, subnormal to huge. */
static void two_terms_round_like_the_machine(void) {
  test_rng rng = {31};
  for (int i = 0; i < 300000; i++) {
    int near = i % 3 == 0 ? 0 : i % 3 == 1 ? 31 + (int)test_below(&rng, 1980) : 31;
    volatile double a = any_double(&rng, near), b = any_double(&rng, near);
    if (i % 7 == 0) b = a; /* overflow, too */
    volatile double c = a + b;
    double pair[2] = {a, b};
    CHECK_EQ_BITS(sum_of(pair, 2), c == 0.0 ? 0.0 : c);
    CHECK_EQ_BITS(sum_of(pair, 1), a == 0.0 ? 0.0 : a);
  }
}

/* What the machine's rounding lost comes back exactly: a + b - fl(a + b) (Knuth's two-sum). */
static void nothing_is_lost(void) {
  test_rng rng = {32};
  for (int i = 0; i < 100000; i++) {
    int near = 200 + (int)test_below(&rng, 1600);
    volatile double a = any_double(&rng, near), b = any_double(&rng, near), s = a + b, t = s - a, u = s - t;
    volatile double e1 = a - u, e2 = b - t, lost = e1 + e2;
    double terms[3] = {a, b, -s};
    CHECK_EQ_BITS(sum_of(terms, 3), lost == 0.0 ? 0.0 : lost);
    double big[4] = {a, 0x1p1000, b, -0x1p1000}; /* a giant comes and goes */
    CHECK_EQ_BITS(sum_of(big, 4), s == 0.0 ? 0.0 : s);
  }
  double huge[3] = {0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023};
  CHECK_EQ_BITS(sum_of(huge, 2), INFINITY);
  CHECK_EQ_BITS(sum_of(huge, 3), 0x1.fffffffffffffp1023);
  double low[3] = {-0x1.fffffffffffffp1023, -0x1p970, 0x1p-1074};
  CHECK_EQ_BITS(sum_of(low, 2), -INFINITY);               /* a tie, to even: over the edge */
  CHECK_EQ_BITS(sum_of(low, 3), -0x1.fffffffffffffp1023); /* the smallest number decides it */
}

/* Terms m 2^-40 with 62-bit m, so that 128-bit integers hold the sum; the conversion to double rounds to nearest. */
static void sums_equal_wide_integers(void) {
  test_rng rng = {33};
  for (int i = 0; i < 2000; i++) {
    int64_t n = 1 + test_below(&rng, 200);
    wide want = 0;
    gbt_exact_sum sum;
    gbt_exact_zero(&sum);
    for (int64_t k = 0; k < n; k++) {
      int64_t m = (int64_t)(test_u(&rng) >> (11 + test_below(&rng, 50))) * (test_below(&rng, 2) ? 1 : -1);
      int up = (int)test_below(&rng, 60);
      want += (wide)m * ((wide)1 << up);
      gbt_exact_add(&sum, ldexp((double)m, up - 40));
    }
    CHECK_EQ_BITS(gbt_exact_value(&sum), ldexp((double)want, -40));
  }
}

static void order_and_merging_do_not_show(void) {
  enum { N = 2000, PARTS = 7 };
  test_rng rng = {34};
  double *x = test_alloc(N * sizeof *x), *y = test_alloc(N * sizeof *y);
  for (int i = 0; i < 30; i++) {
    for (int k = 0; k < N; k++) x[k] = any_double(&rng, i % 2 ? 900 : 0);
    double want = sum_of(x, N);
    int64_t *p = test_permutation(&rng, N);
    for (int k = 0; k < N; k++) y[k] = x[p[k]];
    CHECK_EQ_BITS(sum_of(y, N), want);
    gbt_exact_sum part[PARTS], all, back;
    for (int k = 0; k < PARTS; k++) gbt_exact_zero(&part[k]);
    for (int k = 0; k < N; k++) gbt_exact_add(&part[test_below(&rng, PARTS)], y[k]);
    gbt_exact_zero(&all);
    gbt_exact_zero(&back);
    for (int k = 0; k < PARTS; k++) gbt_exact_merge(&all, &part[k]);
    for (int k = PARTS - 1; k >= 0; k--) gbt_exact_merge(&back, &part[k]);
    CHECK_EQ_BITS(gbt_exact_value(&all), want);
    CHECK_EQ_BYTES(&all, &back, sizeof all); /* the normal form is unique */
    free(p);
  }
  free(x);
  free(y);
}

static void special_terms(void) {
  gbt_exact_sum sum, inf;
  gbt_exact_zero(&sum);
  CHECK_EQ_BITS(gbt_exact_value(&sum), 0.0);
  gbt_exact_add(&sum, -0.0);
  CHECK_EQ_BITS(gbt_exact_value(&sum), 0.0);
  gbt_exact_add(&sum, 1.5);
  inf = sum;
  gbt_exact_add(&inf, INFINITY);
  CHECK_EQ_BITS(gbt_exact_value(&inf), INFINITY);
  gbt_exact_merge(&inf, &inf);
  CHECK_EQ_BITS(gbt_exact_value(&inf), INFINITY);
  gbt_exact_add(&inf, -INFINITY);
  CHECK(isnan(gbt_exact_value(&inf)));
  gbt_exact_zero(&inf);
  gbt_exact_add(&inf, -INFINITY);
  gbt_exact_merge(&sum, &inf);
  CHECK_EQ_BITS(gbt_exact_value(&sum), -INFINITY);
  gbt_exact_add(&sum, NAN);
  CHECK(isnan(gbt_exact_value(&sum)));
  CHECK_EQ_U64(gbt_bits(gbt_exact_value(&sum)), 0x7ff8000000000000u);
  gbt_exact_sum plain;
  gbt_exact_zero(&plain);
  gbt_exact_add(&plain, 1.0);
  gbt_exact_merge(&sum, &plain); /* what was special on the left stays */
  CHECK(isnan(gbt_exact_value(&sum)));
  gbt_exact_merge(&inf, &plain);
  CHECK_EQ_BITS(gbt_exact_value(&inf), -INFINITY);
  gbt_exact_zero(&sum);
  gbt_exact_add(&sum, 0x1p-1074);
  plain = sum;
  gbt_exact_merge(&sum, &plain); /* the lowest limb takes part */
  CHECK_EQ_BITS(gbt_exact_value(&sum), 0x1p-1073);
}

/* The promised room: limbs as full as 2^31 - 1 terms can make them still merge and round. */
static void full_limbs(void) {
  gbt_exact_sum full, all;
  gbt_exact_zero(&full);
  const int64_t n = INT32_MAX;
  double x = 0x1.fffffffffffffp40; /* 53 ones */
  gbt_exact_add(&full, x);
  for (int i = 0; i < GBT_EXACT_LIMBS; i++) full.limb[i] *= n; /* as if added n times */
  wide m = (wide)((UINT64_C(1) << 53) - 1) * n;
  CHECK_EQ_BITS(gbt_exact_value(&full), ldexp((double)m, 40 - 52));
  all = full;
  for (int i = 0; i < 4; i++) gbt_exact_merge(&all, &full);
  CHECK_EQ_BITS(gbt_exact_value(&all), ldexp((double)(5 * m), 40 - 52));
  for (int i = 0; i < GBT_EXACT_LIMBS; i++) full.limb[i] = -full.limb[i];
  for (int i = 0; i < 6; i++) gbt_exact_merge(&all, &full);
  CHECK_EQ_BITS(gbt_exact_value(&all), ldexp((double)-m, 40 - 52));
}

void suite_sum(void) {
  RUN(two_terms_round_like_the_machine);
  RUN(nothing_is_lost);
  RUN(sums_equal_wide_integers);
  RUN(order_and_merging_do_not_show);
  RUN(special_terms);
  RUN(full_limbs);
}
