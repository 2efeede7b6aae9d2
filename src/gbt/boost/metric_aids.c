/* Metrics of a training need these besides rows and scores: orders, made once for each data set that is evaluated, and,
 * where a metric looks at survival curves, the baseline hazard of each round. The risk sets of the training data are
 * those that its gradients are made with. */
#include "../base/comm.h"
#include "metric_rows.h"
#include "trainer_state.h"

static int any_of_form(const gbt_trainer *tr, gbt_metric_form form) {
  for (int32_t m = 0; m < tr->n_metrics; m++)
    if (gbt_metric_about(tr->metric[m].kind)->form == form) return 1;
  return 0;
}

static int any_of_kind(const gbt_trainer *tr, int32_t kind, int others) {
  for (int32_t m = 0; m < tr->n_metrics; m++)
    if ((tr->metric[m].kind == kind) != others && gbt_metric_about(tr->metric[m].kind)->form == GBT_FORM_RISK) return 1;
  return 0;
}

/* Ranks gather all rows for what a timeline serves, so they have none. */
static gbt_status make_risk(gbt_ctx *ctx, gbt_trainer *tr, int32_t which, gbt_error *err) {
  const gbt_rows *rows = &tr->data[which]->rows;
  gbti_risk_aids *aids = &tr->risk[which];
  int any;
  GBT_TRY(gbt_metric_any_event(ctx, rows, &any, err));
  if (!any) return GBT_OK;
  if (any_of_kind(tr, GBT_METRIC_COX_NLOGLIK, 1) && gbt_comm_is_single(ctx)) {
    aids->has_timeline = 1;
    GBT_TRY(gbt_timeline_make(ctx, rows, 0, &aids->timeline, err));
  }
  if (which == 0 || !any_of_kind(tr, GBT_METRIC_COX_NLOGLIK, 0)) return GBT_OK;
  aids->has_cox = 1;
  return gbt_cox_make_for(ctx, &tr->objective, rows, &aids->cox, err);
}

gbt_status gbti_make_aids(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  const int by_query = any_of_form(tr, GBT_FORM_QUERY), by_time = any_of_form(tr, GBT_FORM_RISK);
  for (int32_t s = tr->eval_train ? 0 : 1; s <= tr->n_valid; s++) {
    if (by_query) GBT_TRY(gbt_queries_make(ctx, &tr->data[s]->rows, &tr->queries[s], err));
    if (by_time) GBT_TRY(make_risk(ctx, tr, s, err));
  }
  return GBT_OK;
}

void gbti_free_aids(gbt_trainer *tr) {
  for (int32_t s = 0; s <= GBT_MAX_VALID; s++) {
    if (tr->queries[s].row != NULL) gbt_queries_free(&tr->queries[s]);
    if (tr->risk[s].has_timeline) gbt_timeline_free(&tr->risk[s].timeline);
    if (tr->risk[s].has_cox) gbt_cox_free(&tr->risk[s].cox);
  }
}

gbt_status gbti_update_aids(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  const double *score;
  int needed = 0;
  for (int32_t m = 0; m < tr->n_metrics; m++) needed |= gbt_metric_needs_hazards(&tr->metric[m], &tr->objective);
  if (!needed) return GBT_OK;
  GBT_TRY(tr->be->ops->scores(ctx, tr->be, 0, &score, err));
  return gbti_find_hazards(ctx, tr, score, &tr->hazards, err);
}

gbt_metric_aids gbti_aids_of(gbt_trainer *tr, int32_t which) {
  gbti_risk_aids *risk = &tr->risk[which];
  gbt_cox *cox = which == 0 ? gbt_joint_risk(tr->round.joint) : risk->has_cox ? &risk->cox : NULL;
  return (gbt_metric_aids){.queries = tr->queries[which].start != NULL ? &tr->queries[which] : NULL,
                           .timeline = risk->has_timeline ? &risk->timeline : NULL,
                           .cox = cox,
                           .hazards = tr->hazards.n_strata > 0 ? &tr->hazards : NULL};
}
