/* Discrete hazards. Time is cut at b_1 < .. < b_K into intervals (b_(k-1), b_k], b_0 = 0; output k is the log odds of
 * the hazard p_k: the probability that a row which is at risk at the beginning of interval k has its event in it. What
 * is known of a row in an interval is a label (Tutz & Schmid 2016, chapter 3):
 *
 *   1         its event is in the interval; an event at time 0 is in the first one
 *   0         it was under observation in at least half of the interval, and had no event in it
 *   unknown   else: it ended before, or came under observation (ENTRY) later; gradients are 0
 *
 * The loss of a row is the logistic loss of its known labels, which is minus the logarithm of its likelihood.
 * Probabilities to survive are products of 1 - p_k; within an interval the hazard is constant, so that the logarithm of
 * the curve is linear in time. */
#ifndef GBT_OBJECTIVE_HAZARD_H
#define GBT_OBJECTIVE_HAZARD_H

#include "formula.h"

enum { GBT_HAZARD_UNKNOWN = -1 };

/* The label of the interval (low, high]. */
GBT_FN int gbt_hazard_label(double time, int event, double entry, double low, double high) {
  const double from = entry > low ? entry : low, to = time < high ? time : high;
  if (event && time <= high) return time > low || low == 0.0 ? 1 : GBT_HAZARD_UNKNOWN;
  return to - from >= 0.5 * (high - low) ? 0 : GBT_HAZARD_UNKNOWN;
}

GBT_FN gbt_gh gbt_hazard_gradient(double s, int label) {
  gbt_gh r = {0.0, 0.0};
  if (label == GBT_HAZARD_UNKNOWN) return r;
  const double p = gbt_sigmoid(s);
  r.g = p - (double)label;
  r.h = p * (1.0 - p);
  return r;
}

/* label: known. */
GBT_FN double gbt_hazard_loss(double s, int label) { return label ? gbt_softplus(-s) : gbt_softplus(s); }

/* The cumulative hazard of an interval: -log(1 - p). */
GBT_FN double gbt_hazard_sum(double s) { return gbt_softplus(s); }

GBT_FN double gbt_hazard_response(double s, const double *param) {
  (void)param;
  return gbt_sigmoid(s);
}

/* The share of events among the known labels of an interval -> its score, as of logistic. Where no row had an event or
 * none was observed curves are flat. */
GBT_FN double gbt_hazard_base(double share) {
  share = share < 1e-9 ? 1e-9 : share;
  share = share > 1.0 - 1e-9 ? 1.0 - 1e-9 : share;
  return gbt_log(share / (1.0 - share));
}

#endif
