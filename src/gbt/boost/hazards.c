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

static gbt_status hazards(gbt_ctx *ctx, gbt_trainer *tr, gbt_baseline *out, gbt_error *err) {
  const double *score = tr->at_best;
  const int64_t best = tr->stopper.best_round;
  const gbt_cox *cox;
  double sum = 0.0;
  *out = (gbt_baseline){.n = 0};
  if (!has_hazards(tr)) return GBT_OK;
  if (best == 0 || best == tr->n_rounds) GBT_TRY(tr->be->ops->scores(ctx, tr->be, 0, &score, err));
  if (score == NULL) return GBT_OK;
  GBT_TRY(gbt_joint_hazards(ctx, tr->round.joint, score, &cox, err));
  if (cox->risk.n_strata != 1) return GBT_OK;
  const uint32_t n = cox->risk.n_points;
  if (tr->hazard == NULL) GBT_TRY(gbt_mem_array(&tr->mem, n, sizeof *tr->hazard, &tr->hazard, err));
  for (uint32_t p = 0; p < n; p++) {
    sum += cox->a[p] * gbt_exp(-cox->top[0]);
    tr->hazard[p] = sum;
  }
  *out = (gbt_baseline){n, cox->risk.time, tr->hazard};
  return GBT_OK;
}

gbt_status gbt_trainer_hazards(gbt_ctx *ctx, gbt_trainer *tr, gbt_baseline *out, gbt_error *err) {
  return gbt_comm_agree(ctx, hazards(ctx, tr, out, err), err);
}
