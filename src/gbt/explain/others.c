/* Sets of the background at leaves, and tables for the rows that are explained: see others.h. */
#include "others.h"

#include <string.h>

#include "../base/sort.h"

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
  const gbti_others_rows *rows;
  uint32_t at, first, next; /* leaves: the next one of the walk; the first of this part; the first of the next part */
  uint64_t *low;            /* sets of a run while it is merged, and their counts */
  double *low_count;
  size_t cap_low, cap_low_count;
  gbt_error *err;
} gathering;

static gbt_status go_on(gathering *g, int64_t steps) {
  return gbti_stopped(g->work->pace, steps) ? gbt_fail(g->err, GBT_CANCELLED, "stopped on request") : GBT_OK;
}

static uint64_t word_of(const gbti_ways *ways, size_t row, size_t word) {
  uint64_t out = 0;
  const int32_t beg = (int32_t)(word * 64), end = ways->n_slots < beg + 64 ? ways->n_slots : beg + 64;
  for (int32_t s = beg; s < end; s++)
    out |= (ways->fail[(size_t)s * ways->n_words + row / 64] >> (row % 64) & 1u) << (s - beg);
  return out;
}

/* Room for n sets more. */
static gbt_status make_room(gathering *g, size_t n, size_t n_words) {
  gbti_others *o = g->others;
  GBT_TRY(gbt_mem_grow(g->mem, &o->set, &o->cap_set, o->n_set + n * n_words, sizeof *o->set, g->err));
  return gbt_mem_grow(g->mem, &o->count, &o->cap_count, o->n_count + n, sizeof *o->count, g->err);
}

/* Few slots: rows are counted by their set. */
static gbt_status count_sets(gathering *g, const gbti_ways *ways) {
  gbti_others *o = g->others;
  uint32_t count[1 << GBTI_LEAF_BITS] = {0};
  int64_t left = g->rows->n_rows;
  for (size_t b = 0; b < ways->n_words; b++, left -= 64) {
    uint16_t at[64];
    g->work->kernel->spread(ways->fail + b, ways->n_words, ways->n_slots, at);
    for (int64_t r = 0; r < 64 && r < left; r++) count[at[r]]++;
    GBT_TRY(go_on(g, 64));
  }
  const uint64_t n = (uint64_t)1 << ways->n_slots;
  GBT_TRY(make_room(g, (size_t)n, 1));
  for (uint64_t s = 0; s < n; s++) {
    if (count[s] == 0) continue;
    o->set[o->n_set++] = s;
    o->count[o->n_count++] = (double)count[s];
  }
  return GBT_OK;
}

/* ---- many slots: sets of a piece of the rows are put in order, then merged with those before ---- */

/* n rows from `first` on, in ascending order of their sets; the highest word counts most. */
static void order_rows(gathering *g, const gbti_ways *ways, size_t first, size_t n) {
  gbti_others_work *w = g->work;
  for (size_t r = 0; r < n; r++) w->order[r] = (uint32_t)r;
  for (size_t word = 0; word < words_of(ways->n_slots); word++) {
    if (word == 0) {
      for (size_t b = 0; b < (n + 63) / 64; b++) masks_of(ways, first / 64 + b, 0, w->mask + 64 * b);
    } else {
      for (size_t r = 0; r < n; r++) w->mask[r] = word_of(ways, first + w->order[r], word);
    }
    gbt_sort_u64(w->mask, w->order, n, w->sorted, w->spare);
  }
}

/* Appends the distinct sets of these rows to all others. */
static gbt_status put_piece(gathering *g, const gbti_ways *ways, size_t first, size_t n) {
  gbti_others *o = g->others;
  const size_t n_words = words_of(ways->n_slots);
  order_rows(g, ways, first, n);
  GBT_TRY(make_room(g, n, n_words));
  uint64_t *last = NULL;
  for (size_t i = 0; i < n; i++) {
    uint64_t *set = o->set + o->n_set;
    for (size_t word = 0; word < n_words; word++) set[word] = word_of(ways, first + g->work->order[i], word);
    if (last != NULL && memcmp(last, set, n_words * sizeof *set) == 0) {
      o->count[o->n_count - 1]++;
      continue;
    }
    last = set;
    o->n_set += n_words;
    o->count[o->n_count++] = 1.0;
  }
  return GBT_OK;
}

static int compare_sets(const uint64_t *a, const uint64_t *b, size_t n_words) {
  for (size_t word = n_words; word-- > 0;)
    if (a[word] != b[word]) return a[word] < b[word] ? -1 : 1;
  return 0;
}

/* Contiguous runs of ascending sets of a leaf, each more than twice as long as the next. */
typedef struct runs {
  const gbti_others_leaf *leaf;
  size_t n_words, n;
  size_t beg[64]; /* counts */
} runs;

static uint64_t *set_at(const gathering *g, const runs *r, size_t count) {
  return g->others->set + r->leaf->set + (count - r->leaf->count) * r->n_words;
}

/* The last two become one. The first of them is put aside, so that the second is read before it is written over. */
static gbt_status merge_last(gathering *g, runs *r) {
  gbti_others *o = g->others;
  const size_t low = r->beg[r->n - 2], high = r->beg[r->n - 1], n_low = high - low, width = r->n_words;
  const size_t bytes = width * sizeof *o->set;
  GBT_TRY(gbt_mem_grow(g->mem, &g->low, &g->cap_low, n_low * width, sizeof *g->low, g->err));
  GBT_TRY(gbt_mem_grow(g->mem, &g->low_count, &g->cap_low_count, n_low, sizeof *g->low_count, g->err));
  memcpy(g->low, set_at(g, r, low), n_low * bytes);
  memcpy(g->low_count, o->count + low, n_low * sizeof *o->count);
  size_t i = 0, j = high, to = low;
  for (; i < n_low; to++) {
    const uint64_t *first = g->low + i * width;
    const int order = j == o->n_count ? -1 : compare_sets(first, set_at(g, r, j), width);
    GBT_ASSERT(to < j);
    double count = order > 0 ? 0.0 : g->low_count[i];
    if (order >= 0) count += o->count[j];
    memcpy(set_at(g, r, to), order > 0 ? set_at(g, r, j) : first, bytes);
    o->count[to] = count;
    i += order <= 0;
    j += order >= 0;
    GBT_TRY(go_on(g, 4 * (int64_t)width));
  }
  const size_t n_rest = o->n_count - j;
  memmove(set_at(g, r, to), set_at(g, r, j), n_rest * bytes);
  memmove(o->count + to, o->count + j, n_rest * sizeof *o->count);
  o->n_set -= (j - to) * width;
  o->n_count -= j - to;
  r->n--;
  return GBT_OK;
}

static gbt_status sort_sets(gathering *g, const gbti_ways *ways, const gbti_others_leaf *leaf) {
  const gbti_others *o = g->others;
  const size_t n_rows = (size_t)g->rows->n_rows;
  runs r = {.leaf = leaf, .n_words = words_of(ways->n_slots)};
  for (size_t first = 0; first < n_rows; first += GBTI_PIECE_ROWS) {
    const size_t n = n_rows - first < GBTI_PIECE_ROWS ? n_rows - first : (size_t)GBTI_PIECE_ROWS;
    r.beg[r.n++] = o->n_count;
    GBT_TRY(put_piece(g, ways, first, n));
    GBT_TRY(go_on(g, (int64_t)n * ways->n_slots));
    while (r.n > 1 && r.beg[r.n - 1] - r.beg[r.n - 2] <= 2 * (o->n_count - r.beg[r.n - 1])) GBT_TRY(merge_last(g, &r));
  }
  while (r.n > 1) GBT_TRY(merge_last(g, &r));
  return GBT_OK;
}

/* ---- leaves ---- */

static gbti_leaf_sets sets_of(const gbti_others *o, const gbti_others_leaf *leaf) {
  gbti_leaf_sets sets = {o->set + leaf->set, o->count + leaf->count, leaf->n_sets, words_of(leaf->n_slots),
                         leaf->n_slots};
  return sets;
}

static size_t table_width(int32_t n_slots) { return (size_t)1 << (n_slots < 3 ? 3 : n_slots); }

static gbt_status put_table(gathering *g, gbti_others_leaf *leaf) {
  gbti_others *o = g->others;
  gbti_others_work *w = g->work;
  if (leaf->n_slots > GBTI_LEAF_BITS || g->rows->n_own < (int64_t)1 << leaf->n_slots) return GBT_OK;
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

static gbt_status gather_leaf(gathering *g, const gbti_ways *ways, size_t at) {
  gbti_others *o = g->others;
  gbti_others_leaf *leaf = &o->leaf[at];
  gbti_game *plan = g->plan;
  leaf->set = o->n_set;
  leaf->count = o->n_count;
  leaf->n_slots = ways->n_slots;
  GBT_TRY(ways->n_slots <= GBTI_LEAF_BITS ? count_sets(g, ways) : sort_sets(g, ways, leaf));
  leaf->n_sets = o->n_count - leaf->count;
  uint64_t any = 0;
  for (size_t word = 0; word < words_of(ways->n_slots); word++) any |= o->set[leaf->set + word];
  const size_t n_outputs = plan->n_outputs;
  for (size_t k = 0; k < n_outputs && any == 0; k++)
    plan->mean[k] += plan->value[k * 2 * plan->n_splits + at] * o->count[leaf->count];
  GBT_TRY(put_table(g, leaf));
  return go_on(g, (int64_t)(leaf->n_sets << GBTI_LEAF_BITS));
}

typedef struct leaf_visit {
  gathering *g;
  gbt_status status;
} leaf_visit;

/* Gathers the leaves of this part, at least one. */
static int visit_leaf(void *arg, const gbti_ways *ways, size_t at) {
  leaf_visit *v = arg;
  gathering *g = v->g;
  const uint32_t number = g->at++;
  if (number < g->first) return 0;
  if (number > g->first && (g->others->n_set + g->others->n_count) * sizeof(double) >= g->rows->part_bytes) {
    g->next = number;
    return 1;
  }
  v->status = gather_leaf(g, ways, at);
  return v->status != GBT_OK;
}

gbt_status gbti_others_new(const gbt_mem *mem, gbti_game *plan, gbti_others_work *work, const gbti_others_rows *rows,
                           uint32_t *leaf, gbti_others **out, gbt_error *err) {
  gbti_others *o;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *o, &o, err));
  o->mem = *mem;
  o->total = (double)rows->n_rows;
  gathering g = {.mem = mem, .plan = plan, .others = o, .work = work, .rows = rows, .first = *leaf, .err = err};
  leaf_visit v = {&g, GBT_OK};
  work->ways.plan = plan;
  work->ways.went = rows->went;
  work->ways.n_words = rows->n_words;
  v.status = gbt_mem_zeros(mem, 2 * (size_t)plan->n_splits, sizeof *o->leaf, &o->leaf, err);
  for (size_t i = 0; v.status == GBT_OK && i < 2 * (size_t)plan->n_splits; i++) o->leaf[i].table = SIZE_MAX;
  if (v.status == GBT_OK) (void)gbti_ways_walk(&work->ways, visit_leaf, &v);
  gbt_mem_free(mem, g.low);
  gbt_mem_free(mem, g.low_count);
  if (v.status != GBT_OK) {
    gbti_others_free(o);
    return v.status;
  }
  GBT_ASSERT(rows->n_rows > 0);
  for (size_t k = 0; k < plan->n_outputs; k++) plan->mean[k] /= (double)rows->n_rows;
  *leaf = g.next;
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

/* Where what two players of a leaf have together, or one (a == b), is among the items of the plan. */
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
  if (leaf->n_sets == 0) return 0;
  for (size_t block = 0; block < ways->n_words; block++) {
    if (leaf->table != SIZE_MAX) {
      play_table(p, ways, leaf, at, block);
      if (gbti_stopped(w->pace, 64 * (int64_t)leaf->n_slots)) return 1;
      continue;
    }
    for (size_t word = 0; word < n_words; word++) masks_of(ways, block, word, w->mask + 64 * word);
    for (int64_t r = 0; r < 64 && 64 * (int64_t)block + r < p->n_rows; r++) {
      for (size_t word = 0; word < n_words; word++) w->sorted[word] = w->mask[64 * word + (size_t)r];
      play_row(p, ways, leaf, at, 64 * (int64_t)block + r, w->sorted);
      if (gbti_stopped(w->pace, (int64_t)(leaf->n_sets * n_words) + leaf->n_slots)) return 1;
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
