/* Trees of small data, which one kernel grows: the bytes that the CPU gives. The emulated device is told to launch
 * grids whose blocks wait for each other; without that it is the general engine that these trainings test. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "../../src/gbt/backend/device_api.h"
#include "random_job.h"

#include <stdlib.h>

#if defined(GBT_TEST_SIMT)
#include "../simt/control.h"
#endif

const gbt_device_api *gbt_cuda_api(void);

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

static int64_t compare(const train_job *job, const train_how *how, int *equal) {
  train_how device = *how;
  device.device = gbt_cuda_api();
  trained *cpu = train(job, how);
  const int64_t before = launches();
  trained *cuda = train(job, &device);
  const int64_t n = launches() - before;
  *equal = CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
  trained_free(cpu);
  trained_free(cuda);
  return n;
}

/* Whether the device grows the trees of the job by one kernel each: it launches less than without. */
static int grows_small(const train_job *job, const train_how *how, int64_t n) {
  train_how device = *how;
  device.device = gbt_cuda_api();
  setenv("SIMT_COOPERATIVE", "0", 1);
  const int64_t before = launches();
  trained_free(train(job, &device));
  return n < launches() - before;
}

/* Draws of what is not for this engine are taken back, in most jobs. */
static void make_small(random_job *r, uint64_t seed) {
  gbt_params *p = &r->job.spec.params;
  p->grow_policy = 0;
  p->max_depth = 1 + (int64_t)(seed % 8);
  p->colsample_bylevel = p->colsample_bynode = 1.0;
  p->max_cat_onehot = 65535;
  p->hist_memory = 1024;
  if (p->num_parallel_tree > 2) p->num_parallel_tree = 1;
  r->job.spec.n_interact = 0;
}

static void random_trainings_are_those_of_the_cpu(void) {
  enum { GRID = 60 };
  int bad = 0;
  int64_t n_grown = 0, wide = 0, sampled = 0, counted = 0, signs = 0, pairs = 0;
  for (uint64_t seed = 1; seed <= GRID && bad < 3; seed++) {
    begin(seed % 3 == 0 ? "1" : seed % 3 == 1 ? "4" : "7");
    random_job r = random_job_make(seed + 5000, 400);
    make_small(&r, seed);
    const gbt_params *p = &r.job.spec.params;
    int equal;
    const int64_t n = compare(&r.job, &r.how, &equal), grown = grows_small(&r.job, &r.how, n);
    if (!equal) random_job_tell(&r, seed);
    bad += !equal;
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
  CHECK(n_grown >= 25 && wide >= 5 && sampled >= 5 && counted >= 5 && signs >= 5 && pairs >= 3);
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
  for (int64_t rows = 1; rows <= 2050; rows = next_size(rows)) {
    begin(rows % 2 ? "2" : "3");
    made *m = made_new((uint64_t)rows, rows, 5, kinds);
    made_response(m, GBT_OBJ_LOGISTIC, 1, (uint64_t)rows + 9);
    train_job job = plain_job(m, GBT_OBJ_LOGISTIC, 1 + rows % 8);
    int equal;
    (void)compare(&job, &how, &equal);
    made_free(m);
    if (!equal) test_note("%" PRId64 " rows", rows);
    if (!equal) break;
  }
  end();
}

/* A launch for a tree, up to the last number of rows that are small data; more of them take the steps. */
static void bounds_of_small_data(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_FEW};
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  begin("1");
  for (int64_t rows = 2046; rows <= 2050; rows++) {
    made *m = made_new(3, rows, 3, kinds);
    made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 4);
    train_job job = plain_job(m, GBT_OBJ_SQUARED_ERROR, 6);
    job.rounds = 1;
    int equal;
    const int64_t n = compare(&job, &how, &equal);
#if defined(GBT_TEST_SIMT)
    test_note("%" PRId64 " rows: %" PRId64 " launches", rows, n);
    CHECK(rows <= 2048 ? n < 24 : n > 40);
#else
    (void)n;
#endif
    made_free(m);
  }
  end();
}

void suite_cuda_small(void);
void suite_cuda_small(void) {
  RUN(random_trainings_are_those_of_the_cpu);
  RUN(every_number_of_rows);
  RUN(bounds_of_small_data);
}
