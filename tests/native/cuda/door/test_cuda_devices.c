/* Devices of every size: shared memory, multiprocessors and cooperative launches decide how work is cut up, never what
 * comes out. On a device the environment changes nothing. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "../../src/gbt/backend/device_api.h"
#include "random_job.h"

const gbt_device_api *gbt_cuda_api(void);

typedef struct size {
  int shared_kb, units, cooperative;
} size;

/* Compute capabilities 7.5; 8.6, 8.9 and 12.0; 8.0; 9.0 and 10.0. */
static const size sizes[] = {{64, 1, 0},  {64, 132, 1},  {99, 2, 1}, {99, 132, 0},
                             {163, 2, 0}, {163, 132, 1}, {227, 1, 1}};

static void put_number(const char *name, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  setenv(name, text, 1);
}

static trained *train_on(const train_job *job, const train_how *how, size s) {
  train_how device = *how;
  device.device = gbt_cuda_api();
  put_number("SIMT_SHARED", 1024 * s.shared_kb);
  put_number("SIMT_UNITS", s.units);
  put_number("SIMT_COOPERATIVE", s.cooperative);
  trained *t = train(job, &device);
  unsetenv("SIMT_SHARED");
  unsetenv("SIMT_UNITS");
  unsetenv("SIMT_COOPERATIVE");
  return t;
}

static void random_trainings(void) {
  for (uint64_t seed = 3001; seed <= 3000 + test_cases(6); seed++) {
    random_job r = random_job_make(seed, seed % 3 ? 300 : 2500);
    if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024; /* a layer must fit */
    trained *cpu = train(&r.job, &r.how);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      trained *cuda = train_on(&r.job, &r.how, sizes[i]);
      const int same = cpu != NULL && cuda != NULL && same_trained(cpu, cuda);
      if (!CHECK(same)) random_job_tell(&r, seed);
      trained_free(cuda);
    }
    trained_free(cpu);
    random_job_free(&r);
  }
}

/* Histograms of a column that just fit, or do not, into the shared memory of each: 8 or (counted) 12 bytes a code. */
static void wide_columns(void) {
  static const int32_t bins[] = {255, 5000, 9000, 15000, 22000, 30000};
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_HOLES};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made *m = made_new(31, 31000, 3, kinds);
  made_response(m, GBT_OBJ_LOGISTIC, 1, 31);
  for (int b = 0; b < 6; b++) {
    train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 2);
    job.max_bin = bins[b];
    job.spec.params.max_depth = 2;
    job.spec.params.min_data_in_leaf = b % 2 ? 20 : 1;
    trained *cpu = train(&job, &how);
    for (int i = b % 2; i < 7; i += 3) {
      trained *cuda = train_on(&job, &how, sizes[i]);
      CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
      trained_free(cuda);
    }
    trained_free(cpu);
  }
  made_free(m);
}

void suite_cuda_devices(void) {
  RUN(random_trainings);
  RUN(wide_columns);
}
