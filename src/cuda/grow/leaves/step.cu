/* Further Newton steps for the values of leaves: tree/leaf_step.h says which. The twin of cpu/cpu_step.c.
 *
 *   k_start   a round begins whose outputs have several trees: scores are kept, as trees change them
 *   k_begin   one block: sums of inner nodes; every node has the value of its first step; for every node the nearest
 *             one, from it upwards, whose own value is needed
 *   k_step    leaf blocks (leaf.cu), twice: maxima, then sums of the gradients at score + value, for all such nodes on
 *             the leaf's path whose values still move
 *   k_take    one block: values move
 *
 * The last two run once for each step, whatever still moves. k_values (leaf.cu) takes the values from here. */
#include "ops.cuh"

#include "../gradients/gradient.cuh"
#include "../state/ranks.cuh"
#include "leaf.cuh"
#include "values.cuh"

__global__ static void k_start(cu_view v, double *start) {
  const uint64_t n = (uint64_t)v.train.n_rows * (uint64_t)(uint32_t)v.objective.n_outputs;
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) start[i] = v.score[i];
}

__global__ static void __launch_bounds__(CU_CONTROL) k_begin(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const gbt_scale *scale = &v.output[v.tree->task.output].scale;
  const auto wants = [&](const gbt_grow_node *node, const gbt_grow_node *parent) {
    return gbt_grow_wants_own(&v.policy, node, parent);
  };
  cu_sum_up(v);
  for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
    v.owner[i] = cu_find_owner(v, i, wants);
    v.step[i] = gbt_leaf_step_begin(gbt_grow_own(&v.policy, scale, &v.node[i], v.fine[i]));
    if (v.owner[i] != i) v.step[i].going = 0;
  }
}

/* The rows of a leaf block for one node on its path. For whole blocks. */
template <gbt_objective_kind KIND>
__device__ static __forceinline__ void step_for(const cu_view &v, const double *aside, const cu_leaf_rows &r,
                                                int32_t owner, int sums) {
  gbt_leaf_step *step = &v.step[owner];
  const int32_t output = v.tree->task.output;
  const double by = step->value;
  gbt_step_sums at = gbt_step_none();
  if (!step->going || (sums && !gbt_leaf_step_usable(step))) return;
  gbt_scale scale = gbt_scale_from(1.0, 1.0);
  if (sums) scale = gbt_leaf_step_scale(step, v.spare); /* else other blocks add maxima */
  for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) {
    const gbt_gh gh = cu_row_gradient<KIND, true>(v, aside, output, cu_row_at(r, i), by);
    if (sums) {
      const gbt_gh32 q = gbt_fix32(gh.g, gh.h, scale.up_g, scale.up_h);
      at.sum.g += q.g;
      at.sum.h += q.h;
    } else {
      const uint64_t g = gbt_bits(gh.g) & 0x7fffffffffffffffu, h = gbt_bits(gh.h) & 0x7fffffffffffffffu;
      at.max_g = g > at.max_g ? g : at.max_g;
      at.max_h = h > at.max_h ? h : at.max_h;
    }
  }
  if (sums) {
    at.sum = cu_block_sum(at.sum);
    if (threadIdx.x != 0) return;
    cu_add(&step->at.sum.g, at.sum.g);
    cu_add(&step->at.sum.h, at.sum.h);
  } else {
    at.max_g = cu_block_max((unsigned long long)at.max_g);
    at.max_h = cu_block_max((unsigned long long)at.max_h);
    if (threadIdx.x != 0) return;
    atomicMax((unsigned long long *)&step->at.max_g, (unsigned long long)at.max_g);
    atomicMax((unsigned long long *)&step->at.max_h, (unsigned long long)at.max_h);
  }
}

template <gbt_objective_kind KIND>
__global__ static void k_step(cu_view all, const double *aside, int sums) {
  const cu_view v = cu_view_of_block(all);
  for (uint32_t b = blockIdx.x; b < v.tree->n_leaf_blocks; b += gridDim.x) {
    const cu_leaf_rows r = cu_rows_of_block(v, b);
    for (int32_t owner = v.owner[r.node]; owner >= 0; owner = cu_owner_above(v, owner))
      step_for<KIND>(v, aside, r, owner, sums);
  }
}

__global__ static void __launch_bounds__(CU_CONTROL) k_take(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x)
    gbt_leaf_step_take(&v.step[i], v.spare, v.policy.reg, v.node[i].bounds);
}

/* Maxima, or (sums) sums of all nodes to `packed`, or back. */
__global__ static void __launch_bounds__(CU_CONTROL) k_pack_steps(cu_view all, int sums, int back) {
  const cu_view v = cu_view_of_block(all);
  for (int32_t i = (int32_t)threadIdx.x; i < 2 * v.tree->n_nodes; i += (int32_t)blockDim.x) {
    gbt_step_sums *at = &v.step[i / 2].at;
    int64_t *number = sums ? (i % 2 ? &at->sum.h : &at->sum.g) : (int64_t *)(i % 2 ? &at->max_h : &at->max_g);
    if (back)
      *number = v.packed[i];
    else
      v.packed[i] = *number;
  }
}

/* ---- the host's side ---- */

gbt_status cu_step_open(cu_backend *be, gbt_error *err) {
  const size_t cells = (size_t)be->n_rows * (size_t)be->n_outputs;
  if (be->view.n_steps == 0 || be->params->num_parallel_tree == 1) return GBT_OK;
  GBT_TRY(cu_new(&be->device.memory, &be->start, cells, err));
  be->view.start = be->start.at;
  return GBT_OK;
}

void cu_step_close(cu_backend *be) { cu_drop(&be->device.memory, &be->start); }

gbt_status cu_step_round(cu_backend *be, gbt_error *err) {
  if (!be->start.at) return GBT_OK;
  const uint64_t blocks = ((uint64_t)be->start.n + CU_BLOCK - 1) / CU_BLOCK;
  CU_LAUNCH(k_start, cu_grid(&be->device, blocks, 8), CU_BLOCK, 0, be->device.stream, be->view, be->start.at);
  CU_LAUNCHED();
  return GBT_OK;
}

/* Objectives that one step minimises have no instance: gbt_leaf_steps. */
#define STEPS_UNIT_NEWTON(ID) GBT_ASSERT(0)
#define STEPS_UNIT_QUANTILE(ID) GBT_ASSERT(0)
#define STEPS_FREE_NEWTON(ID)                                                                                     \
  CU_LAUNCH(k_step<GBT_OBJ_##ID>, grid, CU_BLOCK, 0, be->device.stream, be->view, be->grad.aside.at, sums)
#define STEPS_BOUNDED_NEWTON(ID) STEPS_FREE_NEWTON(ID)

static gbt_status pass(cu_backend *be, int sums, gbt_error *err) {
  const dim3 grid = cu_grids(be, be->bounds.max_leaf_blocks, 8);
  switch ((gbt_objective_kind)be->objective.kind) {
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, labels, response, base, hessian, size, leaves, ...) \
  case GBT_OBJ_##ID:                                                                                           \
    STEPS_##hessian##_##leaves(ID);                                                                             \
    break;
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  CU_LAUNCHED();
  return GBT_OK;
}

/* Those of all ranks. */
static gbt_status share(gbt_ctx *ctx, cu_backend *be, int sums, gbt_error *err) {
  const dim3 one = cu_grids(be, 1, 1);
  if (!be->view.shared) return GBT_OK;
  CU_LAUNCH(k_pack_steps, one, CU_CONTROL, 0, be->device.stream, be->view, sums, 0);
  CU_LAUNCHED();
  GBT_TRY(cu_share_nodes(ctx, be, be->view.packed, 2, sums ? GBT_COMM_SUM : GBT_COMM_MAX, err));
  CU_LAUNCH(k_pack_steps, one, CU_CONTROL, 0, be->device.stream, be->view, sums, 1);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_step_leaves(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const dim3 one = cu_grids(be, 1, 1);
  if (be->view.n_steps == 0) return GBT_OK;
  CU_LAUNCH(k_begin, one, CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  for (int32_t s = 0; s < be->view.n_steps; s++) {
    GBT_TRY(pass(be, 0, err));
    GBT_TRY(share(ctx, be, 0, err));
    GBT_TRY(pass(be, 1, err));
    GBT_TRY(share(ctx, be, 1, err));
    CU_LAUNCH(k_take, one, CU_CONTROL, 0, be->device.stream, be->view);
    CU_LAUNCHED();
  }
  return GBT_OK;
}
