/* How much every feature was used: sums over the splits of a range of trees, in the order of the nodes. */
#include "predict.h"

void gbt_importance(const gbt_forest_view *forest, gbt_tree_range trees, double *gain, double *cover, double *splits) {
  for (int32_t f = 0; f < forest->n_features; f++) gain[f] = cover[f] = splits[f] = 0.0;
  uint64_t end = trees.end < forest->n_trees ? trees.end : forest->n_trees;
  for (uint64_t t = trees.beg; t < end; t++) {
    uint64_t beg = forest->trees[t].node_beg;
    for (uint64_t i = beg; i < beg + forest->trees[t].n_nodes; i++) {
      const gbt_node *node = &forest->nodes[i];
      if (node->left == 0) continue;
      uint32_t f = node->feat & GBT_NODE_FEATURE;
      gain[f] += forest->gain[i];
      cover[f] += forest->cover[i];
      splits[f] += 1.0;
    }
  }
}
