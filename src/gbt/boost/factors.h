/* What the trees of a round count in the model. Rounds may change what those before them count:
 *
 *   model_shrink_rate   before a round, all so far are multiplied by 1 - rate * eta, or 1 - rate / rounds so far
 *   dart                rounds that were dropped while a round grew count less afterwards, and so does the round itself
 *   tail_rounds         the model is the mean of those after each of the last rounds
 *
 *   forest     values as they were when the round ended (the trainer's; the scores of training have these times `of`)
 *   of         by round: what its values are multiplied by since
 *   model      values * of; with tail_rounds times the mean that `of` had at the ends of the last rounds, 0 before the
 *              round was grown
 *
 * All of it follows from the parameters and the number of rounds. So checkpoints keep none of it, and what rounds
 * counted at an earlier one (the best) is found by going through the rounds again: n^2 / 2 hashes with dart.
 *
 * Rounds that are dropped are drawn by the hash of (seed, round); those of the initial model never are, as their splits
 * need not be cuts of these data. */
#ifndef GBT_BOOST_FACTORS_H
#define GBT_BOOST_FACTORS_H

#include "../base/ctx.h"
#include "../params.h"

struct gbt_trainer;

typedef struct gbti_factors {
  double *of; /* by round of this training; owned */
  size_t cap_of;
  double init;  /* of the trees of the initial model */
  double entry; /* what the shrinkage of the last round was multiplied by */
} gbti_factors;

/* Before the first round. */
void gbti_factors_start(gbti_factors *factors);

/* What a round does to those before it, and to itself. */
typedef struct gbti_round_plan {
  double shrink;  /* all so far are multiplied by it before the round */
  int64_t *drop;  /* n_drop rounds of this training, ascending; owned */
  int64_t n_drop;
  size_t cap_drop, cap_hash;
  uint32_t *hash; /* of them; owned */
  double dropped; /* what they are multiplied by behind the round */
  double entry;   /* what the shrinkage of the round itself is multiplied by; 1 unless some are dropped */
} gbti_round_plan;

/* Whether the model is anything but the sum of the trees as they were grown. */
int gbti_rescales(const gbt_params *params);

/* What round `round` of this training, from 0, does. The plan's arrays are used again: all 0 before the first call. */
gbt_status gbti_plan_round(const struct gbt_trainer *tr, int64_t round, gbti_round_plan *plan,
                           gbt_error *err) GBT_MUST_CHECK;
void gbti_round_plan_free(const gbt_mem *mem, gbti_round_plan *plan);

/* Room for a round; then the round, which does not fail. */
gbt_status gbti_factors_reserve(const gbt_mem *mem, gbti_factors *factors, int64_t round,
                                gbt_error *err) GBT_MUST_CHECK;
void gbti_factors_step(gbti_factors *factors, int64_t round, const gbti_round_plan *plan);
void gbti_factors_free(const gbt_mem *mem, gbti_factors *factors);

/* From the first round on: what rounds count behind n_rounds of them. Polls. out: all 0, or of fewer rounds; free it
 * also after a failure. */
gbt_status gbti_factors_at(gbt_ctx *ctx, const struct gbt_trainer *tr, int64_t n_rounds, gbti_factors *out,
                           gbt_error *err) GBT_MUST_CHECK;

/* The same for the model of these rounds: with tail_rounds means. */
gbt_status gbti_factors_of_model(gbt_ctx *ctx, const struct gbt_trainer *tr, int64_t n_rounds, gbti_factors *out,
                                 gbt_error *err) GBT_MUST_CHECK;

#endif
