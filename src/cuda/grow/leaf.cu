/* The end of a tree: fine sums of every node, leaf values, values into the scores of the rows that the tree has sorted.
 *
 *   settle     (frontier.cu) best-first growth: splits that the policy has not come to are taken back
 *   k_plan     one block: leaves are cut into pieces (pieces.cuh); sums of the leaves as far as they are known;
 *              symmetric growth: where most rows of a layer went
 *   k_fine     what the leaves' 16-bit sums leave out is added, piece by piece (symmetric: all of it)
 *   renew.cu   objectives whose leaves are quantiles: these
 *   k_values   one block: inner nodes are the sums of the leaves below; values
 *   k_scores   pieces again: a leaf's value to the scores of its rows
 *   cu_route   rows of the training set that were not drawn, and validation sets: route.cu
 *
 * Sums are those of the 32-bit gradients, in 64 bits, as on the CPU (cpu/cpu_leaf.c). */
#include "leaf.cuh"

/* gbt_frontier_bulk: trees are full, so a layer is a run of nodes. */
__device__ static __forceinline__ void settle_bulk(const cu_view &v) {
  const int32_t n_nodes = v.tree->n_nodes;
  for (int32_t beg = 0, n = 1; beg < n_nodes && v.node[beg].left; beg = 2 * beg + 1, n *= 2) {
    uint64_t left = 0, all = 0;
    for (int32_t i = beg + (int32_t)threadIdx.x; i < beg + n; i += (int32_t)blockDim.x) {
      all += v.node[i].n_rows;
      left += v.node[v.node[i].left].n_rows;
    }
    left = cu_block_sum(left);
    all = cu_block_sum(all);
    for (int32_t i = beg + (int32_t)threadIdx.x; i < beg + n; i += (int32_t)blockDim.x)
      v.node[i].bulk_left = left >= all - left;
  }
}

__global__ static void k_plan(cu_view all) {
  const cu_view v = cu_mine(all);
  const int32_t n_nodes = v.tree->n_nodes;
  const int64_t unit = v.tree->wide ? 1 : 65536;
  const int symmetric = gbt_policy_one_split(v.policy.kind);
  if (symmetric) settle_bulk(v);
  for (int32_t i = (int32_t)threadIdx.x; i < n_nodes; i += (int32_t)blockDim.x) {
    const gbt_grow_node *node = &v.node[i];
    int known = node->left == 0 && !symmetric; /* symmetric: not those of nodes that are split for its shape alone */
    v.fine[i].g = known ? node->sum.g * unit : 0;
    v.fine[i].h = known ? node->sum.h * unit : 0;
  }
  const int32_t n_runs = v.ahead > 0 ? v.tree->n_runs : n_nodes;
  for (int32_t i = (int32_t)threadIdx.x; i < n_nodes && v.ahead == 0; i += (int32_t)blockDim.x) {
    const gbt_grow_node *node = &v.node[i];
    const cu_leaf_run run = {node->order_beg, node->left == 0 ? node->n_rows : 0u, node->depth, i};
    v.leaf_run[i] = run;
  }
  __syncthreads();
  const uint32_t n_shares = cu_n_shares(v.tree->n_in, ((uint32_t)n_runs + 1u) / 2u, v.leaf_rows);
  const uint32_t of_share = cu_block_prefix(n_runs, v.leaf_block, [&](int64_t i) {
    return v.leaf_run[i].n_rows > 0 ? cu_n_pieces(v.leaf_run[i].n_rows, n_shares, v.leaf_rows) : 0u;
  });
  if (threadIdx.x == 0) {
    v.tree->n_runs = n_runs;
    v.tree->n_leaf_shares = n_shares;
    v.tree->n_leaf_blocks = n_shares * of_share;
  }
}

__device__ static __forceinline__ gbt_sum fine_rest(const cu_view &v, const cu_leaf_rows &r) {
  const cu_task *task = &v.tree->task;
  const gbt_key32 key = gbt_key((uint64_t)v.params.seed, GBT_FOR_ROUNDING, v.tree->round, (uint64_t)task->output);
  const uint32_t *low = cu_low(v, task->grads);
  gbt_sum s = {0, 0};
  for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) {
    uint32_t row = cu_row_at(r, i), part = low[row], bits = gbt_hash32(key, row);
    s.g += gbt_fix_rest_g(part, bits);
    s.h += gbt_fix_rest_h(part, bits);
  }
  return s;
}

/* By row: gradients have not gone with rows into nodes that cannot be split. */
__device__ static __forceinline__ gbt_sum coarse_sum(const cu_view &v, const cu_leaf_rows &r, int wide) {
  const gbt_gh16 *gh16 = cu_gh16(v, v.tree->task.grads);
  const gbt_gh32 *gh32 = cu_gh32(v, v.tree->task.grads);
  gbt_sum s = {0, 0};
  for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) {
    if (wide) {
      gbt_gh32 gh = gh32[cu_row_at(r, i)];
      s.g += gh.g;
      s.h += gh.h;
    } else {
      gbt_sum gh = cu_gh_sum(cu_gh_bits(gh16 + cu_row_at(r, i)));
      s.g += gh.g * 65536;
      s.h += gh.h * 65536;
    }
  }
  return s;
}

__global__ static void __launch_bounds__(CU_BLOCK) k_fine(cu_view all) {
  const cu_view v = cu_mine(all);
  const int wide = v.tree->wide, symmetric = gbt_policy_one_split(v.policy.kind);
  if (wide && !symmetric) return; /* nothing is left out, and leaves know their sums */
  for (uint32_t b = blockIdx.x; b < v.tree->n_leaf_blocks; b += gridDim.x) {
    cu_leaf_rows r = cu_rows_of_block(v, b);
    gbt_sum s = {0, 0};
    if (!wide) s = fine_rest(v, r);
    if (symmetric) s = cu_plus(s, coarse_sum(v, r, wide));
    s = cu_block_sum(s);
    if (threadIdx.x == 0) {
      cu_add64(&v.fine[r.node].g, s.g);
      cu_add64(&v.fine[r.node].h, s.h);
    }
  }
}

__device__ static __forceinline__ double quantile_of(const cu_view &v, int32_t i) {
  return gbt_pick_value(&v.pick[i], v.policy.reg.max_delta_step);
}

__device__ static __forceinline__ double node_value(const cu_view &v, const gbt_scale *scale, int32_t i) {
  const gbt_grow_node *node = &v.node[i];
  const gbt_grow_node *parent = node->parent >= 0 ? &v.node[node->parent] : nullptr;
  double above = parent && parent->kept ? v.value[node->parent] : 0.0;
  if (v.renews && !(parent && parent->kept)) return gbt_clip(quantile_of(v, i), node->bounds);
  return gbt_grow_value(&v.policy, scale, node, v.fine[i], parent, above);
}

/* Quantiles under constraints: layer by layer, as the bounds of children are made of their parent's. */
__device__ static __forceinline__ void bounded_values(const cu_view &v, const gbt_scale *scale) {
  int more = 1;
  for (int32_t depth = 0; more; depth++) {
    more = 0;
    for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
      gbt_grow_node *node = &v.node[i], *left = &v.node[node->left];
      more |= node->depth > depth;
      if (node->depth != depth) continue;
      v.value[i] = node_value(v, scale, i);
      if (node->left)
        gbt_grow_bound_quantiles(&v.policy, node, v.value[i], quantile_of(v, node->left),
                                 quantile_of(v, node->left + 1), left, left + 1);
    }
    more = __syncthreads_or(more);
  }
}

/* Values of kept nodes' children are made of their parents': symmetric growth alone has them, and there a layer is a
 * run of nodes. */
__device__ static __forceinline__ void plain_values(const cu_view &v, const gbt_scale *scale) {
  const int32_t n_nodes = v.tree->n_nodes, me = (int32_t)threadIdx.x, step = (int32_t)blockDim.x;
  int32_t end = gbt_policy_one_split(v.policy.kind) ? 1 : n_nodes;
  for (int32_t beg = 0; beg < n_nodes; beg = end, end = 2 * end + 1) {
    if (end > n_nodes) end = n_nodes;
    for (int32_t i = beg + me; i < end; i += step) v.value[i] = node_value(v, scale, i);
    __syncthreads();
  }
}

/* One block. Values of all nodes are shrunk at the end. */
__global__ static void k_values(cu_view all) {
  const cu_view v = cu_mine(all);
  const int32_t n_nodes = v.tree->n_nodes, me = (int32_t)threadIdx.x, step = (int32_t)blockDim.x;
  const gbt_scale *scale = &v.output[v.tree->task.output].scale;
  const double shrinkage = v.tree->task.shrinkage;
  for (int32_t i = me; i < n_nodes; i += step) {
    if (v.node[i].left) continue;
    gbt_sum s = v.fine[i];
    for (int32_t up = v.node[i].parent; up >= 0; up = v.node[up].parent) {
      cu_add64(&v.fine[up].g, s.g);
      cu_add64(&v.fine[up].h, s.h);
    }
  }
  __syncthreads();
  if (v.renews && v.policy.monotone)
    bounded_values(v, scale);
  else
    plain_values(v, scale);
  int bad = 0;
  for (int32_t i = me; i < n_nodes; i += step) {
    double value = v.value[i] * shrinkage;
    v.value[i] = value;
    bad |= !gbt_grow_value_ok(value);
  }
  bad = __syncthreads_or(bad);
  if (bad && threadIdx.x == 0) {
    if (v.tree->fault == 0) v.tree->fault_round = v.tree->task.round;
    v.tree->fault |= CU_FAULT_VALUE;
  }
}

__global__ static void k_scores(cu_view all, int32_t turn) {
  const cu_view v = cu_of_turn(all, turn);
  double *score = v.score + (uint64_t)(uint32_t)v.tree->task.output * (uint64_t)v.train.n_rows;
  for (uint32_t b = blockIdx.x; b < v.tree->n_leaf_blocks; b += gridDim.x) {
    cu_leaf_rows r = cu_rows_of_block(v, b);
    double value = v.value[r.node];
    for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) score[cu_row_at(r, i)] += value;
  }
}

/* Launches are checked one by one, as in rows.cu. */
gbt_status cu_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const dim3 one = cu_grids(be, 1, 1), grid = cu_grids(be, be->bounds.max_leaf_blocks, 8);
  (void)ctx;
  GBT_TRY(cu_settle(be, err));
  CU_LAUNCH(k_plan, one, CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  CU_LAUNCH(k_fine, grid, CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  GBT_TRY(cu_renew_leaves(be, err));
  CU_LAUNCH(k_values, one, CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  for (int32_t turn = 0; turn < be->view.n_turns; turn++) {
    CU_LAUNCH(k_scores, cu_grids_of_turn(be, be->bounds.max_leaf_blocks, 8), CU_BLOCK, 0, be->device.stream, be->view,
              turn);
    CU_LAUNCHED();
    GBT_TRY(cu_route(be, turn, err));
  }
  return GBT_OK;
}
