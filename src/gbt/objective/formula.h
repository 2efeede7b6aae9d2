/* Shared by the formula headers of this folder.
 *
 * An objective whose gradient needs only one row at a time (gradient kind ROW in objectives.def) has a header with
 * these functions, NAME being its name in the table and `param` the parameters of its row there, in their order:
 *
 *   gbt_gh gbt_NAME_gradient(s, y, param)     derivatives of the loss in the score s of a row with label y
 *   double gbt_NAME_response(s, param)        the score as users see it
 *   gbt_base_terms gbt_NAME_base_terms(y, offset, param)   with base rule MEAN: what a row adds to the two sums,
 *   double gbt_NAME_base(mean, param)                      and the score that their quotient means
 *   double gbt_NAME_level(param)              with leaves QUANTILE: the quantile's level, and by what a row's weight is
 *   double gbt_NAME_row_weight(y)             multiplied
 *
 * All of them are compiled for every device, so they use only + - * / and math/elementary.h. The callers multiply the
 * results by weights. `param` does not change within a loop over rows: compilers hoist what is computed only from
 * it. */
#ifndef GBT_OBJECTIVE_FORMULA_H
#define GBT_OBJECTIVE_FORMULA_H

#include "../math/elementary.h"

/* g = dL/ds and h: d2L/ds2, or a bound of it where a header says so. h >= 0. */
typedef struct gbt_gh {
  double g, h;
} gbt_gh;

/* A row's terms of the two sums whose quotient is a mean. */
typedef struct gbt_base_terms {
  double top, bottom;
} gbt_base_terms;

#endif
