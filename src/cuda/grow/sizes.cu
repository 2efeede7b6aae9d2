/* How large everything of a backend must be: the largest number of nodes, of histograms, of nodes in a step and of
 * blocks of rows; whether the host has to look at a tree while it grows; how many trees grow at once.
 *
 * "Blind" means that the host issues the steps of a tree without looking: their number is known from the depth or the
 * number of leaves, and a step takes all nodes of a layer. Where it is not known, or too large, it looks every few
 * steps whether the trees are complete: see plan_steps. */
#include "batch.cuh"

#include "rows/gather.cuh"
#include "rows/pieces.cuh"
#include "search/ops.cuh"
#include "state/ops.cuh"

#include "../../gbt/backend/feature_plan.h"

enum : size_t { MOST_NODES = 1 << 22 };
enum {
  MOST_BLIND_STEPS = 4096, /* more steps than that are looked at: most trees end earlier */
  LOOK_LAYERS = 8,         /* the host looks after so many steps, */
  LOOK_LEAVES = 64,        /* or, where each splits one leaf, so many */
  AHEAD_STEP = 32,         /* leaves that a best-first step splits at most, */
  AHEAD_MOST = 512,        /* and splits that wait for the policy at most */
  BLIND_AHEAD = 16         /* best-first steps that are issued blindly: most trees need far fewer than they may */
};
static const size_t found_bytes = (size_t)64 << 20, set_bytes = (size_t)256 << 20, mask_bytes = (size_t)256 << 20;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* 2^e, or a number that no bound exceeds. */
static int64_t power(int64_t e) { return e < 40 ? (int64_t)1 << e : (int64_t)1 << 40; }

/* Which features have their rows counted. */
static gbt_status plan_counts(cu_backend *be, gbt_error *err) {
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_features, 1, &be->bounds.counts, err));
  for (int32_t f = 0; f < be->n_features; f++) {
    be->bounds.counts[f] = gbt_feature_plan_of(be->cuts, be->layout, f, be->params).counts;
    be->view.any_counts |= be->bounds.counts[f];
  }
  return GBT_OK;
}

/* A quarter of the memory that may be had; 0 when it is not known. */
static size_t memory_quarter(const cu_backend *be) {
  if (be->view.shared) return (size_t)be->start_with->free_bytes / 4; /* ranks grow in the same way */
  return cu_free_bytes(&be->device.memory) / 4;
}

/* Trees that grow together; else 1. */
static int64_t joint_trees(const cu_backend *be) { return be->together ? be->n_outputs : 1; }

/* Bytes that histograms may take, of all trees. */
static size_t hist_room(const cu_backend *be) {
  const size_t room = gbt_hist_bytes(be->params), quarter = memory_quarter(be);
  return be->params->hist_memory > 0 || quarter < room ? room : quarter;
}

static size_t hist_bytes(const cu_backend *be) {
  return (size_t)be->view.n_slots * (sizeof(gbt_sum) + (be->view.any_counts ? sizeof(uint32_t) : 0));
}

/* The number of steps, if it is known in advance: every step splits a leaf at least, or is the last. most: leaves;
 * whole: steps take all nodes of a layer. */
static void plan_steps(cu_backend *be, int64_t most, int whole) {
  const int64_t depth = be->params->max_depth, leaves = most - 1;
  const int layers = !gbt_policy_one_leaf(gbt_policy_of(be->params));
  be->bounds.max_steps = layers && depth > 0 ? least(depth, leaves) : leaves;
  const int ahead = be->view.ahead > 0;
  const int64_t blind = ahead ? BLIND_AHEAD : layers && depth == 0 ? LOOK_LAYERS : MOST_BLIND_STEPS;
  be->bounds.looks = whole && be->bounds.max_steps <= blind ? 0 : layers || ahead ? LOOK_LAYERS : LOOK_LEAVES;
  if (be->view.shared) be->bounds.looks = 1; /* the host waits for other ranks in every step */
}

/* Splits that may wait for the policy: as far as histograms of their children have room. Draws for a node depend on its
 * number, which is not known before the policy comes to it. */
static int64_t plan_ahead(const cu_backend *be, int64_t most, int64_t inner, int64_t room) {
  if (!gbt_policy_one_leaf(gbt_policy_of(be->params)) || be->rules->by_node < 1.0 || most < 3) return 0;
  const int64_t ahead = least(most, AHEAD_MOST);
  return inner <= room ? least(ahead, room - inner) : ahead;
}

/* So many histograms a tree has whatever the user allows: of trees that grow together, those of the children of one
 * node, and none where a layer must have room, as each output has as many. */
static int64_t least_room(const cu_backend *be) {
  if (!be->together) return 4;
  return gbt_policy_one_split(gbt_policy_of(be->params)) ? 0 : 2;
}

/* Most nodes of a tree, of a step, most histograms. */
static gbt_status plan_tree(cu_backend *be, gbt_error *err) {
  cu_view *v = &be->view;
  const gbt_params *p = be->params;
  int64_t depth = p->max_depth, leaves = p->max_leaves, rows = v->all_rows > 1 ? v->all_rows : 2;
  int64_t most = depth > 0 ? power(depth) : (int64_t)1 << 40; /* leaves */
  if (leaves > 0) most = least(most, leaves);
  if (gbt_policy_one_split(gbt_policy_of(p)))
    most = power(depth); /* has leaves without rows */
  else
    most = least(most, rows);
  int64_t inner = depth > 0 ? least(most, power(depth - 1)) : most; /* leaves that may have a histogram */
  size_t bytes = hist_bytes(be) * (size_t)joint_trees(be);
  int64_t room = (int64_t)(hist_room(be) / (bytes ? bytes : 1));
  if (room < least_room(be)) room = least_room(be);
  v->by_node = !gbt_policy_one_split(gbt_policy_of(p)) && (be->rules->by_node < 1.0 || be->rules->n_groups > 0);
  if (gbt_policy_one_leaf(gbt_policy_of(p)) && be->rules->by_layer < 1.0)
    v->by_node = 1; /* leaves that waited are searched together with deeper ones */
  v->ahead = (int32_t)plan_ahead(be, most, inner, room);
  int64_t step = gbt_policy_one_leaf(gbt_policy_of(p)) ? v->ahead > 0 ? least(AHEAD_STEP, inner) : 1 : inner;
  int64_t fit = step;
  fit = least(fit, (int64_t)(found_bytes / (2 * sizeof(gbt_split))) / 8);
  if (v->set_words > 0) fit = least(fit, (int64_t)(set_bytes / (8 * (size_t)v->set_words)));
  if (v->by_node) fit = least(fit, (int64_t)(mask_bytes / (2 * (size_t)be->n_features)));
  be->bounds.keeps = inner <= room;
  if (!be->bounds.keeps) fit = least(fit, room / 2);
  if (fit < 1) fit = 1;
  if (gbt_policy_one_split(gbt_policy_of(p)) && !be->bounds.keeps)
    return gbt_fail_device(err, GBT_E_MEM,
                           "symmetric trees of depth %d need %.0f megabytes for histograms on the device; raise "
                           "`hist_memory` or lower `max_depth`",
                           (int)depth, (double)bytes * (double)inner / 1048576.0 + 1.0);
  if (gbt_policy_one_split(gbt_policy_of(p)) && fit < step)
    return gbt_fail_device(
        err, GBT_E_MEM,
        "with this number of features and levels, the device cannot search splits for layers of %lld nodes; lower "
        "`max_depth`",
        (long long)step);
  plan_steps(be, most, fit == step || v->ahead > 0);
  v->max_step = (int32_t)fit;
  v->max_nodes = (int32_t)least(2 * (most + v->ahead) + 1, MOST_NODES);
  v->max_hists = (int32_t)(be->bounds.keeps ? inner + v->ahead : 2 * fit);
  if (v->max_hists < 2) v->max_hists = 2;
  /* every node that is searched may keep a set */
  int64_t splits = gbt_policy_one_split(gbt_policy_of(p)) ? depth : v->max_nodes;
  uint32_t widest = 0;
  for (int32_t f = 0; f < be->n_features; f++) {
    const uint32_t n_bins = (uint32_t)be->cuts->feat[f].n_bins;
    if (be->cuts->schema->feat[f].type != GBT_CATEGORICAL || !gbt_layout_uses(be->layout, f)) continue;
    if (n_bins > widest) widest = n_bins;
  }
  v->max_words = (uint32_t)least(splits * ((int64_t)(widest + 31) / 32), CU_MOST_WORDS) + 1;
  return GBT_OK;
}

/* The trees whose gradients by row are not needed when the root is split: those of one tree, that has all rows. Sums by
 * row look at them again when trees end. */
static int reuses_gh16(const cu_backend *be) {
  return !be->view.samples && be->params->num_parallel_tree == 1 && !be->view.by_rows;
}

/* Trees that grow at once where there is room for all. */
static int64_t wanted_trees(const cu_backend *be) {
  return least(be->n_outputs * be->params->num_parallel_tree, be->bounds.batch_limit);
}

/* Rows of a block, and the most blocks that a step may have. Long pieces are partitioned the quicker as soon as those
 * of all trees fill the device: seven trees of 581,000 rows took 1.61 ms on an H100 with pieces of 4096 rows, 1.69 with
 * 2048, 1.87 with 1024 (bench/results/gpu-h100.md). */
static void plan_blocks(cu_backend *be) {
  cu_view *v = &be->view;
  uint64_t n = (uint64_t)be->n_rows, share = n / ((uint64_t)be->device.n_units * 64u) / 256u * 256u;
  v->split_rows = n * (uint64_t)wanted_trees(be) > 4000000u ? (uint32_t)CU_PIECE_ROWS : 1024u;
  v->hist_rows = share < 1024u ? 1024u : share > 32768u ? 32768u : (uint32_t)share;
  v->leaf_rows = 1024u;
  v->score_windows = n > 4000000u;
  v->order_rows = (n + 63u) / 64u * 64u;
  v->by_rows = be->together != NULL || gbt_policy_one_split(gbt_policy_of(be->params));
  v->keeps = be->params->multi_strategy != 0 && !gbt_policy_one_split(gbt_policy_of(be->params));
  v->reuses_gh16 = reuses_gh16(be);
  be->bounds.tile_cols = cu_tile_columns(be->n_rows, be->n_features, be->device.n_units);
  v->row_blocks = (uint32_t)((n + v->split_rows - 1u) / v->split_rows);
  be->bounds.max_split_blocks = (uint32_t)cu_most_pieces(n, (uint64_t)v->max_step, v->split_rows);
  v->split_states = be->bounds.max_split_blocks;
  be->bounds.max_hist_blocks = (uint32_t)(n / v->hist_rows) + 2u * (uint32_t)v->max_step + 1u;
  be->bounds.max_leaf_blocks = (uint32_t)cu_most_pieces(n, (uint64_t)v->max_nodes / 2u + 1u, v->leaf_rows);
}

/* Runs of features that the search takes at a time: as many as keep `found` small, one feature each where possible; the
 * set features come last. */
static void plan_feat_runs(cu_backend *be) {
  cu_view *v = &be->view;
  size_t fresh = 2 * (size_t)v->max_step, most = found_bytes / (fresh * sizeof(gbt_split)), n = (size_t)be->n_features;
  size_t plain = most < n ? (most < 8 ? 8 : most) : n;
  v->run_feats = (int32_t)((n + plain - 1) / plain);
  v->n_feat_runs = (int32_t)((n + (size_t)v->run_feats - 1) / (size_t)v->run_feats) + v->n_set_feats;
}

/* Trees that grow at once: those of a round, as far as they and their outputs' gradients have room in a quarter of the
 * memory, and their histograms in what the user allows. Trees that grow together are all of a round, or the device
 * cannot grow them. */
static gbt_status plan_batch(cu_backend *be, gbt_error *err) {
  const size_t row = sizeof(gbt_gh32) + (be->view.renews ? sizeof(uint64_t) : 0);
  const size_t bytes = cu_state_bytes(be) + (size_t)be->n_rows * row;
  const size_t hists = (size_t)be->view.max_hists * hist_bytes(be);
  int64_t most = least(wanted_trees(be), (int64_t)(memory_quarter(be) / bytes));
  if (be->params->hist_memory > 0) most = least(most, (int64_t)(hist_room(be) / (hists ? hists : 1)));
  if (be->together) most = wanted_trees(be); /* plan_tree: their histograms have room */
  if (be->together && most < be->n_outputs)
    return gbt_fail_device(err, GBT_E_MEM,
                           "trees that share their splits by the sum of the gains of %d outputs need %.0f megabytes "
                           "on the device, besides the data, and do not fit: it keeps the rows in the order of each "
                           "output; give `sketch = \"projection\"`",
                           (int)be->n_outputs, (double)bytes * (double)be->n_outputs / 1048576.0 + 1.0);
  if (most < 1) most = 1;
  be->base.most_trees = (int32_t)most;
  be->view.n_trees = be->base.most_trees;
  return GBT_OK;
}

gbt_status cu_sizes_open(cu_backend *be, gbt_error *err) {
  GBT_TRY(plan_counts(be, err));
  GBT_TRY(cu_set_feats_open(be, err));
  GBT_TRY(plan_tree(be, err));
  plan_blocks(be);
  plan_feat_runs(be);
  GBT_TRY(cu_together_open(be, err));
  if (gbt_policy_one_split(gbt_policy_of(be->params))) GBT_TRY(cu_layer_open(be, err));
  be->view.by_sides = be->bounds.codes >= CU_DRAWN_CODES;
  if (be->bounds.codes == CU_DRAWN_CODES) GBT_TRY(cu_gather_plan(be, err));
  GBT_TRY(plan_batch(be, err));
  GBT_ASSERT(be->view.max_step >= 1 && be->view.max_nodes >= 3 && be->view.max_hists >= 2 && be->view.max_words >= 1);
  GBT_ASSERT(be->view.hist_rows % 256u == 0 && be->view.split_rows % 256u == 0 && be->view.leaf_rows % 256u == 0);
  GBT_ASSERT((int64_t)(be->view.n_feat_runs - be->view.n_set_feats) * be->view.run_feats >= be->n_features);
  GBT_ASSERT(be->view.n_trees >= 1 && be->view.n_trees <= GBT_MOST_TREES);
  return GBT_OK;
}

void cu_sizes_close(cu_backend *be) {
  gbt_mem_free(&be->mem, be->bounds.counts);
  be->bounds.counts = NULL;
}
