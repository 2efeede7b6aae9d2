/* Metrics of times with events (joint/): concordance, Cox's partial likelihood, and those of survival curves.
 *
 * Ranks: they look at all rows together, so each rank gathers all of them. NaN where no row has an event. */
#include <float.h>

#include "../base/comm.h"
#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../joint/brier.h"
#include "../joint/concordance.h"
#include "../joint/cox.h"
#include "../objective/intervals.h"
#include "metric_rows.h"
#include "ranks.h"

enum { N_ARRAYS = GBT_N_FIELDS + 1, SCORE = GBT_N_FIELDS };

/* ---- all rows ---- */

/* Which fields the metrics look at. */
static int is_read(int field) {
  return field == GBT_LABEL || field == GBT_UPPER || field == GBT_EVENT || field == GBT_ENTRY ||
         field == GBT_STRATUM || field == GBT_WEIGHT;
}

typedef struct all_rows {
  gbt_rows rows;
  double *array[N_ARRAYS]; /* owned */
  int32_t n_scores;        /* scores of a row, column by column */
} all_rows;

/* The numbers of all ranks in out->array[k]. mine: NULL for weights of 1, or without rows. */
static gbt_status gather_array(gbt_ctx *ctx, const double *mine, int64_t n, const size_t *bytes, int k, all_rows *out,
                               gbt_error *err) {
  const size_t width = k == SCORE ? (size_t)out->n_scores : 1, all = (size_t)out->rows.n;
  double *ones = NULL;
  gbt_status status = GBT_OK;
  if (mine == NULL && n > 0) {
    GBT_ASSERT(k == GBT_WEIGHT); /* see gbt_ranks_check_fields() */
    GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n, sizeof *ones, &ones, err));
    for (int64_t i = 0; i < n; i++) ones[i] = 1.0;
  }
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, all * width, sizeof(double), &out->array[k], err), done);
  for (size_t j = 0; j < width; j++) {
    const double *from = ones != NULL ? ones : n > 0 ? mine + j * (size_t)n : NULL;
    GBT_TRY_GOTO(gbt_comm_gather(ctx, from, bytes, out->array[k] + j * all, err), done);
  }
  if (k != SCORE) out->rows.field[k] = out->array[k];
done:
  gbt_mem_free(&ctx->mem, ones);
  return status;
}

static gbt_status gather_fields(gbt_ctx *ctx, const gbt_metric_rows *of, int64_t *count, size_t *bytes, all_rows *out,
                                gbt_error *err) {
  const int size = gbt_comm_size(ctx);
  const double *mine[N_ARRAYS];
  int64_t has[N_ARRAYS];
  out->n_scores = of->objective.n_outputs;
  GBT_TRY(gbt_comm_gather_i64(ctx, &of->of.n, 1, count, err));
  for (int r = 0; r < size; r++) {
    bytes[r] = (size_t)count[r] * sizeof(double);
    out->rows.n += count[r];
  }
  for (int k = 0; k < N_ARRAYS; k++) {
    mine[k] = k == SCORE ? of->score : is_read(k) ? of->of.field[k] : NULL;
    has[k] = mine[k] != NULL && of->of.n > 0;
  }
  GBT_TRY(gbt_comm_max_i64(ctx, has, N_ARRAYS, err));
  for (int k = 0; k < N_ARRAYS; k++)
    if (has[k]) GBT_TRY(gather_array(ctx, mine[k], of->of.n, bytes, k, out, err));
  if (out->rows.n > UINT32_MAX)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "eval_metric",
                       "metric \"%s\" can be computed for up to 4,294,967,295 "
                       "rows; give another metric",
                       gbt_metric_about(of->metric.kind)->name);
  return GBT_OK;
}

static gbt_status gather(gbt_ctx *ctx, const gbt_metric_rows *of, all_rows *out, gbt_error *err) {
  const size_t size = (size_t)gbt_comm_size(ctx);
  gbt_status status = GBT_OK;
  int64_t *count = NULL;
  size_t *bytes = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, size, sizeof *count, &count, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, size, sizeof *bytes, &bytes, err), done);
  GBT_TRY_GOTO(gather_fields(ctx, of, count, bytes, out, err), done);
done:
  gbt_mem_free(&ctx->mem, bytes);
  gbt_mem_free(&ctx->mem, count);
  return status;
}

/* ---- metrics of all rows ---- */

static int is_of_hazards(const gbt_objective *objective) {
  return gbt_objective_info_of(objective->kind)->response == GBT_RESPONSE_HAZARD;
}

/* Objectives whose scores are of intervals, or of one hazard: where high ones mean early events. */
static int rises_with_risk(const gbt_objective *objective) {
  return is_of_hazards(objective) || gbt_gradients_by_interval(objective);
}

/* Does it look at survival curves? */
static int is_of_curves(gbt_metric_kind kind) {
  return kind == GBT_METRIC_BRIER_SURVIVAL || kind == GBT_METRIC_IBS || kind == GBT_METRIC_DCAL;
}

int gbt_metric_needs_hazards(const gbt_metric *metric, const gbt_objective *objective) {
  return is_of_curves((gbt_metric_kind)metric->kind) && is_of_hazards(objective);
}

/* rows: of all ranks, with their timeline. */
static gbt_status of_timeline(gbt_ctx *ctx, const gbt_metric_rows *m, const gbt_rows *rows,
                              const gbt_timeline *timeline, const double *score, double *out, gbt_error *err) {
  const gbt_curves curves = {&m->objective, m->aids->hazards, rows, timeline, score};
  gbt_concordance_of of = {.by_life = !rises_with_risk(&m->objective)};
  switch ((gbt_metric_kind)m->metric.kind) {
  case GBT_METRIC_UNO_C:
    of.censoring = 1;
    of.horizon = m->metric.param;
    break;
  case GBT_METRIC_BRIER_SURVIVAL:
    return gbt_brier(ctx, &curves, m->metric.param, out, err);
  case GBT_METRIC_IBS:
    return gbt_brier(ctx, &curves, 0.0, out, err);
  case GBT_METRIC_DCAL:
    return gbt_d_calibration(ctx, &curves, (int32_t)m->metric.param, out, err);
  default:
    GBT_ASSERT(m->metric.kind == GBT_METRIC_CONCORDANCE);
    break;
  }
  return gbt_concordance(ctx, &of, rows, timeline, score, out, err);
}

/* Rows with an event of another cause (Fine and Gray's 2) never have one of theirs: their times are behind all. */
static gbt_status concordance_of_cause(gbt_ctx *ctx, const gbt_rows *rows, const double *score, double *out,
                                       gbt_error *err) {
  const gbt_concordance_of of = {.by_life = 0};
  gbt_rows own = *rows;
  gbt_timeline timeline = {.mem = ctx->mem};
  double *time = NULL, *event = NULL;
  gbt_status status = GBT_OK;
  const size_t n = (size_t)rows->n;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *time, &time, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *event, &event, err), done);
  for (size_t i = 0; i < n; i++) {
    const int other = rows->field[GBT_EVENT][i] > 1.0;
    time[i] = other ? DBL_MAX : rows->field[GBT_LABEL][i];
    event[i] = other ? 0.0 : rows->field[GBT_EVENT][i];
  }
  own.field[GBT_LABEL] = time;
  own.field[GBT_EVENT] = event;
  GBT_TRY_GOTO(gbt_timeline_make(ctx, &own, 0, &timeline, err), done);
  GBT_TRY_GOTO(gbt_concordance(ctx, &of, &own, &timeline, score, out, err), done);
done:
  gbt_timeline_free(&timeline);
  gbt_mem_free(&ctx->mem, event);
  gbt_mem_free(&ctx->mem, time);
  return status;
}

/* Curves look at the censoring of all strata together. */
static gbt_status of_rows(gbt_ctx *ctx, const gbt_metric_rows *m, const gbt_rows *rows, const gbt_timeline *kept,
                          const double *score, double *out, gbt_error *err) {
  const int pooled = is_of_curves((gbt_metric_kind)m->metric.kind);
  gbt_timeline own;
  if (m->objective.kind == GBT_OBJ_FINE_GRAY) return concordance_of_cause(ctx, rows, score, out, err);
  if (kept != NULL && !(pooled && rows->field[GBT_STRATUM] != NULL))
    return of_timeline(ctx, m, rows, kept, score, out, err);
  gbt_status status = gbt_timeline_make(ctx, rows, pooled, &own, err);
  if (status == GBT_OK) status = of_timeline(ctx, m, rows, &own, score, out, err);
  gbt_timeline_free(&own);
  return status;
}

static gbt_status of_all_ranks(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  all_rows all = {.rows = {.n = 0}};
  if (gbt_comm_is_single(ctx)) return of_rows(ctx, rows, &rows->of, rows->aids->timeline, rows->score, out, err);
  gbt_status status = gather(ctx, rows, &all, err);
  if (status == GBT_OK) status = of_rows(ctx, rows, &all.rows, NULL, all.array[SCORE], out, err);
  for (int k = 0; k < N_ARRAYS; k++) gbt_mem_free(&ctx->mem, all.array[k]);
  return status;
}

/* ---- intervals: a risk for each row ---- */

typedef struct risk_job {
  const gbt_metric_rows *rows;
  double *risk;
  int64_t task_rows;
} risk_job;

/* The expected number of events of a row that would stay at risk: its cumulative hazards at the ends of all intervals
 * together (the mortality of Ishwaran et al. 2008). */
static void risk_task(void *arg, int64_t task, int thread) {
  const risk_job *j = arg;
  const int32_t K = j->rows->objective.n_outputs;
  const int64_t n = j->rows->of.n, beg = task * j->task_rows, end = n - beg < j->task_rows ? n : beg + j->task_rows;
  (void)thread;
  for (int64_t i = beg; i < end; i++) j->risk[i] = 0.0;
  for (int32_t k = 0; k < K; k++) {
    const double *score = j->rows->score + (int64_t)k * n;
    for (int64_t i = beg; i < end; i++) j->risk[i] += (double)(K - k) * gbt_hazard_sum(score[i]);
  }
}

static gbt_status concordance_of_intervals(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  gbt_metric_rows own = *rows;
  risk_job j = {rows, NULL, gbt_metric_task_rows(rows->objective.n_outputs)};
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)rows->of.n, sizeof *j.risk, &j.risk, err));
  gbt_status status = gbt_parallel(ctx, (rows->of.n + j.task_rows - 1) / j.task_rows, risk_task, &j, err);
  own.score = j.risk;
  own.objective.n_outputs = 1; /* scores */
  if (status == GBT_OK) status = of_all_ranks(ctx, &own, out, err);
  gbt_mem_free(&ctx->mem, j.risk);
  return status;
}

/* ---- partial likelihood: ranks keep their rows ---- */

static gbt_status nloglik_of(gbt_ctx *ctx, const gbt_metric_rows *rows, gbt_cox *cox, double *out, gbt_error *err) {
  gbt_exact_sum events;
  double loss = 0.0;
  GBT_TRY(gbt_cox_hazards(ctx, cox, rows->score, err));
  GBT_TRY(gbt_cox_loss(ctx, cox, rows->score, &loss, err));
  gbt_exact_zero(&events);
  for (uint32_t p = 0; p < cox->risk.n_points; p++) gbt_exact_add(&events, cox->risk.weight[p]);
  const double weight = gbt_exact_value(&events);
  *out = weight > 0.0 ? loss / weight : gbt_nan();
  return GBT_OK;
}

static gbt_status cox_nloglik(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  gbt_cox own;
  if (rows->aids->cox != NULL) return nloglik_of(ctx, rows, rows->aids->cox, out, err);
  gbt_status status = gbt_cox_make_for(ctx, &rows->objective, &rows->of, &own, err);
  if (status == GBT_OK) status = nloglik_of(ctx, rows, &own, out, err);
  gbt_cox_free(&own);
  return status;
}

/* ---- checks ---- */

gbt_status gbt_metric_any_event(gbt_ctx *ctx, const gbt_rows *rows, int *any, gbt_error *err) {
  int64_t has = 0;
  for (int64_t i = 0; i < rows->n && !has; i++)
    has = gbt_has_event(rows, i) && !(rows->field[GBT_EVENT] != NULL && rows->field[GBT_EVENT][i] > 1.0);
  GBT_TRY(gbt_comm_max_i64(ctx, &has, 1, err));
  *any = has != 0;
  return GBT_OK;
}

gbt_status gbt_metric_risk_check(const gbt_metric *metric, const gbt_objective *objective, const gbt_rows *rows,
                                 const char *data, gbt_error *err) {
  const char *name = gbt_metric_about(metric->kind)->name;
  const double *upper = rows->field[GBT_UPPER], *label = rows->field[GBT_LABEL];
  if (rows->n == 0) return GBT_OK;
  if (rises_with_risk(objective) && rows->field[GBT_EVENT] == NULL)
    return gbt_fail_on(err, GBT_E_DATA, "event",
                       "metric \"%s\" needs `event` in the %s data: whether the time of a row is that of an event",
                       name, data);
  if (objective->kind == GBT_OBJ_FINE_GRAY && metric->kind != GBT_METRIC_CONCORDANCE &&
      metric->kind != GBT_METRIC_COX_NLOGLIK)
    return gbt_fail_on(
        err, GBT_E_UNSUPPORTED, "eval_metric",
        "metric \"%s\" does not support events of several causes; use \"concordance\" or \"cox_nloglik\"", name);
  if (rows->field[GBT_ENTRY] != NULL &&
      (metric->kind == GBT_METRIC_UNO_C || is_of_curves((gbt_metric_kind)metric->kind)))
    return gbt_fail_on(err, GBT_E_DATA, "eval_metric",
                       "metric \"%s\" does not support entry times; use \"concordance\" or "
                       "\"cox_nloglik\"",
                       name);
  for (int64_t i = 0; rows->field[GBT_EVENT] == NULL && upper != NULL && i < rows->n; i++)
    if (upper[i] != label[i] && upper[i] <= 1.7976931348623157e308)
      return gbt_fail_on(err, GBT_E_DATA, "eval_metric",
                         "metric \"%s\" needs observed or right-censored times; the time of row %lld of the %s data is "
                         "between %.15g and %.15g. Use \"aft_nloglik\"",
                         name, (long long)gbt_row_number(rows, i), data, label[i], upper[i]);
  return GBT_OK;
}

gbt_status gbt_metric_of_risk(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  int any;
  GBT_TRY(gbt_metric_risk_check(&rows->metric, &rows->objective, &rows->of, "given", err));
  GBT_TRY(gbt_ranks_check_fields(ctx, &rows->of, err));
  GBT_TRY(gbt_metric_any_event(ctx, &rows->of, &any, err));
  if (gbt_metric_needs_hazards(&rows->metric, &rows->objective) && rows->aids->hazards == NULL)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "eval_metric",
                       "metric \"%s\" needs the baseline hazard of the model, and the model has none; give another "
                       "metric",
                       gbt_metric_about(rows->metric.kind)->name);
  *out = gbt_nan();
  if (!any) return GBT_OK;
  if (rows->metric.kind == GBT_METRIC_COX_NLOGLIK) return cox_nloglik(ctx, rows, out, err);
  if (gbt_gradients_by_interval(&rows->objective) && !is_of_curves((gbt_metric_kind)rows->metric.kind))
    return concordance_of_intervals(ctx, rows, out, err);
  return of_all_ranks(ctx, rows, out, err);
}
