/* Growth node by node of trees that grow together (cpu_together.c): the best split of every fresh node.
 *
 *   in        what the search knows of the node, tree by tree
 *   tasks     (node, run of features): gains of a feature's candidates, tree after tree, are added up in the scratch of
 *             the thread, and the best candidate of the feature competes with those of others
 *   best      of all runs and ranks: the split of the node in all trees. All of them have the sum of the gains in their
 *             tables while they grow, so that the policy chooses the same nodes in each
 *   left      sums of the trees that go left, from their histograms; what the split gains in each, and whether it keeps
 *             the node
 *
 * A node is searched if it could be split in one of the trees. With a single tree the result would be that of
 * cpu_split.c, but for sets of levels: their order and gains are rounded in other places. */
#include "cpu_layer_impl.h"
#include "cpu_split_impl.h"

#include <string.h>

#include "../base/clock.h"
#include "../base/comm.h"

#define TASK_NODES 128 /* of node_job: nodes of a task */
#define NODE_NS 100.0  /* its work for a node and tree */

static size_t left_words(const cpu_backend *be) { return 2 * (size_t)be->together.n + 1; }

static cpu_search *inputs_of(const cpu_backend *be, size_t i) { return be->together.in + i * (size_t)be->together.n; }

/* Of a node, a tree that could be split there; there is one. */
static cpu_search *one_of(const cpu_backend *be, cpu_search *in) {
  int32_t k = 0;
  while (in[k].node == NULL) {
    k++;
    GBT_ASSERT(k < be->together.n);
  }
  return &in[k];
}

/* ---- what is known of nodes ---- */

/* Work on one searched node after the other, for which tasks take a run of nodes. */
typedef struct node_job {
  cpu_backend *be;
  const cpu_split_job *search;
  size_t n;
  void (*fn)(const struct node_job *job, size_t i);
} node_job;

static void node_task(void *arg, int64_t task, int thread) {
  const node_job *job = arg;
  const size_t beg = (size_t)task * TASK_NODES, end = job->n - beg < TASK_NODES ? job->n : beg + TASK_NODES;
  (void)thread;
  for (size_t i = beg; i < end; i++) job->fn(job, i);
}

static gbt_status each_node(gbt_ctx *ctx, node_job *job, void (*fn)(const node_job *job, size_t i), double n_trees,
                            gbt_error *err) {
  job->fn = fn;
  const int64_t n_tasks = (int64_t)((job->n + TASK_NODES - 1) / TASK_NODES);
  return cpu_parallel(ctx, n_tasks, NODE_NS * (double)job->n * n_trees, node_task, job, err);
}

/* In the tree whose turn it is. */
static void make_input(const node_job *job, size_t i) {
  const cpu_backend *be = job->be;
  const gbt_grow_node *node = &be->fr.node[job->search->node[i]];
  cpu_search *in = inputs_of(be, i) + be->together.at;
  in->node = NULL;
  if (node->splittable) cpu_search_node(be, node, in);
}

static gbt_status make_inputs(gbt_ctx *ctx, node_job *job, gbt_error *err) {
  cpu_backend *be = job->be;
  cpu_together *t = &be->together;
  const size_t K = (size_t)t->n, n = job->n;
  GBT_TRY(gbt_mem_grow(&be->mem, &t->node, &t->cap_node, n + 1, sizeof *t->node, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &t->in, &t->cap_in, n * K + 1, sizeof *t->in, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &t->left, &t->cap_left, n * left_words(be) + 1, sizeof *t->left, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &t->gain, &t->cap_gain, be->fr.n_nodes * K, sizeof *t->gain, err));
  for (int32_t k = 0; k < t->n; k++) {
    cpu_turn_to(be, k);
    GBT_TRY(each_node(ctx, job, make_input, 1.0, err));
  }
  cpu_turn_to(be, 0);
  return GBT_OK;
}

/* Noise, costs and the least gain. A node is identified by all its trees. */
static void make_rules(const node_job *job, size_t i) {
  const cpu_backend *be = job->be;
  const cpu_together *t = &be->together;
  const cpu_search *in = inputs_of(be, i);
  cpu_together_node *rules = &t->node[i];
  uint64_t identity = 0;
  double before = 0.0, floor = -1.0;
  for (int32_t k = 0; k < t->n; k++) {
    if (in[k].node == NULL) continue;
    const double its = t->by->weight[k] * floor_of(&in[k]);
    floor = floor < 0.0 || its < floor ? its : floor;
    before += t->by->weight[k] * in[k].rated.parent;
    identity += gbt_node_identity(in[k].node);
  }
  rules->contest = be->split.contests ? cpu_contest(be, identity, before) : gbt_contest_plain();
  rules->cut_key = cpu_cut_key(be, identity);
  rules->min_gain = gbt_least_gain(be->params->gamma, floor);
}

/* ---- a feature of a node ---- */

/* The levels' ratios into the scratch: the order of all trees. */
static void put_ratios(const cpu_backend *be, cpu_search *in, int32_t feat, cpu_scratch *scratch) {
  const cpu_together *t = &be->together;
  const int32_t n = be->cuts->feat[feat].n_bins;
  double *g = scratch->ratio, *h = scratch->h;
  memset(g, 0, (size_t)n * sizeof *g);
  memset(h, 0, (size_t)n * sizeof *h);
  for (int32_t k = 0; k < t->n; k++) {
    if (in[k].node == NULL) continue;
    cpu_search_feature(be, feat, scratch, &in[k]);
    cpu_together_add(be, k, &in[k], g, h);
  }
  cpu_together_ratios(be, n, g, h);
  one_of(be, in)->ratio = g;
}

/* The levels of a node in order, to scratch->level, and which sets are tried. */
static void order_levels(const cpu_backend *be, cpu_search *in, int32_t feat, cpu_candidates *c, cpu_scratch *scratch) {
  put_ratios(be, in, feat, scratch);
  c->order = scratch->level;
  c->n_placed = cpu_order_levels(one_of(be, in), scratch, (int32_t)be->params->max_cat_threshold);
  c->most = gbt_set_most(be->params, c->n_placed);
  cpu_mark_sets(one_of(be, in), c, scratch->tried);
}

/* Gains of all trees into the sums of the scratch. */
static void add_trees(const cpu_backend *be, cpu_search *in, int32_t feat, const cpu_candidates *to,
                      cpu_scratch *scratch) {
  const cpu_together *t = &be->together;
  const size_t n = (size_t)be->cuts->feat[feat].n_bins + 1, max = be->scratch.max_codes;
  const size_t parts = be->cuts->feat[feat].has_missing ? 2 : 1;
  for (size_t p = 0; p < parts; p++) memset(scratch->sums + p * max, 0, n * sizeof(double));
  for (int32_t k = 0; k < t->n; k++) {
    const double weight = t->by->weight[k];
    cpu_candidates its = *to;
    if (in[k].node == NULL) continue;
    cpu_search_feature(be, feat, scratch, &in[k]);
    if (weight != 1.0) {
      its.right += 2 * max;
      its.left += 2 * max;
      for (size_t p = 2; p < 2 + parts; p++) memset(scratch->sums + p * max, 0, n * sizeof(double));
    }
    cpu_add_gains(be, &in[k], &its, scratch);
    for (size_t p = 0; p < parts && weight != 1.0; p++) {
      double *sum = scratch->sums + p * max;
      const double *gain = sum + 2 * max;
      for (size_t i = 0; i < n; i++) sum[i] += weight * gain[i];
    }
  }
}

/* The first and last bin that hold something in one of the trees; low > high: none does. */
static void filled_bins(const cpu_backend *be, cpu_search *in, int32_t *low, int32_t *high) {
  *high = -1;
  *low = one_of(be, in)->n_bins;
  for (int32_t k = 0; k < be->together.n; k++) {
    if (in[k].node == NULL) continue;
    const node_codes codes = codes_of(&in[k]);
    for (int32_t c = 0; c < in[k].n_bins; c++) {
      const gbt_sum sum = sum_at(&codes, c);
      if (sum.g == 0 && sum.h == 0 && rows_at(&codes, c) == 0) continue;
      *low = c < *low ? c : *low;
      *high = c > *high ? c : *high;
    }
  }
}

/* The only candidate where it is drawn at random; -1: there is none. Not for sets. */
static int32_t random_candidate(const cpu_backend *be, cpu_search *in, const cpu_together_node *rules,
                                gbt_split_kind kind, int32_t feat, int missing) {
  int32_t low, high;
  if (kind == GBT_SPLIT_ONEHOT) return gbt_random_place(rules->cut_key, feat, be->cuts->feat[feat].n_bins);
  filled_bins(be, in, &low, &high);
  return high < 0 ? -1 : gbt_random_cut(rules->cut_key, feat, low, high, missing);
}

static gbt_split best_of_feature(const cpu_backend *be, cpu_search *in, const cpu_together_node *rules, int32_t feat,
                                 cpu_scratch *scratch) {
  const gbt_feature_cuts *cuts = &be->cuts->feat[feat];
  const gbt_contest plain = gbt_contest_plain(); /* candidates of a feature compete by gains */
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  int8_t missing = 0;
  cpu_candidates c = {.kind = kind_of(be, feat), .right = scratch->sums, .missing = &missing};
  cpu_terms terms = {.least = rules->min_gain, .contest = &plain, .cut_key = rules->cut_key, .only = -1};
  c.left = c.right + be->scratch.max_codes;
  terms.tried = scratch->tried;
  if (cuts->n_bins + cuts->has_missing < 2) return best;
  if (c.kind == GBT_SPLIT_SET) order_levels(be, in, feat, &c, scratch);
  add_trees(be, in, feat, &c, scratch);
  if (be->params->extra_trees && c.kind != GBT_SPLIT_SET) {
    terms.only = random_candidate(be, in, rules, c.kind, feat, missing);
    if (terms.only < 0) return best;
  }
  cpu_best_candidate(be, feat, &c, &terms, scratch, &best);
  return best;
}

static void search_task(void *arg, int64_t task, int thread) {
  const cpu_split_job *job = arg;
  cpu_backend *be = job->be;
  const int64_t i = task / job->n_runs, beg = task % job->n_runs * job->run_feats;
  const int64_t end = beg + job->run_feats < job->n_feats[i] ? beg + job->run_feats : job->n_feats[i];
  const int32_t *feats = job->feats + (size_t)i * job->stride;
  const cpu_together_node *rules = &be->together.node[i];
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  cpu_search in[GBT_MOST_TREES];
  memcpy(in, inputs_of(be, (size_t)i), (size_t)be->together.n * sizeof *in);
  for (int64_t k = beg; k < end; k++) {
    const gbt_split own = best_of_feature(be, in, rules, feats[k], &be->scratch.of[thread]);
    if (gbt_contest_admits(&rules->contest, &own, rules->min_gain) && gbt_contest_beats(&rules->contest, &own, &best))
      best = own;
  }
  be->split.found[task] = best;
}

/* ---- the best of all ---- */

/* Of so many splits for a node, `step` apart. */
static gbt_split best_of(const cpu_together_node *rules, const gbt_split *split, int32_t n, size_t step) {
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  for (int32_t i = 0; i < n; i++)
    if (gbt_contest_beats(&rules->contest, &split[(size_t)i * step], &best)) best = split[(size_t)i * step];
  return best;
}

static gbt_status choose_splits(gbt_ctx *ctx, cpu_backend *be, const cpu_split_job *job, size_t n, gbt_error *err) {
  cpu_together_node *node = be->together.node;
  const gbt_split *all;
  for (size_t i = 0; i < n; i++)
    node[i].best = best_of(&node[i], be->split.found + i * (size_t)job->n_runs, job->n_runs, 1);
  if (!be->ranks.on || n == 0) return GBT_OK;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->split.found, &be->split.cap_found, n, sizeof *be->split.found, err));
  for (size_t i = 0; i < n; i++) be->split.found[i] = node[i].best;
  GBT_TRY(cpu_ranks_gather_splits(ctx, be, be->split.found, n, &all, err));
  for (size_t i = 0; i < n; i++) node[i].best = best_of(&node[i], all + i, be->ranks.size, n);
  return GBT_OK;
}

static int is_owned(const cpu_backend *be, int32_t feat) { return !be->ranks.on || be->ranks.owns[feat]; }

/* The levels that go left, and what goes left in every tree; of this rank's features. */
static void left_task(void *arg, int64_t task, int thread) {
  const cpu_split_job *job = arg;
  cpu_backend *be = job->be;
  cpu_scratch *scratch = &be->scratch.of[thread];
  const gbt_grow_node *node = &be->fr.node[job->node[task]];
  const gbt_split *split = &node->split;
  int64_t *to = be->together.left + (size_t)task * left_words(be), *rows = to + 2 * be->together.n;
  cpu_search *in = inputs_of(be, (size_t)task);
  if (split->kind == GBT_SPLIT_NONE || !is_owned(be, split->feat)) return;
  if (split->kind == GBT_SPLIT_SET) {
    put_ratios(be, in, split->feat, scratch);
    cpu_set_bits(one_of(be, in), scratch, split, be->fr.sets + node->set_beg);
  } else if (split->kind == GBT_SPLIT_ONEHOT) {
    be->fr.sets[node->set_beg + (uint32_t)(split->bin >> 5)] |= 1u << (split->bin & 31);
  }
  for (int32_t k = 0; k < be->together.n; k++) {
    if (in[k].node == NULL) continue;
    cpu_search_feature(be, split->feat, scratch, &in[k]);
    const gbt_sum left = cpu_left_of(be, node, &in[k], rows);
    to[2 * k] = left.g;
    to[2 * k + 1] = left.h;
  }
}

/* The split of node i, to the tree whose turn it is. */
static gbt_status put_split(cpu_backend *be, int32_t id, size_t i, gbt_error *err) {
  gbt_grow_node *node = &be->fr.node[id];
  node->split = be->together.node[i].best;
  return cpu_room_for_set(be, node, err);
}

/* Splits and sets of levels in all trees, and sums that go left. */
static gbt_status split_nodes(gbt_ctx *ctx, cpu_backend *be, cpu_split_job *job, size_t n, gbt_error *err) {
  cpu_together *t = &be->together;
  const size_t words = left_words(be);
  size_t beg = be->fr.n_set_words, end = 0;
  for (int32_t k = t->n; k-- > 0;) { /* the first one last: it has the turn then */
    cpu_turn_to(be, k);
    GBT_ASSERT(be->fr.n_set_words == beg);
    for (size_t i = 0; i < n; i++) GBT_TRY(put_split(be, job->node[i], i, err));
    GBT_ASSERT(k == t->n - 1 || be->fr.n_set_words == end);
    end = be->fr.n_set_words;
  }
  memset(t->left, 0, n * words * sizeof *t->left);
  GBT_TRY(cpu_parallel(ctx, (int64_t)n, 500.0 * (double)n * t->n, left_task, job, err));
  if (end > beg) GBT_TRY(cpu_ranks_share_sets(ctx, be, beg, end, err));
  if (be->ranks.on && n > 0) GBT_TRY(gbt_comm_sum_i64(ctx, t->left, n * words, err));
  const uint32_t *sets = be->fr.sets + beg;
  for (int32_t k = 1; k < t->n && end > beg; k++) memcpy(t->tree[k].fr.sets + beg, sets, (end - beg) * sizeof *sets);
  return GBT_OK;
}

/* ---- what it means for each tree ---- */

/* The gain of the split of node i in each tree, to t->gain; 0 where the tree keeps the value of the node. */
static void rate_trees(const node_job *job, size_t i) {
  const cpu_backend *be = job->be;
  const cpu_together *t = &be->together;
  const gbt_split *best = &t->node[i].best;
  if (best->kind == GBT_SPLIT_NONE) return;
  const gbt_reg reg = reg_of(be, (gbt_split_kind)best->kind);
  const int64_t *left = t->left + i * left_words(be);
  double *gain = t->gain + (size_t)job->search->node[i] * (size_t)t->n, sum = 0.0;
  cpu_search *in = inputs_of(be, i);
  for (int32_t k = 0; k < t->n; k++) {
    gain[k] = 0.0;
    if (in[k].node == NULL) continue;
    in[k].sign = be->fr.policy.monotone ? be->fr.policy.monotone[best->feat] : 0;
    const double g = (double)left[2 * k] * in[k].unit.g, h = (double)left[2 * k + 1] * in[k].unit.h;
    const double own = cpu_gain(&in[k], g, h, reg);
    if (own > floor_of(&in[k])) gain[k] = own;
    sum += t->by->weight[k] * gain[k];
  }
  GBT_ASSERT(best->kind != GBT_SPLIT_SET || sum > 0.0);
  for (int32_t k = 0; k < t->n && best->kind == GBT_SPLIT_SET; k++) gain[k] = gain[k] * (best->gain / sum);
}

/* Where missing values go that no row had: with more of the hessians, over all trees that could be split. */
static int heavy_left(const cpu_backend *be, size_t i) {
  const cpu_search *in = inputs_of(be, i);
  const int64_t *left = be->together.left + i * left_words(be);
  double all = 0.0, its = 0.0;
  for (int32_t k = 0; k < be->together.n; k++) {
    if (in[k].node == NULL) continue;
    all += (double)in[k].node->sum.h * in[k].unit.h;
    its += (double)left[2 * k + 1] * in[k].unit.h;
  }
  return its >= all - its;
}

/* In the tree whose turn it is. */
static gbt_status open_nodes(cpu_backend *be, const cpu_split_job *job, size_t n, gbt_error *err) {
  const cpu_together *t = &be->together;
  for (size_t i = 0; i < n; i++) {
    const int64_t *left = t->left + i * left_words(be) + 2 * t->at;
    gbt_grow_node *node = &be->fr.node[job->node[i]];
    cpu_hist_release_searched(be, job->node[i]);
    if (node->split.kind == GBT_SPLIT_NONE) continue;
    node->split.left = (gbt_sum){left[0], left[1]};
    node->kept = t->gain[(size_t)job->node[i] * (size_t)t->n + (size_t)t->at] == 0.0;
  }
  GBT_TRY(gbt_frontier_opened(&be->fr, err));
  for (size_t i = 0; i < n; i++) {
    gbt_split *split = &be->fr.node[job->node[i]].split;
    if (!split->has_missing) split->missing_left = (int8_t)heavy_left(be, i);
  }
  return GBT_OK;
}

/* Rows that go left, where histograms count them. */
static gbt_status put_left_rows(cpu_backend *be, const cpu_split_job *job, size_t n, gbt_error *err) {
  const cpu_together *t = &be->together;
  for (size_t i = 0; i < n && be->ranks.on; i++) {
    const gbt_split *best = &t->node[i].best;
    const int known = best->kind != GBT_SPLIT_NONE && be->split.plan[best->feat].counts;
    const int64_t rows = t->left[i * left_words(be) + 2 * (size_t)t->n];
    GBT_TRY(cpu_ranks_put_left_rows(be, job->node[i], known ? rows : -1, err));
  }
  return GBT_OK;
}

void cpu_together_own_gains(cpu_backend *be) {
  const cpu_together *t = &be->together;
  if (t->n == 0 || gbt_policy_one_split(be->fr.policy.kind)) return;
  for (size_t i = 0; i < be->fr.n_nodes; i++) {
    gbt_grow_node *node = &be->fr.node[i];
    if (node->left > 0) node->split.gain = t->gain[i * (size_t)t->n + (size_t)t->at];
  }
}

gbt_status cpu_together_search(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const int64_t t0 = gbt_clock_ns();
  cpu_split_job job;
  size_t n;
  cpu_turn_to(be, 0);
  GBT_TRY(cpu_list_features(ctx, be, &job, &n, err));
  node_job nodes = {.be = be, .search = &job, .n = n};
  GBT_TRY(make_inputs(ctx, &nodes, err));
  GBT_TRY(each_node(ctx, &nodes, make_rules, be->together.n, err));
  const double ns = 3.0 * (double)n * be->layout->n_slots * be->together.n;
  GBT_TRY(cpu_parallel(ctx, (int64_t)n * job.n_runs, ns, search_task, &job, err));
  GBT_TRY(choose_splits(ctx, be, &job, n, err));
  GBT_TRY(split_nodes(ctx, be, &job, n, err));
  GBT_TRY(each_node(ctx, &nodes, rate_trees, be->together.n, err));
  GBT_TRY(put_left_rows(be, &job, n, err));
  for (int32_t k = 0; k < be->together.n; k++) {
    cpu_turn_to(be, k);
    GBT_TRY(open_nodes(be, &job, n, err));
  }
  cpu_turn_to(be, 0);
  be->base.seconds[GBT_PHASE_SPLIT] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return GBT_OK;
}
