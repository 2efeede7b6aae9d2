/* Long steps look whether to stop: at least once for every so much of their work, whatever shape it has. The clock
 * moves on by a poll's interval at every look, so that every look asks the host, and asks can be counted. */
#include <stdatomic.h>

#include "clock.h"
#include "datasets.h"
#include "explain_scene.h"
#include "test.h"
#include "trained.h"

#include "../../src/gbt/base/parallel.h"
#include "../../src/gbt/boost/backends.h"
#include "../../src/gbt/cpu/cpu.h"
#include "../../src/gbt/data/dataset_impl.h"
#include "../../src/gbt/encode/keys.h"
#include "../../src/gbt/model/predict.h"
#include "../../src/gbt/schema/schema_impl.h"

static gbt_ctx asking(asker *a, int n_threads, int64_t stop_at) {
  gbt_ctx ctx;
  *a = (asker){0, stop_at};
  CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), n_threads, GBT_SIMD_AUTO, asker_ask, a, test_err));
  return ctx;
}

/* n different texts, in one block. */
static char *numbers(const char **text, int32_t n) {
  char *block = test_alloc((size_t)n * 12);
  for (int32_t i = 0; i < n; i++) {
    snprintf(block + (size_t)i * 12, 12, "%d", (int)i);
    text[i] = block + (size_t)i * 12;
  }
  return block;
}

static void a_million_texts(void) {
  enum { N = 1000000 };
  const char **text = test_alloc(N * sizeof *text), **again = test_alloc(N * sizeof *again);
  int32_t *out = test_alloc(N * sizeof *out);
  char *block = numbers(text, N);
  memcpy(again, text, N * sizeof *again); /* texts that are matched to themselves are gone through once */
  clock_jump(20000000);
  for (int64_t stop_at = 0; stop_at < 240; stop_at += 60) { /* never, then in each half */
    asker a;
    gbt_ctx ctx = asking(&a, 1, stop_at);
    gbt_status status = gbt_match_many_texts(&ctx, 0, again, N, text, N, out, test_err);
    CHECK_EQ_I64(status, stop_at > 0 ? GBT_CANCELLED : GBT_OK);
    CHECK(stop_at > 0 ? a.n_asked == stop_at : a.n_asked >= 2 * N / 10000);
    gbt_ctx_close(&ctx);
  }
  clock_jump(0);
  free(block);
  free(out);
  free(again);
  free(text);
}

/* A column of a million levels: making the dictionary of it, and matching it again. */
static void a_million_levels(void) {
  enum { N = 1000000 };
  const char **text = test_alloc(N * sizeof *text);
  int32_t *code = test_alloc(N * sizeof *code);
  char *block = numbers(text, N);
  for (int32_t i = 0; i < N; i++) code[i] = i + 1;
  gbt_column col = {.name = "a",
                    .tag = "factor",
                    .type = GBT_CATEGORICAL,
                    .storage = GBT_CODES,
                    .values = code,
                    .levels = text,
                    .n_levels = N};
  gbt_table table = {.n_rows = N, .n_cols = 1, .cols = &col};
  asker a;
  gbt_dataset *ds = NULL;
  clock_jump(20000000);
  gbt_ctx ctx = asking(&a, 1, 0);
  CHECK_OK(dataset_from(&ctx, &table, NULL, NULL, 255, 0, GBT_UNSEEN_MISSING, &ds, test_err));
  CHECK(a.n_asked >= 3 * N / 10000);
  gbt_ctx_close(&ctx);
  clock_jump(0);
  gbt_dataset_unref(ds);
  free(block);
  free(code);
  free(text);
}

static void responses_of_many_outputs(void) {
  enum { N = 4096, K = 2048 };
  double *x = test_alloc((size_t)N * K * sizeof *x);
  for (size_t i = 0; i < (size_t)N * K; i++) x[i] = (double)(i % 7);
  asker a;
  clock_jump(20000000);
  gbt_ctx ctx = asking(&a, 1, 0);
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_SOFTMAX, K);
  CHECK_OK(gbt_predict_response(&ctx, &objective, N, x, test_err));
  CHECK(a.n_asked >= N * K / (1 << 20));
  gbt_ctx_close(&ctx);
  clock_jump(0);
  free(x);
}

/* First scores and gradients of many outputs, on the backend itself. */
static void scores_of_many_outputs(void) {
  enum { N = 4096, K = 2048 };
  made *m = made_new(3, N, 2, NULL);
  made_response(m, GBT_OBJ_SOFTMAX, K, 4);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, K, 1);
  double *base = test_alloc(K * sizeof *base);
  for (int k = 0; k < K; k++) base[k] = 0.0;
  asker a;
  gbt_trainer_spec spec;
  gbt_feature_rules *rules = NULL;
  gbt_backend *be = NULL;
  clock_jump(20000000);
  gbt_ctx ctx = asking(&a, 1, 0);
  if (job_open(&ctx, &job, 0, &spec) &&
      CHECK_OK(gbt_feature_rules_new(&ctx.mem, spec.train->cuts->n_features, NULL, &spec.params, NULL, NULL, NULL, 0,
                                     &rules, test_err))) {
    gbt_dataset *data[1] = {spec.train};
    gbt_backend_spec how = {
        .params = &spec.params, .objective = spec.objective, .data = data, .base = base, .rules = rules};
    a.n_asked = 0;
    CHECK_OK(gbt_cpu_open(&ctx, &how, &be, test_err));
    CHECK(a.n_asked >= K);
    a.n_asked = 0;
    if (be != NULL) CHECK_OK(be->ops->gradients(&ctx, be, 0, test_err));
    CHECK(a.n_asked >= N * K / (1 << 20));
  }
  gbt_backend_close(be);
  gbt_feature_rules_free(rules);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  clock_jump(0);
  free(base);
  made_free(m);
}

typedef struct waiters {
  gbt_ctx *ctx;
  _Atomic int n_stopped;
} waiters;

static void wait_task(void *arg, int64_t task, int thread) {
  waiters *w = arg;
  (void)task;
  while (!gbt_ctx_stopped(w->ctx, thread)) {
  }
  atomic_fetch_add(&w->n_stopped, 1);
}

/* Tasks on helpers hear of a stop as well; this would hang if they did not. */
static void all_threads_hear_of_a_stop(void) {
  for (int n_threads = 1; n_threads <= 4; n_threads++) {
    asker a;
    gbt_ctx ctx = asking(&a, n_threads, 1);
    waiters w = {&ctx, 0};
    CHECK_FAILS(gbt_parallel(&ctx, 8, wait_task, &w, test_err), GBT_CANCELLED, "stopped");
    CHECK(w.n_stopped >= 1);
    gbt_ctx_close(&ctx);
  }
}

/* ---- passes over the numbers of rows ---- */

enum { MANY_ROWS = 1500000, LEAST_ASKS = MANY_ROWS / 65536 };

typedef struct row_pass {
  gbt_dataset *ds;
  gbt_trainer *tr;
  double *x;
  gbt_rows rows;
} row_pass;

static gbt_status weights_pass(gbt_ctx *ctx, row_pass *p, gbt_error *err) {
  return gbt_dataset_set(ctx, p->ds, GBT_WEIGHT, p->x, MANY_ROWS, err);
}

static gbt_status labels_pass(gbt_ctx *ctx, row_pass *p, gbt_error *err) {
  const gbt_objective objective = gbt_objective_make(GBT_OBJ_POISSON, 1);
  return gbt_labels_check(ctx, &objective, &p->rows, "train", err);
}

static gbt_status metric_pass(gbt_ctx *ctx, row_pass *p, gbt_error *err) {
  const gbt_metric metric = gbt_metric_plain(GBT_METRIC_RMSLE);
  return gbt_metric_labels_check(ctx, &metric, &p->rows, "train", err);
}

static gbt_status gradients_pass(gbt_ctx *ctx, row_pass *p, gbt_error *err) {
  return gbt_trainer_set_gradients(ctx, p->tr, p->x, p->x, err);
}

typedef gbt_status (*pass_fn)(gbt_ctx *ctx, row_pass *p, gbt_error *err);

/* Asks often enough; ends when asked to; of two wrong numbers the first is reported, on any number of threads. */
static void check_pass(pass_fn pass, row_pass *p, const char *wrong) {
  asker a;
  gbt_ctx ctx = asking(&a, 1, 0);
  CHECK_OK(pass(&ctx, p, test_err));
  CHECK(a.n_asked >= LEAST_ASKS);
  gbt_ctx_close(&ctx);
  ctx = asking(&a, 1, LEAST_ASKS / 2);
  CHECK_FAILS(pass(&ctx, p, test_err), GBT_CANCELLED, NULL);
  gbt_ctx_close(&ctx);
  p->x[700000] = p->x[700001] = p->x[1400000] = -2.0;
  for (int threads = 1; threads <= 4; threads++) {
    ctx = asking(&a, threads, 0);
    CHECK_FAILS(pass(&ctx, p, test_err), GBT_E_DATA, wrong);
    gbt_ctx_close(&ctx);
  }
  p->x[700000] = p->x[700001] = p->x[1400000] = 0.0;
}

static void passes_over_the_numbers_of_rows(void) {
  made *m = made_new(3, MANY_ROWS, 1, NULL);
  row_pass p = {.x = test_alloc(MANY_ROWS * sizeof *p.x)};
  gbt_ctx ctx = test_ctx(NULL, 2);
  memset(p.x, 0, MANY_ROWS * sizeof *p.x);
  p.x[MANY_ROWS - 1] = 1.0; /* else all weights would be 0 */
  p.rows = test_rows(MANY_ROWS, p.x, NULL, NULL);
  p.ds = made_dataset(&ctx, m, NULL, 255, 0);
  gbt_trainer_spec spec = {.params = gbt_params_default(), .train = p.ds};
  spec.objective = gbt_objective_make(GBT_OBJ_CUSTOM, 1);
  if (p.ds != NULL && CHECK_OK(gbt_trainer_new(&ctx, &spec, &p.tr, test_err))) {
    clock_jump(20000000);
    check_pass(weights_pass, &p, "row 700001 is negative");
    check_pass(labels_pass, &p, "row 700001");
    check_pass(metric_pass, &p, "row 700001");
    check_pass(gradients_pass, &p, "row 700001");
    clock_jump(0);
  }
  gbt_trainer_free(p.tr);
  gbt_dataset_unref(p.ds);
  gbt_ctx_close(&ctx);
  free(p.x);
  made_free(m);
}

/* The index of a million keys, by which one row is looked for: with a place for each possible key, and hashed. */
static void a_million_keys(void) {
  enum { N = 1000000 };
  static const int64_t radix[2] = {1000, 1 << 20};
  uint32_t *level[2] = {test_alloc(N * sizeof **level), test_alloc(N * sizeof **level)};
  for (int k = 0; k < 2; k++) {
    const gbti_key_column col[2] = {{level[0], radix[k] - 1}, {level[1], radix[k] - 1}};
    gbt_ctx ctx = test_ctx(NULL, 2);
    gbti_keys keys;
    for (uint32_t i = 0; i < N; i++) {
      level[0][i] = i / 1000;
      level[1][i] = i % 1000;
    }
    if (CHECK_OK(gbti_keys_make(&ctx, col, 2, N, N, 1, &keys, test_err))) {
      clock_jump(20000000);
      for (int64_t stop_at = 0; stop_at <= 12; stop_at += 6) { /* never, then early and late */
        asker a;
        gbt_ctx other = asking(&a, 1, stop_at);
        uint32_t id = 0;
        const gbt_status status = gbti_keys_find(&other, &keys, col, 2, 1, &id, test_err);
        CHECK_EQ_I64(status, stop_at > 0 ? GBT_CANCELLED : GBT_OK);
        CHECK(stop_at > 0 ? a.n_asked == stop_at : a.n_asked >= N / 65536);
        gbt_ctx_close(&other);
      }
      clock_jump(0);
    }
    gbti_keys_free(&keys);
    gbt_ctx_close(&ctx);
  }
  free(level[0]);
  free(level[1]);
}

/* Contributions with a background of many rows: trees are made ready leaf by leaf, and a leaf looks as well. Of linear
 * leaves X is read word by word, and every row to explain is compared with all of the background. */
static void of_a_background_of_many_rows(int linear) {
  enum { N = 300000, DEPTH = 10 };
  const int64_t n_rows = linear ? 40 : 1;
  test_rng rng = {6};
  const forest_spec spec = {1, 1, 1, DEPTH, SHAPE_CHAIN, 1};
  explain_scene s;
  asker a;
  explain_scene_open_of(&s, &rng, &spec, 0, N, 2 * DEPTH, 1);
  s.n_players = s.n_features;
  for (int32_t f = 0; f < s.n_features; f++) s.player[f] = f;
  if (linear) explain_scene_slope(&s, &rng);
  CHECK((s.linear.n_leaves > DEPTH / 2) == linear);
  made_table *row = make_table(&rng, s.schema, n_rows);
  gbt_binding *binding = NULL;
  const gbt_explain_spec job = explain_scene_spec(&s, s.binding, 0);
  double *out = test_alloc((size_t)n_rows * explain_scene_cells(&s, 0) * sizeof *out);
  gbt_ctx ctx = asking(&a, 1, 0);
  REQUIRE_OK(gbt_binding_new(&ctx, &row->table, s.schema, GBT_UNSEEN_PRIOR, &binding, test_err));
  clock_jump(20000000);
  a.n_asked = 0;
  CHECK_OK(gbt_explain(&ctx, &s.view, binding, &job, NULL, out, test_err));
  const int64_t n_asked = a.n_asked;
  CHECK(n_asked >= DEPTH * N / 200000 + 2 * N / 16384); /* the questions, and the leaves of many players */
  if (linear) CHECK(n_asked >= N / 64 + n_rows * N / 10000);
  gbt_ctx_close(&ctx);
  for (int64_t stop_at = 1; stop_at < n_asked; stop_at += n_asked / (test_few() ? 2 : 9)) {
    ctx = asking(&a, 1, stop_at);
    CHECK_FAILS(gbt_explain(&ctx, &s.view, binding, &job, NULL, out, test_err), GBT_CANCELLED, NULL);
    CHECK_EQ_I64(a.n_asked, stop_at);
    gbt_ctx_close(&ctx);
  }
  clock_jump(0);
  gbt_binding_free(binding);
  free_table(row);
  free(out);
  explain_scene_close(&s);
}

static void a_background_of_many_rows(void) {
  for (int linear = 0; linear < 2; linear++) of_a_background_of_many_rows(linear);
}

void suite_polls(void) {
  RUN(passes_over_the_numbers_of_rows);
  RUN(a_million_texts);
  RUN(a_million_levels);
  RUN(a_million_keys);
  RUN(a_background_of_many_rows);
  RUN(responses_of_many_outputs);
  RUN(scores_of_many_outputs);
  RUN(all_threads_hear_of_a_stop);
}
