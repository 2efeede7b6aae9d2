/* Trainings of censored times: the same bytes whatever the threads and the pages; the scale is near that of the
 * data. */
#include "test.h"
#include "time_job.h"

static void check(const time_job *t, const gbt_forest *want, double scale, const train_how *how) {
  double own = 0.0;
  gbt_forest *got = time_job_train(t, how, &own);
  CHECK(got != NULL && want != NULL && same_forests(got, want));
  CHECK(own == scale);
  gbt_forest_free(got);
}

static void trainings_do_not_depend_on_threads(void) {
  static const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL}, pages = {3, 100, GBT_SIMD_SCALAR, NULL};
  for (int k = 0; k < 12; k++) {
    const int dist = k % 3, fixed = k / 3 % 2, sampled = k / 6;
    time_job t = time_job_make((uint64_t)k, dist, fixed ? 0.8 : 0.0, 700, sampled ? 0.7 : 1.0);
    double scale = 0.0;
    gbt_forest *want = time_job_train(&t, &plain, &scale);
    const gbt_forest_view view = gbt_forest_view_of(want);
    CHECK(view.n_nodes > 4 * 3); /* it has learnt something */
    CHECK(fixed ? scale == 0.8 : scale > 0.2 && scale < 2.0);
    check(&t, want, scale, &pages);
    gbt_forest_free(want);
    time_job_free(&t);
  }
}

static void sizes_of_data(void) {
  static const int64_t sizes[] = {1, 2, 3, 31, 32, 33, 16384, 16385};
  static const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL}, threads = {4, 32, GBT_SIMD_AUTO, NULL};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    time_job t = time_job_make(i, GBT_AFT_NORMAL, 0.0, sizes[i], 1.0);
    double scale = 0.0;
    gbt_forest *want = time_job_train(&t, &plain, &scale);
    CHECK(scale > 0.0);
    check(&t, want, scale, &threads);
    gbt_forest_free(want);
    time_job_free(&t);
  }
}

void suite_times(void) {
  RUN(trainings_do_not_depend_on_threads);
  RUN(sizes_of_data);
}
