/* Every number that data, parameters or calls can have, at the sizes where the engine may change its ways: sweep.h. The
 * same job is trained in two ways (threads, pages, instruction set), which must agree in every byte, and by the naive
 * twin where that is quick; predictions must be the trainer's scores (trained.h). */
#include "../../src/gbt/model/model_impl.h"
#include "../../src/gbt/model/predict.h"
#include "sweep.h"
#include "trained.h"

enum { NAIVE_WORK = 20000 }; /* rows x columns x trees x splits for which the twin is quick */

static const train_how plain = {1, 0, GBT_SIMD_SCALAR, NULL}, other = {3, 37, GBT_SIMD_AUTO, NULL};

static void check_job(const train_job *job, const train_how *how) {
  trained *a = train(job, &plain), *b = train(job, how);
  same_trained(a, b);
  int64_t trees = job->rounds * job->spec.objective.n_outputs * job->spec.params.num_parallel_tree;
  if (job->data->table.n_rows * job->data->table.n_cols * trees <= NAIVE_WORK && a != NULL) {
    trained *c = train_naively(job);
    same_trained(a, c);
    trained_free(c);
  }
  trained_free(a);
  trained_free(b);
}

static train_job small_job(const made *m) {
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  job.spec.params.max_depth = 2;
  job.spec.params.min_child_weight = 0.0;
  return job;
}

/* ---- data ---- */

static const made_kind four[] = {MADE_BELL, MADE_LEVELS, MADE_HOLED, MADE_FEW};

static void rows(int64_t n) {
  made *m = made_new((uint64_t)n, n, 4, four);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 1);
  if (n % 2) made_weights(m, 2);
  train_job job = small_job(m);
  job.spec.objective.kind = GBT_OBJ_LOGISTIC;
  job.spec.eval_train = 1;
  job.spec.n_metrics = 4;
  job.spec.metric[0] = gbt_metric_plain(GBT_METRIC_LOGLOSS);
  job.spec.metric[1] = gbt_metric_plain(GBT_METRIC_AUC);
  job.spec.metric[2] = gbt_metric_plain(GBT_METRIC_PR_AUC);
  job.spec.metric[3] = gbt_metric_plain(GBT_METRIC_MCC);
  train_how how = other;
  if (n > 4000) how.page_rows = 1000;
  check_job(&job, &how);
  made_free(m);
}

/* Symmetric trees, whose nodes go without histograms once they have few rows compared with the bins. */
static void symmetric_rows(int64_t n) {
  static const made_kind kinds[] = {MADE_BELL, MADE_HOLED, MADE_LEVELS, MADE_ZEROS, MADE_ZEROS, MADE_FEW};
  made *m = made_new((uint64_t)n, n, 6, kinds);
  const gbt_objective_kind kind = n % 3 == 2 ? GBT_OBJ_LOGISTIC : GBT_OBJ_SQUARED_ERROR;
  made_response(m, kind, 1, 1);
  if (n % 4 == 1) made_weights(m, 2);
  if (n % 4 == 2 && kind == GBT_OBJ_SQUARED_ERROR) m->label[n / 2] = 1e7; /* histograms of 32-bit gradients */
  train_job job = small_job(m);
  job.spec.objective.kind = (int32_t)kind;
  job.spec.params.grow_policy = GBT_SYMMETRIC;
  job.spec.params.max_depth = 1 + n % 5;
  if (n % 7 == 0) job.max_bin = 300; /* two bytes a code */
  if (n % 7 == 1) job.max_bin = 7;
  if (n % 5 == 0) job.spec.params.min_data_in_leaf = 2;
  if (n % 5 == 1) job.spec.params.colsample_bylevel = 0.5;
  if (n % 5 == 2) job.spec.params.subsample = 0.7;
  if (n % 5 == 3) job.spec.params.max_delta_step = 0.1;
  check_job(&job, n > 4000 ? &(train_how){2, 1000, GBT_SIMD_AUTO, NULL} : &other);
  made_free(m);
}

/* Nearly empty columns, dense and sparse: bundles and lists. */
static void sparse_rows(int64_t n) {
  made_kind kinds[16];
  for (int i = 0; i < 16; i++) kinds[i] = MADE_ZEROS;
  made *m = made_new((uint64_t)n, n, 16, kinds);
  if (n % 3 == 0) made_fields(m, 4, 3, 0, 5);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  made *s = made_sparse(m, n % 2 ? 0 : 7);
  train_job job = small_job(m), same = small_job(s);
  job.spec.params.subsample = same.spec.params.subsample = n % 5 == 0 ? 0.5 : 1.0;
  trained *a = train(&job, &plain), *b = train(&same, n > 4000 ? &plain : &other);
  same_trained(a, b);
  trained_free(a);
  trained_free(b);
  made_free(m);
  made_free(s);
}

static void valid_rows(int64_t n) {
  made *m = made_new(1, 60, 4, four), *v = made_new((uint64_t)n, n, 4, four);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  made_response(v, GBT_OBJ_SQUARED_ERROR, 1, 2);
  train_job job = small_job(m);
  job.valid[0] = v;
  job.spec.n_valid = job.spec.n_metrics = 1;
  job.spec.metric[0] = gbt_metric_plain(GBT_METRIC_MAE);
  check_job(&job, n > 4000 ? &(train_how){2, 4000, GBT_SIMD_AUTO, NULL} : &other);
  made_free(m);
  made_free(v);
}

static void columns(int64_t n) {
  made *m = made_new((uint64_t)n, 24, (int32_t)n, NULL);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = small_job(m);
  if (n % 3 == 1) job.spec.params.colsample_bynode = 0.4;
  if (n % 3 == 2) job.spec.params.colsample_bytree = 0.3;
  check_job(&job, &other);
  made_free(m);
}

/* Entries of one sparse column. */
static void entries(int64_t n) {
  made_kind kinds[2] = {MADE_ZEROS, MADE_CONSTANT};
  made *m = made_new(3, n + 300, 2, kinds);
  double *x = (double *)m->table.cols[0].values;
  for (int64_t r = 0; r < n + 300; r++) x[r] = r >= 7 && r < n + 7 ? (double)(1 + r % 9) : 0.0;
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  made *s = made_sparse(m, 0);
  train_job job = small_job(m), same = small_job(s);
  trained *a = train(&job, &plain), *b = train(&same, n > 4000 ? &plain : &other);
  same_trained(a, b);
  trained_free(a);
  trained_free(b);
  made_free(m);
  made_free(s);
}

/* The first column, of any kind of levels, gets n levels; row r has level r mod n. */
static void put_levels(made *m, int64_t n, size_t length) {
  gbt_column *col = (gbt_column *)&m->table.cols[0];
  const char **texts = test_alloc((size_t)n * (sizeof *texts + length + 24));
  char *at = (char *)(texts + n);
  for (int64_t i = 0; i < n; i++, at += length + 24) {
    memset(at, 'x', length);
    snprintf(at + length, 24, "%" PRId64, i);
    texts[i] = at;
  }
  for (int64_t r = 0; r < m->table.n_rows; r++) ((int32_t *)col->values)[r] = (int32_t)(1 + r % n);
  free((void *)col->levels);
  col->levels = texts;
  col->n_levels = (int32_t)n;
}

static void levels(int64_t n) {
  made *m =
      made_new((uint64_t)n, 2 * n + 9, 2, (const made_kind[]){n % 3 == 0 ? MADE_ORDERED : MADE_LEVELS, MADE_BELL});
  put_levels(m, n, 0);
  for (int64_t r = 0; r < m->table.n_rows; r++) m->signal[r] += (double)(r % n % 17);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = small_job(m);
  job.spec.params.min_data_per_group = 1;
  job.spec.params.cat_smooth = 0.0;
  job.spec.params.cat_noise = 0.0;
  job.spec.params.max_cat_threshold = 65535;
  if (n % 2) job.spec.params.grow_policy = GBT_SYMMETRIC;
  check_job(&job, n > 2000 ? &(train_how){3, 0, GBT_SIMD_AUTO, NULL} : &other);
  made_free(m);
}

static void bins(int64_t n) {
  made *m = made_new((uint64_t)n, n < 3000 ? 3001 : n + 40, 1, (const made_kind[]){MADE_BELL});
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = small_job(m);
  job.max_bin = (int32_t)n;
  check_job(&job, &(train_how){3, 500, GBT_SIMD_AUTO, NULL});
  made_free(m);
}

/* ---- trees ---- */

static void classes(int64_t n) {
  made *m = made_new((uint64_t)n, 40, 2, four);
  made_response(m, GBT_OBJ_SOFTMAX, (int32_t)n, 1);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, (int32_t)n, 1);
  job.spec.params.max_depth = 1;
  job.spec.params.min_child_weight = 0.0;
  job.spec.eval_train = 1;
  job.spec.n_metrics = 4;
  job.spec.metric[0] = gbt_metric_plain(GBT_METRIC_MLOGLOSS);
  job.spec.metric[1] = gbt_metric_plain(GBT_METRIC_MERROR);
  job.spec.metric[2] = gbt_metric_plain(GBT_METRIC_F1);
  job.spec.metric[3].kind = GBT_METRIC_TOP_ERROR;
  job.spec.metric[3].param = (double)(n / 2);
  check_job(&job, &other);
  made_free(m);
}

static void calibration_bins(int64_t n) {
  made *m = made_new((uint64_t)n, 200, 2, four);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 1);
  train_job job = small_job(m);
  job.spec.objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1);
  job.spec.eval_train = 1;
  job.spec.n_metrics = 1;
  job.spec.metric[0].kind = GBT_METRIC_CALIBRATION_ERROR;
  job.spec.metric[0].param = (double)n;
  check_job(&job, &other);
  made_free(m);
}

static void rounds(int64_t n) {
  made *m = made_new((uint64_t)n, 30, 2, four);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = small_job(m);
  job.rounds = n;
  check_job(&job, &other);
  made_free(m);
}

static void parallel_trees(int64_t n) {
  made *m = made_new((uint64_t)n, 30, 2, four);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = small_job(m);
  job.spec.params.num_parallel_tree = n;
  job.spec.params.subsample = 0.7;
  check_job(&job, &other);
  made_free(m);
}

/* Responses of which every split takes one row off: as deep as trees may be. */
static void depth(int64_t n) {
  made *m = made_new(1, 80, 1, (const made_kind[]){MADE_BELL});
  double *x = (double *)m->table.cols[0].values;
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  for (int64_t r = 0; r < 80; r++) {
    x[r] = (double)r;
    m->label[r] = ldexp(1.0, (int)(r < 60 ? r : 60));
  }
  for (int policy = GBT_DEPTHWISE; policy <= GBT_SYMMETRIC; policy++) {
    train_job job = small_job(m);
    job.spec.params.max_depth = n;
    job.spec.params.grow_policy = policy;
    job.spec.params.lambda = 0.0;
    if (policy != GBT_SYMMETRIC || (n >= 1 && n <= 10)) check_job(&job, &other);
  }
  made_free(m);
}

static void leaves(int64_t n) {
  made *m = made_new(1, n + 30, 2, four);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  for (int policy = GBT_DEPTHWISE; policy <= GBT_LOSSGUIDE; policy++) {
    train_job job = small_job(m);
    job.spec.params.max_depth = 0;
    job.spec.params.max_leaves = n;
    job.spec.params.grow_policy = policy;
    check_job(&job, &other);
  }
  made_free(m);
}

/* ---- ways ---- */

static void page_rows(int64_t n) {
  made *m = made_new(1, 700, 4, four);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = small_job(m);
  check_job(&job, &(train_how){2, (int32_t)n, GBT_SIMD_AUTO, NULL});
  made_free(m);
}

static void threads(int64_t n) {
  made *m = made_new(1, 3000, 4, four);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = small_job(m);
  check_job(&job, &(train_how){(int)n, 64, GBT_SIMD_AUTO, NULL});
  made_free(m);
}

/* The first n rows get what they get among all of them. */
static void predicted_rows(int64_t n) {
  enum { ALL = 5000 };
  static trained *model;
  static made *data;
  static double *want;
  static gbt_schema *schema;
  gbt_ctx ctx = test_ctx(NULL, 3);
  gbt_binding *binding = NULL;
  if (model == NULL) {
    data = made_new(9, ALL, 4, four);
    made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 1);
    train_job job = small_job(data);
    job.rounds = 40;
    job.spec.params.max_depth = 5;
    model = train(&job, &plain);
    gbt_dataset *ds = made_dataset(&ctx, data, NULL, 255, 0);
    schema = gbt_schema_ref(ds->cuts->schema);
    gbt_dataset_unref(ds);
    want = model->score[0];
  }
  gbt_table table = data->table;
  gbt_column cols[4];
  int64_t copies = n > ALL ? n / ALL + 1 : 1;
  table.cols = cols;
  table.n_rows = n;
  for (int c = 0; c < 4; c++) { /* the same rows again and again where n is larger */
    size_t size = data->table.cols[c].storage == GBT_F64 ? 8 : 4;
    char *values = test_alloc((size_t)(copies * ALL) * size);
    for (int64_t k = 0; k < copies; k++)
      memcpy(values + (size_t)(k * ALL) * size, data->table.cols[c].values, ALL * size);
    cols[c] = data->table.cols[c];
    cols[c].values = values;
  }
  gbt_forest_view view = gbt_forest_view_of(model->forest);
  double *out = test_alloc((size_t)n * sizeof *out);
  if (CHECK_OK(gbt_binding_new(&ctx, &table, schema, GBT_UNSEEN_ERROR, &binding, test_err)) &&
      CHECK_OK(gbt_predict_scores(&ctx, &view, binding, (gbt_tree_range){0, view.n_trees}, NULL, out, test_err)))
    for (int64_t r = 0; r < n; r += ALL)
      CHECK_EQ_BYTES(out + r, want, (size_t)(n - r < ALL ? n - r : ALL) * sizeof *out);
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  for (int c = 0; c < 4; c++) free((void *)cols[c].values);
  free(out);
}

/* ---- bytes of a model ---- */

static void check_bytes(const gbt_model_parts *parts) {
  gbt_mem mem = gbt_mem_default();
  uint8_t *bytes = NULL, *again = NULL;
  size_t n = 0, n_again = 0;
  gbt_model *model = NULL;
  if (CHECK_OK(gbt_model_write(&mem, parts, &bytes, &n, test_err)) &&
      CHECK_OK(gbt_model_open(&mem, bytes, n, &model, test_err)) &&
      CHECK_OK(gbt_model_write(&mem, &model->parts, &again, &n_again, test_err)) && CHECK_EQ_U64(n, n_again))
    CHECK_EQ_BYTES(bytes, again, n);
  gbt_model_close(model);
  gbt_mem_free(&mem, bytes);
  gbt_mem_free(&mem, again);
}

/* Levels, names and meta texts of n bytes, and n of them. */
static void texts(int64_t n) {
  char *name = test_alloc((size_t)n + 1);
  memset(name, 'n', (size_t)n);
  name[n] = 0;
  made *m = made_new(1, 30, 2, (const made_kind[]){MADE_LEVELS, MADE_BELL});
  put_levels(m, 5, (size_t)n);
  if (n > 0) ((gbt_column *)&m->table.cols[1])->name = name;
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = small_job(m);
  job.spec.params.min_data_per_group = 1;
  trained *t = train(&job, &plain);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_dataset *ds = made_dataset(&ctx, m, NULL, 255, 0);
  size_t n_texts = (size_t)(n < 5000 ? n : 5000);
  const char **many = test_alloc((n_texts + 1) * sizeof *many);
  for (size_t i = 0; i < n_texts; i++) many[i] = i == 0 ? name : "meta";
  gbt_meta meta = {"meta", GBT_META_TEXT, (int64_t)n_texts, many, NULL, NULL};
  if (CHECK(t != NULL && ds != NULL)) {
    gbt_model_parts parts = {gbt_forest_view_of(t->forest), gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1),
                             ds->cuts->schema, &meta, 1};
    check_bytes(&parts);
  }
  gbt_dataset_unref(ds);
  gbt_ctx_close(&ctx);
  trained_free(t);
  made_free(m);
  free(many);
  free(name);
}

#define SWEEP(fn, ...) \
  static void fn##_of_any_number(void) { sweep(fn, (&(sweep_range){__VA_ARGS__})); }
SWEEP(rows, .low = 1, .high = 70000, .dense = 140, .high_long = 1048578, .all_long = 2000)
SWEEP(symmetric_rows, .low = 1, .high = 33000, .dense = 140, .high_long = 70000, .all_long = 4000)
SWEEP(sparse_rows, .low = 1, .high = 33000, .dense = 70, .high_long = 1048578, .all_long = 2000)
SWEEP(valid_rows, .low = 1, .high = 70000, .dense = 70, .high_long = 1048578, .all_long = 2000)
SWEEP(columns, .low = 1, .high = 2100, .dense = 70, .high_long = 131074, .all_long = 1100)
SWEEP(entries, .low = 0, .high = 33000, .dense = 40, .high_long = 1048578, .all_long = 2000)
SWEEP(levels, .low = 1, .high = 4200, .dense = 140, .high_long = 131074, .all_long = 1100)
SWEEP(bins, .low = 2, .high = 1100, .dense = 20, .high_long = 65535, .all_long = 1100)
SWEEP(calibration_bins, .low = 1, .high = 10000, .dense = 40, .high_long = 10000, .all_long = 2000)
SWEEP(classes, .low = 2, .high = 300, .dense = 40, .high_long = 5000, .all_long = 300)
SWEEP(rounds, .low = 1, .high = 1100, .dense = 40, .high_long = 4100, .all_long = 1100)
SWEEP(parallel_trees, .low = 1, .high = 4100, .dense = 40, .high_long = 65536, .all_long = 1100)
SWEEP(depth, .low = 1, .high = 64, .dense = 64)
SWEEP(leaves, .low = 2, .high = 1100, .dense = 40, .high_long = 65540, .all_long = 1100)
SWEEP(page_rows, .low = 1, .high = 2147483647, .dense = 40, .all_long = 1100)
SWEEP(threads, .low = 1, .high = 40, .dense = 10, .high_long = 1030, .all_long = 300)
SWEEP(predicted_rows, .low = 1, .high = 70000, .dense = 300, .high_long = 1048578, .all_long = 20000)
SWEEP(texts, .low = 0, .high = 70000, .dense = 70, .high_long = 1048578, .all_long = 2000)

void suite_sizes(void) {
  RUN(rows_of_any_number);
  RUN(symmetric_rows_of_any_number);
  RUN(sparse_rows_of_any_number);
  RUN(valid_rows_of_any_number);
  RUN(columns_of_any_number);
  RUN(entries_of_any_number);
  RUN(levels_of_any_number);
  RUN(bins_of_any_number);
  RUN(calibration_bins_of_any_number);
  RUN(classes_of_any_number);
  RUN(rounds_of_any_number);
  RUN(parallel_trees_of_any_number);
  RUN(depth_of_any_number);
  RUN(leaves_of_any_number);
  RUN(page_rows_of_any_number);
  RUN(threads_of_any_number);
  RUN(predicted_rows_of_any_number);
  RUN(texts_of_any_number);
}
