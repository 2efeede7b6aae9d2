/* Shared by the searches: a node that is searched, a feature of it, the best of a warp.
 *
 *   cu_asked   the node's side: twin of cpu_search_node
 *   cu_codes   a feature's histogram by code, the zero bin that has no slot made up: twin of cpu_search_feature
 *
 * A warp works on one feature of one node; all of its lanes call these functions. */
#pragma once

#include "score_bound.cuh"

extern "C" {
#include "../../../gbt/tree/random_cut.h"
}

/* ---- the node ---- */

struct cu_asked {
  gbt_sum sum; /* the node's */
  gbt_rated rated;
  gbt_units unit;
  gbt_reg reg;
  double floor, min_gain; /* what may be rounding; that or gamma */
  int64_t n_rows, min_rows;
};

/* Which of a node's cuts need no rating; 16-bit gradients of fewer than 2^32 rows have sums below 2^53. */
__device__ static __forceinline__ cu_bound cu_bound_of(const cu_view &v, const cu_asked &q) {
  return cu_bound_of(&q.rated, q.unit, q.reg, !v.tree->wide, q.min_gain);
}

__device__ static __forceinline__ cu_asked cu_ask(const cu_view &v, const gbt_grow_node *node) {
  cu_asked q;
  q.sum = node->sum;
  q.unit = v.tree->unit;
  q.reg = v.policy.reg;
  q.rated = gbt_rated_of(node, q.unit, q.reg, v.params.min_child_weight, v.constrained);
  q.floor = gbt_noise_floor(q.unit, node->n_rows, q.rated.H);
  q.min_gain = gbt_least_gain(v.params.gamma, q.floor);
  q.n_rows = node->n_rows;
  q.min_rows = v.params.min_data_in_leaf;
  return q;
}

/* Whether features compete by more than gains. */
__device__ static __forceinline__ int cu_contests(const cu_view &v) { return gbt_contests(&v.params, v.handicap); }

/* How splits compete for a node or layer. */
__device__ static __forceinline__ gbt_contest cu_contest(const cu_view &v, uint64_t of, double before) {
  if (!cu_contests(v)) return gbt_contest_plain();
  return gbt_contest_of(&v.params, v.handicap, v.tree->task.contest_noise, v.tree->noise, v.tree->task.tree, of,
                        before);
}

/* The key by which cuts are drawn in a node or layer: twin of cpu_cut_key. */
__device__ static __forceinline__ gbt_key32 cu_cut_key(const cu_view &v, uint64_t of) {
  return gbt_cut_key((uint64_t)v.params.seed, v.tree->task.tree, of);
}

__device__ static __forceinline__ int cu_sign(const cu_view &v, int32_t feat) {
  return v.policy.monotone ? v.policy.monotone[feat] : 0;
}

/* Whether the tree may use the feature at all: feats ascend. */
__device__ static __forceinline__ int cu_in_tree(const cu_view &v, int32_t feat) {
  const int32_t n = v.feats[0], lo = cu_lower_bound(v.feats + 1, 0, n, feat);
  return lo < n && v.feats[1 + lo] == feat;
}

/* Whether the i-th searched node may use a feature of the tree. */
__device__ static __forceinline__ int cu_may_use(const cu_view &v, int32_t i, int32_t feat) {
  return v.allowed[(v.by_node ? (uint64_t)i * (uint32_t)v.n_features : 0u) + (uint32_t)feat];
}

/* Room for a bitset of n_words in v.sets; more than there is: a fault, and no split. */
__device__ static __forceinline__ int cu_take_words(const cu_view &v, uint32_t n_words, uint32_t *beg) {
  *beg = atomicAdd(&v.tree->n_words, n_words);
  if (*beg + n_words <= v.max_words) return 1;
  atomicOr(&v.tree->fault, (unsigned)CU_FAULT_ROOM);
  return 0;
}

/* ---- a feature's histogram ---- */

/* A cell of a histogram: one access instead of two. Histograms are aligned (state.cu). */
struct __attribute__((may_alias, aligned(16))) cu_cell {
  int64_t g, h;
};
__device__ static __forceinline__ gbt_sum cu_cell_of(const gbt_sum *at) {
  const cu_cell c = *(const cu_cell *)(const void *)at;
  const gbt_sum s = {c.g, c.h};
  return s;
}
__device__ static __forceinline__ void cu_cell_put(gbt_sum *at, gbt_sum s) {
  const cu_cell c = {s.g, s.h};
  *(cu_cell *)(void *)at = c;
}

struct cu_codes {
  const gbt_sum *sum;
  const uint32_t *count; /* NULL: not counted */
  int32_t n_bins, zero_bin;
  int has_slot; /* the missing code has one, or is the zero bin */
  gbt_sum zero; /* of the zero bin that has no slot */
  int64_t zero_rows;
};

enum { CU_AHEAD = 4 }; /* runs of 32 codes whose loads do not wait for each other */

/* Takes the sibling's sums and counts off the node's own. The warp may read them afterwards. */
__device__ static __forceinline__ void cu_subtract_sibling(const cu_view &v, const cu_feature &f, int32_t hist,
                                                           int32_t minus) {
  gbt_sum *own = v.sum + (uint64_t)(uint32_t)hist * v.n_slots + f.slot;
  const gbt_sum *less = v.sum + (uint64_t)(uint32_t)minus * v.n_slots + f.slot;
  for (uint32_t beg = 0; beg < f.n_slots; beg += 32u * CU_AHEAD) {
    gbt_sum a[CU_AHEAD], b[CU_AHEAD];
    CU_UNROLL
    for (int k = 0; k < CU_AHEAD; k++) {
      const uint32_t s = beg + (uint32_t)k * 32u + cu_lane();
      a[k].g = a[k].h = b[k].g = b[k].h = 0; /* or registers keep what the round before left in them */
      if (s < f.n_slots) {
        a[k] = cu_cell_of(own + s);
        b[k] = cu_cell_of(less + s);
      }
    }
    CU_UNROLL
    for (int k = 0; k < CU_AHEAD; k++) {
      const uint32_t s = beg + (uint32_t)k * 32u + cu_lane();
      if (s >= f.n_slots) continue;
      a[k].g -= b[k].g;
      a[k].h -= b[k].h;
      cu_cell_put(own + s, a[k]);
    }
  }
  if (f.counts) {
    const uint64_t at = (uint64_t)(uint32_t)hist * v.n_slots + f.slot,
                   to = (uint64_t)(uint32_t)minus * v.n_slots + f.slot;
    for (uint32_t s = cu_lane(); s < f.n_slots; s += 32u) v.count[at + s] -= v.count[to + s];
  }
  __syncwarp();
}

__device__ static __forceinline__ cu_codes cu_codes_of(const cu_view &v, const gbt_grow_node *node,
                                                       const cu_feature &f) {
  cu_codes k;
  uint64_t at = (uint64_t)(uint32_t)node->hist * v.n_slots + f.slot;
  k.sum = v.sum + at;
  k.count = f.counts ? v.count + at : nullptr;
  k.n_bins = f.n_bins;
  k.zero_bin = f.zero_bin;
  k.has_slot = (int32_t)f.n_slots + (f.zero_bin >= 0) > f.n_bins; /* as gbt_place_has_missing */
  k.zero.g = k.zero.h = k.zero_rows = 0;
  if (f.zero_bin < 0) return k;
  gbt_sum all = {0, 0};
  uint32_t rows = 0;
  for (uint32_t s = cu_lane(); s < f.n_slots; s += 32u) {
    all = cu_plus(all, cu_cell_of(k.sum + s));
    if (k.count) rows += k.count[s];
  }
  all = cu_warp_sum(all);
  k.zero.g = node->sum.g - all.g;
  k.zero.h = node->sum.h - all.h;
  if (k.count) k.zero_rows = (int64_t)node->n_rows - (int64_t)cu_warp_sum(rows);
  return k;
}

__device__ static __forceinline__ int32_t cu_slot_of(const cu_codes &k, int32_t code) {
  return code - (k.zero_bin >= 0 && code > k.zero_bin);
}

__device__ static __forceinline__ gbt_sum cu_sum_of(const cu_codes &k, int32_t code) {
  return code == k.zero_bin ? k.zero : cu_cell_of(k.sum + cu_slot_of(k, code));
}

__device__ static __forceinline__ int64_t cu_rows_of(const cu_codes &k, int32_t code) {
  if (!k.count) return 0;
  return code == k.zero_bin ? k.zero_rows : (int64_t)k.count[cu_slot_of(k, code)];
}

/* The node's missing values of the feature. */
struct cu_missing {
  gbt_sum sum;
  int64_t rows;
  int any; /* their sums are not 0, or they were counted */
};

/* there: 0 says that nothing is to be looked for. */
__device__ static __forceinline__ cu_missing cu_missing_of(const cu_codes &k, int there) {
  cu_missing m;
  m.sum.g = m.sum.h = m.rows = 0;
  if (there && k.has_slot) {
    m.sum = cu_sum_of(k, k.n_bins);
    m.rows = cu_rows_of(k, k.n_bins);
  }
  m.any = m.sum.g != 0 || m.sum.h != 0 || m.rows > 0;
  return m;
}

/* ---- candidates ---- */

/* Sums of the lanes up to and including this one, plus `before`; and `before` of the next chunk. */
struct cu_run {
  gbt_sum sum;
  int64_t rows;
};

__device__ static __forceinline__ cu_run cu_add_up(cu_run *before, gbt_sum sum, int64_t rows, int counted) {
  cu_run r;
  r.sum = cu_plus(before->sum, cu_warp_scan(sum));
  r.rows = counted ? before->rows + cu_warp_scan(rows) : 0;
  before->sum = cu_from(r.sum, 31);
  if (counted) before->rows = cu_from(r.rows, 31);
  return r;
}

/* Takes s when it is worth it and better than *best. g, h: its left sums as real numbers; cost: taken off its gain. */
__device__ static __forceinline__ void cu_try(const cu_asked &q, gbt_split s, double g, double h, gbt_reg reg, int sign,
                                              double cost, gbt_split *best) {
  s.gain = gbt_rate_split(&q.rated, g, h, reg, sign) - cost;
  if (s.gain > q.min_gain && gbt_split_beats(&s, best)) *best = s;
}

/* Whether either side has `least` rows when so many go left. */
__device__ static __forceinline__ int cu_enough(const cu_asked &q, int64_t left, int64_t least) {
  return left >= least && q.n_rows - left >= least;
}

__device__ static __forceinline__ gbt_split cu_no_split() {
  gbt_split s = {};
  return s;
}

/* The best of all lanes' splits goes to *out, kind NONE when there is none. No two lanes have the same candidate. */
__device__ static __forceinline__ void cu_warp_best(const gbt_split &mine, gbt_split *out) {
  const unsigned some = __ballot_sync(CU_ALL, mine.kind != GBT_SPLIT_NONE);
  if ((some & (some - 1u)) == 0) { /* one lane at most */
    if (cu_lane() == (some ? (unsigned)__ffs((int)some) - 1u : 0u)) *out = mine;
    return;
  }
  gbt_split top = mine;
  for (int d = 16; d > 0; d >>= 1) {
    gbt_split other = top;
    int32_t flags = __shfl_xor_sync(CU_ALL, (top.kind << 8) | (top.from_top << 1) | top.missing_left, d);
    other.gain = __shfl_xor_sync(CU_ALL, top.gain, d);
    other.feat = __shfl_xor_sync(CU_ALL, top.feat, d);
    other.bin = __shfl_xor_sync(CU_ALL, top.bin, d);
    other.kind = flags >> 8;
    other.from_top = (int8_t)(flags >> 1 & 1);
    other.missing_left = (int8_t)(flags & 1);
    if (gbt_split_beats(&other, &top)) top = other;
  }
  /* The order is total: exactly one lane holds the winner. */
  if (mine.kind != GBT_SPLIT_NONE && !gbt_split_beats(&top, &mine)) *out = mine;
}
