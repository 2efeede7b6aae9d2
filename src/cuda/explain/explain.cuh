/* Contributions: what its files give each other.
 *
 *   explain.cu  rows in chunks; the door's function
 *   trees.cu    trees that are ready, as the device has them
 *   play.cu     the kernel
 *
 * A chunk of rows has a column of numbers for each feature that trees split by, x[column * stride + row], and the
 * columns of the result, out[column * stride + row], which come up, are added to by tree after tree, and go down again.
 * Trees lie in one block, pointers in it are the device's.
 *
 * A thread has a row, and its own part of the scratch of its warp, in which lanes lie side by side. Threads know
 * nothing of each other: there is no barrier. */
#pragma once

#include "../base/block.cuh"
#include "../base/mem.cuh"

/* As threads are lanes, in all that kernels include of the engine. */
#define GBTI_BY_LANE 1

#include "explain.h"

extern "C" {
#include "../../gbt/explain/explain_impl.h"
}

struct __align__(16) cu_explain_ask {
  gbt_node node;
  int32_t column; /* of x */
};

struct cu_explain_tree {
  gbti_game game;
  int32_t first_output, bits;
  const cu_explain_ask *ask;
  const uint32_t *word;         /* of sets */
  const double *table;          /* see gbti_entry; or NULL */
  const gbti_others_leaf *leaf; /* see gbti_others; NULL by cover, or where there is a table */
  const uint64_t *set;
  const double *count, *leaf_table;
  double total;
};

/* Bytes from the beginning of a warp's scratch on. Lanes lie side by side; of mine, items and spare each lane has all
 * its numbers in one piece. */
struct cu_explain_scratch {
  size_t p, r, sum, psi, terms, acc, live, kept, bits; /* see gbti_lanes, gbti_visit */
  size_t mask, mine, items, spare, player;             /* by a background: see play.cu */
  size_t n_mine, n_items, n_spare;                     /* of a lane */
  size_t bytes;
};

/* Some of the run's entries on the device. */
struct cu_explain_trees {
  size_t beg, end;
  cu_array<unsigned char> block;
  const cu_explain_tree *tree; /* within the block */
  cu_explain_scratch scratch;
  double n_steps; /* that a row takes, about */
};

/* Entries from trees->beg on, up to `bytes`, one at least. trees: the others zeros before. */
gbt_status cu_explain_trees_make(const gbti_explain_run *run, cu_memory *memory, cudaStream_t stream, size_t bytes,
                                 cu_explain_trees *trees, gbt_error *err) GBT_MUST_CHECK;
void cu_explain_trees_drop(cu_memory *memory, cu_explain_trees *trees);

struct cu_explain_pass {
  const cu_explain_tree *tree;
  uint32_t n_trees, n_rows;
  const double *x;
  double *out;
  uint64_t stride;
  int32_t n_players, pairs;
  const double *beta; /* NULL by cover */
  unsigned char *scratch;
  cu_explain_scratch at;
};

/* All trees for all rows of a chunk. n_warps: of the grid, whose scratch there is. Issues work, does not wait. */
gbt_status cu_explain_play(const cu_explain_pass *pass, unsigned n_warps, cudaStream_t stream,
                           gbt_error *err) GBT_MUST_CHECK;
