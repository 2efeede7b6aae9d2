/* Growth node by node of trees that grow together: the best split of every fresh node by the sum of the gains in all
 * trees. Twin of cpu_split_together.c, see there.
 *
 *   k_team_list     where each tree has the fresh nodes in its list of those that are searched
 *   k_team_search   a warp takes (node, run of features): siblings are taken off in every tree, then candidates are
 *                   rated, 32 at a time, tree after tree, and their gains added up in the order of the trees
 *   k_team_sets     a block takes (node, feature that is split by sets): one order of levels for all trees
 *
 * The best of a run goes to v.found of the first tree, where nodes are by place, and sets to its v.set_bits;
 * team_open.cu takes the best of all runs. Nothing is left out by score_bound.cuh, whose bound is that of one tree. */
#include "ops.cuh"

#include "layer.cuh"

enum { TEAM_THREADS = 128, TEAM_WARPS = TEAM_THREADS / CU_FULL };

/* One block a tree. */
__global__ static void k_team_list(cu_view all, cu_team_view team) {
  const cu_view v = cu_view_of_block(all);
  int32_t *at = team.at + (uint64_t)blockIdx.y * (uint32_t)team.room;
  for (int32_t i = (int32_t)threadIdx.x; i < team.room; i += (int32_t)blockDim.x) at[i] = -1;
  __syncthreads();
  for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_search; i += (int32_t)blockDim.x) {
    const int32_t place = v.search[i].node - v.tree->fresh_beg;
    GBT_ASSERT(place >= 0 && place < team.room);
    at[place] = i;
  }
}

/* One thread, at the root: what a tree has for noise becomes that of all, which features and candidates compete by. */
__global__ static void k_team_noise(cu_view all, cu_team_view team) {
  double noise = 0.0;
  for (int32_t k = 0; k < team.by.n; k++) noise += team.by.weight[k] * cu_view_of(all, (uint32_t)k).tree->noise;
  for (int32_t k = 0; k < team.by.n; k++) cu_view_of(all, (uint32_t)k).tree->noise = noise;
}

namespace {

/* ---- what a candidate gains in all trees ---- */

struct gains {
  double right, left; /* with missing values there */
  int64_t rows;       /* on the left without these, where they are counted */
};

/* Of the candidate that each lane has, by the code that comes to it; -1: none. sums: candidates hold the codes before
 * them as well. A warp. */
__device__ gains gains_of(const cu_view &all, const cu_team_view &team, cu_member *member, int32_t code, int sums,
                          int by_sets, int sign) {
  gains sum = {0.0, 0.0, 0};
  for (int32_t k = 0; k < team.by.n; k++) {
    cu_member *m = &member[k];
    if (m->at < 0) continue;
    const int counted = m->codes.count != nullptr;
    cu_run run = {{0, 0}, 0};
    if (code >= 0) {
      run.sum = cu_sum_of(m->codes, code);
      run.rows = cu_rows_of(m->codes, code);
    }
    if (sums) {
      cu_run before = m->before;
      run = cu_add_up(&before, run.sum, run.rows, counted);
      __syncwarp(); /* all have read it */
      if (cu_lane() == 0) m->before = before;
      __syncwarp();
    }
    if (code < 0) continue;
    const gbt_reg reg = by_sets ? gbt_set_reg(m->q.reg, &all.params) : m->q.reg;
    const double g = (double)run.sum.g * m->q.unit.g, h = (double)run.sum.h * m->q.unit.h;
    const double right = cu_own_gain(m->q, g, h, run.rows, reg, sign);
    double left = right;
    if (m->miss.any)
      left = cu_own_gain(m->q, g + (double)m->miss.sum.g * m->q.unit.g, h + (double)m->miss.sum.h * m->q.unit.h,
                         run.rows + m->miss.rows, reg, sign);
    sum.right += team.by.weight[k] * right;
    sum.left += team.by.weight[k] * left;
    sum.rows = run.rows;
  }
  return sum;
}

/* A feature in all trees: their codes, less those of siblings; returns whether one of them has missing values. A
 * warp. */
__device__ int look_at_feature(const cu_view &all, const cu_team_view &team, const cu_feature &f, cu_member *member) {
  int missing = 0;
  __syncwarp(); /* the feature before has been read */
  for (int32_t k = 0; k < team.by.n; k++) {
    if (member[k].at < 0) continue;
    const cu_view v = cu_view_of(all, (uint32_t)k);
    const cu_codes codes = cu_codes_of(v, cu_node_of(v, member[k]), f);
    const cu_missing miss = cu_missing_of(codes, f.has_missing);
    missing |= miss.any;
    if (cu_lane() != 0) continue;
    member[k].codes = codes;
    member[k].miss = miss;
    member[k].before = {{0, 0}, 0};
  }
  __syncwarp();
  return missing;
}

__device__ void subtract_siblings(const cu_view &all, const cu_team_view &team, const cu_feature &f,
                                  const cu_member *member) {
  for (int32_t k = 0; k < team.by.n; k++) {
    if (member[k].at < 0) continue;
    const cu_view v = cu_view_of(all, (uint32_t)k);
    const cu_searched its = v.search[member[k].at];
    if (its.minus >= 0) cu_subtract_sibling(v, f, v.node[its.node].hist, its.minus);
  }
}

/* ---- cuts, and levels one by one ---- */

/* The only candidate of a feature where one is drawn; -1: there is none. A warp. */
__device__ int32_t drawn_candidate(const cu_team_view &team, const cu_member *member, const cu_team_rules &rules,
                                   int32_t feat, const cu_feature &f, int missing) {
  int32_t first = -1, last = -1; /* codes that hold something in one of the trees; the first one from the end */
  if (f.kind == CU_ONEHOT) return gbt_random_place(rules.cut_key, feat, f.n_bins);
  for (int32_t k = 0; k < team.by.n; k++) {
    if (member[k].at < 0) continue;
    for (int32_t c = (int32_t)cu_lane(); c < f.n_bins; c += 32) {
      const gbt_sum s = cu_sum_of(member[k].codes, c);
      if (s.g == 0 && s.h == 0 && cu_rows_of(member[k].codes, c) == 0) continue;
      if (f.n_bins - 1 - c > first) first = f.n_bins - 1 - c;
      if (c > last) last = c;
    }
  }
  first = cu_warp_max(first);
  last = cu_warp_max(last);
  return last < 0 ? -1 : gbt_random_cut(rules.cut_key, feat, f.n_bins - 1 - first, last, missing);
}

/* The better of what a lane has and a candidate. */
__device__ void take(gbt_split s, double gain, double least, gbt_split *best) {
  s.gain = gain;
  if (gain > least && gbt_split_beats(&s, best)) *best = s;
}

/* The best candidate of a feature that is not split by sets, among those of the lane. A warp. */
__device__ gbt_split search_feature(const cu_view &all, const cu_team_view &team, cu_member *member,
                                    const cu_team_rules &rules, int32_t feat, const cu_feature &f) {
  const int missing = look_at_feature(all, team, f, member), onehot = f.kind == CU_ONEHOT;
  const int32_t only = all.params.extra_trees ? drawn_candidate(team, member, rules, feat, f, missing) : -1;
  const int32_t n_left = onehot ? f.n_bins : f.n_bins - 1; /* all left is a split where missing ones go right */
  const int32_t n_right = onehot || !missing ? n_left : f.n_bins;
  gbt_split s = cu_no_split(), best = cu_no_split();
  if (all.params.extra_trees && only < 0) return best;
  s.kind = onehot ? GBT_SPLIT_ONEHOT : GBT_SPLIT_NUMERIC;
  s.feat = feat;
  s.has_missing = (int8_t)missing;
  for (int32_t beg = 0; beg < n_right; beg += 32) {
    const int32_t c = beg + (int32_t)cu_lane();
    const gains its = gains_of(all, team, member, c < n_right ? c : -1, !onehot, 0, cu_sign(all, feat));
    if (c >= n_right || (only >= 0 && c != only)) continue;
    s.bin = c;
    s.missing_left = 0;
    take(s, its.right, rules.min_gain, &best);
    s.missing_left = 1;
    if (missing && c < n_left) take(s, its.left, rules.min_gain, &best);
  }
  return best;
}

/* The best of a lane's splits of a feature competes with *best, which the first lane has. own: of the warp, in shared
 * memory. */
__device__ void compete(const cu_team_rules &rules, const gbt_split &mine, gbt_split *own, gbt_split *best) {
  __syncwarp();
  cu_warp_best(mine, own);
  __syncwarp();
  if (cu_lane() == 0 && gbt_contest_admits(&rules.contest, own, rules.min_gain) &&
      gbt_contest_beats(&rules.contest, own, best))
    *best = *own;
}

} // namespace

__global__ static void __launch_bounds__(TEAM_THREADS) k_team_search(cu_view all, cu_team_view team, int32_t n_plain) {
  CU_SHARED(cu_member, members, TEAM_WARPS *CU_TEAM_MOST);
  CU_SHARED(gbt_split, owns, TEAM_WARPS);
  cu_member *member = members + CU_TEAM_MOST * cu_warp();
  const uint64_t n_tasks = (uint64_t)(uint32_t)cu_n_places(all, team) * (uint32_t)n_plain;
  const uint64_t step = (uint64_t)gridDim.x * cu_n_warps();
  const int32_t n_feats = all.feats[0];
  for (uint64_t task = (uint64_t)blockIdx.x * cu_n_warps() + cu_warp(); task < n_tasks; task += step) {
    const int32_t place = (int32_t)(task / (uint32_t)n_plain), run = (int32_t)(task % (uint32_t)n_plain);
    cu_look_at(all, team, place, member);
    const cu_team_rules rules = cu_rules_of(all, team, member);
    if (rules.one < 0) continue;
    const cu_view one = cu_view_of(all, (uint32_t)rules.one);
    gbt_split best = cu_no_split(); /* the first lane's */
    for (int32_t t = run * all.run_feats; t < (run + 1) * all.run_feats && t < n_feats; t++) {
      const int32_t feat = all.feats[1 + t];
      const cu_feature f = all.train.feat[feat];
      subtract_siblings(all, team, f, member);
      if (f.kind == CU_SET || f.n_bins + f.has_missing < 2 || !cu_may_use(one, member[rules.one].at, feat)) continue;
      compete(rules, search_feature(all, team, member, rules, feat, f), &owns[cu_warp()], &best);
    }
    if (cu_lane() == 0) all.found[(uint64_t)(uint32_t)place * (uint32_t)all.n_feat_runs + (uint32_t)run] = best;
  }
}

/* ---- sets of levels ---- */

namespace {

/* By what a level is put in order in all trees: twin of cpu_together_ratios. Of a set each level has a slot. */
__device__ double team_ratio(const cu_member *member, const cu_together_view &by, double smooth, int32_t level) {
  double g = 0.0, h = 0.0;
  for (int32_t k = 0; k < by.n; k++) {
    if (member[k].at < 0) continue;
    const gbt_sum s = cu_sum_of(member[k].codes, level);
    g += by.direction[k] * ((double)s.g * member[k].q.unit.g);
    h += (double)s.h * member[k].q.unit.h;
  }
  const double down = h / (double)by.n + smooth;
  return down > 0.0 ? g / down : 0.0;
}

struct by_team_ratio {
  const cu_member *member;
  cu_together_view by;
  double smooth;
  __device__ double operator()(int32_t level) const { return team_ratio(member, by, smooth, level); }
};

/* Of one end of the order the set (less one level) from which on one is tried; as many as there are: none is. */
__device__ int32_t first_size(const cu_view &all, const cu_team_rules &rules, int32_t feat, int32_t most, int top) {
  if (!all.params.extra_trees || most == 0) return 0;
  const int32_t i = gbt_random_place(rules.cut_key, feat, 2 * most);
  if (top != (i >= most)) return most;
  return top ? i - most : i;
}

/* The sets of one end of the order; the best of them to *out. A warp, which has looked at the feature. */
__device__ void search_end(const cu_view &all, const cu_team_view &team, cu_member *member, const cu_team_rules &rules,
                           int32_t feat, const cu_level_order &r, int missing, int top, gbt_split *out) {
  const cu_member &one = member[rules.one];
  const int32_t n = (int32_t)r.n, most = gbt_set_most(&all.params, n);
  const int32_t from = first_size(all, rules, feat, most, top);
  const int64_t n_rows = one.q.n_rows, least = gbt_set_least(&all.params, n_rows), without = one.miss.rows;
  const double noise = all.tree->noise / (double)team.by.n; /* as cpu_set_noise */
  gbt_split s = cu_no_split(), best = cu_no_split();
  int64_t last = 0;
  unsigned met = 0; /* lanes whose set is the one that was drawn */
  s.kind = GBT_SPLIT_SET;
  s.feat = feat;
  s.from_top = (int8_t)top;
  s.has_missing = (int8_t)missing;
  for (int32_t beg = 0; beg < most && met == 0; beg += 32) {
    const int32_t at = beg + (int32_t)cu_lane(), live = at < most;
    const gains its = gains_of(all, team, member, live ? cu_level_at(r, top, at) : -1, 1, 1, cu_sign(all, feat));
    const int enough = cu_lanes_tried(its.rows, live, least, &last);
    const int right = its.rows >= least && n_rows - its.rows >= least;
    const int left = its.rows + without >= least && n_rows - its.rows - without >= least;
    int tried = enough ? (right ? CU_TRY_RIGHT : 0) | (left ? CU_TRY_LEFT : 0) : 0;
    if (all.params.extra_trees) {
      met = __ballot_sync(CU_ALL, tried != 0 && at >= from);
      if (met == 0 || (int)cu_lane() != __ffs((int)met) - 1) tried = 0;
    }
    if (!tried) continue;
    const double cost = gbt_set_cost(&all.params, noise, at + 1, n);
    s.bin = at + 1;
    s.missing_left = 0;
    if (tried & CU_TRY_RIGHT) take(s, its.right - cost, rules.min_gain, &best);
    s.missing_left = 1;
    if (missing && (tried & CU_TRY_LEFT)) take(s, its.left - cost, rules.min_gain, &best);
  }
  cu_warp_best(best, out);
}

} // namespace

__global__ static void __launch_bounds__(CU_BLOCK) k_team_sets(cu_view all, cu_team_view team, int32_t n_plain) {
  CU_SHARED(cu_order_room, room, 1);
  CU_SHARED(cu_member, members, 2 * CU_TEAM_MOST);
  CU_SHARED(gbt_split, end, 2);
  const uint64_t n_tasks = (uint64_t)(uint32_t)cu_n_places(all, team) * (uint32_t)all.n_set_feats;
  cu_member *member = members + CU_TEAM_MOST * (cu_warp() & 1u); /* the first two warps search; all read */
  for (uint64_t task = blockIdx.x; task < n_tasks; task += gridDim.x) {
    const int32_t place = (int32_t)(task / (uint32_t)all.n_set_feats), s = (int32_t)(task % (uint32_t)all.n_set_feats);
    const int32_t feat = all.set_feat[s];
    const cu_feature f = all.train.feat[feat];
    gbt_split *found = &all.found[(uint64_t)(uint32_t)place * (uint32_t)all.n_feat_runs + (uint32_t)(n_plain + s)];
    int missing = 0;
    if (cu_warp() < 2) {
      cu_look_at(all, team, place, member);
      GBT_ASSERT(f.zero_bin < 0);
      missing = look_at_feature(all, team, f, member);
    }
    __syncthreads();
    const cu_team_rules rules = cu_rules_of(all, team, member);
    const cu_view one = cu_view_of(all, (uint32_t)(rules.one < 0 ? 0 : rules.one));
    if (rules.one < 0 || !cu_in_tree(all, feat) || !cu_may_use(one, member[rules.one].at, feat)) {
      if (threadIdx.x == 0) *found = cu_no_split();
      __syncthreads(); /* members are read until here */
      continue;
    }
    const by_team_ratio ratio = {member, team.by, all.params.cat_smooth};
    const cu_level_order r = cu_order_levels_by(all, member[rules.one].codes, room, blockIdx.x, ratio);
    if (cu_warp() < 2)
      search_end(all, team, member, rules, feat, r, missing, (int)cu_warp(), &end[cu_warp()]);
    __syncthreads();
    const gbt_split best = end[gbt_split_beats(&end[1], &end[0])];
    if (threadIdx.x == 0) *found = best;
    if (best.kind != GBT_SPLIT_NONE)
      cu_write_set(best, r, f.n_bins, all.set_bits + (uint64_t)(uint32_t)place * all.set_words + all.set_at[feat]);
    __syncthreads(); /* `end`, members and the order are read until here */
  }
}

gbt_status cu_team_search(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  const cu_team_view *team = &be->team->view;
  const int32_t n_plain = v->n_feat_runs - v->n_set_feats;
  const uint64_t nodes = (uint64_t)(uint32_t)team->room, warps = TEAM_WARPS;
  const uint64_t tasks = nodes * (uint32_t)n_plain, sets = nodes * (uint32_t)v->n_set_feats;
  GBT_ASSERT(v->n_trees == team->by.n && v->n_turns == 1);
  if (be->depth == 0) {
    CU_LAUNCH(k_team_noise, 1, 1, 0, be->device.stream, *v, *team);
    CU_LAUNCHED();
  }
  CU_LAUNCH(k_team_list, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, *v, *team);
  CU_LAUNCHED();
  CU_LAUNCH(k_team_search, cu_grids_for(be, 1, (tasks + warps - 1) / warps, 12), TEAM_THREADS, 0, be->device.stream,
            *v, *team, n_plain);
  CU_LAUNCHED();
  if (v->n_set_feats > 0) {
    dim3 grid = cu_grids_for(be, 1, sets, 4);
    if (v->sort_room > 0 && grid.x > (unsigned)v->sort_blocks) grid.x = (unsigned)v->sort_blocks;
    CU_LAUNCH(k_team_sets, grid, CU_BLOCK, 0, be->device.stream, *v, *team, n_plain);
    CU_LAUNCHED();
  }
  return cu_team_choose(be, err);
}
