/* What the trainer refuses, and that it says why. */
#include "datasets.h"
#include "trained.h"

#include "../../src/gbt/boost/backends.h"

/* A small job with open data sets, to be spoilt in one place. */
typedef struct scene {
  gbt_ctx ctx;
  made *data, *valid;
  train_job job;
  gbt_trainer_spec spec;
} scene;

static scene open_scene(gbt_objective_kind loss, int32_t n_outputs) {
  const made_kind kinds[] = {MADE_BELL, MADE_FACTOR, MADE_FEW};
  scene s = {.data = made_new(1, 30, 3, kinds), .valid = made_new(2, 10, 3, kinds)};
  made_response(s.data, loss, n_outputs, 3);
  made_response(s.valid, loss, n_outputs, 4);
  s.job = job_make(s.data, loss, n_outputs, 2);
  s.job.valid[0] = s.valid;
  s.job.spec.n_valid = 1;
  CHECK_OK(gbt_ctx_open(&s.ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  CHECK(job_open(&s.ctx, &s.job, 0, &s.spec));
  return s;
}

static void close_scene(scene *s) {
  s->spec.n_valid = 1;
  job_close(&s->spec);
  gbt_ctx_close(&s->ctx);
  made_free(s->data);
  made_free(s->valid);
}

static void refused(scene *s, gbt_status code, const char *part) {
  gbt_trainer *tr = (gbt_trainer *)s;
  CHECK_FAILS(gbt_trainer_new(&s->ctx, &s->spec, &tr, test_err), code, part);
  CHECK(tr == NULL);
}

static void taken(scene *s) {
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  if (CHECK_OK(gbt_trainer_new(&s->ctx, &s->spec, &tr, test_err)) && s->spec.objective.kind != GBT_OBJ_CUSTOM)
    CHECK_OK(gbt_trainer_run(&s->ctx, tr, 2, &why, test_err));
  gbt_trainer_free(tr);
}

/* Gives one row of a data set another label. */
static void set_label(gbt_ctx *ctx, gbt_dataset *ds, int64_t row, double y) {
  double *label = test_alloc((size_t)ds->rows.n * sizeof *label);
  memcpy(label, ds->rows.field[GBT_LABEL], (size_t)ds->rows.n * sizeof *label);
  label[row] = y;
  CHECK_OK(gbt_dataset_set(ctx, ds, GBT_LABEL, label, ds->rows.n, test_err));
  free(label);
}

static void one_label(gbt_objective_kind loss, int32_t n_outputs, double y, const char *part) {
  for (int valid = 0; valid <= 1; valid++) {
    scene s = open_scene(loss, n_outputs);
    set_label(&s.ctx, valid ? s.spec.valid[0] : s.spec.train, 6, y);
    refused(&s, GBT_E_DATA, part);
    refused(&s, GBT_E_DATA, "row 7");
    refused(&s, GBT_E_DATA, valid ? "valid 1" : "train");
    close_scene(&s);
  }
}

static void labels_must_suit_the_loss(void) {
  one_label(GBT_OBJ_LOGISTIC, 1, 1.5, "1.5");
  one_label(GBT_OBJ_LOGISTIC, 1, -1e-9, "[0, 1]");
  one_label(GBT_OBJ_SOFTMAX, 3, 3.0, "class");
  one_label(GBT_OBJ_SOFTMAX, 3, -1.0, "class");
  one_label(GBT_OBJ_SOFTMAX, 3, 0.5, "0.5");
  one_label(GBT_OBJ_SOFTMAX, 3, 1e300, "class");
  one_label(GBT_OBJ_POISSON, 1, -1.0, "0 or more");
  scene s = open_scene(GBT_OBJ_LOGISTIC, 1);
  set_label(&s.ctx, s.spec.train, 6, 0.25); /* any share will do */
  taken(&s);
  CHECK_OK(gbt_dataset_set(&s.ctx, s.spec.train, GBT_LABEL, NULL, 0, test_err));
  refused(&s, GBT_E_DATA, "no label");
  close_scene(&s);
}

static void data_sets_must_fit_together(void) {
  scene s = open_scene(GBT_OBJ_SOFTMAX, 3);
  double offset[90] = {0.0};
  CHECK_OK(gbt_dataset_set(&s.ctx, s.spec.train, GBT_OFFSET, offset, 30, test_err));
  refused(&s, GBT_E_DATA, "offset");
  CHECK_OK(gbt_dataset_set(&s.ctx, s.spec.train, GBT_OFFSET, offset, 90, test_err));
  taken(&s); /* the validation data need none */
  CHECK_OK(gbt_dataset_set(&s.ctx, s.spec.valid[0], GBT_OFFSET, offset, 20, test_err));
  refused(&s, GBT_E_DATA, "valid 1");
  CHECK_OK(gbt_dataset_set(&s.ctx, s.spec.valid[0], GBT_OFFSET, NULL, 0, test_err));
  gbt_dataset *other = made_dataset(&s.ctx, s.valid, NULL, 255, 0), *right = s.spec.valid[0];
  s.spec.valid[0] = other;
  refused(&s, GBT_E_ARG, "reference");
  s.spec.valid[0] = right;
  gbt_dataset_unref(other);
  taken(&s);
  close_scene(&s);
}

static void empty_data_are_refused(void) {
  gbt_ctx ctx;
  CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  const made_kind kind = MADE_BELL;
  made *no_cols = made_new(5, 10, 0, &kind), *no_rows = made_new(5, 0, 1, &kind);
  gbt_dataset *ds = NULL;
  gbt_trainer *tr = NULL;
  CHECK_FAILS(dataset_from(&ctx, &no_cols->table, NULL, NULL, 255, 0, GBT_UNSEEN_MISSING, &ds, test_err), GBT_E_DATA,
              "no columns");
  CHECK(ds == NULL);
  ds = made_dataset(&ctx, no_rows, NULL, 255, 0);
  if (ds != NULL) {
    train_job job = job_make(no_rows, GBT_OBJ_SQUARED_ERROR, 1, 1);
    job.spec.train = ds;
    CHECK_FAILS(gbt_trainer_new(&ctx, &job.spec, &tr, test_err), GBT_E_DATA, "no rows");
    CHECK(tr == NULL);
  }
  gbt_dataset_unref(ds);
  gbt_ctx_close(&ctx);
  made_free(no_cols);
  made_free(no_rows);
}

static void numbers_must_be_in_range(void) {
  scene s = open_scene(GBT_OBJ_LOGISTIC, 1);
  gbt_trainer_spec good = s.spec;
  s.spec.objective.n_outputs = 2, refused(&s, GBT_E_DATA, "has 1 columns; this objective needs 2"), s.spec = good;
  s.spec.objective.n_outputs = 0, refused(&s, GBT_E_ARG, "0 outputs"), s.spec = good;
  s.spec.n_valid = GBT_MAX_VALID + 1, refused(&s, GBT_E_ARG, "validation"), s.spec = good;
  s.spec.n_metrics = GBT_MAX_METRICS + 1, refused(&s, GBT_E_ARG, "metrics"), s.spec = good;
  s.spec.params.eta = 0.0, refused(&s, GBT_E_ARG, "eta"), s.spec = good;
  const double etas[3] = {0.1, 1.0, 1.5};
  s.spec.eta = etas, s.spec.n_eta = 3, refused(&s, GBT_E_ARG, "`eta` of round 3 is 1.5"), s.spec = good;
  s.spec.eta = etas, s.spec.n_eta = 0, refused(&s, GBT_E_ARG, "no values"), s.spec = good;
  s.spec.eta = etas, s.spec.n_eta = 2, taken(&s), s.spec = good;
  s.spec.init_eta = 2.0, refused(&s, GBT_E_ARG, "initial model is 2"), s.spec = good;
  s.spec.params.max_depth = 0, refused(&s, GBT_E_ARG, "max_leaves"), s.spec = good;
  s.spec.n_metrics = 1;
  s.spec.metric[0] = gbt_metric_plain(GBT_METRIC_MLOGLOSS), refused(&s, GBT_E_ARG, "mlogloss");
  s.spec.metric[0] = gbt_metric_plain(GBT_METRIC_AUC), taken(&s);
  s.spec.n_valid = 0, s.spec.stop_rounds = 3, refused(&s, GBT_E_ARG, "early_stopping_rounds");
  s.spec.eval_train = 1, taken(&s);
  close_scene(&s);
  s = open_scene(GBT_OBJ_SOFTMAX, 2);
  s.spec.objective.n_outputs = 1, refused(&s, GBT_E_ARG, "1 outputs");
  close_scene(&s);
}

static void metrics_need_labels(void) {
  scene s = open_scene(GBT_OBJ_CUSTOM, 1);
  CHECK_OK(gbt_dataset_set(&s.ctx, s.spec.train, GBT_LABEL, NULL, 0, test_err)); /* the host knows its labels itself */
  taken(&s);
  s.spec.n_metrics = 1;
  s.spec.metric[0] = gbt_metric_plain(GBT_METRIC_RMSE);
  taken(&s);
  s.spec.eval_train = 1;
  refused(&s, GBT_E_DATA, "label");
  s.spec.eval_train = 0;
  CHECK_OK(gbt_dataset_set(&s.ctx, s.spec.valid[0], GBT_LABEL, NULL, 0, test_err));
  refused(&s, GBT_E_DATA, "label");
  close_scene(&s);
}

static void device_libraries_of_another_build_are_refused(void) {
  scene s = open_scene(GBT_OBJ_SQUARED_ERROR, 1);
  gbt_backend_spec spec = {.params = &s.spec.params};
  gbt_backend *be = (gbt_backend *)&s;
  const gbt_device_api other = {.build = GBT_BUILD_ID + 1, .name = "abacus"};
  CHECK_FAILS(gbt_backend_open(&s.ctx, &other, 0, &spec, &be, test_err), GBT_E_DEVICE, "abacus");
  CHECK(be == NULL);
  gbt_backend_close(be);
  close_scene(&s);
}

static void constraints_must_make_sense(void) {
  scene s = open_scene(GBT_OBJ_SQUARED_ERROR, 1);
  gbt_trainer_spec good = s.spec;
  const int8_t monotone[] = {1, 1, -1}, fine[] = {1, 0, -1};
  s.spec.monotone = monotone, refused(&s, GBT_E_UNSUPPORTED, "x2");
  s.spec.monotone = fine, taken(&s), s.spec = good;
  const double negative[] = {1.0, -1.0, 2.0}, missing[] = {1.0, 1.0, NAN}, zero[] = {0.0, 0.0, 0.0}, some[] = {0, 2, 1};
  s.spec.feature_weight = negative, refused(&s, GBT_E_ARG, "x2");
  s.spec.feature_weight = missing, refused(&s, GBT_E_ARG, "x3");
  s.spec.feature_weight = zero, refused(&s, GBT_E_ARG, "0");
  s.spec.feature_weight = some, taken(&s), s.spec = good;
  const int32_t beg[] = {0, 1, 3}, beyond[] = {0, 1, 3}, below[] = {0, -1, 2}, twice[] = {0, 2, 2}, right[] = {0, 1, 2};
  s.spec.n_interact = 2, s.spec.interact_beg = beg;
  s.spec.interact_col = beyond, refused(&s, GBT_E_ARG, "group 2");
  s.spec.interact_col = below, refused(&s, GBT_E_ARG, "group 2");
  s.spec.interact_col = twice, refused(&s, GBT_E_ARG, "x3");
  s.spec.interact_col = right, taken(&s);
  close_scene(&s);
}

static void initial_models_must_fit(void) {
  scene s = open_scene(GBT_OBJ_SQUARED_ERROR, 1);
  gbt_trainer_spec good = s.spec;
  const double base[2] = {0.0, 0.0}, score[30] = {0.0}, score_valid[10] = {0.0};
  gbt_forest_view init = {.n_features = 3, .n_outputs = 1, .n_leaf_outputs = 1, .n_parallel = 1, .base = base};
  s.spec.init = &init;
  s.spec.init_score = score;
  s.spec.init_valid[0] = score_valid;
  taken(&s);
  init.n_features = 4, refused(&s, GBT_E_ARG, "4 features"), init.n_features = 3;
  init.n_outputs = 2, refused(&s, GBT_E_ARG, "2 outputs"), init.n_outputs = 1;
  init.n_parallel = 2, refused(&s, GBT_E_ARG, "num_parallel_tree"), init.n_parallel = 1;
  s.spec.init_score = NULL, refused(&s, GBT_E_INTERNAL, "scores"), s.spec.init_score = score;
  s.spec.init_valid[0] = NULL, refused(&s, GBT_E_INTERNAL, "scores");
  s.spec = good;
  close_scene(&s);
}

static void host_gradients_must_be_numbers(void) {
  scene s = open_scene(GBT_OBJ_CUSTOM, 2);
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  double g[60], h[60];
  const struct {
    double g, h;
    const char *part;
  } bad[] = {{NAN, 1.0, "gradient of row 8, output 2"},       {INFINITY, 1.0, "gradient of row 8, output 2"},
             {-INFINITY, 1.0, "gradient of row 8, output 2"}, {-1e291, 1.0, "gradient of row 8, output 2"},
             {0.0, -1e-300, "hessian of row 8, output 2"},    {0.0, NAN, "hessian of row 8, output 2"},
             {0.0, INFINITY, "hessian of row 8, output 2"}};
  for (int i = 0; i < 60; i++) g[i] = i % 3 - 1.0, h[i] = 1.0;
  REQUIRE_OK(gbt_trainer_new(&s.ctx, &s.spec, &tr, test_err));
  CHECK_FAILS(gbt_trainer_run(&s.ctx, tr, 1, &why, test_err), GBT_E_INTERNAL, "custom");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    g[37] = bad[i].g;
    h[37] = bad[i].h;
    CHECK_FAILS(gbt_trainer_set_gradients(&s.ctx, tr, g, h, test_err), GBT_E_DATA, bad[i].part);
  }
  CHECK_FAILS(gbt_trainer_run(&s.ctx, tr, 1, &why, test_err), GBT_E_INTERNAL, "custom");
  g[37] = 0.5;
  h[37] = 0.0;
  CHECK_OK(gbt_trainer_set_gradients(&s.ctx, tr, g, h, test_err));
  CHECK_FAILS(gbt_trainer_run(&s.ctx, tr, 2, &why, test_err), GBT_E_INTERNAL, "the gradients of each round");
  CHECK_OK(gbt_trainer_run(&s.ctx, tr, 1, &why, test_err));
  CHECK_FAILS(gbt_trainer_run(&s.ctx, tr, 1, &why, test_err), GBT_E_INTERNAL, "custom"); /* they were used up */
  CHECK_EQ_I64(gbt_trainer_rounds(tr), 1);
  CHECK_EQ_I64(gbt_trainer_forest(tr)->n_trees, 2);
  gbt_trainer_free(tr);
  close_scene(&s);
}

static void overflow_is_an_error(void) {
  scene s = open_scene(GBT_OBJ_SQUARED_ERROR, 1);
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  set_label(&s.ctx, s.spec.train, 3, 1e300);
  REQUIRE_OK(gbt_trainer_new(&s.ctx, &s.spec, &tr, test_err));
  CHECK_FAILS(gbt_trainer_run(&s.ctx, tr, 1, &why, test_err), GBT_E_DATA, "round 1");
  CHECK_EQ_I64(gbt_trainer_forest(tr)->n_trees, 0);
  gbt_trainer_free(tr);
  set_label(&s.ctx, s.spec.train, 3, 1e280); /* large, but within reach */
  taken(&s);
  close_scene(&s);
  s = open_scene(GBT_OBJ_CUSTOM, 1);
  double g[30], h[30];
  for (int i = 0; i < 30; i++) g[i] = 1e200, h[i] = 1e-200;
  s.spec.params.lambda = 0.0;
  s.spec.params.min_child_weight = 0.0;
  REQUIRE_OK(gbt_trainer_new(&s.ctx, &s.spec, &tr, test_err));
  CHECK_OK(gbt_trainer_set_gradients(&s.ctx, tr, g, h, test_err));
  CHECK_FAILS(gbt_trainer_run(&s.ctx, tr, 1, &why, test_err), GBT_E_DATA, "leaf value");
  CHECK(gbt_trainer_forest(tr)->n_trees == 0 && gbt_trainer_rounds(tr) == 0);
  gbt_trainer_free(tr);
  close_scene(&s);
}

void suite_refusals(void) {
  RUN(labels_must_suit_the_loss);
  RUN(data_sets_must_fit_together);
  RUN(empty_data_are_refused);
  RUN(numbers_must_be_in_range);
  RUN(metrics_need_labels);
  RUN(device_libraries_of_another_build_are_refused);
  RUN(constraints_must_make_sense);
  RUN(initial_models_must_fit);
  RUN(host_gradients_must_be_numbers);
  RUN(overflow_is_an_error);
}
