/* The search of a run of features by a warp: for split.cu, and for small.cu, which has all steps in one kernel. */
#pragma once

#include "search.cuh"

/* Cuts of a numeric feature.
 *
 * The CPU lists the bins that hold something, and bin 0. Here every cut is looked at: one behind an empty bin has the
 * integer sums of the cut before it, hence the same gain to the bit, and loses to it as the higher bin. Where all
 * values lie on one side, one of the hessians is 0 - 0 or H - H and the candidate is refused; so a node with nothing
 * outside the zero bin gives no candidate either. Real numbers of missing values are added to those of the left bins,
 * as on the CPU: the sums would be other ones if they were added as integers first. */
__device__ static __forceinline__ void cu_search_numeric(const cu_view &v, const cu_asked &q, int32_t feat,
                                                         const cu_feature &f, gbt_split *best) {
  cu_codes k = cu_codes_of(v, q.node, f);
  /* features of two bins that are looked at together on the CPU trust the cuts: no missing values there, none here */
  int trusted = f.n_bins == 2 && f.zero_bin <= 1 && !f.has_missing && !v.constrained;
  cu_missing miss = cu_missing_of(k, 1);
  if (trusted && miss.any) {
    if (k.zero_bin >= 0) {
      k.zero = cu_plus(k.zero, miss.sum);
      k.zero_rows += miss.rows;
    }
    miss = cu_missing_of(k, 0);
  }
  const int sign = cu_sign(v, feat), counted = k.count != nullptr;
  const int32_t n_left = f.n_bins - 1, n_right = miss.any ? f.n_bins : n_left; /* all left: missing ones go right */
  const double mg = (double)miss.sum.g * q.unit.g, mh = (double)miss.sum.h * q.unit.h;
  cu_run before = {{0, 0}, 0};
  for (int32_t beg = 0; beg < n_right; beg += 32 * CU_AHEAD) {
    gbt_sum own[CU_AHEAD];
    uint32_t rows[CU_AHEAD];
    CU_UNROLL
    for (int i = 0; i < CU_AHEAD; i++) {
      const int32_t c = beg + 32 * i + (int32_t)cu_lane();
      own[i].g = own[i].h = 0;
      rows[i] = 0;
      if (c >= f.n_bins) continue;
      own[i] = cu_sum_of(k, c);
      rows[i] = (uint32_t)cu_rows_of(k, c);
    }
    CU_UNROLL
    for (int i = 0; i < CU_AHEAD; i++) {
      if (beg + 32 * i >= n_right) break;
      const int32_t c = beg + 32 * i + (int32_t)cu_lane();
      cu_run run = cu_add_up(&before, own[i], (int64_t)rows[i], counted);
      double g = (double)run.sum.g * q.unit.g, h = (double)run.sum.h * q.unit.h;
      for (int left = 0; left <= miss.any; left++) {
        if (c >= (left ? n_left : n_right)) continue;
        if (left) {
          g += mg;
          h += mh;
          run.sum = cu_plus(run.sum, miss.sum);
          run.rows += miss.rows;
        }
        if (counted && !cu_enough(q, run.rows, q.min_rows)) continue;
        gbt_split s = cu_no_split();
        s.kind = GBT_SPLIT_NUMERIC;
        s.feat = feat;
        s.bin = c;
        s.missing_left = (int8_t)left;
        s.has_missing = (int8_t)miss.any;
        s.left = run.sum;
        cu_try(q, s, g, h, q.reg, sign, 0.0, best);
      }
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

/* The best split of the i-th searched node by a run of the tree's features, to v.found. A warp. */
__device__ static __forceinline__ void cu_search_run(const cu_view &v, int32_t i, int32_t run) {
  const int32_t n_feats = v.feats[0];
  const cu_searched todo = v.search[i];
  const cu_asked q = cu_ask(v, &v.node[todo.node]);
  gbt_split best = cu_no_split();
  for (int32_t t = run * v.run_feats; t < (run + 1) * v.run_feats && t < n_feats; t++) {
    const int32_t feat = v.feats[1 + t];
    const cu_feature f = v.train.feat[feat];
    if (todo.minus >= 0) cu_take_off(v, f, q.node->hist, todo.minus);
    if (f.kind == CU_SET || f.n_bins + f.has_missing < 2 || !cu_may_use(v, i, feat)) continue;
    if (f.kind == CU_NUMERIC)
      cu_search_numeric(v, q, feat, f, &best);
    else
      cu_search_onehot(v, q, feat, f, &best);
  }
  cu_warp_best(best, &v.found[(uint64_t)(uint32_t)i * (uint32_t)v.n_feat_runs + (uint32_t)run]);
}
