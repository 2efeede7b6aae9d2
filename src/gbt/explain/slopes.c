/* Linear leaves (tree/linear.h) in contributions: slopes.h says what they are worth. For each leaf that is linear the
 * path to it, player by player, then blocks of rows. Trees are added in their order and rows are apart, so neither
 * threads nor blocks show. */
#include <string.h>

#include "../base/bits.h"
#include "../data/job.h"
#include "quadrature.h"
#include "slopes_impl.h"

enum { MOST = GBT_LINEAR_MOST };

/* ---- the ways to the leaves ---- */

static gbt_status add_player(gbti_slope_run *s, gbti_slope_leaf *leaf, int32_t player, int32_t *slot, gbt_error *err) {
  const gbt_mem *mem = &s->run->ctx->mem;
  *slot = s->number[player];
  if (*slot >= 0) return GBT_OK;
  GBT_TRY(gbt_mem_grow(mem, &s->player, &s->cap_players, s->n_players + 1, sizeof *s->player, err));
  GBT_TRY(gbt_mem_grow(mem, &s->share, &s->cap_shares, s->n_players + 1, sizeof *s->share, err));
  s->player[s->n_players] = player;
  s->share[s->n_players++] = 1.0;
  *slot = s->number[player] = leaf->n++;
  return GBT_OK;
}

static gbt_status add_leaf(gbti_slope_run *s, uint64_t t, uint32_t node, uint32_t number, gbt_error *err) {
  const gbt_forest_view *forest = s->run->forest;
  const gbt_tree *tree = &forest->trees[t];
  const gbt_node *nodes = forest->nodes + tree->node_beg;
  const gbt_linear_leaf *its = &s->linear->leaf[number];
  const int32_t *player = s->run->spec->player;
  gbti_slope_leaf leaf = {.tree = t, .leaf = number, .step = s->n_steps, .player = s->n_players, .back = s->n_back};
  leaf.slot = s->n_slots;
  if (its->n_terms > s->most_terms) s->most_terms = its->n_terms;
  leaf.constant = nodes[node].arg.value;
  for (uint32_t k = 0; k < its->n_terms; k++) {
    const gbt_linear_grid *grid = &s->linear->grid[s->linear->term[its->term_beg + k].grid];
    GBT_TRY(gbt_mem_grow(&s->run->ctx->mem, &s->slot, &s->cap_slots, s->n_slots + 1, sizeof *s->slot, err));
    GBT_TRY(add_player(s, &leaf, player[grid->feat], &s->slot[s->n_slots++], err));
  }
  leaf.inner = leaf.n;
  for (uint32_t i = node; i != 0; i = s->parent[i]) {
    const uint32_t at = s->parent[i];
    gbti_slope_step step = {.node = at, .side = i != nodes[at].left};
    GBT_TRY(add_player(s, &leaf, player[nodes[at].feat & GBT_NODE_FEATURE], &step.slot, err));
    GBT_TRY(gbt_mem_grow(&s->run->ctx->mem, &s->step, &s->cap_steps, s->n_steps + 1, sizeof *s->step, err));
    s->step[s->n_steps++] = step;
    leaf.n_steps++;
    const double left = gbti_share_left(forest, tree->node_beg + nodes[at].left);
    s->share[leaf.player + (size_t)step.slot] *= step.side ? 1.0 - left : left;
  }
  for (int32_t i = 0; i < leaf.n; i++) s->number[s->player[leaf.player + (size_t)i]] = -1;
  if (leaf.n > s->most_players) s->most_players = leaf.n;
  s->n_back += s->words * (size_t)leaf.n;
  GBT_TRY(gbt_mem_grow(&s->run->ctx->mem, &s->leaf, &s->cap_leaves, s->n_leaves + 1, sizeof *s->leaf, err));
  s->leaf[s->n_leaves++] = leaf;
  return GBT_OK;
}

/* ---- where rows go ---- */

/* Which of 64 rows go left at the splits on the way to the leaf; x: by feature that trees use, `stride` apart. */
static void pass_block(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const double *x, size_t stride,
                       uint64_t *pass) {
  const gbti_explain_run *run = s->run;
  const gbt_node *nodes = run->forest->nodes + run->forest->trees[leaf->tree].node_beg;
  for (int32_t i = 0; i < leaf->n; i++) pass[i] = ~(uint64_t)0;
  for (uint32_t k = 0; k < leaf->n_steps; k++) {
    const gbti_slope_step *step = &s->step[leaf->step + k];
    const double *its = x + (size_t)run->slot[nodes[step->node].feat & GBT_NODE_FEATURE] * stride;
    uint64_t missing = 0;
    for (int r = 0; r < GBTI_ROWS; r++) missing |= (uint64_t)(its[r] != its[r]) << r;
    const uint64_t left = gbti_goes_left(run, leaf->tree, step->node, its, missing);
    pass[step->slot] &= step->side ? ~left : left;
  }
  if (s->numbers) gbti_slope_numbers(s, leaf, x, stride, pass);
}

/* X of 64 rows, or their numbers, grid by grid. */
static void read_x(const gbti_slope_run *s, const double *x, size_t stride, double *to, size_t to_stride) {
  for (uint32_t g = 0; g < s->linear->n_grids; g++) {
    const double *its = x + (size_t)s->run->slot[s->linear->grid[g].feat] * stride;
    for (size_t r = 0; r < GBTI_ROWS; r++) {
      const int32_t at = s->numbers ? 0 : gbt_linear_x(s->linear, g, its[r]);
      to[g * to_stride + r] = s->numbers ? its[r] : at == GBT_LINEAR_MISSING ? gbt_nan() : (double)at;
    }
  }
}

static void back_x_task(void *arg, int64_t word, int thread) {
  const gbti_slope_run *s = arg;
  const size_t stride = s->words * GBTI_ROWS, at = (size_t)word * GBTI_ROWS;
  (void)thread;
  read_x(s, s->run->back + at, stride, s->back_x + at, stride);
}

/* ---- what a leaf is worth ---- */

/* What the leaf adds to its constant when a set of players of terms have the row's X, and the others the X of `other`.
 * x, other: by term. */
static double value_of(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const double *x, const double *other,
                       uint32_t set) {
  const gbt_linear_leaf *its = &s->linear->leaf[leaf->leaf];
  const gbt_linear_term *term = s->linear->term + its->term_beg;
  const int32_t *slot = s->slot + leaf->slot;
  double sum = its->start;
  int missing = 0;
  for (uint32_t k = 0; k < its->n_terms; k++) {
    const double at = set >> slot[k] & 1u ? x[k] : other[k];
    missing |= at != at;
    sum += term[k].slope * at;
  }
  return missing ? 0.0 : gbt_linear_clip(its, sum) - leaf->constant;
}

/* Of all sets. */
static void fill_values(const gbti_slope_run *s, const gbti_slope_leaf *leaf, gbti_slope_work *w) {
  for (uint32_t set = 0; set < 1u << leaf->inner; set++) w->value[set] = value_of(s, leaf, w->own, w->other, set);
}

/* The sum over all sets of their values, each times on[i] of its members i and off[i] of the others. */
static double contract(const double *value, int32_t n, const double *on, const double *off) {
  double room[GBTI_SLOPE_SETS];
  memcpy(room, value, sizeof *room << n);
  for (int32_t i = n; i-- > 0;)
    for (uint32_t set = 0; set < 1u << i; set++) room[set] = room[set] * off[i] + room[set + (1u << i)] * on[i];
  return room[0];
}

/* A point of the quadrature: what a row gets by cover. passes, z: by player. */
typedef struct slope_point {
  const uint8_t *passes;
  const double *z;
  double t, weight;
  double on[MOST], off[MOST]; /* of players of terms */
} slope_point;

/* The derivative by the players a and b of the terms, or by one, or none: -1. */
static double derived(const gbti_slope_leaf *leaf, const slope_point *p, const double *value, int32_t a, int32_t b) {
  double on[MOST], off[MOST];
  for (int32_t i = 0; i < leaf->inner; i++) {
    const int one = i == a || i == b;
    on[i] = one ? (double)p->passes[i] : p->on[i];
    off[i] = one ? -p->z[i] : p->off[i];
  }
  return contract(value, leaf->inner, on, off);
}

/* The product of the factors of players that are not of terms, but a and b. */
static double others_of(const gbti_slope_leaf *leaf, const gbti_slope_work *w, int32_t a, int32_t b) {
  double product = 1.0;
  for (int32_t i = leaf->inner; i < leaf->n; i++)
    if (i != a && i != b) product *= w->f[i];
  return product;
}

/* 1: to be stopped. */
static int add_point(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const slope_point *p, gbti_slope_work *w,
                     gbti_pace *pace) {
  const int64_t steps = ((int64_t)2 << leaf->inner) + leaf->n;
  const double whole = derived(leaf, p, w->value, -1, -1);
  double single[MOST];
  for (int32_t a = 0; a < leaf->n; a++) {
    const int inner = a < leaf->inner;
    const double own = inner ? 1.0 : (double)p->passes[a] - p->z[a];
    if (gbti_stopped(pace, s->run->spec->interactions ? (a + 1) * steps : steps)) return 1;
    if (inner) single[a] = derived(leaf, p, w->value, a, -1);
    w->acc[a] += p->weight * own * others_of(leaf, w, a, -1) * (inner ? single[a] : whole);
    for (int32_t b = 0; s->run->spec->interactions && b < a; b++) {
      const int both = b < leaf->inner;
      const double other = both ? 1.0 : (double)p->passes[b] - p->z[b];
      const double part = inner ? derived(leaf, p, w->value, a, b) : both ? single[b] : whole;
      w->acc[gbti_pair((size_t)leaf->n, b, a)] += p->weight * own * other * others_of(leaf, w, a, b) * part;
    }
  }
  return 0;
}

/* By cover: passes, by player. 1: to be stopped. */
static int play_cover(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const uint8_t *passes, gbti_slope_work *w,
                      gbti_pace *pace) {
  const size_t n_points = ((size_t)leaf->n + 1) / 2, first = s->first[n_points] - 1;
  slope_point p = {.passes = passes, .z = s->share + leaf->player};
  w->value[0] = 0.0; /* at the means the leaf has its constant */
  for (size_t q = first; q < first + n_points; q++) {
    p.t = s->point[q];
    p.weight = s->weight[q];
    for (int32_t i = 0; i < leaf->n; i++) {
      const double on = passes[i] ? p.t : 0.0, off = (1.0 - p.t) * p.z[i];
      if (i < leaf->inner) p.on[i] = on, p.off[i] = off;
      w->f[i] = on + off;
    }
    if (add_point(s, leaf, &p, w, pace)) return 1;
  }
  return 0;
}

static void add_pairs(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const gbti_slope_sides *n, uint32_t set,
                      uint32_t t, double e, gbti_slope_work *w) {
  const double *beta = s->run->beta;
  const size_t n_players = (size_t)leaf->n;
  const uint32_t a = n->n_row_only, b = n->n_back_only, f = n->n_free;
  for (uint32_t i = 0; i < a; i++) {
    for (uint32_t j = 0; j < i; j++)
      w->acc[gbti_pair(n_players, w->row_only[i], w->row_only[j])] += e * gbti_beta(beta, a - 2 + t, b + f - t);
    for (uint32_t j = 0; j < b; j++)
      w->acc[gbti_pair(n_players, w->row_only[i], w->back_only[j])] -= e * gbti_beta(beta, a - 1 + t, b - 1 + f - t);
  }
  for (uint32_t i = 0; i < b; i++)
    for (uint32_t j = 0; j < i; j++)
      w->acc[gbti_pair(n_players, w->back_only[i], w->back_only[j])] += e * gbti_beta(beta, a + t, b - 2 + f - t);
  for (uint32_t i = 0; i < f; i++) {
    const uint32_t in = set >> w->free[i] & 1u, rest = t - in;
    const double own = in ? e : -e;
    for (uint32_t j = 0; j < a; j++)
      w->acc[gbti_pair(n_players, w->free[i], w->row_only[j])] += own * gbti_beta(beta, a - 1 + rest, b + f - 1 - rest);
    for (uint32_t j = 0; j < b; j++)
      w->acc[gbti_pair(n_players, w->free[i], w->back_only[j])] -= own * gbti_beta(beta, a + rest, b + f - 2 - rest);
    for (uint32_t j = 0; j < i; j++) {
      const uint32_t too = set >> w->free[j] & 1u;
      w->acc[gbti_pair(n_players, w->free[i], w->free[j])] +=
          (too ? own : -own) * gbti_beta(beta, a + rest - too, b + f - 2 - (rest - too));
    }
  }
}

/* Compared with a row of the background: see shares.h. A set of players of terms that both pass is known as well. */
static void play_back(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const gbti_slope_sides *n,
                      gbti_slope_work *w) {
  const double *beta = s->run->beta;
  const uint32_t a = n->n_row_only, b = n->n_back_only, f = n->n_free;
  double gained = 0.0, lost = 0.0;
  for (uint32_t some = 0; some < 1u << f; some++) {
    uint32_t set = n->known, t = 0;
    for (uint32_t i = 0; i < f; i++) {
      set |= (some >> i & 1u) << w->free[i];
      t += some >> i & 1u;
    }
    const double e = w->value[set];
    if (e == 0.0) continue;
    if (a > 0) gained += e * gbti_beta(beta, a - 1 + t, b + f - t);
    if (b > 0) lost += e * gbti_beta(beta, a + t, b - 1 + f - t);
    for (uint32_t i = 0; i < f; i++) {
      const uint32_t in = some >> i & 1u, rest = t - in;
      w->acc[w->free[i]] += (in ? e : -e) * gbti_beta(beta, a + rest, b + f - 1 - rest);
    }
    if (s->run->spec->interactions) add_pairs(s, leaf, n, set, t, e, w);
  }
  for (uint32_t i = 0; i < a; i++) w->acc[w->row_only[i]] += gained;
  for (uint32_t i = 0; i < b; i++) w->acc[w->back_only[i]] -= lost;
}

/* ---- rows ---- */

/* By term: what a row has in its grid. */
static void take_x(const gbti_slope_run *s, const gbti_slope_leaf *leaf, const double *x, size_t stride, size_t row,
                   double *to) {
  const gbt_linear_leaf *its = &s->linear->leaf[leaf->leaf];
  for (uint32_t k = 0; k < its->n_terms; k++)
    to[k] = x[(size_t)s->linear->term[its->term_beg + k].grid * stride + row];
}

/* Rows of the background in a word. */
static uint64_t rows_in(const gbti_slope_run *s, size_t word) {
  const int64_t left = s->run->n_back - (int64_t)word * GBTI_ROWS;
  return left >= GBTI_ROWS ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1;
}

/* 1: to be stopped. */
static int compare(const gbti_slope_run *s, const gbti_slope_leaf *leaf, gbti_slope_work *w, gbti_pace *pace) {
  const uint64_t *back = s->back + leaf->back;
  const uint8_t *passes = w->passes;
  const int64_t n = leaf->n, of_leaf = s->numbers ? (int64_t)s->linear->leaf[leaf->leaf].n_terms : 8 << leaf->inner;
  const int64_t steps = (of_leaf + n) * (s->run->spec->interactions ? n : 1);
  for (size_t word = 0; word < s->words; word++) {
    uint64_t rows = rows_in(s, word);
    for (int32_t i = 0; i < leaf->n; i++)
      if (!passes[i]) rows &= back[(size_t)i * s->words + word];
    if (gbti_stopped(pace, n + gbti_count_bits(rows) * steps)) return 1;
    for (; rows != 0; rows &= rows - 1) {
      const int32_t r = gbti_lowest(rows);
      gbti_slope_sides of = {0, 0, 0, 0};
      for (int32_t i = 0; i < leaf->n; i++) {
        w->also[i] = (uint8_t)(back[(size_t)i * s->words + word] >> r & 1u);
        if (!passes[i]) {
          w->back_only[of.n_back_only++] = i;
        } else if (!w->also[i]) {
          w->row_only[of.n_row_only++] = i;
          if (i < leaf->inner && !s->numbers) of.known |= 1u << i;
        } else if (i < leaf->inner) {
          w->free[of.n_free++] = i;
        }
      }
      take_x(s, leaf, s->back_x, s->words * GBTI_ROWS, word * GBTI_ROWS + (size_t)r, w->other);
      if (s->numbers) {
        gbti_play_numbers(s, leaf, &of, w);
        continue;
      }
      fill_values(s, leaf, w);
      play_back(s, leaf, &of, w);
    }
  }
  return 0;
}

static void add_row(const gbti_slope_run *s, const gbti_slope_leaf *leaf, int64_t row, const double *acc) {
  const gbti_explain_run *run = s->run;
  const int32_t output = gbti_first_output(run->forest, leaf->tree);
  const double part = run->n_back > 0 ? (double)run->n_back : 1.0;
  const int32_t *player = s->player + leaf->player;
  for (int32_t a = 0; a < leaf->n; a++) {
    gbti_column(run, output, (size_t)player[a], (size_t)player[a])[row] += acc[a] / part;
    for (int32_t b = 0; run->spec->interactions && b < a; b++) {
      const size_t low = (size_t)(player[a] < player[b] ? player[a] : player[b]);
      const size_t high = (size_t)(player[a] < player[b] ? player[b] : player[a]);
      gbti_column(run, output, low, high)[row] += acc[gbti_pair((size_t)leaf->n, b, a)] / part;
    }
  }
}

/* A row of a block, whose bits at the leaf are in w->pass, and whose first row is `row`. 1: to be stopped. */
static int play_row(const gbti_slope_run *s, const gbti_slope_leaf *leaf, int64_t row, int32_t r, gbti_slope_work *w,
                    gbti_pace *pace) {
  const gbt_linear_leaf *its = &s->linear->leaf[leaf->leaf];
  const size_t n = (size_t)leaf->n, n_items = s->run->spec->interactions ? n + n * (n - 1) / 2 : n;
  int any = 0;
  for (int32_t i = 0; i < leaf->n; i++) {
    w->passes[i] = (uint8_t)(w->pass[i] >> r & 1u);
    any |= i < leaf->inner && w->passes[i];
  }
  if (!any && s->run->n_back == 0) return 0;
  memset(w->acc, 0, n_items * sizeof *w->acc);
  take_x(s, leaf, w->x, GBTI_ROWS, (size_t)r, w->own);
  if (s->run->n_back > 0) {
    if (compare(s, leaf, w, pace)) return 1;
    add_row(s, leaf, row + r, w->acc);
    return 0;
  }
  for (uint32_t k = 0; k < its->n_terms; k++) w->other[k] = gbt_linear_mean(&s->linear->term[its->term_beg + k]);
  fill_values(s, leaf, w);
  if (play_cover(s, leaf, w->passes, w, pace)) return 1;
  add_row(s, leaf, row + r, w->acc);
  return 0;
}

static void block_task(void *arg, int64_t task, int thread) {
  const gbti_slope_run *s = arg;
  gbti_explain_run *run = s->run;
  gbti_explain_work *w = &run->work[thread];
  gbti_slope_work *own = &s->work[thread];
  const int64_t row = task * GBTI_ROWS;
  const int32_t n = (int32_t)(run->n_rows - row < GBTI_ROWS ? run->n_rows - row : GBTI_ROWS);
  gbti_read_block(run, row, n, w);
  read_x(s, w->x, GBTI_ROWS, own->x, GBTI_ROWS);
  for (size_t j = 0; j < s->n_leaves; j++) {
    const gbti_slope_leaf *leaf = &s->leaf[j];
    const size_t base = (size_t)run->spec->n_players;
    pass_block(s, leaf, w->x, GBTI_ROWS, own->pass);
    for (int32_t r = 0; r < n; r++)
      if (play_row(s, leaf, row, r, own, &w->pace)) return;
    double *to = gbti_column(run, gbti_first_output(run->forest, leaf->tree), base, base) + row;
    for (int32_t r = 0; r < n; r++) to[r] += leaf->base;
    if (gbti_stopped(&w->pace, ((int64_t)leaf->n_steps + leaf->n) * GBTI_ROWS)) return;
  }
}

/* ---- the call ---- */

/* Means of the leaf over the background's rows, as far as they differ from its constant. */
static void back_mean(const gbti_slope_run *s, gbti_slope_leaf *leaf, int thread) {
  double *other = s->work[thread].other, sum = 0.0;
  for (size_t word = 0; word < s->words; word++) {
    if (word % 256 == 0 && gbti_job_stopped(s->run->job, thread)) return;
    uint64_t rows = rows_in(s, word);
    for (int32_t i = 0; i < leaf->n; i++) rows &= s->back[leaf->back + (size_t)i * s->words + word];
    for (; rows != 0; rows &= rows - 1) {
      take_x(s, leaf, s->back_x, s->words * GBTI_ROWS, word * GBTI_ROWS + (size_t)gbti_lowest(rows), other);
      sum += s->numbers ? gbti_slope_number(s, leaf, other) : value_of(s, leaf, other, other, 0);
    }
  }
  leaf->base = sum / (double)s->run->n_back;
}

static void back_task(void *arg, int64_t task, int thread) {
  const gbti_slope_run *s = arg;
  gbti_slope_leaf *leaf = &s->leaf[task];
  uint64_t *pass = s->work[thread].pass;
  for (size_t word = 0; word < s->words; word++) {
    if (word % 256 == 0 && gbti_job_stopped(s->run->job, thread)) return;
    pass_block(s, leaf, s->run->back + word * GBTI_ROWS, s->words * GBTI_ROWS, pass);
    for (int32_t i = 0; i < leaf->n; i++) s->back[leaf->back + (size_t)i * s->words + word] = pass[i];
  }
  back_mean(s, leaf, thread);
}

static void drop_work(gbti_slope_run *s) {
  const gbt_mem *mem = &s->run->ctx->mem;
  for (int t = 0; s->work != NULL && t < s->run->ctx->n_threads; t++) {
    gbti_slope_work *w = &s->work[t];
    void *block[] = {w->pass, w->passes, w->also,     w->x,         w->own, w->other,
                     w->acc,  w->f,      w->row_only, w->back_only, w->free};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(mem, block[i]);
  }
  void *block[] = {s->work, s->point, s->weight, s->first, s->back};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(mem, block[i]);
  s->work = NULL;
  s->point = s->weight = NULL;
  s->first = NULL;
  s->back = NULL;
}

/* The quadratures that the leaves that are listed have. */
static gbt_status open_points(gbti_slope_run *s, gbt_error *err) {
  const gbt_mem *mem = &s->run->ctx->mem;
  const size_t most = ((size_t)s->most_players + 1) / 2;
  size_t n = 0;
  GBT_TRY(gbt_mem_zeros(mem, most + 1, sizeof *s->first, &s->first, err));
  for (size_t j = 0; j < s->n_leaves; j++) {
    const size_t k = ((size_t)s->leaf[j].n + 1) / 2;
    if (s->first[k] > 0) continue;
    s->first[k] = n + 1;
    n += k;
  }
  GBT_TRY(gbt_mem_array(mem, n, sizeof *s->point, &s->point, err));
  GBT_TRY(gbt_mem_array(mem, n, sizeof *s->weight, &s->weight, err));
  for (size_t k = 1; k <= most; k++)
    if (s->first[k] > 0) gbti_quadrature((int32_t)k, s->point + s->first[k] - 1, s->weight + s->first[k] - 1);
  return GBT_OK;
}

/* Room for the leaves that are listed. */
static gbt_status open_work(gbti_slope_run *s, gbt_error *err) {
  const gbt_mem *mem = &s->run->ctx->mem;
  const size_t n = (size_t)s->most_players;
  const size_t n_items = s->run->spec->interactions ? n + n * (n - 1) / 2 : n;
  GBT_TRY(gbt_mem_zeros(mem, (size_t)s->run->ctx->n_threads, sizeof *s->work, &s->work, err));
  for (int t = 0; t < s->run->ctx->n_threads; t++) {
    gbti_slope_work *w = &s->work[t];
    GBT_TRY(gbt_mem_array(mem, n, sizeof *w->pass, &w->pass, err));
    GBT_TRY(gbt_mem_array(mem, n, 1, &w->passes, err));
    GBT_TRY(gbt_mem_array(mem, n, 1, &w->also, err));
    GBT_TRY(gbt_mem_array(mem, s->most_terms, sizeof *w->own, &w->own, err));
    GBT_TRY(gbt_mem_array(mem, s->most_terms, sizeof *w->other, &w->other, err));
    GBT_TRY(gbt_mem_array(mem, (size_t)s->linear->n_grids, GBTI_ROWS * sizeof *w->x, &w->x, err));
    GBT_TRY(gbt_mem_array(mem, n_items, sizeof *w->acc, &w->acc, err));
    GBT_TRY(gbt_mem_array(mem, n, sizeof *w->f, &w->f, err));
    GBT_TRY(gbt_mem_array(mem, n, sizeof *w->row_only, &w->row_only, err));
    GBT_TRY(gbt_mem_array(mem, n, sizeof *w->back_only, &w->back_only, err));
    GBT_TRY(gbt_mem_array(mem, n, sizeof *w->free, &w->free, err));
  }
  if (s->run->n_back > 0) return gbt_mem_array(mem, s->n_back, sizeof *s->back, &s->back, err);
  return open_points(s, err);
}

static gbt_status play_leaves(gbti_slope_run *s, gbt_error *err) {
  gbti_explain_run *run = s->run;
  const int64_t n_blocks = (run->n_rows + GBTI_ROWS - 1) / GBTI_ROWS;
  gbt_status status = open_work(s, err);
  gbti_rewind(run);
  if (status == GBT_OK && run->n_back > 0) status = gbti_job_run(run->job, (int64_t)s->n_leaves, back_task, s, err);
  if (status == GBT_OK) status = gbti_job_run(run->job, n_blocks, block_task, s, err);
  drop_work(s);
  s->n_leaves = s->n_steps = s->n_players = s->n_slots = s->n_back = 0;
  s->most_players = 0;
  s->most_terms = 0;
  return status;
}

/* Of the leaves that are listed. */
static size_t bytes_of(const gbti_slope_run *s) {
  return s->n_leaves * sizeof *s->leaf + s->n_steps * sizeof *s->step + s->n_back * sizeof *s->back +
         s->n_players * (sizeof *s->player + sizeof *s->share) + s->n_slots * sizeof *s->slot;
}

static gbt_status play_tree(gbti_slope_run *s, uint64_t t, gbt_error *err) {
  const gbt_tree *tree = &s->run->forest->trees[t];
  const gbt_node *nodes = s->run->forest->nodes + tree->node_beg;
  const uint32_t *of = s->linear->of + tree->node_beg;
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    if (nodes[i].left > 0) s->parent[nodes[i].left] = s->parent[nodes[i].left + 1] = i;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    if (of[i] == 0) continue;
    GBT_TRY(add_leaf(s, t, i, of[i] - 1, err));
    if (bytes_of(s) > s->run->batch_bytes) GBT_TRY(play_leaves(s, err));
  }
  return GBT_OK;
}

static gbt_status open_run(gbti_slope_run *s, gbt_error *err) {
  const gbti_explain_run *run = s->run;
  const gbt_mem *mem = &run->ctx->mem;
  uint32_t most = 1;
  for (uint64_t t = run->spec->trees.beg; t < run->spec->trees.end; t++)
    if (run->forest->trees[t].n_nodes > most) most = run->forest->trees[t].n_nodes;
  GBT_TRY(gbt_mem_zeros(mem, most, sizeof *s->parent, &s->parent, err));
  GBT_TRY(gbt_mem_array(mem, (size_t)run->spec->n_players, sizeof *s->number, &s->number, err));
  for (int32_t p = 0; p < run->spec->n_players; p++) s->number[p] = -1;
  if (run->n_back == 0) return GBT_OK;
  s->words = ((size_t)run->n_back + GBTI_ROWS - 1) / GBTI_ROWS;
  const size_t n = s->words * GBTI_ROWS;
  GBT_TRY(gbt_mem_array(mem, n, s->linear->n_grids * sizeof *s->back_x, &s->back_x, err));
  return gbti_job_run(run->job, (int64_t)s->words, back_x_task, s, err);
}

static gbt_status play_trees(gbti_slope_run *s, gbt_error *err) {
  const gbt_tree_range trees = s->run->spec->trees;
  GBT_TRY(open_run(s, err));
  for (uint64_t t = trees.beg; t < trees.end; t++) GBT_TRY(play_tree(s, t, err));
  return s->n_leaves > 0 ? play_leaves(s, err) : GBT_OK;
}

gbt_status gbti_explain_slopes(gbti_explain_run *run, gbt_error *err) {
  gbti_slope_run s = {.run = run, .linear = &run->forest->linear};
  s.numbers = gbt_linear_of_numbers(s.linear);
  if (s.linear->n_leaves == 0) return GBT_OK;
  const gbt_status status = play_trees(&s, err);
  drop_work(&s);
  void *block[] = {s.leaf, s.step, s.player, s.slot, s.share, s.back_x, s.parent, s.number};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&run->ctx->mem, block[i]);
  return status;
}
