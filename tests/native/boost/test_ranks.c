/* Ranks that train one model: the bytes of the single process, whatever the shares; and one end for all. */
#include "clock.h"
#include "fault.h"
#include "naive_cuts.h"
#include "odd_job.h"
#include "ranks_job.h"

/* ---- cuts ---- */

static void check_cuts(const train_job *job, int size, uint64_t seed, int sparse) {
  shares *s = shares_new(job, size, seed, sparse);
  rank_how hows[RANKS_MOST];
  ranked out[RANKS_MOST];
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_cuts *single = NULL;
  train_job data_only = *job;
  data_only.rounds = 0;
  s->job = &data_only;
  CHECK_OK(gbt_cuts_build(&ctx, &job->data->table, job->data->weight, job->max_bin, &single, test_err));
  for (int r = 0; r < size; r++) hows[r] = rank_how_make(1 + r % 3, 0);
  shares_train(s, hows, out);
  for (int r = 0; r < size; r++) {
    if (CHECK_EQ_I64(out[r].status, GBT_OK))
      same_all_cuts(out[r].cuts, single);
    else
      test_note("rank %d: %s", r, out[r].err.msg);
    ranked_free(&out[r]);
  }
  gbt_cuts_unref(single);
  gbt_ctx_close(&ctx);
  shares_free(s);
}

static void cuts_of_shares_are_those_of_all_rows(void) {
  for (uint64_t seed = 1; seed <= test_cases(80); seed++) {
    random_job r = random_job_make(seed, 300);
    r.job.spec.n_valid = 0;
    check_cuts(&r.job, 1 + (int)(seed % 6), seed, seed % 3 == 0);
    random_job_free(&r);
  }
}

/* ---- models ---- */

/* Whether a metric takes the labels of a job. */
static int takes_labels(int32_t metric, gbt_objective_kind kind) {
  gbt_metric_labels labels = gbt_metric_about(metric)->labels;
  if (gbt_metric_about(metric)->form == GBT_FORM_QUERY) return 0;
  return labels == GBT_METRIC_LABELS_ANY || labels == GBT_METRIC_LABELS_CLASS ||
         (labels == GBT_METRIC_LABELS_NOT_NEGATIVE && kind == GBT_OBJ_POISSON);
}

/* Some metrics, others for other seeds, evaluated on train as well; early stopping now and then. */
static void add_metrics(train_job *job, uint64_t seed) {
  gbt_trainer_spec *spec = &job->spec;
  const gbt_objective_kind kind = (gbt_objective_kind)spec->objective.kind;
  for (uint64_t i = 0; i < GBT_N_METRICS && spec->n_metrics < 8; i++) {
    const int32_t m = (int32_t)((i + seed * 7) % GBT_N_METRICS);
    if (gbt_metric_suits(m, kind) && takes_labels(m, kind) &&
        (spec->objective.n_outputs == 1 || kind == GBT_OBJ_SOFTMAX || gbt_is_distribution(&spec->objective)))
      spec->metric[spec->n_metrics++] = gbt_metric_plain((gbt_metric_kind)m);
  }
  if (gbt_has_levels(&spec->objective)) {
    spec->metric[spec->n_metrics++] = gbt_metric_plain(GBT_METRIC_COVERAGE);
    spec->metric[spec->n_metrics++] = gbt_metric_usual(&spec->objective);
  }
  spec->eval_train = 1;
  if (seed % 3 == 0 && kind != GBT_OBJ_CUSTOM && spec->n_metrics > 0) spec->stop_rounds = 1, job->rounds = 5;
}

static void check_random(random_job *r, uint64_t seed) {
  add_metrics(&r->job, seed);
  trained *single = train(&r->job, &r->how);
  int ok = single != NULL;
  for (int size = 1; size <= 5 && ok; size += size == 3 ? 2 : 1)
    ok = job_by_ranks(&r->job, single, size, seed + (uint64_t)size, (seed + (uint64_t)size) % 4 == 0);
  if (!ok) random_job_tell(r, seed);
  trained_free(single);
  random_job_free(r);
}

static void random_models_of_shares_are_those_of_all_rows(void) {
  for (uint64_t seed = 1; seed <= test_cases(40); seed++) {
    random_job r = random_job_make(seed, 300);
    check_random(&r, seed);
    if (test_n_bad() > 0) return;
  }
}

static void odd_models_of_shares_are_those_of_all_rows(void) {
  for (uint64_t seed = 1; seed <= test_cases(15); seed++) {
    random_job r = odd_job_make(seed, 200);
    check_random(&r, seed);
    if (test_n_bad() > 0) return;
  }
}

/* A label that the rule allows. */
static double label_for(gbt_label_rule rule, double x) {
  switch (rule) {
  case GBT_LABELS_NUMBER:
    return x;
  case GBT_LABELS_BINARY:
    return x > 0.0;
  case GBT_LABELS_SHARE:
    return 1.0 / (1.0 + fabs(x));
  case GBT_LABELS_CLASS:
    return (double)((int)(fabs(x) * 3.0) % 3);
  case GBT_LABELS_COUNT:
  case GBT_LABELS_NOT_NEGATIVE:
    return floor(fabs(x));
  case GBT_LABELS_POSITIVE:
    return fabs(x) + 0.1;
  case GBT_LABELS_ABOVE_MINUS_ONE:
    return fabs(x) - 0.9;
  }
  return x;
}

static void every_objective_of_the_table(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_HOLED, MADE_FEW};
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    const gbt_objective_info *info = gbt_objective_info_of(kind);
    const int pair = info->outputs == GBT_OUTPUTS_TWO;
    if (info->gradient == GBT_GRADIENT_GIVEN || (kind >= MADE_ROW_OBJECTIVES && !pair)) continue;
    made *data = made_new(3, 200, 4, kinds);
    made_weights(data, 5);
    data->label = test_alloc(200 * sizeof *data->label);
    for (int i = 0; i < 200; i++) data->label[i] = label_for(info->labels, data->signal[i]);
    for (int i = 0; i < 200 && info->gradient == GBT_GRADIENT_TIME; i++) data->label[i] += 0.5; /* times are above 0 */
    int32_t n_outputs = info->outputs == GBT_OUTPUTS_CLASSES || info->outputs == GBT_OUTPUTS_LEVELS ? 3
                              : pair ? 2 : 1;
    made_offset(data, n_outputs, 6);
    train_job job = job_make(data, (gbt_objective_kind)kind, n_outputs, 3);
    if (info->outputs == GBT_OUTPUTS_LEVELS) job.spec.objective = made_objective((gbt_objective_kind)kind, 3, 1);
    job.spec.params.subsample = 0.8;
    if (pair) add_metrics(&job, 1);
    trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    for (int size = 2; size <= 4; size++) job_by_ranks(&job, single, size, (uint64_t)(10 * kind + size), 0);
    trained_free(single);
    made_free(data);
  }
}

static int any_empty(const shares *s) {
  int any = 0;
  for (int r = 0; r < s->size; r++) any |= s->of[0][r]->table.n_rows == 0;
  return any;
}

/* Leaves that are quantiles, on 1, 2, 3 and 5 ranks: of a few rows and of several chunks, with ties, with weights of
 * very different sizes on the ranks, and weights 0 on all ranks but one; with monotone constraints and without. */
static void leaves_that_are_quantiles(void) {
  static const gbt_objective_kind losses[] = {GBT_OBJ_QUANTILE, GBT_OBJ_ABSOLUTE_ERROR, GBT_OBJ_MAPE};
  static const int64_t sizes[] = {3, 250, 40000};
  static const int8_t signs[] = {1, -1, 0};
  const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_HOLED};
  int64_t n_empty = 0;
  for (int i = 0; i < 36; i += test_few() ? 5 : 1) {
    const int64_t n = sizes[i / 3 % 3];
    made *data = made_new((uint64_t)i + 1, n, 3, kinds);
    made_response(data, losses[i % 3], 1, 3);
    if (i % 4 > 0) made_weights(data, 5);
    for (int64_t r = 0; i % 4 > 1 && r < n; r++)
      data->weight[r] *= i % 4 == 2 ? pow(10.0, -10.0 * (double)r / (double)n) : r == 0;
    for (int64_t r = 0; i % 2 && r < n; r++) data->label[r] = floor(data->label[r] * 2.0);
    if (i % 5 == 0) made_offset(data, 1, 6);
    train_job job = job_make(data, losses[i % 3], 1, 2);
    job.spec.objective = made_objective(losses[i % 3], 1, (uint64_t)i);
    job.spec.params.grow_policy = i / 9 % 3;
    job.spec.params.max_depth = 3;
    job.spec.monotone = i % 5 > 2 ? signs : NULL;
    job.spec.params.min_child_weight = 0.0;
    job.spec.params.subsample = i % 7 == 0 ? 0.8 : 1.0;
    trained *single = train(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL});
    for (int size = 1; size <= 5; size += size == 3 ? 2 : 1) {
      shares *s = shares_new(&job, size, (uint64_t)(40 * i + size), 0);
      n_empty += any_empty(s);
      shares_free(s);
      if (!job_by_ranks(&job, single, size, (uint64_t)(40 * i + size), 0)) test_note("case %d, %d ranks", i, size);
    }
    trained_free(single);
    made_free(data);
  }
  CHECK_SEEN(n_empty > 20);
}

/* More leaves than are renewed together. */
static void thousands_of_leaves_that_are_quantiles(void) {
  made *data = made_new(4, 24000, 2, (const made_kind[]){MADE_BELL, MADE_BELL});
  made_response(data, GBT_OBJ_ABSOLUTE_ERROR, 1, 3);
  train_job job = job_make(data, GBT_OBJ_ABSOLUTE_ERROR, 1, 1);
  job.spec.params.max_depth = 20;
  job.spec.params.max_leaves = 0;
  job.spec.params.min_child_weight = 0.0;
  trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
  CHECK(single->forest->n_nodes > 2 * 2100);
  job_by_ranks(&job, single, 3, 1, 0);
  trained_free(single);
  made_free(data);
}

/* Every number of rows, on one rank and more of them than there are rows. */
static void every_number_of_rows(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_HOLED, MADE_ZEROS, MADE_LEVELS, MADE_FEW};
  for (int64_t n = 1; n <= 33; n += test_few() ? 4 : n == 17 ? 14 : 1) {
    made *data = made_new((uint64_t)n, n, 6, kinds), *valid = made_new(77, 1 + n % 5, 6, kinds);
    made_response(data, GBT_OBJ_LOGISTIC, 1, 3);
    made_response(valid, GBT_OBJ_LOGISTIC, 1, 4);
    if (n % 2) made_weights(data, 5), made_weights(valid, 6);
    train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, 2);
    job.spec.params.min_child_weight = 0.0;
    job.spec.params.grow_policy = (int)(n % 3);
    job.spec.params.max_depth = 4;
    job.spec.params.subsample = n % 4 == 0 ? 0.6 : 1.0;
    job.spec.n_valid = 1;
    job.valid[0] = valid;
    add_metrics(&job, 1);
    trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    for (int size = 1; size <= RANKS_MOST; size += 1 + size / 2)
      job_by_ranks(&job, single, size, (uint64_t)(100 * n + size), n % 3 == 0);
    trained_free(single);
    made_free(valid);
    made_free(data);
  }
}

/* A response that is constant on every rank, but not everywhere; zeros of both signs. */
static void responses_that_are_constant_on_a_rank(void) {
  const double label[][3] = {{1.5, 1.5, 1.5}, {1.5, 1.5, 2.5}, {-0.0, 0.0, 0.0}, {0.0, -0.0, -0.0}, {2.0, 1.0, 2.0}};
  for (size_t k = 0; k < sizeof label / sizeof label[0]; k++) {
    made *data = made_new(k, 60, 3, (const made_kind[]){MADE_BELL, MADE_BELL, MADE_FACTOR});
    made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 1);
    for (int i = 0; i < 60; i++) data->label[i] = label[k][i / 20];
    train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 2);
    trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    for (uint64_t seed = 1; seed <= 8; seed++) job_by_ranks(&job, single, 3, seed, 0);
    trained_free(single);
    made_free(data);
  }
}

/* So many rows meet one slot of a sparse feature that two sums no longer fit into 64 bits: together, not on a rank. */
static void slots_met_by_many_rows(void) {
  enum { N = 560000, COLS = 10 }; /* 68,000 rows a slot: below an eighth, or the columns would not be sparse */
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = MADE_CONSTANT;
  made *data = made_new(1, N, COLS, kinds);
  for (int64_t i = 0; i < N; i++) {
    int rest = gbt_mix64((uint64_t)i) % 40 == 0;
    for (int c = 0; c < COLS; c++) ((double *)data->table.cols[c].values)[i] = (i + c) % 8 == 0 && !rest ? 1.0 : 0.0;
    data->signal[i] = (double)(i % 8) + (double)(i % 1001) / 500.0;
  }
  made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 1);
  train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 1);
  job.unbundled = 1;
  job.spec.params.max_depth = 3;
  trained *single = train(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL});
  CHECK(single != NULL && single->n_sparse > 0);
  job_by_ranks(&job, single, 2, 5, 0);
  trained_free(single);
  made_free(data);
}

/* ---- failures ---- */

/* Three rounds with everything that takes memory. */
static random_job busy_job_of(gbt_objective_kind loss, int32_t n_outputs) {
  random_job r = random_job_make(7, 100);
  const made_kind kinds[] = {MADE_BELL, MADE_HOLED, MADE_LEVELS, MADE_ZEROS, MADE_ORDERED, MADE_FEW};
  made_free(r.data);
  for (int i = 0; i < JOB_VALID; i++) made_free(r.valid[i]), r.valid[i] = NULL;
  r.data = made_new(1, 120, 6, kinds);
  r.valid[0] = made_new(2, 30, 6, kinds);
  made_response(r.data, loss, n_outputs, 3);
  made_response(r.valid[0], loss, n_outputs, 4);
  made_weights(r.data, 5);
  made_weights(r.valid[0], 6);
  r.job = job_make(r.data, loss, n_outputs, 3);
  r.job.valid[0] = r.valid[0];
  r.job.spec.n_valid = 1;
  r.job.spec.params.subsample = 0.7;
  r.job.spec.params.max_cat_onehot = 4;
  r.job.spec.params.max_depth = 4;
  add_metrics(&r.job, 1);
  return r;
}

static random_job busy_job(void) { return busy_job_of(GBT_OBJ_SOFTMAX, 3); }

/* All ranks ended with this, reported in the same words, with the same whole rounds. */
static int same_end(const ranked *out, int size, int bad, gbt_status want) {
  char start[40];
  snprintf(start, sizeof start, "rank %d of %d: ", bad, size);
  int ok = 1;
  for (int r = 0; r < size; r++) {
    ok &= CHECK_EQ_I64(out[r].status, want) & CHECK_EQ_I64(out[r].rounds, out[0].rounds);
    if (want != GBT_OK) ok &= CHECK_EQ_TEXT(out[r].err.msg, out[0].err.msg);
    if (want != GBT_OK) ok &= CHECK(strncmp(out[r].err.msg, start, strlen(start)) == 0);
    ok &= CHECK((out[r].forest == NULL) == (out[0].forest == NULL));
    if (ok && out[r].rounds > 0) ok &= same_forests(out[r].forest, out[0].forest);
  }
  return ok;
}

static void memory_runs_out(random_job job) {
  enum { SIZE = 3 };
  shares *s = shares_new(&job.job, SIZE, 4, 0);
  int64_t n_calls = 0, n_runs = 0;
  for (int bad = 0; bad < SIZE; bad++)
    for (int64_t n = 0, failed = 1; failed; n += n < 10 ? 1 : 7 + n_calls / 40, n_runs++) {
      fault f[SIZE];
      rank_how hows[SIZE];
      ranked out[RANKS_MOST];
      for (int r = 0; r < SIZE; r++) {
        fault_start(&f[r], r == bad ? n : 0, n % 2 != 0);
        hows[r] = rank_how_make(1, 16);
        hows[r].mem = fault_mem(&f[r]);
      }
      shares_train(s, hows, out);
      failed = n == 0 || f[bad].n_failed > 0;
      if (n == 0) n_calls = f[bad].n_calls;
      int ok = same_end(out, SIZE, bad, f[bad].n_failed > 0 ? GBT_E_MEM : GBT_OK);
      for (int r = 0; r < SIZE; r++) {
        ranked_free(&out[r]);
        ok &= CHECK_EQ_I64(f[r].n_live, 0);
      }
      if (!ok) test_note("rank %d, allocation %" PRId64, bad, n);
    }
  test_note("%" PRId64 " runs, about %" PRId64 " allocations each", n_runs, n_calls);
  shares_free(s);
  random_job_free(&job);
}

static void memory_of_one_rank_runs_out(void) {
  memory_runs_out(busy_job());
  memory_runs_out(busy_job_of(GBT_OBJ_MAPE, 1));
}

/* Cuts alone: every allocation of a rank, of numbers, levels and ranks of levels. */
static void memory_of_one_rank_runs_out_while_cutting(void) {
  enum { SIZE = 2 };
  random_job job = busy_job();
  train_job data_only = job.job;
  data_only.rounds = 0;
  data_only.spec.n_valid = 0;
  shares *s = shares_new(&job.job, SIZE, 4, 0);
  s->job = &data_only;
  for (int64_t n = 1, failed = 1; failed; n++) {
    fault f[SIZE];
    rank_how hows[SIZE];
    ranked out[RANKS_MOST];
    for (int r = 0; r < SIZE; r++) {
      fault_start(&f[r], r == 1 ? n : 0, 0);
      hows[r] = rank_how_make(1, 0);
      hows[r].mem = fault_mem(&f[r]);
    }
    shares_train(s, hows, out);
    failed = f[1].n_failed > 0;
    int ok = same_end(out, SIZE, 1, failed ? GBT_E_MEM : GBT_OK);
    for (int r = 0; r < SIZE; r++) {
      ok &= CHECK((out[r].cuts == NULL) == (out[0].cuts == NULL));
      ranked_free(&out[r]);
      ok &= CHECK_EQ_I64(f[r].n_live, 0);
    }
    if (!ok) test_note("allocation %" PRId64, n);
  }
  shares_free(s);
  random_job_free(&job);
}

static void asked_to_stop(random_job job) {
  enum { SIZE = 3 };
  shares *s = shares_new(&job.job, SIZE, 4, 0);
  int64_t n_stopped = 0, n_half = 0;
  clock_jump(20000000); /* every look at the clock is due to ask */
  for (int bad = 0; bad < SIZE; bad++)
    for (int64_t stop_at = 1; stop_at < 1200; stop_at += 1 + stop_at / (test_few() ? 2 : 6)) {
      asker asks[SIZE];
      rank_how hows[SIZE];
      ranked out[RANKS_MOST];
      for (int r = 0; r < SIZE; r++) {
        asks[r] = (asker){0, r == bad ? stop_at : 0};
        hows[r] = rank_how_make(1, 0);
        hows[r].poll = asker_ask;
        hows[r].user = &asks[r];
      }
      shares_train(s, hows, out);
      int stopped = out[bad].status != GBT_OK; /* else it was done before */
      same_end(out, SIZE, bad, stopped ? GBT_CANCELLED : GBT_OK);
      n_stopped += stopped;
      n_half += stopped && out[bad].rounds > 0;
      for (int r = 0; r < SIZE; r++) ranked_free(&out[r]);
    }
  clock_jump(0);
  CHECK_SEEN(n_stopped > 30 && n_half > 0);
  test_note("%" PRId64 " stopped, %" PRId64 " of them behind the first round", n_stopped, n_half);
  shares_free(s);
  random_job_free(&job);
}

static void one_rank_is_asked_to_stop(void) {
  asked_to_stop(busy_job());
  asked_to_stop(busy_job_of(GBT_OBJ_MAPE, 1));
}

static void one_clock_decides_for_all(void) {
  enum { SIZE = 4 };
  random_job job = busy_job();
  job.job.rounds = 200;
  job.job.spec.max_seconds = 40.0;
  shares *s = shares_new(&job.job, SIZE, 4, 0);
  rank_how hows[SIZE];
  ranked out[RANKS_MOST];
  for (int r = 0; r < SIZE; r++) hows[r] = rank_how_make(1, 0);
  clock_jump(20000000);
  shares_train(s, hows, out);
  clock_jump(0);
  same_end(out, SIZE, 0, GBT_OK);
  for (int r = 0; r < SIZE; r++) {
    CHECK(out[r].why == GBT_RUN_TIME && out[r].rounds < 200);
    ranked_free(&out[r]);
  }
  shares_free(s);
  random_job_free(&job);
}

/* ---- refusals ---- */

/* Runs the shares and expects these words on all ranks. */
static void check_refusal(const shares *s, const rank_how *hows, gbt_status want, const char *words) {
  ranked out[RANKS_MOST];
  shares_train(s, hows, out);
  for (int r = 0; r < s->size; r++) {
    CHECK_EQ_I64(out[r].status, want);
    if (!CHECK(strstr(out[r].err.msg, words) != NULL)) test_note("rank %d: %s", r, out[r].err.msg);
    ranked_free(&out[r]);
  }
}

/* Equal shares: rows 1 to 40 on rank 0, 41 to 80 on rank 1, 81 to 120 on rank 2. */
static shares *equal_shares(const train_job *job) {
  shares *s = NULL;
  for (uint64_t seed = 1; s == NULL; seed++) {
    s = shares_new(job, 3, seed, 0);
    if (s->beg[0][1] > 10 && s->beg[0][2] > s->beg[0][1] + 10 && s->beg[0][2] < 110) break;
    shares_free(s);
    s = NULL;
  }
  return s;
}

static void wrong_rows_are_told_by_their_number_among_all(void) {
  for (int what = 0; what < 4; what++) {
    random_job job = busy_job();
    shares *s = equal_shares(&job.job);
    rank_how hows[3] = {rank_how_make(1, 0), rank_how_make(2, 0), rank_how_make(1, 7)};
    char words[100];
    long long row = (long long)s->beg[0][1] + 5;
    made *share = s->of[0][1];
    if (what == 0) share->label[4] = 1.5;
    if (what == 1) share->weight[4] = -1.0;
    if (what == 2) ((int32_t *)share->table.cols[1].values)[4] = 99;
    if (what == 3) share->label[4] = (double)NAN;
    const char *formats[] = {"rank 1 of 3: label of row %lld of", "rank 1 of 3: the weight of row %lld is -1",
                             "rank 1 of 3: column `x2`, row %lld:", "rank 1 of 3: label: row %lld is missing"};
    snprintf(words, sizeof words, formats[what], row);
    check_refusal(s, hows, GBT_E_DATA, words);
    shares_free(s);
    random_job_free(&job);
  }
}

static void ranks_must_want_the_same(void) {
  random_job job = busy_job();
  shares *s = equal_shares(&job.job);
  rank_how hows[3] = {rank_how_make(1, 0), rank_how_make(1, 0), rank_how_make(1, 0)};
  gbt_params params = job.job.spec.params;
  params.eta = 0.25;
  hows[2].params = &params;
  check_refusal(s, hows, GBT_E_ARG, "different trainings");
  hows[2].params = NULL;
  double *weight = s->of[0][1]->weight;
  s->of[0][1]->weight = NULL;
  check_refusal(s, hows, GBT_E_DATA, "some ranks have them");
  s->of[0][1]->weight = weight;
  for (int r = 0; r < 3; r++)
    for (int64_t i = 0; i < s->of[0][r]->table.n_rows; i++) s->of[0][r]->weight[i] = 0.0;
  check_refusal(s, hows, GBT_E_DATA, "weights: all are 0");
  ((gbt_column *)s->of[0][2]->table.cols)[3].name = "another";
  check_refusal(s, hows, GBT_E_DATA, "different columns");
  shares_free(s);
  random_job_free(&job);
}

void suite_ranks(void) {
  RUN(cuts_of_shares_are_those_of_all_rows);
  RUN(random_models_of_shares_are_those_of_all_rows);
  RUN(odd_models_of_shares_are_those_of_all_rows);
  RUN(every_objective_of_the_table);
  RUN(leaves_that_are_quantiles);
  RUN(thousands_of_leaves_that_are_quantiles);
  RUN(every_number_of_rows);
  RUN(responses_that_are_constant_on_a_rank);
  RUN(slots_met_by_many_rows);
  RUN(memory_of_one_rank_runs_out);
  RUN(memory_of_one_rank_runs_out_while_cutting);
  RUN(one_rank_is_asked_to_stop);
  RUN(one_clock_decides_for_all);
  RUN(wrong_rows_are_told_by_their_number_among_all);
  RUN(ranks_must_want_the_same);
}
