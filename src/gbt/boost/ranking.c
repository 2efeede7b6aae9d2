/* AUC in integers. Each class's weights become fixed-point numbers whose sum stays below 2^62; the scale is a power of
 * two taken from the class's exact total, so it does not know the order of the rows. Without weights every row weighs 1
 * in the same way. Then, over the groups g of equal scores, ascending,
 *
 *   2 area = sum_g pos_g (2 neg_below_g + neg_g)         AUC = 2 area / (2 pos neg), rounded once
 *
 * in 128-bit integers. Blocks of sorted rows are summed by themselves; only their first and their last group can reach
 * into other blocks, so these are kept apart until the blocks are joined:
 *
 *   block:  [ first | middle groups: pos, neg, area from neg = 0 on | last ] */
#include "ranking.h"

#include "../base/exact_sum.h"
#include "../base/sort.h"
#include "../metric/rank_terms.h"

enum { BLOCK = 1 << 15 };

/* Weights by class: [0] negative, [1] positive. */
typedef struct pair {
  uint64_t of[2];
} pair;

static pair pair_add(pair a, pair b) {
  pair c = {{a.of[0] + b.of[0], a.of[1] + b.of[1]}};
  return c;
}

/* Rows of one score. */
typedef struct group {
  uint64_t key;
  pair sum;
} group;

typedef struct block {
  group first, last; /* last: only when n_groups > 1 */
  int64_t n_groups;
  pair middle; /* the groups between them */
  gbt_wide area;
} block;

typedef struct totals {
  gbt_exact_sum of[2];
  int64_t n_pos, n_nan;
} totals;

typedef struct job {
  int64_t n;
  const double *score, *label, *weight;
  uint64_t *keys, *tmp_keys; /* n */
  uint32_t *vals, *tmp_vals; /* n. With weights: the row. Without: whether it is positive */
  totals *part;              /* n_threads */
  block *blocks;             /* n_blocks */
  double up[2][2];           /* by class: a weight w counts as round(w * up[0] * up[1]) */
} job;

static int64_t block_end(const job *j, int64_t b) { return j->n - b * BLOCK < BLOCK ? j->n : (b + 1) * BLOCK; }

static void key_task(void *arg, int64_t b, int thread) {
  job *j = arg;
  totals *part = &j->part[thread];
  int64_t beg = b * BLOCK, end = block_end(j, b);
  for (int64_t i = beg; i < end; i++) {
    int positive = j->label[i] > 0.5;
    part->n_pos += positive;
    part->n_nan += j->score[i] != j->score[i];
    j->keys[i] = gbt_order_key(j->score[i]); /* whatever a NaN's key is: there will be no AUC */
    j->vals[i] = j->weight == NULL ? (uint32_t)positive : (uint32_t)i;
  }
  if (j->weight == NULL) return;
  for (int64_t i = beg; i < end; i++) gbt_exact_add(&part->of[j->label[i] > 0.5], j->weight[i]);
}

static gbt_wide area_of(pair sum, uint64_t neg_below) { return gbt_wide_product(sum.of[1], 2 * neg_below + sum.of[0]); }

static void block_task(void *arg, int64_t b, int thread) {
  (void)thread;
  job *j = arg;
  block out = {.n_groups = 0};
  const pair unit = {{gbt_auc_weight(1.0, j->up[0]), gbt_auc_weight(1.0, j->up[1])}};
  for (int64_t i = b * BLOCK, end = block_end(j, b); i < end; out.n_groups++) {
    if (out.n_groups > 1) { /* the group before was not the last one */
      out.area = gbt_wide_add(out.area, area_of(out.last.sum, out.middle.of[0]));
      out.middle = pair_add(out.middle, out.last.sum);
    }
    group g = {j->keys[i], {{0, 0}}};
    for (; i < end && j->keys[i] == g.key; i++) {
      uint32_t val = j->vals[i];
      if (j->weight == NULL) {
        g.sum.of[val] += unit.of[val];
      } else {
        int positive = j->label[val] > 0.5;
        g.sum.of[positive] += gbt_auc_weight(j->weight[val], j->up[positive]);
      }
    }
    *(out.n_groups == 0 ? &out.first : &out.last) = g;
  }
  j->blocks[b] = out;
}

/* 2 area, and the classes' totals, over all blocks. */
static gbt_wide join_blocks(const job *j, int64_t n_blocks, pair *total) {
  gbt_wide area = {0, 0};
  pair below = {{0, 0}};                           /* of the closed groups */
  group open = {j->blocks[0].first.key, {{0, 0}}}; /* more of it may come */
  for (int64_t i = 0; i < n_blocks; i++) {
    const block *b = &j->blocks[i];
    if (b->first.key == open.key) {
      open.sum = pair_add(open.sum, b->first.sum);
    } else {
      area = gbt_wide_add(area, area_of(open.sum, below.of[0]));
      below = pair_add(below, open.sum);
      open = b->first;
    }
    if (b->n_groups < 2) continue;
    area = gbt_wide_add(area, area_of(open.sum, below.of[0]));
    below = pair_add(below, open.sum);
    area = gbt_wide_add(area, gbt_wide_add(b->area, gbt_wide_product(b->middle.of[1], 2 * below.of[0])));
    below = pair_add(below, b->middle);
    open = b->last;
  }
  *total = pair_add(below, open.sum);
  return gbt_wide_add(area, area_of(open.sum, below.of[0]));
}

/* Scales from the totals of all threads. 0 when a class is absent or a score is NaN. */
static int choose_scales(job *j, int n_threads) {
  totals *all = &j->part[0];
  for (int t = 1; t < n_threads; t++) {
    gbt_exact_merge(&all->of[0], &j->part[t].of[0]);
    gbt_exact_merge(&all->of[1], &j->part[t].of[1]);
    all->n_pos += j->part[t].n_pos;
    all->n_nan += j->part[t].n_nan;
  }
  double neg = j->weight == NULL ? (double)(j->n - all->n_pos) : gbt_exact_value(&all->of[0]);
  double pos = j->weight == NULL ? (double)all->n_pos : gbt_exact_value(&all->of[1]);
  if (all->n_nan > 0 || !(pos > 0.0) || !(neg > 0.0)) return 0;
  gbt_auc_scale(neg, j->up[0]);
  gbt_auc_scale(pos, j->up[1]);
  return 1;
}

static gbt_status run(gbt_ctx *ctx, job *j, double *out, gbt_error *err) {
  int64_t n_blocks = (j->n + BLOCK - 1) / BLOCK;
  GBT_TRY(gbt_parallel(ctx, n_blocks, key_task, j, err));
  if (!choose_scales(j, ctx->n_threads)) {
    *out = gbt_from_bits(0x7ff8000000000000u);
    return GBT_OK;
  }
  GBT_TRY(gbt_sort_u64_parallel(ctx, j->keys, j->vals, (size_t)j->n, j->tmp_keys, j->tmp_vals, err));
  GBT_TRY(gbt_parallel(ctx, n_blocks, block_task, j, err));
  pair total;
  gbt_wide area = join_blocks(j, n_blocks, &total);
  *out = gbt_wide_ratio(area, gbt_wide_double(gbt_wide_product(total.of[0], total.of[1])));
  return GBT_OK;
}

gbt_status gbt_auc(gbt_ctx *ctx, int64_t n, const double *score, const double *label, const double *weight, double *out,
                   gbt_error *err) {
  if (n > (int64_t)UINT32_MAX) return gbt_fail(err, GBT_E_UNSUPPORTED, "`auc` takes up to 4,294,967,295 rows");
  gbt_status status = GBT_OK;
  job j = {.n = n, .score = score, .label = label, .weight = weight};
  size_t rows = (size_t)n, n_blocks = (rows + BLOCK - 1) / BLOCK;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, rows, sizeof *j.keys, &j.keys, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, rows, sizeof *j.tmp_keys, &j.tmp_keys, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, rows, sizeof *j.vals, &j.vals, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, rows, sizeof *j.tmp_vals, &j.tmp_vals, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n_blocks, sizeof *j.blocks, &j.blocks, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, (size_t)ctx->n_threads, sizeof *j.part, &j.part, err), done);
  GBT_TRY_GOTO(run(ctx, &j, out, err), done);
done:
  gbt_mem_free(&ctx->mem, j.part);
  gbt_mem_free(&ctx->mem, j.blocks);
  gbt_mem_free(&ctx->mem, j.tmp_vals);
  gbt_mem_free(&ctx->mem, j.vals);
  gbt_mem_free(&ctx->mem, j.tmp_keys);
  gbt_mem_free(&ctx->mem, j.keys);
  return status;
}
