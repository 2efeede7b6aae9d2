/* Metrics of a data set. Those that are means are here: a task takes some row blocks; a block's terms are made into
 * a short array by loops that compilers vectorise, then added to the thread's accumulators, which merge exactly at the
 * end. */
#include "metric.h"

#include <string.h>

#include "../base/comm.h"
#include "../base/parallel.h"
#include "../metric/class_terms.h"
#include "../metric/terms.h"
#include "../objective/distribution.h"
#include "../objective/intervals.h"
#include "../objective/levels.h"
#include "../objective/response.h"
#include "metric_rows.h"

enum { BLOCK = GBTI_METRIC_BLOCK };

/* One thread's sums. */
typedef struct sums {
  gbt_exact_sum terms, weights;
  int64_t bad_row; /* the first row whose label is no class; -1: none */
} sums;

typedef struct job {
  const gbt_metric_rows *rows;
  int64_t task_rows;
  int avx2;
  sums *part; /* n_threads */
} job;

/* ---- terms of a block ---- */

/* Is it a metric of responses, not of scores? */
static int is_of_responses(int32_t kind) {
  enum {
    RESPONSE = 1,
    PROBABILITY = 0,
    SCORE = 0,
    LOGLOSS = 0,
    CLASSES = 0,
    CONFUSION = 0,
    BINS = 0,
    VARIANCE = 0,
    RANKING = 0,
    QUERY = 0,
    CENSORED = 0,
    RISK = 0,
    DISTRIBUTION = 0
  };
  static const uint8_t by_kind[] = {
#define GBT_METRIC(ID, name, form, better, outputs, labels, parameter, aliases, text) [GBT_METRIC_##ID] = form,
#include "../metric/metrics.def"
#undef GBT_METRIC
  };
  return by_kind[kind];
}

/* Terms of metrics with one score a row. Responses are made in one place, as their code is long. */
GBT_FN void single_terms(const gbt_metric_rows *r, const double *s, const double *y, int n, double *out) {
  const double a = r->metric.param;
  if (gbt_is_distribution(&r->objective))
    gbt_distribution_means(&r->objective, s, s + r->of.n, n, out);
  else if (is_of_responses(r->metric.kind))
    gbt_responses(&r->objective, s, n, out);
  switch (r->metric.kind) {
#define TERMS_RESPONSE(ID, name)                                           \
  case GBT_METRIC_##ID:                                                    \
    for (int i = 0; i < n; i++) out[i] = gbt_term_##name(out[i], y[i], a); \
    break;
#define TERMS_PROBABILITY(ID, name)                                                   \
  case GBT_METRIC_##ID:                                                               \
    for (int i = 0; i < n; i++) out[i] = gbt_term_##name(gbt_sigmoid(s[i]), y[i], a); \
    break;
#define TERMS_SCORE(ID, name)                                            \
  case GBT_METRIC_##ID:                                                  \
    for (int i = 0; i < n; i++) out[i] = gbt_term_##name(s[i], y[i], a); \
    break;
#define TERMS_LOGLOSS(ID, name)                                                               \
  case GBT_METRIC_##ID:                                                                       \
    for (int i = 0; i < n; i++) out[i] = gbt_term_##name(s[i], y[i], a);                      \
    for (int i = 0; i < n; i++)                                                               \
      if (y[i] != 0.0 && y[i] != 1.0) out[i] = gbt_term_##name##_between(s[i], y[i], out[i]); \
    break;
#define TERMS_NONE(ID, name) /* metrics of this form are not summed here */
#define TERMS_CLASSES TERMS_NONE
#define TERMS_CONFUSION TERMS_NONE
#define TERMS_BINS TERMS_NONE
#define TERMS_VARIANCE TERMS_NONE
#define TERMS_RANKING TERMS_NONE
#define TERMS_QUERY TERMS_NONE
#define TERMS_CENSORED TERMS_NONE
#define TERMS_RISK TERMS_NONE
#define TERMS_DISTRIBUTION TERMS_NONE
#define GBT_METRIC(ID, name, form, better, outputs, labels, parameter, aliases, text) TERMS_##form(ID, name)
#include "../metric/metrics.def"
#undef TERMS_CLASSES
  }
}

/* Results of the walks over a block's scores (class_terms.h), each in an array of its own so that loops vectorise. */
typedef struct class_block {
  double top[BLOCK], mine[BLOCK], sum[BLOCK], squares[BLOCK];
  int32_t best[BLOCK], label[BLOCK];
} class_block;

/* The first walk over the scores of n rows from row beg on. */
GBT_FN void first_walk(const gbt_metric_rows *r, int64_t beg, int n, class_block *x) {
  memcpy(x->top, r->score + beg, (size_t)n * sizeof *x->top);
  memset(x->best, 0, (size_t)n * sizeof *x->best);
  for (int32_t k = 1; k < r->objective.n_outputs; k++) {
    const double *s = r->score + (int64_t)k * r->of.n + beg;
    for (int i = 0; i < n; i++) {
      gbt_class_row row = {x->top[i], x->best[i], 0, 0.0};
      gbt_class_best(&row, s[i], k);
      x->best[i] = row.best;
      x->top[i] = row.top;
    }
  }
  for (int i = 0; i < n; i++) {
    x->label[i] = (int32_t)gbt_label_of(&r->of, beg + i);
    x->mine[i] = r->score[(int64_t)x->label[i] * r->of.n + beg + i];
    x->sum[i] = x->squares[i] = 0.0;
  }
}

#define SECOND_WALK(name)                                                     \
  for (int32_t k = 0; k < r->objective.n_outputs; k++) {                      \
    const double *s = r->score + (int64_t)k * r->of.n + beg;                  \
    for (int i = 0; i < n; i++) {                                             \
      const gbt_class_row row = {x.top[i], x.best[i], x.label[i], x.mine[i]}; \
      gbt_class_sums sums_of = {x.sum[i], x.squares[i]};                      \
      gbt_class_add_##name(&sums_of, &row, s[i], k);                          \
      x.sum[i] = sums_of.sum;                                                 \
      x.squares[i] = sums_of.squares;                                         \
    }                                                                         \
  }                                                                           \
  for (int i = 0; i < n; i++) {                                               \
    const gbt_class_row row = {x.top[i], x.best[i], x.label[i], x.mine[i]};   \
    const gbt_class_sums sums_of = {x.sum[i], x.squares[i]};                  \
    out[i] = gbt_class_term_##name(&sums_of, &row, a);                        \
  }

/* Terms of metrics with a score for every class. Returns the first bad row in the block, or -1. */
GBT_FN int64_t class_terms(const gbt_metric_rows *r, int64_t beg, int n, double *out) {
  const double a = r->metric.param;
  class_block x;
  for (int i = 0; i < n; i++)
    if (!gbt_is_class(gbt_label_of(&r->of, beg + i), r->objective.n_outputs)) return beg + i;
  first_walk(r, beg, n, &x);
  switch (r->metric.kind) {
#define TERMS_CLASSES(ID, name) \
  case GBT_METRIC_##ID: {       \
    SECOND_WALK(name)           \
    break;                      \
  }
#undef TERMS_RESPONSE
#undef TERMS_PROBABILITY
#undef TERMS_SCORE
#undef TERMS_LOGLOSS
#define TERMS_RESPONSE TERMS_NONE
#define TERMS_PROBABILITY TERMS_NONE
#define TERMS_SCORE TERMS_NONE
#define TERMS_LOGLOSS TERMS_NONE
#include "../metric/metrics.def"
  }
  return -1;
}

/* Of models with several levels, whose responses are in ascending order: the mean pinball loss of all levels, or that
 * of one; or whether the label lies between the outer ones. */
static void level_terms(const gbt_metric_rows *r, int64_t beg, int n, double *out) {
  const int32_t K = r->objective.n_outputs;
  const int all = r->metric.param == GBT_ALL_LEVELS;
  const int32_t place = gbt_level_place(&r->objective, r->metric.param);
  for (int i = 0; i < n; i++) {
    const double y = gbt_label_of(&r->of, beg + i);
    double q[GBT_MOST_LEVELS], sum = 0.0;
    for (int32_t k = 0; k < K; k++) q[k] = r->score[(int64_t)k * r->of.n + beg + i];
    gbt_sort_levels(q, 1, K);
    if (r->metric.kind == GBT_METRIC_COVERAGE) {
      out[i] = y >= q[0] && y <= q[K - 1] ? 1.0 : 0.0;
      continue;
    }
    for (int32_t k = all ? 0 : place; k < (all ? K : place + 1); k++)
      sum += gbt_term_quantile(q[k], y, r->objective.levels[k]);
    out[i] = all ? sum / (double)K : sum;
  }
}

/* The loss of a row is that of all intervals in which something is known of it. */
GBT_FN void interval_terms(const gbt_metric_rows *r, int64_t beg, int n, double *out) {
  memset(out, 0, (size_t)n * sizeof *out);
  for (int32_t k = 0; k < r->objective.n_outputs; k++) {
    const double *s = r->score + (int64_t)k * r->of.n + beg;
    for (int i = 0; i < n; i++) {
      const int label = gbt_interval_label(&r->objective, &r->of, beg + i, k);
      if (label != GBT_HAZARD_UNKNOWN) out[i] += gbt_hazard_loss(s[i], label);
    }
  }
}

/* Terms of metrics of censored times. */
GBT_FN void censored_terms(const gbt_metric_rows *r, int64_t beg, int n, double *out) {
  if (r->metric.kind == GBT_METRIC_HAZARD_NLOGLIK) {
    interval_terms(r, beg, n, out);
    return;
  }
  GBT_ASSERT(r->metric.kind == GBT_METRIC_AFT_NLOGLIK);
  for (int64_t i = beg; i < beg + n; i++)
    out[i - beg] = gbt_aft_loss(r->score[i], gbt_label_of(&r->of, i), gbt_upper_of(&r->of, i), r->objective.param);
}

/* Terms of metrics of distributions. */
static void distribution_terms(const gbt_metric_rows *r, int64_t beg, int n, double *out) {
  const double *a = r->score + beg, *b = a + r->of.n, *y = r->of.field[GBT_LABEL] + beg;
  const double level = r->metric.param;
  switch (r->metric.kind) {
  case GBT_METRIC_CRPS:
    gbt_distribution_crps(&r->objective, a, b, y, n, out);
    return;
  case GBT_METRIC_INTERVAL_COVERAGE:
    gbt_distribution_within(&r->objective, a, b, y, level, n, out);
    return;
  default:
    break;
  }
  GBT_ASSERT(r->metric.kind == GBT_METRIC_NLOGLIK);
  gbt_distribution_nloglik(&r->objective, a, b, y, n, out);
}

/* Terms of the row block of n rows from beg on. Returns the first row in it whose label is no class, or -1. */
GBT_FN int64_t block_terms(const job *j, int64_t beg, int n, double *out) {
  const gbt_metric_rows *r = j->rows;
  if (gbt_responses_by_classes(&r->objective)) return class_terms(r, beg, n, out);
  if (gbt_metric_about(r->metric.kind)->form == GBT_FORM_CENSORED)
    censored_terms(r, beg, n, out);
  else if (gbt_metric_about(r->metric.kind)->form == GBT_FORM_DISTRIBUTION)
    distribution_terms(r, beg, n, out);
  else if (gbt_has_levels(&r->objective))
    level_terms(r, beg, n, out);
  else
    single_terms(r, r->score + beg, r->of.field[GBT_LABEL] + beg, n, out);
  return -1;
}

/* The same code for two instruction sets, by the same arithmetic: the same bits. */
static int64_t block_terms_scalar(const job *j, int64_t beg, int n, double *out) { return block_terms(j, beg, n, out); }

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static int64_t block_terms_avx2(const job *j, int64_t beg, int n, double *out) {
  return block_terms(j, beg, n, out);
}
#else
#define block_terms_avx2 block_terms_scalar
#endif

static void sum_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  sums *part = &j->part[thread];
  int64_t beg = task * j->task_rows, end = j->rows->of.n - beg < j->task_rows ? j->rows->of.n : beg + j->task_rows;
  for (; beg < end; beg += BLOCK) {
    double term[BLOCK];
    int n = end - beg < BLOCK ? (int)(end - beg) : BLOCK;
    int64_t bad = j->avx2 ? block_terms_avx2(j, beg, n, term) : block_terms_scalar(j, beg, n, term);
    if (bad >= 0) {
      if (part->bad_row < 0 || bad < part->bad_row) part->bad_row = bad;
      continue;
    }
    if (j->rows->of.field[GBT_WEIGHT] != NULL) {
      const double *w = j->rows->of.field[GBT_WEIGHT] + beg;
      for (int i = 0; i < n; i++) term[i] *= w[i];
      for (int i = 0; i < n; i++) gbt_exact_add(&part->weights, w[i]);
    }
    for (int i = 0; i < n; i++) gbt_exact_add(&part->terms, term[i]);
  }
}

/* The other threads' sums go to the first one's. */
static void merge(const job *j, int n_threads) {
  sums *all = &j->part[0];
  for (int t = 1; t < n_threads; t++) {
    const sums *part = &j->part[t];
    gbt_exact_merge(&all->terms, &part->terms);
    gbt_exact_merge(&all->weights, &part->weights);
    if (part->bad_row >= 0 && (all->bad_row < 0 || part->bad_row < all->bad_row)) all->bad_row = part->bad_row;
  }
}

/* The mean over all ranks' rows. */
static gbt_status finish(gbt_ctx *ctx, const gbt_metric *metric, sums *all, double *out, gbt_error *err) {
  GBT_TRY(gbt_comm_sum_exact(ctx, &all->terms, 1, err));
  GBT_TRY(gbt_comm_sum_exact(ctx, &all->weights, 1, err));
  *out = gbt_metric_mean(metric, gbt_exact_value(&all->terms), gbt_exact_value(&all->weights));
  return GBT_OK;
}

/* Adds the sums of this rank's rows, which weigh 1 without weights. */
static gbt_status add_rows(gbt_ctx *ctx, const gbt_metric_rows *rows, sums *all, gbt_error *err) {
  gbt_status status = GBT_OK;
  job j = {rows, gbt_metric_task_rows(rows->objective.n_outputs), ctx->simd >= GBT_SIMD_AVX2, NULL};
  GBT_ASSERT(rows->of.n >= 0 && j.task_rows > 0);
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)ctx->n_threads, sizeof *j.part, &j.part, err));
  for (int t = 0; t < ctx->n_threads; t++) j.part[t].bad_row = -1;
  GBT_TRY_GOTO(gbt_parallel(ctx, (rows->of.n + j.task_rows - 1) / j.task_rows, sum_task, &j, err), done);
  merge(&j, ctx->n_threads);
  if (rows->of.field[GBT_WEIGHT] == NULL) gbt_exact_add(&j.part[0].weights, (double)rows->of.n);
  if (j.part[0].bad_row >= 0) GBT_TRY_GOTO(gbt_metric_no_class(rows, j.part[0].bad_row, err), done);
  gbt_exact_merge(&all->terms, &j.part[0].terms);
  gbt_exact_merge(&all->weights, &j.part[0].weights);
done:
  gbt_mem_free(&ctx->mem, j.part);
  return status;
}

static gbt_status mean_metric(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  sums all = {.bad_row = -1};
  GBT_TRY(add_rows(ctx, rows, &all, err));
  return finish(ctx, &rows->metric, &all, out, err);
}

static gbt_status eval(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  switch (gbt_metric_about(rows->metric.kind)->form) {
  case GBT_FORM_MEAN:
  case GBT_FORM_CENSORED:
  case GBT_FORM_DISTRIBUTION:
    return mean_metric(ctx, rows, out, err);
  case GBT_FORM_CELLS:
    return gbt_metric_of_cells(ctx, rows, out, err);
  case GBT_FORM_QUERY:
    return gbt_metric_of_queries(ctx, rows, out, err);
  case GBT_FORM_RISK:
    return gbt_metric_of_risk(ctx, rows, out, err);
  case GBT_FORM_RANKING:
    break;
  }
  return gbt_metric_of_ranking(ctx, rows, out, err);
}

/* ---- responses of several columns ---- */

/* Those of column k. */
static gbt_metric_rows rows_of_column(const gbt_metric_rows *rows, int32_t k) {
  gbt_metric_rows its = *rows;
  its.objective.n_outputs = 1;
  its.of = gbt_rows_of_output(&rows->of, k);
  its.score = rows->score + (int64_t)k * rows->of.n;
  return its;
}

/* Of all columns: a mean over rows is one over their cells; of other metrics the mean over columns, but for those for
 * which it is not defined. */
static gbt_status columns_metric(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  const int by_cell = gbt_metric_about(rows->metric.kind)->form == GBT_FORM_MEAN;
  sums all = {.bad_row = -1};
  double sum = 0.0, value;
  int32_t n = 0;
  for (int32_t k = 0; k < rows->objective.n_outputs; k++) {
    const gbt_metric_rows its = rows_of_column(rows, k);
    if (by_cell) {
      GBT_TRY(add_rows(ctx, &its, &all, err));
      continue;
    }
    GBT_TRY(eval(ctx, &its, &value, err));
    if (value != value) continue;
    sum += value;
    n++;
  }
  if (by_cell) return finish(ctx, &rows->metric, &all, out, err);
  *out = sum / (double)n; /* NaN where it is defined for none */
  return GBT_OK;
}

gbt_status gbt_metric_eval(gbt_ctx *ctx, const gbt_metric *metric, const gbt_objective *objective, const gbt_rows *of,
                           const gbt_metric_aids *aids, const double *score, double *out, gbt_error *err) {
  const gbt_metric_aids none = {NULL, NULL, NULL, NULL};
  const gbt_metric_rows rows = {*metric, *objective, *of, aids != NULL ? aids : &none, score};
  GBT_TRY(gbt_metric_check(metric, objective, err));
  GBT_TRY(gbt_breaks_check(objective, err));
  GBT_TRY(gbt_levels_check(objective, err));
  if (!gbt_has_columns(objective)) return eval(ctx, &rows, out, err);
  if (metric->output == 0) return columns_metric(ctx, &rows, out, err);
  const gbt_metric_rows its = rows_of_column(&rows, metric->output - 1);
  return eval(ctx, &its, out, err);
}
