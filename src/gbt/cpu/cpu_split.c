/* The best split of every fresh node: tasks are (node, block of features), the best of a node is then picked in feature
 * order. Numeric features in cpu_split_num.c, categorical ones in cpu_split_cat.c. */
#include "cpu.h"

#include <string.h>

#define SPLIT_FEATS 8    /* features of a task, at least */
#define SPLIT_SLOTS 2048 /* about so many slots of a task */

/* A packed feature's sums, see cpu_hist_sparse.c. */
static const gbt_sum *unpack(const cpu_search *in, gbt_sum *to) {
  for (uint32_t s = 0; s < in->n_slots; s++) to[s] = cpu_unpack(in->both[s]);
  return to;
}

void cpu_search_node(const cpu_backend *be, const gbt_grow_node *node, cpu_search *in) {
  memset(in, 0, sizeof *in);
  in->node = node;
  in->unit = cpu_units(be);
  in->reg = be->fr.policy.reg;
  in->rated = gbt_rated_of(node, in->unit, in->reg, be->params->min_child_weight, be->constrained);
  in->min_rows = be->params->min_data_in_leaf;
  in->min_gain = gbt_least_gain(be->params->gamma, gbt_noise_floor(in->unit, node->n_rows, in->rated.H));
  in->params = be->params;
  in->noise = be->noise[be->task.output];
}

void cpu_search_feature(const cpu_backend *be, int32_t feat, cpu_scratch *scratch, cpu_search *in) {
  const gbt_place *place = &be->layout->place[feat];
  const gbt_feature_cuts *cuts = &be->cuts->feat[feat];
  const cpu_hist *hist = &be->slot[in->node->hist];
  uint32_t base = be->layout->sparse_slot;
  in->count = be->count_all || be->set_feature[feat] ? hist->count + place->slot_beg : NULL;
  in->feat = feat;
  in->n_bins = cuts->n_bins;
  in->n_slots = place->n_slots;
  in->zero_bin = place->zero_bin;
  in->has_missing = cuts->has_missing && gbt_place_has_missing(place, cuts->n_bins);
  in->sign = be->fr.policy.monotone ? be->fr.policy.monotone[feat] : 0;
  in->both = NULL;
  in->sum = hist->sum + place->slot_beg;
  if (!be->packed || place->group >= 0) return;
  in->both = (const int64_t *)(const void *)(hist->sum + base) + (place->slot_beg - base);
  in->sum = NULL;
  if (be->cuts->schema->feat[feat].type == GBT_CATEGORICAL) in->sum = unpack(in, scratch->sum);
}

/* ---- all fresh nodes ---- */

typedef struct split_pass {
  cpu_backend *be;
  int32_t *node;        /* splittable fresh nodes */
  const int32_t *feats; /* node i: feats[i * stride ..], n_feats[i] of them */
  size_t stride;
  const int32_t *n_feats;
  int32_t n_blocks, block; /* features of a block */
} split_pass;

static void search_feature(cpu_backend *be, int32_t feat, cpu_search *in, cpu_scratch *scratch, gbt_split *best) {
  cpu_search_feature(be, feat, scratch, in);
  if (in->n_bins + in->has_missing < 2) return;
  if (be->set_feature[feat])
    cpu_search_set(in, scratch, best);
  else if (be->cuts->schema->feat[feat].type == GBT_CATEGORICAL)
    cpu_search_onehot(in, scratch, best);
  else
    cpu_search_numeric(be, in, scratch, best);
}

static void split_task(void *arg, int64_t task, int thread) {
  const split_pass *pass = arg;
  cpu_backend *be = pass->be;
  cpu_scratch *scratch = &be->scratch[thread];
  int64_t i = task / pass->n_blocks, block = task % pass->n_blocks, beg = block * pass->block;
  const int32_t *feats = pass->feats + (size_t)i * pass->stride;
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  int64_t end = beg + pass->block < pass->n_feats[i] ? beg + pass->block : pass->n_feats[i];
  cpu_search in;
  cpu_search_node(be, &be->fr.node[pass->node[i]], &in);
  int32_t n_rest = end > beg ? cpu_search_singles(be, &in, feats + beg, (int32_t)(end - beg), scratch, &best) : 0;
  for (int32_t k = 0; k < n_rest; k++) search_feature(be, scratch->rest[k], &in, scratch, &best);
  be->found[task] = best;
}

/* Many features with few bins make a task worth its while. */
static int32_t block_size(const cpu_backend *be) {
  double feats = (double)SPLIT_SLOTS * be->n_features / (1.0 + be->layout->n_slots);
  return feats < SPLIT_FEATS ? SPLIT_FEATS : feats > CPU_SPLIT_FEATS ? CPU_SPLIT_FEATS : (int32_t)feats;
}

/* Features of every node to be searched: one list for all, or one each. */
static gbt_status list_features(gbt_ctx *ctx, cpu_backend *be, split_pass *pass, size_t n_nodes, gbt_error *err) {
  size_t n = (size_t)be->n_tree_feats, lists = n_nodes;
  int uniform = gbt_features_uniform(be->rules);
  size_t need = n_nodes * 2 + (uniform ? 0 : lists * n) + 1; /* one more: without nodes, too, there is a list */
  GBT_TRY(gbt_mem_grow(&be->mem, &be->node_feats, &be->cap_node_feats, need, sizeof *be->node_feats, err));
  int32_t *n_feats = be->node_feats + n_nodes, *list = n_feats + n_nodes;
  pass->node = be->node_feats;
  pass->n_feats = n_feats;
  pass->feats = uniform ? be->tree_feats : list;
  pass->stride = uniform ? 0 : n;
  for (size_t i = 0, k = 0; i < be->fr.n_fresh; i++) {
    int32_t id = be->fr.fresh[i];
    const gbt_grow_node *node = &be->fr.node[id];
    if (!node->splittable) continue;
    pass->node[k] = id;
    n_feats[k] = be->n_tree_feats;
    if (!uniform) { /* a draw ranks all features: many nodes of a very wide table take their time */
      GBT_TRY(gbt_ctx_poll(ctx, err));
      int32_t *mine = list + k * n;
      n_feats[k] =
          gbt_features_of_level(be->rules, be->task.tree, node->depth, be->tree_feats, (int32_t)n, mine, be->rank);
      if (be->fr.path_words > 0)
        n_feats[k] =
            gbt_features_allowed(be->rules, be->fr.path + (size_t)id * (size_t)be->fr.path_words, mine, n_feats[k]);
      n_feats[k] = gbt_features_of_node(be->rules, be->task.tree, id, mine, n_feats[k], mine, be->rank);
    }
    k++;
  }
  return GBT_OK;
}

/* Categorical winners keep their levels as bits: the histogram may be gone when the node is split. First all get their
 * room, then it is filled: a set's levels have to be put in order again. */
static gbt_status room_for_set(cpu_backend *be, gbt_grow_node *node, gbt_error *err) {
  const gbt_split *split = &node->split;
  if (split->kind != GBT_SPLIT_ONEHOT && split->kind != GBT_SPLIT_SET) return GBT_OK;
  node->set_words = ((uint32_t)be->cuts->feat[split->feat].n_bins + 31) / 32;
  return gbt_frontier_set(&be->fr, node->set_words, &node->set_beg, err);
}

static void set_task(void *arg, int64_t task, int thread) {
  const split_pass *pass = arg;
  cpu_backend *be = pass->be;
  const gbt_grow_node *node = &be->fr.node[pass->node[task]];
  const gbt_split *split = &node->split;
  uint32_t *words = be->fr.sets + node->set_beg;
  if (split->kind == GBT_SPLIT_ONEHOT) words[split->bin >> 5] |= 1u << (split->bin & 31);
  if (split->kind != GBT_SPLIT_SET) return;
  cpu_search in;
  cpu_search_node(be, node, &in);
  cpu_search_feature(be, split->feat, &be->scratch[thread], &in);
  cpu_set_bits(&in, &be->scratch[thread], split, words);
}

static gbt_status keep_sets(gbt_ctx *ctx, split_pass *pass, size_t n, gbt_error *err) {
  cpu_backend *be = pass->be;
  double codes = 0.0;
  for (size_t i = 0; i < n; i++) {
    gbt_grow_node *node = &be->fr.node[pass->node[i]];
    GBT_TRY(room_for_set(be, node, err));
    if (node->split.kind == GBT_SPLIT_SET) codes += be->cuts->feat[node->split.feat].n_bins;
  }
  return be->fr.n_sets > 0 ? cpu_parallel(ctx, (int64_t)n, 10.0 * codes, set_task, pass, err) : GBT_OK;
}

gbt_status cpu_find_splits(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  int64_t t0 = gbt_clock_ns();
  if (be->fr.policy.kind == GBT_SYMMETRIC) return cpu_level_search(ctx, be, err);
  split_pass pass = {.be = be, .block = block_size(be)};
  pass.n_blocks = (be->n_tree_feats + pass.block - 1) / pass.block;
  size_t n = 0;
  for (size_t i = 0; i < be->fr.n_fresh; i++) n += be->fr.node[be->fr.fresh[i]].splittable != 0;
  size_t n_tasks = n * (size_t)pass.n_blocks;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->found, &be->cap_found, n_tasks + 1, sizeof *be->found, err));
  GBT_TRY(list_features(ctx, be, &pass, n, err));
  double ns = 3.0 * (double)n * be->layout->n_slots;
  GBT_TRY(cpu_parallel(ctx, (int64_t)n_tasks, ns, split_task, &pass, err));
  for (size_t i = 0; i < n; i++) {
    gbt_split best = {.kind = GBT_SPLIT_NONE};
    for (int32_t b = 0; b < pass.n_blocks; b++) {
      const gbt_split *s = &be->found[i * (size_t)pass.n_blocks + (size_t)b];
      if (gbt_split_beats(s, &best)) best = *s;
    }
    be->fr.node[pass.node[i]].split = best;
  }
  GBT_TRY(keep_sets(ctx, &pass, n, err));
  for (size_t i = 0; i < n; i++) {
    gbt_grow_node *node = &be->fr.node[pass.node[i]];
    if (node->split.kind == GBT_SPLIT_NONE || !cpu_children_split(be, node)) cpu_hist_release(be, node);
  }
  self->seconds[GBT_PHASE_SPLIT] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return gbt_frontier_opened(&be->fr, err);
}
