/* Symmetric growth: what every candidate gains over all nodes of a layer. cpu_layer_decide.c takes the best.
 *
 * A step may hold a part of the layer only. Its nodes are searched one by one, feature by feature, and what every
 * candidate would gain in a node is added to the layer's sums:
 *
 *   layer.gain:  | feature 0: missing right, by candidate | missing left | feature 1 ...
 *
 * A node that cannot be split that way on its own (a child too light or with too few rows, the wrong way round for a
 * monotone constraint) or that would not gain adds nothing, and is kept: its children take its value. So a sum never
 * goes down, limits hold for everything that decides a value, and no candidate is lost because of one node
 * (cpu_candidates.c).
 *
 * Gains are summed as real numbers, so the order is fixed: a feature is one task, its nodes come in the order of their
 * numbers.
 *
 * Nodes of few rows have no histogram (cpu_hist_skipped): a task is then a group of columns, whose sums are made of a
 * node's rows in the thread's accumulators, searched there, and forgotten.
 *
 * Sets of levels. One order for a tree: by the gradients of all its rows, which are those of all nodes of any layer
 * together. The noise of that order (gbt_set_noise) falls to the nodes by their shares of the rows, so a layer pays for
 * it once, as the root does. */
#include <string.h>

#include "../base/clock.h"
#include "cpu_layer_impl.h"
#include "cpu_split_impl.h"

#define LAYER_CELLS (1 << 20) /* nodes x codes of a task */
#define GROUP_PARTS 4         /* tasks of a group, at most: each adds up the same rows */

/* ---- life ---- */

gbt_status cpu_layer_open(cpu_backend *be, gbt_error *err) {
  cpu_layer *layer = &be->layer;
  size_t n = (size_t)be->n_features, codes = 0;
  int any_set = 0;
  if (!gbt_policy_one_split(gbt_policy_of(be->params))) return GBT_OK;
  GBT_TRY(gbt_mem_array(&be->mem, n + 1, sizeof *layer->beg, &layer->beg, err));
  for (size_t f = 0; f < n; f++) {
    layer->beg[f] = codes;
    if (gbt_layout_uses(be->layout, (int32_t)f)) codes += (size_t)be->cuts->feat[f].n_bins + 1;
    if (!be->split.plan[f].by_sets) continue;
    any_set = 1;
    const uint32_t words = ((uint32_t)be->cuts->feat[f].n_bins + 31) / 32;
    if (words > layer->most_words) layer->most_words = words;
  }
  layer->beg[n] = codes;
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *layer->feats, &layer->feats, err));
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *layer->by_group, &layer->by_group, err));
  GBT_TRY(gbt_mem_array(&be->mem, (size_t)be->layout->n_groups + 1, sizeof *layer->group_beg, &layer->group_beg, err));
  GBT_TRY(gbt_mem_array(&be->mem, 2 * codes, sizeof *layer->gain, &layer->gain, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, n, 1, &layer->missing, err));
  if (!any_set) return GBT_OK;
  GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *layer->order, &layer->order, err));
  GBT_TRY(gbt_mem_array(&be->mem, codes, sizeof *layer->tried, &layer->tried, err));
  return gbt_mem_zeros(&be->mem, n, sizeof *layer->n_placed, &layer->n_placed, err);
}

void cpu_layer_close(cpu_backend *be) {
  cpu_layer *layer = &be->layer;
  void *blocks[] = {layer->feats, layer->by_group, layer->group_beg, layer->beg,       layer->gain,    layer->order,
                    layer->tried, layer->n_placed, layer->missing,   layer->left_rows, layer->by_rows, layer->lut,
                    layer->offers};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
}

/* ---- what a node gains ---- */

cpu_candidates cpu_layer_candidates(const cpu_backend *be, int32_t feat) {
  const cpu_layer *layer = &be->layer;
  cpu_candidates c = {.kind = kind_of(be, feat), .missing = &layer->missing[feat]};
  c.right = layer->gain + 2 * layer->beg[feat];
  c.left = c.right + (be->cuts->feat[feat].n_bins + 1);
  if (c.kind != GBT_SPLIT_SET) return c;
  c.order = layer->order + layer->beg[feat];
  c.n_placed = layer->n_placed[feat];
  c.most = set_most(be, feat);
  return c;
}

static void search_feature(cpu_backend *be, cpu_search *in, int32_t feat, cpu_scratch *scratch) {
  cpu_search_feature(be, feat, scratch, in);
  if (in->n_bins + in->has_missing < 2) return;
  const cpu_candidates c = cpu_layer_candidates(be, feat);
  cpu_add_gains(be, in, &c, scratch);
}

/* ---- the order of levels, once a tree ---- */

int cpu_layer_orders(const cpu_backend *be, int32_t feat, cpu_scratch *scratch, cpu_search *in) {
  if (!be->split.plan[feat].by_sets || (be->ranks.on && !be->ranks.owns[feat])) return 0;
  cpu_search_node(be, &be->fr.node[0], in);
  cpu_search_feature(be, feat, scratch, in);
  return 1;
}

void cpu_layer_order(cpu_backend *be, const cpu_search *in, cpu_scratch *scratch) {
  cpu_layer *layer = &be->layer;
  const int32_t feat = in->feat;
  layer->n_placed[feat] = cpu_order_levels(in, scratch, in->n_bins);
  GBT_ASSERT(layer->n_placed[feat] <= in->n_bins);
  memcpy(layer->order + layer->beg[feat], scratch->level, (size_t)layer->n_placed[feat] * sizeof *layer->order);
  const cpu_candidates c = cpu_layer_candidates(be, feat);
  cpu_mark_sets(in, &c, layer->tried + layer->beg[feat]);
}

static void order_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  cpu_scratch *scratch = &be->scratch.of[thread];
  cpu_search in;
  if (cpu_layer_orders(be, be->split.tree_feats[task], scratch, &in)) cpu_layer_order(be, &in, scratch);
}

/* ---- search ---- */

typedef struct layer_job {
  cpu_span span;
  const int32_t *node;
  int32_t n_nodes;
  int32_t n_feats; /* of a task */
  int32_t n_parts; /* tasks of a group */
} layer_job;

static void search_task(void *arg, int64_t task, int thread) {
  const layer_job *job = arg;
  cpu_backend *be = job->span.be;
  int64_t beg = task * job->n_feats, end = beg + job->n_feats;
  if (end > be->layer.n_feats) end = be->layer.n_feats;
  for (int32_t i = 0; i < job->n_nodes; i++) {
    cpu_search in;
    cpu_search_node(be, &be->fr.node[job->node[i]], &in);
    for (int64_t k = beg; k < end; k++) search_feature(be, &in, be->layer.feats[k], &be->scratch.of[thread]);
  }
}

/* A part of the features of a group: in a node that has no histogram, after its rows have been added up. */
static void search_group(void *arg, int64_t task, int thread) {
  const layer_job *job = arg;
  cpu_backend *be = job->span.be;
  cpu_scratch *scratch = &be->scratch.of[thread];
  const int32_t group = (int32_t)(task / job->n_parts), part = (int32_t)(task % job->n_parts);
  const int32_t first = be->layer.group_beg[group], n = be->layer.group_beg[group + 1] - first;
  const int32_t beg = first + n * part / job->n_parts, end = first + n * (part + 1) / job->n_parts;
  for (int32_t i = 0; i < job->n_nodes && beg < end; i++) {
    const gbt_grow_node *node = &be->fr.node[job->node[i]];
    cpu_search in;
    cpu_search_node(be, node, &in);
    if (node->hist < 0) cpu_hist_group(&job->span, node, group, scratch);
    for (int32_t k = beg; k < end; k++) search_feature(be, &in, be->layer.by_group[k], scratch);
  }
}

/* Nodes of which some have no histogram. See gbt_pages_fn. */
static gbt_status search_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  layer_job *job = arg;
  cpu_backend *be = job->span.be;
  double rows = 0.0;
  job->span = cpu_span_of(be, pages);
  GBT_ASSERT(job->span.row_beg == 0 && job->span.row_end == be->n_rows);
  for (int32_t i = 0; i < job->n_nodes; i++) rows += be->fr.node[job->node[i]].own_rows;
  const double slot_ns = be->split.constrained || be->pool.any_counts ? 3.0 : 1.0;
  const double ns = 0.5 * rows * (double)be->pool.n_columns + slot_ns * (double)job->n_nodes * be->layout->n_slots;
  const int32_t n_groups = be->layout->n_groups, spare = ctx->n_threads / n_groups; /* n_groups > 0: nodes were split */
  job->n_parts = !cpu_worth_threads(ns) || spare < 1 ? 1 : spare < GROUP_PARTS ? spare : GROUP_PARTS;
  return cpu_parallel(ctx, (int64_t)n_groups * job->n_parts, ns, search_group, job, err);
}

/* by_rows: some nodes of the layer have no histogram. */
static gbt_status search_nodes(gbt_ctx *ctx, cpu_backend *be, const int32_t *node, int32_t n, int by_rows,
                               gbt_error *err) {
  layer_job job = {{.be = be}, node, n, feats_of_task(be), 1};
  if (by_rows) return cpu_train_pass(ctx, be, search_span, &job, err);
  return cpu_parallel(ctx, n_tasks_of(be), 3.0 * (double)n * be->layout->n_slots, search_task, &job, err);
}

/* The features of a new layer, their sums all 0. All nodes of a layer have the same features above them. */
static gbt_status start_layer(gbt_ctx *ctx, cpu_backend *be, const gbt_grow_node *first, int32_t id, gbt_error *err) {
  cpu_layer *layer = &be->layer;
  GBT_ASSERT(first->depth <= GBT_SYMMETRIC_DEPTH);
  layer->depth = first->depth;
  layer->n_feats = gbt_features_of_layer(be->rules, be->task.tree, first->depth, be->split.tree_feats,
                                         be->split.n_tree_feats, layer->feats, be->split.drawn);
  if (be->fr.path_words > 0)
    layer->n_feats = gbt_features_allowed(be->rules, be->fr.path + (size_t)id * (size_t)be->fr.path_words, layer->feats,
                                          layer->n_feats);
  layer->n_feats = cpu_ranks_keep_own(be, layer->feats, layer->n_feats);
  for (int32_t k = 0; k < layer->n_feats; k++) {
    int32_t f = layer->feats[k];
    const size_t parts = be->cuts->feat[f].has_missing ? 2 : 1; /* the second: gains with missing values left */
    memset(layer->gain + 2 * layer->beg[f], 0, parts * (layer->beg[f + 1] - layer->beg[f]) * sizeof *layer->gain);
    if (be->together.at == 0) layer->missing[f] = 0;
  }
  if (id > 0) return GBT_OK;
  const gbt_rated rated =
      gbt_rated_of(first, cpu_units(be), be->fr.policy.reg, be->params->min_child_weight, be->split.constrained);
  const double scored = cpu_gain_weight(be) * rated.parent;
  layer->scored = be->together.at == 0 ? scored : layer->scored + scored;
  if (!layer->order) return GBT_OK;
  if (be->together.n > 0) return be->together.at == 0 ? cpu_together_order(ctx, be, err) : GBT_OK;
  if (!first->splittable) return GBT_OK;
  return cpu_parallel(ctx, be->split.n_tree_feats, 50.0 * (double)layer->beg[be->n_features], order_task, be, err);
}

gbt_status cpu_layer_search(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  int64_t t0 = gbt_clock_ns();
  int32_t n = 0, id = be->fr.n_fresh > 0 ? be->fr.fresh[0] : -1;
  if (id >= 0 && (id == 0 || be->fr.node[id].depth != be->layer.depth))
    GBT_TRY(start_layer(ctx, be, &be->fr.node[id], id, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &be->split.node_feats, &be->split.cap_node_feats, be->fr.n_fresh + 1,
                       sizeof *be->split.node_feats, err));
  for (size_t i = 0; i < be->fr.n_fresh; i++)
    if (be->fr.node[be->fr.fresh[i]].splittable) be->split.node_feats[n++] = be->fr.fresh[i];
  int by_rows = 0;
  for (int32_t i = 0; i < n && !by_rows; i++) by_rows = be->fr.node[be->split.node_feats[i]].hist < 0;
  GBT_ASSERT(!by_rows || be->pool.skips);
  if (by_rows)
    cpu_features_by_group(be, be->layer.feats, be->layer.n_feats, be->layer.group_beg, be->layer.by_group);
  const uint32_t task_feats = by_rows ? GBT_GROUP_MAX : (uint32_t)feats_of_task(be);
  const int32_t step = (int32_t)(LAYER_CELLS / (task_feats * be->scratch.max_codes)) + 1;
  for (int32_t beg = 0; beg < n; beg += step)
    GBT_TRY(search_nodes(ctx, be, be->split.node_feats + beg, n - beg < step ? n - beg : step, by_rows, err));
  for (int32_t i = 0; i < n; i++) cpu_hist_release_searched(be, be->split.node_feats[i]);
  be->base.seconds[GBT_PHASE_SPLIT] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return gbt_frontier_opened(&be->fr, err);
}
