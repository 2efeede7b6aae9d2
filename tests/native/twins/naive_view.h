/* What the naive searches share: naive_split.c, naive_layer.c, naive_together.c. */
#ifndef GBT_TEST_NAIVE_VIEW_H
#define GBT_TEST_NAIVE_VIEW_H

#include "naive_impl.h"

/* One feature of one node. */
typedef struct naive_view {
  const naive *nv;
  const naive_node *node;
  int32_t feat, n_bins;
  gbt_sum *sum;   /* by code, n_bins + 1 */
  int64_t *count; /* the same */
  int missing;    /* the node has missing values here */
  int32_t *order; /* set splits: levels by mean gradient */
  int32_t n_order;
} naive_view;

static inline void add(gbt_sum *s, gbt_sum more) {
  s->g += more.g;
  s->h += more.h;
}

naive_view naive_look(const naive *nv, const naive_node *node, int32_t feat);
void naive_unlook(naive_view *v);

/* Factors above max_cat_onehot are split by sets of levels. */
int naive_by_sets(const naive *nv, int32_t feat);

/* Levels with enough rows in ascending order of a number, then by their own; by sum of gradients / (sum of hessians +
 * cat_smooth). */
void naive_order_by(naive_view *v, const double *mean);
void naive_order_levels(naive_view *v);

/* Whether a code goes left, by the meaning of the kinds. */
int naive_left_by(const naive_view *v, const gbt_split *s, int32_t code);

double naive_node_score(const naive *nv, const naive_node *node);

/* Gain of a split, or -1 when a child is too light or the wrong way round. */
double naive_gain_of(const naive_view *v, const gbt_split *s, gbt_reg reg);

/* Larger gain, then lower feature, lower bin, bottom before top, missing right before left. */
int naive_better(const gbt_split *a, const gbt_split *b);

/* The gain less what the feature costs. */
double naive_counts(const naive *nv, const gbt_split *s);

/* Of the noise of this round. */
double naive_spread_of(const naive *nv);

/* The better of two features' best splits, in a node that scored so much before. of: what tells the node apart. */
void naive_compete(const naive *nv, const gbt_split *own, uint64_t of, double before, double least, gbt_split *best);

/* What tells a node apart. */
uint64_t naive_identity(const naive_node *node);

/* One of n numbers by chance, as tree/random_cut.h has it. of: what tells the node or layer apart. */
int32_t naive_one_of(const naive *nv, uint64_t of, int32_t feat, int32_t n);

/* A node may use what any group allows that holds all features used above; those themselves; at the root all. */
int naive_may_meet(const naive *nv, const naive_node *node, int32_t feat);

/* The features that node `id` may be split by, to feats; returns how many. */
int32_t naive_features(const naive *nv, int32_t id, int32_t *feats);

/* Which way every code of the node's split goes. order: the view that has levels in order. */
void naive_settle(const naive *nv, naive_node *node, const naive_view *order);

#endif
