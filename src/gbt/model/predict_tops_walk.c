/* Walking tops (predict_tops.h) by shuffles of bytes (base/shuffle.h); where there are none there is nothing here. */
#include "predict_tops.h"

#include <string.h>

#include "../base/shuffle.h"

enum {
  ROWS = GBTI_TABLE_ROWS,
  LANES = 8,    /* rows that go down nodes together */
  SHALLOW = 12, /* so many layers of nodes are walked to the end, more of them until all rows have arrived */
  STRIDE = 4    /* steps between two looks whether they have */
};

#if defined(GBT_SHUFFLES)
#define TARGET GBT_SHUFFLE_TARGET
#define TARGET_FN GBT_SHUFFLE_FN
#if defined(__clang__) /* else -O2 leaves vectors of arrays in memory */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

enum { PER_GROUP = ROWS / GBT_BYTES, AT_ONCE = PER_GROUP < 4 ? 4 : PER_GROUP /* vectors that walk interleaved */ };

/* Where codes of vector v are, from those of the first group. */
TARGET_FN size_t code_of(int v, size_t stride) {
  return (size_t)(v / PER_GROUP) * stride + (size_t)(v % PER_GROUP * GBT_BYTES);
}

/* Takes the rows out of left that the columns of a layer send right. */
TARGET_FN void ask_column(size_t width, const uint8_t *table, const uint8_t *codes, size_t stride, int n,
                          const gbt_bytes *place, gbt_bytes *left) {
  UNROLL
  for (int v = 0; v < n; v++) {
    const gbt_bytes order = width == 1 ? gbt_bytes_all(*table) : gbt_bytes_look_up(table, width, place[v]);
    left[v] = gbt_bytes_and(left[v], gbt_bytes_least(gbt_bytes_load(codes + code_of(v, stride)), order));
  }
}
TARGET_FN void ask_columns(size_t width, uint32_t n_cols, const uint8_t *tables, const uint32_t *cols,
                           const uint8_t *codes, size_t stride, int n, const gbt_bytes *place, gbt_bytes *left) {
  if (n_cols == 1) ask_column(width, tables, codes + cols[0], stride, n, place, left);
  if (n_cols < 2 || width == 1) return;
  gbt_bytes which[AT_ONCE], code[AT_ONCE], its = gbt_bytes_all(0);
  UNROLL
  for (int v = 0; v < n; v++) {
    which[v] = gbt_bytes_look_up(tables + width, width, place[v]);
    code[v] = gbt_bytes_all(0);
  }
  for (uint32_t j = 0; j < n_cols; j++) {
    const uint8_t *from = codes + cols[j];
    UNROLL
    for (int v = 0; v < n; v++)
      code[v] = gbt_bytes_xor(code[v],
                              gbt_bytes_and(gbt_bytes_load(from + code_of(v, stride)), gbt_bytes_equal(which[v], its)));
    its = gbt_bytes_add(its, gbt_bytes_all(1));
  }
  UNROLL
  for (int v = 0; v < n; v++)
    left[v] = gbt_bytes_and(left[v], gbt_bytes_least(code[v], gbt_bytes_look_up(tables, width, place[v])));
}

/* The same for sets. A function of its own, and called with copies, so that the others stay in registers. */
TARGET_FN gbt_bytes set_bytes(const uint8_t *table, uint32_t width, gbt_bytes at) {
  at = gbt_bytes_min(at, gbt_bytes_all((uint8_t)(width - 1)));
  if (width == 16) return gbt_bytes_look_up(table, 16, at);
  if (width == 32) return gbt_bytes_look_up(table, 32, at);
  if (width == 64) return gbt_bytes_look_up(table, 64, at);
  return gbt_bytes_look_up(table, 128, at);
}
TARGET __attribute__((noinline)) static void ask_sets(const uint8_t *bytes, const gbti_top_set *set, uint32_t n_sets,
                                                      const uint8_t *codes, size_t stride, int n,
                                                      const gbt_bytes place[AT_ONCE], gbt_bytes left[AT_ONCE]) {
  for (; n_sets > 0; n_sets--, set++)
    for (int v = 0; v < n; v++) {
      const uint8_t *col = codes + set->col + code_of(v, stride);
      const gbt_bytes here = gbt_bytes_equal(place[v], gbt_bytes_all(set->place));
      const gbt_bytes bits =
          gbt_bytes_and(set_bytes(bytes + set->beg, set->width, gbt_bytes_load(col)), gbt_bytes_load(col + ROWS));
      const gbt_bytes right = gbt_bytes_and_not(here, gbt_bytes_equal(bits, gbt_bytes_all(0)));
      left[v] = gbt_bytes_and_not(left[v], right);
    }
}

/* Where a layer's tables, columns and sets begin. */
typedef struct layer_at {
  const uint8_t *table;
  const uint32_t *cols;
  const gbti_top_set *sets;
} layer_at;

/* Takes the rows out of left that the layer sends right. */
TARGET_FN void ask_layer(const gbti_pack *pack, const gbti_top *top, uint32_t d, const layer_at *at,
                         const uint8_t *codes, size_t stride, int n, const gbt_bytes *place, gbt_bytes *left) {
  const uint32_t n_cols = top->n_cols[d];
  UNROLL
  for (int v = 0; v < n; v++) left[v] = gbt_bytes_all(UINT8_MAX);
  switch (top->width[d]) {
  case 1:
    ask_columns(1, n_cols, at->table, at->cols, codes, stride, n, place, left);
    break;
  case 16:
    ask_columns(16, n_cols, at->table, at->cols, codes, stride, n, place, left);
    break;
  case 32:
    ask_columns(32, n_cols, at->table, at->cols, codes, stride, n, place, left);
    break;
  case 64:
    ask_columns(64, n_cols, at->table, at->cols, codes, stride, n, place, left);
    break;
  default:
    ask_columns(128, n_cols, at->table, at->cols, codes, stride, n, place, left);
  }
  if (top->n_sets[d] == 0) return;
  gbt_bytes places[AT_ONCE], lefts[AT_ONCE];
  for (int v = 0; v < n; v++) places[v] = place[v], lefts[v] = left[v];
  ask_sets(pack->tops.bytes + top->beg, at->sets, top->n_sets[d], codes, stride, n, places, lefts);
  for (int v = 0; v < n; v++) left[v] = lefts[v];
}

/* To the end of the tables of its columns. */
TARGET_FN void pass_layer(const gbti_top *top, uint32_t d, layer_at *at) {
  at->table += gbti_top_tables(top->n_cols[d]) * (size_t)top->width[d];
  at->cols += top->n_cols[d];
  at->sets += top->n_sets[d];
}

TARGET_FN layer_at first_layer(const gbti_pack *pack, const gbti_top *top) {
  const layer_at at = {pack->tops.bytes + top->beg, pack->tops.cols + top->col_beg, pack->tops.sets + top->set_beg};
  return at;
}

TARGET_FN void walk_ways(const gbti_pack *pack, const gbti_top *top, const uint8_t *codes, size_t stride, int n,
                         uint8_t *out) {
  layer_at at = first_layer(pack, top);
  gbt_bytes place[AT_ONCE], left[AT_ONCE];
  UNROLL
  for (int v = 0; v < n; v++) place[v] = gbt_bytes_all(0);
  for (uint32_t d = 0; d < top->n_ways; d++) {
    ask_layer(pack, top, d, &at, codes, stride, n, place, left);
    UNROLL
    for (int v = 0; v < n; v++) place[v] = gbt_bytes_sub(gbt_bytes_add(place[v], place[v]), left[v]);
    pass_layer(top, d, &at);
  }
  UNROLL
  for (int v = 0; v < n; v++) gbt_bytes_store(out + (size_t)v * GBT_BYTES, place[v]);
}

/* To the next layer. to: of this one, where right children are, and then right ^ left. */
TARGET_FN void step_numbered(const uint8_t *to, size_t width, int n, gbt_bytes *place, const gbt_bytes *left) {
  UNROLL
  for (int v = 0; v < n; v++) {
    const gbt_bytes turn = gbt_bytes_and(left[v], gbt_bytes_look_up(to + width, width, place[v]));
    place[v] = gbt_bytes_choose(gbt_bytes_xor(gbt_bytes_look_up(to, width, place[v]), turn), place[v], place[v]);
  }
}

TARGET_FN void find_numbers(const uint8_t *map, size_t width, int n, gbt_bytes *place) {
  UNROLL
  for (int v = 0; v < n; v++) place[v] = gbt_bytes_look_up(map, width, place[v]);
}

/* The layers of numbers, from the places of the ways on. */
TARGET_FN void walk_numbers(const gbti_pack *pack, const gbti_top *top, const uint8_t *codes, size_t stride, int n,
                            uint8_t *out) {
  layer_at at = first_layer(pack, top);
  gbt_bytes place[AT_ONCE], left[AT_ONCE];
  const size_t map = gbti_top_map(top);
  for (uint32_t d = 0; d < top->n_ways; d++) pass_layer(top, d, &at);
  UNROLL
  for (int v = 0; v < n; v++) place[v] = gbt_bytes_load(out + (size_t)v * GBT_BYTES);
  GBT_ASSERT(map >= 32); /* no layer of ways has fewer places than its numbers' table */
  if (map == 32)
    find_numbers(at.table, 32, n, place);
  else if (map == 64)
    find_numbers(at.table, 64, n, place);
  else
    find_numbers(at.table, 128, n, place);
  at.table += map;
  for (uint32_t d = top->n_ways; d < top->n_layers; d++) {
    ask_layer(pack, top, d, &at, codes, stride, n, place, left);
    pass_layer(top, d, &at);
    if (top->width[d] == 16)
      step_numbered(at.table, 16, n, place, left);
    else if (top->width[d] == 32)
      step_numbered(at.table, 32, n, place, left);
    else
      step_numbered(at.table, 64, n, place, left);
    at.table += 2 * (size_t)top->width[d];
  }
  UNROLL
  for (int v = 0; v < n; v++) gbt_bytes_store(out + (size_t)v * GBT_BYTES, place[v]);
}

enum { GROUPS = AT_ONCE / PER_GROUP };

/* A function of its own, so that trees without numbers keep their registers. */
TARGET __attribute__((noinline)) static void walk_numbers_of_all(const gbti_pack *pack, const gbti_top *top,
                                                                 const uint8_t *codes, size_t stride, int32_t n_groups,
                                                                 uint8_t *place) {
  int32_t g = 0;
  for (; g + GROUPS <= n_groups; g += GROUPS)
    walk_numbers(pack, top, codes + (size_t)g * stride, stride, AT_ONCE, place + (size_t)g * ROWS);
  for (; g < n_groups; g++)
    walk_numbers(pack, top, codes + (size_t)g * stride, stride, PER_GROUP, place + (size_t)g * ROWS);
}

TARGET void gbti_top_walk(const gbti_pack *pack, const gbti_top *top, const uint8_t *codes, int32_t n_groups,
                          uint8_t *place) {
  const size_t stride = (size_t)pack->tables.n_cols * ROWS;
  int32_t g = 0;
  for (; g + GROUPS <= n_groups; g += GROUPS)
    walk_ways(pack, top, codes + (size_t)g * stride, stride, AT_ONCE, place + (size_t)g * ROWS);
  for (; g < n_groups; g++)
    walk_ways(pack, top, codes + (size_t)g * stride, stride, PER_GROUP, place + (size_t)g * ROWS);
  if (top->n_ways < top->n_layers) walk_numbers_of_all(pack, top, codes, stride, n_groups, place);
}

#else

void gbti_top_walk(const gbti_pack *pack, const gbti_top *top, const uint8_t *codes, int32_t n_groups, uint8_t *place) {
  (void)pack, (void)top, (void)codes, (void)n_groups, (void)place;
}

#endif

/* ---- nodes ---- */

#if defined(__GNUC__) && !defined(__clang__) /* which makes vectors of the places, element by element: half as fast */
#define NO_VECTORS __attribute__((optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
#else
#define NO_VECTORS
#endif

static inline void step_numbers(const gbti_top_node *nodes, const uint8_t *codes, uint32_t n_steps,
                                uint32_t at[LANES]) {
  for (uint32_t s = 0; s < n_steps; s++)
    for (int k = 0; k < LANES; k++) {
      const gbti_top_node *node = &nodes[at[k]];
      at[k] = (node->next + codes[(size_t)node->col + (size_t)k]) >> 8;
    }
}

static inline void step_wide(const gbti_top_wide *nodes, const uint32_t *words, const uint8_t *codes, int first,
                             uint32_t n_steps, uint32_t at[LANES]) {
  for (uint32_t s = 0; s < n_steps; s++)
    for (int k = 0; k < LANES; k++) {
      const gbti_top_wide *node = &nodes[at[k]];
      uint16_t two;
      memcpy(&two, codes + node->col + ((uint32_t)(first + k) << (node->mask >> 15)), sizeof two);
      const uint32_t code = two & node->mask;
      at[k] = node->child + (uint32_t)(node->order < code) + gbti_goes_right_by_set(words, node->beg, node->last, code);
    }
}

static int numbers_arrived(const gbti_top_node *nodes, const uint32_t at[LANES]) {
  int all = 1;
  for (int k = 0; k < LANES; k++) all &= nodes[at[k]].next >> 8 == at[k];
  return all;
}

static int wide_arrived(const gbti_top_wide *nodes, const uint32_t at[LANES]) {
  int all = 1;
  for (int k = 0; k < LANES; k++) all &= nodes[at[k]].child == at[k];
  return all;
}

NO_VECTORS void gbti_top_down(const gbti_pack *pack, const gbti_top *top, const uint8_t *codes, int32_t n_groups,
                              const uint8_t *place, uint32_t *pos) {
  const uint16_t *start = pack->tops.start + top->start_beg;
  const gbti_top_node *nodes = pack->tops.nodes + top->node_beg;
  const gbti_top_wide *wide = pack->tops.wide + top->node_beg;
  const size_t stride = (size_t)pack->tables.n_cols * ROWS;
  const uint32_t n_layers = top->depth - top->n_layers;
  for (int32_t r = 0; r < n_groups * ROWS; r += LANES) {
    const uint8_t *group = codes + (size_t)(r / ROWS) * stride;
    const int first = (int)(r % ROWS);
    uint32_t at[LANES];
    for (int k = 0; k < LANES; k++) at[k] = start[place[r + k]];
    if (top->has_sets) {
      if (n_layers <= SHALLOW)
        step_wide(wide, pack->words, group, first, n_layers, at);
      else
        while (!wide_arrived(wide, at)) step_wide(wide, pack->words, group, first, STRIDE, at);
    } else if (n_layers <= SHALLOW) {
      step_numbers(nodes, group + first, n_layers, at);
    } else {
      while (!numbers_arrived(nodes, at)) step_numbers(nodes, group + first, STRIDE, at);
    }
    for (int k = 0; k < LANES; k++) pos[r + k] = at[k];
  }
}
