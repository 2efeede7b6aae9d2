/* Whole weights of rows, and the base score of objectives whose leaves are quantiles. */
#include "renewal.h"

#include <string.h>

#include "../base/comm.h"
#include "../base/parallel.h"
#include "formulas.h"

enum { RENEWAL_ROWS = 16384, DIGIT = 8, VALUES = 1 << DIGIT };

double gbt_renewal_level(const gbt_objective *o) {
  switch ((gbt_objective_kind)o->kind) {
#define LEVEL_NEWTON(name) 0.5
#define LEVEL_QUANTILE(name) gbt_##name##_level(o->param)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, hessian, size, leaves, ...) \
  case GBT_OBJ_##ID:                                                                                            \
    return LEVEL_##leaves(name);
#include "objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return 0.5;
}

static double factor_of(int32_t kind, double y) {
  switch ((gbt_objective_kind)kind) {
#define FACTOR_NEWTON(name) 1.0
#define FACTOR_QUANTILE(name) gbt_##name##_row_weight(y)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, hessian, size, leaves, ...) \
  case GBT_OBJ_##ID:                                                                                            \
    return FACTOR_##leaves(name);
#include "objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return 1.0;
}

/* One pass over rows, in tasks of RENEWAL_ROWS. What threads find is a maximum or integers, so their order is free. */
typedef struct renewal_pass {
  const gbt_objective *objective;
  const gbt_rows *rows;
  double *max;    /* per thread: the largest weight */
  int64_t *other; /* per thread: whether a weight is not 1 */
  gbt_whole_scale scale;
  uint64_t *whole;    /* n_rows; NULL: all 1 */
  gbt_pick pick;      /* what is known of the base score's key */
  const double *offset; /* of the output whose base score it is; NULL: none */
  int shift;          /* of the digit that the pass looks at */
  uint64_t *by_digit; /* threads x VALUES: weights of the rows that agree with the pick so far */
} renewal_pass;

static gbt_status over_rows(gbt_ctx *ctx, renewal_pass *p, gbt_task_fn task, gbt_error *err) {
  return gbt_parallel(ctx, (p->rows->n + RENEWAL_ROWS - 1) / RENEWAL_ROWS, task, p, err);
}

static int64_t end_of(const renewal_pass *p, int64_t beg) {
  return p->rows->n - beg < RENEWAL_ROWS ? p->rows->n : beg + RENEWAL_ROWS;
}

/* ---- weights ---- */

static double weight_of(const renewal_pass *p, int64_t i) {
  const double factor = factor_of(p->objective->kind, gbt_label_of(p->rows, i));
  return gbt_weight_of(p->rows, i) * factor;
}

static void most_task(void *arg, int64_t task, int thread) {
  const renewal_pass *p = arg;
  const int64_t beg = task * RENEWAL_ROWS, end = end_of(p, beg);
  double max = p->max[thread];
  int other = 0;
  for (int64_t i = beg; i < end; i++) {
    const double w = weight_of(p, i);
    other |= w != 1.0;
    if (w > max) max = w;
  }
  p->max[thread] = max;
  p->other[thread] |= other;
}

static void whole_task(void *arg, int64_t task, int thread) {
  const renewal_pass *p = arg;
  const int64_t beg = task * RENEWAL_ROWS, end = end_of(p, beg);
  (void)thread;
  for (int64_t i = beg; i < end; i++) p->whole[i] = gbt_whole_weight(weight_of(p, i), p->scale);
}

/* The largest weight of all ranks' rows, and whether one is not 1. */
static gbt_status find_most(gbt_ctx *ctx, renewal_pass *p, double *max, int64_t *other, gbt_error *err) {
  gbt_status status = GBT_OK;
  const size_t n_threads = (size_t)ctx->n_threads;
  *max = 0.0;
  *other = 0;
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, n_threads, sizeof *p->max, &p->max, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, n_threads, sizeof *p->other, &p->other, err), done);
  GBT_TRY_GOTO(over_rows(ctx, p, most_task, err), done);
  for (size_t t = 0; t < n_threads; t++) {
    if (p->max[t] > *max) *max = p->max[t];
    *other |= p->other[t];
  }
  GBT_TRY_GOTO(gbt_comm_max_f64(ctx, max, 1, err), done);
  GBT_TRY_GOTO(gbt_comm_max_i64(ctx, other, 1, err), done);
done:
  gbt_mem_free(&ctx->mem, p->max);
  gbt_mem_free(&ctx->mem, p->other);
  return status;
}

gbt_status gbt_renewal_weights(gbt_ctx *ctx, const gbt_objective *o, const gbt_rows *rows, uint64_t **out,
                               gbt_error *err) {
  gbt_status status = GBT_OK;
  renewal_pass p = {.objective = o, .rows = rows};
  int64_t n_rows = rows->n, other;
  double max;
  *out = NULL;
  GBT_TRY(find_most(ctx, &p, &max, &other, err));
  if (!other) return GBT_OK;
  GBT_TRY(gbt_comm_sum_i64(ctx, &n_rows, 1, err));
  p.scale = gbt_whole_scale_of(max, n_rows);
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)rows->n, sizeof *p.whole, &p.whole, err));
  GBT_TRY_GOTO(over_rows(ctx, &p, whole_task, err), done);
  *out = p.whole;
  p.whole = NULL;
done:
  gbt_mem_free(&ctx->mem, p.whole);
  return status;
}

/* ---- base score ---- */

static void digit_task(void *arg, int64_t task, int thread) {
  const renewal_pass *p = arg;
  const double *label = p->rows->field[GBT_LABEL], *offset = p->offset;
  const int64_t beg = task * RENEWAL_ROWS, end = end_of(p, beg);
  const int first = p->shift == 64 - DIGIT;
  uint64_t *weight = p->by_digit + (size_t)thread * VALUES;
  for (int64_t i = beg; i < end; i++) {
    const uint64_t known = gbt_order_key(offset ? label[i] - offset[i] : label[i]) >> p->shift;
    if (first || known >> DIGIT == p->pick.key) weight[known & (VALUES - 1)] += p->whole ? p->whole[i] : 1;
  }
}

/* One digit more of the pick, over all ranks. */
static gbt_status find_digit(gbt_ctx *ctx, renewal_pass *p, gbt_error *err) {
  const size_t cells = (size_t)ctx->n_threads * VALUES;
  memset(p->by_digit, 0, cells * sizeof *p->by_digit);
  GBT_TRY(over_rows(ctx, p, digit_task, err));
  for (size_t i = VALUES; i < cells; i++) p->by_digit[i % VALUES] += p->by_digit[i];
  GBT_TRY(gbt_comm_sum_i64(ctx, p->by_digit, VALUES, err));
  gbt_pick_digit(&p->pick, p->by_digit, DIGIT, p->shift == 64 - DIGIT, gbt_renewal_level(p->objective));
  return GBT_OK;
}

gbt_status gbt_renewal_base(gbt_ctx *ctx, const gbt_objective *o, const gbt_rows *rows, double *out,
                            gbt_error *err) {
  gbt_status status = GBT_OK;
  renewal_pass p = {.objective = o, .rows = rows};
  GBT_TRY_GOTO(gbt_renewal_weights(ctx, o, rows, &p.whole, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)ctx->n_threads * VALUES, sizeof *p.by_digit, &p.by_digit, err), done);
  for (int32_t k = 0; k < o->n_outputs; k++) {
    const gbt_objective its = gbt_objective_of_output(o, k);
    p.objective = &its;
    p.offset = rows->field[GBT_OFFSET] != NULL ? rows->field[GBT_OFFSET] + k * rows->n : NULL;
    for (p.shift = 64 - DIGIT; p.shift >= 0; p.shift -= DIGIT) GBT_TRY_GOTO(find_digit(ctx, &p, err), done);
    out[k] = gbt_pick_value(&p.pick, 0.0);
  }
done:
  gbt_mem_free(&ctx->mem, p.by_digit);
  gbt_mem_free(&ctx->mem, p.whole);
  return status;
}
