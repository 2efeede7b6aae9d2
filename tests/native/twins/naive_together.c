/* Trees that grow together, node by node: the split of a node, by the sum of what it gains in all trees. */
#include "naive_view.h"

/* A feature of a node in all trees that could be split there. */
typedef struct node_view {
  const naive_team *team;
  naive_view *v;  /* by tree; nv is NULL where it could not */
  gbt_sum *left;  /* the same: of the levels or bins on the left, missing ones apart */
  int64_t rows;   /* the same, of all trees */
  naive_view *any;
  int missing;
  uint64_t identity;
  double before, floor; /* of all trees: the score, the least noise */
} node_view;

static void order_together(node_view *t) {
  const naive_team *team = t->team;
  double *mean = test_alloc(((size_t)t->any->n_bins + 1) * sizeof *mean);
  for (int32_t c = 0; c < t->any->n_bins; c++) {
    double g = 0.0, h = 0.0;
    for (int32_t k = 0; k < team->n; k++) {
      const naive_view *v = &t->v[k];
      if (v->nv == NULL) continue;
      g += team->direction[k] * ((double)v->sum[c].g * v->nv->unit.g);
      h += (double)v->sum[c].h * v->nv->unit.h;
    }
    const double down = h / team->n + team->tree[0].p->cat_smooth;
    mean[c] = down > 0.0 ? g / down : 0.0;
  }
  naive_order_by(t->any, mean);
  free(mean);
}

static double floor_of(const naive_view *v) {
  return gbt_noise_floor(v->nv->unit, v->node->n_rows, (double)v->node->sum.h * v->nv->unit.h);
}

static node_view look_at_node(const naive_team *team, int32_t id, int32_t feat) {
  node_view t = {.team = team, .floor = -1.0};
  t.v = test_alloc((size_t)team->n * sizeof *t.v);
  t.left = test_alloc((size_t)team->n * sizeof *t.left);
  for (int32_t k = 0; k < team->n; k++) {
    const naive *nv = &team->tree[k];
    t.v[k] = (naive_view){.nv = NULL};
    if (!naive_could_split(nv, &nv->node[id])) continue;
    t.v[k] = naive_look(nv, &nv->node[id], feat);
    t.any = &t.v[k];
    t.missing |= t.v[k].missing;
    t.identity += naive_identity(&nv->node[id]);
    t.before += team->weight[k] * naive_node_score(nv, &nv->node[id]);
    const double floor = team->weight[k] * floor_of(&t.v[k]);
    if (t.floor < 0.0 || floor < t.floor) t.floor = floor;
  }
  if (naive_by_sets(team->tree, feat)) order_together(&t);
  return t;
}

static void unlook_at_node(node_view *t) {
  for (int32_t k = 0; k < t->team->n; k++)
    if (t->v[k].nv != NULL) naive_unlook(&t->v[k]);
  free(t->v), free(t->left);
}

static void clear_left(node_view *t) {
  memset(t->left, 0, (size_t)t->team->n * sizeof *t->left);
  t->rows = 0;
}

static void move_left(node_view *t, int32_t code) {
  for (int32_t k = 0; k < t->team->n; k++)
    if (t->v[k].nv != NULL) add(&t->left[k], t->v[k].sum[code]);
  t->rows += t->any->count[code];
}

/* What tree k gains by s; 0 where it would not be split that way on its own. left: to be the left sum. */
static double own_gain(const node_view *t, int32_t k, gbt_split s, gbt_sum *left) {
  const naive_view *v = &t->v[k];
  if (v->nv == NULL) return 0.0;
  gbt_reg reg = v->nv->reg;
  if (s.kind == GBT_SPLIT_SET) reg.lambda += v->nv->p->cat_l2;
  s.left = t->left[k];
  if (s.missing_left) add(&s.left, v->sum[v->n_bins]);
  *left = s.left;
  const double gain = naive_gain_of(v, &s, reg);
  return gain > floor_of(v) ? gain : 0.0;
}

/* With missing values right and, where there are some, left. least: rows of either side. fine: taken off the gain. */
static void try_node(const node_view *t, gbt_split s, int64_t least, double fine, gbt_split *best) {
  const naive_view *any = t->any;
  s.feat = any->feat;
  s.has_missing = (int8_t)t->missing;
  for (s.missing_left = 0; s.missing_left <= t->missing; s.missing_left++) {
    const int64_t rows = t->rows + (s.missing_left ? any->count[any->n_bins] : 0);
    gbt_sum left;
    double sum = 0.0;
    if (rows < least || any->node->n_rows - rows < least) continue;
    for (int32_t k = 0; k < t->team->n; k++) sum += t->team->weight[k] * own_gain(t, k, s, &left);
    s.gain = sum - fine;
    if (s.gain > t->floor && s.gain > any->nv->p->gamma && naive_better(&s, best)) *best = s;
  }
}

/* Whether rows of one of the trees are seen in a bin. */
static int is_filled(const node_view *t, int32_t bin) {
  int filled = t->any->count[bin] > 0 && t->any->nv->p->min_data_in_leaf > 1;
  for (int32_t k = 0; k < t->team->n; k++)
    if (t->v[k].nv != NULL) filled |= t->v[k].sum[bin].g != 0 || t->v[k].sum[bin].h != 0;
  return filled;
}

/* Extra trees: the one bin that is tried, or -1 where there is none. */
static int32_t random_bin(const node_view *t, gbt_split_kind kind) {
  const naive *nv = &t->team->tree[0];
  const int32_t n_bins = t->any->n_bins, feat = t->any->feat;
  int32_t low = n_bins, high = -1;
  if (kind == GBT_SPLIT_ONEHOT) return naive_one_of(nv, t->identity, feat, n_bins);
  for (int32_t b = 0; b < n_bins; b++) {
    if (!is_filled(t, b)) continue;
    if (high < 0) low = b;
    high = b;
  }
  const int32_t n = high - low + t->missing;
  return high >= 0 && n > 0 ? low + naive_one_of(nv, t->identity, feat, n) : -1;
}

static void search_bins(node_view *t, gbt_split_kind kind, gbt_split *best) {
  const gbt_params *p = t->team->tree[0].p;
  const int32_t only = p->extra_trees ? random_bin(t, kind) : 0;
  clear_left(t);
  for (int32_t b = 0; b < t->any->n_bins; b++) {
    if (kind == GBT_SPLIT_ONEHOT) clear_left(t);
    move_left(t, b);
    if (p->extra_trees && b != only) continue;
    try_node(t, (gbt_split){.kind = (int32_t)kind, .bin = b}, p->min_data_in_leaf, 0.0, best);
  }
}

static void search_sets(node_view *t, gbt_split *best) {
  const naive *nv = &t->team->tree[0];
  const gbt_params *p = nv->p;
  const int64_t quarter = t->any->node->n_rows / 4;
  const int32_t n = t->any->n_order;
  int64_t least = p->min_data_per_group < quarter ? p->min_data_per_group : quarter;
  int32_t most = (n + 1) / 2;
  if (least < p->min_data_in_leaf) least = p->min_data_in_leaf;
  if (most > p->max_cat_threshold) most = (int32_t)p->max_cat_threshold;
  const int32_t drawn = p->extra_trees ? naive_one_of(nv, t->identity, t->any->feat, 2 * most) : 0;
  for (int top = 0; top <= 1; top++) {
    int64_t since = 0;
    int done = p->extra_trees && top != (drawn >= most);
    clear_left(t);
    for (int32_t size = 1; size <= most && !done; size++) {
      const int32_t level = t->any->order[top ? n - size : size - 1];
      move_left(t, level);
      since += t->any->count[level];
      if (since < least) continue;
      since = 0;
      if (p->extra_trees && size - 1 < drawn % most) continue;
      done = p->extra_trees != 0;
      const double fine = p->cat_noise * (nv->noise_of_gains / t->team->n) * gbt_set_noise(size, n);
      try_node(t, (gbt_split){.kind = GBT_SPLIT_SET, .bin = size, .from_top = (int8_t)top}, least, fine, best);
    }
  }
}

/* The split into the node of all trees: gains of their own, who is kept, where unseen missing values go. */
static void split_all(naive_team *team, int32_t id, const gbt_split *best) {
  node_view t = look_at_node(team, id, best->feat);
  double sum = 0.0, left_h = 0.0, all_h = 0.0;
  clear_left(&t);
  for (int32_t c = 0; c < t.any->n_bins; c++)
    if (naive_left_by(t.any, best, c)) move_left(&t, c);
  for (int32_t k = 0; k < team->n; k++) {
    naive *nv = &team->tree[k];
    naive_node *node = &nv->node[id];
    node->split = *best;
    node->own = own_gain(&t, k, *best, &node->split.left);
    sum += team->weight[k] * node->own;
    if (t.v[k].nv == NULL) continue;
    left_h += (double)node->split.left.h * nv->unit.h;
    all_h += (double)node->sum.h * nv->unit.h;
  }
  for (int32_t k = 0; k < team->n; k++) {
    naive_node *node = &team->tree[k].node[id];
    node->kept = node->own == 0.0;
    if (best->kind == GBT_SPLIT_SET) node->own *= best->gain / sum;
    if (!t.missing) node->split.missing_left = left_h >= all_h - left_h;
    naive_settle(&team->tree[k], node, t.any);
  }
  unlook_at_node(&t);
}

void naive_search_together(naive_team *team, int32_t id) {
  const naive *nv = &team->tree[0];
  int32_t *feats = test_alloc((size_t)nv->n_feats * sizeof *feats), n = 0, could = 0;
  gbt_split best = {.kind = GBT_SPLIT_NONE};
  for (int32_t k = 0; k < team->n; k++) could |= naive_could_split(&team->tree[k], &team->tree[k].node[id]);
  if (could) n = naive_features(nv, id, feats);
  for (int32_t i = n; i-- > 0;) { /* backwards: the order of search must not matter */
    node_view t = look_at_node(team, id, feats[i]);
    const int categorical = nv->cuts->schema->feat[feats[i]].type == GBT_CATEGORICAL;
    gbt_split own = {.kind = GBT_SPLIT_NONE};
    if (naive_by_sets(nv, feats[i]))
      search_sets(&t, &own);
    else
      search_bins(&t, categorical ? GBT_SPLIT_ONEHOT : GBT_SPLIT_NUMERIC, &own);
    naive_compete(nv, &own, t.identity, t.before, fmax(t.floor, nv->p->gamma), &best);
    unlook_at_node(&t);
  }
  if (best.kind != GBT_SPLIT_NONE) split_all(team, id, &best);
  free(feats);
}
