/* Rules for trees, so that walks end and read only existing data. Code that reads a forest from a file refuses one that
 * breaks a rule; code that writes a model never writes such a forest. */
#ifndef GBT_TREE_CHECK_H
#define GBT_TREE_CHECK_H

#include "../schema/schema.h"
#include "forest.h"

/* NULL when the tree is sound, else what is wrong with it. Sound: every node but the root is the child of exactly one
 * node before it, so that walks end; features, thresholds, sets and leaf values are usable; all sets together, those
 * that a layer shares counted once, have no more words than the tree.
 * nodes: those of the tree. feat: n_features. n_vectors: of the forest; NULL where leaves hold one value.
 * seen: scratch of (tree->n_nodes + 63) / 64 words. */
const char *gbt_tree_fault(const gbt_tree *tree, const gbt_node *nodes, const gbt_feature *feat, int32_t n_features,
                           const uint64_t *n_vectors, uint64_t *seen);

/* The same for numbers that belong to the whole forest: shape, number of trees, base, leaf vectors. */
const char *gbt_forest_fault(const gbt_forest_view *forest);

/* The same for linear leaves, of which there are some, once nodes are known to be sound: grids in the order of their
 * features, leaves in that of the nodes, with numbers that prediction and contributions can use. feat: n_features. */
const char *gbt_linear_fault(const gbt_forest_view *forest, const gbt_feature *feat);

typedef struct gbt_tree_flaw {
  const char *what; /* NULL: none */
  uint64_t tree;    /* the first one that has it */
} gbt_tree_flaw;

/* Whether every tree is sound and has a number for each gain and cover; feat: n_features of the forest. Trees must lie
 * within the arrays of nodes. Fails when there is no memory. */
gbt_status gbt_trees_check(const gbt_mem *mem, const gbt_forest_view *forest, const gbt_feature *feat,
                           gbt_tree_flaw *flaw, gbt_error *err) GBT_MUST_CHECK;

/* All of a forest whose arrays have the sizes that it says: *fault is NULL or what is wrong. In addition to the above,
 * trees and leaf vectors must be contiguous and fill the arrays. */
gbt_status gbt_forest_check(const gbt_mem *mem, const gbt_forest_view *forest, const gbt_feature *feat,
                            const char **fault, gbt_error *err) GBT_MUST_CHECK;

#endif
