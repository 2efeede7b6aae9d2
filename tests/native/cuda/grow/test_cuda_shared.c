/* Trees that share their splits, on the device: the bytes that the CPU gives, which test_shared_splits.c compares with
 * the naive training. */
#include <stdio.h>

#include "cuda_steps.h"
#include "random_job.h"

enum { SEEDS = 400 };

static void trainings_are_those_of_the_cpu(void) {
  int64_t splits = 0, jobs = 0, sums = 0, nodes = 0;
  for (uint64_t seed = 1; seed <= test_cases(SEEDS) && test_n_bad() < 3; seed++) {
    random_job r = random_job_make(seed, 300);
    if (random_job_share(&r, seed)) {
      if (seed % 3 != 0 && r.job.spec.objective.n_outputs <= 8) r.job.spec.params.sketch = GBT_SKETCH_NONE;
      r.job.spec.params.hist_memory = 1024; /* a layer must fit */
      if (gbt_mix64(seed ^ 99) % 2) random_job_by_nodes(&r, seed);
      sums += r.job.spec.params.sketch == GBT_SKETCH_NONE;
      nodes += r.job.spec.params.grow_policy != GBT_SYMMETRIC;
      jobs++;
      if (!device_trains_alike(&r.job, &r.how, seed % 2 ? gbt_cuda_api() : cuda_steps_api(), &splits))
        random_job_tell(&r, seed);
    }
    random_job_free(&r);
  }
  test_note("%" PRId64 " trainings, %" PRId64 " node by node, %" PRId64 " splits", jobs, nodes, splits);
  CHECK_SEEN(jobs > 20 && sums > 10 && nodes > 5 && splits > 200);
}

/* More classes than trees of a batch, and more rows than a block takes. */
static void many_classes_and_rows(void) {
  const int32_t classes[] = {2, 31, 32, 33, 70, 3};
  for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
    const int64_t rows = i == 5 ? 5000 : 200;
    made *m = made_new(i + 1, rows, 4, NULL);
    made_response(m, GBT_OBJ_SOFTMAX, classes[i], 5);
    train_job job = job_make(m, GBT_OBJ_SOFTMAX, classes[i], 2);
    job.spec.params.grow_policy = i % 2 ? GBT_DEPTHWISE : GBT_SYMMETRIC;
    job.spec.params.multi_strategy = 1;
    job.spec.params.max_depth = 4;
    job.spec.params.random_strength = 1.0;
    int64_t splits = 0;
    if (!device_trains_alike(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL}, i % 2 ? gbt_cuda_api() : cuda_steps_api(),
                         &splits))
      test_note("%d classes", (int)classes[i]);
    made_free(m);
  }
}

void suite_cuda_shared(void) {
  RUN(trainings_are_those_of_the_cpu);
  RUN(many_classes_and_rows);
}
