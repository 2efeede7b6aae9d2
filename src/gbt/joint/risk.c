#include "risk.h"

#include <string.h>

#include "../base/comm.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "../math/whole.h"
#include "steps.h"

enum { TASK_ROWS = 1 << 15 };

/* ---- distinct pairs of stratum and time, of all ranks ---- */

typedef struct pairs {
  gbt_mem mem;
  size_t n;
  uint64_t *key[2]; /* order keys of strata and of times */
} pairs;

static void free_pairs(pairs *p) {
  gbt_mem_free(&p->mem, p->key[0]);
  gbt_mem_free(&p->mem, p->key[1]);
  p->key[0] = p->key[1] = NULL;
}

static gbt_status open_pairs(const gbt_mem *mem, size_t n, pairs *p, gbt_error *err) {
  *p = (pairs){.mem = *mem, .n = n};
  GBT_TRY(gbt_mem_array(mem, n, sizeof **p->key, &p->key[0], err));
  return gbt_mem_array(mem, n, sizeof **p->key, &p->key[1], err);
}

/* Sorts by stratum, then time, and leaves one of each. */
static gbt_status make_distinct(gbt_ctx *ctx, pairs *p, gbt_error *err) {
  gbt_status status = GBT_OK;
  uint64_t *sorted = NULL, *tmp = NULL;
  uint32_t *at = NULL, *tmp_at = NULL;
  GBT_ASSERT(p->n <= UINT32_MAX);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, p->n, sizeof *sorted, &sorted, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, p->n, sizeof *tmp, &tmp, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, p->n, sizeof *at, &at, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, p->n, sizeof *tmp_at, &tmp_at, err), done);
  for (size_t i = 0; i < p->n; i++) at[i] = (uint32_t)i;
  for (int by = 1; by >= 0; by--) { /* the sort is stable */
    for (size_t i = 0; i < p->n; i++) sorted[i] = p->key[by][at[i]];
    GBT_TRY_GOTO(gbt_sort_u64_parallel(ctx, sorted, at, p->n, tmp, tmp_at, err), done);
  }
  for (size_t i = 0; i < p->n; i++) tmp[i] = p->key[1][at[i]];
  size_t n = 0;
  for (size_t i = 0; i < p->n; i++) { /* sorted: strata, tmp: times */
    if (i > 0 && sorted[i] == sorted[i - 1] && tmp[i] == tmp[i - 1]) continue;
    p->key[0][n] = sorted[i];
    p->key[1][n++] = tmp[i];
  }
  p->n = n;
done:
  gbt_mem_free(&ctx->mem, tmp_at);
  gbt_mem_free(&ctx->mem, at);
  gbt_mem_free(&ctx->mem, tmp);
  gbt_mem_free(&ctx->mem, sorted);
  return status;
}

/* Those of all ranks in the place of this rank's. */
static gbt_status gather_pairs(gbt_ctx *ctx, pairs *p, gbt_error *err) {
  const int size = gbt_comm_size(ctx);
  gbt_status status = GBT_OK;
  pairs all = {.mem = ctx->mem};
  int64_t *count = NULL;
  const int64_t mine = (int64_t)p->n;
  size_t *bytes = NULL, total = 0;
  if (size == 1) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)size, sizeof *count, &count, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)size, sizeof *bytes, &bytes, err), done);
  GBT_TRY_GOTO(gbt_comm_gather_i64(ctx, &mine, 1, count, err), done);
  for (int r = 0; r < size; r++) {
    bytes[r] = (size_t)count[r] * sizeof **p->key;
    total += (size_t)count[r];
  }
  GBT_TRY_GOTO(open_pairs(&ctx->mem, total, &all, err), done);
  for (int k = 0; k < 2; k++) GBT_TRY_GOTO(gbt_comm_gather(ctx, p->key[k], bytes, all.key[k], err), done);
  GBT_TRY_GOTO(make_distinct(ctx, &all, err), done);
  free_pairs(p);
  *p = all;
  all = (pairs){.mem = ctx->mem};
done:
  free_pairs(&all);
  gbt_mem_free(&ctx->mem, bytes);
  gbt_mem_free(&ctx->mem, count);
  return status;
}

/* ---- strata and points ---- */

static double stratum_of(const gbt_rows *rows, int64_t row) {
  return rows->field[GBT_STRATUM] != NULL ? rows->field[GBT_STRATUM][row] : 0.0;
}

/* Strata (of all rows), and points: pairs of the rows that have an event. */
static gbt_status find_pairs(gbt_ctx *ctx, const gbt_rows *rows, double cause, pairs *strata, pairs *points,
                             gbt_error *err) {
  GBT_TRY(open_pairs(&ctx->mem, (size_t)rows->n, strata, err));
  GBT_TRY(open_pairs(&ctx->mem, (size_t)rows->n, points, err));
  points->n = 0;
  for (int64_t i = 0; i < rows->n; i++) {
    strata->key[0][i] = gbt_order_key(stratum_of(rows, i));
    strata->key[1][i] = 0;
    if (!gbt_risk_is_event(rows, i, cause)) continue;
    points->key[0][points->n] = strata->key[0][i];
    points->key[1][points->n++] = gbt_order_key(rows->field[GBT_LABEL][i]);
  }
  GBT_TRY(make_distinct(ctx, strata, err));
  GBT_TRY(make_distinct(ctx, points, err));
  GBT_TRY(gather_pairs(ctx, strata, err));
  return gather_pairs(ctx, points, err);
}

static gbt_status keep_pairs(const pairs *strata, const pairs *points, gbt_risk *risk, gbt_error *err) {
  const gbt_mem *mem = &risk->mem;
  uint32_t at = 0;
  risk->n_strata = (uint32_t)strata->n;
  risk->n_points = (uint32_t)points->n;
  GBT_TRY(gbt_mem_array(mem, strata->n, sizeof *risk->stratum, &risk->stratum, err));
  GBT_TRY(gbt_mem_array(mem, strata->n + 1, sizeof *risk->start, &risk->start, err));
  GBT_TRY(gbt_mem_array(mem, points->n, sizeof *risk->time, &risk->time, err));
  for (uint32_t s = 0; s < risk->n_strata; s++) {
    risk->stratum[s] = gbt_order_value(strata->key[0][s]);
    risk->start[s] = at;
    while (at < risk->n_points && points->key[0][at] == strata->key[0][s]) at++;
  }
  risk->start[risk->n_strata] = at;
  GBT_ASSERT(at == risk->n_points);
  for (uint32_t p = 0; p < risk->n_points; p++) risk->time[p] = gbt_order_value(points->key[1][p]);
  return GBT_OK;
}

/* ---- rows ---- */

/* The place of a stratum; points of [beg, end) with a time up to t. */
static uint32_t find_stratum(const gbt_risk *risk, double stratum) {
  uint32_t beg = 0, end = risk->n_strata;
  while (end - beg > 1) {
    const uint32_t mid = beg + (end - beg) / 2;
    if (risk->stratum[mid] <= stratum)
      beg = mid;
    else
      end = mid;
  }
  return beg;
}

static uint32_t points_until(const gbt_risk *risk, uint32_t stratum, double t) {
  return gbt_steps_until(risk->time, risk->start[stratum], risk->start[stratum + 1], t);
}

uint32_t gbt_risk_points_before(const gbt_risk *risk, uint32_t stratum, double t) {
  const uint32_t until = points_until(risk, stratum, t);
  return until > risk->start[stratum] && risk->time[until - 1] == t ? until - 1 : until;
}

static void rows_task(void *arg, int64_t task, int thread) {
  gbt_risk *risk = arg;
  const gbt_rows *rows = &risk->rows;
  const int64_t beg = task * TASK_ROWS, end = rows->n - beg < TASK_ROWS ? rows->n : beg + TASK_ROWS;
  (void)thread;
  for (int64_t i = beg; i < end; i++) {
    const uint32_t s = find_stratum(risk, stratum_of(rows, i));
    risk->of[i] = s;
    risk->last[i] = points_until(risk, s, rows->field[GBT_LABEL][i]);
    if (risk->first != NULL) risk->first[i] = points_until(risk, s, rows->field[GBT_ENTRY][i]);
  }
}

static gbt_status check_entries(const gbt_rows *rows, gbt_error *err) {
  const double *entry = rows->field[GBT_ENTRY], *time = rows->field[GBT_LABEL];
  for (int64_t i = 0; entry != NULL && i < rows->n; i++)
    if (!(entry[i] < time[i]))
      return gbt_fail_on(err, GBT_E_DATA, "entry",
                         "row %lld enters at %g, and its time is %g; the entry must be before the time",
                         (long long)gbt_row_number(rows, i), entry[i], time[i]);
  return GBT_OK;
}

/* Numbers and weights of the events at each point. Rows of weight 0 are as rows left out, where others have an event at
 * the same time: the number is a divisor, so it is never 0. */
static gbt_status sum_events(gbt_ctx *ctx, gbt_risk *risk, double cause, gbt_error *err) {
  const gbt_rows *rows = &risk->rows;
  double most = 0.0;
  int64_t *sum;
  const size_t n = risk->n_points;
  GBT_TRY(gbt_mem_zeros(&risk->mem, n, sizeof *risk->n_events, &risk->n_events, err));
  GBT_TRY(gbt_mem_zeros(&risk->mem, n, sizeof *risk->weight, &risk->weight, err));
  for (int64_t i = 0; i < rows->n; i++) most = gbt_weight_of(rows, i) > most ? gbt_weight_of(rows, i) : most;
  risk->all_rows = rows->n;
  GBT_TRY(gbt_comm_max_f64(ctx, &most, 1, err));
  GBT_TRY(gbt_comm_sum_i64(ctx, &risk->all_rows, 1, err));
  risk->most_weight = most;
  const gbt_whole_scale scale = gbt_whole_scale_of(most, risk->all_rows > 0 ? risk->all_rows : 1);
  GBT_TRY(gbt_mem_zeros(&ctx->mem, n, sizeof *sum, &sum, err));
  for (int64_t i = 0; i < rows->n; i++) {
    if (!gbt_risk_is_event(rows, i, cause)) continue;
    const uint32_t p = risk->last[i] - 1;
    risk->n_events[p] += gbt_weight_of(rows, i) > 0.0;
    sum[p] += (int64_t)gbt_whole_weight(gbt_weight_of(rows, i), scale);
  }
  gbt_status status = gbt_comm_sum_i64(ctx, risk->n_events, n, err);
  if (status == GBT_OK) status = gbt_comm_sum_i64(ctx, sum, n, err);
  for (size_t p = 0; p < n; p++) {
    if (risk->n_events[p] == 0) risk->n_events[p] = 1;
    risk->weight[p] = (double)sum[p] / scale.up[0] / scale.up[1];
  }
  gbt_mem_free(&ctx->mem, sum);
  return status;
}

static gbt_status make(gbt_ctx *ctx, double cause, gbt_risk *risk, pairs *strata, pairs *points, gbt_error *err) {
  const gbt_rows *rows = &risk->rows;
  const size_t n = (size_t)rows->n;
  int64_t has_entry = rows->field[GBT_ENTRY] != NULL;
  GBT_TRY(check_entries(rows, err));
  GBT_TRY(find_pairs(ctx, rows, cause, strata, points, err));
  if (points->n == 0) return gbt_fail_on(err, GBT_E_DATA, "event", "no row has an event, so there is nothing to learn");
  GBT_TRY(keep_pairs(strata, points, risk, err));
  GBT_TRY(gbt_comm_max_i64(ctx, &has_entry, 1, err));
  GBT_TRY(gbt_mem_array(&risk->mem, n, sizeof *risk->of, &risk->of, err));
  GBT_TRY(gbt_mem_array(&risk->mem, n, sizeof *risk->last, &risk->last, err));
  if (has_entry) GBT_TRY(gbt_mem_array(&risk->mem, n, sizeof *risk->first, &risk->first, err));
  GBT_TRY(gbt_parallel(ctx, (rows->n + TASK_ROWS - 1) / TASK_ROWS, rows_task, risk, err));
  return sum_events(ctx, risk, cause, err);
}

gbt_status gbt_risk_make(gbt_ctx *ctx, const gbt_rows *rows, double cause, gbt_risk *out, gbt_error *err) {
  pairs strata = {.mem = ctx->mem}, points = {.mem = ctx->mem};
  *out = (gbt_risk){.mem = ctx->mem, .rows = *rows};
  GBT_ASSERT(rows->n >= 0 && rows->n <= UINT32_MAX);
  const gbt_status status = make(ctx, cause, out, &strata, &points, err);
  free_pairs(&strata);
  free_pairs(&points);
  return status;
}

void gbt_risk_free(gbt_risk *risk) {
  void *blocks[] = {risk->stratum, risk->start, risk->time, risk->n_events,
                    risk->weight,  risk->of,    risk->last, risk->first};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&risk->mem, blocks[i]);
  *risk = (gbt_risk){.mem = risk->mem};
}
