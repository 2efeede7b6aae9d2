/* Trees and rows: a thread takes a row through tree after tree.
 *
 *   table     its answers are looked up
 *   by cover  gbti_visit_tree, for its lane
 *   with a    it walks leaf by leaf, as gbti_ways_walk does for 64 rows; mask: the slots of players that it fails,
 *   background  above: by depth, bit 0: whether it failed the player's splits above, bit 1: whether it goes left */
#include "explain.cuh"

enum { WARPS = 4 }; /* of a block */

struct cu_explain_lane {
  const cu_explain_pass *a;
  const cu_explain_tree *tree;
  unsigned char *scratch; /* of the warp */
  uint64_t row;
  int lane;
};

template <class T> __device__ static __forceinline__ T *of_warp(const cu_explain_lane *l, size_t at) {
  return (T *)(void *)(l->scratch + at);
}

__device__ static __forceinline__ int asks(const cu_explain_lane *l, uint32_t i) {
  const cu_explain_ask *ask = &l->tree->ask[i];
  const double x = l->a->x[(uint64_t)(uint32_t)ask->column * l->a->stride + l->row];
  return gbt_goes_left(&ask->node, x, l->tree->word);
}

/* The row's number of two players, or of one. */
__device__ static __forceinline__ double *cell_of(const cu_explain_lane *l, uint64_t output, int32_t a, int32_t b) {
  const cu_explain_pass *pass = l->a;
  const uint64_t p = (uint64_t)pass->n_players + 1, low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
  const uint64_t column = pass->pairs ? output * p * p + low + high * p : output * p + low;
  return pass->out + column * pass->stride + l->row;
}

/* The contribution of item i of the tree, for the outputs of its leaves one after the other. */
template <class F> __device__ static __forceinline__ void add_items(const cu_explain_lane *l, uint64_t output, F item) {
  const gbti_game *game = &l->tree->game;
  for (int32_t a = 0; a < game->n_players; a++) {
    *cell_of(l, output, game->player[a], game->player[a]) += item((size_t)a);
    for (int32_t b = 0; l->a->pairs && b < a; b++)
      *cell_of(l, output, game->player[a], game->player[b]) += item(gbti_pair((size_t)game->n_players, b, a));
  }
}

__device__ static __forceinline__ size_t n_items_of(const cu_explain_lane *l) {
  const size_t n = (size_t)l->tree->game.n_players;
  return l->a->pairs ? n + n * (n - 1) / 2 : n;
}

__device__ static void look_up(const cu_explain_lane *l) {
  const cu_explain_tree *tree = l->tree;
  const size_t n_items = n_items_of(l);
  size_t at = 0;
  for (uint32_t i = 0; i < tree->game.n_asks; i++) at |= (size_t)asks(l, i) << i;
  for (size_t k = 0; k < tree->game.n_outputs; k++)
    add_items(l, (uint64_t)(uint32_t)tree->first_output + k,
              [&](size_t item) { return tree->table[((k * n_items + item) << tree->bits) + at]; });
}

/* ---- by cover ---- */

__device__ static void visit(const cu_explain_lane *l) {
  const cu_explain_scratch *at = &l->a->at;
  const gbti_game *game = &l->tree->game;
  const size_t n_items = n_items_of(l), lane = (size_t)l->lane;
  gbti_lanes lanes;
  gbti_visit v;
  uint8_t *bits = of_warp<uint8_t>(l, at->bits);
  double *acc = of_warp<double>(l, at->acc);
  for (uint32_t i = 0; i < game->n_splits; i++) {
    const gbti_split *split = &game->split[i];
    unsigned met = 1;
    if (split->above >= 0) {
      const unsigned above = bits[(size_t)split->above * GBTI_LANES + lane];
      met = above >> 1 & ((above & 1u) ^ split->above_side);
    }
    bits[(size_t)i * GBTI_LANES + lane] = (uint8_t)((unsigned)asks(l, split->ask) | met << 1);
  }
  lanes.p = of_warp<double>(l, at->p);
  lanes.r = of_warp<double>(l, at->r);
  lanes.sum = of_warp<double>(l, at->sum);
  lanes.psi = of_warp<double>(l, at->psi);
  lanes.terms = of_warp<double>(l, at->terms);
  lanes.live = of_warp<int32_t>(l, at->live);
  lanes.kept = of_warp<int32_t>(l, at->kept);
  for (int32_t p = 0; l->a->pairs && p < game->n_players; p++) lanes.live[(size_t)p * GBTI_LANES + lane] = -1;
  v.plan = game;
  v.mix = game->mix;
  v.went = v.met = NULL;
  v.bits = bits;
  v.gone = game->factor + GBTI_PSI_GONE * (size_t)game->n_points;
  v.shift = 0;
  v.lane = l->lane;
  v.stride = GBTI_LANES;
  for (size_t k = 0; k < game->n_outputs; k++) {
    v.value = game->value + k * 2 * game->n_splits;
    for (size_t i = 0; i < n_items; i++) acc[i * GBTI_LANES + lane] = 0.0;
    gbti_visit_tree(&v, &lanes, game->n_points, l->a->pairs, acc);
    add_items(l, (uint64_t)(uint32_t)l->tree->first_output + k,
              [&](size_t item) { return acc[item * GBTI_LANES + lane]; });
  }
}

/* ---- with a background ---- */

struct cu_explain_way {
  const cu_explain_lane *l;
  uint64_t *mask;
  uint8_t *above;
  int32_t *player; /* by slot */
  int32_t n_slots;
};

__device__ static __forceinline__ void set_slot(const cu_explain_way *w, int32_t slot, unsigned fails) {
  uint64_t *word = &w->mask[(size_t)(slot / 64) * GBTI_LANES + (size_t)w->l->lane];
  const uint64_t bit = (uint64_t)1 << (slot % 64);
  *word = fails ? *word | bit : *word & ~bit;
}

__device__ static __forceinline__ uint8_t *above_of(const cu_explain_way *w, const gbti_split *split) {
  return &w->above[(size_t)split->depth * GBTI_LANES + (size_t)w->l->lane];
}

__device__ static __forceinline__ void take_side(const cu_explain_way *w, const gbti_split *split, unsigned side) {
  const unsigned above = *above_of(w, split);
  set_slot(w, split->slot, (above & 1u) | ((above >> 1 & 1u) ^ 1u ^ side));
}

__device__ static __forceinline__ void enter(cu_explain_way *w, const gbti_split *split) {
  unsigned failed = 0;
  if (split->above < 0)
    w->player[(size_t)w->n_slots++ * GBTI_LANES + (size_t)w->l->lane] = split->player;
  else
    failed =
        (unsigned)(w->mask[(size_t)(split->slot / 64) * GBTI_LANES + (size_t)w->l->lane] >> (split->slot % 64)) & 1u;
  *above_of(w, split) = (uint8_t)(failed | (unsigned)asks(w->l, split->ask) << 1);
  take_side(w, split, 0);
}

__device__ static __forceinline__ void leave(cu_explain_way *w, const gbti_split *split) {
  set_slot(w, split->slot, split->above < 0 ? 0u : *above_of(w, split) & 1u);
  if (split->above < 0) w->n_slots--;
}

__device__ static __forceinline__ void add_leaf(const cu_explain_way *w, size_t at, double *acc) {
  const cu_explain_lane *l = w->l;
  const cu_explain_tree *tree = l->tree;
  const gbti_game *game = &tree->game;
  const gbti_others_leaf *leaf = &tree->leaf[at];
  const cu_explain_scratch *to = &l->a->at;
  const size_t lane = (size_t)l->lane, m = (size_t)leaf->n_slots, n_items = n_items_of(l), n_words = (m + 63) / 64;
  const double *items = of_warp<double>(l, to->items) + lane * to->n_items;
  size_t stride = 1;
  if (leaf->table != SIZE_MAX) {
    items = tree->leaf_table + leaf->table + w->mask[lane];
    stride = (size_t)1 << (m < 3 ? 3 : m);
  } else {
    uint64_t *mine = of_warp<uint64_t>(l, to->mine) + lane * to->n_mine;
    const gbti_leaf_sets sets = {tree->set + leaf->set, tree->count + leaf->count, leaf->n_sets, n_words,
                                 leaf->n_slots};
    for (size_t i = 0; i < n_words; i++) mine[i] = w->mask[i * GBTI_LANES + lane];
    gbti_shares(&sets, mine, l->a->beta, tree->total, l->a->pairs, of_warp<double>(l, to->spare) + lane * to->n_spare,
                of_warp<double>(l, to->items) + lane * to->n_items);
  }
  for (size_t k = 0; k < game->n_outputs; k++, acc += n_items * GBTI_LANES) {
    const double value = game->value[k * 2 * game->n_splits + at];
    for (int32_t a = 0; a < leaf->n_slots; a++) {
      const int32_t first = w->player[(size_t)a * GBTI_LANES + lane];
      acc[(size_t)first * GBTI_LANES + lane] += value * items[(size_t)a * stride];
      for (int32_t b = 0; l->a->pairs && b < a; b++) {
        const size_t pair = gbti_pair((size_t)game->n_players, first, w->player[(size_t)b * GBTI_LANES + lane]);
        acc[pair * GBTI_LANES + lane] += value * items[gbti_pair(m, b, a) * stride];
      }
    }
  }
}

__device__ static void walk(const cu_explain_lane *l) {
  const gbti_game *game = &l->tree->game;
  const cu_explain_scratch *at = &l->a->at;
  const size_t n_items = n_items_of(l), lane = (size_t)l->lane;
  double *acc = of_warp<double>(l, at->acc);
  cu_explain_way w = {l, of_warp<uint64_t>(l, at->mask), of_warp<uint8_t>(l, at->bits), of_warp<int32_t>(l, at->player),
                      0};
  for (size_t i = 0; i < n_items * game->n_outputs; i++) acc[i * GBTI_LANES + lane] = 0.0;
  for (size_t i = 0; i < ((size_t)game->most_on_way + 63) / 64; i++) w.mask[i * GBTI_LANES + lane] = 0;
  for (uint32_t step = 0; step < game->n_steps; step++) {
    const uint32_t i = game->step[step] / 4, what = game->step[step] % 4;
    const gbti_split *split = &game->split[i];
    const size_t leaf = 2 * (size_t)i;
    if (what == GBTI_ENTER || what == GBTI_BOTTOM) {
      enter(&w, split);
      if (split->leaf[0]) add_leaf(&w, leaf, acc);
    } else if (what == GBTI_TURN) {
      take_side(&w, split, 1);
    }
    if (what != GBTI_LEAVE && what != GBTI_BOTTOM) continue;
    if (split->leaf[1]) {
      take_side(&w, split, 1);
      add_leaf(&w, leaf + 1, acc);
    }
    leave(&w, split);
  }
  for (size_t k = 0; k < game->n_outputs; k++)
    add_items(l, (uint64_t)(uint32_t)l->tree->first_output + k,
              [&](size_t item) { return acc[(k * n_items + item) * GBTI_LANES + lane]; });
}

/* ---- all trees ---- */

__global__ static void k_explain(cu_explain_pass a) {
  const uint32_t warp = blockIdx.x * (blockDim.x >> 5) + cu_warp(), n_warps = gridDim.x * (blockDim.x >> 5);
  cu_explain_lane l;
  l.a = &a;
  l.scratch = a.scratch + (size_t)warp * a.at.bytes;
  l.lane = (int)cu_lane();
  for (uint64_t row = (uint64_t)warp * 32 + cu_lane(); row < a.n_rows; row += (uint64_t)n_warps * 32) {
    l.row = row;
    for (uint32_t j = 0; j < a.n_trees; j++) {
      l.tree = &a.tree[j];
      if (l.tree->game.n_splits == 0) continue;
      if (l.tree->table != NULL)
        look_up(&l);
      else if (l.tree->leaf != NULL)
        walk(&l);
      else
        visit(&l);
    }
  }
}

gbt_status cu_explain_play(const cu_explain_pass *pass, unsigned n_warps, cudaStream_t stream, gbt_error *err) {
  const unsigned per_block = n_warps < (unsigned)WARPS ? n_warps : (unsigned)WARPS;
  GBT_ASSERT(n_warps > 0);
  CU_LAUNCH(k_explain, n_warps / per_block, per_block * 32, 0, stream, *pass);
  CU_LAUNCHED();
  return GBT_OK;
}
