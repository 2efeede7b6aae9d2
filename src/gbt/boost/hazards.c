/* The baseline hazard of a model: jumps at the times of events, from the scores of the training rows. */
#include <string.h>

#include "../base/comm.h"
#include "../math/elementary.h"
#include "trainer.h"
#include "trainer_state.h"

static int has_hazards(const gbt_trainer *tr) {
  return gbt_objective_info_of(tr->objective.kind)->response == GBT_RESPONSE_HAZARD;
}

gbt_status gbti_keep_hazards(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) {
  const double *score;
  const size_t n = (size_t)tr->data[0]->rows.n;
  if (!has_hazards(tr)) return GBT_OK;
  GBT_TRY(tr->be->ops->scores(ctx, tr->be, 0, &score, err));
  if (tr->at_best == NULL) GBT_TRY(gbt_mem_array(&tr->mem, n + 1, sizeof *tr->at_best, &tr->at_best, err));
  if (n > 0) memcpy(tr->at_best, score, n * sizeof *score);
  return GBT_OK;
}

static gbt_status hazards(gbt_ctx *ctx, gbt_trainer *tr, const double *given, gbt_baseline *out, gbt_error *err) {
  const double *score = given != NULL ? given : tr->at_best;
  const int64_t best = tr->stopper.best_round;
  const gbt_cox *cox;
  *out = (gbt_baseline){.n = 0};
  if (!has_hazards(tr)) return GBT_OK;
  if (given == NULL && (best == 0 || best == tr->n_rounds)) GBT_TRY(tr->be->ops->scores(ctx, tr->be, 0, &score, err));
  if (score == NULL) return GBT_OK;
  GBT_TRY(gbt_joint_hazards(ctx, tr->round.joint, score, &cox, err));
  const gbt_risk *risk = &cox->risk;
  if (tr->hazard == NULL) GBT_TRY(gbt_mem_array(&tr->mem, risk->n_points, sizeof *tr->hazard, &tr->hazard, err));
  for (uint32_t s = 0; s < risk->n_strata; s++) {
    double sum = 0.0;
    for (uint32_t p = risk->start[s]; p < risk->start[s + 1]; p++) {
      sum += cox->a[p] * gbt_exp(-cox->top[s]);
      tr->hazard[p] = sum;
    }
  }
  *out = (gbt_baseline){.n = risk->n_points,
                        .n_strata = risk->n_strata,
                        .time = risk->time,
                        .hazard = tr->hazard,
                        .stratum = risk->stratum,
                        .start = risk->start};
  return GBT_OK;
}

gbt_status gbt_trainer_hazards(gbt_ctx *ctx, gbt_trainer *tr, const double *score, gbt_baseline *out, gbt_error *err) {
  return gbt_comm_agree(ctx, hazards(ctx, tr, score, out, err), err);
}
