/* The way of finished trees to the host: the parts CU_DOWN of their states, and their sets.
 *
 * As much as most trees need is copied right after the last step, so that the host waits once; for a larger tree, whose
 * size the host has read then, it fetches the whole tree.
 *
 *   device   grow batch k | copy to place 0 | gradients, grow batch k + 1     | copy to place 1 | ..
 *   host              wait for it           | issue k + 1, batch k to the forest     wait       | ..
 *
 * Where nothing has to be known of a batch before the next is issued (cu_down_can_defer) the host waits for batch k
 * when k + 1 is under way.
 *
 * The copies are no part of a recording, whose places would be the same each time. */
#include "ops.cuh"

enum : size_t {
  COPY_NODES = 8192, /* so many nodes come down unasked with the tree's state */
  COPY_WORDS = 1 << 16
};

gbt_status cu_down_open(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  const size_t n_trees = (size_t)be->base.most_trees;
  cu_down *d = &be->down;
  d->cap_node = (size_t)v->max_nodes < COPY_NODES ? (size_t)v->max_nodes : (size_t)COPY_NODES;
  d->cap_words = v->max_words < COPY_WORDS ? (size_t)v->max_words : (size_t)COPY_WORDS;
  (void)cu_tree_down(be, NULL, d->cap_node, &d->bytes);
  CU_TRY(cudaEventCreateWithFlags(&d->come, cudaEventDisableTiming));
  GBT_TRY(cu_host_alloc(2 * n_trees * d->bytes, &d->tree, err));
  return cu_host_alloc(2 * n_trees * d->cap_words * sizeof *d->sets, &d->sets, err);
}

void cu_down_close(cu_backend *be) {
  cu_down *d = &be->down;
  if (d->come) (void)cudaEventDestroy(d->come);
  cu_host_free(&d->tree);
  cu_host_free(&d->sets);
  void *blocks[] = {d->node_copy, d->fine_copy, d->value_copy, d->sets_copy};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
  gbt_export_free(&be->mem, &d->out);
}

/* Tree y at a place. */
static cu_tree *tree_at(const cu_backend *be, int place, int32_t y) {
  GBT_ASSERT(y >= 0 && y < be->base.most_trees);
  const size_t number = (size_t)place * (size_t)be->base.most_trees + (size_t)y;
  return (cu_tree *)(void *)((char *)be->down.tree + number * be->down.bytes);
}
static uint32_t *sets_at(const cu_backend *be, int place, int32_t y) {
  return be->down.sets + ((size_t)place * (size_t)be->base.most_trees + (size_t)y) * be->down.cap_words;
}

const cu_tree *cu_down_of(const cu_backend *be, int32_t y) { return tree_at(be, be->down.place, y); }

void cu_down_swap(cu_backend *be) { be->down.place ^= 1; }

gbt_status cu_down_send(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  cu_down *d = &be->down;
  const size_t nodes = d->cap_node, pitch = d->bytes, words = d->cap_words * sizeof *v->sets;
  size_t bytes;
  const cu_tree_state to = cu_tree_down(be, tree_at(be, d->place, 0), nodes, &bytes);
  if (v->max_words > 1) CU_TRY(cu_state_fetch(be, sets_at(be, d->place, 0), words, v->sets, words));
  if (nodes == (size_t)v->max_nodes) {
    CU_TRY(cu_state_fetch(be, to.tree, pitch, v->tree, bytes));
    return GBT_OK;
  }
  CU_TRY(cu_state_fetch(be, to.node, pitch, v->node, nodes * sizeof *v->node));
  CU_TRY(cu_state_fetch(be, to.fine, pitch, v->fine, nodes * sizeof *v->fine));
  CU_TRY(cu_state_fetch(be, to.value, pitch, v->value, nodes * sizeof *v->value));
  CU_TRY(cu_state_fetch(be, to.tree, pitch, v->tree, sizeof *v->tree));
  return GBT_OK;
}

/* Tree y's part of something on the device. */
template <class T> static const T *of_tree(const cu_backend *be, const T *first, int32_t y) {
  return (const T *)((uintptr_t)first + (size_t)y * be->view.stride);
}

/* Room on the host for so many nodes and words; pageable, for trees that need more than was foreseen. */
static gbt_status grow_copies(cu_backend *be, size_t nodes, size_t words, gbt_error *err) {
  cu_down *d = &be->down;
  GBT_TRY(gbt_mem_grow(&be->mem, &d->node_copy, &d->cap_copy[0], nodes, sizeof *d->node_copy, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &d->fine_copy, &d->cap_copy[1], nodes, sizeof *d->fine_copy, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &d->value_copy, &d->cap_copy[2], nodes, sizeof *d->value_copy, err));
  return gbt_mem_grow(&be->mem, &d->sets_copy, &d->cap_copy[3], words, sizeof *d->sets_copy, err);
}

/* The part of a tree that has been copied; returns whether that is all of it. */
static int copied_part(const cu_backend *be, int place, int32_t y, gbt_grown *grown) {
  const cu_down *d = &be->down;
  const cu_tree *tree = tree_at(be, place, y);
  size_t bytes;
  const cu_tree_state come = cu_tree_down(be, tree, d->cap_node, &bytes);
  const size_t nodes = (size_t)tree->n_nodes, words = tree->n_words;
  GBT_ASSERT(nodes % 2 == 1 && nodes <= (size_t)be->view.max_nodes && words <= be->view.max_words); /* two children */
  *grown = gbt_grown();
  grown->n_nodes = nodes;
  grown->n_set_words = words;
  grown->unit_h = tree->down_h;
  grown->symmetric = gbt_policy_one_split(gbt_policy_of(be->params));
  grown->node = come.node;
  grown->fine = come.fine;
  grown->value = come.value;
  grown->sets = sets_at(be, place, y);
  return nodes <= d->cap_node && words <= d->cap_words;
}

/* All of a tree whose state is still on the device. */
static gbt_status fetch(cu_backend *be, int32_t y, gbt_grown *grown, gbt_error *err) {
  const cu_view *v = &be->view;
  const size_t nodes = grown->n_nodes, words = grown->n_set_words;
  cu_down *d = &be->down;
  cu_device *device = &be->device;
  GBT_TRY(grow_copies(be, nodes, words + 1, err));
  GBT_TRY(cu_get(device, d->node_copy, of_tree(be, v->node, y), nodes * sizeof *v->node, err));
  GBT_TRY(cu_get(device, d->fine_copy, of_tree(be, v->fine, y), nodes * sizeof *v->fine, err));
  GBT_TRY(cu_get(device, d->value_copy, of_tree(be, v->value, y), nodes * sizeof *v->value, err));
  GBT_TRY(cu_get(device, d->sets_copy, of_tree(be, v->sets, y), words * sizeof *v->sets, err));
  grown->node = d->node_copy;
  grown->fine = d->fine_copy;
  grown->value = d->value_copy;
  grown->sets = d->sets_copy;
  return GBT_OK;
}

gbt_status cu_down_whole(cu_backend *be, int32_t y, gbt_grown *grown, gbt_error *err) {
  return copied_part(be, be->down.place, y, grown) ? GBT_OK : fetch(be, y, grown, err);
}

gbt_status cu_down_take(cu_backend *be, gbt_forest *forest, gbt_error *err) {
  const int32_t n_trees = be->view.n_trees;
  cu_down *d = &be->down;
  gbt_grown grown;
  int whole = 1;
  GBT_ASSERT(d->n_left == 0);
  for (int32_t y = 0; y < n_trees; y++) whole &= copied_part(be, d->place, y, &grown);
  if (whole) {
    d->n_left = n_trees;
    d->left_at = d->place;
    d->forest = forest;
    return GBT_OK;
  }
  for (int32_t y = 0; y < n_trees; y++) {
    GBT_TRY(cu_down_whole(be, y, &grown, err));
    GBT_TRY(gbt_export_tree(&be->mem, &d->out, &grown, be->cuts, forest, err));
  }
  return GBT_OK;
}

/* The host must not write for the next batch what the device still reads for this one, and the whole trees must be
 * copied in any case, as the next batch reuses their memory. */
int cu_down_can_defer(const cu_backend *be) {
  const cu_down *d = &be->down;
  return cu_inputs_are_args(be) && be->draw.sent && d->cap_node == (size_t)be->view.max_nodes &&
         d->cap_words == (size_t)be->view.max_words;
}

gbt_status cu_down_defer(cu_backend *be, gbt_forest *forest, gbt_error *err) {
  cu_down *d = &be->down;
  GBT_ASSERT(d->n_left == 0);
  CU_TRY(cudaEventRecord(d->come, be->device.stream));
  d->ahead = 1;
  d->n_left = be->view.n_trees;
  d->left_at = d->place;
  d->forest = forest;
  return GBT_OK;
}

/* Waits for the copy of the trees that cu_down_defer left, and checks them for faults. */
static gbt_status wait_for_left(cu_backend *be, int32_t n_left, gbt_error *err) {
  cu_down *d = &be->down;
  if (!d->ahead) return GBT_OK;
  d->ahead = 0;
  CU_TRY(cudaEventSynchronize(d->come));
  for (int32_t y = 0; y < n_left; y++) GBT_TRY(cu_faults_of(be, tree_at(be, d->left_at, y), err));
  return GBT_OK;
}

gbt_status cu_down_finish(cu_backend *be, gbt_error *err) {
  cu_down *d = &be->down;
  const int32_t n_left = d->n_left;
  gbt_grown grown;
  d->n_left = 0;
  GBT_TRY(wait_for_left(be, n_left, err));
  for (int32_t y = 0; y < n_left; y++) {
    (void)copied_part(be, d->left_at, y, &grown);
    GBT_TRY(gbt_export_tree(&be->mem, &d->out, &grown, be->cuts, d->forest, err));
  }
  return GBT_OK;
}
