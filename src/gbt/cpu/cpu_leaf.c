/* The end of a tree: fine sums of every node, leaf values, the tree into the forest, values into the scores.
 *
 * Fine sums add the 32-bit gradients of a leaf's rows in 64 bits, so leaf values carry none of the rounding that the
 * 16-bit histograms have. The leaf knows the sum of its 16-bit ones; what these leave out is added here. Inner nodes
 * are the sums of their children. */
#include <string.h>

#include "../base/clock.h"
#include "../base/comm.h"
#include "cpu.h"

void cpu_leaf_close(cpu_backend *be) {
  gbt_mem_free(&be->mem, be->leaf.fine);
  gbt_mem_free(&be->mem, be->leaf.value);
  gbt_mem_free(&be->mem, be->leaf.rows);
  for (int32_t s = 1; be->leaf.of && s <= be->n_valid; s++) gbt_mem_free(&be->mem, be->leaf.of[s]);
  gbt_mem_free(&be->mem, be->leaf.of);
  gbt_export_free(&be->mem, &be->leaf.out);
}

/* A chunk's share of the fine sum: what 16 bits dropped; where leaves do not know their sums (cpu_sums_are_known), the
 * coarse sum too. */
static void fine_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  cpu_chunk *chunk = &be->rows.chunk[task];
  const int wide = be->view.wide;
  gbt_sum s = {0, 0};
  (void)thread;
  if (!wide)
    s = be->kernels->rest(chunk->end - chunk->beg, cpu_rows_before(be), be->rows.order + chunk->beg,
                          cpu_rounding_key(be, be->task.output), be->view.low);
  if (!cpu_sums_are_known(be)) {
    gbt_sum coarse = cpu_sum_rows(be, chunk->beg, chunk->end);
    s.g += coarse.g * (wide ? 1 : 65536);
    s.h += coarse.h * (wide ? 1 : 65536);
  }
  chunk->fine = s;
}

/* Sums of the leaves as far as they are known; 0 elsewhere. Of several ranks only the first one has them, for all
 * rows. */
static void start_sums(const gbt_ctx *ctx, cpu_backend *be) {
  const int64_t unit = be->view.wide ? 1 : 65536;
  for (size_t i = 0; i < be->fr.n_nodes; i++) {
    const gbt_grow_node *node = &be->fr.node[i];
    int known = gbt_comm_rank(ctx) == 0 && node->left == 0 && cpu_sums_are_known(be);
    be->leaf.fine[i].g = known ? node->sum.g * unit : 0;
    be->leaf.fine[i].h = known ? node->sum.h * unit : 0;
  }
}

/* The sums of all ranks; and the rows of all nodes, which are not known where nothing depends on them (cpu_ranks.c). */
static gbt_status sum_ranks(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const size_t n = be->fr.n_nodes;
  gbt_grow_node *node = be->fr.node;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->leaf.rows, &be->leaf.cap_rows, n, sizeof *be->leaf.rows, err));
  int64_t *rows = be->leaf.rows;
  for (size_t i = 0; i < n; i++) rows[i] = node[i].left == 0 ? node[i].own_rows : 0;
  const gbt_comm_part sums[] = {{be->leaf.fine, 2 * n, GBT_COMM_I64}, {rows, n, GBT_COMM_I64}};
  GBT_TRY(gbt_comm_sum_parts(ctx, sums, 2, err));
  for (size_t i = n; i-- > 0;) {
    gbt_grow_put_rows(&node[i], rows[i]);
    if (node[i].left > 0) node[i].bulk_left = rows[node[i].left] >= rows[node[i].left + 1];
    if (i > 0) rows[node[i].parent] += rows[i];
  }
  return GBT_OK;
}

gbt_status cpu_leaf_sums(gbt_ctx *ctx, cpu_backend *be, gbt_task_fn fn, gbt_error *err) {
  const size_t n_nodes = be->fr.n_nodes;
  gbt_sum *fine = be->leaf.fine;
  be->rows.n_chunk = 0;
  for (size_t i = 0; i < n_nodes; i++) {
    const gbt_grow_node *node = &be->fr.node[i];
    if (node->left == 0)
      GBT_TRY(cpu_add_chunks(be, (int32_t)i, 0, node->order_beg, node->own_rows, err));
  }
  GBT_TRY(cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 2.0 * be->rows.n_in, fn, be, err));
  for (size_t c = 0; c < be->rows.n_chunk; c++) {
    fine[be->rows.chunk[c].node].g += be->rows.chunk[c].fine.g;
    fine[be->rows.chunk[c].node].h += be->rows.chunk[c].fine.h;
  }
  if (!gbt_comm_is_single(ctx)) GBT_TRY(sum_ranks(ctx, be, err));
  for (size_t i = n_nodes; i-- > 1;) { /* children are numbered above their parents */
    GBT_ASSERT((size_t)be->fr.node[i].parent < i && fine[i].h >= 0);
    fine[be->fr.node[i].parent].g += fine[i].g;
    fine[be->fr.node[i].parent].h += fine[i].h;
  }
  return GBT_OK;
}

static gbt_status fine_sums(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  GBT_TRY(gbt_mem_grow(&be->mem, &be->leaf.fine, &be->leaf.cap_fine, be->fr.n_nodes, sizeof *be->leaf.fine, err));
  start_sums(ctx, be);
  return cpu_leaf_sums(ctx, be, fine_task, err);
}

/* The best value for the rows of a node, within its bounds. */
static double own_value(const cpu_backend *be, size_t i) {
  const gbt_grow_node *node = &be->fr.node[i];
  if (be->renew.key) return gbt_clip(cpu_renew_value(be, i), node->bounds);
  if (be->steps.n > 0) return be->steps.node[i].value;
  return gbt_grow_own(&be->fr.policy, &be->grad.scale[be->task.output], node, be->leaf.fine[i]);
}

static gbt_status leaf_values(cpu_backend *be, gbt_error *err) {
  size_t n_nodes = be->fr.n_nodes;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->leaf.value, &be->leaf.cap_value, n_nodes, sizeof *be->leaf.value, err));
  for (size_t i = 0; i < n_nodes; i++) {
    const gbt_grow_node *node = &be->fr.node[i];
    const gbt_grow_node *parent = node->parent >= 0 ? &be->fr.node[node->parent] : NULL;
    double above = parent ? be->leaf.value[node->parent] : 0.0;
    be->leaf.value[i] = gbt_grow_value(&be->fr.policy, node, own_value(be, i), parent, above);
    cpu_renew_bound(be, i, be->leaf.value[i]);
  }
  for (size_t i = 0; i < n_nodes; i++) {
    be->leaf.value[i] = be->leaf.value[i] * be->task.shrinkage;
    if (!gbt_grow_value_ok(be->leaf.value[i])) return gbt_leaf_overflows(be->task.round, err);
  }
  return GBT_OK;
}

static void score_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_chunk *chunk = &be->rows.chunk[task];
  double *score = be->view.score;
  double value = be->leaf.value[chunk->node];
  (void)thread;
  for (uint32_t i = chunk->beg; i < chunk->end; i++) score[be->rows.order[i]] += value;
}

/* Values to the scores of train rows; linear leaves have added them to those of the rows that were drawn. */
static gbt_status score_train(gbt_ctx *ctx, cpu_backend *be, int walked, gbt_error *err) {
  const uint32_t *others = be->rows.order + be->rows.n_in;
  if (be->linear.on) return cpu_route(ctx, be, 0, others, be->n_rows - be->rows.n_in, be->leaf.value, err);
  if (walked) return cpu_walk_scores(ctx, be, err);
  /* Row by row is quicker than routing some of them, unless these are few. */
  if ((be->n_rows - be->rows.n_in) / 8 > be->rows.n_in / 64 && cpu_walk_can(be))
    return cpu_walk_scores(ctx, be, err);
  /* be->rows.chunk still lists the leaves' rows */
  GBT_TRY(cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 1.0 * be->rows.n_in, score_task, be, err));
  return cpu_route(ctx, be, 0, others, be->n_rows - be->rows.n_in, be->leaf.value, err);
}

/* Of a validation set, whose rows' leaves are kept for the trees that have the same splits. */
typedef struct valid_job {
  const uint32_t *leaf;
  const double *value;
  double *score;
  int64_t n;
} valid_job;

static void valid_task(void *arg, int64_t task, int thread) {
  const valid_job *job = arg;
  const int64_t beg = task * CPU_TASK_ROWS, end = job->n - beg < CPU_TASK_ROWS ? job->n : beg + CPU_TASK_ROWS;
  (void)thread;
  for (int64_t i = beg; i < end; i++) job->score[i] += job->value[job->leaf[i]];
}

static gbt_status score_valid(gbt_ctx *ctx, cpu_backend *be, int32_t s, gbt_error *err) {
  const int64_t n = be->data[s]->rows.n;
  if (!be->task.shares) return cpu_route(ctx, be, s, NULL, n, be->leaf.value, err);
  if (be->leaf.of == NULL)
    GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_valid + 1, sizeof *be->leaf.of, &be->leaf.of, err));
  if (be->leaf.of[s] == NULL) GBT_TRY(gbt_mem_array(&be->mem, (size_t)n, sizeof **be->leaf.of, &be->leaf.of[s], err));
  if (be->task.output == 0) GBT_TRY(cpu_route_leaves(ctx, be, s, be->leaf.of[s], err));
  valid_job job = {be->leaf.of[s], be->leaf.value, be->score[s] + (size_t)be->task.output * (size_t)n, n};
  return cpu_parallel(ctx, cpu_n_tasks(n), 1.0 * (double)n, valid_task, &job, err);
}

/* From fine sums to the forest and to scores. */
static gbt_status put_tree(gbt_ctx *ctx, cpu_backend *be, int walked, gbt_forest *forest, gbt_error *err) {
  gbt_status status = GBT_OK;
  const size_t n_trees = forest->n_trees;
  GBT_TRY(leaf_values(be, err));
  cpu_linear_begin(be, forest);
  GBT_ASSERT(!walked || !be->linear.on);
  if (be->linear.on) GBT_TRY(cpu_linear_leaves(ctx, be, forest, err));
  gbt_grown grown = {.node = be->fr.node,
                     .n_nodes = be->fr.n_nodes,
                     .sets = be->fr.sets,
                     .n_set_words = be->fr.n_set_words,
                     .fine = be->leaf.fine,
                     .value = be->leaf.value,
                     .unit_h = be->grad.scale[be->task.output].down_h,
                     .symmetric = gbt_policy_one_split(be->fr.policy.kind)};
  if (be->linear.on) grown.linear = (gbt_linear_tree){be->linear.of, be->linear.leaf, be->linear.term};
  GBT_TRY(gbt_export_tree(&be->mem, &be->leaf.out, &grown, be->cuts, forest, err));
  GBT_TRY_GOTO(score_train(ctx, be, walked, err), done);
  for (int32_t s = 1; s <= be->n_valid; s++)
    GBT_TRY_GOTO(score_valid(ctx, be, s, err), done);
done:
  if (status != GBT_OK) gbt_forest_cut(forest, n_trees);
  return status;
}

gbt_status cpu_finish_tree(gbt_ctx *ctx, gbt_backend *self, gbt_forest *forest, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  int64_t t0 = gbt_clock_ns();
  GBT_TRY(cpu_gather_end(ctx, be, err));
  GBT_TRY(cpu_renew_leaves(ctx, be, err));
  GBT_TRY(fine_sums(ctx, be, err));
  if (gbt_policy_one_split(be->fr.policy.kind)) gbt_frontier_set_bulk_sides(&be->fr);
  GBT_TRY(cpu_step_leaves(ctx, be, err));
  GBT_TRY(put_tree(ctx, be, 0, forest, err));
  self->seconds[GBT_PHASE_LEAF] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}

gbt_status cpu_finish_walked(gbt_ctx *ctx, cpu_backend *be, gbt_forest *forest, gbt_error *err) {
  int64_t t0 = gbt_clock_ns();
  GBT_ASSERT(be->renew.key == NULL && be->steps.n == 0);
  if (gbt_policy_one_split(be->fr.policy.kind)) gbt_frontier_set_bulk_sides(&be->fr);
  GBT_TRY(put_tree(ctx, be, 1, forest, err));
  be->base.seconds[GBT_PHASE_LEAF] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}
