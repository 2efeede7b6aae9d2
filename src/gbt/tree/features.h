/* Which features a node may split on: column sampling by tree, layer and node, weights, interaction groups.
 *
 * Draws are nested (tree, then layer from the tree's, then node from the layer's) and stateless: feature f draws
 * a hash of (seed, tree, depth or node, f), the k lowest win. With weights it draws the exponential variate
 * -log(u) / w (Efraimidis and Spirakis 2006), so the probability of being drawn first is proportional to w.
 *
 * Interaction groups: a node may use the features of every group that holds all features used above it; those used
 * above it themselves; and, at the root, all. */
#ifndef GBT_TREE_FEATURES_H
#define GBT_TREE_FEATURES_H

#include "../base/mem.h"
#include "../params.h"

/* Immutable for a training run. */
typedef struct gbt_feature_rules {
  gbt_mem mem;
  int32_t n_features;
  uint64_t seed;
  double by_tree, by_layer, by_node; /* shares in (0, 1], of the features that are used */
  int32_t n_used, *used;             /* those, ascending; owned */
  const double *weight;              /* n_features, owned, or NULL */
  int32_t n_groups;
  int32_t *group_beg, *group_feat;   /* owned; n_groups + 1, and the members */
  int32_t n_words;                   /* of a bitset over features */
} gbt_feature_rules;

/* Copies what it is given; NULL pointers mean "none". unused: n_features, 1 where no node may split by the feature. */
gbt_status gbt_feature_rules_new(const gbt_mem *mem, int32_t n_features, const uint8_t *unused,
                                 const gbt_params *params, const double *weight, const int32_t *group_beg,
                                 const int32_t *group_feat, int32_t n_groups, gbt_feature_rules **out,
                                 gbt_error *err) GBT_MUST_CHECK;
void gbt_feature_rules_free(gbt_feature_rules *rules); /* NULL allowed */

/* 1 when every node of a tree may use the same features. */
int gbt_features_uniform(const gbt_feature_rules *rules);

/* The draws. Each reads `n` ascending features from `from` (of the tree: those that are used), writes the drawn ones
 * ascending to `out` and returns their number. scratch: n uint64. `out` may be `from`; of the tree it has room for all
 * features. */
int32_t gbt_features_of_tree(const gbt_feature_rules *rules, uint64_t tree, int32_t *out, uint64_t *scratch);
int32_t gbt_features_of_layer(const gbt_feature_rules *rules, uint64_t tree, int32_t depth, const int32_t *from,
                              int32_t n, int32_t *out, uint64_t *scratch);
int32_t gbt_features_of_node(const gbt_feature_rules *rules, uint64_t tree, int32_t node, const int32_t *from,
                             int32_t n, int32_t *out, uint64_t *scratch);

/* Drops from the n ascending features those that no group allows below `path` (a bitset of the features used above the
 * node). Returns the number kept. Without groups, or with an empty path, all stay. */
int32_t gbt_features_allowed(const gbt_feature_rules *rules, const uint32_t *path, int32_t *feats, int32_t n);

#endif
