/* Predictions. Both ways of predicting, any number of threads and any range of trees must give the bits of the twin
 * (naive_predict.h). */
#include "../../src/gbt/math/elementary.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/objective/response.h"

#include "fault.h"
#include "made.h"
#include "naive_predict.h"
#include "predict_scene.h"

static int scene_open(scene *s, test_rng *rng, int32_t n_features, int32_t levels, const forest_spec *spec,
                      int64_t n_rows) {
  gbt_mem mem = gbt_mem_default();
  memset(s, 0, sizeof *s);
  s->schema = make_schema(rng, n_features, levels);
  s->forest = make_forest(rng, s->schema, spec);
  s->view = gbt_forest_view_of(s->forest);
  s->table = make_table(rng, s->schema, n_rows);
  if (!CHECK_OK(gbt_ctx_open(&s->ctx, mem, 1, GBT_SIMD_AUTO, NULL, NULL, test_err))) return 0;
  gbt_unseen unseen = test_below(rng, 2) ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING;
  return CHECK_OK(gbt_binding_new(&s->ctx, &s->table->table, s->schema, unseen, &s->binding, test_err));
}

/* ---- comparisons ---- */

static double *make_offset(test_rng *rng, int64_t n) {
  double *x = test_alloc((size_t)n * sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = test_bell(rng);
  return x;
}

/* All there is about a scene and a range of trees. Returns the number of packs. */
static int64_t check_scene(scene *s, test_rng *rng, gbt_tree_range trees) {
  int64_t n_rows = s->table->table.n_rows, n = n_rows * s->view.n_outputs;
  int32_t *leaves = twin_leaves(&s->view, s->binding, trees);
  double *offset = test_below(rng, 2) ? make_offset(rng, n) : NULL;
  double *scores = twin_scores(&s->view, n_rows, trees, offset, leaves), *got = make_offset(rng, n);
  size_t leaf_bytes = (size_t)n_rows * (size_t)(trees.end - trees.beg) * sizeof *leaves;
  int32_t *got_leaves = test_alloc(leaf_bytes);
  CHECK_OK(gbt_predict_scores(&s->ctx, &s->view, s->binding, trees, offset, got, test_err));
  CHECK_EQ_BYTES(got, scores, (size_t)n * sizeof *got);
  memset(got_leaves, 0xff, leaf_bytes);
  CHECK_OK(gbt_predict_leaves(&s->ctx, &s->view, s->binding, trees, got_leaves, test_err));
  CHECK_EQ_BYTES(got_leaves, leaves, leaf_bytes);
  int64_t n_packs = check_both_ways(&s->ctx, &s->view, s->binding, trees, leaves);
  free(leaves);
  free(offset);
  free(scores);
  free(got);
  free(got_leaves);
  return n_packs;
}

static gbt_tree_range all_trees(const scene *s) {
  gbt_tree_range trees = {0, s->view.n_trees};
  return trees;
}

/* ---- tests ---- */

static forest_spec make_spec(test_rng *rng) {
  forest_spec spec;
  spec.n_outputs = 1 + (int32_t)test_below(rng, 4);
  spec.n_parallel = 1 + (int32_t)test_below(rng, 3);
  spec.n_rounds = (int32_t)test_below(rng, 12);
  spec.n_splits = (int32_t)test_below(rng, 60);
  spec.shape = (tree_shape)test_below(rng, 3);
  spec.exact_size = (int)test_below(rng, 2);
  return spec;
}

static void random_scenes_equal_the_twin(void) {
  test_rng rng = {1};
  static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 11, 12, 13, 63, 64, 65, 239, 240, 241, 500};
  for (int i = 0; i < 120; i++) {
    forest_spec spec = make_spec(&rng);
    scene s;
    int32_t levels = test_below(&rng, 3) == 0 ? 300 : 40, n_features = 1 + (int32_t)test_below(&rng, 12);
    if (scene_open(&s, &rng, n_features, levels, &spec, sizes[test_below(&rng, 16)])) {
      check_scene(&s, &rng, all_trees(&s));
      gbt_tree_range some;
      some.beg = (uint64_t)test_below(&rng, (int64_t)s.view.n_trees + 1);
      some.end = some.beg + (uint64_t)test_below(&rng, (int64_t)(s.view.n_trees - some.beg) + 1);
      check_scene(&s, &rng, some);
    }
    scene_close(&s);
  }
}

static void threads_do_not_show(void) {
  test_rng rng = {2};
  const forest_spec spec = {3, 2, 20, 63, SHAPE_BUSHY, 0};
  static const int64_t sizes[] = {20, 3000};
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_SOFTMAX, 3);
  for (int i = 0; i < 2; i++) {
    scene s;
    if (!scene_open(&s, &rng, 9, 40, &spec, sizes[i])) return;
    size_t n = (size_t)sizes[i] * 3, n_leaves = (size_t)sizes[i] * (size_t)s.view.n_trees;
    double *one = test_alloc(n * sizeof *one), *many = test_alloc(n * sizeof *many);
    int32_t *one_leaf = test_alloc(n_leaves * 4), *many_leaf = test_alloc(n_leaves * 4);
    CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, all_trees(&s), NULL, one, test_err));
    CHECK_OK(gbt_predict_leaves(&s.ctx, &s.view, s.binding, all_trees(&s), one_leaf, test_err));
    CHECK_OK(gbt_predict_response(&s.ctx, &objective, sizes[i], one, test_err));
    static const int threads[] = {2, 3, 8};
    for (int j = 0; j < 3; j++) {
      gbt_ctx_close(&s.ctx);
      REQUIRE_OK(gbt_ctx_open(&s.ctx, gbt_mem_default(), threads[j], GBT_SIMD_AUTO, NULL, NULL, test_err));
      CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, all_trees(&s), NULL, many, test_err));
      CHECK_OK(gbt_predict_response(&s.ctx, &objective, sizes[i], many, test_err));
      CHECK_EQ_BYTES(many, one, n * sizeof *one);
      CHECK_OK(gbt_predict_leaves(&s.ctx, &s.view, s.binding, all_trees(&s), many_leaf, test_err));
      CHECK_EQ_BYTES(many_leaf, one_leaf, n_leaves * 4);
    }
    free(one);
    free(many);
    free(one_leaf);
    free(many_leaf);
    scene_close(&s);
  }
}

static void deep_trees(void) {
  test_rng rng = {3};
  static const int32_t depths[] = {11, 12, 13, 14, 40, 3000};
  for (int i = 0; i < 6; i++) {
    forest_spec spec = {1, 1, 3, depths[i], SHAPE_CHAIN, 1};
    scene s;
    if (scene_open(&s, &rng, 6, 40, &spec, 50)) check_scene(&s, &rng, all_trees(&s));
    scene_close(&s);
  }
}

/* Limits of a pack: what does not fit goes into the next one, or the direct way. */
static void many_columns_take_several_packs(void) {
  test_rng rng = {4};
  const forest_spec spec = {1, 1, 8, 2000, SHAPE_BUSHY, 1};
  scene s;
  if (scene_open(&s, &rng, 9000, 3, &spec, 14)) CHECK(check_scene(&s, &rng, all_trees(&s)) > 1);
  scene_close(&s);
}

static void many_trees_take_several_packs(void) {
  test_rng rng = {5};
  const forest_spec spec = {1, 1, 9000, 1, SHAPE_BUSHY, 0};
  scene s;
  if (scene_open(&s, &rng, 4, 10, &spec, 14)) CHECK_EQ_I64(check_scene(&s, &rng, all_trees(&s)), 3);
  scene_close(&s);
}

/* A forest of given trees over one feature. */
static void one_feature_scene(scene *s, gbt_feature_type type, int32_t n_levels, const char *const *levels,
                              int64_t n_rows, const void *values) {
  gbt_mem mem = gbt_mem_default();
  gbt_schema_column feat = {"x", "", type, n_levels, levels};
  memset(s, 0, sizeof *s);
  CHECK_OK(gbt_schema_new(&mem, 1, &feat, &s->schema, test_err));
  CHECK_OK(gbt_forest_new(&mem, 1, 1, 1, &s->forest, test_err));
  CHECK_OK(gbt_ctx_open(&s->ctx, mem, 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  s->table = test_alloc(sizeof *s->table);
  s->table->cols = test_alloc(sizeof *s->table->cols);
  gbt_column col = {"x", "", type, n_levels > 0 ? GBT_CODES : GBT_F64, values, NULL, 0, n_levels, levels, 0};
  s->table->cols[0] = col;
  gbt_table table = {.n_rows = n_rows, .n_cols = 1, .cols = s->table->cols};
  s->table->table = table;
  CHECK_OK(gbt_binding_new(&s->ctx, &s->table->table, s->schema, GBT_UNSEEN_PRIOR, &s->binding, test_err));
}

static void one_feature_close(scene *s) {
  gbt_binding_free(s->binding);
  free(s->table->cols);
  free(s->table);
  gbt_forest_free(s->forest);
  gbt_schema_unref(s->schema);
  gbt_ctx_close(&s->ctx);
}

static void add_tree(scene *s, uint32_t n_nodes, const gbt_node *nodes, uint32_t n_words, const uint32_t *words) {
  double *zeros = test_alloc(n_nodes * sizeof *zeros);
  uint32_t *counts = test_alloc(n_nodes * sizeof *counts);
  memset(zeros, 0, n_nodes * sizeof *zeros);
  memset(counts, 0, n_nodes * sizeof *counts);
  gbt_tree_parts tree = {n_nodes, n_words, nodes, zeros, zeros, counts, words, NULL, {0}};
  CHECK_OK(gbt_forest_add(s->forest, &tree, test_err));
  s->view = gbt_forest_view_of(s->forest);
  free(zeros);
  free(counts);
}

/* A complete search tree with the thresholds first, first + 1, ... */
static void add_search_tree(scene *s, int depth, double first, int missing_left) {
  uint32_t n_splits = ((uint32_t)1 << depth) - 1, n = 2 * n_splits + 1;
  gbt_node *nodes = test_alloc(n * sizeof *nodes);
  memset(nodes, 0, n * sizeof *nodes);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t level = 0;
    while (((uint32_t)2 << level) - 1 <= i) level++;
    uint32_t in_level = i - (((uint32_t)1 << level) - 1);
    nodes[i].arg.value = first + (double)((2 * in_level + 1) << ((uint32_t)depth - level)) / 2.0;
    if (i >= n_splits) continue;
    nodes[i].left = 2 * i + 1;
    nodes[i].feat = missing_left ? GBT_NODE_MISSING_LEFT : 0;
  }
  add_tree(s, n, nodes, 0, NULL);
  free(nodes);
}

static void many_thresholds(void) {
  test_rng rng = {6};
  int64_t n_rows = 400;
  double *x = test_alloc((size_t)n_rows * sizeof *x);
  for (int64_t r = 0; r < n_rows; r++) x[r] = r % 17 == 0 ? (double)NAN : (double)test_below(&rng, 400000) / 2.0 - 2.0;
  scene s;
  one_feature_scene(&s, GBT_NUMERIC, 0, NULL, n_rows, x);
  add_search_tree(&s, 15, 0.0, 0);
  add_search_tree(&s, 15, 32767.0, 1);
  add_search_tree(&s, 15, 65533.0, 0); /* more than 65,533 thresholds: a second pack */
  CHECK_EQ_I64(check_scene(&s, &rng, all_trees(&s)), 2);
  add_search_tree(&s, 17, 0.0, 1); /* more in one tree: the direct way */
  CHECK_EQ_I64(check_scene(&s, &rng, all_trees(&s)), 2);
  gbt_tree_range last = {3, 4};
  CHECK_EQ_I64(check_scene(&s, &rng, last), 0);
  one_feature_close(&s);
  free(x);
}

/* Rows that walk a chain to its end, deeper than a pack counts. Node 2 i asks for x <= i % 1000, so x = k leaves at
 * node 2 k + 1, and what is above all thresholds reaches the last node. */
static void a_chain_to_its_end(void) {
  enum { N_SPLITS = 70000, N_ROWS = 5 };
  static const double x[N_ROWS] = {0.0, 7.0, 999.0, 5000.0, NAN};
  static const int32_t want[N_ROWS] = {1, 15, 1999, 2 * N_SPLITS, 2 * N_SPLITS};
  gbt_node *nodes = test_alloc((2 * N_SPLITS + 1) * sizeof *nodes);
  memset(nodes, 0, (2 * N_SPLITS + 1) * sizeof *nodes);
  for (uint32_t i = 0; i < N_SPLITS; i++) {
    nodes[2 * i].left = 2 * i + 1;
    nodes[2 * i].arg.value = (double)(i % 1000);
  }
  scene s;
  one_feature_scene(&s, GBT_NUMERIC, 0, NULL, N_ROWS, x);
  add_tree(&s, 2 * N_SPLITS + 1, nodes, 0, NULL);
  CHECK_EQ_I64(check_both_ways(&s.ctx, &s.view, s.binding, all_trees(&s), want), 1);
  one_feature_close(&s);
  free(nodes);
}

/* Sets around the highest code, and beyond what can be packed. */
static void many_levels(void) {
  test_rng rng = {7};
  enum { N_LEVELS = 70000, N_ROWS = 2000 };
  char(*text)[16] = test_alloc(sizeof(char[N_LEVELS][16]));
  const char **levels = test_alloc(N_LEVELS * sizeof *levels);
  int32_t *code = test_alloc(N_ROWS * sizeof *code);
  for (int i = 0; i < N_LEVELS; i++) {
    snprintf(text[i], sizeof text[i], "%d", i);
    levels[i] = text[i];
  }
  static const int32_t high[] = {65469, 65470, 65471, 65472, 65473, 65531, 65532, 65533, 65534, 65535, 65536, 69999};
  for (int r = 0; r < N_ROWS; r++)
    code[r] = r < 12 ? high[r] + 1 : r < 20 ? INT32_MIN : 1 + (int32_t)test_below(&rng, N_LEVELS);
  scene s;
  one_feature_scene(&s, GBT_CATEGORICAL, N_LEVELS, levels, N_ROWS, code);
  uint32_t *words = test_alloc(2188 * sizeof *words);
  for (int i = 0; i < 2188; i++) words[i] = (uint32_t)test_u(&rng);
  static const uint32_t lengths[] = {0, 1, 2045, 2046, 2047, 2188};
  for (int i = 0; i < 6; i++) {
    gbt_node nodes[3];
    memset(nodes, 0, sizeof nodes);
    nodes[0].feat = GBT_NODE_CATEGORICAL | (i % 2 ? GBT_NODE_MISSING_LEFT : GBT_NODE_BULK_LEFT);
    nodes[0].left = 1;
    nodes[0].arg.set.n_words = lengths[i];
    nodes[1].arg.value = 1.5;
    nodes[2].arg.value = -0.25;
    add_tree(&s, 3, nodes, lengths[i], words);
    gbt_tree_range one = {(uint64_t)i, (uint64_t)i + 1};
    CHECK_EQ_I64(check_scene(&s, &rng, one), lengths[i] <= 2046);
  }
  /* a bit for every level: short where all of the last levels go left */
  static const int32_t from[] = {0, 31, 32, 64, 65471, 65472, 65503, 65504, 65532, 65533, 65534};
  for (int i = 0; i < 11; i++) {
    for (int l = 0; l < 2048 * 32; l++)
      if (l >= from[i])
        words[l / 32] |= (uint32_t)1 << l % 32;
      else if (l == from[i] - 1)
        words[l / 32] &= ~((uint32_t)1 << l % 32);
    gbt_node nodes[3];
    memset(nodes, 0, sizeof nodes);
    nodes[0].feat = GBT_NODE_CATEGORICAL | (i % 2 ? GBT_NODE_MISSING_LEFT : GBT_NODE_BULK_LEFT);
    nodes[0].left = 1;
    nodes[0].arg.set.n_words = 2048;
    nodes[1].arg.value = 2.5;
    nodes[2].arg.value = -1.25;
    if (i % 3 == 0) words[2047] &= ~(uint32_t)0 >> 2; /* as models have them: no bits for levels that are not there */
    add_tree(&s, 3, nodes, 2048, words);
    gbt_tree_range one = {6 + (uint64_t)i, 7 + (uint64_t)i};
    CHECK_EQ_I64(check_scene(&s, &rng, one), from[i] <= 65472);
    for (int w = 0; w < 2188; w++) words[w] = (uint32_t)test_u(&rng);
  }
  check_scene(&s, &rng, all_trees(&s));
  one_feature_close(&s);
  free(words);
  free(text);
  free(levels);
  free(code);
}

/* Many splits that share one long set must not make a pack that is much larger than the model. */
static void shared_sets(void) {
  test_rng rng = {8};
  enum { N_LEVELS = 40, N_ROWS = 100, N_SPLITS = 200, N_WORDS = 1500 };
  char text[N_LEVELS][16];
  const char *levels[N_LEVELS];
  int32_t code[N_ROWS];
  for (int i = 0; i < N_LEVELS; i++) {
    snprintf(text[i], sizeof text[i], "%d", i);
    levels[i] = text[i];
  }
  for (int r = 0; r < N_ROWS; r++) code[r] = 1 + (int32_t)test_below(&rng, N_LEVELS);
  scene s;
  one_feature_scene(&s, GBT_CATEGORICAL, N_LEVELS, levels, N_ROWS, code);
  uint32_t words[N_WORDS], n_words;
  for (int i = 0; i < N_WORDS; i++) words[i] = (uint32_t)test_u(&rng);
  gbt_node nodes[2 * N_SPLITS + 1];
  uint32_t n = make_tree(&rng, s.schema, N_SPLITS, SHAPE_BUSHY, nodes, words, 0, &n_words);
  for (uint32_t i = 0; i < n; i++) {
    if (nodes[i].left == 0) continue;
    nodes[i].feat |= GBT_NODE_CATEGORICAL;
    nodes[i].arg.set.beg = 0;
    nodes[i].arg.set.n_words = N_WORDS;
  }
  add_tree(&s, n, nodes, N_WORDS, words);
  CHECK_EQ_I64(check_scene(&s, &rng, all_trees(&s)), 0);
  one_feature_close(&s);
}

static void no_features(void) {
  test_rng rng = {9};
  const forest_spec spec = {2, 1, 5, 0, SHAPE_BUSHY, 0};
  scene s;
  if (scene_open(&s, &rng, 0, 0, &spec, 100)) check_scene(&s, &rng, all_trees(&s));
  scene_close(&s);
}

static void wrong_arguments(void) {
  test_rng rng = {10};
  const forest_spec spec = {1, 1, 4, 5, SHAPE_BUSHY, 0};
  scene s;
  double out[5];
  int32_t leaves[5 * 5];
  REQUIRE(scene_open(&s, &rng, 3, 5, &spec, 5));
  gbt_tree_range behind = {0, 5}, backwards = {3, 2};
  CHECK_FAILS(gbt_predict_scores(&s.ctx, &s.view, s.binding, behind, NULL, out, test_err), GBT_E_ARG, "has 4");
  CHECK_FAILS(gbt_predict_leaves(&s.ctx, &s.view, s.binding, behind, leaves, test_err), GBT_E_ARG, "has 4");
  CHECK_FAILS(gbt_predict_scores(&s.ctx, &s.view, s.binding, backwards, NULL, out, test_err), GBT_E_ARG, "trees");
  s.view.n_features = 4;
  CHECK_FAILS(gbt_predict_scores(&s.ctx, &s.view, s.binding, all_trees(&s), NULL, out, test_err), GBT_E_ARG, "bound");
  const gbt_objective unknown = {99, 1, {0.0}, NULL, NULL}, last = {GBT_N_OBJECTIVES, 1, {0.0}, NULL, NULL};
  CHECK_FAILS(gbt_predict_response(&s.ctx, &unknown, 5, out, test_err), GBT_E_ARG, "99");
  CHECK_FAILS(gbt_predict_response(&s.ctx, &last, 5, out, test_err), GBT_E_ARG, "objective");
  scene_close(&s);
}

static double twin_softmax(const double *x, int64_t n_rows, int32_t n_outputs, int64_t row, int32_t k) {
  double most = x[row], sum = 0.0;
  for (int32_t j = 1; j < n_outputs; j++) most = x[j * n_rows + row] > most ? x[j * n_rows + row] : most;
  for (int32_t j = 0; j < n_outputs; j++) sum += gbt_exp(x[j * n_rows + row] - most);
  return gbt_exp(x[k * n_rows + row] - most) / sum;
}

static void responses(void) {
  test_rng rng = {11};
  static const int64_t sizes[] = {0, 1, 127, 128, 129, 9000};
  gbt_ctx ctx;
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, NULL, NULL, test_err));
  for (int i = 0; i < 6 * GBT_N_OBJECTIVES; i++) {
    int64_t n = sizes[i / GBT_N_OBJECTIVES];
    gbt_objective_kind loss = (gbt_objective_kind)(i % GBT_N_OBJECTIVES);
    if (gbt_objective_info_of((int32_t)loss)->response == GBT_RESPONSE_DISTRIBUTION) continue; /* test_distribution.c */
    int32_t k = loss == GBT_OBJ_SOFTMAX ? 4 : loss == GBT_OBJ_CUSTOM ? 1 + (int32_t)test_below(&rng, 2) : 1;
    const gbt_objective objective = made_objective(loss, k, test_u(&rng));
    double *from = make_offset(&rng, n * k), *to = test_alloc((size_t)(n * k) * sizeof *to);
    for (int64_t j = 0; j < n * k; j++) from[j] *= test_below(&rng, 50) == 0 ? 1e4 : 3.0;
    memcpy(to, from, (size_t)(n * k) * sizeof *to);
    CHECK_OK(gbt_predict_response(&ctx, &objective, n, to, test_err));
    for (int64_t j = 0; j < n * k; j++) {
      double want = from[j];
      if (loss != GBT_OBJ_SOFTMAX) want = gbt_response(&objective, from[j]);
      if (loss == GBT_OBJ_SOFTMAX) want = twin_softmax(from, n, k, j % n, (int32_t)(j / n));
      if (!CHECK_EQ_BITS(to[j], want)) break;
    }
    free(from);
    free(to);
  }
  gbt_ctx_close(&ctx);
}

static void importance(void) {
  test_rng rng = {12};
  const forest_spec spec = {2, 2, 6, 30, SHAPE_BUSHY, 0};
  scene s;
  REQUIRE(scene_open(&s, &rng, 7, 20, &spec, 1));
  double gain[7], cover[7], splits[7];
  for (int i = 0; i < 20; i++) {
    uint64_t beg = (uint64_t)test_below(&rng, 25), end = beg + (uint64_t)test_below(&rng, 25 - (int64_t)beg);
    gbt_tree_range trees = {beg, end};
    for (int f = 0; f < 7; f++) gain[f] = cover[f] = splits[f] = (double)NAN;
    gbt_importance(&s.view, trees, gain, cover, splits);
    for (uint32_t f = 0; f < 7; f++) {
      double g = 0.0, c = 0.0, n = 0.0;
      for (uint64_t t = beg; t < end; t++)
        for (uint64_t j = s.view.trees[t].node_beg; j < s.view.trees[t].node_beg + s.view.trees[t].n_nodes; j++)
          if (s.view.nodes[j].left > 0 && (s.view.nodes[j].feat & GBT_NODE_FEATURE) == f) {
            g += s.view.gain[j];
            c += s.view.cover[j];
            n += 1.0;
          }
      CHECK_EQ_BITS(gain[f], g);
      CHECK_EQ_BITS(cover[f], c);
      CHECK_EQ_BITS(splits[f], n);
    }
  }
  scene_close(&s);
}

/* ---- failing ---- */

typedef struct sweep {
  scene *s;
  int leaves;
  double *out;
  int32_t *out_leaves;
} sweep;

static gbt_status predict_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  sweep *w = arg;
  gbt_ctx ctx;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = w->leaves
                          ? gbt_predict_leaves(&ctx, &w->s->view, w->s->binding, all_trees(w->s), w->out_leaves, err)
                          : gbt_predict_scores(&ctx, &w->s->view, w->s->binding, all_trees(w->s), NULL, w->out, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void allocations_fail(void) {
  test_rng rng = {13};
  const forest_spec spec = {2, 1, 6, 30, SHAPE_BUSHY, 1};
  static const int64_t sizes[] = {3, 600};
  for (int i = 0; i < 2; i++) {
    scene s;
    if (!scene_open(&s, &rng, 7, 40, &spec, sizes[i])) return;
    sweep w = {&s, 0, test_alloc((size_t)sizes[i] * 2 * sizeof(double)), test_alloc((size_t)sizes[i] * 12 * 4)};
    int64_t least = i == 0 ? 3 : 12; /* the direct way, the packed way; a pool of threads comes on top */
    CHECK(fault_sweep(predict_once, &w) >= least);
    w.leaves = 1;
    CHECK(fault_sweep(predict_once, &w) >= least);
    free(w.out);
    free(w.out_leaves);
    scene_close(&s);
  }
}

static int stop_at_once(void *user) {
  ++*(int *)user;
  return 1;
}

static void stops_when_asked(void) {
  test_rng rng = {14};
  const forest_spec spec = {1, 1, 40, 255, SHAPE_BUSHY, 1};
  scene s;
  fault f;
  int n_polls = 0;
  REQUIRE(scene_open(&s, &rng, 7, 40, &spec, 30000));
  double *out = test_alloc(30000 * sizeof *out);
  fault_start(&f, 0, 0);
  gbt_ctx ctx;
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1);
  REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 2, GBT_SIMD_AUTO, stop_at_once, &n_polls, test_err));
  ctx.next_poll_ns = 0;
  CHECK_FAILS(gbt_predict_scores(&ctx, &s.view, s.binding, all_trees(&s), NULL, out, test_err), GBT_CANCELLED, "");
  CHECK_EQ_I64(n_polls, 1);
  CHECK_FAILS(gbt_predict_response(&ctx, &objective, 30000, out, test_err), GBT_CANCELLED, "");
  gbt_ctx_close(&ctx);
  CHECK_EQ_I64(f.n_live, 0);
  free(out);
  scene_close(&s);
}

void suite_predict(void) {
  RUN(random_scenes_equal_the_twin);
  RUN(threads_do_not_show);
  RUN(deep_trees);
  RUN(many_columns_take_several_packs);
  RUN(many_trees_take_several_packs);
  RUN(many_thresholds);
  RUN(a_chain_to_its_end);
  RUN(many_levels);
  RUN(shared_sets);
  RUN(no_features);
  RUN(wrong_arguments);
  RUN(responses);
  RUN(importance);
  RUN(allocations_fail);
  RUN(stops_when_asked);
}
