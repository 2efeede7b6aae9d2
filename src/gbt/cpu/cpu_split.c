/* The best split of every fresh node: tasks are (node, block of features), the best of a node is then picked in feature
 * order. Numeric features here, categorical ones in cpu_split_cat.c.
 *
 * One feature of one node: prefix sums of the bins in integers, turned to real numbers; gains of all cuts in one
 * vector loop; the first largest one. With missing values in the node it is done twice, missing right and left. */
#include "cpu.h"

#include <math.h> /* INFINITY only */
#include <string.h>

#define SPLIT_FEATS 8 /* features of a task */

double cpu_gain(const cpu_search *in, double gl, double hl, gbt_reg reg) {
  double gr = in->G - gl, hr = in->H - hl;
  if (!(hl >= in->min_weight && hr >= in->min_weight && hl > 0.0 && hr > 0.0)) return -1.0;
  if (!in->constrained)
    return (gbt_score(gl, hl, reg.lambda, reg.alpha) + gbt_score(gr, hr, reg.lambda, reg.alpha)) - in->parent;
  gbt_bounds b = in->node->bounds;
  double wl = gbt_weight(gl, hl, reg, b), wr = gbt_weight(gr, hr, reg, b);
  if ((in->sign > 0 && wl > wr) || (in->sign < 0 && wl < wr)) return -1.0;
  return (gbt_score_at(gl, hl, wl, reg) + gbt_score_at(gr, hr, wr, reg)) - in->parent;
}

/* A packed feature's sums, see cpu_hist_sparse.c. */
static const gbt_sum *unpack(const cpu_backend *be, const cpu_hist *hist, const gbt_place *place, gbt_sum *to) {
  const int64_t *both = (const int64_t *)(const void *)(hist->sum + be->layout->sparse_slot);
  both += place->slot_beg - be->layout->sparse_slot;
  for (uint32_t s = 0; s < place->n_slots; s++) {
    to[s].g = both[s] >> 32;
    to[s].h = (int64_t)(uint32_t)both[s];
  }
  return to;
}

void cpu_search_init(const cpu_backend *be, const gbt_grow_node *node, int32_t feat, cpu_scratch *scratch,
                     cpu_search *in) {
  const gbt_place *place = &be->layout->place[feat];
  const gbt_feature_cuts *cuts = &be->cuts->feat[feat];
  const cpu_hist *hist = &be->slot[node->hist];
  memset(in, 0, sizeof *in);
  if (place->group < 0 && be->packed) in->sum = unpack(be, hist, place, scratch->sum);
  else in->sum = hist->sum + place->slot_beg;
  in->count = be->count_all || be->set_feature[feat] ? hist->count + place->slot_beg : NULL;
  in->feat = feat;
  in->n_bins = cuts->n_bins;
  in->n_slots = place->n_slots;
  in->zero_bin = place->zero_bin;
  in->has_missing = cuts->has_missing && gbt_place_has_missing(place, cuts->n_bins);
  in->node = node;
  in->unit = cpu_units(be);
  in->G = (double)node->sum.g * in->unit.g;
  in->H = (double)node->sum.h * in->unit.h;
  in->reg = be->fr.reg;
  in->sign = be->fr.monotone ? be->fr.monotone[feat] : 0;
  in->constrained = be->fr.monotone != NULL || in->reg.max_delta_step > 0.0;
  in->parent = in->constrained
                   ? gbt_score_at(in->G, in->H, gbt_weight(in->G, in->H, in->reg, node->bounds), in->reg)
                   : gbt_score(in->G, in->H, in->reg.lambda, in->reg.alpha);
  in->min_weight = be->params->min_child_weight;
  in->min_rows = be->params->min_data_in_leaf;
  double floor = gbt_noise_floor(in->unit, node->n_rows, in->H);
  in->min_gain = be->params->gamma > floor ? be->params->gamma : floor;
  in->params = be->params;
  in->noise = be->noise[be->task.output];
}

/* Sums of the zero bin, where histograms leave it out: the node's total minus all others. */
static void zero_bin_sums(const cpu_search *in, gbt_sum *sum, int64_t *rows) {
  *sum = in->node->sum;
  *rows = in->node->n_rows;
  for (uint32_t s = 0; s < in->n_slots; s++) {
    sum->g -= in->sum[s].g;
    sum->h -= in->sum[s].h;
    if (in->count) *rows -= in->count[s];
  }
}

/* Gains of the n cuts in scratch->g, h; -1 where a child has too few rows. */
static void all_gains(const cpu_backend *be, const cpu_search *in, cpu_scratch *scratch, int32_t n,
                      int64_t more_left) {
  if (in->constrained)
    for (int32_t i = 0; i < n; i++) scratch->gain[i] = cpu_gain(in, scratch->g[i], scratch->h[i], in->reg);
  else {
    cpu_gain_args args = {in->G, in->H, in->parent, in->reg.lambda, in->reg.alpha, in->min_weight};
    be->kernels->gains(n, scratch->g, scratch->h, &args, scratch->gain);
  }
  if (!in->count) return;
  for (int32_t i = 0; i < n; i++) {
    int64_t left = scratch->rows[i] + more_left, right = (int64_t)in->node->n_rows - left;
    if (left < in->min_rows || right < in->min_rows) scratch->gain[i] = -1.0;
  }
}

static void take_best(const cpu_search *in, const cpu_scratch *scratch, int32_t n, int missing, int missing_left,
                      gbt_split *best) {
  double top = -1.0;
  int32_t at = -1;
  for (int32_t i = 0; i < n; i++) {
    if (scratch->gain[i] > top) top = scratch->gain[i], at = i;
  }
  if (at < 0 || !(top > in->min_gain)) return;
  gbt_split s = {.gain = top, .kind = GBT_SPLIT_NUMERIC, .feat = in->feat, .bin = at,
                 .missing_left = (int8_t)missing_left, .has_missing = (int8_t)missing};
  if (gbt_split_beats(&s, best)) *best = s;
}

/* Integer sums left of the cut behind `bin`. */
static gbt_sum left_sum(const cpu_search *in, gbt_sum zero, int32_t bin, int missing_left) {
  gbt_sum s = {0, 0};
  for (int32_t c = 0, at = 0; c <= bin; c++) {
    gbt_sum add = c == in->zero_bin ? zero : in->sum[at++];
    s.g += add.g;
    s.h += add.h;
  }
  if (missing_left) {
    gbt_sum add = in->n_bins == in->zero_bin ? zero : in->sum[in->n_slots - 1];
    s.g += add.g;
    s.h += add.h;
  }
  return s;
}

void cpu_search_numeric(const cpu_backend *be, const cpu_search *in, cpu_scratch *scratch, gbt_split *best) {
  gbt_sum zero = {0, 0}, run = {0, 0}, miss = {0, 0};
  int64_t zero_rows = 0, rows = 0, miss_rows = 0;
  int32_t n = in->n_bins;
  if (in->zero_bin >= 0) zero_bin_sums(in, &zero, &zero_rows);
  for (int32_t c = 0, at = 0; c < n; c++) {
    int is_zero = c == in->zero_bin;
    gbt_sum add = is_zero ? zero : in->sum[at];
    run.g += add.g;
    run.h += add.h;
    scratch->g[c] = (double)run.g * in->unit.g;
    scratch->h[c] = (double)run.h * in->unit.h;
    if (in->count) {
      rows += is_zero ? zero_rows : in->count[at];
      scratch->rows[c] = rows;
    }
    at += !is_zero;
  }
  if (in->has_missing) {
    miss = n == in->zero_bin ? zero : in->sum[in->n_slots - 1];
    if (in->count) miss_rows = n == in->zero_bin ? zero_rows : in->count[in->n_slots - 1];
  }
  int missing = miss.g != 0 || miss.h != 0 || miss_rows > 0;
  gbt_split found = {.kind = GBT_SPLIT_NONE};
  /* missing right; only then may all numbers go left */
  int32_t n_right = missing ? n : n - 1;
  all_gains(be, in, scratch, n_right, 0);
  take_best(in, scratch, n_right, missing, 0, &found);
  if (missing) {
    double mg = (double)miss.g * in->unit.g, mh = (double)miss.h * in->unit.h;
    for (int32_t c = 0; c < n - 1; c++) {
      scratch->g[c] += mg;
      scratch->h[c] += mh;
    }
    all_gains(be, in, scratch, n - 1, miss_rows);
    take_best(in, scratch, n - 1, missing, 1, &found);
  }
  if (!gbt_split_beats(&found, best)) return;
  found.left = left_sum(in, zero, found.bin, found.missing_left);
  *best = found;
}

/* ---- all fresh nodes ---- */

typedef struct split_pass {
  cpu_backend *be;
  int32_t *node;       /* splittable fresh nodes */
  const int32_t *feats; /* node i: feats[i * stride ..], n_feats[i] of them */
  size_t stride;
  const int32_t *n_feats;
  int32_t n_blocks;
} split_pass;

static void search_feature(cpu_backend *be, const gbt_grow_node *node, int32_t feat, cpu_scratch *scratch,
                           gbt_split *best) {
  cpu_search in;
  cpu_search_init(be, node, feat, scratch, &in);
  if (in.n_bins + in.has_missing < 2) return;
  if (be->set_feature[feat]) cpu_search_set(&in, scratch, best);
  else if (be->cuts->schema->feat[feat].type == GBT_CATEGORICAL) cpu_search_onehot(&in, scratch, best);
  else cpu_search_numeric(be, &in, scratch, best);
}

static void split_task(void *arg, int64_t task, int thread) {
  const split_pass *pass = arg;
  cpu_backend *be = pass->be;
  int64_t i = task / pass->n_blocks, block = task % pass->n_blocks;
  const gbt_grow_node *node = &be->fr.node[pass->node[i]];
  const int32_t *feats = pass->feats + (size_t)i * pass->stride;
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  int64_t end = (block + 1) * SPLIT_FEATS < pass->n_feats[i] ? (block + 1) * SPLIT_FEATS : pass->n_feats[i];
  for (int64_t k = block * SPLIT_FEATS; k < end; k++)
    search_feature(be, node, feats[k], &be->scratch[thread], &best);
  be->found[task] = best;
}

/* Features of every node to be searched: one list for all, or one each. */
static gbt_status list_features(gbt_ctx *ctx, cpu_backend *be, split_pass *pass, size_t n_nodes, gbt_error *err) {
  size_t n = (size_t)be->n_tree_feats, lists = n_nodes;
  int uniform = gbt_features_uniform(be->rules);
  size_t need = n_nodes * 2 + (uniform ? 0 : lists * n);
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
      n_feats[k] = gbt_features_of_level(be->rules, be->task.tree, node->depth, be->tree_feats, (int32_t)n, mine,
                                         be->rank);
      if (be->fr.path_words > 0)
        n_feats[k] = gbt_features_allowed(be->rules, be->fr.path + (size_t)id * (size_t)be->fr.path_words, mine,
                                          n_feats[k]);
      n_feats[k] = gbt_features_of_node(be->rules, be->task.tree, id, mine, n_feats[k], mine, be->rank);
    }
    k++;
  }
  return GBT_OK;
}

/* Categorical winners keep their levels as bits: the histogram may be gone when the node is split. */
static gbt_status keep_set(cpu_backend *be, int32_t id, gbt_error *err) {
  const gbt_split *split = &be->fr.node[id].split;
  if (split->kind != GBT_SPLIT_ONEHOT && split->kind != GBT_SPLIT_SET) return GBT_OK;
  uint32_t n_words = ((uint32_t)be->cuts->feat[split->feat].n_bins + 31) / 32, beg = 0;
  GBT_TRY(gbt_frontier_set(&be->fr, n_words, &beg, err));
  gbt_grow_node *node = &be->fr.node[id];
  node->set_beg = beg;
  node->set_words = n_words;
  uint32_t *words = be->fr.sets + beg;
  if (split->kind == GBT_SPLIT_ONEHOT) {
    words[split->bin >> 5] |= 1u << (split->bin & 31);
    return GBT_OK;
  }
  cpu_search in;
  cpu_search_init(be, node, split->feat, be->scratch, &in);
  cpu_set_bits(&in, be->scratch, split, words);
  return GBT_OK;
}

gbt_status cpu_find_splits(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  int64_t t0 = gbt_clock_ns();
  split_pass pass = {.be = be, .n_blocks = (be->n_tree_feats + SPLIT_FEATS - 1) / SPLIT_FEATS};
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
    if (best.kind != GBT_SPLIT_NONE) GBT_TRY(keep_set(be, pass.node[i], err));
    gbt_grow_node *node = &be->fr.node[pass.node[i]];
    if (best.kind == GBT_SPLIT_NONE || !cpu_children_split(be, node)) cpu_hist_release(be, node);
  }
  self->seconds[GBT_PHASE_SPLIT] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return gbt_frontier_opened(&be->fr, err);
}
