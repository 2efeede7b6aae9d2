/* The rows of leaves, piece by piece: leaf.cu plans them, renew.cu and step.cu go over them too. */
#pragma once

#include "../../base/block.cuh"
#include "../backend.cuh"
#include "../rows/pieces.cuh"

/* The rows of a piece; n 0: the leaf has no more. */
struct cu_leaf_rows {
  int32_t node;
  uint32_t n;
  const uint32_t *row; /* NULL: rows first, first + 1 .. */
  uint32_t first;
};

__device__ static __forceinline__ cu_leaf_rows cu_rows_of_block(const cu_view &v, uint32_t b) {
  cu_leaf_rows r;
  const uint32_t n_shares = v.tree->n_leaf_shares, of_share = v.tree->n_leaf_blocks / n_shares;
  const uint32_t share = b / of_share, place = b % of_share;
  const int32_t at = cu_run_of(v.leaf_block, v.tree->n_runs, place);
  const cu_leaf_run run = v.leaf_run[at];
  const cu_order order = cu_order_of(v, run.depth);
  const uint32_t beg = v.leaf_block[at], n = v.leaf_block[at + 1] - beg;
  const cu_piece piece = cu_piece_of(run.n_rows, share * n + (place - beg), n * n_shares, v.leaf_rows);
  r.node = run.node;
  r.first = cu_descends(at) ? run.n_rows - piece.beg - piece.n : piece.beg;
  r.n = piece.n;
  r.row = v.tree->whole && run.depth == 0 ? NULL : order.row + run.order_beg + r.first;
  return r;
}

__device__ static __forceinline__ uint32_t cu_row_at(const cu_leaf_rows &r, uint32_t i) {
  return r.row ? r.row[i] : r.first + i;
}

/* The node that gives the value of the rows below a node: the nearest one, from it upwards, for which wants(node, its
 * parent or NULL) holds; -1: none. */
template <class Wants>
__device__ static __forceinline__ int32_t cu_find_owner(const cu_view &v, int32_t i, Wants wants) {
  for (; i >= 0; i = v.node[i].parent) {
    const int32_t above = v.node[i].parent;
    if (wants(&v.node[i], above >= 0 ? &v.node[above] : nullptr)) break;
  }
  return i;
}

/* The next one above, where v.owner has that of every node. */
__device__ static __forceinline__ int32_t cu_owner_above(const cu_view &v, int32_t owner) {
  const int32_t above = v.node[owner].parent;
  return above >= 0 ? v.owner[above] : -1;
}

/* Sums of the gradients that histograms take, those of 16 bits times `unit`: a thread's part. By row: gradients have
 * not gone with rows into nodes that cannot be split. */
__device__ static __forceinline__ gbt_sum cu_coarse_sum(const cu_view &v, const cu_leaf_rows &r, int wide,
                                                        int64_t unit) {
  const gbt_gh16 *gh16 = cu_gh16(v, v.tree->task.grads);
  const gbt_gh32 *gh32 = cu_gh32(v, v.tree->task.grads);
  gbt_sum s = {0, 0};
  for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) {
    if (wide) {
      gbt_gh32 gh = gh32[cu_row_at(r, i)];
      s.g += gh.g;
      s.h += gh.h;
    } else {
      gbt_sum gh = cu_gh_sum(cu_gh_bits(gh16 + cu_row_at(r, i)));
      s.g += gh.g * unit;
      s.h += gh.h * unit;
    }
  }
  return s;
}
