/* Fixed trainings whose bytes are known: models, scores and logs, responses of other rows, contributions. Every
 * machine, compiler, system and instruction set must have these numbers, in whatever way the host's thread rounds. Data
 * and labels are made without functions of libm.
 * A change that makes other models on purpose changes them: the suite reports each digest that is another, and
 * GBT_TEST_DIGESTS=print prints the whole table. */
#include "../../src/gbt/explain/explain.h"
#include "../../src/gbt/math/elementary.h"
#include "../../src/gbt/model/answer.h"
#include "other_floats.h"
#include "trained.h"

enum { ROWS = 3000, NEW_ROWS = 333, ROUNDS = 6, COLS = 11 };

typedef struct digests {
  uint64_t model, scores, responses, contributions;
} digests;

typedef struct digest_case {
  const char *name;
  gbt_objective_kind objective;
  int32_t n_outputs;
  void (*set)(gbt_params *p); /* NULL: defaults */
  int weighted, sparse;
  uint8_t cat_method; /* of all factors; 0: sets */
  digests want;
} digest_case;

static void by_layers(gbt_params *p) { p->max_depth = 8, p->min_data_in_leaf = 3; }
static void symmetric(gbt_params *p) {
  p->grow_policy = GBT_SYMMETRIC, p->sampling_method = 2, p->subsample = 0.7, p->random_strength = 1.0;
}
static void best_first(gbt_params *p) { p->grow_policy = GBT_LOSSGUIDE, p->max_leaves = 40, p->max_depth = 0; }
static void ordered(gbt_params *p) { p->boosting = GBT_BOOSTING_ORDERED, p->grow_policy = GBT_SYMMETRIC; }
static void bayesian(gbt_params *p) { p->sampling_method = 3, p->path_smooth = 4.0, p->max_cat_combine = 2; }
static void wide(gbt_params *p) { p->grad_bits = GBT_GRAD_32, p->extra_trees = 1, p->leaf_iterations = 3; }
static void goss(gbt_params *p) { p->sampling_method = 1, p->colsample_bynode = 0.6; }
static void shared(gbt_params *p) { p->multi_strategy = 1, p->grow_policy = GBT_SYMMETRIC, p->max_depth = 5; }
static void together(gbt_params *p) { shared(p), p->sketch = GBT_SKETCH_NONE, p->random_strength = 1.0; }
static void by_nodes(gbt_params *p) {
  best_first(p), p->multi_strategy = 1, p->sketch = GBT_SKETCH_NONE, p->min_child_weight = 0.2;
}
static void parallel(gbt_params *p) { p->num_parallel_tree = 3, p->subsample = 0.5, p->colsample_bytree = 0.7; }

/* name, objective, outputs, parameters, weights, sparse columns, method of factors, digests */
static const digest_case cases[] = {
    {"numbers, by layers", GBT_OBJ_SQUARED_ERROR, 1, by_layers, 1, 0, 0,
     {0xbe988655f40aaf84, 0x159e88959340ff2a, 0xcd65c00939bc81f8, 0xf3220269b57f265d}},
    {"two classes, symmetric, mvs", GBT_OBJ_LOGISTIC, 1, symmetric, 1, 0, 0,
     {0xda11fd97c91a7bd1, 0x8c3d8e992c166ad4, 0xf153d7d44e5d19e1, 0x9e5f3c65bcba7191}},
    {"classes", GBT_OBJ_SOFTMAX, 4, NULL, 0, 0, 0,
     {0x6fe4d522f074ba22, 0x76d83e56ea7997b6, 0xe94bcd4595cf2982, 0xee07af34c18399f7}},
    {"classes that share splits", GBT_OBJ_SOFTMAX, 3, shared, 1, 0, 0,
     {0x0396638d563bd8e3, 0x94cf76d53243c528, 0x56247bb40e616d29, 0x64d11e19459f6f62}},
    {"classes, sums of gains", GBT_OBJ_SOFTMAX, 4, together, 1, 0, 0,
     {0x41b6e47b5a92ea95, 0x4ff26675db9c1e06, 0x1bd244f99d074ca7, 0x6e8545d012d02877}},
    {"classes, sums of gains by nodes", GBT_OBJ_SOFTMAX, 4, by_nodes, 1, 0, 0,
     {0xcd5370d8975c58d3, 0x3fbc7c5d749f063a, 0xe4933ce44f1e863b, 0x9c9b8282da7b84d1}},
    {"counts, best first", GBT_OBJ_POISSON, 1, best_first, 0, 0, 0,
     {0xc4602f930dafab20, 0x57e6ae871938ef95, 0xc70fc6251beff0ab, 0x4de9216b33a8384e}},
    {"ordered, statistics", GBT_OBJ_LOGISTIC, 1, ordered, 0, 0, GBT_CAT_TARGET | GBT_CAT_COUNT,
     {0x188135bcd077944c, 0x411c7598d3a11c32, 0x57b243b18d74fba6, 0x363d2891e6cfd5d5}},
    {"bayesian, combinations", GBT_OBJ_SQUARED_ERROR, 1, bayesian, 0, 0, GBT_CAT_TARGET,
     {0x95bb820045141a8c, 0x4e8275f381c0ec11, 0x7ea46f3363173477, 0x1bb80e085468d263}},
    {"32 bits, drawn cuts", GBT_OBJ_GAMMA, 1, wide, 1, 0, 0,
     {0xf79b1024245b365c, 0x722a0492a8c23ac4, 0x841424078348d4b3, 0x67c578cf8fcbd3da}},
    {"sparse, goss", GBT_OBJ_LOGISTIC, 1, goss, 0, 1, 0,
     {0xc7fb815ea30c4e75, 0x05906d6d62322dcf, 0x12986f8ccce33989, 0xca65254d7642b6db}},
    {"median, parallel trees", GBT_OBJ_QUANTILE, 1, parallel, 1, 0, 0,
     {0x2746b3988afb849d, 0x28abfcc6018a205b, 0x0e54a0cb8b1b2754, 0x3ce005f575bac3df}},
    {"queries", GBT_OBJ_RANK_NDCG, 1, NULL, 0, 0, 0,
     {0x392019c7a3b838cc, 0x7a92de9f6b4e3d06, 0x4ad84ced128a1a0a, 0x8293cf1c10a85a95}},
    {"queries, yeti", GBT_OBJ_YETI_RANK, 1, symmetric, 0, 0, 0,
     {0x4c299b84f0f71d17, 0x4ea71f7958f580b7, 0x56b272fec905a937, 0xe8946f98d565274f}},
    {"hazards", GBT_OBJ_COX, 1, NULL, 1, 0, 0,
     {0x58576a79e186c131, 0x6a21175250762b11, 0xe55fcedf07a06d29, 0xb2125b8492eb30e5}},
    {"times", GBT_OBJ_AFT, 1, by_layers, 0, 0, 0,
     {0x785b451361bded70, 0x82060ff9718e82c4, 0xbfe60ec3ab643263, 0xc1d0aae85d469ee2}},
    {"intervals", GBT_OBJ_HAZARD, 5, symmetric, 1, 0, 0,
     {0x3371b085db2e1294, 0x04bb40406b0f6afa, 0x5f93c9baba4fbb9d, 0x82366941142359a8}},
};
enum { N_CASES = (int)(sizeof cases / sizeof cases[0]) };

static const double breaks[] = {0.2, 0.5, 1.0, 1.5, 4.0};

/* ---- data ---- */

static int is_of_times(gbt_objective_kind kind) {
  return kind == GBT_OBJ_COX || kind == GBT_OBJ_AFT || kind == GBT_OBJ_HAZARD;
}

static int is_of_queries(gbt_objective_kind kind) { return kind >= GBT_OBJ_QUERY_RMSE && !is_of_times(kind); }

static double label_of(const digest_case *c, double s, double u) {
  const double size = gbt_exp(s > 3.0 ? 3.0 : s);
  if (is_of_times(c->objective) || c->objective == GBT_OBJ_GAMMA) return size * (0.3 + u);
  if (is_of_queries(c->objective)) return s > 2.0 ? 3.0 : s > 1.0 ? 2.0 : s > 0.0;
  if (c->objective == GBT_OBJ_LOGISTIC) return s > 0.0;
  if (c->objective == GBT_OBJ_POISSON) return floor(size * (0.3 + u));
  if (c->objective == GBT_OBJ_SOFTMAX) return (int)(fabs(s) * 3.0) % c->n_outputs;
  return s;
}

static made *data_of(const digest_case *c, uint64_t seed, int64_t n_rows) {
  static const made_kind kinds[COLS] = {MADE_BELL,  MADE_FEW,    MADE_HOLES,  MADE_ZEROS,   MADE_EXTREME, MADE_FACTOR,
                                        MADE_HOLED, MADE_LEVELS, MADE_LEVELS, MADE_ORDERED, MADE_ZEROS};
  made *m = made_new(seed, n_rows, COLS, kinds);
  test_rng rng = {gbt_mix64(seed ^ 0xd19e57)};
  m->label = test_alloc((size_t)n_rows * sizeof *m->label);
  for (int64_t r = 0; r < n_rows; r++) {
    const double s = 0.6 * m->signal[r] + 0.5 * test_bell(&rng);
    m->label[r] = label_of(c, s, test_unit(&rng));
  }
  if (c->weighted) made_weights(m, seed + 1);
  if (!c->sparse) return m;
  made *out = made_sparse(m, 50);
  made_free(m);
  return out;
}

/* Queries of up to 40 rows, or what is known of times. */
static int set_fields(gbt_ctx *ctx, const digest_case *c, gbt_dataset *ds) {
  const int64_t n = ds->rows.n;
  const double *label = ds->rows.field[GBT_LABEL];
  double *a = test_alloc((size_t)n * sizeof *a);
  test_rng rng = {41};
  int ok = 1;
  if (is_of_queries(c->objective)) {
    for (int64_t r = 0, left = 0, query = 0; r < n; r++, left--) {
      if (left == 0) left = 1 + test_below(&rng, 40), query++;
      a[r] = (double)query;
    }
    ok = CHECK_OK(gbt_dataset_set(ctx, ds, GBT_GROUP, a, n, test_err));
  }
  if (c->objective == GBT_OBJ_COX || c->objective == GBT_OBJ_HAZARD) {
    for (int64_t r = 0; r < n; r++) a[r] = r == 0 || test_below(&rng, 3) > 0;
    ok = CHECK_OK(gbt_dataset_set(ctx, ds, GBT_EVENT, a, n, test_err));
  }
  if (c->objective == GBT_OBJ_AFT) {
    for (int64_t r = 0; r < n; r++) {
      const int64_t kind = r == 0 ? 0 : test_below(&rng, 3);
      a[r] = kind == 0 ? label[r] : kind == 1 ? (double)INFINITY : 1.7 * label[r];
    }
    ok = CHECK_OK(gbt_dataset_set(ctx, ds, GBT_UPPER, a, n, test_err));
  }
  free(a);
  return ok;
}

/* ---- digests ---- */

static uint64_t add_bytes(uint64_t digest, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++) digest = gbt_mix64(digest ^ at[i]);
  return digest;
}

/* NaN is one number whatever its bits are. */
static uint64_t add_numbers(uint64_t digest, const double *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const uint64_t bits = x[i] != x[i] ? 0x7ff8000000000000u : gbt_bits(x[i]);
    digest = gbt_mix64(digest ^ bits) + i;
  }
  return digest;
}

/* Responses of new rows, and contributions of their columns. */
static void use_model(gbt_ctx *ctx, const gbt_model *model, const made *rows, digests *out) {
  const gbt_forest_view *forest = gbt_model_forest(model);
  const gbt_schema *schema = gbt_model_schema(model);
  const gbt_tree_range all = {0, forest->n_trees};
  gbt_binding *binding = NULL;
  int32_t *player = test_alloc((size_t)forest->n_features * sizeof *player);
  const int32_t n_players = forest->n_features;
  for (int32_t f = 0; f < n_players; f++) player[f] = f;
  const gbt_explain_spec spec = {.trees = all, .player = player, .n_players = n_players};
  const size_t outputs = (size_t)forest->n_outputs, n = (size_t)rows->table.n_rows;
  double *x = test_alloc(n * outputs * ((size_t)n_players + 1) * sizeof *x);
  if (CHECK_OK(gbt_binding_new(ctx, &rows->table, schema, GBT_UNSEEN_PRIOR, &binding, test_err))) {
    for (int what = GBT_ANSWER_LINK; what <= GBT_ANSWER_RESPONSE; what++)
      if (CHECK_OK(gbt_model_answer(ctx, model, NULL, binding, (gbt_answer)what, all, NULL, x, test_err)))
        out->responses = add_numbers(out->responses, x, n * outputs);
    if (CHECK_OK(gbt_explain(ctx, forest, binding, &spec, NULL, x, test_err)))
      out->contributions = add_numbers(0, x, n * outputs * ((size_t)n_players + 1));
  }
  gbt_binding_free(binding);
  free(player);
  free(x);
}

static void look_at(gbt_ctx *ctx, gbt_trainer *tr, const made *rows, digests *out) {
  const double *scores;
  int32_t width;
  uint8_t *bytes = NULL;
  size_t n_bytes = 0;
  gbt_model *model = NULL;
  const gbt_model_spec spec = {.forest = gbt_trainer_trees(tr),
                               .trees = {0, gbt_forest_about(gbt_trainer_trees(tr)).n_trees},
                               .objective = gbt_trainer_objective(tr),
                               .schema = gbt_trainer_schema(tr)};
  if (CHECK_OK(gbt_trainer_scores(ctx, tr, 0, &scores, test_err)))
    out->scores = add_numbers(0, scores, (size_t)(ROWS * spec.objective.n_outputs));
  const double *log = gbt_trainer_log(tr, &width);
  CHECK_EQ_I64(width, 1);
  out->scores = add_numbers(out->scores, log, (size_t)width * ROUNDS);
  if (CHECK_OK(gbt_model_make(&ctx->mem, &spec, &bytes, &n_bytes, test_err)) &&
      CHECK_OK(gbt_model_open(&ctx->mem, bytes, n_bytes, &model, test_err))) {
    out->model = add_bytes(0, bytes, n_bytes);
    CHECK(gbt_forest_about(gbt_model_forest(model)).n_trees >= ROUNDS && n_bytes > 4000); /* a training, with splits */
    use_model(ctx, model, rows, out);
  }
  gbt_model_close(model);
  gbt_mem_free(&ctx->mem, bytes);
}

static digests digests_of(const digest_case *c, const train_how *how, uint32_t other_float) {
  made *data = data_of(c, 91, ROWS), *rows = data_of(c, 92, NEW_ROWS);
  uint8_t method[COLS];
  train_job job = job_make(data, c->objective, c->n_outputs, ROUNDS);
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  digests out = {0, 0, 0, 0};
  if (c->set != NULL) c->set(&job.spec.params);
  for (int k = 0; k < COLS; k++) method[k] = data->table.cols[k].type == GBT_CATEGORICAL ? c->cat_method : GBT_CAT_AUTO;
  if (c->cat_method != 0) job.spec.cat_method = method;
  if (c->objective == GBT_OBJ_HAZARD) job.spec.objective.breaks = breaks;
  job.spec.params.seed = 5;
  job.spec.metric[0] = gbt_metric_usual(&job.spec.objective);
  job.spec.n_metrics = job.spec.eval_train = 1;
  gbti_float_end(other_float);
  if (CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), how->threads, how->simd, NULL, NULL, test_err))) {
    if (job_open(&ctx, &job, how->page_rows, &spec) && set_fields(&ctx, c, spec.train) &&
        CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) &&
        CHECK_OK(gbt_trainer_run(&ctx, tr, ROUNDS, &why, test_err)))
      look_at(&ctx, tr, rows, &out);
    gbt_trainer_free(tr);
    job_close(&spec);
    gbt_ctx_close(&ctx);
  }
  CHECK_EQ_U64(gbti_float_begin(), other_float);
  made_free(data);
  made_free(rows);
  return out;
}

static void print_case(const digest_case *c, const digests *d) {
  printf("%s:\n     {0x%016" PRIx64 ", 0x%016" PRIx64 ", 0x%016" PRIx64 ", 0x%016" PRIx64 "}\n", c->name, d->model,
         d->scores, d->responses, d->contributions);
}

/* Under every instruction set of the machine, with other threads and pages for each. */
static void bytes_are_the_same_everywhere(void) {
  const char *wish = getenv("GBT_TEST_DIGESTS");
  for (int i = 0; i < N_CASES; i++) {
    const digest_case *c = &cases[i];
    for (int simd = (int)gbt_simd_best(); simd >= GBT_SIMD_SCALAR; simd--) {
      const train_how how = {1 + simd % 3, simd % 2 ? 700 : 0, (gbt_simd)simd, NULL};
      const int64_t bad = test_n_bad();
      const uint32_t other = other_floats[(i + simd) % N_OTHER_FLOATS];
      const digests got = digests_of(c, &how, other);
      CHECK_EQ_U64(got.model, c->want.model);
      CHECK_EQ_U64(got.scores, c->want.scores);
      CHECK_EQ_U64(got.responses, c->want.responses);
      CHECK_EQ_U64(got.contributions, c->want.contributions);
      if (test_n_bad() > bad) test_note("case \"%s\", %s, %#x", c->name, gbt_simd_name(simd), (unsigned)other);
      if (simd == 0 && wish != NULL && strcmp(wish, "print") == 0) print_case(c, &got);
    }
  }
}

void suite_digests(void) { RUN(bytes_are_the_same_everywhere); }
