/* How features are drawn (tree/features.h), feature by feature: each draws a number, the k lowest win; of equal ones
 * that of the lower feature. Shared by the host's draws and the kernels. */
#ifndef GBT_TREE_DRAW_H
#define GBT_TREE_DRAW_H

#include "../base/rng.h"
#include "../math/elementary.h"

#define GBT_NEVER_DRAWN UINT64_MAX /* the number of weight 0 */

/* How many of n features a share of them are: at least one, if there is any. */
GBT_FN int32_t gbt_draw_size(double share, int32_t n) {
  if (n == 0 || !(share < 1.0)) return n;
  int32_t k = (int32_t)(share * n + 0.5);
  return k < 1 ? 1 : k;
}

/* The number that a feature draws: below 2^32 without weights; GBT_NEVER_DRAWN for weight 0. */
GBT_FN uint64_t gbt_draw_number(gbt_key32 key, const double *weight, int32_t feat) {
  uint32_t hash = gbt_hash32(key, (uint64_t)feat);
  if (!weight) return hash;
  double w = weight[feat];
  if (!(w > 0.0)) return GBT_NEVER_DRAWN;
  double u = ((double)hash + 0.5) / 4294967296.0;
  return gbt_order_key(-gbt_log(u) / w);
}

GBT_FN gbt_key32 gbt_draw_layer_key(uint64_t seed, uint64_t tree, int32_t depth) {
  return gbt_key(seed, GBT_FOR_LAYER_COLS, tree, (uint64_t)depth);
}

GBT_FN gbt_key32 gbt_draw_node_key(uint64_t seed, uint64_t tree, int32_t node) {
  return gbt_key(seed, GBT_FOR_NODE_COLS, tree, (uint64_t)node);
}

#endif
