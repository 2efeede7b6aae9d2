/* Rounds that change what those before them count (factors.h), on the backends:
 *
 *   begin_round   scores of the training set: shrunk, and without the trees that are dropped
 *                 gradients
 *   begin_valid   those of validation sets: the same
 *                 trees grow; their values are added to all scores
 *   end_round     what was dropped comes back, as it counts from now on
 *
 * Where rounds change nothing these functions do nothing. Validation sets wait for the gradients, which a host that
 * computes them may fail to give: until then they have the scores of the model. */
#ifndef GBT_BOOST_RESCALE_H
#define GBT_BOOST_RESCALE_H

#include "trainer.h"

gbt_status gbti_begin_round(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbti_begin_valid(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbti_end_round(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) GBT_MUST_CHECK;

/* What rounds count after a training was resumed. */
gbt_status gbti_resume_factors(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) GBT_MUST_CHECK;

/* Rounds of this training that the model has: up to the best one, where rounds behind it change the values of earlier
 * ones. */
int64_t gbti_model_rounds(const gbt_trainer *tr);

/* Scores of the data set of keep_best by the model, tree by tree in its order, to tr->kept. */
gbt_status gbti_score_model(gbt_ctx *ctx, gbt_trainer *tr, gbt_error *err) GBT_MUST_CHECK;

#endif
