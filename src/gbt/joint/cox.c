/* Cox's partial likelihood: memory, the loss and the baseline; rounds are in cox_round.c. */
#include "cox.h"

#include "../base/comm.h"
#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../math/elementary.h"
#include "../math/fixed.h"

enum { POLL_ROWS = 1 << 14, BITS = 126 };

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

/* Places of rows in by_last, by the slot of `first`. */
static gbt_status order_entries(gbt_ctx *ctx, gbt_cox *cox, gbt_error *err) {
  const size_t n = (size_t)cox->risk.rows.n;
  uint32_t *place;
  GBT_TRY(gbt_mem_array(&cox->mem, cox->n_slots, sizeof *cox->at_first, &cox->at_first, err));
  GBT_TRY(order_by(cox, cox->risk.first, &cox->by_first, &cox->beg_first, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *place, &place, err));
  for (size_t i = 0; i < n; i++) place[cox->by_last[i]] = (uint32_t)i;
  for (size_t i = 0; i < n; i++) cox->by_first[i] = place[cox->by_first[i]];
  gbt_mem_free(&ctx->mem, place);
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
  GBT_TRY(gbt_mem_array(mem, n, sizeof *cox->relative, &cox->relative, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *cox->is_event, &cox->is_event, err));
  GBT_TRY(gbt_mem_array(mem, risk->n_strata, sizeof *cox->top, &cox->top, err));
  GBT_TRY(gbt_mem_array(mem, slots, sizeof *cox->at_last, &cox->at_last, err));
  GBT_TRY(gbt_mem_array(mem, slots, sizeof *cox->at_event, &cox->at_event, err));
  GBT_TRY(gbt_mem_array(mem, points, sizeof *cox->S, &cox->S, err));
  GBT_TRY(gbt_mem_array(mem, points, sizeof *cox->S_E, &cox->S_E, err));
  GBT_TRY(gbt_mem_array(mem, points, sizeof *cox->a, &cox->a, err));
  GBT_TRY(gbt_mem_array(mem, points, sizeof *cox->c, &cox->c, err));
  GBT_TRY(gbt_mem_array(mem, points + 1, sizeof *cox->sum_a, &cox->sum_a, err));
  GBT_TRY(gbt_mem_array(mem, 2 * slots, sizeof *cox->A, &cox->A, err));
  GBT_TRY(order_by(cox, risk->last, &cox->by_last, &cox->beg_last, err));
  for (size_t i = 0; i < n; i++) cox->is_event[i] = (uint8_t)gbt_risk_is_event(rows, cox->by_last[i], cox->cause);
  return risk->first != NULL ? order_entries(ctx, cox, err) : GBT_OK;
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
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "entry", "the objective \"fine_gray\" does not support entry times");
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
  void *blocks[] = {cox->relative, cox->is_event, cox->top,        cox->A,         cox->by_last,
                    cox->beg_last, cox->by_first, cox->beg_first,  cox->at_last,   cox->at_first,
                    cox->at_event, cox->S,        cox->S_E,        cox->a,         cox->c,
                    cox->sum_a,    cox->beyond,   cox->uncensored, cox->at_beyond, cox->sum_ga};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&cox->mem, blocks[i]);
  gbt_risk_free(&cox->risk);
  *cox = (gbt_cox){.mem = cox->mem, .risk = {.mem = cox->mem}};
}

/* ---- after a round ---- */

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
    if (i % POLL_ROWS == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    if (gbt_risk_is_event(&risk->rows, i, cox->cause))
      gbt_exact_add(&sum, gbt_weight_of(&risk->rows, i) * (cox->top[risk->of[i]] - score[i]));
  }
  GBT_TRY(gbt_comm_sum_exact(ctx, &sum, 1, err));
  for (uint32_t p = 0; p < risk->n_points; p++) gbt_exact_add(&sum, point_loss(cox, p));
  *out = gbt_exact_value(&sum);
  return GBT_OK;
}
