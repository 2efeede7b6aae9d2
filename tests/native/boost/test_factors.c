/* Rounds that change what those before them count (boost/factors.h): trainings against the naive one, the same whatever
 * the circumstances, resumed anywhere, by ranks, from a model; models of the best round; what is refused. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "../../src/gbt/boost/factors.h"
#include "../../src/gbt/encode/cat_method.h"
#include "checkpoint_job.h"
#include "fault.h"
#include "ranks_job.h"

enum { JOBS = 120, KINDS = 4 };

/* Dropped rounds, shrinking, means of the last rounds, all of it; shrinking with ordered boosting. */
static random_job job_of(uint64_t seed, int64_t rows) {
  random_job r = random_job_make(seed, rows);
  const int what = (int)(seed % KINDS);
  if (what == 1 && seed % 8 == 1 && r.job.custom == NULL) random_job_order(&r);
  random_job_rescale(&r, seed, what);
  if (r.job.spec.n_valid > 0) r.job.spec.keep_best = 1;
  return r;
}

typedef struct seen {
  int64_t policies[3], kinds[KINDS], changed;
  int64_t ordered, parallel, outputs, custom, offsets, schedules, sampled, quantiles, valid, splits;
} seen;

static int is_changed(const trained *t) {
  for (size_t i = 0; i < t->forest->n_nodes; i++)
    if (gbt_bits(t->forest->nodes[i].arg.value) != gbt_bits(t->model->nodes[i].arg.value)) return 1;
  return 0;
}

static void see(seen *s, uint64_t seed, const random_job *r, const trained *t) {
  const gbt_trainer_spec *spec = &r->job.spec;
  s->policies[spec->params.grow_policy]++;
  s->kinds[seed % KINDS] += t->forest->n_nodes > t->forest->n_trees;
  s->changed += is_changed(t);
  s->ordered += spec->params.boosting == GBT_BOOSTING_ORDERED;
  s->parallel += spec->params.num_parallel_tree > 1;
  s->outputs += spec->objective.n_outputs > 1;
  s->custom += r->job.custom != NULL;
  s->offsets += r->data->offset != NULL;
  s->schedules += spec->eta != NULL;
  s->sampled += spec->params.subsample < 1.0 || spec->params.sampling_method != 0;
  s->quantiles += gbt_objective_info_of(spec->objective.kind)->leaves == GBT_LEAVES_QUANTILE;
  s->valid += spec->n_valid > 0;
  s->splits += (int64_t)t->forest->n_nodes / 2;
}

static int as_naive(uint64_t seed, seen *s) {
  random_job r = job_of(seed, 250);
  trained *a = train(&r.job, &r.how), *b = train_naively(&r.job);
  const int ok = CHECK(a != NULL && b != NULL && same_trained(a, b));
  if (!ok) random_job_tell(&r, seed);
  if (ok) see(s, seed, &r, a);
  trained_free(a);
  trained_free(b);
  random_job_free(&r);
  return ok;
}

static void trainings_are_the_naive_ones(void) {
  seen s;
  int bad = 0;
  memset(&s, 0, sizeof s);
  for (uint64_t seed = 1; seed <= test_cases(JOBS) && bad < 3; seed++) bad += !as_naive(seed, &s);
  test_note("%" PRId64 " splits; values changed in %" PRId64 "; %" PRId64 " ordered, %" PRId64 " parallel, %" PRId64
            " with outputs, %" PRId64 " custom, %" PRId64 " with offsets, %" PRId64 " schedules, %" PRId64
            " sampled, %" PRId64 " quantiles, %" PRId64 " validated",
            s.splits, s.changed, s.ordered, s.parallel, s.outputs, s.custom, s.offsets, s.schedules, s.sampled,
            s.quantiles, s.valid);
  for (int k = 0; k < KINDS; k++) CHECK_SEEN(s.kinds[k] >= 15);
  for (int p = 0; p < 3; p++) CHECK_SEEN(s.policies[p] >= 20);
  CHECK_SEEN(s.splits > 1000 && s.changed > 60 && s.ordered > 5 && s.parallel > 20 && s.outputs > 15 && s.custom > 5);
  CHECK_SEEN(s.offsets > 15 && s.schedules > 20 && s.sampled > 30 && s.quantiles > 5 && s.valid > 50);
}

/* A job with a validation set whose best round is kept, where rounds drop, shrink and average others. */
static train_job changing_job(made *m, made *v, gbt_objective_kind loss, int32_t n_outputs, double drop, double shrink,
                              int rounds) {
  for (int i = 0; i < 2; i++) {
    made_response(i ? v : m, loss, n_outputs, 5);
    made_offset(i ? v : m, n_outputs, 6);
  }
  train_job job = job_make(m, loss, n_outputs, rounds);
  job.valid[0] = v;
  job.spec.n_valid = job.spec.keep_best = 1;
  job.spec.params.boosting = GBT_BOOSTING_DART;
  job.spec.params.rate_drop = drop;
  job.spec.params.skip_drop = 0.0;
  job.spec.params.model_shrink_rate = shrink;
  job.spec.params.tail_rounds = 2;
  return job;
}

/* Tasks of several threads, pages of all sizes. */
static void larger_trainings_are_the_same(void) {
  const train_how how[] = {{1, 0, GBT_SIMD_AUTO, NULL}, {3, 1000, GBT_SIMD_SCALAR, NULL}, {2, 77, GBT_SIMD_AUTO, NULL}};
  made *m = made_new(7, 30000, 6, NULL), *v = made_new(8, 9000, 6, m->kind);
  train_job job = changing_job(m, v, GBT_OBJ_LOGISTIC, 1, 0.5, 0.2, 6);
  trained *t[3];
  for (int i = 0; i < 3; i++) t[i] = train(&job, &how[i]);
  for (int i = 1; i < 3; i++) CHECK(t[0] != NULL && t[i] != NULL && same_trained(t[0], t[i]));
  CHECK(t[0] != NULL && is_changed(t[0]));
  for (int i = 0; i < 3; i++) trained_free(t[i]);
  made_free(m);
  made_free(v);
}

/* Numbers of rounds, of the tail, and most rounds that are dropped. */
static void numbers_of_rounds(void) {
  const int64_t most[] = {0, 1, 2, 3, 15, 16, 17};
  made *m = made_new(3, 25, 2, NULL);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 5);
  for (int64_t n = 1; n <= 34 && test_n_bad() == 0; n += n < 9 || n > 30 ? 1 : n % 16 == 15 || n % 16 == 0 ? 1 : 5) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, n);
    job.spec.params.max_depth = 2;
    job.spec.params.boosting = GBT_BOOSTING_DART;
    job.spec.params.skip_drop = 0.1;
    job.spec.params.rate_drop = n % 2 ? 1.0 : 0.5;
    job.spec.params.max_drop = most[n % 7];
    job.spec.params.model_shrink_rate = 0.01 * (double)n;
    job.spec.params.model_shrink_mode = (int)(n % 2);
    job.spec.params.tail_rounds = n % 3 ? 1 + n / 2 : n + 1;
    trained *a = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL}), *b = train_naively(&job);
    if (!CHECK(a != NULL && b != NULL && same_trained(a, b))) test_note("%" PRId64 " rounds", n);
    trained_free(a);
    trained_free(b);
  }
  made_free(m);
}

/* Parameters by which nothing is changed. */
static void nothing_changes_nothing(void) {
  for (uint64_t seed = 1; seed <= 12; seed++) {
    random_job r = random_job_make(seed, 200);
    r.job.rounds = 4;
    trained *plain = train(&r.job, &r.how);
    r.job.spec.params.boosting = GBT_BOOSTING_DART;
    if (seed % 2) r.job.spec.params.skip_drop = 1.0;
    else r.job.spec.params.rate_drop = 0.0;
    trained *dart = train(&r.job, &r.how);
    if (CHECK(plain != NULL && dart != NULL && same_trained(plain, dart)))
      CHECK(same_forests(plain->forest, dart->model));
    trained_free(plain);
    trained_free(dart);
    random_job_free(&r);
  }
}

/* ---- going on ---- */

static void add_statistics(random_job *r, uint8_t *method) {
  for (int32_t c = 0; c < r->data->table.n_cols; c++)
    method[c] = r->data->table.cols[c].type == GBT_CATEGORICAL ? GBT_CAT_TARGET : GBT_CAT_AUTO;
  r->job.spec.cat_method = method;
}

static void resumed_trainings_are_those_that_ran_through(void) {
  int64_t n_statistics = 0, splits = 0;
  for (uint64_t seed = 1; seed <= test_cases(40) && test_n_bad() == 0; seed++) {
    random_job r = job_of(seed, 200);
    uint8_t method[64];
    const char *path = part_path();
    part_outcome whole;
    const int64_t rounds = r.job.rounds;
    if (r.job.custom == NULL && seed % 3 == 0) add_statistics(&r, method);
    const part_place through = {.threads = 1 + (int)(seed % 3), .page_rows = r.how.page_rows, .last = rounds};
    if (!part_run(&r.job, &through, &whole)) break;
    for (int64_t stop = 0; stop <= rounds; stop += 1 + (int64_t)(seed % 2)) {
      part_outcome resumed;
      const part_place first = {.threads = 2, .page_rows = 100, .to = path, .last = stop};
      const part_place second = {.threads = 3, .page_rows = 33, .from = path, .last = rounds};
      if (!part_run(&r.job, &first, NULL) || !part_run(&r.job, &second, &resumed)) break;
      if (!part_outcomes_same(&whole, &resumed)) random_job_tell(&r, seed);
      part_outcome_free(&resumed);
    }
    n_statistics += r.job.spec.cat_method != NULL;
    splits += (int64_t)whole.forest->n_nodes / 2;
    part_outcome_free(&whole);
    unlink(path);
    random_job_free(&r);
  }
  CHECK_SEEN(n_statistics > 5 && splits > 200);
}

/* Where leaf values come from a second order of statistics, scores of the first one shrink as well: with statistics
 * that no tree uses both are those of a training without. */
static void scores_of_both_orders_shrink(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_FACTOR};
  const double weight[] = {1.0, 1.0, 0.0};
  const uint8_t method[] = {GBT_CAT_AUTO, GBT_CAT_AUTO, GBT_CAT_TARGET};
  made *m = made_new(5, 400, 3, kinds);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 5);
  made_offset(m, 1, 6);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 5);
  const part_place place = {.threads = 2, .last = 5};
  part_outcome with, without;
  job.spec.feature_weight = weight;
  job.spec.params.colsample_bytree = 0.9;
  job.spec.params.model_shrink_rate = 0.5;
  job.spec.params.max_depth = 3;
  if (part_run(&job, &place, &without)) {
    job.spec.cat_method = method;
    if (part_run(&job, &place, &with)) {
      CHECK(with.forest->n_features > without.forest->n_features && with.forest->n_nodes > 5 * 3);
      CHECK_EQ_BYTES(with.score[0], without.score[0], (size_t)with.n_score[0] * sizeof(double));
      part_outcome_free(&with);
    }
    part_outcome_free(&without);
  }
  made_free(m);
}

/* From the rounds of another training on; its trees shrink and are never dropped. */
static void models_to_go_on_from(void) {
  int64_t n = 0;
  for (uint64_t seed = 1; seed <= test_cases(40) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 200);
    r.job.rounds = 1 + (int64_t)(seed % 3);
    trained *first = train(&r.job, &r.how);
    random_job_rescale(&r, seed, (int)(seed % KINDS));
    if (!CHECK(first != NULL)) break;
    const gbt_forest_view init = gbt_forest_look(first->forest);
    r.job.spec.init = &init;
    r.job.spec.init_eta = r.job.spec.params.eta;
    r.job.spec.init_score = first->score[0];
    for (int32_t s = 0; s < r.job.spec.n_valid; s++) r.job.spec.init_valid[s] = first->score[1 + s];
    if (r.job.spec.n_valid > 0 && r.job.spec.params.model_shrink_rate == 0.0) r.job.spec.keep_best = 1;
    trained *a = train(&r.job, &r.how), *b = train_naively(&r.job);
    if (!CHECK(a != NULL && b != NULL && same_trained(a, b))) random_job_tell(&r, seed);
    n += a != NULL && is_changed(a);
    trained_free(first);
    trained_free(a);
    trained_free(b);
    random_job_free(&r);
  }
  CHECK_SEEN(n > 15);
}

static void ranks_train_what_one_process_does(void) {
  for (uint64_t seed = 1; seed <= test_cases(30) && test_n_bad() == 0; seed++) {
    random_job r = job_of(seed, 200);
    r.job.spec.keep_best = 0;
    if (r.job.custom != NULL || r.job.spec.params.boosting == GBT_BOOSTING_ORDERED) r.job.rounds = 0;
    if (r.job.rounds > 0) {
      trained *single = train(&r.job, &r.how);
      shares *s = shares_new(&r.job, 1 + (int)(seed % 4), seed, 0);
      rank_how hows[RANKS_MOST];
      ranked out[RANKS_MOST];
      for (int i = 0; i < s->size; i++) hows[i] = rank_how_make(1 + i % 2, i % 2 ? 7 : 0);
      shares_train(s, hows, out);
      if (!CHECK(single != NULL && same_ranked(s, out, single))) random_job_tell(&r, seed);
      for (int i = 0; i < s->size; i++) ranked_free(&out[i]);
      shares_free(s);
      trained_free(single);
    }
    random_job_free(&r);
  }
}

/* ---- the best round ---- */

/* The model of a training that stopped early is that of a training of as many rounds as its best. */
static void models_end_with_the_best_round(void) {
  int64_t n = 0;
  for (uint64_t seed = 1; seed <= test_cases(24) && test_n_bad() == 0; seed++) {
    made *m = made_new(seed, 120, 4, NULL), *v = made_new(seed + 50, 60, 4, m->kind);
    made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 5);
    made_response(v, GBT_OBJ_SQUARED_ERROR, 1, 9);
    random_job r = {.job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 30), .data = NULL};
    random_job_rescale(&r, seed, (int)(seed % KINDS));
    train_job job = r.job;
    const train_how how = {1 + (int)(seed % 2), 0, GBT_SIMD_AUTO, NULL};
    job.rounds = 30;
    job.valid[0] = v;
    job.spec.params.eta = 0.4;
    job.spec.n_valid = job.spec.n_metrics = job.spec.keep_best = 1;
    job.spec.metric[0] = gbt_metric_plain(GBT_METRIC_RMSE);
    job.spec.stop_rounds = 3;
    trained *stopped = train(&job, &how);
    job.spec.stop_rounds = 0;
    job.rounds = stopped != NULL ? stopped->best_round : 0;
    trained *best = job.rounds > 0 ? train(&job, &how) : NULL;
    if (CHECK(stopped != NULL && best != NULL)) CHECK(same_forests(stopped->model, best->model));
    n += best != NULL && stopped->rounds > best->rounds && best->rounds > 1;
    trained_free(stopped);
    trained_free(best);
    made_free(m);
    made_free(v);
  }
  CHECK_SEEN(n > 8);
}

/* ---- refusals ---- */

static void what_is_refused(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  made *m = made_new(3, 40, 2, NULL);
  made_response(m, GBT_OBJ_CUSTOM, 1, 5);
  train_job job = job_make(m, GBT_OBJ_CUSTOM, 1, 1);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  const double zero[40] = {0.0}, one[40] = {1.0};
  if (job_open(&ctx, &job, 0, &spec)) {
    spec.init_score = zero;
    spec.params.model_shrink_rate = 0.1;
    CHECK_FAILS(gbt_trainer_new(&ctx, &spec, &tr, test_err), GBT_E_ARG, "cannot shrink");
    spec.init_score = NULL;
    if (CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
      CHECK_FAILS(gbt_trainer_set_gradients(&ctx, tr, zero, one, test_err), GBT_E_INTERNAL, "gbt_trainer_begin");
      CHECK_OK(gbt_trainer_begin(&ctx, tr, test_err));
      CHECK_OK(gbt_trainer_set_gradients(&ctx, tr, zero, one, test_err));
    }
    gbt_trainer_free(tr);
  }
  job_close(&spec);
  made_free(m);
  gbt_ctx_close(&ctx);
}

/* ---- memory ---- */

/* Rounds, the model and its scores. The failure leaves the rounds before it. */
static gbt_status train_with(const gbt_mem *mem, void *arg, gbt_error *err) {
  const gbt_trainer_spec *spec = arg;
  const int64_t per_round = spec->objective.n_outputs * spec->params.num_parallel_tree;
  const gbt_forest_view *model;
  const double *scores;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  gbt_ctx ctx;
  GBT_TRY(gbt_ctx_open(&ctx, *mem, 1, GBT_SIMD_AUTO, NULL, NULL, err));
  gbt_status status = gbt_trainer_new(&ctx, spec, &tr, err);
  if (status == GBT_OK) {
    status = gbt_trainer_run(&ctx, tr, 4, &why, err);
    CHECK_EQ_I64(gbt_trainer_forest(tr)->n_trees, gbt_trainer_rounds(tr) * per_round);
  }
  if (status == GBT_OK) status = gbt_trainer_model(&ctx, tr, &model, err);
  if (status == GBT_OK) status = gbt_trainer_best_scores(&ctx, tr, 1, &scores, err);
  gbt_trainer_free(tr);
  gbt_ctx_close(&ctx);
  return status;
}

static void every_allocation_may_fail(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_FACTOR, MADE_FEW};
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_trainer_spec spec;
  made *m = made_new(1, 60, 3, kinds), *v = made_new(2, 20, 3, kinds);
  train_job job = changing_job(m, v, GBT_OBJ_SOFTMAX, 2, 1.0, 0.1, 4);
  job.spec.params.max_drop = 2;
  job.spec.params.max_depth = 2;
  if (job_open(&ctx, &job, 0, &spec)) {
    const int64_t n = fault_sweep(train_with, &spec);
    test_note("%" PRId64 " allocations", n);
    CHECK(n > 60);
  }
  job_close(&spec);
  made_free(m);
  made_free(v);
  gbt_ctx_close(&ctx);
}

void suite_factors(void) {
  RUN(trainings_are_the_naive_ones);
  RUN(larger_trainings_are_the_same);
  RUN(numbers_of_rounds);
  RUN(nothing_changes_nothing);
  RUN(resumed_trainings_are_those_that_ran_through);
  RUN(scores_of_both_orders_shrink);
  RUN(models_to_go_on_from);
  RUN(ranks_train_what_one_process_does);
  RUN(models_end_with_the_best_round);
  RUN(what_is_refused);
  RUN(every_allocation_may_fail);
}
