/* Answers for data sets by their bins are those of the rows that they were made of, whatever the columns, the pages and
 * the model; what bins do not tell is refused. */
#include "../../src/gbt/data/dataset_impl.h"
#include "../../src/gbt/data/values.h"
#include "../../src/gbt/model/answer.h"
#include "fault.h"
#include "random_job.h"

typedef struct shown {
  gbt_model *model;
  uint8_t *bytes;
} shown;

static int show(gbt_ctx *ctx, gbt_trainer *tr, const gbt_objective *objective, shown *out) {
  size_t n_bytes = 0;
  const gbt_forest_view *forest = gbt_trainer_trees(tr);
  gbt_model_spec spec = {.forest = forest,
                         .trees = {0, gbt_forest_about(forest).n_trees},
                         .objective = *objective,
                         .schema = gbt_trainer_schema(tr)};
  *out = (shown){NULL, NULL};
  return CHECK_OK(gbt_model_make(&ctx->mem, &spec, &out->bytes, &n_bytes, test_err)) &&
         CHECK_OK(gbt_model_open(&ctx->mem, out->bytes, n_bytes, &out->model, test_err));
}

static void hide(gbt_ctx *ctx, shown *s) {
  gbt_model_close(s->model);
  gbt_mem_free(&ctx->mem, s->bytes);
}

/* Both ways, all answers. offset: NULL allowed. */
static void same_answers(gbt_ctx *ctx, const gbt_model *model, const made *rows, const gbt_dataset *ds,
                         gbt_unseen unseen, const double *offset) {
  const gbt_forest_info forest = gbt_forest_about(gbt_model_forest(model));
  const gbt_tree_range some = {forest.trees_per_round * (forest.n_rounds > 1), forest.n_trees};
  const size_t n = (size_t)rows->table.n_rows, n_trees = (size_t)(some.end - some.beg);
  const size_t most = (size_t)forest.n_outputs > n_trees ? (size_t)forest.n_outputs : n_trees;
  uint8_t *want = test_alloc(n * most * 8 + 8), *got = test_alloc(n * most * 8 + 8);
  gbt_binding *binding = NULL;
  REQUIRE_OK(gbt_binding_new(ctx, &rows->table, gbt_model_schema(model), unseen, &binding, test_err));
  for (int a = 0; gbt_answer_name(a) != NULL; a++) {
    const gbt_answer what = (gbt_answer)a;
    if (what == GBT_ANSWER_CLASS && gbt_model_has_classes(model, test_err) != GBT_OK) continue;
    const size_t bytes = what == GBT_ANSWER_CLASS   ? n * 4
                         : what == GBT_ANSWER_LEAF ? n * n_trees * 4
                                                   : n * (size_t)forest.n_outputs * 8;
    memset(want, 0xaa, bytes);
    memset(got, 0x55, bytes);
    CHECK_OK(gbt_model_answer(ctx, model, NULL, binding, what, some, offset, want, test_err));
    CHECK_OK(gbt_model_answer_bins(ctx, model, NULL, ds, unseen, what, some, offset, got, test_err));
    CHECK(bytes == 0 || memcmp(want, got, bytes) == 0);
  }
  gbt_binding_free(binding);
  free(want);
  free(got);
}

static void any_models(void) {
  for (uint64_t seed = 1; seed <= 150; seed++) {
    random_job r = random_job_make(seed, 600);
    gbt_ctx ctx = test_ctx(NULL, r.how.threads);
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    shown s;
    const int opened = job_open(&ctx, &r.job, r.how.page_rows, &spec);
    if (opened && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) && train_rounds(&ctx, &r.job, tr, &why)) {
      if (show(&ctx, tr, &spec.objective, &s)) {
        same_answers(&ctx, s.model, r.data, spec.train, GBT_UNSEEN_PRIOR, r.data->offset);
        for (int32_t i = 0; i < spec.n_valid; i++)
          same_answers(&ctx, s.model, r.valid[i], spec.valid[i], GBT_UNSEEN_PRIOR, NULL);
      }
      hide(&ctx, &s);
    }
    gbt_trainer_free(tr);
    job_close(&spec);
    gbt_ctx_close(&ctx);
    random_job_free(&r);
  }
}

/* ---- levels ---- */

/* Of more levels than have bins, and of rows with levels that training did not have. */
static void levels(made *data, made *new_rows, int64_t rounds) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  shown s = {NULL, NULL};
  train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, rounds);
  made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 5);
  REQUIRE(job_open(&ctx, &job, 5000, &spec));
  REQUIRE_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err));
  REQUIRE(train_rounds(&ctx, &job, tr, &why) && show(&ctx, tr, &spec.objective, &s));
  same_answers(&ctx, s.model, data, spec.train, GBT_UNSEEN_PRIOR, NULL);
  for (int u = GBT_UNSEEN_PRIOR; u <= GBT_UNSEEN_MISSING; u++) {
    gbt_dataset *ds = NULL;
    gbt_dataset_spec of = {
        .table = &new_rows->table, .reference = spec.train, .unseen = (gbt_unseen)u, .page_rows = 30};
    if (CHECK_OK(gbt_dataset_make(&ctx, &of, &ds, test_err)))
      same_answers(&ctx, s.model, new_rows, ds, (gbt_unseen)u, NULL);
    gbt_dataset_unref(ds);
  }
  hide(&ctx, &s);
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
}

static void levels_of_any_number(void) {
  static const made_kind kinds[] = {MADE_LEVELS, MADE_HOLED, MADE_ORDERED, MADE_BELL};
  for (uint64_t seed = 1; seed <= 6; seed++) {
    made *few = made_new(seed, 40, 4, kinds), *many = made_new(seed + 50, 400, 4, kinds);
    if (seed % 2) made_counts(few);
    levels(few, many, 4);
    made_free(few);
    made_free(many);
  }
  made *large = made_levels(3, 110000, 70000), *more = made_levels(4, 300, 200);
  levels(large, more, 2);
  made_free(large);
  made_free(more);
}

/* ---- what is refused, and failures ---- */

typedef struct stage {
  made *data, *other;
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr;
  shown s;
  double *out;
} stage;

static void stage_open(stage *g) {
  static const made_kind kinds[] = {MADE_BELL, MADE_ORDERED, MADE_FACTOR};
  gbt_stop_reason why;
  g->data = made_new(3, 300, 3, kinds);
  g->other = made_new(4, 120, 3, kinds);
  g->out = test_alloc(300 * sizeof *g->out);
  g->ctx = test_ctx(NULL, 1);
  g->tr = NULL;
  train_job job = job_make(g->data, GBT_OBJ_SQUARED_ERROR, 1, 3);
  made_response(g->data, GBT_OBJ_SQUARED_ERROR, 1, 5);
  REQUIRE(job_open(&g->ctx, &job, 70, &g->spec));
  REQUIRE_OK(gbt_trainer_new(&g->ctx, &g->spec, &g->tr, test_err));
  REQUIRE(train_rounds(&g->ctx, &job, g->tr, &why) && show(&g->ctx, g->tr, &g->spec.objective, &g->s));
}

static void stage_close(stage *g) {
  hide(&g->ctx, &g->s);
  gbt_trainer_free(g->tr);
  job_close(&g->spec);
  gbt_ctx_close(&g->ctx);
  made_free(g->data);
  made_free(g->other);
  free(g->out);
}

static gbt_status answer(gbt_ctx *ctx, stage *g, const gbt_dataset *ds, gbt_error *err) {
  const gbt_tree_range all = {0, gbt_forest_about(gbt_model_forest(g->s.model)).n_trees};
  return gbt_model_answer_bins(ctx, g->s.model, NULL, ds, GBT_UNSEEN_PRIOR, GBT_ANSWER_LINK, all, NULL, g->out, err);
}

static void refuses(stage *g, const made *rows, const char *says) {
  gbt_dataset *ds = NULL;
  gbt_error err = {0};
  gbt_dataset_spec spec = {.table = &rows->table, .max_bin = 255};
  REQUIRE_OK(gbt_dataset_make(&g->ctx, &spec, &ds, test_err));
  CHECK_EQ_I64(answer(&g->ctx, g, ds, &err), GBT_E_DATA);
  CHECK(strstr(err.msg, says) != NULL);
  gbt_dataset_unref(ds);
}

static void other_cuts_are_refused(void) {
  stage g;
  stage_open(&g);
  refuses(&g, g.other, "`x1` at ");
  gbt_column *cols = (gbt_column *)g.data->table.cols;
  const char *const *texts = cols[1].levels, *turned[5];
  for (int i = 0; i < 5; i++) turned[i] = texts[4 - i];
  cols[1].levels = turned;
  refuses(&g, g.data, "`x2` has other levels");
  cols[1].levels = texts;
  cols[1].name = "y";
  refuses(&g, g.data, "x2");
  cols[1].name = "x2";
  stage_close(&g);
}

/* The answer has room for the rows of the mask alone. */
static void masks_are_refused(void) {
  stage g;
  gbt_dataset *some = NULL;
  int mask[300] = {0};
  stage_open(&g);
  mask[7] = mask[200] = 1;
  g.out[0] = g.out[2] = -1.0;
  REQUIRE_OK(gbt_dataset_mask(&g.ctx, g.spec.train, mask, 1, &some, test_err));
  CHECK_FAILS(answer(&g.ctx, &g, some, test_err), GBT_E_UNSUPPORTED, "`mask`");
  CHECK(g.out[0] == -1.0 && g.out[2] == -1.0);
  gbt_dataset_unref(some);
  stage_close(&g);
}

static gbt_status once(const gbt_mem *mem, void *arg, gbt_error *err) {
  stage *g = arg;
  gbt_ctx ctx;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = answer(&ctx, g, g->spec.train, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void allocations_fail(void) {
  stage g;
  stage_open(&g);
  CHECK(fault_sweep(once, &g) > 10);
  stage_close(&g);
}

void suite_answer_bins(void) {
  RUN(any_models);
  RUN(levels_of_any_number);
  RUN(other_cuts_are_refused);
  RUN(masks_are_refused);
  RUN(allocations_fail);
}
