/* Leaf values that are quantiles of residuals.
 *
 * A node of CPU_TASK_ROWS rows or fewer is one task, which selects among FEW keys or fewer, on its stack: those of all
 * rows; else those between two keys of a sample of them; else, where these are too many or do not have the searched
 * one between them, those that agree with its first digits, found with the weights of one digit at a time. Larger
 * nodes, and all nodes where there are several ranks, are searched together, digit by digit: every chunk weighs its
 * rows, then the weights of a node's chunks are added, and those of the ranks. AT_ONCE such nodes at a time, so that
 * their weights take a few megabytes.
 *
 * Below a kept node, of a symmetric tree or of trees that grow together, leaves have that node's value, so it is the
 * node that is searched. With monotone constraints the children of some splits are searched as well (tree/grow_node.h);
 * the rows of a node are side by side, whatever it was split into. */
#include <string.h>

#include "../base/comm.h"
#include "../base/parallel.h"
#include "cpu.h"

enum { DIGIT = 8, VALUES = 1 << DIGIT, AT_ONCE = 2048, FEW = 1024, SAMPLE = 16 };
_Static_assert(CPU_TASK_ROWS / SAMPLE <= FEW, "a sample of a chunk is few rows");

gbt_status cpu_renew_open(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  if (!gbt_renews(&be->objective)) return GBT_OK;
  if (!gbt_has_columns(&be->objective)) /* else of each output when its first tree begins */
    GBT_TRY(gbt_renewal_weights(ctx, &be->objective, &be->data[0]->rows, &be->renew.whole, err));
  return gbt_mem_array(&be->mem, (size_t)be->n_rows, sizeof *be->renew.key, &be->renew.key, err);
}

void cpu_renew_close(cpu_backend *be) {
  gbt_mem_free(&be->mem, be->renew.key);
  gbt_mem_free(&be->mem, be->renew.whole);
  gbt_mem_free(&be->mem, be->renew.pick);
  gbt_mem_free(&be->mem, be->renew.large);
  gbt_mem_free(&be->mem, be->renew.weight);
  gbt_mem_free(&be->mem, be->renew.sum);
}

static void key_task(void *arg, int64_t task, int thread) {
  const cpu_backend *be = arg;
  const double *label = gbt_field_of_output(&be->data[0]->rows, GBT_LABEL, be->task.output);
  const double *score = be->score[0] + (size_t)be->task.output * (size_t)be->n_rows;
  const int64_t beg = task * CPU_TASK_ROWS, left = be->n_rows - beg;
  (void)thread;
  for (int64_t i = beg; i < beg + (left < CPU_TASK_ROWS ? left : CPU_TASK_ROWS); i++)
    be->renew.key[i] = gbt_order_key(label[i] - score[i]);
}

gbt_status cpu_renew_output(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const gbt_objective its = gbt_objective_of_output(&be->objective, be->task.output);
  if (!be->renew.key) return GBT_OK;
  be->renew.level = gbt_renewal_level(&its);
  if (gbt_has_columns(&be->objective)) {
    const gbt_rows rows = gbt_rows_of_output(&be->data[0]->rows, be->task.output);
    gbt_mem_free(&be->mem, be->renew.whole);
    GBT_TRY(gbt_renewal_weights(ctx, &be->objective, &rows, &be->renew.whole, err));
  }
  return cpu_parallel(ctx, cpu_n_tasks(be->n_rows), 1.0 * (double)be->n_rows, key_task, be,
                      err);
}

/* Adds the weights of a chunk's rows that agree with the pick so far, by their next digit. */
static void weigh(const cpu_backend *be, const cpu_chunk *chunk, const gbt_pick *pick, int shift, uint64_t *weight) {
  const uint64_t *key = be->renew.key, *whole = be->renew.whole;
  const int first = shift == 64 - DIGIT;
  for (uint32_t i = chunk->beg; i < chunk->end; i++) {
    const uint32_t row = be->rows.order[i];
    const uint64_t known = key[row] >> shift;
    if (first || known >> DIGIT == pick->key) weight[known & (VALUES - 1)] += whole ? whole[row] : 1;
  }
}

/* Keys and weights of rows that agree with the pick so far, and room for as many. */
typedef struct few {
  uint32_t n;
  uint64_t key[2][FEW], weight[2][FEW];
} few;

/* Those of a chunk's rows; returns 0 where they are more than FEW. shift: of the last digit that is known, 64: none. */
static int take_few(const cpu_backend *be, const cpu_chunk *chunk, const gbt_pick *pick, int shift, few *f) {
  const uint64_t *whole = be->renew.whole;
  f->n = 0;
  for (uint32_t i = chunk->beg; i < chunk->end; i++) {
    const uint32_t row = be->rows.order[i];
    const uint64_t key = be->renew.key[row];
    if (shift < 64 && key >> shift != pick->key) continue;
    if (f->n == FEW) return 0;
    f->key[0][f->n] = key;
    f->weight[0][f->n++] = whole ? whole[row] : 1;
  }
  return 1;
}

/* A key near the middle of n > 0. */
static uint64_t pivot_of(const uint64_t *key, uint32_t n) {
  const uint64_t a = key[0], b = key[n / 2], c = key[n - 1], low = a < b ? a : b, high = a < b ? b : a;
  return c < low ? low : c < high ? c : high;
}

/* The least key for which those up to it weigh `left` or more, 0 < left <= what all weigh. Keys are divided into those
 * below one of them and those above it, and the part that has the searched one is divided again, back into the place
 * that the keys came from. */
static inline uint64_t select_key(few *f, uint64_t left, int weighted) {
  uint64_t *key = f->key[0], *to = f->key[1], *weight = f->weight[0], *to_weight = f->weight[1];
  uint32_t n = f->n;
  for (;;) {
    const uint64_t pivot = pivot_of(key, n);
    uint64_t below = 0, above = 0, all = 0;
    uint32_t lo = 0, hi = n - 1;
    for (uint32_t i = 0; i < n; i++) { /* every key to both places, of which it keeps one; none where it is the pivot */
      const uint64_t its = key[i];
      const uint32_t is_below = its < pivot, is_above = its > pivot;
      to[lo] = to[hi] = its;
      if (weighted) {
        const uint64_t w = weight[i];
        to_weight[lo] = to_weight[hi] = w;
        below += is_below ? w : 0;
        above += is_above ? w : 0;
        all += w;
      }
      lo += is_below;
      hi -= is_above;
    }
    if (!weighted) below = lo, above = n - 1 - hi, all = n;
    GBT_ASSERT(left > 0 && left <= all);
    if (left > below && left <= all - above) return pivot;
    const uint32_t beg = left <= below ? 0 : hi + 1;
    n = left <= below ? lo : n - 1 - hi;
    if (left > below) left -= all - above;
    uint64_t *old = key, *old_weight = weight;
    key = to + beg, weight = to_weight + beg;
    to = old, to_weight = old_weight;
  }
}

/* Of every SAMPLE-th row of a chunk, the at-th key, counted from 0. */
static uint64_t sample_key(const cpu_backend *be, const cpu_chunk *chunk, uint32_t at, few *f) {
  f->n = 0;
  for (uint32_t i = chunk->beg + SAMPLE - 1; i < chunk->end; i += SAMPLE)
    f->key[0][f->n++] = be->renew.key[be->rows.order[i]];
  return select_key(f, (uint64_t)at + 1, 0);
}

/* The pick of a chunk of more than FEW rows, if it is between two keys of a sample of them, and few other rows are;
 * else 0. */
static int pick_between(const cpu_backend *be, const cpu_chunk *chunk, gbt_pick *pick, few *f) {
  const uint64_t *whole = be->renew.whole;
  const uint32_t m = (chunk->end - chunk->beg) / SAMPLE, at = (uint32_t)(be->renew.level * m);
  uint32_t off = 1, n = 0; /* twice the deviation of the median's place in the sample */
  while (off * off < m) off++;
  const uint64_t low = at < off ? 0 : sample_key(be, chunk, at - off, f);
  const uint64_t high = at + off >= m ? UINT64_MAX : sample_key(be, chunk, at + off, f);
  uint64_t below = 0, between = 0, all = 0;
  for (uint32_t i = chunk->beg; i < chunk->end; i++) {
    const uint32_t row = be->rows.order[i];
    const uint64_t key = be->renew.key[row], w = whole ? whole[row] : 1;
    const int is_in = key >= low && key <= high;
    if (n == FEW) return 0;
    f->key[0][n] = key;
    f->weight[0][n] = w;
    n += (uint32_t)is_in;
    below += key < low ? w : 0;
    between += is_in ? w : 0;
    all += w;
  }
  f->n = n;
  pick->left = gbt_renewal_target(be->renew.level, all);
  if (pick->left <= below || pick->left > below + between) return pick->left == 0;
  pick->key = select_key(f, pick->left - below, whole != NULL);
  return 1;
}

/* The pick of a chunk of FEW rows at most. */
static void pick_few(const cpu_backend *be, gbt_pick *pick, few *f) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < f->n; i++) all += f->weight[0][i];
  pick->left = gbt_renewal_target(be->renew.level, all);
  if (pick->left > 0) pick->key = select_key(f, pick->left, be->renew.whole != NULL);
}

/* The pick of any chunk, by digits. */
static void pick_digits(const cpu_backend *be, const cpu_chunk *chunk, gbt_pick *pick, few *f) {
  uint64_t weight[VALUES];
  int shift = 64;
  do {
    shift -= DIGIT;
    memset(weight, 0, sizeof weight);
    weigh(be, chunk, pick, shift, weight);
    gbt_pick_digit(pick, weight, DIGIT, shift == 64 - DIGIT, be->renew.level);
    if (pick->left == 0 || shift == 0) return;
  } while (!take_few(be, chunk, pick, shift, f));
  pick->key = select_key(f, pick->left, be->renew.whole != NULL);
}

static void small_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_chunk *chunk = &be->rows.chunk[task];
  gbt_pick *pick = &be->renew.pick[chunk->node];
  few f;
  (void)thread;
  if (chunk->end - chunk->beg <= FEW) {
    take_few(be, chunk, pick, 64, &f);
    pick_few(be, pick, &f);
  } else if (!pick_between(be, chunk, pick, &f))
    pick_digits(be, chunk, pick, &f);
}

static void large_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_chunk *chunk = &be->rows.chunk[task];
  uint64_t *weight = be->renew.weight + (size_t)task * VALUES;
  (void)thread;
  memset(weight, 0, VALUES * sizeof *weight);
  weigh(be, chunk, &be->renew.pick[chunk->node], be->renew.shift, weight);
}

/* The weights of each node's chunks into the node's place of `sum`. */
static gbt_status join_chunks(gbt_ctx *ctx, cpu_backend *be, size_t n, gbt_error *err) {
  memset(be->renew.sum, 0, n * VALUES * sizeof *be->renew.sum);
  for (size_t c = 0; c < be->rows.n_chunk; c++) {
    const uint64_t *from = be->renew.weight + c * VALUES;
    uint64_t *into = be->renew.sum + (size_t)be->rows.chunk[c].item * VALUES;
    if (c % 256 == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    for (int i = 0; i < VALUES; i++) into[i] += from[i];
  }
  return GBT_OK;
}

/* One digit more of the picks of node[0 .. n). */
static gbt_status add_digit(gbt_ctx *ctx, cpu_backend *be, const int32_t *node, size_t n, gbt_error *err) {
  cpu_renewal *renew = &be->renew;
  const int first = renew->shift == 64 - DIGIT;
  GBT_TRY(cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 2.0 * (double)be->rows.n_in, large_task, be, err));
  GBT_TRY(join_chunks(ctx, be, n, err));
  GBT_TRY(gbt_comm_sum_i64(ctx, renew->sum, n * VALUES, err));
  for (size_t i = 0; i < n; i++)
    gbt_pick_digit(&renew->pick[node[i]], renew->sum + i * VALUES, DIGIT, first, renew->level);
  return GBT_OK;
}

/* The picks of node[0 .. n), searched together. */
static gbt_status renew_nodes(gbt_ctx *ctx, cpu_backend *be, const int32_t *node, size_t n, gbt_error *err) {
  cpu_renewal *renew = &be->renew;
  be->rows.n_chunk = 0;
  for (size_t i = 0; i < n; i++) {
    const gbt_grow_node *its = &be->fr.node[node[i]];
    GBT_TRY(cpu_add_chunks(be, node[i], (int32_t)i, its->order_beg, its->own_rows, err));
  }
  GBT_TRY(gbt_mem_grow(&be->mem, &renew->sum, &renew->cap_sum, n * VALUES, sizeof *renew->sum, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &renew->weight, &renew->cap_weight, be->rows.n_chunk * VALUES, sizeof *renew->weight,
                       err));
  for (renew->shift = 64 - DIGIT; renew->shift >= 0; renew->shift -= DIGIT) GBT_TRY(add_digit(ctx, be, node, n, err));
  return GBT_OK;
}

/* Nodes whose own quantiles are needed: the large ones to renew->large, the others to be->rows.chunk. */
static gbt_status sort_out(const gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const int one_rank = gbt_comm_is_single(ctx);
  be->rows.n_chunk = be->renew.n_large = 0;
  for (size_t i = 0; i < be->fr.n_nodes; i++) {
    const gbt_grow_node *node = &be->fr.node[i], *parent = node->parent >= 0 ? &be->fr.node[node->parent] : NULL;
    if (!gbt_grow_wants_quantile(&be->fr.policy, node, parent)) continue;
    if (!one_rank || node->own_rows > CPU_TASK_ROWS)
      be->renew.large[be->renew.n_large++] = (int32_t)i;
    else
      GBT_TRY(cpu_add_chunks(be, (int32_t)i, 0, node->order_beg, node->own_rows, err));
  }
  return GBT_OK;
}

gbt_status cpu_renew_leaves(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_renewal *renew = &be->renew;
  const size_t n_nodes = be->fr.n_nodes;
  if (!renew->key) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&be->mem, &renew->pick, &renew->cap_pick, n_nodes, sizeof *renew->pick, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &renew->large, &renew->cap_large, n_nodes, sizeof *renew->large, err));
  memset(renew->pick, 0, n_nodes * sizeof *renew->pick); /* nodes without rows */
  GBT_TRY(sort_out(ctx, be, err));
  GBT_TRY(cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 16.0 * (double)be->rows.n_in, small_task, be, err));
  for (size_t beg = 0; beg < renew->n_large; beg += AT_ONCE) {
    const size_t left = renew->n_large - beg;
    GBT_TRY(renew_nodes(ctx, be, renew->large + beg, left < AT_ONCE ? left : AT_ONCE, err));
  }
  return GBT_OK;
}

double cpu_renew_value(const cpu_backend *be, size_t node) {
  return gbt_pick_value(&be->renew.pick[node], be->fr.policy.reg.max_delta_step);
}

void cpu_renew_bound(cpu_backend *be, size_t node, double value) {
  gbt_grow_node *from = &be->fr.node[node], *left = &be->fr.node[from->left];
  if (be->renew.key == NULL || be->fr.policy.monotone == NULL || from->left == 0) return;
  gbt_grow_bound_quantiles(&be->fr.policy, from, value, cpu_renew_value(be, (size_t)from->left),
                           cpu_renew_value(be, (size_t)from->left + 1), left, left + 1);
}
