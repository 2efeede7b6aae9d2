/* Rounds that change what those before them count, on the device: the bytes that the CPU gives, which test_factors.c
 * compares with the naive training. Batches, recorded steps, the kernel of small data, codes in several places. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "checkpoint_job.h"
#include "cuda_steps.h"
#include "stores.h"

enum { JOBS = 40, KINDS = 4 };

static random_job job_of(uint64_t seed, int64_t rows) {
  random_job r = random_job_make(seed, rows);
  const int what = (int)(seed % KINDS);
  if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024; /* a layer must fit */
  if (what == 1 && seed % 8 == 1 && r.job.custom == NULL) random_job_order(&r);
  random_job_rescale(&r, seed, what);
  if (r.job.spec.n_valid > 0) r.job.spec.keep_best = 1;
  return r;
}

/* Splits; -1: not those of the CPU. */
static int64_t equal_on_device(uint64_t seed, int64_t rows, const gbt_device_api *api) {
  random_job r = job_of(seed, rows);
  train_how device = r.how;
  device.device = api;
  trained *cpu = train(&r.job, &r.how), *cuda = train(&r.job, &device);
  const int ok = CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
  const int64_t splits = ok ? (int64_t)cpu->forest->n_nodes / 2 : -1;
  if (!ok) random_job_tell(&r, seed);
  trained_free(cpu);
  trained_free(cuda);
  random_job_free(&r);
  return splits;
}

static void trainings_are_those_of_the_cpu(void) {
  int64_t splits = 0;
  for (uint64_t seed = 1; seed <= test_cases(JOBS) && test_n_bad() < 3; seed++)
    splits += equal_on_device(seed, 300, seed / KINDS % 2 ? gbt_cuda_api() : cuda_steps_api());
  CHECK_SEEN(splits > 400);
}

/* More rows than a block of any kernel takes. */
static void larger_ones(void) {
  for (uint64_t seed = 900; seed < 902; seed++)
    equal_on_device(seed, 5000, seed % 2 ? cuda_steps_api() : gbt_cuda_api());
}

static void codes_in_several_places(void) {
  for (int s = 0; s < 2; s++) {
    const store_kind before = stores_use(s ? STORE_POISON : STORE_MEMORY);
    for (uint64_t seed = 300; seed < 305 && test_n_bad() < 3; seed++) {
      const int percent = (int)(seed % 3) * 30;
      equal_on_device(seed, 300, cuda_apart_api(percent, 60 - percent));
    }
    stores_use(before);
  }
}

static void trainings_go_on_elsewhere(void) {
  for (uint64_t seed = 1; seed <= test_cases(12) && test_n_bad() == 0; seed++) {
    random_job r = job_of(seed, 200);
    const char *path = part_path();
    const gbt_device_api *cuda = seed % 2 ? gbt_cuda_api() : cuda_steps_api();
    const int64_t rounds = r.job.rounds, half = rounds / 2;
    part_outcome whole, resumed;
    const part_place through = {.threads = 1, .last = rounds};
    const part_place first = {.threads = 2, .to = path, .last = half, .device = seed % 3 ? cuda : NULL};
    const part_place second = {.threads = 1, .from = path, .last = rounds, .device = seed % 3 ? NULL : cuda};
    if (!part_run(&r.job, &through, &whole)) break;
    if (part_run(&r.job, &first, NULL) && part_run(&r.job, &second, &resumed)) {
      if (!part_outcomes_same(&whole, &resumed)) random_job_tell(&r, seed);
      part_outcome_free(&resumed);
    }
    part_outcome_free(&whole);
    remove(path);
    random_job_free(&r);
  }
}

void suite_cuda_factors(void) {
  RUN(trainings_are_those_of_the_cpu);
  RUN(larger_ones);
  RUN(codes_in_several_places);
  RUN(trainings_go_on_elsewhere);
}
