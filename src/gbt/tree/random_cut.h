/* Extremely randomised trees (`extra_trees`; Geurts, Ernst and Wehenkel 2006; LightGBM has the name): a feature enters
 * with one split drawn at random instead of its best one. The same source text for all backends.
 *
 *   numeric   one cut after a bin from the first to the last that hold something in the node, each with the same
 *             probability; where values are missing also the cut after the last bin, which separates them from all
 *             others. Symmetric growth: of all cuts of the feature, as the nodes of a layer have the tree's rows
 *             together
 *   one-hot   one of all levels
 *   sets      one end of the order and a size, each with the same probability; if that set has too few rows more than
 *             those before it to be a candidate, the next one that has
 *
 * Missing values go where the gain is larger. What is drawn is a hash of the tree, the node (symmetric: the depth, see
 * tree/contest.h) and the feature. */
#ifndef GBT_TREE_RANDOM_CUT_H
#define GBT_TREE_RANDOM_CUT_H

#include "../base/rng.h"

GBT_FN gbt_key32 gbt_cut_key(uint64_t seed, uint64_t tree, uint64_t of) {
  return gbt_key(seed, GBT_FOR_CUTS, tree, of);
}

/* One of n places, of which there is one at least. */
GBT_FN int32_t gbt_random_place(gbt_key32 key, int32_t feat, int32_t n) {
  GBT_ASSERT(n > 0);
  return (int32_t)(((uint64_t)gbt_hash32(key, (uint64_t)feat) * (uint32_t)n) >> 32);
}

/* The cut of a numeric feature whose values in the node are in bins low to high; -1: there is none. */
GBT_FN int32_t gbt_random_cut(gbt_key32 key, int32_t feat, int32_t low, int32_t high, int missing) {
  const int32_t n = high - low + (missing != 0);
  return n > 0 ? low + gbt_random_place(key, feat, n) : -1;
}

/* The first candidate from place i of 2 * most on, at the same end of the order; -1: there is none. tried: 0 where a
 * set is no candidate. */
GBT_FN int32_t gbt_first_tried(const uint8_t *tried, int32_t most, int32_t i) {
  const int32_t end = i < most ? most : 2 * most;
  while (i < end && tried[i] == 0) i++;
  return i < end ? i : -1;
}

#endif
