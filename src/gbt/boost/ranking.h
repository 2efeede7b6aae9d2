/* The area under the ROC curve: the one metric that needs an order of the rows. */
#ifndef GBT_BOOST_RANKING_H
#define GBT_BOOST_RANKING_H

#include "../base/ctx.h"

/* The share of (positive, negative) pairs, by product of weights, in which the positive row has the larger score; ties
 * count half. label > 0.5 is positive; weight may be NULL. *out is NaN when a class has no weight or a score is NaN.
 * Takes 24 bytes a row for the time of the call. */
gbt_status gbt_auc(gbt_ctx *ctx, int64_t n, const double *score, const double *label, const double *weight, double *out,
                   gbt_error *err) GBT_MUST_CHECK;

#endif
