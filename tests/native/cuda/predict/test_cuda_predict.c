/* Prediction on the device: the bytes of the CPU, whatever the forest, the table, the chunks and the room there is. */
#include "../../src/cuda/predict/predict.h"

#include "../../src/gbt/backend/device_api.h"
#include "../../src/gbt/model/model_impl.h"
#include "fault.h"
#include "model_seeds.h"
#include "mutate.h"
#include "predict_scene.h"
#include "random_job.h"
#include "schedules.h"

const gbt_device_api *gbt_cuda_api(void);

static void bind_rows(scene *s, test_rng *rng, int64_t n_rows) {
  gbt_unseen unseen = test_below(rng, 2) ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING;
  s->view = gbt_forest_view_of(s->forest);
  s->table = make_table(rng, s->schema, n_rows);
  s->ctx = test_ctx(NULL, 1 + (int)test_below(rng, 3));
  CHECK_OK(gbt_binding_new(&s->ctx, &s->table->table, s->schema, unseen, &s->binding, test_err));
}

static scene scene_open(test_rng *rng, int32_t n_features, int32_t levels, const forest_spec *spec, int64_t n_rows) {
  scene s;
  memset(&s, 0, sizeof s);
  s.schema = make_schema(rng, n_features, levels);
  s.forest = make_forest(rng, s.schema, spec);
  bind_rows(&s, rng, n_rows);
  return s;
}

static gbt_tree_range all_trees(const scene *s) {
  gbt_tree_range trees = {0, s->view.n_trees};
  return trees;
}

static gbt_status scores_on_device(scene *s, gbt_tree_range trees, const cu_predict_limits *limits,
                                   const double *offset, double *out, gbt_error *err) {
  gbti_predict_job job = {&s->view, s->binding, s->table->table.n_rows, trees.beg, out, NULL};
  GBT_TRY(gbti_predict_start(&s->ctx, &job, offset, err));
  return cu_predict(&s->ctx, 0, &job, trees, limits, err);
}

static gbt_status leaves_on_device(scene *s, gbt_tree_range trees, const cu_predict_limits *limits, int32_t *out,
                                   gbt_error *err) {
  gbti_predict_job job = {&s->view, s->binding, s->table->table.n_rows, trees.beg, NULL, out};
  return cu_predict(&s->ctx, 0, &job, trees, limits, err);
}

/* Scores and leaves of the CPU and of the device. */
static int same_on_device(scene *s, test_rng *rng, gbt_tree_range trees, const cu_predict_limits *limits) {
  int64_t n_rows = s->table->table.n_rows;
  size_t n = (size_t)(n_rows * s->view.n_outputs), n_leaves = (size_t)n_rows * (size_t)(trees.end - trees.beg);
  double *offset = NULL, *cpu = test_alloc(n * sizeof *cpu), *cuda = test_alloc(n * sizeof *cuda);
  int32_t *cpu_leaves = test_alloc(n_leaves * 4), *cuda_leaves = test_alloc(n_leaves * 4);
  if (test_below(rng, 2)) {
    offset = test_alloc(n * sizeof *offset);
    for (size_t i = 0; i < n; i++) offset[i] = test_bell(rng);
  }
  memset(cuda, 0xff, n * sizeof *cuda);
  memset(cuda_leaves, 0xff, n_leaves * 4);
  CHECK_OK(gbt_predict_scores(&s->ctx, &s->view, s->binding, trees, offset, cpu, test_err));
  CHECK_OK(gbt_predict_leaves(&s->ctx, &s->view, s->binding, trees, cpu_leaves, test_err));
  int ok = CHECK_OK(scores_on_device(s, trees, limits, offset, cuda, test_err));
  ok &= CHECK_OK(leaves_on_device(s, trees, limits, cuda_leaves, test_err));
  ok &= CHECK_EQ_BYTES(cuda, cpu, n * sizeof *cpu);
  ok &= CHECK_EQ_BYTES(cuda_leaves, cpu_leaves, n_leaves * 4);
  free(offset);
  free(cpu);
  free(cuda);
  free(cpu_leaves);
  free(cuda_leaves);
  return ok;
}

static cu_predict_limits make_limits(test_rng *rng, int64_t n_rows) {
  static const int64_t rows[] = {0, 1, 7, 32, 100};
  static const size_t shared[] = {0, 64, 600, 4096}, forest[] = {0, 1, 3000};
  cu_predict_limits limits = {0};
  limits.chunk_rows = rows[test_below(rng, 5)];
  if (limits.chunk_rows > 0 && n_rows / limits.chunk_rows > 8) limits.chunk_rows = n_rows / 3;
  limits.shared_bytes = shared[test_below(rng, 4)];
  limits.forest_bytes = forest[test_below(rng, 3)];
  limits.rows = test_below(rng, 2) ? 4 : (int32_t)test_below(rng, 2);
  limits.blocks = test_below(rng, 2) ? 1 : (int32_t)test_below(rng, 4);
  return limits;
}

static forest_spec make_spec(test_rng *rng) {
  forest_spec spec;
  spec.n_outputs = test_below(rng, 2) ? 1 : 1 + (int32_t)test_below(rng, 4);
  spec.n_parallel = 1 + (int32_t)test_below(rng, 3);
  spec.n_rounds = (int32_t)test_below(rng, 10);
  spec.n_splits = (int32_t)test_below(rng, 50);
  spec.shape = (tree_shape)test_below(rng, 3);
  spec.exact_size = (int)test_below(rng, 2);
  return spec;
}

static int random_scene(test_rng *rng) {
  static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 300, 700, 1025};
  forest_spec spec = make_spec(rng);
  int64_t n_rows = sizes[test_below(rng, 12)];
  scene s = scene_open(rng, (int32_t)test_below(rng, 12), test_below(rng, 3) ? 40 : 300, &spec, n_rows);
  if (spec.n_outputs > 1 && test_below(rng, 2)) { /* leaves hold a value for every output */
    gbt_forest_free(s.forest);
    s.forest = make_vector_forest(rng, s.schema, &spec);
    s.view = gbt_forest_view_of(s.forest);
  }
  cu_predict_limits limits = make_limits(rng, n_rows);
  gbt_tree_range some = all_trees(&s);
  if (test_below(rng, 2)) {
    some.beg = (uint64_t)test_below(rng, (int64_t)s.view.n_trees + 1);
    some.end = some.beg + (uint64_t)test_below(rng, (int64_t)(s.view.n_trees - some.beg) + 1);
  }
  int ok = same_on_device(&s, rng, some, &limits);
  scene_close(&s);
  return ok;
}

static void random_forests_are_those_of_the_cpu(void) {
  test_rng rng = {1};
  int bad = 0;
  for (int k = 0; test_schedule(k); k++)
    for (int i = 0; i < 40 && bad < 3; i++) bad += !random_scene(&rng);
}

/* Returns 1 when the bytes are a model. */
static int crafted_scene(test_rng *rng, const uint8_t *bytes, size_t n) {
  gbt_mem mem = gbt_mem_default();
  gbt_model *model;
  gbt_error err;
  if (gbt_model_open(&mem, bytes, n, &model, &err) != GBT_OK) return 0;
  scene s = {.view = model->parts.forest, .schema = model->schema, .ctx = test_ctx(NULL, 1)};
  s.table = make_table(rng, s.schema, 40);
  cu_predict_limits limits = make_limits(rng, 40);
  if (CHECK_OK(gbt_binding_new(&s.ctx, &s.table->table, s.schema, GBT_UNSEEN_PRIOR, &s.binding, test_err)))
    same_on_device(&s, rng, all_trees(&s), &limits);
  gbt_binding_free(s.binding);
  free_table(s.table);
  gbt_ctx_close(&s.ctx);
  gbt_model_close(model);
  return 1;
}

/* Whatever opens is predicted with, wherever it comes from. Mutations of mutations, so that models become odd. */
static void crafted_models(void) {
  enum { MOST = 8192, EACH = 200 };
  test_rng rng = {11};
  int n_models = 0;
  for (uint64_t seed = 0; seed < MODEL_SEEDS; seed++) {
    size_t n, n_next;
    uint8_t *now = model_seed(seed, &n), *next = test_alloc(MOST);
    for (int i = 0; i < EACH && now != NULL; i++) {
      memcpy(next, now, n);
      n_next = mutate_model(&rng, next, n, MOST);
      if (!crafted_scene(&rng, next, n_next)) continue;
      free(now);
      now = next;
      n = n_next;
      next = test_alloc(MOST);
      n_models++;
    }
    free(now);
    free(next);
  }
  CHECK(n_models > 100);
}

static void the_door_leads_there(void) {
  test_rng rng = {2};
  const forest_spec spec = {3, 2, 6, 30, SHAPE_BUSHY, 0};
  scene s = scene_open(&rng, 9, 40, &spec, 400);
  const gbt_device_api *api = gbt_cuda_api();
  double cpu[400 * 3], cuda[400 * 3];
  int32_t *cpu_leaves = test_alloc(400 * 36 * 4), *cuda_leaves = test_alloc(400 * 36 * 4);
  gbt_tree_range some = {5, 33};
  REQUIRE(api->scores != NULL && api->leaves != NULL);
  CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, some, NULL, cpu, test_err));
  CHECK_OK(api->scores(&s.ctx, 0, &s.view, s.binding, 5, 28, NULL, cuda, test_err));
  CHECK_EQ_BYTES(cuda, cpu, sizeof cpu);
  CHECK_OK(gbt_predict_leaves(&s.ctx, &s.view, s.binding, some, cpu_leaves, test_err));
  CHECK_OK(api->leaves(&s.ctx, 0, &s.view, s.binding, 5, 28, cuda_leaves, test_err));
  CHECK_EQ_BYTES(cuda_leaves, cpu_leaves, 400 * 28 * 4);
  CHECK_FAILS(api->scores(&s.ctx, 0, &s.view, s.binding, 5, 32, NULL, cuda, test_err), GBT_E_ARG, "has 36");
  CHECK_FAILS(api->leaves(&s.ctx, 0, &s.view, s.binding, 37, 0, cuda_leaves, test_err), GBT_E_ARG, "has 36");
  free(cpu_leaves);
  free(cuda_leaves);
  scene_close(&s);
}

/* A chain of 3000 splits; its tree has room in shared memory, or not. */
static void deep_trees(void) {
  test_rng rng = {3};
  const forest_spec spec = {1, 1, 3, 3000, SHAPE_CHAIN, 1};
  scene s = scene_open(&rng, 7, 40, &spec, 70);
  cu_predict_limits limits = {0};
  same_on_device(&s, &rng, all_trees(&s), &limits);
  limits.shared_bytes = 16384;
  limits.chunk_rows = 33;
  same_on_device(&s, &rng, all_trees(&s), &limits);
  scene_close(&s);
}

/* A run of the pack ends at 4096 trees; trees that are a leaf alone are as good as any. */
static void many_trees_take_several_runs(void) {
  test_rng rng = {4};
  const forest_spec spec = {3, 1, 3000, 1, SHAPE_BUSHY, 0};
  scene s = scene_open(&rng, 5, 40, &spec, 40);
  cu_predict_limits limits = {0};
  same_on_device(&s, &rng, all_trees(&s), &limits);
  limits.forest_bytes = 1;
  limits.shared_bytes = 2048;
  same_on_device(&s, &rng, all_trees(&s), &limits);
  scene_close(&s);
}

/* Codes have no room in shared memory, and there are more columns of them than a block has threads. */
static void many_columns(void) {
  test_rng rng = {5};
  const forest_spec spec = {1, 2, 4, 400, SHAPE_BUSHY, 1};
  scene s = scene_open(&rng, 700, 10, &spec, 300);
  cu_predict_limits limits = {0};
  same_on_device(&s, &rng, all_trees(&s), &limits);
  limits.rows = 4;
  limits.chunk_rows = 290;
  same_on_device(&s, &rng, all_trees(&s), &limits);
  scene_close(&s);
}

/* ---- trees that are given ---- */

static void add_tree(scene *s, uint32_t n, const gbt_node *nodes, uint32_t n_words, const uint32_t *words) {
  double *zeros = test_alloc(n * sizeof *zeros);
  uint32_t *counts = test_alloc(n * sizeof *counts);
  memset(zeros, 0, n * sizeof *zeros);
  memset(counts, 0, n * sizeof *counts);
  gbt_tree_parts tree = {n, n_words, nodes, zeros, zeros, counts, words, NULL, {0}};
  CHECK_OK(gbt_forest_add(s->forest, &tree, test_err));
  free(zeros);
  free(counts);
}

/* One feature, no trees, no rows. */
static scene one_feature(gbt_feature_type type, int32_t n_levels, int32_t n_outputs) {
  gbt_mem mem = gbt_mem_default();
  scene s;
  char(*text)[16] = test_alloc((size_t)(n_levels + 1) * sizeof *text);
  const char **levels = test_alloc((size_t)(n_levels + 1) * sizeof *levels);
  for (int32_t i = 0; i < n_levels; i++) {
    snprintf(text[i], sizeof text[i], "L%d", (int)i);
    levels[i] = text[i];
  }
  gbt_schema_column feat = {"x", "", type, n_levels, levels};
  memset(&s, 0, sizeof s);
  CHECK_OK(gbt_schema_new(&mem, 1, &feat, &s.schema, test_err));
  CHECK_OK(gbt_forest_new(&mem, 1, n_outputs, 1, &s.forest, test_err));
  free(text);
  free(levels);
  return s;
}

/* All splits by sets: one that they share, or parts of n_words of any length. */
static void add_set_tree(scene *s, test_rng *rng, int32_t n_splits, uint32_t n_words, int shared) {
  gbt_node *nodes = test_alloc((size_t)(2 * n_splits + 1) * sizeof *nodes);
  uint32_t *words = test_alloc((size_t)n_words * sizeof *words), none;
  uint32_t n = make_tree(rng, s->schema, n_splits, SHAPE_BUSHY, nodes, words, 0, &none);
  for (uint32_t i = 0; i < n_words; i++) words[i] = (uint32_t)test_u(rng);
  for (uint32_t i = 0; i < n; i++) {
    if (nodes[i].left == 0) continue;
    nodes[i].feat |= GBT_NODE_CATEGORICAL;
    if (shared) nodes[i].feat = nodes[0].feat;
    nodes[i].arg.set.n_words = shared || i == 0 ? n_words : 1 + (uint32_t)test_below(rng, n_words);
    nodes[i].arg.set.beg = (uint32_t)test_below(rng, (int64_t)(n_words - nodes[i].arg.set.n_words) + 1);
  }
  add_tree(s, n, nodes, n_words, words);
  free(nodes);
  free(words);
}

/* Sets of more than 2046 words cannot be packed: such trees go as they are, between others that are packed. */
static void sets_of_any_length(void) {
  test_rng rng = {6};
  static const uint32_t lengths[] = {1, 2046, 2047, 2187, 3, 2188, 2189, 1};
  scene s = one_feature(GBT_CATEGORICAL, 70000, 3);
  for (int i = 0; i < 8; i++) add_set_tree(&s, &rng, 9, lengths[i], 0);
  add_set_tree(&s, &rng, 30, 1500, 1);
  bind_rows(&s, &rng, 600);
  cu_predict_limits limits = {0};
  same_on_device(&s, &rng, all_trees(&s), &limits);
  limits.shared_bytes = 512;
  limits.forest_bytes = 1;
  limits.chunk_rows = 200;
  same_on_device(&s, &rng, all_trees(&s), &limits);
  limits.chunk_rows = 0;
  for (uint64_t t = 0; t < s.view.n_trees; t++) {
    gbt_tree_range one = {t, t + 1};
    same_on_device(&s, &rng, one, &limits);
  }
  scene_close(&s);
}

/* More thresholds than a pack takes: in two trees, and in one. */
static void many_thresholds(void) {
  test_rng rng = {7};
  scene s = one_feature(GBT_NUMERIC, 0, 1);
  static const int depths[] = {15, 15, 15, 17, 4};
  for (int i = 0; i < 5; i++) {
    uint32_t n_splits = ((uint32_t)1 << depths[i]) - 1, n = 2 * n_splits + 1;
    gbt_node *nodes = test_alloc(n * sizeof *nodes);
    memset(nodes, 0, n * sizeof *nodes);
    for (uint32_t j = 0; j < n; j++) {
      nodes[j].arg.value = j < n_splits ? test_bell(&rng) * 4.0 : (double)j;
      if (j >= n_splits) continue;
      nodes[j].left = 2 * j + 1;
      nodes[j].feat = test_below(&rng, 2) ? GBT_NODE_MISSING_LEFT : 0;
    }
    add_tree(&s, n, nodes, 0, NULL);
    free(nodes);
  }
  bind_rows(&s, &rng, 300);
  cu_predict_limits limits = {0};
  same_on_device(&s, &rng, all_trees(&s), &limits);
  limits.forest_bytes = 1;
  same_on_device(&s, &rng, all_trees(&s), &limits);
  scene_close(&s);
}

/* Layers with one split each, or with one that differs from its layer's somewhere. */
static void trees_of_layers(void) {
  test_rng rng = {12};
  gbt_mem mem = gbt_mem_default();
  scene s;
  memset(&s, 0, sizeof s);
  s.schema = make_schema(&rng, 6, 100);
  REQUIRE_OK(gbt_forest_new(&mem, 6, 2, 1, &s.forest, test_err));
  for (int t = 0; t < 40; t++) {
    int32_t depth = t == 0 ? 11 : (int32_t)test_below(&rng, 7), n_splits = (1 << depth) - 1;
    gbt_node *nodes = test_alloc((size_t)(2 * n_splits + 1) * sizeof *nodes);
    uint32_t *words = test_alloc(16384 * sizeof *words), n_words;
    uint32_t n = make_tree(&rng, s.schema, n_splits, SHAPE_COMPLETE, nodes, words, 16384, &n_words);
    for (uint32_t i = 0, first = 0; i < (uint32_t)n_splits; i++) {
      if (i == 2 * first + 1) first = i;
      nodes[i].feat = nodes[first].feat;
      nodes[i].arg = nodes[first].arg;
    }
    if (t % 4 == 3 && depth > 1) nodes[1 + test_below(&rng, n_splits - 1)].feat ^= GBT_NODE_MISSING_LEFT;
    add_tree(&s, n, nodes, n_words, words);
    free(nodes);
    free(words);
  }
  bind_rows(&s, &rng, 700);
  for (int i = 0; i < 6; i++) {
    cu_predict_limits limits = make_limits(&rng, 700);
    same_on_device(&s, &rng, all_trees(&s), &limits);
  }
  scene_close(&s);
}

/* ---- trained forests ---- */

/* The bits of the trainer's own scores, of the rows of training and of validation. */
static void trained_forests_predict_their_training(void) {
  for (uint64_t seed = 300; seed < 330; seed++) {
    random_job r = random_job_make(seed, 300);
    trained *t = train(&r.job, &r.how);
    gbt_ctx ctx = test_ctx(NULL, 2);
    gbt_dataset *ds = made_dataset(&ctx, r.data, NULL, r.job.max_bin, 0);
    if (t != NULL && ds != NULL) {
      scene s = {NULL, ds->cuts->schema, t->forest, gbt_forest_view_of(t->forest), NULL, NULL, ctx};
      for (int32_t which = 0; which < t->n_data; which++) {
        const made *m = which == 0 ? r.data : r.valid[which - 1];
        made_table table = {m->table, NULL};
        s.table = &table;
        cu_predict_limits limits = {0};
        limits.chunk_rows = 1 + (int64_t)(seed * 37 % 400);
        size_t n = (size_t)(t->n_rows[which] * s.view.n_outputs);
        double *out = test_alloc(n * sizeof *out);
        if (CHECK_OK(gbt_binding_new(&s.ctx, &m->table, s.schema, GBT_UNSEEN_MISSING, &s.binding, test_err)) &&
            CHECK_OK(scores_on_device(&s, all_trees(&s), &limits, m->offset, out, test_err)))
          CHECK_EQ_BYTES(out, t->score[which], n * sizeof *out);
        gbt_binding_free(s.binding);
        free(out);
      }
    }
    gbt_dataset_unref(ds);
    gbt_ctx_close(&ctx);
    trained_free(t);
    random_job_free(&r);
  }
}

/* ---- failing ---- */

/* Refused with a message, or the bytes of the CPU. More room never hurts. */
static void little_device_memory(void) {
  enum { ROWS = 300 };
  test_rng rng = {8};
  const forest_spec spec = {2, 1, 4200, 1, SHAPE_BUSHY, 0}; /* three runs */
  scene s = scene_open(&rng, 6, 40, &spec, ROWS);
  gbt_tree_range all = all_trees(&s);
  size_t leaf_bytes = ROWS * (size_t)s.view.n_trees * sizeof(int32_t);
  double scores[ROWS * 2], got[ROWS * 2];
  int32_t *leaves = test_alloc(leaf_bytes), *got_leaves = test_alloc(leaf_bytes);
  int64_t refused[2] = {0, 0}, done[2] = {0, 0};
  CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, all, NULL, scores, test_err));
  CHECK_OK(gbt_predict_leaves(&s.ctx, &s.view, s.binding, all, leaves, test_err));
  for (size_t bytes = 20000; bytes < 4000000; bytes += bytes / 2) {
    cu_predict_limits limits = {0};
    limits.device_bytes = bytes;
    for (int i = 0; i < 2; i++) {
      gbt_error err = {0};
      gbt_status status = i == 0 ? scores_on_device(&s, all, &limits, NULL, got, &err)
                                 : leaves_on_device(&s, all, &limits, got_leaves, &err);
      if (status == GBT_E_MEM) {
        refused[i]++;
        CHECK_EQ_I64(done[i], 0);
        CHECK(strstr(err.msg, "device memory") != NULL);
        continue;
      }
      done[i]++;
      CHECK_EQ_I64(status, GBT_OK);
      if (i == 0)
        CHECK_EQ_BYTES(got, scores, sizeof got);
      else
        CHECK_EQ_BYTES(got_leaves, leaves, leaf_bytes);
    }
  }
  CHECK(refused[0] > 1 && refused[1] > 1 && done[0] > 3 && done[1] > 3);
  free(leaves);
  free(got_leaves);
  scene_close(&s);
}

typedef struct sweep {
  scene *s;
  double *scores;
  int32_t *leaves;
} sweep;

static gbt_status predict_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  sweep *w = arg;
  scene s = *w->s;
  cu_predict_limits limits = {0};
  GBT_TRY(gbt_ctx_open(&s.ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = w->leaves != NULL ? leaves_on_device(&s, all_trees(&s), &limits, w->leaves, err)
                                        : scores_on_device(&s, all_trees(&s), &limits, NULL, w->scores, err);
  gbt_ctx_close(&s.ctx);
  return status;
}

static void allocations_fail(void) {
  test_rng rng = {9};
  const forest_spec spec = {2, 1, 5, 20, SHAPE_BUSHY, 1};
  scene s = scene_open(&rng, 7, 40, &spec, 60);
  sweep w = {&s, test_alloc(60 * 2 * sizeof(double)), NULL};
  CHECK(fault_sweep(predict_once, &w) > 12);
  w.leaves = test_alloc(60 * 10 * sizeof(int32_t));
  CHECK(fault_sweep(predict_once, &w) > 12);
  free(w.scores);
  free(w.leaves);
  scene_close(&s);
}

#if defined(GBT_TEST_SIMT)
/* Every call to CUDA fails once, alone and with all later ones: an error, or the right bytes; nothing is left there. */
static void calls_to_cuda_fail(void) {
  enum { ROWS = 60 };
  test_rng rng = {11};
  const forest_spec spec = {2, 1, 5, 20, SHAPE_BUSHY, 1};
  scene s = scene_open(&rng, 7, 40, &spec, ROWS);
  cu_predict_limits limits = {0};
  double scores[ROWS * 2], got[ROWS * 2];
  int64_t live = simt_live(), n_failed = 0;
  limits.chunk_rows = 25;
  CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, all_trees(&s), NULL, scores, test_err));
  for (int and_later = 0; and_later < 2; and_later++) {
    for (int64_t n = 1;; n++) {
      simt_fail_at(n, and_later);
      gbt_error err = {0};
      gbt_status status = scores_on_device(&s, all_trees(&s), &limits, NULL, got, &err);
      int64_t failed = simt_failed();
      simt_fail_at(0, 0);
      CHECK_EQ_I64(simt_live(), live);
      if (failed == 0) break;
      n_failed++;
      if (status == GBT_OK)
        CHECK_EQ_BYTES(got, scores, sizeof got);
      else
        CHECK((status == GBT_E_MEM || status == GBT_E_DEVICE) && err.msg[0] != '\0');
    }
  }
  CHECK(n_failed > 60);
  scene_close(&s);
}
#endif

static void stops_when_asked(void) {
  test_rng rng = {10};
  const forest_spec spec = {1, 1, 10, 30, SHAPE_BUSHY, 1};
  scene s = scene_open(&rng, 7, 40, &spec, 500);
  double *out = test_alloc(500 * sizeof *out);
  cu_predict_limits limits = {0};
  limits.chunk_rows = 32;
  for (int last = 0; last < 3; last++) {
    test_patience p = {0, last};
    gbt_ctx_close(&s.ctx);
    REQUIRE_OK(gbt_ctx_open(&s.ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, test_stop_later, &p, test_err));
    s.ctx.next_poll_ns = 0;
    gbt_status status = GBT_OK;
    while (status == GBT_OK) status = scores_on_device(&s, all_trees(&s), &limits, NULL, out, test_err);
    CHECK_EQ_I64(status, GBT_CANCELLED);
    CHECK_EQ_I64(p.n_polls, last + 1);
  }
  free(out);
  scene_close(&s);
}

void suite_cuda_predict(void) {
  RUN(random_forests_are_those_of_the_cpu);
  RUN(crafted_models);
  RUN(the_door_leads_there);
  RUN(deep_trees);
  RUN(many_trees_take_several_runs);
  RUN(many_columns);
  RUN(sets_of_any_length);
  RUN(many_thresholds);
  RUN(trees_of_layers);
  RUN(trained_forests_predict_their_training);
  RUN(little_device_memory);
  RUN(allocations_fail);
#if defined(GBT_TEST_SIMT)
  RUN(calls_to_cuda_fail);
#endif
  RUN(stops_when_asked);
}
