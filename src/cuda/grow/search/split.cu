/* The best split of every searched node: subtraction, numeric and one-hot splits. Twin of cpu_split.c, cpu_split_num.c
 * and the first half of cpu_split_cat.c.
 *
 * One launch. A task is (searched node, runs of the tree's features); a warp takes a task, feature by feature:
 *
 *   1  the sibling's slots are taken off the node's own, where the node's histogram is got that way; of every feature,
 *      for the node's own children need all of them (on the last layer only cuts do, so nothing is written then)
 *   2  prefix sums in integers, CU_CUTS x 32 codes at a time; of their cuts those are rated that may be the best of
 *      what the task has met (score_bound.cuh); every lane keeps its best
 *
 * and the best of the lanes is the run's. Candidates have a total order (gbt_split_beats), so it does not matter who
 * meets them when. Where an earlier run of the task has shown that a run's best is not the node's, it may have a worse
 * one or none. Features that are split by sets are searched by split_cat.cu, after this kernel. */
#include "ops.cuh"

#include "split.cuh"

/* Small blocks: a warp needs many registers, so that its loads do not wait for each other. */
enum { SEARCH_THREADS = 128, SEARCH_WARPS = SEARCH_THREADS / CU_FULL, SEARCH_BLOCKS = 3, SEARCH_TURNS = 2 };

/* Warps that share a node's runs: one a run while there are few nodes, and with many so many that every warp of the
 * grid has about SEARCH_TURNS tasks, each a node and several of its runs. */
__device__ static __forceinline__ uint32_t sharers(uint32_t n_search, uint32_t n_plain, uint32_t n_warps) {
  const uint32_t most = (n_warps * SEARCH_TURNS + n_search - 1u) / n_search;
  return most < n_plain ? most : n_plain;
}

/* Tasks are fewer than 2^31, as v.found has a place for each. */
__global__ static void __launch_bounds__(SEARCH_THREADS, SEARCH_BLOCKS) k_search(cu_view all, int32_t n_plain) {
  CU_SHARED(cu_cell, cells, CU_ROOM * SEARCH_WARPS);
  CU_SHARED(cu_todo, todo, SEARCH_WARPS); /* or it would fill registers that only rated cuts have a use for */
  const cu_view v = cu_view_of_block(all);
  const uint32_t n_search = (uint32_t)v.tree->n_search, n_warps = gridDim.x * cu_n_warps();
  if (n_search == 0 || n_plain == 0) return;
  const uint32_t n_sharers = sharers(n_search, (uint32_t)n_plain, n_warps), n_tasks = n_search * n_sharers;
  cu_cell *room = cells + CU_ROOM * cu_warp();
  cu_todo *its = &todo[cu_warp()];
  for (uint32_t task = blockIdx.x * cu_n_warps() + cu_warp(); task < n_tasks; task += n_warps) {
    const cu_todo asked = cu_todo_of(v, (int32_t)(task / n_sharers));
    float bar = asked.bound.bar;
    __syncwarp(); /* the task before has been read */
    if (cu_lane() == 0) *its = asked;
    __syncwarp();
    for (int32_t run = (int32_t)(task % n_sharers); run < n_plain; run += (int32_t)n_sharers)
      cu_search_run<1>(v, its, run, room, &bar);
  }
}

/* Where features compete by more than gains, or have one cut each (tree/contest.h, tree/random_cut.h): a split of every
 * feature enters. A task is a run of a searched node. */
__global__ static void __launch_bounds__(SEARCH_THREADS, SEARCH_BLOCKS)
    k_search_each(cu_view all, int32_t n_plain) {
  CU_SHARED(cu_cell, cells, CU_ROOM * SEARCH_WARPS);
  CU_SHARED(cu_todo, todo, SEARCH_WARPS);
  CU_SHARED(gbt_split, own, SEARCH_WARPS);
  const cu_view v = cu_view_of_block(all);
  const uint32_t n_search = (uint32_t)v.tree->n_search, n_warps = gridDim.x * cu_n_warps();
  if (n_search == 0 || n_plain == 0) return;
  const uint32_t n_tasks = n_search * (uint32_t)n_plain;
  cu_todo *its = &todo[cu_warp()];
  for (uint32_t task = blockIdx.x * cu_n_warps() + cu_warp(); task < n_tasks; task += n_warps) {
    const cu_todo asked = cu_todo_of(v, (int32_t)(task / (uint32_t)n_plain));
    __syncwarp(); /* the task before has been read */
    if (cu_lane() == 0) *its = asked;
    __syncwarp();
    cu_search_each(v, its, (int32_t)(task % (uint32_t)n_plain), cells + CU_ROOM * cu_warp(), &own[cu_warp()]);
  }
}

/* Of each searched node the winner of all runs stays in v.found; two runs have no feature in common. So any thread that
 * takes the largest gain takes the winner. A warp for each. */
__global__ static void __launch_bounds__(SEARCH_THREADS) k_contest(cu_view all) {
  CU_SHARED(gbt_split, winner, SEARCH_WARPS);
  const cu_view v = cu_view_of_block(all);
  const uint32_t n_warps = gridDim.x * cu_n_warps();
  for (uint32_t i = blockIdx.x * cu_n_warps() + cu_warp(); i < (uint32_t)v.tree->n_search; i += n_warps) {
    gbt_split *found = v.found + (uint64_t)i * (uint32_t)v.n_feat_runs, best = cu_no_split();
    const gbt_grow_node *node = &v.node[v.search[i].node];
    const cu_asked q = cu_ask(v, node);
    const gbt_contest contest = cu_contest(v, gbt_node_identity(node), q.rated.parent);
    for (int32_t u = (int32_t)cu_lane(); u < v.n_feat_runs; u += 32) {
      gbt_split s = found[u];
      if (!gbt_contest_admits(&contest, &s, q.min_gain)) continue;
      s.gain = gbt_standing(&contest, &s);
      if (gbt_split_beats(&s, &best)) best = s;
    }
    cu_warp_best(best, &winner[cu_warp()]);
    __syncwarp();
    const gbt_split won = winner[cu_warp()];
    for (int32_t u = (int32_t)cu_lane(); u < v.n_feat_runs; u += 32)
      if (won.kind == GBT_SPLIT_NONE || found[u].feat != won.feat) found[u].kind = GBT_SPLIT_NONE;
    __syncwarp(); /* the winner has been read */
  }
}

gbt_status cu_search(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  const int32_t n_plain = v->n_feat_runs - v->n_set_feats;
  uint64_t tasks = 2u * (uint64_t)(uint32_t)v->max_step * (uint32_t)n_plain, warps = SEARCH_WARPS;
  const dim3 grid = cu_grids(be, (tasks + warps - 1) / warps, 4 * SEARCH_BLOCKS);
  if (cu_searches_each(be))
    CU_LAUNCH(k_search_each, grid, SEARCH_THREADS, 0, be->device.stream, *v, n_plain);
  else
    CU_LAUNCH(k_search, grid, SEARCH_THREADS, 0, be->device.stream, *v, n_plain);
  CU_LAUNCHED();
  if (v->n_set_feats > 0) GBT_TRY(cu_search_sets(be, err));
  if (!gbt_contests(be->params, be->handicap)) return GBT_OK;
  CU_LAUNCH(k_contest, cu_grids(be, (2u * (uint64_t)(uint32_t)v->max_step + warps - 1) / warps, 4), SEARCH_THREADS, 0,
            be->device.stream, *v);
  CU_LAUNCHED();
  return GBT_OK;
}
