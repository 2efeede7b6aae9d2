/* Rows in the order of their times -> blocks of them, a task each -> a thread's exact sums, one for each time or bin ->
 * the metric. */
#include "brier.h"

#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../math/elementary.h"
#include "../objective/aft.h"
#include "../objective/intervals.h"
#include "steps.h"

enum { N_TIMES = 100, TASK_COST = 1 << 16 };

typedef struct job {
  const gbt_curves *curves;
  int of_hazards, of_intervals;
  int32_t n; /* times or bins */
  int64_t task_rows;
  double time[N_TIMES], after[N_TIMES]; /* and G at each */
  double *x;          /* n_strata x n: of a time, see survival() */
  gbt_exact_sum *sum; /* n_threads x width */
  size_t width;
} job;

/* ---- a row's curve ---- */

/* The place of a row's stratum among those of the hazards; n_strata where it is none of them. */
static uint32_t stratum_of(const gbt_curves *c, uint32_t row) {
  const double *stratum = c->rows->field[GBT_STRATUM];
  uint32_t beg = 0, end = c->hazards->n_strata;
  while (stratum != NULL && end - beg > 1) {
    const uint32_t mid = beg + (end - beg) / 2;
    if (c->hazards->stratum[mid] <= stratum[row])
      beg = mid;
    else
      end = mid;
  }
  return stratum == NULL || c->hazards->stratum[beg] == stratum[row] ? beg : c->hazards->n_strata;
}

/* The cumulative hazard of score 0. */
static double hazard_at(const gbt_hazards *h, uint32_t stratum, double time) {
  const uint32_t first = h->start[stratum], until = gbt_steps_until(h->time, first, h->start[stratum + 1], time);
  return until == first ? 0.0 : h->hazard[until - 1];
}

/* A time in the form that survival() takes. */
static double x_of_time(const job *j, uint32_t stratum, double time) {
  if (j->of_intervals) return gbt_interval_place(j->curves->objective, time);
  return j->of_hazards ? hazard_at(j->curves->hazards, stratum, time) : gbt_log(time);
}

/* The curve of a row: exp(score) where there are hazards; of intervals its cumulative hazard at the end of some. */
typedef struct own_curve {
  uint32_t row;
  double risk, hazard;
  int32_t n_passed;
} own_curve;

static own_curve curve_of(const job *j, uint32_t row) {
  return (own_curve){row, j->of_hazards ? gbt_exp(j->curves->score[row]) : 0.0, 0.0, 0};
}

/* The cumulative hazard up to a place (gbt_interval_place) not before the last one asked for. */
static double hazard_until(const job *j, double place, own_curve *at) {
  const double *score = j->curves->score + at->row;
  const int64_t n = j->curves->rows->n;
  for (; (double)(at->n_passed + 1) <= place; at->n_passed++)
    at->hazard += gbt_hazard_sum(score[(int64_t)at->n_passed * n]);
  const double share = place - (double)at->n_passed;
  return at->hazard + (share > 0.0 ? share * gbt_hazard_sum(score[(int64_t)at->n_passed * n]) : 0.0);
}

/* S at a time, by x_of_time(); times of a row in ascending order. */
static double survival(const job *j, double x, own_curve *at) {
  if (j->of_hazards) return gbt_exp(-x * at->risk);
  if (j->of_intervals) return gbt_exp(-hazard_until(j, x, at));
  const double *param = j->curves->objective->param;
  const double z = (x - j->curves->score[at->row]) / param[GBT_AFT_PARAM_SCALE];
  return gbt_exp(-gbt_aft_loss_one((int)param[GBT_AFT_PARAM_DIST], GBT_RIGHT, z));
}

static int has_curve(const job *j, uint32_t stratum) {
  return !j->of_hazards || stratum < j->curves->hazards->n_strata;
}

/* ---- sums of rows ---- */

/* cost: of a row, about. */
static gbt_status run(gbt_ctx *ctx, job *j, size_t width, int32_t cost, gbt_task_fn fn, gbt_error *err) {
  const int64_t n = j->curves->rows->n;
  j->width = width;
  j->task_rows = TASK_COST / cost + 1;
  GBT_TRY(gbt_mem_array(&ctx->mem, width * (size_t)ctx->n_threads, sizeof *j->sum, &j->sum, err));
  for (size_t i = 0; i < width * (size_t)ctx->n_threads; i++) gbt_exact_zero(&j->sum[i]);
  GBT_TRY(gbt_parallel(ctx, (n + j->task_rows - 1) / j->task_rows, fn, j, err));
  for (int t = 1; t < ctx->n_threads; t++)
    for (size_t i = 0; i < width; i++) gbt_exact_merge(&j->sum[i], &j->sum[(size_t)t * width + i]);
  return GBT_OK;
}

static int64_t task_end(const job *j, int64_t beg) {
  const int64_t n = j->curves->rows->n;
  return n - beg < j->task_rows ? n : beg + j->task_rows;
}

/* ---- Brier score ---- */

static void brier_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_curves *c = j->curves;
  gbt_exact_sum *sum = j->sum + (size_t)thread * j->width;
  for (int64_t p = task * j->task_rows, end = task_end(j, p); p < end; p++) {
    const uint32_t row = c->timeline->at[p];
    const double w = gbt_weight_of(c->rows, row), time = c->rows->field[GBT_LABEL][row];
    own_curve curve = curve_of(j, row);
    const uint32_t stratum = j->of_hazards ? stratum_of(c, row) : 0;
    const double *x = j->x + (size_t)stratum * (size_t)j->n;
    const int event = gbt_has_event(c->rows, row);
    if (!(w > 0.0)) continue;
    gbt_exact_add(&sum[j->n], has_curve(j, stratum) ? w : gbt_nan());
    if (!has_curve(j, stratum)) continue;
    for (int32_t k = 0; k < j->n; k++) {
      if (time <= j->time[k] && !event) continue;
      const double S = survival(j, x[k], &curve);
      const double term = time <= j->time[k] ? S * S / c->timeline->before[p] : (1.0 - S) * (1.0 - S) / j->after[k];
      gbt_exact_add(&sum[k], w * term);
    }
  }
}

/* The times of the integral; 0 where no row has an event. */
static int32_t find_times(const gbt_curves *c, double *out) {
  const gbt_timeline *t = c->timeline;
  const double *time = c->rows->field[GBT_LABEL];
  uint64_t all = 0, ended = 0, events = 0, seen = 0;
  double last = 0.0;
  uint32_t stop = 0;
  int32_t n = 0;
  for (uint32_t p = 0; p < t->n; p++) all += t->weight[t->at[p]];
  for (uint32_t p = 0; p < t->n; p++) {
    ended += t->weight[t->at[p]];
    const int whole = p + 1 == t->n || time[t->at[p + 1]] != time[t->at[p]];
    if (whole && (double)ended * 10.0 <= (double)all * 9.0) stop = p + 1;
  }
  for (uint32_t p = 0; p < t->n; p++) {
    const uint32_t row = t->at[p];
    if (!gbt_has_event(c->rows, row) || t->weight[row] == 0) continue;
    if (p >= stop && events > 0) break;
    events += t->weight[row]; /* at least the first event */
    last = time[row];
  }
  for (uint32_t p = 0; p < t->n && events > 0; p++) {
    const uint32_t row = t->at[p];
    if (time[row] > last) break;
    if (!gbt_has_event(c->rows, row) || (p >= stop && seen > 0)) continue;
    seen += t->weight[row];
    const double part = (double)seen * (double)N_TIMES, each = (double)events;
    for (; n < N_TIMES && part >= (double)(n + 1) * each; n++) out[n] = time[row];
  }
  int32_t distinct = 0;
  for (int32_t k = 0; k < n; k++)
    if (distinct == 0 || out[k] != out[distinct - 1]) out[distinct++] = out[k];
  return distinct;
}

static gbt_status fill_x(gbt_ctx *ctx, job *j, gbt_error *err) {
  const gbt_curves *c = j->curves;
  const uint32_t n_strata = j->of_hazards ? c->hazards->n_strata : 1;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n_strata * (size_t)j->n, sizeof *j->x, &j->x, err));
  for (uint32_t s = 0; s < n_strata; s++)
    for (int32_t k = 0; k < j->n; k++) j->x[(size_t)s * (size_t)j->n + (size_t)k] = x_of_time(j, s, j->time[k]);
  for (int32_t k = 0; k < j->n; k++) j->after[k] = gbt_uncensored_at(c->timeline, c->rows, 0, j->time[k]);
  return GBT_OK;
}

/* The score at each time, or its integral by trapezoids over their range. */
static double brier_value(const job *j) {
  const double weight = gbt_exact_value(&j->sum[j->n]);
  double area = 0.0;
  if (!(weight > 0.0)) return gbt_nan();
  const double first = gbt_exact_value(&j->sum[0]) / weight;
  if (j->n == 1) return first;
  for (int32_t k = 1; k < j->n; k++)
    area += (j->time[k] - j->time[k - 1]) * 0.5 *
            (gbt_exact_value(&j->sum[k - 1]) / weight + gbt_exact_value(&j->sum[k]) / weight);
  return area / (j->time[j->n - 1] - j->time[0]);
}

static job job_of(const gbt_curves *c, int32_t n) {
  const gbt_response_rule response = gbt_objective_info_of(c->objective->kind)->response;
  return (job){.curves = c,
               .of_hazards = response == GBT_RESPONSE_HAZARD,
               .of_intervals = response == GBT_RESPONSE_INTERVALS,
               .n = n};
}

gbt_status gbt_brier(gbt_ctx *ctx, const gbt_curves *curves, double time, double *out, gbt_error *err) {
  job j = job_of(curves, 1);
  j.time[0] = time;
  *out = gbt_nan();
  if (curves->rows->n == 0) return GBT_OK;
  if (time == 0.0) j.n = find_times(curves, j.time);
  if (j.n == 0) return GBT_OK;
  gbt_status status = fill_x(ctx, &j, err);
  if (status == GBT_OK) status = run(ctx, &j, (size_t)j.n + 1, j.n, brier_task, err);
  if (status == GBT_OK) *out = brier_value(&j);
  gbt_mem_free(&ctx->mem, j.x);
  gbt_mem_free(&ctx->mem, j.sum);
  return status;
}

/* ---- D-calibration: sums by bin, then what each bin's censored rows give to every lower one, then all weights ---- */

static void calibration_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_curves *c = j->curves;
  const double B = (double)j->n;
  gbt_exact_sum *own = j->sum + (size_t)thread * j->width, *lower = own + j->n;
  for (int64_t p = task * j->task_rows, end = task_end(j, p); p < end; p++) {
    const uint32_t row = c->timeline->at[p];
    const double w = gbt_weight_of(c->rows, row);
    if (!(w > 0.0)) continue;
    const uint32_t stratum = j->of_hazards ? stratum_of(c, row) : 0;
    gbt_exact_add(&own[2 * j->n], has_curve(j, stratum) ? w : gbt_nan());
    if (!has_curve(j, stratum)) continue;
    const double x = x_of_time(j, stratum, c->rows->field[GBT_LABEL][row]);
    own_curve curve = curve_of(j, row);
    const double v = survival(j, x, &curve);
    const int32_t up = (int32_t)(v * B), bin = up < j->n ? up : j->n - 1;
    if (gbt_has_event(c->rows, row)) {
      gbt_exact_add(&own[bin], w);
    } else {
      gbt_exact_add(&own[bin], bin == 0 ? w : w * (v - (double)bin / B) / v);
      if (bin > 0) gbt_exact_add(&lower[bin], w / (B * v));
    }
  }
}

static double calibration_value(const job *j) {
  const gbt_exact_sum *own = j->sum, *lower = own + j->n;
  const double each = gbt_exact_value(&own[2 * j->n]) / (double)j->n;
  double from_above = 0.0, out = 0.0;
  if (!(each > 0.0)) return gbt_nan();
  for (int32_t k = j->n; k-- > 0;) {
    const double off = gbt_exact_value(&own[k]) + from_above - each;
    out += off * off / each;
    from_above += gbt_exact_value(&lower[k]);
  }
  return out;
}

gbt_status gbt_d_calibration(gbt_ctx *ctx, const gbt_curves *curves, int32_t n_bins, double *out, gbt_error *err) {
  job j = job_of(curves, n_bins);
  GBT_ASSERT(n_bins > 0);
  const gbt_status status = run(ctx, &j, 2 * (size_t)n_bins + 1, 8, calibration_task, err);
  if (status == GBT_OK) *out = calibration_value(&j);
  gbt_mem_free(&ctx->mem, j.sum);
  return status;
}
