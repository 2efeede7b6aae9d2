/* Trees as tables (base/byte_walk.h), as in prediction (model/predict_table.h). A layer has
 *
 *   asks    columns that nodes split by number: by place, the highest code that goes left
 *   sets    any other nodes: rows at its place look their code up
 *
 * Codes are those of columns of bytes, as they lie in memory; rows of pages are turned first, a block at a time. Trees
 * of up to 8 layers can be tables. */
#include "cpu_walk_tables.h"

#include <string.h>

#include "cpu.h"

void cpu_walk_tables_free(const gbt_mem *mem, cpu_walk_tables *t) {
  gbt_mem_free(mem, t->ask);
  gbt_mem_free(mem, t->set);
  gbt_mem_free(mem, t->bytes);
}

static int is_leaf(const cpu_walk_node *node) { return node->mask == 0; }

/* The tables that are being made. */
typedef struct making {
  const cpu_backend *be;
  const cpu_table_tree *tree;
  cpu_walk_tables *tables;
  size_t n_bytes;
} making;

static int32_t column_of(const making *m, size_t i) {
  const gbt_place *place = &m->tree->layout->place[m->be->fr.node[i].split.feat];
  return place->group * GBT_GROUP_MAX + place->pos;
}

/* Whether a node's codes are bins that go left up to one of them. */
static int asks_number(const making *m, size_t i) {
  const gbt_split *split = &m->be->fr.node[i].split;
  return !m->tree->node[i].wide && split->kind == GBT_SPLIT_NUMERIC && m->tree->layout->place[split->feat].zero_bin < 0;
}

/* The missing code of a node where it goes left. Where no row is missing it does not matter. */
static uint32_t missing_left(const making *m, size_t i) {
  const gbt_split *split = &m->be->fr.node[i].split;
  const gbt_feature_cuts *feat = &m->be->cuts->feat[split->feat];
  const int may_be = feat->has_missing || m->tree->any_missing;
  return may_be && split->missing_left ? (uint32_t)feat->n_bins : (uint32_t)GBT_WALK_NO_MISSING;
}

static void put_number(making *m, size_t i, cpu_walk_layer *layer) {
  cpu_walk_tables *t = m->tables;
  const uint32_t missing = missing_left(m, i);
  const int32_t column = column_of(m, i);
  size_t a = layer->ask;
  while (a < layer->ask + layer->n_asks && (t->ask[a].column != column || t->ask[a].missing != missing)) a++;
  if (a == layer->ask + layer->n_asks) {
    t->ask[a] = (cpu_ask){column, m->n_bytes, missing};
    memset(t->bytes + m->n_bytes, GBT_WALK_ALL, layer->width);
    m->n_bytes += layer->width;
    layer->n_asks++;
  }
  GBT_ASSERT(m->be->fr.node[i].split.bin < GBT_WALK_ALL);
  t->bytes[t->ask[a].table + t->place[i]] = (uint8_t)m->be->fr.node[i].split.bin;
}

static void put_set(making *m, size_t i, int all, cpu_walk_layer *layer) {
  cpu_walk_tables *t = m->tables;
  const cpu_walk_node *node = &m->tree->node[i];
  cpu_ask_set *set = &t->set[layer->set + layer->n_sets++];
  *set = (cpu_ask_set){column_of(m, i), node->left, m->n_bytes, (uint8_t)node->wide, (uint8_t)all, t->place[i]};
  if (node->wide) return;
  const uint32_t n_codes = cpu_lut_size(m->tree->layout, m->be->fr.node[i].split.feat);
  GBT_ASSERT(n_codes <= 256);
  memset(t->bytes + m->n_bytes, 0, 32);
  for (uint32_t code = 0; code < n_codes; code++)
    t->bytes[m->n_bytes + code / 8] |= (uint8_t)(!node->left[code] << (code % 8));
  m->n_bytes += 32;
}

/* Places of a node's children; or, of a leaf, where its rows end. */
static void put_places(making *m, size_t i) {
  cpu_walk_tables *t = m->tables;
  const cpu_walk_node *node = &m->tree->node[i];
  const uint32_t place = t->place[i], depth = (uint32_t)m->be->fr.node[i].depth;
  if (is_leaf(node)) {
    GBT_ASSERT(depth <= t->depth);
    t->leaf[gbt_walk_below(place, t->depth - depth)] = (uint32_t)i;
    return;
  }
  t->place[node->last - 1] = (uint8_t)(2 * place + 1);
  t->place[node->last] = (uint8_t)(2 * place);
}

gbt_status cpu_walk_tables_make(const gbt_ctx *ctx, cpu_backend *be, const cpu_table_tree *tree, cpu_walk_tables *t,
                                gbt_error *err) {
  const size_t n = be->fr.n_nodes;
  making m = {be, tree, t, 0};
  t->depth = tree->depth;
  t->n_asks = t->n_sets = 0;
  t->ready = gbt_ctx_has_lookup(ctx) && t->depth <= CPU_TABLE_DEPTH;
  if (!t->ready) return GBT_OK;
  /* a request of 128 bytes for every node at most */
  GBT_TRY(gbt_mem_grow(&be->mem, &t->ask, &t->cap_ask, n, sizeof *t->ask, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &t->set, &t->cap_set, n, sizeof *t->set, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &t->bytes, &t->cap_bytes, 128 * n, 1, err));
  t->place[0] = 0;
  for (size_t i = 0; i < n; i++) put_places(&m, i); /* children are numbered above their parents */
  for (uint32_t d = 0; d < t->depth; d++) {
    cpu_walk_layer *layer = &t->layer[d];
    *layer = (cpu_walk_layer){.ask = t->n_asks, .set = t->n_sets, .width = gbt_walk_width((uint32_t)1 << d)};
    for (size_t i = 0; i < n; i++) {
      if ((uint32_t)be->fr.node[i].depth != d || is_leaf(&tree->node[i])) continue;
      if (asks_number(&m, i))
        put_number(&m, i, layer);
      else if (!cpu_has_split_before(be, i))
        put_set(&m, i, gbt_policy_one_split(be->fr.policy.kind), layer);
    }
    t->n_asks += layer->n_asks;
    t->n_sets += layer->n_sets;
  }
  GBT_ASSERT(t->n_asks + t->n_sets <= n && m.n_bytes <= 128 * n);
  return GBT_OK;
}

#if defined(GBT_LOOKS_UP)

#define TARGET GBT_LOOK_UP_TARGET
#define TARGET_FN GBT_LOOK_UP_FN

enum { ROWS = CPU_TABLE_ROWS, TOGETHER = GBT_WALK_TOGETHER };

TARGET_FN void ask_numbers(size_t width, const cpu_walk_tables *t, const cpu_walk_layer *layer,
                           const uint8_t *const *codes, size_t row, int n, const __m512i *place, __mmask64 *left) {
  codes += layer->ask;
  for (const cpu_ask *ask = t->ask + layer->ask, *end = ask + layer->n_asks; ask < end; ask++, codes++)
    gbt_walk_ask(t->bytes + ask->table, width, *codes + row, ROWS, ask->missing, n, place, left);
}

/* Those of the rows at `at` whose codes of two bytes go right. */
static uint64_t right_of_wide(const cpu_ask_set *set, const uint8_t *codes, size_t row, uint64_t at) {
  uint64_t right = 0;
  for (; at != 0; at &= at - 1) {
    const int r = __builtin_ctzll(at);
    uint16_t code;
    memcpy(&code, codes + 2 * (row + (size_t)r), sizeof code);
    right |= (uint64_t)!set->left[code] << r;
  }
  return right;
}

TARGET static __attribute__((noinline)) void ask_sets(const cpu_walk_tables *t, const cpu_walk_layer *layer,
                                                      const uint8_t *const *codes, size_t row, int n,
                                                      const __m512i place[TOGETHER], __mmask64 left[TOGETHER]) {
  const __m512i bit = _mm512_set1_epi64((long long)0x8040201008040201), low3 = _mm512_set1_epi8(7);
  codes += t->n_asks + layer->set;
  for (const cpu_ask_set *set = t->set + layer->set, *end = set + layer->n_sets; set < end; set++, codes++)
    for (int g = 0; g < n; g++) {
      const __mmask64 same = _mm512_cmpeq_epi8_mask(place[g], _mm512_set1_epi8((char)set->place));
      const __mmask64 at = set->all ? ~(__mmask64)0 : same;
      if (set->wide) {
        left[g] &= ~right_of_wide(set, *codes, row + (size_t)g * ROWS, at);
        continue;
      }
      const __m512i code = _mm512_loadu_si512(*codes + row + (size_t)g * ROWS);
      const __m512i eighth = _mm512_and_si512(_mm512_srli_epi16(code, 3), _mm512_set1_epi8(31));
      const __m512i bits = gbt_look_up(t->bytes + set->bits, 32, eighth);
      left[g] &= ~_mm512_mask_test_epi8_mask(at, bits, _mm512_shuffle_epi8(bit, _mm512_and_si512(code, low3)));
    }
}

TARGET_FN void walk_groups(const cpu_walk_tables *t, const uint8_t *const *codes, size_t row, int n, uint32_t *leaf) {
  __m512i place[TOGETHER];
  __mmask64 left[TOGETHER];
  for (int g = 0; g < n; g++) place[g] = _mm512_setzero_si512();
  for (uint32_t d = 0; d < t->depth; d++) {
    const cpu_walk_layer *layer = &t->layer[d];
    for (int g = 0; g < n; g++) left[g] = ~(__mmask64)0;
    GBT_WALK_BY_WIDTH(ask_numbers, layer->width, t, layer, codes, row, n, place, left);
    if (layer->n_sets > 0) GBT_WALK_APART(ask_sets, n, place, left, t, layer, codes, row);
    gbt_walk_step(n, place, left);
  }
  uint8_t last[TOGETHER * ROWS];
  for (int g = 0; g < n; g++) _mm512_storeu_si512(last + (size_t)g * ROWS, place[g]);
  for (int r = 0; r < n * ROWS; r++) leaf[r] = t->leaf[last[r]];
}

TARGET void cpu_walk_tables_run(const cpu_walk_tables *t, const uint8_t *const *codes, size_t beg, size_t end,
                                uint32_t *leaf) {
  GBT_ASSERT((end - beg) % ROWS == 0);
  for (; end - beg >= TOGETHER * ROWS; beg += TOGETHER * ROWS, leaf += TOGETHER * ROWS)
    walk_groups(t, codes, beg, TOGETHER, leaf);
  for (; beg < end; beg += ROWS, leaf += ROWS) walk_groups(t, codes, beg, 1, leaf);
}

/* Sixteen codes of a row; bytes after the group's codes are not read. */
TARGET_FN __m128i row_codes(const uint8_t *codes, __mmask16 its) { return _mm_maskz_loadu_epi8(its, codes); }

/* Register r has rows r, r + 16, r + 32 and r + 48 of 64. Putting the first half between the second one, four times,
 * turns every 16 by 16 codes: register c then has code c of all rows. */
TARGET void cpu_walk_tables_turn(const uint8_t *rows, size_t stride, size_t width, size_t n, uint8_t *const *to) {
  const __mmask16 its = (__mmask16)((1u << width) - 1u);
  GBT_ASSERT(width >= 1 && width <= 16 && n % ROWS == 0);
  for (size_t row = 0; row < n; row += ROWS) {
    __m512i x[16], y[16];
    for (size_t r = 0; r < 16; r++) {
      const uint8_t *at = rows + (row + r) * stride;
      x[r] = _mm512_castsi128_si512(row_codes(at, its));
      x[r] = _mm512_inserti32x4(x[r], row_codes(at + 16 * stride, its), 1);
      x[r] = _mm512_inserti32x4(x[r], row_codes(at + 32 * stride, its), 2);
      x[r] = _mm512_inserti32x4(x[r], row_codes(at + 48 * stride, its), 3);
    }
    for (int s = 0; s < 4; s++) {
      for (int i = 0; i < 8; i++) {
        y[2 * i] = _mm512_unpacklo_epi8(x[i], x[i + 8]);
        y[2 * i + 1] = _mm512_unpackhi_epi8(x[i], x[i + 8]);
      }
      for (int i = 0; i < 16; i++) x[i] = y[i];
    }
    for (size_t c = 0; c < 16; c++) /* a constant: x stays in registers */
      if (c < width) _mm512_storeu_si512(to[c] + row, x[c]);
  }
}

#else

void cpu_walk_tables_run(const cpu_walk_tables *t, const uint8_t *const *codes, size_t beg, size_t end,
                         uint32_t *leaf) {
  (void)t, (void)codes, (void)beg, (void)end, (void)leaf;
}

void cpu_walk_tables_turn(const uint8_t *rows, size_t stride, size_t width, size_t n, uint8_t *const *to) {
  (void)rows, (void)stride, (void)width, (void)n, (void)to;
}

#endif
