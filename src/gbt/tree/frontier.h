/* The table of the tree being grown: nodes, which of them wait for a search, which may be split, which are chosen.
 *
 *   fresh     just made, to get a split                        (root, then the children of the last step)
 *   open      has a split that is worth making
 *   chosen    nodes that the policy picked for this step; best-first also some that it will probably come to
 *
 * Nodes are numbered as made: root 0, children in pairs (left, left + 1), pairs in the order their parents were chosen.
 * The numbering is part of the model. Best-first growth also makes nodes ahead of its choices (best_first.c): until
 * gbt_frontier_settle a node's place in the table is then not its number, and some nodes are not in the tree.
 *
 * Symmetric growth. All nodes of a layer are split, by one split, so trees are full and the children of node i are
 * 2 i + 1 and 2 i + 2. Fresh nodes become open without a split; once all of a layer are open, gbt_frontier_layer gives
 * them theirs, or none. A node whose own limits the split does not keep, or which gains nothing by it, is split all the
 * same but marked as kept: both children take its value, so that the tree predicts what it would predict without that
 * split. Below a node that is not splittable nothing is, and sums are not known. */
#ifndef GBT_TREE_FRONTIER_H
#define GBT_TREE_FRONTIER_H

#include "../base/mem.h"
#include "../params.h"
#include "grow_node.h"

/* Best-first growth: nodes ahead of its choices; see best_first.c. Empty under other policies. */
typedef struct gbt_frontier_ahead {
  int32_t *next; /* heap */
  size_t n_next, cap_next;
  size_t drop_at;                /* so many of them are looked at again */
  size_t dropped_beg, n_dropped; /* in next: nodes that the last select found to have no place in the tree */
  gbt_grow_node *spare;          /* for settling */
  size_t cap_spare;
  int32_t most; /* nodes of a step */
  int32_t part; /* of the splits to come, a step takes one in so many at most */
} gbt_frontier_ahead;

typedef struct gbt_frontier {
  gbt_mem mem;
  gbt_grow_node *node;
  size_t n_nodes, cap_nodes;
  int32_t *fresh, *chosen;
  size_t n_fresh, cap_fresh, n_chosen, cap_chosen;
  int32_t *open; /* open nodes; best-first: a heap, see best_first.c */
  size_t n_open, cap_open;
  uint32_t *sets;
  size_t n_set_words, cap_set_words;
  int32_t path_words; /* 0: no interaction groups */
  uint32_t *path;     /* n_nodes x path_words: features used above each node */
  size_t cap_path;
  int64_t n_leaves;  /* of the tree, without waiting nodes */
  int32_t n_numbers; /* given so far */
  gbt_grow_policy policy;
  gbt_frontier_ahead ahead;
} gbt_frontier;

/* No nodes yet. mem is copied, params and monotone are borrowed; path_words: of a bitset over features where there
 * are interaction groups, else 0. */
void gbt_frontier_init(gbt_frontier *fr, const gbt_mem *mem, const gbt_params *params, const int8_t *monotone,
                       int32_t path_words);
void gbt_frontier_free(gbt_frontier *fr);

/* Best-first, between two trees: where steps are costly whatever is in them, they look far ahead, but they make more
 * splits that are not used. */
void gbt_frontier_set_lookahead(gbt_frontier *fr, int far);

/* Starts a tree: the root with its rows and sums, fresh. Ranks: those of all; own_rows is the caller's to set. */
gbt_status gbt_frontier_root(gbt_frontier *fr, int64_t n_rows, gbt_sum sum, gbt_units unit,
                             gbt_error *err) GBT_MUST_CHECK;

/* After the search: fresh nodes with a split become open; the fresh list is emptied. Where no missing value was seen,
 * missing ones to come go to the side with the larger hessian (left of equals): settled here, before rows are moved. */
gbt_status gbt_frontier_opened(gbt_frontier *fr, gbt_error *err) GBT_MUST_CHECK;

/* Symmetric: whether all open nodes wait for the split of their layer. */
int gbt_frontier_layer_waits(const gbt_frontier *fr);

/* Symmetric: `layer` becomes the split of all open nodes, with the bitset that begins at set_beg. Its gain and left
 * sums are the caller's to fill in, node by node, as is `kept`. NULL: there is none, the nodes stay leaves. */
void gbt_frontier_layer(gbt_frontier *fr, const gbt_split *layer, uint32_t set_beg, uint32_t set_words);

/* Symmetric: once the tree is complete, bulk_left of a layer's nodes is where most rows of the layer went. */
void gbt_frontier_set_bulk_sides(gbt_frontier *fr);

/* Chooses at most `at_once` open nodes. depthwise: the shallowest layer, by node number; when max_leaves leaves too
 * little room for the layer, the largest gains first. lossguide: the largest gain, then nodes to be split ahead; none
 * when the tree is complete. symmetric: those with a split, by node number. Ties: lower node. */
void gbt_frontier_select(gbt_frontier *fr, size_t at_once);

/* Once select has chosen nothing: drops waiting nodes, and puts every other node at the place of its number. Histograms
 * must have been given back. */
gbt_status gbt_frontier_settle(gbt_frontier *fr, gbt_error *err) GBT_MUST_CHECK;

/* Removes nodes without a number (-1) and moves the others to the places of their numbers, which are 0 .. n_numbers -
 * 1, children after their parents. */
gbt_status gbt_frontier_renumber(gbt_frontier *fr, gbt_error *err) GBT_MUST_CHECK;

/* Makes the children of a chosen node; n_left of its rows go left. The node's split and set must be final. */
gbt_status gbt_frontier_split(gbt_frontier *fr, int32_t node, int64_t n_left, gbt_error *err) GBT_MUST_CHECK;

/* Ranks: how many of this rank's rows went left, once the node has been split by the rows of all. */
void gbt_frontier_share(gbt_frontier *fr, int32_t node, uint32_t own_left);

/* Once all chosen nodes are split: marks which of the new nodes are splittable (needs the final number of leaves). */
void gbt_frontier_mark_splittable(gbt_frontier *fr);

/* Room for a bitset of n_words words, zeroed; its place goes to *beg. */
gbt_status gbt_frontier_set(gbt_frontier *fr, uint32_t n_words, uint32_t *beg, gbt_error *err) GBT_MUST_CHECK;

#endif
