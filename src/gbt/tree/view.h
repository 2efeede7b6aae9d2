/* Read access to trees, for hosts. A view is borrowed from a trainer or a model: it is valid until that is freed, and a
 * trainer's until its next run. forest.h describes the arrays.
 *
 * A row goes from the root to a leaf of each tree. At a split its value of the feature decides: a missing value by
 * missing_left; a number by threshold; a level by set; a level that the schema does not have by bulk_left, or as a
 * missing value (gbt_unseen, data/table.h). Numbers of an ordinal column are the positions of its levels, those of a
 * feature with a table (schema/schema.h) are bins. The row's score for output k is base[k] + offset + the values of the
 * leaves of the trees for this output, added as gbt_sums says. */
#ifndef GBT_TREE_VIEW_H
#define GBT_TREE_VIEW_H

#include <stdint.h>

typedef struct gbt_forest_view gbt_forest_view;

/* How the values of leaves are added to a score. All models that gbt trains are plain; the other rules are for imported
 * models (exchange/), whose scores equal those of the other program to the last bit. */
typedef enum gbt_sum_rule {
  GBT_SUM_PLAIN = 0, /* base + offset, then the values in the order of the trees */
  GBT_SUM_FLOAT,     /* the same, rounded to float32 at the start and after every addition */
  GBT_SUM_SCALED,    /* the values in the order of the trees, from 0 on; times `scale`; plus base, plus offset */
  GBT_SUM_MEAN       /* the same, but divided by the number of rounds that are used */
} gbt_sum_rule;

typedef struct gbt_sums {
  int32_t rule; /* gbt_sum_rule */
  double scale; /* GBT_SUM_SCALED: a finite number other than 0; else not used */
} gbt_sums;

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
  gbt_sums sums;
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
  double gain, cover;       /* gain of the split by math/gain.h (0 for a leaf); sum of hessians */
  uint32_t count;           /* training rows that reached the node (sampled ones); with ranks at most 2^32 - 1 */
} gbt_node_info;

/* tree < n_trees; node < gbt_tree_n_nodes() */
uint32_t gbt_tree_n_nodes(const gbt_forest_view *forest, uint64_t tree);
gbt_node_info gbt_tree_node(const gbt_forest_view *forest, uint64_t tree, uint32_t node);

/* A linear leaf in the units of its columns: intercept + the sum of slope * x, cut to [low, high], where x is the
 * middle of the bin that the row's number is in, up to rounding; of an imported model, the number itself, and low and
 * high are infinite. A row that lacks one of the numbers gets the node's value. */
typedef struct gbt_leaf_slopes {
  uint32_t n; /* features; 0: the leaf is constant */
  double intercept, low, high;
} gbt_leaf_slopes;

/* One of its features. */
typedef struct gbt_leaf_slope {
  int32_t feature;
  double slope;
} gbt_leaf_slope;

/* The unit of a column's slopes, which takes passes over all of its bins. Begins as zeros. */
typedef struct gbt_slope_unit {
  int known;
  double centre, up[2];
} gbt_slope_unit;

/* How many columns have slopes; 0: all leaves of the forest are constant. */
uint32_t gbt_forest_n_units(const gbt_forest_view *forest);

/* A linear leaf. unit: gbt_forest_n_units() of them, the same ones for all leaves of the forest; those of the leaf's
 * features are known afterwards. */
gbt_leaf_slopes gbt_tree_slopes(const gbt_forest_view *forest, uint64_t tree, uint32_t node, gbt_slope_unit *unit);
/* Its feature k < n, once gbt_tree_slopes() has been asked for the leaf with these units. */
gbt_leaf_slope gbt_tree_slope(const gbt_forest_view *forest, uint64_t tree, uint32_t node, uint32_t k,
                              const gbt_slope_unit *unit);

/* How much a range of trees uses each feature; a range beyond the last tree is cut. Each array: n_features numbers,
 * overwritten: the sums of gain and cover over the splits by the feature, and the number of these splits. */
void gbt_importance(const gbt_forest_view *forest, gbt_tree_range trees, double *gain, double *cover, double *splits);

#endif
