/* Trees with a value for every output in a leaf, and trees of one output that have one structure: each from the other.
 *
 *   joined   as many trees of one value a leaf as there are outputs -> one tree: structure and counts as they all have
 *            them, gains and covers added up in the order of outputs
 *   apart    one tree -> a tree for every output, with its part of gains and covers. Scores are the same bits */
#ifndef GBT_TREE_VECTORS_H
#define GBT_TREE_VECTORS_H

#include "forest.h"

/* Appends one tree to a forest whose leaves hold vectors. trees: all of a view, one for each of the forest's outputs;
 * their nodes are equal but for the values of leaves. On failure the forest is as before. */
gbt_status gbt_forest_add_joined(gbt_forest *forest, const gbt_forest_view *trees, gbt_error *err) GBT_MUST_CHECK;

/* Trees [beg, end) of a forest whose leaves hold vectors, as a new forest whose leaves hold one value: round after
 * round, by output, then as they were. beg and end: between rounds. */
gbt_status gbt_forest_apart(const gbt_mem *mem, const gbt_forest_view *from, uint64_t beg, uint64_t end,
                            gbt_forest **out, gbt_error *err) GBT_MUST_CHECK;

#endif
