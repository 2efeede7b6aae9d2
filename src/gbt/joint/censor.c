#include "censor.h"

#include "../base/comm.h"
#include "../math/whole.h"
#include "steps.h"

typedef struct sums {
  int64_t *open;     /* by slot, as in cox.h: weight of the rows that are at risk of the censorings before it */
  int64_t *censored; /* by point */
} sums;

static void add_rows(const gbt_risk *risk, const gbt_whole_scale scale, sums *s) {
  const gbt_rows *rows = &risk->rows;
  for (int64_t i = 0; i < rows->n; i++) {
    const int64_t w = (int64_t)gbt_whole_weight(gbt_weight_of(rows, i), scale);
    const int censored = gbt_risk_is_event(rows, i, GBT_RISK_CENSORED);
    const uint32_t of = risk->of[i];
    const uint32_t last = censored ? risk->last[i] : gbt_risk_points_before(risk, of, rows->field[GBT_LABEL][i]);
    s->open[last + of] += w;
    if (censored) s->censored[last - 1] += w;
  }
}

static void find_after(const sums *s, gbt_censor *censor) {
  const gbt_risk *risk = &censor->risk;
  for (uint32_t k = 0; k < risk->n_strata; k++) {
    int64_t open = 0;
    double g = 1.0;
    for (uint32_t p = risk->start[k]; p < risk->start[k + 1]; p++) open += s->open[p + 1 + k];
    for (uint32_t p = risk->start[k]; p < risk->start[k + 1]; p++) {
      GBT_ASSERT(open >= s->censored[p]);
      g = gbt_uncensored_after(g, open, s->censored[p]);
      censor->after[p] = g;
      open -= s->open[p + 1 + k];
    }
  }
}

static gbt_status fill(gbt_ctx *ctx, const gbt_rows *rows, sums *s, gbt_censor *censor, gbt_error *err) {
  gbt_risk *risk = &censor->risk;
  int64_t any = 0;
  for (int64_t i = 0; i < rows->n && !any; i++) any = gbt_risk_is_event(rows, i, GBT_RISK_CENSORED);
  GBT_TRY(gbt_comm_max_i64(ctx, &any, 1, err));
  if (!any) return GBT_OK;
  GBT_TRY(gbt_risk_make(ctx, rows, GBT_RISK_CENSORED, risk, err));
  const size_t n = risk->n_points, slots = n + risk->n_strata;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, slots, sizeof *s->open, &s->open, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, n, sizeof *s->censored, &s->censored, err));
  GBT_TRY(gbt_mem_array(&risk->mem, n, sizeof *censor->after, &censor->after, err));
  add_rows(risk, gbt_whole_scale_of(risk->most_weight, risk->all_rows), s);
  GBT_TRY(gbt_comm_sum_i64(ctx, s->open, slots, err));
  GBT_TRY(gbt_comm_sum_i64(ctx, s->censored, n, err));
  find_after(s, censor);
  return GBT_OK;
}

gbt_status gbt_censor_make(gbt_ctx *ctx, const gbt_rows *rows, gbt_censor *out, gbt_error *err) {
  sums s = {NULL, NULL};
  *out = (gbt_censor){.risk = {.mem = ctx->mem}};
  const gbt_status status = fill(ctx, rows, &s, out, err);
  gbt_mem_free(&ctx->mem, s.open);
  gbt_mem_free(&ctx->mem, s.censored);
  return status;
}

void gbt_censor_free(gbt_censor *censor) {
  gbt_mem_free(&censor->risk.mem, censor->after);
  censor->after = NULL;
  gbt_risk_free(&censor->risk);
}

double gbt_censor_before(const gbt_censor *censor, uint32_t stratum, double t) {
  if (censor->risk.n_points == 0) return 1.0;
  const uint32_t p = gbt_risk_points_before(&censor->risk, stratum, t);
  return p == censor->risk.start[stratum] ? 1.0 : censor->after[p - 1];
}
