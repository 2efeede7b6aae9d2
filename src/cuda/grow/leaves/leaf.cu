/* The end of a tree: fine sums of every node, leaf values, values into the scores of the rows that the tree has sorted.
 *
 *   plan       one block (leaf_plan.cuh): leaves are cut into pieces; sums of the leaves as far as they are known;
 *              symmetric growth: where most rows of a layer went. Where the host knows which step is the last one, that
 *              one's k_partition plans. Before it, best-first growth: splits that the policy has not come to are taken
 *              back (ahead.cuh)
 *   k_fine     what the leaves' 16-bit sums leave out is added, piece by piece (symmetric trees, and such as grow
 *              together: all of it)
 *   renew.cu   objectives whose leaves are quantiles: these
 *   step.cu    leaves that take several steps: these
 *   values     one block, the last one of k_fine or (quantiles, several steps, smoothed values, nodes that may be kept)
 *              that of k_values: inner nodes are the sums of the leaves below; values
 *   scores.cu  a leaf's value to the scores of its rows
 *   cu_route   rows of the training set that were not drawn, and validation sets: route.cu
 *
 * Sums are those of the 32-bit gradients, in 64 bits, as on the CPU (cpu/cpu_leaf.c). */
#include "ops.cuh"

#include "../../base/last.cuh"
#include "../rows/gather.cuh"
#include "../rows/leaf_plan.cuh"
#include "../state/ranks.cuh"
#include "../steps/ahead.cuh"
#include "../steps/ops.cuh"
#include "leaf.cuh"
#include "values.cuh"

__global__ static void __launch_bounds__(CU_CONTROL) k_plan(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  if (v.ahead > 0) cu_settle_tree(v);
  __syncthreads();
  cu_plan_leaves(v);
}

__device__ static __forceinline__ gbt_sum fine_rest(const cu_view &v, const cu_leaf_rows &r) {
  const cu_task *task = &v.tree->task;
  const gbt_key32 key = cu_rounding_key(v, v.tree->round, task->output);
  const uint32_t *low = cu_low(v, task->grads);
  gbt_sum s = {0, 0};
  for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) {
    uint32_t row = cu_row_at(r, i), part = low[row], bits = gbt_hash32(key, v.before + row);
    s.g += gbt_fix_rest_g(part, bits);
    s.h += gbt_fix_rest_h(part, bits);
  }
  return s;
}

__device__ static __forceinline__ double quantile_of(const cu_view &v, int32_t i) {
  return gbt_pick_value(&v.pick[i], v.policy.reg.max_delta_step);
}

/* The best value for the rows of a node, within its bounds. */
__device__ static __forceinline__ double own_value(const cu_view &v, const gbt_scale *scale, int32_t i) {
  if (v.renews) return gbt_clip(quantile_of(v, i), v.node[i].bounds);
  if (v.n_steps > 0) return v.step[i].value;
  return gbt_grow_own(&v.policy, scale, &v.node[i], v.fine[i]);
}

/* Layer by layer: values are made of those above, and bounds of quantiles of their parents'. */
__device__ static __forceinline__ void values_by_depth(const cu_view &v, const gbt_scale *scale) {
  const int bounded = v.renews && v.policy.monotone;
  int more = 1;
  for (int32_t depth = 0; more; depth++) {
    more = 0;
    for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
      gbt_grow_node *node = &v.node[i], *left = &v.node[node->left];
      more |= node->depth > depth;
      if (node->depth != depth) continue;
      const gbt_grow_node *parent = node->parent >= 0 ? &v.node[node->parent] : nullptr;
      const double above = parent ? v.value[node->parent] : 0.0;
      v.value[i] = gbt_grow_value(&v.policy, node, own_value(v, scale, i), parent, above);
      if (bounded && node->left)
        gbt_grow_bound_quantiles(&v.policy, node, v.value[i], quantile_of(v, node->left),
                                 quantile_of(v, node->left + 1), left, left + 1);
    }
    more = __syncthreads_or(more);
  }
}

/* Values of kept nodes' children are derived from their parents'. Of such nodes only those of symmetric trees come
 * here, where a layer is a run of nodes. own(i): the value by the rows of node i. */
template <class Own> __device__ static __forceinline__ void plain_values(const cu_view &v, Own own) {
  const int32_t n_nodes = v.tree->n_nodes, me = (int32_t)threadIdx.x, step = (int32_t)blockDim.x;
  int32_t end = gbt_policy_one_split(v.policy.kind) ? 1 : n_nodes;
  for (int32_t beg = 0; beg < n_nodes; beg = end, end = 2 * end + 1) {
    if (end > n_nodes) end = n_nodes;
    for (int32_t i = beg + me; i < end; i += step) {
      const gbt_grow_node *node = &v.node[i];
      const gbt_grow_node *parent = node->parent >= 0 ? &v.node[node->parent] : nullptr;
      const double above = parent && parent->kept ? v.value[node->parent] : 0.0;
      v.value[i] = gbt_grow_plain_value(node, own(i), parent, above);
    }
    __syncthreads();
  }
}

/* One block: values of all nodes, which are Newton steps. */
__device__ static __forceinline__ void make_values(const cu_view &v) {
  const gbt_scale *scale = &v.output[v.tree->task.output].scale;
  cu_sum_up(v);
  plain_values(v, [&](int32_t i) { return gbt_grow_own(&v.policy, scale, &v.node[i], v.fine[i]); });
  cu_shrink_values(v);
}

__global__ static void __launch_bounds__(CU_BLOCK, 6) k_fine(cu_view all, int values) {
  const cu_view v = cu_view_of_block(all);
  const int wide = v.tree->wide;
  const int known = wide && !v.by_rows; /* nothing is left out, and leaves know their sums */
  for (uint32_t b = blockIdx.x; !known && b < v.tree->n_leaf_blocks; b += gridDim.x) {
    cu_leaf_rows r = cu_rows_of_block(v, b);
    gbt_sum s = {0, 0};
    if (!wide) s = fine_rest(v, r);
    if (v.by_rows) s = cu_plus(s, cu_coarse_sum(v, r, wide, 65536));
    s = cu_block_sum(s);
    if (threadIdx.x == 0) {
      cu_add(&v.fine[r.node].g, s.g);
      cu_add(&v.fine[r.node].h, s.h);
    }
  }
  if (values && cu_is_last(&v.tree->came)) make_values(v);
}

/* Values that k_fine does not make. */
__global__ static void __launch_bounds__(CU_CONTROL) k_values(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const gbt_scale *scale = &v.output[v.tree->task.output].scale;
  if (v.n_steps == 0) cu_sum_up(v); /* k_begin has */
  if (v.policy.smooth > 0.0 || v.keeps || (v.renews && v.policy.monotone))
    values_by_depth(v, scale);
  else
    plain_values(v, [&](int32_t i) { return own_value(v, scale, i); });
  cu_shrink_values(v);
}

/* The end of k_fine, where other ranks have parts of the sums. */
__global__ static void __launch_bounds__(CU_BLOCK) k_make_values(cu_view all) { make_values(cu_view_of_block(all)); }

/* Launches are checked one by one, as in rows.cu. */
gbt_status cu_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const dim3 one = cu_grids(be, 1, 1), grid = cu_grids(be, be->bounds.max_leaf_blocks, 8);
  GBT_TRY(cu_gather_end(be, err));
  if (!cu_last_step_is_known(be)) {
    CU_LAUNCH(k_plan, one, CU_CONTROL, 0, be->device.stream, be->view);
    CU_LAUNCHED();
  }
  const cu_view *v = &be->view;
  const int plain = !v->renews && v->n_steps == 0 && !v->keeps && !(v->policy.smooth > 0.0);
  CU_LAUNCH(k_fine, grid, CU_BLOCK, 0, be->device.stream, be->view, plain && !be->view.shared);
  CU_LAUNCHED();
  GBT_TRY(cu_share_nodes(ctx, be, &be->view.fine->g, 2, GBT_COMM_SUM, err));
  if (plain && be->view.shared) {
    CU_LAUNCH(k_make_values, one, CU_BLOCK, 0, be->device.stream, be->view);
    CU_LAUNCHED();
  }
  if (!plain) {
    GBT_TRY(cu_renew_leaves(ctx, be, err));
    GBT_TRY(cu_step_leaves(ctx, be, err));
    CU_LAUNCH(k_values, one, CU_CONTROL, 0, be->device.stream, be->view);
    CU_LAUNCHED();
  }
  for (int32_t turn = 0; turn < be->view.n_turns; turn++) {
    GBT_TRY(cu_add_scores(be, turn, err));
    GBT_TRY(cu_route(ctx, be, turn, err));
  }
  return GBT_OK;
}
