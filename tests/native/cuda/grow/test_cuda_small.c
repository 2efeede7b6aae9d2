/* Trees of small data, which one kernel grows: the bytes that the CPU gives. The emulated device is told to launch
 * grids whose blocks wait for each other; without that it is the general engine that these trainings test. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "cuda_steps.h"
#include "random_job.h"

#include <stdlib.h>

#if defined(GBT_TEST_SIMT)
#include "../simt/control.h"
#endif

/* Multiprocessors: how many blocks there are, and so how many rows are small data. */
static void begin(const char *units) {
  setenv("SIMT_COOPERATIVE", "1", 1);
  setenv("SIMT_UNITS", units, 1);
}
static void end(void) {
  unsetenv("SIMT_COOPERATIVE");
  unsetenv("SIMT_UNITS");
}

/* Launches so far. */
static int64_t launches(void) {
#if defined(GBT_TEST_SIMT)
  return simt_counted().launches;
#else
  return 0;
#endif
}

static int64_t compare(const train_job *job, const train_how *how, const gbt_device_api *api, int *equal) {
  train_how device = *how;
  device.device = api;
  trained *cpu = train(job, how);
  const int64_t before = launches();
  trained *cuda = train(job, &device);
  const int64_t n = launches() - before;
  *equal = CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
  trained_free(cpu);
  trained_free(cuda);
  return n;
}

static void random_trainings_are_those_of_the_cpu(void) {
  enum { GRID = 60 };
  int bad = 0;
  int64_t n_grown = 0, wide = 0, sampled = 0, counted = 0, signs = 0, pairs = 0;
  for (uint64_t seed = 1; seed <= test_cases(GRID) && bad < 3; seed++) {
    begin(seed % 3 == 0 ? "1" : seed % 3 == 1 ? "4" : "7");
    random_job r = random_job_make(seed + 5000, 400);
    random_job_small(&r, seed);
    const gbt_params *p = &r.job.spec.params;
    int equal, by_steps;
    const int64_t n = compare(&r.job, &r.how, gbt_cuda_api(), &equal);
    const int grown = n < compare(&r.job, &r.how, cuda_steps_api(), &by_steps); /* by one kernel each */
    if (!equal || !by_steps) random_job_tell(&r, seed);
    bad += !equal || !by_steps;
    n_grown += grown;
    wide += grown && p->grad_bits == GBT_GRAD_32;
    sampled += grown && p->subsample < 1.0;
    counted += grown && p->min_data_in_leaf > 1;
    signs += grown && r.monotone != NULL;
    pairs += grown && p->num_parallel_tree == 2;
    random_job_free(&r);
  }
  end();
#if defined(GBT_TEST_SIMT)
  test_note("%" PRId64 " so: %" PRId64 " wide, %" PRId64 " sampled, %" PRId64 " counted, %" PRId64
            " constrained, %" PRId64 " in pairs",
            n_grown, wide, sampled, counted, signs, pairs);
  CHECK_SEEN(n_grown >= 25 && wide >= 5 && sampled >= 5 && counted >= 5 && signs >= 5 && pairs >= 3);
#endif
}

static train_job plain_job(const made *m, gbt_objective_kind kind, int64_t depth) {
  train_job job = job_make(m, kind, 1, 3);
  job.spec.params.max_depth = depth;
  job.spec.params.min_child_weight = 0.0;
  return job;
}

/* 1 to 70, and around the multiples of 512. */
static int64_t next_size(int64_t rows) {
  const int64_t past = rows % 512;
  return rows < 70 || past >= 510 || past < 2 ? rows + 1 : rows - past + 510;
}

/* Every number of rows, and around what a thread block takes at a time. */
static void every_number_of_rows(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_FEW, MADE_BELL, MADE_BELL};
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  for (int64_t rows = 1; rows <= 2050; rows = next_size(rows + (test_few() && rows < 509 ? 12 : 0))) {
    begin(rows % 2 ? "2" : "3");
    made *m = made_new((uint64_t)rows, rows, 5, kinds);
    made_response(m, GBT_OBJ_LOGISTIC, 1, (uint64_t)rows + 9);
    train_job job = plain_job(m, GBT_OBJ_LOGISTIC, 1 + rows % 8);
    int equal;
    (void)compare(&job, &how, gbt_cuda_api(), &equal);
    made_free(m);
    if (!equal) test_note("%" PRId64 " rows", rows);
    if (!equal) break;
  }
  end();
}

/* Two blocks side by side, few rows: for the thread sanitizer, which takes its time. */
static void trees_of_two_blocks(void) {
  const made_kind kinds[] = {MADE_HOLES};
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  begin("2");
  made *m = made_new(31, 600, 1, kinds);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 32);
  train_job job = plain_job(m, GBT_OBJ_LOGISTIC, 2);
  job.max_bin = 8;
  job.rounds = 2;
  int equal;
  (void)compare(&job, &how, gbt_cuda_api(), &equal);
  made_free(m);
  end();
}

/* Several outputs: their batches are sent by copies, and recorded. One class after the other, or two at once. */
static void batches_of_outputs(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_FEW};
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  begin("3");
  for (int32_t n_outputs = 2; n_outputs <= 3; n_outputs++) {
    for (int sampled = 0; sampled < 2; sampled++) {
      made *m = made_new(21, 500, 3, kinds);
      made_response(m, GBT_OBJ_SOFTMAX, n_outputs, 22);
      train_job job = job_make(m, GBT_OBJ_SOFTMAX, n_outputs, 6);
      job.spec.params.max_depth = 3;
      job.spec.params.hist_memory = n_outputs == 2 ? 0 : 1;
      job.spec.params.subsample = sampled ? 0.3 : 1.0;
      int equal;
      (void)compare(&job, &how, gbt_cuda_api(), &equal);
      made_free(m);
    }
  }
  end();
}

/* Whether so many rows and columns are small data of one multiprocessor, by the launches of a round. */
static void check_size(int64_t rows, int32_t n_cols, int small) {
  made_kind kinds[40];
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  for (int i = 0; i < 40; i++) kinds[i] = MADE_BELL;
  made *m = made_new(3, rows, n_cols, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 4);
  train_job job = plain_job(m, GBT_OBJ_SQUARED_ERROR, 6);
  job.rounds = 1;
  int equal;
  const int64_t n = compare(&job, &how, gbt_cuda_api(), &equal);
#if defined(GBT_TEST_SIMT)
  test_note("%" PRId64 " rows, %d columns: %" PRId64 " launches", rows, (int)n_cols, n);
  CHECK(small ? n < 10 : n > 30);
#else
  (void)n;
  (void)small;
#endif
  made_free(m);
}

/* Launches of a round, at the last number of rows that are small data, and at the next: with a group of columns, and
 * with ten of them (see small_plan.cu). */
static void bounds_of_small_data(void) {
  begin("1");
  check_size(8192, 3, 1);
  check_size(8193, 3, 0);
  check_size(1345, 40, 1);
  check_size(1346, 40, 0);
  end();
}

/* What a training that fails leaves. */
typedef struct failure {
  gbt_status status;
  char msg[sizeof test_err->msg];
  int64_t rounds;
  uint64_t n_trees;
} failure;

static failure fail_job(const train_job *job, const gbt_device_api *api) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  failure f = {GBT_OK, "", 0, 0};
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err))) return f;
  const int opened = job_open(&ctx, job, 0, &spec);
  spec.device = api;
  if (opened && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
    f.status = gbt_trainer_run(&ctx, tr, job->rounds, &why, test_err);
    memcpy(f.msg, test_err->msg, sizeof f.msg);
    f.rounds = gbt_trainer_rounds(tr);
    f.n_trees = gbt_forest_view_of(gbt_trainer_forest(tr)).n_trees;
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return f;
}

/* One row is that far from all others that its score overflows in the first round: the host learns of it when the round
 * after it has been issued, and it must not show. That is the last round, or one of more. */
static void failing_rounds_are_those_of_the_cpu(void) {
  enum { ROWS = 800 };
  const made_kind kinds[] = {MADE_BELL, MADE_BELL};
  int64_t n_failed = 0;
  begin("2");
  made *m = made_new(11, ROWS, 2, kinds);
  made_response(m, GBT_OBJ_POISSON, 1, 12);
  for (int64_t i = 0; i < ROWS; i++) m->label[i] = i == 17 ? (double)ROWS : 0.0;
  train_job job = plain_job(m, GBT_OBJ_POISSON, 8);
  job.spec.params.lambda = 0.0;
  for (int pairs = 0; pairs < 2; pairs++) {
    job.spec.params.num_parallel_tree = 1 + pairs;
    for (int64_t k = 0; k < 15; k += test_few() ? 4 : 1) {
      job.spec.params.eta = k % 3 ? 1.0 : 0.5;
      job.rounds = 1 + k / 3;
      const failure cpu = fail_job(&job, NULL), cuda = fail_job(&job, gbt_cuda_api());
      CHECK_EQ_I64(cpu.status, cuda.status);
      CHECK_EQ_I64(cpu.rounds, cuda.rounds);
      CHECK_EQ_U64(cpu.n_trees, cuda.n_trees);
      if (cpu.status != GBT_OK) CHECK(strcmp(cpu.msg, cuda.msg) == 0);
      n_failed += cpu.status != GBT_OK;
    }
  }
  test_note("%" PRId64 " failed", n_failed);
  CHECK_SEEN(n_failed > 10 && n_failed < 25);
  made_free(m);
  end();
}

/* The loss of the training rows before, between and after rounds is that of the CPU, for every objective. */
static void losses_are_those_of_the_cpu(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_FEW};
  gbt_ctx ctx;
  begin("2");
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, NULL, NULL, test_err));
  for (int32_t o = 0; o < MADE_ROW_OBJECTIVES; o++) {
    const gbt_objective_kind kind = (gbt_objective_kind)o;
    if (kind == GBT_OBJ_CUSTOM) continue;
    const int32_t n_outputs = kind == GBT_OBJ_SOFTMAX ? 3 : 1;
    made *m = made_new(51, 300, 2, kinds);
    made_response(m, kind, n_outputs, 52);
    train_job job = plain_job(m, kind, 2);
    job.spec.objective.n_outputs = n_outputs;
    double loss[2][3];
    for (int device = 0; device <= 1; device++) {
      gbt_trainer_spec spec;
      gbt_trainer *tr = NULL;
      gbt_stop_reason why;
      const int opened = job_open(&ctx, &job, 0, &spec);
      if (device) spec.device = gbt_cuda_api();
      if (opened && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err)))
        for (int at = 0; at < 3; at++) {
          if (at > 0) CHECK_OK(gbt_trainer_run(&ctx, tr, 1, &why, test_err));
          CHECK_OK(gbt_trainer_loss(&ctx, tr, &loss[device][at], test_err));
        }
      gbt_trainer_free(tr);
      job_close(&spec);
    }
    if (!CHECK_EQ_BYTES(loss[1], loss[0], sizeof loss[0])) test_note("objective %d", (int)o);
    made_free(m);
  }
  gbt_ctx_close(&ctx);
  end();
}

#if defined(GBT_TEST_SIMT)
/* A call of the training fails; how many have. *same: the bytes of the CPU, or an error that the caller gets. */
static int64_t fail_call(const train_job *job, const trained *cpu, int64_t n, int and_later, int *same) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  int64_t failed = 0;
  *same = 0;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err))) return 0;
  const int opened = job_open(&ctx, job, 0, &spec);
  spec.device = gbt_cuda_api();
  if (opened && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
    simt_fail_at(n, and_later);
    const gbt_status status = gbt_trainer_run(&ctx, tr, job->rounds, &why, test_err);
    failed = simt_failed();
    simt_fail_at(0, 0);
    trained *t = status == GBT_OK ? trained_of(&ctx, job, &spec, tr) : NULL;
    if (t) t->why = why;
    *same = t ? same_trained(cpu, t) : CHECK(failed > 0) && CHECK_EQ_I64(status, GBT_E_DEVICE);
    trained_free(t);
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return failed;
}

/* Every call of a training fails once, or the device is lost there. A launch that is refused is not reported: the trees
 * take their steps from there on. */
static void calls_that_fail(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_FEW};
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  begin("2");
  for (int pairs = 0; pairs < 2; pairs++) {
    made *m = made_new(7, 300, 3, kinds);
    made_response(m, GBT_OBJ_LOGISTIC, 1, 8);
    train_job job = plain_job(m, GBT_OBJ_LOGISTIC, 3);
    job.rounds = 4;
    job.spec.params.num_parallel_tree = 1 + pairs;
    trained *cpu = train(&job, &how);
    const int64_t live = simt_live();
    int64_t n = 1, usual = launches(), by_steps = 0;
    int same = 1;
    (void)fail_call(&job, cpu, 0, 0, &same);
    usual = launches() - usual;
    for (int64_t failed = 1; same && failed > 0; n += test_few() ? 4 : 1) {
      const int64_t before = launches();
      failed = fail_call(&job, cpu, n, 0, &same);
      by_steps += same && launches() - before > 2 * usual;
      if (!CHECK(same) || !CHECK_EQ_I64(simt_live(), live)) test_note("call %" PRId64, n);
    }
    for (int64_t k = 1; same && k < n; k += 5) {
      (void)fail_call(&job, cpu, k, 1, &same);
      if (!CHECK(same) || !CHECK_EQ_I64(simt_live(), live)) test_note("lost at call %" PRId64, k);
    }
    test_note("%" PRId64 " calls; after %" PRId64 " of them trees took their steps", n - 2, by_steps);
    CHECK_SEEN(n > 20 && by_steps >= 1);
    trained_free(cpu);
    made_free(m);
  }
  end();
}

/* Memory that metrics take after the opening is reported, though batches are not waited for. */
static void memory_of_metrics_is_told(void) {
  const made_kind kinds[] = {MADE_BELL};
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  begin("2");
  made *m = made_new(41, 600, 1, kinds);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 42);
  train_job job = plain_job(m, GBT_OBJ_LOGISTIC, 2);
  REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
  const int opened = job_open(&ctx, &job, 0, &spec);
  spec.device = gbt_cuda_api();
  spec.eval_train = 1;
  spec.n_metrics = 1;
  spec.metric[0] = gbt_metric_plain(GBT_METRIC_AUC);
  if (opened && CHECK_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err))) {
    const uint64_t before = gbt_trainer_device_bytes(tr);
    if (CHECK_OK(gbt_trainer_run(&ctx, tr, 3, &why, test_err))) CHECK(gbt_trainer_device_bytes(tr) > before);
  }
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  made_free(m);
  end();
}
#endif

void suite_cuda_small(void);
void suite_cuda_small(void) {
  RUN(random_trainings_are_those_of_the_cpu);
  RUN(every_number_of_rows);
  RUN(trees_of_two_blocks);
  RUN(batches_of_outputs);
  RUN(bounds_of_small_data);
  RUN(failing_rounds_are_those_of_the_cpu);
  RUN(losses_are_those_of_the_cpu);
#if defined(GBT_TEST_SIMT)
  RUN(calls_that_fail);
  RUN(memory_of_metrics_is_told);
#endif
}
