/* Contributions against a twin that tries all sets of known players, with what a tree is worth by recursion. */
#include "../../src/gbt/data/binding.h"
#include "../../src/gbt/explain/explain.h"
#include "../../src/gbt/model/predict_job.h"
#include "fault.h"
#include "forests.h"
#include "sweep.h"

enum { MOST_PLAYERS = 6 };

/* ---- a forest and a table ---- */

typedef struct scene {
  gbt_schema *schema;
  gbt_forest *forest;
  gbt_forest_view view; /* with covers of its own, some of them 0 */
  double *cover, *x;    /* x: n_rows x n_features */
  made_table *table;
  gbt_binding *binding;
  int32_t *player;
  int32_t n_players;
} scene;

static void scene_open(scene *s, test_rng *rng, const forest_spec *spec, int vectors, int64_t n_rows) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  const int32_t n_features = 8;
  s->schema = make_schema(rng, n_features, 40);
  s->forest = (vectors ? make_vector_forest : make_forest)(rng, s->schema, spec);
  s->view = gbt_forest_look(s->forest);
  s->cover = test_alloc((size_t)s->view.n_nodes * sizeof *s->cover);
  for (uint64_t i = 0; i < s->view.n_nodes; i++)
    s->cover[i] = test_below(rng, 6) == 0 ? 0.0 : test_below(rng, 20) == 0 ? -1.0 : s->view.cover[i];
  s->view.cover = s->cover;
  s->table = make_table(rng, s->schema, n_rows);
  CHECK_OK(gbt_binding_new(&ctx, &s->table->table, s->schema, GBT_UNSEEN_PRIOR, &s->binding, test_err));
  s->n_players = 1 + (int32_t)test_below(rng, MOST_PLAYERS);
  s->player = test_alloc((size_t)n_features * sizeof *s->player);
  int32_t feats[8];
  int64_t cursor[8];
  for (int32_t f = 0; f < n_features; f++) {
    s->player[f] = (int32_t)test_below(rng, s->n_players);
    feats[f] = f;
  }
  s->x = test_alloc((size_t)n_rows * 8 * sizeof *s->x);
  for (int64_t r = 0; r < n_rows; r++) {
    memset(cursor, 0, sizeof cursor);
    gbt_binding_read(s->binding, r, 1, feats, n_features, cursor, s->x + 8 * r, n_features);
  }
  gbt_ctx_close(&ctx);
}

static void scene_close(scene *s) {
  gbt_binding_free(s->binding);
  free_table(s->table);
  gbt_forest_free(s->forest);
  gbt_schema_unref(s->schema);
  free(s->cover);
  free(s->x);
  free(s->player);
}

static size_t n_cells(const scene *s, int pairs) {
  size_t p = (size_t)s->n_players + 1;
  return (pairs ? p * p : p) * (size_t)s->view.n_outputs;
}

static gbt_explain_spec all_of(const scene *s, const gbt_binding *background, int pairs) {
  gbt_explain_spec spec = {{0, s->view.n_trees}, s->player, s->n_players, background, pairs};
  return spec;
}

/* ---- the twin ---- */

/* What tree t is worth for output k when the players of `known` are those of row x; others: by cover, or row b's. */
static double worth(const scene *s, uint64_t t, int32_t k, uint32_t at, uint32_t known, const double *x,
                    const double *b) {
  static const uint32_t none[1];
  const gbt_forest_view *v = &s->view;
  const gbt_tree *tree = &v->trees[t];
  const gbt_node *node = &v->nodes[tree->node_beg + at];
  if (node->left == 0) {
    if (v->n_leaf_outputs > 1) return v->leaf_values[node->arg.vector * (uint64_t)v->n_leaf_outputs + (uint64_t)k];
    const uint64_t in_round = t % ((uint64_t)v->n_outputs * (uint64_t)v->n_parallel);
    return in_round / (uint64_t)v->n_parallel == (uint64_t)k ? node->arg.value : 0.0;
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

static double forest_worth(const scene *s, int32_t k, uint32_t known, const double *x, int64_t n_back) {
  double sum = s->view.base[k];
  for (uint64_t t = 0; t < s->view.n_trees; t++) {
    double of = 0.0;
    for (int64_t b = 0; b < n_back; b++) of += worth(s, t, k, 0, known, x, s->x + 8 * b);
    sum += n_back > 0 ? of / (double)n_back : worth(s, t, k, 0, known, x, NULL);
  }
  return sum;
}

static double factorial(int n) { return n < 2 ? 1.0 : n * factorial(n - 1); }

/* One row and output. out: (P + 1) x (P + 1): contributions on the diagonal, halves of interactions beside it. */
static void twin_row(const scene *s, int32_t k, int64_t row, int64_t n_back, double *out) {
  const int n = s->n_players;
  double value[1 << MOST_PLAYERS];
  for (uint32_t known = 0; known < 1u << n; known++)
    value[known] = forest_worth(s, k, known, s->x + 8 * row, n_back);
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
static double magnitude(const scene *s) {
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

static void against_twin(const scene *s, int by_background, int pairs) {
  const int64_t n_rows = s->table->table.n_rows;
  const int n = s->n_players, width = n + 1;
  const double most = 1e-10 * magnitude(s);
  const gbt_explain_spec spec = all_of(s, by_background ? s->binding : NULL, pairs);
  const size_t cells = n_cells(s, pairs);
  double *got = test_alloc((size_t)n_rows * cells * sizeof *got), want[(MOST_PLAYERS + 1) * (MOST_PLAYERS + 1)];
  gbt_ctx ctx = test_ctx(NULL, 1);
  CHECK_OK(gbt_explain(&ctx, &s->view, s->binding, &spec, NULL, got, test_err));
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
    scene s;
    scene_open(&s, &rng, &spec, vectors, 3);
    for (int way = 0; way < 4; way++) against_twin(&s, way % 2, way / 2);
    scene_close(&s);
  }
}

/* ---- the same bytes ---- */

/* Threads and instruction sets change nothing, and a row's contributions add up to its score. */
static void of_rows(int64_t n_rows) {
  test_rng rng = {(uint64_t)n_rows};
  const forest_spec spec = {2, 1, 2, 12, (tree_shape)(n_rows % 3), 1};
  scene s;
  scene_open(&s, &rng, &spec, n_rows % 2 == 1, n_rows);
  for (int pairs = 0; pairs < 2; pairs++) {
    const gbt_explain_spec job = all_of(&s, NULL, pairs);
    const size_t cells = n_cells(&s, pairs), n = cells * (size_t)n_rows, per = cells / 2;
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
      for (size_t c = 0; c < per; c++)
        sum += one[(i / (size_t)n_rows * per + c) * (size_t)n_rows + i % (size_t)n_rows];
      CHECK(fabs(sum - score[i]) <= 1e-10 * magnitude(&s));
    }
    gbt_ctx_close(&ctx);
    gbt_ctx_close(&two);
    free(one);
    free(other);
    free(score);
  }
  scene_close(&s);
}

static void any_number_of_rows(void) {
  const sweep_range range = {.low = 0, .high = 260, .dense = 70};
  sweep(of_rows, &range);
}

/* ---- failing ---- */

typedef struct failing {
  const scene *s;
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
  scene s;
  scene_open(&s, &rng, &spec, 0, 70);
  for (int way = 0; way < 4; way++) {
    failing w = {&s, all_of(&s, way % 2 ? s.binding : NULL, way / 2), test_alloc(70 * n_cells(&s, 1) * sizeof(double))};
    CHECK(fault_sweep(explain_once, &w) > 40);
    free(w.out);
  }
  scene_close(&s);
}

static void refuses(void) {
  test_rng rng = {74};
  const forest_spec spec = {1, 1, 2, 5, SHAPE_BUSHY, 1};
  scene s;
  double out[8] = {0};
  scene_open(&s, &rng, &spec, 0, 1);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_explain_spec job = all_of(&s, NULL, 0);
  job.trees.end = s.view.n_trees + 1;
  CHECK_FAILS(gbt_explain(&ctx, &s.view, s.binding, &job, NULL, out, test_err), GBT_E_ARG, "no such trees");
  job = all_of(&s, NULL, 0);
  s.player[7] = s.n_players;
  CHECK_FAILS(gbt_explain(&ctx, &s.view, s.binding, &job, NULL, out, test_err), GBT_E_ARG, "feature 8 has no player");
  gbt_ctx_close(&ctx);
  scene_close(&s);
}

void suite_explain(void) {
  RUN(as_all_sets_of_players);
  RUN(any_number_of_rows);
  RUN(allocations_fail);
  RUN(refuses);
}
