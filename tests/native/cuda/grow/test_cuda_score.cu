/* Attacks on the bound by which searches pass over cuts (cuda/grow/search/score_bound.cuh): what it says of two cuts
 * against their gains, which gbt_rate_split reckons, for sums, units and parameters of all sizes and for cuts that gain
 * almost the same. */
#include "../../src/cuda/grow/search/score_bound.cuh"

extern "C" {
#include "test.h"
}

/* A node for attacks on it, and what is counted on the way. */
typedef struct attack {
  gbt_rated node;
  gbt_units unit;
  gbt_reg reg;
  gbt_sum sum;
  double least;
  cu_bound bound;
  int64_t n_passed, n_near, n_light;
} attack;

static int64_t draw_magnitude(test_rng *rng, int bits) {
  return (int64_t)(test_u(rng) >> (64 - 1 - test_below(rng, bits)));
}

static void draw_node(attack *a, test_rng *rng) {
  static const double lambdas[] = {0.0, 1.0, 1e-300, 5e-324, 1e-9, 1e4, 1e300};
  const int far = test_below(rng, 3) == 0;
  a->unit.g = gbt_pow2((int)test_below(rng, far ? 401 : 31) - (far ? 200 : 25));
  a->unit.h = gbt_pow2((int)test_below(rng, far ? 401 : 31) - (far ? 200 : 25));
  a->reg.lambda = lambdas[test_below(rng, 7)] * (test_below(rng, 2) ? a->unit.h : 1.0);
  a->reg.alpha = a->reg.max_delta_step = 0.0;
  a->sum.g = draw_magnitude(rng, 51) * (test_below(rng, 2) ? 1 : -1);
  a->sum.h = 2 + draw_magnitude(rng, 51);
  gbt_grow_node node = {};
  node.sum = a->sum;
  const double weight = test_below(rng, 2) ? 0.0 : (double)draw_magnitude(rng, 30) * a->unit.h * test_unit(rng);
  a->node = gbt_rated_of(&node, a->unit, a->reg, weight, 0);
  a->least = test_below(rng, 2) ? 0.0 : a->node.parent * test_unit(rng) * gbt_pow2(-(int)test_below(rng, 40));
  a->bound = cu_bound_of(&a->node, a->unit, a->reg, 1, a->least);
}

static double exact_gain(const attack *a, gbt_sum left) {
  return gbt_rate_split(&a->node, (double)left.g * a->unit.g, (double)left.h * a->unit.h, a->reg, 0);
}

static float score_of(const attack *a, gbt_sum left) {
  const gbt_sum right = {a->sum.g - left.g, a->sum.h - left.h};
  return cu_score(&a->bound, left, right);
}

/* What score_bound.cuh claims of cut b, and of b where a has set the bar. */
static void attack_pair(attack *a, gbt_sum one, gbt_sum two) {
  const float score[] = {score_of(a, one), score_of(a, two)};
  const double gain[] = {exact_gain(a, one), exact_gain(a, two)};
  for (int b = 0; b < 2; b++) {
    const float bar = score[!b] * CU_SCORE_KEPT;
    a->n_light += score[b] == -1.0f;
    if (score[b] == -1.0f) CHECK(gain[b] == -1.0);
    if (score[b] < a->bound.bar) CHECK(!(gain[b] > a->least));
    if (score[b] < bar) a->n_passed++, CHECK(!(gain[b] > a->least) || gain[b] < gain[!b]);
    a->n_near += score[b] >= bar && score[b] < score[!b];
  }
}

/* Lefts that gain about as much as `a`: by steps of a unit, the other side's twin, the same mean with other weights. */
static gbt_sum near_to(const attack *a, gbt_sum s, test_rng *rng) {
  const int64_t by = test_below(rng, 3) ? 1 : 1 + s.h / (1 + draw_magnitude(rng, 28));
  switch (test_below(rng, 4)) {
  case 0: return gbt_sum{s.g + by, s.h};
  case 1: return gbt_sum{s.g, s.h > by ? s.h - by : s.h};
  case 2: return gbt_sum{a->sum.g - s.g, a->sum.h - s.h};
  default: return gbt_sum{s.g - by, s.h + by < a->sum.h ? s.h + by : s.h};
  }
}

static void scores_bound_gains(void) {
  test_rng rng = {17};
  attack a = {};
  int64_t on = 0;
  for (int i = 0; i < 20000; i++) {
    draw_node(&a, &rng);
    if (!a.bound.on) continue;
    on++;
    for (int k = 0; k < 20; k++) {
      const int64_t g = draw_magnitude(&rng, 51);
      gbt_sum one = {test_below(&rng, 2) ? g : -g, test_below(&rng, 4) ? 1 + test_below(&rng, a.sum.h - 1) : 1};
      if (test_below(&rng, 3) == 0) one.g = (int64_t)((double)a.sum.g * ((double)one.h / (double)a.sum.h));
      const gbt_sum any = {draw_magnitude(&rng, 51), test_below(&rng, a.sum.h + 1)};
      attack_pair(&a, one, test_below(&rng, 4) ? near_to(&a, one, &rng) : any);
    }
  }
  test_note("%" PRId64 " nodes with a bound; %" PRId64 " cuts passed over, %" PRId64 " too near, %" PRId64 " too light",
            on, a.n_passed, a.n_near, a.n_light);
  CHECK(on > 10000 && a.n_passed > 100000 && a.n_near > 10000 && a.n_light > 1000);
}

/* Where nothing is proved there is no bound. */
static void scores_without_bound(void) {
  const gbt_reg plain = {1.0, 0.0, 0.0};
  gbt_grow_node node = {};
  node.sum.g = 1000, node.sum.h = 5000;
  for (int what = 0; what < 9; what++) {
    gbt_units unit = {0x1p-10, 0x1p-12};
    gbt_reg reg = plain;
    if (what == 1) reg.alpha = 1e-300;
    if (what == 2) unit.g = 0x1.8p-10;
    if (what == 3) unit.h = 0x1p-201;
    if (what == 4) unit.g = 0x1p201;
    if (what == 5) reg.lambda = 1e300;
    if (what == 6) unit.h = 0x1p-1060; /* subnormal */
    const gbt_rated rated = gbt_rated_of(&node, unit, reg, 0.0, what == 7);
    CHECK_EQ_I64(cu_bound_of(&rated, unit, reg, what != 8, 0.0).on, what == 0);
  }
}

extern "C" void suite_cuda_score(void) {
  RUN(scores_bound_gains);
  RUN(scores_without_bound);
}
