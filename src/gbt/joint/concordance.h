/* Concordance of survival data (Harrell's C): of pairs of rows whose order in time is known, the share in which the row
 * with the earlier event has the higher score; equal scores count half. In a pair row i has an event, and row j a later
 * time, or the same time and no event. Pairs are within strata; with entry times j has entered before the time of i. A
 * pair weighs the product of the weights of its rows.
 *
 * Uno et al. (2011): a pair weighs G(T_i-)^-2 times as much, G being the probability of not being censored
 * (timeline.h), and may be left out where T_i is late. So the mean over pairs does not depend on who is censored. */
#ifndef GBT_JOINT_CONCORDANCE_H
#define GBT_JOINT_CONCORDANCE_H

#include "timeline.h"

typedef struct gbt_concordance_of {
  int by_life;    /* higher scores are those of longer lives, not of higher risk */
  int censoring;  /* pairs weigh by G; without entry times */
  double horizon; /* only events before this time, by G; 0: all */
} gbt_concordance_of;

/* rows: with LABEL (the time) and what gbt_has_event() looks at; timeline: theirs, by strata. score: one for each.
 * *out: NaN when there is no pair. Memory: 28 bytes a row. */
gbt_status gbt_concordance(gbt_ctx *ctx, const gbt_concordance_of *of, const gbt_rows *rows,
                           const gbt_timeline *timeline, const double *score, double *out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
