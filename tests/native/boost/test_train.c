/* Whole trainings: equal to the naive twin, whatever the data, parameters and constraints; equal to themselves,
 * whatever the threads, pages, instruction sets, memory and storage. */
#include "random_job.h"

static const train_how plain = {1, 0, GBT_SIMD_SCALAR, NULL};

/* ---- the twin ---- */

/* Whether every layer of a tree is split by one split: trees are full and numbered row by row. */
static int is_symmetric(const gbt_forest *f, size_t t) {
  const gbt_tree *tree = &f->trees[t];
  const gbt_node *nodes = f->nodes + tree->node_beg;
  for (uint32_t beg = 0, n = 1; beg < tree->n_nodes; beg += n, n *= 2)
    for (uint32_t i = beg; i < beg + n; i++) {
      if (i >= tree->n_nodes || (nodes[i].left == 0) != (nodes[beg].left == 0)) return 0;
      if (nodes[i].left == 0) continue;
      if (nodes[i].left != 2 * i + 1 || nodes[i].feat != nodes[beg].feat) return 0;
      if (memcmp(&nodes[i].arg, &nodes[beg].arg, sizeof nodes[i].arg) != 0) return 0;
    }
  return 1;
}

static int all_symmetric(const gbt_forest *f) {
  for (size_t t = 0; t < f->n_trees; t++)
    if (!is_symmetric(f, t)) return 0;
  return 1;
}

/* What there is in symmetric forests, so that tests can tell that they met it. */
typedef struct symmetric_seen {
  int64_t trees, splits, kept, empty, words;
} symmetric_seen;

static void see_symmetric(symmetric_seen *seen, const gbt_forest *f) {
  CHECK(all_symmetric(f));
  seen->trees += (int64_t)f->n_trees;
  seen->words += (int64_t)f->n_words;
  for (size_t i = 0; i < f->n_nodes; i++) {
    seen->splits += f->nodes[i].left > 0;
    seen->kept += f->nodes[i].left > 0 && f->gain[i] == 0.0;
    seen->empty += f->count[i] == 0;
  }
}

static void random_trainings_equal_the_twin(void) {
  int64_t splits = 0, words = 0, sparse = 0, bundled = 0;
  uint64_t digest = 0;
  symmetric_seen seen = {0};
  for (uint64_t seed = 1; seed <= test_cases(700); seed++) {
    random_job r = random_job_make(seed, 400);
    trained *a = train(&r.job, &r.how), *b = train_naively(&r.job);
    int ok = same_trained(a, b);
    if (a != NULL) {
      splits += (int64_t)a->forest->n_nodes / 2;
      words += (int64_t)a->forest->n_words;
      sparse += a->n_sparse > 0;
      bundled += a->n_bundles > 0;
      digest = forest_digest(digest, a->forest);
      if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) see_symmetric(&seen, a->forest);
    }
    trained_free(a);
    trained_free(b);
    if (!ok) random_job_tell(&r, seed);
    random_job_free(&r);
    if (!ok) break;
  }
  test_note("%" PRId64 " splits, %" PRId64 " words of sets, %" PRId64 " with sparse features, %" PRId64 " with bundles",
            splits, words, sparse, bundled);
  test_note("digest of all forests: %016" PRIx64 ", the same from every compiler", digest);
  CHECK_SEEN(splits > 5000 && words > 800 && sparse > 20 && bundled > 20); /* the trainings are trainings */
  test_note("%" PRId64 " symmetric trees, %" PRId64 " splits, %" PRId64 " kept, %" PRId64 " empty, %" PRId64 " words",
            seen.trees, seen.splits, seen.kept, seen.empty, seen.words);
  CHECK_SEEN(seen.trees > 400 && seen.splits - seen.kept > 1300 && seen.kept > 500 && seen.empty > 500 &&
             seen.words > 100);
}

/* More columns and bins than 1 MB of histograms holds for four nodes: slots are taken from open nodes, whose children
 * are then built from rows. */
static void evicted_histograms_are_built_again(void) {
  enum { COLS = 40 };
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = c % 5 == 4 ? MADE_LEVELS : c % 5 == 3 ? MADE_HOLES : MADE_BELL;
  made *m = made_new(3, 900, COLS, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 4);
  for (int variant = 0; variant < 6; variant++) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 2);
    int policy = variant / 2;
    if (test_few() && variant % 2 != policy % 2) continue;
    job.max_bin = 1000;
    job.spec.params.hist_memory = 1;
    job.spec.params.grow_policy = policy;
    job.spec.params.max_leaves = policy == GBT_LOSSGUIDE ? 60 : 0;
    job.spec.params.min_data_in_leaf = variant % 2 ? 2 : 1; /* with and without counts */
    if (policy == GBT_SYMMETRIC) job.spec.params.max_depth = 8; /* more than is kept for the last layer, in any case */
    trained *a = train(&job, &plain), *b = train_naively(&job);
    CHECK(a != NULL && (double)a->n_slots * 16.0 * 5.0 > 1048576.0);
    CHECK(a != NULL && a->forest->n_nodes > 150);
    if (a != NULL && policy == GBT_SYMMETRIC)
      CHECK(a->n_slots * 16.0 * 128.0 > 33554432.0 && all_symmetric(a->forest));
    same_trained(a, b);
    job.spec.params.hist_memory = 1024;
    trained *c = train(&job, &plain);
    same_trained(a, c);
    trained_free(a);
    trained_free(b);
    trained_free(c);
  }
  made_free(m);
}

static void sparse_features_equal_the_twin(void) {
  enum { COLS = 12 };
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++)
    kinds[c] = c < 9 ? MADE_ZEROS : c == 9 ? MADE_BELL : c == 10 ? MADE_FACTOR : MADE_HOLES;
  made *dense = made_new(5, 700, COLS, kinds);
  made_response(dense, GBT_OBJ_LOGISTIC, 1, 6);
  for (int variant = 0; variant < 8; variant++) {
    made *m = made_sparse(dense, 50);
    m->table.absent_missing = variant & 1;
    train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 3);
    job.max_bin = variant & 2 ? 1000 : 16;
    job.spec.params.min_data_in_leaf = variant & 4 ? 3 : 1;
    job.spec.params.subsample = variant & 2 ? 0.8 : 1.0;
    trained *a = train(&job, &plain), *b = train_naively(&job);
    CHECK(a != NULL && a->n_sparse >= 5);
    same_trained(a, b);
    trained_free(a);
    trained_free(b);
    made_free(m);
  }
  made_free(dense);
}

/* ---- bundles ---- */

enum { FIELDS = 6, LEVELS = 8, BUNDLED_COLS = FIELDS * LEVELS + 5 };

/* Fields of exclusive columns with others, some of them sparse. */
static made *make_fields(uint64_t seed, int64_t n_rows, int64_t spoilt, gbt_objective_kind loss, int32_t n_outputs) {
  made_kind kinds[BUNDLED_COLS];
  for (int c = 0; c < BUNDLED_COLS; c++) kinds[c] = MADE_ZEROS;
  kinds[BUNDLED_COLS - 1] = MADE_BELL;
  kinds[BUNDLED_COLS - 2] = MADE_LEVELS;
  made *m = made_new(seed, n_rows, BUNDLED_COLS, kinds);
  made_fields(m, FIELDS, LEVELS, spoilt, seed);
  made_response(m, loss, n_outputs, seed + 1);
  return m;
}

/* Bundles, no bundles, and the twin; validation sets whose columns are not exclusive, or bundled otherwise. */
static void bundles_equal_the_twin(void) {
  const gbt_objective_kind losses[] = {GBT_OBJ_LOGISTIC, GBT_OBJ_SQUARED_ERROR, GBT_OBJ_SOFTMAX};
  for (int k = 0; k < 12; k++) {
    gbt_objective_kind loss = losses[k % 3];
    int32_t n_outputs = loss == GBT_OBJ_SOFTMAX ? 3 : 1;
    int absent_missing = k == 5 || k == 7; /* then zeros that are entries would meet */
    made *m = make_fields((uint64_t)(40 + k), 900, 0, loss, n_outputs);
    made *data = k % 4 ? made_sparse(m, absent_missing ? 0 : 50) : m;
    made *valid[] = {make_fields(60, 400, 300, loss, n_outputs), make_fields(61, 500, 1, loss, n_outputs)};
    if (k % 2) made_weights(data, 62);
    data->table.absent_missing = valid[0]->table.absent_missing = absent_missing;
    train_job job = job_make(data, loss, n_outputs, 3);
    job.max_bin = k % 4 == 3 ? 1000 : 12;
    job.spec.n_valid = 2;
    job.valid[0] = valid[0];
    job.valid[1] = valid[1];
    job.spec.params.min_data_in_leaf = k % 2 ? 1 : 4;
    job.spec.params.grad_bits = k % 3;
    job.spec.params.subsample = k % 4 == 1 ? 0.7 : 1.0;
    job.spec.params.colsample_bynode = k % 5 == 2 ? 0.5 : 1.0;
    job.spec.params.min_child_weight = 0.5;
    const train_how how = {1 + k % 3, k % 2 ? 64 : 0, k % 3 ? GBT_SIMD_AUTO : GBT_SIMD_SCALAR, NULL};
    trained *a = train(&job, &how);
    job.unbundled = 1;
    trained *b = train(&job, &plain), *c = train_naively(&job);
    CHECK(a != NULL && a->n_bundles >= FIELDS && a->forest->n_nodes > 60);
    CHECK(b != NULL && b->n_bundles == 0);
    same_trained(a, b);
    same_trained(a, c);
    trained_free(a);
    trained_free(b);
    trained_free(c);
    made_free(valid[0]);
    made_free(valid[1]);
    if (data != m) made_free(data);
    made_free(m);
  }
}

/* More rows than a chunk of a histogram or a page takes. */
static void bundles_do_not_show(void) {
  const train_how hows[] = {
      {2, 0, GBT_SIMD_AUTO, NULL}, {3, 1000, GBT_SIMD_SCALAR, NULL}, {1, 65536, GBT_SIMD_AVX2, NULL}};
  made *m = make_fields(70, 70000, 0, GBT_OBJ_LOGISTIC, 1), *valid = make_fields(71, 3000, 5, GBT_OBJ_LOGISTIC, 1);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 2);
  job.spec.params.max_depth = 5;
  job.spec.n_valid = 1;
  job.valid[0] = valid;
  job.unbundled = 1;
  trained *a = train(&job, &plain);
  job.unbundled = 0;
  for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i++) {
    trained *b = train(&job, &hows[i]);
    CHECK(b != NULL && b->n_bundles >= FIELDS);
    same_trained(a, b);
    trained_free(b);
  }
  trained_free(a);
  made_free(m);
  made_free(valid);
}

/* ---- circumstances ---- */

/* More rows than a histogram's chunk or a page of 65,536 takes. */
static made *make_large(gbt_objective_kind loss, int32_t n_outputs) {
  const made_kind kinds[] = {MADE_BELL,  MADE_HOLES, MADE_LEVELS, MADE_FEW,   MADE_FACTOR,
                             MADE_ZEROS, MADE_ZEROS, MADE_ZEROS,  MADE_ZEROS, MADE_ZEROS,
                             MADE_BELL,  MADE_HOLES, MADE_FEW,    MADE_BELL,  MADE_HOLES, /* two groups in a strip */
                             MADE_BELL,  MADE_HOLES, MADE_FEW,    MADE_BELL,  MADE_HOLES,
                             MADE_BELL,  MADE_HOLES, MADE_FEW,    MADE_BELL,  MADE_HOLES};
  made *m = made_new(7, 70000, sizeof kinds / sizeof kinds[0], kinds);
  made_response(m, loss, n_outputs, 8);
  return m;
}

static train_job large_job(const made *m, const made *valid, gbt_objective_kind loss, int32_t n_outputs) {
  train_job job = job_make(m, loss, n_outputs, 2);
  job.spec.params.max_depth = 5;
  job.spec.params.subsample = 0.9;
  job.spec.n_valid = 1;
  job.valid[0] = valid;
  job.spec.n_metrics = 1;
  job.spec.metric[0] = gbt_metric_plain(gbt_metric_of_objective(loss));
  job.spec.eval_train = 1;
  return job;
}

static void circumstances_do_not_show(void) {
  const train_how hows[] = {
      {2, 0, GBT_SIMD_AUTO, NULL},    {3, 0, GBT_SIMD_SCALAR, NULL}, {8, 0, GBT_SIMD_AUTO, NULL},
      {1, 1000, GBT_SIMD_AUTO, NULL}, {2, 7, GBT_SIMD_AUTO, NULL},   {1, 65536, GBT_SIMD_AUTO, NULL},
      {3, 1000, GBT_SIMD_SCALAR, NULL}, {1, 0, GBT_SIMD_AVX2, NULL}, {1, 0, GBT_SIMD_AVX512, NULL}};
  made *m = make_large(GBT_OBJ_LOGISTIC, 1);
  made *valid = made_new(9, 5000, m->table.n_cols, m->kind);
  made_response(valid, GBT_OBJ_LOGISTIC, 1, 10);
  train_job job = large_job(m, valid, GBT_OBJ_LOGISTIC, 1);
  trained *a = train(&job, &plain);
  CHECK(a != NULL && a->forest->n_nodes > 60 && a->width == 2 && a->n_sparse == 5);
  for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i += test_few() ? 3 : 1) {
    trained *b = train(&job, &hows[i]);
    if (!same_trained(a, b))
      test_note("%d threads, pages of %d, simd %d", hows[i].threads, (int)hows[i].page_rows, (int)hows[i].simd);
    trained_free(b);
  }
  job.spec.params.hist_memory = 1;
  trained *b = train(&job, &plain);
  same_trained(a, b);
  trained_free(b);
  trained_free(a);
  made_free(m);
  made_free(valid);
}

/* Sums of gains are sums of real numbers: their order must be the nodes'. */
static void circumstances_do_not_show_in_symmetric_trees(void) {
  const train_how hows[] = {{2, 0, GBT_SIMD_AUTO, NULL}, {3, 1000, GBT_SIMD_SCALAR, NULL}, {8, 7, GBT_SIMD_AUTO, NULL},
                            {1, 0, GBT_SIMD_AVX2, NULL}, {1, 0, GBT_SIMD_AVX512, NULL}};
  made *m = make_large(GBT_OBJ_LOGISTIC, 1);
  train_job job = large_job(m, m, GBT_OBJ_LOGISTIC, 1);
  job.spec.params.grow_policy = GBT_SYMMETRIC;
  job.spec.params.max_depth = 7;
  trained *a = train(&job, &plain);
  CHECK(a != NULL && a->forest->n_nodes == 2 * 255 && all_symmetric(a->forest));
  for (size_t i = test_few() ? 1 : 0; i < sizeof hows / sizeof hows[0]; i += test_few() ? 3 : 1) {
    job.spec.params.hist_memory = i % 2 ? 1 : 1024;
    trained *b = train(&job, &hows[i]);
    if (!same_trained(a, b))
      test_note("%d threads, pages of %d, simd %d", hows[i].threads, (int)hows[i].page_rows, (int)hows[i].simd);
    trained_free(b);
  }
  trained_free(a);
  made_free(m);
}

static void equals_the_twin(const train_job *job, const train_how *hows, size_t n, int variant) {
  trained *a = train_naively(job);
  for (size_t i = 0; i < n; i++) {
    trained *b = train(job, &hows[i]);
    if (!same_trained(a, b)) test_note("variant %d, %d threads", variant, hows[i].threads);
    trained_free(b);
  }
  trained_free(a);
}

/* Deep symmetric trees of a narrow table without sparse columns: most nodes have no histogram, and threads share the
 * columns of a group. */
static void nodes_without_histograms_equal_the_twin(void) {
  static const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FEW, MADE_HOLED, MADE_BELL};
  const train_how hows[] = {{2, 0, GBT_SIMD_AUTO, NULL},
                            {8, 0, GBT_SIMD_SCALAR, NULL},
                            {5, 700, GBT_SIMD_AVX2, NULL},
                            {9, 0, GBT_SIMD_AUTO, NULL}};
  made *m = made_new(31, 6000, sizeof kinds / sizeof kinds[0], kinds);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 32);
  for (int variant = 0; variant < 4; variant++) {
    train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 1);
    job.max_bin = variant == 1 ? 1000 : 200; /* two bytes a code, or one */
    job.spec.params.grow_policy = GBT_SYMMETRIC;
    job.spec.params.max_depth = 8;
    job.spec.params.min_child_weight = 0.0;
    job.spec.params.min_data_in_leaf = variant == 2 ? 3 : 1;
    job.spec.params.grad_bits = variant == 3 ? GBT_GRAD_32 : GBT_GRAD_16;
    equals_the_twin(&job, hows, sizeof hows / sizeof hows[0], variant);
  }
  made_free(m);
}

/* The same where nodes are split one by one: sets of levels, features drawn by node, noise, cuts drawn at random. */
static void nodes_without_histograms_are_split_alone(void) {
  static const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_LEVELS, MADE_FEW, MADE_HOLED, MADE_LEVELS, MADE_BELL};
  const train_how hows[] = {{1, 0, GBT_SIMD_AUTO, NULL}, {8, 0, GBT_SIMD_SCALAR, NULL}, {3, 70, GBT_SIMD_AVX2, NULL}};
  for (int variant = 0; variant < 8; variant++) {
    const int32_t rows = variant % 2 ? 1500 : 257;
    made *m = made_new(41 + (uint64_t)variant, rows, sizeof kinds / sizeof kinds[0], kinds);
    made_response(m, GBT_OBJ_LOGISTIC, 1, 42);
    train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 2);
    gbt_params *params = &job.spec.params;
    job.max_bin = variant == 1 ? 1000 : 200; /* two bytes a code, or one */
    params->grow_policy = variant % 2 ? GBT_LOSSGUIDE : GBT_DEPTHWISE;
    params->max_depth = 7;
    params->max_leaves = variant % 2 ? 60 : 0;
    params->min_child_weight = 0.0;
    params->max_cat_onehot = variant == 7 ? 1000 : 4;
    params->min_data_in_leaf = variant == 2 || variant == 3 ? 3 : 1;
    params->grad_bits = variant == 4 ? GBT_GRAD_32 : GBT_GRAD_16;
    params->colsample_bynode = variant == 5 || variant == 2 ? 0.5 : 1.0;
    params->random_strength = variant == 6 ? 1.0 : 0.0;
    params->extra_trees = variant == 3;
    equals_the_twin(&job, hows, sizeof hows / sizeof hows[0], variant);
    made_free(m);
  }
}

/* With one node a layer, the layer's split is the node's: numbers and one level against the rest. */
static void one_layer_is_one_node(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_FEW, MADE_LEVELS, MADE_HOLED, MADE_ZEROS};
  made *m = made_new(23, 800, sizeof kinds / sizeof kinds[0], kinds);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 24);
  for (int variant = 0; variant < 4; variant++) {
    train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 20);
    job.spec.params.max_depth = 1;
    job.spec.params.max_cat_onehot = 1000;
    job.spec.params.min_data_in_leaf = variant % 2 ? 30 : 1;
    job.spec.params.max_delta_step = variant / 2 ? 0.2 : 0.0;
    trained *a = train(&job, &plain);
    job.spec.params.grow_policy = GBT_SYMMETRIC;
    trained *b = train(&job, &plain);
    CHECK(a != NULL && a->forest->n_nodes == 60);
    same_trained(a, b);
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
}

static void circumstances_do_not_show_with_classes(void) {
  const train_how hows[] = {
      {3, 1000, GBT_SIMD_AUTO, NULL}, {2, 7, GBT_SIMD_SCALAR, NULL}, {1, 65536, GBT_SIMD_AVX2, NULL}};
  made *m = make_large(GBT_OBJ_SOFTMAX, 3);
  made_weights(m, 11);
  train_job job = large_job(m, m, GBT_OBJ_SOFTMAX, 3);
  job.spec.params.grow_policy = GBT_LOSSGUIDE;
  job.spec.params.max_leaves = 10;
  job.spec.params.min_data_in_leaf = 20;
  job.spec.params.grad_bits = GBT_GRAD_32;
  trained *a = train(&job, &plain);
  for (size_t i = 0; i < sizeof hows / sizeof hows[0]; i += test_few() ? 2 : 1) {
    trained *b = train(&job, &hows[i]);
    same_trained(a, b);
    trained_free(b);
  }
  trained_free(a);
  made_free(m);
}

static void large_trainings_equal_the_twin(void) {
  made *m = make_large(GBT_OBJ_SQUARED_ERROR, 1);
  for (int bits = GBT_GRAD_16; bits <= GBT_GRAD_32; bits++) {
    train_job job = large_job(m, m, GBT_OBJ_SQUARED_ERROR, 1);
    train_how how = {2, 1000, GBT_SIMD_AUTO, NULL};
    job.spec.params.grad_bits = bits;
    job.spec.params.min_data_in_leaf = bits == GBT_GRAD_16 ? 1 : 5;
    trained *a = train(&job, &how), *b = train_naively(&job);
    same_trained(a, b);
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
}

/* Nodes of one chunk, of several and of none; ties; rows that weigh nothing; forests; every policy. */
static void leaves_of_many_rows_are_quantiles(void) {
  static const int64_t sizes[] = {1, 2, 16384, 16385, 40000, 1024, 1025, 5000};
  static const gbt_objective_kind losses[] = {GBT_OBJ_QUANTILE, GBT_OBJ_ABSOLUTE_ERROR, GBT_OBJ_MAPE};
  static const int8_t signs[] = {1, -1};
  const made_kind kinds[] = {MADE_BELL, MADE_FEW};
  for (int i = test_few() ? 2 : 0; i < 30; i += !test_few() ? 1 : i < 27 ? 5 : 2) { /* few: each size but 1, and 29 */
    const gbt_objective_kind loss = losses[i % 3];
    made *m = made_new((uint64_t)i + 1, sizes[i % 8], 2, kinds);
    made_response(m, loss, 1, 4);
    if (i % 2) made_weights(m, 5);
    for (int64_t r = 0; i % 4 < 2 && r < m->table.n_rows; r++) m->label[r] = floor(m->label[r] * 2.0);
    for (int64_t r = 0; i == 29 && r < m->table.n_rows; r++) m->weight[r] = r == 0; /* leaves of no weight */
    train_job job = job_make(m, loss, 1, 2);
    job.spec.objective = made_objective(loss, 1, (uint64_t)i);
    job.spec.params.grow_policy = i % 9 / 3;
    job.spec.params.max_depth = 2 + i % 4 / 3;
    job.spec.monotone = i % 5 > 1 && i % 4 > 1 ? signs : NULL;
    job.spec.params.min_child_weight = 0.0;
    job.spec.params.num_parallel_tree = 1 + i % 2;
    job.spec.params.subsample = i % 7 == 0 ? 0.8 : 1.0;
    trained *b = train_naively(&job);
    for (int threads = 1; threads <= 3; threads += 2) {
      trained *a = train(&job, &(train_how){threads, 0, GBT_SIMD_AUTO, NULL});
      if (!same_trained(a, b)) test_note("case %d, %d threads", i, threads);
      trained_free(a);
    }
    trained_free(b);
    made_free(m);
  }
}

/* A single leaf whose value is looked for where that of some of its rows is: every 16th row is far from the others,
 * nearly all rows are alike, or those of half the weight are. */
static void some_rows_do_not_stand_for_all(void) {
  static const int64_t sizes[] = {1025, 1040, 3000, 16384};
  static const double base[] = {0.375}; /* not their quantile, or the leaf would be 0 */
  const made_kind kinds[] = {MADE_BELL};
  for (int i = 0; i < 24; i++) {
    const int64_t n = sizes[i % 4];
    made *m = made_new((uint64_t)i + 1, n, 1, kinds);
    made_response(m, GBT_OBJ_QUANTILE, 1, 4);
    if (i / 4 >= 4) made_weights(m, 5);
    for (int64_t r = 0; r < n; r++) {
      if (i / 4 % 2 == 0) m->label[r] += r % 16 == 15 ? 100.0 : 0.0;
      if (i / 4 % 2 == 1 && r % 50 > 0) m->label[r] = 1.0;
      if (i / 4 >= 4 && r % 16 == 15) m->weight[r] *= 15.0;
    }
    train_job job = job_make(m, GBT_OBJ_QUANTILE, 1, 2);
    job.spec.objective = made_objective(GBT_OBJ_QUANTILE, 1, (uint64_t)i);
    job.spec.params.min_data_in_leaf = n;
    job.spec.base = base;
    trained *a = train(&job, &plain), *b = train_naively(&job);
    if (!same_trained(a, b)) test_note("case %d", i);
    trained_free(a);
    trained_free(b);
    made_free(m);
  }
}

/* ---- storage ---- */

static void storage_does_not_show(void) {
  int64_t splits = 0;
  for (uint64_t seed = 1000; seed < 1000 + test_cases(40); seed++) {
    random_job r = random_job_make(seed, 600);
    made *sparse = made_sparse(r.data, 50);
    train_job job = r.job;
    job.data = sparse;
    trained *a = train(&r.job, &r.how), *b = train(&job, &r.how);
    if (!same_trained(a, b)) random_job_tell(&r, seed);
    if (a != NULL) splits += (int64_t)a->forest->n_nodes / 2;
    trained_free(a);
    trained_free(b);
    made_free(sparse);
    random_job_free(&r);
  }
  CHECK_SEEN(splits > 100);
}

/* Whole numbers as integers or as doubles; a column of no use in between. */
static void number_types_do_not_show(void) {
  const made_kind kinds[] = {MADE_FEW, MADE_BELL, MADE_FEW};
  made *m = made_new(12, 500, 3, kinds), *twin = made_new(12, 500, 3, kinds);
  made_response(m, GBT_OBJ_POISSON, 1, 13);
  made_response(twin, GBT_OBJ_POISSON, 1, 13);
  for (int32_t c = 0; c < 3; c += 2) {
    gbt_column *col = (gbt_column *)&twin->table.cols[c];
    double *x = test_alloc(500 * sizeof *x);
    for (int r = 0; r < 500; r++) x[r] = ((const int32_t *)col->values)[r];
    free((void *)col->values);
    col->values = x;
    col->storage = GBT_F64;
  }
  train_job job = job_make(m, GBT_OBJ_POISSON, 1, 5), other = job_make(twin, GBT_OBJ_POISSON, 1, 5);
  trained *a = train(&job, &plain), *b = train(&other, &plain);
  same_trained(a, b);
  trained_free(a);
  trained_free(b);
  made_free(m);
  made_free(twin);
}

/* ---- odd data ---- */

static void trivial_data_give_trivial_trees(void) {
  const made_kind nothing[] = {MADE_NOTHING, MADE_CONSTANT, MADE_NOTHING}, bell[] = {MADE_BELL, MADE_FACTOR};
  made *useless = made_new(14, 200, 3, nothing), *single = made_new(15, 1, 2, bell), *flat = made_new(16, 200, 2, bell);
  made_response(useless, GBT_OBJ_SQUARED_ERROR, 1, 17);
  made_response(single, GBT_OBJ_SQUARED_ERROR, 1, 17);
  made_response(flat, GBT_OBJ_SQUARED_ERROR, 1, 17);
  for (int r = 0; r < 200; r++) flat->label[r] = 0.1; /* no sum of it is exact */
  const made *all[] = {useless, single, flat};
  for (int i = 0; i < 3; i++) {
    train_job job = job_make(all[i], GBT_OBJ_SQUARED_ERROR, 1, 3);
    trained *a = train(&job, &plain), *b = train_naively(&job);
    if (CHECK(a != NULL)) CHECK_EQ_I64(a->forest->n_nodes, 3);
    same_trained(a, b);
    for (int64_t r = 0; a != NULL && i > 0 && r < a->n_rows[0]; r++) CHECK_EQ_BITS(a->score[0][r], all[i]->label[r]);
    trained_free(a);
    trained_free(b);
  }
  made_free(useless);
  made_free(single);
  made_free(flat);
}

/* One column of every kind, and every loss, down to one row. */
static void single_columns_equal_the_twin(void) {
  const gbt_objective_kind losses[] = {GBT_OBJ_SQUARED_ERROR, GBT_OBJ_LOGISTIC, GBT_OBJ_SOFTMAX, GBT_OBJ_POISSON,
                                       GBT_OBJ_CUSTOM};
  for (int kind = 0; kind < MADE_KINDS; kind++)
    for (int c = 0; c < 15; c++) {
      const int64_t rows[] = {1, 2, 300};
      made_kind k = (made_kind)kind;
      gbt_objective_kind loss = losses[c / 3];
      int32_t n_outputs = loss == GBT_OBJ_SOFTMAX ? 3 : 1;
      made *m = made_new((uint64_t)(18 + kind), rows[c % 3], 1, &k);
      made_response(m, loss, n_outputs, 19);
      train_job job = job_make(m, loss, n_outputs, 2);
      job.spec.params.min_child_weight = 0.0;
      trained *a = train(&job, &plain), *b = train_naively(&job);
      same_trained(a, b);
      trained_free(a);
      trained_free(b);
      made_free(m);
    }
}

/* Missing values whose rows weigh nothing: they must move where the model sends them. */
static void weightless_missing_rows_follow_the_model(void) {
  const made_kind kinds[] = {MADE_HOLES, MADE_HOLED, MADE_HOLED};
  made *m = made_new(20, 300, 3, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 21);
  made_weights(m, 22);
  for (int r = 0; r < 300; r++) {
    const double *x = m->table.cols[0].values;
    const int32_t *codes[] = {m->table.cols[1].values, m->table.cols[2].values};
    if (x[r] != x[r] || codes[0][r] == INT32_MIN || codes[1][r] == INT32_MIN) m->weight[r] = 0.0;
  }
  for (int variant = 0; variant < 8; variant++) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 3);
    job.spec.params.max_cat_onehot = variant & 1 ? 4 : 50;
    job.spec.params.min_data_in_leaf = variant & 2 ? 4 : 1;
    job.spec.params.min_data_per_group = variant & 2 ? 10 : 1;
    job.spec.params.cat_smooth = variant & 4 ? 0.0 : 2.0;
    trained *a = train(&job, &plain), *b = train_naively(&job); /* train() compares with predictions */
    CHECK(a != NULL && a->forest->n_nodes > 10);
    same_trained(a, b);
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
}

void suite_train(void) {
  RUN(random_trainings_equal_the_twin);
  RUN(evicted_histograms_are_built_again);
  RUN(sparse_features_equal_the_twin);
  RUN(bundles_equal_the_twin);
  RUN(bundles_do_not_show);
  RUN(circumstances_do_not_show);
  RUN(circumstances_do_not_show_in_symmetric_trees);
  RUN(nodes_without_histograms_equal_the_twin);
  RUN(nodes_without_histograms_are_split_alone);
  RUN(one_layer_is_one_node);
  RUN(circumstances_do_not_show_with_classes);
  RUN(large_trainings_equal_the_twin);
  RUN(leaves_of_many_rows_are_quantiles);
  RUN(some_rows_do_not_stand_for_all);
  RUN(storage_does_not_show);
  RUN(number_types_do_not_show);
  RUN(trivial_data_give_trivial_trees);
  RUN(single_columns_equal_the_twin);
  RUN(weightless_missing_rows_follow_the_model);
}
