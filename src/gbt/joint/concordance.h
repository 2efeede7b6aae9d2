/* Concordance of survival data (Harrell's C): of pairs of rows whose order in time is known, the share in which the row
 * with the earlier event has the higher score; equal scores count half. In a pair row i has an event, and row j a later
 * time, or the same time and no event. Pairs are within strata; with entry times j has entered before the time of i. A
 * pair weighs the product of the weights of its rows. */
#ifndef GBT_JOINT_CONCORDANCE_H
#define GBT_JOINT_CONCORDANCE_H

#include "../base/ctx.h"
#include "../base/rows.h"

/* rows: with LABEL (the time) and EVENT, see risk.h; below 2^32 of them. score: one for each. *out: NaN when there is
 * no pair. Memory: 36 bytes a row, 4 more with entry times. */
gbt_status gbt_concordance(gbt_ctx *ctx, const gbt_rows *rows, const double *score, double *out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
