/* Exact sums of doubles (base/exact_sum.h) by all threads of a grid. There is one long accumulator, in global memory. A
 * thread keeps five neighbouring limbs of it in registers,
 *
 *   limb   0 ... 30 [31 32 33 34 35] 36 ... 67        terms from 2^-44 to 2^52 in the beginning
 *
 * adds terms there, and empties them by atomics when a term lies elsewhere (the five are then moved to it) and at its
 * end, warp by warp where the lanes have the same five. A limb takes 2^31 pieces below 2^32, and gets at most two for a
 * term: sums of up to 2^29 terms are safe. */
#pragma once

#include "block.cuh"

extern "C" {
#include "../../gbt/base/exact_sum.h"
}

enum { CU_LIMBS = 5, CU_LIMBS_FIRST = 31, CU_LIMBS_LAST = GBT_EXACT_LIMBS - CU_LIMBS - 1 };

/* Some neighbouring limbs of a thread. */
struct cu_limbs {
  int32_t at;
  int64_t limb[CU_LIMBS];
};

__device__ static __forceinline__ void cu_limbs_at(cu_limbs *k, int32_t at) {
  k->at = at;
  CU_UNROLL for (int i = 0; i < CU_LIMBS; i++) k->limb[i] = 0;
}

/* A limb's upper half goes to the next one, so that what is added stays below 2^32. */
__device__ static __forceinline__ void cu_limbs_empty(const cu_limbs *k, gbt_exact_sum *sum) {
  CU_UNROLL for (int i = 0; i < CU_LIMBS; i++) {
    int64_t v = k->limb[i];
    if (v == 0) continue;
    cu_add64(&sum->limb[k->at + i], v & 0xffffffff);
    cu_add64(&sum->limb[k->at + i + 1], v >> 32);
  }
}

/* An infinity or NaN. */
__device__ static __forceinline__ void cu_exact_add_unusual(gbt_exact_sum *sum, uint64_t bits) {
  if ((bits & 0xfffffffffffffu) != 0)
    cu_add64(&sum->n_nan, 1);
  else
    cu_add64(bits >> 63 ? &sum->n_neg_inf : &sum->n_pos_inf, 1);
}

/* As gbt_exact_add, by atomics. */
__device__ static __forceinline__ void cu_exact_add(gbt_exact_sum *sum, double x) {
  const uint64_t u = gbt_bits(x);
  if (((u >> 52) & 0x7ffu) == 0x7ffu) {
    cu_exact_add_unusual(sum, u);
    return;
  }
  if (u << 1 == 0) return;
  const gbt_exact_pieces p = gbt_exact_split(u);
  if (p.low != 0) cu_add64(&sum->limb[p.limb], p.low);
  if (p.mid != 0) cu_add64(&sum->limb[p.limb + 1], p.mid);
  if (p.top != 0) cu_add64(&sum->limb[p.limb + 2], p.top);
}

/* The same by the thread's limbs. */
__device__ static __forceinline__ void cu_limbs_add(cu_limbs *k, gbt_exact_sum *sum, double x) {
  const uint64_t u = gbt_bits(x);
  if (((u >> 52) & 0x7ffu) == 0x7ffu) {
    cu_exact_add_unusual(sum, u);
    return;
  }
  if (u << 1 == 0) return;
  const gbt_exact_pieces p = gbt_exact_split(u);
  int32_t d = (int32_t)p.limb - k->at;
  if (d < 0 || d > 2) {
    cu_limbs_empty(k, sum);
    int32_t at = (int32_t)p.limb - 1;
    cu_limbs_at(k, at < 0 ? 0 : at > CU_LIMBS_LAST ? (int32_t)CU_LIMBS_LAST : at);
    d = (int32_t)p.limb - k->at;
  }
  k->limb[0] += d == 0 ? p.low : 0;
  k->limb[1] += d == 0 ? p.mid : d == 1 ? p.low : 0;
  k->limb[2] += d == 0 ? p.top : d == 1 ? p.mid : p.low;
  k->limb[3] += d == 0 ? 0 : d == 1 ? p.top : p.mid;
  k->limb[4] += d == 2 ? p.top : 0;
}

/* All lanes of the warp. */
__device__ static __forceinline__ void cu_limbs_empty_warp(cu_limbs *k, gbt_exact_sum *sum) {
  if (__ballot_sync(CU_ALL, k->at == cu_from(k->at, 0)) != CU_ALL) {
    cu_limbs_empty(k, sum);
    return;
  }
  CU_UNROLL for (int i = 0; i < CU_LIMBS; i++) k->limb[i] = cu_warp_sum(k->limb[i]);
  if (cu_lane() == 0) cu_limbs_empty(k, sum);
}
