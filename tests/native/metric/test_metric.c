/* Metrics against naive twins in long double (within 1e-12), and equal to the bit for any number of threads, any order
 * of the rows, and weights instead of repeated rows where that is exact. */
#include "made.h"
#include "fault.h"
#include "test.h"

#include "../../src/gbt/boost/metric.h"
#include "../../src/gbt/metric/terms.h"
#include "naive_metric.h"

/* With an odd number of threads on the machine's best instruction set, with an even one on the plainest. */
static double eval_with(const metric_rows *r, const gbt_metric *metric, int weighted, int n_threads) {
  gbt_ctx ctx = test_ctx(NULL, n_threads);
  if (n_threads % 2 == 0) ctx.simd = GBT_SIMD_SCALAR;
  double out = -12345.0;
  const gbt_rows rows = test_rows(r->n, r->label, weighted ? r->weight : NULL, NULL);
  CHECK_OK(gbt_metric_eval(&ctx, metric, &r->objective, &rows, NULL, r->score, &out, test_err));
  gbt_ctx_close(&ctx);
  return out;
}

static double eval(const metric_rows *r, gbt_metric_kind kind, int weighted, int n_threads) {
  const gbt_metric metric = gbt_metric_plain(kind);
  return eval_with(r, &metric, weighted, n_threads);
}

/* The metric with its default parameter, or with one inside of its range. */
static gbt_metric some_metric(test_rng *rng, int kind, gbt_objective_kind objective) {
  gbt_metric metric = gbt_metric_plain((gbt_metric_kind)kind);
  const gbt_metric_param *p = &gbt_metric_about(kind)->param;
  if (p->name == NULL || (objective == GBT_OBJ_SOFTMAX && strcmp(p->name, "threshold") == 0)) return metric;
  double high = p->high > 20.0 ? 20.0 : p->high;
  if (p->whole) metric.param = p->low + (double)test_below(rng, 7);
  if (!p->whole) metric.param = p->low + (high - p->low) * (0.05 + 0.9 * test_unit(rng));
  return metric;
}

/* One objective for everything that objectives predict. */
static const gbt_objective_kind objectives[] = {GBT_OBJ_SQUARED_ERROR, GBT_OBJ_LOGISTIC, GBT_OBJ_SOFTMAX,
                                                GBT_OBJ_POISSON, GBT_OBJ_CUSTOM};
enum { N_KINDS = sizeof objectives / sizeof objectives[0] };

static int32_t outputs_of(gbt_objective_kind kind) { return kind == GBT_OBJ_SOFTMAX ? 5 : 1; }

static void metrics_equal_their_definition(void) {
  static const int64_t sizes[] = {1, 2, 5, 255, 256, 257, 900};
  test_rng rng = {71};
  for (int o = 0; o < N_KINDS; o++) {
    for (int s = 0; s < 7; s++) {
      for (int coarse = 0; coarse <= 1; coarse++) {
        metric_rows r = metric_rows_new(&rng, objectives[o], sizes[s], outputs_of(objectives[o]), coarse);
        for (int kind = 0; kind < GBT_N_METRICS; kind++) {
          const gbt_metric metric = some_metric(&rng, kind, objectives[o]);
          if (!naive_metric_has(kind, objectives[o])) continue;
          for (int weighted = 0; weighted <= 1; weighted++) {
            double want = (double)naive_metric(&r, &metric, weighted), got = eval_with(&r, &metric, weighted, 1);
            if (!CHECK_NEAR(got, want, 1e-12)) printf("  %s@%g\n", gbt_metric_about(kind)->name, metric.param);
          }
        }
        metric_rows_free(&r);
      }
    }
  }
}

/* The same rows in another order. */
static metric_rows permuted(const metric_rows *r, test_rng *rng) {
  metric_rows q = metric_rows_new(rng, (gbt_objective_kind)r->objective.kind, r->n, r->objective.n_outputs, 0);
  int64_t *p = test_permutation(rng, r->n);
  for (int64_t i = 0; i < r->n; i++) {
    for (int32_t k = 0; k < r->objective.n_outputs; k++) q.score[k * r->n + i] = r->score[k * r->n + p[i]];
    q.label[i] = r->label[p[i]];
    q.weight[i] = r->weight[p[i]];
  }
  free(p);
  return q;
}

static void threads_and_order_do_not_show(void) {
  static const int threads[] = {1, 2, 3, 8};
  const int first = test_few() ? 2 : 0, end = test_few() ? 3 : 4;
  test_rng rng = {72};
  for (int o = 0; o < N_KINDS; o++) {
    metric_rows r =
        metric_rows_new(&rng, objectives[o], 70000, outputs_of(objectives[o]), objectives[o] == GBT_OBJ_CUSTOM);
    metric_rows q = permuted(&r, &rng);
    for (int metric = 0; metric < GBT_N_METRICS; metric++) {
      if (!naive_metric_has(metric, objectives[o])) continue;
      for (int weighted = 0; weighted <= 1; weighted++) {
        double want = eval(&r, (gbt_metric_kind)metric, weighted, 1);
        CHECK(isfinite(want));
        for (int t = first; t < end; t++) CHECK_EQ_BITS(eval(&q, (gbt_metric_kind)metric, weighted, threads[t]), want);
      }
    }
    q.score[q.n - 1] = NAN;
    gbt_metric_kind usual = objectives[o] == GBT_OBJ_CUSTOM ? GBT_METRIC_AUC : gbt_metric_of_objective(objectives[o]);
    for (int t = first; t < end; t++) CHECK(isnan(eval(&q, usual, 0, threads[t])));
    metric_rows_free(&r);
    metric_rows_free(&q);
  }
}

/* Weights 2^k for all rows are no weights; a weight of 2 is the row twice (products with 2 are exact). */
static void weights_count_rows(void) {
  test_rng rng = {73};
  for (int o = 0; o < N_KINDS; o++) {
    int32_t n_outputs = outputs_of(objectives[o]);
    metric_rows r = metric_rows_new(&rng, objectives[o], 3000, n_outputs, 1),
                twice = metric_rows_new(&rng, objectives[o], 6000, n_outputs, 0);
    for (int metric = 0; metric < GBT_N_METRICS; metric++) {
      const gbt_metric_kind kind = (gbt_metric_kind)metric;
      if (!naive_metric_has(metric, objectives[o])) continue;
      double plain = eval(&r, kind, 0, 2);
      static const double same[] = {1.0, 0.125, 0x1p-1060, 0x1p900};
      for (int k = 0; k < 4; k++) {
        for (int64_t i = 0; i < r.n; i++) r.weight[i] = same[k];
        if (k < 2 || kind == GBT_METRIC_AUC || kind == GBT_METRIC_PR_AUC) CHECK_EQ_BITS(eval(&r, kind, 1, 2), plain);
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
      double counted = eval(&r, kind, 1, 2), repeated = eval(&twice, kind, 1, 2);
      if (kind == GBT_METRIC_GINI) /* gains are rounded by the row */
        CHECK_NEAR(counted, repeated, 1e-15);
      else
        CHECK_EQ_BITS(counted, repeated);
    }
    metric_rows_free(&r);
    metric_rows_free(&twice);
  }
}

static double auc_of(int64_t n, double *score, double *label, double *weight) {
  metric_rows r = {gbt_objective_make(GBT_OBJ_LOGISTIC, 1), n, score, label, weight};
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
    metric_rows r = metric_rows_new(&rng, GBT_OBJ_LOGISTIC, 2 + test_below(&rng, i % 50 ? 14 : 200), 1, i % 2);
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
    metric_rows_free(&r);
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
    metric_rows r = metric_rows_new(&rng, GBT_OBJ_LOGISTIC, N, 1, 0);
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
    metric_rows_free(&r);
  }
  free(s);
}

/* Groups of equal scores that reach over many blocks of rows. */
static void auc_with_giant_ties(void) {
  enum { N = 150000 };
  test_rng rng = {75};
  for (int kinds = 1; kinds <= 4; kinds++) {
    metric_rows r = metric_rows_new(&rng, GBT_OBJ_LOGISTIC, N, 1, 0);
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
    metric_rows_free(&r);
  }
}

/* So many classes that rows are walked over several times: classes that nothing is of change nothing. */
static void many_classes_take_several_walks(void) {
  enum { N = 60, FEW = 7, MANY = 60000 };
  test_rng rng = {78};
  metric_rows few = metric_rows_new(&rng, GBT_OBJ_SOFTMAX, N, FEW, 1);
  metric_rows many = metric_rows_new(&rng, GBT_OBJ_SOFTMAX, N, MANY, 1);
  for (int64_t i = 0; i < N; i++) {
    for (int32_t k = 0; k < MANY; k++) many.score[k * N + i] = -1000.0;
    for (int32_t k = 0; k < FEW; k++) many.score[(int64_t)(k + 1) * 8500 * N + i] = few.score[k * N + i];
    many.label[i] = (few.label[i] + 1.0) * 8500.0;
    many.weight[i] = few.weight[i];
  }
  static const gbt_metric_kind counted[] = {GBT_METRIC_ACCURACY, GBT_METRIC_BALANCED_ACCURACY, GBT_METRIC_F1,
                                            GBT_METRIC_MCC};
  for (int k = 0; k < 4; k += test_few() ? 3 : 1)
    for (int threads = test_few() ? 3 : 1; threads <= 3; threads++)
      CHECK_EQ_BITS(eval(&many, counted[k], 1, threads), eval(&few, counted[k], 1, 1));
  metric_rows_free(&few);
  metric_rows_free(&many);
}

/* Where a metric says nothing it is NaN; where it has a limit it is that. */
static void metrics_of_one_class(void) {
  double score[4] = {1, 2, -1, 0.5}, ones[4] = {1, 1, 1, 1}, mixed[4] = {1, 0, 1, 0}, up[4] = {5, 6, 7, 8};
  static const gbt_metric_kind of_two[] = {GBT_METRIC_AUC, GBT_METRIC_PR_AUC, GBT_METRIC_BALANCED_ACCURACY,
                                           GBT_METRIC_MCC};
  metric_rows r = {gbt_objective_make(GBT_OBJ_LOGISTIC, 1), 4, score, ones, NULL};
  for (int k = 0; k < 4; k++) CHECK(isnan(eval(&r, of_two[k], 0, 1)));
  CHECK_NEAR(eval(&r, GBT_METRIC_F1, 0, 1), 6.0 / 7.0, 1e-15); /* 3 of 4 found, none wrong */
  r.label = mixed;
  r.score = up;
  CHECK_EQ_BITS(eval(&r, GBT_METRIC_MCC, 0, 1), 0.0);
  CHECK_EQ_BITS(eval(&r, GBT_METRIC_BALANCED_ACCURACY, 0, 1), 0.5);
  for (int k = 0; k < 4; k++) up[k] = -up[k];
  double none[4] = {0, 0, 0, 0};
  r.label = none;
  CHECK(isnan(eval(&r, GBT_METRIC_F1, 0, 1)));
  metric_rows n = {gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1), 4, score, ones, NULL};
  CHECK(isnan(eval(&n, GBT_METRIC_R2, 0, 1)) && isnan(eval(&n, GBT_METRIC_GINI, 0, 1)));
  n.label = score;
  CHECK_EQ_BITS(eval(&n, GBT_METRIC_R2, 0, 1), 1.0);
  CHECK_EQ_BITS(eval(&n, GBT_METRIC_GINI, 0, 1), 1.0);
  double back[4];
  for (int k = 0; k < 4; k++) back[k] = -score[k];
  n.label = back;
  CHECK_EQ_BITS(eval(&n, GBT_METRIC_GINI, 0, 1), -1.0);
}

/* Gini of labels 0 and 1 is 2 AUC - 1. */
static void gini_of_two_classes_is_auc(void) {
  test_rng rng = {79};
  for (int i = 0; i < 200; i++) {
    metric_rows r = metric_rows_new(&rng, GBT_OBJ_CUSTOM, 2 + test_below(&rng, 300), 1, i % 2);
    double area = eval(&r, GBT_METRIC_AUC, i & 2, 1);
    CHECK_NEAR(eval(&r, GBT_METRIC_GINI, i & 2, 1), 2.0 * area - 1.0, 1e-14);
    metric_rows_free(&r);
  }
}

/* Rankings over several blocks of rows, with ties that reach over them: the rows in their order, by long double. */
static void rankings_of_many_rows(void) {
  enum { N = 100000 };
  test_rng rng = {80};
  for (int kinds = 1; kinds <= 64; kinds *= 4) {
    metric_rows r = metric_rows_new(&rng, GBT_OBJ_CUSTOM, N, 1, 0);
    double positive[64] = {0}, all[64] = {0}, hits = 0.0, above = 0.0;
    long double sum = 0.0L;
    for (int64_t i = 0; i < N; i++) {
      int64_t kind = test_below(&rng, kinds);
      r.score[i] = (double)kind;
      positive[kind] += r.label[i];
      all[kind] += 1.0;
    }
    for (int k = kinds - 1; k >= 0; k--) {
      hits += positive[k], above += all[k];
      sum += (long double)positive[k] * hits / above;
    }
    for (int threads = 1; threads <= 3; threads++)
      CHECK_NEAR(eval(&r, GBT_METRIC_PR_AUC, 0, threads), (double)(sum / hits), 1e-15);
    CHECK_NEAR(eval(&r, GBT_METRIC_GINI, 0, 2), 2.0 * eval(&r, GBT_METRIC_AUC, 0, 1) - 1.0, 1e-15);
    metric_rows_free(&r);
  }
}

static void extreme_scores_stay_finite(void) {
  double score[4] = {1e6, -1e6, 800.0, -800.0}, right[4] = {1, 0, 1, 0}, wrong[4] = {0, 1, 0, 1};
  metric_rows r = {gbt_objective_make(GBT_OBJ_LOGISTIC, 1), 4, score, right, NULL};
  CHECK(eval(&r, GBT_METRIC_LOGLOSS, 0, 1) < 1e-300);
  r.label = wrong;
  CHECK_EQ_BITS(eval(&r, GBT_METRIC_LOGLOSS, 0, 1), (2e6 + 1600.0) / 4.0);
  CHECK_EQ_BITS(eval(&r, GBT_METRIC_ERROR, 0, 1) + eval(&r, GBT_METRIC_ACCURACY, 0, 1), 1.0);
  double many[4] = {1e6, -1e6, -1e6, 1e6}, classes[2] = {0, 0};
  metric_rows m = {gbt_objective_make(GBT_OBJ_SOFTMAX, 2), 2, many, classes, NULL};
  CHECK_EQ_BITS(eval(&m, GBT_METRIC_MLOGLOSS, 0, 1), 1e6);
  double ties[4] = {1.0, 1.0, 1.0, 1.0}, second[2] = {0, 1};
  metric_rows t = {gbt_objective_make(GBT_OBJ_SOFTMAX, 2), 2, ties, second, NULL};
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
  char label[GBT_METRIC_NAME];
  for (int32_t i = 0; i < GBT_N_METRICS; i++) {
    const gbt_metric_info *info = gbt_metric_about(i);
    gbt_metric metric = gbt_metric_plain((gbt_metric_kind)i);
    CHECK_EQ_I64(gbt_metric_find(info->name, info->outputs), i);
    for (const char *a = info->aliases; *a != '\0'; a += strspn(a, "|")) {
      char alias[64];
      snprintf(alias, sizeof alias, "%.*s", (int)strcspn(a, "|"), a);
      CHECK_EQ_I64(gbt_metric_find(alias, info->outputs), i);
      a += strlen(alias);
    }
    CHECK(info->outputs != 0 && strlen(info->text) > 10);
    gbt_metric_name(&metric, label);
    CHECK_EQ_TEXT(label, info->name);
    CHECK(info->param.name == NULL || (info->param.def >= info->param.low && info->param.def <= info->param.high));
  }
  gbt_metric metric = {GBT_METRIC_ERROR, 0.3, 0};
  gbt_metric_name(&metric, label);
  CHECK_EQ_TEXT(label, "error@0.3");
  CHECK_EQ_I64(gbt_metric_find("rmsee", -1), -1);
  CHECK_EQ_I64(gbt_metric_find("", -1), -1);
  CHECK_EQ_I64(gbt_metric_find("|", -1), -1);
  CHECK_EQ_I64(gbt_metric_find("brier", GBT_OUT_PROBABILITY), GBT_METRIC_BRIER);
  CHECK_EQ_I64(gbt_metric_find("brier", GBT_OUT_CLASSES), GBT_METRIC_MBRIER);
  CHECK_EQ_I64(gbt_metric_find("brier", GBT_OUT_NUMBER), GBT_METRIC_BRIER);
  static const gbt_metric_kind usual[N_KINDS] = {GBT_METRIC_RMSE, GBT_METRIC_LOGLOSS, GBT_METRIC_MLOGLOSS,
                                                 GBT_METRIC_POISSON_DEVIANCE, GBT_METRIC_RMSE};
  for (int i = 0; i < N_KINDS; i++) CHECK_EQ_I64(gbt_metric_of_objective(objectives[i]), usual[i]);
  for (int k = 0; k < GBT_N_OBJECTIVES; k++)
    CHECK(gbt_metric_suits((int32_t)gbt_metric_of_objective((gbt_objective_kind)k), (gbt_objective_kind)k));
  CHECK(!gbt_metric_suits(GBT_METRIC_AUC, GBT_OBJ_SQUARED_ERROR) &&
        !gbt_metric_suits(GBT_METRIC_RMSE, GBT_OBJ_SOFTMAX));
  CHECK(!gbt_metric_suits(GBT_METRIC_MLOGLOSS, GBT_OBJ_CUSTOM) && gbt_metric_suits(GBT_METRIC_AUC, GBT_OBJ_CUSTOM));
}

/* A parameter that the objective has as well is by default the objective's. */
static void parameters_follow_the_objective(void) {
  int n_twins = 0;
  for (int kind = 0; kind < GBT_N_METRICS; kind++) {
    const gbt_metric_param *param = &gbt_metric_about(kind)->param;
    for (int of = 0; of < GBT_N_OBJECTIVES; of++) {
      const gbt_objective_param *its = gbt_objective_info_of(of)->param;
      gbt_objective objective = gbt_objective_make((gbt_objective_kind)of, of == GBT_OBJ_SOFTMAX ? 2 : 1);
      double want = param->def;
      for (int i = 0; i < GBT_OBJECTIVE_PARAMS && its[i].name != NULL; i++) {
        objective.param[i] = 0.625 + i;
        if (param->twin == NULL || strcmp(its[i].name, param->twin) != 0) continue;
        want = objective.param[i];
        n_twins++;
      }
      const gbt_metric metric = gbt_metric_for((gbt_metric_kind)kind, &objective);
      CHECK_EQ_I64(metric.kind, kind);
      CHECK_EQ_BITS(metric.param, want);
    }
  }
  CHECK(n_twins >= 3);
}

static gbt_status eval_of(gbt_ctx *ctx, int kind, double param, gbt_objective_kind of, int64_t n, int32_t n_outputs,
                          const double *score, const double *label, double *out) {
  const gbt_metric metric = {kind, param, 0};
  const gbt_objective objective = gbt_objective_make(of, n_outputs);
  const gbt_rows rows = test_rows(n, label, NULL, NULL);
  return gbt_metric_eval(ctx, &metric, &objective, &rows, NULL, score, out, test_err);
}

static void misfits_are_refused(void) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  double x[4] = {0, 0, 0, 0}, y[2] = {0, 1}, out = 5.0;
  CHECK_FAILS(eval_of(&ctx, GBT_METRIC_AUC, 0, GBT_OBJ_SQUARED_ERROR, 2, 1, x, y, &out), GBT_E_ARG,
              "metric \"auc\" is for probabilities of one of two classes, but objective \"squared_error\" predicts "
              "numbers; metrics for these are \"rmse\", \"mse\", \"mae\"");
  CHECK_FAILS(
      eval_of(&ctx, GBT_METRIC_HUBER, 1, GBT_OBJ_SOFTMAX, 2, 2, x, y, &out), GBT_E_ARG,
      "metric \"huber\" is for numbers or means on the log link, but objective \"softmax\" predicts a probability");
  CHECK_FAILS(eval_of(&ctx, GBT_METRIC_RMSE, 0, GBT_OBJ_CUSTOM, 2, 2, x, y, &out), GBT_E_UNSUPPORTED,
              "\"rmse\" needs one score per row, and the model has 2");
  CHECK_FAILS(eval_of(&ctx, GBT_N_METRICS, 0, GBT_OBJ_SQUARED_ERROR, 2, 1, x, y, &out), GBT_E_INTERNAL, "no metric");
  CHECK_FAILS(eval_of(&ctx, -1, 0, GBT_OBJ_SQUARED_ERROR, 2, 1, x, y, &out), GBT_E_INTERNAL, "no metric");
  CHECK_FAILS(eval_of(&ctx, GBT_METRIC_ERROR, 1.5, GBT_OBJ_LOGISTIC, 2, 1, x, y, &out), GBT_E_ARG,
              "the threshold of metric \"error\" must be at least 0 and at most 1, not 1.5");
  CHECK_FAILS(eval_of(&ctx, GBT_METRIC_QUANTILE, 1.0, GBT_OBJ_SQUARED_ERROR, 2, 1, x, y, &out), GBT_E_ARG,
              "must be above 0 and below 1, not 1");
  CHECK_FAILS(eval_of(&ctx, GBT_METRIC_QUANTILE, NAN, GBT_OBJ_SQUARED_ERROR, 2, 1, x, y, &out), GBT_E_ARG, "not nan");
  CHECK_FAILS(eval_of(&ctx, GBT_METRIC_TOP_ERROR, 1.5, GBT_OBJ_SOFTMAX, 2, 2, x, y, &out), GBT_E_ARG,
              "must be a whole number at least 1");
  CHECK_FAILS(eval_of(&ctx, GBT_METRIC_F1, 0.25, GBT_OBJ_SOFTMAX, 2, 2, x, y, &out), GBT_E_ARG, "has no threshold");
  static double scores[2000], labels[1000];
  labels[700] = 2.0;
  labels[300] = -1.0;
  labels[999] = NAN;
  for (int kind = 0; kind < GBT_N_METRICS; kind++)
    if (gbt_metric_suits(kind, GBT_OBJ_SOFTMAX))
      CHECK_FAILS(
          eval_of(&ctx, kind, gbt_metric_about(kind)->param.def, GBT_OBJ_SOFTMAX, 1000, 2, scores, labels, &out),
          GBT_E_DATA, "row 301: the label -1 is not a class; classes are whole numbers from 0 to 1");
  labels[0] = 0.0 - 0x1p-1074;
  CHECK_FAILS(eval_of(&ctx, GBT_METRIC_MLOGLOSS, 0, GBT_OBJ_SOFTMAX, 1000, 2, scores, labels, &out), GBT_E_DATA,
              "row 1: the label");
  CHECK_EQ_BITS(out, 5.0);
  gbt_ctx_close(&ctx);
}

static void labels_are_checked(void) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  const double near_0[3] = {0.0, 2.0, -0.5}, with_0[3] = {1.0, 2.0, 0.0}, to_minus_1[3] = {0.0, -1.0, -0.5};
  const gbt_rows below = test_rows(3, near_0, NULL, NULL), zero = test_rows(3, with_0, NULL, NULL);
  const gbt_rows far = test_rows(3, to_minus_1, NULL, NULL);
  gbt_rows later = zero; /* of a rank that has others before it */
  later.table_before = 500;
  for (int kind = 0; kind < GBT_N_METRICS; kind++) {
    const gbt_metric metric = gbt_metric_plain((gbt_metric_kind)kind);
    switch (gbt_metric_about(kind)->labels) {
    case GBT_METRIC_LABELS_ANY:
    case GBT_METRIC_LABELS_CLASS:
      CHECK_OK(gbt_metric_labels_check(&ctx, &metric, &far, "train", test_err));
      break;
    case GBT_METRIC_LABELS_ABOVE_MINUS_ONE:
      CHECK_OK(gbt_metric_labels_check(&ctx, &metric, &below, "train", test_err));
      CHECK_FAILS(gbt_metric_labels_check(&ctx, &metric, &far, "train", test_err), GBT_E_DATA,
                  "needs labels above -1; row 2 of the train data has -1");
      break;
    case GBT_METRIC_LABELS_NOT_NEGATIVE:
      CHECK_OK(gbt_metric_labels_check(&ctx, &metric, &zero, "train", test_err));
      CHECK_FAILS(gbt_metric_labels_check(&ctx, &metric, &below, "valid 1", test_err), GBT_E_DATA,
                  "needs labels 0 or more; row 3 of the valid 1 data has -0.5");
      break;
    case GBT_METRIC_LABELS_POSITIVE:
      CHECK_FAILS(gbt_metric_labels_check(&ctx, &metric, &zero, "train", test_err), GBT_E_DATA, "above 0; row 3");
      CHECK_FAILS(gbt_metric_labels_check(&ctx, &metric, &later, "train", test_err), GBT_E_DATA, "row 503");
    }
  }
  gbt_ctx_close(&ctx);
}

typedef struct eval_case {
  metric_rows r;
  gbt_metric metric;
  double want;
} eval_case;

static gbt_status eval_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  eval_case *c = arg;
  const gbt_rows rows = test_rows(c->r.n, c->r.label, c->r.weight, NULL);
  gbt_ctx ctx;
  double out = 0.0;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err);
  if (status == GBT_OK)
    status = gbt_metric_eval(&ctx, &c->metric, &c->r.objective, &rows, NULL, c->r.score, &out, err);
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
  eval_case c = {metric_rows_new(&rng, GBT_OBJ_LOGISTIC, 70000, 1, 0), {0, 0.0, 0}, 0.0};
  static const gbt_metric_kind kinds[] = {GBT_METRIC_LOGLOSS, GBT_METRIC_AUC, GBT_METRIC_GINI, GBT_METRIC_R2};
#ifdef GBT_NO_THREADS
  enum { POOL = 0 };
#else
  enum { POOL = 2 }; /* what a context of two threads allocates when it opens */
#endif
  static const int n_allocations[] = {1 + POOL, 7 + POOL, 8 + POOL, 3 + POOL};
  for (int k = 0; k < 4; k++) {
    c.metric = gbt_metric_plain(kinds[k]);
    c.want = eval(&c.r, kinds[k], 1, 1);
    CHECK(fault_sweep(eval_op, &c) >= n_allocations[k]);
    fault f;
    fault_start(&f, 0, 0);
    gbt_ctx ctx;
    REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 2, GBT_SIMD_AUTO, stop_at_once, NULL, test_err));
    ctx.next_poll_ns = 0;
    double out = 5.0;
    const gbt_rows rows = test_rows(c.r.n, c.r.label, NULL, NULL);
    CHECK_FAILS(gbt_metric_eval(&ctx, &c.metric, &c.r.objective, &rows, NULL, c.r.score, &out, test_err), GBT_CANCELLED,
                "stopped");
    CHECK_EQ_BITS(out, 5.0);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
  }
  metric_rows_free(&c.r);
}

/* Where the plain formulas are differences of near numbers. */
static void terms_keep_their_digits(void) {
  for (double d = 1e-12; d < 0.3; d *= 3.0) {
    const long double r = d, square = r * r;
    const long double log_cosh = square / 2 - square * square / 12 + square * square * square / 45 -
                                 17 * square * square * square * square / 2520;
    if (d < 0.05) CHECK_NEAR(gbt_term_log_cosh(d, 0.0, 0.0), (double)log_cosh, 1e-12);
    if (d > 1e-4) CHECK_NEAR(gbt_term_log_cosh(0.0, d, 0.0), log(cosh(d)), 1e-8);
    const long double fair = 4 * (r / 2 - log1pl(r / 2));
    const long double near = 4 * (r / 2) * (r / 2) * (0.5L - r / 6 + square / 16);
    CHECK_NEAR(gbt_term_fair(d, 0.0, 2.0), (double)(d > 1e-3 ? fair : near), 1e-9);
  }
  for (double a = 1e-20; a < 2.0; a *= 10.0) { /* towards the deviance of Poisson */
    const double y = 1.0, s = gbt_log(2.0), poisson = gbt_term_poisson_deviance(s, y, 0.0);
    const double got = gbt_term_negative_binomial_deviance(s, y, a);
    const long double m = 2, A = a, want = 2 * (y * logl(y / m) - (y + 1 / A) * log1pl(A * (y - m) / (1 + A * m)));
    CHECK_NEAR(got, (double)want, 1e-11);
    if (a < 1e-9) CHECK_NEAR(got, poisson, 1e-7);
  }
}

void suite_metric(void) {
  RUN(terms_keep_their_digits);
  RUN(metrics_equal_their_definition);
  RUN(threads_and_order_do_not_show);
  RUN(weights_count_rows);
  RUN(auc_special_cases);
  RUN(auc_is_rounded_once);
  RUN(auc_of_many_rows);
  RUN(auc_with_giant_ties);
  RUN(many_classes_take_several_walks);
  RUN(metrics_of_one_class);
  RUN(gini_of_two_classes_is_auc);
  RUN(rankings_of_many_rows);
  RUN(extreme_scores_stay_finite);
  RUN(names_and_choices);
  RUN(parameters_follow_the_objective);
  RUN(misfits_are_refused);
  RUN(labels_are_checked);
  RUN(metrics_fail_and_stop_cleanly);
}
