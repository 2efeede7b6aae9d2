/* Splits by sets of levels: twin of cpu_search_set, see there for what is searched and why.
 *
 * A block takes a task (searched node, set feature), after the kernel of split.cu, which has done the subtractions:
 *
 *   1  levels in order of gradient (level_order.cuh)
 *   2  one warp searches the sets from the bottom of the order, another one those from the top: prefix sums 32 levels
 *      at a time; sets that have too few rows more than the last one tried are passed over, without a step per level
 *   3  the better of the two is what the task has found; its levels as bits
 *
 * set_bits of a searched node: every set feature's words side by side, feature f's from set_at[f] on; written where a
 * set was found. Blocks take tasks round robin, as many at a time as there is scratch for orders that are too long for
 * shared memory. */
#include "ops.cuh"

#include "level_order.cuh"

extern "C" {
#include "../../../gbt/backend/feature_plan.h"
}

namespace {

/* Of one end of the order the set (less one level) from which on one is tried; as many as there are: none is. */
__device__ int32_t first_size(const cu_view &v, const gbt_grow_node *node, int32_t feat, int32_t most, int top) {
  if (!v.params.extra_trees || most == 0) return 0;
  const int32_t i = gbt_random_place(cu_cut_key(v, gbt_node_identity(node)), feat, 2 * most);
  if (top != (i >= most)) return most;
  return top ? i - most : i;
}

/* The sets of one end of the order, by one warp. */
__device__ void search_end(const cu_view &v, const cu_asked &q, const gbt_grow_node *node, int32_t feat,
                           const cu_feature &f, const cu_codes &k, const cu_level_order &r, int top, gbt_split *out) {
  const cu_missing miss = cu_missing_of(k, f.has_missing);
  const int32_t n = (int32_t)r.n, most = gbt_set_most(&v.params, n);
  const int64_t least = gbt_set_least(&v.params, q.n_rows);
  const gbt_reg reg = gbt_set_reg(q.reg, &v.params);
  const int sign = cu_sign(v, feat);
  const double noise = v.tree->noise;
  gbt_split best = cu_no_split();
  cu_run before = {{0, 0}, 0};
  int64_t last = 0;
  const int32_t from = first_size(v, node, feat, most, top);
  unsigned met = 0; /* lanes whose set is the one that was drawn */
  for (int32_t beg = 0; beg < most && met == 0; beg += 32) {
    const int32_t at = beg + (int32_t)cu_lane(), live = at < most;
    gbt_sum own = {0, 0};
    int64_t rows = 0;
    if (live) {
      const int32_t c = cu_level_at(r, top, at);
      own = cu_sum_of(k, c);
      rows = cu_rows_of(k, c);
    }
    cu_run run = cu_add_up(&before, own, rows, 1);
    int tried = cu_lanes_tried(run.rows, live, least, &last);
    if (v.params.extra_trees) {
      met = __ballot_sync(CU_ALL, tried && at >= from);
      tried = met != 0 && (int)cu_lane() == __ffs((int)met) - 1;
    }
    if (!tried) continue;
    const double cost = gbt_set_cost(&v.params, noise, at + 1, n);
    gbt_split s = cu_no_split();
    s.kind = GBT_SPLIT_SET;
    s.feat = feat;
    s.bin = at + 1;
    s.from_top = (int8_t)top;
    s.has_missing = (int8_t)miss.any;
    s.left = run.sum;
    for (int left = 0; left <= miss.any; left++) {
      if (left) {
        s.missing_left = 1;
        s.left = cu_plus(s.left, miss.sum);
        run.rows += miss.rows;
      }
      if (!cu_enough(q, run.rows, least)) continue;
      cu_try(q, s, (double)s.left.g * q.unit.g, (double)s.left.h * q.unit.h, reg, sign, cost, &best);
    }
  }
  cu_warp_best(best, out);
}

} // namespace

__global__ static void __launch_bounds__(CU_BLOCK) k_search_sets(cu_view all, int32_t n_plain) {
  const cu_view v = cu_view_of_block(all);
  CU_SHARED(cu_order_room, room, 1);
  CU_SHARED(gbt_split, end, 2);
  const uint64_t n_tasks = (uint64_t)(uint32_t)v.tree->n_search * (uint32_t)v.n_set_feats;
  for (uint64_t task = blockIdx.x; task < n_tasks; task += gridDim.x) {
    const int32_t i = (int32_t)(task / (uint32_t)v.n_set_feats), s = (int32_t)(task % (uint32_t)v.n_set_feats);
    const int32_t feat = v.set_feat[s];
    const cu_feature f = v.train.feat[feat];
    gbt_split *found = &v.found[(uint64_t)(uint32_t)i * (uint32_t)v.n_feat_runs + (uint32_t)(n_plain + s)];
    if (!cu_in_tree(v, feat) || !cu_may_use(v, i, feat)) {
      if (threadIdx.x == 0) *found = cu_no_split();
      continue;
    }
    const gbt_grow_node *node = &v.node[v.search[i].node];
    const cu_asked q = cu_ask(v, node);
    const cu_codes k = cu_codes_of(v, node, f);
    const cu_level_order r = cu_order_levels(v, k, room, blockIdx.x);
    if (cu_warp() < 2) search_end(v, q, node, feat, f, k, r, (int)cu_warp(), &end[cu_warp()]);
    __syncthreads();
    const gbt_split best = end[gbt_split_beats(&end[1], &end[0])];
    if (threadIdx.x == 0) *found = best;
    if (best.kind != GBT_SPLIT_NONE)
      cu_write_set(best, r, f.n_bins, v.set_bits + (uint64_t)(uint32_t)i * v.set_words + v.set_at[feat]);
    __syncthreads(); /* `end` and the order are read until here */
  }
}

gbt_status cu_search_sets(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  uint64_t tasks = 2u * (uint64_t)(uint32_t)v->max_step * (uint32_t)v->n_set_feats;
  dim3 grid = cu_grids(be, tasks, 4);
  if (v->sort_room > 0 && grid.x > (unsigned)v->sort_blocks) grid.x = (unsigned)v->sort_blocks;
  CU_LAUNCH(k_search_sets, grid, CU_BLOCK, 0, be->device.stream, *v, v->n_feat_runs - v->n_set_feats);
  CU_LAUNCHED();
  return GBT_OK;
}

/* ---- opening ---- */

enum : size_t { SORT_BYTES = (size_t)64 << 20 }; /* of scratch, about, for orders too long for shared memory */

static void plan_scratch(cu_backend *be, uint32_t most_levels) {
  cu_view *v = &be->view;
  if (most_levels <= CU_SORT_PART) return;
  v->sort_room = CU_SORT_PART;
  while (v->sort_room < most_levels) v->sort_room *= 2u;
  size_t each = (size_t)v->sort_room * (sizeof *v->sort_key + sizeof *v->sort_level);
  v->sort_blocks = (int32_t)(SORT_BYTES / each) + 1;
  if (v->sort_blocks > 2 * be->device.n_units) v->sort_blocks = 2 * be->device.n_units;
}

/* Lists them: at has n_features entries, feat room for as many. */
static void list_features(cu_backend *be, uint32_t *at, int32_t *feat) {
  cu_view *v = &be->view;
  uint32_t most_levels = 0;
  for (int32_t f = 0; f < be->n_features; f++) {
    const uint32_t n_bins = (uint32_t)be->cuts->feat[f].n_bins;
    at[f] = v->set_words;
    if (!gbt_feature_plan_of(be->cuts, be->layout, f, be->params).by_sets) continue;
    feat[v->n_set_feats++] = f;
    v->set_words += (n_bins + 31u) / 32u;
    if (n_bins > most_levels) most_levels = n_bins;
  }
  if (v->n_set_feats > 0) plan_scratch(be, most_levels);
}

gbt_status cu_set_feats_open(cu_backend *be, gbt_error *err) {
  cu_view *v = &be->view;
  const size_t n = (size_t)be->n_features;
  gbt_status status = GBT_OK;
  uint32_t *at = NULL;
  int32_t *feat = NULL;
  GBT_TRY_GOTO(gbt_mem_array(&be->mem, n, sizeof *at, &at, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&be->mem, n, sizeof *feat, &feat, err), done);
  list_features(be, at, feat);
  GBT_TRY_GOTO(cu_new_from(&be->device, &be->set_feats.at, at, n, err), done);
  v->set_at = be->set_feats.at.at;
  if (v->n_set_feats == 0) goto done;
  GBT_TRY_GOTO(cu_new_from(&be->device, &be->set_feats.feat, feat, (size_t)v->n_set_feats, err), done);
  v->set_feat = be->set_feats.feat.at;
done:
  gbt_mem_free(&be->mem, at);
  gbt_mem_free(&be->mem, feat);
  return status;
}

void cu_set_feats_close(cu_backend *be) {
  cu_drop(&be->device.memory, &be->set_feats.at);
  cu_drop(&be->device.memory, &be->set_feats.feat);
}
