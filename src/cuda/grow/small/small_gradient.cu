/* Gradients of small data, of one output: all that gradient.cu does for a round in one kernel, whose blocks wait for
 * each other (base/gate.cuh).
 *
 *   maxima    of |g| and h
 *   | gate    the last block to come makes the scale of them
 *   16 bits   and their sums
 *   | gate    the last block decides whether they do, and sets this in the trees of the round
 *   32 bits   where they do not
 *
 * Maxima and sums are 0 between rounds: those who have read them clear them. */
#include "small.cuh"

#include "../gradients/gradient.cuh"

/* The trees of the round: all of the batch, which has them all. */
__device__ static __forceinline__ void set_trees(const cu_view &v, const cu_output *o, uint32_t n_trees) {
  for (uint32_t y = 0; y < n_trees; y++) cu_set_tree(v, cu_shifted(v.tree, v.stride * y), o);
}

template <gbt_objective_kind KIND>
__global__ static void __launch_bounds__(CU_SMALL_THREADS, 1)
    k_small_gradients(cu_view v, cu_gate *gate, uint64_t round, uint32_t n_trees) {
  cu_output *o = v.output;
  cu_find_maxima<KIND>(v, nullptr, 0);
  cu_pass(gate, [&] {
    if (threadIdx.x != 0) return;
    for (uint32_t y = 0; y < n_trees; y++) cu_shifted(v.tree, v.stride * y)->round = round;
    if (!cu_scale_output(v, o)) cu_fail_gradients(v);
    o->max_g = o->max_h = 0;
  });
  cu_fix16_rows<KIND>(v, nullptr, 0, 0, round);
  cu_pass(gate, [&] {
    if (threadIdx.x != 0) return;
    cu_check_16_bits(v, o);
    set_trees(v, o, n_trees);
  });
  if (o->wide) cu_fix32_rows<KIND>(v, nullptr, 0, 0);
}

/* Only objectives that make a row's gradients of its own score have an instance. */
#define LAUNCH_ROW(ID)                                                                                         \
  CU_LAUNCH_TOGETHER(k_small_gradients<GBT_OBJ_##ID>, small->grid, CU_SMALL_THREADS, 0, be->device.stream,     \
                     be->view, small->view.gate, round, (uint32_t)be->base.most_trees)
#define LAUNCH_CLASSES(ID) GBT_ASSERT(0)
#define LAUNCH_GIVEN(ID) GBT_ASSERT(0)
#define LAUNCH_QUERY(ID) GBT_ASSERT(0)
#define LAUNCH_ORDERED(ID) GBT_ASSERT(0)
#define LAUNCH_TIME(ID) GBT_ASSERT(0)
#define LAUNCH_INTERVALS(ID) GBT_ASSERT(0)
#define LAUNCH_DISTRIBUTION(ID) GBT_ASSERT(0)

/* Whether a round is one batch of one output, whose rows stand for themselves. */
static int is_for(const cu_backend *be) {
  return cu_grows_in_one_kernel(be) && be->n_outputs == 1 && be->params->num_parallel_tree <= be->base.most_trees &&
         gbt_gradients_by_row(&be->objective);
}

int cu_small_gradients(cu_backend *be, uint64_t round) {
  const cu_small *small = be->small;
  if (!is_for(be)) return 0;
  switch ((gbt_objective_kind)be->objective.kind) {
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    LAUNCH_##gradient(ID);                              \
    break;
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  be->takes_steps = cudaGetLastError() != cudaSuccess;
  return !be->takes_steps;
}
