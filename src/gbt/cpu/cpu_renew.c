/* Leaf values that are quantiles of residuals.
 *
 * A node of CPU_TASK_ROWS rows or fewer is one task, which finds all digits of its key with the weights of one digit on
 * its stack. Larger ones are searched together, digit by digit: every chunk weighs its rows, then the weights of a
 * node's chunks are added. There are two chunks in CPU_TASK_ROWS rows at most, so these weights take a quarter of a
 * byte a row.
 *
 * Below a kept node of a symmetric tree leaves have that node's value, so it is the node that is searched. */
#include <string.h>

#include "cpu.h"

#include "../base/parallel.h"

enum { DIGIT = 8, DIGITS = 64 / DIGIT, VALUES = 1 << DIGIT };

gbt_status cpu_renew_open(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const gbt_dataset *train = be->sets[0];
  const gbt_label_rows rows = {train->n_rows, train->label, train->weight, NULL};
  if (!gbt_renews(&be->objective)) return GBT_OK;
  be->renew.level = gbt_renewal_level(&be->objective);
  GBT_TRY(gbt_renewal_weights(ctx, &be->objective, &rows, &be->renew.whole, err));
  return gbt_mem_array(&be->mem, (size_t)be->n_rows, sizeof *be->renew.key, &be->renew.key, err);
}

void cpu_renew_close(cpu_backend *be) {
  gbt_mem_free(&be->mem, be->renew.key);
  gbt_mem_free(&be->mem, be->renew.whole);
  gbt_mem_free(&be->mem, be->renew.pick);
  gbt_mem_free(&be->mem, be->renew.weight);
}

static void key_task(void *arg, int64_t task, int thread) {
  const cpu_backend *be = arg;
  const double *label = be->sets[0]->label, *score = be->score[0];
  const int64_t beg = task * CPU_TASK_ROWS, left = be->n_rows - beg;
  (void)thread;
  for (int64_t i = beg; i < beg + (left < CPU_TASK_ROWS ? left : CPU_TASK_ROWS); i++)
    be->renew.key[i] = gbt_order_key(label[i] - score[i]);
}

gbt_status cpu_renew_round(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  if (!be->renew.key) return GBT_OK;
  return cpu_parallel(ctx, (be->n_rows + CPU_TASK_ROWS - 1) / CPU_TASK_ROWS, 1.0 * (double)be->n_rows, key_task, be,
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

static void small_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_chunk *chunk = &be->rows.chunk[be->renew.n_large + (size_t)task];
  gbt_pick *pick = &be->renew.pick[chunk->node];
  uint64_t weight[VALUES];
  (void)thread;
  for (int shift = 64 - DIGIT; shift >= 0; shift -= DIGIT) {
    memset(weight, 0, sizeof weight);
    weigh(be, chunk, pick, shift, weight);
    gbt_pick_digit(pick, weight, DIGIT, shift == 64 - DIGIT, be->renew.level);
    if (pick->left == 0) return;
  }
}

static void large_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_chunk *chunk = &be->rows.chunk[task];
  uint64_t *weight = be->renew.weight + (size_t)task * VALUES;
  (void)thread;
  memset(weight, 0, VALUES * sizeof *weight);
  weigh(be, chunk, &be->renew.pick[chunk->node], be->renew.shift, weight);
}

/* The weights of each node's chunks into those of its first one, and one digit more of its pick. */
static gbt_status add_digit(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const cpu_chunk *chunk = be->rows.chunk;
  for (size_t c = 0, beg = 0; c < be->renew.n_large; c++) {
    uint64_t *into, *from = be->renew.weight + c * VALUES;
    if (c % 256 == 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    if (chunk[c].node != chunk[beg].node) beg = c;
    into = be->renew.weight + beg * VALUES;
    for (int i = 0; c > beg && i < VALUES; i++) into[i] += from[i];
    if (c + 1 < be->renew.n_large && chunk[c + 1].node == chunk[c].node) continue;
    gbt_pick_digit(&be->renew.pick[chunk[c].node], into, DIGIT, be->renew.shift == 64 - DIGIT, be->renew.level);
  }
  return GBT_OK;
}

static gbt_status add_nodes(cpu_backend *be, int large, gbt_error *err) {
  for (size_t i = 0; i < be->fr.n_nodes; i++) {
    const gbt_grow_node *node = &be->fr.node[i], *parent = node->parent >= 0 ? &be->fr.node[node->parent] : NULL;
    if (!gbt_grow_has_value(node, parent) || (node->own_rows > CPU_TASK_ROWS) != large) continue;
    GBT_TRY(cpu_add_chunks(be, (int32_t)i, 0, node->row_beg, node->own_rows, CPU_TASK_ROWS, err));
  }
  return GBT_OK;
}

gbt_status cpu_renew_leaves(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_renewal *renew = &be->renew;
  const double rows = (double)be->rows.n_in;
  if (!renew->key) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&be->mem, &renew->pick, &renew->cap_pick, be->fr.n_nodes, sizeof *renew->pick, err));
  memset(renew->pick, 0, be->fr.n_nodes * sizeof *renew->pick); /* nodes without rows */
  be->rows.n_chunk = 0;
  GBT_TRY(add_nodes(be, 1, err));
  renew->n_large = be->rows.n_chunk;
  GBT_TRY(add_nodes(be, 0, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &renew->weight, &renew->cap_weight, renew->n_large * VALUES, sizeof *renew->weight,
                       err));
  GBT_TRY(cpu_parallel(ctx, (int64_t)(be->rows.n_chunk - renew->n_large), 16.0 * rows, small_task, be, err));
  for (renew->shift = 64 - DIGIT; renew->n_large > 0 && renew->shift >= 0; renew->shift -= DIGIT) {
    GBT_TRY(cpu_parallel(ctx, (int64_t)renew->n_large, 2.0 * rows, large_task, be, err));
    GBT_TRY(add_digit(ctx, be, err));
  }
  return GBT_OK;
}
