/* Trees whose leaves hold a value for every output, made by hand. All ways of predicting must give the bits of the twin
 * (naive_predict.h), and whatever moves trees must move their vectors. */
#include "../../src/gbt/model/predict.h"

#include "../../src/gbt/tree/relevel.h"
#include "../../src/gbt/tree/vectors.h"
#include "fault.h"
#include "naive_predict.h"
#include "predict_scene.h"

static int scene_open(scene *s, test_rng *rng, int32_t n_features, const forest_spec *spec, int64_t n_rows,
                      int n_threads) {
  gbt_mem mem = gbt_mem_default();
  memset(s, 0, sizeof *s);
  s->schema = make_schema(rng, n_features, 40);
  s->forest = make_vector_forest(rng, s->schema, spec);
  s->view = gbt_forest_view_of(s->forest);
  s->table = make_table(rng, s->schema, n_rows);
  if (!CHECK_OK(gbt_ctx_open(&s->ctx, mem, n_threads, GBT_SIMD_AUTO, NULL, NULL, test_err))) return 0;
  return CHECK_OK(gbt_binding_new(&s->ctx, &s->table->table, s->schema, GBT_UNSEEN_PRIOR, &s->binding, test_err));
}

/* The vectors of a view lie in the order of its leaves. */
static void check_vectors(const gbt_forest_view *view) {
  uint64_t next = 0;
  for (uint64_t i = 0; i < view->n_nodes; i++)
    if (view->nodes[i].left == 0) CHECK_EQ_U64(view->nodes[i].arg.vector, next++);
  CHECK_EQ_U64(view->n_vectors, next);
}

static void check_scene(scene *s, gbt_tree_range trees, test_rng *rng) {
  int64_t n_rows = s->table->table.n_rows;
  size_t n = (size_t)(n_rows * s->view.n_outputs);
  double *offset = test_alloc(n * sizeof *offset), *got = test_alloc(n * sizeof *got);
  for (size_t i = 0; i < n; i++) offset[i] = test_bell(rng);
  int32_t *leaves = twin_leaves(&s->view, s->binding, trees);
  double *want = twin_scores(&s->view, n_rows, trees, offset, leaves);
  double *plain = twin_scores(&s->view, n_rows, trees, NULL, leaves);
  CHECK_OK(gbt_predict_scores(&s->ctx, &s->view, s->binding, trees, offset, got, test_err));
  CHECK_EQ_BYTES(got, want, n * sizeof *got);
  check_both_ways(&s->ctx, &s->view, s->binding, trees, leaves);
  check_scores_packed(&s->ctx, &s->view, s->binding, trees, NULL, plain);
  gbt_predictor *predictor = NULL;
  if (CHECK_OK(gbt_predictor_new(&s->ctx.mem, &s->view, &predictor, test_err)))
    for (int i = 0; i < 3; i++) {
      CHECK_OK(gbt_predictor_scores(&s->ctx, predictor, s->binding, trees, NULL, got, test_err));
      CHECK_EQ_BYTES(got, plain, n * sizeof *got);
    }
  gbt_predictor_free(predictor);
  free(offset);
  free(got);
  free(leaves);
  free(want);
  free(plain);
}

/* Numbers of outputs and rows around every width that the ways work in; trees that are tables and trees that are not.
 */
static void predictions_equal_the_twin(void) {
  test_rng rng = {1};
  static const int32_t outputs[] = {1, 2, 3, 4, 7, 8, 9, 17};
  static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 11, 12, 13, 63, 64, 65, 240, 511, 513};
  for (int i = 0; i < 120; i++) {
    forest_spec spec = {outputs[i % 8],
                        1 + (int32_t)test_below(&rng, 3),
                        (int32_t)test_below(&rng, 12),
                        (int32_t)test_below(&rng, i % 3 == 0 ? 200 : 20),
                        (tree_shape)test_below(&rng, 3),
                        (int)test_below(&rng, 2)};
    scene s;
    int32_t n_features = (int32_t)test_below(&rng, 12);
    if (scene_open(&s, &rng, n_features, &spec, sizes[test_below(&rng, 15)], 1 + i % 3)) {
      gbt_tree_range all = {0, s.view.n_trees}, some;
      CHECK_EQ_U64(s.view.n_trees, (uint64_t)spec.n_rounds * (uint64_t)spec.n_parallel);
      some.beg = (uint64_t)test_below(&rng, (int64_t)s.view.n_trees + 1);
      some.end = some.beg + (uint64_t)test_below(&rng, (int64_t)(s.view.n_trees - some.beg) + 1);
      if (spec.n_outputs > 1) check_vectors(&s.view);
      check_scene(&s, all, &rng);
      check_scene(&s, some, &rng);
    }
    scene_close(&s);
  }
}

/* Trees from `first` on are those of another view, values and all. */
static void check_trees(const gbt_forest_view *got, uint64_t first, const gbt_forest_view *want) {
  size_t width = (size_t)want->n_leaf_outputs * sizeof(double);
  for (uint64_t t = 0; t < want->n_trees; t++) {
    const gbt_tree *a = &got->trees[first + t], *b = &want->trees[t];
    if (!CHECK_EQ_U64(a->n_nodes, b->n_nodes)) return;
    for (uint32_t i = 0; i < b->n_nodes; i++) {
      const gbt_node *x = &got->nodes[a->node_beg + i], *y = &want->nodes[b->node_beg + i];
      CHECK_EQ_U64(x->left, y->left);
      if (y->left == 0)
        CHECK_EQ_BYTES(got->leaf_values + x->arg.vector * (uint64_t)want->n_leaf_outputs,
                       want->leaf_values + y->arg.vector * (uint64_t)want->n_leaf_outputs, width);
      else
        CHECK_EQ_BYTES(x, y, sizeof *x);
    }
  }
}

static void forests_append_and_cut(void) {
  test_rng rng = {2};
  const forest_spec spec = {3, 2, 5, 12, SHAPE_BUSHY, 0};
  gbt_schema *schema = make_schema(&rng, 5, 10);
  gbt_forest *a = make_vector_forest(&rng, schema, &spec), *b = make_vector_forest(&rng, schema, &spec);
  gbt_forest_view first = gbt_forest_view_of(a), second = gbt_forest_view_of(b);
  gbt_forest *both = NULL;
  gbt_mem mem = gbt_mem_default();
  REQUIRE_OK(gbt_forest_new_like(&mem, &first, &both, test_err));
  CHECK_EQ_BYTES(both->base, first.base, 3 * sizeof *first.base);
  REQUIRE_OK(gbt_forest_append(both, &first, test_err));
  REQUIRE_OK(gbt_forest_append(both, &second, test_err));
  gbt_forest_view view = gbt_forest_view_of(both);
  CHECK_EQ_U64(view.n_trees, 20);
  check_vectors(&view);
  check_trees(&view, 0, &first);
  check_trees(&view, 10, &second);
  gbt_forest_view part = second; /* a view of some trees: vectors are numbered from those before it */
  part.trees += 3;
  part.n_trees = 4;
  for (size_t n = 20; n-- > 0;) {
    gbt_forest_cut(both, n);
    view = gbt_forest_view_of(both);
    CHECK_EQ_U64(view.n_trees, n);
    check_vectors(&view);
  }
  REQUIRE_OK(gbt_forest_append(both, &part, test_err));
  view = gbt_forest_view_of(both);
  check_vectors(&view);
  check_trees(&view, 0, &part);
  gbt_forest_free(a);
  gbt_forest_free(b);
  gbt_forest_free(both);
  gbt_schema_unref(schema);
}

static void shapes_that_do_not_fit_are_refused(void) {
  gbt_mem mem = gbt_mem_default();
  gbt_forest_view shape = {.n_features = 1, .n_outputs = 3, .n_leaf_outputs = 2, .n_parallel = 1};
  gbt_forest *one = NULL, *other = NULL;
  CHECK_FAILS(gbt_forest_new_like(&mem, &shape, &one, test_err), GBT_E_INTERNAL, "2 values a leaf");
  shape.n_leaf_outputs = 3;
  REQUIRE_OK(gbt_forest_new_like(&mem, &shape, &one, test_err));
  REQUIRE_OK(gbt_forest_new(&mem, 1, 3, 1, &other, test_err));
  gbt_forest_view vectors = gbt_forest_view_of(one), values = gbt_forest_view_of(other);
  CHECK_FAILS(gbt_forest_append(one, &values, test_err), GBT_E_UNSUPPORTED, "hold 1 values, those of this training 3");
  CHECK_FAILS(gbt_forest_append(other, &vectors, test_err), GBT_E_UNSUPPORTED, "hold 3 values");
  gbt_forest_free(one);
  gbt_forest_free(other);
}

typedef struct add_case {
  gbt_forest_view from;
} add_case;

/* On failure the forest is as before. */
static gbt_status add_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const add_case *c = arg;
  gbt_forest *forest;
  GBT_TRY(gbt_forest_new_like(mem, &c->from, &forest, err));
  gbt_status status = GBT_OK;
  for (uint64_t t = 0; t < c->from.n_trees && status == GBT_OK; t++) {
    gbt_tree_parts tree = gbt_tree_of(&c->from, t);
    status = gbt_forest_add(forest, &tree, err);
    gbt_forest_view view = gbt_forest_view_of(forest);
    CHECK_EQ_U64(view.n_trees, status == GBT_OK ? t + 1 : t);
    check_vectors(&view);
  }
  gbt_forest_free(forest);
  return status;
}

/* Tree `at` of trees of single outputs is output k of tree t. */
static void check_part(const gbt_forest_view *apart, uint64_t at, const gbt_forest_view *whole, uint64_t t,
                       uint64_t k) {
  const uint64_t K = (uint64_t)whole->n_outputs;
  const gbt_tree_parts one = gbt_tree_of(apart, at), all = gbt_tree_of(whole, t);
  if (!CHECK_EQ_U64(one.n_nodes, all.n_nodes) || !CHECK_EQ_U64(one.n_words, all.n_words)) return;
  CHECK_EQ_BYTES(one.count, all.count, all.n_nodes * sizeof *all.count);
  if (all.n_words > 0) CHECK_EQ_BYTES(one.sets, all.sets, all.n_words * sizeof *all.sets);
  for (uint32_t i = 0; i < all.n_nodes; i++) {
    gbt_node want = all.nodes[i];
    if (want.left == 0) want.arg.value = whole->leaf_values[all.nodes[i].arg.vector * K + k];
    CHECK_EQ_BYTES(&one.nodes[i], &want, sizeof want);
    CHECK(one.gain[i] == all.gain[i] / (double)K && one.cover[i] == all.cover[i] / (double)K);
  }
}

/* Rounds put together again: the trees of before, with sums of gains and covers. */
static void check_joined(const gbt_forest_view *apart, const gbt_forest_view *whole, uint64_t first) {
  const gbt_mem mem = gbt_mem_default();
  const uint64_t K = (uint64_t)whole->n_outputs;
  gbt_forest *joined;
  REQUIRE_OK(gbt_forest_new_like(&mem, whole, &joined, test_err));
  for (uint64_t r = 0; r < apart->n_trees / K; r++) {
    gbt_forest_view round = *apart;
    round.trees += r * K;
    round.n_trees = K;
    CHECK_OK(gbt_forest_add_joined(joined, &round, test_err));
    const gbt_forest_view got = gbt_forest_view_of(joined);
    const gbt_tree_parts tree = gbt_tree_of(&got, r), want = gbt_tree_of(whole, first + r);
    if (!CHECK_EQ_U64(got.n_trees, r + 1) || !CHECK_EQ_U64(tree.n_nodes, want.n_nodes)) break;
    check_vectors(&got);
    for (uint32_t i = 0; i < want.n_nodes; i++) {
      const size_t width = (size_t)K * sizeof(double);
      double gain = 0.0;
      for (uint64_t k = 0; k < K; k++) gain += want.gain[i] / (double)K;
      CHECK(tree.gain[i] == gain && tree.count[i] == want.count[i] && tree.nodes[i].left == want.nodes[i].left);
      if (want.nodes[i].left > 0)
        CHECK_EQ_BYTES(&tree.nodes[i], &want.nodes[i], sizeof *tree.nodes);
      else
        CHECK_EQ_BYTES(got.leaf_values + tree.nodes[i].arg.vector * K,
                       whole->leaf_values + want.nodes[i].arg.vector * K, width);
    }
  }
  gbt_forest_free(joined);
}

/* All scores are the same bits; ranges of rounds from anywhere. */
static void trees_come_apart_and_together(void) {
  test_rng rng = {8};
  for (int i = 0; i < 60; i++) {
    const forest_spec spec = {2 + i % 8, 1 + i % 3, (int32_t)test_below(&rng, 9), (int32_t)test_below(&rng, 40),
                              (tree_shape)test_below(&rng, 3), i % 2};
    scene s;
    gbt_forest *apart = NULL;
    const int64_t n_rows = test_below(&rng, 70);
    if (scene_open(&s, &rng, 1 + i % 7, &spec, n_rows, 1)) {
      const uint64_t p = (uint64_t)spec.n_parallel, K = (uint64_t)spec.n_outputs;
      const uint64_t beg = (uint64_t)test_below(&rng, spec.n_rounds + 1);
      const uint64_t end = beg + (uint64_t)test_below(&rng, (int64_t)spec.n_rounds - (int64_t)beg + 1);
      REQUIRE_OK(gbt_forest_apart(&s.ctx.mem, &s.view, beg * p, end * p, &apart, test_err));
      const gbt_forest_view view = gbt_forest_view_of(apart);
      CHECK_EQ_BYTES(view.base, s.view.base, (size_t)K * sizeof *view.base);
      CHECK(view.n_leaf_outputs == 1 && view.n_parallel == spec.n_parallel && view.n_trees == (end - beg) * p * K);
      for (uint64_t t = 0; t < view.n_trees; t++) {
        const uint64_t round = t / (p * K), k = t / p % K;
        check_part(&view, t, &s.view, (beg + round) * p + t % p, k);
      }
      if (p == 1) check_joined(&view, &s.view, beg);
      const gbt_tree_range all = {0, view.n_trees}, whole = {beg * p, end * p};
      const size_t n = (size_t)n_rows * (size_t)K;
      double *one = test_alloc(n * sizeof *one), *other = test_alloc(n * sizeof *other);
      CHECK_OK(gbt_predict_scores(&s.ctx, &view, s.binding, all, NULL, one, test_err));
      CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, whole, NULL, other, test_err));
      CHECK_EQ_BYTES(one, other, n * sizeof *one);
      free(one), free(other);
    }
    gbt_forest_free(apart);
    scene_close(&s);
  }
}

/* Apart and together; on failure the forest is as before. */
static gbt_status turn_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  const add_case *c = arg;
  gbt_forest *apart, *joined;
  GBT_TRY(gbt_forest_apart(mem, &c->from, 0, c->from.n_trees, &apart, err));
  gbt_forest_view round = gbt_forest_view_of(apart);
  gbt_status status = gbt_forest_new_like(mem, &c->from, &joined, err);
  round.n_trees = (uint64_t)round.n_outputs;
  for (uint64_t r = 0; r < c->from.n_trees && status == GBT_OK; r++, round.trees += round.n_outputs) {
    status = gbt_forest_add_joined(joined, &round, err);
    const gbt_forest_view view = gbt_forest_view_of(joined);
    CHECK_EQ_U64(view.n_trees, status == GBT_OK ? r + 1 : r);
    check_vectors(&view);
  }
  gbt_forest_free(apart);
  gbt_forest_free(joined);
  return status;
}

static void allocations_fail(void) {
  test_rng rng = {3};
  const forest_spec spec = {2, 1, 20, 30, SHAPE_BUSHY, 1};
  gbt_schema *schema = make_schema(&rng, 5, 10);
  gbt_forest *forest = make_vector_forest(&rng, schema, &spec);
  add_case c = {gbt_forest_view_of(forest)};
  CHECK(fault_sweep(add_op, &c) > 10);
  CHECK(fault_sweep(turn_op, &c) > 20);
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
}

/* Where a value goes by the information on the node that a host gets. */
static int told_left(const gbt_node_info *at, double x) {
  if (x != x) return at->missing_left;
  if (!at->by_set) return x <= at->threshold;
  if (x < 0.0) return at->bulk_left;
  uint32_t level = (uint32_t)x;
  return level / 32 < at->n_words && (at->set[level / 32] >> level % 32 & 1u);
}

/* The information on the nodes of a forest is what predictors do with them. */
static void check_told(const gbt_forest_view *view, test_rng *rng) {
  gbt_forest_info about = gbt_forest_about(view);
  uint64_t n_nodes = 0;
  CHECK_EQ_U64(about.n_rounds * about.trees_per_round, view->n_trees);
  for (uint64_t t = 0; t < about.n_trees; t++) {
    const gbt_tree *tree = &view->trees[t];
    const uint32_t *words = view->sets + tree->set_beg;
    n_nodes += gbt_tree_n_nodes(view, t);
    for (uint32_t k = 0; k < tree->n_nodes; k++) {
      const gbt_node *node = &view->nodes[tree->node_beg + k];
      gbt_node_info at = gbt_tree_node(view, t, k);
      CHECK_EQ_U64(at.left, node->left);
      CHECK_EQ_BITS(at.gain, view->gain[tree->node_beg + k]);
      CHECK_EQ_BITS(at.cover, view->cover[tree->node_beg + k]);
      CHECK_EQ_U64(at.count, view->count[tree->node_beg + k]);
      CHECK_EQ_I64(at.feature, node->left == 0 ? -1 : (int64_t)(node->feat & GBT_NODE_FEATURE));
      if (node->left == 0) {
        const double *value = view->n_vectors == 0
                                  ? &node->arg.value
                                  : view->leaf_values + node->arg.vector * (uint64_t)view->n_leaf_outputs;
        CHECK_EQ_BYTES(at.value, value, (size_t)view->n_leaf_outputs * sizeof *value);
        continue;
      }
      const double x[] = {NAN, -1.0, (double)test_below(rng, 100), make_number(rng)};
      const int n_x = at.by_set ? 3 : 4; /* levels are whole numbers */
      for (int i = 0; i < n_x; i++) CHECK_EQ_I64(told_left(&at, x[i]), gbt_goes_left(node, x[i], words));
    }
  }
  CHECK_EQ_U64(n_nodes, about.n_nodes);
}

static void hosts_are_told_what_nodes_do(void) {
  test_rng rng = {5};
  for (int vectors = 0; vectors < 2; vectors++) {
    const forest_spec spec = {3, 2, 4, 25, SHAPE_BUSHY, 0};
    gbt_schema *schema = make_schema(&rng, 9, 70);
    gbt_forest *forest = vectors ? make_vector_forest(&rng, schema, &spec) : make_forest(&rng, schema, &spec);
    gbt_forest_view view = gbt_forest_view_of(forest);
    check_told(&view, &rng);
    gbt_forest_free(forest);
    gbt_schema_unref(schema);
  }
}

/* Sums over splits do not see what leaves hold. */
static void importance_is_that_of_the_splits(void) {
  test_rng rng = {4};
  const forest_spec spec = {4, 1, 6, 30, SHAPE_BUSHY, 0};
  gbt_schema *schema = make_schema(&rng, 7, 20);
  gbt_forest *forest = make_vector_forest(&rng, schema, &spec);
  gbt_forest_view view = gbt_forest_view_of(forest);
  gbt_tree_range trees = {1, 5};
  double gain[7], cover[7], splits[7];
  gbt_importance(&view, trees, gain, cover, splits);
  for (uint32_t f = 0; f < 7; f++) {
    double g = 0.0, c = 0.0, n = 0.0;
    for (uint64_t i = view.trees[1].node_beg; i < view.trees[5].node_beg; i++)
      if (view.nodes[i].left > 0 && (view.nodes[i].feat & GBT_NODE_FEATURE) == f) {
        g += view.gain[i];
        c += view.cover[i];
        n += 1.0;
      }
    CHECK_EQ_BITS(gain[f], g);
    CHECK_EQ_BITS(cover[f], c);
    CHECK_EQ_BITS(splits[f], n);
  }
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
}

/* A model in other levels predicts the same. */
static void levels_in_another_order(void) {
  test_rng rng = {5};
  const forest_spec spec = {3, 2, 4, 20, SHAPE_BUSHY, 0};
  gbt_mem mem = gbt_mem_default();
  scene s;
  REQUIRE(scene_open(&s, &rng, 6, &spec, 200, 1));
  gbt_schema_column feat[6];
  const char *level[6][41];
  int moved = 0;
  for (int f = 0; f < 6; f++) {
    feat[f] = s.schema->col[f];
    if (feat[f].type != GBT_CATEGORICAL) continue;
    for (int32_t i = 0; i < feat[f].n_levels; i++) level[f][i] = feat[f].levels[feat[f].n_levels - 1 - i];
    feat[f].levels = level[f];
    moved += feat[f].n_levels > 1;
  }
  CHECK(moved > 0);
  gbt_schema *schema;
  gbt_forest *forest;
  gbt_binding *binding;
  gbt_tree_range all = {0, s.view.n_trees};
  double a[3 * 200], b[3 * 200];
  REQUIRE_OK(gbt_schema_new(&mem, 6, feat, &schema, test_err));
  REQUIRE_OK(gbt_forest_relevel(&mem, &s.view, s.schema, schema, &forest, test_err));
  gbt_forest_view view = gbt_forest_view_of(forest);
  check_vectors(&view);
  REQUIRE_OK(gbt_binding_new(&s.ctx, &s.table->table, schema, GBT_UNSEEN_PRIOR, &binding, test_err));
  CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, all, NULL, a, test_err));
  CHECK_OK(gbt_predict_scores(&s.ctx, &view, binding, all, NULL, b, test_err));
  CHECK_EQ_BYTES(a, b, sizeof a);
  gbt_binding_free(binding);
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
  scene_close(&s);
}

void suite_vectors(void) {
  RUN(predictions_equal_the_twin);
  RUN(forests_append_and_cut);
  RUN(shapes_that_do_not_fit_are_refused);
  RUN(trees_come_apart_and_together);
  RUN(allocations_fail);
  RUN(importance_is_that_of_the_splits);
  RUN(hosts_are_told_what_nodes_do);
  RUN(levels_in_another_order);
}
