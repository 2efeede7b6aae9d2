/* Fits existing trees once more on the rows of this backend: the twin of cpu/cpu_refit.c.
 *
 *   host         the steps that a tree is split by: nodes whose parents are split, as many as a step takes
 *   k_given      one block: a step's nodes get their splits; pieces of their rows are planned
 *   k_partition  as in growth, but nothing is built
 *   ..           step by step, then:
 *   k_no_sums    one block: nodes lose what they have for sums; pieces of the leaves' rows are planned
 *   k_leaf_sums  sums of the leaves, piece by piece
 *   k_bounds     one block: sums of inner nodes; gains, where they are made again, bounds and weights, layer by layer
 *   cu_leaves    as for trees that were grown
 *   host         nodes to the numbers that they have in the tree; the tree to the forest
 *
 * During growth the sums of a node are known when it is split; here they are known only at the end. Kernels of growth
 * see a view in which no child may be split and nothing is split ahead: so no gradients go with rows, and those by row
 * stay. */
#include "batch.cuh"

#include "gradients/ops.cuh"
#include "leaves/leaf.cuh"
#include "leaves/ops.cuh"
#include "rows/gather.cuh"
#include "rows/leaf_plan.cuh"
#include "state/ops.cuh"
#include "state/ranks.cuh"
#include "steps/frontier.cuh"
#include "steps/ops.cuh"

#include <string.h>

/* A node that is split, and how. */
struct cu_given {
  gbt_split split;
  int32_t id, kept;
  uint32_t set_beg, set_words;
};

/* The host's side of a batch: arrays of a tree are `room` apart, those of steps room + 1. */
struct cu_refit {
  size_t room;     /* for splits of a tree */
  cu_given *given; /* in the order of the steps */
  uint32_t *step;  /* of each tree, where its steps begin in `given`; after the last step it repeats the end */
  uint32_t *like;  /* of each tree 2 room + 1: by node, its number in the existing tree */
  gbt_grow_node *node;
  gbt_sum *fine;
  double *value;
  size_t cap[6];
  cu_array<cu_given> on_device;
  cu_array<uint32_t> step_on_device;
};

/* ---- kernels ---- */

/* A step of every tree; pointers on the device. */
struct cu_given_view {
  const cu_given *given;
  const uint32_t *step;
  uint32_t room, number;
};

__global__ static void __launch_bounds__(CU_CONTROL) k_given(cu_view all, cu_given_view view) {
  const cu_view v = cu_view_of_block(all);
  const uint32_t *step = view.step + (uint64_t)blockIdx.y * (view.room + 1u) + view.number;
  const cu_given *given = view.given + (uint64_t)blockIdx.y * view.room + step[0];
  const int32_t n = (int32_t)(step[1] - step[0]);
  GBT_ASSERT(n <= v.max_step);
  for (int32_t c = (int32_t)threadIdx.x; c < n; c += (int32_t)blockDim.x) {
    gbt_grow_node *node = &v.node[given[c].id];
    node->split = given[c].split;
    node->kept = (int8_t)given[c].kept;
    node->set_beg = given[c].set_beg;
    node->set_words = given[c].set_words;
    v.chosen[c] = given[c].id;
  }
  __syncthreads();
  cu_plan_chosen(v, n, 1);
}

__global__ static void __launch_bounds__(CU_CONTROL) k_no_sums(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  for (int32_t i = 1 + (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x)
    v.node[i].sum.g = v.node[i].sum.h = 0;
  __syncthreads();
  cu_plan_leaves(v);
}

__global__ static void __launch_bounds__(CU_BLOCK) k_leaf_sums(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  if (v.tree->n_nodes == 1) return; /* the root's is known */
  for (uint32_t b = blockIdx.x; b < v.tree->n_leaf_blocks; b += gridDim.x) {
    const cu_leaf_rows r = cu_rows_of_block(v, b);
    const gbt_sum s = cu_block_sum(cu_coarse_sum(v, r, v.tree->wide, 1));
    if (threadIdx.x != 0) continue;
    cu_add(&v.node[r.node].sum.g, s.g);
    cu_add(&v.node[r.node].sum.h, s.h);
  }
}

/* Sums of all nodes but the root, whose sum all ranks know, to `packed`, or back. */
__global__ static void __launch_bounds__(CU_CONTROL) k_pack_sums(cu_view all, int back) {
  const cu_view v = cu_view_of_block(all);
  for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
    gbt_sum *sum = &v.node[i].sum;
    if (back && i > 0) {
      sum->g = v.packed[2 * i];
      sum->h = v.packed[2 * i + 1];
    } else if (!back) {
      v.packed[2 * i] = i > 0 ? sum->g : 0;
      v.packed[2 * i + 1] = i > 0 ? sum->h : 0;
    }
  }
}

__global__ static void __launch_bounds__(CU_CONTROL) k_bounds(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const gbt_grow_policy policy = cu_policy_of(v);
  for (int32_t i = 1 + (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
    if (v.node[i].left) continue;
    const gbt_sum s = v.node[i].sum;
    for (int32_t up = v.node[i].parent; up > 0; up = v.node[up].parent) {
      cu_add(&v.node[up].sum.g, s.g);
      cu_add(&v.node[up].sum.h, s.h);
    }
  }
  int more = 1;
  for (int32_t depth = 0; more; depth++) {
    __syncthreads();
    more = 0;
    for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_nodes; i += (int32_t)blockDim.x) {
      gbt_grow_node *node = &v.node[i], *left = &v.node[node->left], *right = left + 1;
      if (node->left == 0) continue;
      more |= node->depth > depth;
      if (node->depth != depth) continue;
      if (v.tree->task.rates) gbt_rate_existing_split(&policy, v.constrained, node, left, right);
      gbt_grow_bound(&policy, node, left, right);
      left->weight = gbt_grow_child_weight(&policy, node, left);
      right->weight = gbt_grow_child_weight(&policy, node, right);
    }
    more = __syncthreads_or(more);
  }
}

/* ---- the host's side ---- */

static gbt_status open_refit(cu_backend *be, gbt_error *err) {
  if (be->refit) return GBT_OK;
  return gbt_mem_zeros(&be->mem, 1, sizeof *be->refit, &be->refit, err);
}

void cu_refit_close(cu_backend *be) {
  cu_refit *r = be->refit;
  if (!r) return;
  void *blocks[] = {r->given, r->step, r->like, r->node, r->fine, r->value};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
  cu_drop(&be->device.memory, &r->on_device);
  cu_drop(&be->device.memory, &r->step_on_device);
  gbt_mem_free(&be->mem, r);
  be->refit = NULL;
}

template <class T> static gbt_status room_on_device(cu_backend *be, cu_array<T> *a, size_t n, gbt_error *err) {
  if (a->n >= n) return GBT_OK;
  cu_drop(&be->device.memory, a);
  return cu_new(&be->device.memory, a, n, err);
}

/* Room for these trees. One that this device could not have grown fails as in growing. */
static gbt_status make_room(cu_backend *be, const gbt_forest_view *like, uint64_t first, int32_t n, gbt_error *err) {
  cu_refit *r = be->refit;
  const size_t trees = (size_t)n;
  uint32_t most = 1;
  for (int32_t y = 0; y < n; y++) {
    const gbt_tree_parts tree = gbt_tree_of(like, first + (uint64_t)y);
    cu_tree too_large = cu_tree();
    too_large.fault = CU_FAULT_ROOM;
    if (tree.n_nodes > (uint32_t)be->view.max_nodes || tree.n_words > be->view.max_words)
      return cu_faults_of(be, &too_large, err);
    if (tree.n_nodes > most) most = tree.n_nodes;
  }
  r->room = most / 2 + 1;
  GBT_TRY(gbt_mem_grow(&be->mem, &r->given, &r->cap[0], trees * r->room, sizeof *r->given, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &r->step, &r->cap[1], trees * (r->room + 1), sizeof *r->step, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &r->like, &r->cap[2], trees * (2 * r->room + 1), sizeof *r->like, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &r->node, &r->cap[3], most, sizeof *r->node, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &r->fine, &r->cap[4], most, sizeof *r->fine, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &r->value, &r->cap[5], most, sizeof *r->value, err));
  GBT_TRY(room_on_device(be, &r->on_device, r->cap[0], err));
  return room_on_device(be, &r->step_on_device, r->cap[1], err);
}

static cu_given given_of(const cu_backend *be, const gbt_tree_parts *tree, uint32_t at, int32_t id) {
  cu_given given = cu_given();
  given.split = gbt_import_split(tree, at, be->cuts);
  given.id = id;
  given.kept = given.split.gain == 0.0;
  if (given.split.kind == GBT_SPLIT_NUMERIC) return given;
  given.set_beg = tree->nodes[at].arg.set.beg;
  given.set_words = tree->nodes[at].arg.set.n_words;
  return given;
}

/* The steps of tree y of the batch; nodes get the places that cu_make_children gives them. Returns how many. */
static uint32_t plan_steps(cu_backend *be, const gbt_tree_parts *tree, int32_t y) {
  cu_refit *r = be->refit;
  cu_given *given = r->given + (size_t)y * r->room;
  uint32_t *step = r->step + (size_t)y * (r->room + 1), *like = r->like + (size_t)y * (2 * r->room + 1);
  uint32_t n_given = 0, done = 0, n_steps = 0, n_nodes = 1;
  like[0] = 0;
  if (tree->nodes[0].left > 0) given[n_given++] = given_of(be, tree, 0, 0);
  while (done < n_given) {
    const uint32_t n = n_given - done < (uint32_t)be->view.max_step ? n_given - done : (uint32_t)be->view.max_step;
    step[n_steps++] = done;
    for (uint32_t c = done; c < done + n; c++)
      for (uint32_t side = 0; side < 2; side++, n_nodes++) {
        const uint32_t at = tree->nodes[like[given[c].id]].left + side;
        like[n_nodes] = at;
        if (tree->nodes[at].left > 0) given[n_given++] = given_of(be, tree, at, (int32_t)n_nodes);
      }
    done += n;
  }
  GBT_ASSERT(n_nodes == tree->n_nodes && n_given < r->room && n_steps <= n_given);
  for (uint32_t s = n_steps; s <= r->room; s++) step[s] = done;
  return n_steps;
}

/* Splits and sets of the trees to the device; *n_steps: of the tree that has most. Issues work, and waits for it. */
static gbt_status send_splits(cu_backend *be, const gbt_forest_view *like, uint64_t first, int32_t n, uint32_t *n_steps,
                              gbt_error *err) {
  cu_refit *r = be->refit;
  *n_steps = 0;
  for (int32_t y = 0; y < n; y++) {
    const gbt_tree_parts tree = gbt_tree_of(like, first + (uint64_t)y);
    const uint32_t steps = plan_steps(be, &tree, y);
    uint32_t *sets = (uint32_t *)(void *)((char *)be->view.sets + (size_t)y * be->view.stride);
    if (steps > *n_steps) *n_steps = steps;
    if (tree.n_words > 0) GBT_TRY(cu_put(&be->device, sets, tree.sets, tree.n_words * sizeof *sets, err));
  }
  GBT_TRY(cu_put(&be->device, r->on_device.at, r->given, (size_t)n * r->room * sizeof *r->given, err));
  return cu_put(&be->device, r->step_on_device.at, r->step, (size_t)n * (r->room + 1) * sizeof *r->step, err);
}

/* Those of all ranks. */
static gbt_status share_sums(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const dim3 one = cu_grids(be, 1, 1);
  if (!be->view.shared) return GBT_OK;
  CU_LAUNCH(k_pack_sums, one, CU_CONTROL, 0, be->device.stream, be->view, 0);
  CU_LAUNCHED();
  GBT_TRY(cu_share_nodes(ctx, be, be->view.packed, 2, GBT_COMM_SUM, err));
  CU_LAUNCH(k_pack_sums, one, CU_CONTROL, 0, be->device.stream, be->view, 1);
  CU_LAUNCHED();
  return GBT_OK;
}

static gbt_status split_all(gbt_ctx *ctx, cu_backend *be, uint32_t n_steps, gbt_error *err) {
  const cu_refit *r = be->refit;
  for (uint32_t s = 0; s < n_steps; s++) {
    const cu_given_view view = {r->on_device.at, r->step_on_device.at, (uint32_t)r->room, s};
    GBT_TRY(gbt_ctx_poll(ctx, err));
    CU_LAUNCH(k_given, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view, view);
    CU_LAUNCHED();
    if (be->view.shared) GBT_TRY(cu_read_states(ctx, be, err)); /* how many nodes it splits */
    GBT_TRY(cu_partition(ctx, be, err));
  }
  GBT_TRY(cu_gather_end(be, err));
  CU_LAUNCH(k_no_sums, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  CU_LAUNCH(k_leaf_sums, cu_grids(be, be->bounds.max_leaf_blocks, 8), CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  GBT_TRY(share_sums(ctx, be, err));
  CU_LAUNCH(k_bounds, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  return GBT_OK;
}

/* All nodes of tree y that have been copied to the host, at the places of their numbers. */
static void renumber(cu_backend *be, int32_t y, gbt_grown *grown) {
  cu_refit *r = be->refit;
  const uint32_t *like = r->like + (size_t)y * (2 * r->room + 1);
  for (size_t i = 0; i < grown->n_nodes; i++) {
    gbt_grow_node node = grown->node[i];
    if (node.left > 0) node.left = (int32_t)like[node.left];
    if (node.parent >= 0) node.parent = (int32_t)like[node.parent];
    node.number = (int32_t)like[i];
    r->node[like[i]] = node;
    r->fine[like[i]] = grown->fine[i];
    r->value[like[i]] = grown->value[i];
  }
  grown->node = r->node;
  grown->fine = r->fine;
  grown->value = r->value;
}

static gbt_status take_trees(cu_backend *be, const gbt_forest_view *like, uint64_t first, int32_t n, gbt_forest *forest,
                             gbt_error *err) {
  for (int32_t y = 0; y < n; y++) GBT_TRY(cu_faults_of(be, cu_down_of(be, y), err));
  for (int32_t y = 0; y < n; y++) {
    const gbt_tree_parts tree = gbt_tree_of(like, first + (uint64_t)y);
    gbt_grown grown;
    GBT_TRY(cu_down_whole(be, y, &grown, err));
    GBT_ASSERT(grown.n_nodes == tree.n_nodes);
    grown.sets = tree.sets; /* as they went up */
    grown.n_set_words = tree.n_words;
    renumber(be, y, &grown);
    GBT_TRY(gbt_export_tree(&be->mem, &be->down.out, &grown, be->cuts, forest, err));
  }
  return GBT_OK;
}

/* As be->view is here: see above. */
static gbt_status refit_batch(gbt_ctx *ctx, cu_backend *be, const gbt_tree_task *task, int32_t n,
                              const gbt_forest_view *like, uint64_t first, gbt_forest *forest, gbt_error *err) {
  uint32_t n_steps;
  cu_take_tasks(be, task, n);
  be->depth = 0;
  cu_down_swap(be);
  GBT_TRY(make_room(be, like, first, n, err));
  GBT_TRY(send_splits(be, like, first, n, &n_steps, err));
  CU_TRY(cu_state_send(be, &be->view.tree->task, be->task, sizeof *be->task));
  if (cu_are_fixed(be))
    GBT_TRY(cu_set_trees(be, err));
  else
    GBT_TRY(cu_gradients_of_trees(ctx, be, err));
  GBT_TRY(cu_rows_begin(ctx, be, err));
  GBT_TRY(cu_root(be, err));
  GBT_TRY(split_all(ctx, be, n_steps, err));
  GBT_TRY(cu_leaves(ctx, be, err));
  GBT_TRY(cu_down_send(be, err));
  be->grad.fixed_output = task[0].output == task[n - 1].output ? task[0].output : -1;
  GBT_TRY(cu_wait(ctx, be, err));
  be->base.device_bytes = be->device.memory.most;
  return take_trees(be, like, first, n, forest, err);
}

/* How many trees make a batch: all trees of several outputs, or some of one. */
static int32_t batch_of(const cu_backend *be, const gbt_tree_task *task, int32_t n) {
  const int32_t per_output = (int32_t)be->params->num_parallel_tree;
  int32_t its = 0, all;
  while (its < n && task[its].output == task[0].output) its++;
  for (all = its; its == per_output && all + its <= n && task[all].output == task[all + its - 1].output;) all += its;
  return all;
}

gbt_status cu_refit_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                          const gbt_forest_view *like, uint64_t first, gbt_forest *forest, gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  const int64_t begun_ns = gbt_clock_ns(), max_depth = be->view.policy.max_depth;
  const int32_t ahead = be->view.ahead;
  const int takes_steps = be->takes_steps;
  gbt_status status = GBT_OK;
  GBT_ASSERT(n_trees <= be->base.most_trees && !gbt_gradients_by_host(&be->objective));
  GBT_TRY(gbt_ctx_poll(ctx, err));
  CU_TRY(cudaSetDevice(be->device.number));
  GBT_TRY(cu_down_finish(be, err));
  GBT_TRY(open_refit(be, err));
  be->view.policy.max_depth = 1;
  be->view.ahead = 0;
  be->takes_steps = 1;
  for (int32_t i = 0, n; i < n_trees && status == GBT_OK; i += n) {
    n = batch_of(be, task + i, n_trees - i);
    status = refit_batch(ctx, be, task + i, n, like, first + (uint64_t)i, forest, err);
  }
  be->view.policy.max_depth = max_depth;
  be->view.ahead = ahead;
  be->takes_steps = takes_steps;
  be->base.seconds[GBT_PHASE_LEAF] += (double)(gbt_clock_ns() - begun_ns) * 1e-9;
  return status;
}
