/* The rows of a complete tree's leaves are cut into pieces: by one block. */
#pragma once

#include "../../base/block.cuh"
#include "../backend.cuh"
#include "pieces.cuh"

/* gbt_frontier_set_bulk_sides: trees are full, so a layer is a run of nodes. */
__device__ static __forceinline__ void cu_set_bulk_sides(const cu_view &v) {
  const int32_t n_nodes = v.tree->n_nodes;
  for (int32_t beg = 0, n = 1; beg < n_nodes && v.node[beg].left; beg = 2 * beg + 1, n *= 2) {
    uint64_t left = 0, all = 0;
    for (int32_t i = beg + (int32_t)threadIdx.x; i < beg + n; i += (int32_t)blockDim.x) {
      all += v.node[i].n_rows;
      left += v.node[v.node[i].left].n_rows;
    }
    left = cu_block_sum(left);
    all = cu_block_sum(all);
    for (int32_t i = beg + (int32_t)threadIdx.x; i < beg + n; i += (int32_t)blockDim.x)
      v.node[i].bulk_left = left >= all - left;
  }
}

/* All threads. */
__device__ static __forceinline__ void cu_plan_leaves(const cu_view &v) {
  const int32_t n_nodes = v.tree->n_nodes;
  const int64_t unit = v.tree->wide ? 1 : 65536;
  if (gbt_policy_one_split(v.policy.kind)) cu_set_bulk_sides(v);
  for (int32_t i = (int32_t)threadIdx.x; i < n_nodes; i += (int32_t)blockDim.x) {
    const gbt_grow_node *node = &v.node[i];
    /* by_rows: unknown where a node was split for other nodes or outputs; what all ranks know one of them adds */
    int known = node->left == 0 && !v.by_rows && v.rank == 0;
    v.fine[i].g = known ? node->sum.g * unit : 0;
    v.fine[i].h = known ? node->sum.h * unit : 0;
  }
  const int32_t n_runs = v.ahead > 0 ? v.tree->n_runs : n_nodes;
  for (int32_t i = (int32_t)threadIdx.x; i < n_nodes && v.ahead == 0; i += (int32_t)blockDim.x) {
    const gbt_grow_node *node = &v.node[i];
    const cu_leaf_run run = {node->order_beg, node->left == 0 ? node->own_rows : 0u, node->depth, i};
    v.leaf_run[i] = run;
  }
  __syncthreads();
  const uint32_t n_shares = cu_n_shares(v.tree->n_in, ((uint32_t)n_runs + 1u) / 2u, v.leaf_rows);
  const uint32_t of_share = cu_block_prefix(n_runs, v.leaf_block, [&](int64_t i) {
    return v.leaf_run[i].n_rows > 0 ? cu_n_pieces(v.leaf_run[i].n_rows, n_shares, v.leaf_rows) : 0u;
  });
  if (threadIdx.x == 0) {
    v.tree->n_runs = n_runs;
    v.tree->n_leaf_shares = n_shares;
    v.tree->n_leaf_blocks = n_shares * of_share;
  }
}
