/* Linear leaves of trees that a device has grown: the bytes of the CPU, which test_linear.c compares with dense
 * solutions. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "checkpoint_job.h"
#include "cuda_steps.h"
#include "random_job.h"
#include "stores.h"

/* A random job with linear leaves; 0: the loss has none. */
static int linear_job(uint64_t seed, int64_t rows, random_job *r) {
  *r = random_job_make(seed, rows);
  if (r->job.spec.params.grow_policy == GBT_SYMMETRIC) r->job.spec.params.hist_memory = 1024; /* a layer must fit */
  r->how.device = NULL;
  if (random_job_linear(r, seed)) return 1;
  random_job_free(r);
  return 0;
}

/* Linear leaves of the forest; -1: not those of the CPU. */
static int64_t equal_on_device(random_job *r, uint64_t seed, int32_t n_devices, const gbt_device_api *api) {
  train_job on_device = r->job;
  train_how how = r->how;
  int64_t n_leaves = -1;
  how.device = api;
  on_device.spec.devices = cuda_numbers();
  on_device.spec.n_devices = n_devices;
  trained *cpu = train(&r->job, &r->how), *cuda = train(&on_device, &how);
  if (CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda)))
    n_leaves = cpu->forest->linear != NULL ? (int64_t)cpu->forest->linear->n_leaves : 0;
  else
    random_job_tell(r, seed);
  trained_free(cpu);
  trained_free(cuda);
  return n_leaves;
}

static void trees_are_those_of_the_cpu(void) {
  int64_t n_leaves = 0;
  for (uint64_t seed = 1; seed <= (test_few() ? 16u : 80u) && test_n_bad() == 0; seed++) {
    random_job r;
    if (!linear_job(seed, 400, &r)) continue;
    n_leaves += equal_on_device(&r, seed, 1, seed % 2 ? gbt_cuda_api() : cuda_steps_api());
    random_job_free(&r);
  }
  test_note("%d linear leaves", (int)n_leaves);
  CHECK_SEEN(n_leaves > 30);
}

/* Bins in memory and in files, codes on devices, in the host's memory and streamed, one device and several. */
static void codes_anywhere(void) {
  static const store_kind kinds[] = {STORE_FILE, STORE_FILE_2Z, STORE_MEMORY};
  int64_t n_leaves = 0;
  for (uint64_t seed = 200; seed < 200 + test_cases(30) && test_n_bad() == 0; seed++) {
    random_job r;
    if (!linear_job(seed, 300, &r)) continue;
    const store_kind before = stores_use(kinds[seed % 3]);
    r.how.threads = 3;
    n_leaves += equal_on_device(&r, seed, 1 + (int32_t)(seed % 3), cuda_place_api((int)(seed / 3 % CUDA_N_PLACES)));
    stores_use(before);
    random_job_free(&r);
  }
  CHECK_SEEN(n_leaves > 0);
}

/* Trees of small data, which one kernel grows. */
static void small_data(void) {
  setenv("SIMT_COOPERATIVE", "1", 1);
  for (uint64_t seed = 400; seed < 400 + test_cases(12) && test_n_bad() == 0; seed++) {
    random_job r;
    if (!linear_job(seed, 300, &r)) continue;
    random_job_small(&r, seed);
    (void)equal_on_device(&r, seed, 1, gbt_cuda_api());
    random_job_free(&r);
  }
  unsetenv("SIMT_COOPERATIVE");
}

/* Trainings that begin on one device and end on another. */
static void trainings_go_on_elsewhere(void) {
  enum { ROUNDS = 3 };
  for (uint64_t seed = 500; seed < 500 + test_cases(16) && test_n_bad() == 0; seed++) {
    const gbt_device_api *cuda = cuda_steps_api();
    const char *path = part_path();
    const int on_first = seed % 2;
    part_outcome whole, resumed;
    random_job r;
    if (!linear_job(seed, 300, &r)) continue;
    r.job.rounds = ROUNDS;
    const part_place through = {.threads = 1, .last = ROUNDS};
    const part_place first = {.threads = 2, .to = path, .last = 1, .device = on_first ? cuda : NULL};
    const part_place second = {.threads = 1, .from = path, .last = ROUNDS, .device = on_first ? NULL : cuda};
    if (part_run(&r.job, &through, &whole)) {
      if (part_run(&r.job, &first, NULL) && part_run(&r.job, &second, &resumed)) {
        if (!part_outcomes_same(&whole, &resumed)) random_job_tell(&r, seed);
        part_outcome_free(&resumed);
      }
      part_outcome_free(&whole);
    }
    remove(path);
    random_job_free(&r);
  }
}

void suite_cuda_linear(void) {
  setenv("SIMT_DEVICES", "8", 1); /* CUDA_NUMBERS */
  RUN(trees_are_those_of_the_cpu);
  RUN(codes_anywhere);
  RUN(small_data);
  RUN(trainings_go_on_elsewhere);
  unsetenv("SIMT_DEVICES");
}
