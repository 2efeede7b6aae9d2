/* Packing a run of trees for many rows: see predict_job.h for what comes out.
 *
 *   add      tree by tree: columns, children, depths; distinct thresholds get numbers (a hash table finds them)
 *   order    the thresholds of every feature are sorted: number -> order
 *   finish   orders and sets are written into the nodes
 *
 * A run ends before the tree that would pass a limit. Limits keep columns and orders within 16 bits and memory bounded;
 * a tree that exceeds them by itself is predicted by the direct walk. Nothing recurses: children come after their
 * parents. */
#include "predict_table.h"

#include <math.h>

#include "../base/bits.h"
#include "../base/clock.h"
#include "../base/parallel.h"
#include "../base/rng.h"
#include "../base/sort.h"

enum {
  MAX_TREES = 4096,                        /* of a run: a block of rows passes them in a few milliseconds */
  MAX_NODES = 1 << 20,                     /* of a run, unless its first tree is larger */
  MAX_CODE_COLS = 65536 / GBTI_PACK_LANES, /* columns */
  MAX_CUTS = 65533,                        /* of a feature: codes 0 .. 65533, orders below */
  MAX_SET_WORDS = 2046,                    /* of a split: its codes stay below GBTI_PACK_BY_LEVEL */
  ALL_WORDS = (GBT_MAX_LEVELS + 31) / 32,  /* of a set that has a bit for every level */
  MAX_SHARING = 4,                         /* times that a word of a tree's sets may be copied */
  MAX_WORDS = 1 << 26,                     /* of a run */
  DEPTH_COUNTED = 24                       /* steps that the deepest tree counts in n_steps */
};

typedef struct cut {
  double value;
  uint32_t feat; /* index into pack->feats */
} cut;

typedef struct builder {
  gbt_ctx *ctx;
  gbt_error *err;
  const gbt_forest_view *forest;
  gbti_pack *pack;
  size_t cap_feats;
  int32_t *place; /* n_features: index into pack->feats, or -1 */
  uint32_t *note; /* by packed node: number of its cut, or first word of its set */
  cut *cuts;      /* by number */
  size_t n_cuts, cap_cuts;
  uint32_t *table;   /* size table_mask + 1, at most half full: number + 1, or 0 */
  size_t table_mask; /* 0: no table yet */
  uint64_t salt;     /* thresholds may come from a file from an attacker: ctx.h */
  uint32_t *order;   /* by number */
  size_t *beg;       /* by feature of the pack: where its cuts begin among keys and ids */
  uint64_t *keys, *tmp_keys;
  uint32_t *ids, *tmp_ids;
  size_t n_words;
} builder;

static size_t cut_bucket(const builder *b, double value, uint32_t feat) {
  return (size_t)gbt_mix64(gbt_bits(value) ^ ((uint64_t)feat << 40) ^ b->salt) & b->table_mask;
}

static gbt_status grow_table(builder *b) {
  if (b->table_mask != 0 && 2 * (b->n_cuts + 1) <= b->table_mask + 1) return GBT_OK;
  size_t size = b->table_mask == 0 ? 4096 : 2 * (b->table_mask + 1);
  uint32_t *table;
  GBT_TRY(gbt_mem_zeros(&b->ctx->mem, size, sizeof *table, &table, b->err));
  gbt_mem_free(&b->ctx->mem, b->table);
  b->table = table;
  b->table_mask = size - 1;
  for (size_t id = 0; id < b->n_cuts; id++) {
    size_t i = cut_bucket(b, b->cuts[id].value, b->cuts[id].feat);
    while (table[i] != 0) i = (i + 1) & b->table_mask;
    table[i] = (uint32_t)id + 1;
  }
  return GBT_OK;
}

/* The number of a threshold. *full when the feature has too many. */
static gbt_status number_cut(builder *b, uint32_t feat, double value, uint32_t *id, int *full) {
  value += 0.0; /* one zero */
  GBT_TRY(grow_table(b));
  size_t i = cut_bucket(b, value, feat);
  for (; b->table[i] != 0; i = (i + 1) & b->table_mask) {
    *id = b->table[i] - 1;
    if (b->cuts[*id].feat == feat && gbt_bits(b->cuts[*id].value) == gbt_bits(value)) return GBT_OK;
  }
  gbti_pack_feature *f = &b->pack->feats[feat];
  *full = f->n_cuts == MAX_CUTS;
  if (*full) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&b->ctx->mem, &b->cuts, &b->cap_cuts, b->n_cuts + 1, sizeof *b->cuts, b->err));
  *id = (uint32_t)b->n_cuts;
  b->cuts[b->n_cuts].value = value;
  b->cuts[b->n_cuts++].feat = feat;
  b->table[i] = *id + 1;
  f->n_cuts++;
  return GBT_OK;
}

/* The feature's index in pack->feats. */
static gbt_status place_feature(builder *b, uint32_t feat, uint32_t *out) {
  gbti_pack *pack = b->pack;
  if (b->place[feat] < 0) {
    GBT_TRY(gbt_mem_grow(&pack->mem, &pack->feats, &b->cap_feats, pack->n_feats + 1, sizeof *pack->feats, b->err));
    gbti_pack_feature fresh = {.feat = (int32_t)feat, .code_col = {-1, -1, -1}};
    pack->feats[pack->n_feats] = fresh;
    b->place[feat] = (int32_t)pack->n_feats++;
  }
  *out = (uint32_t)b->place[feat];
  return GBT_OK;
}

/* How many words of a node's set the pack writes: without trailing words whose levels all go one way, as levels beyond
 * the written words can be sent either way. Levels beyond a set's own words go right; a set with a bit for every level
 * has none beyond, so its trailing levels may go left. Most sets are short, as they hold frequent levels, which come
 * first. */
static uint32_t kept_words(const gbt_node *node, const uint32_t *sets, int *rest_left) {
  const uint32_t none = ~(uint32_t)0 << GBT_MAX_LEVELS % 32; /* bits without levels, in the last of all words */
  uint32_t n = node->arg.set.n_words;
  const uint32_t *set = n > 0 ? sets + node->arg.set.beg : NULL;
  *rest_left = n == ALL_WORDS && (set[n - 1] | none) == ~(uint32_t)0;
  if (*rest_left) n--;
  while (n > 0 && set[n - 1] == (*rest_left ? ~(uint32_t)0 : 0)) n--;
  return n;
}

static int same_cut(const gbt_node *a, const gbt_node *b) {
  return a->left > 0 && a->feat == b->feat && gbt_bits(a->arg.value) == gbt_bits(b->arg.value);
}

/* Writes column, child and note of a split. before: the node before it in its tree, or NULL. sets: of the tree. *full
 * when it passes a limit. */
static gbt_status add_split(builder *b, const gbt_node *node, const gbt_node *before, const uint32_t *sets, size_t at,
                            int *full) {
  gbti_pack *pack = b->pack;
  uint32_t feat;
  GBT_TRY(place_feature(b, node->feat & GBT_NODE_FEATURE, &feat));
  int kind = node->feat & GBT_NODE_CATEGORICAL    ? GBTI_PACK_LEVEL
             : node->feat & GBT_NODE_MISSING_LEFT ? GBTI_PACK_LOW
                                                  : GBTI_PACK_HIGH;
  int32_t *code_col = &pack->feats[feat].code_col[kind];
  if (*code_col < 0) {
    *full = pack->n_code_cols == MAX_CODE_COLS;
    if (*full) return GBT_OK;
    *code_col = (int32_t)pack->n_code_cols++;
  }
  pack->nodes[at].col = (uint16_t)(*code_col * GBTI_PACK_LANES);
  pack->nodes[at].child = node->left;
  if (before && (kind == GBTI_PACK_LEVEL ? gbt_same_set(before, node) : same_cut(before, node))) {
    b->note[at] = b->note[at - 1]; /* all nodes of a layer of a symmetric tree have one cut or set */
    return GBT_OK;
  }
  if (kind != GBTI_PACK_LEVEL) return number_cut(b, feat, node->arg.value, &b->note[at], full);
  int rest_left;
  const uint32_t n = kept_words(node, sets, &rest_left);
  *full = n > MAX_SET_WORDS || b->n_words + n + 2 > MAX_WORDS;
  if (*full) return GBT_OK;
  b->note[at] = (uint32_t)b->n_words;
  b->n_words += (size_t)n + 2;
  return GBT_OK;
}

/* Adds tree t; order holds the depth until it is finished. *full when the tree does not fit. */
static gbt_status add_tree(builder *b, uint64_t t, size_t node_beg, int *full) {
  const gbt_tree *tree = &b->forest->trees[t];
  const gbt_node *from = b->forest->nodes + tree->node_beg;
  const uint32_t *sets = tree->n_words > 0 ? b->forest->sets + tree->set_beg : NULL;
  gbti_pack *pack = b->pack;
  gbti_pack_tree *to = &pack->tree[t - pack->trees.beg];
  gbti_pack_node *nodes = pack->nodes + node_beg;
  size_t words = b->n_words;
  to->node_beg = node_beg;
  to->depth = 0;
  to->has_sets = 0;
  nodes[0].order = 0;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    uint16_t depth = nodes[i].order;
    if (depth > to->depth) to->depth = depth;
    if (from[i].left == 0) {
      nodes[i].col = 0;
      nodes[i].child = i;
      continue;
    }
    GBT_TRY(add_split(b, &from[i], i > 0 ? &from[i - 1] : NULL, sets, node_beg + i, full));
    if (*full) return GBT_OK;
    to->has_sets |= (from[i].feat & GBT_NODE_CATEGORICAL) != 0;
    uint16_t below = depth < GBTI_PACK_DEEP ? (uint16_t)(depth + 1) : depth;
    nodes[from[i].left].order = below;
    nodes[from[i].left + 1].order = below;
  }
  *full = b->n_words - words > MAX_SHARING * (size_t)tree->n_words + 2 * (size_t)tree->n_nodes;
  return GBT_OK;
}

/* Adds trees until one does not fit. */
static gbt_status add_trees(builder *b, uint64_t end, int *has_sets) {
  gbti_pack *pack = b->pack;
  size_t node_beg = 0;
  *has_sets = 0;
  for (uint64_t t = pack->trees.beg; t < end; t++) {
    int full = 0;
    GBT_TRY(gbt_ctx_poll(b->ctx, b->err));
    GBT_TRY(add_tree(b, t, node_beg, &full));
    if (full) return GBT_OK;
    const gbti_pack_tree *tree = &pack->tree[t - pack->trees.beg];
    *has_sets |= tree->has_sets;
    pack->n_steps += tree->depth < DEPTH_COUNTED ? tree->depth : DEPTH_COUNTED;
    pack->trees.end = t + 1;
    node_beg += b->forest->trees[t].n_nodes;
  }
  return GBT_OK;
}

static void sort_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const builder *b = arg;
  const gbti_pack_feature *f = &b->pack->feats[task];
  size_t beg = b->beg[task];
  gbt_sort_u64(b->keys + beg, b->ids + beg, f->n_cuts, b->tmp_keys + beg, b->tmp_ids + beg);
  for (uint32_t i = 0; i < f->n_cuts; i++) b->order[b->ids[beg + i]] = i;
  double *cuts = b->pack->cuts + f->cut_beg;
  cuts[0] = 0.0;
  for (uint32_t step = 0; step < f->n_steps; step++) {
    uint32_t width = (uint32_t)1 << step;
    for (uint32_t i = 0; i < width; i++) {
      uint32_t order = gbti_cut_order(f->n_steps, step, i);
      cuts[width + i] = order < f->n_cuts ? gbt_order_value(b->keys[beg + order]) : (double)INFINITY;
    }
  }
}

/* Sorts the cuts of every feature. */
static gbt_status order_cuts(builder *b) {
  const gbt_mem *mem = &b->ctx->mem;
  gbti_pack *pack = b->pack;
  size_t n = b->n_cuts, at = 0, place = 0;
  GBT_TRY(gbt_mem_array(mem, n, sizeof *b->keys, &b->keys, b->err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *b->keys, &b->tmp_keys, b->err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *b->ids, &b->ids, b->err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *b->ids, &b->tmp_ids, b->err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *b->order, &b->order, b->err));
  GBT_TRY(gbt_mem_array(mem, pack->n_feats, sizeof *b->beg, &b->beg, b->err));
  for (uint32_t j = 0; j < pack->n_feats; j++) {
    gbti_pack_feature *f = &pack->feats[j];
    b->beg[j] = at;
    at += f->n_cuts;
    f->cut_beg = place;
    while (((uint32_t)1 << f->n_steps) <= f->n_cuts) f->n_steps++;
    place += (size_t)1 << f->n_steps;
    f->n_cuts = 0;
  }
  pack->n_bytes += place * sizeof *pack->cuts + b->cap_feats * sizeof *pack->feats;
  GBT_TRY(gbt_mem_array(mem, place, sizeof *pack->cuts, &pack->cuts, b->err));
  for (size_t id = 0; id < n; id++) {
    uint32_t j = b->cuts[id].feat;
    size_t to = b->beg[j] + pack->feats[j].n_cuts++;
    b->keys[to] = gbt_order_key(b->cuts[id].value);
    b->ids[to] = (uint32_t)id;
  }
  return gbt_parallel(b->ctx, pack->n_feats, sort_task, b, b->err);
}

/* The set's complement, moved up by the two codes that come before levels; a last word for levels beyond. Returns which
 * word that is. */
static uint32_t write_set(const gbt_node *node, const uint32_t *sets, uint32_t *out) {
  int rest_left;
  const uint32_t n = kept_words(node, sets, &rest_left), rest = rest_left ? 0 : ~(uint32_t)0;
  uint32_t carry = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t right = ~sets[node->arg.set.beg + i];
    out[i] = right << 2 | carry;
    carry = right >> 30;
  }
  out[n] = carry | (rest & ~(uint32_t)3);
  out[n + 1] = rest;
  uint32_t missing = (node->feat & GBT_NODE_MISSING_LEFT) == 0, unseen = (node->feat & GBT_NODE_BULK_LEFT) == 0;
  out[0] = (out[0] & ~(uint32_t)3) | missing | unseen << 1;
  return n + 1;
}

static void finish_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const builder *b = arg;
  gbti_pack *pack = b->pack;
  const gbt_tree *tree = &b->forest->trees[pack->trees.beg + (uint64_t)task];
  const gbt_node *from = b->forest->nodes + tree->node_beg;
  const uint32_t *sets = tree->n_words > 0 ? b->forest->sets + tree->set_beg : NULL;
  size_t beg = pack->tree[task].node_beg;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    gbti_pack_node *to = &pack->nodes[beg + i];
    uint32_t word = 0, last = 0;
    if (from[i].left == 0) {
      to->order = GBTI_PACK_LEAF;
    } else if (from[i].feat & GBT_NODE_CATEGORICAL) {
      to->order = GBTI_PACK_BY_LEVEL;
      word = b->note[beg + i];
      last = write_set(&from[i], sets, pack->words + word);
    } else {
      to->order = (uint16_t)b->order[b->note[beg + i]];
    }
    if (!pack->tree[task].has_sets) continue;
    gbti_pack_wide wide = {to->col, to->order, to->child, word, last};
    pack->wide[beg + i] = wide;
  }
}

/* A tree's nodes, and the further values of its leaves. */
static size_t size_of(const gbt_forest_view *forest, uint64_t t) {
  const size_t n = forest->trees[t].n_nodes;
  return n + (n / 2 + 1) * (size_t)(forest->n_leaf_outputs - 1);
}

/* How many trees and nodes a run may have at most: their number is known before they are looked at. */
static uint64_t widest_run(const gbt_forest_view *forest, gbt_tree_range trees, size_t *n_nodes) {
  uint64_t end = trees.beg + 1;
  size_t size = size_of(forest, trees.beg);
  *n_nodes = forest->trees[trees.beg].n_nodes;
  while (end < trees.end && end - trees.beg < MAX_TREES && size + size_of(forest, end) <= MAX_NODES) {
    size += size_of(forest, end);
    *n_nodes += forest->trees[end++].n_nodes;
  }
  return end;
}

static gbt_status build(builder *b, gbt_tree_range trees) {
  const gbt_mem *mem = &b->ctx->mem;
  gbti_pack *pack = b->pack;
  size_t n_nodes, n_features = (size_t)b->forest->n_features;
  uint64_t end = widest_run(b->forest, trees, &n_nodes);
  pack->trees.beg = pack->trees.end = trees.beg;
  GBT_TRY(gbt_mem_array(mem, n_features, sizeof *b->place, &b->place, b->err));
  for (size_t f = 0; f < n_features; f++) b->place[f] = -1;
  GBT_TRY(gbt_mem_array(mem, (size_t)(end - trees.beg), sizeof *pack->tree, &pack->tree, b->err));
  GBT_TRY(gbt_mem_array(mem, n_nodes, sizeof *pack->nodes, &pack->nodes, b->err));
  GBT_TRY(gbt_mem_array(mem, n_nodes, sizeof *b->note, &b->note, b->err));
  int has_sets;
  b->n_words = 1; /* the word of zeros */
  GBT_TRY(add_trees(b, end, &has_sets));
  if (has_sets) {
    GBT_TRY(gbt_mem_array(mem, n_nodes, sizeof *pack->wide, &pack->wide, b->err));
    GBT_TRY(gbt_mem_array(mem, b->n_words, sizeof *pack->words, &pack->words, b->err));
    pack->words[0] = 0;
  }
  pack->n_bytes = n_nodes * (sizeof *pack->nodes + (has_sets ? sizeof *pack->wide : 0));
  pack->n_bytes += b->n_words * sizeof *pack->words + (size_t)(end - trees.beg) * sizeof *pack->tree;
  GBT_TRY(order_cuts(b));
  GBT_TRY(gbt_parallel(b->ctx, (int64_t)(pack->trees.end - pack->trees.beg), finish_task, b, b->err));
  return gbti_tables_make(b->ctx, b->forest, pack, b->err);
}

gbt_status gbti_pack_new(gbt_ctx *ctx, const gbt_forest_view *forest, gbt_tree_range trees, gbti_pack **out,
                         gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  builder b = {.ctx = ctx, .err = err, .forest = forest};
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *b.pack, &b.pack, err));
  b.pack->mem = *mem;
  b.pack->n_values = forest->n_leaf_outputs;
  b.salt = gbt_salt(b.pack);
  gbt_status status = build(&b, trees);
  gbt_mem_free(mem, b.place);
  gbt_mem_free(mem, b.note);
  gbt_mem_free(mem, b.cuts);
  gbt_mem_free(mem, b.table);
  gbt_mem_free(mem, b.order);
  gbt_mem_free(mem, b.beg);
  gbt_mem_free(mem, b.keys);
  gbt_mem_free(mem, b.tmp_keys);
  gbt_mem_free(mem, b.ids);
  gbt_mem_free(mem, b.tmp_ids);
  if (status == GBT_OK)
    *out = b.pack;
  else
    gbti_pack_free(b.pack);
  return status;
}

void gbti_pack_free(gbti_pack *pack) {
  if (pack == NULL) return;
  gbt_mem mem = pack->mem;
  gbt_mem_free(&mem, pack->feats);
  gbt_mem_free(&mem, pack->cuts);
  gbt_mem_free(&mem, pack->tree);
  gbt_mem_free(&mem, pack->nodes);
  gbt_mem_free(&mem, pack->wide);
  gbt_mem_free(&mem, pack->words);
  gbti_tables_free(&mem, pack);
  gbt_mem_free(&mem, pack);
}
