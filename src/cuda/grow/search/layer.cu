/* Symmetric growth: what every candidate gains over all nodes of a layer. Twin of cpu_split_layer.c, see there for what
 * counts; layer_decide.cu takes the best.
 *
 * A layer is searched by some nodes at once, so that `part` stays small. A warp takes (node, feature): the subtraction
 * of split.cu, then the node's own gains of all candidates of the feature, into part. Then a thread per candidate adds
 * these nodes to gain, node after node: doubles, so the order is that of the nodes' numbers. A step holds a whole
 * layer, and all of its histograms, when growth is symmetric; the list of searched nodes has another order than their
 * numbers, so there is `at`.
 *
 * Sets: one order of levels for a tree, from the root; which of its sets are candidates is marked then. */
#include "ops.cuh"

#include "layer.cuh"

enum : size_t { PART_BYTES = (size_t)64 << 20 }; /* of `part`, about */

/* ---- the order of levels, once a tree ---- */

namespace {

/* Which sets of one end have enough rows, and enough more than the last one that was tried. A warp. */
__device__ void mark_end(const cu_view &v, const gbt_grow_node *root, const cu_feature &f, const cu_codes &k,
                         const cu_level_order &r, int top, uint8_t *tried) {
  const int32_t most = gbt_set_most(&v.params, (int32_t)r.n);
  const int64_t all = root->n_rows, least = gbt_set_least(&v.params, all);
  const int64_t missing = cu_missing_of(k, f.has_missing).rows;
  cu_run before = {{0, 0}, 0};
  int64_t last = 0;
  for (int32_t beg = 0; beg < most; beg += 32) {
    const int32_t at = beg + (int32_t)cu_lane(), live = at < most;
    gbt_sum none = {0, 0};
    int64_t rows = cu_add_up(&before, none, live ? cu_rows_of(k, cu_level_at(r, top, at)) : 0, 1).rows;
    int ok = cu_lanes_tried(rows, live, least, &last);
    int right = rows >= least && all - rows >= least;
    int left = rows + missing >= least && all - rows - missing >= least;
    if (live) tried[top * most + at] = (uint8_t)(ok ? (right ? CU_TRY_RIGHT : 0) | (left ? CU_TRY_LEFT : 0) : 0);
  }
}

/* By what a level of a feature is put in order in all trees: twin of cpu_together_ratios. */
__device__ double joint_ratio(const cu_view &all, const cu_together_view &t, const cu_feature &f, int32_t level) {
  double g = 0.0, h = 0.0;
  for (int32_t k = 0; k < t.n; k++) {
    const cu_view v = cu_view_of(all, (uint32_t)k);
    if (v.tree->n_search == 0) continue; /* no split of the root: no histogram */
    const gbt_sum s = cu_sum_of(cu_codes_of(v, &v.node[0], f), level);
    g += t.direction[k] * ((double)s.g * v.tree->unit.g);
    h += (double)s.h * v.tree->unit.h;
  }
  const double down = h / (double)t.n + all.params.cat_smooth;
  return down > 0.0 ? g / down : 0.0;
}

struct by_joint_ratio {
  const cu_view *all;
  const cu_together_view *together;
  cu_feature f;
  __device__ double operator()(int32_t level) const { return joint_ratio(*all, *together, f, level); }
};

/* A tree whose root has a histogram; the first one if there is none. */
__device__ cu_view searched_tree(const cu_view &all, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    const cu_view v = cu_view_of(all, (uint32_t)k);
    if (v.tree->n_search > 0) return v;
  }
  return cu_view_of(all, 0);
}

} // namespace

/* Of trees that grow together: one order for all, which each of them makes for itself. Sets have a slot for each level,
 * so codes are looked up without other lanes. */
__global__ static void __launch_bounds__(CU_BLOCK) k_joint_order(cu_view all, cu_layer_view layers) {
  const cu_view v = cu_view_of_block(all), its = searched_tree(all, layers.together.n);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  CU_SHARED(cu_order_room, room, 1);
  if (its.tree->n_search == 0) return;
  const gbt_grow_node *root = &its.node[0];
  for (int32_t s = (int32_t)blockIdx.x; s < v.n_set_feats; s += (int32_t)gridDim.x) {
    const int32_t feat = v.set_feat[s];
    const cu_feature f = v.train.feat[feat];
    if (!cu_in_tree(v, feat)) continue;
    GBT_ASSERT(f.zero_bin < 0);
    const cu_codes k = cu_codes_of(its, root, f);
    const by_joint_ratio ratio = {&all, &layers.together, f};
    const cu_level_order r = cu_order_levels_by(v, k, room, blockIdx.x, ratio);
    const uint64_t beg = l.beg[feat];
    for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) l.order[beg + i] = r.level[i];
    if (threadIdx.x == 0) l.n_placed[feat] = (int32_t)r.n;
    if (cu_warp() < 2) mark_end(v, root, f, k, r, (int)cu_warp(), l.tried + beg);
  }
}

__global__ static void __launch_bounds__(CU_BLOCK) k_level_order(cu_view all, cu_layer_view layers) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  CU_SHARED(cu_order_room, room, 1);
  if (v.tree->fresh_beg != 0 || v.tree->n_search == 0) return;
  const gbt_grow_node *root = &v.node[0];
  for (int32_t s = (int32_t)blockIdx.x; s < v.n_set_feats; s += (int32_t)gridDim.x) {
    const int32_t feat = v.set_feat[s];
    const cu_feature f = v.train.feat[feat];
    if (!cu_in_tree(v, feat)) continue;
    const cu_codes k = cu_codes_of(v, root, f);
    const cu_level_order r = cu_order_levels(v, k, room, blockIdx.x);
    const uint64_t beg = l.beg[feat];
    for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) l.order[beg + i] = r.level[i];
    if (threadIdx.x == 0) l.n_placed[feat] = (int32_t)r.n;
    if (cu_warp() < 2) mark_end(v, root, f, k, r, (int)cu_warp(), l.tried + beg);
  }
}

/* ---- what the nodes gain ---- */

/* One block: the position of each fresh node in the list of searched ones. most: what the host has launched searches
 * for. */
__global__ static void k_layer_list(cu_view all, cu_layer_view layers, int32_t most) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  if (threadIdx.x == 0 && cu_n_fresh(v) > most) atomicOr(&v.tree->fault, (unsigned)CU_FAULT_ROOM);
  for (int32_t i = (int32_t)threadIdx.x; i < cu_n_fresh(v); i += (int32_t)blockDim.x) l.at[i] = -1;
  for (int32_t f = (int32_t)threadIdx.x; f < v.n_features; f += (int32_t)blockDim.x) l.missing[f] = 0;
  __syncthreads();
  for (int32_t i = (int32_t)threadIdx.x; i < v.tree->n_search; i += (int32_t)blockDim.x)
    l.at[v.search[i].node - v.tree->fresh_beg] = i;
}

namespace {

/* A node's gains of one end of the order, or of all candidates of another kind, by a warp. */
__device__ void gains_of_end(const cu_view &v, const cu_layer_view &l, const cu_asked &q, int32_t feat,
                             const cu_feature &f, const cu_codes &k, const cu_missing &miss, int top, int32_t n,
                             double *right, double *left) {
  const gbt_reg reg = f.kind == CU_SET ? gbt_set_reg(q.reg, &v.params) : q.reg;
  const int sign = cu_sign(v, feat), counted = k.count != nullptr;
  const double mg = (double)miss.sum.g * q.unit.g, mh = (double)miss.sum.h * q.unit.h;
  cu_run before = {{0, 0}, 0};
  for (int32_t beg = 0; beg < n; beg += 32) {
    const int32_t c = beg + (int32_t)cu_lane();
    cu_run run = {{0, 0}, 0};
    if (c < n) {
      const int32_t code = cu_code_at(l, feat, f, top, c);
      run.sum = cu_sum_of(k, code);
      run.rows = cu_rows_of(k, code);
    }
    if (f.kind != CU_ONEHOT) run = cu_add_up(&before, run.sum, run.rows, counted);
    if (c >= n) continue;
    const double g = (double)run.sum.g * q.unit.g, h = (double)run.sum.h * q.unit.h;
    const double gain = cu_own_gain(q, g, h, run.rows, reg, sign);
    right[c] = gain;
    if (f.has_missing) left[c] = miss.any ? cu_own_gain(q, g + mg, h + mh, run.rows + miss.rows, reg, sign) : gain;
  }
}

} // namespace

/* Gains of fresh nodes [first, first + at_once) into part. All of the tree's features are subtracted. */
__global__ static void __launch_bounds__(CU_BLOCK, 2) k_layer_gains(cu_view all, cu_layer_view layers, int32_t first) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  const int32_t n_feats = v.feats[0], rest = cu_n_fresh(v) - first;
  const uint64_t n_tasks = (uint64_t)(uint32_t)(rest < 0 ? 0 : rest < l.at_once ? rest : l.at_once) * (uint32_t)n_feats;
  const uint64_t step = (uint64_t)gridDim.x * cu_n_warps();
  for (uint64_t task = (uint64_t)blockIdx.x * cu_n_warps() + cu_warp(); task < n_tasks; task += step) {
    const int32_t r = (int32_t)(task / (uint32_t)n_feats), feat = v.feats[1 + task % (uint32_t)n_feats];
    const int32_t at = l.at[first + r];
    if (at < 0) continue;
    const cu_feature f = v.train.feat[feat];
    const gbt_grow_node *node = &v.node[v.tree->fresh_beg + first + r];
    if (v.search[at].minus >= 0) cu_subtract_sibling(v, f, node->hist, v.search[at].minus);
    if (!cu_is_searched(v, f, feat)) continue;
    const cu_asked q = cu_ask(v, node);
    const cu_codes k = cu_codes_of(v, node, f);
    const cu_missing miss = cu_missing_of(k, f.has_missing);
    if (miss.any && cu_lane() == 0) atomicOr(&l.missing[feat], 1u);
    double *right = l.part + 2u * ((uint64_t)(uint32_t)r * l.n_codes + l.beg[feat]), *left = right + f.n_bins + 1;
    const int32_t n = cu_n_candidates(v, l, feat, f);
    if (f.kind != CU_SET) {
      gains_of_end(v, l, q, feat, f, k, miss, 0, n, right, left);
      continue;
    }
    gains_of_end(v, l, q, feat, f, k, miss, 0, n / 2, right, left);
    gains_of_end(v, l, q, feat, f, k, miss, 1, n / 2, right + n / 2, left + n / 2);
  }
}

/* The gains of these nodes on top of those of the nodes before them, in the order of their numbers. */
__global__ static void __launch_bounds__(CU_BLOCK) k_layer_sums(cu_view all, cu_layer_view layers, int32_t first) {
  const cu_view v = cu_view_of_block(all);
  const cu_layer_view l = cu_view_of_block(layers, all.stride);
  const int32_t rest = cu_n_fresh(v) - first, n = rest < l.at_once ? rest : l.at_once;
  const uint64_t places = 2u * l.n_codes, step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t x = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; x < places; x += step) {
    if (!cu_has_candidate(v, l, x)) continue;
    double sum = first == 0 ? 0.0 : l.gain[x];
    for (int32_t r = 0; r < n; r++)
      if (l.at[first + r] >= 0) sum += l.part[(uint64_t)(uint32_t)r * places + x];
    l.gain[x] = sum;
  }
}

/* Launches are checked one by one, as in rows.cu. */
gbt_status cu_layer_search(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  const cu_layer_view *l = &be->layer->view;
  const int32_t most = cu_most_nodes(be);
  const uint64_t warps = CU_BLOCK / CU_FULL, at_once = (uint64_t)(most < l->at_once ? most : l->at_once);
  const dim3 one = cu_grids(be, 1, 1);
  const dim3 wide = cu_grids(be, (at_once * (uint32_t)v->n_features + warps - 1) / warps, 8);
  const dim3 sums = cu_grids(be, (2u * l->n_codes + CU_BLOCK - 1) / CU_BLOCK, 8);
  CU_LAUNCH(k_layer_list, one, CU_CONTROL, 0, be->device.stream, *v, *l, most);
  CU_LAUNCHED();
  if (v->n_set_feats > 0 && be->depth == 0) {
    dim3 grid = cu_grids(be, (uint64_t)(uint32_t)v->n_set_feats, 4);
    if (v->sort_room > 0 && grid.x > (unsigned)v->sort_blocks) grid.x = (unsigned)v->sort_blocks;
    if (l->together.n > 0)
      CU_LAUNCH(k_joint_order, grid, CU_BLOCK, 0, be->device.stream, *v, *l);
    else
      CU_LAUNCH(k_level_order, grid, CU_BLOCK, 0, be->device.stream, *v, *l);
    CU_LAUNCHED();
  }
  for (int32_t first = 0; first < most; first += l->at_once) {
    CU_LAUNCH(k_layer_gains, wide, CU_BLOCK, 0, be->device.stream, *v, *l, first);
    CU_LAUNCHED();
    CU_LAUNCH(k_layer_sums, sums, CU_BLOCK, 0, be->device.stream, *v, *l, first);
    CU_LAUNCHED();
  }
  return l->together.n > 0 ? cu_together_join(be, err) : GBT_OK;
}

/* ---- life ---- */

static gbt_status open_places(cu_backend *be, gbt_error *err) {
  cu_layer *layer = be->layer;
  size_t n = (size_t)be->n_features;
  uint64_t *beg, codes = 0;
  GBT_TRY(gbt_mem_array(&be->mem, n + 1, sizeof *beg, &beg, err));
  for (size_t f = 0; f < n; f++) {
    beg[f] = codes;
    if (gbt_layout_uses(be->layout, (int32_t)f)) codes += (uint64_t)be->cuts->feat[f].n_bins + 1u;
  }
  beg[n] = codes;
  layer->view.n_codes = codes;
  gbt_status status = cu_new_from(&be->device, &layer->beg, beg, n + 1, err);
  gbt_mem_free(&be->mem, beg);
  return status;
}

gbt_status cu_layer_open(cu_backend *be, gbt_error *err) {
  cu_layer *layer;
  GBT_TRY(gbt_mem_zeros(&be->mem, 1, sizeof *layer, &layer, err));
  be->layer = layer;
  GBT_TRY(open_places(be, err));
  layer->view.beg = layer->beg.at;
  const size_t nodes = 2 * (size_t)be->view.max_step, codes = (size_t)layer->view.n_codes;
  const size_t fit = PART_BYTES / (2 * codes * sizeof(double) + 1) + 1;
  layer->view.at_once = (int32_t)(fit < nodes ? fit : nodes);
  if (be->team) layer->view.together = be->team->view.by;
  return GBT_OK;
}

void cu_layer_close(cu_backend *be) {
  if (!be->layer) return;
  cu_drop(&be->device.memory, &be->layer->beg);
  gbt_mem_free(&be->mem, be->layer);
  be->layer = NULL;
}
