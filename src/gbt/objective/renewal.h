/* Leaves whose best value is an order statistic (leaves QUANTILE in objectives.def; Friedman 2001, section 4.3). Once a
 * tree is grown from gradients, a leaf's value is the weighted quantile of the residuals label - score of its training
 * rows that the tree was grown from, with scores as they were when the round began.
 *
 * The weighted quantile of level a is the least residual r for which the rows with residuals up to r weigh
 *
 *   gbt_renewal_target(a, W) = a W, as a product of doubles, rounded up, at least 1
 *
 * or more, W being what all of them weigh; nothing is interpolated. Weights are whole numbers (math/whole.h): those of
 * the rows, times what the objective's header says (row_weight). 0 and -0 are one residual, 0. Leaves whose rows weigh
 * nothing get 0. lambda and alpha do not enter; max_delta_step limits the value, monotone constraints bound it
 * (tree/grow_node.h); shrinkage multiplies it.
 *
 * Residuals are keys that order like them (gbt_order_key). A key is found digit by digit from the highest on: the
 * rows that agree with what is known of it are weighed by their next digit. All is addition of whole numbers, so no
 * order of rows, threads, blocks or ranks shows. */
#ifndef GBT_OBJECTIVE_RENEWAL_H
#define GBT_OBJECTIVE_RENEWAL_H

#include "../math/whole.h"
#include "objective.h"

GBT_FN uint64_t gbt_renewal_target(double level, uint64_t total) {
  if (total == 0) return 0;
  const double goal = level * (double)total; /* below 2^62 */
  uint64_t whole = (uint64_t)goal;
  whole += (double)whole < goal;
  return whole < 1 ? 1 : whole > total ? total : whole;
}

/* The state of the search of a quantile. */
typedef struct gbt_pick {
  uint64_t key;  /* its digits so far, in the lowest bits */
  uint64_t left; /* goal less the weight of all rows below these digits; 0: no row weighs anything */
} gbt_pick;

/* One digit more, of `bits` bits: weight[0 .. 2^bits) of the rows that agree so far. first: the highest digit, whose
 * weights are those of all rows. */
GBT_FN void gbt_pick_digit(gbt_pick *pick, const uint64_t *weight, int bits, int first, double level) {
  const uint64_t n = (uint64_t)1 << bits;
  uint64_t digit = 0, total = 0;
  if (first) {
    for (uint64_t i = 0; i < n; i++) total += weight[i];
    pick->key = 0;
    pick->left = gbt_renewal_target(level, total);
  }
  if (pick->left == 0) return;
  while (digit + 1 < n && weight[digit] < pick->left) pick->left -= weight[digit++];
  pick->key = pick->key << bits | digit;
}

/* Of a complete pick: the leaf's value before shrinkage. max_delta_step: 0 for none. */
GBT_FN double gbt_pick_value(const gbt_pick *pick, double max_delta_step) {
  double x = pick->left ? gbt_order_value(pick->key) : 0.0;
  if (max_delta_step > 0.0) x = x > max_delta_step ? max_delta_step : x < -max_delta_step ? -max_delta_step : x;
  return x;
}

/* ---- on the host ---- */

static inline int gbt_renews(const gbt_objective *o) {
  switch (gbt_objective_info_of(o->kind)->leaves) {
  case GBT_LEAVES_QUANTILE:
    return 1;
  case GBT_LEAVES_NEWTON:
    break;
  }
  return 0;
}

/* The level of an objective of one output that renews leaves, see gbt_objective_of_output(). */
double gbt_renewal_level(const gbt_objective *objective);

/* Whole weights of this rank's rows to *out, which the caller frees with ctx's memory; NULL: all rows of all ranks
 * weigh 1. One scale serves all ranks. For an objective that renews leaves. Collective. */
gbt_status gbt_renewal_weights(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows,
                               uint64_t **out, gbt_error *err) GBT_MUST_CHECK;

/* The weighted quantile of label - offset of the rows of all ranks, for each output; 0 when they weigh nothing.
 * Collective. */
gbt_status gbt_renewal_base(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, double *out,
                            gbt_error *err) GBT_MUST_CHECK;

#endif
