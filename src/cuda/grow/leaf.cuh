/* The rows of leaves, piece by piece: leaf.cu plans them, renew.cu goes over them too. */
#pragma once

#include "../base/block.cuh"
#include "backend.cuh"
#include "pieces.cuh"

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
  r.node = cu_run_of(v.leaf_block, v.tree->n_nodes, place);
  const gbt_grow_node *node = &v.node[r.node];
  const cu_order order = cu_order_of(v, node->depth);
  const uint32_t beg = v.leaf_block[r.node], n = v.leaf_block[r.node + 1] - beg;
  const cu_piece piece = cu_piece_of(node->n_rows, share * n + (place - beg), n * n_shares, v.leaf_rows);
  r.first = cu_descends(r.node) ? node->n_rows - piece.beg - piece.n : piece.beg;
  r.n = piece.n;
  r.row = v.tree->whole && node->depth == 0 ? NULL : order.row + node->order_beg + r.first;
  return r;
}

__device__ static __forceinline__ uint32_t cu_row_at(const cu_leaf_rows &r, uint32_t i) {
  return r.row ? r.row[i] : r.first + i;
}
