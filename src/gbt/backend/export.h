/* Adds a grown tree to the forest. Shared by all backends. */
#ifndef GBT_BACKEND_EXPORT_H
#define GBT_BACKEND_EXPORT_H

#include "../data/cuts.h"
#include "../tree/forest.h"
#include "../tree/grow_node.h"

/* Memory that is used again from tree to tree; begins as all zeros. */
typedef struct gbt_export {
  gbt_node *node;
  double *gain, *cover;
  uint32_t *count, *sets;
  size_t cap[5];
} gbt_export;

/* All 0 or filled by gbt_export_tree; mem: the one that it was filled with. */
void gbt_export_free(const gbt_mem *mem, gbt_export *out);

/* All borrowed. Nodes are indexed by their numbers. */
typedef struct gbt_grown {
  const gbt_grow_node *node; /* n_nodes */
  size_t n_nodes;
  const uint32_t *sets; /* n_set_words words that nodes' set_beg point into */
  size_t n_set_words;
  const gbt_sum *fine;  /* n_nodes: fine sums */
  const double *value;  /* n_nodes: leaf values */
  double unit_h;        /* of the fine sums */
  int symmetric;        /* one split for a layer: its set is kept once */
  gbt_linear_tree linear;
} gbt_grown;

/* On failure the forest is as before. */
gbt_status gbt_export_tree(const gbt_mem *mem, gbt_export *out, const gbt_grown *tree, const gbt_cuts *cuts,
                           gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;

/* The way back: the split of node i of a tree that was exported with these cuts, sums apart. A set of levels is that of
 * the node, its words in tree->sets. */
gbt_split gbt_import_split(const gbt_tree_parts *tree, uint32_t i, const gbt_cuts *cuts);

#endif
