/* Leaf values that are quantiles of residuals: objective/renewal.h says which.
 *
 *   k_residuals   the first tree of an output in a round begins: keys of label - score of all rows
 *   k_owners      one block: for every node the nearest one, from it upwards, whose quantile is needed
 *   k_weigh       leaf blocks (leaf.cu): weights of the rows that agree with the key so far, by the next digit, for all
 *                 such nodes on the leaf's path
 *   k_digits      one block: one digit more of every node's key
 *
 * The last two run once for each of the 16 digits. Weights are whole numbers, so the order of additions does not show.
 * k_values (leaf.cu) makes values of the keys. */
#include "ops.cuh"

#include "../../base/block.cuh"
#include "../state/ranks.cuh"
#include "leaf.cuh"

/* Of the batch's outputs, one for each blockIdx.y. */
__global__ static void k_residuals(cu_view all) {
  const uint64_t n = (uint64_t)all.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  const cu_task &task = cu_of_turn(all, 0).tree->task;
  const double *score = all.score + (uint64_t)(uint32_t)task.output * n;
  const uint64_t of_label = cu_beg_of(all, all.columns, task.output);
  uint64_t *residual = all.residual + (uint64_t)(uint32_t)task.grads * n;
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step)
    residual[row] = gbt_order_key(all.label[of_label + row] - score[row]);
}

__global__ static void k_owners(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const gbt_pick none = {0, 0};
  for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
    v.owner[i] = cu_find_owner(v, i, [&](const gbt_grow_node *node, const gbt_grow_node *parent) {
      return gbt_grow_wants_quantile(&v.policy, node, parent);
    });
    v.pick[i] = none; /* of a node without rows */
    for (int d = 0; d < CU_DIGIT_VALUES; d++) v.digit[(uint64_t)(uint32_t)i * CU_DIGIT_VALUES + (uint32_t)d] = 0;
  }
}

/* The rows of a leaf block for one node on its path. weight: CU_DIGIT_VALUES in shared memory. For whole blocks. */
__device__ static __forceinline__ void weigh_for(const cu_view &v, const cu_leaf_rows &r, int32_t owner, int shift,
                                                 unsigned long long *weight) {
  const int first = shift == 64 - CU_DIGIT_BITS;
  const uint64_t known = v.pick[owner].key;
  const uint64_t *residual = v.residual + (uint64_t)(uint32_t)v.tree->task.grads * (uint64_t)v.train.n_rows;
  const uint64_t of_weight = cu_beg_of(v, v.columns, v.tree->task.output);
  if (threadIdx.x < CU_DIGIT_VALUES) weight[threadIdx.x] = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) {
    const uint32_t row = cu_row_at(r, i);
    const uint64_t key = residual[row] >> shift;
    if (first || key >> CU_DIGIT_BITS == known)
      atomicAdd(&weight[key & (CU_DIGIT_VALUES - 1)], (unsigned long long)(v.whole ? v.whole[of_weight + row] : 1));
  }
  __syncthreads();
  if (threadIdx.x < CU_DIGIT_VALUES && weight[threadIdx.x] != 0)
    atomicAdd((unsigned long long *)&v.digit[(uint64_t)(uint32_t)owner * CU_DIGIT_VALUES + threadIdx.x],
              weight[threadIdx.x]);
  __syncthreads(); /* `weight` may be written again */
}

__global__ static void k_weigh(cu_view all, int shift) {
  const cu_view v = cu_view_of_block(all);
  CU_SHARED(unsigned long long, weight, CU_DIGIT_VALUES);
  for (uint32_t b = blockIdx.x; b < v.tree->n_leaf_blocks; b += gridDim.x) {
    const cu_leaf_rows r = cu_rows_of_block(v, b);
    for (int32_t owner = v.owner[r.node]; owner >= 0; owner = cu_owner_above(v, owner))
      weigh_for(v, r, owner, shift, weight);
  }
}

__global__ static void k_digits(cu_view all, int shift) {
  const cu_view v = cu_view_of_block(all);
  const double level = v.objective.levels ? v.objective.levels[v.tree->task.output] : v.level;
  for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
    uint64_t *weight = v.digit + (uint64_t)(uint32_t)i * CU_DIGIT_VALUES;
    gbt_pick_digit(&v.pick[i], weight, CU_DIGIT_BITS, shift == 64 - CU_DIGIT_BITS, level);
    for (int d = 0; d < CU_DIGIT_VALUES; d++) weight[d] = 0;
  }
}

gbt_status cu_renew_open(cu_backend *be, gbt_error *err) {
  const uint64_t *whole = be->start_with->whole;
  const size_t n_whole = (size_t)be->n_rows * (size_t)(be->view.columns ? be->n_outputs : 1);
  if (!be->view.renews) return GBT_OK;
  be->view.level = gbt_renewal_level(&be->objective);
  if (whole) GBT_TRY(cu_new_from(&be->device, &be->renew.whole, whole, n_whole, err));
  GBT_TRY(cu_new(&be->device.memory, &be->renew.residual, (size_t)be->n_rows * (size_t)cu_gradient_arrays(be), err));
  if (be->objective.levels)
    GBT_TRY(cu_new_from(&be->device, &be->renew.levels, be->objective.levels, (size_t)be->n_outputs, err));
  be->view.objective.levels = be->renew.levels.at;
  be->view.whole = be->renew.whole.at;
  be->view.residual = be->renew.residual.at;
  return GBT_OK;
}

void cu_renew_close(cu_backend *be) {
  cu_drop(&be->device.memory, &be->renew.whole);
  cu_drop(&be->device.memory, &be->renew.residual);
  cu_drop(&be->device.memory, &be->renew.levels);
}

gbt_status cu_renew_outputs(cu_backend *be, gbt_error *err) {
  if (!be->view.renews) return GBT_OK;
  const unsigned n_outputs = (unsigned)(be->view.n_trees / be->view.n_turns);
  const uint64_t blocks = ((uint64_t)be->n_rows + CU_BLOCK - 1) / CU_BLOCK;
  CU_LAUNCH(k_residuals, cu_grids_for(be, n_outputs, blocks, 8), CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_renew_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const dim3 one = cu_grids(be, 1, 1), grid = cu_grids(be, be->bounds.max_leaf_blocks, 8);
  if (!be->view.renews) return GBT_OK;
  CU_LAUNCH(k_owners, one, CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  for (int shift = 64 - CU_DIGIT_BITS; shift >= 0; shift -= CU_DIGIT_BITS) {
    CU_LAUNCH(k_weigh, grid, CU_BLOCK, 0, be->device.stream, be->view, shift);
    CU_LAUNCHED();
    GBT_TRY(cu_share_nodes(ctx, be, (int64_t *)be->view.digit, CU_DIGIT_VALUES, GBT_COMM_SUM, err));
    CU_LAUNCH(k_digits, one, CU_CONTROL, 0, be->device.stream, be->view, shift);
    CU_LAUNCHED();
  }
  return GBT_OK;
}
