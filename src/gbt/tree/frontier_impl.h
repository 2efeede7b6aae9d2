/* What the files of the frontier give each other: frontier.c, and best_first.c for that policy. */
#ifndef GBT_TREE_FRONTIER_IMPL_H
#define GBT_TREE_FRONTIER_IMPL_H

#include "frontier.h"

/* The children at `first` belong to the tree from now on: they get their numbers. */
void gbti_frontier_commit(gbt_frontier *fr, int32_t parent, int32_t first);

/* Fresh nodes with a split into the policy's lists; open and chosen have room for all nodes. */
gbt_status gbti_best_first_opened(gbt_frontier *fr, gbt_error *err) GBT_MUST_CHECK;

/* The leaf to split now, then at most batch - 1 others to split ahead, into chosen. */
void gbti_best_first_select(gbt_frontier *fr, size_t batch);

#endif
