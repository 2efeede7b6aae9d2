/* What a loss asks of labels, and the scores it starts from. */
#ifndef GBT_BOOST_OBJECTIVE_H
#define GBT_BOOST_OBJECTIVE_H

#include "../base/ctx.h"
#include "../data/dataset.h"
#include "../math/loss.h"

/* Labels in the loss's range: logistic [0, 1]; softmax whole numbers 0 .. n_outputs-1; poisson >= 0. GBT_E_DATA names
 * the set ("train", "valid 1") and the first 1-based row. */
gbt_status gbt_labels_check(gbt_loss loss, int32_t n_outputs, const gbt_dataset *ds, const char *set,
                            gbt_error *err) GBT_MUST_CHECK;

/* The constant scores (offset apart) that minimise the loss to first order: squared: mean of y - offset; logistic:
 * logit of the mean; softmax: log of the class shares; poisson: log(sum y / sum exp(offset)); custom: 0. Means are
 * weighted and by exact sums. Shares are kept 1e-9 away from 0 and 1. A constant response gives exactly that constant
 * for squared loss. out: n_outputs. */
gbt_status gbt_base_scores(gbt_ctx *ctx, gbt_loss loss, int32_t n_outputs, const gbt_dataset *ds, double *out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
