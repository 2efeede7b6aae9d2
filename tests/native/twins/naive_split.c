/* The views of features, how candidates compare, and the split of a single node. */
#include "naive_view.h"

static gbt_sum row_sum(const naive *nv, int64_t row) {
  size_t at = (size_t)(nv->output * nv->n + row);
  gbt_sum s = {nv->gh16[at].g, nv->gh16[at].h};
  gbt_sum wide = {nv->gh32[at].g, nv->gh32[at].h};
  return nv->wide[nv->output] ? wide : s;
}

gbt_sum naive_sum(const naive *nv, const int64_t *rows, int64_t n) {
  gbt_sum s = {0, 0};
  for (int64_t i = 0; i < n; i++) add(&s, row_sum(nv, rows[i]));
  return s;
}

int naive_by_sets(const naive *nv, int32_t feat) {
  return nv->cuts->schema->feat[feat].type == GBT_CATEGORICAL && nv->cuts->feat[feat].n_bins > nv->p->max_cat_onehot;
}

naive_view naive_look(const naive *nv, const naive_node *node, int32_t feat) {
  naive_view v = {.nv = nv, .node = node, .feat = feat, .n_bins = nv->cuts->feat[feat].n_bins};
  size_t n_codes = (size_t)v.n_bins + 1;
  v.sum = test_alloc(n_codes * sizeof *v.sum);
  v.count = test_alloc(n_codes * sizeof *v.count);
  v.order = test_alloc(n_codes * sizeof *v.order);
  memset(v.sum, 0, n_codes * sizeof *v.sum);
  memset(v.count, 0, n_codes * sizeof *v.count);
  for (int64_t i = 0; i < node->n_rows; i++) {
    int32_t code = nv->code[0][feat][node->rows[i]];
    add(&v.sum[code], row_sum(nv, node->rows[i]));
    v.count[code]++;
  }
  /* Rows that count for nothing are seen only where rows are counted. */
  int counted = nv->p->min_data_in_leaf > 1 || naive_by_sets(nv, feat);
  v.missing = v.sum[v.n_bins].g != 0 || v.sum[v.n_bins].h != 0 || (counted && v.count[v.n_bins] > 0);
  return v;
}

void naive_unlook(naive_view *v) {
  free(v->sum);
  free(v->count);
  free(v->order);
}

int naive_left_by(const naive_view *v, const gbt_split *s, int32_t code) {
  if (code == v->n_bins) return s->missing_left;
  if (s->kind == GBT_SPLIT_NUMERIC) return code <= s->bin;
  if (s->kind == GBT_SPLIT_ONEHOT) return code == s->bin;
  for (int32_t k = 0; k < s->bin; k++)
    if (v->order[s->from_top ? v->n_order - 1 - k : k] == code) return 1;
  return 0;
}

double naive_node_score(const naive *nv, const naive_node *node) {
  double G = (double)node->sum.g * nv->unit.g, H = (double)node->sum.h * nv->unit.h;
  if (nv->spec->monotone == NULL && nv->p->max_delta_step == 0.0) return gbt_score(G, H, nv->reg.lambda, nv->reg.alpha);
  return gbt_score_at(G, H, gbt_weight(G, H, nv->reg, node->bounds), nv->reg);
}

double naive_gain_of(const naive_view *v, const gbt_split *s, gbt_reg reg) {
  const naive *nv = v->nv;
  const gbt_params *p = nv->p;
  double G = (double)v->node->sum.g * nv->unit.g, H = (double)v->node->sum.h * nv->unit.h;
  double gl = (double)s->left.g * nv->unit.g, hl = (double)s->left.h * nv->unit.h, gr = G - gl, hr = H - hl;
  if (hl <= 0.0 || hr <= 0.0 || hl < p->min_child_weight || hr < p->min_child_weight) return -1.0;
  if (nv->spec->monotone == NULL && p->max_delta_step == 0.0)
    return (gbt_score(gl, hl, reg.lambda, reg.alpha) + gbt_score(gr, hr, reg.lambda, reg.alpha)) -
           naive_node_score(nv, v->node);
  gbt_bounds b = v->node->bounds;
  double wl = gbt_weight(gl, hl, reg, b), wr = gbt_weight(gr, hr, reg, b);
  int sign = naive_sign(nv, v->feat);
  if (sign * wl > sign * wr) return -1.0;
  return (gbt_score_at(gl, hl, wl, reg) + gbt_score_at(gr, hr, wr, reg)) - naive_node_score(nv, v->node);
}

int naive_better(const gbt_split *a, const gbt_split *b) {
  if (b->kind == GBT_SPLIT_NONE || a->gain > b->gain) return 1;
  if (a->gain < b->gain) return 0;
  int32_t x[4] = {a->feat, a->bin, a->from_top, a->missing_left},
          y[4] = {b->feat, b->bin, b->from_top, b->missing_left};
  for (int i = 0; i < 4; i++)
    if (x[i] != y[i]) return x[i] < y[i];
  return 0;
}

double naive_counts(const naive *nv, const gbt_split *s) { return s->gain - nv->cost[s->feat]; }

double naive_spread_of(const naive *nv) {
  double left = (double)nv->n * gbt_exp(-nv->eta * (double)nv->round);
  return nv->p->random_strength * (left / (1.0 + left)) * gbt_sqrt(nv->noise_of_gains);
}

/* Where a feature is with its best split, in a node that scored so much before; see tree/contest.h. of: what tells the
 * node apart. */
static double standing(const naive *nv, const gbt_split *s, uint64_t of, double before) {
  if (nv->p->random_strength == 0.0) return naive_counts(nv, s);
  double score = before + naive_counts(nv, s), spread = naive_spread_of(nv);
  uint32_t hash = gbt_hash32(gbt_key((uint64_t)nv->p->seed, 9, nv->tree, of), (uint64_t)s->feat);
  double chance = ((double)hash + 0.5) / 4294967296.0;
  double deviate = chance < 0.5 ? -gbt_normal_above(chance) : gbt_normal_above(1.0 - chance);
  return (score > 0.0 ? gbt_sqrt(score) : 0.0) + spread * deviate;
}

void naive_compete(const naive *nv, const gbt_split *own, uint64_t of, double before, double least, gbt_split *best) {
  if (own->kind == GBT_SPLIT_NONE || naive_counts(nv, own) <= least) return;
  if (best->kind != GBT_SPLIT_NONE) {
    double x = standing(nv, own, of, before), y = standing(nv, best, of, before);
    if (x < y || (x == y && own->feat > best->feat)) return;
  }
  *best = *own;
}

/* Tries a split with missing values right and, when there are some, left. left, rows: of the levels or bins on the
 * left, missing ones apart. fine: taken off the gain. */
static void try_split(const naive_view *v, gbt_split s, gbt_sum left, int64_t rows, gbt_reg reg, int64_t least,
                      double fine, gbt_split *best) {
  const naive *nv = v->nv;
  double noise = gbt_noise_floor(nv->unit, v->node->n_rows, (double)v->node->sum.h * nv->unit.h);
  s.feat = v->feat;
  s.has_missing = (int8_t)v->missing;
  s.left = left;
  for (s.missing_left = 0; s.missing_left <= v->missing; s.missing_left++) {
    if (s.missing_left) {
      add(&s.left, v->sum[v->n_bins]);
      rows += v->count[v->n_bins];
    }
    if (rows < least || v->node->n_rows - rows < least) continue;
    s.gain = naive_gain_of(v, &s, reg) - fine;
    if (s.gain > noise && s.gain > nv->p->gamma && naive_better(&s, best)) *best = s;
  }
}

uint64_t naive_identity(const naive_node *node) {
  return gbt_mix64(gbt_mix64((uint64_t)node->sum.g + (uint64_t)node->depth) ^ (uint64_t)node->sum.h);
}

int32_t naive_one_of(const naive *nv, uint64_t of, int32_t feat, int32_t n) {
  uint64_t hash = gbt_hash32(gbt_key((uint64_t)nv->p->seed, 10, nv->tree, of), (uint64_t)feat);
  return (int32_t)(hash * (uint64_t)n / 4294967296u);
}

/* Extra trees: the one bin that is tried, or -1 where there is none. */
static int32_t random_bin(const naive_view *v, gbt_split_kind kind) {
  const naive *nv = v->nv;
  int32_t low = v->n_bins, high = -1;
  if (kind == GBT_SPLIT_ONEHOT) return naive_one_of(nv, naive_identity(v->node), v->feat, v->n_bins);
  for (int32_t b = 0; b < v->n_bins; b++) {
    if (v->sum[b].g == 0 && v->sum[b].h == 0 && (v->count[b] == 0 || nv->p->min_data_in_leaf == 1)) continue;
    if (high < 0) low = b;
    high = b;
  }
  int32_t n = high - low + v->missing;
  return high >= 0 && n > 0 ? low + naive_one_of(nv, naive_identity(v->node), v->feat, n) : -1;
}

static void search_bins(const naive_view *v, gbt_split_kind kind, gbt_split *best) {
  gbt_sum left = {0, 0}, none = {0, 0};
  int64_t rows = 0;
  int32_t only = v->nv->p->extra_trees ? random_bin(v, kind) : 0;
  for (int32_t b = 0; b < v->n_bins; b++) {
    gbt_split s = {.kind = (int32_t)kind, .bin = b};
    if (kind == GBT_SPLIT_ONEHOT) left = none, rows = 0;
    add(&left, v->sum[b]);
    rows += v->count[b];
    if (v->nv->p->extra_trees && b != only) continue;
    try_split(v, s, left, rows, v->nv->reg, v->nv->p->min_data_in_leaf, 0.0, best);
  }
}

void naive_order_by(naive_view *v, const double *mean) {
  const naive *nv = v->nv;
  for (int32_t c = 0; c < v->n_bins; c++) {
    if (v->count[c] == 0 || (double)v->count[c] < nv->p->cat_smooth) continue;
    int32_t at = v->n_order++;
    for (; at > 0 && mean[v->order[at - 1]] > mean[c]; at--) v->order[at] = v->order[at - 1];
    v->order[at] = c;
  }
}

void naive_order_levels(naive_view *v) {
  const naive *nv = v->nv;
  double *mean = test_alloc(((size_t)v->n_bins + 1) * sizeof *mean);
  for (int32_t c = 0; c < v->n_bins; c++) {
    double h = (double)v->sum[c].h * nv->unit.h + nv->p->cat_smooth;
    mean[c] = h > 0.0 ? (double)v->sum[c].g * nv->unit.g / h : 0.0;
  }
  naive_order_by(v, mean);
  free(mean);
}

static void search_sets(naive_view *v, gbt_split *best) {
  const gbt_params *p = v->nv->p;
  int64_t quarter = v->node->n_rows / 4, least = p->min_data_per_group;
  gbt_reg reg = v->nv->reg;
  if (least > quarter) least = quarter;
  if (least < p->min_data_in_leaf) least = p->min_data_in_leaf;
  reg.lambda += p->cat_l2;
  naive_order_levels(v);
  int32_t most = (v->n_order + 1) / 2;
  if (most > p->max_cat_threshold) most = (int32_t)p->max_cat_threshold;
  int32_t drawn = p->extra_trees ? naive_one_of(v->nv, naive_identity(v->node), v->feat, 2 * most) : 0;
  for (int top = 0; top <= 1; top++) {
    gbt_sum left = {0, 0};
    int64_t rows = 0, since = 0;
    int done = p->extra_trees && top != (drawn >= most);
    for (int32_t size = 1; size <= most && !done; size++) {
      int32_t level = v->order[top ? v->n_order - size : size - 1];
      gbt_split s = {.kind = GBT_SPLIT_SET, .bin = size, .from_top = (int8_t)top};
      add(&left, v->sum[level]);
      rows += v->count[level];
      since += v->count[level];
      if (since < least) continue;
      since = 0;
      if (p->extra_trees && size - 1 < drawn % most) continue;
      done = p->extra_trees != 0;
      double fine = p->cat_noise * v->nv->noise[v->nv->output] * gbt_set_noise(size, v->n_order);
      try_split(v, s, left, rows, reg, least, fine, best);
    }
  }
}

int naive_may_meet(const naive *nv, const naive_node *node, int32_t feat) {
  const gbt_trainer_spec *spec = nv->spec;
  if (spec->n_interact == 0 || node->used[feat] || node->parent < 0) return 1;
  for (int32_t s = 0; s < spec->n_interact; s++) {
    int ok = 1;
    for (int32_t f = 0; f < nv->n_feats; f++) {
      int member = 0, col = nv->cuts->schema->feat[f].col;
      for (int32_t i = spec->interact_beg[s]; i < spec->interact_beg[s + 1]; i++)
        member |= spec->interact_col[i] == col;
      if (!member && (node->used[f] || f == feat)) ok = 0;
    }
    if (ok) return 1;
  }
  return 0;
}

void naive_settle(const naive *nv, naive_node *node, const naive_view *order) {
  node->goes = test_alloc((size_t)nv->cuts->feat[node->split.feat].n_bins + 1);
  for (int32_t c = 0; c <= order->n_bins; c++) node->goes[c] = (uint8_t)naive_left_by(order, &node->split, c);
}

int32_t naive_features(const naive *nv, int32_t id, int32_t *feats) {
  const naive_node *node = &nv->node[id];
  size_t room = (size_t)nv->n_feats;
  int32_t *all = test_alloc(room * sizeof *all), n_all = 0;
  uint64_t *scratch = test_alloc(room * sizeof *scratch);
  int32_t n = gbt_features_of_layer(nv->rules, nv->tree, node->depth, nv->tree_feats, nv->n_tree_feats, feats, scratch);
  for (int32_t i = 0; i < n; i++)
    if (naive_may_meet(nv, node, feats[i])) all[n_all++] = feats[i];
  n = gbt_features_of_node(nv->rules, nv->tree, id, all, n_all, feats, scratch);
  free(all);
  free(scratch);
  return n;
}

void naive_search(const naive *nv, int32_t id) {
  naive_node *node = &nv->node[id];
  int32_t *feats = test_alloc((size_t)nv->n_feats * sizeof *feats), n = naive_features(nv, id, feats);
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  for (int32_t i = n; i-- > 0;) { /* backwards: the order of search must not matter */
    naive_view v = naive_look(nv, node, feats[i]);
    gbt_split own = {.kind = GBT_SPLIT_NONE};
    if (naive_by_sets(nv, feats[i]))
      search_sets(&v, &own);
    else
      search_bins(&v, nv->cuts->schema->feat[feats[i]].type == GBT_CATEGORICAL ? GBT_SPLIT_ONEHOT : GBT_SPLIT_NUMERIC,
                  &own);
    double floor = gbt_noise_floor(nv->unit, node->n_rows, (double)node->sum.h * nv->unit.h);
    naive_compete(nv, &own, naive_identity(node), naive_node_score(nv, node), fmax(floor, nv->p->gamma), &best);
    naive_unlook(&v);
  }
  node->split = best;
  if (best.kind != GBT_SPLIT_NONE) {
    if (!best.has_missing) node->split.missing_left = 2 * best.left.h >= node->sum.h;
    naive_view v = naive_look(nv, node, best.feat);
    if (best.kind == GBT_SPLIT_SET) naive_order_levels(&v);
    naive_settle(nv, node, &v);
    naive_unlook(&v);
  }
  free(feats);
}

double naive_own_gain(const naive *nv, const naive_node *node, gbt_sum *left) {
  gbt_split s = node->split;
  naive_view v = {.nv = nv, .node = node, .feat = s.feat};
  int64_t n_left = 0;
  s.left = (gbt_sum){0, 0};
  for (int64_t i = 0; i < node->n_rows; i++) {
    if (!node->goes[nv->code[0][s.feat][node->rows[i]]]) continue;
    add(&s.left, row_sum(nv, node->rows[i]));
    n_left++;
  }
  *left = s.left;
  if (n_left < nv->p->min_data_in_leaf || node->n_rows - n_left < nv->p->min_data_in_leaf) return 0.0;
  double gain = naive_gain_of(&v, &s, nv->reg);
  double floor = gbt_noise_floor(nv->unit, node->n_rows, (double)node->sum.h * nv->unit.h);
  return gain > floor ? gain : 0.0;
}
