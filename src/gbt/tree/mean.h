/* Forests side by side: one forest whose scores are the means of theirs. Its round r has the trees of round r of all of
 * them, output by output, forest after forest, so that the first rounds are the mean of their first rounds; it has as
 * many parallel trees as all of them together. A forest with fewer rounds than another is padded with trees that add
 * nothing: a leaf of 0. Leaf values are those of the trees divided by the number of forests; gains, covers and counts
 * stay as they are. */
#ifndef GBT_TREE_MEAN_H
#define GBT_TREE_MEAN_H

#include "forest.h"

/* members: n, 1 or more, of whole rounds. GBT_E_ARG where their features, outputs or values of a leaf differ, or where
 * they have too many parallel trees together. */
gbt_status gbt_forest_mean(const gbt_mem *mem, const gbt_forest_view *members, int32_t n, gbt_forest **out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
