/* The mathematics that C and CUDA share: elementary functions against long double, bits and fixed point against plain
 * arithmetic, gains and losses against what they are the derivative or the optimum of. */
#include <stdlib.h>

#include "test.h"

#include "../../src/gbt/math/elementary.h"
#include "../../src/gbt/math/fixed.h"
#include "../../src/gbt/math/gain.h"
#include "../../src/gbt/objective/formulas.h"
#include "../../src/gbt/objective/objective.h"

enum { N_SAMPLES = 1000000 };

/* |got - want| in units of the last place of want. */
static double ulps(double got, long double want) {
  int e;
  frexp((double)want, &e);
  if (e < -1021) e = -1021;
  return (double)(fabsl((long double)got - want) / ldexpl(1.0L, e - 53));
}

/* Numbers in [-708, 708], many of them small. */
static double sample_x(uint64_t i) {
  double u = (double)(gbt_mix64(i) >> 11) * 0x1p-53 - 0.5;
  if (i % 4 == 0) return u * ldexp(1.0, -(int)(i / 4 % 60));
  return i % 2 == 0 ? u * 20.0 : u * 1416.0;
}

/* Normal numbers > 0, many of them near 1. */
static double sample_positive(uint64_t i) {
  uint64_t u = gbt_mix64(i + 12345);
  double unit = (double)(u >> 11) * 0x1p-53;
  if (i % 4 == 0) return 1.0 + (unit - 0.5) * ldexp(1.0, -(int)(i / 4 % 50));
  if (i % 2 == 0) return 0.5 + 1.5 * unit;
  return gbt_from_bits(0x10000000000000u + u % 0x7fe0000000000000u);
}

static void exp_is_accurate(void) {
  double worst = 0.0;
  for (uint64_t i = 0; i < N_SAMPLES; i++) {
    double x = sample_x(i), e = ulps(gbt_exp(x), expl(x));
    if (e > worst) worst = e;
  }
  test_note("largest error %.3f units in the last place", worst);
  CHECK(worst < 1.0);
}

static void log_is_accurate(void) {
  double worst = 0.0;
  for (uint64_t i = 0; i < N_SAMPLES; i++) {
    double x = sample_positive(i), e = x == 1.0 ? 0.0 : ulps(gbt_log(x), logl(x));
    if (e > worst) worst = e;
  }
  test_note("largest error %.3f units in the last place", worst);
  CHECK(worst < 1.0);
}

static void softplus_and_sigmoid_are_accurate(void) {
  double worst_plus = 0.0, worst_sig = 0.0;
  for (uint64_t i = 0; i < N_SAMPLES; i++) {
    double x = sample_x(i);
    long double z = x, plus = z > 0 ? z + log1pl(expl(-z)) : log1pl(expl(z));
    double e = ulps(gbt_softplus(x), plus);
    if (e > worst_plus) worst_plus = e;
    e = ulps(gbt_sigmoid(x), 1.0L / (1.0L + expl(-z)));
    if (e > worst_sig) worst_sig = e;
  }
  test_note("largest errors: softplus %.3f, sigmoid %.3f units in the last place", worst_plus, worst_sig);
  CHECK(worst_plus < 2.0);
  CHECK(worst_sig < 2.5);
}

static void expm1_log1p_and_tanh_are_accurate(void) {
  double worst[3] = {0.0, 0.0, 0.0};
  for (uint64_t i = 0; i < N_SAMPLES; i++) {
    double x = sample_x(i), y = sample_positive(i) - (i % 8 < 4 ? 1.0 : 0.0);
    double e[3] = {ulps(gbt_expm1(x), expm1l(x)), ulps(gbt_log1p(y), log1pl(y)), ulps(gbt_tanh(x), tanhl(x))};
    for (int k = 0; k < 3; k++)
      if (e[k] > worst[k]) worst[k] = e[k];
  }
  test_note("largest errors: expm1 %.3f, log1p %.3f, tanh %.3f units in the last place", worst[0], worst[1], worst[2]);
  CHECK(worst[0] < 4.0);
  CHECK(worst[1] < 2.0);
  CHECK(worst[2] < 3.0);
  CHECK_EQ_BITS(gbt_expm1(0.0), 0.0);
  CHECK_EQ_BITS(gbt_log1p(0.0), 0.0);
  CHECK_EQ_BITS(gbt_tanh(0.0), 0.0);
  CHECK_EQ_BITS(gbt_tanh(INFINITY), 1.0);
  CHECK_EQ_BITS(gbt_tanh(-INFINITY), -1.0);
  CHECK(isnan(gbt_tanh(NAN)));
}

static void special_values(void) {
  CHECK_EQ_BITS(gbt_exp(0.0), 1.0);
  CHECK_EQ_BITS(gbt_exp(-0.0), 1.0);
  CHECK_EQ_BITS(gbt_exp(INFINITY), gbt_exp(708.0));
  CHECK_EQ_BITS(gbt_exp(-INFINITY), gbt_exp(-708.0));
  CHECK_EQ_BITS(gbt_exp(1e300), gbt_exp(708.0));
  CHECK(gbt_exp(-708.0) >= 0x1p-1022 && gbt_exp(708.0) < INFINITY);
  CHECK(isnan(gbt_exp(NAN)));
  CHECK_EQ_BITS(gbt_log(1.0), 0.0);
  CHECK_EQ_BITS(gbt_log(0.0), gbt_log(0x1p-1022));
  CHECK_EQ_BITS(gbt_log(0x1p-1074), gbt_log(0x1p-1022));
  CHECK(ulps(gbt_log(0x1p-1022), logl(0x1p-1022L)) < 1.0);
  CHECK(ulps(gbt_log(0x1.fffffffffffffp1023), logl(0x1.fffffffffffffp1023L)) < 1.0);
  for (int k = -1022; k <= 1023; k++) CHECK(k == 0 || ulps(gbt_log(ldexp(1.0, k)), logl(ldexpl(1.0L, k))) < 1.0);
  CHECK_EQ_BITS(gbt_sigmoid(0.0), 0.5);
  CHECK_EQ_BITS(gbt_sigmoid(INFINITY), 1.0);
  CHECK(gbt_sigmoid(-INFINITY) > 0.0);
  CHECK(isnan(gbt_sigmoid(NAN)));
  CHECK_EQ_BITS(gbt_softplus(1000.0), 1000.0);
  CHECK_EQ_BITS(gbt_softplus(INFINITY), INFINITY);
  CHECK(gbt_softplus(-1000.0) > 0.0);
  CHECK(ulps(gbt_softplus(0.0), logl(2.0L)) < 1.0);
}

/* exp and log rise wherever the argument does; checked around the borders of their ranges of reduction. */
static void monotone_at_the_seams(void) {
  int falls = 0;
  for (int n = -1020; n <= 1020; n++) {
    double x = ((double)n + 0.5) * 0x1.62e42fefa39efp-1;
    for (int i = 0; i < 20; i++, x = nextafter(x, INFINITY)) falls += gbt_exp(x) > gbt_exp(nextafter(x, INFINITY));
  }
  CHECK_EQ_I64(falls, 0);
  for (int n = -1000; n <= 1000; n++) {
    double x = ldexp(0x1.6a09e667f3bcdp-1, n) * (1.0 - 10 * 0x1p-52);
    for (int i = 0; i < 20; i++, x = nextafter(x, INFINITY)) falls += gbt_log(x) > gbt_log(nextafter(x, INFINITY));
  }
  CHECK_EQ_I64(falls, 0);
}

/* The bits of a million values. This number is part of the promise that a model is the same everywhere: every compiler,
 * optimisation level and instruction set must give it. The functions run in loops that compilers vectorise. */
static void bits_are_the_same_everywhere(void) {
  enum { STRIP = 1000 };
  uint64_t hash = 0;
  for (uint64_t beg = 0; beg < N_SAMPLES; beg += STRIP) {
    double x[STRIP], y[STRIP], out[4][STRIP];
    for (uint64_t i = 0; i < STRIP; i++) x[i] = sample_x(beg + i), y[i] = sample_positive(beg + i);
    for (int i = 0; i < STRIP; i++) out[0][i] = gbt_exp(x[i]);
    for (int i = 0; i < STRIP; i++) out[1][i] = gbt_log(y[i]);
    for (int i = 0; i < STRIP; i++) out[2][i] = gbt_softplus(x[i]);
    for (int i = 0; i < STRIP; i++) out[3][i] = gbt_sigmoid(x[i]);
    for (int i = 0; i < STRIP; i++)
      for (int k = 0; k < 4; k++) hash = gbt_mix64(hash ^ gbt_bits(out[k][i]));
  }
  CHECK_EQ_U64(hash, 0x27d314fbaef48c3f);
}

static void order_keys_order(void) {
  static const double special[] = {
      -INFINITY, -0x1.fffffffffffffp1023, -1.0,    -0x1p-1022, -0x1p-1074, 0.0, 0x1p-1074, 0x1p-1022,
      1.0,       0x1.fffffffffffffp1023,  INFINITY};
  enum { N = sizeof special / sizeof special[0] };
  for (int i = 0; i < N; i++) {
    CHECK_EQ_BITS(gbt_order_value(gbt_order_key(special[i])), special[i]);
    for (int k = 0; k < N; k++) CHECK_EQ_I64(gbt_order_key(special[i]) < gbt_order_key(special[k]), i < k);
  }
  CHECK_EQ_U64(gbt_order_key(-0.0), gbt_order_key(0.0));
  test_rng rng = {7};
  for (int i = 0; i < 100000; i++) {
    double x = gbt_from_bits(test_u(&rng)), y = gbt_from_bits(test_u(&rng));
    if (isnan(x) || isnan(y)) continue;
    CHECK_EQ_I64(gbt_order_key(x) < gbt_order_key(y), x < y);
    CHECK_EQ_BITS(gbt_order_value(gbt_order_key(x)), x);
  }
}

static void rounding_and_powers(void) {
  for (int e = -1022; e <= 1023; e++) CHECK_EQ_BITS(gbt_pow2(e), ldexp(1.0, e));
  CHECK_EQ_I64(gbt_round_i64(0.5), 0);
  CHECK_EQ_I64(gbt_round_i64(1.5), 2);
  CHECK_EQ_I64(gbt_round_i64(-2.5), -2);
  test_rng rng = {8};
  for (int i = 0; i < 100000; i++) {
    double x = ldexp(test_unit(&rng) - 0.5, (int)test_below(&rng, 53));
    if (i % 2 == 0) x = rint(x) + 0.5;
    if (fabs(x) >= 0x1p51) continue;
    CHECK_EQ_I64(gbt_round_i64(x), (int64_t)rint(x));
  }
}

/* The scale is the largest with max * 2^e < 2^bits (1 - 2^-13), and numbers up to max fit. */
static void scales_fit(void) {
  test_rng rng = {9};
  CHECK_EQ_I64(gbt_scale_exp(0.0, 31), 0);
  for (int i = 0; i < 20000; i++) {
    double max = ldexp(1.0 + test_unit(&rng), (int)test_below(&rng, 1900) - 950);
    if (i % 3 == 0) max = ldexp(1.0 - ldexp(1.0, -(int)test_below(&rng, 40)), (int)test_below(&rng, 100) - 50);
    if (!(max > 0.0)) continue;
    for (int bits = 31; bits <= 32; bits++) {
      int e = gbt_scale_exp(max, bits);
      long double limit = ldexpl(1.0L - 0x1p-13L, bits);
      CHECK(ldexpl(max, e) < limit);
      CHECK(e == 1000 || ldexpl(max, e + 1) >= limit);
    }
    gbt_scale s = gbt_scale_from(max, max);
    gbt_gh32 top = gbt_fix32(max, max, s.up_g, s.up_h), low = gbt_fix32(-max, 0.0, s.up_g, s.up_h);
    CHECK(top.g < 0x7fff0000 && low.g > -0x7fff0000 && top.h < 0xffff0000u && low.h == 0);
    CHECK_EQ_I64(top.g, -(int64_t)low.g);
    CHECK_EQ_I64(top.g, llrint(ldexp(max, s.exp_g)));
    CHECK_EQ_BITS(s.up_g * s.down_g, 1.0);
    CHECK_EQ_BITS(s.up_h * s.down_h, 1.0);
  }
  CHECK_EQ_I64(gbt_scale_exp(0x1p-1074, 31), 1000);
  CHECK_EQ_I64(gbt_scale_exp(0x1.fffffffffffffp1023, 31), 31 - 1025);
}

/* Over all 2^16 random numbers the 16-bit values add up to the 32-bit one, and none of them overflows. */
static void stochastic_rounding_is_unbiased(void) {
  static const int32_t gs[] = {0, 1, -1, 65535, 65536, -65536, 12345678, -12345679, 0x7ffeffff, -0x7ffeffff};
  static const uint32_t hs[] = {0, 1, 2, 65535, 65536, 65537, 12345678, 0x80000000u, 0xfffeffffu, 0xfffe0000u};
  for (int i = 0; i < 10; i++) {
    gbt_gh32 q = {gs[i], hs[i]};
    int64_t sum_g = 0, sum_h = 0, far = 0;
    for (uint32_t r = 0; r < 65536; r++) {
      gbt_gh16 s = gbt_fix16(q, r | r << 16);
      sum_g += s.g;
      sum_h += s.h;
      far += llabs((int64_t)s.g * 65536 - gs[i]) >= 65536 || llabs((int64_t)s.h * 65536 - (int64_t)hs[i]) >= 65536;
    }
    CHECK_EQ_I64(sum_g, gs[i]);
    CHECK_EQ_I64(sum_h, hs[i]);
    CHECK_EQ_I64(far, 0);
  }
}

/* gbt_weight is the best weight: no other one scores higher, whatever clips it. */
static void weights_are_optimal(void) {
  test_rng rng = {10};
  for (int i = 0; i < 20000; i++) {
    double g = test_bell(&rng) * 10.0, h = test_unit(&rng) * 10.0;
    gbt_reg reg = {test_unit(&rng) + 0.01, i % 2 ? test_unit(&rng) * 5.0 : 0.0, i % 3 ? 0.0 : test_unit(&rng)};
    gbt_bounds b = {-INFINITY, INFINITY};
    if (i % 5 == 0) b.lo = test_bell(&rng), b.hi = b.lo + test_unit(&rng);
    double w = gbt_weight(g, h, reg, b), score = gbt_score_at(g, h, w, reg);
    double limit = reg.max_delta_step > 0.0 ? reg.max_delta_step : INFINITY;
    CHECK(w >= b.lo && w <= b.hi && (i % 5 == 0 || fabs(w) <= limit));
    for (int k = 0; k < 10; k++) {
      double other = test_bell(&rng) * 2.0;
      other = other > limit ? limit : other < -limit ? -limit : other;
      other = other < b.lo ? b.lo : other > b.hi ? b.hi : other;
      CHECK(gbt_score_at(g, h, other, reg) <= score + 1e-9);
    }
    if (i % 5 != 0 && limit == INFINITY) CHECK_NEAR(gbt_score(g, h, reg.lambda, reg.alpha), score, 1e-12);
  }
  gbt_reg none = {0.0, 0.0, 0.0};
  gbt_bounds free_bounds = {-INFINITY, INFINITY}, above = {1.0, 2.0}, below = {-2.0, -1.0};
  CHECK_EQ_BITS(gbt_weight(1.0, 0.0, none, free_bounds), 0.0);
  CHECK_EQ_BITS(gbt_weight(1.0, 0.0, none, above), 1.0);
  CHECK_EQ_BITS(gbt_weight(1.0, 0.0, none, below), -1.0);
  CHECK_EQ_BITS(gbt_score(1.0, 0.0, 0.0, 0.0), 0.0);
}

static void softmax_gradients(void) {
  test_rng rng = {11};
  for (int i = 0; i < 3000; i++) {
    double p = test_unit(&rng), bound = gbt_softmax_bound(2 + i % 9, i % 2 ? 0.0 : 2.0);
    gbt_gh soft = gbt_softmax_gradient(p, 1.0, bound);
    CHECK_EQ_BITS(soft.g, p - 1.0);
    CHECK_NEAR(soft.h, bound * p * (1.0 - p), 1e-15);
    CHECK_EQ_BITS(bound, i % 2 ? (2.0 + i % 9) / (1.0 + i % 9) : 2.0);
  }
}

/* What a step does to a class's probability: that of the softmax with its score moved `bound` times as far; the hessian
 * is the derivative of the gradient along the step. Probabilities stay such, however far the step goes. */
static void softmax_steps(void) {
  test_rng rng = {12};
  for (int i = 0; i < 3000; i++) {
    enum { MOST = 5 };
    const int32_t K = 2 + i % (MOST - 1), k = (int32_t)test_below(&rng, K);
    const double bound = gbt_softmax_bound(K, 0.0), by = 3.0 * test_bell(&rng), near = 1e-4;
    double s[MOST], p[MOST], top, sum, moved[MOST];
    for (int32_t c = 0; c < K; c++) s[c] = 4.0 * test_bell(&rng);
    gbt_softmax_rows(1, K, s, 1, p, 1, &top, &sum);
    CHECK_NEAR(gbt_softmax_stepped(s[k], top, sum, 0.0, bound), p[k], 1e-12);
    for (int32_t c = 0; c < K; c++) moved[c] = s[c] + (c == k ? bound * by : 0.0);
    double at_top, at_sum;
    gbt_softmax_rows(1, K, moved, 1, p, 1, &at_top, &at_sum);
    CHECK_NEAR(gbt_softmax_stepped(s[k], top, sum, by, bound), p[k], 1e-10);
    const double low = gbt_softmax_stepped(s[k], top, sum, by - near, bound);
    const double high = gbt_softmax_stepped(s[k], top, sum, by + near, bound);
    CHECK_NEAR(gbt_softmax_gradient(p[k], 0.0, bound).h, (high - low) / (2.0 * near), 1e-6);
    for (int far = -1; far <= 1; far++) {
      const double end = gbt_softmax_stepped(s[k], top, sum, far * 1e308, 1.5);
      CHECK(end >= 0.0 && end <= 1.0);
    }
  }
  CHECK_EQ_BITS(gbt_softmax_stepped(0.0, 0.0, 1.0, -2000.0, 1.0), 1.0); /* no other class has anything */
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* What splitting off the k largest of n normal deviates gains on average, by simulation. The formula is that of many
 * levels; with few of them, or a single one split off, it is a few percent off. */
static void noise_of_sets_is_what_noise_gains(void) {
  static const struct {
    int k, n;
    double tolerance;
  } cases[] = {{50, 100, 0.03}, {20, 100, 0.03}, {80, 100, 0.03}, {64, 2000, 0.03}, {5, 50, 0.10}, {1, 40, 0.25}};
  static double z[2000];
  test_rng rng = {17};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    int k = cases[c].k, n = cases[c].n, repeats = 200000 / n;
    double total = 0.0;
    for (int r = 0; r < repeats; r++) {
      double top = 0.0, all = 0.0;
      for (int i = 0; i < n; i++) z[i] = test_bell(&rng), all += z[i];
      qsort(z, (size_t)n, sizeof *z, by_value);
      for (int i = 0; i < k; i++) top += z[n - 1 - i];
      total += top * top / k + (all - top) * (all - top) / (n - k) - all * all / n;
    }
    CHECK_NEAR(gbt_set_noise(k, n) / (total / repeats), 1.0, cases[c].tolerance);
  }
  CHECK_EQ_BITS(gbt_set_noise(0, 10), 0.0);
  CHECK_EQ_BITS(gbt_set_noise(10, 10), 0.0);
  CHECK_EQ_BITS(gbt_set_noise(3, 10), gbt_set_noise(7, 10));
  gbt_scale unit = gbt_scale_from(1.0, 1.0);
  gbt_fixed_sums sums = {0, (int64_t)1 << 40, (int64_t)1 << 30}, none = {0, 0, 0};
  double g = unit.down_g * 65536.0, h = unit.down_h * 65536.0;
  CHECK_NEAR(gbt_noise(sums, &unit), ldexp(g * g, 40) / ldexp(h, 30), 0.0);
  CHECK_EQ_BITS(gbt_noise(none, &unit), 0.0);
}

void suite_math(void) {
  RUN(exp_is_accurate);
  RUN(log_is_accurate);
  RUN(softplus_and_sigmoid_are_accurate);
  RUN(expm1_log1p_and_tanh_are_accurate);
  RUN(special_values);
  RUN(monotone_at_the_seams);
  RUN(bits_are_the_same_everywhere);
  RUN(order_keys_order);
  RUN(rounding_and_powers);
  RUN(scales_fit);
  RUN(stochastic_rounding_is_unbiased);
  RUN(weights_are_optimal);
  RUN(softmax_gradients);
  RUN(softmax_steps);
  RUN(noise_of_sets_is_what_noise_gains);
}
