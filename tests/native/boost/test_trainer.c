/* The trainer's own business: going on, stopping, being stopped, constraints as the user sees them, refusals. */
#include "clock.h"
#include "datasets.h"
#include "random_job.h"

#include "../../src/gbt/backend/backend.h"
#include "../../src/gbt/model/predict.h"

static const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL};

static gbt_ctx open_ctx(int n_threads) {
  gbt_ctx ctx;
  CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), n_threads, GBT_SIMD_AUTO, NULL, NULL, test_err));
  return ctx;
}

static const made_kind usual_kinds[] = {MADE_BELL, MADE_HOLES, MADE_FACTOR, MADE_FEW, MADE_LEVELS, MADE_ORDERED};
enum { USUAL = sizeof usual_kinds / sizeof usual_kinds[0] };

static made *make_usual(uint64_t seed, int64_t n_rows, gbt_objective_kind loss, int32_t n_outputs) {
  made *m = made_new(seed, n_rows, USUAL, usual_kinds);
  made_response(m, loss, n_outputs, seed + 1);
  return m;
}

/* ---- going on ---- */

/* Batches make up a round, hold whole outputs or trees of one, and are not more than must be. */
static void batches_are_whole(void) {
  for (int32_t most = 1; most <= GBT_MOST_TREES; most++)
    for (int64_t outputs = 1; outputs <= 40; outputs += outputs < 9 ? 1 : 5)
      for (int64_t per_output = 1; per_output <= 70; per_output += per_output < 9 ? 1 : 6) {
        const int64_t all = outputs * per_output, whole = most / per_output;
        int64_t grown = 0, n_batches = 0, smallest = all, largest = 0, bad = 0;
        while (grown < all) {
          const int64_t n = gbt_batch_trees(most, outputs, per_output, grown), first = grown % per_output;
          bad += n < 1 || n > most;
          bad += whole > 0 ? first != 0 || n % per_output != 0 : first + n > per_output;
          if (bad) break;
          smallest = n < smallest ? n : smallest;
          largest = n > largest ? n : largest;
          grown += n;
          n_batches++;
        }
        CHECK_EQ_I64(bad, 0);
        CHECK_EQ_I64(grown, all);
        if (whole > 0)
          CHECK_EQ_I64(n_batches, (outputs + whole - 1) / whole);
        else
          CHECK_EQ_I64(n_batches, outputs * ((per_output + most - 1) / most));
        if (whole > 0) CHECK(largest - smallest <= n_batches * per_output);
      }
}

static void runs_add_up(void) {
  made *m = make_usual(1, 300, GBT_OBJ_LOGISTIC, 1);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 6);
  job.spec.n_metrics = job.spec.eval_train = 1;
  job.spec.metric[0] = gbt_metric_plain(GBT_METRIC_LOGLOSS);
  job.spec.params.subsample = 0.7;
  trained *whole = train(&job, &plain);
  for (int threads = 1; threads <= 3; threads += 2) { /* of the later calls: more than the first had */
    gbt_ctx first = open_ctx(1), later = open_ctx(threads);
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why = GBT_RUN_TIME;
    if (job_open(&first, &job, 0, &spec) && CHECK_OK(gbt_trainer_new(&first, &spec, &tr, test_err))) {
      CHECK_OK(gbt_trainer_run(&first, tr, 0, &why, test_err));
      CHECK(gbt_trainer_rounds(tr) == 0 && why == GBT_RUN_DONE);
      double loss = -1.0, want = -2.0;
      const double *scores = NULL;
      CHECK_OK(gbt_trainer_scores(&first, tr, 0, &scores, test_err)); /* those that the training begins with */
      CHECK_OK(gbt_metric_eval(&first, &job.spec.metric[0], &job.spec.objective, &spec.train->rows, NULL, scores, &want,
                               test_err));
      CHECK_OK(gbt_trainer_loss(&first, tr, &loss, test_err));
      CHECK(loss == want && loss > whole->log[0]);
      CHECK_OK(gbt_trainer_run(&first, tr, 1, &why, test_err));
      CHECK_OK(gbt_trainer_run(&later, tr, 3, &why, test_err));
      CHECK_OK(gbt_trainer_run(&later, tr, 2, &why, test_err));
      CHECK(gbt_trainer_rounds(tr) == 6 && why == GBT_RUN_DONE);
      same_forests(whole->forest, gbt_trainer_forest(tr));
      int32_t width = 0;
      const double *log = gbt_trainer_log(tr, &width);
      if (CHECK_EQ_I64(width, 1)) CHECK_EQ_BYTES(log, whole->log, 6 * sizeof *log);
      CHECK_OK(gbt_trainer_loss(&later, tr, &loss, test_err)); /* the objective's metric is the one that was logged */
      CHECK_EQ_BYTES(&loss, log + 5, sizeof loss);
    }
    gbt_trainer_free(tr);
    job_close(&spec);
    gbt_ctx_close(&first);
    gbt_ctx_close(&later);
  }
  trained_free(whole);
  made_free(m);
}

/* The host may give its gradients in a call with fewer threads than the one that grows the tree. */
static void custom_gradients_may_come_from_another_call(void) {
  enum { N = 50000 };
  made *m = make_usual(2, N, GBT_OBJ_SQUARED_ERROR, 1);
  train_job job = job_make(m, GBT_OBJ_CUSTOM, 1, 1);
  trained *want = train(&job, &plain);
  gbt_ctx few = open_ctx(1), many = open_ctx(4);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  double *g = test_alloc(N * sizeof *g), *h = test_alloc(N * sizeof *h);
  if (job_open(&few, &job, 0, &spec) && CHECK_OK(gbt_trainer_new(&few, &spec, &tr, test_err))) {
    const double *scores = NULL;
    CHECK_OK(gbt_trainer_scores(&few, tr, 0, &scores, test_err));
    job.custom(scores, m->label, N, 1, g, h);
    CHECK_OK(gbt_trainer_set_gradients(&few, tr, g, h, test_err));
    CHECK_OK(gbt_trainer_run(&many, tr, 1, &why, test_err));
    same_forests(want->forest, gbt_trainer_forest(tr));
  }
  free(g);
  free(h);
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&few);
  gbt_ctx_close(&many);
  trained_free(want);
  made_free(m);
}

/* Rounds on top of a model are the rounds that would have come next; with other parameters those of the twin. */
static void init_goes_on_where_it_was(void) {
  int schedules = 0;
  for (uint64_t seed = 2000; seed < 2040; seed++) {
    random_job r = random_job_make(seed, 300);
    train_job whole = r.job, rest = r.job;
    whole.rounds = r.job.rounds + 2;
    rest.rounds = 2;
    trained *a = train(&whole, &r.how), *b = train(&r.job, &r.how);
    if (a == NULL || b == NULL) break;
    gbt_forest_view view = gbt_forest_view_of(b->forest);
    rest.spec.init = &view;
    rest.spec.init_score = b->score[0];
    for (int32_t s = 0; s < r.job.spec.n_valid; s++) rest.spec.init_valid[s] = b->score[1 + s];
    if (r.eta != NULL) {
      const int64_t last = r.job.spec.n_eta - 1, next = r.job.rounds < last ? r.job.rounds : last;
      rest.spec.eta = r.eta + next, rest.spec.n_eta = last - next + 1;
      rest.spec.init_eta = r.eta[r.job.rounds - 1 < last ? r.job.rounds - 1 : last];
      schedules += rest.spec.init_eta != rest.spec.eta[0];
    }
    trained *c = train(&rest, &plain);
    if (c != NULL) c->rounds += r.job.rounds;
    int ok = same_trained(a, c);
    rest.spec.params.eta = 0.05;
    rest.spec.eta = NULL;
    rest.spec.params.seed += 5;
    trained *d = train(&rest, &r.how), *e = train_naively(&rest);
    ok &= same_trained(d, e);
    if (d != NULL) { /* the old trees come first, unchanged */
      gbt_forest_cut(d->forest, b->forest->n_trees);
      ok &= same_forests(b->forest, d->forest);
    }
    if (!ok) random_job_tell(&r, seed);
    trained_free(a), trained_free(b), trained_free(c), trained_free(d), trained_free(e);
    random_job_free(&r);
  }
  CHECK(schedules > 3);
}

static void base_scores_may_be_given(void) {
  made *m = make_usual(3, 200, GBT_OBJ_SOFTMAX, 3);
  made_offset(m, 3, 4);
  const double base[3] = {0.25, -1.0, 3.5};
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, 3, 2);
  job.spec.base = base;
  trained *a = train(&job, &plain), *b = train_naively(&job);
  same_trained(a, b);
  if (a != NULL) CHECK_EQ_BYTES(a->forest->base, base, sizeof base);
  trained_free(a);
  trained_free(b);
  made_free(m);
}

/* One gradient of 1 and all others of `units` / 32768: their mean in 16 bits decides what `auto` takes. */
static trained *train_with_outlier(const made *m, double units, int bits) {
  train_job job = job_make(m, GBT_OBJ_CUSTOM, 1, 1);
  int64_t n = m->table.n_rows;
  gbt_ctx ctx = open_ctx(1);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  trained *t = NULL;
  double *g = test_alloc((size_t)n * sizeof *g), *h = test_alloc((size_t)n * sizeof *h);
  for (int64_t r = 0; r < n; r++) {
    g[r] = r == 0 ? 1.0 - ldexp(1.0, -12) : (m->signal[r] > 0.0 ? units : -units) / 32768.0;
    h[r] = 1.0;
  }
  job.spec.params.grad_bits = bits;
  if (job_open(&ctx, &job, 0, &spec) && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)) &&
      CHECK_OK(gbt_trainer_set_gradients(&ctx, tr, g, h, test_err)) &&
      CHECK_OK(gbt_trainer_run(&ctx, tr, 1, &why, test_err)))
    t = trained_of(&ctx, &job, &spec, tr);
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  free(g);
  free(h);
  return t;
}

static void outliers_ask_for_32_bits(void) {
  enum { N = 4000 };
  made *m = make_usual(30, N, GBT_OBJ_SQUARED_ERROR, 1);
  for (double units = 4.4; units < 12.0; units += 1.0) { /* no whole ones: those need no rounding */
    trained *any = train_with_outlier(m, units, GBT_GRAD_AUTO), *narrow = train_with_outlier(m, units, GBT_GRAD_16);
    trained *wide = train_with_outlier(m, units, GBT_GRAD_32);
    if (any == NULL || narrow == NULL || wide == NULL) break;
    double mean = units + 32768.0 / N; /* 8.2: the outlier's own part */
    same_trained(any, mean < 16.0 ? wide : narrow);
    CHECK(forest_digest(0, wide->forest) != forest_digest(0, narrow->forest));
    trained_free(any);
    trained_free(narrow);
    trained_free(wide);
  }
  made_free(m);
}

/* ---- the log and stopping ---- */

static void the_log_holds_the_metrics(void) {
  made *m = make_usual(5, 300, GBT_OBJ_LOGISTIC, 1), *v = make_usual(6, 90, GBT_OBJ_LOGISTIC, 1);
  made_weights(m, 7);
  made_weights(v, 8);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 4);
  const gbt_metric metrics[] = {{GBT_METRIC_AUC, 0.0, 0}, {GBT_METRIC_LOGLOSS, 0.0, 0}, {GBT_METRIC_ERROR, 0.3, 0}};
  job.valid[0] = v;
  job.spec.n_valid = 1;
  job.spec.n_metrics = 3;
  memcpy(job.spec.metric, metrics, sizeof metrics);
  for (int eval_train = 0; eval_train <= 1; eval_train++) {
    job.spec.eval_train = eval_train;
    job.rounds = 4;
    trained *all = train(&job, &plain);
    REQUIRE(all != NULL && all->width == 3 * (1 + eval_train) && all->best_round == 0);
    for (int64_t round = 1; round <= 4; round++) {
      job.rounds = round;
      trained *t = train(&job, &plain);
      REQUIRE(t != NULL);
      CHECK_EQ_BYTES(t->log, all->log, (size_t)(round * t->width) * sizeof *t->log);
      gbt_ctx ctx = open_ctx(1);
      for (int32_t c = 0; c < t->width; c++) {
        int s = eval_train ? c / 3 : 1;
        const made *set = s == 0 ? m : v;
        double x = 0.0;
        const gbt_rows rows = test_rows(t->n_rows[s], set->label, set->weight, NULL);
        CHECK_OK(gbt_metric_eval(&ctx, &metrics[c % 3], &job.spec.objective, &rows, NULL, t->score[s], &x, test_err));
        CHECK_EQ_BITS(t->log[(round - 1) * t->width + c], x);
      }
      gbt_ctx_close(&ctx);
      trained_free(t);
    }
    trained_free(all);
  }
  made_free(m);
  made_free(v);
}

/* Validation labels that have nothing to do with the data: getting better ends soon. */
static void early_stopping_stops(void) {
  made *m = make_usual(9, 200, GBT_OBJ_SQUARED_ERROR, 1), *v = make_usual(10, 80, GBT_OBJ_SQUARED_ERROR, 1);
  test_rng rng = {11};
  for (int r = 0; r < 80; r++) v->label[r] = test_bell(&rng);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 500);
  job.valid[0] = m;
  job.valid[1] = v;
  job.spec.n_valid = 2;
  job.spec.n_metrics = 2;
  job.spec.metric[0] = gbt_metric_plain(GBT_METRIC_MAE);
  job.spec.metric[1] = gbt_metric_plain(GBT_METRIC_RMSE);
  for (int64_t patience = 1; patience <= 10; patience += 3)
    for (int delta = 0; delta <= 1; delta++) {
      job.spec.stop_rounds = patience;
      job.spec.stop_min_delta = delta ? 0.01 : 0.0;
      trained *t = train(&job, &plain);
      if (t == NULL) break;
      double best = INFINITY;
      int64_t best_round = 0, stop = 0;
      for (int64_t r = 1; r <= t->rounds && stop == 0; r++) { /* the last metric of the last data set */
        double value = t->log[r * 4 - 1];
        if (best - value > job.spec.stop_min_delta) best = value, best_round = r;
        if (r - best_round >= patience) stop = r;
      }
      CHECK_EQ_I64(t->why, GBT_RUN_EARLY);
      CHECK_EQ_I64(t->rounds, stop);
      CHECK_EQ_I64(t->best_round, best_round);
      CHECK(t->rounds < 500);
      trained_free(t);
    }
  job.spec.stop_rounds = 0;
  job.spec.max_seconds = 1e-9;
  trained *t = train(&job, &plain);
  if (t != NULL) CHECK(t->why == GBT_RUN_TIME && t->rounds == 1 && t->best_round == 0);
  trained_free(t);
  made_free(m);
  made_free(v);
}

/* A metric that the host computes. */
static void host_metrics_are_watched(void) {
  made *m = make_usual(12, 100, GBT_OBJ_SQUARED_ERROR, 1);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 1);
  const double values[] = {1.0, 3.0, 2.0, NAN, 3.0, 4.0};
  job.spec.stop_rounds = 3;
  for (int maximise = 0; maximise <= 1; maximise++) {
    gbt_ctx ctx = open_ctx(1);
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    int stop = 0, round = 0;
    if (job_open(&ctx, &job, 0, &spec) && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
      CHECK_FAILS(gbt_trainer_put_value(&ctx, tr, 1.0, &stop, test_err), GBT_E_INTERNAL, "");
      gbt_trainer_watch(tr, maximise);
      while (!stop && round < 6) {
        CHECK_OK(gbt_trainer_run(&ctx, tr, 1, &why, test_err));
        CHECK_EQ_I64(why, GBT_RUN_DONE);
        CHECK_OK(gbt_trainer_put_value(&ctx, tr, values[round++], &stop, test_err));
      }
      CHECK(stop);
      CHECK_EQ_I64(round, maximise ? 5 : 4);
      CHECK_EQ_I64(gbt_trainer_best_round(tr), maximise ? 2 : 1);
      double seconds[GBT_N_PHASES];
      gbt_trainer_seconds(tr, seconds);
      for (int i = 0; i < GBT_N_PHASES; i++) CHECK(seconds[i] >= 0.0 && seconds[i] < 100.0);
      CHECK_EQ_TEXT(gbt_trainer_backend(tr), "cpu");
    }
    gbt_trainer_free(tr);
    job_close(&spec);
    gbt_ctx_close(&ctx);
  }
  made_free(m);
}

/* ---- being stopped ---- */

typedef struct stopper {
  int64_t n_asked, stop_at; /* 0: never */
} stopper;

static int ask(void *user) {
  stopper *s = user;
  return ++s->n_asked == s->stop_at;
}

/* The rounds finished so far, as whole rounds of the same forest; returns their number. */
static int64_t check_prefix(const trained *whole, const gbt_trainer *tr) {
  const gbt_forest *forest = gbt_trainer_forest(tr);
  int64_t rounds = gbt_trainer_rounds(tr);
  int32_t width = 0;
  const double *log = gbt_trainer_log(tr, &width);
  size_t per_round = whole->forest->n_trees / (size_t)whole->rounds;
  CHECK_EQ_I64(forest->n_trees, (size_t)rounds * per_round);
  size_t n_nodes = 0, n_words = 0;
  for (size_t t = 0; t < forest->n_trees; t++) n_nodes += forest->trees[t].n_nodes, n_words += forest->trees[t].n_words;
  CHECK(forest->n_nodes == n_nodes && forest->n_words == n_words);
  CHECK_EQ_BYTES(forest->nodes, whole->forest->nodes, n_nodes * sizeof *forest->nodes);
  CHECK_EQ_BYTES(forest->gain, whole->forest->gain, n_nodes * sizeof *forest->gain);
  CHECK_EQ_BYTES(forest->sets, whole->forest->sets, n_words * sizeof *forest->sets);
  CHECK_EQ_BYTES(log, whole->log, (size_t)(rounds * width) * sizeof *log);
  return rounds;
}

/* Between rounds one may go on; a trainer stopped within one says that it cannot. */
static int go_on(gbt_trainer *tr, const trained *whole) {
  gbt_ctx ctx = open_ctx(1);
  gbt_stop_reason why;
  int64_t left = whole->rounds - gbt_trainer_rounds(tr);
  gbt_status status = gbt_trainer_run(&ctx, tr, left, &why, test_err);
  if (status == GBT_OK)
    same_forests(whole->forest, gbt_trainer_forest(tr));
  else
    CHECK_FAILS(status, GBT_E_ARG, "init_model");
  gbt_ctx_close(&ctx);
  return status == GBT_OK;
}

static void stopped_trainings_keep_whole_rounds(void) {
  made *m = make_usual(13, 200, GBT_OBJ_SOFTMAX, 2), *v = make_usual(14, 50, GBT_OBJ_SOFTMAX, 2);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, 2, 3);
  job.valid[0] = v;
  job.spec.n_valid = job.spec.n_metrics = 1;
  job.spec.metric[0] = gbt_metric_plain(GBT_METRIC_MLOGLOSS);
  job.spec.params.subsample = 0.8;
  job.spec.params.max_depth = 3;
  trained *whole = train(&job, &plain);
  REQUIRE(whole != NULL);
  int64_t at_round[4] = {0, 0, 0, 0}, between = 0, within = 0;
  clock_jump(20000000);
  for (int64_t n = 1, last = 0; !last; n++) {
    gbt_ctx ctx;
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    stopper s = {0, 0};
    if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, ask, &s, test_err))) break;
    if (job_open(&ctx, &job, 0, &spec) && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
      s.n_asked = 0;
      s.stop_at = n;
      gbt_status status = gbt_trainer_run(&ctx, tr, 3, &why, test_err);
      last = status == GBT_OK;
      if (!last) CHECK_FAILS(status, GBT_CANCELLED, "stopped");
      CHECK_EQ_I64(s.n_asked, last ? n - 1 : n);
      at_round[check_prefix(whole, tr)]++;
      if (!last) *(go_on(tr, whole) ? &between : &within) += 1;
    }
    last |= tr == NULL;
    gbt_trainer_free(tr);
    job_close(&spec);
    gbt_ctx_close(&ctx);
  }
  clock_jump(0);
  test_note("%" PRId64 " stops between rounds, %" PRId64 " within one", between, within);
  CHECK(at_round[0] > 20 && at_round[1] > 20 && at_round[2] > 20 && at_round[3] == 1);
  CHECK(between >= 3 && within > 60); /* the scales of gradients are asked for in every round */
  trained_free(whole);
  made_free(m);
  made_free(v);
}

static void stopped_beginnings_leave_nothing(void) {
  made *m = make_usual(15, 200, GBT_OBJ_LOGISTIC, 1);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 1);
  int64_t n_stopped = 0;
  clock_jump(20000000);
  for (int64_t n = 1, last = 0; !last && n < 10000; n++) {
    gbt_ctx ctx;
    stopper s = {0, n};
    gbt_dataset *ds = NULL;
    gbt_trainer *tr = NULL;
    if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, ask, &s, test_err))) break;
    gbt_status status = dataset_from(&ctx, &m->table, NULL, NULL, 255, 0, GBT_UNSEEN_MISSING, &ds, test_err);
    if (status == GBT_OK) {
      status = gbt_dataset_set(&ctx, ds, GBT_LABEL, m->label, 200, test_err);
      job.spec.train = ds;
      if (status == GBT_OK) status = gbt_trainer_new(&ctx, &job.spec, &tr, test_err);
    }
    last = status == GBT_OK;
    if (!last) {
      n_stopped++;
      CHECK_FAILS(status, GBT_CANCELLED, "stopped");
      CHECK(tr == NULL);
    }
    gbt_trainer_free(tr);
    gbt_dataset_unref(ds);
    gbt_ctx_close(&ctx);
  }
  clock_jump(0);
  CHECK(n_stopped >= 3);
  made_free(m);
}

/* ---- constraints ---- */

/* Scores of a forest for a table. */
static double *predict(const trained *t, const made *m, const gbt_schema *schema) {
  gbt_ctx ctx = open_ctx(1);
  gbt_binding *binding = NULL;
  gbt_forest_view view = gbt_forest_view_of(t->forest);
  double *out = test_alloc((size_t)m->table.n_rows * sizeof *out);
  memset(out, 0, (size_t)m->table.n_rows * sizeof *out);
  if (CHECK_OK(gbt_binding_new(&ctx, &m->table, schema, GBT_UNSEEN_MISSING, &binding, test_err)))
    CHECK_OK(gbt_predict_scores(&ctx, &view, binding, (gbt_tree_range){0, view.n_trees}, NULL, out, test_err));
  gbt_binding_free(binding);
  gbt_ctx_close(&ctx);
  return out;
}

/* Falls (rises, for sign -1) of the score while column `col` of some rows goes up a ladder of values. */
static int64_t count_breaks(const trained *t, const made *m, int32_t col, int sign) {
  enum { STEPS = 120, BASES = 40 };
  int64_t *rows = test_alloc(STEPS * BASES * sizeof *rows), breaks = 0;
  for (int64_t i = 0; i < STEPS * BASES; i++) rows[i] = i / STEPS;
  made *ladder = made_rows(m, rows, STEPS * BASES);
  gbt_column *c = (gbt_column *)&ladder->table.cols[col];
  for (int64_t i = 0; i < STEPS * BASES; i++) {
    int64_t step = i % STEPS;
    if (c->storage == GBT_F64)
      ((double *)c->values)[i] = step == 0 ? -INFINITY : -4.0 + 8.0 * (double)step / STEPS;
    else
      ((int32_t *)c->values)[i] = c->storage == GBT_CODES ? 1 + (int32_t)(step * 5 / STEPS) : (int32_t)step - 5;
  }
  gbt_ctx ctx = open_ctx(1);
  gbt_dataset *ds = made_dataset(&ctx, m, NULL, 255, 0); /* for its schema */
  gbt_ctx_close(&ctx);
  if (ds != NULL) {
    double *score = predict(t, ladder, ds->cuts->schema);
    for (int64_t i = 0; i < STEPS * BASES; i++) breaks += i % STEPS > 0 && sign * score[i] < sign * score[i - 1];
    free(score);
  }
  gbt_dataset_unref(ds);
  made_free(ladder);
  free(rows);
  return breaks;
}

/* A response that goes up and down in every column: free trainings follow it, constrained ones must not. */
static void monotone_scores_are_monotone(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_FEW, MADE_ORDERED, MADE_BELL, MADE_FACTOR};
  const int8_t monotone[6] = {1, -1, 1, -1, 0, 0};
  made *m = made_new(16, 600, 6, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 17);
  for (int r = 0; r < 600; r++) {
    double x = ((const double *)m->table.cols[0].values)[r], z = ((const double *)m->table.cols[1].values)[r];
    int32_t few = ((const int32_t *)m->table.cols[2].values)[r], rank = ((const int32_t *)m->table.cols[3].values)[r];
    m->label[r] = 2.0 * x * x + x + (z != z ? 1.0 : z * z - z) + (few % 3) + (rank == 2 ? 2.0 : 0.0);
  }
  static const gbt_objective_kind losses[] = {GBT_OBJ_SQUARED_ERROR, GBT_OBJ_QUANTILE, GBT_OBJ_ABSOLUTE_ERROR};
  for (int variant = 0; variant < 36; variant += test_few() ? 5 : 1) {
    train_job job = job_make(m, losses[variant / 12], 1, 20);
    gbt_params *p = &job.spec.params;
    p->eta = 0.3;
    p->max_depth = 5;
    p->min_child_weight = 0.0;
    p->lambda = variant % 3 == 0 ? 0.0 : 1.0;
    p->grow_policy = variant < 12 ? variant & 1 : variant % 3;
    p->max_delta_step = variant % 4 == 3 ? 0.7 : 0.0;
    p->alpha = variant % 5 == 4 ? 1.0 : 0.0;
    p->subsample = variant % 3 == 2 ? 0.6 : 1.0;
    p->grad_bits = variant % 2 ? GBT_GRAD_32 : GBT_GRAD_16;
    trained *unbound = train(&job, &plain);
    job.spec.monotone = monotone;
    trained *bound = train(&job, &plain);
    if (unbound == NULL || bound == NULL) break;
    for (int32_t c = 0; c < 4; c++) {
      CHECK(count_breaks(unbound, m, c, monotone[c]) > 20);
      CHECK_EQ_I64(count_breaks(bound, m, c, monotone[c]), 0);
    }
    CHECK(bound->forest->n_nodes > 200);
    trained_free(unbound);
    trained_free(bound);
  }
  made_free(m);
}

/* Whether all features on the way from the root to every leaf are of one group, or only one. */
static int64_t count_meetings(const gbt_forest *f, const int32_t *beg, const int32_t *feat, int32_t n_groups) {
  int64_t bad = 0;
  for (size_t t = 0; t < f->n_trees; t++) {
    uint32_t used[1000] = {0};
    const gbt_node *nodes = f->nodes + f->trees[t].node_beg;
    for (uint32_t i = 0; i < f->trees[t].n_nodes && f->trees[t].n_nodes <= 1000; i++) {
      if (nodes[i].left == 0) {
        int ok = (used[i] & (used[i] - 1)) == 0;
        for (int32_t s = 0; s < n_groups; s++) {
          uint32_t group = 0;
          for (int32_t k = beg[s]; k < beg[s + 1]; k++) group |= 1u << feat[k];
          ok |= (used[i] & ~group) == 0;
        }
        bad += !ok;
        continue;
      }
      used[nodes[i].left] = used[nodes[i].left + 1] = used[i] | 1u << (nodes[i].feat & GBT_NODE_FEATURE);
    }
  }
  return bad;
}

static void interaction_groups_are_kept(void) {
  const int32_t beg[] = {0, 2, 5}, feat[] = {0, 2, 1, 2, 4}; /* 3 and 5 are in no group */
  made *m = make_usual(18, 500, GBT_OBJ_SQUARED_ERROR, 1);
  for (int variant = 0; variant < 6; variant++) {
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 15);
    job.spec.params.max_cat_onehot = 10;
    job.spec.params.grow_policy = variant & 1;
    job.spec.params.colsample_bynode = variant % 3 == 1 ? 0.5 : 1.0;
    job.spec.params.colsample_bylevel = variant % 3 == 2 ? 0.5 : 1.0;
    trained *unbound = train(&job, &plain);
    job.spec.interact_beg = beg;
    job.spec.interact_col = feat;
    job.spec.n_interact = 2;
    trained *bound = train(&job, &plain);
    if (unbound == NULL || bound == NULL) break;
    CHECK(count_meetings(unbound->forest, beg, feat, 2) > 50);
    CHECK_EQ_I64(count_meetings(bound->forest, beg, feat, 2), 0);
    CHECK(bound->forest->n_nodes > 150);
    trained_free(unbound);
    trained_free(bound);
  }
  made_free(m);
}

void suite_trainer(void) {
  RUN(batches_are_whole);
  RUN(runs_add_up);
  RUN(custom_gradients_may_come_from_another_call);
  RUN(init_goes_on_where_it_was);
  RUN(base_scores_may_be_given);
  RUN(outliers_ask_for_32_bits);
  RUN(the_log_holds_the_metrics);
  RUN(early_stopping_stops);
  RUN(host_metrics_are_watched);
  RUN(stopped_trainings_keep_whole_rounds);
  RUN(stopped_beginnings_leave_nothing);
  RUN(monotone_scores_are_monotone);
  RUN(interaction_groups_are_kept);
}
