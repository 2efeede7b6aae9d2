/* G(t-), the probability that a row is not censored before a time: the estimate of Kaplan and Meier (1958) of the time
 * of censoring, by row weights and in each stratum, from the rows of all ranks. At equal times events come before
 * censorings, so rows with an event at u are not at risk of being censored at u:
 *
 *   G falls by the factor 1 - (weight censored at u) / (weight of T >= u less that of events at u) at censorings u
 *
 * Sums of weights are sums of whole numbers. */
#ifndef GBT_JOINT_CENSOR_H
#define GBT_JOINT_CENSOR_H

#include "risk.h"

typedef struct gbt_censor {
  gbt_risk risk; /* its points are the times of censorings; none where no row is censored */
  double *after; /* n_points: G from that time on */
} gbt_censor;

/* rows: see gbt_risk_make, without entry times. Free with gbt_censor_free, also after a failure. Collective. */
gbt_status gbt_censor_make(gbt_ctx *ctx, const gbt_rows *rows, gbt_censor *out, gbt_error *err) GBT_MUST_CHECK;
void gbt_censor_free(gbt_censor *censor);

/* G(t-) in a stratum, by its place among those of all rows. */
double gbt_censor_before(const gbt_censor *censor, uint32_t stratum, double t);

#endif
