/* The growth policies, and the questions that others may ask about them: no file but this one and those of the policies
 * in the frontier (depthwise.c, best_first.c, symmetric.c) looks at the kind itself.
 *
 *   depthwise    a step splits the nodes of the shallowest layer
 *   lossguide    a step splits the leaf of the largest gain, and leaves that will probably come next
 *   symmetric    all nodes of a layer get one split, so a step decides and splits a layer */
#ifndef GBT_TREE_POLICY_H
#define GBT_TREE_POLICY_H

#include "../base/hd.h"
#include "../params.h"

/* Whether all nodes of a layer get one split. Trees are then full; nodes may be empty, or be split only so that the
 * tree is full; the sums of leaves are not known from the splits above them. */
GBT_FN int gbt_policy_one_split(gbt_policy_kind kind) {
  switch (kind) {
  case GBT_DEPTHWISE:
  case GBT_LOSSGUIDE:
    return 0;
  case GBT_SYMMETRIC:
    return 1;
  }
  return 0;
}

/* Whether the policy comes to one leaf at a time, so that a step has room for nodes that are split ahead. */
GBT_FN int gbt_policy_one_leaf(gbt_policy_kind kind) {
  switch (kind) {
  case GBT_LOSSGUIDE:
    return 1;
  case GBT_DEPTHWISE:
  case GBT_SYMMETRIC:
    return 0;
  }
  return 0;
}

GBT_FN gbt_policy_kind gbt_policy_of(const gbt_params *params) { return (gbt_policy_kind)params->grow_policy; }

#endif
