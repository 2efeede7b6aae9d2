/* Applies the splits of an existing tree to the rows of this backend.
 *
 *   walked           where columns are kept: all nodes get their splits, cpu_walk_tree leads the rows down and adds
 *                    gradients up; bounds; cpu_finish_walked
 *   split            elsewhere, and where leaves are quantiles or take several steps, which need their rows together:
 *     layer by layer   nodes get the splits, cpu_partition moves the rows
 *     then             nodes to the numbers that they have in the tree; sums of gradients from the leaves upwards;
 *                      bounds and weights from the root downwards, as growth would have made them
 *     at last          cpu_finish_tree, as for a tree that was grown
 *
 * Where the trees of all outputs share splits, only the first one leads the rows down: the others find them there, in
 * order or by their leaves, and give the nodes, which are in the table, their own sums, gains and values.
 *
 * Growth knows a node's sums when it splits it; here they are known only at the end. */
#include <string.h>

#include "../base/clock.h"
#include "../base/comm.h"
#include "../tree/search.h"
#include "cpu.h"

void cpu_refit_close(cpu_backend *be) { gbt_mem_free(&be->mem, be->refit.like); }

/* The split of node `at` of the tree, to the node of the table. */
static gbt_status put_split(cpu_backend *be, const gbt_tree_parts *tree, uint32_t at, int32_t id, gbt_error *err) {
  gbt_grow_node *node = &be->fr.node[id];
  node->split = gbt_import_split(tree, at, be->cuts);
  node->kept = node->split.gain == 0.0;
  if (node->split.kind == GBT_SPLIT_NUMERIC) return GBT_OK;
  const gbt_node *from = &tree->nodes[at];
  node->set_words = from->arg.set.n_words;
  GBT_TRY(gbt_frontier_set(&be->fr, node->set_words, &node->set_beg, err));
  if (node->set_words > 0)
    memcpy(be->fr.sets + node->set_beg, tree->sets + from->arg.set.beg, node->set_words * sizeof *be->fr.sets);
  return GBT_OK;
}

/* Those of the fresh nodes that the tree splits become the chosen ones. */
static gbt_status choose(cpu_backend *be, const gbt_tree_parts *tree, gbt_error *err) {
  gbt_frontier *fr = &be->fr;
  fr->n_chosen = 0;
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->chosen, &fr->cap_chosen, fr->n_nodes, sizeof *fr->chosen, err));
  for (size_t i = 0; i < fr->n_fresh; i++) {
    const int32_t id = fr->fresh[i];
    if (tree->nodes[be->refit.like[id]].left == 0) continue;
    GBT_TRY(put_split(be, tree, be->refit.like[id], id, err));
    fr->chosen[fr->n_chosen++] = id;
  }
  fr->n_fresh = 0;
  return GBT_OK;
}

/* Splits all layers. Nodes are numbered by layers for now. */
static gbt_status split_layers(gbt_ctx *ctx, cpu_backend *be, const gbt_tree_parts *tree, gbt_error *err) {
  gbt_frontier *fr = &be->fr;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->refit.like, &be->refit.cap_like, tree->n_nodes, sizeof *be->refit.like, err));
  be->refit.like[0] = 0;
  for (;;) {
    GBT_TRY(choose(be, tree, err));
    if (fr->n_chosen == 0) break;
    GBT_TRY(cpu_partition(ctx, &be->base, err));
    for (size_t i = 0; i < fr->n_chosen; i++) {
      const gbt_grow_node *node = &fr->node[fr->chosen[i]];
      const uint32_t left = tree->nodes[be->refit.like[fr->chosen[i]]].left;
      GBT_ASSERT(node->left > 0 && (size_t)node->left + 1 < fr->n_nodes && fr->n_nodes <= tree->n_nodes);
      be->refit.like[node->left] = left;
      be->refit.like[node->left + 1] = left + 1;
    }
  }
  GBT_ASSERT(fr->n_nodes == tree->n_nodes);
  for (size_t i = 0; i < fr->n_nodes; i++) fr->node[i].number = (int32_t)be->refit.like[i];
  return gbt_frontier_renumber(fr, err);
}

/* All nodes at once, with the numbers that they have in the tree. Their rows are counted later. */
static gbt_status copy_nodes(cpu_backend *be, const gbt_tree_parts *tree, gbt_error *err) {
  gbt_frontier *fr = &be->fr;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->refit.like, &be->refit.cap_like, tree->n_nodes, sizeof *be->refit.like, err));
  uint32_t *parent = be->refit.like; /* by left child */
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    if (tree->nodes[i].left > 0) parent[tree->nodes[i].left] = i;
  for (uint32_t left = 1; left < tree->n_nodes; left += 2) {
    GBT_ASSERT(parent[left] < left && tree->nodes[parent[left]].left == left);
    GBT_TRY(put_split(be, tree, parent[left], (int32_t)parent[left], err));
    GBT_TRY(gbt_frontier_split(fr, (int32_t)parent[left], 0, err));
    GBT_ASSERT(fr->node[parent[left]].left == (int32_t)left);
  }
  fr->n_fresh = 0;
  return GBT_OK;
}

static void sum_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  cpu_chunk *chunk = &be->rows.chunk[task];
  (void)thread;
  chunk->fine = cpu_sum_rows(be, chunk->beg, chunk->end);
}

/* Sums of all nodes but the root, in histogram units. */
static gbt_status sum_nodes(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  gbt_frontier *fr = &be->fr;
  const size_t n = fr->n_nodes;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->leaf.fine, &be->leaf.cap_fine, n, sizeof *be->leaf.fine, err));
  memset(be->leaf.fine, 0, n * sizeof *be->leaf.fine);
  GBT_TRY(cpu_leaf_sums(ctx, be, sum_task, err));
  for (size_t i = 1; i < n; i++) fr->node[i].sum = be->leaf.fine[i];
  GBT_ASSERT(be->leaf.fine[0].g == fr->node[0].sum.g && be->leaf.fine[0].h == fr->node[0].sum.h);
  return GBT_OK;
}

/* Bounds and weights of all nodes but the root; before them gains, where these are computed again. */
static void bound_nodes(cpu_backend *be) {
  gbt_frontier *fr = &be->fr;
  for (size_t i = 0; i < fr->n_nodes; i++) {
    gbt_grow_node *node = &fr->node[i], *left = &fr->node[node->left], *right = left + 1;
    if (node->left == 0) continue;
    if (be->task.rates) gbt_rate_existing_split(&fr->policy, be->split.constrained, node, left, right);
    gbt_grow_bound(&fr->policy, node, left, right);
    left->weight = gbt_grow_child_weight(&fr->policy, node, left);
    right->weight = gbt_grow_child_weight(&fr->policy, node, right);
  }
}

/* Whether all splits are on features that have a column of their own. */
static int columns_split(const cpu_backend *be, const gbt_tree_parts *tree) {
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    if (tree->nodes[i].left > 0 && !cpu_has_column(be, (int32_t)(tree->nodes[i].feat & GBT_NODE_FEATURE))) return 0;
  return 1;
}

/* again: the nodes are there. */
static gbt_status walk(gbt_ctx *ctx, cpu_backend *be, const gbt_tree_parts *tree, int again, gbt_error *err) {
  const int64_t t0 = gbt_clock_ns();
  GBT_TRY(cpu_gather_end(ctx, be, err)); /* all rows walk; a tree of one leaf does so without columns, too */
  if (!again) GBT_TRY(copy_nodes(be, tree, err));
  GBT_TRY(cpu_walk_tree(ctx, be, err));
  be->base.seconds[GBT_PHASE_PARTITION] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}

/* Begins a tree with the splits and rows of the one before, of another output. */
static gbt_status begin_again(gbt_ctx *ctx, cpu_backend *be, const gbt_tree_task *task, const gbt_tree_parts *tree,
                              gbt_error *err) {
  gbt_frontier *fr = &be->fr;
  gbt_grow_node *root = &fr->node[0];
  GBT_ASSERT(task->tree == be->task.tree && task->round == be->task.round && fr->n_nodes == tree->n_nodes);
  GBT_TRY(cpu_scratch_ready(ctx, be, err));
  be->task = *task;
  GBT_TRY(cpu_gradients_of_tree(ctx, be, err));
  cpu_view_train(be);
  GBT_TRY(cpu_rows_sum(ctx, be, &root->sum, err));
  int64_t all[2] = {root->sum.g, root->sum.h};
  GBT_TRY(gbt_comm_sum_i64(ctx, all, 2, err));
  root->sum = (gbt_sum){all[0], all[1]};
  fr->policy.unit = cpu_units(be);
  root->weight = gbt_grow_weight(&fr->policy, root->sum, root->bounds);
  fr->n_set_words = 0;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    GBT_ASSERT((uint32_t)fr->node[i].left == tree->nodes[i].left);
    if (tree->nodes[i].left > 0) GBT_TRY(put_split(be, tree, i, (int32_t)i, err));
  }
  return GBT_OK;
}

gbt_status cpu_refit_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                           const gbt_forest_view *like, uint64_t first, gbt_forest *forest, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  const gbt_tree_parts tree = gbt_tree_of(like, first);
  const gbt_policy_kind kind = be->fr.policy.kind;
  GBT_ASSERT(n_trees == 1 && first < like->n_trees);
  const int again = task->shares && task->output > 0;
  GBT_TRY(again ? begin_again(ctx, be, task, &tree, err) : self->ops->begin_trees(ctx, self, task, n_trees, err));
  if (!again) GBT_TRY(cpu_ranks_sum_root(ctx, be, err));
  /* A layer is split as a whole, whatever the order in which growth came to its nodes. */
  if (!gbt_policy_one_split(kind)) be->fr.policy.kind = GBT_DEPTHWISE;
  const int walks = be->renew.key == NULL && be->steps.n == 0 && forest->linear == NULL && columns_split(be, &tree);
  gbt_status status = GBT_OK;
  if (walks) status = walk(ctx, be, &tree, again, err);
  else if (!again) status = split_layers(ctx, be, &tree, err);
  be->fr.policy.kind = kind;
  if (status != GBT_OK) return status;
  if (!walks) GBT_TRY(sum_nodes(ctx, be, err));
  bound_nodes(be);
  return walks ? cpu_finish_walked(ctx, be, forest, err) : cpu_finish_tree(ctx, self, forest, err);
}
