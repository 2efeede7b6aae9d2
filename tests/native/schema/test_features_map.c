/* The feature map: a statistic of a column must be, in every respect, the column of numbers that it stands for. The
 * twin of a table with level counts is the table with these counts as an ordinary column after the others. */
#include "datasets.h"
#include "fault.h"
#include "mutate.h"
#include "naive_cuts.h"
#include "pages.h"
#include "random_job.h"
#include "test.h"

#include "../../src/gbt/bytes/format.h"
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/schema/schema_impl.h"
#include "../../src/gbt/tree/relevel.h"

enum { N_LEVELS = 40, N_FACTORS = 3 };

static char level_name[2 * N_LEVELS][24];
static const char *levels[2 * N_LEVELS];

static void name_levels(void) {
  for (int i = 0; i < 2 * N_LEVELS; i++) {
    snprintf(level_name[i], sizeof level_name[i], "level %d", i);
    levels[i] = level_name[i];
  }
}

/* Codes by factor, and the counts that level_count must find in `train`. */
typedef struct factors {
  int64_t n;
  int32_t *code[N_FACTORS];
  double *count[N_FACTORS], *x;
} factors;

static factors draw_factors(test_rng *rng, int64_t n, int32_t n_levels) {
  factors f = {.n = n};
  f.x = test_alloc((size_t)n * sizeof *f.x);
  for (int64_t r = 0; r < n; r++) f.x[r] = test_bell(rng);
  for (int k = 0; k < N_FACTORS; k++) {
    f.code[k] = test_alloc((size_t)n * sizeof **f.code);
    f.count[k] = test_alloc((size_t)n * sizeof **f.count);
    for (int64_t r = 0; r < n; r++) {
      int64_t a = test_below(rng, n_levels + 1), b = test_below(rng, n_levels + 1);
      f.code[k][r] = a < b ? (int32_t)a : (int32_t)b; /* low codes are frequent; 0 is missing */
      if (test_below(rng, 30) == 0) f.code[k][r] = INT32_MIN;
    }
  }
  return f;
}

static void free_factors(factors *f) {
  free(f->x);
  for (int k = 0; k < N_FACTORS; k++) {
    free(f->code[k]);
    free(f->count[k]);
  }
}

/* Rows of `train` that have the level of each row of f, found one by one. */
static void count_naively(factors *f, const factors *train) {
  for (int k = 0; k < N_FACTORS; k++)
    for (int64_t r = 0; r < f->n; r++) {
      int64_t n = 0;
      for (int64_t t = 0; t < train->n; t++) n += train->code[k][t] == f->code[k][r];
      f->count[k][r] = f->code[k][r] > 0 ? (double)n : (double)NAN;
    }
}

/* x, the factors; `derived`: with their counts asked for; else with the counts as columns after them. */
static tables *make_table(const factors *f, int32_t n_levels, int derived) {
  static const char *const names[N_FACTORS] = {"a", "b", "c"}, *const counts[N_FACTORS] = {"na", "nb", "nc"};
  tables *t = tables_new(f->n);
  tables_f64(t, "x", f->x);
  for (int k = 0; k < N_FACTORS; k++) {
    gbt_column *col = tables_codes(t, names[k], GBT_CATEGORICAL, f->code[k], levels, n_levels);
    if (derived) col->derive = 1u << GBT_FEATURE_LEVEL_COUNT;
  }
  for (int k = 0; k < N_FACTORS && !derived; k++) tables_f64(t, counts[k], f->count[k]);
  return t;
}

static gbt_dataset *dataset_of(const tables *t, gbt_cuts *cuts, int32_t page_rows, int threads) {
  gbt_ctx ctx = test_ctx(NULL, threads);
  gbt_dataset *ds = NULL;
  CHECK_OK(dataset_from(&ctx, &t->table, cuts, NULL, 255, page_rows, GBT_UNSEEN_PRIOR, &ds, test_err));
  gbt_ctx_close(&ctx);
  return ds;
}

/* Cuts and codes of two data sets, whatever their schemas. */
static void same_features(const gbt_dataset *a, const gbt_dataset *b) {
  REQUIRE(a != NULL && b != NULL && a->cuts->n_features == b->cuts->n_features && a->rows.n == b->rows.n);
  for (int32_t f = 0; f < a->cuts->n_features; f++) {
    const gbt_feature_cuts *x = &a->cuts->feat[f], *y = &b->cuts->feat[f];
    if (x->cut != NULL && y->cut != NULL)
      same_cuts(x, y);
    else
      CHECK(x->cut == y->cut && x->n_bins == y->n_bins);
    for (int64_t r = 0; r < a->rows.n; r++)
      CHECK_EQ_I64(code_at(a->pages, a->cuts, r, f), code_at(b->pages, b->cuts, r, f));
  }
}

static gbt_forest *train_on(gbt_dataset *ds, const double *label, int policy, const struct gbt_device_api *device) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_mem mem = gbt_mem_default();
  gbt_trainer_spec spec = {.params = gbt_params_default(), .train = ds, .device = device};
  gbt_trainer *tr = NULL;
  gbt_forest *forest = NULL;
  gbt_stop_reason why;
  spec.objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  spec.params.grow_policy = policy;
  spec.params.colsample_bytree = 0.8;
  spec.params.subsample = 0.9;
  if (CHECK_OK(gbt_dataset_set(&ctx, ds, GBT_LABEL, label, ds->rows.n, test_err)) &&
      CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) && CHECK_OK(gbt_trainer_run(&ctx, tr, 8, &why, test_err)) &&
      CHECK_OK(gbt_forest_new(&mem, ds->cuts->n_features, 1, 1, &forest, test_err))) {
    gbt_forest_view view = gbt_forest_view_of(gbt_trainer_forest(tr));
    forest->base[0] = view.base[0];
    CHECK_OK(gbt_forest_append(forest, &view, test_err));
  }
  gbt_trainer_free(tr);
  gbt_ctx_close(&ctx);
  return forest;
}

static double *predict_with(const gbt_forest *forest, const gbt_schema *schema, const tables *t) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_binding *binding = NULL;
  gbt_forest_view view = gbt_forest_view_of(forest);
  gbt_tree_range all = {0, view.n_trees};
  double *out = test_alloc((size_t)t->table.n_rows * sizeof *out);
  if (CHECK_OK(gbt_binding_new(&ctx, &t->table, schema, GBT_UNSEEN_PRIOR, &binding, test_err)))
    CHECK_OK(gbt_predict_scores(&ctx, &view, binding, all, NULL, out, test_err));
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  return out;
}

/* Splits on features from the fifth on: those that are counts. */
static int64_t n_count_splits(const gbt_forest *forest) {
  int64_t n = 0;
  for (size_t i = 0; i < forest->n_nodes; i++)
    n += forest->nodes[i].left != 0 && (forest->nodes[i].feat & GBT_NODE_FEATURE) > N_FACTORS;
  return n;
}

static double *labels_of(test_rng *rng, const factors *f) {
  double *y = test_alloc((size_t)f->n * sizeof *y);
  for (int64_t r = 0; r < f->n; r++) {
    y[r] = f->x[r] + 0.1 * test_bell(rng);
    for (int k = 0; k < N_FACTORS; k++) y[r] += f->code[k][r] > 0 ? f->count[k][r] * (k + 1) / 40.0 : -1.0;
  }
  return y;
}

static void counts_are_a_column_of_numbers(void) {
  static const int64_t sizes[] = {1, 2, 3, 63, 64, 65, 255, 256, 257, 1000, 2047};
  name_levels();
  int64_t n_splits = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    test_rng rng = {s + 1};
    factors train = draw_factors(&rng, sizes[s], N_LEVELS), more = draw_factors(&rng, 300, 2 * N_LEVELS);
    count_naively(&train, &train);
    count_naively(&more, &train);
    double *y = labels_of(&rng, &train);
    tables *a = make_table(&train, N_LEVELS, 1), *b = make_table(&train, N_LEVELS, 0);
    tables *am = make_table(&more, 2 * N_LEVELS, 1), *bm = make_table(&more, 2 * N_LEVELS, 0);
    gbt_dataset *x = dataset_of(a, NULL, 100, 2), *z = dataset_of(b, NULL, 0, 1);
    same_features(x, z);
    for (int policy = 0; policy < 3; policy++) {
      gbt_forest *f = train_on(x, y, policy, NULL), *g = train_on(z, y, policy, NULL);
      REQUIRE(f != NULL && g != NULL);
      CHECK(same_forests(f, g));
      n_splits += n_count_splits(f);
      double *p = predict_with(f, x->cuts->schema, am), *q = predict_with(g, z->cuts->schema, bm);
      CHECK_EQ_BYTES(p, q, 300 * sizeof *p);
      free(p);
      free(q);
      gbt_forest_free(f);
      gbt_forest_free(g);
    }
    gbt_dataset *xv = dataset_of(am, x->cuts, 0, 1), *zv = dataset_of(bm, z->cuts, 0, 1);
    same_features(xv, zv);
    gbt_dataset_unref(xv);
    gbt_dataset_unref(zv);
    gbt_dataset_unref(x);
    gbt_dataset_unref(z);
    tables_free(a);
    tables_free(b);
    tables_free(am);
    tables_free(bm);
    free(y);
    free_factors(&train);
    free_factors(&more);
  }
  CHECK(n_splits > 100);
  test_note("%lld splits on counts", (long long)n_splits);
}

static void labels_and_kinds(void) {
  gbt_mem mem = gbt_mem_default();
  const gbt_schema_column col[2] = {{"x", "", GBT_NUMERIC, 0, NULL}, {"f", "", GBT_CATEGORICAL, 2, levels}};
  const double count[2] = {5, 3};
  const gbt_feature feat[3] = {{.kind = GBT_FEATURE_LEVEL_COUNT, .col = 1, .value = count},
                               {.kind = GBT_FEATURE_COLUMN, .col = 1},
                               {.kind = GBT_FEATURE_COLUMN, .col = 0}};
  gbt_schema *schema = NULL;
  char text[32];
  name_levels();
  REQUIRE_OK(gbt_schema_new_mapped(&mem, NULL, 2, col, 3, feat, &schema, test_err));
  CHECK(!gbt_feature_map_is_identity(schema));
  CHECK(schema->feat[1].type == GBT_CATEGORICAL);
  CHECK(schema->feat[0].value != count && schema->feat[0].value[1] == 3.0);
  CHECK_EQ_I64(gbt_feature_label(schema, 0, text, sizeof text), 8);
  CHECK_EQ_TEXT(text, "count(f)");
  CHECK_EQ_I64(gbt_feature_label(schema, 2, text, sizeof text), 1);
  CHECK_EQ_TEXT(text, "x");
  for (size_t size = 1; size < 12; size++) {
    CHECK_EQ_I64(gbt_feature_label(schema, 0, text, size), 8);
    CHECK_EQ_I64(strlen(text), size < 9 ? size - 1 : 8);
    CHECK(strncmp(text, "count(f)", size - 1) == 0);
  }
  for (int k = 0; k < GBT_N_FEATURE_KINDS; k++) CHECK_EQ_I64(gbt_feature_kind_find(gbt_feature_kind_name(k)), k);
  CHECK_EQ_I64(gbt_feature_kind_find("none"), -1);
  CHECK(gbt_feature_map_fault(schema) == NULL);
  schema->feat[0].col = 2;
  CHECK(gbt_feature_map_fault(schema) != NULL);
  schema->feat[0].col = 0;
  CHECK(gbt_feature_map_fault(schema) != NULL);
  schema->feat[0].col = 1;
  schema->feat[0].type = GBT_CATEGORICAL;
  CHECK(gbt_feature_map_fault(schema) != NULL);
  schema->feat[0].type = GBT_NUMERIC;
  schema->feat[0].kind = GBT_N_FEATURE_KINDS;
  CHECK(gbt_feature_map_fault(schema) != NULL);
  schema->feat[0].kind = GBT_FEATURE_COLUMN;
  CHECK(gbt_feature_map_fault(schema) != NULL);
  gbt_schema_unref(schema);
}

/* Only unordered factors have counts. */
static void what_cannot_be_counted(void) {
  const double x[3] = {1, 2, 3};
  const int32_t code[3] = {1, 2, 1};
  gbt_ctx ctx = test_ctx(NULL, 1);
  name_levels();
  for (int kind = 0; kind < 3; kind++) {
    tables *t = tables_new(3);
    gbt_column *col = kind == 0 ? tables_f64(t, "q", x)
                                : tables_codes(t, "q", kind == 1 ? GBT_ORDINAL : GBT_CATEGORICAL, code, levels, 2);
    col->derive = kind == 2 ? 1u << GBT_N_FEATURE_KINDS : 1u << GBT_FEATURE_LEVEL_COUNT;
    CHECK_FAILS(gbt_table_check(&ctx, &t->table, test_err), GBT_E_DATA, "`q`");
    tables_free(t);
  }
  gbt_ctx_close(&ctx);
}

/* Going on from a model: other data take the model's counts, and then its trees mean the same. */
static void going_on_keeps_the_counts(void) {
  test_rng rng = {77};
  gbt_mem mem = gbt_mem_default();
  name_levels();
  factors train = draw_factors(&rng, 600, N_LEVELS), more = draw_factors(&rng, 500, 2 * N_LEVELS);
  count_naively(&train, &train);
  count_naively(&more, &train);
  double *y = labels_of(&rng, &train);
  tables *a = make_table(&train, N_LEVELS, 1), *b = make_table(&more, 2 * N_LEVELS, 1);
  gbt_dataset *x = dataset_of(a, NULL, 0, 1);
  gbt_forest *forest = train_on(x, y, 0, NULL), *moved = NULL;
  REQUIRE(forest != NULL && n_count_splits(forest) > 0);
  gbt_forest_view view = gbt_forest_view_of(forest);
  gbt_dataset *own = dataset_of(b, NULL, 0, 1);
  CHECK_FAILS(gbt_forest_relevel(&mem, &view, x->cuts->schema, own->cuts->schema, &moved, test_err), GBT_E_ARG,
              "level counts");
  b->table.statistics = x->cuts->schema;
  gbt_dataset *kept = dataset_of(b, NULL, 0, 1);
  for (int k = 0; k < N_FACTORS; k++) {
    const gbt_feature *feat = &kept->cuts->schema->feat[1 + N_FACTORS + k];
    for (int64_t r = 0; r < more.n; r++) {
      if (more.code[k][r] <= 0) continue;
      const gbt_schema_column *col = &kept->cuts->schema->col[feat->col];
      for (int32_t i = 0; i < col->n_levels; i++)
        if (strcmp(col->levels[i], levels[more.code[k][r] - 1]) == 0)
          CHECK_EQ_BYTES(&feat->value[i], &more.count[k][r], sizeof(double));
    }
  }
  if (CHECK_OK(gbt_forest_relevel(&mem, &view, x->cuts->schema, kept->cuts->schema, &moved, test_err))) {
    double *p = predict_with(forest, x->cuts->schema, b), *q = predict_with(moved, kept->cuts->schema, b);
    CHECK_EQ_BYTES(p, q, (size_t)more.n * sizeof *p);
    free(p);
    free(q);
  }
  gbt_forest_free(moved);
  gbt_forest_free(forest);
  gbt_dataset_unref(x);
  gbt_dataset_unref(own);
  gbt_dataset_unref(kept);
  tables_free(a);
  tables_free(b);
  free(y);
  free_factors(&train);
  free_factors(&more);
}

/* ---- in a model's bytes ---- */

static uint8_t *write_model(const gbt_forest *forest, const gbt_schema *schema, size_t *n) {
  gbt_mem mem = gbt_mem_default();
  gbt_model_parts parts = {.forest = gbt_forest_view_of(forest),
                           .objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1),
                           .schema = schema};
  uint8_t *bytes = NULL;
  CHECK_OK(gbt_model_write(&mem, &parts, &bytes, n, test_err));
  return bytes;
}

static void same_map(const gbt_schema *a, const gbt_schema *b) {
  REQUIRE(a->n_features == b->n_features);
  for (int32_t f = 0; f < a->n_features; f++) {
    const gbt_feature *x = &a->feat[f], *y = &b->feat[f];
    REQUIRE(x->kind == y->kind && x->col == y->col && x->type == y->type && !x->value == !y->value);
    if (x->value != NULL) CHECK_EQ_BYTES(x->value, y->value, (size_t)a->col[x->col].n_levels * sizeof *x->value);
  }
}

static void models_keep_the_map(void) {
  test_rng rng = {5};
  gbt_mem mem = gbt_mem_default();
  name_levels();
  factors train = draw_factors(&rng, 400, N_LEVELS);
  count_naively(&train, &train);
  double *y = labels_of(&rng, &train);
  for (int derived = 0; derived < 2; derived++) {
    tables *t = make_table(&train, N_LEVELS, derived);
    gbt_dataset *ds = dataset_of(t, NULL, 0, 1);
    gbt_forest *forest = train_on(ds, y, 0, NULL);
    gbt_model *model = NULL;
    size_t n = 0, n_again = 0;
    uint8_t *bytes = write_model(forest, ds->cuts->schema, &n), *again;
    REQUIRE(bytes != NULL);
    CHECK_EQ_I64(section_row(bytes, GBTI_SEC_STATISTICS) > 0, derived); /* nothing is written of an identity */
    if (CHECK_OK(gbt_model_open(&mem, bytes, n, &model, test_err))) {
      same_map(ds->cuts->schema, model->schema);
      double *p = predict_with(forest, ds->cuts->schema, t), *q = predict_with(forest, model->schema, t);
      CHECK_EQ_BYTES(p, q, (size_t)train.n * sizeof *p);
      again = write_model(forest, model->schema, &n_again);
      CHECK(n == n_again && memcmp(bytes, again, n) == 0);
      gbt_mem_free(&mem, again);
      free(p);
      free(q);
    }
    gbt_model_close(model);
    gbt_mem_free(&mem, bytes);
    gbt_forest_free(forest);
    gbt_dataset_unref(ds);
    tables_free(t);
  }
  free(y);
  free_factors(&train);
}

/* One number of the map wrong at a time. */
static void damaged_maps_are_refused(void) {
  static const struct {
    gbti_section_id section;
    size_t at, size;
    double number; /* for size 8, else an int32 */
    int32_t whole;
  } faults[] = {
      {GBTI_SEC_FEATURES, 0, 4, 0, 1},
      {GBTI_SEC_FEATURES, 0, 4, 0, 2},
      {GBTI_SEC_FEATURES, 0, 4, 0, -1},
      {GBTI_SEC_FEATURES, 4, 4, 0, -1},
      {GBTI_SEC_FEATURES, 4, 4, 0, 4},
      {GBTI_SEC_FEATURES, 8 * 4, 4, 0, 2},
      {GBTI_SEC_FEATURES, 8 * 4 + 4, 4, 0, 0},
      {GBTI_SEC_FEATURES, 8 * 4 + 4, 4, 0, 9},
      {GBTI_SEC_STATISTICS, 0, 8, -1.0, 0},
      {GBTI_SEC_STATISTICS, 8, 8, 5e9, 0},
      {GBTI_SEC_STATISTICS, 0, 8, (double)NAN, 0},
      {GBTI_SEC_FEATURE_KINDS, 0, 4, 0, 1},
      {GBTI_SEC_FEATURE_KINDS, 8, 4, 0, 0},
  };
  test_rng rng = {6};
  gbt_mem mem = gbt_mem_default();
  name_levels();
  factors train = draw_factors(&rng, 300, N_LEVELS);
  count_naively(&train, &train);
  double *y = labels_of(&rng, &train);
  tables *t = make_table(&train, N_LEVELS, 1);
  gbt_dataset *ds = dataset_of(t, NULL, 0, 1);
  gbt_forest *forest = train_on(ds, y, 0, NULL);
  size_t n = 0;
  uint8_t *bytes = write_model(forest, ds->cuts->schema, &n);
  REQUIRE(bytes != NULL);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    uint8_t *copy = test_alloc(n);
    gbt_model *model = NULL;
    memcpy(copy, bytes, n);
    REQUIRE(section_row(copy, faults[i].section) > 0);
    memcpy(copy + section_of(copy, faults[i].section).beg + faults[i].at,
           faults[i].size == 8 ? (const void *)&faults[i].number : &faults[i].whole, faults[i].size);
    mutate_seal(copy, n);
    CHECK_FAILS(gbt_model_open(&mem, copy, n, &model, test_err), GBT_E_FORMAT, "");
    CHECK(model == NULL);
    free(copy);
  }
  gbt_mem_free(&mem, bytes);
  gbt_forest_free(forest);
  gbt_dataset_unref(ds);
  tables_free(t);
  free(y);
  free_factors(&train);
}

/* A factor of more levels than have a bin: the others are missing values, in training as in prediction. */
static void levels_without_a_bin_are_missing(void) {
  made *m = made_levels(3, 106000, 70000);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 4);
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_binding *binding = NULL;
  for (int counts = 0; counts < 2; counts++) {
    if (counts) made_counts(m);
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 6);
    job.spec.params.max_depth = 4;
    job.spec.params.min_data_per_group = 1;
    job.spec.params.cat_smooth = 0.0;
    job.spec.params.colsample_bytree = 0.5;
    trained *t = train(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL}); /* predicts the trainer's scores */
    double gain[3], cover[3], n_splits[3];
    REQUIRE(t != NULL);
    const gbt_forest_view view = gbt_forest_view_of(t->forest);
    gbt_importance(&view, (gbt_tree_range){0, view.n_trees}, gain, cover, n_splits);
    CHECK(n_splits[0] > 0.0 && (!counts || n_splits[2] > 0.0));
    trained_free(t);
  }
  gbt_dataset *data = made_dataset(&ctx, m, NULL, 255, 0);
  REQUIRE(data != NULL);
  CHECK_OK(gbt_binding_new(&ctx, &m->table, data->cuts->schema, GBT_UNSEEN_ERROR, &binding, test_err));
  gbt_binding_free(binding);
  const char **text = (const char **)(uintptr_t)m->table.cols[0].levels, *was = text[65534];
  text[65534] = "another";
  CHECK_FAILS(gbt_binding_new(&ctx, &m->table, data->cuts->schema, GBT_UNSEEN_ERROR, &binding, test_err), GBT_E_DATA,
              "column `x1`, row 65535: the level \"another\" did not occur in training");
  text[65534] = was;
  gbt_dataset_unref(data);
  gbt_ctx_close(&ctx);
  made_free(m);
}

void suite_features_map(void) {
  RUN(levels_without_a_bin_are_missing);
  RUN(models_keep_the_map);
  RUN(damaged_maps_are_refused);
  RUN(counts_are_a_column_of_numbers);
  RUN(labels_and_kinds);
  RUN(what_cannot_be_counted);
  RUN(going_on_keeps_the_counts);
}
