/* Where ranks divide the search (state/share.cu), a layer of a symmetric tree: every rank offers the best split of its
 * features, and all take the best of these, by the rule that one device has among features.
 *
 *   offer    | pick | levels of its set, as bits | fresh node 0: left sums, gain, kept | node 1 | ..      of a tree
 *   offers   | this rank: tree 0, 1, .. | rank 0: tree 0, 1, .. | rank 1 | ..            some trees at a time
 *
 * Only the rank with the histograms of a split can compute how it changes the nodes, so the offer includes this. */
#include "ops.cuh"

#include "../state/ops.cuh"
#include "../state/ranks.cuh"
#include "layer.cuh"

enum : uint32_t { PICK_WORDS = sizeof(cu_layer_pick) / 4u };
static_assert(sizeof(cu_layer_pick) % 8 == 0 && sizeof(cu_node_offer) % 8 == 0, "all parts are aligned");

/* The parts of an offer that begins at `at`. */
struct cu_offer_parts {
  cu_layer_pick *pick;
  uint32_t *words;
  cu_node_offer *node;
};
__device__ static __forceinline__ cu_offer_parts parts_of(uint32_t *at, uint32_t set_words) {
  cu_offer_parts p;
  p.pick = (cu_layer_pick *)(void *)at;
  p.words = at + PICK_WORDS;
  p.node = (cu_node_offer *)(void *)(p.words + (set_words + 1u) / 2u * 2u);
  return p;
}

/* The tree's offer to `to`. One block. */
__global__ static void k_layer_offer(cu_view v, cu_layer_view l, int32_t n, uint32_t set_words, uint32_t *to) {
  const cu_offer_parts offer = parts_of(to, set_words);
  const cu_layer_pick pick = *l.pick;
  const uint32_t used = pick.split.kind == GBT_SPLIT_SET ? pick.set_words : 0u, room = (set_words + 1u) / 2u * 2u;
  if (threadIdx.x == 0) *offer.pick = pick;
  for (uint32_t w = threadIdx.x; w < room; w += blockDim.x) offer.words[w] = w < used ? v.sets[pick.set_beg + w] : 0u;
  for (int32_t i = (int32_t)threadIdx.x; i < n; i += (int32_t)blockDim.x) {
    const gbt_grow_node *node = &v.node[v.tree->fresh_beg + i];
    const cu_node_offer its = {node->split.left, node->split.gain, node->kept};
    offer.node[i] = its;
  }
}

/* Whether a beats b, both the best of all that their ranks have. */
__device__ static int beats(const cu_view &v, const gbt_contest &contest, const gbt_split *a, const gbt_split *b) {
  if (a->kind == GBT_SPLIT_NONE || b->kind == GBT_SPLIT_NONE || !contest.noisy)
    return gbt_contest_beats(&contest, a, b);
  gbt_split x = *a, y = *b;
  x.gain = gbt_layer_standing(&contest, a, v.params.gamma);
  y.gain = gbt_layer_standing(&contest, b, v.params.gamma);
  return gbt_split_beats(&x, &y);
}

/* The best of the ranks' offers, each `stride` words after the one before, becomes what was picked. One block. */
__global__ static void k_layer_take(cu_view v, cu_layer_view l, int32_t n, uint32_t set_words, uint32_t *offers,
                                    uint64_t stride, int size) {
  double before;
  const gbt_contest contest = cu_layer_contest(v, l, &before);
  const uint32_t beg = v.tree->n_words;
  cu_offer_parts best = parts_of(offers, set_words);
  for (int r = 1; r < size; r++) { /* all threads alike */
    const cu_offer_parts its = parts_of(offers + (uint64_t)(uint32_t)r * stride, set_words);
    if (beats(v, contest, &its.pick->split, &best.pick->split)) best = its;
  }
  cu_layer_pick pick = *best.pick;
  const gbt_split s = pick.split;
  const int some = s.kind != GBT_SPLIT_NONE;
  __syncthreads(); /* all have read what is written here */
  pick.set_beg = pick.set_words > 0 ? beg : 0u;
  for (uint32_t w = threadIdx.x; w < pick.set_words; w += blockDim.x)
    v.sets[beg + w] = s.kind == GBT_SPLIT_SET ? best.words[w] : (uint32_t)s.bin >> 5 == w ? 1u << (s.bin & 31) : 0u;
  for (int32_t i = (int32_t)threadIdx.x; i < n; i += (int32_t)blockDim.x) {
    gbt_grow_node *node = &v.node[v.tree->fresh_beg + i];
    node->open = (int8_t)some;
    node->split = s;
    node->split.gain = best.node[i].gain;
    node->split.left = best.node[i].left;
    node->set_beg = pick.set_beg;
    node->set_words = pick.set_words;
    node->kept = (int8_t)best.node[i].kept;
  }
  if (threadIdx.x != 0) return;
  *l.pick = pick;
  v.tree->n_words = beg + pick.set_words;
  if (cu_contests(v)) *l.scored = before + (some ? s.gain : 0.0);
}

/* Trees [first, end) of the batch. */
static gbt_status share_trees(gbt_ctx *ctx, cu_backend *be, int32_t first, int32_t end, gbt_error *err) {
  const cu_ranks *r = &be->ranks;
  const cu_layer_view *layers = &be->layer->view;
  uint32_t *own = (uint32_t *)(void *)r->offers.at, *all = own + (size_t)r->offered * r->offer_words;
  size_t beg[GBT_MOST_TREES + 1] = {0};
  int32_t n[GBT_MOST_TREES];
  for (int32_t y = first; y < end; y++) {
    const cu_tree *tree = cu_down_of(be, y);
    const size_t at = beg[y - first];
    n[y - first] = tree->n_nodes - tree->fresh_beg;
    beg[y - first + 1] = at;
    if (n[y - first] <= 0) continue;
    beg[y - first + 1] += cu_layer_offer_words(r->set_words, n[y - first]);
    CU_LAUNCH(k_layer_offer, 1, CU_CONTROL, 0, be->device.stream, cu_view_of(be->view, (uint32_t)y),
              cu_layer_of(*layers, be->view.stride, (uint32_t)y), n[y - first], r->set_words, own + at);
    CU_LAUNCHED();
  }
  const size_t words = beg[end - first];
  if (words == 0) return GBT_OK;
  GBT_TRY(cu_gather_words(ctx, be, own, words, all, err));
  for (int32_t y = first; y < end; y++) {
    if (n[y - first] <= 0) continue;
    CU_LAUNCH(k_layer_take, 1, CU_CONTROL, 0, be->device.stream, cu_view_of(be->view, (uint32_t)y),
              cu_layer_of(*layers, be->view.stride, (uint32_t)y), n[y - first], r->set_words, all + beg[y - first],
              (uint64_t)words, r->size);
    CU_LAUNCHED();
  }
  return GBT_OK;
}

gbt_status cu_share_layer(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const int32_t n_trees = be->view.n_trees, some = be->ranks.offered;
  if (!be->view.divided) return GBT_OK; /* states: as cu_share_hists has read them */
  for (int32_t y = 0; y < n_trees; y += some)
    GBT_TRY(share_trees(ctx, be, y, y + some < n_trees ? y + some : n_trees, err));
  return GBT_OK;
}
