/* The baseline hazard of a model: jumps at the times of events, from the scores of the training rows. */
#include <string.h>

#include "../base/comm.h"
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

gbt_status gbti_find_hazards(gbt_ctx *ctx, gbt_trainer *tr, const double *score, gbt_hazards *out, gbt_error *err) {
  const gbt_cox *cox;
  GBT_TRY(gbt_joint_hazards(ctx, tr->round.joint, score, &cox, err));
  const gbt_risk *risk = &cox->risk;
  if (tr->hazard == NULL) GBT_TRY(gbt_mem_array(&tr->mem, risk->n_points, sizeof *tr->hazard, &tr->hazard, err));
  gbt_cox_baseline(cox, tr->hazard);
  *out = (gbt_hazards){risk->n_strata, risk->stratum, risk->start, risk->time, tr->hazard};
  return GBT_OK;
}

static gbt_status hazards(gbt_ctx *ctx, gbt_trainer *tr, const double *given, gbt_hazards *out, gbt_error *err) {
  const double *score = given != NULL ? given : tr->at_best;
  const int64_t best = tr->stopper.best_round;
  *out = (gbt_hazards){.n_strata = 0};
  if (!has_hazards(tr)) return GBT_OK;
  if (given == NULL && (best == 0 || best == tr->n_rounds)) GBT_TRY(tr->be->ops->scores(ctx, tr->be, 0, &score, err));
  if (score == NULL) return GBT_OK;
  return gbti_find_hazards(ctx, tr, score, out, err);
}

gbt_status gbt_trainer_hazards(gbt_ctx *ctx, gbt_trainer *tr, const double *given, gbt_hazards *out, gbt_error *err) {
  return gbt_comm_agree(ctx, hazards(ctx, tr, given, out, err), err);
}
