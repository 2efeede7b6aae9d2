/* One training on several devices of this process: the bytes of the CPU. Of emulated devices there are as many as are
 * asked for; on a machine with GPUs these take turns. Their numbers go through the host, or, as between GPUs, through
 * NCCL, for which a library stands in (tests/nccl). */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "cuda_steps.h"
#ifdef GBT_TEST_SIMT
#include "fault.h"
#include "../simt/control.h"
#endif
#include "odd_job.h"
#include "random_job.h"
#include "stores.h"


static train_job on_devices(const train_job *job, int32_t n) {
  train_job several = *job;
  several.spec.devices = cuda_numbers();
  several.spec.n_devices = n;
  return several;
}

static int equal_on_devices(const train_job *job, const train_how *how, int32_t n, int place) {
  const train_job several = on_devices(job, n);
  train_how device = *how;
  device.device = cuda_place_api(place);
  trained *cpu = train(job, how), *cuda = train(&several, &device);
  const int ok = CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
  trained_free(cpu);
  trained_free(cuda);
  return ok;
}

static void random_trainings_are_those_of_the_cpu(void) {
  static const int32_t sizes[] = {2, 4, 3, 8};
  for (uint64_t seed = 1; seed <= test_cases(60) && test_n_bad() == 0; seed++) {
    random_job r = seed % 4 == 3 ? odd_job_make(seed, 200) : random_job_make(seed, 300);
    if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024; /* a layer must fit */
    if (!equal_on_devices(&r.job, &r.how, sizes[seed % 4], seed / 4 % 2 ? CUDA_SOME_WIDE : CUDA_ALL_THERE))
      random_job_tell(&r, seed);
    random_job_free(&r);
  }
}

/* A node whose sums just fit into 32 bits: 65,535 rows, most of whose gradients are nearly the largest that there can
 * be. A column splits the root, so that they are in one node, and the other column this node. */
static void sums_at_the_limit_of_32_bits(void) {
  enum { N = 65535, FEW = 200, MORE = 3 };
  const made_kind kinds[] = {MADE_BELL, MADE_BELL};
  made *data = made_new(1, 2 * N + MORE, 2, kinds);
  double *a = (double *)(uintptr_t)data->table.cols[0].values, *b = (double *)(uintptr_t)data->table.cols[1].values;
  data->label = test_alloc((2 * N + MORE) * sizeof *data->label);
  data->weight = test_alloc((2 * N + MORE) * sizeof *data->weight);
  for (int64_t i = 0; i < 2 * N + MORE; i++) {
    a[i] = i >= N;
    b[i] = i >= N - FEW && i < N;
    data->label[i] = i < N ? 1.0 - 0.5 * b[i] : -1.0;
    data->weight[i] = 0.999;
  }
  train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 1);
  job.spec.params.max_depth = 2;
  job.spec.params.min_data_in_leaf = 1;
  equal_on_devices(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL}, 2, CUDA_ALL_THERE);
  made_free(data);
}

/* Bins in memory, in a folder, in two, and packed; codes on the devices, in the host's memory, and streamed. Devices
 * read the same folder at the same time, each the pages of its rows. */
static void codes_anywhere(void) {
  static const store_kind kinds[] = {STORE_FILE, STORE_FILE_2Z, STORE_MEMORY};
  for (uint64_t seed = 100; seed < 100 + test_cases(36) && test_n_bad() == 0; seed++) {
    random_job r = seed % 4 == 3 ? odd_job_make(seed, 200) : random_job_make(seed, 400);
    const store_kind before = stores_use(kinds[seed % 3]);
    if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024;
    r.how.threads = 4;
    if (!equal_on_devices(&r.job, &r.how, 1 + (int32_t)(seed % 4), (int)(seed / 3 % CUDA_N_PLACES)))
      random_job_tell(&r, seed);
    stores_use(before);
    random_job_free(&r);
  }
}

/* More devices than rows, features or both: some have no rows, of the validation set either, some search nothing. */
static void more_devices_than_rows_or_features(void) {
  static const int policies[] = {GBT_SYMMETRIC, GBT_DEPTHWISE, GBT_LOSSGUIDE};
  static const gbt_objective_kind losses[] = {GBT_OBJ_SQUARED_ERROR, GBT_OBJ_QUANTILE, GBT_OBJ_CUSTOM,
                                              GBT_OBJ_LOGISTIC};
  static const int64_t rows[] = {1, 2, 3, 7, 9};
  const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_HOLES};
  for (int i = 0; i < 15 && test_n_bad() == 0; i++) {
    const int64_t n = rows[i % 5];
    const gbt_objective_kind loss = losses[i % 4];
    made *data = made_new((uint64_t)i, n, 1 + i % 3, kinds), *valid = made_new(99, 1 + i % 4, 1 + i % 3, kinds);
    made_response(data, loss, 1, 4);
    made_response(valid, loss, 1, 5);
    if (i % 2) made_offset(data, 1, 6);
    train_job job = job_make(data, loss, 1, 2);
    job.spec.n_valid = i % 4 > 0;
    job.valid[0] = valid;
    job.spec.params.subsample = i % 5 == 2 ? 0.6 : 1.0;
    job.spec.params.grow_policy = policies[i / 5];
    job.spec.params.min_data_in_leaf = 1;
    const train_how how = {1, i % 2 ? 2 : 0, GBT_SIMD_AUTO, NULL};
    if (!equal_on_devices(&job, &how, 8, i % CUDA_N_PLACES)) test_note("%d rows, case %d", (int)n, i);
    made_free(data);
    made_free(valid);
  }
}

static void trees_that_share_their_splits(void) {
  int64_t n = 0;
  for (uint64_t seed = 1; seed <= test_cases(60) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 300);
    if (random_job_share(&r, seed)) {
      n++;
      r.job.spec.params.hist_memory = 1024;
      if (seed / 2 % 2) random_job_by_nodes(&r, seed);
      if (!equal_on_devices(&r.job, &r.how, 2 + (int32_t)(seed % 2), CUDA_ALL_THERE)) random_job_tell(&r, seed);
    }
    random_job_free(&r);
  }
  CHECK_SEEN(n > 4);
}

/* Columns of a response, in half of the trainings with common splits, by sums of gains or projected. */
static void columns_are_those_of_the_cpu(void) {
  int64_t n = 0;
  for (uint64_t seed = 1; seed <= test_cases(60) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 300);
    if (random_job_columns(&r, 2 + (int32_t)(seed % 3), seed)) {
      if (seed / 2 % 2) {
        random_job_share_by(&r, seed, seed / 4 % 4 == 0 ? GBT_SKETCH_PROJECTION : GBT_SKETCH_NONE);
        if (seed / 8 % 2) random_job_by_nodes(&r, seed);
      }
      r.job.spec.params.hist_memory = 1024;
      n++;
      if (!equal_on_devices(&r.job, &r.how, 2 + (int32_t)(seed % 3), seed / 4 % 2 ? CUDA_SOME_WIDE : CUDA_ALL_THERE))
        random_job_tell(&r, seed);
    }
    random_job_free(&r);
  }
  CHECK_SEEN(n > 15);
}

static void ordered_trainings_are_those_of_the_cpu(void) {
  for (uint64_t seed = 1; seed <= test_cases(20) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 300);
    if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024;
    random_job_order(&r);
    if (r.job.spec.objective.kind != GBT_OBJ_CUSTOM && !equal_on_devices(&r.job, &r.how, 3, CUDA_ALL_THERE))
      random_job_tell(&r, seed);
    random_job_free(&r);
  }
}

/* ---- failures ---- */

#ifdef GBT_TEST_SIMT
/* The training fails, or has the trees of the CPU; nothing is left of it. Returns whether it failed. fail_at: so does
 * this allocation of the host's memory, counted from where devices are opened; 0: none. */
static int fails_or_equals(const train_job *job, int32_t n, const trained *cpu, int64_t fail_at) {
  const train_job several = on_devices(job, n);
  const int64_t live = simt_live();
  fault f;
  fault_start(&f, 0, 0);
  const gbt_mem mem = fault_mem(&f);
  gbt_ctx ctx = test_ctx(&mem, 1);
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  gbt_error err = {.msg = ""};
  if (!job_open(&ctx, &several, 0, &spec)) return 0;
  spec.device = gbt_cuda_api();
  if (fail_at > 0) f.fail_at = f.n_calls + fail_at;
  gbt_status status = gbt_trainer_new(&ctx, &spec, &tr, &err);
  if (status == GBT_OK) status = gbt_trainer_run(&ctx, tr, job->rounds, &why, &err);
  if (status == GBT_OK)
    same_forests(gbt_trainer_forest(tr), cpu->forest);
  else if (!CHECK(status == GBT_E_DEVICE || status == GBT_E_MEM))
    test_note("%s", err.msg);
  gbt_trainer_free(tr);
  job_close(&spec);
  gbt_ctx_close(&ctx);
  CHECK_EQ_I64(simt_live(), live);
  CHECK_EQ_I64(f.n_live, 0);
  return status != GBT_OK;
}

static random_job plain_job(void) {
  random_job r = random_job_make(9, 100);
  GBT_ASSERT(r.job.spec.objective.kind != GBT_OBJ_CUSTOM);
  return r;
}

/* The n-th call of CUDA fails, on whichever device that is. */
static void calls_of_one_device_fail(void) {
  random_job r = plain_job();
  trained *cpu = train(&r.job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
  int64_t n_bad = 0, n_tried = 0;
  for (int64_t n = 1, failed = 1; failed; n += 1 + n / (test_few() ? 2 : 8)) {
    simt_fail_at(n, 0);
    n_bad += fails_or_equals(&r.job, 3, cpu, 0);
    failed = simt_failed() > 0;
    n_tried += failed;
    simt_fail_at(0, 0);
  }
  /* Which calls are made up for depends on the order in which the devices come to them. */
  CHECK(n_bad > 0 && n_tried > 8);
  trained_free(cpu);
  random_job_free(&r);
}

/* The n-th allocation of the host's memory fails, on whichever device that is. */
static void allocations_of_one_device_fail(void) {
  random_job r = plain_job();
  trained *cpu = train(&r.job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
  int64_t n_bad = 0, n_fine = 0;
  for (int64_t n = 1; n < 10000 && n_fine < 3; n += 1 + n / (test_few() ? 2 : 8)) {
    if (fails_or_equals(&r.job, 3, cpu, n))
      n_bad++;
    else
      n_fine++; /* some failures are made up for */
  }
  CHECK(n_bad > 0 && n_fine == 3);
  trained_free(cpu);
  random_job_free(&r);
}

static void trainings_by_nccl(void) {
  setenv("GBT_NCCL", GBT_TEST_NCCL, 1);
  random_trainings_are_those_of_the_cpu();
  trees_that_share_their_splits();
  unsetenv("GBT_NCCL");
}

/* The n-th operation of NCCL fails on one device; the others do not wait for it. Before any (0) the first device cannot
 * make an id: numbers go through the host. */
static void operations_of_nccl_fail(void) {
  random_job r = plain_job();
  trained *cpu = train(&r.job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
  int64_t n_bad = 0, n_fine = 0;
  char text[16];
  setenv("GBT_NCCL", GBT_TEST_NCCL, 1);
  for (int n = 0; n < 1000 && n_fine <= 1; n += 1 + n / 2) {
    snprintf(text, sizeof text, "%d", n);
    setenv("NCCL_STAND_IN_FAIL", text, 1);
    if (fails_or_equals(&r.job, 4, cpu, 0))
      n_bad++;
    else
      n_fine++;
    unsetenv("NCCL_STAND_IN_FAIL");
  }
  unsetenv("GBT_NCCL");
  CHECK(n_bad > 3 && n_fine == 2);
  trained_free(cpu);
  random_job_free(&r);
}

/* A library that is none, or lacks functions: numbers go through the host. */
static void nccl_that_cannot_be_used(void) {
  random_job r = plain_job();
  char text[300];
  setenv("GBT_NCCL", "libm.so.6", 1);
  CHECK(!gbt_cuda_api()->nccl(text, sizeof text));
  CHECK(strstr(text, "ncclGetVersion") != NULL);
  equal_on_devices(&r.job, &r.how, 2, CUDA_ALL_THERE);
  setenv("GBT_NCCL", "/nowhere/libnccl.so.2", 1);
  CHECK(!gbt_cuda_api()->nccl(text, sizeof text));
  CHECK(strstr(text, "/nowhere/libnccl.so.2") != NULL);
  setenv("GBT_NCCL", GBT_TEST_NCCL, 1);
  CHECK(gbt_cuda_api()->nccl(text, sizeof text));
  CHECK_EQ_TEXT(text, "NCCL 2.0.0");
  unsetenv("GBT_NCCL");
  CHECK(!gbt_cuda_api()->nccl(text, sizeof text));
  random_job_free(&r);
}
#endif

void suite_cuda_several(void) {
  setenv("SIMT_DEVICES", "8", 1); /* CUDA_NUMBERS */
  RUN(random_trainings_are_those_of_the_cpu);
  RUN(sums_at_the_limit_of_32_bits);
  RUN(codes_anywhere);
  RUN(more_devices_than_rows_or_features);
  RUN(trees_that_share_their_splits);
  RUN(columns_are_those_of_the_cpu);
  RUN(ordered_trainings_are_those_of_the_cpu);
#ifdef GBT_TEST_SIMT
  RUN(calls_of_one_device_fail);
  RUN(allocations_of_one_device_fail);
  RUN(trainings_by_nccl);
  RUN(operations_of_nccl_fail);
  RUN(nccl_that_cannot_be_used);
#endif
  unsetenv("SIMT_DEVICES");
}
