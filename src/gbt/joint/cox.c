/* scores -> u as integers -> sums by point -> sums over risk sets -> a and c -> sums of a -> g and h */
#include "cox.h"

#include "../base/comm.h"
#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../math/elementary.h"
#include "../math/fixed.h"

enum { TASK_ROWS = 1 << 14, TASK_SLOTS = 1 << 12, LIMBS = 4, BITS = 126 };

/* ---- life ---- */

/* Rows by the slot of a number: where those of each begin, and the rows. */
static gbt_status order_by(const gbt_cox *cox, const uint32_t *number, uint32_t **row, uint32_t **beg, gbt_error *err) {
  const gbt_mem *mem = &cox->mem;
  const uint32_t *of = cox->risk.of;
  const size_t rows = (size_t)cox->risk.rows.n, n = cox->n_slots;
  GBT_TRY(gbt_mem_array(mem, rows, sizeof **row, row, err));
  GBT_TRY(gbt_mem_zeros(mem, n + 1, sizeof **beg, beg, err));
  for (size_t i = 0; i < rows; i++) (*beg)[number[i] + of[i] + 1]++;
  for (size_t k = 0; k < n; k++) (*beg)[k + 1] += (*beg)[k];
  for (size_t i = rows; i-- > 0;) (*row)[--(*beg)[number[i] + of[i] + 1]] = (uint32_t)i;
  /* every place has moved down to where its rows begin; shift them back */
  for (size_t k = 0; k < n; k++) (*beg)[k] = (*beg)[k + 1];
  (*beg)[n] = (uint32_t)rows;
  return GBT_OK;
}

static gbt_status make(gbt_ctx *ctx, const gbt_rows *rows, gbt_cox *cox, gbt_error *err) {
  const gbt_mem *mem = &cox->mem;
  gbt_risk *risk = &cox->risk;
  const size_t n = (size_t)rows->n;
  GBT_TRY(gbt_risk_make(ctx, rows, cox->cause, risk, err));
  const size_t points = risk->n_points, slots = points + risk->n_strata;
  cox->n_slots = (uint32_t)slots;
  cox->exp = BITS - gbt_bit_length((uint64_t)risk->all_rows);
  cox->exp = cox->exp + gbt_scale_exp(risk->most_weight, 0);
  GBT_TRY(gbt_mem_array(mem, n, sizeof *cox->u, &cox->u, err));
  GBT_TRY(gbt_mem_array(mem, risk->n_strata, sizeof *cox->top, &cox->top, err));
  GBT_TRY(gbt_mem_array(mem, slots, sizeof *cox->at_last, &cox->at_last, err));
  GBT_TRY(gbt_mem_array(mem, slots, sizeof *cox->at_first, &cox->at_first, err));
  GBT_TRY(gbt_mem_array(mem, slots, sizeof *cox->at_event, &cox->at_event, err));
  GBT_TRY(gbt_mem_array(mem, points, sizeof *cox->S, &cox->S, err));
  GBT_TRY(gbt_mem_array(mem, points, sizeof *cox->S_E, &cox->S_E, err));
  GBT_TRY(gbt_mem_array(mem, points, sizeof *cox->a, &cox->a, err));
  GBT_TRY(gbt_mem_array(mem, points, sizeof *cox->c, &cox->c, err));
  GBT_TRY(gbt_mem_array(mem, points + 1, sizeof *cox->sum_a, &cox->sum_a, err));
  GBT_TRY(order_by(cox, risk->last, &cox->by_last, &cox->beg_last, err));
  if (risk->first == NULL) return GBT_OK;
  return order_by(cox, risk->first, &cox->by_first, &cox->beg_first, err);
}

gbt_status gbt_cox_make(gbt_ctx *ctx, const gbt_rows *rows, double cause, int breslow, gbt_cox *out, gbt_error *err) {
  *out = (gbt_cox){.mem = ctx->mem, .cause = cause, .breslow = breslow, .risk = {.mem = ctx->mem}};
  return make(ctx, rows, out, err);
}

/* Weights beyond their times of the rows of other causes; censor: of all rows. */
static gbt_status make_beyond(gbt_ctx *ctx, const gbt_censor *censor, gbt_cox *cox, gbt_error *err) {
  const gbt_risk *risk = &cox->risk;
  const gbt_rows *rows = &risk->rows;
  const size_t points = risk->n_points;
  double most = 1.0;
  GBT_TRY(gbt_mem_zeros(&cox->mem, (size_t)rows->n, sizeof *cox->beyond, &cox->beyond, err));
  GBT_TRY(gbt_mem_array(&cox->mem, points, sizeof *cox->uncensored, &cox->uncensored, err));
  GBT_TRY(gbt_mem_array(&cox->mem, points + 1, sizeof *cox->sum_ga, &cox->sum_ga, err));
  GBT_TRY(gbt_mem_array(&cox->mem, cox->n_slots, sizeof *cox->at_beyond, &cox->at_beyond, err));
  for (uint32_t s = 0; s < risk->n_strata; s++)
    for (uint32_t p = risk->start[s]; p < risk->start[s + 1]; p++)
      cox->uncensored[p] = gbt_censor_before(censor, s, risk->time[p]);
  for (int64_t i = 0; i < rows->n; i++) {
    if (!(rows->field[GBT_EVENT][i] > 0.0) || gbt_risk_is_event(rows, i, cox->cause)) continue;
    const double before = gbt_censor_before(censor, risk->of[i], rows->field[GBT_LABEL][i]);
    cox->beyond[i] = before > 0.0 ? 1.0 / before : 0.0; /* 0: all weights after the last censoring are 0 */
    most = cox->beyond[i] > most ? cox->beyond[i] : most;
  }
  GBT_TRY(gbt_comm_max_f64(ctx, &most, 1, err));
  cox->exp_beyond = cox->exp - gbt_scale_exp(risk->most_weight, 0) + gbt_scale_exp(risk->most_weight * most, 0);
  return GBT_OK;
}

gbt_status gbt_fine_gray_make(gbt_ctx *ctx, const gbt_rows *rows, int breslow, gbt_cox *out, gbt_error *err) {
  gbt_censor censor;
  int64_t has_entry = rows->field[GBT_ENTRY] != NULL;
  *out = (gbt_cox){.mem = ctx->mem, .cause = 1.0, .breslow = breslow, .risk = {.mem = ctx->mem}};
  GBT_TRY(gbt_comm_max_i64(ctx, &has_entry, 1, err));
  if (has_entry)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "entry", "the objective \"fine_gray\" does not know entry times");
  GBT_TRY(make(ctx, rows, out, err));
  gbt_status status = gbt_censor_make(ctx, rows, &censor, err);
  if (status == GBT_OK) status = make_beyond(ctx, &censor, out, err);
  gbt_censor_free(&censor);
  return status;
}

gbt_status gbt_cox_make_for(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, gbt_cox *out,
                            gbt_error *err) {
  const int breslow = objective->param[0] != 0.0;
  if (objective->kind == GBT_OBJ_FINE_GRAY) return gbt_fine_gray_make(ctx, rows, breslow, out, err);
  GBT_ASSERT(objective->kind == GBT_OBJ_COX);
  return gbt_cox_make(ctx, rows, 0.0, breslow, out, err);
}

void gbt_cox_free(gbt_cox *cox) {
  void *blocks[] = {cox->u,        cox->top,      cox->by_last,  cox->beg_last,   cox->by_first,  cox->beg_first,
                    cox->at_last,  cox->at_first, cox->at_event, cox->S,          cox->S_E,       cox->a,
                    cox->c,        cox->sum_a,    cox->beyond,   cox->uncensored, cox->at_beyond, cox->sum_ga};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&cox->mem, blocks[i]);
  gbt_risk_free(&cox->risk);
  *cox = (gbt_cox){.mem = cox->mem, .risk = {.mem = cox->mem}};
}

/* ---- sums by point ---- */

typedef struct job {
  gbt_cox *cox;
  const double *score;
  double *g, *h;
  double *top; /* n_threads x n_strata */
} job;

static int64_t row_tasks(const gbt_cox *cox) { return (cox->risk.rows.n + TASK_ROWS - 1) / TASK_ROWS; }

static int64_t task_end(int64_t n, int64_t beg, int64_t size) { return n - beg < size ? n : beg + size; }

static void top_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_risk *risk = &j->cox->risk;
  double *top = j->top + (size_t)thread * risk->n_strata;
  for (int64_t i = task * TASK_ROWS, end = task_end(risk->rows.n, i, TASK_ROWS); i < end; i++)
    if (j->score[i] > top[risk->of[i]]) top[risk->of[i]] = j->score[i];
}

/* The largest score of each stratum. */
static gbt_status find_tops(gbt_ctx *ctx, job *j, gbt_error *err) {
  gbt_cox *cox = j->cox;
  const size_t n = cox->risk.n_strata, all = n * (size_t)ctx->n_threads;
  GBT_TRY(gbt_mem_array(&ctx->mem, all, sizeof *j->top, &j->top, err));
  for (size_t i = 0; i < all; i++) j->top[i] = -1e300;
  gbt_status status = gbt_parallel(ctx, row_tasks(cox), top_task, j, err);
  for (size_t s = 0; s < n && status == GBT_OK; s++) {
    cox->top[s] = j->top[s];
    for (int t = 1; t < ctx->n_threads; t++) {
      const double its = j->top[(size_t)t * n + s];
      cox->top[s] = its > cox->top[s] ? its : cox->top[s];
    }
  }
  gbt_mem_free(&ctx->mem, j->top);
  return status == GBT_OK ? gbt_comm_max_f64(ctx, cox->top, n, err) : status;
}

static double relative(const gbt_cox *cox, const double *score, int64_t row) {
  return gbt_exp(score[row] - cox->top[cox->risk.of[row]]);
}

static void u_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_risk *risk = &j->cox->risk;
  (void)thread;
  for (int64_t i = task * TASK_ROWS, end = task_end(risk->rows.n, i, TASK_ROWS); i < end; i++)
    j->cox->u[i] = gbt_wide_from(gbt_weight_of(&risk->rows, i) * relative(j->cox, j->score, i), j->cox->exp);
}

/* u / G(T-) of a row of another cause. */
static gbt_wide beyond_of(const job *j, uint32_t row) {
  const gbt_cox *cox = j->cox;
  const double u = gbt_weight_of(&cox->risk.rows, row) * relative(cox, j->score, row);
  return gbt_wide_from(u * cox->beyond[row], cox->exp_beyond);
}

/* Sums of u over the rows of some slots. */
static void slots_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  gbt_cox *cox = j->cox;
  const gbt_risk *risk = &cox->risk;
  const int64_t n = cox->n_slots;
  (void)thread;
  for (int64_t k = task * TASK_SLOTS, end = task_end(n, k, TASK_SLOTS); k < end; k++) {
    gbt_wide last = {0, 0}, first = {0, 0}, event = {0, 0}, beyond = {0, 0};
    for (uint32_t i = cox->beg_last[k]; i < cox->beg_last[k + 1]; i++) {
      const uint32_t row = cox->by_last[i];
      last = gbt_wide_add(last, cox->u[row]);
      if (gbt_risk_is_event(&risk->rows, row, cox->cause)) event = gbt_wide_add(event, cox->u[row]);
      if (cox->beyond != NULL && cox->beyond[row] > 0.0) beyond = gbt_wide_add(beyond, beyond_of(j, row));
    }
    for (uint32_t i = cox->by_first != NULL ? cox->beg_first[k] : 0; cox->by_first != NULL && i < cox->beg_first[k + 1];
         i++)
      first = gbt_wide_add(first, cox->u[cox->by_first[i]]);
    cox->at_last[k] = last;
    cox->at_first[k] = first;
    cox->at_event[k] = event;
    if (cox->beyond != NULL) cox->at_beyond[k] = beyond;
  }
}

/* Over all ranks: in limbs of 32 bits, whose sums do not overflow. */
static gbt_status sum_ranks(gbt_ctx *ctx, gbt_wide *x, size_t n, gbt_error *err) {
  int64_t *limb;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  GBT_TRY(gbt_mem_array(&ctx->mem, n * LIMBS, sizeof *limb, &limb, err));
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < LIMBS; k++)
      limb[i * LIMBS + (size_t)k] = (int64_t)((k < 2 ? x[i].lo : x[i].hi) >> k % 2 * 32 & 0xffffffffu);
  const gbt_status status = gbt_comm_sum_i64(ctx, limb, n * LIMBS, err);
  for (size_t i = 0; i < n && status == GBT_OK; i++) {
    uint64_t carry = 0, word[LIMBS];
    for (int k = 0; k < LIMBS; k++) {
      carry += (uint64_t)limb[i * LIMBS + (size_t)k];
      word[k] = carry & 0xffffffffu;
      carry >>= 32;
    }
    x[i] = (gbt_wide){word[3] << 32 | word[2], word[1] << 32 | word[0]};
  }
  gbt_mem_free(&ctx->mem, limb);
  return status;
}

/* ---- hazards ---- */

/* A sum of u as a real number. */
static double real_of(gbt_wide sum, int exp) {
  return gbt_wide_value(sum) * gbt_pow2(-exp / 2) * gbt_pow2(-exp - -exp / 2);
}

/* S and S_E at all points: from the last one of each stratum back, and what lies beyond rows' times from the first. */
static void find_sums(gbt_cox *cox) {
  const gbt_risk *risk = &cox->risk;
  for (uint32_t s = 0; s < risk->n_strata; s++) {
    gbt_wide at_risk = {0, 0}, beyond = {0, 0};
    for (uint32_t p = risk->start[s + 1]; p-- > risk->start[s];) {
      const uint32_t slot = p + 1 + s;
      at_risk = gbt_wide_add(at_risk, cox->at_last[slot]);
      if (cox->risk.first != NULL) at_risk = gbt_wide_sub(at_risk, cox->at_first[slot]);
      cox->S[p] = real_of(at_risk, cox->exp);
      cox->S_E[p] = real_of(cox->at_event[slot], cox->exp);
    }
    for (uint32_t p = risk->start[s]; p < risk->start[s + 1] && cox->beyond != NULL; p++) {
      beyond = gbt_wide_add(beyond, cox->at_beyond[p + s]);
      cox->S[p] += cox->uncensored[p] * real_of(beyond, cox->exp_beyond);
    }
  }
}

/* a and c of a point. */
static void hazard_of(gbt_cox *cox, uint32_t point) {
  const int64_t d = cox->risk.n_events[point];
  const double S = cox->S[point], D = cox->risk.weight[point], each = D / (double)d;
  double a = 0.0, c = 0.0;
  GBT_ASSERT(d > 0);
  if (cox->breslow || d == 1) {
    cox->a[point] = S > 0.0 ? D / S : 0.0;
    cox->c[point] = 0.0;
    return;
  }
  for (int64_t l = 0; l < d; l++) {
    const double share = (double)l / (double)d, left = S - share * cox->S_E[point];
    if (!(left > 0.0)) continue;
    a += each / left;
    c += each * share / left;
  }
  cox->a[point] = a;
  cox->c[point] = c;
}

/* Sums of a, times `factor` where there is one, before each point as integers in units of the largest. */
static double sum_before(const gbt_cox *cox, const double *factor, gbt_wide *sum) {
  const uint32_t n = cox->risk.n_points;
  double most = 0.0;
  for (uint32_t p = 0; p < n; p++) most = cox->a[p] > most ? cox->a[p] : most; /* factors are at most 1 */
  const int e = gbt_scale_exp(most, BITS - gbt_bit_length(n));
  sum[0] = (gbt_wide){0, 0};
  for (uint32_t p = 0; p < n; p++)
    sum[p + 1] = gbt_wide_add(sum[p], gbt_wide_from(factor != NULL ? factor[p] * cox->a[p] : cox->a[p], e));
  return gbt_pow2(-e);
}

gbt_status gbt_cox_hazards(gbt_ctx *ctx, gbt_cox *cox, const double *score, gbt_error *err) {
  job j = {.cox = cox, .score = score};
  const size_t slots = cox->n_slots;
  GBT_TRY(find_tops(ctx, &j, err));
  GBT_TRY(gbt_parallel(ctx, row_tasks(cox), u_task, &j, err));
  GBT_TRY(gbt_parallel(ctx, ((int64_t)slots + TASK_SLOTS - 1) / TASK_SLOTS, slots_task, &j, err));
  GBT_TRY(sum_ranks(ctx, cox->at_last, slots, err));
  GBT_TRY(sum_ranks(ctx, cox->at_event, slots, err));
  if (cox->risk.first != NULL) GBT_TRY(sum_ranks(ctx, cox->at_first, slots, err));
  if (cox->beyond != NULL) GBT_TRY(sum_ranks(ctx, cox->at_beyond, slots, err));
  find_sums(cox);
  for (uint32_t p = 0; p < cox->risk.n_points; p++) hazard_of(cox, p);
  cox->a_unit = sum_before(cox, NULL, cox->sum_a);
  if (cox->beyond != NULL) cox->ga_unit = sum_before(cox, cox->uncensored, cox->sum_ga);
  return GBT_OK;
}

/* ---- rows ---- */

static void gradients_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_cox *cox = j->cox;
  const gbt_risk *risk = &cox->risk;
  (void)thread;
  for (int64_t i = task * TASK_ROWS, end = task_end(risk->rows.n, i, TASK_ROWS); i < end; i++) {
    const uint32_t last = risk->last[i], first = risk->first != NULL ? risk->first[i] : risk->start[risk->of[i]];
    const int event = gbt_risk_is_event(&risk->rows, i, cox->cause);
    double A = gbt_wide_value(gbt_wide_sub(cox->sum_a[last], cox->sum_a[first])) * cox->a_unit;
    if (event) A -= cox->c[last - 1];
    if (cox->beyond != NULL && cox->beyond[i] > 0.0) {
      const gbt_wide later = gbt_wide_sub(cox->sum_ga[risk->start[risk->of[i] + 1]], cox->sum_ga[last]);
      A += cox->beyond[i] * (gbt_wide_value(later) * cox->ga_unit);
    }
    if (!(A > 0.0)) A = 0.0;
    j->h[i] = relative(cox, j->score, i) * A;
    j->g[i] = j->h[i] - (event ? 1.0 : 0.0);
  }
}

gbt_status gbt_cox_gradients(gbt_ctx *ctx, const gbt_cox *cox, const double *score, double *g, double *h,
                             gbt_error *err) {
  job j = {.cox = (gbt_cox *)cox, .score = score, .g = g, .h = h};
  return gbt_parallel(ctx, row_tasks(cox), gradients_task, &j, err);
}

void gbt_cox_baseline(const gbt_cox *cox, double *hazard) {
  const gbt_risk *risk = &cox->risk;
  for (uint32_t s = 0; s < risk->n_strata; s++) {
    const double unit = gbt_exp(-cox->top[s]);
    double sum = 0.0;
    for (uint32_t p = risk->start[s]; p < risk->start[s + 1]; p++) {
      sum += cox->a[p] * unit;
      hazard[p] = sum;
    }
  }
}

/* The part of a point: sum over l of (D / d) log S_l. */
static double point_loss(const gbt_cox *cox, uint32_t point) {
  const int64_t d = cox->risk.n_events[point];
  const double S = cox->S[point], D = cox->risk.weight[point];
  double sum = 0.0;
  if (cox->breslow) return D * gbt_log(S);
  for (int64_t l = 0; l < d; l++) sum += gbt_log(S - (double)l / (double)d * cox->S_E[point]);
  return D / (double)d * sum;
}

gbt_status gbt_cox_loss(gbt_ctx *ctx, const gbt_cox *cox, const double *score, double *out, gbt_error *err) {
  const gbt_risk *risk = &cox->risk;
  gbt_exact_sum sum;
  gbt_exact_zero(&sum);
  for (int64_t i = 0; i < risk->rows.n; i++) {
    if (i % TASK_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    if (gbt_risk_is_event(&risk->rows, i, cox->cause))
      gbt_exact_add(&sum, gbt_weight_of(&risk->rows, i) * (cox->top[risk->of[i]] - score[i]));
  }
  GBT_TRY(gbt_comm_sum_exact(ctx, &sum, 1, err));
  for (uint32_t p = 0; p < risk->n_points; p++) gbt_exact_add(&sum, point_loss(cox, p));
  *out = gbt_exact_value(&sum);
  return GBT_OK;
}
