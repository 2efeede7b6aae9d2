/* Means, quantiles, probabilities and random draws of predicted distributions, from the raw scores of rows. */
#ifndef GBT_OBJECTIVE_DISTRIBUTION_ANSWERS_H
#define GBT_OBJECTIVE_DISTRIBUTION_ANSWERS_H

#include "objective.h"

/* Means; the quantiles of n_at probabilities `at`, in (0, 1); the probability of at most at[row]; n_at draws. */
typedef enum gbt_distribution_ask {
  GBT_ASK_MEAN,
  GBT_ASK_QUANTILE,
  GBT_ASK_BELOW,
  GBT_ASK_DRAW,
  GBT_N_ASKS
} gbt_distribution_ask;
const char *gbt_distribution_ask_name(int ask); /* "mean", "quantile", "below", "draw"; NULL: there is none */

/* score: n x 2; out: n, or n x n_at. Draws are quantiles of probabilities that are hashes of the seed, the draw and the
 * row, so they are the same everywhere. */
gbt_status gbt_distribution_answers(gbt_ctx *ctx, const gbt_objective *objective, gbt_distribution_ask ask, int64_t n,
                                    const double *score, int64_t n_at, const double *at, uint64_t seed, double *out,
                                    gbt_error *err) GBT_MUST_CHECK;

#endif
