/* Hosts whose threads round otherwise, or take tiny numbers for 0 (base/float_mode.h): within functions of theirs that
 * the engine calls, and around functions of the engine that have no context. test_digests.c has whole trainings. */
#include "../../src/gbt/base/comm.h"
#include "../../src/gbt/base/parallel.h"
#include "../../src/gbt/boost/stopper.h"
#include "../../src/gbt/exchange/exchange.h"
#include "../../src/gbt/model/model.h"
#include "../../src/gbt/tree/view.h"
#include "chunks.h"
#include "datasets.h"
#include "forests.h"
#include "made.h"
#include "model_seeds.h"
#include "other_floats.h"

/* ---- functions of the host ---- */

static int poll_and_change(void *other) { return gbti_float_end(*(const uint32_t *)other), 0; }

static void *alloc_and_change(void *other, size_t bytes) {
  gbti_float_end(*(const uint32_t *)other);
  return malloc(bytes);
}

static void release(void *other, void *block) {
  (void)other;
  free(block);
}

/* As of two ranks of which the other one has the same numbers. */
static gbt_status reduce_and_change(void *other, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op,
                                    gbt_error *err) {
  (void)part, (void)n_parts, (void)op, (void)err;
  gbti_float_end(*(const uint32_t *)other);
  return GBT_OK;
}

/* What a function has changed is in force when the call is over, and not before. */
static void the_engine_sets_it_back(void) {
  for (int i = 0; i < N_OTHER_FLOATS; i++) {
    uint32_t other = other_floats[i];
    const gbt_mem mem = {alloc_and_change, release, &other};
    const gbt_comm comm = {.size = 2, .state = &other, .reduce = reduce_and_change};
    void *block;
    gbt_ctx ctx;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, poll_and_change, &other, test_err));
    ctx.next_poll_ns = 0;
    CHECK_OK(gbt_ctx_poll(&ctx, test_err));
    CHECK_EQ_U64(gbti_float_mode(), GBTI_FLOAT_USUAL);
    CHECK_OK(gbt_mem_array(&mem, 1, 1, &block, test_err));
    CHECK_EQ_U64(gbti_float_mode(), GBTI_FLOAT_USUAL);
    gbt_mem_free(&mem, block);
    gbt_ctx_close(&ctx);
    CHECK_EQ_U64(gbti_float_begin(), other);

    ctx = test_ctx(NULL, 1);
    ctx.comm = &comm;
    CHECK_OK(gbt_comm_sync(&ctx, test_err));
    CHECK_EQ_U64(gbti_float_mode(), GBTI_FLOAT_USUAL);
    gbt_ctx_close(&ctx);
    CHECK_EQ_U64(gbti_float_begin(), other);
  }
}

typedef struct changing {
  gbt_source source; /* what it yields */
  uint32_t other;
} changing;

static gbt_status rewind_and_change(void *state, gbt_ctx *ctx, gbt_error *err) {
  changing *c = state;
  const gbt_status status = c->source.rewind(c->source.state, ctx, err);
  gbti_float_end(c->other);
  return status;
}

static gbt_status next_and_change(void *state, gbt_ctx *ctx, const gbt_table **chunk, gbt_error *err) {
  changing *c = state;
  const gbt_status status = c->source.next(c->source.state, ctx, chunk, err);
  gbti_float_end(c->other);
  return status;
}

static void want_and_change(void *state, const int32_t *cols, int32_t n) {
  changing *c = state;
  c->source.want(c->source.state, cols, n);
  gbti_float_end(c->other);
}

/* Data of a source that changes it. source_bytes is small, so that columns are fetched one after the other. */
static void sources_may_change_it(void) {
  static const made_kind kinds[] = {MADE_EXTREME, MADE_HOLES, MADE_EXTREME};
  made *m = made_new(5, 1000, 3, kinds);
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_dataset *want = made_dataset(&ctx, m, NULL, 255, 0);
  gbt_ctx_close(&ctx);
  for (int i = 0; want != NULL && i < N_OTHER_FLOATS; i++) {
    chunks *c = chunks_new(&m->table, 90, 0);
    changing its = {c->source, other_floats[i]};
    const gbt_source source = {&its, 1000, rewind_and_change, next_and_change, want_and_change};
    const gbt_dataset_spec spec = {.source = &source, .max_bin = 255, .unseen = GBT_UNSEEN_PRIOR, .source_bytes = 1};
    gbt_dataset *got;
    ctx = test_ctx(NULL, 1);
    if (CHECK_OK(gbt_dataset_make(&ctx, &spec, &got, test_err))) {
      same_datasets(want, got);
      gbt_dataset_unref(got);
    }
    gbt_ctx_close(&ctx);
    CHECK_EQ_U64(gbti_float_begin(), other_floats[i]);
    chunks_free(c);
  }
  gbt_dataset_unref(want);
  made_free(m);
}

/* ---- functions without a context ---- */

static void stoppers_see_tiny_gains(void) {
  for (int i = 0; i < N_OTHER_FLOATS; i++) {
    gbt_stopper stopper;
    gbt_stopper_start(&stopper, 1, 0.0, 1);
    gbti_float_end(other_floats[i]);
    const int first = gbt_stopper_update(&stopper, 1, 1e-310), second = gbt_stopper_update(&stopper, 2, 2e-310);
    CHECK_EQ_U64(gbti_float_begin(), other_floats[i]);
    CHECK(first == 0 && second == 0 && stopper.best_round == 2);
  }
}

static void importance_is_the_same(void) {
  enum { N = 7 };
  test_rng rng = {4};
  const forest_spec spec = {1, 1, 9, 30, SHAPE_BUSHY, 0};
  gbt_schema *schema = make_schema(&rng, N, 20);
  gbt_forest *forest = make_forest(&rng, schema, &spec);
  const gbt_forest_view view = gbt_forest_view_of(forest);
  const gbt_tree_range all = {0, view.n_trees};
  double want[3 * N], got[3 * N];
  gbt_importance(&view, all, want, want + N, want + 2 * N);
  for (int i = 0; i < N_OTHER_FLOATS; i++) {
    gbti_float_end(other_floats[i]);
    gbt_importance(&view, all, got, got + N, got + 2 * N);
    CHECK_EQ_U64(gbti_float_begin(), other_floats[i]);
    CHECK_EQ_BYTES(got, want, sizeof got);
  }
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
}

/* slope and intercept of all leaves; returns how many have any */
static int64_t slopes_of(const gbt_model *model, double *out) {
  const gbt_forest_view *view = gbt_model_forest(model);
  const size_t n = gbt_forest_n_units(view);
  gbt_slope_unit *unit = test_alloc(n * sizeof *unit);
  int64_t n_linear = 0;
  memset(unit, 0, n * sizeof *unit);
  for (uint64_t t = 0; t < view->n_trees; t++)
    for (uint32_t i = 0; i < gbt_tree_n_nodes(view, t); i++) {
      const gbt_leaf_slopes leaf = gbt_tree_slopes(view, t, i, unit);
      n_linear += leaf.n > 0;
      *out++ = leaf.intercept;
      for (uint32_t k = 0; k < GBT_LINEAR_MOST; k++)
        *out++ = k < leaf.n ? gbt_tree_slope(view, t, i, k, unit).slope : 0.0;
    }
  free(unit);
  return n_linear;
}

static void slopes_are_the_same(void) {
  const gbt_mem mem = gbt_mem_default();
  size_t n_bytes;
  uint8_t *bytes = model_seed_linear(&n_bytes);
  gbt_model *model;
  REQUIRE_OK(gbt_model_open(&mem, bytes, n_bytes, &model, test_err));
  const size_t n = gbt_forest_about(gbt_model_forest(model)).n_nodes * (1 + GBT_LINEAR_MOST);
  double *want = test_alloc(n * sizeof *want), *got = test_alloc(n * sizeof *got);
  CHECK(slopes_of(model, want) > 0);
  for (int i = 0; i < N_OTHER_FLOATS; i++) {
    gbti_float_end(other_floats[i]);
    slopes_of(model, got);
    CHECK_EQ_U64(gbti_float_begin(), other_floats[i]);
    CHECK_EQ_BYTES(got, want, n * sizeof *got);
  }
  free(want);
  free(got);
  gbt_model_close(model);
  free(bytes);
}

/* A parameter must be above 0, and is, if only just. */
static void models_are_written_and_read(void) {
  const gbt_mem mem = gbt_mem_default();
  test_rng rng = {6};
  const forest_spec spec = {1, 1, 2, 9, SHAPE_BUSHY, 0};
  gbt_schema *schema = make_schema(&rng, 4, 9);
  gbt_forest *forest = make_forest(&rng, schema, &spec);
  const gbt_forest_view view = gbt_forest_view_of(forest);
  gbt_model_spec its = {.forest = &view,
                        .trees = {0, view.n_trees},
                        .objective = gbt_objective_make(GBT_OBJ_HUBER, 1),
                        .schema = schema};
  its.objective.param[0] = 1e-310;
  for (int i = 0; i < N_OTHER_FLOATS; i++) {
    uint8_t *bytes = NULL;
    size_t n_bytes = 0;
    gbt_model *model = NULL;
    gbti_float_end(other_floats[i]);
    const gbt_status written = gbt_model_make(&mem, &its, &bytes, &n_bytes, test_err);
    CHECK_EQ_U64(gbti_float_begin(), other_floats[i]);
    if (!CHECK_OK(written)) continue;
    gbti_float_end(other_floats[i]);
    const gbt_status opened = gbt_model_open(&mem, bytes, n_bytes, &model, test_err);
    CHECK_EQ_U64(gbti_float_begin(), other_floats[i]);
    if (CHECK_OK(opened)) CHECK_EQ_BITS(gbt_model_objective(model)->param[0], 1e-310);
    gbt_model_close(model);
    gbt_mem_free(&mem, bytes);
  }
  gbt_forest_free(forest);
  gbt_schema_unref(schema);
}

/* Thresholds that are tiny as float32, and numbers that are not: 0.1. */
static void files_are_imported(void) {
  static const char file[] =
    "{\"version\":[2,1,0],\"learner\":{\"feature_names\":[],\"feature_types\":[],\"attributes\":{},"
    "\"learner_model_param\":{\"base_score\":\"1E-1\",\"num_class\":\"0\",\"num_feature\":\"1\",\"num_target\":\"1\"},"
    "\"objective\":{\"name\":\"reg:squarederror\",\"reg_loss_param\":{\"scale_pos_weight\":\"1\"}},"
    "\"gradient_booster\":{\"name\":\"gbtree\",\"model\":{\"gbtree_model_param\":{\"num_trees\":\"1\","
    "\"num_parallel_tree\":\"1\"},\"iteration_indptr\":[0,1],\"tree_info\":[0],\"trees\":[{\"id\":0,"
    "\"left_children\":[1,-1,-1],\"right_children\":[2,-1,-1],\"parents\":[2147483647,0,0],"
    "\"split_indices\":[0,0,0],\"default_left\":[0,0,0],\"split_type\":[0,0,0],\"categories\":[],"
    "\"categories_nodes\":[],\"categories_segments\":[],\"categories_sizes\":[],"
    "\"split_conditions\":[1E-40,1E-1,3E-1],\"base_weights\":[0E0,1E-1,3E-1],\"loss_changes\":[1E0,0E0,0E0],"
    "\"sum_hessian\":[2E0,1E0,1E0],\"tree_param\":{\"num_deleted\":\"0\",\"num_feature\":\"1\",\"num_nodes\":\"3\","
    "\"size_leaf_vector\":\"1\"}}]}}}}";
  const gbt_mem mem = gbt_mem_default();
  gbt_import_facts facts;
  uint8_t *want, *got;
  size_t n_want, n_got;
  REQUIRE_OK(gbt_import(&mem, file, sizeof file - 1, &facts, &want, &n_want, test_err));
  for (int i = 0; i < N_OTHER_FLOATS; i++) {
    gbti_float_end(other_floats[i]);
    const gbt_status status = gbt_import(&mem, file, sizeof file - 1, &facts, &got, &n_got, test_err);
    CHECK_EQ_U64(gbti_float_begin(), other_floats[i]);
    if (CHECK_OK(status) && CHECK_EQ_U64(n_got, n_want)) CHECK_EQ_BYTES(got, want, n_got);
    gbt_mem_free(&mem, got);
  }
  gbt_mem_free(&mem, want);
}

void suite_floats(void) {
  RUN(the_engine_sets_it_back);
  RUN(sources_may_change_it);
  RUN(stoppers_see_tiny_gains);
  RUN(importance_is_the_same);
  RUN(slopes_are_the_same);
  RUN(models_are_written_and_read);
  RUN(files_are_imported);
}
