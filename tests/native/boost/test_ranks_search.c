/* The search divided among ranks (src/gbt/cpu/cpu_ranks.c): the bytes of the single process. */
#include "ranks_job.h"

/* Few features and many ranks, so that some own none; features of one bin, of two, of levels; trees of one split and
 * deeper ones; bins whose rows are counted, and not. */
static void ranks_that_own_few_features_or_none(void) {
  static const made_kind kinds[] = {MADE_LEVELS, MADE_BELL,  MADE_HOLED, MADE_CONSTANT,
                                    MADE_FEW,    MADE_HOLES, MADE_ZEROS};
  enum { KINDS = sizeof kinds / sizeof *kinds };
  int64_t n_sets = 0;
  for (int i = 0; i < 84; i += test_few() ? 5 : 1) {
    const int n_cols = 1 + i % KINDS, first = i / KINDS % KINDS;
    made_kind its[KINDS];
    for (int c = 0; c < n_cols; c++) its[c] = kinds[(first + c) % KINDS];
    made *data = made_new((uint64_t)i + 1, 150 + 40 * (i % 5), n_cols, its);
    made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 3);
    train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 2);
    job.spec.params.grow_policy = i % 3;
    job.spec.params.max_depth = i % 4 == 0 ? 1 : 3 + i % 3;
    job.spec.params.min_child_weight = 0.0;
    job.spec.params.min_data_in_leaf = i % 2 ? 1 : 4;
    job.spec.params.max_cat_onehot = 4;
    job.spec.params.cat_smooth = 1.0;
    job.spec.params.cat_noise = job.spec.params.cat_l2 = 0.0;
    job.spec.params.min_data_per_group = 2;
    job.spec.params.random_strength = i % 5 == 0 ? 1.0 : 0.0;
    job.spec.params.colsample_bylevel = i % 7 == 0 ? 0.6 : 1.0;
    job.spec.params.extra_trees = i % 11 == 0;
    trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    if (!CHECK(single != NULL)) return;
    n_sets += single->forest->n_words > 0;
    for (int size = 2; size <= RANKS_MOST; size += size < 4 ? 1 : 4)
      if (!job_by_ranks(&job, single, size, (uint64_t)(10 * i + size), 0)) test_note("case %d, %d ranks", i, size);
    trained_free(single);
    made_free(data);
  }
  CHECK_SEEN(n_sets > 20);
}

/* Sets of so many levels that they do not go with the split, but in a round of their own. */
static void factors_of_many_levels(void) {
  for (int policy = 0; policy < 3; policy++) {
    made *data = made_levels(3, 1500, 700);
    made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 3);
    train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 2);
    job.max_bin = 1000;
    job.spec.params.grow_policy = policy;
    job.spec.params.max_depth = 4;
    job.spec.params.cat_noise = job.spec.params.cat_l2 = 0.0;
    job.spec.params.cat_smooth = 1.0;
    job.spec.params.min_data_per_group = 2;
    trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    REQUIRE(single != NULL);
    CHECK(single->forest->n_words >= 17); /* more than go with a split */
    for (int size = 2; size <= 4; size++) job_by_ranks(&job, single, size, (uint64_t)size, 0);
    trained_free(single);
    made_free(data);
  }
}

/* Histograms of a layer that go in several rounds, and in numbers of 64 bits with counts. */
static void histograms_that_go_in_several_rounds(void) {
  enum { COLS = 60 };
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = MADE_BELL;
  for (int policy = 0; policy < 3; policy += 2) {
    made *data = made_new(5, 3000, COLS, kinds);
    made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 3);
    train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 1);
    job.spec.params.grow_policy = policy;
    job.spec.params.max_depth = 9;
    job.spec.params.min_data_in_leaf = 2;
    job.spec.params.min_child_weight = 0.0;
    job.spec.params.grad_bits = GBT_GRAD_32;
    trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    job_by_ranks(&job, single, 2, 3, 0);
    trained_free(single);
    made_free(data);
  }
}

/* Nodes on either side of 65,535 rows, whose sums have 64 or 32 bits on their way; a bin of more rows than 32 bits hold
 * the sum of. */
static void nodes_of_about_two_to_the_sixteen_rows(void) {
  static const int64_t rows[] = {65535, 65536, 450000};
  for (int i = 0; i < 3; i++) {
    made *data = made_new((uint64_t)i, rows[i], 2, (const made_kind[]){MADE_FEW, MADE_FACTOR});
    data->label = test_alloc((size_t)rows[i] * sizeof *data->label);
    for (int64_t r = 0; r < rows[i]; r++) data->label[r] = r % 2 ? 1.0 : -1.0;
    train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, 1);
    job.spec.params.max_depth = 3;
    job.spec.params.min_data_in_leaf = i == 1 ? 2 : 1;
    job.spec.params.grad_bits = GBT_GRAD_16;
    trained *single = train(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL});
    for (int size = 2; size <= 3; size++) job_by_ranks(&job, single, size, (uint64_t)size, 0);
    trained_free(single);
    made_free(data);
  }
}

void suite_ranks_search(void) {
  RUN(ranks_that_own_few_features_or_none);
  RUN(factors_of_many_levels);
  RUN(histograms_that_go_in_several_rounds);
  RUN(nodes_of_about_two_to_the_sixteen_rows);
}
