/* The scores that trees begin with. */
#ifndef GBT_OBJECTIVE_BASE_SCORE_H
#define GBT_OBJECTIVE_BASE_SCORE_H

#include "objective.h"

/* The constant scores (offset apart) that minimise the loss, or come near it where there is no closed form, by the
 * objective's base rule. Sums are weighted and exact. RESIDUAL rules: a constant label - offset is its own base score,
 * to the bit. out: n_outputs. Labels must have passed gbt_labels_check. Ranks: those of the rows of all.
 * Collective. */
gbt_status gbt_base_scores(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, double *out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
