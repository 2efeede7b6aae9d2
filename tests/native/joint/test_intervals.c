/* Discrete hazards: what is known of rows in intervals, gradients, the metrics of their curves against plain twins, and
 * trainings whose bytes do not depend on threads and pages. */
#include "fault.h"
#include "test.h"
#include "time_job.h"

#include <math.h>

#include "../../src/gbt/boost/metric.h"
#include "../../src/gbt/joint/joint.h"
#include "../../src/gbt/objective/intervals.h"

enum { K = 3, MOST = 40, UNKNOWN = GBT_HAZARD_UNKNOWN };
static const double breaks[K] = {1, 2, 4};

static gbt_objective objective(void) {
  gbt_objective o = gbt_objective_make(GBT_OBJ_HAZARD, K);
  o.breaks = breaks;
  return o;
}

/* A label by interval, as the specification of the objective has it. */
static void labels_of_intervals(void) {
  static const struct {
    double time, event, entry;
    int label[K];
  } rows[] = {
      {0.0, 1, 0, {1, UNKNOWN, UNKNOWN}},      {0.5, 1, 0, {1, UNKNOWN, UNKNOWN}},
      {1.0, 1, 0, {1, UNKNOWN, UNKNOWN}},      {1.1, 1, 0, {0, 1, UNKNOWN}},
      {4.0, 1, 0, {0, 0, 1}},                  {4.1, 1, 0, {0, 0, 0}}, /* behind the last end: censored there */
      {0.0, 0, 0, {UNKNOWN, UNKNOWN, UNKNOWN}}, {0.4, 0, 0, {UNKNOWN, UNKNOWN, UNKNOWN}},
      {0.5, 0, 0, {0, UNKNOWN, UNKNOWN}},      {1.0, 0, 0, {0, UNKNOWN, UNKNOWN}},
      {2.9, 0, 0, {0, 0, UNKNOWN}},            {3.0, 0, 0, {0, 0, 0}},
      {3.5, 0, 1.0, {UNKNOWN, 0, 0}},          {3.5, 0, 1.5, {UNKNOWN, 0, 0}}, /* comes at the middle */
      {3.5, 0, 1.6, {UNKNOWN, UNKNOWN, 0}},    {3.0, 0, 2.5, {UNKNOWN, UNKNOWN, UNKNOWN}}, /* half a unit of two */
      {1.9, 1, 1.8, {UNKNOWN, 1, UNKNOWN}}, /* an event counts, however late the row came */
  };
  const gbt_objective o = objective();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const gbt_rows one = {.n = 1,
                          .field = {[GBT_LABEL] = &rows[i].time, [GBT_EVENT] = &rows[i].event,
                                    [GBT_ENTRY] = &rows[i].entry}};
    for (int k = 0; k < K; k++)
      if (!CHECK_EQ_I64(gbt_interval_label(&o, &one, 0, k), rows[i].label[k])) test_note("row %d, %d", (int)i, k);
  }
  CHECK_EQ_BITS(gbt_interval_place(&o, 0.0), 0.0);
  CHECK_EQ_BITS(gbt_interval_place(&o, 1.0), 1.0);
  CHECK_EQ_BITS(gbt_interval_place(&o, 3.0), 2.5);
  CHECK_EQ_BITS(gbt_interval_place(&o, 4.0), 3.0);
  CHECK_EQ_BITS(gbt_interval_place(&o, 1e300), 3.0);
}

typedef struct scene {
  int64_t n;
  double time[MOST], event[MOST], weight[MOST], score[K * MOST];
} scene;

static scene draw(test_rng *rng) {
  scene s = {.n = 2 + (int64_t)test_below(rng, MOST - 2)};
  for (int64_t i = 0; i < s.n; i++) {
    s.time[i] = 0.25 * (double)test_below(rng, 20);
    s.event[i] = i == 0 || test_below(rng, 2);
    s.weight[i] = (double)(1 + test_below(rng, 3));
  }
  for (int64_t i = 0; i < K * s.n; i++) s.score[i] = test_bell(rng);
  return s;
}

static gbt_rows rows_of(const scene *s) {
  return (gbt_rows){.n = s->n, .field = {[GBT_LABEL] = s->time, [GBT_EVENT] = s->event, [GBT_WEIGHT] = s->weight}};
}

static double value(gbt_metric_kind kind, double param, const scene *s, const double *score) {
  const gbt_metric metric = {(int32_t)kind, param, 0};
  const gbt_objective o = objective();
  const gbt_rows rows = rows_of(s);
  gbt_ctx ctx = test_ctx(NULL, 2);
  double out = 99.0;
  CHECK_OK(gbt_metric_eval(&ctx, &metric, &o, &rows, NULL, score, &out, test_err));
  gbt_ctx_close(&ctx);
  return out;
}

/* The chance to live longer, by the hazard of each interval. */
static double survival(const scene *s, int64_t row, double time) {
  double S = 1.0, low = 0.0;
  for (int k = 0; k < K; k++) {
    const double p = 1.0 / (1.0 + exp(-s->score[k * s->n + row])), high = breaks[k];
    const double share = time >= high ? 1.0 : time <= low ? 0.0 : (time - low) / (high - low);
    S *= pow(1.0 - p, share);
    low = high;
  }
  return S;
}

static double loss(const scene *s, const double *score) {
  const gbt_objective o = objective();
  const gbt_rows rows = rows_of(s);
  double sum = 0.0, weights = 0.0;
  for (int64_t i = 0; i < s->n; i++) {
    weights += s->weight[i];
    for (int k = 0; k < K; k++) {
      const double p = 1.0 / (1.0 + exp(-score[k * s->n + i]));
      const int label = gbt_interval_label(&o, &rows, i, k);
      if (label != UNKNOWN) sum -= s->weight[i] * log(label ? p : 1.0 - p);
    }
  }
  return sum / weights;
}

/* Derivatives of the loss, whose scores are moved one by one. */
static void gradients_are_derivatives(void) {
  const gbt_objective o = objective();
  test_rng rng = {81};
  for (uint64_t c = 0; c < test_cases(40); c++) {
    const scene s = draw(&rng);
    const gbt_rows rows = rows_of(&s);
    const double *g, *h, d = 1e-4;
    gbt_joint *joint;
    gbt_ctx ctx = test_ctx(NULL, 2);
    double weights = 0.0;
    for (int64_t i = 0; i < s.n; i++) weights += s.weight[i];
    REQUIRE_OK(gbt_joint_new(&ctx, &o, &rows, 1, &joint, test_err));
    CHECK_OK(gbt_joint_gradients(&ctx, joint, 0, s.score, &g, &h, test_err));
    for (int64_t i = 0; i < K * s.n; i++) {
      scene up = s, down = s;
      const double w = s.weight[i % s.n];
      up.score[i] += d;
      down.score[i] -= d;
      const double high = loss(&s, up.score), low = loss(&s, down.score);
      CHECK_NEAR(w * g[i], weights * (high - low) / (2 * d), 1e-6);
      CHECK_NEAR(w * h[i], weights * (high - 2 * loss(&s, s.score) + low) / (d * d), 1e-4);
    }
    CHECK_NEAR(value(GBT_METRIC_HAZARD_NLOGLIK, 0.0, &s, s.score), loss(&s, s.score), 1e-12);
    gbt_joint_free(joint);
    gbt_ctx_close(&ctx);
  }
}

static void curves_equal_the_twin(void) {
  test_rng rng = {82};
  for (uint64_t c = 0; c < test_cases(100); c++) {
    const scene s = draw(&rng);
    const double t = 0.1 + 0.25 * (double)test_below(&rng, 20);
    double right = 0.0, pairs = 0.0, risk[MOST], brier = 0.0, weights = 0.0;
    for (int64_t i = 0; i < s.n; i++) {
      risk[i] = 0.0;
      for (int k = 0; k < K; k++) risk[i] -= log(survival(&s, i, breaks[k]));
    }
    for (int64_t i = 0; i < s.n; i++)
      for (int64_t j = 0; j < s.n && s.event[i] > 0.0; j++) {
        if (!(s.time[i] < s.time[j] || (s.time[i] == s.time[j] && s.event[j] == 0.0))) continue;
        pairs += s.weight[i] * s.weight[j];
        right += s.weight[i] * s.weight[j] * (risk[i] > risk[j]);
      }
    const double got = value(GBT_METRIC_CONCORDANCE, 0.0, &s, s.score);
    if (pairs > 0.0) CHECK_NEAR(got, right / pairs, 1e-12);
    scene all = s; /* without censorings G is 1 */
    for (int64_t i = 0; i < s.n; i++) {
      const double S = survival(&s, i, t);
      all.event[i] = 1.0;
      weights += s.weight[i];
      brier += s.weight[i] * (s.time[i] <= t ? S * S : (1.0 - S) * (1.0 - S));
    }
    CHECK_NEAR(value(GBT_METRIC_BRIER_SURVIVAL, t, &all, s.score), brier / weights, 1e-12);
  }
}

static void check(const time_job *t, const gbt_forest *want, const train_how *how) {
  double none = 0.0;
  gbt_forest *got = time_job_train(t, how, &none);
  CHECK(got != NULL && want != NULL && same_forests(got, want));
  gbt_forest_free(got);
}

static void trainings_do_not_depend_on_threads(void) {
  static const int64_t sizes[] = {1, 2, 33, 3400};
  static const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL}, pages = {3, 32, GBT_SIMD_SCALAR, NULL};
  for (int i = 0; i < 4; i++) {
    time_job t = hazard_job_make((uint64_t)i, sizes[i], i % 2 ? 0.7 : 1.0);
    double none = 0.0;
    gbt_forest *want = time_job_train(&t, &plain, &none);
    if (sizes[i] > 1000) CHECK(gbt_forest_view_of(want).n_nodes > 5 * 4 * 3); /* it has learnt something */
    check(&t, want, &pages);
    gbt_forest_free(want);
    time_job_free(&t);
  }
}

static void breaks_are_checked(void) {
  static const double wrong[][K] = {{0, 1, 2}, {1, 1, 2}, {1, 2, INFINITY}, {1, NAN, 3}};
  static const char *const words[] = {"number 1 is 0", "number 2 is 1", "number 3 is inf", "number 2 is"};
  gbt_objective o = gbt_objective_make(GBT_OBJ_HAZARD, K);
  CHECK_FAILS(gbt_breaks_check(&o, test_err), GBT_E_ARG, "needs `breaks`");
  for (int i = 0; i < 4; i++) {
    o.breaks = wrong[i];
    CHECK_FAILS(gbt_breaks_check(&o, test_err), GBT_E_ARG, words[i]);
  }
  const gbt_rows rows = test_rows(K, breaks, NULL, NULL);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_joint *joint;
  o.breaks = breaks;
  CHECK_FAILS(gbt_joint_new(&ctx, &o, &rows, 1, &joint, test_err), GBT_E_DATA, "needs `event`");
  gbt_ctx_close(&ctx);
}

static gbt_status metrics_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const scene *s = arg;
  const gbt_metric metric[] = {
      {GBT_METRIC_IBS, 0.0, 0}, {GBT_METRIC_CONCORDANCE, 0.0, 0}, {GBT_METRIC_HAZARD_NLOGLIK, 0.0, 0}};
  const gbt_objective o = objective();
  const gbt_rows rows = rows_of(s);
  gbt_ctx ctx;
  double out;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  for (int k = 0; k < 3 && status == GBT_OK; k++)
    status = gbt_metric_eval(&ctx, &metric[k], &o, &rows, NULL, s->score, &out, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void failures_are_clean(void) {
  test_rng rng = {83};
  scene s = draw(&rng);
  CHECK(fault_sweep(metrics_op, &s) > 10);
}

void suite_intervals(void) {
  RUN(labels_of_intervals);
  RUN(gradients_are_derivatives);
  RUN(curves_equal_the_twin);
  RUN(trainings_do_not_depend_on_threads);
  RUN(breaks_are_checked);
  RUN(failures_are_clean);
}
