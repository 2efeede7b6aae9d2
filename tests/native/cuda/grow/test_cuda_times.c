/* Times of events on a device: the bytes of the CPU, and its scale. */
#include "test.h"
#include "time_job.h"

#include "cuda_steps.h"

/* Distributions of times, and then hazards of intervals, which have no scale. */
static void trainings_are_those_of_the_cpu(void) {
  static const int64_t sizes[] = {1, 33, 300};
  for (int dist = 0; dist <= 3; dist++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      const double subsample = i == 2 ? 0.7 : 1.0;
      time_job t = dist == 3 ? hazard_job_make(i, sizes[i], subsample)
                             : time_job_make(10 * (uint64_t)dist + i, dist, i == 1 ? 1.0 : 0.0, sizes[i], subsample);
      const train_how cpu = {1, 0, GBT_SIMD_AUTO, NULL}, device = {1, 100, GBT_SIMD_AUTO, gbt_cuda_api()};
      double scale[2] = {0.0, 0.0};
      gbt_forest *want = time_job_train(&t, &cpu, &scale[0]), *got = time_job_train(&t, &device, &scale[1]);
      CHECK(got != NULL && want != NULL && same_forests(got, want));
      CHECK(scale[0] == scale[1] && (dist == 3 || scale[0] > 0.0));
      gbt_forest_free(got);
      gbt_forest_free(want);
      time_job_free(&t);
    }
}

static void distributions_are_those_of_the_cpu(void) {
  static const int64_t sizes[] = {1, 33, 300};
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      if (gbt_objective_info_of(kind)->response != GBT_RESPONSE_DISTRIBUTION) continue;
      time_job t = distribution_job_make((gbt_objective_kind)kind, i + 1, sizes[i], i == 2 ? 0.7 : 1.0);
      const train_how cpu = {1, 0, GBT_SIMD_AUTO, NULL}, device = {1, 100, GBT_SIMD_AUTO, gbt_cuda_api()};
      double none = 0.0;
      gbt_forest *want = time_job_train(&t, &cpu, &none), *got = time_job_train(&t, &device, &none);
      CHECK(got != NULL && want != NULL && same_forests(got, want));
      gbt_forest_free(got);
      gbt_forest_free(want);
      time_job_free(&t);
    }
}

void suite_cuda_times(void) {
  RUN(trainings_are_those_of_the_cpu);
  RUN(distributions_are_those_of_the_cpu);
}
