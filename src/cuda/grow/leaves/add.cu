/* Trees that were grown here before, to the scores of a data set once more: the twin of cpu/cpu_add.c. Nodes, sets and
 * values go up to where trees that grow have theirs, as nothing grows between rounds, and rows go down by route.cu. */
#include "ops.cuh"

#include "../state/ops.cuh"

#include <string.h>

void cu_add_close(cu_backend *be) {
  cu_added *a = &be->added;
  void *blocks[] = {a->node, a->value, a->n_nodes};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
}

/* Room for the trees, `most` nodes each. One that this device could not have grown is refused as it would have been. */
static gbt_status make_room(cu_backend *be, const gbt_tree_task *task, int32_t n, const gbt_forest_view *from,
                            size_t *most, gbt_error *err) {
  cu_added *a = &be->added;
  const size_t trees = (size_t)n;
  *most = 1;
  for (int32_t y = 0; y < n; y++) {
    const gbt_tree_parts tree = gbt_tree_of(from, task[y].tree);
    cu_tree too_large = cu_tree();
    too_large.fault = CU_FAULT_ROOM;
    if (tree.n_nodes > (uint32_t)be->view.max_nodes || tree.n_words > be->view.max_words)
      return cu_faults_of(be, &too_large, err);
    if (tree.n_nodes > *most) *most = tree.n_nodes;
  }
  GBT_TRY(gbt_mem_grow(&be->mem, &a->node, &a->cap[0], trees * *most, sizeof *a->node, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &a->value, &a->cap[1], trees * *most, sizeof *a->value, err));
  return gbt_mem_grow(&be->mem, &a->n_nodes, &a->cap[2], trees, sizeof *a->n_nodes, err);
}

/* The trees to the device. Waits, as the host's arrays are used again. */
static gbt_status send_trees(cu_backend *be, const gbt_tree_task *task, int32_t n, const gbt_forest_view *from,
                             size_t most, gbt_error *err) {
  cu_added *a = &be->added;
  const cu_view *v = &be->view;
  memset(a->node, 0, (size_t)n * most * sizeof *a->node); /* behind the nodes of smaller trees */
  memset(a->value, 0, (size_t)n * most * sizeof *a->value);
  for (int32_t y = 0; y < n; y++) {
    const gbt_tree_parts tree = gbt_tree_of(from, task[y].tree);
    uint32_t *sets = (uint32_t *)(void *)((char *)v->sets + (size_t)y * v->stride);
    gbt_import_tree(&tree, be->cuts, task[y].shrinkage, a->node + (size_t)y * most, a->value + (size_t)y * most);
    a->n_nodes[y] = (int32_t)tree.n_nodes;
    if (tree.n_words > 0) GBT_TRY(cu_put(&be->device, sets, tree.sets, tree.n_words * sizeof *sets, err));
  }
  CU_TRY(cu_state_tell(be, &v->tree->task, be->task, sizeof *be->task));
  CU_TRY(cu_state_tell(be, &v->tree->n_nodes, a->n_nodes, sizeof *a->n_nodes));
  CU_TRY(cu_state_tell(be, v->node, a->node, most * sizeof *a->node));
  CU_TRY(cu_state_tell(be, v->value, a->value, most * sizeof *a->value));
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  return GBT_OK;
}

gbt_status cu_add_trees(gbt_ctx *ctx, gbt_backend *self, int32_t which, const gbt_tree_task *task, int32_t n_trees,
                        const gbt_forest_view *from, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  const int64_t begun_ns = gbt_clock_ns();
  size_t most;
  GBT_TRY(gbt_ctx_poll(ctx, err));
  CU_TRY(cudaSetDevice(be->device.number));
  GBT_ASSERT(be->down.n_left == 0); /* what stands there has come down */
  cu_take_tasks(be, task, n_trees);
  GBT_TRY(make_room(be, task, n_trees, from, &most, err));
  GBT_TRY(send_trees(be, task, n_trees, from, most, err));
  for (int32_t turn = 0; turn < be->view.n_turns; turn++) GBT_TRY(cu_route_set(ctx, be, which, turn, err));
  self->seconds[GBT_PHASE_LEAF] += (double)(gbt_clock_ns() - begun_ns) * 1e-9;
  return GBT_OK;
}
