/* Choosing nodes, by one block: for frontier.cu, and for small.cu, which has all steps in one kernel. */
#pragma once

#include "../../base/block.cuh"
#include "../rows/pieces.cuh"
#include "../search/search.cuh"

__device__ static __forceinline__ gbt_grow_policy cu_policy_of(const cu_view &v) {
  gbt_grow_policy p = v.policy;
  p.unit = v.tree->unit;
  return p;
}

/* Blocks that build the histogram of so many rows. */
__device__ static __forceinline__ uint32_t cu_hist_blocks(const cu_view &v, uint32_t n_rows) {
  return (n_rows + v.hist_rows - 1u) / v.hist_rows;
}

/* A warp: the levels that a categorical split sends left, as bits that outlive the search. */
__device__ static __forceinline__ void cu_keep_set(const cu_view &v, gbt_grow_node *node, int32_t searched) {
  const uint32_t lane = cu_lane();
  const gbt_split *s = &node->split;
  if (s->kind != GBT_SPLIT_ONEHOT && s->kind != GBT_SPLIT_SET) return;
  uint32_t n_words = ((uint32_t)v.train.feat[s->feat].n_bins + 31u) / 32u, beg = 0;
  int ok = 0;
  if (lane == 0) ok = cu_take_words(v, n_words, &beg);
  ok = cu_from(ok, 0);
  beg = cu_from(beg, 0);
  if (!ok) {
    if (lane == 0) node->split.kind = GBT_SPLIT_NONE;
    __syncwarp();
    return;
  }
  const uint32_t *bits = v.set_bits + (uint64_t)searched * v.set_words + v.set_at[s->feat];
  for (uint32_t w = lane; w < n_words; w += 32) {
    uint32_t one = (uint32_t)s->bin >> 5 == w ? 1u << (s->bin & 31) : 0u;
    v.sets[beg + w] = s->kind == GBT_SPLIT_ONEHOT ? one : bits[w];
  }
  if (lane == 0) {
    node->set_beg = beg;
    node->set_words = n_words;
  }
  __syncwarp();
}

/* Every searched node's best split, a warp for each. */
__device__ static __forceinline__ void cu_open_fresh(const cu_view &v) {
  for (int32_t i = (int32_t)cu_warp(); i < v.tree->n_search; i += (int32_t)cu_n_warps()) {
    const gbt_split *found = v.found + (uint64_t)i * (uint32_t)v.n_feat_runs;
    gbt_grow_node *node = &v.node[v.search[i].node];
    gbt_split best = cu_no_split();
    for (int32_t u = (int32_t)cu_lane(); u < v.n_feat_runs; u += 32)
      if (gbt_split_beats(&found[u], &best)) best = found[u];
    cu_warp_best(best, &node->split);
    __syncwarp();
    cu_keep_set(v, node, i);
    if (cu_lane() == 0 && node->split.kind != GBT_SPLIT_NONE) {
      gbt_grow_settle_missing(node);
      node->open = 1;
    }
  }
}

/* Lists the open nodes of one depth in [beg, n_nodes), ascending; returns their number. */
__device__ static __forceinline__ int32_t cu_list_open(const cu_view &v, int32_t depth, uint32_t *list) {
  int32_t n = 0;
  for (int32_t beg = v.tree->open_beg; beg < v.tree->n_nodes; beg += (int32_t)blockDim.x) {
    int32_t id = beg + (int32_t)threadIdx.x;
    uint32_t total, mine = id < v.tree->n_nodes && v.node[id].open && v.node[id].depth == depth;
    uint32_t at = cu_block_scan(mine, &total);
    if (mine) list[(uint32_t)n + at] = (uint32_t)id;
    n += (int32_t)total;
  }
  __syncthreads();
  return n;
}

__device__ static __forceinline__ int cu_gain_is_larger(const cu_view &v, int32_t a, int32_t b) {
  double x = v.node[a].split.gain, y = v.node[b].split.gain;
  return x > y || (x == y && a < b);
}

/* The shallowest layer, by node number; when the tree has too little room for it, the largest gains first. */
__device__ static __forceinline__ int32_t cu_choose_layer(const cu_view &v, int32_t *shared) {
  cu_tree *t = v.tree;
  uint32_t *list = v.leaf_block; /* free until the tree is complete */
  if (threadIdx.x == 0) shared[0] = INT32_MAX;
  __syncthreads();
  for (int32_t id = t->open_beg + (int32_t)threadIdx.x; id < t->n_nodes; id += (int32_t)blockDim.x)
    if (v.node[id].open) atomicMin(&shared[0], v.node[id].depth);
  __syncthreads();
  int32_t depth = shared[0];
  int64_t room = v.policy.max_leaves > 0 ? v.policy.max_leaves - t->n_leaves : (int64_t)INT32_MAX;
  if (depth == INT32_MAX || room <= 0) return 0;
  int32_t n_layer = cu_list_open(v, depth, list), n = n_layer < v.max_step ? n_layer : v.max_step;
  if (n_layer <= room) {
    for (int32_t i = (int32_t)threadIdx.x; i < n; i += (int32_t)blockDim.x) v.chosen[i] = (int32_t)list[i];
    /* Later open nodes have larger numbers. */
    if (threadIdx.x == 0 && n > 0) t->open_beg = (int32_t)list[n - 1] + 1;
    return n;
  }
  if (n > room) n = (int32_t)room;
  for (int32_t i = (int32_t)threadIdx.x; i < n_layer; i += (int32_t)blockDim.x) {
    int32_t order = 0, id = (int32_t)list[i];
    for (int32_t k = 0; k < n_layer; k++) order += cu_gain_is_larger(v, (int32_t)list[k], id);
    if (order < n) v.chosen[order] = id;
  }
  return n;
}

/* Pieces of the n chosen nodes, and the histograms that their children take at most: see cu_plan_pair. All threads. */
__device__ static __forceinline__ void cu_plan_chosen(const cu_view &v, int32_t n, int keeps) {
  cu_tree *t = v.tree;
  uint64_t rows = 0;
  uint32_t hists = 0;
  for (int32_t c = (int32_t)threadIdx.x; c < n; c += (int32_t)blockDim.x) {
    const gbt_grow_node *node = &v.node[v.chosen[c]];
    rows += node->own_rows;
    if (cu_could_split(v, node, n)) hists += keeps && node->hist >= 0 ? 1u : 2u;
  }
  rows = cu_block_sum(rows);
  hists = cu_block_sum(hists);
  const uint32_t n_shares = cu_n_shares(rows, (uint32_t)n, v.split_rows);
  const uint32_t of_share = cu_block_prefix(n, v.split_block, [&](int64_t i) {
    gbt_grow_node *node = &v.node[v.chosen[i]];
    if (v.ahead == 0) node->open = 0; /* else it is, until the policy comes to it */
    return cu_n_pieces(node->own_rows, n_shares, v.split_rows);
  });
  if (threadIdx.x != 0) return;
  t->n_chosen = n;
  t->n_split_shares = n_shares;
  t->n_split_blocks = n_shares * of_share;
  t->clear_beg = keeps ? t->n_hists : 0;
  t->n_clear = v.max_hists - t->clear_beg;
  if (hists < (uint32_t)t->n_clear) t->n_clear = (int32_t)hists;
}
