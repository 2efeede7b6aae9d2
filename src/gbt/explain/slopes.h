/* Contributions of linear leaves. A leaf's value is its constant, which the rest of explain/ shares out, and what its
 * slopes add to that. Where all of a row's numbers are known the latter is the leaf's value less the constant. Where
 * some are not, the others take their place:
 *
 *   by cover          the means of the rows that the leaf was fitted to (gbt_linear_mean). With none known the leaf has
 *                     its constant, which is its value at the means
 *   by a background   the numbers of a row of the background, on average over these
 *
 * Leaves of numbers have no means, so there is a background: slopes_numbers.c has what they add.
 *
 * A number that is missing, known or of the background, makes the leaf its constant, as in prediction. This is times
 * the product over the players on the way that step.h has, where players that the leaf is linear in have a say in both.
 * A sum over all sets of these players (2^GBT_LINEAR_MOST at most) is part of each point of the quadrature; against a
 * row of the background, the weights are those of shares.h. */
#ifndef GBT_EXPLAIN_SLOPES_H
#define GBT_EXPLAIN_SLOPES_H

#include "explain_impl.h"

/* Adds those of all trees to the rows' numbers; by the threads of the call. Interactions: as gbti_explain_rows() has
 * them. */
gbt_status gbti_explain_slopes(gbti_explain_run *run, gbt_error *err) GBT_MUST_CHECK;

#endif
