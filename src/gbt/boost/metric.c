/* Metrics as exact sums over rows. A task takes some strips of rows; a strip's terms are made into a short array by
 * loops that compilers vectorise, then added to the thread's accumulators, which merge exactly at the end. */
#include "metric.h"

#include <string.h>

#include "../base/exact_sum.h"
#include "../objective/response.h"
#include "ranking.h"

enum { STRIP = 256, TASK_SCORES = 1 << 15 }; /* scores a task reads: well below a millisecond */

enum {
  NUMBER = 1 << GBT_RESPONSE_NUMBER,
  MEAN = 1 << GBT_RESPONSE_MEAN,
  SHARE = 1 << GBT_RESPONSE_PROBABILITY,
  CLASSES = 1 << GBT_RESPONSE_CLASSES,
  OWN = 1 << GBT_RESPONSE_OWN
};

static const struct {
  const char *name;
  int maximise, responses;
} infos[GBT_N_METRICS] = {
    [GBT_METRIC_RMSE] = {"rmse", 0, NUMBER | MEAN | SHARE | OWN},
    [GBT_METRIC_MAE] = {"mae", 0, NUMBER | MEAN | SHARE | OWN},
    [GBT_METRIC_LOGLOSS] = {"logloss", 0, SHARE | OWN},
    [GBT_METRIC_AUC] = {"auc", 1, SHARE | OWN},
    [GBT_METRIC_ERROR] = {"error", 0, SHARE | OWN},
    [GBT_METRIC_MLOGLOSS] = {"mlogloss", 0, CLASSES},
    [GBT_METRIC_MERROR] = {"merror", 0, CLASSES},
    [GBT_METRIC_POISSON_DEVIANCE] = {"poisson_deviance", 0, MEAN | OWN},
};

const char *gbt_metric_name(gbt_metric metric) { return infos[metric].name; }

int gbt_metric_find(const char *name) {
  for (int i = 0; i < GBT_N_METRICS; i++)
    if (strcmp(infos[i].name, name) == 0) return i;
  return -1;
}

int gbt_metric_maximise(gbt_metric metric) { return infos[metric].maximise; }

int gbt_metric_suits(gbt_metric metric, gbt_objective_kind kind) {
  return (infos[metric].responses >> (int)gbt_objective_info_of((int32_t)kind)->response) & 1;
}

gbt_metric gbt_metric_of_objective(gbt_objective_kind kind) {
  switch (kind) {
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, hessian, size, leaves, metric, \
                      ...)                                                                                         \
  case GBT_OBJ_##ID:                                                                                               \
    return GBT_METRIC_##metric;
#include "../objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return GBT_METRIC_RMSE;
}

/* One thread's sums. */
typedef struct sums {
  gbt_exact_sum terms, weights;
  int64_t bad_row; /* the first row whose label is no class; -1: none */
} sums;

typedef struct job {
  gbt_metric metric;
  gbt_objective objective;
  int64_t n, task_rows;
  int32_t n_outputs;
  const double *score, *label, *weight;
  int avx2;
  sums *part; /* n_threads */
} job;

GBT_FN void logloss_terms(const double *s, const double *y, int n, double *out) {
  for (int i = 0; i < n; i++) out[i] = gbt_term_logloss(s[i], y[i]);
  for (int i = 0; i < n; i++)
    if (y[i] != 0.0 && y[i] != 1.0) out[i] = gbt_term_logloss_between(s[i], y[i], out[i]);
}

/* Terms of metrics with one score a row. */
GBT_FN void single_terms(const job *j, const double *s, const double *y, int n, double *out) {
  switch (j->metric) {
  case GBT_METRIC_RMSE:
    gbt_responses(&j->objective, s, n, out);
    for (int i = 0; i < n; i++) out[i] = gbt_term_rmse(out[i], y[i]);
    break;
  case GBT_METRIC_MAE:
    gbt_responses(&j->objective, s, n, out);
    for (int i = 0; i < n; i++) out[i] = gbt_term_mae(out[i], y[i]);
    break;
  case GBT_METRIC_LOGLOSS:
    logloss_terms(s, y, n, out);
    break;
  case GBT_METRIC_ERROR:
    for (int i = 0; i < n; i++) out[i] = gbt_term_error(gbt_sigmoid(s[i]), y[i]);
    break;
  default:
    for (int i = 0; i < n; i++) out[i] = gbt_term_poisson(s[i], y[i]);
  }
}

/* Largest score and its class (the lowest one on ties) of n rows from row beg on. */
GBT_FN void row_maxima(const job *j, int64_t beg, int n, double *max, int32_t *best) {
  memcpy(max, j->score + beg, (size_t)n * sizeof *max);
  memset(best, 0, (size_t)n * sizeof *best);
  for (int32_t k = 1; k < j->n_outputs; k++) {
    const double *s = j->score + (int64_t)k * j->n + beg;
    for (int i = 0; i < n; i++) {
      best[i] = s[i] > max[i] ? k : best[i];
      max[i] = s[i] > max[i] ? s[i] : max[i];
    }
  }
}

/* Terms of metrics with a score for every class. Returns the first bad row in the strip, or -1. */
GBT_FN int64_t class_terms(const job *j, int64_t beg, int n, double *out) {
  double max[STRIP], sum[STRIP];
  int32_t best[STRIP];
  const double *y = j->label + beg;
  for (int i = 0; i < n; i++)
    if (!gbt_is_class(y[i], j->n_outputs)) return beg + i;
  row_maxima(j, beg, n, max, best);
  if (j->metric == GBT_METRIC_MERROR) {
    for (int i = 0; i < n; i++) out[i] = best[i] != (int32_t)y[i] ? 1.0 : 0.0;
    return -1;
  }
  for (int i = 0; i < n; i++) sum[i] = 0.0;
  for (int32_t k = 0; k < j->n_outputs; k++) {
    const double *s = j->score + (int64_t)k * j->n + beg;
    for (int i = 0; i < n; i++) sum[i] += gbt_exp(s[i] - max[i]);
  }
  for (int i = 0; i < n; i++) out[i] = gbt_term_mlogloss(max[i], sum[i], j->score[(int64_t)y[i] * j->n + beg + i]);
  return -1;
}

/* Terms of the strip of n rows from beg on. Returns the first row in it whose label is no class, or -1. */
GBT_FN int64_t strip_terms(const job *j, int64_t beg, int n, double *out) {
  if (j->objective.kind == GBT_OBJ_SOFTMAX) return class_terms(j, beg, n, out);
  single_terms(j, j->score + beg, j->label + beg, n, out);
  return -1;
}

/* The same code for two instruction sets, by the same arithmetic: the same bits. */
static int64_t strip_terms_scalar(const job *j, int64_t beg, int n, double *out) { return strip_terms(j, beg, n, out); }

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static int64_t strip_terms_avx2(const job *j, int64_t beg, int n, double *out) {
  return strip_terms(j, beg, n, out);
}
#else
#define strip_terms_avx2 strip_terms_scalar
#endif

static void sum_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  sums *part = &j->part[thread];
  int64_t beg = task * j->task_rows, end = j->n - beg < j->task_rows ? j->n : beg + j->task_rows;
  for (; beg < end; beg += STRIP) {
    double term[STRIP];
    int n = end - beg < STRIP ? (int)(end - beg) : STRIP;
    int64_t bad = j->avx2 ? strip_terms_avx2(j, beg, n, term) : strip_terms_scalar(j, beg, n, term);
    if (bad >= 0) {
      if (part->bad_row < 0 || bad < part->bad_row) part->bad_row = bad;
      continue;
    }
    if (j->weight != NULL) {
      const double *w = j->weight + beg;
      for (int i = 0; i < n; i++) term[i] *= w[i];
      for (int i = 0; i < n; i++) gbt_exact_add(&part->weights, w[i]);
    }
    for (int i = 0; i < n; i++) gbt_exact_add(&part->terms, term[i]);
  }
}

static gbt_status finish(const job *j, int n_threads, double *out, gbt_error *err) {
  sums *all = &j->part[0];
  for (int t = 1; t < n_threads; t++) {
    const sums *part = &j->part[t];
    gbt_exact_merge(&all->terms, &part->terms);
    gbt_exact_merge(&all->weights, &part->weights);
    if (part->bad_row >= 0 && (all->bad_row < 0 || part->bad_row < all->bad_row)) all->bad_row = part->bad_row;
  }
  if (all->bad_row >= 0)
    return gbt_fail(err, GBT_E_DATA, "row %lld: the label %.15g is no class; classes are whole numbers from 0 to %d",
                    (long long)all->bad_row + 1, j->label[all->bad_row], (int)j->n_outputs - 1);
  double weight = j->weight == NULL ? (double)j->n : gbt_exact_value(&all->weights);
  *out = gbt_metric_mean(j->metric, gbt_exact_value(&all->terms), weight);
  return GBT_OK;
}

static gbt_status check(gbt_metric metric, const gbt_objective *objective, gbt_error *err) {
  if ((int)metric < 0 || metric >= GBT_N_METRICS)
    return gbt_fail(err, GBT_E_INTERNAL, "there is no metric %d", (int)metric);
  GBT_TRY(gbt_objective_check(objective, err));
  const gbt_objective_kind kind = (gbt_objective_kind)objective->kind;
  if (!gbt_metric_suits(metric, kind))
    return gbt_fail_on(err, GBT_E_ARG, infos[metric].name, "the metric `%s` does not go with the objective `%s`",
                       infos[metric].name, gbt_objective_info_of((int32_t)kind)->name);
  if (kind != GBT_OBJ_SOFTMAX && objective->n_outputs != 1)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, infos[metric].name,
                       "the metric `%s` takes one score a row, the model has %d; give a metric function",
                       infos[metric].name, (int)objective->n_outputs);
  return GBT_OK;
}

gbt_status gbt_metric_eval(gbt_ctx *ctx, gbt_metric metric, const gbt_objective *objective, int64_t n,
                           const double *score, const double *label, const double *weight, double *out,
                           gbt_error *err) {
  const int32_t n_outputs = objective->n_outputs;
  GBT_TRY(check(metric, objective, err));
  if (metric == GBT_METRIC_AUC) return gbt_auc(ctx, n, score, label, weight, out, err);
  gbt_status status = GBT_OK;
  job j = {.metric = metric,
           .objective = *objective,
           .n = n,
           .task_rows = TASK_SCORES / n_outputs,
           .n_outputs = n_outputs,
           .score = score,
           .label = label,
           .weight = weight,
           .avx2 = ctx->simd >= GBT_SIMD_AVX2};
  if (j.task_rows < STRIP) j.task_rows = STRIP;
  while (j.task_rows > 32 && j.task_rows * n_outputs > 1 << 20) j.task_rows /= 2; /* so that tasks stay short */
  GBT_ASSERT(n_outputs > 0 && n >= 0 && j.task_rows > 0);
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)ctx->n_threads, sizeof *j.part, &j.part, err));
  for (int t = 0; t < ctx->n_threads; t++) j.part[t].bad_row = -1;
  GBT_TRY_GOTO(gbt_parallel(ctx, (n + j.task_rows - 1) / j.task_rows, sum_task, &j, err), done);
  GBT_TRY_GOTO(finish(&j, ctx->n_threads, out, err), done);
done:
  gbt_mem_free(&ctx->mem, j.part);
  return status;
}
