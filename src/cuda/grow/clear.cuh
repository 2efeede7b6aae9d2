/* The histograms that the step may build, cleared: by the kernel that moves the rows, so that it takes no launch of its
 * own, and for the root by one. Which are built is known only later. All blocks of the grid must call. */
#pragma once

#include "view.cuh"

enum { CU_CLEAR_SLOTS = 1024 }; /* that a block takes at a time */

__device__ static __forceinline__ void cu_clear_builds(const cu_view &v) {
  const uint32_t pieces = (v.n_slots + CU_CLEAR_SLOTS - 1) / CU_CLEAR_SLOTS;
  const uint64_t all = (uint64_t)(uint32_t)v.tree->n_clear * pieces;
  for (uint64_t i = blockIdx.x; i < all; i += gridDim.x) {
    const uint64_t first = ((uint32_t)v.tree->clear_beg + i / pieces) * v.n_slots;
    const uint32_t beg = (uint32_t)(i % pieces) * CU_CLEAR_SLOTS;
    const uint32_t end = v.n_slots - beg < CU_CLEAR_SLOTS ? v.n_slots : beg + CU_CLEAR_SLOTS;
    for (uint32_t s = beg + threadIdx.x; s < end; s += blockDim.x) {
      v.sum[first + s].g = v.sum[first + s].h = 0;
      if (v.any_counts) v.count[first + s] = 0;
    }
  }
}

/* Blocks of such work in a step at most. */
static inline uint64_t cu_clear_blocks(const cu_view *v) {
  return 2u * (uint64_t)(uint32_t)v->max_step * ((v->n_slots + CU_CLEAR_SLOTS - 1u) / CU_CLEAR_SLOTS);
}
