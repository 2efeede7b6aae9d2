/* The growing forest against plain arrays, and how a node chooses a child. */
#include "fault.h"
#include "test.h"

#include "../../src/gbt/tree/check.h"
#include "../../src/gbt/tree/forest.h"

enum { MAX_TREES = 40, MAX_NODES = 30, MAX_WORDS = 6 };

/* One tree's arrays as a caller holds them. */
typedef struct plain_tree {
  uint32_t n_nodes, n_words;
  gbt_node nodes[MAX_NODES];
  double gain[MAX_NODES], cover[MAX_NODES];
  uint32_t count[MAX_NODES], sets[MAX_WORDS];
} plain_tree;

static plain_tree make_tree(test_rng *rng) {
  plain_tree t;
  memset(&t, 0, sizeof t);
  t.n_nodes = 1 + (uint32_t)test_below(rng, MAX_NODES);
  t.n_words = (uint32_t)test_below(rng, MAX_WORDS + 1);
  for (uint32_t i = 0; i < t.n_nodes; i++) {
    t.nodes[i].arg.value = test_bell(rng);
    t.nodes[i].feat = (uint32_t)test_u(rng);
    t.nodes[i].left = (uint32_t)test_below(rng, MAX_NODES);
    t.gain[i] = test_bell(rng);
    t.cover[i] = test_unit(rng);
    t.count[i] = (uint32_t)test_u(rng);
  }
  for (uint32_t i = 0; i < t.n_words; i++) t.sets[i] = (uint32_t)test_u(rng);
  return t;
}

static gbt_status add_tree(gbt_forest *forest, const plain_tree *t, gbt_error *err) {
  gbt_tree_parts tree = {t->n_nodes, t->n_words, t->nodes, t->gain, t->cover, t->count, t->sets, NULL, {0}};
  return gbt_forest_add(forest, &tree, err);
}

/* Whether the view is exactly these trees, laid end to end. */
static void check_view(const gbt_forest_view *view, const plain_tree *trees, int64_t n) {
  uint64_t n_nodes = 0, n_words = 0;
  REQUIRE(CHECK_EQ_I64(view->n_trees, n));
  for (int64_t i = 0; i < n; i++) {
    const plain_tree *t = &trees[i];
    const gbt_tree *got = &view->trees[i];
    REQUIRE(got->node_beg == n_nodes && got->set_beg == n_words && got->n_nodes == t->n_nodes);
    CHECK_EQ_I64(got->n_words, t->n_words);
    CHECK_EQ_BYTES(view->nodes + n_nodes, t->nodes, t->n_nodes * sizeof *t->nodes);
    CHECK_EQ_BYTES(view->gain + n_nodes, t->gain, t->n_nodes * sizeof *t->gain);
    CHECK_EQ_BYTES(view->cover + n_nodes, t->cover, t->n_nodes * sizeof *t->cover);
    CHECK_EQ_BYTES(view->count + n_nodes, t->count, t->n_nodes * sizeof *t->count);
    CHECK_EQ_BYTES(view->sets + n_words, t->sets, t->n_words * sizeof *t->sets);
    n_nodes += t->n_nodes;
    n_words += t->n_words;
  }
  CHECK_EQ_I64(view->n_nodes, n_nodes);
  CHECK_EQ_I64(view->n_words, n_words);
}

static void trees_are_kept_in_order(void) {
  fault f;
  fault_start(&f, 0, 0);
  gbt_mem mem = fault_mem(&f);
  test_rng rng = {61};
  gbt_forest *forest;
  REQUIRE_OK(gbt_forest_new(&mem, 5, 3, 2, &forest, test_err));
  gbt_forest_view view = gbt_forest_view_of(forest);
  CHECK(view.n_features == 5 && view.n_outputs == 3 && view.n_parallel == 2 && view.n_trees == 0 && view.n_nodes == 0);
  for (int k = 0; k < 3; k++) CHECK_EQ_BITS(view.base[k], 0.0);
  plain_tree *trees = test_alloc(MAX_TREES * sizeof *trees);
  for (int i = 0; i < MAX_TREES; i++) {
    trees[i] = make_tree(&rng);
    REQUIRE_OK(add_tree(forest, &trees[i], test_err));
    view = gbt_forest_view_of(forest);
    check_view(&view, trees, i + 1);
  }
  gbt_forest_cut(forest, MAX_TREES + 1); /* nothing to cut */
  for (int n = MAX_TREES; n >= 0; n -= 7) {
    gbt_forest_cut(forest, (size_t)n);
    view = gbt_forest_view_of(forest);
    check_view(&view, trees, n);
  }
  gbt_forest_cut(forest, 3);
  for (int i = 3; i < 10; i++) CHECK_OK(add_tree(forest, &trees[i], test_err)); /* grows on after a cut */
  view = gbt_forest_view_of(forest);
  check_view(&view, trees, 10);
  gbt_forest_cut(forest, 0);
  view = gbt_forest_view_of(forest);
  check_view(&view, trees, 0);
  free(trees);
  gbt_forest_free(forest);
  gbt_forest_free(NULL);
  CHECK_EQ_I64(f.n_live, 0);
}

static void appending_continues_a_forest(void) {
  test_rng rng = {62};
  gbt_mem mem = gbt_mem_default();
  gbt_forest *a, *b;
  REQUIRE_OK(gbt_forest_new(&mem, 2, 2, 1, &a, test_err));
  REQUIRE_OK(gbt_forest_new(&mem, 2, 2, 1, &b, test_err));
  plain_tree *trees = test_alloc(20 * sizeof *trees);
  for (int i = 0; i < 20; i++) trees[i] = make_tree(&rng);
  for (int i = 0; i < 5; i++) REQUIRE_OK(add_tree(a, &trees[i], test_err));
  for (int i = 5; i < 20; i++) REQUIRE_OK(add_tree(b, &trees[i], test_err));
  b->base[0] = 1.5;
  b->base[1] = -2.5;
  gbt_forest_view from = gbt_forest_view_of(b), view;
  REQUIRE_OK(gbt_forest_append(a, &from, test_err));
  view = gbt_forest_view_of(a);
  check_view(&view, trees, 20);
  CHECK_EQ_BITS(view.base[0], 1.5);
  CHECK_EQ_BITS(view.base[1], -2.5);
  gbt_forest_view empty = from;
  empty.n_trees = empty.n_nodes = empty.n_words = 0;
  CHECK_OK(gbt_forest_append(a, &empty, test_err));
  view = gbt_forest_view_of(a);
  check_view(&view, trees, 20);
  gbt_forest_view other = from;
  other.n_features = 3;
  CHECK_FAILS(gbt_forest_append(a, &other, test_err), GBT_E_ARG, "3 features, this one has 2");
  other = from;
  other.n_outputs = 1;
  CHECK_FAILS(gbt_forest_append(a, &other, test_err), GBT_E_ARG, "1 scores a row, this one has 2");
  other = from;
  other.n_parallel = 4;
  CHECK_FAILS(gbt_forest_append(a, &other, test_err), GBT_E_ARG, "`num_parallel_tree` is 1");
  other = from;
  other.n_nodes = UINT64_MAX / 2; /* sizes that no memory holds fail before anything is touched */
  CHECK_FAILS(gbt_forest_append(a, &other, test_err), GBT_E_MEM, "out of memory");
  view = gbt_forest_view_of(a);
  check_view(&view, trees, 20);
  free(trees);
  gbt_forest_free(a);
  gbt_forest_free(b);
}

static void wrong_shapes_are_refused(void) {
  gbt_mem mem = gbt_mem_default();
  gbt_forest *forest = (gbt_forest *)&mem;
  CHECK_FAILS(gbt_forest_new(&mem, 1, 0, 1, &forest, test_err), GBT_E_INTERNAL, "0 outputs");
  CHECK(forest == NULL);
  CHECK_FAILS(gbt_forest_new(&mem, 1, 1, 0, &forest, test_err), GBT_E_INTERNAL, "0 parallel");
  REQUIRE_OK(gbt_forest_new(&mem, 1, 1, 1, &forest, test_err));
  gbt_tree_parts none = {0, 0, NULL, NULL, NULL, NULL, NULL, NULL, {0}};
  CHECK_FAILS(gbt_forest_add(forest, &none, test_err), GBT_E_INTERNAL, "has no nodes");
  gbt_forest_free(forest);
}

typedef struct grow_case {
  plain_tree *trees;
  int n;
} grow_case;

/* Adds trees until one fails; what was added before must be untouched. Then the same with append. */
static gbt_status grow_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  grow_case *c = arg;
  gbt_forest *forest = NULL, *copy = NULL;
  gbt_forest_view view;
  gbt_status status = gbt_forest_new(mem, 1, 1, 1, &forest, err);
  CHECK((forest != NULL) == (status == GBT_OK));
  for (int i = 0; i < c->n && status == GBT_OK; i++) {
    status = add_tree(forest, &c->trees[i], err);
    view = gbt_forest_view_of(forest);
    check_view(&view, c->trees, status == GBT_OK ? i + 1 : i);
  }
  if (status == GBT_OK) status = gbt_forest_new(mem, 1, 1, 1, &copy, err);
  if (status == GBT_OK) {
    gbt_forest_view from = gbt_forest_view_of(forest);
    status = gbt_forest_append(copy, &from, err);
    view = gbt_forest_view_of(copy);
    check_view(&view, c->trees, status == GBT_OK ? c->n : 0);
  }
  gbt_forest_free(copy);
  gbt_forest_free(forest);
  return status;
}

static void failing_allocations_leave_the_forest(void) {
  test_rng rng = {63};
  grow_case c = {test_alloc(12 * sizeof *c.trees), 12};
  for (int i = 0; i < 12; i++) c.trees[i] = make_tree(&rng);
  CHECK(fault_sweep(grow_op, &c) > 20);
  free(c.trees);
}

static void a_node_chooses_a_child(void) {
  CHECK_EQ_I64(sizeof(gbt_node), 16);
  gbt_node split = {.arg.value = 2.5, .feat = 7, .left = 1};
  CHECK(gbt_goes_left(&split, 2.5, NULL) && gbt_goes_left(&split, -INFINITY, NULL));
  CHECK(!gbt_goes_left(&split, nextafter(2.5, 3.0), NULL) && !gbt_goes_left(&split, INFINITY, NULL));
  CHECK(!gbt_goes_left(&split, NAN, NULL));
  split.feat |= GBT_NODE_MISSING_LEFT;
  CHECK(gbt_goes_left(&split, NAN, NULL) && !gbt_goes_left(&split, 3.0, NULL));
  CHECK_EQ_I64(split.feat & GBT_NODE_FEATURE, 7);

  const uint32_t words[4] = {0xffffffff, 0x00000005, 0x80000000, 0xffffffff}; /* the node's set: words 1 and 2 */
  gbt_node set = {.arg.set = {1, 2}, .feat = 3 | GBT_NODE_CATEGORICAL, .left = 1};
  for (uint32_t level = 0; level < 200; level++)
    CHECK_EQ_I64(gbt_goes_left(&set, level, words), level == 0 || level == 2 || level == 63);
  CHECK(!gbt_goes_left(&set, NAN, words) && !gbt_goes_left(&set, -1.0, words));
  set.feat |= GBT_NODE_BULK_LEFT;
  CHECK(!gbt_goes_left(&set, NAN, words) && gbt_goes_left(&set, -1.0, words) && !gbt_goes_left(&set, 1.0, words));
  set.feat |= GBT_NODE_MISSING_LEFT;
  CHECK(gbt_goes_left(&set, NAN, words) && !gbt_goes_left(&set, 64.0, words));
}

/* Three trees of a leaf each. */
static void faults_of_all_trees(void) {
  const double base[1] = {0.0}, numbers[3] = {0.0, INFINITY, 1.0}, nan[3] = {0.0, 1.0, NAN};
  const gbt_mem mem = gbt_mem_default();
  for (int i = 0; i <= 6; i++) {
    gbt_tree trees[3] = {{0, 0, 1, 0}, {1, 0, 1, 0}, {2, 0, 1, 0}};
    gbt_node nodes[3];
    gbt_tree_flaw flaw;
    const char *wrong;
    memset(nodes, 0, sizeof nodes);
    gbt_forest_view view = {.n_outputs = 1, .n_leaf_outputs = 1, .n_parallel = 1, .n_trees = 3, .n_nodes = 3};
    view.base = base, view.trees = trees, view.nodes = nodes, view.gain = view.cover = numbers;
    if (i == 1) view.gain = nan;
    if (i == 2) view.cover = nan;
    if (i == 3) nodes[2].feat = 1;
    if (i == 4) trees[2].node_beg = 1;
    if (i == 5) trees[1].set_beg = 1;
    if (i == 6) view.n_nodes = 4;
    CHECK_OK(gbt_trees_check(&mem, &view, NULL, &flaw, test_err));
    CHECK((flaw.what == NULL) == (i == 0 || i > 3));
    CHECK_EQ_U64(flaw.tree, i == 0 || i > 3 ? 3 : 2);
    CHECK_OK(gbt_forest_check(&mem, &view, NULL, &wrong, test_err));
    CHECK((wrong == NULL) == (i == 0));
  }
}

void suite_forest(void) {
  RUN(faults_of_all_trees);
  RUN(trees_are_kept_in_order);
  RUN(appending_continues_a_forest);
  RUN(wrong_shapes_are_refused);
  RUN(failing_allocations_leave_the_forest);
  RUN(a_node_chooses_a_child);
}
