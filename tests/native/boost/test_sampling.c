/* Rows drawn by their gradients: ranges of sizes, what the rules expect of the rows, and that factors leave sums as
 * they are on average; what cannot be asked for. That trainings draw these rows is for the suites train and random. */
#include "../../src/gbt/math/sampling.h"
#include "../../src/gbt/boost/sampling.h"

#include "trained.h"
#include "test.h"

/* ---- sizes ---- */

static void ranges_are_in_order(void) {
  uint32_t last = 0;
  for (uint64_t size = 0; size <= INT32_MAX; size += 1 + size / 1000) {
    const uint32_t b = gbt_size_bucket((uint32_t)size);
    if (!CHECK(b >= last && b < GBT_SIZE_BUCKETS)) return;
    last = b;
  }
  CHECK_EQ_U64(gbt_size_bucket(INT32_MAX), GBT_SIZE_BUCKETS - 1);
  for (int bit = 0; bit < 31; bit++)
    for (int64_t near = -2; near <= 2; near++) {
      const int64_t size = ((int64_t)1 << bit) + near;
      if (size < 0 || size > INT32_MAX) continue;
      const uint32_t b = gbt_size_bucket((uint32_t)size);
      const double middle = gbt_size_middle(b);
      CHECK(fabs(middle - (double)size) <= (double)size / 64.0);
      CHECK_EQ_U64(gbt_size_bucket((uint32_t)middle), b);
    }
  for (uint32_t b = 1; b < GBT_SIZE_BUCKETS; b++) CHECK(gbt_size_middle(b) > gbt_size_middle(b - 1));
}

static void sizes_fit(void) {
  const double numbers[] = {0.0, 5e-324, 1e-300, 1e-12, 0.5, 1.0, 1.0 + 1e-15, 3.7, 1e12, 9.9e289};
  const double regs[] = {0.0, 1e-300, 0.1, 1.0, 1e10, 1e300};
  const int outputs[] = {1, 2, 3, 7, 8, 9, 1000, 65535, INT32_MAX};
  for (size_t a = 0; a < sizeof numbers / sizeof *numbers; a++)
    for (size_t b = 0; b < sizeof numbers / sizeof *numbers; b++)
      for (size_t r = 0; r < sizeof regs / sizeof *regs; r++)
        for (size_t k = 0; k < sizeof outputs / sizeof *outputs; k++) {
          const gbt_size_scale s = gbt_size_scale_from(numbers[a], numbers[b], regs[r], outputs[k]);
          const double square = (double)outputs[k] * gbt_size_square(&s, -numbers[a], numbers[b]);
          const uint32_t size = gbt_size_of(&s, square);
          CHECK(size >= 1 && size <= INT32_MAX);
          if (numbers[a] >= 1e-12 && outputs[k] == 1) CHECK(size > (uint32_t)1 << 28); /* most bits are of use */
        }
  CHECK_EQ_BITS(gbt_size_reg(2.5, 1.0, 2.0), 2.5);
  CHECK_EQ_BITS(gbt_size_reg(-1.0, 3.0, 2.0), 2.25);
  CHECK_EQ_BITS(gbt_size_reg(-1.0, 3.0, 0.0), 0.0);
  CHECK_EQ_BITS(gbt_size_reg(-1.0, 1e200, 1e-200), 1e300);
}

/* ---- rules ---- */

enum { ROWS = 200000 };

typedef enum sizes_kind { EQUAL, EVEN, HEAVY, TWO, TINY, N_KINDS } sizes_kind;

static uint32_t draw_size(test_rng *rng, sizes_kind kind) {
  const double u = (double)(1 + test_below(rng, 1 << 30)) / (double)(1 << 30);
  switch (kind) {
  case EQUAL:
    return 123456789;
  case EVEN:
    return 1 + (uint32_t)(u * 2e9);
  case HEAVY:
    return 1 + (uint32_t)(fmin(1.0 / u, 1e5) * 2e4);
  case TWO:
    return u < 0.05 ? 2000000000 : 1000;
  case TINY:
  case N_KINDS:
    break;
  }
  return 1 + (uint32_t)test_below(rng, 3);
}

typedef struct draw_sums {
  int64_t drawn;
  double plain, weighed, square; /* sizes; sizes times factors; the variance of the latter */
} draw_sums;

/* Of a row's size times its factor. */
static double variance_of(const gbt_sample_rule *rule, uint32_t size) {
  const double square = (double)size * size, more = (double)rule->other_factor - 1.0;
  const uint32_t bucket = gbt_size_bucket(size);
  if (rule->kind == GBT_SAMPLE_MVS) return (double)size < rule->mu ? (rule->mu / size - 1.0) * square : 0.0;
  if (bucket > rule->border) return 0.0;
  return more * square * (bucket == rule->border ? 1.0 - (double)rule->border_limit / 4294967296.0 : 1.0);
}

static draw_sums draw_all(const gbt_sample_rule *rule, const uint32_t *size, int64_t n, uint64_t round) {
  const gbt_key32 draw = gbt_key(7, GBT_FOR_FACTORS, round, 0), tie = gbt_key(7, GBT_FOR_FACTORS, round, 1);
  draw_sums s = {0, 0.0, 0.0, 0.0};
  for (int64_t i = 0; i < n; i++) {
    const double factor = (double)gbt_sample_factor(rule, draw, tie, (uint64_t)i, size[i]);
    CHECK(factor == 0.0 || factor >= 0.999999 || rule->kind == GBT_SAMPLE_BAYESIAN);
    s.drawn += factor > 0.0;
    s.plain += size[i];
    s.weighed += size[i] * factor;
    s.square += variance_of(rule, size[i]);
  }
  return s;
}

static void count_sizes(const uint32_t *size, int64_t n, int64_t *count) {
  memset(count, 0, GBT_SIZE_BUCKETS * sizeof *count);
  for (int64_t i = 0; i < n; i++) count[gbt_size_bucket(size[i])]++;
}

static void shares_are_those_asked_for(void) {
  const double shares[] = {0.01, 0.1, 0.3, 0.5, 0.9, 1.0};
  test_rng rng = {11};
  uint32_t *size = test_alloc(ROWS * sizeof *size);
  int64_t *count = test_alloc(GBT_SIZE_BUCKETS * sizeof *count);
  for (int kind = 0; kind < N_KINDS; kind++) {
    for (int64_t i = 0; i < ROWS; i++) size[i] = draw_size(&rng, (sizes_kind)kind);
    count_sizes(size, ROWS, count);
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
      const gbt_sample_rule mvs = gbt_sample_rule_from(GBT_SAMPLE_MVS, count, ROWS, shares[s], 0.2, 0.1, 1.0);
      const gbt_sample_rule goss =
          gbt_sample_rule_from(GBT_SAMPLE_GOSS, count, ROWS, 1.0, shares[s] < 1.0 ? shares[s] : 0.0, 0.05, 1.0);
      const draw_sums m = draw_all(&mvs, size, ROWS, s), g = draw_all(&goss, size, ROWS, s);
      const double want = shares[s] * ROWS, other = shares[s] < 1.0 ? shares[s] + 0.05 : 0.05;
      CHECK(fabs((double)m.drawn - want) <= 5.0 * sqrt(want) + 0.01 * want);
      CHECK(fabs((double)g.drawn - fmin(other, 1.0) * ROWS) <= 6.0 * sqrt(other * ROWS));
      CHECK(fabs(m.weighed - m.plain) <= 5.0 * sqrt(m.square) + 1e-5 * m.plain);
      CHECK(fabs(g.weighed - g.plain) <= 5.0 * sqrt(g.square) + 1e-5 * g.plain);
      if (shares[s] == 1.0) CHECK_EQ_I64(m.drawn, ROWS);
    }
  }
  free(size);
  free(count);
}

/* The variance of a sum of sizes is least by mvs: below that of goss with as many rows. */
static void variances_are_in_order(void) {
  test_rng rng = {12};
  uint32_t *size = test_alloc(ROWS * sizeof *size);
  int64_t *count = test_alloc(GBT_SIZE_BUCKETS * sizeof *count);
  for (int64_t i = 0; i < ROWS; i++) size[i] = draw_size(&rng, HEAVY);
  count_sizes(size, ROWS, count);
  const gbt_sample_rule mvs = gbt_sample_rule_from(GBT_SAMPLE_MVS, count, ROWS, 0.3, 0.2, 0.1, 1.0);
  const gbt_sample_rule goss = gbt_sample_rule_from(GBT_SAMPLE_GOSS, count, ROWS, 1.0, 0.2, 0.1, 1.0);
  double of_mvs = 0.0, of_goss = 0.0;
  for (uint64_t round = 0; round < 20; round++) {
    const draw_sums m = draw_all(&mvs, size, ROWS, round), g = draw_all(&goss, size, ROWS, round);
    of_mvs += (m.weighed - m.plain) * (m.weighed - m.plain);
    of_goss += (g.weighed - g.plain) * (g.weighed - g.plain);
  }
  CHECK(of_mvs < of_goss);
  free(size);
  free(count);
}

/* Every number of rows, and every range alone. */
static void few_rows(void) {
  int64_t *count = test_alloc(GBT_SIZE_BUCKETS * sizeof *count);
  for (int64_t n = 0; n <= 130; n++)
    for (uint32_t b = n > 40 ? 64 : 1; b < GBT_SIZE_BUCKETS; b += n > 40 ? 97 : 13) {
      memset(count, 0, GBT_SIZE_BUCKETS * sizeof *count);
      count[b] = n;
      for (int s = 1; s <= 10; s++) {
        const double share = s / 10.0, mu = gbt_sample_mu(count, share * (double)n);
        const gbt_sample_rule goss = gbt_sample_rule_from(GBT_SAMPLE_GOSS, count, n, 1.0, share - 0.1, 0.1, 1.0);
        if (n > 0) CHECK_NEAR(mu, gbt_size_middle(b) / share, 1e-12);
        if (n > 0 && s > 1) CHECK_EQ_U64(goss.border, b);
        CHECK(goss.border_limit <= (uint64_t)1 << 32 && goss.other_factor >= 1.0f);
      }
    }
  free(count);
}

static void random_weights_are_exponential(void) {
  const double powers[] = {0.0, 0.5, 1.0, 2.0};
  for (int p = 0; p < 4; p++) {
    const gbt_sample_rule rule = {.kind = GBT_SAMPLE_BAYESIAN, .power = powers[p]};
    const gbt_key32 draw = gbt_key(3, GBT_FOR_FACTORS, (uint64_t)p, 0);
    double sum = 0.0, least = INFINITY;
    for (uint64_t i = 0; i < ROWS; i++) {
      const double f = (double)gbt_sample_factor(&rule, draw, draw, i, 0);
      sum += f;
      least = fmin(least, f);
    }
    CHECK(least > 0.0);
    CHECK(fabs(sum / ROWS - tgamma(1.0 + powers[p])) < 0.02 * (1.0 + powers[p] * powers[p]));
  }
}

/* ---- trainings ---- */

static void refusals(void) {
  gbt_params p = gbt_params_default();
  p.sampling_method = GBT_SAMPLE_GOSS;
  p.top_rate = 0.8, p.other_rate = 0.3;
  CHECK_FAILS(gbt_params_check(&p, test_err), GBT_E_ARG, "add up to 1.1");
  p.other_rate = 0.1, p.subsample = 0.5;
  CHECK_FAILS(gbt_params_check(&p, test_err), GBT_E_ARG, "`subsample` must be 1 with `sampling_method = \"goss\"`");
  p.subsample = 1.0, p.num_parallel_tree = 2;
  CHECK_FAILS(gbt_params_check(&p, test_err), GBT_E_ARG, "parallel trees would have the same rows");
  p.num_parallel_tree = 1;
  CHECK_OK(gbt_params_check(&p, test_err));

  gbt_trainer_spec spec = {.params = p, .objective = made_objective(GBT_OBJ_ABSOLUTE_ERROR, 1, 1)};
  const double rates[] = {0.5, 1.0, 0.0}, none[] = {0.0, 0.0}, wrong[] = {0.5, 1.5};
  CHECK_FAILS(gbt_sampling_check(&spec, test_err), GBT_E_UNSUPPORTED, "are quantiles");
  spec.params.sampling_method = GBT_SAMPLE_BAYESIAN;
  CHECK_OK(gbt_sampling_check(&spec, test_err));
  spec.params.boosting = GBT_BOOSTING_ORDERED;
  CHECK_FAILS(gbt_sampling_check(&spec, test_err), GBT_E_UNSUPPORTED, "ordered");
  spec.params.boosting = GBT_BOOSTING_PLAIN;
  spec.class_rate = rates, spec.n_class_rates = 2;
  CHECK_FAILS(gbt_sampling_check(&spec, test_err), GBT_E_ARG, "`subsample` by class needs `sampling_method");
  spec.params.sampling_method = GBT_SAMPLE_UNIFORM;
  CHECK_FAILS(gbt_sampling_check(&spec, test_err), GBT_E_UNSUPPORTED, "an objective for classes");
  spec.objective = made_objective(GBT_OBJ_LOGISTIC, 1, 1);
  CHECK_OK(gbt_sampling_check(&spec, test_err));
  spec.n_class_rates = 3;
  CHECK_FAILS(gbt_sampling_check(&spec, test_err), GBT_E_ARG, "3 shares for 2 classes");
  spec.n_class_rates = 2, spec.class_rate = none;
  CHECK_FAILS(gbt_sampling_check(&spec, test_err), GBT_E_ARG, "is 0 for all classes");
  spec.class_rate = wrong;
  CHECK_FAILS(gbt_sampling_check(&spec, test_err), GBT_E_ARG, "class 2 is 1.5");
}

/* Rows of a class whose share is 0 say nothing; counts of nodes are those of the drawn rows. */
static void classes_are_drawn_by_their_shares(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_BELL};
  const double rates[] = {0.0, 0.5, 1.0};
  made *m = made_new(5, 3000, 3, kinds);
  made_response(m, GBT_OBJ_SOFTMAX, 3, 6);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, 3, 2);
  job.spec.class_rate = rates, job.spec.n_class_rates = 3;
  const train_how how = {.threads = 2, .simd = GBT_SIMD_AUTO};
  trained *t = train(&job, &how), *n = train_naively(&job);
  int64_t of[3] = {0, 0, 0};
  for (int64_t i = 0; i < m->table.n_rows; i++) of[(int)m->label[i]]++;
  if (CHECK(t != NULL && same_trained(t, n)))
    for (size_t k = 0; k < t->forest->n_trees; k++) {
      const double drawn = t->forest->count[t->forest->trees[k].node_beg];
      CHECK(fabs(drawn - 0.5 * (double)of[1] - (double)of[2]) < 3.0 * sqrt((double)of[1]));
    }
  trained_free(t);
  trained_free(n);
  made_free(m);
}

void suite_sampling(void) {
  RUN(ranges_are_in_order);
  RUN(sizes_fit);
  RUN(shares_are_those_asked_for);
  RUN(variances_are_in_order);
  RUN(few_rows);
  RUN(random_weights_are_exponential);
  RUN(refusals);
  RUN(classes_are_drawn_by_their_shares);
}
