/* Metrics of ranking: reference numbers, and a twin that takes the mean over all orders of rows with equal scores. */
#include "clock.h"
#include "fault.h"
#include "test.h"

#include "../../src/gbt/boost/metric.h"

enum { MOST = 7 };

static gbt_status eval_by(gbt_ctx *ctx, const gbt_objective *o, gbt_metric_kind kind, double k, gbt_rows rows,
                          const double *score, double *out) {
  const gbt_metric metric = {(int32_t)kind, k, 0};
  return gbt_metric_eval(ctx, &metric, o, &rows, NULL, score, out, test_err);
}

static gbt_status eval(gbt_ctx *ctx, gbt_metric_kind kind, double k, gbt_rows rows, const double *score, double *out) {
  const gbt_objective o = gbt_objective_make(GBT_OBJ_RANK_NDCG, 1);
  return eval_by(ctx, &o, kind, k, rows, score, out);
}

static double value(gbt_metric_kind kind, double k, int n, const double *label, const double *group,
                    const double *weight, const double *score) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  const gbt_rows rows = {.n = n, .field = {[GBT_LABEL] = label, [GBT_GROUP] = group, [GBT_WEIGHT] = weight}};
  double out = 99.0;
  CHECK_OK(eval(&ctx, kind, k, rows, score, &out));
  gbt_ctx_close(&ctx);
  return out;
}

/* ../shared/reference/ranking.md, section 9, A. A second query, of one row, makes the largest label 4; metrics that
 * are 0 or 1 for it are taken out of the mean. */
static void metrics_have_the_reference_numbers(void) {
  static const double y[] = {3, 2, 0, 1, 0}, s[] = {.5, .9, .5, .5, .1}, one[5] = {1, 1, 1, 1, 1};
  static const struct {
    gbt_metric_kind kind;
    double k, want;
  } all[] = {{GBT_METRIC_NDCG, 1, .428571428571},     {GBT_METRIC_NDCG, 2, .526547881163},
             {GBT_METRIC_NDCG, 3, .640471377480},     {GBT_METRIC_NDCG, 0, .762742918941},
             {GBT_METRIC_NDCG, 50, .762742918941},    {GBT_METRIC_MAP, 0, .907407407407},
             {GBT_METRIC_MAP, 3, .740740740741},      {GBT_METRIC_PRECISION, 2, .833333333333},
             {GBT_METRIC_RECALL, 2, .555555555556},   {GBT_METRIC_PAIR_ACCURACY, 0, .722222222222}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    CHECK_NEAR(value(all[i].kind, all[i].k, 5, y, one, NULL, s), all[i].want, 1e-12);
  static const double top[] = {0, 0, 3, 0, 0}, ts[] = {.5, .9, .5, .5, .1}; /* relevant: label 3 */
  double relevant[5];
  for (int i = 0; i < 5; i++) relevant[i] = y[i] >= 3;
  CHECK_NEAR(value(GBT_METRIC_MRR, 0, 5, relevant, one, NULL, s), .361111111111, 1e-12);
  CHECK_NEAR(value(GBT_METRIC_MRR, 0, 5, top, one, NULL, ts), .361111111111, 1e-12);
  static const double y2[] = {3, 2, 0, 1, 0, 4}, s2[] = {.5, .9, .5, .5, .1, 0}, two[] = {1, 1, 1, 1, 1, 2};
  const double alone = 15.0 / 16.0; /* ERR of the query of one row */
  CHECK_NEAR(2 * value(GBT_METRIC_ERR, 0, 6, y2, two, NULL, s2) - alone, .328030056424, 1e-12);
  CHECK_NEAR(2 * value(GBT_METRIC_ERR, 2, 6, y2, two, NULL, s2) - alone, .255208333333, 1e-12);
}

/* The same rows where gains are labels. */
static void metrics_of_linear_gains_have_the_reference_numbers(void) {
  static const double y[] = {3, 2, 0, 1, 0}, s[] = {.5, .9, .5, .5, .1}, one[5] = {1, 1, 1, 1, 1};
  static const struct {
    double k, want;
  } all[] = {{2, .666666666667}, {3, .736667331918}, {0, .857257914211}};
  const gbt_rows rows = {.n = 5, .field = {[GBT_LABEL] = y, [GBT_GROUP] = one}};
  const gbt_objective o = {.kind = GBT_OBJ_RANK_NDCG, .n_outputs = 1, .param = {32, 0, 1, 1, 1}};
  gbt_ctx ctx = test_ctx(NULL, 2);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    double out = 99.0;
    CHECK_OK(eval_by(&ctx, &o, GBT_METRIC_NDCG, all[i].k, rows, s, &out));
    CHECK_NEAR(out, all[i].want, 1e-12);
  }
  gbt_ctx_close(&ctx);
}

/* ---- the twin ---- */

/* One query in a given order. */
static double twin_of_order(gbt_metric_kind kind, int k, int n, const double *y, double top) {
  const int last = k > 0 && k < n ? k : n;
  double sum = 0.0, hits = 0.0, all = 0.0, passed = 1.0, ideal = 0.0, sorted[MOST];
  for (int i = 0; i < n; i++) all += y[i] > 0.0, sorted[i] = y[i];
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      if (sorted[j] > sorted[i]) {
        const double x = sorted[i];
        sorted[i] = sorted[j];
        sorted[j] = x;
      }
  for (int i = 0; i < last; i++) {
    const double gain = (pow(2, y[i]) - 1);
    ideal += (pow(2, sorted[i]) - 1) / log2(i + 2);
    if (kind == GBT_METRIC_DCG || kind == GBT_METRIC_NDCG) sum += gain / log2(i + 2);
    if (kind == GBT_METRIC_ERR) {
      sum += passed * gain / pow(2, top) / (i + 1);
      passed *= 1 - gain / pow(2, top);
    }
    if (y[i] <= 0.0) continue;
    hits += 1.0;
    if (kind == GBT_METRIC_MAP) sum += hits / (i + 1);
    if (kind == GBT_METRIC_MRR && hits == 1.0) sum = 1.0 / (i + 1);
  }
  switch (kind) {
  case GBT_METRIC_NDCG:
    return ideal > 0.0 ? sum / ideal : NAN;
  case GBT_METRIC_MAP:
    return all > 0.0 ? sum / (all < last ? all : last) : NAN;
  case GBT_METRIC_MRR:
    return all > 0.0 ? sum : NAN;
  case GBT_METRIC_PRECISION:
    return hits / (k > 0 ? k : n);
  case GBT_METRIC_RECALL:
    return all > 0.0 ? hits / all : NAN;
  default:
    return sum;
  }
}

/* Of pairs: label and score decide. */
static double twin_of_pairs(gbt_metric_kind kind, int n, const double *y, const double *s) {
  double right = 0, pairs = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      const int two = kind == GBT_METRIC_GROUP_AUC;
      const double a = two ? y[i] > 0 : y[i], b = two ? y[j] > 0 : y[j];
      if (!(a > b)) continue;
      pairs++;
      right += s[i] > s[j] ? 1 : s[i] == s[j] ? .5 : 0;
    }
  return pairs > 0 ? right / pairs : NAN;
}

/* The mean over all orders in which scores do not rise. */
static double twin(gbt_metric_kind kind, int k, int n, const double *y, const double *s, double top) {
  int order[MOST] = {0};
  double sum = 0, count = 0;
  if (kind == GBT_METRIC_GROUP_AUC || kind == GBT_METRIC_PAIR_ACCURACY) return twin_of_pairs(kind, n, y, s);
  int64_t all = 1;
  for (int i = 2; i <= n; i++) all *= i;
  for (int64_t p = 0; p < all; p++) { /* permutation number p */
    int left[MOST], n_left = n, ok = 1;
    int64_t rest = p;
    double labels[MOST];
    for (int i = 0; i < n; i++) left[i] = i;
    for (int i = 0; i < n; i++) {
      const int at = (int)(rest % n_left);
      rest /= n_left;
      order[i] = left[at];
      left[at] = left[--n_left];
      labels[i] = y[order[i]];
      ok &= i == 0 || s[order[i]] <= s[order[i - 1]];
    }
    if (!ok) continue;
    sum += twin_of_order(kind, k, n, labels, top);
    count++;
  }
  return sum / count;
}

static void metrics_equal_the_mean_over_all_orders(void) {
  test_rng rng = {11};
  for (uint64_t c = 0; c < test_cases(60); c++) {
    enum { QUERIES = 5, ROWS = QUERIES * MOST };
    double y[ROWS], s[ROWS], group[ROWS], weight[ROWS], top = 0;
    int n = 0, size[QUERIES], start[QUERIES];
    for (int q = 0; q < QUERIES; q++) {
      start[q] = n;
      size[q] = 1 + (int)test_below(&rng, c < 50 ? 5 : MOST);
      for (int i = 0; i < size[q]; i++, n++) {
        y[n] = (double)test_below(&rng, q == 3 ? 1 : 4);
        s[n] = (double)test_below(&rng, 1 + (int64_t)(c % 5));
        group[n] = 10 - q;
        weight[n] = 1 + q % 3;
        top = y[n] > top ? y[n] : top;
      }
    }
    for (int kind = GBT_METRIC_NDCG; kind <= GBT_METRIC_PAIR_ACCURACY; kind++)
      for (int k = 0; k <= 3; k++) {
        double sum = 0, weights = 0;
        for (int q = 0; q < QUERIES; q++) {
          const double v = twin((gbt_metric_kind)kind, k, size[q], y + start[q], s + start[q], top);
          if (v != v) continue;
          sum += v * weight[start[q]];
          weights += weight[start[q]];
        }
        const double got = value((gbt_metric_kind)kind, k, n, y, group, weight, s);
        if (weights > 0.0)
          CHECK_NEAR(got, sum / weights, 1e-12);
        else
          CHECK(got != got);
      }
  }
}

/* T1 and T2 of section 8: what other packages get wrong. */
static void ties_and_queries_without_relevant_rows_are_fair(void) {
  static const double y[] = {2, 1, 0, 0}, reversed[] = {0, 0, 1, 2}, flat[] = {1, 1, 1, 1}, one[] = {1, 1, 1, 1};
  CHECK_EQ_BITS(value(GBT_METRIC_NDCG, 0, 4, y, one, NULL, flat),
                value(GBT_METRIC_NDCG, 0, 4, reversed, one, NULL, flat));
  static const double labels[] = {1, 0, 0, 0}, score[] = {2, 1, 2, 1}, group[] = {1, 1, 2, 2}, weight[] = {1, 1, 3, 3};
  CHECK_EQ_BITS(value(GBT_METRIC_NDCG, 0, 4, labels, group, weight, score), 1.0);
  static const double none[] = {0, 0, 0, 0};
  const double nothing = value(GBT_METRIC_NDCG, 0, 4, none, group, weight, score);
  CHECK(nothing != nothing);
}

/* Queries around the sizes of tasks, and one that is longer than a task: the same number by any threads, rows mixed. */
static void threads_and_the_order_of_rows_play_no_part(void) {
  test_rng rng = {12};
  enum { N = 40000 };
  double *y = test_alloc(N * sizeof *y), *s = test_alloc(N * sizeof *s), *group = test_alloc(N * sizeof *group);
  double *y2 = test_alloc(N * sizeof *y), *s2 = test_alloc(N * sizeof *s), *group2 = test_alloc(N * sizeof *group);
  int64_t *to = test_permutation(&rng, N);
  for (int i = 0; i < N; i++) {
    y[i] = (double)test_below(&rng, 4);
    s[i] = (double)test_below(&rng, 1000);
    group[i] = i < 20000 ? -1.0 : (double)(i / (1 + i % 7 * 10));
    y2[to[i]] = y[i];
    s2[to[i]] = s[i];
    group2[to[i]] = group[i];
  }
  for (int kind = GBT_METRIC_NDCG; kind <= GBT_METRIC_PAIR_ACCURACY; kind++) {
    const double want = value((gbt_metric_kind)kind, 5, N, y, group, NULL, s);
    for (int threads = 1; threads <= 3; threads++) {
      gbt_ctx ctx = test_ctx(NULL, threads);
      const gbt_rows rows = {.n = N, .field = {[GBT_LABEL] = y2, [GBT_GROUP] = group2}};
      double out = 0;
      CHECK_OK(eval(&ctx, (gbt_metric_kind)kind, 5, rows, s2, &out));
      CHECK_EQ_BITS(out, want);
      gbt_ctx_close(&ctx);
    }
  }
  void *blocks[] = {y, s, group, y2, s2, group2, to};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

/* A query whose sorts are shared by all threads. */
static void a_query_of_many_rows(void) {
  enum { N = 1 << 17 | 5, FIRST = 1000 };
  double *y = test_alloc(N * sizeof *y), *s = test_alloc(N * sizeof *s), *one = test_alloc(N * sizeof *one);
  double hits = 0.0, relevant = 0.0;
  for (int i = 0; i < N; i++) {
    y[i] = i % 100 == 0;
    s[i] = (double)(i * 31 % N); /* all different */
    one[i] = 1.0;
    relevant += y[i];
    if (s[i] >= N - FIRST) hits += y[i];
  }
  CHECK_NEAR(value(GBT_METRIC_RECALL, FIRST, N, y, one, NULL, s), hits / relevant, 1e-12);
  free(y);
  free(s);
  free(one);
}

/* One query whose scores are all equal. "err" takes a step for every pair of rows, other metrics some for a row. */
static void long_queries_ask_whether_to_stop(void) {
  enum { N = 50000, N_ERR = 5000 };
  double *y = test_alloc(N * sizeof *y), *zero = test_alloc(N * sizeof *zero);
  for (int i = 0; i < N; i++) y[i] = i % 3, zero[i] = 0.0;
  clock_jump(20000000);
  for (int kind = GBT_METRIC_NDCG; kind <= GBT_METRIC_PAIR_ACCURACY; kind++) {
    const int n = kind == GBT_METRIC_ERR ? N_ERR : N;
    const int64_t least = kind == GBT_METRIC_ERR ? (int64_t)N_ERR * N_ERR / 2 >> 21 : 1;
    const gbt_rows rows = {.n = n, .field = {[GBT_LABEL] = y, [GBT_GROUP] = zero}};
    for (int stop = 0; stop < 2; stop++) {
      asker a = {0, stop ? (least + 1) / 2 : 0};
      gbt_ctx ctx;
      double out;
      REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, asker_ask, &a, test_err));
      const gbt_status status = eval(&ctx, (gbt_metric_kind)kind, 0, rows, zero, &out);
      CHECK_EQ_I64(status, stop ? GBT_CANCELLED : GBT_OK);
      CHECK(a.n_asked >= (stop ? 1 : least));
      gbt_ctx_close(&ctx);
    }
  }
  clock_jump(0);
  free(y);
  free(zero);
}

static gbt_status eval_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  static const double y[] = {2, 1, 0, 0}, s[] = {1, 1, 2, 3}, group[] = {1, 1, 2, 2};
  const gbt_rows rows = {.n = 4, .field = {[GBT_LABEL] = y, [GBT_GROUP] = group}};
  const gbt_objective o = gbt_objective_make(GBT_OBJ_RANK_NDCG, 1);
  const gbt_metric metric = {GBT_METRIC_NDCG, 10, 0};
  gbt_ctx ctx;
  double out;
  (void)arg;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK) status = gbt_metric_eval(&ctx, &metric, &o, &rows, NULL, s, &out, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void failures_are_clean(void) {
  static const double y[] = {2, 1}, s[] = {1, 1};
  const gbt_rows rows = {.n = 2, .field = {[GBT_LABEL] = y}};
  gbt_ctx ctx = test_ctx(NULL, 1);
  double out = 5.0;
  CHECK(fault_sweep(eval_op, NULL) > 20);
  const gbt_objective o = gbt_objective_make(GBT_OBJ_RANK_NDCG, 1);
  const gbt_metric metric = {GBT_METRIC_NDCG, 10, 0};
  CHECK_FAILS(gbt_metric_eval(&ctx, &metric, &o, &rows, NULL, s, &out, test_err), GBT_E_DATA, "needs `group`");
  CHECK_EQ_BITS(out, 5.0);
  gbt_ctx_close(&ctx);
}

static void names_have_the_number_of_places(void) {
  char name[GBT_METRIC_NAME];
  const gbt_objective o = gbt_objective_make(GBT_OBJ_RANK_NDCG, 1);
  gbt_metric metric = gbt_metric_usual(&o);
  gbt_metric_name(&metric, name);
  CHECK_EQ_TEXT(name, "ndcg@10");
  metric.param = 0;
  gbt_metric_name(&metric, name);
  CHECK_EQ_TEXT(name, "ndcg");
}

void suite_query_metrics(void) {
  RUN(metrics_have_the_reference_numbers);
  RUN(metrics_of_linear_gains_have_the_reference_numbers);
  RUN(metrics_equal_the_mean_over_all_orders);
  RUN(ties_and_queries_without_relevant_rows_are_fair);
  RUN(threads_and_the_order_of_rows_play_no_part);
  RUN(a_query_of_many_rows);
  RUN(long_queries_ask_whether_to_stop);
  RUN(failures_are_clean);
  RUN(names_have_the_number_of_places);
}
