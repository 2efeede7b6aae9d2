/* See model_seeds.h. */
#include "model_seeds.h"

#include "../../src/gbt/exchange/exchange.h"
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "forests.h"
#include "maps.h"
#include "trained.h"

typedef struct seed_spec {
  int32_t n_features, n_levels;
  forest_spec forest;
  int has_vectors, has_counts; /* has_counts: 1 level counts, 2 features with tables, 3 both */
  int32_t objective;
} seed_spec;

static const seed_spec specs[MODEL_SEEDS] = {
    {2, 12, {1, 1, 3, 6, SHAPE_BUSHY, 0}, 0, 0, GBT_OBJ_SQUARED_ERROR},
    {4, 12, {2, 2, 1, 7, SHAPE_BUSHY, 1}, 0, 0, GBT_OBJ_SOFTMAX},
    {6, 12, {1, 1, 1, 40, SHAPE_CHAIN, 1}, 0, 0, GBT_OBJ_LOGISTIC},
    {8, 12, {3, 1, 1, 7, SHAPE_COMPLETE, 1}, 0, 0, GBT_OBJ_CUSTOM},
    {1, 3, {1, 1, 1, 0, SHAPE_BUSHY, 1}, 0, 0, GBT_OBJ_POISSON},
    {0, 0, {1, 1, 1, 0, SHAPE_BUSHY, 1}, 0, 0, GBT_OBJ_SQUARED_ERROR},
    {3, 40, {1, 1, 2, 12, SHAPE_BUSHY, 0}, 0, 0, GBT_OBJ_CUSTOM},
    {2, 70, {1, 2, 1, 8, SHAPE_CHAIN, 0}, 0, 0, GBT_OBJ_LOGISTIC},
    {5, 5, {1, 1, 1, 31, SHAPE_COMPLETE, 1}, 0, 0, GBT_OBJ_SQUARED_ERROR},
    {12, 2, {1, 1, 6, 3, SHAPE_BUSHY, 0}, 0, 0, GBT_OBJ_POISSON},
    {3, 9, {4, 1, 2, 4, SHAPE_BUSHY, 0}, 0, 0, GBT_OBJ_SOFTMAX},
    {2, 33, {1, 1, 0, 0, SHAPE_BUSHY, 0}, 0, 0, GBT_OBJ_SQUARED_ERROR},
    {1, 0, {1, 1, 1, 100, SHAPE_BUSHY, 1}, 0, 0, GBT_OBJ_SQUARED_ERROR}, /* more cuts than codes are looked up by at
                                                                            once */
    {4, 9, {3, 1, 2, 5, SHAPE_BUSHY, 0}, 1, 0, GBT_OBJ_SOFTMAX},
    {3, 12, {2, 2, 1, 12, SHAPE_COMPLETE, 1}, 1, 0, GBT_OBJ_CUSTOM},
    {5, 9, {1, 1, 2, 12, SHAPE_BUSHY, 0}, 0, 1, GBT_OBJ_SQUARED_ERROR},
    {9, 4, {2, 1, 1, 9, SHAPE_BUSHY, 0}, 0, 1, GBT_OBJ_SOFTMAX},
    {6, 7, {1, 1, 3, 14, SHAPE_BUSHY, 0}, 0, 2, GBT_OBJ_SQUARED_ERROR},
    {12, 4, {2, 1, 1, 15, SHAPE_BUSHY, 1}, 1, 3, GBT_OBJ_SOFTMAX},
};

static uint8_t *write_seed(const gbt_forest *forest, const gbt_schema *schema, int32_t objective, size_t *n_bytes) {
  static const char *const classes[] = {"yes", NULL, "no"}, *const response[] = {"double"};
  static const double log[] = {0.5, 0.25};
  static const int32_t ints[] = {1, 2, 3};
  static const gbt_meta meta[] = {{"response", GBT_META_TEXT, 1, response, NULL, NULL},
                                  {"classes", GBT_META_TEXT, 3, classes, NULL, NULL},
                                  {"log", GBT_META_DOUBLE, 2, NULL, log, NULL},
                                  {"ints", GBT_META_INT, 3, NULL, NULL, ints},
                                  {"none", GBT_META_INT, 0, NULL, NULL, ints}};
  gbt_mem mem = gbt_mem_default();
  gbt_model_parts parts = {.forest = gbt_forest_view_of(forest),
                           .objective = gbt_objective_make((gbt_objective_kind)objective, forest->n_outputs),
                           .schema = schema,
                           .meta = meta,
                           .n_meta = 5};
  uint8_t *bytes = NULL, *out = NULL;
  if (CHECK_OK(gbt_model_write(&mem, &parts, &bytes, n_bytes, test_err))) {
    out = test_alloc(*n_bytes);
    memcpy(out, bytes, *n_bytes);
  }
  gbt_mem_free(&mem, bytes);
  return out;
}

/* The columns, and the level counts of those that can have them. */
static gbt_schema *with_counts(test_rng *rng, gbt_schema *schema) {
  const gbt_mem mem = gbt_mem_default();
  gbt_feature *feat = test_alloc(2 * (size_t)schema->n_columns * sizeof *feat);
  gbt_schema *out = NULL;
  int32_t n = schema->n_columns;
  memcpy(feat, schema->feat, (size_t)n * sizeof *feat);
  for (int32_t c = 0; c < schema->n_columns; c++) {
    if (schema->col[c].type != GBT_CATEGORICAL) continue;
    double *count = test_alloc((size_t)schema->col[c].n_levels * sizeof *count);
    for (int32_t i = 0; i < schema->col[c].n_levels; i++) count[i] = (double)test_below(rng, 1000);
    feat[n++] = (gbt_feature){.kind = GBT_FEATURE_LEVEL_COUNT, .col = c, .value = count};
  }
  CHECK_OK(gbt_schema_new_mapped(&mem, NULL, schema->n_columns, schema->col, n, feat, &out, test_err));
  for (int32_t f = schema->n_columns; f < n; f++) free((void *)(uintptr_t)feat[f].value);
  free(feat);
  gbt_schema_unref(schema);
  return out;
}

static gbt_schema *with_tables(test_rng *rng, gbt_schema *schema) {
  gbt_schema *out = maps_extend(rng, schema, 5, 40);
  gbt_schema_unref(schema);
  return out;
}

uint8_t *model_seed(uint64_t i, size_t *n_bytes) {
  const seed_spec *spec = &specs[i % MODEL_SEEDS];
  test_rng rng = {i};
  gbt_schema *schema = make_schema(&rng, spec->n_features, spec->n_levels);
  if (spec->has_counts & 1) schema = with_counts(&rng, schema);
  if (spec->has_counts & 2) schema = with_tables(&rng, schema);
  gbt_forest *forest =
      spec->has_vectors ? make_vector_forest(&rng, schema, &spec->forest) : make_forest(&rng, schema, &spec->forest);
  uint8_t *out = write_seed(forest, schema, spec->objective, n_bytes);
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
  return out;
}

uint8_t *model_seed_linear(size_t *n_bytes) {
  const made_kind kinds[] = {MADE_BELL, MADE_FACTOR, MADE_HOLES};
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  made *data = made_new(4, 600, 3, kinds);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cuts *cuts = NULL;
  uint8_t *bytes = NULL, *out = NULL;
  made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 4);
  for (int64_t r = 0; r < 600; r++)
    data->label[r] = 0.3 * data->label[r] + 4.0 * ((const double *)data->table.cols[0].values)[r];
  train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 5);
  job.spec.params.leaf_model = GBT_LEAF_LINEAR;
  job.spec.params.max_depth = 3;
  job.max_bin = 12;
  trained *t = train(&job, &how);
  if (t != NULL && CHECK_OK(gbt_cuts_build(&ctx, &data->table, NULL, job.max_bin, &cuts, test_err))) {
    const gbt_forest_view view = gbt_forest_view_of(t->forest);
    const gbt_model_spec spec = {
        .forest = &view, .trees = {0, 5}, .objective = job.spec.objective, .schema = cuts->schema};
    CHECK(view.linear.n_leaves > 3);
    if (CHECK_OK(gbt_model_make(&ctx.mem, &spec, &bytes, n_bytes, test_err))) {
      out = test_alloc(*n_bytes);
      memcpy(out, bytes, *n_bytes);
    }
  }
  gbt_mem_free(&ctx.mem, bytes);
  gbt_cuts_unref(cuts);
  trained_free(t);
  made_free(data);
  gbt_ctx_close(&ctx);
  return out;
}

uint8_t *model_seed_numbers(size_t *n_bytes) {
  static const char text[] =
      "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=7\n"
      "objective=regression\nfeature_names=a b c d e f g h\n"
      "feature_infos=[0:1] [0:1] [0:1] 1:2:5 [0:1] [0:1] [0:1] [0:1]\n\n"
      "Tree=0\nnum_leaves=3\nnum_cat=1\nsplit_feature=0 3\nsplit_gain=2 1\nthreshold=0.5 0\n"
      "decision_type=10 1\nleft_child=1 -1\nright_child=-2 -3\nleaf_value=0.25 -1.5 3\n"
      "leaf_count=5 6 7\ninternal_count=18 12\ncat_boundaries=0 1\ncat_threshold=38\nis_linear=1\n"
      "leaf_const=0.5 -2 1\nnum_features=2 0 8\nleaf_features=0 1   7 6 5 4 2 1 0 2\n"
      "leaf_coeff=0.1 -3   1 2 -0.7 0.3 1e-9 5 -6 1e6\n\n"
      "Tree=1\nnum_leaves=1\nnum_cat=0\nleaf_value=0.125\nis_linear=1\nleaf_const=0.5\n"
      "num_features=1\nleaf_features=2\nleaf_coeff=-0.1\n\n"
      "Tree=2\nnum_leaves=1\nnum_cat=0\nleaf_value=0.125\nis_linear=0\n\nend of trees\n";
  const gbt_mem mem = gbt_mem_default();
  gbt_import_facts facts;
  uint8_t *bytes = NULL, *out = NULL;
  if (!CHECK_OK(gbt_import(&mem, (const uint8_t *)text, sizeof text - 1, &facts, &bytes, n_bytes, test_err)))
    return NULL;
  out = test_alloc(*n_bytes);
  memcpy(out, bytes, *n_bytes);
  gbt_mem_free(&mem, bytes);
  return out;
}
