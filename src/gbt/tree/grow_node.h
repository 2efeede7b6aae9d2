/* One node of a tree that is being grown, and the arithmetic of making its children. The same source text for all
 * backends; see frontier.h for how nodes are numbered and chosen. */
#ifndef GBT_TREE_GROW_NODE_H
#define GBT_TREE_GROW_NODE_H

#include "node.h"
#include "policy.h"
#include "split.h"

#define GBT_GROW_INFINITY gbt_from_bits(0x7ff0000000000000u)

typedef struct gbt_grow_node {
  int32_t parent;
  int32_t left;       /* 0 while it is a leaf */
  int32_t depth;      /* root 0 */
  uint32_t order_beg; /* its part of the backend's row order begins there; rows ascending */
  uint32_t n_rows;    /* of all ranks: what decisions look at; its lower 32 bits, see gbt_grow_rows */
  uint32_t own_rows;  /* of them those of this rank, which are in its row order */
  gbt_sum sum;        /* in histogram units */
  gbt_bounds bounds;  /* of its weight */
  double weight;      /* of kept nodes, and monotone: the value so far, in histogram units */
  gbt_split split;    /* the best one found; kind NONE when there is none */
  int8_t open;
  int8_t splittable;           /* could be split as far as depth, rows and hessian go: is searched */
  int8_t bulk_left;            /* most rows went left; set when split (symmetric: gbt_frontier_set_bulk_sides) */
  int8_t kept;                 /* splits of several nodes or trees: this one does not touch the node's value */
  int8_t taken;                /* best-first: chosen at some time */
  int32_t number;              /* in the tree; -1 while the node is waiting */
  int32_t ahead;               /* children that are waiting, 0 for none */
  double reach;                /* best-first, CPU: least gain on the way to its split that the policy has not come to;
                                  devices, trees that grow together: what the split gains in this one */
  int32_t hist;                /* the number of its histogram, -1: it has none */
  uint32_t set_beg, set_words; /* categorical split: bitset over codes that go left, in frontier->sets */
  uint32_t rows_high;          /* of n_rows, what is above its 32 bits; 0 on devices */
} gbt_grow_node;

/* Rows of the node, of all ranks. */
GBT_FN int64_t gbt_grow_rows(const gbt_grow_node *node) {
#if defined(__CUDACC__)
  return (int64_t)node->n_rows;
#else
  return (int64_t)node->rows_high << 32 | (int64_t)node->n_rows;
#endif
}

/* The state of a growth policy for all nodes of a tree. */
typedef struct gbt_grow_policy {
  gbt_policy_kind kind;
  int64_t max_depth, max_leaves, min_rows;
  double min_child_weight;
  double smooth;          /* path_smooth */
  const int8_t *monotone; /* by feature, borrowed, where the nodes are; or NULL */
  gbt_reg reg;
  gbt_units unit; /* of the tree's histograms */
} gbt_grow_policy;

GBT_FN gbt_grow_policy gbt_grow_policy_of(const gbt_params *params, const int8_t *monotone) {
  gbt_grow_policy p;
  p.kind = gbt_policy_of(params);
  p.max_depth = params->max_depth;
  p.max_leaves = params->max_leaves;
  p.min_rows = params->min_data_in_leaf;
  p.min_child_weight = params->min_child_weight;
  p.smooth = params->path_smooth;
  p.monotone = monotone;
  p.reg.lambda = params->lambda;
  p.reg.alpha = params->alpha;
  p.reg.max_delta_step = params->max_delta_step;
  p.unit.g = p.unit.h = 0.0;
  return p;
}

/* Whether there is room for one more leaf; symmetric: for all leaves of the next layer. */
GBT_FN int gbt_grow_has_room(const gbt_grow_policy *p, const gbt_grow_node *node, int64_t n_leaves) {
  if (p->max_leaves == 0) return 1;
  if (!gbt_policy_one_split(p->kind)) return n_leaves < p->max_leaves;
  GBT_ASSERT(node->depth <= GBT_SYMMETRIC_DEPTH);
  return (int64_t)2 << node->depth <= p->max_leaves;
}

/* Whether a node could have two children that pass the limits on depth, leaves, rows and hessian. */
GBT_FN int gbt_grow_could_split(const gbt_grow_policy *p, const gbt_grow_node *node, int64_t n_leaves) {
  if (p->max_depth > 0 && node->depth >= p->max_depth) return 0;
  if (!gbt_grow_has_room(p, node, n_leaves)) return 0;
  if (gbt_grow_rows(node) < 2 * p->min_rows) return 0;
  return (double)node->sum.h * p->unit.h >= 2.0 * p->min_child_weight;
}

GBT_FN double gbt_grow_weight(const gbt_grow_policy *p, gbt_sum sum, gbt_bounds bounds) {
  return gbt_weight((double)sum.g * p->unit.g, (double)sum.h * p->unit.h, p->reg, bounds);
}

/* A root, or a child to be filled in: only its parent and depth are known. */
GBT_FN gbt_grow_node gbt_grow_empty(int32_t parent, int32_t depth) {
  gbt_grow_node node;
  unsigned char *bytes = (unsigned char *)&node;
  for (size_t i = 0; i < sizeof node; i++) bytes[i] = 0;
  node.parent = parent;
  node.depth = depth;
  node.hist = -1;
  node.number = -1;
  return node;
}

GBT_FN gbt_grow_node gbt_grow_root(const gbt_grow_policy *p, uint32_t n_rows, gbt_sum sum) {
  gbt_grow_node root = gbt_grow_empty(-1, 0);
  GBT_ASSERT(sum.h >= 0);
  root.number = 0;
  root.n_rows = root.own_rows = n_rows;
  root.sum = sum;
  root.bounds.lo = -GBT_GROW_INFINITY;
  root.bounds.hi = GBT_GROW_INFINITY;
  root.splittable = (int8_t)gbt_grow_could_split(p, &root, 1);
  root.weight = gbt_grow_weight(p, sum, root.bounds);
  return root;
}

/* Which way a bin of the split's feature goes; sets: the frontier's. */
GBT_FN int gbt_grow_bin_goes_left(const gbt_grow_node *node, const uint32_t *sets, int32_t bin) {
  if (node->split.kind == GBT_SPLIT_NUMERIC) return bin <= node->split.bin;
  return gbt_bit(sets + node->set_beg, node->set_words, (uint32_t)bin);
}

/* The same for a code: a bin, or n_bins for missing. */
GBT_FN int gbt_grow_goes_left(const gbt_grow_node *node, const uint32_t *sets, int32_t n_bins, int32_t code) {
  return code == n_bins ? node->split.missing_left : gbt_grow_bin_goes_left(node, sets, code);
}

/* Where missing values go if no row of the node had one: to the child with the larger hessian, left if equal. */
GBT_FN void gbt_grow_settle_missing(gbt_grow_node *node) {
  if (!node->split.has_missing) node->split.missing_left = node->split.left.h >= node->sum.h - node->split.left.h;
}

/* The monotone constraint on the split feature: 1, -1 or 0. */
GBT_FN int gbt_grow_sign(const gbt_grow_policy *p, const gbt_grow_node *parent) {
  return p->monotone ? p->monotone[parent->split.feat] : 0;
}

/* The children keep to their sides of `mid`, as the sign says. */
GBT_FN void gbt_grow_part(const gbt_grow_node *parent, int sign, double mid, gbt_grow_node *left,
                          gbt_grow_node *right) {
  left->bounds = right->bounds = parent->bounds;
  GBT_ASSERT(parent->bounds.lo <= parent->bounds.hi);
  if (sign > 0) left->bounds.hi = right->bounds.lo = mid;
  if (sign < 0) left->bounds.lo = right->bounds.hi = mid;
}

/* Monotone constraint on the split feature: the children's weights must keep to their sides of the middle of what both
 * would be (the scheme of XGBoost's documentation on monotonic constraints). */
GBT_FN void gbt_grow_bound(const gbt_grow_policy *p, const gbt_grow_node *parent, gbt_grow_node *left,
                           gbt_grow_node *right) {
  const int sign = gbt_grow_sign(p, parent);
  double mid = 0.0;
  if (sign != 0) {
    double wl = gbt_grow_weight(p, left->sum, parent->bounds), wr = gbt_grow_weight(p, right->sum, parent->bounds);
    mid = parent->kept ? parent->weight : wl + (wr - wl) / 2.0;
  }
  gbt_grow_part(parent, sign, mid, left, right);
}

/* The weight of a child whose sum and bounds are known; below a kept node it is the parent's. */
GBT_FN double gbt_grow_child_weight(const gbt_grow_policy *p, const gbt_grow_node *parent, const gbt_grow_node *child) {
  return parent->kept ? gbt_clip(parent->weight, child->bounds) : gbt_grow_weight(p, child->sum, child->bounds);
}

/* The children of node `id`; n_left of its rows go left. Its split must be final. Says so in the parent's bulk_left.
 * Rows of a single process: see gbt_grow_share. */
GBT_FN void gbt_grow_children(const gbt_grow_policy *p, gbt_grow_node *parent, int32_t id, uint32_t n_left,
                              gbt_grow_node *left, gbt_grow_node *right) {
  GBT_ASSERT(parent->split.kind != GBT_SPLIT_NONE && (n_left <= parent->n_rows || parent->rows_high > 0));
  *left = *right = gbt_grow_empty(id, parent->depth + 1);
  left->order_beg = parent->order_beg;
  left->n_rows = left->own_rows = n_left;
  right->order_beg = parent->order_beg + n_left;
  right->n_rows = right->own_rows = parent->n_rows - n_left;
  left->sum = parent->split.left;
  right->sum.g = parent->sum.g - left->sum.g;
  right->sum.h = parent->sum.h - left->sum.h;
  GBT_ASSERT(left->sum.h >= 0 && right->sum.h >= 0);
  gbt_grow_bound(p, parent, left, right);
  left->weight = gbt_grow_child_weight(p, parent, left);
  right->weight = gbt_grow_child_weight(p, parent, right);
  parent->bulk_left = n_left >= right->n_rows;
}

/* Sets what gbt_grow_rows gives. */
GBT_FN void gbt_grow_put_rows(gbt_grow_node *node, int64_t n_rows) {
  node->n_rows = (uint32_t)n_rows;
  node->rows_high = (uint32_t)((uint64_t)n_rows >> 32);
}

/* The children's rows where those of all ranks may be more than 32 bits hold, n_left having gone left. */
GBT_FN void gbt_grow_count(gbt_grow_node *parent, int64_t n_left, gbt_grow_node *left, gbt_grow_node *right) {
  const int64_t n_right = gbt_grow_rows(parent) - n_left;
  GBT_ASSERT(n_left >= 0 && n_right >= 0);
  gbt_grow_put_rows(left, n_left);
  gbt_grow_put_rows(right, n_right);
  parent->bulk_left = n_left >= n_right;
}

/* The children's rows where there are several ranks, own_left of this rank's having gone left. */
GBT_FN void gbt_grow_share(const gbt_grow_node *parent, uint32_t own_left, gbt_grow_node *left, gbt_grow_node *right) {
  left->own_rows = own_left;
  right->order_beg = parent->order_beg + own_left;
  right->own_rows = parent->own_rows - own_left;
}

/* Whether the best value for a node's own rows is needed: it is the node's, if it is a leaf or kept; where values are
 * smoothed those of all nodes are mixed into others. Below a kept node it is not: gbt_grow_value. */
GBT_FN int gbt_grow_wants_own(const gbt_grow_policy *p, const gbt_grow_node *node, const gbt_grow_node *parent) {
  if (parent && parent->kept) return 0;
  return node->left == 0 || node->kept || p->smooth > 0.0;
}

/* Where leaves are quantiles: whether that of the node's own rows is needed, also because it determines the bound
 * between the node and its sibling. */
GBT_FN int gbt_grow_wants_quantile(const gbt_grow_policy *p, const gbt_grow_node *node, const gbt_grow_node *parent) {
  if (gbt_grow_wants_own(p, node, parent)) return 1;
  return parent && !parent->kept && gbt_grow_sign(p, parent) != 0;
}

/* Where leaves are quantiles: the bounds of a finished tree's children, in place of those that the search went by,
 * whose unit is another one. Downwards from the root, whose bounds are infinite. value: of the parent, within its
 * bounds; l, r: quantiles of the children, not yet within bounds. */
GBT_FN void gbt_grow_bound_quantiles(const gbt_grow_policy *p, const gbt_grow_node *parent, double value, double l,
                                     double r, gbt_grow_node *left, gbt_grow_node *right) {
  const double half = gbt_clip(l, parent->bounds) * 0.5 + gbt_clip(r, parent->bounds) * 0.5;
  const double mid = parent->kept ? value : gbt_clip(half, parent->bounds);
  gbt_grow_part(parent, gbt_grow_sign(p, parent), mid, left, right);
}

/* The best value for a node's own rows: the weight by its fine sums, before shrinkage. */
GBT_FN double gbt_grow_own(const gbt_grow_policy *p, const gbt_scale *scale, const gbt_grow_node *node, gbt_sum fine) {
  return gbt_weight((double)fine.g * scale->down_g, (double)fine.h * scale->down_h, p->reg, node->bounds);
}

/* The value where nothing is smoothed. own: within the node's bounds. */
GBT_FN double gbt_grow_plain_value(const gbt_grow_node *node, double own, const gbt_grow_node *parent,
                                   double parent_value) {
  return parent && parent->kept ? gbt_clip(parent_value, node->bounds) : own;
}

/* A node's value before shrinkage. own: the best value for its rows (the weight, refined in leaf_step.h where there are
 * more steps, or a quantile); below a kept node the parent's value. parent: NULL for the root. Smoothing mixes in the
 * parent's value, as if it were the best value of `smooth` more rows; bounds still apply. */
GBT_FN double gbt_grow_value(const gbt_grow_policy *p, const gbt_grow_node *node, double own,
                             const gbt_grow_node *parent, double parent_value) {
  if (parent && parent->kept) return gbt_clip(parent_value, node->bounds);
  if (parent && p->smooth > 0.0) {
    const double share = p->smooth / ((double)gbt_grow_rows(node) + p->smooth);
    own = own + (parent_value - own) * share;
  }
  return gbt_clip(own, node->bounds);
}

GBT_FN int gbt_grow_value_ok(double value) { return value < 1e300 && value > -1e300; }

#endif
