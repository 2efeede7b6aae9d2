/* Runs of rows in pieces, a block each, so that blocks that run at the same time have rows of the same range.
 *
 * Rows of a node ascend or descend, and those of each node are spread over the whole table. So the j-th shares of all
 * nodes hold, roughly, rows of one range: what is gathered by row (codes, scores, what 16 bits leave out) comes from
 * memory once for all nodes, if their j-th shares are worked on at the same time. Pieces are numbered so:
 *
 *   share 0: node a's pieces, node b's, ..   |   share 1: the same   |   ..   n_shares
 *
 * A node has the same number of pieces in every share, ceil(its rows / (n_shares * most rows of a piece)), which are of
 * one length, but the last ones, which may have fewer rows or none. There is one share more than rows of all nodes /
 * (nodes * most), so that nodes of like size have one piece in each; whatever their sizes, there are at most twice as
 * many pieces as full ones would be, and one for each node. */
#pragma once

#include "../../base/block.cuh"

enum : uint32_t { CU_LEAST_PIECE = 256 }; /* rows; a node of fewer has one piece that is not empty */
enum : uint32_t { CU_PIECE_ROWS = 4096 }; /* most of a piece that is partitioned: they are held in shared memory */

/* Rows of a node, counted as they ascend. */
struct cu_piece {
  uint32_t number, beg, n; /* of the node's pieces; n 0: none is left for it */
};

GBT_FN uint32_t cu_n_shares(uint64_t n_rows, uint32_t n_nodes, uint32_t most) {
  return n_nodes > 0 ? (uint32_t)(n_rows / ((uint64_t)n_nodes * most)) + 1u : 1u;
}

/* Pieces that a node has in every share. */
GBT_FN uint32_t cu_n_pieces(uint32_t n_rows, uint32_t n_shares, uint32_t most) {
  return n_rows > 0 ? (uint32_t)((n_rows - 1u) / ((uint64_t)n_shares * most)) + 1u : 0u;
}

/* Rows of each piece of a node but the last ones. all: its pieces in all shares. */
GBT_FN uint32_t cu_piece_rows(uint32_t n_rows, uint32_t all, uint32_t most) {
  const uint32_t even = ((n_rows - 1u) / all + 32u) / 32u * 32u, least = most < CU_LEAST_PIECE ? most : CU_LEAST_PIECE;
  return even > least ? even : least;
}

/* Piece `number` of a node that has n_rows > 0 rows. */
GBT_FN cu_piece cu_piece_of(uint32_t n_rows, uint32_t number, uint32_t all, uint32_t most) {
  const uint32_t rows = cu_piece_rows(n_rows, all, most);
  const uint64_t beg = (uint64_t)number * rows;
  cu_piece p = {number, (uint32_t)beg, 0};
  GBT_ASSERT(rows <= most);
  if (beg < n_rows) p.n = n_rows - p.beg < rows ? n_rows - p.beg : rows;
  return p;
}

/* Pieces at most. */
static inline uint64_t cu_most_pieces(uint64_t n_rows, uint64_t n_nodes, uint64_t most) {
  return 2u * (n_rows / most) + n_nodes + 1u;
}
