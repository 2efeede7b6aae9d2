/* Weights of rows by their classes. */
#include "class_weight.h"

#include "../base/comm.h"
#include "../base/parallel.h"

enum { TASK_ROWS = 65536 };

typedef struct class_pass {
  const gbt_rows *rows;
  int32_t n_classes;
  gbt_exact_sum *total;       /* tasks x n_classes */
  const double *class_weight; /* n_classes */
  double *out;                /* rows */
} class_pass;

static int64_t task_end(const class_pass *p, int64_t task) {
  const int64_t end = (task + 1) * TASK_ROWS;
  return end < p->rows->n ? end : p->rows->n;
}

static void total_task(void *arg, int64_t task, int thread) {
  const class_pass *p = arg;
  gbt_exact_sum *total = p->total + task * p->n_classes;
  (void)thread;
  for (int32_t k = 0; k < p->n_classes; k++) gbt_exact_zero(&total[k]);
  for (int64_t i = task * TASK_ROWS; i < task_end(p, task); i++) {
    GBT_ASSERT(gbt_label_of(p->rows, i) >= 0.0 && gbt_label_of(p->rows, i) < (double)p->n_classes);
    gbt_exact_add(&total[(int32_t)gbt_label_of(p->rows, i)], gbt_weight_of(p->rows, i));
  }
}

static void weigh_task(void *arg, int64_t task, int thread) {
  const class_pass *p = arg;
  (void)thread;
  for (int64_t i = task * TASK_ROWS; i < task_end(p, task); i++)
    p->out[i] = gbt_weight_of(p->rows, i) * p->class_weight[(int32_t)gbt_label_of(p->rows, i)];
}

static int64_t n_tasks(const gbt_rows *rows) {
  return rows->n > 0 ? (rows->n + TASK_ROWS - 1) / TASK_ROWS : 1;
}

gbt_status gbt_class_balance(gbt_ctx *ctx, const gbt_rows *rows, int32_t n_classes, double *out,
                             gbt_error *err) {
  const size_t k = (size_t)n_classes, cells = (size_t)n_tasks(rows) * k;
  gbt_status status = GBT_OK;
  class_pass p = {.rows = rows, .n_classes = n_classes};
  double all = 0.0;
  GBT_ASSERT(n_classes >= 1);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, cells, sizeof *p.total, &p.total, err), done);
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks(rows), total_task, &p, err), done);
  for (size_t c = k; c < cells; c++) {
    if (c % 1024 == 0) GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
    gbt_exact_merge(&p.total[c % k], &p.total[c]);
  }
  GBT_TRY_GOTO(gbt_comm_sum_exact(ctx, p.total, k, err), done);
  for (size_t c = 0; c < k; c++) all += out[c] = gbt_exact_value(&p.total[c]);
  for (size_t c = 0; c < k; c++) {
    if (!(out[c] > 0.0)) {
      status = gbt_fail_on(err, GBT_E_DATA, "weights",
                           "all rows of class %d have weight 0, so classes cannot be "
                           "balanced",
                           (int)c + 1);
      goto done;
    }
    out[c] = all / ((double)n_classes * out[c]);
  }
done:
  gbt_mem_free(&ctx->mem, p.total);
  return gbt_comm_agree(ctx, status, err);
}

gbt_status gbt_class_weigh(gbt_ctx *ctx, const gbt_rows *rows, int32_t n_classes, const double *class_weight,
                           double *out, gbt_error *err) {
  class_pass p = {.rows = rows, .n_classes = n_classes, .class_weight = class_weight, .out = out};
  return gbt_parallel(ctx, n_tasks(rows), weigh_task, &p, err);
}

gbt_status gbt_class_rates_check(const gbt_objective *objective, const double *rate, int32_t n, gbt_error *err) {
  const gbt_label_rule labels = gbt_objective_info_of(objective->kind)->labels;
  const int32_t n_classes = labels == GBT_LABELS_BINARY ? 2 : labels == GBT_LABELS_CLASS ? objective->n_outputs : 0;
  double all = 0.0;
  if (n_classes == 0)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "subsample", "`subsample` by class needs an objective for classes");
  if (n != n_classes)
    return gbt_fail_on(err, GBT_E_ARG, "subsample", "`subsample` has %d shares for %d classes", (int)n, (int)n_classes);
  for (int32_t k = 0; k < n; k++) {
    if (!(rate[k] >= 0.0 && rate[k] <= 1.0))
      return gbt_fail_on(err, GBT_E_ARG, "subsample", "`subsample` of class %d is %g; it must be from 0 to 1",
                         (int)k + 1, rate[k]);
    all += rate[k];
  }
  if (!(all > 0.0))
    return gbt_fail_on(err, GBT_E_ARG, "subsample",
                       "`subsample` is 0 for all classes; at least one "
                       "must be larger");
  return GBT_OK;
}
