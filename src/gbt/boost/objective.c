#include "objective.h"

#include "../base/exact_sum.h"

gbt_status gbt_labels_check(gbt_loss loss, int32_t n_outputs, const gbt_dataset *ds, const char *set,
                            gbt_error *err) {
  if (!ds->label)
    return loss == GBT_LOSS_CUSTOM ? GBT_OK : gbt_fail_on(err, GBT_E_DATA, "label", "the %s data have no label", set);
  for (int64_t i = 0; i < ds->n_rows; i++) {
    double y = ds->label[i];
    const char *want = NULL;
    if (loss == GBT_LOSS_LOGISTIC && !(y >= 0.0 && y <= 1.0)) want = "a number in [0, 1]";
    if (loss == GBT_LOSS_POISSON && !(y >= 0.0)) want = "0 or more";
    if (loss == GBT_LOSS_SOFTMAX && !(y >= 0.0 && y < n_outputs && y == (double)(int32_t)y))
      want = "a class number from 0 to the number of classes less one";
    if (want)
      return gbt_fail_on(err, GBT_E_DATA, "label", "label of row %lld of the %s data is %g; this objective needs %s",
                         (long long)i + 1, set, y, want);
  }
  return GBT_OK;
}

/* Exact weighted sums over all rows of a few numbers per row. */
typedef struct base_pass {
  gbt_loss loss;
  const gbt_dataset *ds;
  int32_t n_outputs;
  gbt_exact_sum *top, *bottom; /* per task x outputs: sum of w * value, sum of w * base */
} base_pass;

#define BASE_ROWS 65536

static void base_task(void *arg, int64_t task, int thread) {
  const base_pass *p = arg;
  const gbt_dataset *ds = p->ds;
  int64_t beg = task * BASE_ROWS, end = beg + BASE_ROWS < ds->n_rows ? beg + BASE_ROWS : ds->n_rows;
  gbt_exact_sum *top = p->top + task * p->n_outputs, *bottom = p->bottom + task * p->n_outputs;
  (void)thread;
  for (int32_t k = 0; k < p->n_outputs; k++) {
    gbt_exact_zero(&top[k]);
    gbt_exact_zero(&bottom[k]);
  }
  for (int64_t i = beg; i < end; i++) {
    double w = ds->weight ? ds->weight[i] : 1.0, y = ds->label[i], o = ds->offset ? ds->offset[i] : 0.0;
    switch (p->loss) {
    case GBT_LOSS_SQUARED:
      gbt_exact_add(&top[0], w * (y - o));
      gbt_exact_add(&bottom[0], w);
      break;
    case GBT_LOSS_POISSON:
      gbt_exact_add(&top[0], w * y);
      gbt_exact_add(&bottom[0], w * gbt_exp(o));
      break;
    case GBT_LOSS_SOFTMAX:
      gbt_exact_add(&top[(int32_t)y], w);
      gbt_exact_add(&bottom[0], w);
      break;
    default:
      gbt_exact_add(&top[0], w * y);
      gbt_exact_add(&bottom[0], w);
      break;
    }
  }
}

static double base_of(gbt_loss loss, double top, double bottom) {
  const double tiny = 1e-9;
  double mean = bottom > 0.0 ? top / bottom : 0.0;
  if (loss == GBT_LOSS_SQUARED) return mean;
  if (loss == GBT_LOSS_POISSON) return gbt_log(mean > tiny ? mean : tiny);
  mean = mean < tiny ? tiny : mean;
  if (loss == GBT_LOSS_SOFTMAX) return gbt_log(mean);
  mean = mean > 1.0 - tiny ? 1.0 - tiny : mean;
  return gbt_log(mean / (1.0 - mean));
}

/* The one value of y - offset, when there is only one. */
static int constant_response(const gbt_dataset *ds, double *value) {
  for (int64_t i = 0; i < ds->n_rows; i++) {
    double r = ds->label[i] - (ds->offset ? ds->offset[i] : 0.0);
    if (i == 0) *value = r;
    else if (r != *value) return 0;
  }
  return 1;
}

gbt_status gbt_base_scores(gbt_ctx *ctx, gbt_loss loss, int32_t n_outputs, const gbt_dataset *ds, double *out,
                           gbt_error *err) {
  gbt_status status = GBT_OK;
  for (int32_t k = 0; k < n_outputs; k++) out[k] = 0.0;
  if (loss == GBT_LOSS_CUSTOM || ds->n_rows == 0) return GBT_OK;
  if (loss == GBT_LOSS_SQUARED && constant_response(ds, out)) return GBT_OK;
  int64_t n_tasks = (ds->n_rows + BASE_ROWS - 1) / BASE_ROWS;
  size_t cells = (size_t)n_tasks * (size_t)n_outputs;
  base_pass p = {loss, ds, n_outputs, NULL, NULL};
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, cells, sizeof *p.top, &p.top, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, cells, sizeof *p.bottom, &p.bottom, err), done);
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks, base_task, &p, err), done);
  for (size_t c = (size_t)n_outputs; c < cells; c++) {
    if (c % 1024 == 0) GBT_TRY_GOTO(gbt_ctx_poll(ctx, err), done);
    gbt_exact_merge(&p.top[c % (size_t)n_outputs], &p.top[c]);
    gbt_exact_merge(&p.bottom[c % (size_t)n_outputs], &p.bottom[c]);
  }
  for (int32_t k = 0; k < n_outputs; k++)
    out[k] = base_of(loss, gbt_exact_value(&p.top[k]), gbt_exact_value(&p.bottom[0]));
done:
  gbt_mem_free(&ctx->mem, p.top);
  gbt_mem_free(&ctx->mem, p.bottom);
  return status;
}
