/* Symmetric growth: the split of a whole layer, of one tree or of a team. */
#include "naive_view.h"

/* One feature of all nodes of a tree's layer that could be split. */
typedef struct layer_view {
  naive *nv;
  naive_view *v, all;  /* all: of all rows */
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
  layer_view l = {.nv = nv, .all = naive_look(nv, &nv->node[0], feat)};
  size_t room = (size_t)(nv->n_nodes - first);
  l.v = test_alloc(room * sizeof *l.v);
  l.node = test_alloc(room * sizeof *l.node);
  l.left = test_alloc(room * sizeof *l.left);
  l.rows = test_alloc(room * sizeof *l.rows);
  for (int32_t i = first; i < nv->n_nodes; i++) {
    if (!naive_could_split(nv, &nv->node[i])) continue;
    l.v[l.n] = naive_look(nv, &nv->node[i], feat);
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
  for (int32_t k = 0; k < team->n; k++) naive_order_by(&t->of[k].all, mean);
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
    naive_order_levels(&t.of[0].all);
  else
    order_together(&t);
  return t;
}

static void unlook_at_team(team_view *t) {
  for (int32_t k = 0; k < t->team->n; k++) {
    layer_view *l = &t->of[k];
    for (int32_t i = 0; i < l->n; i++) naive_unlook(&l->v[i]);
    naive_unlook(&l->all);
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
  const naive_view *v = &l->v[i];
  int64_t rows = l->rows[i];
  s.left = l->left[i];
  if (s.missing_left) {
    add(&s.left, v->sum[v->n_bins]);
    rows += v->count[v->n_bins];
  }
  *left = s.left;
  if (rows < nv->p->min_data_in_leaf || v->node->n_rows - rows < nv->p->min_data_in_leaf) return 0.0;
  double gain = naive_gain_of(v, &s, reg_of(nv, s.kind));
  return gain > gbt_noise_floor(nv->unit, v->node->n_rows, (double)v->node->sum.h * nv->unit.h) ? gain : 0.0;
}

/* Where a candidate of a layer is, with noise of its own; see tree/contest.h. */
static double layer_standing(const naive *nv, const gbt_split *s, int32_t depth) {
  double score = nv->scored + naive_counts(nv, s), spread = naive_spread_of(nv);
  uint64_t number = (uint64_t)s->feat * 4294967296u + (uint64_t)s->missing_left * 2147483648u +
                    (uint64_t)s->from_top * 1073741824u + (uint64_t)s->bin;
  uint32_t hash = gbt_hash32(gbt_key((uint64_t)nv->p->seed, 9, nv->tree, (uint64_t)depth), number), sum = 1;
  for (; hash > 0; hash /= 256) sum += hash % 256;
  return (score > 0.0 ? gbt_sqrt(score) : 0.0) + spread * ((double)sum * 0.0067659159);
}

/* The better of two candidates of a layer, be they of one feature or of two. */
static int layer_better(const naive *nv, const gbt_split *a, const gbt_split *b, int32_t depth) {
  if (nv->p->random_strength == 0.0 || b->kind == GBT_SPLIT_NONE) return naive_better(a, b);
  double x = layer_standing(nv, a, depth), y = layer_standing(nv, b, depth);
  gbt_split alike = *b;
  alike.gain = a->gain;
  return x > y || (x == y && naive_better(a, &alike));
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
  if (nv->p->random_strength > 0.0 && naive_counts(nv, &s) <= nv->p->gamma) return; /* so it is above 0 */
  if (layer_better(nv, &s, best, t->depth)) *best = s;
}

static void search_layer_bins(team_view *t, gbt_split_kind kind, uint64_t of, gbt_split *best) {
  const naive_view *all = &t->of[0].all;
  const naive *nv = t->of[0].nv;
  int32_t n = kind == GBT_SPLIT_ONEHOT ? all->n_bins : all->n_bins - 1 + t->missing;
  int32_t only = nv->p->extra_trees ? naive_one_of(nv, of, all->feat, n) : -1;
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
  const naive_view *all = &t->of[0].all;
  int64_t n = all->node->n_rows, least = p->min_data_per_group;
  if (least > n / 4) least = n / 4;
  if (least < p->min_data_in_leaf) least = p->min_data_in_leaf;
  int32_t most = (all->n_order + 1) / 2;
  if (most > p->max_cat_threshold) most = (int32_t)p->max_cat_threshold;
  int32_t drawn = p->extra_trees ? naive_one_of(nv, of, all->feat, 2 * most) : 0;
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
    if (naive_left_by(&t.of[0].all, best, c)) move_left(&t, c);
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
      naive_settle(nv, node, &t.of[k].all);
    }
  }
  unlook_at_team(&t);
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
    nv->scored += team->weight[k] * naive_node_score(&team->tree[k], &team->tree[k].node[0]);
  for (int32_t k = n; k-- > 0;) { /* backwards: the order of search must not matter */
    if (!naive_may_meet(nv, node, feats[k])) continue;
    team_view t = look_at_team(team, first, feats[k]);
    int categorical = nv->cuts->schema->feat[feats[k]].type == GBT_CATEGORICAL;
    gbt_split own = {.kind = GBT_SPLIT_NONE};
    if (naive_by_sets(nv, feats[k]))
      search_layer_sets(&t, (uint64_t)node->depth, &own);
    else
      search_layer_bins(&t, categorical ? GBT_SPLIT_ONEHOT : GBT_SPLIT_NUMERIC, (uint64_t)node->depth, &own);
    if (nv->p->random_strength > 0.0) {
      if (own.kind != GBT_SPLIT_NONE && layer_better(nv, &own, &best, node->depth)) best = own;
    } else {
      naive_compete(nv, &own, (uint64_t)node->depth, nv->scored, nv->p->gamma, &best);
    }
    unlook_at_team(&t);
  }
  if (best.kind != GBT_SPLIT_NONE) nv->scored += best.gain;
  free(feats);
  free(scratch);
  if (best.kind != GBT_SPLIT_NONE) split_layer(team, first, &best);
  return best.kind != GBT_SPLIT_NONE;
}
