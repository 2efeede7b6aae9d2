/* Trainings by objectives of queries equal those whose gradients the host gives, whatever the threads, the pages and
 * the sampling of rows. */
#include "query_job.h"
#include "test.h"

static const gbt_objective_kind all[] = {GBT_OBJ_QUERY_RMSE, GBT_OBJ_RANK_NDCG,     GBT_OBJ_RANK_MAP,
                                         GBT_OBJ_RANK_MRR,   GBT_OBJ_RANK_PAIRWISE, GBT_OBJ_RANK_XENDCG,
                                         GBT_OBJ_YETI_RANK,  GBT_OBJ_QUERY_SOFTMAX, GBT_OBJ_PAIR_LOGIT};
enum { N_KINDS = sizeof all / sizeof *all };

static void check(const query_job *q, const gbt_forest *want, const train_how *how, int by_host) {
  gbt_forest *got = query_job_train(q, how, by_host);
  CHECK(got != NULL && want != NULL && same_forests(got, want));
  gbt_forest_free(got);
}

static void trainings_equal_those_of_the_host(void) {
  static const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL}, pages = {3, 100, GBT_SIMD_SCALAR, NULL};
  for (int k = 0; k < N_KINDS; k++)
    for (int sampled = 0; sampled < 2; sampled++) {
      query_job q = query_job_make((uint64_t)(10 * k + sampled), all[k], 700, sampled ? 0.7 : 1.0);
      gbt_forest *want = query_job_train(&q, &plain, 0);
      const gbt_forest_view view = gbt_forest_view_of(want);
      CHECK(view.n_nodes > 4 * 3); /* it has learnt something */
      check(&q, want, &plain, 1);
      check(&q, want, &pages, 0);
      gbt_forest_free(want);
      query_job_free(&q);
    }
}

static void sizes_of_data(void) {
  static const int64_t sizes[] = {1, 2, 3, 31, 32, 33, 40, 41, 100, 2049};
  static const train_how plain = {1, 0, GBT_SIMD_AUTO, NULL}, threads = {4, 32, GBT_SIMD_AUTO, NULL};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    query_job q = query_job_make(i, GBT_OBJ_RANK_NDCG, sizes[i], 1.0);
    gbt_forest *want = query_job_train(&q, &plain, 0);
    check(&q, want, &threads, 0);
    check(&q, want, &plain, 1);
    gbt_forest_free(want);
    query_job_free(&q);
  }
}

void suite_query_train(void) {
  RUN(trainings_equal_those_of_the_host);
  RUN(sizes_of_data);
}
