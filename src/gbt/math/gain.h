/* Leaf weights and split gains of the regularised second-order objective (Chen and Guestrin 2016, section 2.2,
 * equations 5 to 7), with L1 as soft threshold and max_delta_step as a clip. Gains are twice equation 7 without gamma,
 * as in XGBoost, so that gamma has the meaning users know. One expression order for all devices. */
#ifndef GBT_MATH_GAIN_H
#define GBT_MATH_GAIN_H

#include "elementary.h"

typedef struct gbt_reg {
  double lambda, alpha;
  double max_delta_step; /* 0: no limit */
} gbt_reg;

/* A node's weight must stay in [lo, hi]: monotone constraints of its ancestors. -inf, +inf when free. */
typedef struct gbt_bounds {
  double lo, hi;
} gbt_bounds;

GBT_FN double gbt_clip(double w, gbt_bounds b) {
  w = w < b.lo ? b.lo : w;
  return w > b.hi ? b.hi : w;
}

GBT_FN double gbt_soft_threshold(double g, double alpha) {
  return g > alpha ? g - alpha : (g < -alpha ? g + alpha : 0.0);
}

/* The best weight of a node with sums g and h. */
GBT_FN double gbt_weight(double g, double h, gbt_reg reg, gbt_bounds b) {
  double d = h + reg.lambda;
  if (!(d > 0.0)) return b.lo > 0.0 ? b.lo : (b.hi < 0.0 ? b.hi : 0.0);
  double w = -gbt_soft_threshold(g, reg.alpha) / d;
  if (reg.max_delta_step > 0.0) {
    w = w > reg.max_delta_step ? reg.max_delta_step : w;
    w = w < -reg.max_delta_step ? -reg.max_delta_step : w;
  }
  return gbt_clip(w, b);
}

/* The contribution of a node to the gain at its best weight when nothing clips it: T(g)^2 / (h + lambda). */
GBT_FN double gbt_score(double g, double h, double lambda, double alpha) {
  double d = h + lambda;
  double t = gbt_soft_threshold(g, alpha);
  return d > 0.0 ? (t * t) / d : 0.0;
}

/* The same at a given weight: -(2 g w + (h + lambda) w^2 + 2 alpha |w|). */
GBT_FN double gbt_score_at(double g, double h, double w, gbt_reg reg) {
  double a = w < 0.0 ? -w : w;
  return -(2.0 * g * w + (h + reg.lambda) * (w * w) + 2.0 * reg.alpha * a);
}

/* A node whose splits are to be rated: sums in real numbers, and what its children must keep to. */
typedef struct gbt_rated {
  double G, H;
  double parent;     /* the node's own score, see gbt_rate_node */
  double min_weight; /* least hessian of a child */
  gbt_bounds bounds;
  int constrained; /* weights are clipped: bounds or max_delta_step */
} gbt_rated;

GBT_FN double gbt_rate_node(double G, double H, gbt_reg reg, gbt_bounds bounds, int constrained) {
  return constrained ? gbt_score_at(G, H, gbt_weight(G, H, reg, bounds), reg)
                     : gbt_score(G, H, reg.lambda, reg.alpha);
}

/* Gain of a split with left sums gl, hl (real) when nothing clips the weights, or -1 when a child is too light. reg may
 * differ from the one the node was rated with. No branches: the loop over many splits is vectors. */
GBT_FN double gbt_rate_free(const gbt_rated *node, double gl, double hl, gbt_reg reg) {
  double gr = node->G - gl, hr = node->H - hl;
  double gain =
      (gbt_score(gl, hl, reg.lambda, reg.alpha) + gbt_score(gr, hr, reg.lambda, reg.alpha)) - node->parent;
  int ok = (hl >= node->min_weight) & (hr >= node->min_weight) & (hl > 0.0) & (hr > 0.0);
  return ok ? gain : -1.0;
}

/* The same for any node. sign: the feature's monotone constraint, which the split must keep. */
GBT_FN double gbt_rate_split(const gbt_rated *node, double gl, double hl, gbt_reg reg, int sign) {
  if (!node->constrained) return gbt_rate_free(node, gl, hl, reg);
  double gr = node->G - gl, hr = node->H - hl;
  if (!(hl >= node->min_weight && hr >= node->min_weight && hl > 0.0 && hr > 0.0)) return -1.0;
  double wl = gbt_weight(gl, hl, reg, node->bounds), wr = gbt_weight(gr, hr, reg, node->bounds);
  if ((sign > 0 && wl > wr) || (sign < 0 && wl < wr)) return -1.0;
  return (gbt_score_at(gl, hl, wl, reg) + gbt_score_at(gr, hr, wr, reg)) - node->parent;
}

/* The average gain by pure noise when n levels with equal hessians are ordered by their mean gradient and the k most
 * extreme ones are split off, in units of gbt_noise (math/fixed.h):
 *     n f(q),   f(q) = phi(z_q)^2 / (q (1 - q)),   q = k / n,
 * because the mean of the top share q of normal deviates is phi(z_q) / q. The larger of the two parts is as extreme as
 * the smaller one, so q is taken below 1/2. */
GBT_FN double gbt_set_noise(int32_t k, int32_t n) {
  if (k <= 0 || k >= n) return 0.0;
  double q = (double)(2 * (int64_t)k <= n ? k : n - k) / (double)n;
  double z = gbt_normal_above(q);
  return (double)n * gbt_exp(-(z * z)) / (6.283185307179586 * q * (1.0 - q));
}

#endif
