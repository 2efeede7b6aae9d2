/* A stage that grows the trees which the next one fits, by the same rows, bins and scores: the next one's scores are
 * copied to its backend when a round begins. */
#include "round.h"

static gbt_status gradients(gbt_ctx *ctx, gbti_stage *stage, gbti_stage *next, uint64_t round, gbt_error *err) {
  const double *score;
  GBT_TRY(next->be->ops->scores(ctx, next->be, 0, &score, err));
  GBT_TRY(stage->be->ops->set_scores(ctx, stage->be, 0, score, err));
  return gbti_plain_gradients(ctx, stage, next, round, err);
}

const gbti_stage_ops gbti_growing_stage = {
    .gradients = gradients, .trees = gbti_plain_trees, .has_outputs = 1, .close = gbti_plain_close};
