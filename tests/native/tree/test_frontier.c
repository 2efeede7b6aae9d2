/* The table of the tree being grown: choosing nodes, making children, judging them. */
#include "test.h"

#include "../../src/gbt/tree/frontier.h"

static gbt_frontier make_frontier(const gbt_params *params, const int8_t *monotone, int32_t path_words) {
  gbt_mem mem = gbt_mem_default();
  gbt_frontier fr;
  gbt_frontier_init(&fr, &mem, params, monotone, path_words);
  return fr;
}

/* ---- choosing ---- */

/* Whether a goes before b when there is not room for both. */
static int richer(const gbt_frontier *fr, int32_t a, int32_t b) {
  double ga = fr->node[a].split.gain, gb = fr->node[b].split.gain;
  return ga > gb || (ga == gb && a < b);
}

/* The header's rule by plain means: into `out`, in order; returns their number. Call before gbt_frontier_select.
 * Depthwise; best-first choices are compared as whole trees, see looking_ahead_does_not_show. */
static size_t naive_select(const gbt_frontier *fr, size_t batch, int32_t *out) {
  size_t n = 0, room = fr->n_nodes;
  int32_t depth = INT32_MAX;
  if (fr->policy.max_leaves > 0) room = (size_t)(fr->policy.max_leaves - fr->n_leaves);
  for (size_t i = 0; i < fr->n_nodes; i++)
    if (fr->node[i].open && fr->node[i].depth < depth) depth = fr->node[i].depth;
  for (size_t i = 0; i < fr->n_nodes; i++)
    if (fr->node[i].open && fr->node[i].depth == depth) out[n++] = (int32_t)i;
  if (n > room) {
    for (size_t i = 0; i < n; i++) /* by gain */
      for (size_t j = i + 1; j < n; j++)
        if (richer(fr, out[j], out[i])) {
          int32_t t = out[i];
          out[i] = out[j];
          out[j] = t;
        }
  }
  if (n > room) n = room;
  return n < batch ? n : batch;
}

/* Gives the fresh nodes splits that depend on the node's place alone (its depth and rows, so not on when it was made):
 * few different gains, some nodes without. */
static void invent_splits(gbt_frontier *fr, uint64_t seed) {
  for (size_t i = 0; i < fr->n_fresh; i++) {
    gbt_grow_node *node = &fr->node[fr->fresh[i]];
    gbt_key32 key = gbt_key(seed, 1, 2, 3);
    uint32_t u = gbt_hash32(key, (uint64_t)node->depth << 32 | node->order_beg);
    gbt_split split = {.kind = GBT_SPLIT_NONE};
    if (node->splittable && u % 6 != 0 && node->n_rows > 1) {
      split.kind = GBT_SPLIT_NUMERIC;
      split.gain = 1.0 + (double)(u / 6 % 4);
      split.feat = (int32_t)(u / 64 % 40);
      split.left.g = node->sum.g / 2;
      split.left.h = node->sum.h / 2;
    }
    node->split = split;
  }
}

enum { HOPELESS = -7 }; /* in node->hist: marked as having no place in the tree */

/* One step, compared with the naive choice where that knows the policy. */
static void step(gbt_frontier *fr, size_t batch, uint64_t seed) {
  static int32_t want[100000];
  int naive = fr->policy.kind != GBT_LOSSGUIDE;
  invent_splits(fr, seed);
  REQUIRE_OK(gbt_frontier_opened(fr, test_err));
  CHECK_EQ_I64(fr->n_fresh, 0);
  size_t n = naive ? naive_select(fr, batch, want) : 0;
  gbt_frontier_select(fr, batch);
  if (naive) {
    CHECK_EQ_I64(fr->n_chosen, n);
    CHECK_EQ_BYTES(fr->chosen, want, n * sizeof *want);
    for (size_t i = 0; i < n; i++) CHECK(!fr->node[want[i]].open);
  }
  CHECK(fr->n_chosen <= batch);
  for (size_t i = 0; i < fr->n_open; i++) CHECK(fr->node[fr->open[i]].open);
  for (size_t i = 0; i < fr->ahead.n_dropped; i++) fr->node[fr->ahead.next[fr->ahead.dropped_beg + i]].hist = HOPELESS;
  for (size_t i = 0; i < fr->n_chosen; i++) {
    int32_t id = fr->chosen[i];
    CHECK(fr->node[id].hist != HOPELESS);
    CHECK(fr->node[id].ahead == 0 && fr->node[id].split.kind != GBT_SPLIT_NONE);
    REQUIRE_OK(gbt_frontier_split(fr, id, 1 + (fr->node[id].n_rows - 1) / 3, test_err));
  }
  gbt_frontier_mark_splittable(fr);
}

/* Grows a whole tree; *dropped (unless NULL) gets the nodes that were made in vain. Frees `fr` itself not. */
static void grow(gbt_frontier *fr, uint32_t n_rows, size_t batch, uint64_t seed, size_t *dropped) {
  gbt_sum sum = {1000, (int64_t)n_rows * 100};
  gbt_units unit = {1.0, 1.0};
  REQUIRE_OK(gbt_frontier_root(fr, n_rows, sum, unit, test_err));
  do step(fr, batch, seed);
  while (fr->n_chosen > 0);
  size_t made = fr->n_nodes;
  REQUIRE_OK(gbt_frontier_settle(fr, test_err));
  if (dropped) *dropped = made - fr->n_nodes;
}

/* Rows are dealt out, numbers go up, limits are kept. */
static void check_tree(const gbt_frontier *fr, uint32_t n_rows) {
  int64_t leaves = 0, rows = 0;
  for (size_t i = 0; i < fr->n_nodes; i++) {
    const gbt_grow_node *node = &fr->node[i];
    CHECK(fr->policy.max_depth == 0 || node->depth <= fr->policy.max_depth);
    if (node->left == 0) {
      leaves++;
      rows += node->n_rows;
      continue;
    }
    const gbt_grow_node *l = &fr->node[node->left], *r = l + 1;
    CHECK((size_t)node->left > i && (size_t)node->left + 1 < fr->n_nodes);
    CHECK(l->parent == (int32_t)i && r->parent == (int32_t)i && l->depth == node->depth + 1 && r->depth == l->depth);
    CHECK(l->order_beg == node->order_beg && r->order_beg == l->order_beg + l->n_rows &&
          l->n_rows + r->n_rows == node->n_rows);
    CHECK(l->sum.g + r->sum.g == node->sum.g && l->sum.h + r->sum.h == node->sum.h);
  }
  CHECK_EQ_I64(leaves, fr->n_leaves);
  CHECK_EQ_I64(rows, n_rows);
  CHECK(fr->policy.max_leaves == 0 || leaves <= fr->policy.max_leaves);
}

static void choices_follow_the_policy(void) {
  test_rng rng = {1};
  int64_t nodes = 0;
  for (int c = 0; c < 120; c++) {
    gbt_params params = gbt_params_default();
    params.grow_policy = c % 2;
    params.max_depth = test_below(&rng, 3) ? 1 + test_below(&rng, 9) : 0;
    params.max_leaves = params.max_depth == 0 || c % 3 == 0 ? 1 + test_below(&rng, 200) : 0;
    params.min_child_weight = 0.0;
    uint32_t n_rows = (uint32_t)test_below(&rng, 2000);
    size_t batch = c % 5 == 0 ? 1 : c % 5 == 1 ? 7 : 1000000;
    gbt_frontier fr = make_frontier(&params, NULL, 0);
    grow(&fr, n_rows, batch, (uint64_t)c, NULL);
    check_tree(&fr, n_rows);
    nodes += (int64_t)fr.n_nodes;
    gbt_frontier_free(&fr);
  }
  CHECK(nodes > 2000); /* the trees are trees */
}

/* The open leaf of the largest gain, of equals the lower one, again and again: the rule without any looking ahead. */
static void grow_best_first(gbt_frontier *fr, uint32_t n_rows, uint64_t seed) {
  gbt_sum sum = {1000, (int64_t)n_rows * 100};
  gbt_units unit = {1.0, 1.0};
  REQUIRE_OK(gbt_frontier_root(fr, n_rows, sum, unit, test_err));
  for (;;) {
    int32_t best = -1;
    invent_splits(fr, seed);
    REQUIRE_OK(gbt_frontier_opened(fr, test_err));
    for (size_t i = 0; i < fr->n_nodes; i++)
      if (fr->node[i].open && fr->node[i].left == 0 && (best < 0 || richer(fr, (int32_t)i, best))) best = (int32_t)i;
    if (best < 0 || (fr->policy.max_leaves > 0 && fr->n_leaves >= fr->policy.max_leaves)) return;
    fr->chosen[0] = best; /* what gbt_frontier_split takes for the policy's choice */
    REQUIRE_OK(gbt_frontier_split(fr, best, 1 + (fr->node[best].n_rows - 1) / 3, test_err));
    gbt_frontier_mark_splittable(fr);
  }
}

static void looking_ahead_does_not_show(void) {
  size_t ahead = 0, hopeless = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    gbt_params params = gbt_params_default();
    params.grow_policy = GBT_LOSSGUIDE;
    params.max_depth = seed % 3 == 0 ? 9 : 0;
    params.max_leaves = seed % 3 == 0 ? 0 : 1 + (int64_t)(seed * 7 % 150);
    params.min_child_weight = 0.0;
    gbt_frontier a = make_frontier(&params, NULL, 0);
    grow_best_first(&a, 3000, seed);
    for (size_t batch = 1; batch < 40; batch += 1 + batch / 2) {
      gbt_frontier b = make_frontier(&params, NULL, 0);
      size_t dropped = 0;
      if (seed % 2 == 1) gbt_frontier_set_lookahead(&b, 1);
      grow(&b, 3000, batch, seed, &dropped);
      check_tree(&b, 3000);
      CHECK(batch > 1 || dropped == 0);
      ahead += dropped;
      CHECK_EQ_I64(a.n_nodes, b.n_nodes);
      for (size_t i = 0; i < a.n_nodes && i < b.n_nodes; i++)
        CHECK(a.node[i].parent == b.node[i].parent && a.node[i].left == b.node[i].left &&
              a.node[i].order_beg == b.node[i].order_beg && a.node[i].n_rows == b.node[i].n_rows);
      for (size_t i = 0; i < b.n_nodes; i++) {
        hopeless += b.node[i].hist == HOPELESS;
        CHECK(b.node[i].hist != HOPELESS || b.node[i].left == 0);
      }
      gbt_frontier_free(&b);
    }
    gbt_frontier_free(&a);
  }
  test_note("%zu nodes made in vain, %zu leaves known to stay leaves", ahead, hopeless);
  CHECK(ahead > 100 && hopeless > 300);
}

/* How many nodes a step may take decides nothing. */
static void batches_do_not_show(void) {
  for (uint64_t seed = 0; seed < 12; seed++) {
    gbt_params params = gbt_params_default();
    params.max_depth = 9;
    params.max_leaves = seed % 2 ? 20 + 7 * (int64_t)seed : 0;
    params.min_child_weight = 0.0;
    gbt_frontier a = make_frontier(&params, NULL, 0);
    grow(&a, 3000, 1000000, seed, NULL);
    for (size_t batch = 1; batch < 40; batch += 1 + batch / 2) {
      gbt_frontier b = make_frontier(&params, NULL, 0);
      grow(&b, 3000, batch, seed, NULL);
      CHECK_EQ_I64(a.n_nodes, b.n_nodes);
      for (size_t i = 0; i < a.n_nodes && i < b.n_nodes; i++)
        CHECK(a.node[i].parent == b.node[i].parent && a.node[i].left == b.node[i].left &&
              a.node[i].order_beg == b.node[i].order_beg && a.node[i].n_rows == b.node[i].n_rows);
      gbt_frontier_free(&b);
    }
    gbt_frontier_free(&a);
  }
}

/* ---- children ---- */

static void children_get_their_parts(void) {
  gbt_params params = gbt_params_default();
  gbt_frontier fr = make_frontier(&params, NULL, 2);
  gbt_units unit = {0.25, 0.5};
  REQUIRE_OK(gbt_frontier_root(&fr, 10, (gbt_sum){-7, 90}, unit, test_err));
  CHECK(fr.node[0].bounds.lo == -INFINITY && fr.node[0].bounds.hi == INFINITY);
  CHECK(fr.n_fresh == 1 && fr.fresh[0] == 0 && fr.n_leaves == 1 && fr.node[0].parent == -1 && fr.node[0].hist == -1);
  fr.node[0].split = (gbt_split){.gain = 1, .kind = GBT_SPLIT_NUMERIC, .feat = 37, .has_missing = 1, .left = {5, 30}};
  REQUIRE_OK(gbt_frontier_opened(&fr, test_err));
  gbt_frontier_select(&fr, 8);
  REQUIRE_OK(gbt_frontier_split(&fr, 0, 4, test_err));
  const gbt_grow_node *l = &fr.node[1], *r = &fr.node[2];
  CHECK(fr.node[0].left == 1 && !fr.node[0].bulk_left && !fr.node[0].split.missing_left);
  CHECK(l->sum.g == 5 && l->sum.h == 30 && r->sum.g == -12 && r->sum.h == 60);
  CHECK(l->n_rows == 4 && r->order_beg == 4 && r->n_rows == 6 && fr.n_leaves == 2);
  CHECK(fr.path[0] == 0 && fr.path[1] == 0 && fr.path[2] == 0 && fr.path[3] == 32 && fr.path[5] == 32);
  CHECK(fr.n_fresh == 2 && fr.fresh[0] == 1 && fr.fresh[1] == 2);
  gbt_frontier_mark_splittable(&fr);
  fr.node[1].split = (gbt_split){.gain = 1, .kind = GBT_SPLIT_NUMERIC, .feat = 3, .left = {1, 10}};
  fr.node[2].split = (gbt_split){.gain = 1, .kind = GBT_SPLIT_ONEHOT, .feat = 37, .left = {1, 10}};
  REQUIRE_OK(gbt_frontier_opened(&fr, test_err));
  gbt_frontier_select(&fr, 8);
  REQUIRE_OK(gbt_frontier_split(&fr, 1, 2, test_err));
  REQUIRE_OK(gbt_frontier_split(&fr, 2, 5, test_err));
  CHECK(fr.node[1].bulk_left); /* half of the rows counts as most */
  CHECK(fr.node[2].bulk_left);
  CHECK(fr.path[2 * 3] == 8 && fr.path[2 * 3 + 1] == 32 && fr.path[2 * 5] == 0 && fr.path[2 * 5 + 1] == 32);
  gbt_frontier_free(&fr);
}

/* Without missing values in the node the side is that of the larger hessian, settled before rows are moved. */
static void undecided_missing_goes_to_the_heavier_side(void) {
  gbt_params params = gbt_params_default();
  for (int64_t left = 1; left < 10; left++)
    for (int has = 0; has <= 1; has++) {
      gbt_frontier fr = make_frontier(&params, NULL, 0);
      REQUIRE_OK(gbt_frontier_root(&fr, 10, (gbt_sum){-7, 10}, (gbt_units){1, 1}, test_err));
      fr.node[0].split =
          (gbt_split){.gain = 1, .kind = GBT_SPLIT_NUMERIC, .has_missing = (int8_t)has, .left = {5, left}};
      REQUIRE_OK(gbt_frontier_opened(&fr, test_err));
      CHECK_EQ_I64(fr.node[0].split.missing_left, !has && 2 * left >= 10);
      gbt_frontier_select(&fr, 8);
      REQUIRE_OK(gbt_frontier_split(&fr, 0, 3, test_err));
      CHECK_EQ_I64(fr.node[0].split.missing_left, !has && 2 * left >= 10);
      gbt_frontier_free(&fr);
    }
}

static void monotone_children_are_kept_apart(void) {
  test_rng rng = {2};
  const int8_t monotone[3] = {1, -1, 0};
  for (int c = 0; c < 300; c++) {
    gbt_params params = gbt_params_default();
    params.alpha = c % 3 ? 0.0 : 2.0;
    params.max_delta_step = c % 4 ? 0.0 : 0.5;
    gbt_frontier fr = make_frontier(&params, monotone, 0);
    gbt_units unit = {0.5, 0.25};
    gbt_sum sum = {test_below(&rng, 2001) - 1000, 100 + test_below(&rng, 1000)};
    REQUIRE_OK(gbt_frontier_root(&fr, 10, sum, unit, test_err));
    gbt_grow_node *root = &fr.node[0];
    if (c % 2) root->bounds = (gbt_bounds){-test_unit(&rng), test_unit(&rng)};
    gbt_bounds b = root->bounds;
    int32_t feat = c % 3;
    gbt_sum left = {test_below(&rng, 2001) - 1000, 1 + test_below(&rng, sum.h - 1)};
    root->split = (gbt_split){.gain = 1, .kind = GBT_SPLIT_NUMERIC, .feat = feat, .left = left};
    REQUIRE_OK(gbt_frontier_opened(&fr, test_err));
    gbt_frontier_select(&fr, 8);
    REQUIRE_OK(gbt_frontier_split(&fr, 0, 5, test_err));
    const gbt_grow_node *l = &fr.node[1], *r = &fr.node[2];
    double wl = gbt_weight((double)left.g * 0.5, (double)left.h * 0.25, fr.policy.reg, b);
    double wr = gbt_weight((double)(sum.g - left.g) * 0.5, (double)(sum.h - left.h) * 0.25, fr.policy.reg, b);
    double mid = wl + (wr - wl) / 2.0;
    CHECK_EQ_BITS(l->bounds.lo, monotone[feat] < 0 ? mid : b.lo);
    CHECK_EQ_BITS(l->bounds.hi, monotone[feat] > 0 ? mid : b.hi);
    CHECK_EQ_BITS(r->bounds.lo, monotone[feat] > 0 ? mid : b.lo);
    CHECK_EQ_BITS(r->bounds.hi, monotone[feat] < 0 ? mid : b.hi);
    gbt_frontier_free(&fr);
  }
}

/* ---- symmetric growth ---- */

/* Gives the layer at hand its split: feature `depth`, a third to the left, some nodes kept. */
static void invent_layer(gbt_frontier *fr, int32_t depth) {
  gbt_split layer = {.gain = 1.0, .kind = GBT_SPLIT_NUMERIC, .feat = depth, .bin = 3, .missing_left = 1};
  gbt_frontier_layer(fr, &layer, 0, 0);
  for (size_t i = 0; i < fr->n_open; i++) {
    gbt_grow_node *node = &fr->node[fr->open[i]];
    CHECK(node->depth == depth && node->split.feat == depth && node->split.missing_left == 1 && node->open);
    node->kept = fr->open[i] % 3 == 1;
    node->split.left.g = (fr->open[i] % 5 - 2) * 40;
    node->split.left.h = node->sum.h / 3;
  }
}

static gbt_frontier grow_symmetric(const gbt_params *params, size_t batch) {
  static const int8_t monotone[8] = {0, 1, -1, 1, 0, 1};
  gbt_frontier fr = make_frontier(params, monotone, 0);
  gbt_sum sum = {1000, 80000};
  int32_t depth = 0;
  CHECK_OK(gbt_frontier_root(&fr, 800, sum, (gbt_units){1.0, 0.5}, test_err));
  for (;;) {
    CHECK_OK(gbt_frontier_opened(&fr, test_err));
    if (gbt_frontier_layer_waits(&fr)) {
      CHECK_EQ_I64(fr.n_open, 1 << depth);
      if (!fr.node[fr.open[0]].splittable)
        gbt_frontier_layer(&fr, NULL, 0, 0);
      else
        invent_layer(&fr, depth++);
    }
    gbt_frontier_select(&fr, batch);
    if (fr.n_chosen == 0) break;
    for (size_t i = 0; i < fr.n_chosen; i++)
      CHECK_OK(gbt_frontier_split(&fr, fr.chosen[i], fr.node[fr.chosen[i]].n_rows / 3, test_err));
    gbt_frontier_mark_splittable(&fr);
  }
  CHECK_OK(gbt_frontier_settle(&fr, test_err));
  gbt_frontier_set_bulk_sides(&fr);
  return fr;
}

static void symmetric_trees_are_full(void) {
  for (int64_t max_leaves = 0; max_leaves < 40; max_leaves++) {
    gbt_params params = gbt_params_default();
    params.grow_policy = GBT_SYMMETRIC;
    params.max_depth = 5;
    params.max_leaves = max_leaves;
    size_t leaves = 1;
    while (leaves < 32 && (max_leaves == 0 || 2 * leaves <= (size_t)max_leaves)) leaves *= 2;
    gbt_frontier a = grow_symmetric(&params, 1000);
    CHECK_EQ_I64(a.n_nodes, 2 * leaves - 1);
    for (size_t i = 0; i < a.n_nodes; i++) {
      const gbt_grow_node *node = &a.node[i];
      CHECK_EQ_I64(node->left, i < leaves - 1 ? 2 * i + 1 : 0);
      if (node->left == 0) continue;
      CHECK(!node->bulk_left); /* two thirds go right */
      const gbt_grow_node *l = &a.node[node->left], *r = l + 1;
      gbt_bounds b = node->bounds;
      int sign = a.policy.monotone[node->split.feat];
      double mid = gbt_weight((double)l->sum.g, (double)l->sum.h * 0.5, a.policy.reg, b);
      mid += (gbt_weight((double)r->sum.g, (double)r->sum.h * 0.5, a.policy.reg, b) - mid) / 2.0;
      if (node->kept) mid = node->weight;
      CHECK_EQ_BITS(l->bounds.hi, sign > 0 ? mid : b.hi);
      CHECK_EQ_BITS(l->bounds.lo, sign < 0 ? mid : b.lo);
      CHECK_EQ_BITS(r->bounds.hi, sign < 0 ? mid : b.hi);
      CHECK_EQ_BITS(r->bounds.lo, sign > 0 ? mid : b.lo);
      for (const gbt_grow_node *c = l; c <= r; c++) {
        double own = gbt_weight((double)c->sum.g, (double)c->sum.h * 0.5, a.policy.reg, c->bounds);
        CHECK_EQ_BITS(c->weight, node->kept ? gbt_clip(node->weight, c->bounds) : own);
        CHECK(c->weight >= c->bounds.lo && c->weight <= c->bounds.hi);
      }
    }
    for (size_t batch = 1; batch < 20; batch += 6) { /* how many are split in a step does not show */
      gbt_frontier other = grow_symmetric(&params, batch);
      CHECK_EQ_I64(a.n_nodes, other.n_nodes);
      for (size_t i = 0; i < a.n_nodes && i < other.n_nodes; i++)
        CHECK(a.node[i].left == other.node[i].left && a.node[i].order_beg == other.node[i].order_beg &&
              a.node[i].n_rows == other.node[i].n_rows && a.node[i].weight == other.node[i].weight);
      gbt_frontier_free(&other);
    }
    gbt_frontier_free(&a);
  }
}

/* ---- judging ---- */

static int root_is_splittable(gbt_params params, uint32_t n_rows, int64_t h) {
  gbt_frontier fr = make_frontier(&params, NULL, 0);
  int splittable = -1;
  if (CHECK_OK(gbt_frontier_root(&fr, n_rows, (gbt_sum){0, h}, (gbt_units){1.0, 0.5}, test_err)))
    splittable = fr.node[0].splittable;
  gbt_frontier_free(&fr);
  return splittable;
}

static void limits_are_exact(void) {
  gbt_params params = gbt_params_default();
  params.min_data_in_leaf = 5;
  params.min_child_weight = 3.0;
  CHECK(root_is_splittable(params, 10, 12));
  CHECK(!root_is_splittable(params, 9, 12));
  CHECK(!root_is_splittable(params, 10, 11));
  params.max_leaves = 1;
  CHECK(!root_is_splittable(params, 10, 12));
  params.max_leaves = 2;
  CHECK(root_is_splittable(params, 10, 12));
  params.min_child_weight = 0.0;
  params.min_data_in_leaf = 1;
  CHECK(root_is_splittable(params, 2, 0));
  CHECK(!root_is_splittable(params, 1, 12));
  CHECK(!root_is_splittable(params, 0, 0));
}

static void children_are_judged_by_depth_and_leaves(void) {
  for (int64_t depth = 1; depth <= 2; depth++)
    for (int64_t leaves = 2; leaves <= 3; leaves++) {
      gbt_params params = gbt_params_default();
      params.max_depth = depth;
      params.max_leaves = leaves;
      gbt_frontier fr = make_frontier(&params, NULL, 0);
      REQUIRE_OK(gbt_frontier_root(&fr, 10, (gbt_sum){0, 40}, (gbt_units){1, 1}, test_err));
      fr.node[0].split = (gbt_split){.gain = 1, .kind = GBT_SPLIT_NUMERIC, .left = {5, 1}};
      REQUIRE_OK(gbt_frontier_opened(&fr, test_err));
      gbt_frontier_select(&fr, 8);
      REQUIRE_OK(gbt_frontier_split(&fr, 0, 5, test_err));
      gbt_frontier_mark_splittable(&fr);
      CHECK_EQ_I64(fr.node[1].splittable, 0); /* a hessian of 1 is too light for two children */
      CHECK_EQ_I64(fr.node[2].splittable, depth == 2 && leaves == 3);
      gbt_frontier_free(&fr);
    }
}

static void sets_are_zeroed(void) {
  gbt_params params = gbt_params_default();
  gbt_frontier fr = make_frontier(&params, NULL, 0);
  for (int tree = 0; tree < 2; tree++) {
    uint32_t at = 0, want = 0;
    REQUIRE_OK(gbt_frontier_root(&fr, 10, (gbt_sum){0, 40}, (gbt_units){1, 1}, test_err));
    for (uint32_t i = 1; i < 60; i++) {
      REQUIRE_OK(gbt_frontier_set(&fr, i, &at, test_err));
      CHECK_EQ_I64(at, want);
      for (uint32_t w = 0; w < i; w++) {
        CHECK_EQ_I64(fr.sets[at + w], 0);
        fr.sets[at + w] = 0xffffffffu;
      }
      want += i;
    }
    for (uint32_t w = 0; w < want; w++) CHECK(fr.sets[w] == 0xffffffffu); /* growing keeps what was there */
  }
  gbt_frontier_free(&fr);
}

void suite_frontier(void) {
  RUN(choices_follow_the_policy);
  RUN(batches_do_not_show);
  RUN(looking_ahead_does_not_show);
  RUN(children_get_their_parts);
  RUN(undecided_missing_goes_to_the_heavier_side);
  RUN(monotone_children_are_kept_apart);
  RUN(limits_are_exact);
  RUN(children_are_judged_by_depth_and_leaves);
  RUN(sets_are_zeroed);
  RUN(symmetric_trees_are_full);
}
