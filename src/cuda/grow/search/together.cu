/* Trees of several outputs that grow together, with the splits that have the largest sum of gains: twin of
 * cpu/cpu_together.c, see there. A batch is one tree of each output, which all have the same rows, features and nodes.
 * This file has what all such trees share, and symmetric growth; node by node: team_search.cu, team_open.cu.
 *
 *   layer.cu, k_joint_order   one order of levels for all trees
 *   k_layer_gains, _sums      what every candidate gains in each tree, as in growth one by one
 *   k_joint_begin             the root: noise and score of all trees
 *   k_joint_gains             the sum over the trees, in their order, becomes the gain of the candidate in every tree
 *   layer_decide.cu           each tree takes the best candidate, which is the same in all; nodes gain their own
 *   k_joint_sums              over the nodes of all trees: gains, and where most rows go
 *   k_joint_settle            every tree takes them
 *
 * Sums are real numbers, so each is made in the order of the CPU. */
#include "ops.cuh"

#include "layer.cuh"

/* One thread, at the root: what its tree has for noise and for score becomes that of all trees. */
__global__ static void k_joint_begin(cu_view all, cu_layer_view layers) {
  const cu_together_view t = layers.together;
  double noise = 0.0, scored = 0.0;
  for (int32_t k = 0; k < t.n; k++) {
    const cu_view v = cu_view_of(all, (uint32_t)k);
    const double parent = t.weight[k] * cu_ask(v, &v.node[0]).rated.parent;
    noise += t.weight[k] * v.tree->noise;
    scored = k == 0 ? parent : scored + parent;
  }
  for (int32_t k = 0; k < t.n; k++) {
    cu_view_of(all, (uint32_t)k).tree->noise = noise;
    *cu_layer_of(layers, all.stride, (uint32_t)k).scored = scored;
  }
}

/* A thread has a place of the gains in all trees. */
__global__ static void __launch_bounds__(CU_BLOCK) k_joint_gains(cu_view all, cu_layer_view layers) {
  const cu_together_view t = layers.together;
  const uint64_t places = 2u * layers.n_codes, step = (uint64_t)gridDim.x * blockDim.x;
  const uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (uint64_t x = first; x < places; x += step) {
    if (!cu_has_candidate(all, layers, x)) continue; /* of the first tree, and so of all */
    double sum = t.weight[0] * layers.gain[x];
    for (int32_t k = 1; k < t.n; k++) sum += t.weight[k] * cu_shifted(layers.gain, all.stride * (uint32_t)k)[x];
    for (int32_t k = 0; k < t.n; k++) cu_shifted(layers.gain, all.stride * (uint32_t)k)[x] = sum;
  }
  for (uint64_t f = first; f < (uint64_t)(uint32_t)all.n_features; f += step) {
    uint32_t missing = 0;
    for (int32_t k = 0; k < t.n; k++) missing |= cu_shifted(layers.missing, all.stride * (uint32_t)k)[f];
    for (int32_t k = 0; k < t.n; k++) cu_shifted(layers.missing, all.stride * (uint32_t)k)[f] = missing;
  }
}

enum { GAIN = 0, H, LEFT_H, N_SUMS };

/* One block: a thread for each sum, over the nodes of tree after tree. */
__global__ static void k_joint_sums(cu_view all, cu_layer_view layers) {
  CU_SHARED(double, term, N_SUMS *CU_CONTROL);
  CU_SHARED(double, sum, N_SUMS);
  const cu_together_view t = layers.together;
  const uint32_t me = threadIdx.x;
  double mine = 0.0;
  for (int32_t k = 0; k < t.n; k++) {
    const cu_view v = cu_view_of(all, (uint32_t)k);
    const int32_t n = cu_n_fresh(v);
    double gains = 0.0;
    for (int32_t beg = 0; beg < n; beg += (int32_t)blockDim.x) {
      const int32_t rest = n - beg, some = rest < (int32_t)blockDim.x ? rest : (int32_t)blockDim.x;
      if ((int32_t)me < some) {
        const gbt_grow_node *node = &v.node[v.tree->fresh_beg + beg + (int32_t)me];
        const int rated = node->splittable && node->hist >= 0;
        term[GAIN * CU_CONTROL + me] = node->split.gain;
        term[H * CU_CONTROL + me] = rated ? (double)node->sum.h * v.tree->unit.h : 0.0;
        term[LEFT_H * CU_CONTROL + me] = rated ? (double)node->split.left.h * v.tree->unit.h : 0.0;
      }
      __syncthreads();
      for (int32_t i = 0; me < N_SUMS && i < some; i++) {
        const double its = term[me * CU_CONTROL + (uint32_t)i];
        if (me == GAIN)
          gains += its;
        else
          mine += its;
      }
      __syncthreads();
    }
    if (me == GAIN) mine += t.weight[k] * gains;
  }
  if (me < N_SUMS) sum[me] = mine;
  __syncthreads();
  if (me >= (uint32_t)t.n) return;
  cu_joint *joint = cu_shifted(layers.joint, all.stride * me);
  joint->gain = sum[GAIN];
  joint->missing_left = sum[LEFT_H] >= sum[H] - sum[LEFT_H];
}

/* One block a tree: as k_layer_settle. */
__global__ static void k_joint_settle(cu_view all, cu_layer_view layers) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  const gbt_split s = l.pick->split;
  const cu_joint joint = *l.joint;
  gbt_grow_node *node = v.node + v.tree->fresh_beg;
  if (s.kind == GBT_SPLIT_NONE) return;
  for (int32_t i = (int32_t)threadIdx.x; i < cu_n_fresh(v); i += (int32_t)blockDim.x) {
    if (s.kind == GBT_SPLIT_SET) node[i].split.gain = node[i].split.gain * (s.gain / joint.gain);
    if (!s.has_missing) node[i].split.missing_left = (int8_t)joint.missing_left;
  }
}

/* ---- the host's side ---- */

gbt_status cu_together_join(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  const cu_layer_view *l = &be->layer->view;
  const uint64_t places = 2u * l->n_codes, wide = places > (uint32_t)v->n_features ? places : (uint32_t)v->n_features;
  GBT_ASSERT(v->n_trees == l->together.n);
  if (be->depth == 0) {
    CU_LAUNCH(k_joint_begin, 1, 1, 0, be->device.stream, *v, *l);
    CU_LAUNCHED();
  }
  CU_LAUNCH(k_joint_gains, cu_grids_for(be, 1, (wide + CU_BLOCK - 1) / CU_BLOCK, 8), CU_BLOCK, 0, be->device.stream,
            *v, *l);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_together_settle(cu_backend *be, gbt_error *err) {
  CU_LAUNCH(k_joint_sums, 1, CU_CONTROL, 0, be->device.stream, be->view, be->layer->view);
  CU_LAUNCHED();
  CU_LAUNCH(k_joint_settle, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view, be->layer->view);
  CU_LAUNCHED();
  return GBT_OK;
}

static gbt_status open_nodes(cu_backend *be, gbt_error *err) {
  cu_team *team = be->team;
  cu_memory *memory = &be->device.memory;
  const size_t room = 2 * (size_t)be->view.max_step;
  GBT_TRY(cu_new(memory, &team->at, (size_t)be->n_outputs * room, err));
  GBT_TRY(cu_new(memory, &team->best, room, err));
  team->view.room = (int32_t)room;
  team->view.at = team->at.at;
  team->view.best = team->best.at;
  return GBT_OK;
}

gbt_status cu_together_open(cu_backend *be, gbt_error *err) {
  const size_t n = (size_t)be->n_outputs;
  cu_team *team;
  if (be->together == NULL) return GBT_OK;
  GBT_ASSERT(n > 1 && n <= CU_TEAM_MOST && be->params->num_parallel_tree == 1);
  GBT_TRY(gbt_mem_zeros(&be->mem, 1, sizeof *team, &team, err));
  be->team = team;
  GBT_TRY(cu_new_from(&be->device, &team->weight, be->together->weight, n, err));
  team->view.by.n = (int32_t)n;
  team->view.by.weight = team->weight.at;
  if (!gbt_policy_one_split(gbt_policy_of(be->params))) GBT_TRY(open_nodes(be, err));
  if (be->view.n_set_feats == 0) return GBT_OK;
  GBT_TRY(cu_new(&be->device.memory, &team->direction, n, err));
  team->view.by.direction = team->direction.at;
  return GBT_OK;
}

void cu_together_close(cu_backend *be) {
  cu_memory *memory = &be->device.memory;
  cu_team *team = be->team;
  if (!team) return;
  cu_drop(memory, &team->weight);
  cu_drop(memory, &team->direction);
  cu_drop(memory, &team->at);
  cu_drop(memory, &team->best);
  gbt_mem_free(&be->mem, team);
  be->team = NULL;
}

/* The copy has been taken once the call returns, as that of handicaps. */
gbt_status cu_together_send(cu_backend *be, gbt_error *err) {
  if (be->team == NULL || be->team->direction.at == NULL) return GBT_OK;
  const cu_array<double> *to = &be->team->direction;
  CU_TRY(cudaMemcpyAsync(to->at, be->together->direction, to->n * sizeof(double), cudaMemcpyHostToDevice,
                         be->device.stream));
  return GBT_OK;
}
