/* Ordered boosting: trainings against the naive one, the same whatever the circumstances; scores that do not depend on
 * the labels of rows that come later; what it refuses. */
#include "../../src/gbt/boost/supporting.h"
#include "../../src/gbt/encode/visit.h"
#include "../../src/gbt/tree/features.h"
#include "fault.h"
#include "random_job.h"

enum { JOBS = 150 };

static random_job ordered_job(uint64_t seed, int64_t rows) {
  random_job r = random_job_make(seed, rows);
  random_job_order(&r);
  return r;
}

typedef struct seen {
  int64_t losses[GBT_N_OBJECTIVES], policies[3];
  int64_t sampled, parallel, outputs, weights, splits;
} seen;

static int as_naive(uint64_t seed, seen *s) {
  random_job r = ordered_job(seed, 300);
  const gbt_params *p = &r.job.spec.params;
  int ok = 1;
  if (r.job.spec.objective.kind != GBT_OBJ_CUSTOM) {
    trained *a = train(&r.job, &r.how), *b = train_naively(&r.job);
    ok = CHECK(a != NULL && b != NULL && same_trained(a, b));
    if (!ok) random_job_tell(&r, seed);
    s->losses[r.job.spec.objective.kind]++;
    s->policies[p->grow_policy]++;
    s->sampled += p->subsample < 1.0;
    s->parallel += p->num_parallel_tree > 1;
    s->outputs += r.job.spec.objective.n_outputs > 1;
    s->weights += r.data->weight != NULL;
    s->splits += a != NULL ? (int64_t)a->forest->n_nodes / 2 : 0;
    trained_free(a);
    trained_free(b);
  }
  random_job_free(&r);
  return ok;
}

static void trainings_are_the_naive_ones(void) {
  seen s;
  int bad = 0;
  memset(&s, 0, sizeof s);
  for (uint64_t seed = 1; seed <= JOBS && bad < 3; seed++) bad += !as_naive(seed, &s);
  test_note("%" PRId64 " splits, %" PRId64 " sampled, %" PRId64 " parallel, %" PRId64 " with outputs, %" PRId64
            " with weights",
            s.splits, s.sampled, s.parallel, s.outputs, s.weights);
  for (int p = 0; p < 3; p++) CHECK(s.policies[p] >= 20);
  CHECK(s.losses[GBT_OBJ_QUANTILE] + s.losses[GBT_OBJ_ABSOLUTE_ERROR] + s.losses[GBT_OBJ_MAPE] >= 5);
  CHECK(s.splits > 1000 && s.sampled > 20 && s.parallel > 20 && s.outputs > 10 && s.weights > 20);
}

/* Models end at powers of two: rows around them, and so few that there is no model. */
static void sizes_of_rows(void) {
  for (int64_t n = 1; n <= 300; n += n < 35 ? 1 : n % 32 == 31 || n % 32 == 0 ? 1 : 31 - n % 32) {
    made *m = made_new((uint64_t)n, n, 3, NULL);
    const gbt_objective_kind loss = n % 2 ? GBT_OBJ_LOGISTIC : GBT_OBJ_SOFTMAX;
    made_response(m, loss, n % 2 ? 1 : 3, 5);
    train_job job = job_make(m, loss, n % 2 ? 1 : 3, 3);
    job.spec.params.boosting = GBT_BOOSTING_ORDERED;
    job.spec.params.max_depth = 3;
    job.spec.params.min_child_weight = 0.0;
    trained *a = train(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL}), *b = train_naively(&job);
    if (!CHECK(a != NULL && b != NULL && same_trained(a, b))) test_note("%" PRId64 " rows", n);
    trained_free(a);
    trained_free(b);
    made_free(m);
  }
}

/* Tasks of several threads, pages of all sizes. */
static void larger_trainings_are_the_same(void) {
  const train_how how[] = {{1, 0, GBT_SIMD_AUTO, NULL}, {3, 1000, GBT_SIMD_SCALAR, NULL}, {2, 77, GBT_SIMD_AUTO, NULL}};
  made *m = made_new(7, 30000, 6, NULL);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 5);
  made_weights(m, 6);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 4);
  job.spec.params.boosting = GBT_BOOSTING_ORDERED;
  job.spec.params.subsample = 0.8;
  trained *t[3];
  for (int i = 0; i < 3; i++) t[i] = train(&job, &how[i]);
  for (int i = 1; i < 3; i++) CHECK(t[0] != NULL && t[i] != NULL && same_trained(t[0], t[i]));
  for (int i = 0; i < 3; i++) trained_free(t[i]);
  made_free(m);
}

/* ---- labels of later rows ---- */

/* Scores after the trees of a forest, all of one output, have been fitted in turn. n to be freed with free(). */
static double *scores_after(gbt_ctx *ctx, const gbt_trainer_spec *spec, const gbt_forest_view *trees) {
  const size_t cells = (size_t)(spec->train->rows.n * spec->objective.n_outputs);
  gbt_feature_rules *rules = NULL;
  gbt_supporting *s = NULL;
  gbt_forest *draft = NULL;
  double *start = test_alloc(cells * sizeof *start), base = 0.0;
  gbt_dataset *data[] = {spec->train};
  const double *score = NULL, *const init[] = {NULL};
  memset(start, 0, cells * sizeof *start);
  CHECK_OK(gbt_feature_rules_new(&ctx->mem, spec->train->cuts->n_features, NULL, &spec->params, NULL, NULL, NULL, 0,
                                 &rules, test_err));
  CHECK_OK(gbt_forest_new_like(&ctx->mem, trees, &draft, test_err));
  const gbt_backend_spec be = {
      .params = &spec->params, .objective = spec->objective, .data = data, .base = &base, .init = init, .rules = rules};
  int ok = CHECK_OK(gbt_supporting_new(ctx, &be, start, (uint64_t)spec->params.seed, &s, test_err)) &&
           CHECK_OK(gbt_supporting_begin(ctx, s, 0, &score, test_err));
  for (uint64_t t = 0; ok && t < trees->n_trees; t++) {
    const gbt_tree_parts tree = gbt_tree_of(trees, t);
    gbt_forest_cut(draft, 0);
    ok = CHECK_OK(gbt_forest_add(draft, &tree, test_err));
    const gbt_forest_view view = gbt_forest_view_of(draft);
    const gbt_tree_task task = {.tree = t, .round = t, .shrinkage = spec->params.eta};
    ok = ok && CHECK_OK(gbt_supporting_fit(ctx, s, &task, 1, &view, test_err)) &&
         CHECK_OK(gbt_supporting_begin(ctx, s, t + 1, &score, test_err));
  }
  if (ok) memcpy(start, score, cells * sizeof *start);
  gbt_supporting_free(s);
  gbt_forest_free(draft);
  gbt_feature_rules_free(rules);
  return start;
}

/* Gives the rows times (1), groups (2) or neither (0). */
static void put_steps(gbt_ctx *ctx, gbt_dataset *ds, int which, uint64_t seed) {
  test_rng rng = {seed};
  double *x = test_alloc((size_t)ds->rows.n * sizeof *x);
  for (int64_t i = 0; i < ds->rows.n; i++) x[i] = (double)test_below(&rng, ds->rows.n / 4);
  if (which > 0) CHECK_OK(gbt_dataset_set(ctx, ds, which == 1 ? GBT_TIME : GBT_GROUP, x, ds->rows.n, test_err));
  free(x);
}

/* By row, how many rows the order has before its step. */
static int64_t *places_of(gbt_ctx *ctx, const gbt_dataset *ds, uint64_t seed) {
  int64_t *place = test_alloc((size_t)ds->rows.n * sizeof *place), at = 0, last = -1;
  const double *time = ds->rows.field[GBT_TIME], *group = ds->rows.field[GBT_GROUP];
  gbti_visit visit;
  CHECK_OK(gbti_visit_make(ctx, &ds->rows, seed, 1, &visit, test_err));
  for (int b = 0; b < GBTI_VISIT_BLOCKS; b++)
    for (int64_t i = visit.block[visit.order[0][b]]; i < visit.block[visit.order[0][b] + 1]; i++, at++) {
      const int64_t row = visit.row[i];
      const int same = last >= 0 && ((time && time[last] == time[row]) || (group && group[last] == group[row]));
      place[row] = same ? place[last] : at;
      last = row;
    }
  gbti_visit_free(&visit);
  return place;
}

/* A row's label changes the scores of rows after it in the order alone: not its own, nor those of its step. */
static void scores_know_earlier_labels_alone(void) {
  const int64_t n = 150;
  int64_t n_same = 0, n_other = 0;
  made *m = made_new(3, n, 4, NULL);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 4);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 4);
  job.spec.params.max_depth = 3;
  trained *t = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
  gbt_ctx ctx = test_ctx(NULL, 2);
  gbt_trainer_spec spec;
  REQUIRE(t != NULL && job_open(&ctx, &job, 0, &spec));
  const gbt_forest_view trees = gbt_forest_view_of(t->forest);
  for (int which = 0; which < 3; which++) {
    gbt_dataset *view = NULL, *all = spec.train;
    REQUIRE_OK(gbt_dataset_view(all, &view, test_err));
    REQUIRE_OK(gbt_dataset_set(&ctx, view, GBT_LABEL, m->label, n, test_err));
    put_steps(&ctx, view, which, 9);
    spec.train = view;
    int64_t *place = places_of(&ctx, view, (uint64_t)spec.params.seed);
    double *before = scores_after(&ctx, &spec, &trees);
    for (int64_t i = 0; i < n; i++) {
      m->label[i] = 1.0 - m->label[i];
      REQUIRE_OK(gbt_dataset_set(&ctx, view, GBT_LABEL, m->label, n, test_err));
      double *after = scores_after(&ctx, &spec, &trees);
      for (int64_t r = 0; r < n; r++) {
        const int same = memcmp(&before[r], &after[r], sizeof *after) == 0;
        if (place[r] <= place[i]) CHECK(same);
        n_same += same;
        n_other += !same;
      }
      m->label[i] = 1.0 - m->label[i];
      free(after);
    }
    free(before);
    free(place);
    gbt_dataset_unref(view);
    spec.train = all;
  }
  test_note("%" PRId64 " scores are the same, %" PRId64 " others", n_same, n_other);
  CHECK(n_other > 3 * n * n / 8);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  trained_free(t);
  made_free(m);
}

/* ---- refusals ---- */

static void what_it_cannot_do_is_refused(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  made *m = made_new(3, 60, 2, NULL);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 4);
  train_job job = job_make(m, GBT_OBJ_CUSTOM, 1, 1);
  job.spec.params.boosting = GBT_BOOSTING_ORDERED;
  REQUIRE(job_open(&ctx, &job, 0, &spec));
  CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_UNSUPPORTED, "use `boosting = \"plain\"`");
  spec.objective = gbt_objective_make(GBT_OBJ_LOGISTIC, 1);
  put_steps(&ctx, spec.train, 1, 5);
  put_steps(&ctx, spec.train, 2, 5);
  CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_UNSUPPORTED, "leave one out");
  job_close(&spec);
  gbt_ctx_close(&ctx);
  made_free(m);
}

void suite_supporting(void) {
  RUN(trainings_are_the_naive_ones);
  RUN(sizes_of_rows);
  RUN(larger_trainings_are_the_same);
  RUN(scores_know_earlier_labels_alone);
  RUN(what_it_cannot_do_is_refused);
}
