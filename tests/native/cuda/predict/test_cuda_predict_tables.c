/* Prediction on the device with features that are read from tables by key: the bytes of the CPU, whether tables are on
 * the device, some of them, or none. */
#include "../../src/cuda/predict/predict.h"

#include "../../src/gbt/schema/key_index.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "fault.h"
#include "maps.h"
#include "predict_scene.h"
#include "schedules.h"

/* Thresholds that part the bins of features with tables. */
static void part_bins(test_rng *rng, scene *s) {
  gbt_node *node = (gbt_node *)(uintptr_t)s->view.nodes;
  for (uint64_t t = 0; t < s->view.n_trees; t++) {
    for (uint32_t i = 0; i < s->view.trees[t].n_nodes; i++) {
      gbt_node *at = &node[s->view.trees[t].node_beg + i];
      const gbt_feature *feat = &s->schema->feat[at->feat & GBT_NODE_FEATURE];
      if (at->left != 0 && gbt_feature_has_table(feat->kind)) at->arg.value = (double)test_below(rng, feat->n_bins);
    }
  }
}

static void add_rows(scene *s, test_rng *rng, const forest_spec *spec, int64_t n_rows) {
  const gbt_unseen unseen = test_below(rng, 2) ? GBT_UNSEEN_PRIOR : GBT_UNSEEN_MISSING;
  s->forest = make_forest(rng, s->schema, spec);
  s->view = gbt_forest_view_of(s->forest);
  part_bins(rng, s);
  s->table = make_table(rng, s->schema, n_rows);
  s->ctx = test_ctx(NULL, 1 + (int)test_below(rng, 3));
  CHECK_OK(gbt_binding_new(&s->ctx, &s->table->table, s->schema, unseen, &s->binding, test_err));
}

static scene scene_open(test_rng *rng, int32_t levels, int32_t n_projections, int indexed, const forest_spec *spec,
                        int64_t n_rows) {
  scene s;
  memset(&s, 0, sizeof s);
  s.base = make_schema(rng, 2 + (int32_t)test_below(rng, 9), levels);
  s.schema = maps_extend(rng, s.base, n_projections, 3000);
  if (indexed) CHECK_OK(gbt_schema_index_keys(s.schema, test_err));
  add_rows(&s, rng, spec, n_rows);
  return s;
}

static gbt_status scores_on_device(scene *s, const cu_predict_limits *limits, double *out, gbt_error *err) {
  gbti_predict_job job = {&s->view, s->binding, s->table->table.n_rows, 0, out, NULL};
  gbt_tree_range all = {0, s->view.n_trees};
  GBT_TRY(gbti_predict_start(&s->ctx, &job, NULL, err));
  return cu_predict(&s->ctx, 0, &job, all, limits, err);
}

static gbt_status leaves_on_device(scene *s, const cu_predict_limits *limits, int32_t *out, gbt_error *err) {
  gbti_predict_job job = {&s->view, s->binding, s->table->table.n_rows, 0, NULL, out};
  gbt_tree_range all = {0, s->view.n_trees};
  return cu_predict(&s->ctx, 0, &job, all, limits, err);
}

/* Scores and leaves of the CPU and of the device. */
static int same_on_device(scene *s, const cu_predict_limits *limits) {
  const size_t n_rows = (size_t)s->table->table.n_rows, n = n_rows * (size_t)s->view.n_outputs;
  const size_t n_leaves = n_rows * (size_t)s->view.n_trees;
  const gbt_tree_range all = {0, s->view.n_trees};
  double *cpu = test_alloc(n * sizeof *cpu), *cuda = test_alloc(n * sizeof *cuda);
  int32_t *cpu_leaves = test_alloc(n_leaves * 4), *cuda_leaves = test_alloc(n_leaves * 4);
  memset(cuda, 0xff, n * sizeof *cuda);
  memset(cuda_leaves, 0xff, n_leaves * 4);
  CHECK_OK(gbt_predict_scores(&s->ctx, &s->view, s->binding, all, NULL, cpu, test_err));
  CHECK_OK(gbt_predict_leaves(&s->ctx, &s->view, s->binding, all, cpu_leaves, test_err));
  int ok = CHECK_OK(scores_on_device(s, limits, cuda, test_err));
  ok &= CHECK_OK(leaves_on_device(s, limits, cuda_leaves, test_err));
  ok &= CHECK_EQ_BYTES(cuda, cpu, n * sizeof *cpu);
  ok &= CHECK_EQ_BYTES(cuda_leaves, cpu_leaves, n_leaves * 4);
  free(cpu);
  free(cuda);
  free(cpu_leaves);
  free(cuda_leaves);
  return ok;
}

static cu_predict_limits make_limits(test_rng *rng, int64_t n_rows) {
  static const size_t tables[] = {0, 1, 3000, SIZE_MAX, SIZE_MAX};
  cu_predict_limits limits = {0};
  limits.table_bytes = tables[test_below(rng, 5)];
  limits.chunk_rows = test_below(rng, 2) ? 0 : 1 + n_rows / (1 + test_below(rng, 5));
  limits.forest_bytes = test_below(rng, 3) ? 0 : 1;
  limits.rows = test_below(rng, 2) ? 4 : 0;
  limits.blocks = test_below(rng, 2) ? 1 : (int32_t)test_below(rng, 4);
  return limits;
}

static int random_scene(test_rng *rng) {
  static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 700, 1025};
  const forest_spec spec = {1 + (int32_t)test_below(rng, 3), 1,           1 + (int32_t)test_below(rng, 6),
                            (int32_t)test_below(rng, 40),    SHAPE_BUSHY, 0};
  const int64_t n_rows = sizes[test_below(rng, 14)];
  scene s = scene_open(rng, test_below(rng, 3) ? 12 : 300, 1 + (int32_t)test_below(rng, 8), test_below(rng, 5) > 0,
                       &spec, n_rows);
  cu_predict_limits limits = make_limits(rng, n_rows);
  const int ok = same_on_device(&s, &limits);
  scene_close(&s);
  return ok;
}

static void random_tables_are_those_of_the_cpu(void) {
  test_rng rng = {1};
  int bad = 0;
  for (int k = 0; test_schedule(k); k++)
    for (int i = 0; i < 40 && bad < 3; i++) bad += !random_scene(&rng);
}

/* A feature with a table together with more thresholds of a number than a pack takes. */
static void trees_that_no_pack_takes(void) {
  test_rng rng = {2};
  const forest_spec none = {1, 1, 0, 0, SHAPE_BUSHY, 0};
  scene s = scene_open(&rng, 12, 9, 1, &none, 300);
  int32_t number = 0;
  while (number < s.base->n_features && s.base->col[number].type != GBT_NUMERIC) number++;
  REQUIRE(number < s.base->n_features && s.schema->n_projections > 1);
  const uint32_t n_splits = ((uint32_t)1 << 17) - 1, n = 2 * n_splits + 1;
  const int32_t n_tables = gbt_schema_n_tables(s.schema);
  gbt_node *nodes = test_alloc(n * sizeof *nodes);
  double *zeros = test_alloc(n * sizeof *zeros);
  uint32_t *counts = test_alloc(n * sizeof *counts);
  memset(nodes, 0, n * sizeof *nodes);
  memset(zeros, 0, n * sizeof *zeros);
  memset(counts, 0, n * sizeof *counts);
  for (uint32_t j = 0; j < n; j++) {
    const int32_t table = s.schema->n_features - 1 - (int32_t)test_below(&rng, n_tables);
    nodes[j].arg.value = j < 100 ? (double)test_below(&rng, 8) : j < n_splits ? test_bell(&rng) * 4.0 : (double)j;
    if (j >= n_splits) continue;
    nodes[j].left = 2 * j + 1;
    nodes[j].feat = (uint32_t)(j < 100 ? table : number);
  }
  const gbt_tree_parts tree = {n, 0, nodes, zeros, zeros, counts, NULL, NULL, {0}};
  REQUIRE_OK(gbt_forest_add(s.forest, &tree, test_err));
  s.view = gbt_forest_view_of(s.forest);
  for (int on_device = 0; on_device < 2; on_device++) {
    cu_predict_limits limits = {.table_bytes = on_device ? SIZE_MAX : 1};
    same_on_device(&s, &limits);
  }
  free(nodes);
  free(zeros);
  free(counts);
  scene_close(&s);
}

/* Two columns of so many levels, some of their keys, features of one bin for a key each; places are keys, or hashes. */
static scene pair_scene(test_rng *rng, int32_t n_levels, uint64_t skip, int32_t n_feats, int64_t n_rows) {
  const gbt_mem mem = gbt_mem_default();
  const forest_spec spec = {1, 1, 6, 30, SHAPE_BUSHY, 1};
  const uint64_t radix = (uint64_t)n_levels + 1;
  const int32_t col[2] = {0, 1};
  char(*text)[16] = test_alloc((size_t)n_levels * sizeof *text);
  const char **levels = test_alloc((size_t)n_levels * sizeof *levels);
  uint64_t *key = test_alloc((size_t)(radix * radix / skip + 1) * sizeof *key);
  gbt_projection proj = {.n_cols = 2, .col = col, .key = key};
  gbt_feature *feat = test_alloc((size_t)n_feats * sizeof *feat);
  double shown[GBT_DERIVED_BINS] = {0};
  scene s;
  memset(&s, 0, sizeof s);
  for (int32_t i = 0; i < n_levels; i++) {
    snprintf(text[i], sizeof text[i], "L%d", (int)i);
    levels[i] = text[i];
  }
  const gbt_schema_column cols[2] = {{"a", "", GBT_CATEGORICAL, n_levels, levels},
                                     {"b", "", GBT_CATEGORICAL, n_levels, levels}};
  for (uint64_t k = 0; k < radix * radix; k += skip) key[proj.n_keys++] = k;
  for (int32_t f = 0; f < n_feats; f++) {
    uint8_t *bin = test_alloc((size_t)proj.n_keys);
    for (int64_t i = 0; i < proj.n_keys; i++) bin[i] = (uint8_t)((uint64_t)(i * (2 * f + 1)) * 2654435761u >> 8) % 200;
    feat[f] = (gbt_feature){
        .kind = GBT_FEATURE_TARGET_CLASS, .part = f, .n_bins = 200, .unknown = 99, .bin = bin, .shown = shown};
  }
  CHECK_OK(gbt_schema_new(&mem, 2, cols, &s.base, test_err));
  CHECK_OK(gbt_schema_extend(&mem, s.base, 1, &proj, n_feats, feat, &s.schema, test_err));
  CHECK_OK(gbt_schema_index_keys(s.schema, test_err));
  add_rows(&s, rng, &spec, n_rows);
  for (int32_t f = 0; f < n_feats; f++) free((void *)(uintptr_t)feat[f].bin);
  free(feat);
  free(key);
  free(levels);
  free(text);
  return s;
}

/* From one key to more than a half of the stage has room for. */
static void tables_of_any_size(void) {
  static const struct {
    int32_t n_levels;
    uint64_t skip;
    int32_t n_feats;
  } cases[] = {{1, 1, 1}, {1, 9, 3}, {2, 1, 40}, {30, 1, 2}, {30, 7, 5}, {300, 1, 3}, {300, 50, 7}, {1100, 1, 16}};
  test_rng rng = {3};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scene s = pair_scene(&rng, cases[i].n_levels, cases[i].skip, cases[i].n_feats, 600);
    for (int on_device = 0; on_device < 2; on_device++) {
      cu_predict_limits limits = {.table_bytes = on_device ? SIZE_MAX : 1};
      same_on_device(&s, &limits);
    }
    scene_close(&s);
  }
}

static gbt_status scores_once(const gbt_mem *mem, void *arg, gbt_error *err) {
  scene s = *(scene *)arg;
  const cu_predict_limits limits = {.table_bytes = SIZE_MAX};
  double out[60 * 2];
  GBT_TRY(gbt_ctx_open(&s.ctx, *mem, 2, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = scores_on_device(&s, &limits, out, err);
  gbt_ctx_close(&s.ctx);
  return status;
}

static void allocations_fail(void) {
  test_rng rng = {9};
  const forest_spec spec = {2, 1, 5, 20, SHAPE_BUSHY, 1};
  scene s = scene_open(&rng, 40, 5, 1, &spec, 60);
  CHECK(fault_sweep(scores_once, &s) > 18);
  scene_close(&s);
}

/* Without room for tables the host reads; a limit that the host's reading can do with is never refused. */
static void little_device_memory(void) {
  test_rng rng = {5};
  scene s = pair_scene(&rng, 60, 1, 8, 400);
  int64_t refused[2] = {0, 0}, done[2] = {0, 0};
  for (size_t bytes = 2000; bytes < 1000000; bytes += bytes / 3) {
    for (int on_device = 0; on_device < 2; on_device++) {
      cu_predict_limits limits = {.table_bytes = on_device ? SIZE_MAX : 1, .device_bytes = bytes};
      double cpu[400], cuda[400];
      gbt_error err = {0};
      const gbt_status status = scores_on_device(&s, &limits, cuda, &err);
      CHECK(status == GBT_OK || (status == GBT_E_MEM && strstr(err.msg, "device memory") != NULL));
      refused[on_device] += status != GBT_OK;
      done[on_device] += status == GBT_OK;
      if (status != GBT_OK) continue;
      const gbt_tree_range all = {0, s.view.n_trees};
      CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, all, NULL, cpu, test_err));
      CHECK_EQ_BYTES(cuda, cpu, sizeof cpu);
    }
    CHECK_EQ_I64(refused[1], refused[0]);
  }
  CHECK(refused[0] > 1 && done[0] > 5);
  scene_close(&s);
}

#if defined(GBT_TEST_SIMT)
static int64_t bytes_up(scene *s, size_t table_bytes) {
  const cu_predict_limits limits = {.table_bytes = table_bytes};
  double out[4096];
  simt_count_again();
  CHECK_OK(scores_on_device(s, &limits, out, test_err));
  return simt_counted().up_bytes;
}

/* Two columns of levels in place of eight of numbers, when enough rows pay for the tables. */
static void tables_go_up_when_they_pay(void) {
  test_rng rng = {6};
  static const int64_t sizes[] = {10, 200, 3000};
  for (int i = 0; i < 3; i++) {
    scene s = pair_scene(&rng, 20, 3, 8, sizes[i]);
    int32_t n_used = 0;
    for (int32_t f = 2; f < 10; f++) {
      int used = 0;
      for (uint32_t j = 0; j < s.view.n_nodes; j++)
        used |= s.view.nodes[j].left != 0 && (int32_t)(s.view.nodes[j].feat & GBT_NODE_FEATURE) == f;
      n_used += used;
    }
    const gbt_projection *proj = &s.schema->proj[0];
    const gbt_key_index *index = &s.schema->key_index[0];
    const int64_t places = (int64_t)(index->space > 0 ? index->space : index->mask + 1);
    const int64_t tables = 4 * places + 8 * proj->n_keys + (proj->n_keys + 1) * n_used, pay = 64 * sizes[i];
    const int64_t host = bytes_up(&s, 1), device = bytes_up(&s, SIZE_MAX), best = bytes_up(&s, 0);
    CHECK_EQ_I64(best, tables <= pay ? device : host);
    CHECK(i == 0 ? tables > pay : i < 2 || tables <= pay);
    const int64_t saved = host - (device - tables) - sizes[i] * (8 * n_used - 2 * 4);
    CHECK(saved <= 0 && saved > -1000); /* what tells the kernel where they are */
    scene_close(&s);
  }
}

/* Every call to CUDA fails once, alone and with all later ones: an error, or the right bytes; nothing is left there. */
static void calls_to_cuda_fail(void) {
  enum { ROWS = 60 };
  test_rng rng = {11};
  const forest_spec spec = {2, 1, 5, 20, SHAPE_BUSHY, 1};
  scene s = scene_open(&rng, 40, 5, 1, &spec, ROWS);
  const cu_predict_limits limits = {.table_bytes = SIZE_MAX, .chunk_rows = 25};
  const gbt_tree_range all = {0, s.view.n_trees};
  double scores[ROWS * 2], got[ROWS * 2];
  const int64_t live = simt_live();
  int64_t n_failed = 0;
  CHECK_OK(gbt_predict_scores(&s.ctx, &s.view, s.binding, all, NULL, scores, test_err));
  for (int and_later = 0; and_later < 2; and_later++) {
    for (int64_t n = 1;; n++) {
      simt_fail_at(n, and_later);
      gbt_error err = {0};
      const gbt_status status = scores_on_device(&s, &limits, got, &err);
      const int64_t failed = simt_failed();
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
  CHECK(n_failed > 80);
  scene_close(&s);
}
#endif

void suite_cuda_predict_tables(void) {
  RUN(random_tables_are_those_of_the_cpu);
  RUN(trees_that_no_pack_takes);
  RUN(tables_of_any_size);
  RUN(allocations_fail);
  RUN(little_device_memory);
#if defined(GBT_TEST_SIMT)
  RUN(tables_go_up_when_they_pay);
  RUN(calls_to_cuda_fail);
#endif
}
