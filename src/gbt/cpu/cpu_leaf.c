/* The end of a tree: fine sums of every node, leaf values, the tree into the forest, values into the scores.
 *
 * Fine sums add the 32-bit gradients of a leaf's rows in 64 bits, so leaf values carry none of the rounding that the
 * 16-bit histograms have. The leaf knows the sum of its 16-bit ones; what these leave out is added here. Inner nodes
 * are the sums of their children. */
#include <string.h>

#include "cpu.h"

/* What a chunk adds to the leaf's sum in histogram units, which the leaf knows but for symmetric trees. */
static void fine_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  cpu_chunk *chunk = &be->chunk[task];
  const int wide = be->wide[be->task.output];
  gbt_sum s = {0, 0};
  (void)thread;
  if (!wide)
    s = be->kernels->rest(chunk->end - chunk->beg, be->rows + chunk->beg, cpu_rounding_key(be, be->task.output),
                          cpu_low(be));
  if (be->fr.grow_policy == GBT_SYMMETRIC) {
    gbt_sum coarse = cpu_sum_rows(be, chunk->beg, chunk->end);
    s.g += coarse.g * (wide ? 1 : 65536);
    s.h += coarse.h * (wide ? 1 : 65536);
  }
  chunk->fine = s;
}

/* Sums of the leaves as far as they are known; 0 elsewhere. A symmetric tree does not keep those of nodes that are
 * split for its shape alone. */
static void start_sums(cpu_backend *be) {
  const int64_t unit = be->wide[be->task.output] ? 1 : 65536;
  for (size_t i = 0; i < be->fr.n_nodes; i++) {
    const gbt_grow_node *node = &be->fr.node[i];
    int known = node->left == 0 && be->fr.grow_policy != GBT_SYMMETRIC;
    be->fine[i].g = known ? node->sum.g * unit : 0;
    be->fine[i].h = known ? node->sum.h * unit : 0;
  }
}

static gbt_status fine_sums(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  size_t n_nodes = be->fr.n_nodes;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->fine, &be->cap_fine, n_nodes, sizeof *be->fine, err));
  be->n_chunk = 0;
  for (size_t i = 0; i < n_nodes; i++) {
    const gbt_grow_node *node = &be->fr.node[i];
    if (node->left == 0) GBT_TRY(cpu_add_chunks(be, (int32_t)i, 0, node->row_beg, node->n_rows, CPU_TASK_ROWS, err));
  }
  GBT_TRY(cpu_parallel(ctx, (int64_t)be->n_chunk, 2.0 * be->n_in, fine_task, be, err));
  start_sums(be);
  for (size_t c = 0; c < be->n_chunk; c++) {
    gbt_sum *s = &be->fine[be->chunk[c].node];
    s->g += be->chunk[c].fine.g;
    s->h += be->chunk[c].fine.h;
  }
  for (size_t i = n_nodes; i-- > 1;) { /* children are numbered above their parents */
    gbt_sum *s = &be->fine[be->fr.node[i].parent];
    s->g += be->fine[i].g;
    s->h += be->fine[i].h;
  }
  return GBT_OK;
}

static gbt_status leaf_values(cpu_backend *be, gbt_error *err) {
  const gbt_scale *scale = &be->scale[be->task.output];
  size_t n_nodes = be->fr.n_nodes;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->value, &be->cap_value, n_nodes, sizeof *be->value, err));
  for (size_t i = 0; i < n_nodes; i++) {
    const gbt_grow_node *node = &be->fr.node[i];
    double g = (double)be->fine[i].g * scale->down_g, h = (double)be->fine[i].h * scale->down_h;
    int kept = node->parent >= 0 && be->fr.node[node->parent].kept;
    be->value[i] = kept ? gbt_clip(be->value[node->parent], node->bounds) : gbt_weight(g, h, be->fr.reg, node->bounds);
  }
  for (size_t i = 0; i < n_nodes; i++) {
    be->value[i] = be->value[i] * be->task.shrinkage;
    if (!(be->value[i] < 1e300 && be->value[i] > -1e300))
      return gbt_fail(err, GBT_E_DATA, "a leaf value overflows in round %lld; set lambda or max_delta_step above 0",
                      (long long)be->task.round + 1);
  }
  return GBT_OK;
}

/* One growing node as it stands in the forest. */
static gbt_node export_node(const cpu_backend *be, size_t i, uint32_t *n_words) {
  const gbt_grow_node *from = &be->fr.node[i];
  gbt_node node;
  memset(&node, 0, sizeof node);
  if (from->left == 0) {
    node.arg.value = be->value[i];
    return node;
  }
  const gbt_split *s = &from->split;
  node.left = (uint32_t)from->left;
  node.feat =
      (uint32_t)s->feat | (s->missing_left ? GBT_NODE_MISSING_LEFT : 0u) | (from->bulk_left ? GBT_NODE_BULK_LEFT : 0u);
  if (s->kind == GBT_SPLIT_NUMERIC) {
    node.arg.value = be->cuts->feat[s->feat].cut[s->bin];
    return node;
  }
  node.feat |= GBT_NODE_CATEGORICAL;
  node.arg.set.n_words = from->set_words;
  if (be->fr.grow_policy == GBT_SYMMETRIC && i > 0 && from->depth == from[-1].depth) { /* one for a level */
    node.arg.set.beg = be->out_node[i - 1].arg.set.beg;
    return node;
  }
  node.arg.set.beg = *n_words;
  memcpy(be->out_sets + *n_words, be->fr.sets + from->set_beg, from->set_words * sizeof *be->out_sets);
  *n_words += from->set_words;
  return node;
}

static gbt_status export_tree(cpu_backend *be, gbt_forest *forest, gbt_error *err) {
  size_t n = be->fr.n_nodes;
  uint32_t n_words = 0;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->out_node, &be->cap_out[0], n, sizeof *be->out_node, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->out_gain, &be->cap_out[1], n, sizeof *be->out_gain, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->out_cover, &be->cap_out[2], n, sizeof *be->out_cover, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->out_count, &be->cap_out[3], n, sizeof *be->out_count, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->out_sets, &be->cap_out[4], be->fr.n_sets + 1, sizeof *be->out_sets, err));
  for (size_t i = 0; i < n; i++) {
    const gbt_grow_node *from = &be->fr.node[i];
    be->out_node[i] = export_node(be, i, &n_words);
    be->out_gain[i] = from->left ? from->split.gain : 0.0;
    be->out_cover[i] = (double)be->fine[i].h * be->scale[be->task.output].down_h;
    be->out_count[i] = from->n_rows;
  }
  return gbt_forest_add(forest, (uint32_t)n, be->out_node, be->out_gain, be->out_cover, be->out_count, n_words,
                        be->out_sets, err);
}

static void score_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_chunk *chunk = &be->chunk[task];
  double *score = be->score[0] + (size_t)be->task.output * (size_t)be->n_rows;
  double value = be->value[chunk->node];
  (void)thread;
  for (uint32_t i = chunk->beg; i < chunk->end; i++) score[be->rows[i]] += value;
}

gbt_status cpu_finish_tree(gbt_ctx *ctx, gbt_backend *self, gbt_forest *forest, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  int64_t t0 = gbt_clock_ns();
  size_t n_trees = forest->n_trees;
  gbt_status status = GBT_OK;
  if (be->fr.grow_policy == GBT_SYMMETRIC) gbt_frontier_bulk(&be->fr);
  GBT_TRY(fine_sums(ctx, be, err));
  GBT_TRY(leaf_values(be, err));
  GBT_TRY(export_tree(be, forest, err));
  /* be->chunk still lists the leaves' rows */
  GBT_TRY_GOTO(cpu_parallel(ctx, (int64_t)be->n_chunk, 1.0 * be->n_in, score_task, be, err), done);
  GBT_TRY_GOTO(cpu_route(ctx, be, 0, be->rows + be->n_in, be->n_rows - be->n_in, be->value, err), done);
  for (int32_t s = 1; s <= be->n_valid; s++)
    GBT_TRY_GOTO(cpu_route(ctx, be, s, NULL, be->sets[s]->n_rows, be->value, err), done);
done:
  if (status != GBT_OK) gbt_forest_cut(forest, n_trees);
  self->seconds[GBT_PHASE_LEAF] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return status;
}
