/* The growing forest of a trainer, and the read-only view that predictors use (of a forest in memory or of a model's
 * bytes in place; both have the same arrays).
 *
 *   trees   t = 0 .. n_trees-1 in the order they were grown: round, then class, then parallel tree
 *           tree t belongs to round t / trees_per_round and adds to output (t % trees_per_round) / n_parallel,
 *           or to all outputs where leaves hold vectors
 *   nodes   tree t: nodes[tree[t].node_beg .. + n_nodes); root first; children adjacent and after their parent
 *   sets    tree t: sets[tree[t].set_beg .. + n_words): bitsets of its categorical splits
 *   vectors n_leaf_outputs > 1: one of so many values for every leaf of every tree, in the order of the nodes; leaf
 *           nodes hold the vector's number
 */
#ifndef GBT_TREE_FOREST_H
#define GBT_TREE_FOREST_H

#include "../base/mem.h"
#include "linear.h"
#include "node.h"
#include "view.h"

typedef struct gbt_tree {
  uint64_t node_beg, set_beg;
  uint32_t n_nodes, n_words;
} gbt_tree;

/* Borrowed pointers; valid as long as their owner is. */
struct gbt_forest_view {
  int32_t n_features;
  int32_t n_outputs;      /* scores a row: 1, or the number of classes */
  int32_t n_leaf_outputs; /* values of a leaf: 1, for one output, or n_outputs */
  int32_t n_parallel;     /* trees per round and output; per round where leaves hold vectors */
  uint64_t n_trees;       /* = rounds * gbt_trees_per_round() */
  uint64_t n_nodes, n_words;
  uint64_t n_vectors;        /* 0 where leaves hold one value, else the number of leaves */
  const double *base;        /* n_outputs: the score before the first tree, offset apart */
  const gbt_tree *trees;     /* n_trees */
  const gbt_node *nodes;     /* n_nodes */
  const uint32_t *sets;      /* n_words */
  const double *gain;        /* n_nodes: gain of the split; 0 at leaves */
  const double *cover;       /* n_nodes: sum of hessians */
  const uint32_t *count;     /* n_nodes: training rows that came by (sampled ones) */
  const double *leaf_values; /* n_vectors x n_leaf_outputs, vector by vector */
  gbt_sums sums;             /* zeros: a plain forest, as every gbt_forest is */
  gbt_linear_view linear;    /* zeros: all leaves are constant */
};

GBT_FN uint64_t gbt_trees_per_round(const gbt_forest_view *forest) {
  GBT_ASSERT(forest->n_leaf_outputs == 1 || forest->n_leaf_outputs == forest->n_outputs);
  return (uint64_t)(forest->n_leaf_outputs > 1 ? 1 : forest->n_outputs) * (uint64_t)forest->n_parallel;
}

/* The parts of linear leaves that nodes have no room for; all owned. See gbt_linear_view. */
typedef struct gbt_linear_store {
  uint32_t *of;
  gbt_linear_leaf *leaf;
  gbt_linear_term *term;
  size_t n_leaves, n_terms, cap_of, cap_leaves, cap_terms;
  uint32_t n_grids;
  size_t n_values;
  gbt_linear_grid *grid;
  double *cut;
  int16_t *x;
} gbt_linear_store;

typedef struct gbt_forest {
  gbt_mem mem;
  int32_t n_features, n_outputs, n_leaf_outputs, n_parallel;
  double *base; /* n_outputs, owned */
  gbt_tree *trees;
  gbt_node *nodes;
  uint32_t *sets;
  double *gain, *cover;
  uint32_t *count;
  double *leaf_values;
  size_t n_trees, n_nodes, n_words, n_vectors;
  size_t cap_trees, cap_nodes[4], cap_words, cap_values; /* nodes, gain, cover, count grow one by one */
  gbt_linear_store *linear; /* owned; NULL: leaves are constant */
} gbt_forest;

/* A tree to be added: borrowed arrays. */
typedef struct gbt_tree_parts {
  uint32_t n_nodes, n_words;
  const gbt_node *nodes; /* n_nodes, and so gain, cover and count */
  const double *gain, *cover;
  const uint32_t *count;
  const uint32_t *sets;      /* n_words */
  const double *leaf_values; /* vectors that the leaves point to; NULL where leaves hold one value */
  gbt_linear_tree linear;
} gbt_tree_parts;

/* An empty forest with base scores 0 and one value a leaf. */
gbt_status gbt_forest_new(const gbt_mem *mem, int32_t n_features, int32_t n_outputs, int32_t n_parallel,
                          gbt_forest **out, gbt_error *err) GBT_MUST_CHECK;

/* An empty forest with the numbers of features, outputs, leaf outputs and parallel trees of a view, and its base
 * scores. */
gbt_status gbt_forest_new_like(const gbt_mem *mem, const gbt_forest_view *shape, gbt_forest **out,
                               gbt_error *err) GBT_MUST_CHECK;
void gbt_forest_free(gbt_forest *forest); /* NULL allowed */

/* Appends a tree, copied; its leaves' vectors are numbered on from those of the trees before. On failure the forest is
 * as before. */
gbt_status gbt_forest_add(gbt_forest *forest, const gbt_tree_parts *tree, gbt_error *err) GBT_MUST_CHECK;

/* The same; map: of its grids, see gbti_forest_match_grids. */
gbt_status gbti_forest_add_mapped(gbt_forest *forest, const gbt_tree_parts *tree, const uint32_t *map,
                                  gbt_error *err) GBT_MUST_CHECK;

/* Tree t of a view, as gbt_forest_add takes it. */
gbt_tree_parts gbt_tree_of(const gbt_forest_view *forest, uint64_t t);

/* GBT_OK when the view is plain (gbt_sums), else GBT_E_UNSUPPORTED: trees of others cannot be put together with it. */
gbt_status gbt_forest_check_plain(const gbt_forest_view *view, gbt_error *err) GBT_MUST_CHECK;

/* ---- linear leaves: forest_linear.c ---- */

/* The forest's leaves may be linear from now on, in features that have cuts: n_features pointers, NULL for a feature
 * that is not used so, and numbers of bins. Copied. Before the first tree. */
gbt_status gbt_forest_use_linear(gbt_forest *forest, const double *const *cut, const int32_t *n_bins,
                                 gbt_error *err) GBT_MUST_CHECK;

/* The grids of views, to a forest without trees that has none; those of one feature once, where they are equal. */
gbt_status gbti_forest_take_grids(gbt_forest *forest, const gbt_forest_view *views, int32_t n,
                                  gbt_error *err) GBT_MUST_CHECK;

/* map[g], n_grids numbers to be freed by the caller: the grid of the forest that is grid g of the view. GBT_E_ARG where
 * it has none that is equal. NULL where the view has no linear leaves. */
gbt_status gbti_forest_match_grids(const gbt_forest *forest, const gbt_linear_view *from, uint32_t **map,
                                   gbt_error *err) GBT_MUST_CHECK;

/* Room for the linear leaves of so many nodes; the leaves of a tree, into the room. map: NULL, or as above. */
gbt_status gbti_forest_linear_room(gbt_forest *forest, size_t n_nodes, uint64_t leaves, uint64_t terms,
                                   gbt_error *err) GBT_MUST_CHECK;
void gbti_forest_put_linear(gbt_forest *forest, const gbt_tree_parts *tree, const uint32_t *map);
void gbti_forest_free_linear(gbt_forest *forest);

/* Linear leaves of the first n_nodes nodes of a view, and their terms. */
void gbti_linear_first(gbt_linear_view *linear, uint64_t n_nodes);

/* The number of a feature's grid; -1: it has none. */
int32_t gbt_forest_grid_of(const gbt_forest *forest, int32_t feat);

/* Appends all trees of a plain view with equal n_features, n_outputs, n_leaf_outputs and n_parallel, and takes its base
 * scores. */
gbt_status gbt_forest_append(gbt_forest *forest, const gbt_forest_view *from, gbt_error *err) GBT_MUST_CHECK;

/* Keeps the first n_trees trees. */
void gbt_forest_cut(gbt_forest *forest, size_t n_trees);

/* A view of all trees, valid until the forest changes. */
gbt_forest_view gbt_forest_view_of(const gbt_forest *forest);

/* The view of its first n_trees trees. */
gbt_forest_view gbt_forest_first(gbt_forest_view view, uint64_t n_trees);

#endif
