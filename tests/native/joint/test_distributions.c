/* Trainings of the parameters of distributions, whose bytes do not depend on threads and pages. */
#include <math.h>

#include "test.h"
#include "time_job.h"

static void check(const time_job *t, const gbt_forest *want, const train_how *how) {
  double none = 0.0;
  gbt_forest *got = time_job_train(t, how, &none);
  CHECK(got != NULL && want != NULL && same_forests(got, want));
  gbt_forest_free(got);
}

static void trainings_do_not_depend_on_threads(void) {
  static const int64_t sizes[] = {1, 2, 33, 3400};
  static const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL}, pages = {3, 32, GBT_SIMD_SCALAR, NULL};
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++)
    for (int i = 0; i < 4; i++) {
      if (gbt_objective_info_of(kind)->response != GBT_RESPONSE_DISTRIBUTION) continue;
      time_job t = distribution_job_make((gbt_objective_kind)kind, (uint64_t)i, sizes[i], i % 2 ? 0.7 : 1.0);
      double none = 0.0;
      gbt_forest *want = time_job_train(&t, &plain, &none);
      if (sizes[i] > 1000) CHECK(gbt_forest_view_of(want).n_nodes > 2 * 4 * 3); /* it has learnt something */
      check(&t, want, &pages);
      gbt_forest_free(want);
      time_job_free(&t);
    }
}

/* Multiplying numbers by a power of two multiplies locations by it, and adds its logarithm to scores of scales: the
 * trees are the same, but for the values of those of the first output. */
static void units_of_the_response_do_not_show(void) {
  time_job t = distribution_job_make(GBT_OBJ_DIST_NORMAL, 1, 2000, 1.0);
  static const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL};
  double none = 0.0;
  t.job.spec.params.grad_bits = GBT_GRAD_32;
  gbt_forest *want = time_job_train(&t, &plain, &none);
  double *label = ((made *)t.job.data)->label;
  for (int64_t i = 0; i < 2000; i++) label[i] *= 1024.0;
  gbt_forest *got = time_job_train(&t, &plain, &none);
  const gbt_forest_view a = gbt_forest_view_of(want), b = gbt_forest_view_of(got);
  CHECK_EQ_BITS(a.base[0] * 1024.0, b.base[0]);
  CHECK_NEAR(a.base[1] + 10.0 * log(2.0), b.base[1], 1e-9);
  CHECK_EQ_I64((int64_t)a.n_nodes, (int64_t)b.n_nodes);
  gbt_forest_free(want);
  gbt_forest_free(got);
  time_job_free(&t);
}

void suite_distributions(void) {
  RUN(trainings_do_not_depend_on_threads);
  RUN(units_of_the_response_do_not_show);
}
