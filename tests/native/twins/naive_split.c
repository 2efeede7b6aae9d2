#include "naive_impl.h"

/* One feature of one node. */
typedef struct view {
  const naive *nv;
  const naive_node *node;
  int32_t feat, n_bins;
  gbt_sum *sum;   /* by code, n_bins + 1 */
  int64_t *count; /* the same */
  int missing;    /* the node has missing values here */
  int32_t *order; /* set splits: levels by mean gradient */
  int32_t n_order;
} view;

static gbt_sum row_sum(const naive *nv, int64_t row) {
  size_t at = (size_t)(nv->output * nv->n + row);
  gbt_sum s = {nv->gh16[at].g, nv->gh16[at].h};
  gbt_sum wide = {nv->gh32[at].g, nv->gh32[at].h};
  return nv->wide[nv->output] ? wide : s;
}

static void add(gbt_sum *s, gbt_sum more) {
  s->g += more.g;
  s->h += more.h;
}

gbt_sum naive_sum(const naive *nv, const int64_t *rows, int64_t n) {
  gbt_sum s = {0, 0};
  for (int64_t i = 0; i < n; i++) add(&s, row_sum(nv, rows[i]));
  return s;
}

/* Factors above max_cat_onehot are split by sets of levels. */
static int by_sets(const naive *nv, int32_t feat) {
  return nv->cuts->schema->feat[feat].type == GBT_CATEGORICAL && nv->cuts->feat[feat].n_bins > nv->p->max_cat_onehot;
}

static view look(const naive *nv, const naive_node *node, int32_t feat) {
  view v = {.nv = nv, .node = node, .feat = feat, .n_bins = nv->cuts->feat[feat].n_bins};
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
  int counted = nv->p->min_data_in_leaf > 1 || by_sets(nv, feat);
  v.missing = v.sum[v.n_bins].g != 0 || v.sum[v.n_bins].h != 0 || (counted && v.count[v.n_bins] > 0);
  return v;
}

static void unlook(view *v) {
  free(v->sum);
  free(v->count);
  free(v->order);
}

/* Whether a code goes left, by the meaning of the kinds. */
static int left_by(const view *v, const gbt_split *s, int32_t code) {
  if (code == v->n_bins) return s->missing_left;
  if (s->kind == GBT_SPLIT_NUMERIC) return code <= s->bin;
  if (s->kind == GBT_SPLIT_ONEHOT) return code == s->bin;
  for (int32_t k = 0; k < s->bin; k++)
    if (v->order[s->from_top ? v->n_order - 1 - k : k] == code) return 1;
  return 0;
}

static double node_score(const naive *nv, const naive_node *node) {
  double G = (double)node->sum.g * nv->unit.g, H = (double)node->sum.h * nv->unit.h;
  if (nv->spec->monotone == NULL && nv->p->max_delta_step == 0.0) return gbt_score(G, H, nv->reg.lambda, nv->reg.alpha);
  return gbt_score_at(G, H, gbt_weight(G, H, nv->reg, node->bounds), nv->reg);
}

/* Gain of a split, or -1 when a child is too light or the wrong way round. */
static double gain_of(const view *v, const gbt_split *s, gbt_reg reg) {
  const naive *nv = v->nv;
  const gbt_params *p = nv->p;
  double G = (double)v->node->sum.g * nv->unit.g, H = (double)v->node->sum.h * nv->unit.h;
  double gl = (double)s->left.g * nv->unit.g, hl = (double)s->left.h * nv->unit.h, gr = G - gl, hr = H - hl;
  if (hl <= 0.0 || hr <= 0.0 || hl < p->min_child_weight || hr < p->min_child_weight) return -1.0;
  if (nv->spec->monotone == NULL && p->max_delta_step == 0.0)
    return (gbt_score(gl, hl, reg.lambda, reg.alpha) + gbt_score(gr, hr, reg.lambda, reg.alpha)) -
           node_score(nv, v->node);
  gbt_bounds b = v->node->bounds;
  double wl = gbt_weight(gl, hl, reg, b), wr = gbt_weight(gr, hr, reg, b);
  int sign = naive_sign(nv, v->feat);
  if (sign * wl > sign * wr) return -1.0;
  return (gbt_score_at(gl, hl, wl, reg) + gbt_score_at(gr, hr, wr, reg)) - node_score(nv, v->node);
}

/* Larger gain, then lower feature, lower bin, bottom before top, missing right before left. */
static int better(const gbt_split *a, const gbt_split *b) {
  if (b->kind == GBT_SPLIT_NONE || a->gain > b->gain) return 1;
  if (a->gain < b->gain) return 0;
  int32_t x[4] = {a->feat, a->bin, a->from_top, a->missing_left},
          y[4] = {b->feat, b->bin, b->from_top, b->missing_left};
  for (int i = 0; i < 4; i++)
    if (x[i] != y[i]) return x[i] < y[i];
  return 0;
}

/* Where a feature is with its best split, in a node that scored so much before; see tree/contest.h. of:
 * what tells the node apart. */
static double counts(const naive *nv, const gbt_split *s) { return s->gain - nv->cost[s->feat]; }

/* Of the noise of this round. */
static double spread_of(const naive *nv) {
  double left = (double)nv->n * gbt_exp(-nv->eta * (double)nv->round);
  return nv->p->random_strength * (left / (1.0 + left)) * gbt_sqrt(nv->noise_of_gains);
}

static double standing(const naive *nv, const gbt_split *s, uint64_t of, double before) {
  if (nv->p->random_strength == 0.0) return counts(nv, s);
  double score = before + counts(nv, s), spread = spread_of(nv);
  uint32_t hash = gbt_hash32(gbt_key((uint64_t)nv->p->seed, 9, nv->tree, of), (uint64_t)s->feat);
  double chance = ((double)hash + 0.5) / 4294967296.0;
  double deviate = chance < 0.5 ? -gbt_normal_above(chance) : gbt_normal_above(1.0 - chance);
  return (score > 0.0 ? gbt_sqrt(score) : 0.0) + spread * deviate;
}

/* The better of two features' best splits. */
static void compete(const naive *nv, const gbt_split *own, uint64_t of, double before, double least, gbt_split *best) {
  if (own->kind == GBT_SPLIT_NONE || counts(nv, own) <= least) return;
  if (best->kind != GBT_SPLIT_NONE) {
    double x = standing(nv, own, of, before), y = standing(nv, best, of, before);
    if (x < y || (x == y && own->feat > best->feat)) return;
  }
  *best = *own;
}

/* Tries a split with missing values right and, when there are some, left. left, rows: of the levels or bins on the
 * left, missing ones apart. fine: taken off the gain. */
static void try_split(const view *v, gbt_split s, gbt_sum left, int64_t rows, gbt_reg reg, int64_t least, double fine,
                      gbt_split *best) {
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
    s.gain = gain_of(v, &s, reg) - fine;
    if (s.gain > noise && s.gain > nv->p->gamma && better(&s, best)) *best = s;
  }
}

static uint64_t identity(const naive_node *node) {
  return gbt_mix64(gbt_mix64((uint64_t)node->sum.g + (uint64_t)node->depth) ^ (uint64_t)node->sum.h);
}

/* One of n numbers by chance, as tree/random_cut.h has it. of: what tells the node or layer apart. */
static int32_t one_of(const naive *nv, uint64_t of, int32_t feat, int32_t n) {
  uint64_t hash = gbt_hash32(gbt_key((uint64_t)nv->p->seed, 10, nv->tree, of), (uint64_t)feat);
  return (int32_t)(hash * (uint64_t)n / 4294967296u);
}

/* Extra trees: the one bin that is tried, or -1 where there is none. */
static int32_t random_bin(const view *v, gbt_split_kind kind) {
  const naive *nv = v->nv;
  int32_t low = v->n_bins, high = -1;
  if (kind == GBT_SPLIT_ONEHOT) return one_of(nv, identity(v->node), v->feat, v->n_bins);
  for (int32_t b = 0; b < v->n_bins; b++) {
    if (v->sum[b].g == 0 && v->sum[b].h == 0 && (v->count[b] == 0 || nv->p->min_data_in_leaf == 1)) continue;
    if (high < 0) low = b;
    high = b;
  }
  int32_t n = high - low + v->missing;
  return high >= 0 && n > 0 ? low + one_of(nv, identity(v->node), v->feat, n) : -1;
}

static void search_bins(const view *v, gbt_split_kind kind, gbt_split *best) {
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

/* Levels with enough rows in ascending order of a number, then by their own. */
static void order_by(view *v, const double *mean) {
  const naive *nv = v->nv;
  for (int32_t c = 0; c < v->n_bins; c++) {
    if (v->count[c] == 0 || (double)v->count[c] < nv->p->cat_smooth) continue;
    int32_t at = v->n_order++;
    for (; at > 0 && mean[v->order[at - 1]] > mean[c]; at--) v->order[at] = v->order[at - 1];
    v->order[at] = c;
  }
}

/* By sum of gradients / (sum of hessians + cat_smooth). */
static void order_levels(view *v) {
  const naive *nv = v->nv;
  double *mean = test_alloc(((size_t)v->n_bins + 1) * sizeof *mean);
  for (int32_t c = 0; c < v->n_bins; c++) {
    double h = (double)v->sum[c].h * nv->unit.h + nv->p->cat_smooth;
    mean[c] = h > 0.0 ? (double)v->sum[c].g * nv->unit.g / h : 0.0;
  }
  order_by(v, mean);
  free(mean);
}

static void search_sets(view *v, gbt_split *best) {
  const gbt_params *p = v->nv->p;
  int64_t quarter = v->node->n_rows / 4, least = p->min_data_per_group;
  gbt_reg reg = v->nv->reg;
  if (least > quarter) least = quarter;
  if (least < p->min_data_in_leaf) least = p->min_data_in_leaf;
  reg.lambda += p->cat_l2;
  order_levels(v);
  int32_t most = (v->n_order + 1) / 2;
  if (most > p->max_cat_threshold) most = (int32_t)p->max_cat_threshold;
  int32_t drawn = p->extra_trees ? one_of(v->nv, identity(v->node), v->feat, 2 * most) : 0;
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

/* A node may use what any group allows that holds all features used above; those themselves; at the root all. */
static int may_meet(const naive *nv, const naive_node *node, int32_t feat) {
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

/* Which way every code of the node's split goes. order: the view that has levels in order. */
static void settle(const naive *nv, naive_node *node, const view *order) {
  node->goes = test_alloc((size_t)nv->cuts->feat[node->split.feat].n_bins + 1);
  for (int32_t c = 0; c <= order->n_bins; c++) node->goes[c] = (uint8_t)left_by(order, &node->split, c);
}

void naive_search(const naive *nv, int32_t id) {
  naive_node *node = &nv->node[id];
  size_t room = (size_t)nv->n_feats;
  int32_t *feats = test_alloc(room * sizeof *feats), *all = test_alloc(room * sizeof *all), n_all = 0;
  uint64_t *scratch = test_alloc(room * sizeof *scratch);
  int32_t n = gbt_features_of_layer(nv->rules, nv->tree, node->depth, nv->tree_feats, nv->n_tree_feats, feats, scratch);
  for (int32_t i = 0; i < n; i++)
    if (may_meet(nv, node, feats[i])) all[n_all++] = feats[i];
  n = gbt_features_of_node(nv->rules, nv->tree, id, all, n_all, feats, scratch);
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  for (int32_t i = n; i-- > 0;) { /* backwards: the order of search must not matter */
    view v = look(nv, node, feats[i]);
    gbt_split own = {.kind = GBT_SPLIT_NONE};
    if (by_sets(nv, feats[i]))
      search_sets(&v, &own);
    else
      search_bins(&v, nv->cuts->schema->feat[feats[i]].type == GBT_CATEGORICAL ? GBT_SPLIT_ONEHOT : GBT_SPLIT_NUMERIC,
                  &own);
    double floor = gbt_noise_floor(nv->unit, node->n_rows, (double)node->sum.h * nv->unit.h);
    compete(nv, &own, identity(node), node_score(nv, node), fmax(floor, nv->p->gamma), &best);
    unlook(&v);
  }
  node->split = best;
  if (best.kind != GBT_SPLIT_NONE) {
    if (!best.has_missing) node->split.missing_left = 2 * best.left.h >= node->sum.h;
    view v = look(nv, node, best.feat);
    if (best.kind == GBT_SPLIT_SET) order_levels(&v);
    settle(nv, node, &v);
    unlook(&v);
  }
  free(feats);
  free(all);
  free(scratch);
}

/* ---- whole layers ---- */

/* One feature of all nodes of a tree's layer that could be split. */
typedef struct layer_view {
  naive *nv;
  view *v, all;  /* all: of all rows */
  int32_t *node; /* n */
  int32_t n;
  gbt_sum *left; /* of the levels or bins on the left, missing ones apart */
  int64_t *rows;
} layer_view;

/* The same of all trees of a team. */
typedef struct team_view {
  const naive_team *team;
  layer_view *of;
  int32_t missing, depth;
} team_view;

static layer_view look_at_layer(naive *nv, int32_t first, int32_t feat) {
  layer_view l = {.nv = nv, .all = look(nv, &nv->node[0], feat)};
  size_t room = (size_t)(nv->n_nodes - first);
  l.v = test_alloc(room * sizeof *l.v);
  l.node = test_alloc(room * sizeof *l.node);
  l.left = test_alloc(room * sizeof *l.left);
  l.rows = test_alloc(room * sizeof *l.rows);
  for (int32_t i = first; i < nv->n_nodes; i++) {
    if (!naive_could_split(nv, &nv->node[i])) continue;
    l.v[l.n] = look(nv, &nv->node[i], feat);
    l.node[l.n++] = i;
  }
  return l;
}

/* The order of levels of a team: by what the gradients of outputs, those whose root may be split, are along the
 * direction. */
static void order_together(team_view *t) {
  const naive_team *team = t->team;
  const int32_t n_bins = t->of[0].all.n_bins;
  double *mean = test_alloc(((size_t)n_bins + 1) * sizeof *mean);
  for (int32_t c = 0; c < n_bins; c++) {
    double g = 0.0, h = 0.0;
    for (int32_t k = 0; k < team->n; k++) {
      const naive *nv = t->of[k].nv;
      if (!naive_could_split(nv, &nv->node[0])) continue;
      g += team->direction[k] * ((double)t->of[k].all.sum[c].g * nv->unit.g);
      h += (double)t->of[k].all.sum[c].h * nv->unit.h;
    }
    const double down = h / team->n + t->of[0].nv->p->cat_smooth;
    mean[c] = down > 0.0 ? g / down : 0.0;
  }
  for (int32_t k = 0; k < team->n; k++) order_by(&t->of[k].all, mean);
  free(mean);
}

static team_view look_at_team(const naive_team *team, int32_t first, int32_t feat) {
  team_view t = {.team = team, .depth = team->tree[0].node[first].depth};
  t.of = test_alloc((size_t)team->n * sizeof *t.of);
  for (int32_t k = 0; k < team->n; k++) {
    t.of[k] = look_at_layer(&team->tree[k], first, feat);
    for (int32_t i = 0; i < t.of[k].n; i++) t.missing |= t.of[k].v[i].missing;
  }
  if (team->direction == NULL)
    order_levels(&t.of[0].all);
  else
    order_together(&t);
  return t;
}

static void unlook_at_team(team_view *t) {
  for (int32_t k = 0; k < t->team->n; k++) {
    layer_view *l = &t->of[k];
    for (int32_t i = 0; i < l->n; i++) unlook(&l->v[i]);
    unlook(&l->all);
    free(l->v), free(l->node), free(l->left), free(l->rows);
  }
  free(t->of);
}

static void clear_left(team_view *t) {
  for (int32_t k = 0; k < t->team->n; k++) {
    memset(t->of[k].left, 0, (size_t)t->of[k].n * sizeof *t->of[k].left);
    memset(t->of[k].rows, 0, (size_t)t->of[k].n * sizeof *t->of[k].rows);
  }
}

static void move_left(team_view *t, int32_t code) {
  for (int32_t k = 0; k < t->team->n; k++)
    for (int32_t i = 0; i < t->of[k].n; i++) {
      add(&t->of[k].left[i], t->of[k].v[i].sum[code]);
      t->of[k].rows[i] += t->of[k].v[i].count[code];
    }
}

static gbt_reg reg_of(const naive *nv, int32_t kind) {
  gbt_reg reg = nv->reg;
  if (kind == GBT_SPLIT_SET) reg.lambda += nv->p->cat_l2;
  return reg;
}

/* What the i-th node gains by s; 0 where it would not be split that way on its own. left: to be the left sum. */
static double own_gain(const layer_view *l, int32_t i, gbt_split s, gbt_sum *left) {
  const naive *nv = l->nv;
  const view *v = &l->v[i];
  int64_t rows = l->rows[i];
  s.left = l->left[i];
  if (s.missing_left) {
    add(&s.left, v->sum[v->n_bins]);
    rows += v->count[v->n_bins];
  }
  *left = s.left;
  if (rows < nv->p->min_data_in_leaf || v->node->n_rows - rows < nv->p->min_data_in_leaf) return 0.0;
  double gain = gain_of(v, &s, reg_of(nv, s.kind));
  return gain > gbt_noise_floor(nv->unit, v->node->n_rows, (double)v->node->sum.h * nv->unit.h) ? gain : 0.0;
}

/* Where a candidate of a layer is, with noise of its own; see tree/contest.h. */
static double layer_standing(const naive *nv, const gbt_split *s, int32_t depth) {
  double score = nv->scored + counts(nv, s), spread = spread_of(nv);
  uint64_t number = (uint64_t)s->feat * 4294967296u + (uint64_t)s->missing_left * 2147483648u +
                    (uint64_t)s->from_top * 1073741824u + (uint64_t)s->bin;
  uint32_t hash = gbt_hash32(gbt_key((uint64_t)nv->p->seed, 9, nv->tree, (uint64_t)depth), number), sum = 1;
  for (; hash > 0; hash /= 256) sum += hash % 256;
  return (score > 0.0 ? gbt_sqrt(score) : 0.0) + spread * ((double)sum * 0.0067659159);
}

/* The better of two candidates of a layer, be they of one feature or of two. */
static int layer_better(const naive *nv, const gbt_split *a, const gbt_split *b, int32_t depth) {
  if (nv->p->random_strength == 0.0 || b->kind == GBT_SPLIT_NONE) return better(a, b);
  double x = layer_standing(nv, a, depth), y = layer_standing(nv, b, depth);
  gbt_split alike = *b;
  alike.gain = a->gain;
  return x > y || (x == y && better(a, &alike));
}

static void try_layer(const team_view *t, gbt_split s, double fine, gbt_split *best) {
  const naive *nv = t->of[0].nv;
  gbt_sum left;
  double all = 0.0;
  for (int32_t k = 0; k < t->team->n; k++) {
    double sum = 0.0;
    for (int32_t i = 0; i < t->of[k].n; i++) sum += own_gain(&t->of[k], i, s, &left);
    all += t->team->weight[k] * sum;
  }
  s.gain = all - fine;
  s.feat = t->of[0].all.feat;
  s.has_missing = (int8_t)t->missing;
  if (!(s.gain > 0.0 && s.gain > nv->p->gamma)) return;
  if (nv->p->random_strength > 0.0 && counts(nv, &s) <= nv->p->gamma) return; /* so it is above 0 */
  if (layer_better(nv, &s, best, t->depth)) *best = s;
}

static void search_layer_bins(team_view *t, gbt_split_kind kind, uint64_t of, gbt_split *best) {
  const view *all = &t->of[0].all;
  const naive *nv = t->of[0].nv;
  int32_t n = kind == GBT_SPLIT_ONEHOT ? all->n_bins : all->n_bins - 1 + t->missing;
  int32_t only = nv->p->extra_trees ? one_of(nv, of, all->feat, n) : -1;
  clear_left(t);
  for (int32_t b = 0; b < all->n_bins; b++) {
    gbt_split s = {.kind = (int32_t)kind, .bin = b};
    if (kind == GBT_SPLIT_ONEHOT) clear_left(t);
    move_left(t, b);
    if (only >= 0 && b != only) continue;
    for (; s.missing_left <= t->missing; s.missing_left++) try_layer(t, s, 0.0, best);
  }
}

/* Candidates are those of all rows of the tree. */
static void search_layer_sets(team_view *t, uint64_t of, gbt_split *best) {
  const naive *nv = t->of[0].nv;
  const gbt_params *p = nv->p;
  const view *all = &t->of[0].all;
  int64_t n = all->node->n_rows, least = p->min_data_per_group;
  if (least > n / 4) least = n / 4;
  if (least < p->min_data_in_leaf) least = p->min_data_in_leaf;
  int32_t most = (all->n_order + 1) / 2;
  if (most > p->max_cat_threshold) most = (int32_t)p->max_cat_threshold;
  int32_t drawn = p->extra_trees ? one_of(nv, of, all->feat, 2 * most) : 0;
  for (int top = 0; top <= 1; top++) {
    int64_t rows = 0, since = 0;
    int done = p->extra_trees && top != (drawn >= most);
    clear_left(t);
    for (int32_t size = 1; size <= most && !done; size++) {
      int32_t level = all->order[top ? all->n_order - size : size - 1];
      gbt_split s = {.kind = GBT_SPLIT_SET, .bin = size, .from_top = (int8_t)top};
      move_left(t, level);
      rows += all->count[level];
      since += all->count[level];
      if (since < least) continue;
      since = 0;
      if (p->extra_trees && size - 1 < drawn % most) continue;
      double fine = p->cat_noise * (nv->noise_of_gains / t->team->n) * gbt_set_noise(size, all->n_order);
      for (int64_t missing = 0; missing < 2 && p->extra_trees; missing++) { /* a candidate one way round at least */
        int64_t on_left = rows + missing * all->count[all->n_bins];
        done |= on_left >= least && n - on_left >= least;
      }
      for (; s.missing_left <= t->missing; s.missing_left++) {
        int64_t on_left = rows + (s.missing_left ? all->count[all->n_bins] : 0);
        if (on_left >= least && n - on_left >= least) try_layer(t, s, fine, best);
      }
    }
  }
}

/* The layer's split into its nodes: gains that add up to the layer's, who is kept, where unseen missing values go. */
static void split_layer(naive_team *team, int32_t first, const gbt_split *best) {
  team_view t = look_at_team(team, first, best->feat);
  gbt_sum left = {0, 0}, all = {0, 0};
  double gain = 0.0, left_h = 0.0, all_h = 0.0; /* of several trees: real numbers, as their units differ */
  clear_left(&t);
  for (int32_t c = 0; c < t.of[0].all.n_bins; c++)
    if (left_by(&t.of[0].all, best, c)) move_left(&t, c);
  for (int32_t k = 0; k < team->n; k++) {
    layer_view *l = &t.of[k];
    naive *nv = l->nv;
    double sum = 0.0;
    for (int32_t i = first; i < nv->n_nodes; i++) {
      nv->node[i].split = *best;
      nv->node[i].split.gain = 0.0;
    }
    for (int32_t i = 0; i < l->n; i++) {
      gbt_split *s = &nv->node[l->node[i]].split;
      s->gain = own_gain(l, i, *best, &s->left);
      sum += s->gain;
      add(&left, s->left);
      add(&all, l->v[i].node->sum);
      left_h += (double)s->left.h * nv->unit.h;
      all_h += (double)l->v[i].node->sum.h * nv->unit.h;
    }
    gain += team->weight[k] * sum;
  }
  const int heavy = team->n == 1 ? 2 * left.h >= all.h : left_h >= all_h - left_h;
  for (int32_t k = 0; k < team->n; k++) {
    naive *nv = t.of[k].nv;
    for (int32_t i = first; i < nv->n_nodes; i++) {
      naive_node *node = &nv->node[i];
      node->kept = node->split.gain == 0.0;
      if (best->kind == GBT_SPLIT_SET) node->split.gain *= best->gain / gain;
      if (!t.missing) node->split.missing_left = (int8_t)heavy;
      settle(nv, node, &t.of[k].all);
    }
  }
  unlook_at_team(&t);
}

double naive_own_gain(const naive *nv, const naive_node *node, gbt_sum *left) {
  gbt_split s = node->split;
  view v = {.nv = nv, .node = node, .feat = s.feat};
  int64_t n_left = 0;
  s.left = (gbt_sum){0, 0};
  for (int64_t i = 0; i < node->n_rows; i++) {
    if (!node->goes[nv->code[0][s.feat][node->rows[i]]]) continue;
    add(&s.left, row_sum(nv, node->rows[i]));
    n_left++;
  }
  *left = s.left;
  if (n_left < nv->p->min_data_in_leaf || node->n_rows - n_left < nv->p->min_data_in_leaf) return 0.0;
  double gain = gain_of(&v, &s, nv->reg);
  double floor = gbt_noise_floor(nv->unit, node->n_rows, (double)node->sum.h * nv->unit.h);
  return gain > floor ? gain : 0.0;
}

int naive_search_layer(naive_team *team, int32_t first) {
  naive *nv = &team->tree[0];
  const naive_node *node = &nv->node[first];
  size_t room = (size_t)nv->n_feats;
  int32_t *feats = test_alloc(room * sizeof *feats);
  uint64_t *scratch = test_alloc(room * sizeof *scratch);
  int32_t n = gbt_features_of_layer(nv->rules, nv->tree, node->depth, nv->tree_feats, nv->n_tree_feats, feats, scratch);
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  if (first == 0) nv->scored = 0.0;
  for (int32_t k = 0; k < team->n && first == 0; k++)
    nv->scored += team->weight[k] * node_score(&team->tree[k], &team->tree[k].node[0]);
  for (int32_t k = n; k-- > 0;) { /* backwards: the order of search must not matter */
    if (!may_meet(nv, node, feats[k])) continue;
    team_view t = look_at_team(team, first, feats[k]);
    int categorical = nv->cuts->schema->feat[feats[k]].type == GBT_CATEGORICAL;
    gbt_split own = {.kind = GBT_SPLIT_NONE};
    if (by_sets(nv, feats[k]))
      search_layer_sets(&t, (uint64_t)node->depth, &own);
    else
      search_layer_bins(&t, categorical ? GBT_SPLIT_ONEHOT : GBT_SPLIT_NUMERIC, (uint64_t)node->depth, &own);
    if (nv->p->random_strength > 0.0) {
      if (own.kind != GBT_SPLIT_NONE && layer_better(nv, &own, &best, node->depth)) best = own;
    } else {
      compete(nv, &own, (uint64_t)node->depth, nv->scored, nv->p->gamma, &best);
    }
    unlook_at_team(&t);
  }
  if (best.kind != GBT_SPLIT_NONE) nv->scored += best.gain;
  free(feats);
  free(scratch);
  if (best.kind != GBT_SPLIT_NONE) split_layer(team, first, &best);
  return best.kind != GBT_SPLIT_NONE;
}
