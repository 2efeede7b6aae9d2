/* Metrics against naive twins in long double (within 1e-12), and equal to the bit for any number of threads, any order
 * of the rows, and weights instead of repeated rows where that is exact. */
#include "fault.h"
#include "test.h"

#include "../../src/gbt/boost/metric.h"

typedef struct rows {
  gbt_objective_kind loss;
  int64_t n;
  int32_t n_outputs;
  double *score, *label, *weight; /* n x n_outputs column by column, n, n */
} rows;

/* coarse: few distinct scores, so that there are ties. */
static rows make_rows(test_rng *rng, gbt_objective_kind loss, int64_t n, int32_t n_outputs, int coarse) {
  rows r = {loss, n, n_outputs, NULL, NULL, NULL};
  r.score = test_alloc((size_t)(n * n_outputs) * sizeof *r.score);
  r.label = test_alloc((size_t)n * sizeof *r.label);
  r.weight = test_alloc((size_t)n * sizeof *r.weight);
  for (int64_t i = 0; i < n * n_outputs; i++) {
    r.score[i] = test_bell(rng) * 3.0;
    if (coarse) r.score[i] = rint(r.score[i] * 2.0) * 0.5;
  }
  for (int64_t i = 0; i < n; i++) {
    r.weight[i] = test_below(rng, 20) == 0 ? 0.0 : ldexp(0.1 + test_unit(rng), (int)test_below(rng, 8));
    r.label[i] = test_bell(rng);
    if (loss == GBT_OBJ_LOGISTIC || loss == GBT_OBJ_CROSS_ENTROPY || loss == GBT_OBJ_CUSTOM)
      r.label[i] = (double)test_below(rng, 2);
    if (loss == GBT_OBJ_LOGISTIC && i % 10 == 0) r.label[i] = test_unit(rng);
    if (loss == GBT_OBJ_SOFTMAX) r.label[i] = (double)test_below(rng, n_outputs);
    if (gbt_objective_info_of(loss)->response == GBT_RESPONSE_MEAN)
      r.label[i] = (double)test_below(rng, 6) * (i % 3 ? 1.0 : 0.01);
  }
  return r;
}

static void free_rows(rows *r) {
  free(r->score);
  free(r->label);
  free(r->weight);
}

/* With an odd number of threads on the machine's best instruction set, with an even one on the plainest. */
static double eval(const rows *r, gbt_metric metric, int weighted, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  if (n_threads % 2 == 0) ctx.simd = GBT_SIMD_SCALAR;
  double out = -12345.0;
  const gbt_objective objective = gbt_objective_make(r->loss, r->n_outputs);
  CHECK_OK(gbt_metric_eval(&ctx, metric, &objective, r->n, r->score, r->label, weighted ? r->weight : NULL, &out,
                           test_err));
  gbt_ctx_close(&ctx);
  return out;
}

/* The term of one row as the header defines it. */
static long double naive_term(const rows *r, gbt_metric metric, int64_t i) {
  long double s = r->score[i], y = r->label[i], p = 1 / (1 + expl(-s)), m = s, sum = 0;
  int32_t best = 0;
  if (gbt_objective_info_of(r->loss)->response == GBT_RESPONSE_PROBABILITY) m = p;
  if (gbt_objective_info_of(r->loss)->response == GBT_RESPONSE_MEAN) m = expl(s);
  for (int32_t k = 0; k < r->n_outputs; k++) {
    sum += expl(r->score[k * r->n + i]);
    if (r->score[k * r->n + i] > r->score[best * r->n + i]) best = k;
  }
  switch (metric) {
  case GBT_METRIC_RMSE:
    return (m - y) * (m - y);
  case GBT_METRIC_MAE:
    return fabsl(m - y);
  case GBT_METRIC_LOGLOSS:
    return -(y * logl(p) + (1 - y) * logl(1 / (1 + expl(s))));
  case GBT_METRIC_ERROR:
    return (p > 0.5L) != (y > 0.5L);
  case GBT_METRIC_MLOGLOSS:
    return logl(sum) - r->score[(int64_t)r->label[i] * r->n + i];
  case GBT_METRIC_MERROR:
    return best != (int32_t)r->label[i];
  default:
    return 2 * ((y > 0 ? y * (logl(y) - s) : 0) - (y - expl(s)));
  }
}

/* All pairs of a positive and a negative row. */
static long double naive_auc(const rows *r, int weighted) {
  long double won = 0, all = 0;
  for (int64_t i = 0; i < r->n; i++) {
    if (!(r->label[i] > 0.5)) continue;
    for (int64_t k = 0; k < r->n; k++) {
      if (r->label[k] > 0.5) continue;
      long double w = weighted ? (long double)r->weight[i] * r->weight[k] : 1;
      all += w;
      won += r->score[i] > r->score[k] ? w : r->score[i] == r->score[k] ? w / 2 : 0;
    }
  }
  return won / all;
}

static long double naive_metric(const rows *r, gbt_metric metric, int weighted) {
  if (metric == GBT_METRIC_AUC) return naive_auc(r, weighted);
  long double sum = 0, all = 0;
  for (int64_t i = 0; i < r->n; i++) {
    long double w = weighted ? r->weight[i] : 1;
    sum += w * naive_term(r, metric, i);
    all += w;
  }
  return metric == GBT_METRIC_RMSE ? sqrtl(sum / all) : sum / all;
}

static int32_t outputs_of(gbt_objective_kind loss) { return loss == GBT_OBJ_SOFTMAX ? 5 : 1; }

static void metrics_equal_their_definition(void) {
  static const int64_t sizes[] = {1, 2, 5, 255, 256, 257, 1500};
  test_rng rng = {71};
  for (int loss = 0; loss < GBT_N_OBJECTIVES; loss++) {
    for (int s = 0; s < 7; s++) {
      for (int coarse = 0; coarse <= 1; coarse++) {
        rows r = make_rows(&rng, (gbt_objective_kind)loss, sizes[s], outputs_of((gbt_objective_kind)loss), coarse);
        for (int metric = 0; metric < GBT_N_METRICS; metric++) {
          if (!gbt_metric_suits((gbt_metric)metric, (gbt_objective_kind)loss)) continue;
          for (int weighted = 0; weighted <= 1; weighted++) {
            double want = (double)naive_metric(&r, (gbt_metric)metric, weighted);
            CHECK_NEAR(eval(&r, (gbt_metric)metric, weighted, 1), want, 1e-12);
          }
        }
        free_rows(&r);
      }
    }
  }
}

/* The same rows in another order. */
static rows permuted(const rows *r, test_rng *rng) {
  rows q = make_rows(rng, r->loss, r->n, r->n_outputs, 0);
  int64_t *p = test_permutation(rng, r->n);
  for (int64_t i = 0; i < r->n; i++) {
    for (int32_t k = 0; k < r->n_outputs; k++) q.score[k * r->n + i] = r->score[k * r->n + p[i]];
    q.label[i] = r->label[p[i]];
    q.weight[i] = r->weight[p[i]];
  }
  free(p);
  return q;
}

static void threads_and_order_do_not_show(void) {
  static const int threads[] = {1, 2, 3, 8};
  test_rng rng = {72};
  for (int loss = 0; loss < GBT_N_OBJECTIVES; loss++) {
    rows r =
        make_rows(&rng, (gbt_objective_kind)loss, 200000, outputs_of((gbt_objective_kind)loss), loss == GBT_OBJ_CUSTOM);
    rows q = permuted(&r, &rng);
    for (int metric = 0; metric < GBT_N_METRICS; metric++) {
      if (!gbt_metric_suits((gbt_metric)metric, (gbt_objective_kind)loss)) continue;
      for (int weighted = 0; weighted <= 1; weighted++) {
        double want = eval(&r, (gbt_metric)metric, weighted, 1);
        CHECK(want > 0.0);
        for (int t = 0; t < 4; t++) CHECK_EQ_BITS(eval(&q, (gbt_metric)metric, weighted, threads[t]), want);
      }
    }
    q.score[q.n - 1] = NAN;
    gbt_metric usual = loss == GBT_OBJ_CUSTOM ? GBT_METRIC_AUC : gbt_metric_of_objective((gbt_objective_kind)loss);
    for (int t = 0; t < 4; t++) CHECK(isnan(eval(&q, usual, 0, threads[t])));
    free_rows(&r);
    free_rows(&q);
  }
}

/* Weights 2^k for all rows are no weights; a weight of 2 is the row twice (products with 2 are exact). */
static void weights_count_rows(void) {
  test_rng rng = {73};
  for (int loss = 0; loss < GBT_N_OBJECTIVES; loss++) {
    int32_t n_outputs = outputs_of((gbt_objective_kind)loss);
    rows r = make_rows(&rng, (gbt_objective_kind)loss, 3000, n_outputs, 1),
         twice = make_rows(&rng, (gbt_objective_kind)loss, 6000, n_outputs, 0);
    for (int metric = 0; metric < GBT_N_METRICS; metric++) {
      if (!gbt_metric_suits((gbt_metric)metric, (gbt_objective_kind)loss)) continue;
      double plain = eval(&r, (gbt_metric)metric, 0, 2);
      static const double same[] = {1.0, 0.125, 0x1p-1060, 0x1p900};
      for (int k = 0; k < 4; k++) {
        for (int64_t i = 0; i < r.n; i++) r.weight[i] = same[k];
        if (k < 2 || metric == GBT_METRIC_AUC) CHECK_EQ_BITS(eval(&r, (gbt_metric)metric, 1, 2), plain);
      }
      int64_t n = 0;
      for (int64_t i = 0; i < r.n; i++) {
        int times = (int)test_below(&rng, 3);
        r.weight[i] = times;
        for (; times > 0; times--, n++) {
          for (int32_t k = 0; k < n_outputs; k++) twice.score[k * twice.n + n] = r.score[k * r.n + i];
          twice.label[n] = r.label[i];
          twice.weight[n] = 1.0;
        }
      }
      for (int64_t i = n; i < twice.n; i++) twice.weight[i] = 0.0;
      CHECK_EQ_BITS(eval(&r, (gbt_metric)metric, 1, 2), eval(&twice, (gbt_metric)metric, 1, 2));
    }
    free_rows(&r);
    free_rows(&twice);
  }
}

static double auc_of(int64_t n, double *score, double *label, double *weight) {
  rows r = {GBT_OBJ_LOGISTIC, n, 1, score, label, weight};
  return eval(&r, GBT_METRIC_AUC, weight != NULL, 1);
}

static void auc_special_cases(void) {
  double score[6] = {1, 2, 3, 4, 5, 6}, label[6] = {0, 0, 0, 1, 1, 1}, back[6] = {6, 5, 4, 3, 2, 1};
  double flat[6] = {2, 2, 2, 2, 2, 2}, zeros[6] = {0, 0, 0, 0, 0, 0}, ones[6] = {1, 1, 1, 1, 1, 1};
  double holes[6] = {0, 0, 1, 1, 0, 0}, low[6] = {1, 1, 1, 0, 0, 0}, some[3] = {1, 2, 2}, hit[3] = {0, 0, 1};
  CHECK_EQ_BITS(auc_of(6, score, label, NULL), 1.0);
  CHECK_EQ_BITS(auc_of(6, back, label, NULL), 0.0);
  CHECK_EQ_BITS(auc_of(6, flat, label, NULL), 0.5);
  CHECK_EQ_BITS(auc_of(6, flat, label, ones), 0.5);
  CHECK_EQ_BITS(auc_of(3, some, hit, NULL), 0.75);
  CHECK_EQ_BITS(auc_of(6, score, label, holes), 1.0);
  CHECK(isnan(auc_of(6, score, zeros, NULL)) && isnan(auc_of(6, score, ones, NULL)));
  CHECK(isnan(auc_of(6, score, label, low)) && isnan(auc_of(6, score, label, zeros)) &&
        isnan(auc_of(0, NULL, NULL, NULL)));
  double zero[4] = {-0.0, 0.0, 0.0, -0.0}, mixed[4] = {0, 1, 0, 1}, far[4] = {-INFINITY, INFINITY, 0.0, 1.0};
  CHECK_EQ_BITS(auc_of(4, zero, mixed, NULL), 0.5); /* -0 and 0 tie */
  CHECK_EQ_BITS(auc_of(4, far, mixed, NULL), 1.0);
  double halves[3] = {0.5, 1, 0.5}; /* a label of 0.5 is not positive */
  CHECK_EQ_BITS(auc_of(3, some, halves, NULL), 0.75);
  CHECK_EQ_BITS(auc_of(3, some, halves, ones), 0.75);
  far[2] = NAN;
  CHECK(isnan(auc_of(4, far, mixed, NULL)));
}

__extension__ typedef unsigned __int128 wide;

/* a / b for 0 < a < b < 2^72, rounded to nearest even. */
static double rounded_ratio(wide a, wide b) {
  int shift = 0;
  for (; a / b < (wide)1 << 53; shift++) a *= 2;
  uint64_t q = (uint64_t)(a / b), m = q >> 1;
  if ((q & 1) && (a % b != 0 || (m & 1))) m++;
  return ldexp((double)m, 1 - shift);
}

/* Against the pair count in integers, with whole weights of up to 30 bits: the AUC is the exact fraction, rounded once.
 */
static void auc_is_rounded_once(void) {
  test_rng rng = {74};
  for (int i = 0; i < 4000; i++) {
    rows r = make_rows(&rng, GBT_OBJ_LOGISTIC, 2 + test_below(&rng, i % 50 ? 14 : 200), 1, i % 2);
    int bits = r.n > 16 ? 1 : 30;
    wide won2 = 0, all2 = 0;
    for (int64_t a = 0; a < r.n; a++) r.weight[a] = (double)(1 + test_below(&rng, (int64_t)1 << bits));
    for (int64_t a = 0; a < r.n; a++)
      for (int64_t b = 0; b < r.n; b++) {
        if (!(r.label[a] > 0.5) || r.label[b] > 0.5) continue;
        wide w = (wide)r.weight[a] * (wide)r.weight[b];
        all2 += 2 * w;
        won2 += r.score[a] > r.score[b] ? 2 * w : r.score[a] == r.score[b] ? w : 0;
      }
    double want = all2 == 0 ? NAN : won2 == 0 ? 0.0 : won2 == all2 ? 1.0 : rounded_ratio(won2, all2);
    CHECK_EQ_BITS(eval(&r, GBT_METRIC_AUC, 1, 1), want);
    free_rows(&r);
  }
}

typedef struct scored {
  double score;
  int positive;
} scored;

static int by_score(const void *a, const void *b) {
  const scored *x = a, *y = b;
  return x->score < y->score ? -1 : x->score > y->score;
}

/* Many blocks of rows with all scores different, or with groups of about ten: counted after the library's qsort. */
static void auc_of_many_rows(void) {
  enum { N = 120000 };
  test_rng rng = {77};
  scored *s = test_alloc(N * sizeof *s);
  for (int ties = 0; ties <= 1; ties++) {
    rows r = make_rows(&rng, GBT_OBJ_LOGISTIC, N, 1, 0);
    for (int64_t i = 0; i < N; i++) {
      if (ties) r.score[i] = rint(r.score[i] * 2000.0);
      s[i].score = r.score[i];
      s[i].positive = r.label[i] > 0.5;
    }
    qsort(s, N, sizeof *s, by_score);
    uint64_t area = 0, below = 0, n_pos = 0;
    for (int64_t i = 0, end; i < N; i = end) {
      uint64_t pos = 0, neg = 0;
      for (end = i; end < N && s[end].score == s[i].score; end++)
        pos += s[end].positive == 1, neg += s[end].positive == 0;
      area += pos * (2 * below + neg);
      below += neg;
      n_pos += pos;
    }
    CHECK_EQ_BITS(eval(&r, GBT_METRIC_AUC, 0, 2), (double)area / (double)(2 * n_pos * below)); /* both are exact */
    free_rows(&r);
  }
  free(s);
}

/* Groups of equal scores that reach over many blocks of rows. */
static void auc_with_giant_ties(void) {
  enum { N = 150000 };
  test_rng rng = {75};
  for (int kinds = 1; kinds <= 4; kinds++) {
    rows r = make_rows(&rng, GBT_OBJ_LOGISTIC, N, 1, 0);
    uint64_t pos[4] = {0}, neg[4] = {0}, below = 0, area = 0, n_pos = 0;
    for (int64_t i = 0; i < N; i++) {
      int64_t kind = kinds == 4 ? (i < 10 ? i % 4 : 2) : test_below(&rng, kinds);
      r.score[i] = (double)kind;
      r.label[i] = (double)test_below(&rng, 2);
      pos[kind] += r.label[i] > 0.5;
      neg[kind] += r.label[i] <= 0.5;
    }
    for (int k = 0; k < 4; k++) {
      area += pos[k] * (2 * below + neg[k]);
      below += neg[k];
      n_pos += pos[k];
    }
    CHECK_EQ_BITS(eval(&r, GBT_METRIC_AUC, 0, 2), (double)area / (double)(2 * n_pos * below));
    free_rows(&r);
  }
}

static void extreme_scores_stay_finite(void) {
  double score[4] = {1e6, -1e6, 800.0, -800.0}, right[4] = {1, 0, 1, 0}, wrong[4] = {0, 1, 0, 1};
  rows r = {GBT_OBJ_LOGISTIC, 4, 1, score, right, NULL};
  CHECK(eval(&r, GBT_METRIC_LOGLOSS, 0, 1) < 1e-300);
  r.label = wrong;
  CHECK_EQ_BITS(eval(&r, GBT_METRIC_LOGLOSS, 0, 1), (2e6 + 1600.0) / 4.0);
  CHECK_EQ_BITS(eval(&r, GBT_METRIC_ERROR, 0, 1), 1.0);
  double many[4] = {1e6, -1e6, -1e6, 1e6}, classes[2] = {0, 0};
  rows m = {GBT_OBJ_SOFTMAX, 2, 2, many, classes, NULL};
  CHECK_EQ_BITS(eval(&m, GBT_METRIC_MLOGLOSS, 0, 1), 1e6);
  double ties[4] = {1.0, 1.0, 1.0, 1.0}, second[2] = {0, 1};
  rows t = {GBT_OBJ_SOFTMAX, 2, 2, ties, second, NULL};
  CHECK_EQ_BITS(eval(&t, GBT_METRIC_MERROR, 0, 1), 0.5); /* the lowest class wins a tie */
  CHECK(isnan(eval(&r, GBT_METRIC_RMSE, 0, 1)) == 0);
  r.n = 0;
  CHECK(isnan(eval(&r, GBT_METRIC_RMSE, 0, 1)));
  r.n = 4;
  double none[4] = {0, 0, 0, 0};
  r.weight = none;
  CHECK(isnan(eval(&r, GBT_METRIC_LOGLOSS, 1, 1)));
}

static void names_and_choices(void) {
  static const char *const names[GBT_N_METRICS] = {"rmse",  "mae",      "logloss", "auc",
                                                   "error", "mlogloss", "merror",  "poisson_deviance"};
  for (int i = 0; i < GBT_N_METRICS; i++) {
    CHECK_EQ_TEXT(gbt_metric_name((gbt_metric)i), names[i]);
    CHECK_EQ_I64(gbt_metric_find(names[i]), i);
    CHECK_EQ_I64(gbt_metric_maximise((gbt_metric)i), i == GBT_METRIC_AUC);
  }
  CHECK_EQ_I64(gbt_metric_find("rmsee"), -1);
  CHECK_EQ_I64(gbt_metric_find(""), -1);
  static const gbt_metric usual[] = {GBT_METRIC_RMSE, GBT_METRIC_LOGLOSS, GBT_METRIC_MLOGLOSS,
                                     GBT_METRIC_POISSON_DEVIANCE, GBT_METRIC_RMSE};
  for (int i = 0; i < GBT_N_OBJECTIVES; i++) {
    gbt_metric metric = gbt_metric_of_objective((gbt_objective_kind)i);
    if (i <= GBT_OBJ_CUSTOM) CHECK_EQ_I64(metric, usual[i]);
    CHECK(gbt_metric_suits(metric, (gbt_objective_kind)i));
  }
  CHECK(!gbt_metric_suits(GBT_METRIC_AUC, GBT_OBJ_SQUARED_ERROR) &&
        !gbt_metric_suits(GBT_METRIC_RMSE, GBT_OBJ_SOFTMAX));
  CHECK(!gbt_metric_suits(GBT_METRIC_MLOGLOSS, GBT_OBJ_CUSTOM) && gbt_metric_suits(GBT_METRIC_AUC, GBT_OBJ_CUSTOM));
}

static void misfits_are_refused(void) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  double x[4] = {0, 0, 0, 0}, y[2] = {0, 1}, out = 5.0;
  const gbt_objective squared = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  const gbt_objective two_scores = gbt_objective_make(GBT_OBJ_CUSTOM, 2);
  const gbt_objective classes = gbt_objective_make(GBT_OBJ_SOFTMAX, 2);
  CHECK_FAILS(gbt_metric_eval(&ctx, GBT_METRIC_AUC, &squared, 2, x, y, NULL, &out, test_err), GBT_E_ARG,
              "the metric `auc` does not go with the objective `squared_error`");
  CHECK_FAILS(gbt_metric_eval(&ctx, GBT_METRIC_RMSE, &two_scores, 2, x, y, NULL, &out, test_err),
              GBT_E_UNSUPPORTED, "`rmse` takes one score a row, the model has 2");
  CHECK_FAILS(gbt_metric_eval(&ctx, GBT_N_METRICS, &squared, 2, x, y, NULL, &out, test_err), GBT_E_INTERNAL,
              "no metric");
  static double scores[2000], labels[1000];
  labels[700] = 2.0;
  labels[300] = -1.0;
  labels[999] = NAN;
  CHECK_FAILS(gbt_metric_eval(&ctx, GBT_METRIC_MERROR, &classes, 1000, scores, labels, NULL, &out, test_err),
              GBT_E_DATA, "row 301: the label -1 is no class; classes are whole numbers from 0 to 1");
  labels[0] = 0.0 - 0x1p-1074;
  CHECK_FAILS(
      gbt_metric_eval(&ctx, GBT_METRIC_MLOGLOSS, &classes, 1000, scores, labels, NULL, &out, test_err),
      GBT_E_DATA, "row 1: the label");
  CHECK_EQ_BITS(out, 5.0);
  gbt_ctx_close(&ctx);
}

typedef struct eval_case {
  rows r;
  gbt_metric metric;
  double want;
} eval_case;

static gbt_status eval_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  eval_case *c = arg;
  gbt_ctx ctx;
  double out = 0.0;
  const gbt_objective objective = gbt_objective_make(c->r.loss, c->r.n_outputs);
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK)
    status = gbt_metric_eval(&ctx, c->metric, &objective, c->r.n, c->r.score, c->r.label, c->r.weight, &out, err);
  if (status == GBT_OK) CHECK_EQ_BITS(out, c->want);
  gbt_ctx_close(&ctx);
  return status;
}

static int stop_at_once(void *user) {
  (void)user;
  return 1;
}

static void metrics_fail_and_stop_cleanly(void) {
  test_rng rng = {76};
  eval_case c = {make_rows(&rng, GBT_OBJ_LOGISTIC, 200000, 1, 0), GBT_METRIC_LOGLOSS, 0.0};
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1);
  for (int k = 0; k < 2; k++) {
    c.metric = k ? GBT_METRIC_AUC : GBT_METRIC_LOGLOSS;
    c.want = eval(&c.r, c.metric, 1, 1);
    CHECK(fault_sweep(eval_op, &c) >= (k ? 9 : 1));
    fault f;
    fault_start(&f, 0, 0);
    gbt_ctx ctx;
    REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 2, GBT_SIMD_AUTO, stop_at_once, NULL, test_err));
    ctx.next_poll_ns = 0;
    double out = 5.0;
    CHECK_FAILS(gbt_metric_eval(&ctx, c.metric, &objective, c.r.n, c.r.score, c.r.label, NULL, &out, test_err),
                GBT_CANCELLED, "stopped");
    CHECK_EQ_BITS(out, 5.0);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
  }
  free_rows(&c.r);
}

void suite_metric(void) {
  RUN(metrics_equal_their_definition);
  RUN(threads_and_order_do_not_show);
  RUN(weights_count_rows);
  RUN(auc_special_cases);
  RUN(auc_is_rounded_once);
  RUN(auc_of_many_rows);
  RUN(auc_with_giant_ties);
  RUN(extreme_scores_stay_finite);
  RUN(names_and_choices);
  RUN(misfits_are_refused);
  RUN(metrics_fail_and_stop_cleanly);
}
