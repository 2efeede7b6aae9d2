/* Blocks that wait for each other: all of a grid that CU_LAUNCH_TOGETHER started, so that all are resident.
 *
 *   came     blocks that stand at the gate; the last one sets it to 0 again
 *   opened   how often the gate was opened: those that wait look whether it has changed
 *
 * The last block to come may work before it opens, and sees what all others have written; behind the gate everybody
 * sees what everybody wrote before it, and that work. By the memory model of CUDA: what a block's threads wrote happens
 * before the fence of its thread 0 (the barrier in front of it), and that fence before the addition to `came`. The
 * additions read from one another, so the fence behind the last one synchronises with all those fences; the barrier
 * behind it hands this on to the block. The way back is the same by `opened`: the fence before it is written, the fence
 * of a thread 0 behind the look that has seen it, and its block's barrier. These fences also end the use of what a
 * multiprocessor's first cache holds, so plain reads behind the gate are right.
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
    before = cu_look(&gate->opened); /* cannot change before this block has come */
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
    while (cu_look(&gate->opened) == before) __nanosleep(CU_GATE_NS);
    __threadfence();
  }
  __syncthreads();
}
