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
 * Everything is a sum of integers or an exact sum, so tasks may end in any order.
 *
 * With ranks each one sorts its own rows and adds up its groups of equal scores. The groups go to the ranks by ranges
 * of scores (ranking_ranks.c), where they are places in turn: sorted, with the sums of the ranges before. So a group of
 * all ranks is on one rank, and no rank has the rows of another one. */
#include "../base/comm.h"
#include "../base/parallel.h"
#include "../base/sort.h"
#include "ranking.h"

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
  const gbt_metric_rows *rows; /* NULL: places are groups of all ranks */
  const gbt_ranking_group *group; /* then these, n of them, in any order */
  int64_t n;                      /* places */
  gbt_ranking how;
  uint64_t *keys, *tmp_keys; /* n */
  uint32_t *vals, *tmp_vals; /* n. The row, or, where gain and base depend on nothing else, whether it is positive */
  uint64_t *base;           /* n by place; NULL: a place has either, and its one number is in `gain`, see pair_at */
  uint64_t *gain;           /* n by place: tmp_keys, which sorting needs no longer */
  gbt_ranking_pair *before; /* n_blocks + 1: sums of the places before a block, those of other ranks included */
  gbt_ranking_pair all;     /* of all places of all ranks */
  totals *seen;             /* n_threads */
  found *part;              /* n_threads */
} job;

static int64_t n_blocks_of(const job *j) { return (j->n + BLOCK - 1) / BLOCK; }

static int64_t block_end(const job *j, int64_t b) { return j->n - b * BLOCK < BLOCK ? j->n : (b + 1) * BLOCK; }

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

/* The lowest label of all ranks. */
static gbt_status join_low(gbt_ctx *ctx, job *j, gbt_error *err) {
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  if (j->n == 0) j->how.low = 1.7976931348623157e308;
  return gbt_comm_min_f64(ctx, &j->how.low, 1, err);
}

/* The totals of all ranks; rows without weights weigh 1. */
static gbt_status join_totals(gbt_ctx *ctx, job *j, gbt_error *err) {
  totals *all = &j->seen[0];
  gbt_exact_sum sum[2];
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  if (plain(j)) {
    gbt_exact_add(&all->gain, (double)all->n_positive);
    gbt_exact_add(&all->base, (double)(j->n - all->n_positive));
  }
  sum[0] = all->gain;
  sum[1] = all->base;
  GBT_TRY(gbt_comm_sum_exact(ctx, sum, 2, err));
  all->gain = sum[0];
  all->base = sum[1];
  return gbt_comm_sum_i64(ctx, &all->n_nan, 1, err);
}

/* 0: there is no metric. */
static int choose_scales(const gbt_ctx *ctx, job *j) {
  const totals *all = &j->seen[0];
  const int counted = plain(j) && gbt_comm_is_single(ctx);
  double gain = counted ? (double)all->n_positive : gbt_exact_value(&all->gain);
  double base = counted ? (double)(j->n - all->n_positive) : gbt_exact_value(&all->base);
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

/* Places that are groups. */
static gbt_ranking_pair place_groups(const job *j, int64_t beg, int64_t end) {
  gbt_ranking_pair sum = {0, 0};
  for (int64_t i = beg; i < end; i++) {
    const gbt_ranking_pair its = j->group[j->vals[i]].sum;
    j->gain[i] = its.gain;
    j->base[i] = its.base;
    sum = gbt_ranking_plus(sum, its);
  }
  return sum;
}

static void place_task(void *arg, int64_t b, int thread) {
  const job *j = arg;
  const int64_t beg = b * BLOCK, end = block_end(j, b);
  (void)thread;
  if (j->rows == NULL)
    j->before[b + 1] = place_groups(j, beg, end);
  else if (plain(j))
    j->before[b + 1] = place_plain(j, beg, end);
  else
    j->before[b + 1] = by_class(j) ? place_by_class(j, beg, end) : place_both(j, beg, end);
}

/* Rows sorted by their keys, and what places add up to. */
static gbt_status order(gbt_ctx *ctx, job *j, gbt_error *err) {
  const int64_t n_blocks = n_blocks_of(j);
  GBT_TRY(gbt_sort_u64_parallel(ctx, j->keys, j->vals, (size_t)j->n, j->tmp_keys, j->tmp_vals, err));
  GBT_TRY(gbt_parallel(ctx, n_blocks, place_task, j, err));
  const gbt_ranking_pair none = {0, 0};
  j->before[0] = none;
  for (int64_t b = 0; b < n_blocks; b++) j->before[b + 1] = gbt_ranking_plus(j->before[b + 1], j->before[b]);
  j->all = j->before[n_blocks];
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
  int64_t end = j->n;
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
    const gbt_ranking_pair from = gbt_ranking_minus(j->all, below);
    gbt_exact_add(&part->precisions, gbt_ranking_precision(&j->how, group, from));
  }
}

static void group_task(void *arg, int64_t b, int thread) {
  const job *j = arg;
  const int64_t beg = b * BLOCK, end = block_end(j, b), n = j->n;
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

/* All groups, in the order that order() has made. */
static gbt_status find(gbt_ctx *ctx, job *j, found *out, gbt_error *err) {
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
  return GBT_OK;
}

/* ---- the memory of a job ---- */

static gbt_status job_open(gbt_ctx *ctx, job *j, gbt_error *err) {
  const size_t n = (size_t)j->n, n_threads = (size_t)ctx->n_threads;
  if (j->n > (int64_t)UINT32_MAX)
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "metric \"%s\" can be computed for up to 4,294,967,295 rows; give another "
                    "metric",
                    gbt_metric_about(j->how.kind)->name);
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *j->keys, &j->keys, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *j->tmp_keys, &j->tmp_keys, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *j->vals, &j->vals, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *j->tmp_vals, &j->tmp_vals, err));
  if (j->how.kind == GBT_METRIC_GINI || j->rows == NULL)
    GBT_TRY(gbt_mem_array(&ctx->mem, n, sizeof *j->base, &j->base, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n_blocks_of(j) + 1, sizeof *j->before, &j->before, err));
  GBT_TRY(gbt_mem_zeros(&ctx->mem, n_threads, sizeof *j->seen, &j->seen, err));
  GBT_TRY(gbt_mem_array(&ctx->mem, n_threads, sizeof *j->part, &j->part, err));
  j->gain = j->tmp_keys;
  return GBT_OK;
}

static void job_close(gbt_ctx *ctx, job *j) {
  gbt_mem_free(&ctx->mem, j->part);
  gbt_mem_free(&ctx->mem, j->seen);
  gbt_mem_free(&ctx->mem, j->before);
  gbt_mem_free(&ctx->mem, j->base);
  gbt_mem_free(&ctx->mem, j->tmp_vals);
  gbt_mem_free(&ctx->mem, j->vals);
  gbt_mem_free(&ctx->mem, j->tmp_keys);
  gbt_mem_free(&ctx->mem, j->keys);
}

/* ---- ranks ---- */

/* Whether a place is the first one of its group. */
static int is_first(const job *j, int64_t place) { return place == 0 || j->keys[place] != j->keys[place - 1]; }

/* The groups of this rank's rows, ascending. *out: owned. */
static gbt_status list_groups(gbt_ctx *ctx, const job *j, gbt_ranking_group **out, int64_t *n_out, gbt_error *err) {
  int64_t n = 0;
  *out = NULL;
  for (int64_t i = 0; i < j->n; i++) {
    if (i % BLOCK == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    n += is_first(j, i);
  }
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n, sizeof **out, out, err));
  *n_out = n;
  n = -1;
  for (int64_t i = 0; i < j->n; i++) {
    if (i % BLOCK == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    if (is_first(j, i)) (*out)[++n] = (gbt_ranking_group){j->keys[i], {0, 0}};
    (*out)[n].sum = gbt_ranking_plus((*out)[n].sum, pair_at(j, i));
  }
  return GBT_OK;
}

static void group_key_task(void *arg, int64_t b, int thread) {
  const job *j = arg;
  (void)thread;
  for (int64_t i = b * BLOCK, end = block_end(j, b); i < end; i++) {
    j->keys[i] = j->group[i].key;
    j->vals[i] = (uint32_t)i;
  }
}

/* Finds the groups of all ranks in this rank's range. */
static gbt_status find_in_range(gbt_ctx *ctx, job *j, found *out, gbt_error *err) {
  GBT_TRY(gbt_parallel(ctx, n_blocks_of(j), group_key_task, j, err));
  GBT_TRY(order(ctx, j, err));
  gbt_ranking_pair start;
  GBT_TRY(gbti_ranking_before(ctx, &j->all, &start, err));
  for (int64_t b = 0; b <= n_blocks_of(j); b++) j->before[b] = gbt_ranking_plus(j->before[b], start);
  return find(ctx, j, out, err);
}

/* The groups of all ranks, after order() of this rank's rows. */
static gbt_status find_ranks(gbt_ctx *ctx, job *own, found *out, gbt_error *err) {
  gbt_status status = GBT_OK;
  gbt_ranking_group *mine = NULL, *taken = NULL;
  int64_t n_mine = 0;
  job j = {.how = own->how};
  GBT_TRY_GOTO(list_groups(ctx, own, &mine, &n_mine, err), done);
  GBT_TRY_GOTO(gbti_ranking_swap(ctx, mine, n_mine, &taken, &j.n, err), done);
  gbt_mem_free(&ctx->mem, mine);
  mine = NULL;
  j.group = taken;
  GBT_TRY_GOTO(job_open(ctx, &j, err), done);
  GBT_TRY_GOTO(find_in_range(ctx, &j, out, err), done);
  own->all = j.all;
  GBT_TRY_GOTO(gbti_ranking_sum(ctx, &out->area, &out->precisions, err), done);
done:
  job_close(ctx, &j);
  gbt_mem_free(&ctx->mem, mine);
  gbt_mem_free(&ctx->mem, taken);
  return status;
}

/* ---- the metrics ---- */

static gbt_status measure(gbt_ctx *ctx, job *j, found *out, gbt_error *err) {
  GBT_TRY(order(ctx, j, err));
  return gbt_comm_is_single(ctx) ? find(ctx, j, out, err) : find_ranks(ctx, j, out, err);
}

static gbt_status run(gbt_ctx *ctx, job *j, double *out, gbt_error *err) {
  const int gini = j->how.kind == GBT_METRIC_GINI;
  found by_score, by_label;
  if (gini) {
    GBT_TRY(gbt_parallel(ctx, n_blocks_of(j), low_task, j, err));
    choose_low(j, ctx->n_threads);
    GBT_TRY(join_low(ctx, j, err));
  }
  GBT_TRY(gbt_parallel(ctx, n_blocks_of(j), totals_task, j, err));
  merge_totals(j, ctx->n_threads);
  GBT_TRY(join_totals(ctx, j, err));
  if (!choose_scales(ctx, j)) {
    *out = gbt_from_bits(0x7ff8000000000000u);
    return GBT_OK;
  }
  GBT_TRY(measure(ctx, j, &by_score, err));
  if (gini) {
    GBT_TRY(gbt_parallel(ctx, n_blocks_of(j), label_task, j, err));
    GBT_TRY(measure(ctx, j, &by_label, err));
    *out = gbt_gini_value(by_score.area, by_label.area, j->all);
  } else {
    *out = j->how.kind == GBT_METRIC_AUC ? gbt_auc_value(by_score.area, j->all)
                                         : gbt_pr_auc_value(gbt_exact_value(&by_score.precisions), j->all);
  }
  return GBT_OK;
}

gbt_status gbt_metric_of_ranking(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) {
  job j = {.rows = rows, .n = rows->of.n, .how = {.kind = rows->metric.kind}};
  gbt_status status = job_open(ctx, &j, err);
  if (status == GBT_OK) status = run(ctx, &j, out, err);
  job_close(ctx, &j);
  return status;
}
