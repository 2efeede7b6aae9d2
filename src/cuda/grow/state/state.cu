/* The memory of the state of each growing tree; there are as many as trees of a batch.
 *
 *   CU_DOWN | CU_CLEARED | CU_SCRATCH      of CU_TREE_STATE, each part followed by that of CU_LAYER_STATE
 *
 * CU_DOWN is cleared once as well, as more of it comes down than a tree has written. */
#include "ops.cuh"

#include "../search/layer.cuh"
#include "ranks.cuh"

/* Hands out memory from `base` on; with base 0 it only counts. */
struct places {
  uintptr_t base;
  size_t bytes;
};

template <class T> static void place(places *at, T **out, size_t n) {
  GBT_ASSERT((at->base + at->bytes) % alignof(T) == 0);
  *out = (T *)(at->base + at->bytes);
  at->bytes += (n * sizeof(T) + 255u) / 256u * 256u;
}

/* One part of the tree's state and, where trees are symmetric (l), of the layers'. */
static void place_part(const cu_backend *be, size_t nodes, int part, cu_tree_state *state, cu_layer_view *layers,
                       places *at) {
  const cu_view *v = &be->view;
  const cu_layer_view *l = layers ? &be->layer->view : NULL;
#define PLACE_STATE(its_part, type, name, count) \
  if (part == its_part) place(at, &state->name, (size_t)(count));
#define PLACE_LAYER(its_part, type, name, count) \
  if (part == its_part) place(at, &layers->name, (size_t)(count));
  CU_TREE_STATE(PLACE_STATE)
  if (!l) return;
  CU_LAYER_STATE(PLACE_LAYER)
}

/* Everything; *cleared: bytes that begin as 0. Returns the bytes of a tree. layers: NULL unless trees are symmetric. */
static size_t place_all(const cu_backend *be, void *base, cu_tree_state *state, cu_layer_view *layers,
                        size_t *cleared) {
  places at = {(uintptr_t)base, 0};
  for (int part = 0; part < CU_N_PARTS; part++) {
    if (part == CU_SCRATCH) *cleared = at.bytes;
    place_part(be, (size_t)be->view.max_nodes, part, state, layers, &at);
  }
  return at.bytes;
}

cu_tree_state cu_tree_down(const cu_backend *be, const void *base, size_t nodes, size_t *bytes) {
  cu_tree_state state = cu_tree_state();
  places at = {(uintptr_t)base, 0};
  place_part(be, nodes, CU_DOWN, &state, NULL, &at);
  *bytes = at.bytes;
  return state;
}

size_t cu_state_bytes(const cu_backend *be) {
  cu_tree_state state;
  cu_layer_view layers;
  size_t cleared;
  return place_all(be, NULL, &state, be->layer ? &layers : NULL, &cleared);
}

gbt_status cu_state_open(cu_backend *be, gbt_error *err) {
  cu_view *v = &be->view;
  const size_t n_trees = (size_t)be->base.most_trees, masks = cu_n_masks(v) * (size_t)be->n_features;
  size_t cleared = 0;
  v->stride = cu_state_bytes(be);
  GBT_TRY(cu_new(&be->device.memory, &be->state, n_trees * v->stride, err));
  const size_t placed = place_all(be, be->state.at, v, be->layer ? &be->layer->view : NULL, &cleared);
  GBT_ASSERT(placed == v->stride && cleared <= v->stride);
  GBT_ASSERT((const unsigned char *)v->allowed + masks <= be->state.at + v->stride);
  for (size_t y = 0; y < n_trees; y++) {
    CU_TRY(cudaMemsetAsync(be->state.at + y * v->stride, 0, cleared, be->device.stream));
    CU_TRY(cudaMemsetAsync(v->allowed + y * v->stride, 1, masks, be->device.stream));
  }
  return GBT_OK;
}

/* So far apart here and there. One copy for all trees, unless they are farther apart than such a copy can go: with
 * 130 million rows they do. */
static cudaError_t copy_all(const cu_backend *be, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                            size_t bytes, cudaMemcpyKind kind) {
  const size_t n = (size_t)be->view.n_trees;
  GBT_ASSERT(n <= (size_t)be->base.most_trees && bytes <= to_pitch && bytes <= from_pitch);
  const cu_device *device = &be->device;
  cudaError_t code = cudaSuccess;
  if (n > 1 && to_pitch <= device->most_pitch && from_pitch <= device->most_pitch)
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, n, kind, device->stream);
  for (size_t y = 0; y < n && code == cudaSuccess; y++)
    code = cudaMemcpyAsync((char *)to + y * to_pitch, (const char *)from + y * from_pitch, bytes, kind, device->stream);
  return code;
}

cudaError_t cu_state_send(const cu_backend *be, void *to, const void *from, size_t bytes) {
  return copy_all(be, to, be->view.stride, from, bytes, bytes, cudaMemcpyHostToDevice);
}

cudaError_t cu_state_fetch(const cu_backend *be, void *to, size_t pitch, const void *from, size_t bytes) {
  return copy_all(be, to, pitch, from, be->view.stride, bytes, cudaMemcpyDeviceToHost);
}

void cu_take_tasks(cu_backend *be, const gbt_tree_task *task, int32_t n_trees) {
  for (int32_t y = 0; y < n_trees; y++) {
    cu_task *to = &be->task[y];
    *static_cast<gbt_tree_task *>(to) = task[y];
    to->grads = gbt_gradients_are_kept(&be->objective) ? task[y].output : task[y].output - task[0].output;
  }
  const int32_t n_outputs = task[n_trees - 1].output - task[0].output + 1;
  GBT_ASSERT(n_outputs >= 1 && n_trees >= n_outputs && n_trees <= be->base.most_trees);
  be->view.n_trees = n_trees;
  be->view.n_turns = n_trees / n_outputs;
  GBT_ASSERT(be->view.n_turns * n_outputs == n_trees); /* each has as many */
}

gbt_status cu_faults_of(const cu_backend *be, const cu_tree *tree, gbt_error *err) {
  if (tree->fault & CU_FAULT_GRADIENT) return gbt_gradients_overflow(tree->fault_round, err);
  if (tree->fault & CU_FAULT_ROOM)
    return gbt_fail_device(
        err, GBT_E_MEM,
        "a tree has more than %d nodes, or its sets of levels take more than %d megabytes, which is too "
        "much for the device; set `max_leaves` or a smaller `max_depth`",
        (int)be->view.max_nodes, (int)(CU_MOST_WORDS / 262144u));
  if (tree->fault & CU_FAULT_VALUE) return gbt_leaf_overflows(tree->fault_round, err);
  return GBT_OK;
}

gbt_status cu_wait(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  GBT_TRY(cu_nccl_wait(ctx, be, err));
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  return gbt_ctx_poll(ctx, err);
}

gbt_status cu_read_states(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  CU_TRY(cu_state_fetch(be, (void *)cu_down_of(be, 0), be->down.bytes, be->view.tree, sizeof *be->down.tree));
  return cu_wait(ctx, be, err);
}

gbt_status cu_find_any(gbt_ctx *ctx, cu_backend *be, cu_wanted wanted, int *is_any, gbt_error *err) {
  *is_any = be->data[0].stream_end == 0 || be->view.shared; /* other ranks wait for their part */
  if (*is_any) return GBT_OK;
  GBT_TRY(cu_read_states(ctx, be, err));
  for (int32_t y = 0; y < be->view.n_trees; y++) {
    const cu_tree *tree = cu_down_of(be, y);
    *is_any |= (wanted == CU_BUILDS ? tree->n_hist_blocks : tree->n_split_blocks) > 0;
  }
  return GBT_OK;
}
