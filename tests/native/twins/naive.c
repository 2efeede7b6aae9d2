#include "naive.h"

#include "../../src/gbt/base/exact_sum.h"
#include "../../src/gbt/objective/formulas.h"
#include "made.h"
#include "naive_impl.h"
#include "stores.h"

/* ---- the data ---- */

static const gbt_dataset *set_at(const naive *nv, int32_t which) {
  return which == 0 ? nv->spec->train : nv->spec->valid[which - 1];
}

static double clip(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

static int renews(const gbt_trainer_spec *spec) {
  return gbt_objective_info_of(spec->objective.kind)->leaves == GBT_LEAVES_QUANTILE;
}

void naive_start_scores(const naive *nv, int32_t which, const double *base) {
  const gbt_dataset *ds = set_at(nv, which);
  const double *init = which == 0 ? nv->spec->init_score : nv->spec->init_valid[which - 1];
  const double *offset = ds->rows.field[GBT_OFFSET];
  for (int32_t k = 0; k < nv->n_outputs; k++)
    for (int64_t r = 0; r < ds->rows.n; r++) {
      int64_t at = k * ds->rows.n + r;
      nv->score[which][at] = init ? init[at] : offset ? base[k] + offset[at] : base[k];
    }
}

/* ---- gradients ---- */

/* g and h of every row and output, weights not yet in. */
static void raw_gradients(const naive *nv, naive_custom custom, double *g, double *h) {
  const double *y = nv->spec->train->rows.field[GBT_LABEL], *score = nv->score[0];
  const int columns = gbt_has_columns(&nv->spec->objective);
  if (nv->spec->objective.kind == GBT_OBJ_CUSTOM) {
    custom(score, y, nv->n, nv->n_outputs, g, h);
    return;
  }
  for (int64_t r = 0; r < nv->n; r++) {
    double top = -INFINITY, sum = 0.0;
    for (int32_t k = 0; k < nv->n_outputs; k++) top = fmax(top, score[k * nv->n + r]);
    for (int32_t k = 0; k < nv->n_outputs; k++) sum += gbt_exp(score[k * nv->n + r] - top);
    for (int32_t k = 0; k < nv->n_outputs; k++) {
      int64_t at = k * nv->n + r;
      const gbt_objective its = gbt_objective_of_output(&nv->spec->objective, k);
      gbt_gh d = its.kind == GBT_OBJ_SOFTMAX
                     ? gbt_softmax_gradient(gbt_exp(score[at] - top) / sum, y[r] == k,
                                            gbt_softmax_bound(nv->n_outputs, nv->p->softmax_hessian))
                     : test_gradient(&its, score[at], y[columns ? at : r]);
      g[at] = d.g;
      h[at] = d.h;
    }
  }
}

/* The shrinkage of a round, those of the initial model included. */
double naive_eta_of(const gbt_trainer_spec *spec, uint64_t round) {
  const uint64_t per_round = (uint64_t)(spec->objective.n_outputs * spec->params.num_parallel_tree);
  int64_t own = (int64_t)(round - (spec->init ? spec->init->n_trees / per_round : 0));
  if (spec->eta == NULL) return spec->params.eta;
  while (own >= spec->n_eta) own--;
  return spec->eta[own];
}

void naive_gradients(naive *nv, uint64_t round, naive_custom custom) {
  nv->eta = naive_eta_of(nv->spec, round);
  nv->round = round;
  size_t cells = (size_t)nv->n * (size_t)nv->n_outputs;
  double *g = test_alloc(cells * sizeof *g), *h = test_alloc(cells * sizeof *h);
  const int columns = gbt_has_columns(&nv->spec->objective);
  raw_gradients(nv, custom, g, h);
  memcpy(nv->start, nv->score[0], cells * sizeof *nv->start);
  for (size_t at = 0; at < cells; at++) {
    const gbt_rows rows = gbt_rows_of_output(&nv->spec->train->rows, (int32_t)(at / (size_t)nv->n));
    const size_t r = at % (size_t)nv->n;
    if (renews(nv->spec)) nv->residual[at] = rows.field[GBT_LABEL][r] - nv->score[0][at];
    if (rows.field[GBT_WEIGHT]) g[at] *= rows.field[GBT_WEIGHT][r], h[at] *= rows.field[GBT_WEIGHT][r];
  }
  int64_t n_in = nv->n;
  if (nv->factor) {
    naive_factors(nv, round, g, h);
    n_in = 0;
    for (int64_t r = 0; r < nv->n; r++) n_in += nv->factor[r] > 0.0f;
  }
  for (int32_t k = 0; k < nv->n_outputs; k++) {
    double max_g = 0.0, max_h = 0.0;
    gbt_fixed_sums sums = {0, 0, 0};
    for (int64_t r = 0; r < nv->n; r++) {
      int64_t at = k * nv->n + r;
      if (nv->factor) g[at] *= (double)nv->factor[r], h[at] *= (double)nv->factor[r];
      max_g = fmax(max_g, fabs(g[at]));
      max_h = fmax(max_h, h[at]);
    }
    nv->scale[k] = gbt_scale_from(max_g, max_h);
    gbt_key32 key = gbt_key((uint64_t)nv->p->seed, GBT_FOR_ROUNDING, round, columns ? 0 : (uint64_t)k);
    for (int64_t r = 0; r < nv->n; r++) {
      int64_t at = k * nv->n + r;
      nv->gh32[at] = gbt_fix32(g[at], h[at], nv->scale[k].up_g, nv->scale[k].up_h);
      nv->gh16[at] = gbt_fix16(nv->gh32[at], gbt_hash32(key, (uint64_t)r));
      sums.size += abs(nv->gh16[at].g);
      sums.square += (int64_t)nv->gh16[at].g * nv->gh16[at].g;
      sums.h += nv->gh16[at].h;
    }
    nv->noise[k] = gbt_noise(sums, &nv->scale[k]);
    int mean_below_16 = sums.size < 16 * n_in;
    nv->wide[k] = nv->p->grad_bits == GBT_GRAD_AUTO ? mean_below_16 : nv->p->grad_bits == GBT_GRAD_32;
  }
  free(g);
  free(h);
}

/* ---- growing ---- */

static naive_node *new_node(naive *nv, int32_t parent, int64_t most_rows) {
  nv->node = realloc(nv->node, ((size_t)nv->n_nodes + 1) * sizeof *nv->node);
  naive_node *node = &nv->node[nv->n_nodes++];
  memset(node, 0, sizeof *node);
  node->parent = parent;
  node->depth = parent < 0 ? 0 : nv->node[parent].depth + 1;
  node->rows = test_alloc((size_t)most_rows * sizeof *node->rows);
  node->used = test_alloc((size_t)nv->n_feats);
  memset(node->used, 0, (size_t)nv->n_feats);
  node->bounds.lo = -INFINITY;
  node->bounds.hi = INFINITY;
  if (parent < 0) return node;
  const naive_node *from = &nv->node[parent];
  memcpy(node->used, from->used, (size_t)nv->n_feats);
  node->used[from->split.feat] = 1;
  node->bounds = from->bounds;
  return node;
}

void naive_free_nodes(naive *nv) {
  for (int32_t i = 0; i < nv->n_nodes; i++) {
    free(nv->node[i].rows);
    free(nv->node[i].goes);
    free(nv->node[i].used);
  }
  free(nv->node);
  nv->node = NULL;
  nv->n_nodes = 0;
}

static void plant_root(naive *nv) {
  naive_node *root = new_node(nv, -1, nv->n);
  for (int64_t r = 0; r < nv->n; r++)
    if (naive_draws(nv, r)) root->rows[root->n_rows++] = r;
  root->sum = naive_sum(nv, root->rows, root->n_rows);
  nv->n_leaves = 1;
}

int naive_could_split(const naive *nv, const naive_node *node) {
  if (nv->p->max_depth > 0 && node->depth >= nv->p->max_depth) return 0;
  if (node->n_rows < 2 * nv->p->min_data_in_leaf) return 0;
  return (double)node->sum.h * nv->unit.h >= 2.0 * nv->p->min_child_weight;
}

/* A node of all trees. */
static void consider(naive_team *team, int32_t id) {
  if (team->direction != NULL)
    naive_search_together(team, id);
  else if (naive_could_split(team->tree, &team->tree->node[id]))
    naive_search(team->tree, id);
}

/* The weight of a node in histogram units, within its parent's bounds. */
static double rough_weight(const naive *nv, const naive_node *node, gbt_bounds b) {
  return gbt_weight((double)node->sum.g * nv->unit.g, (double)node->sum.h * nv->unit.h, nv->reg, b);
}

static void split_node(naive *nv, int32_t id) {
  int64_t n_rows = nv->node[id].n_rows;
  nv->node[id].left = nv->n_nodes;
  new_node(nv, id, n_rows);
  new_node(nv, id, n_rows);
  naive_node *node = &nv->node[id], *l = &nv->node[node->left], *r = l + 1;
  for (int64_t i = 0; i < n_rows; i++) {
    naive_node *to = node->goes[nv->code[0][node->split.feat][node->rows[i]]] ? l : r;
    to->rows[to->n_rows++] = node->rows[i];
  }
  l->sum = naive_sum(nv, l->rows, l->n_rows);
  r->sum = naive_sum(nv, r->rows, r->n_rows);
  node->bulk_left = l->n_rows >= r->n_rows;
  int sign = naive_sign(nv, node->split.feat);
  if (sign != 0) {
    double wl = rough_weight(nv, l, node->bounds), wr = rough_weight(nv, r, node->bounds), mid = wl + (wr - wl) / 2.0;
    if (node->kept) mid = node->weight;
    (sign > 0 ? l : r)->bounds.hi = mid;
    (sign > 0 ? r : l)->bounds.lo = mid;
  }
  for (naive_node *child = l; child <= r; child++)
    child->weight =
        node->kept ? clip(node->weight, child->bounds.lo, child->bounds.hi) : rough_weight(nv, child, child->bounds);
  nv->n_leaves++;
}

static void split_nodes(naive_team *team, int32_t id) {
  for (int32_t k = 0; k < team->n; k++) split_node(&team->tree[k], id);
}

static int open_at(const naive *nv, int32_t i) {
  return nv->node[i].left == 0 && nv->node[i].split.kind != GBT_SPLIT_NONE;
}

/* The open node of the largest gain (the lowest of equals), on one layer or (depth < 0) anywhere; -1: none. */
static int32_t richest(const naive *nv, int32_t depth) {
  int32_t best = -1;
  for (int32_t i = 0; i < nv->n_nodes; i++) {
    if (!open_at(nv, i) || (depth >= 0 && nv->node[i].depth != depth)) continue;
    if (best < 0 || nv->node[i].split.gain > nv->node[best].split.gain) best = i;
  }
  return best;
}

static int room_for(const naive *nv, int64_t more) {
  return nv->p->max_leaves == 0 || nv->n_leaves + more <= nv->p->max_leaves;
}

static void grow_best_first(naive_team *team) {
  const naive *nv = team->tree;
  for (int32_t id; room_for(nv, 1) && (id = richest(nv, -1)) >= 0;) {
    split_nodes(team, id);
    consider(team, nv->node[id].left);
    consider(team, nv->node[id].left + 1);
  }
}

static void grow_by_layers(naive_team *team) {
  const naive *nv = team->tree;
  for (int32_t depth = 0;; depth++) {
    int64_t width = 0;
    int32_t first = nv->n_nodes, id;
    for (int32_t i = 0; i < first; i++) width += open_at(nv, i) && nv->node[i].depth == depth;
    if (width == 0) break;
    if (room_for(nv, width)) {
      for (int32_t i = 0; i < first; i++)
        if (open_at(nv, i) && nv->node[i].depth == depth) split_nodes(team, i);
    } else {
      while (room_for(nv, 1) && (id = richest(nv, depth)) >= 0) split_nodes(team, id);
    }
    for (int32_t i = first; i < nv->n_nodes; i++) consider(team, i);
  }
}

/* Symmetric: where most rows of a layer go. */
static void symmetric_bulk(naive *nv) {
  for (int32_t first = 0, end; first < nv->n_nodes && nv->node[first].left > 0; first = end) {
    int64_t left = 0, right = 0;
    end = nv->node[first].left;
    for (int32_t i = first; i < end; i++) {
      left += nv->node[nv->node[i].left].n_rows;
      right += nv->node[nv->node[i].left + 1].n_rows;
    }
    for (int32_t i = first; i < end; i++) nv->node[i].bulk_left = left >= right;
  }
}

/* All nodes of a layer by one split, as long as there is room for all their children. */
static void grow_symmetric(naive_team *team) {
  naive *one = &team->tree[0];
  for (int32_t first = 0; room_for(one, one->n_nodes - first) && naive_search_layer(team, first);) {
    int32_t end = one->n_nodes;
    for (int32_t i = first; i < end; i++) split_nodes(team, i);
    first = end;
  }
  for (int32_t k = 0; k < team->n; k++) symmetric_bulk(&team->tree[k]);
}

/* ---- the finished tree ---- */

int32_t naive_leaf_of(const naive *nv, int32_t which, int64_t row) {
  int32_t at = 0;
  while (nv->node[at].left > 0) {
    const naive_node *node = &nv->node[at];
    at = node->left + !node->goes[nv->code[which][node->split.feat][row]];
  }
  return at;
}

/* The set of a categorical split as bits; returns the number of words. */
static uint32_t put_set(const naive *nv, const naive_node *node, uint32_t *words) {
  uint32_t n_bins = (uint32_t)nv->cuts->feat[node->split.feat].n_bins, n_words = (n_bins + 31) / 32;
  memset(words, 0, n_words * sizeof *words);
  for (uint32_t c = 0; c < n_bins; c++) words[c / 32] |= (uint32_t)node->goes[c] << (c % 32);
  return n_words;
}

/* before: the node before it, as it was put; NULL for the first one. */
static gbt_node put_node(const naive *nv, const naive_node *node, const gbt_node *before, double value, uint32_t *sets,
                         uint32_t *n_words) {
  gbt_node out;
  memset(&out, 0, sizeof out);
  out.arg.value = value;
  if (node->left == 0) return out;
  const gbt_split *s = &node->split;
  out.left = (uint32_t)node->left;
  out.feat = (uint32_t)s->feat;
  if (s->missing_left) out.feat |= GBT_NODE_MISSING_LEFT;
  if (node->bulk_left) out.feat |= GBT_NODE_BULK_LEFT;
  if (s->kind == GBT_SPLIT_NUMERIC) {
    out.arg.value = nv->cuts->feat[s->feat].cut[s->bin];
    return out;
  }
  out.feat |= GBT_NODE_CATEGORICAL;
  out.arg.set.beg = *n_words;
  out.arg.set.n_words = put_set(nv, node, sets + *n_words);
  if (nv->p->grow_policy == GBT_SYMMETRIC && before != NULL && node[-1].depth == node->depth) { /* one for a layer */
    CHECK_EQ_BYTES(sets + before->arg.set.beg, sets + *n_words, out.arg.set.n_words * sizeof *sets);
    out.arg.set.beg = before->arg.set.beg;
    return out;
  }
  *n_words += out.arg.set.n_words;
  return out;
}

static void finish_tree(naive *nv, gbt_forest *forest) {
  const gbt_scale *scale = &nv->scale[nv->output];
  size_t n = (size_t)nv->n_nodes;
  gbt_node *nodes = test_alloc(n * sizeof *nodes);
  double *gain = test_alloc(n * sizeof *gain), *cover = test_alloc(n * sizeof *cover);
  double *value = test_alloc(n * sizeof *value), *weight = test_alloc(n * sizeof *weight);
  uint32_t *count = test_alloc(n * sizeof *count), *sets = test_alloc(n * 2048 * sizeof *sets), n_words = 0;
  if (renews(nv->spec)) naive_quantile_values(nv, weight);
  for (size_t i = 0; i < n; i++) {
    const naive_node *node = &nv->node[i];
    int64_t g = 0, h = 0;
    for (int64_t r = 0; r < node->n_rows; r++) {
      const gbt_gh32 *q = &nv->gh32[nv->output * nv->n + node->rows[r]];
      g += q->g;
      h += q->h;
    }
    cover[i] = (double)h * scale->down_h;
    if (!renews(nv->spec)) {
      weight[i] = gbt_weight((double)g * scale->down_g, cover[i], nv->reg, node->bounds);
      weight[i] = naive_steps(nv, node, weight[i]);
      if (i > 0 && nv->node[node->parent].kept) weight[i] = weight[node->parent];
      else if (i > 0) weight[i] = naive_smoothed(nv, node, weight[i], weight[node->parent]);
      weight[i] = clip(weight[i], node->bounds.lo, node->bounds.hi);
    }
    value[i] = weight[i] * (nv->eta / (double)nv->p->num_parallel_tree);
    gain[i] = node->left > 0 ? node->split.gain : 0.0;
    count[i] = (uint32_t)node->n_rows;
    nodes[i] = put_node(nv, node, i > 0 ? &nodes[i - 1] : NULL, value[i], sets, &n_words);
  }
  gbt_tree_parts tree = {(uint32_t)n, n_words, nodes, gain, cover, count, sets, NULL, {0}};
  CHECK_OK(gbt_forest_add(forest, &tree, test_err));
  for (int32_t s = 0; s <= nv->spec->n_valid; s++) {
    int64_t rows = set_at(nv, s)->rows.n;
    for (int64_t r = 0; r < rows; r++) nv->score[s][nv->output * rows + r] += value[naive_leaf_of(nv, s, r)];
  }
  free(nodes), free(gain), free(cover), free(value), free(weight), free(count), free(sets);
}

static void begin_tree(naive *nv, int32_t output, uint64_t tree) {
  double wide = nv->wide[output] ? 1.0 : 65536.0;
  nv->tree = tree;
  nv->output = output;
  nv->unit.g = nv->scale[output].down_g * wide;
  nv->unit.h = nv->scale[output].down_h * wide;
  nv->noise_of_gains = nv->noise[output];
  plant_root(nv);
}

/* From the roots. */
static void grow_trees(naive_team *team) {
  const naive *one = team->tree;
  for (int32_t k = 0; k < team->n; k++) {
    naive *nv = &team->tree[k];
    nv->node[0].weight = rough_weight(nv, &nv->node[0], nv->node[0].bounds);
  }
  if (one->p->grow_policy != GBT_SYMMETRIC && room_for(one, 1)) consider(team, 0);
  if (one->p->grow_policy == GBT_SYMMETRIC)
    grow_symmetric(team);
  else if (one->p->grow_policy == GBT_LOSSGUIDE)
    grow_best_first(team);
  else
    grow_by_layers(team);
}

void naive_grow(naive *nv, int32_t output, uint64_t tree) {
  uint64_t *scratch = test_alloc((size_t)nv->n_feats * sizeof *scratch);
  begin_tree(nv, output, tree);
  nv->n_tree_feats = gbt_features_of_tree(nv->rules, nv->tree, nv->tree_feats, scratch);
  free(scratch);
  grow_trees(&(naive_team){nv, 1, &(double){1.0}, NULL});
}

void naive_grow_together(naive_team *team, uint64_t tree) {
  naive *one = &team->tree[0];
  uint64_t *scratch = test_alloc((size_t)one->n_feats * sizeof *scratch);
  double noise = 0.0;
  for (int32_t k = 0; k < team->n; k++) begin_tree(&team->tree[k], k, tree);
  const int32_t n_feats = gbt_features_of_tree(one->rules, tree, one->tree_feats, scratch);
  free(scratch);
  for (int32_t k = 0; k < team->n; k++) {
    team->tree[k].n_tree_feats = n_feats;
    noise += team->weight[k] * one->noise[k];
  }
  one->noise_of_gains = noise;
  grow_trees(team);
  for (int32_t k = 0; k < team->n && one->p->grow_policy != GBT_SYMMETRIC; k++)
    for (int32_t i = 0; i < one->n_nodes; i++) team->tree[k].node[i].split.gain = team->tree[k].node[i].own;
}

static void put_tree(naive *nv, gbt_forest *forest) {
  finish_tree(nv, forest);
  naive_free_nodes(nv);
}

/* Nodes are split in the order in which their children are numbered. */
void naive_plant(naive *nv, const naive *like, int32_t output, uint64_t tree, int rates) {
  begin_tree(nv, output, tree);
  nv->node[0].weight = rough_weight(nv, &nv->node[0], nv->node[0].bounds);
  while (nv->n_nodes < like->n_nodes) {
    int32_t id = 0;
    while (like->node[id].left != nv->n_nodes) id++;
    const naive_node *from = &like->node[id];
    const size_t n_codes = (size_t)nv->cuts->feat[from->split.feat].n_bins + 1;
    nv->node[id].split = from->split;
    nv->node[id].kept = from->kept;
    nv->node[id].goes = test_alloc(n_codes);
    memcpy(nv->node[id].goes, from->goes, n_codes);
    if (rates) {
      nv->node[id].split.gain = naive_own_gain(nv, &nv->node[id], &nv->node[id].split.left);
      nv->node[id].kept = nv->node[id].split.gain == 0.0;
    }
    split_node(nv, id);
  }
  if (nv->p->grow_policy == GBT_SYMMETRIC) symmetric_bulk(nv);
}

void naive_refit(naive *nv, const naive *like, gbt_forest *forest) {
  naive_plant(nv, like, like->output, like->tree, 0);
  put_tree(nv, forest);
}

static void grow_round(naive *nv, naive_shared *shared, gbt_forest *forest) {
  const int columns = gbt_has_columns(&nv->spec->objective);
  const uint64_t first = columns ? forest->n_trees / (uint64_t)nv->n_outputs : forest->n_trees;
  if (shared != NULL) naive_shared_grow(shared, nv, nv->round, first);
  for (int32_t k = 0; k < nv->n_outputs; k++)
    for (int64_t t = 0; t < nv->p->num_parallel_tree; t++) {
      if (shared == NULL)
        naive_grow(nv, k, columns ? first + (uint64_t)t : forest->n_trees);
      else
        naive_shared_plant(shared, nv, k, first);
      put_tree(nv, forest);
    }
  if (shared != NULL) naive_shared_done(shared);
}

/* ---- the whole ---- */

/* The codes of a data set's rows, of which a mask has some of the pages' alone. */
static int32_t **codes_of_rows(const gbt_dataset *ds, const gbt_cuts *cuts) {
  int32_t **code = codes_of(ds->pages, cuts);
  for (int32_t f = 0; f < cuts->n_features && ds->rows.table_row != NULL; f++)
    for (int64_t i = 0; i < ds->rows.n; i++) code[f][i] = code[f][ds->rows.table_row[i]];
  return code;
}

naive naive_open(const gbt_trainer_spec *spec, double *const *scores) {
  gbt_mem mem = gbt_mem_default();
  naive nv = {.spec = spec,
              .p = &spec->params,
              .cuts = spec->train->cuts,
              .n = spec->train->rows.n,
              .n_feats = spec->train->cuts->n_features,
              .n_outputs = spec->objective.n_outputs,
              .score = scores,
              .reg = {spec->params.lambda, spec->params.alpha, spec->params.max_delta_step}};
  size_t cells = (size_t)nv.n * (size_t)nv.n_outputs;
  for (int32_t s = 0; s <= spec->n_valid; s++) nv.code[s] = codes_of_rows(set_at(&nv, s), spec->train->cuts);
  nv.residual = test_alloc((size_t)nv.n * (size_t)nv.n_outputs * sizeof *nv.residual);
  nv.start = test_alloc(cells * sizeof *nv.start);
  if (nv.p->sampling_method != GBT_SAMPLE_UNIFORM) nv.factor = test_alloc((size_t)nv.n * sizeof *nv.factor);
  nv.gh32 = test_alloc(cells * sizeof *nv.gh32);
  nv.gh16 = test_alloc(cells * sizeof *nv.gh16);
  nv.scale = test_alloc((size_t)nv.n_outputs * sizeof *nv.scale);
  nv.noise = test_alloc((size_t)nv.n_outputs * sizeof *nv.noise);
  nv.wide = test_alloc((size_t)nv.n_outputs * sizeof *nv.wide);
  nv.tree_feats = test_alloc((size_t)nv.n_feats * sizeof *nv.tree_feats);
  double *weight = test_alloc((size_t)nv.n_feats * sizeof *weight);
  for (int32_t f = 0; f < nv.n_feats && spec->feature_weight != NULL; f++)
    weight[f] = spec->feature_weight[nv.cuts->schema->feat[f].col];
  CHECK_OK(gbt_feature_rules_new(&mem, nv.n_feats, NULL, nv.p, spec->feature_weight != NULL ? weight : NULL, NULL, NULL,
                                 0, &nv.rules, test_err));
  free(weight);
  nv.cost = test_alloc((size_t)nv.n_feats * sizeof *nv.cost);
  return nv;
}

void naive_close(naive *nv) {
  for (int32_t s = 0; s <= nv->spec->n_valid; s++) codes_free(nv->code[s], nv->spec->train->cuts);
  free(nv->residual), free(nv->start), free(nv->gh32), free(nv->gh16), free(nv->scale), free(nv->noise);
  free(nv->wide), free(nv->tree_feats), free(nv->factor), free(nv->cost);
  gbt_feature_rules_free(nv->rules);
}

void naive_train(const gbt_trainer_spec *spec, int64_t n_rounds, naive_custom custom, gbt_forest *forest,
                 double *const *scores) {
  if (spec->params.boosting == GBT_BOOSTING_ORDERED) {
    naive_train_ordered(spec, n_rounds, forest, scores);
    return;
  }
  naive nv = naive_open(spec, scores);
  uint64_t per_round = (uint64_t)(spec->objective.n_outputs * spec->params.num_parallel_tree);
  if (spec->init)
    CHECK_OK(gbt_forest_append(forest, spec->init, test_err));
  else if (spec->base)
    memcpy(forest->base, spec->base, (size_t)spec->objective.n_outputs * sizeof *spec->base);
  else if (!spec->init_score)
    naive_base_scores(spec, forest->base);
  for (int32_t s = 0; s <= spec->n_valid; s++) naive_start_scores(&nv, s, forest->base);
  naive_shared *shared = naive_shared_new(spec);
  for (int64_t i = 0; i < n_rounds; i++) {
    if (i == 0) nv.eta = spec->init_eta > 0.0 ? spec->init_eta : naive_eta_of(spec, forest->n_trees / per_round);
    nv.size_reg = naive_size_reg(nv.p, nv.eta, forest, nv.n_outputs);
    naive_handicaps(&nv, forest);
    naive_gradients(&nv, forest->n_trees / per_round, custom);
    grow_round(&nv, shared, forest);
  }
  naive_shared_free(shared);
  naive_close(&nv);
}
