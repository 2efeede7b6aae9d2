/* The rows of leaves, block by block: leaf.cu plans the blocks, renew.cu goes over them too. */
#pragma once

#include "../base/block.cuh"
#include "backend.cuh"

/* The rows of a leaf block, and their gradients. */
struct cu_leaf_rows {
  int32_t node;
  uint32_t n;
  const uint32_t *row;
  const gbt_gh16 *gh;
};

__device__ static __forceinline__ cu_leaf_rows cu_rows_of_block(const cu_view &v, uint32_t b) {
  cu_leaf_rows r;
  r.node = cu_run_of(v.leaf_block, v.tree->n_nodes, b);
  const gbt_grow_node *node = &v.node[r.node];
  const cu_order order = cu_order_of(v, node->depth);
  const uint32_t at = (b - v.leaf_block[r.node]) * v.leaf_rows, left = node->n_rows - at;
  r.n = left < v.leaf_rows ? left : v.leaf_rows;
  r.row = order.row + node->order_beg + at;
  r.gh = order.gh + node->order_beg + at;
  return r;
}
