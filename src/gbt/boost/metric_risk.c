/* Metrics of times with events: concordance, and Cox's partial likelihood (joint/).
 *
 * Ranks: concordance looks at all pairs of rows, so each rank gathers all of them. NaN where no row has an event. */
#include "../base/bits.h"
#include "../base/comm.h"
#include "../base/exact_sum.h"
#include "../joint/concordance.h"
#include "../joint/cox.h"
#include "../metric/terms.h"
#include "metric_rows.h"

enum { N_ARRAYS = GBT_N_FIELDS + 1, SCORE = GBT_N_FIELDS };

/* Which fields concordance looks at. */
static int is_read(int field) {
  return field == GBT_LABEL || field == GBT_EVENT || field == GBT_ENTRY || field == GBT_STRATUM || field == GBT_WEIGHT;
}

typedef struct all_rows {
  gbt_rows rows;
  double *array[N_ARRAYS]; /* owned */
} all_rows;

static gbt_status gather(gbt_ctx *ctx, const gbt_metric_rows *of, int64_t *count, size_t *bytes, all_rows *out,
                         gbt_error *err) {
  const int size = gbt_comm_size(ctx);
  GBT_TRY(gbt_comm_gather_i64(ctx, &of->of.n, 1, count, err));
  for (int r = 0; r < size; r++) {
    bytes[r] = (size_t)count[r] * sizeof(double);
    out->rows.n += count[r];
  }
  for (int k = 0; k < N_ARRAYS; k++) {
    const double *mine = k == SCORE ? of->score : is_read(k) ? of->of.field[k] : NULL;
    int64_t has = mine != NULL && of->of.n > 0;
    GBT_TRY(gbt_comm_max_i64(ctx, &has, 1, err));
    if (!has) continue;
    GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)out->rows.n, sizeof(double), &out->array[k], err));
    GBT_TRY(gbt_comm_gather(ctx, mine, bytes, out->array[k], err));
    if (k != SCORE) out->rows.field[k] = out->array[k];
  }
  if (out->rows.n > UINT32_MAX)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "eval_metric", "metric \"concordance\" takes up to 4,294,967,295 rows");
  return GBT_OK;
}

static gbt_status concordance(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  all_rows all = {.rows = {.n = 0}};
  int64_t *count = NULL;
  size_t *bytes = NULL;
  if (gbt_comm_is_single(ctx)) return gbt_concordance(ctx, &rows->of, rows->score, out, err);
  const size_t size = (size_t)gbt_comm_size(ctx);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, size, sizeof *count, &count, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, size, sizeof *bytes, &bytes, err), done);
  GBT_TRY_GOTO(gather(ctx, rows, count, bytes, &all, err), done);
  GBT_TRY_GOTO(gbt_concordance(ctx, &all.rows, all.array[SCORE], out, err), done);
done:
  for (int k = 0; k < N_ARRAYS; k++) gbt_mem_free(&ctx->mem, all.array[k]);
  gbt_mem_free(&ctx->mem, bytes);
  gbt_mem_free(&ctx->mem, count);
  return status;
}

static gbt_status cox_nloglik(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  gbt_cox cox;
  gbt_exact_sum events;
  double loss = 0.0;
  gbt_status status = gbt_cox_make(ctx, &rows->of, 0.0, rows->objective.param[0] != 0.0, &cox, err);
  GBT_ASSERT(rows->objective.kind == GBT_OBJ_COX);
  if (status == GBT_OK) status = gbt_cox_hazards(ctx, &cox, rows->score, err);
  if (status == GBT_OK) status = gbt_cox_loss(ctx, &cox, rows->score, &loss, err);
  gbt_exact_zero(&events);
  for (uint32_t p = 0; status == GBT_OK && p < cox.risk.n_points; p++) gbt_exact_add(&events, cox.risk.weight[p]);
  const double weight = gbt_exact_value(&events);
  *out = weight > 0.0 ? loss / weight : gbt_nan();
  gbt_cox_free(&cox);
  return status;
}

static gbt_status any_event(gbt_ctx *ctx, const gbt_rows *rows, int *any, gbt_error *err) {
  int64_t has = 0;
  for (int64_t i = 0; i < rows->n && !has; i++) has = gbt_risk_is_event(rows, i, 0.0);
  GBT_TRY(gbt_comm_max_i64(ctx, &has, 1, err));
  *any = has != 0;
  return GBT_OK;
}

gbt_status gbt_metric_risk_check(const gbt_metric *metric, const gbt_rows *rows, const char *data, gbt_error *err) {
  if (rows->field[GBT_EVENT] != NULL || rows->n == 0) return GBT_OK;
  return gbt_fail_on(err, GBT_E_DATA, "event",
                     "metric \"%s\" needs `event`, whether times are those of events, in the %s data",
                     gbt_metric_about(metric->kind)->name, data);
}

gbt_status gbt_metric_of_risk(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  int any;
  GBT_TRY(gbt_metric_risk_check(&rows->metric, &rows->of, "given", err));
  GBT_TRY(any_event(ctx, &rows->of, &any, err));
  *out = gbt_nan();
  if (!any) return GBT_OK;
  if (rows->metric.kind == GBT_METRIC_CONCORDANCE) return concordance(ctx, rows, out, err);
  GBT_ASSERT(rows->metric.kind == GBT_METRIC_COX_NLOGLIK);
  return cox_nloglik(ctx, rows, out, err);
}
