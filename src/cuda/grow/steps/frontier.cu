/* The tree being grown, on the device: the twin of tree/frontier.c. Between the kernels that go over rows:
 *
 *   k_root       the root, the plan of its histogram, which is cleared
 *   k_select     one block: fresh nodes get the best split of their features and open (of trees that grow together
 *                they have it: search/team_open.cu); the policy chooses; pieces of rows are planned, and which
 *                histograms are to be clear
 *   children     by the last block of k_partition (children.cuh): which ones are built, which are got by subtraction;
 *                blocks are planned
 *
 * Unless leaves are split ahead nodes have the numbers of the policy at once, so a node's place is its number and its
 * children are node.left and node.left + 1.
 *
 * Histograms are taken in order and never given back within a tree: of two children one takes its parent's,
 * so there are never more of them than leaves. Without room for that (`keeps` is 0) every step begins at number 0 and
 * builds all its nodes from their rows. */
#include "ops.cuh"

#include "ahead.cuh"
#include "clear.cuh"

/* ---- the root ---- */

namespace {

__device__ void make_root(const cu_view &v) {
  cu_tree *t = v.tree;
  gbt_grow_policy policy = cu_policy_of(v);
  gbt_grow_node root = gbt_grow_root(&policy, (uint32_t)t->all_in, t->root);
  root.own_rows = t->n_in;
  t->n_nodes = 1;
  t->n_leaves = 1;
  t->fresh_beg = t->open_beg = t->n_chosen = t->n_open = 0;
  t->n_words = 0;
  t->n_split_blocks = 0;
  t->n_search = t->n_build = t->n_hists = root.splittable;
  t->n_hist_blocks = root.splittable ? cu_hist_blocks(v, root.own_rows) : 0u;
  if (root.splittable) {
    root.hist = 0;
    v.build[0].node = v.build[0].hist = 0;
    v.search[0].node = 0;
    v.search[0].minus = -1;
    v.hist_block[0] = 0;
    v.hist_block[1] = t->n_hist_blocks;
  }
  v.node[0] = root;
}

} // namespace

__global__ static void __launch_bounds__(CU_BLOCK) k_root(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  cu_clear_hists(v, 0, 1);
  if (blockIdx.x == 0 && threadIdx.x == 0) make_root(v);
}

gbt_status cu_root(cu_backend *be, gbt_error *err) {
  CU_LAUNCH(k_root, cu_grids(be, cu_clear_pieces(&be->view), 8), CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  return GBT_OK;
}

/* ---- choosing ---- */

enum { SELECT_THREADS = 1024 };

namespace {

/* The open leaf of the largest gain. */
__device__ int32_t choose_best(const cu_view &v, int32_t *shared) {
  cu_tree *t = v.tree;
  int32_t best = -1;
  if (v.policy.max_leaves > 0 && t->n_leaves >= v.policy.max_leaves) return 0;
  for (int32_t id = t->open_beg + (int32_t)threadIdx.x; id < t->n_nodes; id += (int32_t)blockDim.x)
    if (v.node[id].open && (best < 0 || cu_gain_is_larger(v, id, best))) best = id;
  shared[threadIdx.x] = best;
  __syncthreads();
  for (uint32_t half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      int32_t a = shared[threadIdx.x], b = shared[threadIdx.x + half];
      if (b >= 0 && (a < 0 || cu_gain_is_larger(v, b, a))) shared[threadIdx.x] = b;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) v.chosen[0] = shared[0];
  return shared[0] >= 0;
}

/* Symmetric: the whole layer, whose split has been decided. */
__device__ int32_t choose_fresh(const cu_view &v) {
  cu_tree *t = v.tree;
  int32_t n = t->n_nodes - t->fresh_beg;
  if (n <= 0 || n > v.max_step || !v.node[t->fresh_beg].open) return 0;
  for (int32_t i = (int32_t)threadIdx.x; i < n; i += (int32_t)blockDim.x) v.chosen[i] = t->fresh_beg + i;
  return n;
}

} // namespace

__global__ static void __launch_bounds__(SELECT_THREADS) k_select(cu_view all, int keeps, int opened) {
  const cu_view v = cu_view_of_block(all);
  CU_SHARED(int32_t, shared, SELECT_THREADS);
  cu_tree *t = v.tree;
  const uint32_t fault = t->fault; /* may be set below by others */
  int32_t n;
  __syncthreads();
  if (fault & CU_FAULT_ROOM) {
    if (threadIdx.x == 0) t->n_chosen = 0, t->n_split_blocks = 0, t->n_clear = 0;
    return;
  }
  if (gbt_policy_one_split(v.policy.kind)) {
    n = choose_fresh(v);
  } else {
    if (!opened) cu_open_fresh(v);
    __syncthreads();
    if (v.ahead > 0)
      n = cu_choose_ahead(v);
    else
      n = gbt_policy_one_leaf(v.policy.kind) ? choose_best(v, shared) : cu_choose_layer(v, shared);
  }
  __syncthreads();
  cu_plan_chosen(v, n, keeps);
}

gbt_status cu_select(cu_backend *be, gbt_error *err) {
  unsigned threads = SELECT_THREADS; /* a warp for every node of the step, as far as there are as many */
  while (threads > CU_CONTROL && threads / CU_FULL >= 4u * (unsigned)be->view.max_step) threads /= 2;
  CU_LAUNCH(k_select, cu_grids(be, 1, 1), threads, 0, be->device.stream, be->view, be->bounds.keeps,
            be->team != NULL);
  CU_LAUNCHED();
  return GBT_OK;
}
