/* Further steps of a leaf's value: where they end, how far they may go, and what a pass over rows that overflow does.
 * Whole trainings with steps are compared with the twin by the suites of trainings (random_job.c draws them). */
#include "../../src/gbt/backend/backend.h"
#include "../../src/gbt/tree/leaf_step.h"
#include "made.h"
#include "random_job.h"
#include "test.h"

enum { MOST = 40 };

/* A leaf's rows. */
typedef struct leaf {
  gbt_objective objective;
  int n;
  double score[MOST], label[MOST], weight[MOST];
  gbt_reg reg;
  gbt_bounds bounds;
} leaf;

static leaf make_leaf(test_rng *rng, gbt_objective_kind kind, uint64_t seed) {
  leaf l = {.objective = made_objective(kind, 1, seed), .n = 1 + (int)test_below(rng, MOST)};
  const double spread = test_below(rng, 3) == 0 ? 12.0 : 1.5; /* where hessians have vanished, too */
  const double lambdas[] = {1.0, 0.01, 1e-4};
  const double level = kind == GBT_OBJ_POISSON || kind == GBT_OBJ_TWEEDIE ? 0.0 : 2.0 * test_bell(rng);
  for (int i = 0; i < l.n; i++) {
    l.score[i] = spread * test_bell(rng);
    l.label[i] = made_label(&l.objective, level + test_bell(rng), test_unit(rng));
    l.weight[i] = test_below(rng, 3) ? 1.0 : 4.0 * test_unit(rng);
  }
  l.reg.lambda = lambdas[test_below(rng, 3)];
  l.reg.alpha = test_below(rng, 3) ? 0.0 : 0.3;
  l.reg.max_delta_step = test_below(rng, 4) ? 0.0 : 0.7;
  l.bounds = (gbt_bounds){-INFINITY, INFINITY};
  if (test_below(rng, 4) == 0) l.bounds = (gbt_bounds){-0.4, 0.9};
  return l;
}

static void sums_at(const leaf *l, double at, gbt_step_sums *out) {
  double max_g = 0.0, max_h = 0.0;
  gbt_gh gh[MOST];
  for (int i = 0; i < l->n; i++) {
    gh[i] = test_gradient(&l->objective, l->score[i] + at, l->label[i]);
    gh[i].g *= l->weight[i], gh[i].h *= l->weight[i];
    if (!(fabs(gh[i].g) < 1e290)) gh[i].g = INFINITY;
    max_g = fmax(max_g, fabs(gh[i].g)), max_h = fmax(max_h, gh[i].h);
  }
  *out = gbt_step_none();
  out->max_g = gbt_bits(max_g), out->max_h = gbt_bits(max_h);
  if (!gbt_scale_usable(max_g, max_h)) return;
  const gbt_scale scale = gbt_scale_from(max_g, max_h);
  for (int i = 0; i < l->n; i++) {
    const gbt_gh32 q = gbt_fix32(gh[i].g, gh[i].h, scale.up_g, scale.up_h);
    out->sum.g += q.g, out->sum.h += q.h;
  }
}

/* Slope of the penalised loss, without rounding to fixed point. */
static double slope_at(const leaf *l, double at) {
  double g = l->reg.lambda * at + (at > 0.0 ? l->reg.alpha : at < 0.0 ? -l->reg.alpha : 0.0);
  for (int i = 0; i < l->n; i++)
    g += l->weight[i] * test_gradient(&l->objective, l->score[i] + at, l->label[i]).g;
  return g;
}

static double first_step(const leaf *l) {
  gbt_step_sums at;
  sums_at(l, 0.0, &at);
  const gbt_scale scale = gbt_scale_from(gbt_from_bits(at.max_g), gbt_from_bits(at.max_h));
  return gbt_weight((double)at.sum.g * scale.down_g, (double)at.sum.h * scale.down_h, l->reg, l->bounds);
}

/* Where the slope changes its sign, within what limits the value; by halving. */
static double best_value(const leaf *l) {
  const double most = l->reg.max_delta_step > 0.0 ? l->reg.max_delta_step : 1e4;
  double low = fmax(-most, l->bounds.lo), high = fmin(most, l->bounds.hi);
  if (slope_at(l, low) >= 0.0) return low;
  if (slope_at(l, high) <= 0.0) return high;
  for (int i = 0; i < 200; i++) {
    const double mid = low + (high - low) / 2.0;
    if (slope_at(l, mid) < 0.0) low = mid;
    else high = mid;
  }
  return low;
}

static const gbt_objective_kind stepped[] = {GBT_OBJ_LOGISTIC, GBT_OBJ_POISSON, GBT_OBJ_GAMMA, GBT_OBJ_TWEEDIE,
                                             GBT_OBJ_NEGATIVE_BINOMIAL, GBT_OBJ_HUBER, GBT_OBJ_PSEUDO_HUBER,
                                             GBT_OBJ_LOG_COSH, GBT_OBJ_EXPECTILE, GBT_OBJ_CROSS_ENTROPY};
enum { N_STEPPED = sizeof stepped / sizeof *stepped };

/* Also: a step at most doubles the value and goes at most half the way to one that was known to be too far. */
static void steps_end_at_the_minimum(void) {
  test_rng rng = {21};
  int moved = 0, halved = 0, doubled = 0;
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    leaf l = make_leaf(&rng, stepped[seed % N_STEPPED], seed);
    gbt_leaf_step s = gbt_leaf_step_begin(first_step(&l));
    const double best = best_value(&l);
    for (int step = 0; step < 400 && s.going; step++) {
      const gbt_leaf_step before = s;
      sums_at(&l, s.value, &s.at);
      gbt_leaf_step_take(&s, 0, l.reg, l.bounds);
      moved += s.going;
      const double half = (s.value > before.value ? s.high : s.low) * 0.5 + before.value * 0.5;
      halved += s.value != before.value && fabs(s.value - half) < 1e-14 * fabs(half);
      CHECK(isinf(half) || fabs(s.value - before.value) <= fabs(half - before.value) * (1.0 + 1e-14));
      doubled += s.value == 2.0 * before.value;
      CHECK(fabs(s.value) <= 2.0 * fabs(before.value) && s.value * before.value >= 0.0);
      CHECK(s.value >= s.low && s.value <= s.high && s.low >= before.low && s.high <= before.high);
      CHECK(s.value >= l.bounds.lo && s.value <= l.bounds.hi);
      CHECK(s.at.max_g == 0 && s.at.sum.g == 0);
    }
    /* 32 bits of the largest gradient: where the loss is flat the value may be off by as much as that moves it */
    if (s.value != 0.0 && !CHECK_NEAR(s.value, best, 1e-3 * (1.0 + fabs(best)))) {
      const double near = slope_at(&l, s.value), other = slope_at(&l, best);
      test_note("seed %d, objective %d: %g, not %g; slopes %g, %g", (int)seed, l.objective.kind, s.value, best, near,
                other);
    }
  }
  test_note("%d moved, %d halved, %d doubled", moved, halved, doubled);
  CHECK(moved > 5000 && halved > 500 && doubled > 20);
}

/* Where gradients cannot be scaled the value is much too far from 0. */
static void overflow_is_too_far(void) {
  const gbt_reg reg = {1.0, 0.0, 0.0};
  const gbt_bounds free_bounds = {-INFINITY, INFINITY};
  const double far[] = {INFINITY, NAN, 1e290};
  for (int i = 0; i < 6; i++) {
    const double first = i < 3 ? 8.0 : -8.0;
    gbt_leaf_step s = gbt_leaf_step_begin(first);
    CHECK(s.going && !gbt_leaf_step_begin(0.0).going);
    for (int step = 1; step < 5; step++) {
      s.at.max_g = gbt_bits(far[i % 3]);
      s.at.max_h = step % 2 ? gbt_bits(1.0) : s.at.max_g;
      CHECK(!gbt_leaf_step_usable(&s));
      gbt_leaf_step_take(&s, 0, reg, free_bounds);
      CHECK(s.going && s.value == ldexp(first, -step));
      CHECK(first > 0.0 ? s.high == 2.0 * s.value && s.low == 0.0 : s.low == 2.0 * s.value && s.high == 0.0);
    }
  }
}

/* The loss itself, by a fine sum over the slope: with few steps it is, as a rule, less than with one. */
static void steps_pay(void) {
  test_rng rng = {22};
  int better = 0, worse = 0;
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    leaf l = make_leaf(&rng, stepped[seed % N_STEPPED], seed);
    gbt_leaf_step s = gbt_leaf_step_begin(first_step(&l));
    const double one = s.value;
    for (int step = 0; step < 4; step++) {
      if (s.going) sums_at(&l, s.value, &s.at);
      gbt_leaf_step_take(&s, 0, l.reg, l.bounds);
    }
    double gain = 0.0; /* of moving from `one` to s.value */
    for (int i = 0; i < 400; i++) gain -= slope_at(&l, one + (s.value - one) * ((i + 0.5) / 400.0)) * (s.value - one);
    better += gain > 1e-6;
    worse += gain < -1e-6;
  }
  test_note("better %d, worse %d", better, worse);
  CHECK(better > 300 && worse < 10);
}

/* What one step minimises, and what is not asked. */
static void steps_are_for_some_objectives(void) {
  gbt_params params = gbt_params_default();
  params.leaf_iterations = 5;
  int32_t n = 0;
  for (int32_t k = 0; k < GBT_N_OBJECTIVES; k++) {
    const gbt_objective o = gbt_objective_make((gbt_objective_kind)k, k == GBT_OBJ_SOFTMAX ? 3 : 1);
    const int32_t steps = gbt_leaf_steps(&o, &params);
    int listed = k == GBT_OBJ_SOFTMAX;
    for (int i = 0; i < N_STEPPED; i++) listed |= stepped[i] == (gbt_objective_kind)k;
    CHECK(steps == (listed ? 4 : 0));
    n += steps > 0;
  }
  CHECK(n == N_STEPPED + 1);
  params.leaf_iterations = 1;
  CHECK(gbt_leaf_steps(&(gbt_objective){.kind = GBT_OBJ_LOGISTIC, .n_outputs = 1}, &params) == 0);
}

static const train_how plain = {1, 0, GBT_SIMD_SCALAR, NULL};

/* Each of the two parameters shows in a forest, alone and with the other, in trees of every policy. */
static void parameters_show(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_LEVELS, MADE_HOLES};
  made *m = made_new(9, 600, 3, kinds);
  made_response(m, GBT_OBJ_POISSON, 1, 9);
  for (int policy = 0; policy < 3; policy++) {
    uint64_t digest[4];
    for (int c = 0; c < 4; c++) {
      train_job job = job_make(m, GBT_OBJ_POISSON, 1, 2);
      job.spec.params.grow_policy = policy;
      job.spec.params.max_depth = 4;
      job.spec.params.leaf_iterations = c & 1 ? 4 : 1;
      job.spec.params.path_smooth = c & 2 ? 10.0 : 0.0;
      trained *a = train(&job, &plain), *b = train_naively(&job);
      same_trained(a, b);
      digest[c] = a != NULL ? forest_digest(0, a->forest) : 0;
      trained_free(a);
      trained_free(b);
    }
    for (int c = 1; c < 4; c++)
      for (int d = 0; d < c; d++) CHECK(digest[c] != digest[d]);
  }
  made_free(m);
}

void suite_leaf_step(void) {
  RUN(steps_end_at_the_minimum);
  RUN(overflow_is_too_far);
  RUN(steps_pay);
  RUN(steps_are_for_some_objectives);
  RUN(parameters_show);
}
