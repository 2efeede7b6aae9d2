/* Objectives of queries on a device: the bytes of the CPU. Their gradients are computed for all devices by joint/. */
#include "query_job.h"
#include "test.h"

#include "cuda_steps.h"

static void trainings_are_those_of_the_cpu(void) {
  static const gbt_objective_kind all[] = {GBT_OBJ_RANK_NDCG, GBT_OBJ_QUERY_RMSE, GBT_OBJ_YETI_RANK};
  static const int64_t sizes[] = {1, 33, 300};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      query_job q = query_job_make(10 * k + i, all[k], sizes[i], i == 2 ? 0.7 : 1.0);
      const train_how cpu = {1, 0, GBT_SIMD_AUTO, NULL}, device = {1, 100, GBT_SIMD_AUTO, gbt_cuda_api()};
      gbt_forest *want = query_job_train(&q, &cpu, 0), *got = query_job_train(&q, &device, 0);
      CHECK(got != NULL && want != NULL && same_forests(got, want));
      gbt_forest_free(got);
      gbt_forest_free(want);
      query_job_free(&q);
    }
}

void suite_cuda_queries(void) { RUN(trainings_are_those_of_the_cpu); }
