/* The best split of every searched node: subtraction, numeric and one-hot splits. Twin of cpu_split.c, cpu_split_num.c
 * and the first half of cpu_split_cat.c.
 *
 * One launch. A task is (searched node, run of the tree's features); a warp takes a task, feature by feature:
 *
 *   1  the sibling's slots are taken off the node's own, where the node's histogram is got that way; of every feature,
 *      for the node's own children want all of them (on the last layer cuts alone do, so nothing is written then)
 *   2  prefix sums in integers, CU_CUTS x 32 codes at a time; of their cuts those are rated that may be the best
 *      (score_bound.cuh); every lane keeps its best
 *
 * and the best of the lanes is the run's. Candidates have a total order (gbt_split_beats), so it does not matter who
 * meets them when. Those of features that are split by sets are looked at in split_cat.cu, behind this kernel. */
#include "backend.cuh"
#include "split.cuh"

/* Small blocks: a warp wants many registers, so that its loads do not wait for each other. */
enum { SEARCH_THREADS = 128, SEARCH_BLOCKS = 3 };

__global__ static void __launch_bounds__(SEARCH_THREADS, SEARCH_BLOCKS) k_search(cu_view all, int32_t n_plain) {
  const cu_view v = cu_mine(all);
  const uint64_t n_tasks = (uint64_t)(uint32_t)v.tree->n_search * (uint32_t)n_plain;
  const uint64_t step = (uint64_t)gridDim.x * cu_n_warps();
  for (uint64_t task = (uint64_t)blockIdx.x * cu_n_warps() + cu_warp(); task < n_tasks; task += step)
    cu_search_run<1>(v, (int32_t)(task / (uint32_t)n_plain), (int32_t)(task % (uint32_t)n_plain));
}

gbt_status cu_search(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  const int32_t n_plain = v->n_feat_runs - v->n_set_feats;
  uint64_t tasks = 2u * (uint64_t)(uint32_t)v->max_step * (uint32_t)n_plain, warps = SEARCH_THREADS / CU_FULL;
  const dim3 grid = cu_grids(be, (tasks + warps - 1) / warps, 4 * SEARCH_BLOCKS);
  CU_LAUNCH(k_search, grid, SEARCH_THREADS, 0, be->device.stream, *v, n_plain);
  CU_LAUNCHED();
  return v->n_set_feats > 0 ? cu_search_sets(be, err) : GBT_OK;
}
