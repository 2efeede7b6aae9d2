/* The search of a run of features by a warp: for split.cu, and for small.cu, which has all steps in one kernel. */
#pragma once

#include "search.cuh"

enum { CU_CUTS = 8 }; /* of a lane at a time */

/* A numeric feature of a node, as cu_search_numeric looks at it. */
struct cu_numeric {
  cu_missing miss;
  int32_t feat, n_left, n_right; /* cuts with missing values on the left, on the right */
  int sign, counted;
};

/* The cells and counts of a feature that has them all in slots, less those of a sibling. Where the node's children have
 * no use for them they are not written: its histogram stays the parent's. */
struct cu_difference {
  gbt_sum *own;
  uint32_t *count;  /* NULL: not counted */
  int64_t to;       /* from a slot to the sibling's */
  int taken, kept;  /* a sibling is taken off; what is left is written */
};

__device__ static __forceinline__ cu_difference cu_difference_of(const cu_view &v, const cu_asked &q,
                                                                 const cu_feature &f, int32_t minus) {
  const uint64_t at = (uint64_t)(uint32_t)q.node->hist * v.n_slots + f.slot;
  cu_difference d;
  d.own = v.sum + at;
  d.count = f.counts ? v.count + at : nullptr;
  d.taken = minus >= 0;
  d.to = d.taken ? ((int64_t)minus - q.node->hist) * (int64_t)v.n_slots : 0;
  d.kept = d.taken && !(v.policy.max_depth > 0 && q.node->depth + 1 >= v.policy.max_depth);
  return d;
}

/* Puts the difference of the missing code into *miss; every lane reads its slot before it is written. */
__device__ static __forceinline__ void cu_missing_less(const cu_difference &d, const cu_feature &f, cu_missing *miss) {
  if (!d.taken || (int32_t)f.n_slots <= f.n_bins) return;
  miss->sum = cu_minus(miss->sum, cu_cell_of(d.own + d.to + f.n_bins));
  if (d.count) miss->rows -= (int64_t)d.count[d.to + f.n_bins];
  miss->any = miss->sum.g != 0 || miss->sum.h != 0 || miss->rows > 0;
  __syncwarp();
  if (!d.kept || cu_lane() != 0) return;
  cu_cell_put(d.own + f.n_bins, miss->sum);
  if (d.count) d.count[f.n_bins] = (uint32_t)miss->rows;
}

/* Takes the sibling's off the lane's cells from `beg` on. */
__device__ static __forceinline__ void cu_cells_less(const cu_difference &d, int32_t beg, int32_t n_bins, gbt_sum *sum,
                                                     uint32_t *rows) {
  gbt_sum less[CU_CUTS];
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    const int32_t c = beg + 32 * i + (int32_t)cu_lane();
    less[i].g = less[i].h = 0;
    if (c < n_bins) less[i] = cu_cell_of(d.own + d.to + c);
  }
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    const int32_t c = beg + 32 * i + (int32_t)cu_lane();
    sum[i] = cu_minus(sum[i], less[i]);
    if (c >= n_bins) continue;
    if (d.kept) cu_cell_put(d.own + c, sum[i]);
    if (!d.count) continue;
    rows[i] -= d.count[d.to + c];
    if (d.kept) d.count[c] = rows[i];
  }
}

/* Rates cut c with left sums `sum`, rows of them, without missing values; *best: the better of it and what it was. */
__device__ static __forceinline__ void cu_rate_cut(const cu_asked &q, const cu_numeric &n, int32_t c, gbt_sum sum,
                                                   int64_t rows, gbt_split *best) {
  double g = (double)sum.g * q.unit.g, h = (double)sum.h * q.unit.h;
  for (int left = 0; left <= n.miss.any; left++) {
    if (c >= (left ? n.n_left : n.n_right)) continue;
    if (left) {
      g += (double)n.miss.sum.g * q.unit.g;
      h += (double)n.miss.sum.h * q.unit.h;
      sum = cu_plus(sum, n.miss.sum);
      rows += n.miss.rows;
    }
    if (n.counted && !cu_enough(q, rows, q.min_rows)) continue;
    gbt_split s = cu_no_split();
    s.kind = GBT_SPLIT_NUMERIC;
    s.feat = n.feat;
    s.bin = c;
    s.missing_left = (int8_t)left;
    s.has_missing = (int8_t)n.miss.any;
    s.left = sum;
    cu_try(q, s, g, h, q.reg, n.sign, 0.0, best);
  }
}

/* The larger cu_score of a cut's two sides for missing values; -1: neither counts. */
__device__ static __forceinline__ float cu_score_cut(const cu_asked &q, const cu_bound &bound, const cu_numeric &n,
                                                     int32_t c, gbt_sum sum, int64_t rows) {
  float top = -1.0f;
  if (c < n.n_right && (!n.counted || cu_enough(q, rows, q.min_rows)))
    top = cu_score(&bound, sum, cu_minus(q.node->sum, sum));
  if (!n.miss.any || c >= n.n_left) return top;
  sum = cu_plus(sum, n.miss.sum);
  if (n.counted && !cu_enough(q, rows + n.miss.rows, q.min_rows)) return top;
  const float other = cu_score(&bound, sum, cu_minus(q.node->sum, sum));
  return other > top ? other : top;
}

/* Which of a lane's cuts, beg + 32 i + lane, are to be rated, as bits i; *bar rises. */
__device__ static __forceinline__ uint32_t cu_cuts_to_rate(const cu_asked &q, const cu_bound &bound,
                                                           const cu_numeric &n, int32_t beg, const gbt_sum *sum,
                                                           const uint32_t *rows, float *bar) {
  float score[CU_CUTS], top = -1.0f;
  uint32_t rate = 0;
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    const int32_t c = beg + 32 * i + (int32_t)cu_lane();
    score[i] = bound.on ? cu_score_cut(q, bound, n, c, sum[i], (int64_t)rows[i]) : 0.0f;
    top = score[i] > top ? score[i] : top;
  }
  if (bound.on) {
    top = cu_warp_max(top) * CU_SCORE_KEPT;
    *bar = top > *bar ? top : *bar;
  }
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++)
    if (score[i] >= *bar && beg + 32 * i + (int32_t)cu_lane() < n.n_right) rate |= 1u << i;
  return rate;
}

/* Cuts of a numeric feature.
 *
 * The CPU lists the bins that hold something, and bin 0. Here every cut is looked at: one behind an empty bin has the
 * integer sums of the cut before it, hence the same gain to the bit, and loses to it as the higher bin. Where all
 * values lie on one side, one of the hessians is 0 - 0 or H - H and the candidate is refused; so a node with nothing
 * outside the zero bin gives no candidate either. Real numbers of missing values are added to those of the left bins,
 * as on the CPU: the sums would be other ones if they were added as integers first.
 *
 * Only cuts that may be the best are rated, see score_bound.cuh; *bar: what they must reach, of all features of the
 * warp. Lanes take their next cuts together, whichever they are. minus >= 0: the sibling's cells are taken off as the
 * node's are read; of a feature whose zero bin has no slot the caller has taken them off before. */
__device__ static __forceinline__ void cu_search_numeric(const cu_view &v, const cu_asked &q, const cu_bound &bound,
                                                         int32_t feat, const cu_feature &f, int32_t minus,
                                                         float *bar, gbt_split *best) {
  const cu_difference less = cu_difference_of(v, q, f, minus);
  cu_codes k = cu_codes_of(v, q.node, f);
  cu_numeric n;
  /* features of two bins that are looked at together on the CPU trust the cuts: no missing values there, none here */
  int trusted = f.n_bins == 2 && f.zero_bin <= 1 && !f.has_missing && !v.constrained;
  n.miss = cu_missing_of(k, 1);
  cu_missing_less(less, f, &n.miss);
  if (trusted && n.miss.any) {
    if (k.zero_bin >= 0) {
      k.zero = cu_plus(k.zero, n.miss.sum);
      k.zero_rows += n.miss.rows;
    }
    n.miss = cu_missing_of(k, 0);
  }
  n.feat = feat;
  n.sign = cu_sign(v, feat);
  n.counted = k.count != nullptr;
  n.n_left = f.n_bins - 1;
  n.n_right = n.miss.any ? f.n_bins : n.n_left; /* all left: missing ones go right */
  gbt_sum before = {0, 0};
  uint32_t rows_before = 0;
  for (int32_t beg = 0; beg < (less.kept ? f.n_bins : n.n_right); beg += 32 * CU_CUTS) {
    gbt_sum sum[CU_CUTS];
    uint32_t rows[CU_CUTS];
    CU_UNROLL
    for (int i = 0; i < CU_CUTS; i++) {
      const int32_t c = beg + 32 * i + (int32_t)cu_lane();
      sum[i].g = sum[i].h = 0;
      rows[i] = 0;
      if (c >= f.n_bins) continue;
      sum[i] = cu_sum_of(k, c);
      rows[i] = (uint32_t)cu_rows_of(k, c);
    }
    if (less.taken) cu_cells_less(less, beg, f.n_bins, sum, rows);
    CU_UNROLL
    for (int i = 0; i < CU_CUTS; i++) {
      if (beg + 32 * i >= n.n_right) break;
      sum[i] = cu_plus(before, cu_warp_scan(sum[i]));
      before = cu_from(sum[i], 31);
      if (!n.counted) continue;
      rows[i] = rows_before + cu_warp_scan(rows[i]);
      rows_before = cu_from(rows[i], 31);
    }
    uint32_t rate = cu_cuts_to_rate(q, bound, n, beg, sum, rows, bar);
    for (; rate != 0; rate &= rate - 1u) {
      const int at = __ffs((int)rate) - 1;
      gbt_sum its = sum[0];
      uint32_t its_rows = rows[0];
      CU_UNROLL
      for (int i = 1; i < CU_CUTS; i++) {
        its = i == at ? sum[i] : its;
        its_rows = i == at ? rows[i] : its_rows;
      }
      cu_rate_cut(q, n, beg + 32 * at + (int32_t)cu_lane(), its, (int64_t)its_rows, best);
    }
  }
}

/* Each level against the rest. */
__device__ static __forceinline__ void cu_search_onehot(const cu_view &v, const cu_asked &q, int32_t feat,
                                                        const cu_feature &f, gbt_split *best) {
  const cu_codes k = cu_codes_of(v, q.node, f);
  const cu_missing miss = cu_missing_of(k, f.has_missing);
  const int sign = cu_sign(v, feat);
  for (int32_t c = (int32_t)cu_lane(); c < f.n_bins; c += 32) {
    gbt_split s = cu_no_split();
    s.kind = GBT_SPLIT_ONEHOT;
    s.feat = feat;
    s.bin = c;
    s.has_missing = (int8_t)miss.any;
    s.left = cu_sum_of(k, c);
    int64_t rows = cu_rows_of(k, c);
    for (int left = 0; left <= miss.any; left++) {
      if (left) {
        s.missing_left = 1;
        s.left = cu_plus(s.left, miss.sum);
        rows += miss.rows;
      }
      if (k.count && !cu_enough(q, rows, q.min_rows)) continue;
      cu_try(q, s, (double)s.left.g * q.unit.g, (double)s.left.h * q.unit.h, q.reg, sign, 0.0, best);
    }
  }
}

/* The best split of the i-th searched node by a run of the tree's features, to v.found. A warp. FUSED: siblings are
 * taken off as cells are read, which wants registers. */
template <int FUSED> __device__ static __forceinline__ void cu_search_run(const cu_view &v, int32_t i, int32_t run) {
  const int32_t n_feats = v.feats[0];
  const cu_searched todo = v.search[i];
  const cu_asked q = cu_ask(v, &v.node[todo.node]);
  const cu_bound bound = cu_bound_of(v, q);
  float bar = bound.bar;
  gbt_split best = cu_no_split();
  for (int32_t t = run * v.run_feats; t < (run + 1) * v.run_feats && t < n_feats; t++) {
    const int32_t feat = v.feats[1 + t];
    const cu_feature f = v.train.feat[feat];
    const int none = f.kind == CU_SET || f.n_bins + f.has_missing < 2 || !cu_may_use(v, i, feat);
    const int fused = FUSED && !none && f.kind == CU_NUMERIC && f.zero_bin < 0;
    if (todo.minus >= 0 && !fused) cu_take_off(v, f, q.node->hist, todo.minus);
    if (none) continue;
    if (f.kind == CU_NUMERIC)
      cu_search_numeric(v, q, bound, feat, f, fused ? todo.minus : -1, &bar, &best);
    else
      cu_search_onehot(v, q, feat, f, &best);
  }
  cu_warp_best(best, &v.found[(uint64_t)(uint32_t)i * (uint32_t)v.n_feat_runs + (uint32_t)run]);
}
