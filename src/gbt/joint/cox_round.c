/* scores -> exp(s - M) -> sums of u by slot -> sums over risk sets -> a and c -> sums of a -> g and h
 *
 * Tasks are runs of rows in the order of their slots (sums), of slots, of points, or of rows as they are (g and h). The
 * calling thread adds the sums that a task leaves for another one. */
#include <string.h>

#include "../base/comm.h"
#include "../base/parallel.h"
#include "../math/elementary.h"
#include "../math/fixed.h"
#include "cox.h"
#include "exps.h"

enum { TASK_ROWS = 1 << 14, TASK_SLOTS = 1 << 12, LIMBS = 4, BITS = 126, AHEAD = 32 };

#if defined(__GNUC__)
#define PREFETCH(at) __builtin_prefetch(at)
#else
#define PREFETCH(at) ((void)(at))
#endif

/* ---- tasks ---- */

/* The sums of u of the rows of a slot. */
typedef struct slot_sums {
  gbt_wide all, events, beyond;
} slot_sums;

typedef struct job {
  gbt_cox *cox;
  gbt_simd simd;
  const double *score;
  double *g, *h;
  double *top;     /* n_threads x n_strata */
  slot_sums *head; /* by task: of the rows of a slot that begins in an earlier task */
  gbt_wide *part;  /* by task of slots or points: see the tasks */
  const double *factor;
  gbt_wide *sum;
  int exp;
} job;

static int64_t tasks_of(int64_t n, int64_t size) { return (n + size - 1) / size; }
static int64_t row_tasks(const gbt_cox *cox) { return tasks_of(cox->risk.rows.n, TASK_ROWS); }
static int64_t task_end(int64_t n, int64_t beg, int64_t size) { return n - beg < size ? n : beg + size; }

/* The last slot of a stratum; the first one is that of the stratum's `start`. */
static uint32_t last_slot(const gbt_risk *risk, uint32_t stratum) { return risk->start[stratum + 1] + stratum; }
static uint32_t first_slot(const gbt_risk *risk, uint32_t stratum) { return risk->start[stratum] + stratum; }

static uint32_t stratum_of_slot(const gbt_risk *risk, uint32_t slot) {
  uint32_t beg = 0, end = risk->n_strata - 1;
  while (beg < end) {
    const uint32_t mid = beg + (end - beg) / 2;
    if (last_slot(risk, mid) < slot)
      beg = mid + 1;
    else
      end = mid;
  }
  return beg;
}

/* A slot with rows, and the place after them. */
typedef struct slot_at {
  uint32_t slot, stratum, end;
} slot_at;

static slot_at slot_of_place(const gbt_cox *cox, const uint32_t *beg, uint32_t place) {
  uint32_t low = 0, high = cox->n_slots - 1;
  while (low < high) { /* the last slot that begins at `place` or before */
    const uint32_t mid = low + (high - low + 1) / 2;
    if (beg[mid] <= place)
      low = mid;
    else
      high = mid - 1;
  }
  return (slot_at){low, stratum_of_slot(&cox->risk, low), beg[low + 1]};
}

/* There must be one more slot with rows. */
static void go_on(const gbt_cox *cox, const uint32_t *beg, slot_at *at) {
  do at->slot++;
  while (beg[at->slot + 1] == beg[at->slot]);
  while (at->slot > last_slot(&cox->risk, at->stratum)) at->stratum++;
  at->end = beg[at->slot + 1];
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* ---- sums by slot ---- */

static void top_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_risk *risk = &j->cox->risk;
  double *top = j->top + (size_t)thread * risk->n_strata;
  const int64_t beg = task * TASK_ROWS, end = task_end(risk->rows.n, beg, TASK_ROWS);
  if (risk->n_strata == 1) {
    double most = top[0];
    for (int64_t i = beg; i < end; i++) most = j->score[i] > most ? j->score[i] : most;
    top[0] = most;
    return;
  }
  for (int64_t i = beg; i < end; i++)
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

/* exp(s - M) of the rows of a task. */
static void find_relative(const job *j, uint32_t beg, uint32_t end) {
  gbt_cox *cox = j->cox;
  slot_at at = slot_of_place(cox, cox->beg_last, beg);
  for (uint32_t i = beg; i < end;) {
    const double top = cox->top[at.stratum];
    for (const uint32_t stop = least(at.end, end); i < stop; i++) cox->relative[i] = j->score[cox->by_last[i]] - top;
    if (i < end) go_on(cox, cox->beg_last, &at);
  }
  gbt_exps(j->simd, cox->relative + beg, end - beg);
}

/* The sums of the places [beg, end), all of one slot. events: wanted. */
static slot_sums sum_rows(const gbt_cox *cox, uint32_t beg, uint32_t end, int events) {
  const gbt_rows *rows = &cox->risk.rows;
  slot_sums sum = {{0, 0}, {0, 0}, {0, 0}};
  for (uint32_t i = beg; i < end; i++) {
    const uint32_t row = cox->by_last[i];
    const double u = gbt_weight_of(rows, row) * cox->relative[i];
    const gbt_wide wide = gbt_wide_from(u, cox->exp);
    sum.all = gbt_wide_add(sum.all, wide);
    if (events && cox->is_event[i]) sum.events = gbt_wide_add(sum.events, wide);
    if (cox->beyond != NULL && cox->beyond[row] > 0.0)
      sum.beyond = gbt_wide_add(sum.beyond, gbt_wide_from(u * cox->beyond[row], cox->exp_beyond));
  }
  return sum;
}

/* Whether S_E of a slot's point is needed: Efron's, and more events than one. */
static int has_ties(const gbt_cox *cox, uint32_t slot, uint32_t stratum) {
  return !cox->breslow && slot > first_slot(&cox->risk, stratum) && cox->risk.n_events[slot - 1 - stratum] > 1;
}

static void put_sums(gbt_cox *cox, uint32_t slot, slot_sums sum) {
  cox->at_last[slot] = gbt_wide_add(cox->at_last[slot], sum.all);
  cox->at_event[slot] = gbt_wide_add(cox->at_event[slot], sum.events);
  if (cox->beyond != NULL) cox->at_beyond[slot] = gbt_wide_add(cox->at_beyond[slot], sum.beyond);
}

static void last_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  gbt_cox *cox = j->cox;
  const uint32_t beg = (uint32_t)(task * TASK_ROWS), end = (uint32_t)task_end(cox->risk.rows.n, beg, TASK_ROWS);
  (void)thread;
  find_relative(j, beg, end);
  slot_at at = slot_of_place(cox, cox->beg_last, beg);
  for (uint32_t i = beg; i < end;) {
    const uint32_t stop = least(at.end, end);
    const slot_sums sum = sum_rows(cox, i, stop, has_ties(cox, at.slot, at.stratum));
    if (cox->beg_last[at.slot] < beg)
      j->head[task] = sum;
    else
      put_sums(cox, at.slot, sum);
    i = stop;
    if (i < end) go_on(cox, cox->beg_last, &at);
  }
}

static void first_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  gbt_cox *cox = j->cox;
  const uint32_t beg = (uint32_t)(task * TASK_ROWS), end = (uint32_t)task_end(cox->risk.rows.n, beg, TASK_ROWS);
  (void)thread;
  slot_at at = slot_of_place(cox, cox->beg_first, beg);
  for (uint32_t i = beg; i < end;) {
    gbt_wide sum = {0, 0};
    for (const uint32_t stop = least(at.end, end); i < stop; i++) {
      const uint32_t place = cox->by_first[i];
      const double u = gbt_weight_of(&cox->risk.rows, cox->by_last[place]) * cox->relative[place];
      sum = gbt_wide_add(sum, gbt_wide_from(u, cox->exp));
    }
    if (cox->beg_first[at.slot] < beg)
      j->head[task].all = sum;
    else
      cox->at_first[at.slot] = sum;
    if (i < end) go_on(cox, cox->beg_first, &at);
  }
}

static int begins_before(const gbt_cox *cox, const uint32_t *beg, int64_t task, uint32_t *slot) {
  const uint32_t place = (uint32_t)(task * TASK_ROWS);
  *slot = slot_of_place(cox, beg, place).slot;
  return beg[*slot] < place;
}

static gbt_status find_slot_sums(gbt_ctx *ctx, job *j, gbt_error *err) {
  gbt_cox *cox = j->cox;
  const int64_t tasks = row_tasks(cox);
  const size_t bytes = cox->n_slots * sizeof(gbt_wide);
  uint32_t slot;
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)tasks, sizeof *j->head, &j->head, err));
  memset(cox->at_last, 0, bytes);
  memset(cox->at_event, 0, bytes);
  if (cox->beyond != NULL) memset(cox->at_beyond, 0, bytes);
  gbt_status status = gbt_parallel(ctx, tasks, last_task, j, err);
  for (int64_t t = 1; t < tasks && status == GBT_OK; t++)
    if (begins_before(cox, cox->beg_last, t, &slot)) put_sums(cox, slot, j->head[t]);
  if (status == GBT_OK && cox->by_first != NULL) {
    memset(cox->at_first, 0, bytes);
    status = gbt_parallel(ctx, tasks, first_task, j, err);
    for (int64_t t = 1; t < tasks && status == GBT_OK; t++)
      if (begins_before(cox, cox->beg_first, t, &slot))
        cox->at_first[slot] = gbt_wide_add(cox->at_first[slot], j->head[t].all);
  }
  gbt_mem_free(&ctx->mem, j->head);
  return status;
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

static gbt_wide sum_of_slot(const gbt_cox *cox, uint32_t slot) {
  return cox->risk.first != NULL ? gbt_wide_sub(cox->at_last[slot], cox->at_first[slot]) : cox->at_last[slot];
}

/* part: the sum of the slots of a task that are of the stratum of its first one. */
static void part_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_cox *cox = j->cox;
  const uint32_t beg = (uint32_t)(task * TASK_SLOTS), end = (uint32_t)task_end(cox->n_slots, beg, TASK_SLOTS);
  const uint32_t stop = least(last_slot(&cox->risk, stratum_of_slot(&cox->risk, beg)) + 1, end);
  gbt_wide sum = {0, 0};
  (void)thread;
  for (uint32_t k = beg; k < stop; k++) sum = gbt_wide_add(sum, sum_of_slot(cox, k));
  j->part[task] = sum;
}

/* part: instead, the sum of the slots after a task that are of the stratum of its last one. */
static void find_rests(const gbt_cox *cox, gbt_wide *part) {
  gbt_wide rest = {0, 0};
  for (int64_t t = tasks_of(cox->n_slots, TASK_SLOTS); t-- > 0;) {
    const uint32_t beg = (uint32_t)(t * TASK_SLOTS), end = (uint32_t)task_end(cox->n_slots, beg, TASK_SLOTS);
    const uint32_t stratum = stratum_of_slot(&cox->risk, beg), stop = last_slot(&cox->risk, stratum);
    const gbt_wide own = part[t];
    part[t] = rest;
    rest = stop >= end ? gbt_wide_add(own, rest) : own;
    if (beg == first_slot(&cox->risk, stratum)) rest = (gbt_wide){0, 0}; /* the task before ends in another stratum */
  }
}

/* S and S_E at the points of a task, from the last one back. */
static void S_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  gbt_cox *cox = j->cox;
  const uint32_t beg = (uint32_t)(task * TASK_SLOTS), end = (uint32_t)task_end(cox->n_slots, beg, TASK_SLOTS);
  uint32_t stratum = stratum_of_slot(&cox->risk, end - 1);
  gbt_wide at_risk = j->part[task];
  (void)thread;
  for (uint32_t k = end; k-- > beg;) {
    if (k < first_slot(&cox->risk, stratum)) {
      stratum--;
      at_risk = (gbt_wide){0, 0};
    }
    if (k == first_slot(&cox->risk, stratum)) continue;
    at_risk = gbt_wide_add(at_risk, sum_of_slot(cox, k));
    cox->S[k - 1 - stratum] = real_of(at_risk, cox->exp);
    cox->S_E[k - 1 - stratum] = has_ties(cox, k, stratum) ? real_of(cox->at_event[k], cox->exp) : 0.0;
  }
}

/* Adds rows of other causes beyond their times, from the first point of each stratum on. */
static void add_beyond(gbt_cox *cox) {
  const gbt_risk *risk = &cox->risk;
  for (uint32_t s = 0; s < risk->n_strata; s++) {
    gbt_wide beyond = {0, 0};
    for (uint32_t p = risk->start[s]; p < risk->start[s + 1]; p++) {
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

static void hazards_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const int64_t n = j->cox->risk.n_points;
  (void)thread;
  for (int64_t p = task * TASK_SLOTS, end = task_end(n, p, TASK_SLOTS); p < end; p++) hazard_of(j->cox, (uint32_t)p);
}

/* Sums from the first point of a task on; part: of all its points. */
static void sums_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_cox *cox = j->cox;
  const int64_t n = cox->risk.n_points;
  gbt_wide sum = {0, 0};
  (void)thread;
  for (int64_t p = task * TASK_SLOTS, end = task_end(n, p, TASK_SLOTS); p < end; p++) {
    const double a = j->factor != NULL ? j->factor[p] * cox->a[p] : cox->a[p];
    sum = gbt_wide_add(sum, gbt_wide_from(a, j->exp));
    j->sum[p + 1] = sum;
  }
  j->part[task] = sum;
}

/* part: of all points before the task. */
static void add_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const int64_t n = j->cox->risk.n_points;
  (void)thread;
  for (int64_t p = task * TASK_SLOTS, end = task_end(n, p, TASK_SLOTS); p < end; p++)
    j->sum[p + 1] = gbt_wide_add(j->sum[p + 1], j->part[task]);
}

/* Sums of a, times `factor` where there is one, before each point as integers in units of the largest. */
static gbt_status sum_before(gbt_ctx *ctx, job *j, const double *factor, gbt_wide *sum, double *unit, gbt_error *err) {
  const gbt_cox *cox = j->cox;
  const uint32_t n = cox->risk.n_points;
  const int64_t tasks = tasks_of(n, TASK_SLOTS);
  gbt_wide before = {0, 0};
  double most = 0.0;
  for (uint32_t p = 0; p < n; p++) most = cox->a[p] > most ? cox->a[p] : most; /* factors are at most 1 */
  j->exp = gbt_scale_exp(most, BITS - gbt_bit_length(n));
  j->factor = factor;
  j->sum = sum;
  sum[0] = before;
  GBT_TRY(gbt_parallel(ctx, tasks, sums_task, j, err));
  for (int64_t t = 0; t < tasks; t++) {
    const gbt_wide own = j->part[t];
    j->part[t] = before;
    before = gbt_wide_add(before, own);
  }
  *unit = gbt_pow2(-j->exp);
  return gbt_parallel(ctx, tasks, add_task, j, err);
}

/* A of the slots of a task. */
static void A_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  gbt_cox *cox = j->cox;
  const uint32_t beg = (uint32_t)(task * TASK_SLOTS), end = (uint32_t)task_end(cox->n_slots, beg, TASK_SLOTS);
  uint32_t stratum = stratum_of_slot(&cox->risk, beg);
  (void)thread;
  for (uint32_t k = beg; k < end; k++) {
    while (k > last_slot(&cox->risk, stratum)) stratum++;
    const uint32_t last = k - stratum, start = cox->risk.start[stratum];
    const double A = gbt_wide_value(gbt_wide_sub(cox->sum_a[last], cox->sum_a[start])) * cox->a_unit;
    cox->A[2 * (size_t)k] = A;
    cox->A[2 * (size_t)k + 1] = last > start ? A - cox->c[last - 1] : A;
  }
}

static gbt_status find_hazards(gbt_ctx *ctx, job *j, gbt_error *err) {
  gbt_cox *cox = j->cox;
  const int64_t tasks = tasks_of(cox->n_slots, TASK_SLOTS);
  GBT_TRY(gbt_parallel(ctx, tasks, part_task, j, err));
  find_rests(cox, j->part);
  GBT_TRY(gbt_parallel(ctx, tasks, S_task, j, err));
  if (cox->beyond != NULL) add_beyond(cox);
  GBT_TRY(gbt_parallel(ctx, tasks_of(cox->risk.n_points, TASK_SLOTS), hazards_task, j, err));
  GBT_TRY(sum_before(ctx, j, NULL, cox->sum_a, &cox->a_unit, err));
  GBT_TRY(gbt_parallel(ctx, tasks, A_task, j, err));
  return cox->beyond != NULL ? sum_before(ctx, j, cox->uncensored, cox->sum_ga, &cox->ga_unit, err) : GBT_OK;
}

gbt_status gbt_cox_hazards(gbt_ctx *ctx, gbt_cox *cox, const double *score, gbt_error *err) {
  job j = {.cox = cox, .simd = ctx->simd, .score = score};
  const size_t slots = cox->n_slots;
  GBT_TRY(find_tops(ctx, &j, err));
  GBT_TRY(find_slot_sums(ctx, &j, err));
  GBT_TRY(sum_ranks(ctx, cox->at_last, slots, err));
  GBT_TRY(sum_ranks(ctx, cox->at_event, slots, err));
  if (cox->risk.first != NULL) GBT_TRY(sum_ranks(ctx, cox->at_first, slots, err));
  if (cox->beyond != NULL) GBT_TRY(sum_ranks(ctx, cox->at_beyond, slots, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)tasks_of((int64_t)slots, TASK_SLOTS), sizeof *j.part, &j.part, err));
  const gbt_status status = find_hazards(ctx, &j, err);
  gbt_mem_free(&ctx->mem, j.part);
  return status;
}

/* ---- rows ---- */

static double sum_beyond(const gbt_cox *cox, int64_t row) {
  const uint32_t end = cox->risk.start[cox->risk.of[row] + 1];
  const gbt_wide later = gbt_wide_sub(cox->sum_ga[end], cox->sum_ga[cox->risk.last[row]]);
  return cox->beyond[row] * (gbt_wide_value(later) * cox->ga_unit);
}

static void gradients_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const gbt_cox *cox = j->cox;
  const gbt_risk *risk = &cox->risk;
  const int64_t beg = task * TASK_ROWS, end = task_end(risk->rows.n, beg, TASK_ROWS);
  (void)thread;
  for (int64_t i = beg; i < end; i++) j->h[i] = j->score[i] - cox->top[risk->of[i]];
  gbt_exps(j->simd, j->h + beg, (size_t)(end - beg));
  for (int64_t i = beg; i < end; i++) {
    const int event = gbt_risk_is_event(&risk->rows, i, cox->cause);
    const int64_t ahead = i + AHEAD < end ? i + AHEAD : i;
    PREFETCH(&cox->A[2 * (size_t)(risk->last[ahead] + risk->of[ahead])]);
    const uint32_t last = risk->last[i], first = risk->first != NULL ? risk->first[i] : 0;
    double A = cox->A[2 * (size_t)(last + risk->of[i]) + (size_t)event];
    if (first > risk->start[risk->of[i]]) {
      A = gbt_wide_value(gbt_wide_sub(cox->sum_a[last], cox->sum_a[first])) * cox->a_unit;
      if (event) A -= cox->c[last - 1];
    }
    if (cox->beyond != NULL && cox->beyond[i] > 0.0) A += sum_beyond(cox, i);
    if (!(A > 0.0)) A = 0.0;
    j->h[i] = j->h[i] * A;
    j->g[i] = j->h[i] - (event ? 1.0 : 0.0);
  }
}

gbt_status gbt_cox_gradients(gbt_ctx *ctx, const gbt_cox *cox, const double *score, double *g, double *h,
                             gbt_error *err) {
  job j = {.cox = (gbt_cox *)cox, .simd = ctx->simd, .score = score, .g = g, .h = h};
  return gbt_parallel(ctx, row_tasks(cox), gradients_task, &j, err);
}
