/* The scores before the first tree, from exact sums over all rows.
 *
 * A pass goes over the rows in tasks of BASE_ROWS, whose sums are merged in the order of the rows; being exact, they do
 * not depend on it. Most objectives take one pass. RESIDUAL_ROOT takes one for each step of a search that begins at the
 * mean residual. Ranks add up the sums of their rows; each has one task at least, which may find no rows. */
#include "base_score.h"

#include "../base/bits.h"
#include "../base/comm.h"
#include "../base/parallel.h"
#include "aft_scale.h"
#include "distribution.h"
#include "formulas.h"
#include "intervals.h"
#include "renewal.h"

enum { BASE_ROWS = 65536, MOST_STEPS = 50 };

typedef struct base_range {
  double low, high;
} base_range;

typedef struct base_pass {
  const gbt_objective *objective;
  const gbt_rows *rows;
  int gradients; /* sums of g and h at the score `at`; else those of the base rule */
  double at;
  gbt_exact_sum *top, *bottom; /* tasks x n_outputs: sums of weight * term */
  base_range *range;       /* per task: its least and largest label - offset, with a RESIDUAL rule */
} base_pass;

static void add_terms(const base_pass *p, int64_t i, gbt_base_terms t, gbt_exact_sum *top, gbt_exact_sum *bottom) {
  const double w = gbt_weight_of(p->rows, i);
  gbt_exact_add(top, w * t.top);
  gbt_exact_add(bottom, w * t.bottom);
}

static void residual_sums(const base_pass *p, int64_t beg, int64_t end, gbt_exact_sum *top, gbt_exact_sum *bottom) {
  base_range *range = &p->range[beg / BASE_ROWS];
  for (int64_t i = beg; i < end; i++) {
    const double r = gbt_label_of(p->rows, i) - gbt_offset_of(p->rows, i);
    add_terms(p, i, (gbt_base_terms){r, 1.0}, top, bottom);
    if (i == beg || r < range->low) range->low = r;
    if (i == beg || r > range->high) range->high = r;
  }
}

static void class_sums(const base_pass *p, int64_t beg, int64_t end, gbt_exact_sum *top, gbt_exact_sum *bottom) {
  for (int64_t i = beg; i < end; i++)
    add_terms(p, i, (gbt_base_terms){1.0, 1.0}, &top[(int32_t)gbt_label_of(p->rows, i)], bottom);
}

/* Of each interval: events, and rows that were observed in it. */
static void interval_sums(const base_pass *p, int64_t beg, int64_t end, gbt_exact_sum *top, gbt_exact_sum *bottom) {
  for (int32_t k = 0; k < p->objective->n_outputs; k++)
    for (int64_t i = beg; i < end; i++) {
      const int label = gbt_interval_label(p->objective, p->rows, i, k);
      if (label == GBT_HAZARD_UNKNOWN) continue;
      add_terms(p, i, (gbt_base_terms){(double)label, 1.0}, &top[k], &bottom[k]);
    }
}

/* Sums of the terms that the objective's header gives: with base rule MEAN. */
static void header_sums(const base_pass *p, int64_t beg, int64_t end, gbt_exact_sum *top, gbt_exact_sum *bottom) {
  const double *param = p->objective->param;
  switch ((gbt_objective_kind)p->objective->kind) {
#define SUMS_MEAN(name)               \
  for (int64_t i = beg; i < end; i++) \
    add_terms(p, i, gbt_##name##_base_terms(gbt_label_of(p->rows, i), gbt_offset_of(p->rows, i), param), top, bottom)
#define SUMS_ZERO(name) GBT_ASSERT(0)
#define SUMS_CLASS_SHARES(name) GBT_ASSERT(0)
#define SUMS_RESIDUAL_MEAN(name) GBT_ASSERT(0)
#define SUMS_RESIDUAL_ROOT(name) GBT_ASSERT(0)
#define SUMS_RESIDUAL_QUANTILE(name) GBT_ASSERT(0)
#define SUMS_SCALE(name) GBT_ASSERT(0)
#define SUMS_INTERVALS(name) GBT_ASSERT(0)
#define SUMS_DISTRIBUTION(name) GBT_ASSERT(0)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, ...) \
  case GBT_OBJ_##ID:                                                           \
    SUMS_##base(name);                                                         \
    break;
#include "objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
}

static double header_base(const gbt_objective *o, double mean) {
  switch ((gbt_objective_kind)o->kind) {
#define BASE_MEAN(name) gbt_##name##_base(mean, o->param)
#define BASE_ZERO(name) 0.0
#define BASE_CLASS_SHARES(name) gbt_##name##_base(mean)
#define BASE_RESIDUAL_MEAN(name) mean
#define BASE_RESIDUAL_ROOT(name) mean
#define BASE_RESIDUAL_QUANTILE(name) mean
#define BASE_SCALE(name) mean
#define BASE_INTERVALS(name) gbt_##name##_base(mean)
#define BASE_DISTRIBUTION(name) mean
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, ...) \
  case GBT_OBJ_##ID:                                                           \
    return BASE_##base(name);
#include "objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return 0.0;
}

static void gradient_sums(const base_pass *p, int64_t beg, int64_t end, gbt_exact_sum *top, gbt_exact_sum *bottom) {
  const double *param = p->objective->param;
  switch ((gbt_objective_kind)p->objective->kind) {
#define SUMS_ROW(name)                                                                                           \
  for (int64_t i = beg; i < end; i++) {                                                                          \
    const gbt_gh r = gbt_##name##_gradient(p->at + gbt_offset_of(p->rows, i), gbt_label_of(p->rows, i), param);       \
    add_terms(p, i, (gbt_base_terms){r.g, r.h}, top, bottom);                                                    \
  }
#define SUMS_CLASSES(name) GBT_ASSERT(0);
#define SUMS_GIVEN(name) GBT_ASSERT(0);
#define SUMS_QUERY SUMS_GIVEN
#define SUMS_ORDERED SUMS_GIVEN
#define SUMS_TIME SUMS_GIVEN
#undef SUMS_INTERVALS
#define SUMS_INTERVALS SUMS_GIVEN
#undef SUMS_DISTRIBUTION
#define SUMS_DISTRIBUTION SUMS_GIVEN
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    SUMS_##gradient(name) break;
#include "objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
}

static void base_task(void *arg, int64_t task, int thread) {
  const base_pass *p = arg;
  const int64_t n = p->rows->n, beg = task * BASE_ROWS, end = n - beg < BASE_ROWS ? n : beg + BASE_ROWS;
  gbt_exact_sum *top = p->top + task * p->objective->n_outputs, *bottom = p->bottom + task * p->objective->n_outputs;
  (void)thread;
  for (int32_t k = 0; k < p->objective->n_outputs; k++) {
    gbt_exact_zero(&top[k]);
    gbt_exact_zero(&bottom[k]);
  }
  if (p->gradients) {
    gradient_sums(p, beg, end, top, bottom);
    return;
  }
  switch (gbt_objective_info_of(p->objective->kind)->base) {
  case GBT_BASE_ZERO:
  case GBT_BASE_RESIDUAL_QUANTILE: /* needs no sums */
  case GBT_BASE_SCALE: /* have their own */
  case GBT_BASE_DISTRIBUTION:
    break;
  case GBT_BASE_MEAN:
    header_sums(p, beg, end, top, bottom);
    break;
  case GBT_BASE_CLASS_SHARES:
    class_sums(p, beg, end, top, bottom);
    break;
  case GBT_BASE_INTERVALS:
    interval_sums(p, beg, end, top, bottom);
    break;
  case GBT_BASE_RESIDUAL_MEAN:
  case GBT_BASE_RESIDUAL_ROOT:
    residual_sums(p, beg, end, top, bottom);
    break;
  }
}

/* All tasks; their sums are in the first n_outputs of top and bottom. */
static gbt_status sum_rows(gbt_ctx *ctx, base_pass *p, int64_t n_tasks, gbt_error *err) {
  const size_t k = (size_t)p->objective->n_outputs, cells = (size_t)n_tasks * k;
  GBT_TRY(gbt_parallel(ctx, n_tasks, base_task, p, err));
  for (size_t c = k; c < cells; c++) {
    if (c % 1024 == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    gbt_exact_merge(&p->top[c % k], &p->top[c]);
    gbt_exact_merge(&p->bottom[c % k], &p->bottom[c]);
  }
  GBT_TRY(gbt_comm_sum_exact(ctx, p->top, k, err));
  return gbt_comm_sum_exact(ctx, p->bottom, k, err);
}

/* Where the gradients add up to 0, within the range of the residuals: steps of sum g / sum h from *at on, halving the
 * interval where such a step would leave it. Ends where a step is below 1e-9 of the first interval. */
static gbt_status find_root(gbt_ctx *ctx, base_pass *p, int64_t n_tasks, double *at, gbt_error *err) {
  double low = p->range[0].low, high = p->range[0].high;
  const double near = (high - low) * 1e-9;
  p->gradients = 1;
  for (int step = 0; step < MOST_STEPS; step++) {
    p->at = *at;
    GBT_TRY(sum_rows(ctx, p, n_tasks, err));
    const double g = gbt_exact_value(&p->top[0]), h = gbt_exact_value(&p->bottom[0]);
    if (g > 0.0) high = *at;
    if (g < 0.0) low = *at;
    double next = h > 0.0 ? *at - g / h : *at;
    if (!(next > low && next < high)) next = low + (high - low) * 0.5;
    const double moved = next > *at ? next - *at : *at - next;
    if (g == 0.0 || !(h > 0.0)) break;
    *at = next;
    if (moved <= near) break;
  }
  return GBT_OK;
}

/* The range of all ranks' rows to *range, which is that of this rank's. *any: 0 when there are no rows at all. Of equal
 * ends the first rank's is taken, as of tasks the first one's: 0 and -0 are two numbers. */
static gbt_status range_of_ranks(gbt_ctx *ctx, const gbt_rows *rows, base_range *range, int *any,
                                 gbt_error *err) {
  enum { ROWS = 0, LOW, HIGH, N };
  gbt_status status = GBT_OK;
  int64_t mine[N] = {rows->n, 0, 0}, *all = NULL;
  *any = rows->n > 0;
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  if (*any) mine[LOW] = (int64_t)gbt_bits(range->low), mine[HIGH] = (int64_t)gbt_bits(range->high);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)gbt_comm_size(ctx), N * sizeof *all, &all, err), done);
  GBT_TRY_GOTO(gbt_comm_gather_i64(ctx, mine, N, all, err), done);
  *any = 0;
  for (const int64_t *its = all; its < all + N * gbt_comm_size(ctx); its += N) {
    const double low = gbt_from_bits((uint64_t)its[LOW]), high = gbt_from_bits((uint64_t)its[HIGH]);
    if (its[ROWS] == 0) continue;
    if (!*any || low < range->low) range->low = low;
    if (!*any || high > range->high) range->high = high;
    *any = 1;
  }
done:
  gbt_mem_free(&ctx->mem, all);
  return status;
}

static int is_residual(gbt_base_rule rule) {
  return rule == GBT_BASE_RESIDUAL_MEAN || rule == GBT_BASE_RESIDUAL_ROOT;
}

/* p has room for its sums. */
static gbt_status find_base(gbt_ctx *ctx, base_pass *p, int64_t n_tasks, double *out, gbt_error *err) {
  const gbt_objective *o = p->objective;
  const gbt_base_rule rule = gbt_objective_info_of(o->kind)->base;
  GBT_TRY(sum_rows(ctx, p, n_tasks, err));
  for (int64_t t = 1; t < n_tasks && is_residual(rule); t++) {
    if (p->range[t].low < p->range[0].low) p->range[0].low = p->range[t].low;
    if (p->range[t].high > p->range[0].high) p->range[0].high = p->range[t].high;
  }
  if (is_residual(rule)) {
    int any;
    GBT_TRY(range_of_ranks(ctx, p->rows, &p->range[0], &any, err));
    if (!any) return GBT_OK;
    out[0] = p->range[0].low;
    if (p->range[0].low == p->range[0].high) return GBT_OK;
  }
  const double first = gbt_exact_value(&p->bottom[0]);
  int some = rule != GBT_BASE_INTERVALS;
  for (int32_t k = 0; k < o->n_outputs; k++) {
    const double top = gbt_exact_value(&p->top[k]);
    const double bottom = rule == GBT_BASE_INTERVALS ? gbt_exact_value(&p->bottom[k]) : first;
    out[k] = header_base(o, bottom > 0.0 ? top / bottom : 0.0);
    some |= top > 0.0;
  }
  if (!some)
    return gbt_fail_on(err, GBT_E_DATA, "event",
                       "no row has an event in an interval of `breaks`, so there is nothing to learn; the last break "
                       "is %.15g: give larger ones",
                       o->breaks[o->n_outputs - 1]);
  return rule == GBT_BASE_RESIDUAL_ROOT && first > 0.0 ? find_root(ctx, p, n_tasks, out, err) : GBT_OK;
}

static gbt_status base_scores(gbt_ctx *ctx, const gbt_objective *o, const gbt_rows *rows, double *out,
                              gbt_error *err) {
  gbt_status status = GBT_OK;
  for (int32_t k = 0; k < o->n_outputs; k++) out[k] = 0.0;
  const gbt_base_rule rule = gbt_objective_info_of(o->kind)->base;
  if (rule == GBT_BASE_ZERO) return GBT_OK;
  if (rows->n == 0 && gbt_comm_is_single(ctx)) return GBT_OK;
  if (rule == GBT_BASE_DISTRIBUTION) return gbt_distribution_start(ctx, o, rows, out, err);
  if (rule == GBT_BASE_SCALE) return gbt_aft_start(ctx, o, rows, out, err);
  if (rule == GBT_BASE_RESIDUAL_QUANTILE) return gbt_renewal_base(ctx, o, rows, out, err);
  const int64_t n_tasks = rows->n > 0 ? (rows->n + BASE_ROWS - 1) / BASE_ROWS : 1;
  const size_t cells = (size_t)n_tasks * (size_t)o->n_outputs;
  base_pass p = {.objective = o, .rows = rows};
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, cells, sizeof *p.top, &p.top, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, cells, sizeof *p.bottom, &p.bottom, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_tasks, sizeof *p.range, &p.range, err), done);
  GBT_TRY_GOTO(find_base(ctx, &p, n_tasks, out, err), done);
done:
  gbt_mem_free(&ctx->mem, p.top);
  gbt_mem_free(&ctx->mem, p.bottom);
  gbt_mem_free(&ctx->mem, p.range);
  return status;
}

gbt_status gbt_base_scores(gbt_ctx *ctx, const gbt_objective *o, const gbt_rows *rows, double *out, gbt_error *err) {
  if (!gbt_has_columns(o)) return base_scores(ctx, o, rows, out, err);
  gbt_objective one = *o;
  one.n_outputs = 1;
  for (int32_t k = 0; k < o->n_outputs; k++) {
    const gbt_rows its = gbt_rows_of_output(rows, k);
    GBT_TRY(base_scores(ctx, &one, &its, &out[k], err));
  }
  return GBT_OK;
}
