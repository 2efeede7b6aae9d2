/* Making tops of packed trees: see predict_tops.h for what comes out. Two passes over the trees, both by tasks: how
 * many layers are tables and what they ask, which gives all places in memory, and then the tables themselves. */
#include "predict_tops.h"

#include <limits.h>
#include <string.h>

#include "../base/parallel.h"

enum {
  MOST_SPOTS = 8 * GBTI_TOP_NUMBERS, /* more than choose_layers() lists for any tree */
  /* Instructions for 32 rows with AVX2, about. */
  COST_COLUMN = 4,     /* without the look-up */
  COST_PICK = 3,       /* of one of several columns */
  COST_SET = 7,        /* without the look-up */
  COST_WAYS = 2,       /* from a layer to the next */
  COST_NUMBERS = 4,    /* the same without two look-ups */
  COST_NODES = 32 * 5, /* of a layer whose nodes are walked */
  COST_WIDE = 32 * 9,  /* where some of the tree's nodes split by level */
  COST_START = 32 * 2, /* of walking any */
  MOST_WALKED = 16,    /* rows of deeper trees have mostly arrived there */
  LEAST_WALKED = 4     /* layers, where one is */
};

/* Where the nodes of the first layers are. */
typedef struct spots {
  uint32_t n, layer_beg[GBTI_TOP_LAYERS + 2]; /* in the order of layers */
  uint32_t node[MOST_SPOTS];
  uint8_t way[MOST_SPOTS];   /* down to GBTI_TOP_WAYS: the place that follows from the way */
  uint8_t place[MOST_SPOTS]; /* by number_spots: among tables, or below them */
} spots;

/* Which table of a layer is a column's; of the tree, layer and pass that the stamp says. */
typedef struct seen {
  uint64_t stamp;
  uint32_t table;
} seen;

typedef struct maker {
  const gbt_forest_view *forest;
  gbti_pack *pack;
  const uint8_t *fits;
  seen *seen; /* by thread: n_code_cols */
} maker;

static uint32_t n_nodes_of(const maker *m, int64_t task) {
  return m->forest->trees[m->pack->trees.beg + (uint64_t)task].n_nodes;
}

static int look_up_cost(uint32_t width) {
  switch (width) {
  case 1:
    return 0;
  case 16:
    return 1;
  case 32:
    return 4;
  case 64:
    return 10;
  default:
    return 22;
  }
}

/* Bytes of a set's table, a power of two; 0 when it is too long. */
static uint32_t set_width(const gbti_pack_wide *node) {
  uint32_t bytes = 4 * (node->last + 1), width = 16;
  while (width < bytes) width *= 2;
  return width <= GBTI_TOP_SET ? width : 0;
}

/* The column's table in a layer. n_cols: those that have been met there. */
static uint32_t table_of(seen *of, uint64_t stamp, uint32_t code_col, uint16_t *n_cols) {
  if (of[code_col].stamp != stamp) {
    of[code_col].stamp = stamp;
    of[code_col].table = (*n_cols)++;
  }
  return of[code_col].table;
}

static uint64_t stamp_of(int64_t task, uint32_t layer, int pass) {
  return ((uint64_t)task * GBTI_TOP_LAYERS + layer) * 2 + (uint64_t)pass + 1;
}

/* The spots of the layer after the last one. */
static void find_layer(const gbti_pack_node *nodes, spots *s, uint32_t layer) {
  s->layer_beg[layer + 1] = s->n;
  for (uint32_t i = s->layer_beg[layer]; i < s->layer_beg[layer + 1]; i++) {
    const gbti_pack_node *node = &nodes[s->node[i]];
    if (node->order == GBTI_PACK_LEAF) continue;
    const int by_way = layer < GBTI_TOP_WAYS;
    GBT_ASSERT(s->n + 2 <= MOST_SPOTS);
    s->node[s->n] = node->child;
    s->way[s->n++] = by_way ? (uint8_t)gbt_walk_below(s->way[i], 1) : 0;
    s->node[s->n] = node->child + 1;
    s->way[s->n++] = by_way ? (uint8_t)(2u * s->way[i]) : 0;
  }
}

static void first_spot(spots *s) {
  s->n = 1;
  s->node[0] = s->layer_beg[0] = 0;
  s->way[0] = 0;
}

/* Counts the tables of a layer. n_split: its nodes that are. Returns their cost; -1 when a set is too long. */
static int count_layer(const maker *m, int64_t task, int thread, const spots *s, uint32_t layer, uint32_t n_split,
                       gbti_top *top, uint32_t *set_bytes) {
  const gbti_pack *pack = m->pack;
  const gbti_pack_node *nodes = pack->nodes + pack->tree[task].node_beg;
  const gbti_pack_node *first = NULL;
  const int by_way = top->n_ways > layer;
  int alike = by_way && n_split == (uint32_t)1 << layer, cost = 0;
  for (uint32_t i = s->layer_beg[layer]; i < s->n; i++) {
    const gbti_pack_node *node = &nodes[s->node[i]];
    if (node->order == GBTI_PACK_LEAF) continue;
    if (first == NULL) first = node;
    alike &= node->col == first->col && node->order == first->order;
    if (node->order == GBTI_PACK_BY_LEVEL) {
      const uint32_t width = set_width(&pack->wide[pack->tree[task].node_beg + s->node[i]]);
      if (width == 0) return -1;
      alike = 0;
      *set_bytes += width;
      top->n_sets[layer]++;
      cost += COST_SET + look_up_cost(width);
      continue;
    }
    table_of(m->seen + (size_t)thread * pack->n_code_cols, stamp_of(task, layer, 0), node->col / GBTI_PACK_LANES,
             &top->n_cols[layer]);
  }
  const uint32_t width = gbt_walk_width(by_way ? (uint32_t)1 << layer : n_split);
  top->width[layer] = (uint8_t)(alike ? 1 : width);
  const int n_cols = top->n_cols[layer], n_tables = (int)gbti_top_tables(top->n_cols[layer]);
  if (n_cols > 0) cost += COST_COLUMN + n_tables * look_up_cost(top->width[layer]);
  if (n_cols > 1) cost += n_cols * COST_PICK;
  return cost + (by_way ? COST_WAYS : COST_NUMBERS + 2 * look_up_cost(width));
}

/* Nodes that are split, and leaves, from spot `beg` on. */
static uint32_t count_split(const gbti_pack_node *nodes, const spots *s, uint32_t beg, uint32_t *n_leaves) {
  uint32_t n = 0;
  for (uint32_t i = beg; i < s->n; i++) n += nodes[s->node[i]].order != GBTI_PACK_LEAF;
  *n_leaves += s->n - beg - n;
  return n;
}

/* Layers whose nodes rows walk from layer d on, about. */
static int layers_walked(uint32_t depth, uint32_t d) {
  const uint32_t last = depth < MOST_WALKED ? depth : MOST_WALKED;
  if (depth <= MOST_WALKED) return (int)(last - d);
  return d + LEAST_WALKED < last ? (int)(last - d) : LEAST_WALKED;
}

/* Which layers are tables, so that all layers together cost least, and from which on places are numbers. */
static void choose_layers(const maker *m, int64_t task, int thread, gbti_top *top) {
  const gbti_pack_tree *tree = &m->pack->tree[task];
  const gbti_pack_node *nodes = m->pack->nodes + tree->node_beg;
  const int walked = tree->has_sets ? COST_WIDE : COST_NODES;
  spots s;
  first_spot(&s);
  uint32_t n_leaves = 0, n_split = count_split(nodes, &s, 0, &n_leaves), n_best = 0, set_bytes = 0;
  int cost = 0, least = INT_MAX;
  top->n_ways = GBTI_TOP_WAYS;
  for (uint32_t d = 0;; d++) {
    const int all = cost + (n_split > 0 ? COST_START + layers_walked(tree->depth, d) * walked : 0);
    if (all < least) {
      least = all;
      n_best = d;
      top->set_bytes = set_bytes;
    }
    if (n_split == 0 || d == GBTI_TOP_LAYERS || cost >= least) break;
    if (top->n_ways == GBTI_TOP_WAYS && d == GBTI_TOP_WAYS) break; /* the next places would not be bytes */
    if (top->n_ways == GBTI_TOP_WAYS && gbt_walk_width(n_split) < gbt_walk_width((uint32_t)1 << d)) {
      top->n_ways = (uint8_t)d;
      cost += look_up_cost(gbt_walk_width((uint32_t)1 << d));
    }
    if (d >= top->n_ways && n_split > GBTI_TOP_SPLIT) break;
    const int here = count_layer(m, task, thread, &s, d, n_split, top, &set_bytes);
    if (here < 0) break;
    cost += here;
    find_layer(nodes, &s, d);
    n_split = count_split(nodes, &s, s.layer_beg[d + 1], &n_leaves);
    if (d >= top->n_ways && (n_split > GBTI_TOP_NUMBERS || n_leaves > GBTI_TOP_NUMBERS)) break;
  }
  top->n_layers = (uint8_t)n_best;
  if (top->n_ways > n_best) top->n_ways = (uint8_t)n_best;
  for (uint32_t d = n_best; d < GBTI_TOP_LAYERS; d++) top->n_cols[d] = top->n_sets[d] = 0;
}

static void count_task(void *arg, int64_t task, int thread) {
  const maker *m = arg;
  const gbti_pack_tree *tree = &m->pack->tree[task];
  const gbti_pack_node *nodes = m->pack->nodes + tree->node_beg;
  gbti_top *top = &m->pack->tops.at[task];
  const uint32_t n = n_nodes_of(m, task);
  if (n > GBTI_TOP_NODES) return;
  for (uint32_t i = 0; i < n; i++)
    if (nodes[i].order != GBTI_PACK_LEAF && !m->fits[nodes[i].col / GBTI_PACK_LANES]) return;
  top->is_top = 1;
  top->depth = tree->depth;
  choose_layers(m, task, thread, top);
  top->is_whole = tree->depth <= top->n_layers;
  top->has_sets = (uint8_t)(tree->has_sets && !top->is_whole);
}

/* Tables without sets. */
static size_t table_bytes(const gbti_top *top) {
  size_t n = gbti_top_map(top);
  for (uint32_t d = 0; d < top->n_layers; d++)
    n += (gbti_top_tables(top->n_cols[d]) + (d < top->n_ways ? 0u : 2u)) * (size_t)top->width[d];
  return n;
}

/* Where everything lies. The bytes of all trees begin with a line of the cache. */
static gbt_status lay_out(const gbt_mem *mem, const gbt_forest_view *forest, gbti_pack *pack, gbt_error *err) {
  gbti_tops *tops = &pack->tops;
  size_t bytes = 0, cols = 0, sets = 0, starts = 0, values = 0, nodes = 0, wide = 0;
  for (uint64_t t = 0; t < pack->trees.end - pack->trees.beg; t++) {
    gbti_top *top = &tops->at[t];
    if (!top->is_top) continue;
    const uint32_t n_nodes = forest->trees[pack->trees.beg + t].n_nodes;
    tops->n++;
    top->beg = bytes;
    top->col_beg = cols;
    top->set_beg = sets;
    top->start_beg = starts;
    top->value_beg = values;
    top->node_beg = top->has_sets ? wide : nodes;
    for (uint32_t d = 0; d < top->n_layers; d++) {
      cols += top->n_cols[d];
      sets += top->n_sets[d];
    }
    bytes = (bytes + table_bytes(top) + top->set_bytes + 63) / 64 * 64;
    starts += gbti_top_places(top);
    if (top->is_whole)
      values += pack->n_values == 1 ? gbti_top_places(top) : 0;
    else if (top->has_sets)
      wide += n_nodes;
    else
      nodes += n_nodes;
  }
  GBT_TRY(gbt_mem_array(mem, bytes, 1, &tops->bytes, err));
  GBT_TRY(gbt_mem_array(mem, cols, sizeof *tops->cols, &tops->cols, err));
  GBT_TRY(gbt_mem_array(mem, sets, sizeof *tops->sets, &tops->sets, err));
  GBT_TRY(gbt_mem_zeros(mem, starts, sizeof *tops->start, &tops->start, err));
  GBT_TRY(gbt_mem_zeros(mem, values, sizeof *tops->values, &tops->values, err));
  GBT_TRY(gbt_mem_array(mem, nodes, sizeof *tops->nodes, &tops->nodes, err));
  GBT_TRY(gbt_mem_array(mem, wide, sizeof *tops->wide, &tops->wide, err));
  pack->n_bytes += bytes + cols * sizeof *tops->cols + sets * sizeof *tops->sets + starts * sizeof *tops->start;
  pack->n_bytes += values * sizeof *tops->values + nodes * sizeof *tops->nodes + wide * sizeof *tops->wide;
  return GBT_OK;
}

/* The rest of a tree. */
static void put_nodes(const maker *m, int64_t task, const gbti_top *top) {
  const gbti_pack *pack = m->pack;
  const gbti_pack_node *nodes = pack->nodes + pack->tree[task].node_beg;
  for (uint32_t i = 0; i < n_nodes_of(m, task); i++) {
    const int is_leaf = nodes[i].order == GBTI_PACK_LEAF, by_level = nodes[i].order == GBTI_PACK_BY_LEVEL;
    uint32_t col = is_leaf ? 0 : pack->tables.byte_col[nodes[i].col / GBTI_PACK_LANES] * GBTI_TABLE_ROWS;
    uint32_t order = is_leaf ? GBTI_TOP_LEAF : nodes[i].order;
    if (!top->has_sets) {
      pack->tops.nodes[top->node_beg + i] = (gbti_top_node){col, nodes[i].child << 8 | (GBTI_TOP_LEAF - order)};
      continue;
    }
    gbti_top_wide wide = {col, nodes[i].child, (uint16_t)order, UINT8_MAX, 0, 0};
    if (by_level) {
      const gbti_pack_wide *from = &pack->wide[pack->tree[task].node_beg + i];
      wide = (gbti_top_wide){col + 2 * GBTI_TABLE_ROWS, nodes[i].child, UINT16_MAX, UINT16_MAX, from->beg, from->last};
    }
    pack->tops.wide[top->node_beg + i] = wide;
  }
}

static uint8_t *put_set(const gbti_pack *pack, const gbti_top *top, const gbti_pack_wide *node, uint32_t col,
                        uint8_t place, gbti_top_set *set, uint8_t *to) {
  set->col = col * GBTI_TABLE_ROWS;
  set->beg = (uint32_t)(to - (pack->tops.bytes + top->beg));
  set->width = (uint8_t)set_width(node);
  set->place = place;
  for (uint32_t i = 0; i < set->width; i++) {
    uint32_t word = i / 4 < node->last ? i / 4 : node->last;
    to[i] = (uint8_t)(pack->words[node->beg + word] >> (8 * (i % 4)));
  }
  return to + set->width;
}

/* A row that ends at node i of the pack's tree starts there. */
static void put_start(const maker *m, int64_t task, const gbti_top *top, uint32_t node, uint32_t place) {
  const gbt_forest_view *forest = m->forest;
  const gbt_node *from = forest->nodes + forest->trees[m->pack->trees.beg + (uint64_t)task].node_beg + node;
  m->pack->tops.start[top->start_beg + place] = (uint16_t)node;
  if (top->is_whole && m->pack->n_values == 1) m->pack->tops.values[top->value_beg + place] = from->arg.value;
}

/* Where the next layer has its tables, columns, sets and their bytes. */
typedef struct parts {
  uint8_t *table, *set_bytes;
  uint32_t *cols;
  gbti_top_set *sets;
} parts;

static void fill_layer(const maker *m, int64_t task, int thread, const spots *s, uint32_t layer, const gbti_top *top,
                       parts *to) {
  const gbti_pack *pack = m->pack;
  const gbti_pack_node *nodes = pack->nodes + pack->tree[task].node_beg;
  const uint32_t width = top->width[layer];
  uint16_t n_cols = 0;
  for (uint32_t i = s->layer_beg[layer]; i < s->layer_beg[layer + 1]; i++) {
    const gbti_pack_node *node = &nodes[s->node[i]];
    if (node->order == GBTI_PACK_LEAF) {
      put_start(m, task, top, s->node[i], s->place[i]);
      continue;
    }
    const uint32_t code_col = node->col / GBTI_PACK_LANES, col = pack->tables.byte_col[code_col];
    if (node->order == GBTI_PACK_BY_LEVEL) {
      const gbti_pack_wide *wide = &pack->wide[pack->tree[task].node_beg + s->node[i]];
      to->set_bytes = put_set(pack, top, wide, col, s->place[i], to->sets++, to->set_bytes);
      continue;
    }
    const uint32_t j =
        table_of(m->seen + (size_t)thread * pack->n_code_cols, stamp_of(task, layer, 1), code_col, &n_cols);
    to->cols[j] = col * GBTI_TABLE_ROWS;
    to->table[width > 1 ? s->place[i] : 0] = (uint8_t)node->order;
    if (top->n_cols[layer] > 1) to->table[width + s->place[i]] = (uint8_t)j;
  }
  to->cols += n_cols;
  to->table += gbti_top_tables(n_cols) * width;
}

/* The places of all spots. Leaves above the last layer of ways are below their way there. */
static void number_spots(const gbti_pack_node *nodes, const gbti_top *top, spots *s) {
  const int numbers = top->n_ways < top->n_layers;
  uint8_t leaf = 255;
  for (uint32_t d = 0; d <= top->n_layers; d++) {
    const uint32_t end = d < top->n_layers ? s->layer_beg[d + 1] : s->n;
    uint8_t number = 0;
    for (uint32_t i = s->layer_beg[d]; i < end; i++) {
      if (nodes[s->node[i]].order != GBTI_PACK_LEAF)
        s->place[i] = numbers && d >= top->n_ways ? number++ : s->way[i];
      else
        s->place[i] = numbers ? leaf-- : (uint8_t)gbt_walk_below(s->way[i], top->n_layers - d);
    }
  }
}

/* From ways to the numbers on the first layer that has them. */
static void put_map(const gbti_pack_node *nodes, const gbti_top *top, const spots *s, parts *to) {
  for (uint32_t d = 0; d <= top->n_ways; d++)
    for (uint32_t i = s->layer_beg[d]; i < s->layer_beg[d + 1]; i++)
      if (d == top->n_ways || nodes[s->node[i]].order == GBTI_PACK_LEAF)
        to->table[gbt_walk_below(s->way[i], top->n_ways - d)] = s->place[i];
  to->table += gbti_top_map(top);
}

/* Where the nodes of a layer of numbers lead. */
static void put_turns(const gbti_pack_node *nodes, const gbti_top *top, const spots *s, uint32_t layer, parts *to) {
  const uint32_t width = top->width[layer];
  uint32_t child = s->layer_beg[layer + 1];
  memset(to->table, 0, 2 * (size_t)width);
  for (uint32_t i = s->layer_beg[layer]; i < s->layer_beg[layer + 1]; i++) {
    if (nodes[s->node[i]].order == GBTI_PACK_LEAF) continue;
    to->table[s->place[i]] = s->place[child + 1];
    to->table[width + s->place[i]] = s->place[child] ^ s->place[child + 1];
    child += 2;
  }
  to->table += 2 * (size_t)width;
}

static void fill_task(void *arg, int64_t task, int thread) {
  const maker *m = arg;
  const gbti_pack *pack = m->pack;
  const gbti_top *top = &pack->tops.at[task];
  const gbti_pack_node *nodes = pack->nodes + pack->tree[task].node_beg;
  if (!top->is_top) return;
  const size_t n_bytes = table_bytes(top);
  uint8_t *bytes = pack->tops.bytes + top->beg;
  parts to = {bytes, bytes + n_bytes, pack->tops.cols + top->col_beg, pack->tops.sets + top->set_beg};
  if (n_bytes > 0) memset(bytes, GBT_WALK_ALL, n_bytes);
  spots s;
  first_spot(&s);
  for (uint32_t layer = 0; layer < top->n_layers; layer++) find_layer(nodes, &s, layer);
  number_spots(nodes, top, &s);
  for (uint32_t layer = 0; layer < top->n_layers; layer++) {
    if (layer == top->n_ways) put_map(nodes, top, &s, &to);
    fill_layer(m, task, thread, &s, layer, top, &to);
    if (layer >= top->n_ways) put_turns(nodes, top, &s, layer, &to);
  }
  for (uint32_t i = s.layer_beg[top->n_layers]; i < s.n; i++) put_start(m, task, top, s.node[i], s.place[i]);
  if (!top->is_whole) put_nodes(m, task, top);
}

gbt_status gbti_tops_make(gbt_ctx *ctx, const gbt_forest_view *forest, gbti_pack *pack, const uint8_t *fits,
                          gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  maker m = {.forest = forest, .pack = pack, .fits = fits};
  const size_t n_trees = (size_t)(pack->trees.end - pack->trees.beg);
  gbt_status status;
  pack->n_bytes += n_trees * sizeof *pack->tops.at;
  GBT_TRY(gbt_mem_zeros(mem, n_trees, sizeof *pack->tops.at, &pack->tops.at, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)ctx->n_threads, pack->n_code_cols * sizeof *m.seen, &m.seen, err));
  GBT_TRY_GOTO(gbt_parallel(ctx, (int64_t)n_trees, count_task, &m, err), done);
  GBT_TRY_GOTO(lay_out(mem, forest, pack, err), done);
  GBT_TRY_GOTO(gbt_parallel(ctx, (int64_t)n_trees, fill_task, &m, err), done);
done:
  gbt_mem_free(mem, m.seen);
  return status;
}

void gbti_tops_free(const gbt_mem *mem, gbti_pack *pack) {
  gbt_mem_free(mem, pack->tops.at);
  gbt_mem_free(mem, pack->tops.bytes);
  gbt_mem_free(mem, pack->tops.cols);
  gbt_mem_free(mem, pack->tops.sets);
  gbt_mem_free(mem, pack->tops.start);
  gbt_mem_free(mem, pack->tops.values);
  gbt_mem_free(mem, pack->tops.nodes);
  gbt_mem_free(mem, pack->tops.wide);
}
