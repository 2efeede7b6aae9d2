/* Further Newton steps for the values of a grown tree (leaf_iterations; CatBoost has leaf_estimation_iterations).
 *
 * A node's first step is the best weight for the sums of gradients at the scores of the round's start (math/gain.h). A
 * pass over the node's rows of the tree then adds up gradients at score + value, and the value becomes what minimises
 *
 *   G (u - value) + H / 2 (u - value)^2 + lambda / 2 u^2 + alpha |u|
 *
 * which is gbt_weight(G - H value, H): lambda and alpha pull the whole value, limits and bounds hold for it. Values are
 * those before shrinkage.
 *
 * Backtracking needs no pass over the loss. Losses are convex in the score, so the sign of the slope at a value,
 * G + lambda value + alpha sign(value), says on which side of it the minimum lies. Every pass gives that sign for free:
 * a value whose slope shows that it went too far bounds all values to come, as 0 does from the beginning. A step goes
 * at most half the way to such a bound; where there is none it at most doubles the value, so that the last one, which
 * no pass looks at any more, cannot be extreme where hessians have vanished.
 *
 * A pass goes over the rows twice: the node's largest |g| and h give its scale, as in math/fixed.h, then 32-bit
 * gradients are added in 64 bits. Both are exact in any order. */
#ifndef GBT_TREE_LEAF_STEP_H
#define GBT_TREE_LEAF_STEP_H

#include "../math/fixed.h"
#include "../math/gain.h"
#include "grow_node.h"

/* Sums of a node's rows, or of some of them. */
typedef struct gbt_step_sums {
  uint64_t max_g, max_h; /* bits of the largest |g| and h */
  gbt_sum sum;           /* by the scale of the node's maxima */
} gbt_step_sums;

typedef struct gbt_leaf_step {
  double value;     /* that the next pass looks at */
  double low, high; /* the minimum lies between them, as far as passes have shown */
  gbt_step_sums at; /* of the pass; all 0 before it */
  int32_t going;    /* whether the value has moved since the last pass */
  int32_t unused;
} gbt_leaf_step;

GBT_FN gbt_step_sums gbt_step_none(void) {
  gbt_step_sums none = {0, 0, {0, 0}};
  return none;
}

/* first: the value of the first step. */
GBT_FN gbt_leaf_step gbt_leaf_step_begin(double first) {
  gbt_leaf_step s;
  s.value = first;
  s.low = first > 0.0 ? 0.0 : -GBT_GROW_INFINITY;
  s.high = first < 0.0 ? 0.0 : GBT_GROW_INFINITY;
  s.at = gbt_step_none();
  s.going = first != 0.0; /* at 0 the penalties hold it, or there is no information */
  s.unused = 0;
  return s;
}

/* Whether gradients at the value can be scaled. */
GBT_FN int gbt_leaf_step_usable(const gbt_leaf_step *s) {
  return gbt_scale_usable(gbt_from_bits(s->at.max_g), gbt_from_bits(s->at.max_h));
}

/* The scale of the sums. spare: gbt_scale_spare of all rows. */
GBT_FN gbt_scale gbt_leaf_step_scale(const gbt_leaf_step *s, int spare) {
  return gbt_scale_less(gbt_from_bits(s->at.max_g), gbt_from_bits(s->at.max_h), spare);
}

/* The farthest that a step may go, upwards or downwards. */
GBT_FN double gbt_leaf_step_limit(const gbt_leaf_step *s, int upwards) {
  const double end = upwards ? s->high : s->low;
  if (end == GBT_GROW_INFINITY || end == -GBT_GROW_INFINITY) return 2.0 * s->value;
  return s->value + (end - s->value) * 0.5;
}

/* Where the sums at the value lead; notes the bound that they are. */
GBT_FN double gbt_leaf_step_next(gbt_leaf_step *s, double G, double H, gbt_reg reg, gbt_bounds bounds) {
  const double at = s->value, slope = G + reg.lambda * at + (at > 0.0 ? reg.alpha : -reg.alpha);
  const double next = H + reg.lambda > 0.0 ? gbt_weight(G - H * at, H, reg, bounds) : at;
  if (slope == 0.0 || next == at || (next < at) != (slope > 0.0)) return at; /* what is left is rounding */
  if (slope > 0.0) s->high = at;
  else s->low = at;
  const double limit = gbt_leaf_step_limit(s, slope < 0.0);
  return slope > 0.0 ? (next > limit ? next : limit) : (next < limit ? next : limit);
}

/* The pass has been: the next value. */
GBT_FN void gbt_leaf_step_take(gbt_leaf_step *s, int spare, gbt_reg reg, gbt_bounds bounds) {
  double next;
  if (!s->going) return;
  if (gbt_leaf_step_usable(s)) {
    const gbt_scale scale = gbt_leaf_step_scale(s, spare);
    next = gbt_leaf_step_next(s, (double)s->at.sum.g * scale.down_g, (double)s->at.sum.h * scale.down_h, reg, bounds);
  } else { /* much too far from 0 */
    if (s->value > 0.0) s->high = s->value;
    if (s->value < 0.0) s->low = s->value;
    next = gbt_leaf_step_limit(s, s->value < 0.0);
  }
  next = gbt_clip(next, bounds);
  s->going = next != s->value;
  s->value = next;
  s->at = gbt_step_none();
}

#endif
