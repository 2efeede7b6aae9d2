/* Trainings that begin on one device and end on another, or on several. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>

#include "../../src/gbt/backend/device.h"
#include "checkpoint_job.h"
#include "cuda_steps.h"

#include <stdio.h>

enum { ROUNDS = 4 };

static void trainings_go_on_elsewhere(void) {
  int64_t splits = 0;
  for (uint64_t seed = 1; seed <= 30 && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 300);
    const char *path = part_path();
    const struct gbt_device_api *cuda = seed % 2 ? gbt_cuda_api() : cuda_steps_api();
    part_outcome whole, resumed;
    r.job.rounds = ROUNDS;
    if (r.job.spec.params.grow_policy == GBT_SYMMETRIC) r.job.spec.params.hist_memory = 1024; /* a layer must fit */
    if (r.job.custom == NULL && seed % 4 == 0) random_job_order(&r);
    r.job.spec.devices = cuda_numbers(); /* of the parts on a device */
    r.job.spec.n_devices = 1 + (int32_t)(seed / 2 % 4);
    const int on_first = seed % 3 != 0;
    const part_place through = {.threads = 1, .last = ROUNDS};
    const part_place first = {.threads = 2, .to = path, .last = 1, .device = on_first ? cuda : NULL};
    const part_place second = {.threads = 2, .from = path, .to = path, .last = 3, .device = on_first ? NULL : cuda};
    const part_place third = {.threads = 1, .from = path, .last = ROUNDS, .device = on_first ? cuda : NULL};
    if (!part_run(&r.job, &through, &whole)) break;
    if (!part_run(&r.job, &first, NULL) || !part_run(&r.job, &second, NULL) ||
        !part_run(&r.job, &third, &resumed))
      break;
    if (!part_outcomes_same(&whole, &resumed)) random_job_tell(&r, seed);
    splits += (int64_t)whole.forest->n_nodes / 2;
    part_outcome_free(&whole);
    part_outcome_free(&resumed);
    remove(path);
    random_job_free(&r);
  }
  CHECK(splits > 300);
}

void suite_cuda_checkpoint(void) {
  setenv("SIMT_DEVICES", "8", 1); /* CUDA_NUMBERS */
  RUN(trainings_go_on_elsewhere);
  unsetenv("SIMT_DEVICES");
}
