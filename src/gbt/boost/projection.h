/* Gradients of all columns of a response, or of several levels, as one number a row, from which the splits of a round
 * are found that all of them share (shared_splits.h):
 *
 *   g = sum of r_k w_k g_k / s_k       r_k: 1 or -1, by the hash of the round and the column
 *   h = mean of w_k h_k                s_k: the size of the gradients of column k; w_k: weight of the row's cell
 *
 * The mean of (sum of g)^2 over r is the sum over columns of (sum of g_k / s_k)^2, so gains are unbiased (Iosipov and
 * Vakhrushev 2022, "SketchBoost: fast gradient boosted decision tree for multioutput problems", random projections). As
 * to h: a step of t s_k r_k in every score changes the loss, in units of s_k^2, by t g + t^2 / 2 sum of h_k.
 *
 * Gains add up squares, so without s_k the column with the largest numbers would decide all splits. It is the root of
 * the mean square of the gradients at the base score, rounded down to a power of two, so that nothing else rounds: a
 * column times 1024 has the same splits.
 *
 * Levels are in order, and gradients of neighbours are much alike: random signs would cancel what they have in common.
 * Their r is -1 below a place, which is drawn, and 1 from it on: place 0 moves all scores, others move them apart. */
#ifndef GBT_BOOST_PROJECTION_H
#define GBT_BOOST_PROJECTION_H

#include "../base/ctx.h"
#include "../objective/objective.h"

/* s of every column, from the rows of all ranks. base: a score for each, to which offsets are added. Collective. */
gbt_status gbti_column_sizes(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, const double *base,
                             double *size, gbt_error *err) GBT_MUST_CHECK;

/* r / s of a round: K numbers, of columns and of levels. */
void gbti_projection_direction(uint64_t seed, uint64_t round, int32_t K, const double *size, double *u);
void gbti_levels_direction(uint64_t seed, uint64_t round, int32_t K, const double *size, double *u);

/* g and h of every row, weights in. score: rows x K, column by column. */
gbt_status gbti_project_columns(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, const double *u,
                                const double *score, double *g, double *h, gbt_error *err) GBT_MUST_CHECK;

#endif
