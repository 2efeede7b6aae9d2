/* One node of a tree, 16 bytes, and how a value chooses a child. Used by the forest in memory, by the model's bytes in
 * place and by every predictor, so it must not change without a new model version.
 *
 *   split  left > 0: children are left and left + 1 (of the same tree)
 *   leaf   left == 0; arg.value is what the tree adds to the score, or, where leaves hold a value for every output,
 *          arg.vector says which of the forest's vectors is added to the scores (forest.h)
 */
#ifndef GBT_TREE_NODE_H
#define GBT_TREE_NODE_H

#include <stdint.h>

#include "../base/hd.h"

#define GBT_NODE_CATEGORICAL 0x80000000u  /* arg.set instead of arg.value */
#define GBT_NODE_MISSING_LEFT 0x40000000u /* where a missing value goes */
#define GBT_NODE_BULK_LEFT 0x20000000u    /* where most training rows went: unseen levels with unseen = "prior" */
#define GBT_NODE_FEATURE 0x1fffffffu      /* the rest is the feature's index */

typedef struct gbt_node {
  union {
    double value;    /* split: x <= value goes left. leaf: the value */
    uint64_t vector; /* leaf of a forest with vectors: leaf_values[vector * n_leaf_outputs ..] */
    struct {
      uint32_t beg;     /* first word in the tree's bitset; bit i of the set = level i goes left */
      uint32_t n_words; /* levels beyond go right */
    } set;
  } arg;
  uint32_t feat; /* flags and feature; 0 for a leaf */
  uint32_t left;
} gbt_node;

GBT_FN int gbt_bit(const uint32_t *words, uint32_t n_words, uint32_t i) {
  return (i >> 5) < n_words && ((words[i >> 5] >> (i & 31u)) & 1u);
}

/* Whether two nodes of a tree are splits by one set in one place. */
GBT_FN int gbt_same_set(const gbt_node *a, const gbt_node *b) {
  return a->left > 0 && b->left > 0 && a->feat == b->feat && (a->feat & GBT_NODE_CATEGORICAL) &&
         a->arg.set.beg == b->arg.set.beg && a->arg.set.n_words == b->arg.set.n_words;
}

/* x: the number; NaN = missing. For a categorical feature the level's index; NaN = missing, -1 = unseen.
 * words: the tree's bitsets. 1 = left. */
GBT_FN int gbt_goes_left(const gbt_node *node, double x, const uint32_t *words) {
  if (x != x) return (node->feat & GBT_NODE_MISSING_LEFT) != 0;
  if (!(node->feat & GBT_NODE_CATEGORICAL)) return x <= node->arg.value;
  if (x < 0.0) return (node->feat & GBT_NODE_BULK_LEFT) != 0;
  return gbt_bit(words + node->arg.set.beg, node->arg.set.n_words, (uint32_t)x);
}

#endif
