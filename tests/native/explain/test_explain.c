/* Contributions against a twin that tries all sets of known players, with what a tree is worth by recursion. */
#include "../../src/gbt/explain/explain_impl.h"
#include "../../src/gbt/model/predict_job.h"
#include "explain_scene.h"
#include "fault.h"
#include "sweep.h"

/* With so much of the background's sets in an entry, and so much of entries at a time. */
static gbt_status explain_by(gbt_ctx *ctx, const explain_scene *s, const gbt_explain_spec *spec, size_t part_bytes,
                             size_t batch_bytes, double *out) {
  const gbti_explain_run by = {.rows = gbti_explain_rows, .batch_bytes = batch_bytes, .part_bytes = part_bytes};
  return gbti_explain(ctx, &s->view, s->binding, spec, NULL, out, &by, test_err);
}

/* ---- the twin ---- */

/* What a leaf, node i of the forest, is worth: see worth(). */
static double leaf_worth(const explain_scene *s, uint64_t i, uint32_t known, const double *x, const double *b) {
  const gbt_linear_view *linear = &s->view.linear;
  const double value = s->view.nodes[i].arg.value;
  if (linear->n_leaves == 0 || linear->of[i] == 0) return value;
  const gbt_linear_leaf *leaf = &linear->leaf[linear->of[i] - 1];
  double sum = leaf->start;
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const gbt_linear_term *term = &linear->term[leaf->term_beg + k];
    const int32_t f = linear->grid[term->grid].feat;
    const double *row = known >> s->player[f] & 1u ? x : b;
    if (row != NULL && isnan(row[f])) return value;
    if (gbt_linear_of_numbers(linear)) {
      sum += term->slope * row[f];
      continue;
    }
    sum += term->slope * (row != NULL ? (double)gbt_linear_x(linear, term->grid, row[f]) : gbt_linear_mean(term));
  }
  return gbt_linear_of_numbers(linear) ? sum : fmin(fmax(sum, leaf->low), leaf->high);
}

/* What tree t is worth for output k when the players of `known` are those of row x; others: by cover, or row b's. */
static double worth(const explain_scene *s, uint64_t t, int32_t k, uint32_t at, uint32_t known, const double *x,
                    const double *b) {
  static const uint32_t none[1];
  const gbt_forest_view *v = &s->view;
  const gbt_tree *tree = &v->trees[t];
  const gbt_node *node = &v->nodes[tree->node_beg + at];
  if (node->left == 0) {
    if (v->n_leaf_outputs > 1) return v->leaf_values[node->arg.vector * (uint64_t)v->n_leaf_outputs + (uint64_t)k];
    const uint64_t in_round = t % ((uint64_t)v->n_outputs * (uint64_t)v->n_parallel);
    const int of_k = in_round / (uint64_t)v->n_parallel == (uint64_t)k;
    return of_k ? leaf_worth(s, tree->node_beg + at, known, x, b) : 0.0;
  }
  const uint32_t f = node->feat & GBT_NODE_FEATURE;
  const uint32_t *words = tree->n_words > 0 ? v->sets + tree->set_beg : none;
  const double *row = known >> s->player[f] & 1u ? x : b;
  if (row != NULL) return worth(s, t, k, node->left + !gbt_goes_left(node, row[f], words), known, x, b);
  const uint64_t i = tree->node_beg + node->left;
  double l = v->cover[i], r = v->cover[i + 1], share = 0.5;
  if (l >= 0.0 && r >= 0.0 && l + r > 0.0)
    share = l / (l + r);
  else if (l + r > 0.0 && l / (l + r) >= 0.0 && l / (l + r) <= 1.0)
    share = l / (l + r);
  else if (v->count[i] + v->count[i + 1] > 0)
    share = (double)v->count[i] / ((double)v->count[i] + (double)v->count[i + 1]);
  return share * worth(s, t, k, node->left, known, x, b) + (1.0 - share) * worth(s, t, k, node->left + 1, known, x, b);
}

static double forest_worth(const explain_scene *s, int32_t k, uint32_t known, const double *x, int64_t n_back) {
  double sum = s->view.base[k];
  for (uint64_t t = 0; t < s->view.n_trees; t++) {
    double of = 0.0;
    for (int64_t b = 0; b < n_back; b++) of += worth(s, t, k, 0, known, x, s->x + s->n_features * b);
    sum += n_back > 0 ? of / (double)n_back : worth(s, t, k, 0, known, x, NULL);
  }
  return sum;
}

static double factorial(int n) { return n < 2 ? 1.0 : n * factorial(n - 1); }

/* One row and output. out: (P + 1) x (P + 1): contributions on the diagonal, halves of interactions off it. */
static void twin_row(const explain_scene *s, int32_t k, int64_t row, int64_t n_back, double *out) {
  const int n = s->n_players;
  double value[1 << MOST_PLAYERS];
  for (uint32_t known = 0; known < 1u << n; known++)
    value[known] = forest_worth(s, k, known, s->x + s->n_features * row, n_back);
  memset(out, 0, (size_t)(n + 1) * (size_t)(n + 1) * sizeof *out);
  out[n * (n + 1) + n] = value[0];
  for (uint32_t known = 0; known < 1u << n; known++) {
    const int size = __builtin_popcount(known);
    for (int i = 0; i < n; i++) {
      if (known >> i & 1u) continue;
      const uint32_t with = known | 1u << i;
      out[i * (n + 1) + i] += factorial(size) * factorial(n - size - 1) / factorial(n) * (value[with] - value[known]);
      for (int j = 0; j < n; j++) {
        if (j == i || known >> j & 1u) continue;
        const double both = value[with | 1u << j] - value[with] - value[known | 1u << j] + value[known];
        out[i * (n + 1) + j] += 0.5 * factorial(size) * factorial(n - size - 2) / factorial(n - 1) * both;
      }
    }
  }
}

/* The size of the numbers that are added up. */
static double magnitude(const explain_scene *s) {
  double sum = 1.0;
  for (uint64_t t = 0; t < s->view.n_trees; t++) {
    double most = 0.0;
    for (uint32_t i = 0; i < s->view.trees[t].n_nodes; i++) {
      const gbt_node *node = &s->view.nodes[s->view.trees[t].node_beg + i];
      if (node->left != 0) continue;
      for (int32_t k = 0; k < s->view.n_leaf_outputs; k++) {
        double w = s->view.n_leaf_outputs == 1
                       ? node->arg.value
                       : s->view.leaf_values[node->arg.vector * (uint64_t)s->view.n_leaf_outputs + (uint64_t)k];
        if (fabs(w) > most) most = fabs(w);
      }
    }
    sum += most;
  }
  return sum;
}

/* part_bytes: 1 for an entry a leaf. */
static void against_twin(const explain_scene *s, int by_background, int pairs, size_t part_bytes) {
  const int64_t n_rows = s->table->table.n_rows;
  const int n = s->n_players, width = n + 1;
  const double most = 1e-10 * magnitude(s);
  const gbt_explain_spec spec = explain_scene_spec(s, by_background ? s->binding : NULL, pairs);
  const size_t cells = explain_scene_cells(s, pairs);
  double *got = test_alloc((size_t)n_rows * cells * sizeof *got), want[(MOST_PLAYERS + 1) * (MOST_PLAYERS + 1)];
  gbt_ctx ctx = test_ctx(NULL, 1);
  CHECK_OK(explain_by(&ctx, s, &spec, part_bytes, GBTI_BATCH_BYTES, got));
  gbt_ctx_close(&ctx);
  for (int32_t k = 0; k < s->view.n_outputs; k++)
    for (int64_t r = 0; r < n_rows; r++) {
      twin_row(s, k, r, by_background ? n_rows : 0, want);
      for (int a = 0; a < width; a++) {
        double rest = want[a * width + a];
        for (int b = 0; b < width && pairs; b++) {
          if (b == a) continue;
          rest -= want[a * width + b];
          const size_t pair = (size_t)k * (size_t)(width * width) + (size_t)(a + b * width);
          const double cell = got[pair * (size_t)n_rows + (size_t)r];
          CHECK(fabs(cell - want[a * width + b]) <= most);
        }
        const size_t at = pairs ? (size_t)k * (size_t)(width * width) + (size_t)(a + a * width)
                                : (size_t)k * (size_t)width + (size_t)a;
        CHECK(fabs(got[at * (size_t)n_rows + (size_t)r] - rest) <= most);
      }
    }
  free(got);
}

static void as_all_sets_of_players(void) {
  test_rng rng = {71};
  for (int i = 0; i < 45; i++) {
    const int vectors = i % 5 == 4;
    const forest_spec spec = {vectors ? 2 : 1 + i % 3, 1 + i % 2, 2, 1 + i, (tree_shape)(i % 3), 0};
    explain_scene s;
    explain_scene_open(&s, &rng, &spec, vectors, 3);
    for (int way = 0; way < 4; way++) against_twin(&s, way % 2, way / 2, GBTI_PART_BYTES);
    for (int pairs = 0; pairs < 2; pairs++) against_twin(&s, 1, pairs, 1);
    explain_scene_close(&s);
  }
}

/* How many leaves are ready at a time does not show, nor do threads; with or without a background, and pairs. */
static void threads_do_not_show(const explain_scene *s, int by_background, int pairs) {
  const gbt_explain_spec job = explain_scene_spec(s, by_background ? s->binding : NULL, pairs);
  const size_t n = (size_t)s->table->table.n_rows * explain_scene_cells(s, pairs);
  double *one = test_alloc(n * sizeof *one), *other = test_alloc(n * sizeof *other);
  for (int threads = 1; threads <= 2; threads++) {
    gbt_ctx ctx = test_ctx(NULL, threads);
    CHECK_OK(explain_by(&ctx, s, &job, GBTI_PART_BYTES, threads == 1 ? GBTI_BATCH_BYTES : 1,
                        threads == 1 ? one : other));
    gbt_ctx_close(&ctx);
  }
  CHECK_EQ_BYTES(one, other, n * sizeof *one);
  free(one);
  free(other);
}

/* Leaves of one to GBT_LINEAR_MOST terms. */
static void as_all_sets_where_leaves_are_linear(void) {
  test_rng rng = {77};
  uint64_t n_leaves = 0, n_full = 0;
  for (int i = 0; i < 30; i++) {
    const forest_spec spec = {1 + i % 3, 1 + i % 2, 2, 1 + i, (tree_shape)(i % 3), 0};
    explain_scene s;
    explain_scene_open(&s, &rng, &spec, 0, 3 + 65 * (i % 10 == 9));
    explain_scene_slope(&s, &rng);
    n_leaves += s.linear.n_leaves;
    for (uint64_t j = 0; j < s.linear.n_leaves; j++) n_full += s.linear.leaf[j].n_terms > 3;
    for (int way = 0; way < 4 && s.table->table.n_rows < 9; way++) against_twin(&s, way % 2, way / 2, GBTI_PART_BYTES);
    for (int way = 0; way < 4; way++) threads_do_not_show(&s, way % 2, way / 2);
    explain_scene_close(&s);
  }
  test_note("%d linear leaves, %d of more than 3 terms", (int)n_leaves, (int)n_full);
  CHECK(n_leaves > 400 && n_full > 40);
}

/* Leaves of numbers, against a background; missing numbers of both rows among them. */
static void as_all_sets_where_leaves_read_numbers(void) {
  test_rng rng = {78};
  uint64_t n_leaves = 0, n_full = 0;
  for (int i = 0; i < 40; i++) {
    const forest_spec spec = {1 + i % 3, 1 + i % 2, 2, 1 + i, (tree_shape)(i % 3), 0};
    explain_scene s;
    explain_scene_open(&s, &rng, &spec, 0, 3 + 65 * (i % 10 == 9));
    explain_scene_numbers(&s, &rng, 0);
    n_leaves += s.linear.n_leaves;
    for (uint64_t j = 0; j < s.linear.n_leaves; j++) n_full += s.linear.leaf[j].n_terms > GBT_LINEAR_MOST;
    for (int pairs = 0; pairs < 2; pairs++) {
      if (s.table->table.n_rows < 9) against_twin(&s, 1, pairs, GBTI_PART_BYTES);
      threads_do_not_show(&s, 1, pairs);
    }
    explain_scene_close(&s);
  }
  test_note("%d leaves of numbers, %d of more than %d terms", (int)n_leaves, (int)n_full, GBT_LINEAR_MOST);
  CHECK(n_leaves > 400 && n_full > 100);
}

/* Trees of one split a layer have tables where there are rows enough, by cover and by a background. */
static void as_all_sets_where_layers_have_one_split(void) {
  test_rng rng = {75};
  for (int depth = 1; depth <= 5; depth++)
    for (int vectors = 0; vectors < 2; vectors++) {
      const forest_spec spec = {2, 1, 2, (1 << depth) - 1, SHAPE_COMPLETE, 1};
      explain_scene s;
      explain_scene_open(&s, &rng, &spec, vectors, depth % 2 == 1 ? 20 : 34);
      explain_scene_symmetric(&s, &rng);
      for (int way = 0; way < 4; way++) against_twin(&s, way % 2, way / 2, depth % 2 ? 1 : GBTI_PART_BYTES);
      explain_scene_close(&s);
    }
}

/* ---- another twin, for many players: leaf by leaf, one row of the background after the other ---- */

/* a! b! / (a + b + 1)! */
static double beta_of(int a, int b) {
  double x = 1.0 / (a + b + 1);
  for (int i = 1; i <= b; i++) x *= (double)i / (a + i);
  return x;
}

typedef struct leaf_twin {
  const explain_scene *s;
  const gbt_node *nodes;
  const uint32_t *words;
  const double *x, *b;
  uint8_t *x_fails, *b_fails; /* by player: splits on the way that a row does not pass */
  double *out;                /* (P + 1) x (P + 1): contributions on the diagonal, interactions below it */
  int width, pairs;
} leaf_twin;

static void twin_leaf(const leaf_twin *w, double value) {
  const int n = w->s->n_players;
  int u = 0, v = 0;
  for (int p = 0; p < n; p++) {
    if (w->x_fails[p] && w->b_fails[p]) return;
    u += w->b_fails[p] > 0;
    v += w->x_fails[p] > 0;
  }
  for (int p = 0; p < n; p++) {
    if (w->b_fails[p]) w->out[p * w->width + p] += value * beta_of(u - 1, v);
    if (w->x_fails[p]) w->out[p * w->width + p] -= value * beta_of(u, v - 1);
    for (int q = 0; q < p && w->pairs; q++) {
      double *to = &w->out[p * w->width + q];
      if (w->b_fails[p] && w->b_fails[q]) *to += value * beta_of(u - 2, v);
      if (w->x_fails[p] && w->x_fails[q]) *to += value * beta_of(u, v - 2);
      if ((w->b_fails[p] && w->x_fails[q]) || (w->x_fails[p] && w->b_fails[q])) *to -= value * beta_of(u - 1, v - 1);
    }
  }
  if (u == 0) w->out[n * w->width + n] += value;
}

static void twin_walk(const leaf_twin *w, uint32_t at, int32_t k) {
  const gbt_node *node = &w->nodes[at];
  const gbt_forest_view *v = &w->s->view;
  if (node->left == 0) {
    twin_leaf(w, v->n_leaf_outputs > 1 ? v->leaf_values[node->arg.vector * (uint64_t)v->n_leaf_outputs + (uint64_t)k]
                                       : node->arg.value);
    return;
  }
  const uint32_t f = node->feat & GBT_NODE_FEATURE;
  const int p = w->s->player[f];
  for (uint32_t side = 0; side < 2; side++) {
    const int x_out = gbt_goes_left(node, w->x[f], w->words) == (int)side;
    const int b_out = gbt_goes_left(node, w->b[f], w->words) == (int)side;
    w->x_fails[p] = (uint8_t)(w->x_fails[p] + x_out);
    w->b_fails[p] = (uint8_t)(w->b_fails[p] + b_out);
    twin_walk(w, node->left + side, k);
    w->x_fails[p] = (uint8_t)(w->x_fails[p] - x_out);
    w->b_fails[p] = (uint8_t)(w->b_fails[p] - b_out);
  }
}

/* One output alone. */
static void against_leaves(const explain_scene *s, int pairs) {
  static const uint32_t none[1];
  const int64_t n_rows = s->table->table.n_rows;
  const int width = s->n_players + 1;
  const gbt_explain_spec spec = explain_scene_spec(s, s->binding, pairs);
  double *got = test_alloc((size_t)n_rows * explain_scene_cells(s, pairs) * sizeof *got);
  double *want = test_alloc((size_t)(width * width) * sizeof *want);
  uint8_t *fails = test_alloc(2 * (size_t)width);
  gbt_ctx ctx = test_ctx(NULL, 1);
  CHECK_OK(gbt_explain(&ctx, &s->view, s->binding, &spec, NULL, got, test_err));
  gbt_ctx_close(&ctx);
  memset(fails, 0, 2 * (size_t)width);
  for (int64_t r = 0; r < n_rows; r += 1 + r) {
    leaf_twin w = {s, NULL, none, s->x + r * s->n_features, NULL, fails, fails + width, want, width, pairs};
    memset(want, 0, (size_t)(width * width) * sizeof *want);
    for (uint64_t t = 0; t < s->view.n_trees; t++) {
      w.nodes = s->view.nodes + s->view.trees[t].node_beg;
      w.words = s->view.trees[t].n_words > 0 ? s->view.sets + s->view.trees[t].set_beg : none;
      for (int64_t b = 0; b < n_rows; b++) {
        w.b = s->x + b * s->n_features;
        twin_walk(&w, 0, 0);
      }
    }
    for (int i = 0; i < width * width; i++) want[i] /= (double)n_rows;
    want[width * width - 1] += s->view.base[0];
    for (int a = 0; a < width; a++) {
      double own = want[a * width + a];
      for (int b = 0; b < width && pairs; b++) {
        if (b == a) continue;
        const double half = 0.5 * want[(a > b ? a : b) * width + (a > b ? b : a)];
        own -= half;
        CHECK(fabs(got[(size_t)(a + b * width) * (size_t)n_rows + (size_t)r] - half) <= 1e-10 * magnitude(s));
      }
      const size_t at = pairs ? (size_t)(a + a * width) : (size_t)a;
      CHECK(fabs(got[at * (size_t)n_rows + (size_t)r] - own) <= 1e-10 * magnitude(s));
    }
  }
  free(got);
  free(want);
  free(fails);
}

/* Rows x (feature by feature, n of them) of one tree; got: as they came, by player. */
static void leaves_of_background(const explain_scene *s, const double *x, int64_t n_back, int64_t n,
                                 const double *got) {
  static const uint32_t none[1];
  const int width = s->n_players + 1;
  const gbt_tree *tree = &s->view.trees[0];
  double *want = test_alloc((size_t)(width * width) * sizeof *want);
  double *row = test_alloc((size_t)s->n_features * sizeof *row);
  uint8_t *fails = test_alloc(2 * (size_t)width);
  memset(fails, 0, 2 * (size_t)width);
  for (int64_t r = 0; r < n; r++) {
    leaf_twin w = {s,
                   s->view.nodes + tree->node_beg,
                   tree->n_words > 0 ? s->view.sets + tree->set_beg : none,
                   row,
                   NULL,
                   fails,
                   fails + width,
                   want,
                   width,
                   0};
    for (int32_t f = 0; f < s->n_features; f++) row[f] = x[f * n + r];
    memset(want, 0, (size_t)(width * width) * sizeof *want);
    for (int64_t b = 0; b < n_back; b++) {
      w.b = s->x + b * s->n_features;
      twin_walk(&w, 0, 0);
    }
    for (int p = 0; p < width; p++) {
      const double own = want[p * width + p] / (double)n_back + (p == width - 1 ? s->view.base[0] : 0.0);
      CHECK(fabs(got[p * n + r] - own) <= 1e-10 * magnitude(s));
    }
  }
  free(want);
  free(row);
  free(fails);
}

/* So many splits one below the other, by many features. */
static void of_depth(int64_t depth) {
  test_rng rng = {(uint64_t)depth + 5};
  const forest_spec spec = {1, 1, 1, (int32_t)depth, SHAPE_CHAIN, 1};
  for (int pairs = 0; pairs < 2; pairs++) {
    explain_scene s;
    explain_scene_open_of(&s, &rng, &spec, 0, depth % 3 == 0 || pairs ? 3 : 70, (int32_t)depth + 40, 1);
    s.n_players = s.n_features;
    for (int32_t f = 0; f < s.n_features; f++) s.player[f] = (f * 7) % s.n_features;
    against_leaves(&s, pairs);
    explain_scene_close(&s);
  }
}

static void any_number_of_players_of_a_leaf(void) {
  const sweep_range range = {.low = 1, .high = 130, .dense = 10};
  sweep(of_depth, &range);
}

/* ---- the same bytes ---- */

/* Threads and instruction sets change nothing, and a row's contributions add up to its score. */
static void of_rows(int64_t n_rows) {
  test_rng rng = {(uint64_t)n_rows};
  const int whole = n_rows % 4 == 0;
  const forest_spec spec = {2, 1, 2, whole ? 15 : 12, whole ? SHAPE_COMPLETE : (tree_shape)(n_rows % 3), 1};
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, n_rows % 2 == 1, n_rows);
  if (whole) explain_scene_symmetric(&s, &rng);
  for (int way = 0; way < 4; way++) {
    const int pairs = way / 2;
    const gbt_explain_spec job = explain_scene_spec(&s, way % 2 && n_rows > 0 ? s.binding : NULL, pairs);
    const size_t cells = explain_scene_cells(&s, pairs), n = cells * (size_t)n_rows, per = cells / 2;
    double *one = test_alloc(n * sizeof *one), *other = test_alloc(n * sizeof *other);
    double *score = test_alloc((size_t)n_rows * 2 * sizeof *score);
    gbt_ctx ctx = test_ctx(NULL, 1), two = test_ctx(NULL, 2);
    CHECK_OK(gbt_explain(&ctx, &s.view, s.binding, &job, NULL, one, test_err));
    CHECK_OK(gbt_predict_scores(&ctx, &s.view, s.binding, job.trees, NULL, score, test_err));
    for (int simd = GBT_SIMD_AUTO; simd <= (int)gbt_simd_best(); simd++) {
      two.simd = simd == GBT_SIMD_AUTO ? ctx.simd : (gbt_simd)simd;
      memset(other, 0x5a, n * sizeof *other);
      CHECK_OK(gbt_explain(&two, &s.view, s.binding, &job, NULL, other, test_err));
      CHECK_EQ_BYTES(other, one, n * sizeof *one);
    }
    for (size_t i = 0; i < 2 * (size_t)n_rows; i++) {
      double sum = 0.0;
      for (size_t c = 0; c < per; c++) sum += one[(i / (size_t)n_rows * per + c) * (size_t)n_rows + i % (size_t)n_rows];
      CHECK(fabs(sum - score[i]) <= 1e-10 * magnitude(&s));
    }
    gbt_ctx_close(&ctx);
    gbt_ctx_close(&two);
    free(one);
    free(other);
    free(score);
  }
  explain_scene_close(&s);
}

static void any_number_of_rows(void) {
  const sweep_range range = {.low = 0, .high = 260, .dense = 70};
  sweep(of_rows, &range);
}

/* Trees that are made ready in parts, more of them than a wave has: threads and batches change nothing. */
static void parts_do_not_show(void) {
  test_rng rng = {77};
  const forest_spec spec = {1, 1, GBTI_WAVE + 3, 14, SHAPE_BUSHY, 0};
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, 0, 70);
  for (int pairs = 0; pairs < 2; pairs++) {
    const gbt_explain_spec job = explain_scene_spec(&s, s.binding, pairs);
    const size_t n = 70 * explain_scene_cells(&s, pairs);
    double *one = test_alloc(n * sizeof *one), *other = test_alloc(n * sizeof *other);
    for (size_t part_bytes = 1; part_bytes <= 10000; part_bytes *= 100)
      for (int threads = 1; threads <= 3; threads++)
        for (size_t batch_bytes = 1; batch_bytes <= 1000000; batch_bytes *= 1000) {
          const int is_first = threads == 1 && batch_bytes == 1;
          gbt_ctx ctx = test_ctx(NULL, threads);
          memset(other, 0x5a, n * sizeof *other);
          CHECK_OK(explain_by(&ctx, &s, &job, part_bytes, batch_bytes, is_first ? one : other));
          if (!is_first) CHECK_EQ_BYTES(other, one, n * sizeof *one);
          gbt_ctx_close(&ctx);
        }
    free(one);
    free(other);
  }
  explain_scene_close(&s);
}

/* More rows of a background than have their sets put in order at a time; few rows are explained. */
static void of_long_background(int32_t depth, int64_t n_back) {
  enum { ROWS = 2 };
  test_rng rng = {(uint64_t)depth};
  const forest_spec spec = {1, 1, 1, depth, SHAPE_CHAIN, 1};
  explain_scene s;
  explain_scene_open_of(&s, &rng, &spec, 0, n_back, depth + 40, 1);
  s.n_players = s.n_features;
  for (int32_t f = 0; f < s.n_features; f++) s.player[f] = (f * 7) % s.n_features;
  made_table *few = make_table(&rng, s.schema, ROWS);
  gbt_binding *background = s.binding;
  const gbt_explain_spec job = explain_scene_spec(&s, background, 0);
  const int width = s.n_players + 1;
  double *one = test_alloc(ROWS * (size_t)width * sizeof *one), *other = test_alloc(ROWS * (size_t)width * sizeof *one);
  double *x = test_alloc(ROWS * (size_t)s.n_features * sizeof *x);
  gbt_ctx ctx = test_ctx(NULL, 1), two = test_ctx(NULL, 2);
  CHECK_OK(gbt_binding_new(&ctx, &few->table, s.schema, GBT_UNSEEN_PRIOR, &s.binding, test_err));
  for (int32_t f = 0; f < s.n_features; f++) {
    int64_t cursor = 0;
    gbt_binding_read(s.binding, 0, ROWS, &f, 1, &cursor, x + f * ROWS, 1);
  }
  CHECK_OK(explain_by(&ctx, &s, &job, GBTI_PART_BYTES, GBTI_BATCH_BYTES, one));
  CHECK_OK(explain_by(&two, &s, &job, GBTI_PART_BYTES, 1, other));
  CHECK_EQ_BYTES(other, one, ROWS * (size_t)width * sizeof *one);
  leaves_of_background(&s, x, n_back, ROWS, one);
  gbt_binding_free(s.binding);
  s.binding = background;
  gbt_ctx_close(&ctx);
  gbt_ctx_close(&two);
  free_table(few);
  free(x);
  free(one);
  free(other);
  explain_scene_close(&s);
}

static void long_backgrounds(void) {
  of_long_background(12, 2 * GBTI_PIECE_ROWS - 1);
  of_long_background(30, 7 * GBTI_PIECE_ROWS + 64);
  if (!test_few()) of_long_background(70, 3 * GBTI_PIECE_ROWS + 1);
}

/* ---- failing ---- */

typedef struct failing {
  const explain_scene *s;
  gbt_explain_spec spec;
  double *out;
} failing;

static gbt_status explain_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  const failing *w = arg;
  gbt_ctx ctx;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = gbt_explain(&ctx, &w->s->view, w->s->binding, &w->spec, NULL, w->out, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void allocations_fail(void) {
  test_rng rng = {73};
  const forest_spec spec = {2, 1, 2, 9, SHAPE_BUSHY, 1};
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, 0, 70);
  for (int way = 0; way < 10; way++) {
    if (way == 4) explain_scene_slope(&s, &rng);
    if (way == 8) explain_scene_numbers(&s, &rng, 1);
    CHECK((s.view.linear.n_leaves > 8) == (way >= 4));
    failing w = {&s, explain_scene_spec(&s, way % 2 || way == 8 ? s.binding : NULL, way == 8 || way / 2 % 2),
                 test_alloc(70 * explain_scene_cells(&s, 1) * sizeof(double))};
    CHECK(fault_sweep(explain_once, &w) > 40);
    free(w.out);
  }
  explain_scene_close(&s);
}

static void stops_when_asked(void) {
  test_rng rng = {76};
  const forest_spec spec = {2, 1, 6, 30, SHAPE_BUSHY, 1};
  explain_scene s;
  explain_scene_open(&s, &rng, &spec, 0, 300);
  double *out = test_alloc(300 * explain_scene_cells(&s, 1) * sizeof *out);
  for (int way = 0; way < 10; way++) {
    if (way == 4) explain_scene_slope(&s, &rng);
    if (way == 8) explain_scene_numbers(&s, &rng, 1);
    const gbt_explain_spec job =
        explain_scene_spec(&s, way % 2 || way == 8 ? s.binding : NULL, way == 8 || way / 2 % 2);
    test_patience p = {0, way};
    gbt_ctx ctx;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, test_stop_later, &p, test_err));
    ctx.next_poll_ns = 0;
    gbt_status status = GBT_OK;
    while (status == GBT_OK) status = gbt_explain(&ctx, &s.view, s.binding, &job, NULL, out, test_err);
    CHECK_EQ_I64(status, GBT_CANCELLED);
    CHECK_EQ_I64(p.n_polls, way + 1);
    gbt_ctx_close(&ctx);
  }
  free(out);
  explain_scene_close(&s);
}

static void refuses(void) {
  test_rng rng = {74};
  const forest_spec spec = {1, 1, 2, 5, SHAPE_BUSHY, 1};
  explain_scene s;
  double out[8] = {0};
  explain_scene_open(&s, &rng, &spec, 0, 1);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_explain_spec job = explain_scene_spec(&s, NULL, 0);
  job.trees.end = s.view.n_trees + 1;
  CHECK_FAILS(gbt_explain(&ctx, &s.view, s.binding, &job, NULL, out, test_err), GBT_E_ARG, "no such trees");
  explain_scene_numbers(&s, &rng, 1);
  CHECK(s.linear.n_leaves > 0);
  job = explain_scene_spec(&s, NULL, 0);
  CHECK_FAILS(gbt_explain(&ctx, &s.view, s.binding, &job, NULL, out, test_err), GBT_E_UNSUPPORTED, "need the means");
  job = explain_scene_spec(&s, NULL, 0);
  memset(&s.view.linear, 0, sizeof s.view.linear);
  s.player[7] = s.n_players;
  CHECK_FAILS(gbt_explain(&ctx, &s.view, s.binding, &job, NULL, out, test_err), GBT_E_ARG, "feature 8 has no player");
  gbt_ctx_close(&ctx);
  explain_scene_close(&s);
}

void suite_explain(void) {
  RUN(as_all_sets_of_players);
  RUN(as_all_sets_where_leaves_are_linear);
  RUN(as_all_sets_where_leaves_read_numbers);
  RUN(as_all_sets_where_layers_have_one_split);
  RUN(any_number_of_players_of_a_leaf);
  RUN(any_number_of_rows);
  RUN(parts_do_not_show);
  RUN(long_backgrounds);
  RUN(allocations_fail);
  RUN(stops_when_asked);
  RUN(refuses);
}
