/* The last block of a grid to end does what one block has to do once all have done theirs: one launch less.
 *
 * By the memory model of CUDA: what a block's threads wrote happens before the fence of its thread 0 (by the barrier
 * before it), and that fence before the addition to `came`. The additions read from one another, so the fence after the
 * last one synchronises with all those fences; the barrier that follows extends this to the whole block. That fence
 * also invalidates the multiprocessor's L1 cache, so plain reads after it are right. */
#pragma once

#include "block.cuh"

/* Whether this block is the last one of those of its blockIdx.y. All threads of all blocks call once, when they have
 * done everything else; *came begins as 0 and is 0 again when the grid has ended. */
__device__ static __forceinline__ int cu_is_last(uint32_t *came) {
  CU_SHARED(uint32_t, last, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    *last = atomicAdd(came, 1u) == gridDim.x - 1u;
    __threadfence();
    if (*last) *came = 0; /* all blocks have added to it */
  }
  __syncthreads();
  return (int)*last;
}
