/* Further Newton steps for the values of leaves (tree/leaf_step.h says which).
 *
 *   begin    every node has the value of its first step
 *   chunks   rows of the nodes whose values still move, CPU_TASK_ROWS at most: leaves, kept nodes (whose children
 *            have their values) of symmetric trees and of trees that grow together, and all nodes where values are
 *            smoothed. A node's rows are side by side, whatever it was split into
 *   maxima   of the gradients at score + value, by node; of all ranks
 *   sums     of the same gradients in fixed point; of all ranks
 *   take     values move; again from `chunks` on, until none does or there was the last step
 *
 * Gradients are those of the round's start but for the node's own value: trees of other outputs, and of the same one
 * where a round has several, are not seen. */
#include <string.h>

#include "../base/comm.h"
#include "../objective/softmax.h"
#include "cpu.h"

gbt_status cpu_step_open(cpu_backend *be, gbt_error *err) {
  be->steps.n = gbt_leaf_steps(&be->objective, be->params);
  if (be->steps.n == 0 || be->params->num_parallel_tree == 1) return GBT_OK;
  return gbt_mem_array(&be->mem, (size_t)be->n_rows, sizeof *be->steps.start, &be->steps.start, err);
}

void cpu_step_close(cpu_backend *be) {
  void *blocks[] = {be->steps.node, be->steps.chunk, be->steps.max, be->steps.sum, be->steps.start};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
}

void cpu_step_output(cpu_backend *be) {
  const size_t n = (size_t)be->n_rows;
  if (be->steps.start) memcpy(be->steps.start, be->score[0] + (size_t)be->task.output * n, n * sizeof(double));
}

/* ---- rows ---- */

static void gather(const double *field, const uint32_t *row, int32_t n, double *out) {
  for (int32_t i = 0; i < n; i++) out[i] = field[row[i]];
}

/* Gradients of n <= CPU_BLOCK rows once their scores have moved by `by`, weights and factors in. p: scratch. */
static void row_gradients(const cpu_backend *be, const uint32_t *row, int32_t n, double by, double *p, double *g,
                          double *h) {
  const gbt_rows *rows = &be->data[0]->rows;
  const double *weight = gbt_field_of_output(rows, GBT_WEIGHT, be->task.output);
  double score[CPU_BLOCK], other[CPU_BLOCK];
  gather(be->steps.start ? be->steps.start : be->view.score, row, n, score);
  gather(gbt_field_of_output(rows, GBT_LABEL, be->task.output), row, n, other);
  if (gbt_gradients_by_classes(&be->objective)) {
    const double bound = gbt_softmax_bound(be->n_outputs, be->params->softmax_hessian);
    double top[CPU_BLOCK], sum[CPU_BLOCK];
    gather(be->grad.softmax_top, row, n, top);
    gather(be->grad.softmax_sum, row, n, sum);
    be->kernels->softmax_stepped(n, by, bound, score, top, sum, p);
    be->kernels->softmax_gradients(n, be->task.output, bound, p, other, g, h);
  } else {
    for (int32_t i = 0; i < n; i++) score[i] = score[i] + by;
    const gbt_objective its = gbt_objective_of_output(&be->objective, be->task.output);
    be->kernels->gradients(&its, n, score, other, g, h);
  }
  if (weight) {
    gather(weight, row, n, other);
    be->kernels->weigh(n, other, g, h);
  }
  if (be->sample.row) {
    gbt_sampled factor[CPU_BLOCK];
    for (int32_t i = 0; i < n; i++) factor[i] = be->sample.row[row[i]];
    be->kernels->multiply(n, factor, g, h);
  }
}

static void max_block(const cpu_backend *be, int32_t n, const double *g, const double *h, gbt_step_sums *at) {
  double max_g = gbt_from_bits(at->max_g), max_h = gbt_from_bits(at->max_h);
  be->kernels->maxima(n, g, h, &max_g, &max_h);
  at->max_g = gbt_bits(max_g);
  at->max_h = gbt_bits(max_h);
}

static void sum_block(const cpu_backend *be, const gbt_scale *scale, int32_t n, const double *g, const double *h,
                      gbt_gh32 *gh, gbt_step_sums *at) {
  be->kernels->fix_wide(n, scale->up_g, scale->up_h, g, h, gh);
  for (int32_t i = 0; i < n; i++) {
    at->sum.g += gh[i].g;
    at->sum.h += gh[i].h;
  }
}

/* A chunk's maxima, or (sums) its sums, where its node's maxima are known and can be scaled. */
static void pass_chunk(cpu_backend *be, cpu_step_chunk *chunk, int sums, cpu_scratch *scratch) {
  const gbt_leaf_step *step = &be->steps.node[chunk->node];
  double *g = scratch->block, *h = g + CPU_BLOCK, *p = h + CPU_BLOCK;
  int32_t n;
  if (sums && !gbt_leaf_step_usable(step)) return;
  const gbt_scale scale = gbt_leaf_step_scale(step, gbt_scale_spare(cpu_all_rows(be)));
  for (uint32_t i = chunk->beg; i < chunk->end; i += (uint32_t)n) {
    n = chunk->end - i < CPU_BLOCK ? (int32_t)(chunk->end - i) : CPU_BLOCK;
    row_gradients(be, be->rows.order + i, n, step->value, p, g, h);
    if (sums)
      sum_block(be, &scale, n, g, h, scratch->gh, &chunk->at);
    else
      max_block(be, n, g, h, &chunk->at);
  }
}

static void max_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  pass_chunk(be, &be->steps.chunk[task], 0, &be->scratch.of[thread]);
}

static void sum_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  pass_chunk(be, &be->steps.chunk[task], 1, &be->scratch.of[thread]);
}

/* ---- steps ---- */

static gbt_status begin(cpu_backend *be, gbt_error *err) {
  cpu_steps *steps = &be->steps;
  const size_t n = be->fr.n_nodes;
  const gbt_scale *scale = &be->grad.scale[be->task.output];
  GBT_TRY(gbt_mem_grow(&be->mem, &steps->node, &steps->cap_node, n, sizeof *steps->node, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &steps->max, &steps->cap_max, 2 * n, sizeof *steps->max, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &steps->sum, &steps->cap_sum, n, sizeof *steps->sum, err));
  for (size_t i = 0; i < n; i++) {
    const gbt_grow_node *node = &be->fr.node[i], *parent = node->parent >= 0 ? &be->fr.node[node->parent] : NULL;
    steps->node[i] = gbt_leaf_step_begin(gbt_grow_own(&be->fr.policy, scale, node, be->leaf.fine[i]));
    if (!gbt_grow_wants_own(&be->fr.policy, node, parent)) steps->node[i].going = 0;
  }
  return GBT_OK;
}

static gbt_status add_chunks(cpu_backend *be, int32_t id, gbt_error *err) {
  cpu_steps *steps = &be->steps;
  const gbt_grow_node *node = &be->fr.node[id];
  const uint32_t n = (node->own_rows + CPU_TASK_ROWS - 1) / CPU_TASK_ROWS;
  GBT_TRY(gbt_mem_grow(&be->mem, &steps->chunk, &steps->cap_chunk, steps->n_chunk + n, sizeof *steps->chunk, err));
  for (uint32_t c = 0; c < n; c++) {
    const uint32_t beg = c * CPU_TASK_ROWS, left = node->own_rows - beg;
    const uint32_t rows = left < CPU_TASK_ROWS ? left : CPU_TASK_ROWS;
    steps->chunk[steps->n_chunk++] = (cpu_step_chunk){
        .node = id, .beg = node->order_beg + beg, .end = node->order_beg + beg + rows, .at = gbt_step_none()};
  }
  return GBT_OK;
}

/* *n_rows: this rank's rows of the nodes that go on; *n_going: these nodes. */
static gbt_status list_chunks(cpu_backend *be, size_t *n_going, double *n_rows, gbt_error *err) {
  be->steps.n_chunk = *n_going = 0;
  *n_rows = 0.0;
  for (size_t i = 0; i < be->fr.n_nodes; i++) {
    if (!be->steps.node[i].going) continue;
    ++*n_going;
    *n_rows += be->fr.node[i].own_rows;
    GBT_TRY(add_chunks(be, (int32_t)i, err));
  }
  return GBT_OK;
}

/* Maxima of the chunks to their nodes, of all ranks. Bits order like the numbers, NaN above all. */
static gbt_status merge_maxima(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_steps *steps = &be->steps;
  const size_t n = be->fr.n_nodes;
  for (size_t c = 0; c < steps->n_chunk; c++) {
    gbt_step_sums *to = &steps->node[steps->chunk[c].node].at, *from = &steps->chunk[c].at;
    to->max_g = from->max_g > to->max_g ? from->max_g : to->max_g;
    to->max_h = from->max_h > to->max_h ? from->max_h : to->max_h;
  }
  if (gbt_comm_is_single(ctx)) return GBT_OK;
  for (size_t i = 0; i < n; i++) { /* what cannot be scaled is the same infinity on all ranks */
    const int usable = gbt_leaf_step_usable(&steps->node[i]);
    steps->max[2 * i] = usable ? gbt_from_bits(steps->node[i].at.max_g) : GBT_GROW_INFINITY;
    steps->max[2 * i + 1] = usable ? gbt_from_bits(steps->node[i].at.max_h) : GBT_GROW_INFINITY;
  }
  GBT_TRY(gbt_comm_max_f64(ctx, steps->max, 2 * n, err));
  for (size_t i = 0; i < n; i++) {
    steps->node[i].at.max_g = gbt_bits(steps->max[2 * i]);
    steps->node[i].at.max_h = gbt_bits(steps->max[2 * i + 1]);
  }
  return GBT_OK;
}

static gbt_status merge_sums(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_steps *steps = &be->steps;
  const size_t n = be->fr.n_nodes;
  memset(steps->sum, 0, n * sizeof *steps->sum);
  for (size_t c = 0; c < steps->n_chunk; c++) {
    steps->sum[steps->chunk[c].node].g += steps->chunk[c].at.sum.g;
    steps->sum[steps->chunk[c].node].h += steps->chunk[c].at.sum.h;
  }
  const gbt_comm_part sums = {steps->sum, 2 * n, GBT_COMM_I64};
  GBT_TRY(gbt_comm_sum_parts(ctx, &sums, 1, err));
  for (size_t i = 0; i < n; i++) steps->node[i].at.sum = steps->sum[i];
  return GBT_OK;
}

gbt_status cpu_step_leaves(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_steps *steps = &be->steps;
  const int spare = gbt_scale_spare(cpu_all_rows(be));
  if (steps->n == 0) return GBT_OK;
  GBT_TRY(begin(be, err));
  for (int32_t s = 0; s < steps->n; s++) {
    size_t n_going;
    double n_rows;
    GBT_TRY(list_chunks(be, &n_going, &n_rows, err));
    if (n_going == 0) return GBT_OK; /* on all ranks */
    GBT_TRY(cpu_parallel(ctx, (int64_t)steps->n_chunk, 8.0 * n_rows, max_task, be, err));
    GBT_TRY(merge_maxima(ctx, be, err));
    GBT_TRY(cpu_parallel(ctx, (int64_t)steps->n_chunk, 8.0 * n_rows, sum_task, be, err));
    GBT_TRY(merge_sums(ctx, be, err));
    for (size_t i = 0; i < be->fr.n_nodes; i++)
      gbt_leaf_step_take(&steps->node[i], spare, be->fr.policy.reg, be->fr.node[i].bounds);
  }
  return GBT_OK;
}
