#include "aft_scale.h"

#include "../base/comm.h"
#include "../base/find.h"
#include "../base/parallel.h"
#include "aft.h"
#include "row_sums.h"

enum { TASK_ROWS = 16384, MOST_STEPS = 100 };
enum { SUM_S, SUM_SS, SUM_T, SUM_TT, SUM_ST, SUM_WEIGHT, SUM_TIME, N_SUMS };

int gbt_aft_estimates(const gbt_objective *o) {
  return gbt_gradients_by_scale(o) && o->param[GBT_AFT_PARAM_SCALE] == 0.0;
}

gbt_status gbt_aft_check_scale(const gbt_objective *o, gbt_error *err) {
  const double scale = gbt_gradients_by_scale(o) ? o->param[GBT_AFT_PARAM_SCALE] : 0.0;
  if (scale == 0.0 || scale >= GBT_AFT_LEAST_SCALE) return GBT_OK;
  return gbt_fail_on(err, GBT_E_ARG, "aft_scale", "`aft_scale` is %g; it must be %g or more, or 0 to estimate it",
                     scale, GBT_AFT_LEAST_SCALE);
}

/* ---- sums over rows ---- */

typedef struct sums_job {
  const gbt_rows *rows;
  const double *score; /* NULL: `at` and the offset */
  double at;
  double param[GBT_OBJECTIVE_PARAMS];
} sums_job;

static void add_rows(const void *job, int64_t beg, int64_t end, gbt_exact_sum *sum) {
  const sums_job *j = job;
  const gbt_rows *rows = j->rows;
  for (int64_t i = beg; i < end; i++) {
    const double w = gbt_weight_of(rows, i), offset = gbt_offset_of(rows, i);
    const double l = gbt_label_of(rows, i), u = gbt_upper_of(rows, i);
    if (w == 0.0) continue;
    const gbt_aft_full d = gbt_aft_derivatives(j->score != NULL ? j->score[i] : j->at + offset, l, u, j->param);
    const double known = l > 0.0 ? l : u; /* Inf: the row says nothing */
    const double time = gbt_censoring_of(l, u) == GBT_UNKNOWN ? 0.0 : gbt_log(known) - offset;
    const double term[N_SUMS] = {d.s, d.ss, d.t, d.tt, d.st, 1.0, time};
    for (int k = 0; k < N_SUMS; k++) gbt_exact_add(&sum[k], w * term[k]);
  }
}

static gbt_status sums_of(gbt_ctx *ctx, const sums_job *j, double out[N_SUMS], gbt_error *err) {
  return gbt_row_sums(ctx, j->rows->n, N_SUMS, add_rows, j, out, err);
}

static sums_job job_for(const gbt_objective *o, const gbt_rows *rows, const double *score) {
  sums_job j = {.rows = rows, .score = score};
  for (int i = 0; i < GBT_OBJECTIVE_PARAMS; i++) j.param[i] = o->param[i];
  return j;
}

/* ---- steps ---- */

static double limited(double x, double most) { return x > most ? most : x < -most ? -most : x; }
static double size_of(double x) { return x < 0.0 ? -x : x; }

/* The change of log scale: Newton's step where the loss is convex in it, and no longer than `most`. */
static double scale_step(const double sum[N_SUMS], double most) {
  const double least = 0.1 * sum[SUM_WEIGHT], bend = sum[SUM_TT] > least ? sum[SUM_TT] : least;
  return bend > 0.0 ? limited(-sum[SUM_T] / bend, most) : 0.0;
}

static double moved_scale(double scale, double step) {
  const double to = scale * gbt_exp(step);
  return to < GBT_AFT_LEAST_SCALE ? GBT_AFT_LEAST_SCALE : to > GBT_AFT_MOST_SCALE ? GBT_AFT_MOST_SCALE : to;
}

gbt_status gbt_aft_scale_steps(gbt_ctx *ctx, const gbt_objective *o, const gbt_rows *rows, const double *score,
                               int most, double *scale, gbt_error *err) {
  sums_job j = job_for(o, rows, score);
  double sum[N_SUMS];
  for (int i = 0; i < most; i++) {
    j.param[GBT_AFT_PARAM_SCALE] = *scale;
    GBT_TRY(sums_of(ctx, &j, sum, err));
    const double step = scale_step(sum, 0.3);
    *scale = moved_scale(*scale, step);
    if (size_of(step) < 1e-9) break;
  }
  return GBT_OK;
}

/* The step of the score and of log scale together, where their matrix is surely positive definite. */
static void joint_step(const double sum[N_SUMS], int estimates, double scale, double *by_score, double *by_scale) {
  const double det = sum[SUM_SS] * sum[SUM_TT] - sum[SUM_ST] * sum[SUM_ST];
  *by_scale = 0.0;
  *by_score = sum[SUM_SS] > 0.0 ? -sum[SUM_S] / sum[SUM_SS] : 0.0;
  if (estimates && det > 0.01 * sum[SUM_SS] * sum[SUM_TT] && sum[SUM_TT] > 0.1 * sum[SUM_WEIGHT]) {
    *by_score = (sum[SUM_ST] * sum[SUM_T] - sum[SUM_TT] * sum[SUM_S]) / det;
    *by_scale = (sum[SUM_ST] * sum[SUM_S] - sum[SUM_SS] * sum[SUM_T]) / det;
  } else if (estimates) {
    *by_scale = scale_step(sum, 0.3);
  }
  *by_score = limited(*by_score, 2.0 * scale);
  *by_scale = limited(*by_scale, 0.7);
}

gbt_status gbt_aft_start(gbt_ctx *ctx, const gbt_objective *o, const gbt_rows *rows, double *score, gbt_error *err) {
  const int estimates = gbt_aft_estimates(o);
  sums_job j = job_for(o, rows, NULL);
  double sum[N_SUMS];
  if (estimates) j.param[GBT_AFT_PARAM_SCALE] = 1.0;
  *score = 0.0;
  GBT_TRY(sums_of(ctx, &j, sum, err));
  if (!(sum[SUM_WEIGHT] > 0.0)) return GBT_OK;
  j.at = sum[SUM_TIME] / sum[SUM_WEIGHT];
  for (int i = 0; i < MOST_STEPS; i++) {
    double by_score, by_scale;
    GBT_TRY(sums_of(ctx, &j, sum, err));
    joint_step(sum, estimates, j.param[GBT_AFT_PARAM_SCALE], &by_score, &by_scale);
    j.at += by_score;
    if (estimates) j.param[GBT_AFT_PARAM_SCALE] = moved_scale(j.param[GBT_AFT_PARAM_SCALE], by_scale);
    if (size_of(by_score) < 1e-9 * j.param[GBT_AFT_PARAM_SCALE] && size_of(by_scale) < 1e-9) break;
  }
  *score = j.at;
  return GBT_OK;
}

/* ---- checks ---- */

static int64_t find_wrong(const void *arg, int64_t beg, int64_t end) {
  const gbt_rows *rows = arg;
  for (; beg < end; beg++)
    if (!(gbt_upper_of(rows, beg) >= gbt_label_of(rows, beg) && gbt_upper_of(rows, beg) > 0.0)) break;
  return beg;
}

/* Rows with a weight that have an end above, and those that have one below. */
typedef struct ends_job {
  const gbt_rows *rows;
  int64_t *count; /* threads x 2 */
} ends_job;

static void ends_task(void *arg, int64_t task, int thread) {
  const ends_job *j = arg;
  const int64_t n = j->rows->n, beg = task * TASK_ROWS, end = n - beg < TASK_ROWS ? n : beg + TASK_ROWS;
  for (int64_t i = beg; i < end; i++) {
    if (gbt_weight_of(j->rows, i) == 0.0) continue;
    const gbt_censoring what = gbt_censoring_of(gbt_label_of(j->rows, i), gbt_upper_of(j->rows, i));
    j->count[2 * thread] += what == GBT_EXACT || what == GBT_LEFT || what == GBT_INTERVAL;
    j->count[2 * thread + 1] += what == GBT_EXACT || what == GBT_RIGHT || what == GBT_INTERVAL;
  }
}

gbt_status gbt_aft_check_ends(gbt_ctx *ctx, const gbt_rows *rows, gbt_error *err) {
  ends_job j = {rows, NULL};
  gbt_status status = GBT_OK;
  int64_t all[2] = {0, 0};
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 2 * (size_t)ctx->n_threads, sizeof *j.count, &j.count, err));
  GBT_TRY_GOTO(gbt_parallel(ctx, (rows->n + TASK_ROWS - 1) / TASK_ROWS, ends_task, &j, err), done);
  for (int t = 0; t < ctx->n_threads; t++) all[0] += j.count[2 * t], all[1] += j.count[2 * t + 1];
  GBT_TRY_GOTO(gbt_comm_sum_i64(ctx, all, 2, err), done);
  if (all[0] == 0)
    status = gbt_fail_on(err, GBT_E_DATA, "label",
                         "no row has an event: all times are right-censored, so no distribution of times fits best");
  else if (all[1] == 0)
    status = gbt_fail_on(err, GBT_E_DATA, "label",
                         "all times are left-censored, so no distribution of times fits best");
done:
  gbt_mem_free(&ctx->mem, j.count);
  return status;
}

gbt_status gbt_aft_check_rows(gbt_ctx *ctx, const gbt_rows *rows, const char *data, gbt_error *err) {
  int64_t at;
  GBT_TRY(gbt_find_first(ctx, rows->n, find_wrong, rows, &at, err));
  if (at == rows->n) return GBT_OK;
  const long long row = (long long)gbt_row_number(rows, at);
  const double l = gbt_label_of(rows, at), u = gbt_upper_of(rows, at);
  if (u < l)
    return gbt_fail_on(err, GBT_E_DATA, "upper", "row %lld of the %s data: the time is between %g and %g; the first "
                       "must not be above the second", row, data, l, u);
  return gbt_fail_on(err, GBT_E_DATA, "label",
                     "the time of row %lld of the %s data is 0; the objective \"aft\" needs times above 0 (leave such "
                     "rows out, or take half of the least time above 0)",
                     row, data);
}
