/* Pairs are counted by a tree of sums over scores (Fenwick 1994), from the latest time to the earliest:
 *
 *   rows of time t without an event enter -> events of t ask how many rows have lower, equal scores -> they enter
 *
 * Rows that come under observation only at or after the event's time are counted in the same way, by their entry times,
 * and taken off. Weights are whole numbers and sums have 128 bits, so nothing depends on an order. */
#include "concordance.h"

#include "../base/parallel.h"
#include "../base/sort.h"
#include "../math/whole.h"
#include "../math/wide.h"
#include "risk.h"

typedef struct counts {
  const gbt_rows *rows;
  uint32_t n;
  uint64_t *key, *tmp_key; /* n, scratch */
  uint32_t *at, *tmp_at;   /* n: rows in some order */
  uint32_t *by_entry;      /* n: rows by stratum and entry, or NULL */
  uint32_t *place;         /* n: the place of a row's score among the different scores, from 1 */
  uint32_t n_places;
  uint64_t *weight; /* n: whole numbers */
  uint64_t *tree;   /* n_places + 1 */
  gbt_wide right, tied, pairs;
} counts;

static void tree_add(counts *c, uint32_t place, uint64_t weight) {
  for (; place <= c->n_places; place += place & (0u - place)) c->tree[place] += weight; /* modulo 2^64, for -weight */
}

/* The weight of the rows in the tree at places up to this. */
static uint64_t tree_sum(const counts *c, uint32_t place) {
  uint64_t sum = 0;
  for (; place > 0; place -= place & (0u - place)) sum += c->tree[place];
  return sum;
}

/* Pairs of an event with the rows in the tree: added, or taken off. */
static void count_event(counts *c, uint32_t row, int off) {
  const uint64_t w = c->weight[row], below = tree_sum(c, c->place[row] - 1), up_to = tree_sum(c, c->place[row]);
  const gbt_wide right = gbt_wide_product(w, below), tied = gbt_wide_product(w, up_to - below);
  const gbt_wide all = gbt_wide_product(w, tree_sum(c, c->n_places));
  c->right = off ? gbt_wide_sub(c->right, right) : gbt_wide_add(c->right, right);
  c->tied = off ? gbt_wide_sub(c->tied, tied) : gbt_wide_add(c->tied, tied);
  c->pairs = off ? gbt_wide_sub(c->pairs, all) : gbt_wide_add(c->pairs, all);
}

static int is_event(const counts *c, uint32_t row) { return gbt_risk_is_event(c->rows, row, 0.0); }

static int same_stratum(const counts *c, uint32_t a, uint32_t b) {
  return c->rows->field[GBT_STRATUM] == NULL || c->rows->field[GBT_STRATUM][a] == c->rows->field[GBT_STRATUM][b];
}

/* Rows of a stratum, at[beg, end), by time. */
static void count_stratum(counts *c, uint32_t beg, uint32_t end) {
  const double *time = c->rows->field[GBT_LABEL];
  for (uint32_t i = end, from; i > beg; i = from) {
    for (from = i - 1; from > beg && time[c->at[from - 1]] == time[c->at[i - 1]];) from--;
    for (uint32_t k = from; k < i; k++)
      if (!is_event(c, c->at[k])) tree_add(c, c->place[c->at[k]], c->weight[c->at[k]]);
    for (uint32_t k = from; k < i; k++)
      if (is_event(c, c->at[k])) count_event(c, c->at[k], 0);
    for (uint32_t k = from; k < i; k++)
      if (is_event(c, c->at[k])) tree_add(c, c->place[c->at[k]], c->weight[c->at[k]]);
  }
  for (uint32_t i = beg; i < end; i++) tree_add(c, c->place[c->at[i]], 0u - c->weight[c->at[i]]);
}

/* Takes off the pairs of events with rows of the stratum, by_entry[beg, end), that enter at the event's time or later.
 */
static void count_later_entries(counts *c, uint32_t beg, uint32_t end) {
  const double *time = c->rows->field[GBT_LABEL], *entry = c->rows->field[GBT_ENTRY];
  uint32_t in = end;
  for (uint32_t i = end; i-- > beg;) {
    const uint32_t row = c->at[i];
    if (!is_event(c, row)) continue;
    for (; in > beg && entry[c->by_entry[in - 1]] >= time[row]; in--)
      tree_add(c, c->place[c->by_entry[in - 1]], c->weight[c->by_entry[in - 1]]);
    count_event(c, row, 1);
  }
  for (; in < end; in++) tree_add(c, c->place[c->by_entry[in]], 0u - c->weight[c->by_entry[in]]);
}

/* Sorts row numbers by stratum, then by these numbers. */
static gbt_status order_rows(gbt_ctx *ctx, counts *c, const double *by, uint32_t *row, gbt_error *err) {
  const double *stratum = c->rows->field[GBT_STRATUM];
  for (uint32_t i = 0; i < c->n; i++) {
    row[i] = i;
    c->key[i] = gbt_order_key(by[i]);
  }
  GBT_TRY(gbt_sort_u64_parallel(ctx, c->key, row, c->n, c->tmp_key, c->tmp_at, err));
  if (stratum == NULL) return GBT_OK;
  for (uint32_t i = 0; i < c->n; i++) c->key[i] = gbt_order_key(stratum[row[i]]);
  return gbt_sort_u64_parallel(ctx, c->key, row, c->n, c->tmp_key, c->tmp_at, err);
}

/* Places of scores, from the lowest. */
static gbt_status find_places(gbt_ctx *ctx, counts *c, const double *score, gbt_error *err) {
  for (uint32_t i = 0; i < c->n; i++) {
    c->at[i] = i;
    c->key[i] = gbt_order_key(score[i]);
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
  double most = 0.0;
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->key, &c->key, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->tmp_key, &c->tmp_key, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->at, &c->at, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->tmp_at, &c->tmp_at, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->place, &c->place, err));
  GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->weight, &c->weight, err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)c->n + 1, sizeof *c->tree, &c->tree, err));
  for (uint32_t i = 0; i < c->n; i++) most = gbt_weight_of(c->rows, i) > most ? gbt_weight_of(c->rows, i) : most;
  const gbt_whole_scale scale = gbt_whole_scale_of(most, c->n > 0 ? c->n : 1);
  for (uint32_t i = 0; i < c->n; i++)
    c->weight[i] = c->rows->field[GBT_WEIGHT] ? gbt_whole_weight(gbt_weight_of(c->rows, i), scale) : 1;
  GBT_TRY(find_places(ctx, c, score, err));
  if (c->rows->field[GBT_ENTRY] != NULL) {
    GBT_TRY(gbt_mem_array(mem, c->n, sizeof *c->by_entry, &c->by_entry, err));
    GBT_TRY(order_rows(ctx, c, c->rows->field[GBT_ENTRY], c->by_entry, err));
  }
  return order_rows(ctx, c, c->rows->field[GBT_LABEL], c->at, err);
}

gbt_status gbt_concordance(gbt_ctx *ctx, const gbt_rows *rows, const double *score, double *out, gbt_error *err) {
  counts c = {.rows = rows, .n = (uint32_t)rows->n};
  gbt_status status = fill(ctx, &c, score, err);
  for (uint32_t beg = 0, end; status == GBT_OK && beg < c.n; beg = end) {
    for (end = beg + 1; end < c.n && same_stratum(&c, c.at[beg], c.at[end]);) end++;
    count_stratum(&c, beg, end);
    if (c.by_entry != NULL) count_later_entries(&c, beg, end);
    status = gbt_ctx_poll(ctx, err);
  }
  /* (right + tied / 2) / pairs */
  if (status == GBT_OK)
    *out = (c.pairs.hi | c.pairs.lo) == 0
               ? gbt_from_bits(0x7ff8000000000000u)
               : gbt_wide_ratio(gbt_wide_add(gbt_wide_double(c.right), c.tied), gbt_wide_double(c.pairs));
  void *blocks[] = {c.key, c.tmp_key, c.at, c.tmp_at, c.by_entry, c.place, c.weight, c.tree};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&ctx->mem, blocks[i]);
  return status;
}
