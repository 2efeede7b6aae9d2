/* Pairs are counted by a tree of sums over scores (Fenwick 1994), from the latest time to the earliest:
 *
 *   rows of time t without an event enter -> events of t ask how many rows have lower, equal scores -> they enter
 *
 * Rows that come under observation only at or after the event's time are counted in the same way, by their entry times,
 * and taken off. Weights are whole numbers and sums have 128 bits, so nothing depends on an order; those with a factor
 * for each event are exact sums. */
#include "concordance.h"

#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "../math/wide.h"

typedef struct counts {
  const gbt_concordance_of *of;
  const gbt_rows *rows;
  const gbt_timeline *timeline;
  uint32_t n;
  uint64_t *key, *tmp_key; /* n, scratch */
  uint32_t *at, *tmp_at;   /* n, scratch */
  uint32_t *place;         /* n: the place of a row's score among the different scores, from 1 */
  uint32_t n_places;
  uint64_t *tree; /* n_places + 1 */
  gbt_wide right, tied, pairs;
  gbt_exact_sum good, all; /* with factors: right + tied / 2, and pairs */
} counts;

static void tree_add(counts *c, uint32_t row, int off) {
  const uint64_t w = c->timeline->weight[row];
  for (uint32_t place = c->place[row]; place <= c->n_places; place += place & (0u - place))
    c->tree[place] += off ? 0u - w : w; /* modulo 2^64 */
}

/* The weight of the rows in the tree at places up to this. */
static uint64_t tree_sum(const counts *c, uint32_t place) {
  uint64_t sum = 0;
  for (; place > 0; place -= place & (0u - place)) sum += c->tree[place];
  return sum;
}

/* Pairs of an event with the rows in the tree: added, or taken off. */
static void count_event(counts *c, uint32_t row, int off) {
  const uint64_t w = c->timeline->weight[row];
  const uint64_t below = tree_sum(c, c->place[row] - 1), up_to = tree_sum(c, c->place[row]);
  const gbt_wide right = gbt_wide_product(w, below), tied = gbt_wide_product(w, up_to - below);
  const gbt_wide all = gbt_wide_product(w, tree_sum(c, c->n_places));
  c->right = off ? gbt_wide_sub(c->right, right) : gbt_wide_add(c->right, right);
  c->tied = off ? gbt_wide_sub(c->tied, tied) : gbt_wide_add(c->tied, tied);
  c->pairs = off ? gbt_wide_sub(c->pairs, all) : gbt_wide_add(c->pairs, all);
}

/* The same, each pair with the event's factor. */
static void weigh_event(counts *c, uint32_t place) {
  const uint32_t row = c->timeline->at[place];
  const double before = c->timeline->before[place], w = (double)c->timeline->weight[row];
  if (c->of->horizon > 0.0 && !(c->rows->field[GBT_LABEL][row] < c->of->horizon)) return;
  if (!(before > 0.0)) return; /* a row without weight, after the last censoring */
  const uint64_t below = tree_sum(c, c->place[row] - 1), up_to = tree_sum(c, c->place[row]);
  const double factor = w / (before * before);
  gbt_exact_add(&c->good, factor * (double)(below + up_to));
  gbt_exact_add(&c->all, factor * 2.0 * (double)tree_sum(c, c->n_places));
}

/* Rows of a stratum, at[beg, end), by time. */
static void count_stratum(counts *c, uint32_t beg, uint32_t end) {
  const double *time = c->rows->field[GBT_LABEL];
  const uint32_t *at = c->timeline->at;
  for (uint32_t i = end, from; i > beg; i = from) {
    for (from = i - 1; from > beg && time[at[from - 1]] == time[at[i - 1]];) from--;
    for (uint32_t k = from; k < i; k++)
      if (!gbt_has_event(c->rows, at[k])) tree_add(c, at[k], 0);
    for (uint32_t k = from; k < i; k++) {
      if (!gbt_has_event(c->rows, at[k])) continue;
      if (c->of->censoring)
        weigh_event(c, k);
      else
        count_event(c, at[k], 0);
    }
    for (uint32_t k = from; k < i; k++)
      if (gbt_has_event(c->rows, at[k])) tree_add(c, at[k], 0);
  }
  for (uint32_t i = beg; i < end; i++) tree_add(c, at[i], 1);
}

/* Takes off the pairs of events with rows of the stratum, by_entry[beg, end), that enter at the event's time or later.
 */
static void count_later_entries(counts *c, uint32_t beg, uint32_t end) {
  const double *time = c->rows->field[GBT_LABEL], *entry = c->rows->field[GBT_ENTRY];
  const uint32_t *by_entry = c->timeline->by_entry;
  uint32_t in = end;
  for (uint32_t i = end; i-- > beg;) {
    const uint32_t row = c->timeline->at[i];
    if (!gbt_has_event(c->rows, row)) continue;
    for (; in > beg && entry[by_entry[in - 1]] >= time[row]; in--) tree_add(c, by_entry[in - 1], 0);
    count_event(c, row, 1);
  }
  for (; in < end; in++) tree_add(c, by_entry[in], 1);
}

/* Places of scores, from the lowest risk. */
static gbt_status find_places(gbt_ctx *ctx, counts *c, const double *score, gbt_error *err) {
  for (uint32_t i = 0; i < c->n; i++) {
    c->at[i] = i;
    c->key[i] = gbt_order_key(c->of->by_life ? -score[i] : score[i]);
  }
  GBT_TRY(gbt_sort_u64_parallel(ctx, c->key, c->at, c->n, c->tmp_key, c->tmp_at, err));
  for (uint32_t i = 0; i < c->n; i++) {
    c->n_places += i == 0 || c->key[i] != c->key[i - 1];
    c->place[c->at[i]] = c->n_places;
  }
  return GBT_OK;
}

static gbt_status fill(gbt_ctx *ctx, counts *c, const double *score, gbt_error *err) {
  const gbt_mem *mem = &ctx->mem;
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->key, &c->key, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->tmp_key, &c->tmp_key, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->at, &c->at, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->tmp_at, &c->tmp_at, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->place, &c->place, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)c->n + 1, sizeof *c->tree, &c->tree, err));
  gbt_exact_zero(&c->good);
  gbt_exact_zero(&c->all);
  return find_places(ctx, c, score, err);
}

/* (right + tied / 2) / pairs */
static double value_of(const counts *c) {
  if (c->of->censoring) {
    const double all = gbt_exact_value(&c->all);
    return all > 0.0 ? gbt_exact_value(&c->good) / all : gbt_nan();
  }
  if ((c->pairs.hi | c->pairs.lo) == 0) return gbt_nan();
  return gbt_wide_ratio(gbt_wide_add(gbt_wide_double(c->right), c->tied), gbt_wide_double(c->pairs));
}

gbt_status gbt_concordance(gbt_ctx *ctx, const gbt_concordance_of *of, const gbt_rows *rows,
                           const gbt_timeline *timeline, const double *score, double *out, gbt_error *err) {
  counts c = {.of = of, .rows = rows, .timeline = timeline, .n = (uint32_t)rows->n};
  GBT_ASSERT(!of->censoring || timeline->by_entry == NULL);
  gbt_status status = fill(ctx, &c, score, err);
  for (uint32_t s = 0; status == GBT_OK && s < timeline->n_strata; s++) {
    const uint32_t beg = timeline->beg[s], end = timeline->beg[s + 1];
    count_stratum(&c, beg, end);
    if (timeline->by_entry != NULL) count_later_entries(&c, beg, end);
    status = gbt_ctx_poll(ctx, err);
  }
  if (status == GBT_OK) *out = value_of(&c);
  void *blocks[] = {c.key, c.tmp_key, c.at, c.tmp_at, c.place, c.tree};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&ctx->mem, blocks[i]);
  return status;
}
