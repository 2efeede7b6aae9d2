/* Making tables of packed trees: see predict_table.h for what comes out. Two passes over the trees, both by tasks: what
 * every layer asks, which gives all places in memory, and then the tables themselves. Trees without sets and of at
 * most 8 layers need no first pass: their depth says what room they may need. */
#include "predict_answers.h"
#include "predict_coder.h"
#include "predict_tops.h"

#include <string.h>

#include "../base/parallel.h"
#include "../base/shuffle.h"

enum {
  MOST_NODES = (2 << GBTI_TABLE_DEPTH) - 1,
  LEAST_FILLED = 16 /* of so many places for vectors of values one is a leaf's */
};

/* Which table of a layer is a column's; of the tree and pass that the stamp says. */
typedef struct seen {
  uint32_t stamp, table;
} seen;

typedef struct maker {
  const gbt_forest_view *forest;
  gbti_pack *pack;
  uint8_t *fits; /* by column: codes of tables can distinguish its cuts */
  int all_fit;
  uint32_t n_layers; /* of the deepest tree that may be a table */
  seen *seen;        /* by thread: n_layers x n_code_cols */
} maker;

/* Where the nodes of a tree are. */
typedef struct places {
  uint8_t layer[MOST_NODES];
  uint8_t way[MOST_NODES];   /* down to layer 8: the place that follows from the way */
  uint8_t place[MOST_NODES]; /* of a leaf: the last one */
  uint8_t n_split[GBTI_TABLE_LAYERS];
} places;

static uint32_t n_nodes_of(const maker *m, int64_t task) {
  return m->forest->trees[m->pack->trees.beg + (uint64_t)task].n_nodes;
}

/* Places of a deep tree. Leaves of a layer are numbered below those of the layers above, so that together with the
 * nodes that are still split there are never more than 256 numbers in use. */
static void number_places(const gbti_pack_node *nodes, uint32_t n, places *p) {
  uint32_t n_leaves[GBTI_TABLE_LAYERS + 1] = {0}, next = 255;
  for (uint32_t i = 0; i < n; i++) n_leaves[p->layer[i]] += nodes[i].order == GBTI_PACK_LEAF;
  for (uint32_t d = 0; d <= GBTI_TABLE_LAYERS; d++) {
    uint32_t here = n_leaves[d];
    n_leaves[d] = next;
    next -= here;
  }
  memset(p->n_split, 0, sizeof p->n_split);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t d = p->layer[i];
    if (nodes[i].order == GBTI_PACK_LEAF)
      p->place[i] = (uint8_t)n_leaves[d]--;
    else
      p->place[i] = d < GBTI_TABLE_DEPTH ? p->way[i] : p->n_split[d]++;
  }
}

/* 0 when the tree cannot be a table. */
static int find_places(const maker *m, int64_t task, places *p) {
  const gbti_pack_tree *tree = &m->pack->tree[task];
  const gbti_pack_node *nodes = m->pack->nodes + tree->node_beg;
  uint32_t n = n_nodes_of(m, task), depth = tree->depth;
  if (depth > GBTI_TABLE_LAYERS || n > MOST_NODES) return 0;
  if (m->pack->n_values > 1 && gbti_places_of_depth(depth) > LEAST_FILLED * (size_t)(n / 2 + 1)) return 0;
  p->layer[0] = p->way[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (nodes[i].order == GBTI_PACK_LEAF) continue;
    if (!m->fits[nodes[i].col / GBTI_PACK_LANES]) return 0;
    uint32_t child = nodes[i].child, below = p->layer[i] + 1u;
    p->layer[child] = p->layer[child + 1] = (uint8_t)below;
    p->way[child] = below <= GBTI_TABLE_DEPTH ? (uint8_t)gbt_walk_below(p->way[i], 1) : 0;
    p->way[child + 1] = below <= GBTI_TABLE_DEPTH ? (uint8_t)(2u * p->way[i]) : 0;
  }
  if (depth > GBTI_TABLE_DEPTH) {
    number_places(nodes, n, p);
    return 1;
  }
  for (uint32_t i = 0; i < n; i++)
    p->place[i] =
        nodes[i].order == GBTI_PACK_LEAF ? (uint8_t)gbt_walk_below(p->way[i], depth - p->layer[i]) : p->way[i];
  return 1;
}

/* Number of the column's table in its layer. n_cols: by layer, those that have been met. */
static uint32_t table_of(const maker *m, int thread, uint32_t stamp, uint32_t layer, uint32_t code_col,
                         uint16_t *n_cols) {
  seen *it = m->seen + ((size_t)thread * m->n_layers + layer) * m->pack->n_code_cols + code_col;
  if (it->stamp != stamp) {
    it->stamp = stamp;
    it->table = n_cols[layer]++;
  }
  return it->table;
}

/* Bytes of a set's table: a power of two. 0 when it is too long. */
static uint16_t set_width(const gbti_pack_wide *node) {
  uint32_t bytes = 4 * (node->last + 1), width = 32;
  while (width < bytes) width *= 2;
  return width <= GBTI_TABLE_SET ? (uint16_t)width : 0;
}

/* Returns the bytes that were written to to. */
static size_t put_set(const gbti_pack *pack, const gbti_table *table, const gbti_pack_wide *node, uint32_t code_col,
                      uint8_t place, gbti_table_set *set, uint8_t *to) {
  set->col = pack->tables.byte_col[code_col] * GBTI_TABLE_ROWS;
  set->place = place;
  set->width = set_width(node);
  set->beg = node->beg;
  set->last = node->last;
  if (set->width == 0) return 0;
  set->beg = (uint32_t)(to - (pack->tables.bytes + table->beg));
  for (uint32_t i = 0; i < set->width; i++) {
    uint32_t word = i / 4 < node->last ? i / 4 : node->last;
    to[i] = (uint8_t)(pack->words[node->beg + word] >> (8 * (i % 4)));
  }
  return set->width;
}

/* Of a tree without sets of at most 8 layers, whose places follow from the way. */
static int is_simple(const maker *m, uint64_t t) {
  const gbti_pack_tree *tree = &m->pack->tree[t];
  return m->all_fit && m->pack->n_values == 1 && !tree->has_sets && tree->depth <= GBTI_TABLE_DEPTH;
}

static void count_task(void *arg, int64_t task, int thread) {
  const maker *m = arg;
  gbti_table *table = &m->pack->tables.at[task];
  const gbti_pack_node *nodes = m->pack->nodes + m->pack->tree[task].node_beg;
  uint32_t n = n_nodes_of(m, task);
  places p;
  if (table->is_table || !find_places(m, task, &p)) return;
  table->is_table = 1;
  table->depth = (uint8_t)m->pack->tree[task].depth;
  if (table->depth > GBTI_TABLE_DEPTH) memcpy(table->n_split, p.n_split, sizeof p.n_split);
  for (uint32_t i = 0; i < n; i++)
    if (nodes[i].order == GBTI_PACK_BY_LEVEL) {
      table->n_sets[p.layer[i]]++;
      table->set_bytes += set_width(&m->pack->wide[m->pack->tree[task].node_beg + i]);
    } else if (nodes[i].order != GBTI_PACK_LEAF)
      table_of(m, thread, 2 * (uint32_t)task + 1, p.layer[i], nodes[i].col / GBTI_PACK_LANES, table->n_cols);
}

/* Swaps the bits of `low` in b with the bits of a that are `shift` places higher. */
static inline void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t low) {
  const uint64_t differ = ((*a >> shift) ^ *b) & low;
  *b ^= differ;
  *a ^= differ << shift;
}

/* Turns 8 x 8 bytes: byte b of x[i] becomes byte i of x[b]. */
static void turn_bytes(uint64_t x[8]) {
  for (int i = 0; i < 8; i += 2) exchange(&x[i], &x[i + 1], 8, 0x00ff00ff00ff00ff);
  for (int i = 0; i < 8; i += i % 4 == 0 ? 1 : 3) exchange(&x[i], &x[i + 2], 16, 0x0000ffff0000ffff);
  for (int i = 0; i < 4; i++) exchange(&x[i], &x[i + 4], 32, 0x00000000ffffffff);
}

/* Planes of values, of 8 places at once; 0 at those where no row ends. */
static void put_values(const maker *m, const gbti_table *table, int64_t task) {
  const gbti_pack *pack = m->pack;
  const gbt_node *nodes = m->forest->nodes + m->forest->trees[pack->trees.beg + (uint64_t)task].node_beg;
  const size_t n_values = (size_t)m->forest->n_leaf_outputs, n_places = gbti_table_places(table);
  const size_t n = (size_t)1 << gbti_table_top(table);
  const uint16_t *leaf = pack->tables.leaf + table->leaf_beg;
  uint8_t *planes = pack->tables.bytes + table->beg;
  for (size_t k = 0; k < n_values; k++, planes += 8 * n_places)
    for (size_t at = 0; at < n; at += 8) {
      uint64_t x[8] = {0};
      for (size_t i = 0; i < 8 && at + i < n; i++) {
        const gbt_node *node = &nodes[leaf[at + i]];
        if (node->left != 0) continue;
        x[i] = gbt_bits(n_values > 1 ? m->forest->leaf_values[node->arg.vector * n_values + k] : node->arg.value);
      }
      turn_bytes(x);
      for (size_t b = 0; b < 8; b++) memcpy(planes + b * n_places + at, &x[b], sizeof x[b]);
    }
}

/* Where everything of a tree lies, layer by layer. */
typedef struct parts {
  uint8_t *tables[GBTI_TABLE_LAYERS], *deep, *end;
  uint32_t *cols[GBTI_TABLE_LAYERS];
  gbti_table_set *sets[GBTI_TABLE_LAYERS];
} parts;

/* Columns of a layer that there is room for. */
static uint32_t room_of(const maker *m, const gbti_table *table, uint64_t t, uint32_t layer) {
  if (!is_simple(m, t)) return table->n_cols[layer];
  const uint32_t n = (uint32_t)1 << layer;
  return n < m->pack->n_code_cols ? n : m->pack->n_code_cols;
}

static void find_parts(const maker *m, const gbti_table *table, uint64_t t, parts *to) {
  const gbti_pack *pack = m->pack;
  uint8_t *at = pack->tables.bytes + table->beg + (size_t)pack->n_values * gbti_table_planes(table);
  uint32_t *col = pack->tables.cols + table->col_beg, top = gbti_table_top(table);
  gbti_table_set *set = pack->tables.sets + table->set_beg;
  for (uint32_t d = top; d-- > 0; at += 2 * gbti_table_width(table, d)) to->tables[d] = at;
  to->deep = at;
  if (table->depth > top) at += 256;
  for (uint32_t d = top; d < table->depth; d++) {
    to->tables[d] = at + 2 * gbti_table_width(table, d);
    at += 4 * gbti_table_width(table, d);
  }
  to->end = at;
  for (uint32_t d = 0; d < table->depth; d++) {
    to->cols[d] = col;
    to->sets[d] = set;
    col += room_of(m, table, t, d);
    set += table->n_sets[d];
  }
}

/* How a deep tree goes on: from the way to places on layer 8, and from place to place below. */
static void put_ways(const gbti_pack_node *nodes, const gbti_table *table, uint32_t n, const places *p,
                     const parts *to) {
  for (uint32_t i = 0; i < n; i++) {
    uint32_t d = p->layer[i];
    int is_leaf = nodes[i].order == GBTI_PACK_LEAF;
    if (d == GBTI_TABLE_DEPTH || (is_leaf && d < GBTI_TABLE_DEPTH))
      to->deep[gbt_walk_below(p->way[i], GBTI_TABLE_DEPTH - d)] = p->place[i];
    if (is_leaf || d < GBTI_TABLE_DEPTH) continue;
    size_t width = gbti_table_width(table, d);
    uint8_t *next = to->tables[d] - 2 * width;
    next[p->place[i]] = p->place[nodes[i].child];
    next[width + p->place[i]] = p->place[nodes[i].child + 1];
  }
}

/* A node that is split, on layer d. n_cols: by layer, columns that have been met. */
static void put_split(const maker *m, int64_t task, int thread, uint32_t i, uint32_t d, uint8_t place, uint16_t *n_cols,
                      parts *to) {
  const gbti_pack *pack = m->pack;
  const gbti_table *table = &pack->tables.at[task];
  const gbti_pack_node *node = &pack->nodes[pack->tree[task].node_beg + i];
  const uint32_t code_col = node->col / GBTI_PACK_LANES;
  if (node->order == GBTI_PACK_BY_LEVEL) {
    const gbti_pack_wide *wide = &pack->wide[pack->tree[task].node_beg + i];
    to->end += put_set(pack, table, wide, code_col, place, to->sets[d]++, to->end);
    return;
  }
  const uint32_t j = table_of(m, thread, 2 * (uint32_t)task + 2, d, code_col, n_cols);
  to->cols[d][j] = pack->tables.byte_col[code_col] * GBTI_TABLE_ROWS;
  to->tables[d][place] = (uint8_t)node->order;
  to->tables[d][gbti_table_width(table, d) + place] = (uint8_t)j;
}

/* Trees of at most 8 layers. */
static void fill_ways(const maker *m, int64_t task, int thread, uint16_t *n_cols, parts *to) {
  const gbti_pack *pack = m->pack;
  const gbti_table *table = &pack->tables.at[task];
  const gbti_pack_node *nodes = pack->nodes + pack->tree[task].node_beg;
  uint16_t *leaf = pack->tables.leaf + table->leaf_beg;
  const uint32_t n = n_nodes_of(m, task);
  uint8_t layer[MOST_NODES], way[MOST_NODES];
  layer[0] = way[0] = 0;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t d = layer[i], child = nodes[i].child;
    if (nodes[i].order == GBTI_PACK_LEAF) {
      leaf[gbt_walk_below(way[i], table->depth - d)] = (uint16_t)i;
      continue;
    }
    put_split(m, task, thread, i, d, way[i], n_cols, to);
    layer[child] = layer[child + 1] = (uint8_t)(d + 1);
    way[child] = (uint8_t)(2 * way[i] + 1);
    way[child + 1] = (uint8_t)(2 * way[i]);
  }
}

static void fill_deep(const maker *m, int64_t task, int thread, uint16_t *n_cols, parts *to) {
  const gbti_pack *pack = m->pack;
  const gbti_table *table = &pack->tables.at[task];
  const gbti_pack_node *nodes = pack->nodes + pack->tree[task].node_beg;
  const uint32_t n = n_nodes_of(m, task);
  places p;
  if (!find_places(m, task, &p)) return;
  put_ways(nodes, table, n, &p, to);
  for (uint32_t i = 0; i < n; i++)
    if (nodes[i].order == GBTI_PACK_LEAF)
      pack->tables.leaf[table->leaf_beg + p.place[i]] = (uint16_t)i;
    else
      put_split(m, task, thread, i, p.layer[i], p.place[i], n_cols, to);
}

static void fill_task(void *arg, int64_t task, int thread) {
  const maker *m = arg;
  gbti_pack *pack = m->pack;
  gbti_table *table = &pack->tables.at[task];
  uint16_t n_cols[GBTI_TABLE_LAYERS] = {0};
  uint8_t *tables = pack->tables.bytes + table->beg + (size_t)pack->n_values * gbti_table_planes(table);
  parts to;
  if (!table->is_table) return;
  find_parts(m, table, (uint64_t)task, &to);
  memset(tables, GBT_WALK_ALL, (size_t)(to.end - tables));
  if (table->depth > GBTI_TABLE_DEPTH)
    fill_deep(m, task, thread, n_cols, &to);
  else
    fill_ways(m, task, thread, n_cols, &to);
  put_values(m, table, task);
  if (!is_simple(m, (uint64_t)task)) return;
  uint32_t *cols = pack->tables.cols + table->col_beg; /* without gaps, as they are read */
  for (uint32_t d = 0; d < table->depth; cols += n_cols[d++]) {
    memmove(cols, to.cols[d], n_cols[d] * sizeof *cols);
    table->n_cols[d] = n_cols[d];
  }
}

/* Where everything lies. Tables of all trees begin with a line of the cache. */
static gbt_status lay_out(const gbt_mem *mem, const maker *m, gbt_error *err) {
  gbti_pack *pack = m->pack;
  size_t bytes = 0, cols = 0, leaves = 0, sets = 0;
  for (uint64_t t = 0; t < pack->trees.end - pack->trees.beg; t++) {
    gbti_table *table = &pack->tables.at[t];
    if (!table->is_table) continue;
    table->beg = bytes;
    table->col_beg = cols;
    table->leaf_beg = leaves;
    table->set_beg = sets;
    bytes += (size_t)pack->n_values * gbti_table_planes(table) + (table->depth > GBTI_TABLE_DEPTH ? 256 : 0);
    for (uint32_t d = 0; d < table->depth; d++) {
      bytes += (d < GBTI_TABLE_DEPTH ? 2 : 4) * gbti_table_width(table, d);
      cols += room_of(m, table, t, d);
      sets += table->n_sets[d];
    }
    bytes += table->set_bytes;
    bytes = (bytes + 63) / 64 * 64;
    leaves += (size_t)1 << gbti_table_top(table);
    pack->tables.n++;
  }
  pack->n_bytes += bytes + cols * sizeof *pack->tables.cols + leaves * sizeof *pack->tables.leaf;
  GBT_TRY(gbt_mem_array(mem, bytes, 1, &pack->tables.bytes, err));
  pack->tables.n_sets = sets;
  pack->n_bytes += sets * sizeof *pack->tables.sets;
  GBT_TRY(gbt_mem_array(mem, sets, sizeof *pack->tables.sets, &pack->tables.sets, err));
  GBT_TRY(gbt_mem_array(mem, cols, sizeof *pack->tables.cols, &pack->tables.cols, err));
  return gbt_mem_zeros(mem, leaves, sizeof *pack->tables.leaf, &pack->tables.leaf, err);
}

static int is_coded(const gbti_pack_feature *f) {
  return f->n_cuts <= GBTI_TABLE_CUTS && (f->code_col[GBTI_PACK_LOW] >= 0 || f->code_col[GBTI_PACK_HIGH] >= 0);
}

/* Coders of the features whose cuts bytes can distinguish. */
static gbt_status make_coders(const gbt_mem *mem, gbti_pack *pack, gbti_walk walk, gbt_error *err) {
  enum { CELLS = GBTI_CODER_PARTS * GBTI_CODER_PART };
  const int tops = walk == GBTI_WALK_TOPS;
  size_t n_cuts = 0, n_cells = 0, n_firsts = 0;
  for (uint32_t j = 0; j < pack->n_feats; j++) {
    const gbti_pack_feature *f = &pack->feats[j];
    if (!is_coded(f)) continue;
    n_cuts += tops ? gbti_coder_sorted(f->n_cuts) : gbti_coder_cuts(f->n_cuts);
    n_cells += !tops && f->n_cuts > GBTI_CODER_FEW ? CELLS : 0;
    n_firsts += tops ? gbti_coder_firsts(f->n_cuts) : 0;
  }
  pack->n_bytes += pack->n_feats * sizeof *pack->coders.at + n_cuts * sizeof *pack->coders.cuts;
  pack->n_bytes += n_cells * sizeof *pack->coders.cells + n_firsts;
  GBT_TRY(gbt_mem_array(mem, n_firsts, sizeof *pack->coders.firsts, &pack->coders.firsts, err));
  GBT_TRY(gbt_mem_zeros(mem, pack->n_feats, sizeof *pack->coders.at, &pack->coders.at, err));
  GBT_TRY(gbt_mem_array(mem, n_cuts, sizeof *pack->coders.cuts, &pack->coders.cuts, err));
  GBT_TRY(gbt_mem_array(mem, n_cells, sizeof *pack->coders.cells, &pack->coders.cells, err));
  n_cuts = n_cells = n_firsts = 0;
  for (uint32_t j = 0; j < pack->n_feats; j++) {
    const gbti_pack_feature *f = &pack->feats[j];
    gbti_coder *coder = &pack->coders.at[j];
    if (!is_coded(f)) continue;
    coder->cuts = pack->coders.cuts + n_cuts;
    if (tops) {
      coder->first = pack->coders.firsts + n_firsts;
      n_cuts += gbti_coder_sorted(f->n_cuts);
      n_firsts += gbti_coder_firsts(f->n_cuts);
      gbti_coder_fill(coder, pack, f);
      continue;
    }
    n_cuts += gbti_coder_cuts(f->n_cuts);
    coder->cell = f->n_cuts > GBTI_CODER_FEW ? pack->coders.cells + n_cells : NULL;
    n_cells += f->n_cuts > GBTI_CODER_FEW ? CELLS : 0;
    gbti_coder_fill(coder, pack, f);
  }
  return GBT_OK;
}

void gbti_tables_free(const gbt_mem *mem, gbti_pack *pack) {
  void *blocks[] = {pack->tables.at,   pack->tables.bytes,   pack->tables.byte_col,    pack->tables.cols,
                    pack->tables.sets, pack->tables.answers, pack->tables.answer_bits, pack->tables.leaf,
                    pack->coders.at,   pack->coders.cuts,    pack->coders.cells,       pack->coders.firsts};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(mem, blocks[i]);
  gbti_tops_free(mem, pack);
}

gbti_walk gbti_walk_here(const gbt_ctx *ctx) {
  if (gbt_ctx_has_lookup(ctx)) return GBTI_WALK_TABLES;
  return gbt_ctx_has_shuffle(ctx) ? GBTI_WALK_TOPS : GBTI_WALK_NODES;
}

/* Columns of bytes; fits: by column of codes, whether a byte distinguishes its cuts. */
static void number_columns(gbti_pack *pack, uint8_t *fits) {
  for (uint32_t j = 0; j < pack->n_feats; j++)
    for (int kind = 0; kind < GBTI_PACK_KINDS; kind++) {
      int32_t code_col = pack->feats[j].code_col[kind];
      if (code_col < 0) continue;
      fits[code_col] = kind == GBTI_PACK_LEVEL || pack->feats[j].n_cuts <= GBTI_TABLE_CUTS;
      pack->tables.byte_col[code_col] = pack->tables.n_cols;
      pack->tables.n_cols += kind == GBTI_PACK_LEVEL ? GBTI_TABLE_LEVEL_COLS : 1;
    }
}

/* Tables of a run. */
static gbt_status make_tables(gbt_ctx *ctx, maker *m, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  gbti_pack *pack = m->pack;
  const size_t n_trees = (size_t)(pack->trees.end - pack->trees.beg);
  pack->n_bytes += n_trees * sizeof *pack->tables.at;
  GBT_TRY(gbt_mem_zeros(mem, n_trees, sizeof *pack->tables.at, &pack->tables.at, err));
  m->all_fit = memchr(m->fits, 0, pack->n_code_cols) == NULL;
  size_t n_simple = 0;
  for (size_t t = 0; t < n_trees; t++) {
    uint32_t depth = pack->tree[t].depth;
    if (depth <= GBTI_TABLE_LAYERS && depth > m->n_layers) m->n_layers = depth;
    if (!is_simple(m, t)) continue;
    pack->tables.at[t].is_table = 1;
    pack->tables.at[t].depth = (uint8_t)depth;
    n_simple++;
  }
  GBT_TRY(gbt_mem_zeros(mem, (size_t)ctx->n_threads * m->n_layers, pack->n_code_cols * sizeof *m->seen, &m->seen, err));
  if (n_simple < n_trees) GBT_TRY(gbt_parallel(ctx, (int64_t)n_trees, count_task, m, err));
  GBT_TRY(lay_out(mem, m, err));
  return gbt_parallel(ctx, (int64_t)n_trees, fill_task, m, err);
}

gbt_status gbti_tables_make(gbt_ctx *ctx, const gbt_forest_view *forest, gbti_pack *pack, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  const gbti_walk walk = gbti_walk_here(ctx);
  maker m = {.forest = forest, .pack = pack};
  gbt_status status;
  if (walk == GBTI_WALK_NODES) return GBT_OK;
  pack->n_bytes += pack->n_code_cols * sizeof *pack->tables.byte_col;
  GBT_TRY(gbt_mem_array(mem, pack->n_code_cols, sizeof *pack->tables.byte_col, &pack->tables.byte_col, err));
  GBT_TRY(gbt_mem_zeros(mem, pack->n_code_cols, 1, &m.fits, err));
  number_columns(pack, m.fits);
  if (walk == GBTI_WALK_TABLES)
    GBT_TRY_GOTO(make_tables(ctx, &m, err), done);
  else
    GBT_TRY_GOTO(gbti_tops_make(ctx, forest, pack, m.fits, err), done);
  if (gbti_pack_in_bytes(pack) > 0) GBT_TRY_GOTO(make_coders(mem, pack, walk, err), done);
  if (walk == GBTI_WALK_TABLES) GBT_TRY_GOTO(gbti_answers_make(ctx, pack, err), done);
done:
  gbt_mem_free(mem, m.seen);
  gbt_mem_free(mem, m.fits);
  return status;
}
