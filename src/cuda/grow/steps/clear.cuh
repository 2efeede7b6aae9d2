/* Histograms that may be built next, cleared by kernels that do something else, too, so that it takes no launch of its
 * own. Which are built is known only later. All blocks of the grid must call. */
#pragma once

#include "../view.cuh"

enum { CU_CLEAR_SLOTS = 1024 }; /* that a block takes at a time */

/* Pieces of a histogram, a block each. */
GBT_FN uint32_t cu_clear_pieces(const cu_view *v) { return (v->n_slots + CU_CLEAR_SLOTS - 1u) / CU_CLEAR_SLOTS; }

/* Histograms [from, from + n). */
__device__ static __forceinline__ void cu_clear_hists(const cu_view &v, int32_t from, int32_t n) {
  const uint32_t pieces = cu_clear_pieces(&v);
  const uint64_t all = (uint64_t)(uint32_t)n * pieces;
  for (uint64_t i = blockIdx.x; i < all; i += gridDim.x) {
    const uint64_t first = ((uint32_t)from + i / pieces) * v.n_slots;
    const uint32_t beg = (uint32_t)(i % pieces) * CU_CLEAR_SLOTS;
    const uint32_t end = v.n_slots - beg < CU_CLEAR_SLOTS ? v.n_slots : beg + CU_CLEAR_SLOTS;
    for (uint32_t s = beg + threadIdx.x; s < end; s += blockDim.x) {
      v.sum[first + s].g = v.sum[first + s].h = 0;
      if (v.any_counts) v.count[first + s] = 0;
    }
  }
}

/* Those that the step may build. */
__device__ static __forceinline__ void cu_clear_builds(const cu_view &v) {
  cu_clear_hists(v, v.tree->clear_beg, v.tree->n_clear);
}

/* Blocks of such work in a step at most. */
static inline uint64_t cu_clear_blocks(const cu_view *v) {
  return 2u * (uint64_t)(uint32_t)v->max_step * cu_clear_pieces(v);
}
