/* Metrics of rows in the order of their scores: auc, pr_auc, gini. What they are: metric/ranking.h.
 *
 *   scores -> sorted keys -> gain and base of each place -> their sums before each block -> groups of equal scores
 *
 * Rows are sorted once, for gini a second time by their labels. A task takes the groups that begin in its block of
 * places. One that reaches into other blocks ends where a search in the keys finds its end, and its sums are
 * differences of sums before places:
 *
 *   block:  | rest of a group | group | group | a group that goes on |
 *
 * Everything is a sum of integers or an exact sum, so tasks may end in any order. */
#include "../metric/ranking.h"

#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "metric_rows.h"

enum { BLOCK = 1 << 15, AHEAD = 24 };

/* The rows as one thread has seen them, before scales are known. */
typedef struct totals {
  gbt_exact_sum gain, base;
  int64_t n_rows, n_positive, n_nan;
  double low; /* the lowest label; of n_rows > 0 */
} totals;

/* The groups as one thread has found them. */
typedef struct found {
  gbt_wide area;
  gbt_exact_sum precisions;
} found;

typedef struct job {
  const gbt_metric_rows *rows;
  gbt_ranking how;
  uint64_t *keys, *tmp_keys; /* n */
  uint32_t *vals, *tmp_vals; /* n. The row, or, where gain and base depend on nothing else, whether it is positive */
  uint64_t *base;           /* n by place; NULL: a place has either, and its one number is in `gain`, see pair_at */
  uint64_t *gain;           /* n by place: tmp_keys, which sorting needs no longer */
  gbt_ranking_pair *before; /* n_blocks + 1: sums of the places before a block */
  totals *seen;             /* n_threads */
  found *part;              /* n_threads */
} job;

static int64_t n_blocks_of(const job *j) { return (j->rows->of.n + BLOCK - 1) / BLOCK; }

static int64_t block_end(const job *j, int64_t b) {
  return j->rows->of.n - b * BLOCK < BLOCK ? j->rows->of.n : (b + 1) * BLOCK;
}

/* Whether a row has a gain or a base, by its class. */
static int by_class(const job *j) { return j->base == NULL; }

/* Whether a row's class says all: no weights. */
static int plain(const job *j) { return j->rows->of.field[GBT_WEIGHT] == NULL && j->base == NULL; }

/* ---- rows -> totals -> scales ---- */

static void low_task(void *arg, int64_t b, int thread) {
  const job *j = arg;
  totals *seen = &j->seen[thread];
  for (int64_t i = b * BLOCK, end = block_end(j, b); i < end; i++) {
    double y = gbt_label_of(&j->rows->of, i);
    if (seen->n_rows == 0 || y < seen->low) seen->low = y;
    seen->n_rows++;
  }
}

static void add_totals(const job *j, int64_t beg, int64_t end, totals *seen) {
  const gbt_rows *of = &j->rows->of;
  if (by_class(j)) { /* a row is either, and what is 0 need not be added */
    for (int64_t i = beg; i < end; i++)
      gbt_exact_add(gbt_label_of(of, i) > 0.5 ? &seen->gain : &seen->base, gbt_weight_of(of, i));
    return;
  }
  for (int64_t i = beg; i < end; i++) {
    double gain, base;
    gbt_ranking_row(&j->how, gbt_label_of(of, i), gbt_weight_of(of, i), &gain, &base);
    gbt_exact_add(&seen->gain, gain);
    gbt_exact_add(&seen->base, base);
  }
}

/* Totals, and the keys of scores by the way: for a NaN's there is no metric. */
static void totals_task(void *arg, int64_t b, int thread) {
  const job *j = arg;
  const gbt_rows *of = &j->rows->of;
  const double *score = j->rows->score;
  const int64_t beg = b * BLOCK, end = block_end(j, b);
  const int none = plain(j);
  int64_t n_positive = 0, n_nan = 0;
  for (int64_t i = beg; i < end; i++) {
    const int positive = gbt_label_of(of, i) > 0.5;
    n_positive += positive;
    n_nan += score[i] != score[i];
    j->keys[i] = gbt_order_key(score[i]);
    j->vals[i] = none ? (uint32_t)positive : (uint32_t)i;
  }
  j->seen[thread].n_positive += n_positive;
  j->seen[thread].n_nan += n_nan;
  if (!none) add_totals(j, beg, end, &j->seen[thread]);
}

static void merge_totals(const job *j, int n_threads) {
  totals *all = &j->seen[0];
  for (int t = 1; t < n_threads; t++) {
    const totals *seen = &j->seen[t];
    gbt_exact_merge(&all->gain, &seen->gain);
    gbt_exact_merge(&all->base, &seen->base);
    all->n_positive += seen->n_positive;
    all->n_nan += seen->n_nan;
  }
}

/* The lowest label of all rows, which gains are counted from. */
static void choose_low(job *j, int n_threads) {
  const totals *all = &j->seen[0];
  j->how.low = all->low;
  for (int t = 0, any = 0; t < n_threads; t++) {
    const totals *seen = &j->seen[t];
    if (seen->n_rows > 0 && (!any || seen->low < j->how.low)) j->how.low = seen->low;
    any |= seen->n_rows > 0;
  }
}

/* 0: there is no metric. */
static int choose_scales(job *j) {
  const totals *all = &j->seen[0];
  double gain = plain(j) ? (double)all->n_positive : gbt_exact_value(&all->gain);
  double base = plain(j) ? (double)(j->rows->of.n - all->n_positive) : gbt_exact_value(&all->base);
  return gbt_ranking_begin(&j->how, gain, base, all->n_nan);
}

/* ---- rows -> places ---- */

static void label_task(void *arg, int64_t b, int thread) {
  const job *j = arg;
  (void)thread;
  for (int64_t i = b * BLOCK, end = block_end(j, b); i < end; i++) {
    j->keys[i] = gbt_order_key(gbt_label_of(&j->rows->of, i));
    j->vals[i] = (uint32_t)i;
  }
}

/* Gain and base of a place: two numbers, or one and, in its lowest bit, which of them it is. */
static gbt_ranking_pair pair_at(const job *j, int64_t place) {
  const uint64_t x = j->gain[place];
  const gbt_ranking_pair both = {x, j->base ? j->base[place] : 0}, gain = {x >> 1, 0}, base = {0, x >> 1};
  return j->base ? both : x & 1 ? gain : base;
}

/* The rows of places some way ahead are fetched: they lie anywhere in memory. */
static void fetch(const job *j, int64_t place, int64_t end) {
  const gbt_rows *of = &j->rows->of;
  const uint32_t row = j->vals[place + AHEAD < end ? place + AHEAD : end - 1];
  __builtin_prefetch(&of->field[GBT_LABEL][row]);
  if (of->field[GBT_WEIGHT]) __builtin_prefetch(&of->field[GBT_WEIGHT][row]);
}

/* Blocks of places, and their sums: of rows that all weigh 1, */
static gbt_ranking_pair place_plain(const job *j, int64_t beg, int64_t end) {
  const uint64_t unit[2] = {j->how.unit.base, j->how.unit.gain};
  int64_t n_positive = 0;
  for (int64_t i = beg; i < end; i++) {
    const uint32_t positive = j->vals[i];
    j->gain[i] = unit[positive] << 1 | positive;
    n_positive += positive;
  }
  return (gbt_ranking_pair){(uint64_t)n_positive * unit[1], (uint64_t)(end - beg - n_positive) * unit[0]};
}

/* of rows that have a gain or a base, */
static gbt_ranking_pair place_by_class(const job *j, int64_t beg, int64_t end) {
  const gbt_rows *of = &j->rows->of;
  const gbt_ranking_scale scale[2] = {j->how.base, j->how.gain};
  uint64_t sum[2] = {0, 0};
  for (int64_t i = beg; i < end; i++) {
    const uint32_t row = j->vals[i];
    const int positive = gbt_label_of(of, row) > 0.5;
    const uint64_t x = gbt_ranking_fixed(gbt_weight_of(of, row), &scale[positive]);
    fetch(j, i, end);
    j->gain[i] = x << 1 | (uint64_t)positive;
    sum[positive] += x;
  }
  return (gbt_ranking_pair){sum[1], sum[0]};
}

/* and of rows that have both. */
static gbt_ranking_pair place_both(const job *j, int64_t beg, int64_t end) {
  const gbt_rows *of = &j->rows->of;
  gbt_ranking_pair sum = {0, 0};
  for (int64_t i = beg; i < end; i++) {
    const uint32_t row = j->vals[i];
    double gain, base;
    fetch(j, i, end);
    gbt_ranking_row(&j->how, gbt_label_of(of, row), gbt_weight_of(of, row), &gain, &base);
    j->gain[i] = gbt_ranking_fixed(gain, &j->how.gain);
    j->base[i] = gbt_ranking_fixed(base, &j->how.base);
    sum = gbt_ranking_plus(sum, pair_at(j, i));
  }
  return sum;
}

static void place_task(void *arg, int64_t b, int thread) {
  const job *j = arg;
  const int64_t beg = b * BLOCK, end = block_end(j, b);
  (void)thread;
  if (plain(j))
    j->before[b + 1] = place_plain(j, beg, end);
  else
    j->before[b + 1] = by_class(j) ? place_by_class(j, beg, end) : place_both(j, beg, end);
}

/* Rows sorted by their keys, and what places add up to. */
static gbt_status order(gbt_ctx *ctx, job *j, gbt_error *err) {
  const int64_t n_blocks = n_blocks_of(j);
  GBT_TRY(gbt_sort_u64_parallel(ctx, j->keys, j->vals, (size_t)j->rows->of.n, j->tmp_keys, j->tmp_vals, err));
  GBT_TRY(gbt_parallel(ctx, n_blocks, place_task, j, err));
  const gbt_ranking_pair none = {0, 0};
  j->before[0] = none;
  for (int64_t b = 0; b < n_blocks; b++) j->before[b + 1] = gbt_ranking_plus(j->before[b + 1], j->before[b]);
  return GBT_OK;
}

/* ---- places -> groups ---- */

/* The sums of all places before this one. */
static gbt_ranking_pair sum_before(const job *j, int64_t place) {
  gbt_ranking_pair sum = j->before[place / BLOCK];
  for (int64_t i = place / BLOCK * BLOCK; i < place; i++) sum = gbt_ranking_plus(sum, pair_at(j, i));
  return sum;
}

/* The first place from `beg` on whose key is above `key`. */
static int64_t end_of(const job *j, int64_t beg, uint64_t key) {
  int64_t end = j->rows->of.n;
  while (beg < end) {
    int64_t mid = beg + (end - beg) / 2;
    if (j->keys[mid] > key)
      end = mid;
    else
      beg = mid + 1;
  }
  return beg;
}

static void add_group(const job *j, found *part, gbt_ranking_pair below, gbt_ranking_pair group) {
  if (j->how.kind != GBT_METRIC_PR_AUC) {
    part->area = gbt_wide_add(part->area, gbt_ranking_area(group, below.base));
  } else if (group.gain > 0) {
    const gbt_ranking_pair from = gbt_ranking_minus(j->before[n_blocks_of(j)], below);
    gbt_exact_add(&part->precisions, gbt_ranking_precision(&j->how, group, from));
  }
}

static void group_task(void *arg, int64_t b, int thread) {
  const job *j = arg;
  const int64_t beg = b * BLOCK, end = block_end(j, b), n = j->rows->of.n;
  gbt_ranking_pair below = j->before[b];
  int64_t i = beg;
  for (; beg > 0 && i < end && j->keys[i] == j->keys[beg - 1]; i++) below = gbt_ranking_plus(below, pair_at(j, i));
  while (i < end) {
    const uint64_t key = j->keys[i];
    gbt_ranking_pair group = {0, 0};
    for (; i < end && j->keys[i] == key; i++) group = gbt_ranking_plus(group, pair_at(j, i));
    if (i == end && i < n && j->keys[i] == key)
      group = gbt_ranking_plus(group, gbt_ranking_minus(sum_before(j, end_of(j, i, key)), j->before[b + 1]));
    add_group(j, &j->part[thread], below, group);
    below = gbt_ranking_plus(below, group);
  }
}

/* All groups, in the order that order() has made; *all: what all rows add up to. */
static gbt_status find(gbt_ctx *ctx, job *j, found *out, gbt_ranking_pair *all, gbt_error *err) {
  for (int t = 0; t < ctx->n_threads; t++) {
    gbt_exact_zero(&j->part[t].precisions);
    j->part[t].area.hi = j->part[t].area.lo = 0;
  }
  GBT_TRY(gbt_parallel(ctx, n_blocks_of(j), group_task, j, err));
  *out = j->part[0];
  for (int t = 1; t < ctx->n_threads; t++) {
    out->area = gbt_wide_add(out->area, j->part[t].area);
    gbt_exact_merge(&out->precisions, &j->part[t].precisions);
  }
  *all = j->before[n_blocks_of(j)];
  return GBT_OK;
}

/* ---- the metrics ---- */

static gbt_status run(gbt_ctx *ctx, job *j, double *out, gbt_error *err) {
  const int gini = j->how.kind == GBT_METRIC_GINI;
  found by_score, by_label;
  gbt_ranking_pair all;
  if (gini) {
    GBT_TRY(gbt_parallel(ctx, n_blocks_of(j), low_task, j, err));
    choose_low(j, ctx->n_threads);
  }
  GBT_TRY(gbt_parallel(ctx, n_blocks_of(j), totals_task, j, err));
  merge_totals(j, ctx->n_threads);
  if (!choose_scales(j)) {
    *out = gbt_from_bits(0x7ff8000000000000u);
    return GBT_OK;
  }
  GBT_TRY(order(ctx, j, err));
  GBT_TRY(find(ctx, j, &by_score, &all, err));
  if (gini) {
    GBT_TRY(gbt_parallel(ctx, n_blocks_of(j), label_task, j, err));
    GBT_TRY(order(ctx, j, err));
    GBT_TRY(find(ctx, j, &by_label, &all, err));
    *out = gbt_gini_value(by_score.area, by_label.area, all);
  } else {
    *out = j->how.kind == GBT_METRIC_AUC ? gbt_auc_value(by_score.area, all)
                                         : gbt_pr_auc_value(gbt_exact_value(&by_score.precisions), all);
  }
  return GBT_OK;
}

gbt_status gbt_metric_of_ranking(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  const int32_t kind = rows->metric.kind;
  const size_t n = (size_t)rows->of.n, n_threads = (size_t)ctx->n_threads;
  gbt_status status = GBT_OK;
  job j = {.rows = rows, .how = {.kind = kind}};
  if (rows->of.n > (int64_t)UINT32_MAX)
    return gbt_fail(err, GBT_E_UNSUPPORTED, "metric \"%s\" takes up to 4,294,967,295 rows",
                    gbt_metric_about(kind)->name);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *j.keys, &j.keys, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *j.tmp_keys, &j.tmp_keys, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *j.vals, &j.vals, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *j.tmp_vals, &j.tmp_vals, err), done);
  if (kind == GBT_METRIC_GINI) GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n, sizeof *j.base, &j.base, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_blocks_of(&j) + 1, sizeof *j.before, &j.before, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, n_threads, sizeof *j.seen, &j.seen, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n_threads, sizeof *j.part, &j.part, err), done);
  j.gain = j.tmp_keys;
  GBT_TRY_GOTO(run(ctx, &j, out, err), done);
done:
  gbt_mem_free(&ctx->mem, j.part);
  gbt_mem_free(&ctx->mem, j.seen);
  gbt_mem_free(&ctx->mem, j.before);
  gbt_mem_free(&ctx->mem, j.base);
  gbt_mem_free(&ctx->mem, j.tmp_vals);
  gbt_mem_free(&ctx->mem, j.vals);
  gbt_mem_free(&ctx->mem, j.tmp_keys);
  gbt_mem_free(&ctx->mem, j.keys);
  return status;
}
