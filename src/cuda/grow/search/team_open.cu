/* Growth node by node of trees that grow together, after team_search.cu: the split that a node gets in all trees. Twin
 * of the second half of cpu_split_together.c.
 *
 *   k_team_best    the best of all runs of features, and what goes left in each tree
 *   k_team_offer, k_team_take   where ranks divide the search (state/share.cu): these, of the rank that has the best
 *   k_team_open    all trees get the split, with the sum of the gains, by which they all choose the same nodes; what
 *                  each gains itself is in node.reach, which devices have no other use for
 *   k_team_gains   once trees are complete: that is their gain
 *
 *   offer    | cu_team_split | levels of its set, as bits |      of a node, offer_words words; else as offers.cu */
#include "ops.cuh"

#include "../state/ops.cuh"
#include "../state/ranks.cuh"
#include "team.cuh"

namespace {

enum : uint32_t { HEAD_WORDS = sizeof(cu_team_split) / 4u };
static_assert(sizeof(cu_team_split) % 8 == 0, "offers are aligned");

enum { TEAM_THREADS = 128, TEAM_WARPS = TEAM_THREADS / CU_FULL };

/* Where the levels of the best set for the node at a place are. */
__device__ uint32_t *set_at(const cu_view &all, int32_t place, int32_t feat) {
  return all.set_bits + (uint64_t)(uint32_t)place * all.set_words + all.set_at[feat];
}

/* Words of the set of a split. */
__device__ uint32_t set_words(const cu_view &all, const gbt_split &s) {
  if (s.kind != GBT_SPLIT_ONEHOT && s.kind != GBT_SPLIT_SET) return 0;
  return ((uint32_t)all.train.feat[s.feat].n_bins + 31u) / 32u;
}

__device__ int goes_left(const gbt_split &s, const uint32_t *bits, int32_t n_bins, int32_t code) {
  if (code == n_bins) return s.missing_left;
  if (s.kind == GBT_SPLIT_NUMERIC) return code <= s.bin;
  if (s.kind == GBT_SPLIT_ONEHOT) return code == s.bin;
  return (int)(bits[code >> 5] >> (code & 31) & 1u);
}

/* The sum of a tree's node that goes left, by its histogram. A warp. */
__device__ gbt_sum left_of(const cu_view &all, const cu_view &v, const gbt_grow_node *node, const gbt_split &s,
                           int32_t place) {
  const cu_feature f = v.train.feat[s.feat];
  const cu_codes k = cu_codes_of(v, node, f);
  const uint32_t *bits = s.kind == GBT_SPLIT_SET ? set_at(all, place, s.feat) : nullptr;
  gbt_sum left = {0, 0};
  for (int32_t c = (int32_t)cu_lane(); c < f.n_bins + f.has_missing; c += 32)
    if (goes_left(s, bits, f.n_bins, c)) left = cu_plus(left, cu_sum_of(k, c));
  return cu_warp_sum(left);
}

} // namespace

/* A warp for each place. */
__global__ static void __launch_bounds__(TEAM_THREADS) k_team_best(cu_view all, cu_team_view team) {
  CU_SHARED(cu_member, members, TEAM_WARPS *CU_TEAM_MOST);
  CU_SHARED(gbt_split, winners, TEAM_WARPS);
  cu_member *member = members + CU_TEAM_MOST * cu_warp();
  gbt_split *winner = &winners[cu_warp()];
  const int32_t n = cu_n_places(all, team), step = (int32_t)(gridDim.x * cu_n_warps());
  for (int32_t place = (int32_t)(blockIdx.x * cu_n_warps() + cu_warp()); place < n; place += step) {
    const gbt_split *found = all.found + (uint64_t)(uint32_t)place * (uint32_t)all.n_feat_runs;
    cu_team_split *to = &team.best[place];
    cu_look_at(all, team, place, member);
    const cu_team_rules rules = cu_rules_of(all, team, member);
    gbt_split best = cu_no_split();
    for (int32_t u = (int32_t)cu_lane(); u < all.n_feat_runs && rules.one >= 0; u += 32) {
      const gbt_split s = found[u];
      if (!gbt_contest_admits(&rules.contest, &s, rules.min_gain)) continue;
      if (gbt_contest_beats(&rules.contest, &s, &best)) best = s;
    }
    gbt_split standing = best;
    if (best.kind != GBT_SPLIT_NONE && rules.contest.on) standing.gain = gbt_standing(&rules.contest, &best);
    cu_warp_best(standing, winner);
    __syncwarp();
    const gbt_split won = *winner; /* two runs have no feature in common */
    if (won.kind != GBT_SPLIT_NONE ? best.kind != GBT_SPLIT_NONE && best.feat == won.feat : cu_lane() == 0)
      to->split = best;
    __syncwarp();
    const gbt_split s = to->split;
    for (int32_t k = 0; k < team.by.n; k++) {
      const cu_view v = cu_view_of(all, (uint32_t)k);
      gbt_sum left = {0, 0};
      if (s.kind != GBT_SPLIT_NONE && member[k].at >= 0) left = left_of(all, v, cu_node_of(v, member[k]), s, place);
      if (cu_lane() == 0) to->left[k] = left;
    }
  }
}

/* Places [first, first + n) to `to`. A warp for each. */
__global__ static void __launch_bounds__(TEAM_THREADS)
    k_team_offer(cu_view all, cu_team_view team, int32_t first, int32_t n, uint32_t n_words, uint32_t *to) {
  for (int32_t i = (int32_t)(blockIdx.x * cu_n_warps() + cu_warp()); i < n; i += (int32_t)(gridDim.x * cu_n_warps())) {
    const cu_team_split *best = &team.best[first + i];
    const uint32_t *head = (const uint32_t *)(const void *)best;
    uint32_t *offer = to + (uint64_t)(uint32_t)i * n_words;
    const int is_set = best->split.kind == GBT_SPLIT_SET;
    const uint32_t used = is_set ? set_words(all, best->split) : 0u;
    for (uint32_t w = cu_lane(); w < HEAD_WORDS; w += 32u) offer[w] = head[w];
    for (uint32_t w = cu_lane(); w < n_words - HEAD_WORDS; w += 32u)
      offer[HEAD_WORDS + w] = w < used ? set_at(all, first + i, best->split.feat)[w] : 0u;
  }
}

/* The best of the ranks' offers becomes what this one has found. A warp for each place. */
__global__ static void __launch_bounds__(TEAM_THREADS)
    k_team_take(cu_view all, cu_team_view team, int32_t first, int32_t n, uint32_t n_words, uint32_t *offers,
                int size) {
  CU_SHARED(cu_member, members, TEAM_WARPS *CU_TEAM_MOST);
  cu_member *member = members + CU_TEAM_MOST * cu_warp();
  for (int32_t i = (int32_t)(blockIdx.x * cu_n_warps() + cu_warp()); i < n; i += (int32_t)(gridDim.x * cu_n_warps())) {
    cu_look_at(all, team, first + i, member);
    const cu_team_rules rules = cu_rules_of(all, team, member);
    const cu_team_split *best = (const cu_team_split *)(const void *)(offers + (uint64_t)(uint32_t)i * n_words);
    for (int r = 1; r < size; r++) { /* all lanes alike */
      const uint32_t *at = offers + ((uint64_t)(uint32_t)r * (uint32_t)n + (uint32_t)i) * n_words;
      const cu_team_split *its = (const cu_team_split *)(const void *)at;
      if (gbt_contest_beats(&rules.contest, &its->split, &best->split)) best = its;
    }
    const uint32_t *words = (const uint32_t *)(const void *)best;
    uint32_t *to = (uint32_t *)(void *)&team.best[first + i];
    const uint32_t used = best->split.kind == GBT_SPLIT_SET ? set_words(all, best->split) : 0u;
    for (uint32_t w = cu_lane(); w < HEAD_WORDS; w += 32u) to[w] = words[w];
    for (uint32_t w = cu_lane(); w < used; w += 32u)
      set_at(all, first + i, best->split.feat)[w] = words[HEAD_WORDS + w];
  }
}

namespace {

/* The meaning of a node's split for the tree of a lane. */
struct meaning {
  gbt_sum left;
  double gain;     /* 0: the node is kept */
  double h, left_h; /* real; 0 where the node could not be split */
  int there;       /* it could */
};

__device__ meaning meaning_of(const cu_view &all, const cu_team_view &team, int32_t place) {
  const int32_t k = (int32_t)cu_lane();
  meaning m = {{0, 0}, 0.0, 0.0, 0.0, 0};
  if (k >= team.by.n || team.at[k * team.room + place] < 0) return m;
  const cu_view v = cu_view_of(all, (uint32_t)k);
  const gbt_split s = team.best[place].split;
  const cu_asked q = cu_ask(v, &v.node[v.tree->fresh_beg + place]);
  const gbt_reg reg = s.kind == GBT_SPLIT_SET ? gbt_set_reg(q.reg, &all.params) : q.reg;
  m.there = 1;
  m.left = team.best[place].left[k];
  m.left_h = (double)m.left.h * q.unit.h;
  m.h = q.rated.H;
  const double gain = gbt_rate_split(&q.rated, (double)m.left.g * q.unit.g, m.left_h, reg, cu_sign(all, s.feat));
  m.gain = gain > q.floor ? gain : 0.0;
  return m;
}

/* Room for a set in the tree of each lane, or 0 words where there is none: a fault. */
__device__ uint32_t take_room(const cu_view &all, const cu_team_view &team, uint32_t n_words, uint32_t *beg) {
  *beg = 0;
  if ((int32_t)cu_lane() >= team.by.n || n_words == 0) return 0;
  return cu_take_words(cu_view_of(all, cu_lane()), n_words, beg) ? n_words : 0u;
}

} // namespace

/* A warp for each place; a lane has a tree. */
__global__ static void __launch_bounds__(TEAM_THREADS) k_team_open(cu_view all, cu_team_view team) {
  const int32_t n = cu_n_places(all, team), step = (int32_t)(gridDim.x * cu_n_warps()), k = (int32_t)cu_lane();
  for (int32_t place = (int32_t)(blockIdx.x * cu_n_warps() + cu_warp()); place < n; place += step) {
    gbt_split s = team.best[place].split;
    if (s.kind == GBT_SPLIT_NONE) continue;
    meaning m = meaning_of(all, team, place);
    double sum = 0.0, h = 0.0, left_h = 0.0; /* over the trees, in their order */
    for (int32_t t = 0; t < team.by.n; t++) {
      const double gain = cu_from(m.gain, t), its = cu_from(m.h, t);
      const double its_left = cu_from(m.left_h, t);
      if (!cu_from(m.there, t)) continue;
      sum += team.by.weight[t] * gain;
      h += its;
      left_h += its_left;
    }
    /* what was taken off for the noise of the order is taken off in proportion */
    if (s.kind == GBT_SPLIT_SET) m.gain = m.gain * (s.gain / sum);
    if (!s.has_missing) s.missing_left = left_h >= h - left_h;
    s.left = m.left;
    uint32_t beg;
    const uint32_t n_words = set_words(all, s), has = take_room(all, team, n_words, &beg);
    for (int32_t t = 0; t < team.by.n && n_words > 0; t++) {
      uint32_t *to = cu_view_of(all, (uint32_t)t).sets + cu_from(beg, t);
      const uint32_t its = cu_from(has, t);
      for (uint32_t w = cu_lane(); w < its; w += 32u)
        to[w] = s.kind == GBT_SPLIT_SET          ? set_at(all, place, s.feat)[w]
                : (uint32_t)s.bin >> 5 == w ? 1u << (s.bin & 31)
                                            : 0u;
    }
    if (k >= team.by.n || has != n_words) continue;
    const cu_view v = cu_view_of(all, (uint32_t)k);
    gbt_grow_node *node = &v.node[v.tree->fresh_beg + place];
    node->split = s;
    node->set_beg = beg;
    node->set_words = n_words;
    node->kept = m.gain == 0.0;
    node->reach = m.gain;
    node->open = 1;
  }
}

/* A tree for each blockIdx.y. */
__global__ static void __launch_bounds__(CU_BLOCK) k_team_gains(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const int32_t step = (int32_t)(gridDim.x * blockDim.x);
  for (int32_t i = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); i < v.tree->n_nodes; i += step)
    if (v.node[i].left > 0) v.node[i].split.gain = v.node[i].reach;
}

/* ---- the host's side ---- */

/* Blocks of a warp for each of n places. */
static unsigned grid_of(const cu_backend *be, int32_t n) {
  return cu_grid(&be->device, ((uint64_t)(uint32_t)n + TEAM_WARPS - 1) / TEAM_WARPS, 8);
}

gbt_status cu_team_choose(cu_backend *be, gbt_error *err) {
  const cu_team_view *team = &be->team->view;
  CU_LAUNCH(k_team_best, grid_of(be, team->room), TEAM_THREADS, 0, be->device.stream, be->view, *team);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_team_share(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  const cu_team_view *team = &be->team->view;
  const cu_tree *tree = cu_down_of(be, 0); /* as cu_share_hists has read it */
  const int32_t n_places = tree->n_nodes - tree->fresh_beg;
  const uint32_t n_words = (uint32_t)r->offer_words;
  uint32_t *own = (uint32_t *)(void *)r->offers.at, *all = own + (size_t)r->offered * r->offer_words;
  for (int32_t first = 0; first < n_places; first += r->offered) {
    const int32_t n = n_places - first < r->offered ? n_places - first : r->offered;
    CU_LAUNCH(k_team_offer, grid_of(be, n), TEAM_THREADS, 0, be->device.stream, be->view, *team, first, n, n_words,
              own);
    CU_LAUNCHED();
    GBT_TRY(cu_gather_words(ctx, be, own, (size_t)n * n_words, all, err));
    CU_LAUNCH(k_team_take, grid_of(be, n), TEAM_THREADS, 0, be->device.stream, be->view, *team, first, n, n_words, all,
              r->size);
    CU_LAUNCHED();
  }
  return GBT_OK;
}

gbt_status cu_team_open_nodes(cu_backend *be, gbt_error *err) {
  const cu_team_view *team = &be->team->view;
  CU_LAUNCH(k_team_open, grid_of(be, team->room), TEAM_THREADS, 0, be->device.stream, be->view, *team);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_team_gains(cu_backend *be, gbt_error *err) {
  const uint64_t blocks = ((uint64_t)(uint32_t)be->view.max_nodes + CU_BLOCK - 1) / CU_BLOCK;
  if (!cu_is_by_nodes(be)) return GBT_OK;
  CU_LAUNCH(k_team_gains, cu_grids(be, blocks, 1), CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  return GBT_OK;
}
