/* Sets of the background at leaves, and rows beside them: see others.h. */
#include "others.h"

#include <string.h>

#include "../base/sort.h"

enum { POLL_STEPS = 200000 };

static int stopped(gbti_others_work *w, int64_t steps) {
  w->steps += steps;
  if (w->steps < POLL_STEPS) return 0;
  w->steps = 0;
  return gbt_ctx_stopped(w->ctx, w->thread);
}

static size_t words_of(int32_t n_slots) { return ((size_t)n_slots + 63) / 64; }

static size_t items_of(int32_t n_slots, int pairs) {
  const size_t n = (size_t)n_slots;
  return pairs && n > 0 ? n + n * (n - 1) / 2 : n;
}

/* Word `word` of the sets that rows fail, of the row block `block` (64 rows). */
static void masks_of(const gbti_ways *ways, size_t block, size_t word, uint64_t *mask) {
  const int32_t beg = (int32_t)(word * 64), end = ways->n_slots < beg + 64 ? ways->n_slots : beg + 64;
  for (int r = 0; r < 64; r++) mask[r] = 0;
  for (int32_t s = beg; s < end; s++) {
    const uint64_t fail = ways->fail[(size_t)s * ways->n_words + block];
    for (int r = 0; r < 64; r++) mask[r] |= (fail >> r & 1u) << (s - beg);
  }
}

/* ---- the background ---- */

typedef struct gathering {
  const gbt_mem *mem;
  gbti_game *plan;
  gbti_others *others;
  gbti_others_work *work;
  int64_t n_rows, n_own;
  gbt_status status;
  gbt_error *err;
} gathering;

static uint64_t word_of(const gbti_ways *ways, uint32_t row, size_t word) {
  uint64_t out = 0;
  const int32_t beg = (int32_t)(word * 64), end = ways->n_slots < beg + 64 ? ways->n_slots : beg + 64;
  for (int32_t s = beg; s < end; s++)
    out |= (ways->fail[(size_t)s * ways->n_words + row / 64] >> (row % 64) & 1u) << (s - beg);
  return out;
}

/* Rows in ascending order of their sets; the highest word counts most. */
static void order_rows(gathering *g, const gbti_ways *ways) {
  gbti_others_work *w = g->work;
  const size_t n = (size_t)g->n_rows;
  for (size_t r = 0; r < n; r++) w->order[r] = (uint32_t)r;
  for (size_t word = 0; word < words_of(ways->n_slots); word++) {
    if (word == 0) {
      for (size_t b = 0; b < ways->n_words; b++) masks_of(ways, b, 0, w->mask + 64 * b);
    } else {
      for (size_t r = 0; r < n; r++) w->mask[r] = word_of(ways, w->order[r], word);
    }
    gbt_sort_u64(w->mask, w->order, n, w->sorted, w->spare);
  }
}

static int same_set(const gbti_ways *ways, uint32_t a, uint32_t b) {
  for (size_t word = 0; word < words_of(ways->n_slots); word++)
    if (word_of(ways, a, word) != word_of(ways, b, word)) return 0;
  return 1;
}

static gbt_status put_set(gathering *g, const uint64_t *set, size_t n_words, double count) {
  gbti_others *o = g->others;
  GBT_TRY(gbt_mem_grow(g->mem, &o->set, &o->cap_set, o->n_set + n_words, sizeof *o->set, g->err));
  GBT_TRY(gbt_mem_grow(g->mem, &o->count, &o->cap_count, o->n_count + 1, sizeof *o->count, g->err));
  memcpy(o->set + o->n_set, set, n_words * sizeof *set);
  o->n_set += n_words;
  o->count[o->n_count++] = count;
  return GBT_OK;
}

/* Few slots: rows are counted by their set. */
static gbt_status count_sets(gathering *g, const gbti_ways *ways) {
  uint32_t count[1 << GBTI_LEAF_BITS] = {0};
  int64_t left = g->n_rows;
  for (size_t b = 0; b < ways->n_words; b++, left -= 64) {
    uint16_t at[64];
    g->work->kernel->spread(ways->fail + b, ways->n_words, ways->n_slots, at);
    for (int64_t r = 0; r < 64 && r < left; r++) count[at[r]]++;
  }
  for (uint64_t s = 0; s < (uint64_t)1 << ways->n_slots; s++)
    if (count[s] > 0) GBT_TRY(put_set(g, &s, 1, (double)count[s]));
  return GBT_OK;
}

static gbt_status sort_sets(gathering *g, const gbti_ways *ways) {
  const size_t n_words = words_of(ways->n_slots);
  order_rows(g, ways);
  const uint32_t *order = g->work->order;
  for (int64_t beg = 0, end; beg < g->n_rows; beg = end) {
    for (end = beg + 1; end < g->n_rows && same_set(ways, order[beg], order[end]);) end++;
    uint64_t first = word_of(ways, order[beg], 0);
    GBT_TRY(put_set(g, &first, 1, (double)(end - beg)));
    for (size_t word = 1; word < n_words; word++) {
      gbti_others *o = g->others;
      GBT_TRY(gbt_mem_grow(g->mem, &o->set, &o->cap_set, o->n_set + 1, sizeof *o->set, g->err));
      o->set[o->n_set++] = word_of(ways, order[beg], word);
    }
  }
  return GBT_OK;
}

static gbti_leaf_sets sets_of(const gbti_others *o, const gbti_others_leaf *leaf) {
  gbti_leaf_sets sets = {o->set + leaf->set, o->count + leaf->count, leaf->n_sets, words_of(leaf->n_slots),
                         leaf->n_slots};
  return sets;
}

static size_t table_width(int32_t n_slots) { return (size_t)1 << (n_slots < 3 ? 3 : n_slots); }

static gbt_status put_table(gathering *g, gbti_others_leaf *leaf) {
  gbti_others *o = g->others;
  gbti_others_work *w = g->work;
  if (leaf->n_slots > GBTI_LEAF_BITS || g->n_own < (int64_t)1 << leaf->n_slots) return GBT_OK;
  const size_t n = items_of(leaf->n_slots, w->pairs), width = table_width(leaf->n_slots);
  if ((o->n_table + n * width) * sizeof(double) > GBTI_LEAF_TABLES) return GBT_OK;
  GBT_TRY(gbt_mem_grow(g->mem, &o->table, &o->cap_table, o->n_table + n * width, sizeof *o->table, g->err));
  leaf->table = o->n_table;
  o->n_table += n * width;
  const gbti_leaf_sets sets = sets_of(o, leaf);
  for (uint64_t mine = 0; mine < width; mine++) {
    const int there = mine >> leaf->n_slots == 0;
    if (there) gbti_shares(&sets, &mine, w->beta, o->total, w->pairs, w->scratch, w->items);
    for (size_t i = 0; i < n; i++) o->table[leaf->table + i * width + mine] = there ? w->items[i] : 0.0;
  }
  return GBT_OK;
}

static int gather_leaf(void *arg, const gbti_ways *ways, size_t at) {
  gathering *g = arg;
  gbti_others *o = g->others;
  gbti_others_leaf *leaf = &o->leaf[at];
  gbti_game *plan = g->plan;
  *leaf = (gbti_others_leaf){.set = o->n_set, .count = o->n_count, .table = SIZE_MAX, .n_slots = ways->n_slots};
  g->status = ways->n_slots <= GBTI_LEAF_BITS ? count_sets(g, ways) : sort_sets(g, ways);
  if (g->status != GBT_OK) return 1;
  leaf->n_sets = o->n_count - leaf->count;
  uint64_t any = 0;
  for (size_t word = 0; word < words_of(ways->n_slots); word++) any |= o->set[leaf->set + word];
  const size_t n_outputs = plan->n_outputs;
  for (size_t k = 0; k < n_outputs && any == 0; k++)
    plan->mean[k] += plan->value[k * 2 * plan->n_splits + at] * o->count[leaf->count];
  g->status = put_table(g, leaf);
  if (g->status != GBT_OK) return 1;
  if (!stopped(g->work, g->n_rows * ways->n_slots + (int64_t)(leaf->n_sets << GBTI_LEAF_BITS))) return 0;
  g->status = gbt_fail(g->err, GBT_CANCELLED, "stopped on request");
  return 1;
}

gbt_status gbti_others_new(const gbt_mem *mem, gbti_game *plan, gbti_others_work *work, const uint64_t *went,
                           size_t n_words, int64_t n_rows, int64_t n_own, gbti_others **out, gbt_error *err) {
  gbti_others *o;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *o, &o, err));
  o->mem = *mem;
  o->total = (double)n_rows;
  gathering g = {mem, plan, o, work, n_rows, n_own, GBT_OK, err};
  work->ways.plan = plan;
  work->ways.went = went;
  work->ways.n_words = n_words;
  g.status = gbt_mem_zeros(mem, 2 * (size_t)plan->n_splits, sizeof *o->leaf, &o->leaf, err);
  if (g.status == GBT_OK) (void)gbti_ways_walk(&work->ways, gather_leaf, &g);
  if (g.status != GBT_OK) {
    gbti_others_free(o);
    return g.status;
  }
  GBT_ASSERT(n_rows > 0);
  for (size_t k = 0; k < plan->n_outputs; k++) plan->mean[k] /= (double)n_rows;
  *out = o;
  return GBT_OK;
}

void gbti_others_free(gbti_others *o) {
  if (o == NULL) return;
  gbt_mem mem = o->mem;
  gbt_mem_free(&mem, o->leaf);
  gbt_mem_free(&mem, o->set);
  gbt_mem_free(&mem, o->count);
  gbt_mem_free(&mem, o->table);
  gbt_mem_free(&mem, o);
}

/* ---- rows ---- */

typedef struct playing {
  const gbti_game *plan;
  const gbti_others *others;
  gbti_others_work *work;
  int64_t n_rows;
  double *acc;
  size_t stride, n_items;
} playing;

/* Where what two players of a leaf have together, or one (a == b), stands among the items of the plan. */
static double *rows_of(const playing *p, const gbti_ways *ways, double *acc, int32_t a, int32_t b) {
  const int32_t first = ways->player[a], second = ways->player[b];
  return acc + p->stride * (a == b ? (size_t)first : gbti_pair((size_t)p->plan->n_players, first, second));
}

static void play_table(const playing *p, const gbti_ways *ways, const gbti_others_leaf *leaf, size_t at, size_t block) {
  const gbti_game *plan = p->plan;
  const int32_t m = leaf->n_slots, bits = m < 3 ? 3 : m;
  const double *table = p->others->table + leaf->table;
  const gbti_kernel *kernel = p->work->kernel;
  uint16_t mine[64];
  kernel->spread(ways->fail + block, ways->n_words, m, mine);
  for (size_t k = 0; k < plan->n_outputs; k++) {
    const double value = plan->value[k * 2 * plan->n_splits + at];
    double *acc = p->acc + k * p->n_items * p->stride + 64 * block;
    for (int32_t a = 0; a < m; a++) {
      kernel->look_up(table + ((size_t)a << bits), bits, mine, value, rows_of(p, ways, acc, a, a));
      for (int32_t b = 0; p->work->pairs && b < a; b++)
        kernel->look_up(table + (gbti_pair((size_t)m, b, a) << bits), bits, mine, value, rows_of(p, ways, acc, b, a));
    }
  }
}

static void play_row(const playing *p, const gbti_ways *ways, const gbti_others_leaf *leaf, size_t at, int64_t row,
                     const uint64_t *mine) {
  const gbti_game *plan = p->plan;
  const gbti_leaf_sets sets = sets_of(p->others, leaf);
  const int32_t m = leaf->n_slots;
  const double *items = p->work->items;
  gbti_shares(&sets, mine, p->work->beta, p->others->total, p->work->pairs, p->work->scratch, p->work->items);
  for (size_t k = 0; k < plan->n_outputs; k++) {
    const double value = plan->value[k * 2 * plan->n_splits + at];
    double *acc = p->acc + k * p->n_items * p->stride + (size_t)row;
    for (int32_t a = 0; a < m; a++) {
      *rows_of(p, ways, acc, a, a) += value * items[a];
      for (int32_t b = 0; p->work->pairs && b < a; b++)
        *rows_of(p, ways, acc, b, a) += value * items[gbti_pair((size_t)m, b, a)];
    }
  }
}

static int play_leaf(void *arg, const gbti_ways *ways, size_t at) {
  const playing *p = arg;
  gbti_others_work *w = p->work;
  const gbti_others_leaf *leaf = &p->others->leaf[at];
  const size_t n_words = words_of(leaf->n_slots);
  for (size_t block = 0; block < ways->n_words; block++) {
    if (leaf->table != SIZE_MAX) {
      play_table(p, ways, leaf, at, block);
      if (stopped(w, 64 * (int64_t)leaf->n_slots)) return 1;
      continue;
    }
    for (size_t word = 0; word < n_words; word++) masks_of(ways, block, word, w->mask + 64 * word);
    for (int64_t r = 0; r < 64 && 64 * (int64_t)block + r < p->n_rows; r++) {
      for (size_t word = 0; word < n_words; word++) w->sorted[word] = w->mask[64 * word + (size_t)r];
      play_row(p, ways, leaf, at, 64 * (int64_t)block + r, w->sorted);
      if (stopped(w, (int64_t)(leaf->n_sets * n_words) + leaf->n_slots)) return 1;
    }
  }
  return 0;
}

int gbti_others_play(const gbti_game *plan, const gbti_others *others, gbti_others_work *work, const uint64_t *went,
                     size_t n_words, int64_t n_rows, double *acc, size_t stride) {
  playing p = {plan, others, work, n_rows, acc, stride, items_of(plan->n_players, work->pairs)};
  work->ways.plan = plan;
  work->ways.went = went;
  work->ways.n_words = n_words;
  return gbti_ways_walk(&work->ways, play_leaf, &p);
}
