/* Symmetric growth: once all nodes of a layer have been searched, the candidate with the largest sum of gains, or where
 * there is noise the one that is best (tree/contest.h), becomes the split of all of them.
 *
 * Every node then needs its own left sums, from its histogram or, where it has none, from its rows; they say
 * what it gains itself and whether it is kept (cpu_split_layer.c). */
#include <string.h>

#include "../base/clock.h"
#include "../base/comm.h"
#include "cpu_layer_impl.h"

#define LAYER_NODES 64 /* nodes of a task */

/* Whether the best candidate of one feature beats that of another one. */
static int beats(const cpu_backend *be, const gbt_split *a, const gbt_split *b) {
  const gbt_contest *contest = &be->layer.contest;
  gbt_split x = *a, y = *b;
  if (!contest->noisy || a->kind == GBT_SPLIT_NONE || b->kind == GBT_SPLIT_NONE)
    return gbt_contest_beats(contest, a, b);
  x.gain = gbt_layer_standing(contest, a, be->params->gamma);
  y.gain = gbt_layer_standing(contest, b, be->params->gamma);
  return gbt_split_beats(&x, &y);
}

/* The one candidate that a feature has where it is drawn at random; -1: it has all. Not for sets. */
static int32_t only_candidate(const cpu_backend *be, gbt_split_kind kind, int32_t feat, int missing) {
  const int32_t n_bins = be->cuts->feat[feat].n_bins, n = kind == GBT_SPLIT_ONEHOT ? n_bins : n_bins - 1 + missing;
  return be->params->extra_trees && n > 0 ? gbt_random_place(be->layer.cut_key, feat, n) : -1;
}

static gbt_split best_of_feature(const cpu_backend *be, int32_t feat, cpu_scratch *scratch) {
  const gbt_feature_cuts *cuts = &be->cuts->feat[feat];
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  if (cuts->n_bins + cuts->has_missing < 2) return best;
  const cpu_candidates of = cpu_layer_candidates(be, feat);
  const cpu_terms terms = {.least = be->params->gamma,
                           .contest = &be->layer.contest,
                           .cut_key = be->layer.cut_key,
                           .only = only_candidate(be, of.kind, feat, *of.missing),
                           .tried = of.kind == GBT_SPLIT_SET ? be->layer.tried + be->layer.beg[feat] : NULL};
  cpu_best_candidate(be, feat, &of, &terms, scratch, &best);
  return best;
}

static void best_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  int64_t beg = task * feats_of_task(be), end = beg + feats_of_task(be);
  for (int64_t k = beg; k < end && k < be->layer.n_feats; k++) {
    if (be->together.n > 0) cpu_together_join(be, be->layer.feats[k]);
    const gbt_split own = best_of_feature(be, be->layer.feats[k], &be->scratch.of[thread]);
    if (gbt_contest_admits(&be->layer.contest, &own, be->params->gamma) && beats(be, &own, &best)) best = own;
  }
  be->split.found[task] = best;
}

static gbt_status best_of_layer(gbt_ctx *ctx, cpu_backend *be, gbt_split *best, gbt_error *err) {
  size_t n_tasks = (size_t)n_tasks_of(be);
  be->layer.contest =
      be->split.contests ? cpu_contest(be, gbt_layer_identity(be->layer.depth), be->layer.scored) : gbt_contest_plain();
  be->layer.cut_key = cpu_cut_key(be, gbt_layer_identity(be->layer.depth));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->split.found, &be->split.cap_found, n_tasks + 1, sizeof *be->split.found, err));
  GBT_TRY(cpu_parallel(ctx, (int64_t)n_tasks, 1.0 * be->layout->n_slots, best_task, be, err));
  best->kind = GBT_SPLIT_NONE;
  for (size_t b = 0; b < n_tasks; b++)
    if (beats(be, &be->split.found[b], best)) *best = be->split.found[b];
  return GBT_OK;
}

/* The levels that go left, as bits; for all nodes of the layer. bits: those of a set, where another rank has its order;
 * else NULL. */
static gbt_status layer_set(cpu_backend *be, const gbt_split *split, const uint32_t *bits, uint32_t *beg,
                            uint32_t *n_words, gbt_error *err) {
  *beg = *n_words = 0;
  if (split->kind == GBT_SPLIT_NUMERIC) return GBT_OK;
  *n_words = ((uint32_t)be->cuts->feat[split->feat].n_bins + 31) / 32;
  GBT_TRY(gbt_frontier_set(&be->fr, *n_words, beg, err));
  uint32_t *words = be->fr.sets + *beg;
  if (split->kind == GBT_SPLIT_ONEHOT) words[split->bin >> 5] |= 1u << (split->bin & 31);
  if (split->kind == GBT_SPLIT_SET && bits != NULL) memcpy(words, bits, *n_words * sizeof *words);
  for (int32_t k = 0; split->kind == GBT_SPLIT_SET && bits == NULL && k < split->bin; k++) {
    uint32_t c = level_at(be, split->feat, split->from_top, k);
    words[c >> 5] |= 1u << (c & 31);
  }
  return GBT_OK;
}

/* Left sums of open nodes that still have their histograms. */
static void left_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  size_t beg = (size_t)task * LAYER_NODES, end = beg + LAYER_NODES;
  for (size_t i = beg; i < end && i < be->fr.n_open; i++) {
    gbt_grow_node *node = &be->fr.node[be->fr.open[i]];
    cpu_search in;
    node->split.left.g = node->split.left.h = be->layer.left_rows[i] = 0;
    if (node->hist < 0) continue;
    cpu_search_node(be, node, &in);
    cpu_search_feature(be, node->split.feat, &be->scratch.of[thread], &in);
    node->split.left = cpu_left_of(be, node, &in, &be->layer.left_rows[i]);
  }
}

/* Whether rows of one page, by their numbers there, go left, 0 or 1, by the codes of the layer's feature. */
static void sides_of(const cpu_backend *be, const gbt_grow_node *node, const gbt_page *page, const uint32_t *at,
                     uint32_t n, uint8_t *side) {
  const int32_t feat = node->split.feat;
  const gbt_place *place = &be->layout->place[feat];
  if (place->group < 0) { /* sparse */
    for (uint32_t i = 0; i < n; i++) {
      const int32_t r = (int32_t)((int64_t)at[i] - page->row_beg);
      side[i] = (uint8_t)cpu_goes_left(be, node, gbt_page_code(be->layout, be->cuts, page, r, feat));
    }
    return;
  }
  const gbt_group *group = &be->layout->group[place->group];
  const uint8_t *c8 = page->group[place->group], *lut = be->layer.lut;
  const uint16_t *c16 = page->group[place->group];
  for (uint32_t i = 0; i < n; i++) {
    const size_t r = (size_t)((int64_t)at[i] - page->row_beg), cell = r * (size_t)group->stride + (size_t)place->pos;
    side[i] = lut[group->wide ? c16[cell] : c8[cell]];
  }
}

/* Gradients of the rows that go left, from gh32 or, where that is NULL, gh16; their number is added to *n_left. */
GBT_FN gbt_sum left_gradients(const gbt_gh32 *gh32, const gbt_gh16 *gh16, const uint32_t *rows, const uint8_t *side,
                              uint32_t n, uint32_t *n_left) {
  gbt_sum sum = {0, 0};
  for (uint32_t i = 0; i < n; i++) {
    const int64_t left = side[i], g = gh32 ? gh32[rows[i]].g : gh16[rows[i]].g;
    sum.g += left * g;
    sum.h += left * (int64_t)(gh32 ? gh32[rows[i]].h : gh16[rows[i]].h);
    *n_left += side[i];
  }
  return sum;
}

/* The same by the rows, those of the span. */
static void rows_task(void *arg, int64_t task, int thread) {
  enum { BLOCK = 256 };
  const cpu_span *span = arg;
  const cpu_backend *be = span->be;
  cpu_chunk *chunk = &be->rows.chunk[task];
  const gbt_grow_node *node = &be->fr.node[chunk->node];
  const uint32_t *order = be->rows.order, end = cpu_rows_below(order, chunk->next, chunk->end, span->row_end);
  uint8_t side[BLOCK];
  uint32_t at[BLOCK];
  (void)thread;
  while (chunk->next < end) {
    uint32_t most = end - chunk->next < BLOCK ? end : chunk->next + BLOCK, stop;
    const gbt_page *page = cpu_span_page(span, order, chunk->next, most, &stop);
    const uint32_t *rows = order + chunk->next, n = stop - chunk->next;
    sides_of(be, node, page, cpu_page_rows(&be->view, rows, n, at), n, side);
    const gbt_sum left = be->view.wide ? left_gradients(be->view.gh32, NULL, rows, side, n, &chunk->n_left)
                                       : left_gradients(NULL, be->view.gh16, rows, side, n, &chunk->n_left);
    chunk->fine.g += left.g;
    chunk->fine.h += left.h;
    chunk->next = stop;
  }
}

/* See gbt_pages_fn. */
static gbt_status rows_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  cpu_backend *be = arg;
  cpu_span span = cpu_span_of(be, pages);
  double ns = 5.0 * cpu_chunk_rows(be) * cpu_span_share(&span);
  return cpu_parallel(ctx, (int64_t)be->rows.n_chunk, ns, rows_task, &span, err);
}

/* Results of the chunks of all ranks, to their nodes. */
static gbt_status add_by_rows(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_layer *layer = &be->layer;
  size_t n = be->fr.n_open;
  GBT_TRY(gbt_mem_grow(&be->mem, &layer->by_rows, &layer->cap_by_rows, 3 * n, sizeof *layer->by_rows, err));
  memset(layer->by_rows, 0, 3 * n * sizeof *layer->by_rows);
  for (size_t c = 0; c < be->rows.n_chunk; c++) {
    const cpu_chunk *chunk = &be->rows.chunk[c];
    int64_t *to = layer->by_rows + 3 * (size_t)chunk->item;
    to[0] += chunk->fine.g;
    to[1] += chunk->fine.h;
    to[2] += chunk->n_left;
  }
  GBT_TRY(gbt_comm_sum_i64(ctx, layer->by_rows, 3 * n, err));
  for (size_t i = 0; i < n; i++) {
    gbt_sum *left = &be->fr.node[be->fr.open[i]].split.left;
    left->g += layer->by_rows[3 * i];
    left->h += layer->by_rows[3 * i + 1];
    layer->left_rows[i] += layer->by_rows[3 * i + 2];
  }
  return GBT_OK;
}

/* By histograms. */
static gbt_status left_of_hists(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const size_t n = be->fr.n_open;
  const int64_t n_tasks = (int64_t)(n + LAYER_NODES - 1) / LAYER_NODES;
  return cpu_parallel(ctx, n_tasks, 200.0 * (double)n, left_task, be, err);
}

/* By rows, of nodes without a histogram. */
static gbt_status left_of_rows(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const size_t n = be->fr.n_open;
  be->rows.n_chunk = 0;
  const gbt_grow_node *last = NULL;
  for (size_t i = 0; i < n; i++) {
    const gbt_grow_node *node = &be->fr.node[be->fr.open[i]];
    if (!node->splittable || node->hist >= 0) continue;
    GBT_TRY(cpu_add_chunks(be, be->fr.open[i], (int32_t)i, node->order_beg, node->own_rows, err));
    last = node;
  }
  if (last == NULL) return GBT_OK;
  const uint32_t n_codes = cpu_lut_size(be->layout, last->split.feat);
  GBT_TRY(gbt_mem_grow(&be->mem, &be->layer.lut, &be->layer.cap_lut, n_codes, sizeof *be->layer.lut, err));
  cpu_fill_lut(be, be->layout, last, be->layer.lut); /* one split for all */
  if (be->rows.n_chunk > 0) GBT_TRY(cpu_train_pass(ctx, be, rows_span, be, err));
  return add_by_rows(ctx, be, err);
}

/* Sums over the nodes of a layer. */
typedef struct layer_sums {
  int64_t h, left_h; /* of a single tree */
  double H, left_H;  /* of trees that grow together, real */
  double gain;
} layer_sums;

/* Every node's own gain; who is kept. Adds to the sums. */
static void rate_nodes(cpu_backend *be, const gbt_split *layer, layer_sums *sums) {
  gbt_reg reg = reg_of(be, (gbt_split_kind)layer->kind);
  double gains = 0.0;
  for (size_t i = 0; i < be->fr.n_open; i++) {
    gbt_grow_node *node = &be->fr.node[be->fr.open[i]];
    gbt_split *s = &node->split;
    cpu_search in;
    s->gain = 0.0;
    if (node->splittable) {
      int64_t left = be->layer.left_rows[i];
      cpu_search_node(be, node, &in);
      in.sign = be->fr.policy.monotone ? be->fr.policy.monotone[s->feat] : 0;
      double gain = cpu_gain(&in, (double)s->left.g * in.unit.g, (double)s->left.h * in.unit.h, reg);
      int enough = in.min_rows <= 1 || (left >= in.min_rows && gbt_grow_rows(node) - left >= in.min_rows);
      if (enough && gain > floor_of(&in)) s->gain = gain;
      sums->h += node->sum.h;
      sums->left_h += s->left.h;
      sums->H += (double)node->sum.h * in.unit.h;
      sums->left_H += (double)s->left.h * in.unit.h;
    }
    node->kept = s->gain == 0.0;
    GBT_ASSERT(s->left.h >= 0 && s->left.h <= node->sum.h);
    gains += s->gain;
  }
  sums->gain += cpu_gain_weight(be) * gains;
}

/* Where missing values go when the layer has none. The gains add up to the layer's: what was taken off for noise is
 * taken off in proportion. */
static void settle_nodes(cpu_backend *be, const gbt_split *layer, const layer_sums *sums) {
  const int left = be->together.n > 0 ? sums->left_H >= sums->H - sums->left_H : sums->left_h >= sums->h - sums->left_h;
  GBT_ASSERT(layer->kind != GBT_SPLIT_SET || sums->gain > 0.0);
  for (size_t i = 0; i < be->fr.n_open; i++) {
    gbt_split *s = &be->fr.node[be->fr.open[i]].split;
    if (layer->kind == GBT_SPLIT_SET) s->gain = s->gain * (layer->gain / sums->gain);
    if (!layer->has_missing) s->missing_left = (int8_t)left;
  }
}

/* ---- several ranks: each offers the best split of its features ---- */

/* An offer: the split, then the words of its set (layer.most_words, and one more where that is odd), then for each open
 * node of each tree the sums and rows that go left, as its histogram has them. */
static size_t offer_bytes(const cpu_backend *be) {
  const size_t words = (be->layer.most_words + 1) / 2 * 2, n = (size_t)cpu_n_trees(&be->together) * be->fr.n_open;
  return sizeof(gbt_split) + words * sizeof(uint32_t) + 3 * n * sizeof(int64_t);
}

static uint32_t *offer_words(char *offer) { return (uint32_t *)(void *)(offer + sizeof(gbt_split)); }

/* Those of the tree whose turn it is. */
static int64_t *offer_sums(const cpu_backend *be, char *offer) {
  int64_t *sums = (int64_t *)(void *)(offer_words(offer) + (be->layer.most_words + 1) / 2 * 2);
  return sums + 3 * (size_t)be->together.at * be->fr.n_open;
}

/* The layer is split so for a moment. */
static gbt_status offer_tree(gbt_ctx *ctx, cpu_backend *be, const gbt_split *split, char *offer, gbt_error *err) {
  const size_t n_set_words = be->fr.n_set_words;
  uint32_t beg, n_words;
  int64_t *sums = offer_sums(be, offer);
  GBT_TRY(layer_set(be, split, NULL, &beg, &n_words, err));
  if (split->kind == GBT_SPLIT_SET) memcpy(offer_words(offer), be->fr.sets + beg, n_words * sizeof(uint32_t));
  gbt_frontier_layer(&be->fr, split, beg, n_words);
  GBT_TRY(left_of_hists(ctx, be, err));
  for (size_t i = 0; i < be->fr.n_open; i++) {
    const gbt_sum left = be->fr.node[be->fr.open[i]].split.left;
    sums[3 * i] = left.g;
    sums[3 * i + 1] = left.h;
    sums[3 * i + 2] = be->layer.left_rows[i];
  }
  be->fr.n_set_words = n_set_words;
  return GBT_OK;
}

static gbt_status make_offer(gbt_ctx *ctx, cpu_backend *be, const gbt_split *split, char *offer, gbt_error *err) {
  memset(offer, 0, offer_bytes(be));
  memcpy(offer, split, sizeof *split);
  if (split->kind == GBT_SPLIT_NONE) return GBT_OK;
  for (int32_t k = 0; k < cpu_n_trees(&be->together); k++) {
    cpu_turn_to(be, k);
    GBT_TRY(offer_tree(ctx, be, split, offer, err));
  }
  cpu_turn_to(be, 0);
  return GBT_OK;
}

/* The best of all offers, where this rank would take *best. */
static gbt_status best_offer(gbt_ctx *ctx, cpu_backend *be, const gbt_split *best, char **out, gbt_error *err) {
  const size_t bytes = offer_bytes(be), size = (size_t)be->ranks.size;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->layer.offers, &be->layer.cap_offers, (size + 1) * bytes, 1, err));
  char *all = be->layer.offers, *own = all + size * bytes;
  gbt_split most, its;
  GBT_TRY(make_offer(ctx, be, best, own, err));
  for (size_t r = 0; r < size; r++) be->ranks.bytes[r] = bytes;
  GBT_TRY(gbt_comm_gather(ctx, own, be->ranks.bytes, all, err));
  *out = all;
  memcpy(&most, all, sizeof most);
  for (size_t r = 1; r < size; r++) {
    memcpy(&its, all + r * bytes, sizeof its);
    if (!beats(be, &its, &most)) continue;
    most = its;
    *out = all + r * bytes;
  }
  return GBT_OK;
}

/* The nodes' sums, from the offer that was taken. */
static gbt_status take_offer(cpu_backend *be, char *offer, gbt_error *err) {
  const int64_t *sums = offer_sums(be, offer);
  gbt_split split;
  memcpy(&split, offer, sizeof split);
  for (size_t i = 0; i < be->fr.n_open; i++) {
    const int32_t id = be->fr.open[i];
    gbt_grow_node *node = &be->fr.node[id];
    node->split.left = (gbt_sum){sums[3 * i], sums[3 * i + 1]};
    be->layer.left_rows[i] = sums[3 * i + 2];
    const int known = node->hist >= 0 && be->split.plan[split.feat].counts;
    if (known || be->together.at == 0) /* the rows are the same in all trees */
      GBT_TRY(cpu_ranks_put_left_rows(be, id, known ? be->layer.left_rows[i] : -1, err));
  }
  return GBT_OK;
}

/* The split of the layer to all open nodes; offer: of several ranks the one that was taken, else NULL. */
static gbt_status split_layer(gbt_ctx *ctx, cpu_backend *be, const gbt_split *best, char *offer, gbt_error *err) {
  const int32_t n_trees = cpu_n_trees(&be->together);
  layer_sums sums = {0, 0, 0.0, 0.0, 0.0};
  uint32_t beg, n_words;
  be->layer.scored += best->gain;
  for (int32_t k = 0; k < n_trees; k++) {
    cpu_turn_to(be, k);
    GBT_TRY(layer_set(be, best, offer != NULL ? offer_words(offer) : NULL, &beg, &n_words, err));
    gbt_frontier_layer(&be->fr, best, beg, n_words);
    GBT_TRY(offer != NULL ? take_offer(be, offer, err) : left_of_hists(ctx, be, err));
    GBT_TRY(left_of_rows(ctx, be, err));
    rate_nodes(be, best, &sums);
  }
  for (int32_t k = 0; k < n_trees; k++) {
    cpu_turn_to(be, k);
    settle_nodes(be, best, &sums);
  }
  return GBT_OK;
}

static int any_splittable(cpu_backend *be) {
  int any = 0;
  for (int32_t k = 0; k < cpu_n_trees(&be->together) && !any; k++) {
    cpu_turn_to(be, k);
    for (size_t i = 0; i < be->fr.n_open && !any; i++) any = be->fr.node[be->fr.open[i]].splittable;
  }
  cpu_turn_to(be, 0);
  return any;
}

static void drop_layer(cpu_backend *be) {
  for (int32_t k = 0; k < cpu_n_trees(&be->together); k++) {
    cpu_turn_to(be, k);
    gbt_frontier_layer(&be->fr, NULL, 0, 0);
  }
}

gbt_status cpu_layer_decide(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  int64_t t0 = gbt_clock_ns();
  gbt_split best;
  char *offer = NULL;
  if (!gbt_frontier_layer_waits(&be->fr)) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->layer.left_rows, &be->layer.cap_left_rows, be->fr.n_open, sizeof(int64_t), err));
  GBT_TRY(best_of_layer(ctx, be, &best, err));
  if (be->ranks.on && any_splittable(be)) {
    GBT_TRY(best_offer(ctx, be, &best, &offer, err));
    memcpy(&best, offer, sizeof best);
  }
  if (best.kind == GBT_SPLIT_NONE)
    drop_layer(be);
  else
    GBT_TRY(split_layer(ctx, be, &best, offer, err));
  be->base.seconds[GBT_PHASE_SPLIT] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}
