/* Shared by the files of the frontier: frontier.c, and one file for each growth policy. */
#ifndef GBT_TREE_FRONTIER_IMPL_H
#define GBT_TREE_FRONTIER_IMPL_H

#include "frontier.h"

/* A growth policy's part of the frontier. */
typedef struct gbti_growth {
  /* Fresh nodes that have been searched into the policy's lists; open and chosen have room for all nodes. */
  gbt_status (*opened)(gbt_frontier *fr, gbt_error *err);

  /* At most at_once leaves to split now into chosen, which is empty. */
  void (*select)(gbt_frontier *fr, size_t at_once);

  /* Whether the children of a chosen node belong to the tree as soon as they are made. */
  int (*commits)(const gbt_frontier *fr, int32_t parent);

  /* The tree is complete: moves every node to the place of its number. NULL: it is there already. */
  gbt_status (*settle)(gbt_frontier *fr, gbt_error *err);
} gbti_growth;

extern const gbti_growth gbti_depthwise, gbti_best_first, gbti_symmetric;

/* The children at `first` belong to the tree from now on: they get their numbers. */
static inline void gbti_frontier_commit(gbt_frontier *fr, int32_t parent, int32_t first) {
  GBT_ASSERT(fr->node[parent].number >= 0 && fr->node[parent].number < fr->n_numbers);
  GBT_ASSERT(fr->node[first].number < 0 && fr->node[first].parent == parent);
  fr->node[parent].left = first;
  fr->node[first].number = fr->n_numbers++;
  fr->node[first + 1].number = fr->n_numbers++;
  fr->n_leaves++;
}

/* Policies that go layer by layer: opens a node; chooses of the shallowest layer, by node number, or, where max_leaves
 * leaves too little room for the layer, the largest gains first. */
void gbti_frontier_open(gbt_frontier *fr, int32_t id);
void gbti_frontier_select_layer(gbt_frontier *fr, size_t at_once);
int gbti_frontier_commits_all(const gbt_frontier *fr, int32_t parent);

#endif
