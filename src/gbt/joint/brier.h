/* Metrics of survival curves S(t | score) against what happened to the rows, where times may be censored on the right.
 *
 *   Brier score at t (Graf et al. 1999; Gerds & Schumacher 2006): the weighted mean of
 *     S(t)^2 / G(T-) for rows with an event up to t,   (1 - S(t))^2 / G(t) for rows with a time above t,
 *     G the probability of not being censored, of all strata together (timeline.h)
 *   its integral over times by trapezoids, divided by their range
 *   D-calibration (Haider et al. 2020): S(T) of rows with an event is uniform where curves are right. Rows are counted
 *     in bins of equal width; a censored one, whose S at its event is anything up to v = S(T), is shared out over [0,
 *     v] */
#ifndef GBT_JOINT_BRIER_H
#define GBT_JOINT_BRIER_H

#include "../objective/objective.h"
#include "hazards.h"
#include "timeline.h"

/* Rows with their predictions. timeline: of the rows, pooled. Objectives of hazards need those of score 0; for others
 * curves follow from score, distribution and scale. */
typedef struct gbt_curves {
  const gbt_objective *objective;
  const gbt_hazards *hazards;
  const gbt_rows *rows;
  const gbt_timeline *timeline;
  const double *score;
} gbt_curves;

/* At a time, or, with time 0, integrated over 100 quantiles of the times of events: those up to the time by which at
 * most nine tenths of the weight of the rows have ended. NaN where no row has an event or a weight, and
 * where a row is of a stratum without hazards. */
gbt_status gbt_brier(gbt_ctx *ctx, const gbt_curves *curves, double time, double *out, gbt_error *err) GBT_MUST_CHECK;

/* The sum over bins of (seen - expected)^2 / expected. n_bins > 0. */
gbt_status gbt_d_calibration(gbt_ctx *ctx, const gbt_curves *curves, int32_t n_bins, double *out,
                             gbt_error *err) GBT_MUST_CHECK;

#endif
