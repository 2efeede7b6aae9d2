/* Where ranks divide the search (state/share.cu): every rank offers its best split of each searched node, and all take
 * the best of these, by the rule that one device has among features.
 *
 *   offer    | split | levels of its set, as bits |      of a node, offer_words words
 *   offers   | this rank: node 0, 1, .. | rank 0: node 0, 1, .. | rank 1 | ..     some nodes of a tree at a time */
#include "ops.cuh"

#include "../state/ops.cuh"
#include "../state/ranks.cuh"
#include "search.cuh"
#include "team.cuh"

__device__ static __forceinline__ gbt_split *split_of(uint32_t *offer) { return (gbt_split *)(void *)offer; }

/* The best splits of nodes [first, first + n) of the list to `to`. A warp for each. */
__global__ static void __launch_bounds__(CU_BLOCK) k_offer(cu_view v, int32_t first, int32_t n, uint32_t n_words,
                                                           uint32_t *to) {
  const uint32_t head = (uint32_t)sizeof(gbt_split) / 4u;
  for (int32_t i = (int32_t)(blockIdx.x * cu_n_warps() + cu_warp()); i < n; i += (int32_t)(gridDim.x * cu_n_warps())) {
    const gbt_split *found = v.found + (uint64_t)(uint32_t)(first + i) * (uint32_t)v.n_feat_runs;
    uint32_t *offer = to + (uint64_t)(uint32_t)i * n_words;
    gbt_split best = cu_no_split();
    for (int32_t u = (int32_t)cu_lane(); u < v.n_feat_runs; u += 32)
      if (gbt_split_beats(&found[u], &best)) best = found[u];
    cu_warp_best(best, split_of(offer));
    __syncwarp();
    const int32_t feat = split_of(offer)->kind == GBT_SPLIT_SET ? split_of(offer)->feat : -1;
    const uint32_t used = feat >= 0 ? ((uint32_t)v.train.feat[feat].n_bins + 31u) / 32u : 0u;
    for (uint32_t w = cu_lane(); w < n_words - head; w += 32u)
      offer[head + w] = w < used ? v.set_bits[(uint64_t)(uint32_t)(first + i) * v.set_words + v.set_at[feat] + w] : 0u;
  }
}

/* The best of the ranks' offers becomes what was found. A warp for each node. */
__global__ static void __launch_bounds__(CU_BLOCK) k_take_offers(cu_view v, int32_t first, int32_t n, uint32_t n_words,
                                                                 uint32_t *offers, int size) {
  const uint32_t head = (uint32_t)sizeof(gbt_split) / 4u;
  for (int32_t i = (int32_t)(blockIdx.x * cu_n_warps() + cu_warp()); i < n; i += (int32_t)(gridDim.x * cu_n_warps())) {
    gbt_split *found = v.found + (uint64_t)(uint32_t)(first + i) * (uint32_t)v.n_feat_runs;
    const gbt_grow_node *node = &v.node[v.search[first + i].node];
    const gbt_contest contest = cu_contest(v, gbt_node_identity(node), cu_ask(v, node).rated.parent);
    uint32_t *best = offers + (uint64_t)(uint32_t)i * n_words;
    for (int r = 1; r < size; r++) { /* all lanes alike */
      uint32_t *its = offers + ((uint64_t)(uint32_t)r * (uint32_t)n + (uint32_t)i) * n_words;
      if (gbt_contest_beats(&contest, split_of(its), split_of(best))) best = its;
    }
    const gbt_split s = *split_of(best);
    for (int32_t u = (int32_t)cu_lane(); u < v.n_feat_runs; u += 32) found[u] = u == 0 ? s : cu_no_split();
    const uint32_t used = s.kind == GBT_SPLIT_SET ? ((uint32_t)v.train.feat[s.feat].n_bins + 31u) / 32u : 0u;
    for (uint32_t w = cu_lane(); w < used; w += 32u)
      v.set_bits[(uint64_t)(uint32_t)(first + i) * v.set_words + v.set_at[s.feat] + w] = best[head + w];
  }
}

gbt_status cu_gather_words(gbt_ctx *ctx, cu_backend *be, const uint32_t *own, size_t n, uint32_t *all,
                           gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  const size_t bytes = n * sizeof *own;
  cudaStream_t stream = be->device.stream;
  if (r->comm) {
    GBT_TRY(cu_nccl_begin(ctx, be, err));
    return cu_nccl_end(be, r->nccl.all_gather(own, all, n, CU_NCCL_UINT32, r->comm, stream), err);
  }
  GBT_TRY(cu_ranks_room(be, bytes * ((size_t)r->size + 1), err));
  for (int k = 0; k < r->size; k++) r->number[k] = bytes;
  CU_TRY(cudaMemcpyAsync(r->host, own, bytes, cudaMemcpyDeviceToHost, stream));
  GBT_TRY(cu_wait(ctx, be, err));
  GBT_TRY(gbt_comm_gather(ctx, r->host, r->number, r->host + bytes, err));
  CU_TRY(cudaMemcpyAsync(all, r->host + bytes, bytes * (size_t)r->size, cudaMemcpyHostToDevice, stream));
  return GBT_OK;
}

gbt_status cu_share_splits(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  const uint64_t warps = CU_BLOCK / CU_FULL;
  uint32_t *own = (uint32_t *)(void *)r->offers.at, *all = own + (size_t)r->offered * r->offer_words;
  if (!be->view.divided || be->layer) return GBT_OK; /* states: as cu_share_hists has read them */
  if (cu_is_by_nodes(be)) return cu_team_share(ctx, be, err);
  for (int32_t y = 0; y < be->view.n_trees; y++) {
    const cu_view v = cu_view_of(be->view, (uint32_t)y);
    const int32_t n_search = cu_down_of(be, y)->n_search;
    for (int32_t first = 0; first < n_search; first += r->offered) {
      const int32_t n = n_search - first < r->offered ? n_search - first : r->offered;
      const unsigned grid = cu_grid(&be->device, ((uint64_t)(uint32_t)n + warps - 1) / warps, 4);
      CU_LAUNCH(k_offer, grid, CU_BLOCK, 0, be->device.stream, v, first, n, (uint32_t)r->offer_words, own);
      CU_LAUNCHED();
      GBT_TRY(cu_gather_words(ctx, be, own, (size_t)n * r->offer_words, all, err));
      CU_LAUNCH(k_take_offers, grid, CU_BLOCK, 0, be->device.stream, v, first, n, (uint32_t)r->offer_words, all,
                r->size);
      CU_LAUNCHED();
    }
  }
  return GBT_OK;
}
