/* A barrier for all blocks of a grid. CU_LAUNCH_TOGETHER must have started the grid, so that all blocks are resident.
 *
 *   came     blocks that have arrived at the gate; the last one sets it to 0 again
 *   opened   how often the gate was opened: waiting blocks read it until it changes
 *
 * The last block to arrive may do work before it opens the gate, and sees what all others have written; after the gate
 * all threads see that work and what all threads wrote before the gate. By the memory model of CUDA: what a block's
 * threads wrote happens before the fence of its thread 0 (by the barrier before it), and that fence before the addition
 * to `came`. The additions read from one another, so the fence after the last one synchronises with all those fences;
 * the barrier that follows extends this to the whole block. `opened` works the same way in the other direction: a fence
 * before it is written, a fence of thread 0 after the read that has seen the change, and that block's barrier. These
 * fences also invalidate the multiprocessor's L1 cache, so plain reads after the gate are right.
 *
 * Both words begin as 0 and are ready for the next grid when one has ended. */
#pragma once

#include "block.cuh"

struct cu_gate {
  uint32_t came, opened;
};

enum { CU_GATE_NS = 32 }; /* between two looks */

/* All threads of all blocks of the grid must call; `work` runs on all threads of the last block to come. */
template <class F> __device__ static __forceinline__ void cu_pass(cu_gate *gate, F work) {
  CU_SHARED(uint32_t, last, 1);
  uint32_t before = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    before = cu_read_once(&gate->opened); /* cannot change before this block has come */
    __threadfence();
    *last = atomicAdd(&gate->came, 1u) == gridDim.x * gridDim.y - 1u;
    __threadfence();
  }
  __syncthreads();
  if (*last) {
    if (threadIdx.x == 0) atomicExch(&gate->came, 0u);
    work();
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(&gate->opened, before + 1u);
    }
  } else if (threadIdx.x == 0) {
    while (cu_read_once(&gate->opened) == before) __nanosleep(CU_GATE_NS);
    __threadfence();
  }
  __syncthreads();
}
