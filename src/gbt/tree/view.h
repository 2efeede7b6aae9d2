/* Trees as a host reads them, those of a trainer or of a model. A view is borrowed: it lasts as long as what it was
 * got from, and until that grows. What is in it is in forest.h. */
#ifndef GBT_TREE_VIEW_H
#define GBT_TREE_VIEW_H

#include <stdint.h>

typedef struct gbt_forest_view gbt_forest_view;

typedef struct gbt_forest_info {
  int32_t n_features;
  int32_t n_outputs;      /* scores a row: 1, or the number of classes */
  int32_t n_leaf_outputs; /* values of a leaf: 1, for one output, or n_outputs */
  int32_t n_parallel;     /* trees per round and output; per round where leaves hold n_outputs values */
  uint64_t n_rounds;
  uint64_t n_trees; /* n_rounds * trees_per_round, in the order they were grown: round, then output, then parallel */
  uint64_t trees_per_round;
  uint64_t n_nodes;   /* of all trees */
  const double *base; /* n_outputs: the score before the first tree, offset apart; borrowed */
} gbt_forest_info;

/* Sizes of a forest and its base scores. */
gbt_forest_info gbt_forest_about(const gbt_forest_view *forest);

typedef struct gbt_tree_range {
  uint64_t beg, end; /* trees, half-open */
} gbt_tree_range;

/* One node. Numbers of nodes are those within their tree: the root is 0, children come after their parent, and the
 * right child is the one after the left. */
typedef struct gbt_node_info {
  int32_t feature;          /* -1 for a leaf */
  uint32_t left;            /* split: number of the left child; leaf: 0 */
  int missing_left;         /* split: where a missing value goes */
  int bulk_left;            /* split: where most training rows went */
  int by_set;               /* split by a set of levels, else by a number */
  double threshold;         /* by a number: x <= threshold goes left; else NaN */
  const uint32_t *set;      /* by a set: bit i % 32 of word i / 32 says that level i goes left. Nodes that share their
                               set have the same address. Borrowed; NULL where it has no words */
  uint32_t n_words;         /* of the set; levels beyond go right */
  const double *value;      /* leaf: n_leaf_outputs numbers that it adds to the score; split: NULL. Borrowed */
  double gain, cover;       /* gain of the split (0 for a leaf); sum of hessians */
  uint32_t count;           /* training rows that came by, sampled ones; 2^32 - 1 for all larger numbers, of ranks */
} gbt_node_info;

uint32_t gbt_tree_n_nodes(const gbt_forest_view *forest, uint64_t tree); /* tree < n_trees */
gbt_node_info gbt_tree_node(const gbt_forest_view *forest, uint64_t tree, uint32_t node);

/* How much every feature was used by a range of trees; what lies beyond the last tree is left out. Each array:
 * n_features numbers, overwritten. gain and cover are sums; divide by splits for means. */
void gbt_importance(const gbt_forest_view *forest, gbt_tree_range trees, double *gain, double *cover, double *splits);

#endif
