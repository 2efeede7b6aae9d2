/* The search of a run of features by a warp: for split.cu, and for small.cu, which has all steps in one kernel. */
#pragma once

#include "search.cuh"

enum {
  CU_FEW_BINS = 64,                     /* with so many, cells are not turned */
  CU_CUTS = 8,                          /* of a lane at a time */
  CU_TURN = CU_FULL * CU_CUTS,          /* of a warp */
  CU_ROOM = CU_TURN + CU_TURN / CU_CUTS /* cells of shared memory that a warp turns them in */
};

/* Which codes are a lane's: first + step i. Cells are read side by side, code 32 i + lane of a turn being the lane's;
 * with neighbouring codes instead, 8 lane + i, prefix sums need one scan of the warp for all 256. */
struct cu_share_of_codes {
  int32_t first, step;
};

/* Where code c of a turn lies in shared memory: in both shares eight neighbouring lanes are at different banks. */
__device__ static __forceinline__ uint32_t cu_place_in_room(uint32_t c) { return c + c / CU_CUTS; }

/* Makes the lanes' cells those of neighbouring codes. */
__device__ static __forceinline__ void cu_turn_cells(cu_cell *room, gbt_sum *sum) {
  const uint32_t from = cu_place_in_room(cu_lane()), to = cu_place_in_room(CU_CUTS * cu_lane());
  __syncwarp(); /* what was there before has been read */
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) room[from + cu_place_in_room(32u * (uint32_t)i)] = cu_cell{sum[i].g, sum[i].h};
  __syncwarp();
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    const cu_cell c = room[to + (uint32_t)i];
    sum[i].g = c.g;
    sum[i].h = c.h;
  }
}

__device__ static __forceinline__ void cu_turn_rows(cu_cell *room, uint32_t *rows) {
  const uint32_t from = cu_place_in_room(cu_lane()), to = cu_place_in_room(CU_CUTS * cu_lane());
  __syncwarp();
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) room[from + cu_place_in_room(32u * (uint32_t)i)].g = rows[i];
  __syncwarp();
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) rows[i] = (uint32_t)room[to + (uint32_t)i].g;
}

/* A lane's neighbouring numbers become prefix sums over the warp, starting from *before; *before becomes that of the
 * next turn. */
template <class T> __device__ static __forceinline__ void cu_add_up_lanes(T *x, T *before) {
  CU_UNROLL
  for (int i = 1; i < CU_CUTS; i++) x[i] = cu_plus(x[i], x[i - 1]);
  const T upto = cu_warp_scan(x[CU_CUTS - 1]), others = cu_up(upto, 1);
  const T left = cu_lane() > 0 ? cu_plus(*before, others) : *before;
  *before = cu_plus(*before, cu_from(upto, CU_FULL - 1));
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) x[i] = cu_plus(x[i], left);
}

/* The i-th searched node. */
struct cu_todo {
  cu_asked q;
  cu_bound bound;
  int32_t i, node, minus; /* minus: the histogram to be taken off, or below 0 */
};

__device__ static __forceinline__ cu_todo cu_todo_of(const cu_view &v, int32_t i) {
  const cu_searched its = v.search[i];
  cu_todo t;
  t.q = cu_ask(v, &v.node[its.node]);
  t.bound = cu_bound_of(v, t.q);
  t.i = i;
  t.node = its.node;
  t.minus = its.minus;
  return t;
}

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
  uint32_t *count; /* NULL: not counted */
  int64_t to;      /* from a slot to the sibling's */
  int taken, kept; /* a sibling is taken off; what is left is written */
};

__device__ static __forceinline__ cu_difference cu_difference_of(const cu_view &v, const gbt_grow_node *node,
                                                                 const cu_feature &f, int32_t minus) {
  const uint64_t at = (uint64_t)(uint32_t)node->hist * v.n_slots + f.slot;
  cu_difference d;
  d.own = v.sum + at;
  d.count = f.counts ? v.count + at : nullptr;
  d.taken = minus >= 0;
  d.to = d.taken ? ((int64_t)minus - node->hist) * (int64_t)v.n_slots : 0;
  d.kept = d.taken && !(v.policy.max_depth > 0 && node->depth + 1 >= v.policy.max_depth);
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

/* Takes the sibling's off the lane's cells from `beg` on: half of them at a time, as registers are short. */
__device__ static __forceinline__ void cu_cells_less(const cu_difference &d, int32_t beg, int32_t n_bins, gbt_sum *sum,
                                                     uint32_t *rows) {
  const gbt_sum *at = d.own + d.to;
  CU_UNROLL
  for (int half = 0; half < CU_CUTS; half += CU_CUTS / 2) {
    gbt_sum less[CU_CUTS / 2];
    CU_UNROLL
    for (int i = 0; i < CU_CUTS / 2; i++) {
      const int32_t c = beg + 32 * (half + i) + (int32_t)cu_lane();
      less[i].g = less[i].h = 0;
      if (c < n_bins) less[i] = cu_cell_of(at + c);
    }
    CU_UNROLL
    for (int i = 0; i < CU_CUTS / 2; i++) {
      const int32_t c = beg + 32 * (half + i) + (int32_t)cu_lane();
      sum[half + i] = cu_minus(sum[half + i], less[i]);
      if (d.kept && c < n_bins) cu_cell_put(d.own + c, sum[half + i]);
    }
  }
  if (!d.count) return;
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    const int32_t c = beg + 32 * i + (int32_t)cu_lane();
    if (c >= n_bins) continue;
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
    top = cu_score(&bound, sum, cu_minus(q.sum, sum));
  if (!n.miss.any || c >= n.n_left) return top;
  sum = cu_plus(sum, n.miss.sum);
  if (n.counted && !cu_enough(q, rows + n.miss.rows, q.min_rows)) return top;
  const float other = cu_score(&bound, sum, cu_minus(q.sum, sum));
  return other > top ? other : top;
}

/* Which of a lane's cuts are to be rated, as bits; *bar rises. */
__device__ static __forceinline__ uint32_t cu_cuts_to_rate(const cu_asked &q, const cu_bound &bound,
                                                           const cu_numeric &n, cu_share_of_codes mine,
                                                           const gbt_sum *sum, const uint32_t *rows, float *bar) {
  float score[CU_CUTS], top = -1.0f;
  uint32_t rate = 0;
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    score[i] = bound.on ? cu_score_cut(q, bound, n, mine.first + mine.step * i, sum[i], (int64_t)rows[i]) : 0.0f;
    top = score[i] > top ? score[i] : top;
  }
  if (bound.on) {
    top = cu_warp_max(top) * CU_SCORE_KEPT;
    *bar = top > *bar ? top : *bar;
  }
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++)
    if (score[i] >= *bar && mine.first + mine.step * i < n.n_right) rate |= 1u << i;
  return rate;
}

/* A turn's cells of a feature, code beg + 32 i + lane; 0 after the last code. */
__device__ static __forceinline__ void cu_read_cells(const cu_codes &k, const gbt_sum *own, int32_t beg, gbt_sum *sum,
                                                     uint32_t *rows) {
  const gbt_sum *at = own + beg + (int32_t)cu_lane();
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    sum[i].g = sum[i].h = 0;
    rows[i] = 0;
    if (k.zero_bin < 0 && beg + 32 * i + (int32_t)cu_lane() < k.n_bins) sum[i] = cu_cell_of(at + 32 * i);
  }
  if (k.zero_bin < 0 && !k.count) return;
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    const int32_t c = beg + 32 * i + (int32_t)cu_lane();
    if (c >= k.n_bins) continue;
    if (k.zero_bin >= 0) sum[i] = cu_sum_of(k, c);
    rows[i] = (uint32_t)cu_rows_of(k, c);
  }
}

/* Prefix sums of a turn whose codes 32 i + lane are the lane's. */
__device__ static __forceinline__ void cu_add_up_runs(const cu_numeric &n, int32_t beg, gbt_sum *sum, uint32_t *rows,
                                                      gbt_sum *before, uint32_t *rows_before) {
  CU_UNROLL
  for (int i = 0; i < CU_CUTS; i++) {
    if (beg + 32 * i >= n.n_right) break;
    sum[i] = cu_plus(*before, cu_warp_scan(sum[i]));
    *before = cu_from(sum[i], 31);
    if (!n.counted) continue;
    rows[i] = *rows_before + cu_warp_scan(rows[i]);
    *rows_before = cu_from(rows[i], 31);
  }
}

/* Facts about a feature before its cuts; *k: its codes, which may be corrected. */
__device__ static __forceinline__ cu_numeric cu_numeric_of(const cu_view &v, int32_t feat, const cu_feature &f,
                                                           const cu_difference &less, cu_codes *k) {
  cu_numeric n;
  /* features of two bins that are looked at together on the CPU trust the cuts: no missing values there, none here */
  int trusted = f.n_bins == 2 && f.zero_bin <= 1 && !f.has_missing && !v.constrained;
  n.miss = cu_missing_of(*k, 1);
  cu_missing_less(less, f, &n.miss);
  if (trusted && n.miss.any) {
    if (k->zero_bin >= 0) {
      k->zero = cu_plus(k->zero, n.miss.sum);
      k->zero_rows += n.miss.rows;
    }
    n.miss = cu_missing_of(*k, 0);
  }
  n.feat = feat;
  n.sign = cu_sign(v, feat);
  n.counted = k->count != nullptr;
  n.n_left = f.n_bins - 1;
  n.n_right = n.miss.any ? f.n_bins : n.n_left; /* all left: missing ones go right */
  return n;
}

/* One cut drawn by chance (tree/random_cut.h); twin of search_one_cut() of cpu_split_num.c. A warp; the first lane has
 * the split. */
__device__ static __forceinline__ void cu_search_one_cut(const cu_view &v, const cu_todo *todo, gbt_key32 key,
                                                         int32_t feat, const cu_feature &f, gbt_split *best) {
  const gbt_grow_node *node = &v.node[todo->node];
  cu_codes k = cu_codes_of(v, node, f);
  const cu_numeric n = cu_numeric_of(v, feat, f, cu_difference_of(v, node, f, -1), &k);
  int32_t first = -1, last = -1; /* codes that hold something; the first one counted from the end */
  for (int32_t c = (int32_t)cu_lane(); c < f.n_bins; c += 32) {
    const gbt_sum s = cu_sum_of(k, c);
    if (s.g == 0 && s.h == 0 && cu_rows_of(k, c) == 0) continue;
    if (f.n_bins - 1 - c > first) first = f.n_bins - 1 - c;
    last = c;
  }
  first = cu_warp_max(first);
  last = cu_warp_max(last);
  if (last < 0) return;
  const int32_t cut = gbt_random_cut(key, feat, f.n_bins - 1 - first, last, n.miss.any);
  if (cut < 0) return;
  gbt_sum left = {0, 0};
  int64_t rows = 0;
  for (int32_t c = (int32_t)cu_lane(); c <= cut; c += 32) {
    left = cu_plus(left, cu_sum_of(k, c));
    rows += cu_rows_of(k, c);
  }
  left = cu_warp_sum(left);
  rows = cu_warp_sum(rows);
  if (cu_lane() == 0) cu_rate_cut(todo->q, n, cut, left, rows, best);
}

/* Cuts of a numeric feature.
 *
 * The CPU lists the bins that hold something, and bin 0. Here every cut is rated: one after an empty bin has the
 * integer sums of the cut before it, so the same gain to the bit, and loses to it as the higher bin. Where all
 * values lie on one side, one of the hessians is 0 - 0 or H - H and the candidate is refused; so a node with nothing
 * outside the zero bin gives no candidate either. Real numbers of missing values are added to those of the left bins,
 * as on the CPU: the sums would be other ones if they were added as integers first.
 *
 * Only cuts that may be the best are rated, see score_bound.cuh; *bar: what they must reach, of all features
 * searched with it. Lanes take their next cuts together, whichever they are. minus >= 0: the sibling's cells are taken
 * off as the node's are read; of a feature whose zero bin has no slot the caller has taken them off before. room:
 * CU_ROOM cells of the warp in shared memory, or NULL; then, and where there are few bins, lanes do not take
 * neighbouring codes. */
__device__ static __forceinline__ void cu_search_numeric(const cu_view &v, const cu_todo *todo, int32_t feat,
                                                         const cu_feature &f, int32_t minus, cu_cell *room, float *bar,
                                                         gbt_split *best) {
  const cu_asked &q = todo->q;
  const gbt_grow_node *node = &v.node[todo->node];
  const cu_difference less = cu_difference_of(v, node, f, minus);
  cu_codes k = cu_codes_of(v, node, f);
  const cu_numeric n = cu_numeric_of(v, feat, f, less, &k);
  const int turned = room && f.n_bins > CU_FEW_BINS;
  gbt_sum before = {0, 0};
  uint32_t rows_before = 0;
  for (int32_t beg = 0; beg < (less.kept ? f.n_bins : n.n_right); beg += CU_TURN) {
    gbt_sum sum[CU_CUTS];
    uint32_t rows[CU_CUTS];
    cu_read_cells(k, less.own, beg, sum, rows);
    if (less.taken) cu_cells_less(less, beg, f.n_bins, sum, rows);
    if (turned) {
      cu_turn_cells(room, sum);
      cu_add_up_lanes(sum, &before);
      if (n.counted) {
        cu_turn_rows(room, rows);
        cu_add_up_lanes(rows, &rows_before);
      }
    } else {
      cu_add_up_runs(n, beg, sum, rows, &before, &rows_before);
    }
    cu_share_of_codes mine = {beg + (int32_t)cu_lane(), CU_FULL};
    if (turned) mine = {beg + CU_CUTS * (int32_t)cu_lane(), 1};
    uint32_t rate = cu_cuts_to_rate(q, todo->bound, n, mine, sum, rows, bar);
    for (; rate != 0; rate &= rate - 1u) {
      const int at = __ffs((int)rate) - 1;
      gbt_sum its = sum[0];
      uint32_t its_rows = rows[0];
      CU_UNROLL
      for (int i = 1; i < CU_CUTS; i++) {
        its = i == at ? sum[i] : its;
        its_rows = i == at ? rows[i] : its_rows;
      }
      cu_rate_cut(q, n, mine.first + mine.step * at, its, (int64_t)its_rows, best);
    }
  }
}

/* Each level against the rest; only >= 0: that one. */
__device__ static __forceinline__ void cu_search_onehot(const cu_view &v, const cu_todo *todo, int32_t feat,
                                                        const cu_feature &f, int32_t only, gbt_split *best) {
  const cu_asked &q = todo->q;
  const cu_codes k = cu_codes_of(v, &v.node[todo->node], f);
  const cu_missing miss = cu_missing_of(k, f.has_missing);
  const int sign = cu_sign(v, feat);
  for (int32_t c = (int32_t)cu_lane(); c < f.n_bins; c += 32) {
    if (only >= 0 && c != only) continue;
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

/* Whether this search skips a feature of a searched node. */
__device__ static __forceinline__ int cu_passes_over(const cu_view &v, const cu_todo *todo, int32_t feat,
                                                     const cu_feature &f) {
  return f.kind == CU_SET || f.n_bins + f.has_missing < 2 || !cu_may_use(v, todo->i, feat);
}

__device__ static __forceinline__ gbt_split *cu_found_of(const cu_view &v, const cu_todo *todo, int32_t run) {
  return &v.found[(uint64_t)(uint32_t)todo->i * (uint32_t)v.n_feat_runs + (uint32_t)run];
}

/* The winner of a run's features to v.found, where they compete with the best split of each, or with a random one. A
 * warp. own: its place in shared memory. */
__device__ static __forceinline__ void cu_search_each(const cu_view &v, const cu_todo *todo, int32_t run,
                                                          cu_cell *room, gbt_split *own) {
  const int32_t n_feats = v.feats[0];
  const gbt_grow_node *node = &v.node[todo->node];
  const uint64_t of = gbt_node_identity(node);
  const gbt_contest contest = cu_contest(v, of, todo->q.rated.parent);
  const int one_cut = v.params.extra_trees != 0;
  const gbt_key32 cuts = cu_cut_key(v, of);
  gbt_split best = cu_no_split(); /* the first lane's */
  for (int32_t t = run * v.run_feats; t < (run + 1) * v.run_feats && t < n_feats; t++) {
    const int32_t feat = v.feats[1 + t];
    const cu_feature f = v.train.feat[feat];
    if (todo->minus >= 0) cu_subtract_sibling(v, f, node->hist, todo->minus);
    if (cu_passes_over(v, todo, feat, f)) continue;
    gbt_split mine = cu_no_split();
    float bar = todo->bound.bar;
    if (f.kind == CU_ONEHOT)
      cu_search_onehot(v, todo, feat, f, one_cut ? gbt_random_place(cuts, feat, f.n_bins) : -1, &mine);
    else if (one_cut)
      cu_search_one_cut(v, todo, cuts, feat, f, &mine);
    else
      cu_search_numeric(v, todo, feat, f, -1, room, &bar, &mine);
    cu_warp_best(mine, own);
    __syncwarp();
    if (cu_lane() == 0 && gbt_contest_admits(&contest, own, todo->q.min_gain) &&
        gbt_contest_beats(&contest, own, &best))
      best = *own;
    __syncwarp();
  }
  if (cu_lane() == 0) *cu_found_of(v, todo, run) = best;
}

/* The best split of a searched node by a run of the tree's features, to v.found; a worse one or none where an earlier
 * run that was searched with the same *bar has a better one. *bar begins as that of todo->bound. A warp. FUSED:
 * siblings are subtracted as cells are read, which needs registers. room: see cu_search_numeric. */
template <int FUSED>
__device__ static __forceinline__ void cu_search_run(const cu_view &v, const cu_todo *todo, int32_t run, cu_cell *room,
                                                     float *bar) {
  const int32_t n_feats = v.feats[0];
  gbt_split best = cu_no_split();
  for (int32_t t = run * v.run_feats; t < (run + 1) * v.run_feats && t < n_feats; t++) {
    const int32_t feat = v.feats[1 + t];
    const cu_feature f = v.train.feat[feat];
    const int none = cu_passes_over(v, todo, feat, f);
    const int fused = FUSED && !none && f.kind == CU_NUMERIC && f.zero_bin < 0;
    if (todo->minus >= 0 && !fused) cu_subtract_sibling(v, f, v.node[todo->node].hist, todo->minus);
    if (none) continue;
    if (f.kind == CU_NUMERIC)
      cu_search_numeric(v, todo, feat, f, fused ? todo->minus : -1, room, bar, &best);
    else
      cu_search_onehot(v, todo, feat, f, -1, &best);
  }
  cu_warp_best(best, cu_found_of(v, todo, run));
}
