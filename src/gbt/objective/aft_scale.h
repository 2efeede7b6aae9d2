/* The scale of times and the score before the first tree, by sums of derivatives over all rows (aft.h). Sums are exact,
 * so they do not depend on threads or ranks. */
#ifndef GBT_OBJECTIVE_AFT_SCALE_H
#define GBT_OBJECTIVE_AFT_SCALE_H

#include "objective.h"

/* Whether the scale is to be estimated: the objective has none. */
int gbt_aft_estimates(const gbt_objective *objective);

/* GBT_E_ARG: a given scale is too small. */
gbt_status gbt_aft_check_scale(const gbt_objective *objective, gbt_error *err) GBT_MUST_CHECK;

/* GBT_E_DATA, by the row: a time above its upper bound, or 0 where the row is not left-censored. Labels have passed
 * gbt_labels_check. */
gbt_status gbt_aft_check_rows(gbt_ctx *ctx, const gbt_rows *rows, const char *data, gbt_error *err) GBT_MUST_CHECK;

/* GBT_E_DATA: all rows are censored on one side, so that no score is the best. Ranks: collective. */
gbt_status gbt_aft_check_ends(gbt_ctx *ctx, const gbt_rows *rows, gbt_error *err) GBT_MUST_CHECK;

/* The constant score, offset apart, that minimises the loss, together with the scale where that is estimated: steps of
 * Newton's method. Ranks: of the rows of all; collective. */
gbt_status gbt_aft_start(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, double *score,
                         gbt_error *err) GBT_MUST_CHECK;

/* Moves the scale, which is above 0, by at most so many steps towards the minimum at these scores, offset included.
 * Ranks: as above. */
gbt_status gbt_aft_scale_steps(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, const double *score,
                               int most, double *scale, gbt_error *err) GBT_MUST_CHECK;

#endif
