/* The growing forest of a trainer, and the read-only view that predictors use (of a forest in memory or of a model's
 * bytes in place; both have the same arrays).
 *
 *   trees   t = 0 .. n_trees-1 in the order they were grown: round, then class, then parallel tree
 *           tree t belongs to round t / trees_per_round and adds to output (t % trees_per_round) / n_parallel
 *   nodes   tree t: nodes[tree[t].node_beg .. + n_nodes); root first; children adjacent and behind their parent
 *   sets    tree t: sets[tree[t].set_beg .. + n_words): bitsets of its categorical splits
 */
#ifndef GBT_TREE_FOREST_H
#define GBT_TREE_FOREST_H

#include "../base/mem.h"
#include "node.h"

typedef struct gbt_tree {
  uint64_t node_beg, set_beg;
  uint32_t n_nodes, n_words;
} gbt_tree;

/* Borrowed pointers; valid as long as their owner is. */
typedef struct gbt_forest_view {
  int32_t n_features;
  int32_t n_outputs;       /* scores a row: 1, or the number of classes */
  int32_t n_parallel;      /* trees per round and output */
  uint64_t n_trees;        /* = rounds * n_outputs * n_parallel */
  uint64_t n_nodes, n_words;
  const double *base;      /* n_outputs: the score before the first tree, offset apart */
  const gbt_tree *trees;   /* n_trees */
  const gbt_node *nodes;   /* n_nodes */
  const uint32_t *sets;    /* n_words */
  const double *gain;      /* n_nodes: gain of the split; 0 at leaves */
  const double *cover;     /* n_nodes: sum of hessians */
  const uint32_t *count;   /* n_nodes: training rows that came by (sampled ones) */
} gbt_forest_view;

typedef struct gbt_forest {
  gbt_mem mem;
  int32_t n_features, n_outputs, n_parallel;
  double *base; /* n_outputs, owned */
  gbt_tree *trees;
  gbt_node *nodes;
  uint32_t *sets;
  double *gain, *cover;
  uint32_t *count;
  size_t n_trees, n_nodes, n_words;
  size_t cap_trees, cap_nodes[4], cap_words; /* nodes, gain, cover, count grow one by one */
} gbt_forest;

/* An empty forest with base scores 0. */
gbt_status gbt_forest_new(const gbt_mem *mem, int32_t n_features, int32_t n_outputs, int32_t n_parallel,
                          gbt_forest **out, gbt_error *err) GBT_MUST_CHECK;
void gbt_forest_free(gbt_forest *forest); /* NULL allowed */

/* Appends a tree: arrays of n_nodes (copied), sets of n_words. On failure the forest is as before. */
gbt_status gbt_forest_add(gbt_forest *forest, uint32_t n_nodes, const gbt_node *nodes, const double *gain,
                          const double *cover, const uint32_t *count, uint32_t n_words, const uint32_t *sets,
                          gbt_error *err) GBT_MUST_CHECK;

/* Appends all trees of a view with equal n_features, n_outputs and n_parallel, and takes its base scores. */
gbt_status gbt_forest_append(gbt_forest *forest, const gbt_forest_view *from, gbt_error *err) GBT_MUST_CHECK;

/* Keeps the first n_trees trees. */
void gbt_forest_cut(gbt_forest *forest, size_t n_trees);

gbt_forest_view gbt_forest_look(const gbt_forest *forest);

#endif
