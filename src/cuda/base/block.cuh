/* Sums, maxima and prefix sums over the threads of a warp or of a block, and over a list by one block.
 *
 *   warp     all 32 lanes must call; everyone gets the result
 *   block    all threads must call, in code that does not diverge; blockDim.x is a multiple of 32, at most 1,024, and
 *            blocks have one dimension. Everyone gets the result. Two barriers each: when the call returns, what the
 *            threads wrote to shared memory before it may be read
 *
 * T: int32_t, uint32_t, int64_t, uint64_t, unsigned long long, or gbt_sum (only for sums). */
#pragma once

#include "port.cuh"

extern "C" {
#include "../../gbt/math/fixed.h"
}

enum { CU_BLOCK = 256, CU_CONTROL = 256, CU_FULL = 32 }; /* threads of a usual block, of a single one; of a warp */

#define CU_ALL 0xffffffffu /* lanes of a whole warp */

enum { CU_MAX_WARPS = 32 };

__device__ static __forceinline__ uint32_t cu_lane() { return threadIdx.x & 31u; }
__device__ static __forceinline__ uint32_t cu_warp() { return threadIdx.x >> 5; }
__device__ static __forceinline__ uint32_t cu_n_warps() { return blockDim.x >> 5; }

/* Bits of the lanes before this one. */
__device__ static __forceinline__ uint32_t cu_lanes_before() { return (1u << cu_lane()) - 1u; }

/* Whether the block is one that the functions below are made for. */
__device__ static __forceinline__ bool cu_is_block() {
  return blockDim.x % 32u == 0 && cu_n_warps() <= CU_MAX_WARPS && blockDim.y == 1 && blockDim.z == 1;
}

/* ---- what differs between numbers and gbt_sum ---- */

template <class T> __device__ static __forceinline__ T cu_plus(T a, T b) { return a + b; }
__device__ static __forceinline__ gbt_sum cu_plus(gbt_sum a, gbt_sum b) {
  gbt_sum c = {a.g + b.g, a.h + b.h};
  return c;
}

__device__ static __forceinline__ gbt_sum cu_minus(gbt_sum a, gbt_sum b) {
  gbt_sum c = {a.g - b.g, a.h - b.h};
  return c;
}

template <class T> __device__ static __forceinline__ T cu_xor(T x, int d) { return __shfl_xor_sync(CU_ALL, x, d); }
__device__ static __forceinline__ gbt_sum cu_xor(gbt_sum x, int d) {
  gbt_sum y = {__shfl_xor_sync(CU_ALL, x.g, d), __shfl_xor_sync(CU_ALL, x.h, d)};
  return y;
}

template <class T> __device__ static __forceinline__ T cu_up(T x, unsigned d) { return __shfl_up_sync(CU_ALL, x, d); }
__device__ static __forceinline__ gbt_sum cu_up(gbt_sum x, unsigned d) {
  gbt_sum y = {__shfl_up_sync(CU_ALL, x.g, d), __shfl_up_sync(CU_ALL, x.h, d)};
  return y;
}

template <class T> __device__ static __forceinline__ T cu_from(T x, int lane) { return __shfl_sync(CU_ALL, x, lane); }
__device__ static __forceinline__ gbt_sum cu_from(gbt_sum x, int lane) {
  gbt_sum y = {__shfl_sync(CU_ALL, x.g, lane), __shfl_sync(CU_ALL, x.h, lane)};
  return y;
}

/* ---- a warp ---- */

template <class T> __device__ static __forceinline__ T cu_warp_sum(T x) {
  for (int d = 16; d > 0; d >>= 1) x = cu_plus(x, cu_xor(x, d));
  return x;
}

template <class T> __device__ static __forceinline__ T cu_warp_max(T x) {
  for (int d = 16; d > 0; d >>= 1) {
    T y = cu_xor(x, d);
    x = y > x ? y : x;
  }
  return x;
}

/* The sum of the lanes up to and with this one. */
template <class T> __device__ static __forceinline__ T cu_warp_scan(T x) {
  for (unsigned d = 1; d < 32; d <<= 1) {
    T y = cu_up(x, d);
    if (cu_lane() >= d) x = cu_plus(x, y);
  }
  return x;
}

/* ---- a block ---- */

template <class T> __device__ static __forceinline__ T cu_block_sum(T x) {
  GBT_ASSERT(cu_is_block());
  CU_SHARED(T, part, CU_MAX_WARPS);
  x = cu_warp_sum(x);
  if (cu_lane() == 0) part[cu_warp()] = x;
  __syncthreads();
  T y = {};
  if (cu_lane() < cu_n_warps()) y = part[cu_lane()];
  y = cu_warp_sum(y);
  __syncthreads(); /* `part` may be written again */
  return y;
}

template <class T> __device__ static __forceinline__ T cu_block_max(T x) {
  GBT_ASSERT(cu_is_block());
  CU_SHARED(T, part, CU_MAX_WARPS);
  x = cu_warp_max(x);
  if (cu_lane() == 0) part[cu_warp()] = x;
  __syncthreads();
  T y = cu_warp_max(part[cu_lane() < cu_n_warps() ? cu_lane() : 0]);
  __syncthreads();
  return y;
}

/* The sum of the threads before this one; *total: of all. */
template <class T> __device__ static __forceinline__ T cu_block_scan(T x, T *total) {
  GBT_ASSERT(cu_is_block());
  CU_SHARED(T, part, CU_MAX_WARPS);
  T upto = cu_warp_scan(x), before = cu_up(upto, 1);
  if (cu_lane() == 31) part[cu_warp()] = upto;
  __syncthreads();
  T y = {};
  if (cu_lane() < cu_n_warps()) y = part[cu_lane()];
  y = cu_warp_scan(y);
  *total = cu_from(y, (int)cu_n_warps() - 1);
  T warps = cu_from(y, cu_warp() > 0 ? (int)cu_warp() - 1 : 0);
  __syncthreads();
  T none = {};
  if (cu_lane() == 0) before = none;
  return cu_warp() > 0 ? cu_plus(warps, before) : before;
}

/* ---- a list, by one block ---- */

/* first[i] = count(0) + ... + count(i - 1) for 0 <= i <= n; returns first[n]. count(i) is called once for every i, by
 * any thread. Every thread may read all of first afterwards. */
template <class F> __device__ static __forceinline__ uint32_t cu_block_prefix(int64_t n, uint32_t *first, F count) {
  uint32_t before = 0;
  for (int64_t beg = 0; beg < n; beg += blockDim.x) {
    int64_t i = beg + threadIdx.x;
    uint32_t total, at = cu_block_scan(i < n ? (uint32_t)count(i) : 0u, &total);
    if (i < n) first[i] = before + at;
    before += total;
  }
  if (threadIdx.x == 0) first[n] = before;
  __syncthreads();
  return before;
}

/* ---- by a thread ---- */

__device__ static __forceinline__ void cu_add64(int64_t *to, int64_t x) {
  atomicAdd((unsigned long long *)to, (unsigned long long)x);
}

/* The first place in x[lo .. hi), ascending, that is not below `value`; hi when there is none. */
template <class T, class I> __device__ static __forceinline__ I cu_lower_bound(const T *x, I lo, I hi, T value) {
  while (lo < hi) {
    const I mid = lo + (hi - lo) / 2;
    if (x[mid] < value)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* The same of a descending x: the first place that is below `value`. */
template <class T, class I> __device__ static __forceinline__ I cu_first_below(const T *x, I lo, I hi, T value) {
  while (lo < hi) {
    const I mid = lo + (hi - lo) / 2;
    if (x[mid] >= value)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Which of n runs, first[0] <= ... <= first[n], block b belongs to: the last i with first[i] <= b. */
__device__ static __forceinline__ int32_t cu_run_of(const uint32_t *first, int32_t n, uint32_t b) {
  int32_t lo = 0, hi = n;
  while (hi - lo > 1) {
    int32_t mid = lo + (hi - lo) / 2;
    if (first[mid] <= b)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}
