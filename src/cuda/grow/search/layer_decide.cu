/* Symmetric growth: the split that a layer gets. Twin of cpu_layer_decide.c.
 *
 *   k_layer_best     the best candidate of every feature
 *   k_layer_contest  where they compete by more than gains: keeps only the winner
 *   k_layer_pick     of all of them; its levels as bits
 *   k_layer_nodes    every node's own left sums and gain, whether it is kept
 *   layer_offers.cu  where ranks divide the search: the best of their splits, with the nodes as its owner sees them
 *   k_layer_settle   what depends on all nodes of the tree; of trees that grow together: together.cu */
#include "ops.cuh"

#include "layer.cuh"

namespace {

/* The candidate that a feature has where one is drawn at random; -1: none. */
__device__ int32_t only_of(const cu_view &v, const cu_layer_view &l, int32_t feat, const cu_feature &f, int missing) {
  const gbt_key32 key = cu_cut_key(v, gbt_layer_identity(v.node[v.tree->fresh_beg].depth));
  int32_t n = cu_n_candidates(v, l, feat, f);
  if (f.kind == CU_NUMERIC) n = f.n_bins - 1 + missing;
  const int32_t i = n > 0 ? gbt_random_place(key, feat, n) : -1;
  return f.kind == CU_SET && i >= 0 ? gbt_first_tried(l.tried + l.beg[feat], n / 2, i) : i;
}

/* The gain of a candidate. */
__device__ double gain_of(const cu_view &v, const cu_layer_view &l, const gbt_split &s) {
  const cu_feature f = v.train.feat[s.feat];
  const double *gain = l.gain + 2u * l.beg[s.feat] + (s.missing_left ? (uint32_t)f.n_bins + 1u : 0u);
  if (s.kind != GBT_SPLIT_SET) return gain[s.bin];
  const int32_t half = cu_n_candidates(v, l, s.feat, f) / 2;
  return gain[(s.from_top ? half : 0) + s.bin - 1] -
         gbt_set_cost(&v.params, cu_layer_set_noise(v, l), s.bin, l.n_placed[s.feat]);
}

} // namespace

/* The best candidate of every feature, a warp for each; where candidates have noise, with its standing for its gain. */
__global__ static void __launch_bounds__(CU_BLOCK) k_layer_best(cu_view all, cu_layer_view layers) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  const int32_t n_warps = (int32_t)(gridDim.x * cu_n_warps());
  double before;
  const gbt_contest contest = cu_n_fresh(v) > 0 ? cu_layer_contest(v, l, &before) : gbt_contest_plain();
  for (int32_t t = (int32_t)(blockIdx.x * cu_n_warps() + cu_warp()); t < v.feats[0]; t += n_warps) {
    const int32_t feat = v.feats[1 + t];
    const cu_feature f = v.train.feat[feat];
    const int missing = l.missing[feat] != 0;
    const int drawn = v.params.extra_trees && cu_n_fresh(v) > 0 && cu_is_searched(v, f, feat);
    const int32_t only = drawn ? only_of(v, l, feat, f, missing) : -1;
    gbt_split best = cu_no_split();
    for (int left = 0; left <= missing && cu_is_searched(v, f, feat); left++) {
      const uint8_t *tried = f.kind == CU_SET ? l.tried + l.beg[feat] : nullptr;
      const int32_t half = f.kind == CU_SET ? cu_n_candidates(v, l, feat, f) / 2 : 0;
      int32_t n = cu_n_candidates(v, l, feat, f);
      if (f.kind == CU_NUMERIC && !(missing && !left)) n--; /* all left is a split where missing ones go right */
      for (int32_t c = (int32_t)cu_lane(); c < n; c += 32) {
        gbt_split s = cu_no_split();
        if (v.params.extra_trees && c != only) continue;
        s.kind = f.kind == CU_NUMERIC ? GBT_SPLIT_NUMERIC : GBT_SPLIT_ONEHOT;
        s.feat = feat;
        s.bin = c;
        s.missing_left = (int8_t)left;
        s.has_missing = (int8_t)missing;
        if (f.kind == CU_SET) {
          if (!(tried[c] & (left ? CU_TRY_LEFT : CU_TRY_RIGHT))) continue;
          s.kind = GBT_SPLIT_SET;
          s.from_top = c >= half;
          s.bin = c % half + 1;
        }
        s.gain = gain_of(v, l, s);
        double least = v.params.gamma;
        if (contest.noisy && s.gain > least) {
          s.gain = gbt_layer_standing(&contest, &s, least);
          least = 0.0;
        }
        if (s.gain > least && gbt_split_beats(&s, &best)) best = s;
      }
    }
    cu_warp_best(best, &l.best[t]);
  }
}

namespace {

/* The levels that go left, as bits in v.sets; 0 where there is no room. Where ranks divide the search this is no more
 * than an offer: what follows may be written there. One block. */
__device__ int keep_bits(const cu_view &v, const cu_layer_view &l, cu_layer_pick *pick) {
  const gbt_split s = pick->split;
  const cu_feature f = v.train.feat[s.feat];
  const uint32_t beg = v.tree->n_words, n_words = ((uint32_t)f.n_bins + 31u) / 32u;
  __syncthreads();
  if (v.max_words < n_words || beg > v.max_words - n_words) {
    if (threadIdx.x == 0) atomicOr(&v.tree->fault, (unsigned)CU_FAULT_ROOM);
    return 0;
  }
  for (uint32_t w = threadIdx.x; w < n_words; w += blockDim.x)
    v.sets[beg + w] = s.kind == GBT_SPLIT_ONEHOT && (uint32_t)s.bin >> 5 == w ? 1u << (s.bin & 31) : 0u;
  __syncthreads();
  for (int32_t c = (int32_t)threadIdx.x; s.kind == GBT_SPLIT_SET && c < s.bin; c += (int32_t)blockDim.x) {
    const int32_t code = cu_code_at(l, s.feat, f, s.from_top, c);
    atomicOr(&v.sets[beg + ((uint32_t)code >> 5)], 1u << (code & 31));
  }
  if (threadIdx.x == 0) {
    pick->set_beg = beg;
    pick->set_words = n_words;
    if (!v.divided) v.tree->n_words = beg + n_words;
  }
  return 1;
}

} // namespace

/* One block: where features compete by more than gains, keeps only the winner in l.best, with its gain. */
__global__ static void k_layer_contest(cu_view all, cu_layer_view layers) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  CU_SHARED(gbt_split, part, CU_CONTROL / CU_FULL);
  if (cu_n_fresh(v) <= 0) return;
  double before;
  const gbt_contest contest = cu_layer_contest(v, l, &before);
  gbt_split best = cu_no_split();
  for (int32_t t = (int32_t)threadIdx.x; t < v.feats[0]; t += (int32_t)blockDim.x) {
    gbt_split s = l.best[t];
    if (!contest.noisy) {
      if (!gbt_contest_admits(&contest, &s, v.params.gamma)) continue;
      s.gain = gbt_standing(&contest, &s);
    }
    if (gbt_split_beats(&s, &best)) best = s;
  }
  cu_warp_best(best, &part[cu_warp()]);
  __syncthreads();
  best = part[0];
  for (uint32_t w = 1; w < cu_n_warps(); w++)
    if (gbt_split_beats(&part[w], &best)) best = part[w];
  if (threadIdx.x == 0 && best.kind == GBT_SPLIT_NONE && !v.divided) *l.scored = before;
  for (int32_t t = (int32_t)threadIdx.x; t < v.feats[0]; t += (int32_t)blockDim.x) {
    gbt_split *its = &l.best[t];
    const int wins = best.kind != GBT_SPLIT_NONE && its->kind != GBT_SPLIT_NONE && its->feat == best.feat;
    if (wins) its->gain = gain_of(v, l, *its);
    if (wins && !v.divided) *l.scored = before + its->gain; /* all threads have read what was there */
    if (!wins) its->kind = GBT_SPLIT_NONE;
  }
}

/* One block: the best of all features, and its set. */
__global__ static void k_layer_pick(cu_view all, cu_layer_view layers) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  CU_SHARED(gbt_split, part, CU_CONTROL / CU_FULL);
  gbt_split best = cu_no_split();
  for (int32_t t = (int32_t)threadIdx.x; t < v.feats[0]; t += (int32_t)blockDim.x)
    if (gbt_split_beats(&l.best[t], &best)) best = l.best[t];
  cu_warp_best(best, &part[cu_warp()]);
  __syncthreads();
  best = part[0];
  for (uint32_t w = 1; w < cu_n_warps(); w++)
    if (gbt_split_beats(&part[w], &best)) best = part[w];
  if (cu_n_fresh(v) <= 0 || v.tree->fault & CU_FAULT_ROOM) best.kind = GBT_SPLIT_NONE;
  if (threadIdx.x == 0) {
    cu_layer_pick none = {};
    none.split = best;
    *l.pick = none;
  }
  __syncthreads();
  if (best.kind == GBT_SPLIT_NONE || best.kind == GBT_SPLIT_NUMERIC) return;
  if (!keep_bits(v, l, l.pick) && threadIdx.x == 0) l.pick->split.kind = GBT_SPLIT_NONE;
}

namespace {

/* A node's own left sums, by a warp; returns the rows. */
__device__ int64_t left_sums(const cu_view &v, const gbt_grow_node *node, gbt_sum *out) {
  const cu_feature f = v.train.feat[node->split.feat];
  const cu_codes k = cu_codes_of(v, node, f);
  gbt_sum left = {0, 0};
  int64_t rows = 0;
  for (int32_t c = (int32_t)cu_lane(); c < f.n_bins + f.has_missing; c += 32) {
    if (!cu_goes_left(v, node, c)) continue;
    left = cu_plus(left, cu_sum_of(k, c));
    rows += cu_rows_of(k, c);
  }
  *out = cu_warp_sum(left);
  return cu_warp_sum(rows);
}

} // namespace

/* Every fresh node gets the layer's split, a warp for each: its own left sums and gain, whether it is kept. */
__global__ static void __launch_bounds__(CU_BLOCK) k_layer_nodes(cu_view all, cu_layer_view layers) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  const int32_t n = cu_n_fresh(v), n_warps = (int32_t)(gridDim.x * cu_n_warps());
  for (int32_t i = (int32_t)(blockIdx.x * cu_n_warps() + cu_warp()); i < n; i += n_warps) {
    gbt_grow_node *node = &v.node[v.tree->fresh_beg + i];
    const cu_layer_pick *pick = l.pick;
    const int some = pick->split.kind != GBT_SPLIT_NONE;
    if (cu_lane() == 0) {
      node->open = (int8_t)some;
      node->split = pick->split;
      node->split.gain = 0.0;
      node->split.left.g = node->split.left.h = 0;
      node->set_beg = pick->set_beg;
      node->set_words = pick->set_words;
      node->kept = (int8_t)some;
    }
    __syncwarp();
    if (!some || !node->splittable || node->hist < 0) continue;
    gbt_sum left;
    const int64_t rows = left_sums(v, node, &left);
    if (cu_lane() != 0) continue;
    const cu_asked q = cu_ask(v, node);
    const gbt_reg reg = node->split.kind == GBT_SPLIT_SET ? gbt_set_reg(q.reg, &v.params) : q.reg;
    const double gain =
        cu_own_gain(q, (double)left.g * q.unit.g, (double)left.h * q.unit.h, rows, reg, cu_sign(v, node->split.feat));
    node->split.left = left;
    node->split.gain = gain;
    node->kept = gain == 0.0;
    cu_add64(&l.pick->h, node->sum.h);
    cu_add64(&l.pick->left_h, left.h);
  }
}

/* One block: gains of sets add up to the layer's, what was taken off for noise being taken off in proportion; where
 * missing values go when the layer has none. */
__global__ static void k_layer_settle(cu_view all, cu_layer_view layers) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  CU_SHARED(double, gain, CU_CONTROL);
  CU_SHARED(double, sum, 1);
  const gbt_split s = l.pick->split;
  const int32_t n = cu_n_fresh(v);
  gbt_grow_node *node = v.node + v.tree->fresh_beg;
  if (s.kind == GBT_SPLIT_NONE) return;
  if (threadIdx.x == 0) sum[0] = 0.0;
  for (int32_t beg = 0; s.kind == GBT_SPLIT_SET && beg < n; beg += (int32_t)blockDim.x) {
    const int32_t i = beg + (int32_t)threadIdx.x;
    gain[threadIdx.x] = i < n ? node[i].split.gain : 0.0;
    __syncthreads();
    for (int32_t k = 0; threadIdx.x == 0 && k < (int32_t)blockDim.x && beg + k < n; k++) sum[0] += gain[k];
    __syncthreads();
  }
  for (int32_t i = (int32_t)threadIdx.x; i < n; i += (int32_t)blockDim.x) {
    if (s.kind == GBT_SPLIT_SET) node[i].split.gain = node[i].split.gain * (s.gain / sum[0]);
    if (!s.has_missing) node[i].split.missing_left = l.pick->left_h >= l.pick->h - l.pick->left_h;
  }
}

gbt_status cu_layer_decide(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  const cu_layer_view *l = &be->layer->view;
  const uint64_t warps = CU_BLOCK / CU_FULL;
  const dim3 one = cu_grids(be, 1, 1), feats = cu_grids(be, ((uint64_t)(uint32_t)v->n_features + warps - 1) / warps, 8);
  const dim3 nodes = cu_grids(be, ((uint64_t)(uint32_t)cu_most_nodes(be) + warps - 1) / warps, 8);
  CU_LAUNCH(k_layer_best, feats, CU_BLOCK, 0, be->device.stream, *v, *l);
  CU_LAUNCHED();
  if (gbt_contests(be->params, be->handicap)) {
    CU_LAUNCH(k_layer_contest, one, CU_CONTROL, 0, be->device.stream, *v, *l);
    CU_LAUNCHED();
  }
  CU_LAUNCH(k_layer_pick, one, CU_CONTROL, 0, be->device.stream, *v, *l);
  CU_LAUNCHED();
  CU_LAUNCH(k_layer_nodes, nodes, CU_BLOCK, 0, be->device.stream, *v, *l);
  CU_LAUNCHED();
  GBT_TRY(cu_share_layer(ctx, be, err));
  if (l->together.n > 0) return cu_together_settle(be, err);
  CU_LAUNCH(k_layer_settle, one, CU_CONTROL, 0, be->device.stream, *v, *l);
  CU_LAUNCHED();
  return GBT_OK;
}
