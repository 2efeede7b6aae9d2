/* Conditions on a node's candidates, and the order of levels: the arithmetic of the search that is not a gain. The same
 * source text for all backends. */
#ifndef GBT_TREE_SEARCH_H
#define GBT_TREE_SEARCH_H

#include "grow_node.h"

/* A node whose splits are to be rated. */
GBT_FN gbt_rated gbt_rated_of(const gbt_grow_node *node, gbt_units unit, gbt_reg reg, double min_weight,
                              int constrained) {
  gbt_rated rated;
  rated.G = (double)node->sum.g * unit.g;
  rated.H = (double)node->sum.h * unit.h;
  rated.bounds = node->bounds;
  rated.constrained = constrained;
  rated.min_weight = min_weight;
  rated.parent = gbt_rate_node(rated.G, rated.H, reg, node->bounds, constrained);
  return rated;
}

/* The bound that a gain must exceed: gamma, and possible rounding. */
GBT_FN double gbt_least_gain(double gamma, double floor) { return gamma > floor ? gamma : floor; }

/* The split of a node that is there, by the node's own sums: what it gains, and whether the node is kept, as growth
 * says of the split of a layer. A set of levels was not searched for here and has no further penalty.
 * Units of p are those of the sums; constrained: weights are clipped. */
GBT_FN void gbt_rate_existing_split(const gbt_grow_policy *p, int constrained, gbt_grow_node *node,
                                    const gbt_grow_node *left, const gbt_grow_node *right) {
  const gbt_rated rated = gbt_rated_of(node, p->unit, p->reg, p->min_child_weight, constrained);
  const int enough = gbt_grow_rows(left) >= p->min_rows && gbt_grow_rows(right) >= p->min_rows;
  const double gain = gbt_rate_split(&rated, (double)left->sum.g * p->unit.g, (double)left->sum.h * p->unit.h, p->reg,
                                     gbt_grow_sign(p, node));
  node->split.left = left->sum;
  node->split.gain = enough && gain > gbt_noise_floor(p->unit, gbt_grow_rows(node), rated.H) ? gain : 0.0;
  node->kept = node->split.gain == 0.0;
}

/* ---- sets of levels ---- */

/* Whether a level takes part in the order. */
GBT_FN int gbt_level_is_ordered(uint32_t count, double smooth) { return count != 0 && !((double)count < smooth); }

/* By which levels are ordered: the smoothed mean gradient; 0 when nothing weighs. Never NaN. */
GBT_FN double gbt_level_ratio(gbt_sum sum, gbt_units unit, double smooth) {
  double h = (double)sum.h * unit.h + smooth;
  return h > 0.0 ? (double)sum.g * unit.g / h : 0.0;
}

/* The most levels of a set, n being in order. */
GBT_FN int32_t gbt_set_most(const gbt_params *params, int32_t n) {
  int32_t half = (n + 1) / 2;
  return params->max_cat_threshold < half ? (int32_t)params->max_cat_threshold : half;
}

GBT_FN gbt_reg gbt_set_reg(gbt_reg reg, const gbt_params *params) {
  reg.lambda += params->cat_l2;
  return reg;
}

/* The amount subtracted from the gain of k of n levels. noise: of the gradients, see gbt_noise. */
GBT_FN double gbt_set_cost(const gbt_params *params, double noise, int32_t k, int32_t n) {
  return params->cat_noise * noise * gbt_set_noise(k, n);
}

#endif
