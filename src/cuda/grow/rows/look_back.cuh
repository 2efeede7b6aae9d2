/* Sums of the blocks before a block, while these run: "decoupled look-back" (Merrill and Garland 2016, "Single-pass
 * parallel prefix scan with decoupled look-back", NVIDIA technical report NVR-2016-002, section 4).
 *
 * Blocks of a chain first publish their own sum and later, when the sum before them is known, the sum including them.
 * To find the sum before it, a block reads backwards until it meets such a sum, and waits for blocks that have
 * published nothing.
 *
 * Memory order: flag and number are one aligned word of 64 bits, which is read and written as one. A reader that sees
 * the flag sees the number, and reads nothing else on its strength; what blocks write besides, later kernels read. So
 * relaxed order is enough, and there is no fence.
 *
 * Progress: a block must take its number from a counter when it runs. So all lower numbers are those of blocks
 * that run or have ended, whatever the order in which the device starts blocks and however many it has room for; and a
 * block waits only for lower numbers of its chain, so the lowest one that has not ended never waits. */
#pragma once

#include "../../base/block.cuh"

enum : uint32_t { CU_NOT_YET = 0, CU_ITS_SUM, CU_SUM_UPTO }; /* of a state: upper half; states begin as 0 */
enum { CU_LOOK_NS = 32 };                                    /* between two looks */

__device__ static __forceinline__ void cu_publish(unsigned long long *state, uint32_t flag, uint32_t sum) {
  atomicExch(state, (unsigned long long)flag << 32 | sum);
}

/* The sum of the blocks before the i-th of a chain. All lanes of one warp call; all get it. */
__device__ static __forceinline__ uint32_t cu_look_back(unsigned long long *state, uint32_t i) {
  uint32_t before = 0;
  for (uint32_t end = i; end > 0; end -= 32u) {
    const int there = cu_lane() < end;
    uint32_t flag = CU_SUM_UPTO, sum = 0, upto, none; /* before the first: a sum of nothing */
    do {
      if (there) {
        const unsigned long long word = cu_read_once(&state[end - 1u - cu_lane()]);
        flag = (uint32_t)(word >> 32);
        sum = (uint32_t)word;
      }
      upto = __ballot_sync(CU_ALL, flag == CU_SUM_UPTO);
      none = __ballot_sync(CU_ALL, flag == CU_NOT_YET);
      if (upto) none &= (upto & (0u - upto)) - 1u; /* those before the nearest such sum do not matter */
      if (none) __nanosleep(CU_LOOK_NS);
    } while (none);
    const uint32_t last = upto ? (uint32_t)__ffs((int)upto) - 1u : 31u;
    before += cu_warp_sum(cu_lane() <= last ? sum : 0u);
    if (upto) break;
  }
  return before;
}
