/* The best split of every fresh node: tasks are (node, run of features), the best of a node is then picked in feature
 * order. Numeric features in cpu_split_num.c, categorical ones in cpu_split_cat.c, nodes without histograms in
 * cpu_split_rows.c. */
#include "cpu_split_impl.h"

#include <string.h>

#include "../base/clock.h"
#include "../base/parallel.h"

#define SPLIT_FEATS 8    /* features of a task, at least */
#define SPLIT_SLOTS 2048 /* about so many slots of a task */

/* ---- life ---- */

gbt_status cpu_split_open(cpu_backend *be, gbt_error *err) {
  cpu_splits *split = &be->split;
  size_t n = (size_t)be->n_features;
  split->constrained = be->fr.policy.monotone != NULL || be->fr.policy.reg.max_delta_step > 0.0;
  split->contests = gbt_contests(be->params, be->handicap);
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *split->tree_feats, &split->tree_feats, err));
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *split->drawn, &split->drawn, err));
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *split->plan, &split->plan, err));
  for (int32_t f = 0; f < be->n_features; f++)
    split->plan[f] = gbt_feature_plan_of(be->cuts, be->layout, f, be->params);
  return cpu_singles_make(be, err);
}

void cpu_split_close(cpu_backend *be) {
  cpu_splits *split = &be->split;
  void *blocks[] = {split->tree_feats, split->node_feats, split->drawn, split->found, split->plan, split->single,
                    split->by_rows};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
}

void cpu_split_begin(cpu_backend *be) {
  cpu_splits *split = &be->split;
  split->n_tree_feats = gbt_features_of_tree(be->rules, be->task.tree, split->tree_feats, split->drawn);
  GBT_ASSERT(split->n_tree_feats <= be->n_features);
}

/* ---- all fresh nodes ---- */

static void search_feature(cpu_backend *be, int32_t feat, cpu_search *in, cpu_scratch *scratch, gbt_split *best) {
  cpu_search_feature(be, feat, scratch, in);
  if (in->n_bins + in->has_missing < 2) return;
  if (be->split.plan[feat].by_sets)
    cpu_search_set(in, scratch, best);
  else if (be->cuts->schema->feat[feat].type == GBT_CATEGORICAL)
    cpu_search_onehot(in, scratch, best);
  else
    cpu_search_numeric(be, in, scratch, best);
}

void cpu_search_features(cpu_backend *be, cpu_search *in, const int32_t *feats, int32_t n, cpu_scratch *scratch,
                         gbt_split *best) {
  for (int32_t k = 0; k < n; k++) {
    gbt_split own = {.kind = GBT_SPLIT_NONE};
    search_feature(be, feats[k], in, scratch, be->split.contests ? &own : best);
    if (gbt_contest_admits(&in->contest, &own, in->min_gain) && gbt_contest_beats(&in->contest, &own, best))
      *best = own;
  }
}

/* The best of all runs of features for a node. */
static gbt_split best_of_runs(const cpu_backend *be, const gbt_grow_node *node, const gbt_split *found, int32_t n) {
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  cpu_search in = {.contest = gbt_contest_plain()};
  if (be->split.contests) cpu_search_node(be, node, &in);
  for (int32_t b = 0; b < n; b++)
    if (gbt_contest_beats(&in.contest, &found[b], &best)) best = found[b];
  GBT_ASSERT(best.kind == GBT_SPLIT_NONE || (best.gain > 0.0 && best.feat < be->n_features));
  return best;
}

static void split_task(void *arg, int64_t task, int thread) {
  const cpu_split_job *job = arg;
  cpu_backend *be = job->be;
  cpu_scratch *scratch = &be->scratch.of[thread];
  int64_t i = task / job->n_runs, run = task % job->n_runs, beg = run * job->run_feats;
  if (be->fr.node[job->node[i]].hist < 0) return; /* cpu_search_by_rows */
  const int32_t *feats = job->feats + (size_t)i * job->stride;
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  int64_t end = beg + job->run_feats < job->n_feats[i] ? beg + job->run_feats : job->n_feats[i];
  cpu_search in;
  cpu_search_node(be, &be->fr.node[job->node[i]], &in);
  int32_t n_rest = end > beg ? cpu_search_singles(be, &in, feats + beg, (int32_t)(end - beg), scratch, &best) : 0;
  cpu_search_features(be, &in, scratch->rest, n_rest, scratch, &best);
  be->split.found[task] = best;
}

/* Many features with few bins make a task worth its while. */
static int32_t run_size(const cpu_backend *be) {
  double feats = (double)SPLIT_SLOTS * be->n_features / (1.0 + be->layout->n_slots);
  return feats < SPLIT_FEATS ? SPLIT_FEATS : feats > CPU_SPLIT_FEATS ? CPU_SPLIT_FEATS : (int32_t)feats;
}

gbt_status cpu_list_features(gbt_ctx *ctx, cpu_backend *be, cpu_split_job *job, size_t *n_searched, gbt_error *err) {
  size_t n = (size_t)be->split.n_tree_feats, n_nodes = 0;
  *job = (cpu_split_job){.be = be, .run_feats = run_size(be)};
  job->most_feats = be->ranks.on ? be->ranks.n_tree_feats : be->split.n_tree_feats;
  job->n_runs = (job->most_feats + job->run_feats - 1) / job->run_feats;
  for (size_t i = 0; i < be->fr.n_fresh; i++) n_nodes += cpu_is_searched(be, be->fr.fresh[i]) != 0;
  *n_searched = n_nodes;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->split.found, &be->split.cap_found, n_nodes * (size_t)job->n_runs + 1,
                       sizeof *be->split.found, err));
  int uniform = gbt_features_uniform(be->rules);
  size_t need = n_nodes * 2 + (uniform ? 0 : n_nodes * n) + 1; /* one more: without nodes, too, there is a list */
  GBT_TRY(gbt_mem_grow(&be->mem, &be->split.node_feats, &be->split.cap_node_feats, need, sizeof *be->split.node_feats,
                       err));
  int32_t *n_feats = be->split.node_feats + n_nodes, *list = n_feats + n_nodes;
  job->node = be->split.node_feats;
  job->n_feats = n_feats;
  const int32_t *same = be->ranks.on ? be->ranks.tree_feats : be->split.tree_feats;
  job->feats = uniform ? same : list;
  job->stride = uniform ? 0 : n;
  for (size_t i = 0, k = 0; i < be->fr.n_fresh; i++) {
    int32_t id = be->fr.fresh[i];
    const gbt_grow_node *node = &be->fr.node[id];
    if (!cpu_is_searched(be, id)) continue;
    job->node[k] = id;
    n_feats[k] = job->most_feats;
    if (!uniform) { /* a draw looks at all features: many nodes of a very wide table take their time */
      GBT_TRY(gbt_ctx_poll(ctx, err));
      int32_t *mine = list + k * n;
      n_feats[k] = gbt_features_of_layer(be->rules, be->task.tree, node->depth, be->split.tree_feats, (int32_t)n, mine,
                                         be->split.drawn);
      if (be->fr.path_words > 0)
        n_feats[k] =
            gbt_features_allowed(be->rules, be->fr.path + (size_t)id * (size_t)be->fr.path_words, mine, n_feats[k]);
      n_feats[k] = gbt_features_of_node(be->rules, be->task.tree, id, mine, n_feats[k], mine, be->split.drawn);
      n_feats[k] = cpu_ranks_keep_own(be, mine, n_feats[k]);
    }
    k++;
  }
  return GBT_OK;
}

gbt_status cpu_room_for_set(cpu_backend *be, gbt_grow_node *node, gbt_error *err) {
  const gbt_split *split = &node->split;
  if (split->kind != GBT_SPLIT_ONEHOT && split->kind != GBT_SPLIT_SET) return GBT_OK;
  node->set_words = ((uint32_t)be->cuts->feat[split->feat].n_bins + 31) / 32;
  return gbt_frontier_set(&be->fr, node->set_words, &node->set_beg, err);
}

static void set_task(void *arg, int64_t task, int thread) {
  const cpu_split_job *job = arg;
  cpu_backend *be = job->be;
  const gbt_grow_node *node = &be->fr.node[job->node[task]];
  const gbt_split *split = &node->split;
  if (split->kind != GBT_SPLIT_SET || (be->ranks.on && !be->ranks.owns[split->feat])) return;
  cpu_search in;
  cpu_search_node(be, node, &in);
  if (node->hist < 0) cpu_hist_group(&job->span, node, be->layout->place[split->feat].group, &be->scratch.of[thread]);
  cpu_search_feature(be, split->feat, &be->scratch.of[thread], &in);
  cpu_set_bits(&in, &be->scratch.of[thread], split, be->fr.sets + node->set_beg);
}

/* From the ranks that have found the splits. */
static void take_sets(const cpu_split_job *job, size_t n) {
  cpu_backend *be = job->be;
  for (size_t i = 0; i < n; i++) {
    const gbt_grow_node *node = &be->fr.node[job->node[i]];
    if (node->split.kind != GBT_SPLIT_SET) continue;
    GBT_ASSERT(node->set_words <= be->ranks.set_words);
    memcpy(be->fr.sets + node->set_beg, cpu_ranks_set_of(be, i, n), node->set_words * sizeof(uint32_t));
  }
}

typedef struct set_job {
  cpu_split_job *job;
  int64_t n;
  double ns;
} set_job;

/* See gbt_pages_fn. */
static gbt_status set_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  const set_job *sets = arg;
  cpu_split_span(sets->job, pages);
  return cpu_parallel(ctx, sets->n, sets->ns, set_task, sets->job, err);
}

/* The rows of nodes without histograms are added up again, so this is a pass then. */
static gbt_status fill_sets(gbt_ctx *ctx, cpu_split_job *job, size_t n, double codes, gbt_error *err) {
  cpu_backend *be = job->be;
  set_job sets = {job, (int64_t)n, 10.0 * codes};
  int by_rows = 0;
  for (size_t i = 0; i < n; i++) {
    const gbt_grow_node *node = &be->fr.node[job->node[i]];
    if (node->split.kind != GBT_SPLIT_SET || node->hist >= 0) continue;
    const gbt_group *group = &be->layout->group[be->layout->place[node->split.feat].group];
    sets.ns += 0.5 * (double)node->own_rows * group->n_feats + 1.5 * group->n_slots;
    by_rows = 1;
  }
  if (by_rows) return cpu_train_pass(ctx, be, set_span, &sets, err);
  return cpu_parallel(ctx, sets.n, sets.ns, set_task, job, err);
}

static gbt_status keep_sets(gbt_ctx *ctx, cpu_split_job *job, size_t n, gbt_error *err) {
  cpu_backend *be = job->be;
  const size_t beg = be->fr.n_set_words;
  double codes = 0.0;
  for (size_t i = 0; i < n; i++) {
    gbt_grow_node *node = &be->fr.node[job->node[i]];
    GBT_TRY(cpu_room_for_set(be, node, err));
    if (node->split.kind == GBT_SPLIT_SET) codes += be->cuts->feat[node->split.feat].n_bins;
  }
  if (codes > 0.0 && cpu_ranks_set_of(be, 0, n) != NULL) {
    take_sets(job, n);
  } else if (codes > 0.0) {
    GBT_TRY(fill_sets(ctx, job, n, codes, err));
    GBT_TRY(cpu_ranks_share_sets(ctx, be, beg, be->fr.n_set_words, err));
  }
  for (size_t i = 0; i < n && be->fr.n_set_words > beg; i++) {
    const gbt_grow_node *node = &be->fr.node[job->node[i]];
    const int32_t bin = node->split.bin;
    if (node->split.kind == GBT_SPLIT_ONEHOT) be->fr.sets[node->set_beg + (uint32_t)(bin >> 5)] |= 1u << (bin & 31);
  }
  return GBT_OK;
}

gbt_status cpu_find_splits(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  int64_t t0 = gbt_clock_ns();
  if (gbt_policy_one_split(be->fr.policy.kind)) return cpu_layer_search(ctx, be, err);
  GBT_ASSERT(be->together.n == 0); /* cpu_together_search */
  cpu_split_job job;
  size_t n;
  GBT_TRY(cpu_list_features(ctx, be, &job, &n, err));
  const size_t n_tasks = n * (size_t)job.n_runs;
  size_t n_hists = 0;
  for (size_t i = 0; i < n; i++) n_hists += be->fr.node[job.node[i]].hist >= 0;
  double ns = 3.0 * (double)n_hists * be->layout->n_slots;
  if (n_hists > 0) GBT_TRY(cpu_parallel(ctx, (int64_t)n_tasks, ns, split_task, &job, err));
  if (n_hists < n) GBT_TRY(cpu_search_by_rows(ctx, be, &job, n, err));
  for (size_t i = 0; i < n; i++) {
    gbt_grow_node *node = &be->fr.node[job.node[i]];
    node->split = best_of_runs(be, node, be->split.found + i * (size_t)job.n_runs, job.n_runs);
  }
  GBT_TRY(cpu_ranks_best(ctx, be, job.node, n, err));
  GBT_TRY(keep_sets(ctx, &job, n, err));
  for (size_t i = 0; i < n; i++) cpu_hist_release_searched(be, job.node[i]);
  self->seconds[GBT_PHASE_SPLIT] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return gbt_frontier_opened(&be->fr, err);
}
