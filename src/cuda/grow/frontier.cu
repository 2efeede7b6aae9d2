/* The tree being grown, on the device: the twin of tree/frontier.c. Kernels of one block each, between the wide ones:
 *
 *   k_root       the root, and the plan of its histogram
 *   k_select     fresh nodes get the best split of their features and open; the policy chooses; pieces of rows are
 *                planned, and which histograms are to be clear
 *   k_children   children; who is built and who is subtracted; blocks are planned
 *
 *   k_settle     best-first growth: splits made ahead that the policy did not come to are taken back (ahead.cuh)
 *
 * Unless leaves are split ahead nodes have the numbers of the policy at once, so a node's place is its number and its
 * children are node.left and node.left + 1.
 *
 * Histograms are taken in order and never given back within a tree: of two children one takes its parent's,
 * so there are never more of them than leaves. Without room for that (`keeps` is 0) every step begins at number 0 and
 * builds all its nodes from their rows. */
#include "ahead.cuh"
#include "backend.cuh"
#include "pieces.cuh"

namespace {

__device__ uint32_t blocks_of(uint32_t n_rows, uint32_t rows) { return (n_rows + rows - 1) / rows; }

} // namespace

/* ---- the root ---- */

__global__ static void k_root(cu_view all) {
  const cu_view v = cu_mine(all);
  cu_tree *t = v.tree;
  if (threadIdx.x != 0) return;
  gbt_grow_policy policy = cu_policy_of(v);
  gbt_grow_node root = gbt_grow_root(&policy, t->n_in, t->root);
  t->n_nodes = 1;
  t->n_leaves = 1;
  t->fresh_beg = t->open_beg = t->n_chosen = t->n_open = 0;
  t->n_words = 0;
  t->n_split_blocks = 0;
  t->clear_beg = 0;
  t->n_search = t->n_build = t->n_hists = t->n_clear = root.splittable;
  t->n_hist_blocks = root.splittable ? blocks_of(root.n_rows, v.hist_rows) : 0u;
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

gbt_status cu_root(cu_backend *be, gbt_error *err) {
  CU_LAUNCH(k_root, cu_grids(be, 1, 1), CU_FULL, 0, be->device.stream, be->view);
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
    if (v.node[id].open && (best < 0 || cu_gains_more(v, id, best))) best = id;
  shared[threadIdx.x] = best;
  __syncthreads();
  for (uint32_t half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      int32_t a = shared[threadIdx.x], b = shared[threadIdx.x + half];
      if (b >= 0 && (a < 0 || cu_gains_more(v, b, a))) shared[threadIdx.x] = b;
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

namespace {

/* Pieces of the n chosen nodes, and the histograms that their children take at most: see plan_pair. */
__device__ void plan_chosen(const cu_view &v, int32_t n, int keeps) {
  cu_tree *t = v.tree;
  uint64_t rows = 0;
  uint32_t hists = 0;
  for (int32_t c = (int32_t)threadIdx.x; c < n; c += (int32_t)blockDim.x) {
    const gbt_grow_node *node = &v.node[v.chosen[c]];
    rows += node->n_rows;
    if (cu_goes_on(v, node, n)) hists += keeps && node->hist >= 0 ? 1u : 2u;
  }
  rows = cu_block_sum(rows);
  hists = cu_block_sum(hists);
  const uint32_t n_shares = cu_n_shares(rows, (uint32_t)n, v.split_rows);
  const uint32_t of_share = cu_block_prefix(n, v.split_block, [&](int64_t i) {
    gbt_grow_node *node = &v.node[v.chosen[i]];
    if (v.ahead == 0) node->open = 0; /* else it is, until the policy comes to it */
    return cu_n_pieces(node->n_rows, n_shares, v.split_rows);
  });
  if (threadIdx.x != 0) return;
  t->n_chosen = n;
  t->n_split_shares = n_shares;
  t->n_split_blocks = n_shares * of_share;
  t->clear_beg = keeps ? t->n_hists : 0;
  t->n_clear = v.max_hists - t->clear_beg;
  if (hists < (uint32_t)t->n_clear) t->n_clear = (int32_t)hists;
}

} // namespace

__global__ static void __launch_bounds__(SELECT_THREADS) k_select(cu_view all, int keeps) {
  const cu_view v = cu_mine(all);
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
    cu_open_fresh(v);
    __syncthreads();
    if (v.ahead > 0)
      n = cu_choose_ahead(v, shared);
    else
      n = gbt_policy_one_leaf(v.policy.kind) ? choose_best(v, shared) : cu_choose_layer(v, shared);
  }
  __syncthreads();
  plan_chosen(v, n, keeps);
}

gbt_status cu_select(cu_backend *be, gbt_error *err) {
  unsigned threads = SELECT_THREADS; /* a warp for every node of the step, as far as there are as many */
  while (threads > CU_CONTROL && threads / CU_FULL >= 4u * (unsigned)be->view.max_step) threads /= 2;
  CU_LAUNCH(k_select, cu_grids(be, 1, 1), threads, 0, be->device.stream, be->view, be->bounds.keeps);
  CU_LAUNCHED();
  return GBT_OK;
}

/* ---- children ---- */

namespace {

/* What a pair of siblings needs: histograms to build and nodes to search. */
struct pair_plan {
  cu_build build[2];
  cu_searched search[2];
  uint32_t n_build, n_search;
};

__device__ void plan_one(pair_plan *plan, int32_t id, const gbt_grow_node *node) {
  if (!node->splittable) return;
  plan->build[plan->n_build++].node = id;
  plan->search[plan->n_search].node = id;
  plan->search[plan->n_search++].minus = -1;
}

/* The child with fewer rows is built; the other one takes its parent's histogram, and is got by subtraction. Those of
 * builds are still to be given; search[].minus = 0 stands for the histogram of build[0]. */
__device__ pair_plan plan_pair(const cu_view &v, int32_t first, int keeps) {
  pair_plan plan = {};
  gbt_grow_node *l = &v.node[first], *r = l + 1, *parent = &v.node[l->parent];
  gbt_grow_node *small = l->n_rows <= r->n_rows ? l : r, *large = small == l ? r : l;
  int32_t small_id = small == l ? first : first + 1, large_id = small == l ? first + 1 : first;
  if (!keeps || parent->hist < 0 || !large->splittable) {
    plan_one(&plan, first, l);
    plan_one(&plan, first + 1, r);
    return plan;
  }
  large->hist = parent->hist;
  parent->hist = -1;
  plan.search[0].node = large_id;
  plan.search[0].minus = small->n_rows > 0 ? 0 : -1; /* symmetric growth alone makes empty children */
  plan.n_search = 1;
  if (small->n_rows == 0) return plan;
  plan.build[plan.n_build++].node = small_id;
  if (small->splittable) {
    plan.search[1].node = small_id;
    plan.search[1].minus = -1;
    plan.n_search = 2;
  }
  return plan;
}

__device__ void plan_builds(const cu_view &v, int keeps) {
  cu_tree *t = v.tree;
  uint32_t n_build = 0, n_search = 0;
  int32_t n_hists = keeps ? t->n_hists : 0;
  for (int32_t beg = 0; beg < t->n_chosen; beg += (int32_t)blockDim.x) {
    int32_t c = beg + (int32_t)threadIdx.x;
    pair_plan plan = {};
    if (c < t->n_chosen) plan = plan_pair(v, v.tree->fresh_beg + 2 * c, keeps);
    uint32_t total_build, total_search;
    uint32_t b = n_build + cu_block_scan(plan.n_build, &total_build);
    uint32_t s = n_search + cu_block_scan(plan.n_search, &total_search);
    for (uint32_t k = 0; k < plan.n_build; k++) {
      int32_t node = plan.build[k].node, hist = n_hists + (int32_t)(b + k);
      v.build[b + k].node = node;
      v.build[b + k].hist = hist;
      if (v.node[node].splittable) v.node[node].hist = hist;
    }
    for (uint32_t k = 0; k < plan.n_search; k++) {
      v.search[s + k] = plan.search[k];
      if (plan.search[k].minus == 0) v.search[s + k].minus = n_hists + (int32_t)b;
    }
    n_build += total_build;
    n_search += total_search;
  }
  __syncthreads();
  uint32_t blocks = cu_block_prefix(n_build, v.hist_block,
                                    [&](int64_t b) { return blocks_of(v.node[v.build[b].node].n_rows, v.hist_rows); });
  if (threadIdx.x != 0) return;
  t->n_hist_blocks = blocks;
  t->n_build = (int32_t)n_build;
  t->n_search = (int32_t)n_search;
  t->n_hists = n_hists + (int32_t)n_build;
  if (t->n_hists <= v.max_hists) return;
  t->fault |= CU_FAULT_ROOM; /* plan_tree is to see to it that this does not happen; nothing may be written there */
  t->n_hist_blocks = 0;
  t->n_build = t->n_search = 0;
}

} // namespace

__global__ static void k_children(cu_view all, int keeps) {
  const cu_view v = cu_mine(all);
  cu_tree *t = v.tree;
  gbt_grow_policy policy = cu_policy_of(v);
  const int32_t n = t->n_chosen, first = t->n_nodes;
  const int32_t turn = t->turn;
  const uint32_t n_states = t->n_split_blocks;
  __syncthreads();
  if (threadIdx.x == 0) { /* the next step has the other states, which this one has cleared */
    t->n_states[turn] = n_states;
    t->turn = !turn;
  }
  if (n == 0 || first + 2 * n > v.max_nodes) {
    if (threadIdx.x == 0) {
      if (n > 0) t->fault |= CU_FAULT_ROOM;
      t->fresh_beg = first;
      t->n_chosen = t->n_build = t->n_search = 0;
      t->n_hist_blocks = t->n_split_blocks = 0;
    }
    return;
  }
  for (int32_t c = (int32_t)threadIdx.x; c < n; c += (int32_t)blockDim.x) {
    int32_t id = v.chosen[c], left = first + 2 * c;
    gbt_grow_node *parent = &v.node[id];
    const uint32_t n_left = parent->n_rows > 0 ? v.left_rows[c] : 0u;
    gbt_grow_children(&policy, parent, id, n_left, &v.node[left], &v.node[left + 1]);
    if (v.ahead > 0)
      parent->ahead = left;
    else
      parent->left = left;
    for (int32_t k = 0; k < 2; k++) {
      gbt_grow_node *child = &v.node[left + k];
      if (v.ahead == 0) child->number = left + k;
      child->splittable = (int8_t)gbt_grow_could_split(&policy, child, cu_leaves_after(v, n));
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    t->fresh_beg = first;
    t->n_nodes = first + 2 * n;
    if (v.ahead == 0) t->n_leaves += n;
  }
  __syncthreads();
  plan_builds(v, keeps);
}

gbt_status cu_make_children(cu_backend *be, gbt_error *err) {
  CU_LAUNCH(k_children, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view, be->bounds.keeps);
  CU_LAUNCHED();
  return GBT_OK;
}

/* ---- best-first: the end ---- */

__global__ static void __launch_bounds__(CU_CONTROL) k_settle(cu_view all) {
  const cu_view v = cu_mine(all);
  cu_settle_tree(v);
}

gbt_status cu_settle(cu_backend *be, gbt_error *err) {
  if (be->view.ahead == 0) return GBT_OK;
  CU_LAUNCH(k_settle, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  return GBT_OK;
}
