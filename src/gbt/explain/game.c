/* Plans of trees: see game.h. */
#include "game.h"

#include <string.h>

#include "quadrature.h"
#include "step.h"

/* Covers of files may be anything but NaN; where they say nothing, counts do. */
double gbti_share_left(const gbt_forest_view *forest, uint64_t left) {
  double l = forest->cover[left], r = forest->cover[left + 1], sum = l + r;
  double share = sum > 0.0 ? l / sum : -1.0;
  if (share >= 0.0 && share <= 1.0) return share;
  double n = (double)forest->count[left], all = n + (double)forest->count[left + 1];
  return all > 0.0 ? n / all : 0.5;
}

/* A walk down the tree: splits on the way from the root, and which child each is in now. */
typedef struct walk {
  gbti_game *plan;
  const gbti_game_spec *spec;
  const gbti_game_scratch *scratch;
  const gbt_node *nodes;
  uint32_t *path;  /* by depth: the split */
  uint8_t *side;   /* by split: the child that the way leads to */
  uint32_t *child; /* by split and side: the child's split */
  int32_t distinct, most;
} walk;

static void enter(walk *w, uint32_t node, uint32_t depth, uint8_t side) {
  gbti_game *plan = w->plan;
  const uint32_t i = plan->n_splits++, left = w->nodes[node].left;
  const int32_t player = w->spec->player[w->nodes[node].feat & GBT_NODE_FEATURE];
  if (w->scratch->number[player] < 0) {
    plan->player[plan->n_players] = player;
    w->scratch->number[player] = plan->n_players++;
  }
  gbti_split *split = &plan->split[i];
  *split = (gbti_split){.node = node,
                        .depth = depth,
                        .player = w->scratch->number[player],
                        .above = w->scratch->last[player],
                        .side = side,
                        .leaf = {w->nodes[left].left == 0, w->nodes[left + 1].left == 0}};
  if (split->above >= 0) split->above_side = w->side[split->above];
  split->slot = split->above >= 0 ? plan->split[split->above].slot : w->distinct;
  w->distinct += split->above < 0;
  if (w->distinct > w->most) w->most = w->distinct;
  if (depth + 1 > plan->n_depths) plan->n_depths = depth + 1;
  if (depth > 0) w->child[2 * (size_t)w->path[depth - 1] + side] = i;
  w->scratch->last[player] = (int32_t)i;
  w->path[depth] = i;
  w->side[i] = 0;
}

/* Splits, parents first, and the steps. */
static void walk_tree(walk *w) {
  gbti_game *plan = w->plan;
  if (w->nodes[0].left == 0) return;
  enter(w, 0, 0, 0);
  uint32_t depth = 0;
  int fresh = 1;
  for (;;) {
    const uint32_t i = w->path[depth];
    const gbti_split *split = &plan->split[i];
    const uint32_t left = w->nodes[split->node].left;
    if (fresh && split->leaf[0] && split->leaf[1]) {
      plan->step[plan->n_steps++] = i * 4 + GBTI_BOTTOM;
    } else if (fresh) {
      plan->step[plan->n_steps++] = i * 4 + GBTI_ENTER;
      if (!split->leaf[0]) {
        enter(w, left, ++depth, 0);
        continue;
      }
    }
    if (!split->leaf[1] && w->side[i] == 0) {
      plan->step[plan->n_steps++] = i * 4 + GBTI_TURN;
      w->side[i] = 1;
      enter(w, left + 1, ++depth, 1);
      fresh = 1;
      continue;
    }
    if (!split->leaf[0] || !split->leaf[1]) plan->step[plan->n_steps++] = i * 4 + GBTI_LEAVE;
    w->scratch->last[plan->player[split->player]] = split->above;
    w->distinct -= split->above < 0;
    if (depth == 0) return;
    depth--;
    fresh = 0;
  }
}

/* Whether two splits of a tree send every row the same way. */
static int same_question(const gbt_node *a, const gbt_node *b) {
  if (a->feat & GBT_NODE_CATEGORICAL) return gbt_same_set(a, b);
  return ((a->feat ^ b->feat) & ~GBT_NODE_BULK_LEFT) == 0 && gbt_bits(a->arg.value) == gbt_bits(b->arg.value);
}

static void number_asks(walk *w) {
  gbti_game *plan = w->plan;
  uint32_t n = 0;
  for (uint32_t i = 0; i < plan->n_splits && n <= GBTI_MOST_ASKS; i++) {
    uint32_t a = 0;
    while (a < n && !same_question(&w->nodes[plan->split[plan->ask[a]].node], &w->nodes[plan->split[i].node])) a++;
    if (a == n) plan->ask[n++] = i;
    plan->split[i].ask = a;
  }
  plan->n_asks = n;
  if (n <= GBTI_MOST_ASKS) return;
  for (uint32_t i = 0; i < plan->n_splits; i++) plan->ask[i] = plan->split[i].ask = i;
  plan->n_asks = plan->n_splits;
}

static void put_values(walk *w, const gbt_forest_view *forest) {
  gbti_game *plan = w->plan;
  const size_t n = plan->n_splits;
  for (int32_t k = 0; k < forest->n_leaf_outputs; k++) {
    double *value = plan->value + (size_t)k * 2 * n;
    for (size_t i = 0; i < 2 * n; i++) {
      const gbt_node *leaf = &w->nodes[w->nodes[plan->split[i / 2].node].left + i % 2];
      value[i] = 0.0;
      if (leaf->left == 0) value[i] = gbti_leaf_value(forest, leaf, k);
    }
    if (!w->spec->by_cover) continue;
    double *worth = plan->factor; /* not in use yet: by split, what is below */
    for (size_t i = n; i-- > 0;) {
      double below[2];
      for (size_t s = 0; s < 2; s++) below[s] = plan->split[i].leaf[s] ? value[2 * i + s] : worth[w->child[2 * i + s]];
      worth[i] = below[1] + (below[0] - below[1]) * plan->mix[i].share;
    }
    plan->mean[k] = n > 0 ? worth[0] : gbti_leaf_value(forest, &w->nodes[0], k);
  }
}

/* The factors of a split whose player has the share z of those above: see step.h. */
static void put_factors(const gbti_game *plan, double z, double *to) {
  for (int32_t q = 0; q < plan->n_points; q++) {
    double t = plan->point[q], f = t + (1.0 - t) * z;
    to[q] = t / f;
    to[plan->n_points + q] = (1.0 - t) * z / f;
    to[2 * plan->n_points + q] = 1.0 / (f * f);
  }
}

static void put_psi(const gbti_game *plan, double z, double *to) {
  for (int32_t q = 0; q < plan->n_points; q++) {
    double t = plan->point[q];
    to[q] = (1.0 - z) / (t + (1.0 - t) * z);
  }
}

static void put_common(gbti_game *plan) {
  const size_t n = (size_t)plan->n_points;
  put_factors(plan, 1.0, plan->factor + GBTI_Z_ONE * n);
  for (size_t q = 0; q < n; q++) plan->factor[GBTI_PSI_GONE * n + q] = -1.0 / (1.0 - plan->point[q]);
}

static void put_mix(gbti_game *plan, double *merged, int interactions) {
  size_t n = (size_t)plan->n_points, at = GBTI_N_COMMON * n;
  for (size_t i = 0; i < plan->n_splits; i++) {
    const gbti_split *split = &plan->split[i];
    gbti_mix *mix = &plan->mix[i];
    double z = 1.0;
    if (split->above >= 0) {
      double before = plan->mix[split->above].share;
      z = merged[split->above] * (split->above_side ? 1.0 - before : before);
      put_factors(plan, z, plan->factor + at);
      mix->factor = at;
      at += 3 * n;
    }
    merged[i] = z;
    mix->left = z * (1.0 - mix->share);
    mix->right = -(z * mix->share);
    for (int s = 0; s < 2 && interactions; s++) {
      if (split->leaf[s]) continue;
      put_psi(plan, z * (s ? 1.0 - mix->share : mix->share), plan->factor + at);
      mix->psi[s] = at;
      at += n;
    }
  }
  GBT_ASSERT(at <= plan->n_factors);
}

static gbt_status take(gbti_game *plan, size_t n, size_t size, void *out, gbt_error *err) {
  plan->n_bytes += n * size;
  return gbt_mem_zeros(&plan->mem, n, size, out, err);
}

/* Fills what only the method by cover needs: points, factors, shares of others. merged: scratch, by split. */
static gbt_status fill_cover(walk *w, double *merged, gbt_error *err) {
  gbti_game *plan = w->plan;
  const gbt_forest_view *forest = w->spec->forest;
  const size_t n = plan->n_splits;
  plan->n_points = w->most > 0 ? (w->most + 1) / 2 : 1;
  const size_t n_points = (size_t)plan->n_points;
  size_t n_own = 0;
  for (size_t i = 0; i < n; i++) n_own += (plan->split[i].above >= 0 ? 3u : 0u) + (w->spec->interactions ? 2u : 0u);
  plan->n_factors = (GBTI_N_COMMON + n_own) * n_points;
  GBT_TRY(take(plan, n, sizeof *plan->mix, &plan->mix, err));
  GBT_TRY(take(plan, plan->n_factors > n ? plan->n_factors : n, sizeof *plan->factor, &plan->factor, err));
  GBT_TRY(take(plan, n_points, sizeof *plan->point, &plan->point, err));
  GBT_TRY(take(plan, n_points, sizeof *plan->weight, &plan->weight, err));
  const uint64_t beg = forest->trees[plan->tree].node_beg;
  for (size_t i = 0; i < n; i++) plan->mix[i].share = gbti_share_left(forest, beg + w->nodes[plan->split[i].node].left);
  put_values(w, forest);
  gbti_quadrature(plan->n_points, plan->point, plan->weight);
  put_common(plan);
  put_mix(plan, merged, w->spec->interactions);
  return GBT_OK;
}

static gbt_status fill(gbti_game *plan, const gbti_game_spec *spec, const gbti_game_scratch *scratch, gbt_error *err) {
  const gbt_forest_view *forest = spec->forest;
  const gbt_tree *tree = &forest->trees[plan->tree];
  const size_t n = tree->n_nodes / 2, n_values = (size_t)forest->n_leaf_outputs;
  walk w = {.plan = plan, .spec = spec, .scratch = scratch, .nodes = forest->nodes + tree->node_beg};
  double *merged = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(&plan->mem, n, sizeof *w.path, &w.path, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&plan->mem, n, sizeof *w.side, &w.side, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&plan->mem, n, 2 * sizeof *w.child, &w.child, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&plan->mem, n, sizeof *merged, &merged, err), done);
  GBT_TRY_GOTO(take(plan, n, sizeof *plan->split, &plan->split, err), done);
  GBT_TRY_GOTO(take(plan, n, sizeof *plan->ask, &plan->ask, err), done);
  GBT_TRY_GOTO(take(plan, n, 3 * sizeof *plan->step, &plan->step, err), done);
  GBT_TRY_GOTO(take(plan, n, sizeof *plan->player, &plan->player, err), done);
  GBT_TRY_GOTO(take(plan, n, 2 * n_values * sizeof *plan->value, &plan->value, err), done);
  GBT_TRY_GOTO(take(plan, n_values, sizeof *plan->mean, &plan->mean, err), done);
  walk_tree(&w);
  for (int32_t p = 0; p < plan->n_players; p++) scratch->number[plan->player[p]] = -1;
  plan->most_on_way = w.most;
  plan->n_outputs = n_values;
  number_asks(&w);
  if (spec->by_cover)
    status = fill_cover(&w, merged, err);
  else
    put_values(&w, forest);
done:
  gbt_mem_free(&plan->mem, w.path);
  gbt_mem_free(&plan->mem, w.side);
  gbt_mem_free(&plan->mem, w.child);
  gbt_mem_free(&plan->mem, merged);
  return status;
}

gbt_status gbti_game_new(const gbt_mem *mem, const gbti_game_spec *spec, const gbti_game_scratch *scratch,
                         uint64_t tree, gbti_game **out, gbt_error *err) {
  *out = NULL;
  gbti_game *plan;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *plan, &plan, err));
  plan->mem = *mem;
  plan->tree = tree;
  gbt_status status = fill(plan, spec, scratch, err);
  if (status == GBT_OK)
    *out = plan;
  else
    gbti_game_free(plan);
  return status;
}

void gbti_game_free(gbti_game *plan) {
  if (plan == NULL) return;
  gbt_mem mem = plan->mem;
  void *blocks[] = {plan->split, plan->mix,  plan->ask,   plan->step,   plan->player,
                    plan->value, plan->mean, plan->point, plan->weight, plan->factor};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&mem, blocks[i]);
  gbt_mem_free(&mem, plan);
}
