/* Levels in order of gradient, by one block; and which of the sets that the order offers are tried. For split_cat.cu
 * and layer.cu.
 *
 *   place   levels that take part get a key (their ratio as bits that order like it), in any order
 *   sort    by (key, level), bitonic: in shared memory where all fit, else part by part there, with the steps that
 *           reach over more than a part in the block's own scratch in global memory
 *
 * Keys and levels make a total order, so the outcome does not depend on how levels were placed. A bitonic sort needs a
 * power of two: places after the last level hold the largest possible key and level. */
#pragma once

#include "search.cuh"

enum : uint32_t { CU_SORT_PART = 2048, CU_NO_LEVEL = 0xffff };

struct cu_level_order {
  uint64_t *key;
  uint16_t *level;
  uint64_t *part_key; /* CU_SORT_PART, shared; the same as `key` when all fit */
  uint16_t *part_level;
  uint32_t n;
};

/* Shared memory of a block that puts levels in order. */
struct cu_order_room {
  uint64_t key[CU_SORT_PART];
  uint16_t level[CU_SORT_PART];
  uint32_t n_placed;
};

/* One step of a bitonic sort of n elements, which are elements [base, base + n) of all: pairs `reach` apart in runs of
 * `size`, runs ascending and descending by turns. */
__device__ static __forceinline__ void cu_bitonic_step(uint64_t *key, uint16_t *level, uint32_t n, uint32_t base,
                                                       uint32_t size, uint32_t reach) {
  for (uint32_t p = threadIdx.x; p < n / 2u; p += blockDim.x) {
    uint32_t within = p & (reach - 1u), a = 2u * (p - within) + within, b = a + reach; /* reach: a power of two */
    int down = ((base + a) & size) != 0;
    int after = key[a] > key[b] || (key[a] == key[b] && level[a] > level[b]);
    if (after == down) continue;
    uint64_t k = key[a];
    uint16_t l = level[a];
    key[a] = key[b];
    level[a] = level[b];
    key[b] = k;
    level[b] = l;
  }
  __syncthreads();
}

/* Steps of sizes [first, last] that reach at most half a part, of one part. */
__device__ static __forceinline__ void cu_sort_part(const cu_level_order &r, uint32_t base, uint32_t n, uint32_t first,
                                                    uint32_t last) {
  const int moved = r.key != r.part_key;
  for (uint32_t i = threadIdx.x; moved && i < n; i += blockDim.x) {
    r.part_key[i] = r.key[base + i];
    r.part_level[i] = r.level[base + i];
  }
  __syncthreads();
  for (uint32_t size = first; size <= last; size *= 2u)
    for (uint32_t reach = size / 2u < n / 2u ? size / 2u : n / 2u; reach > 0; reach /= 2u)
      cu_bitonic_step(r.part_key, r.part_level, n, base, size, reach);
  for (uint32_t i = threadIdx.x; moved && i < n; i += blockDim.x) {
    r.key[base + i] = r.part_key[i];
    r.level[base + i] = r.part_level[i];
  }
  __syncthreads();
}

__device__ static __forceinline__ void cu_sort_levels(const cu_level_order &r) {
  uint32_t all = 1;
  while (all < r.n) all *= 2u;
  for (uint32_t i = r.n + threadIdx.x; i < all; i += blockDim.x) {
    r.key[i] = ~(uint64_t)0;
    r.level[i] = CU_NO_LEVEL;
  }
  __syncthreads();
  uint32_t n = all < CU_SORT_PART ? all : (uint32_t)CU_SORT_PART;
  for (uint32_t base = 0; base < all; base += n) cu_sort_part(r, base, n, 2u, n);
  for (uint32_t size = 2u * n; size <= all; size *= 2u) {
    for (uint32_t reach = size / 2u; reach >= n; reach /= 2u) cu_bitonic_step(r.key, r.level, all, 0, size, reach);
    for (uint32_t base = 0; base < all; base += n) cu_sort_part(r, base, n, size, size);
  }
}

/* The levels of a feature that are placed in a node, in order of ratio_of(level). A block; room: its shared memory;
 * scratch: which of view.sort_blocks pieces is its own. All may read the result. */
template <class R>
__device__ static __forceinline__ cu_level_order cu_order_levels_by(const cu_view &v, const cu_codes &k,
                                                                    cu_order_room *room, uint32_t scratch,
                                                                    const R &ratio_of) {
  const double smooth = v.params.cat_smooth;
  const int fits = (uint32_t)k.n_bins <= CU_SORT_PART;
  cu_level_order r;
  r.part_key = room->key;
  r.part_level = room->level;
  r.key = fits ? r.part_key : v.sort_key + (uint64_t)scratch * v.sort_room;
  r.level = fits ? r.part_level : v.sort_level + (uint64_t)scratch * v.sort_room;
  __syncthreads(); /* whatever used the room before */
  if (threadIdx.x == 0) room->n_placed = 0;
  __syncthreads();
  for (int32_t beg = 0; beg < k.n_bins; beg += (int32_t)blockDim.x) {
    const int32_t c = beg + (int32_t)threadIdx.x;
    const int placed = c < k.n_bins && gbt_level_is_ordered((uint32_t)cu_rows_of(k, c), smooth);
    const unsigned who = __ballot_sync(CU_ALL, placed);
    uint32_t at = 0;
    if (cu_lane() == 0 && who) at = atomicAdd(&room->n_placed, (uint32_t)__popc(who));
    at = cu_from(at, 0) + (uint32_t)__popc(who & cu_lanes_before());
    if (!placed) continue;
    r.key[at] = gbt_order_key(ratio_of(c));
    r.level[at] = (uint16_t)c;
  }
  __syncthreads();
  r.n = room->n_placed;
  cu_sort_levels(r);
  return r;
}

/* By the node's own gradients. */
struct cu_own_ratio {
  const cu_codes *codes;
  gbt_units unit;
  double smooth;
  __device__ double operator()(int32_t c) const { return gbt_level_ratio(cu_sum_of(*codes, c), unit, smooth); }
};

__device__ static __forceinline__ cu_level_order cu_order_levels(const cu_view &v, const cu_codes &k,
                                                                 cu_order_room *room, uint32_t scratch) {
  const cu_own_ratio own = {&k, v.tree->unit, v.params.cat_smooth};
  return cu_order_levels_by(v, k, room, scratch, own);
}

/* The k-th level from the bottom or the top. */
__device__ static __forceinline__ int32_t cu_level_at(const cu_level_order &r, int from_top, int32_t k) {
  return r.level[from_top ? (int32_t)r.n - 1 - k : k];
}

/* The levels that a set sends left, as bits. A block. */
__device__ static __forceinline__ void cu_write_set(const gbt_split &s, const cu_level_order &r, int32_t n_bins,
                                                    uint32_t *words) {
  for (int32_t w = (int32_t)threadIdx.x; w < (n_bins + 31) / 32; w += (int32_t)blockDim.x) words[w] = 0;
  __syncthreads();
  for (int32_t at = (int32_t)threadIdx.x; at < s.bin; at += (int32_t)blockDim.x) {
    const int32_t c = cu_level_at(r, s.from_top, at);
    atomicOr(&words[c >> 5], 1u << (c & 31));
  }
}

/* Which lanes' sets are tried: those of at least `least` rows more than the last one that was. rows: of the set that
 * ends with this lane's level, ascending with the lanes; *last: rows of the last one tried, 0 at first. least > 0, so a
 * lane is not met twice. */
__device__ static __forceinline__ int cu_lanes_tried(int64_t rows, int live, int64_t least, int64_t *last) {
  int tried = 0;
  for (;;) {
    unsigned who = __ballot_sync(CU_ALL, live && rows - *last >= least);
    if (who == 0) return tried;
    int next = __ffs((int)who) - 1;
    if ((int)cu_lane() == next) tried = 1;
    *last = cu_from(rows, next);
  }
}
