/* A tree that was grown here before, to the scores of a data set once more: its nodes come to the table of the tree
 * that grows, which is empty between rounds, and rows go down it as at the end of a tree. */
#include <string.h>

#include "../base/clock.h"
#include "cpu.h"

static gbt_status put_tree(cpu_backend *be, const gbt_tree_parts *tree, double times, gbt_error *err) {
  gbt_frontier *fr = &be->fr;
  const size_t n = tree->n_nodes;
  fr->n_nodes = fr->n_fresh = fr->n_chosen = fr->n_open = 0;
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->node, &fr->cap_nodes, n, sizeof *fr->node, err));
  GBT_TRY(gbt_mem_grow(&fr->mem, &fr->sets, &fr->cap_set_words, tree->n_words, sizeof *fr->sets, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->leaf.value, &be->leaf.cap_value, n, sizeof *be->leaf.value, err));
  if (tree->n_words > 0) memcpy(fr->sets, tree->sets, tree->n_words * sizeof *fr->sets);
  gbt_import_tree(tree, be->cuts, times, fr->node, be->leaf.value);
  fr->n_set_words = tree->n_words;
  fr->n_nodes = n;
  return GBT_OK;
}

gbt_status cpu_add_trees(gbt_ctx *ctx, gbt_backend *self, int32_t which, const gbt_tree_task *task, int32_t n_trees,
                         const gbt_forest_view *from, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  const int64_t t0 = gbt_clock_ns();
  const gbt_tree_parts tree = gbt_tree_of(from, task->tree);
  GBT_ASSERT(n_trees == 1);
  be->task = *task;
  cpu_view_train(be);
  GBT_TRY(put_tree(be, &tree, task->shrinkage, err));
  const int walks = which == 0 && be->view.column != NULL && cpu_walk_can(be);
  GBT_TRY(walks ? cpu_walk_scores(ctx, be, 0, err)
                : cpu_route(ctx, be, which, NULL, be->data[which]->rows.n, be->leaf.value, err));
  self->seconds[GBT_PHASE_LEAF] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}
