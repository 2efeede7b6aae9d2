/* Responses of several columns on the device: the bytes that the CPU gives, which test_columns.c compares with models
 * of single columns and with the naive training. */
#include "cuda_steps.h"
#include "random_job.h"

#include "../../src/gbt/math/sampling.h"

enum { SEEDS = 240 };

static const gbt_device_api *api_of(uint64_t seed) { return seed % 2 ? gbt_cuda_api() : cuda_steps_api(); }

/* By any objective that takes columns, and any way of growth and of drawing rows; often more than the two rounds that
 * are issued step by step and recorded. */
static void trainings_are_those_of_the_cpu(void) {
  int64_t splits = 0, jobs = 0, factors = 0;
  for (uint64_t seed = 1; seed <= test_cases(SEEDS) && test_n_bad() < 3; seed++) {
    random_job r = random_job_make(seed, seed % 40 == 0 ? 6000 : 300);
    if (random_job_columns(&r, 2 + (int32_t)(seed % 4), seed)) {
      r.job.spec.params.hist_memory = 1024; /* a layer must fit */
      r.job.rounds += (int64_t)(seed % 3);
      jobs++;
      factors += r.job.spec.params.sampling_method != GBT_SAMPLE_UNIFORM;
      if (!device_trains_alike(&r.job, &r.how, api_of(seed / 4), &splits)) random_job_tell(&r, seed);
    }
    random_job_free(&r);
  }
  test_note("%" PRId64 " trainings, %" PRId64 " splits", jobs, splits);
  CHECK_SEEN(jobs > 60 && splits > 1000 && factors > 10);
}

/* Where codes are partly on the device, and streamed. */
static void codes_in_several_places(void) {
  int64_t splits = 0;
  for (uint64_t seed = 400; seed < 400 + test_cases(24) && test_n_bad() < 3; seed++) {
    random_job r = random_job_make(seed, 400);
    const int percent = (int)(seed % 3) * 30;
    if (random_job_columns(&r, 3, seed)) {
      r.job.spec.params.hist_memory = 1024;
      if (!device_trains_alike(&r.job, &r.how, cuda_apart_api(percent, 60 - percent), &splits))
        random_job_tell(&r, seed);
    }
    random_job_free(&r);
  }
  CHECK_SEEN(splits > 50);
}

/* Every objective that takes columns, with weights by cell and by row, and further steps of leaves. */
static void every_objective_of_the_table(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_HOLED, MADE_FEW};
  int64_t splits = 0;
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++)
    for (int i = test_few() ? kind % 2 : 0; i < 4 && test_n_bad() < 3; i += test_few() ? 2 : 1) {
      if (gbt_objective_info_of(kind)->outputs != GBT_OUTPUTS_COLUMNS) continue;
      made *m = made_new(7, 150, 4, kinds), *valid = made_new(8, 40, 4, kinds);
      made_columns(m, (gbt_objective_kind)kind, 3, i % 2, (uint64_t)kind + 1);
      made_columns(valid, (gbt_objective_kind)kind, 3, i / 2, (uint64_t)kind + 5);
      if (i == 0) made_weights(m, 3);
      if (i == 2) made_offset(m, 3, 4);
      train_job job = job_make(m, (gbt_objective_kind)kind, 3, 3);
      job.spec.n_valid = 1;
      job.valid[0] = valid;
      job.spec.params.grow_policy = (kind + i) % 3;
      job.spec.params.max_depth = 4;
      job.spec.params.leaf_iterations = 1 + i % 3;
      job.spec.params.num_parallel_tree = 1 + i / 3;
      job.spec.params.subsample = i % 2 ? 0.8 : 1.0;
      if (!device_trains_alike(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL}, api_of((uint64_t)i), &splits))
        test_note("objective %s, case %d", gbt_objective_info_of(kind)->name, i);
      made_free(m);
      made_free(valid);
    }
  CHECK(splits > 500);
}

/* More columns than trees of a batch, by themselves and with common splits. */
static void more_columns_than_trees_of_a_batch(void) {
  const int32_t columns[] = {2, 33, 32, 31, 70};
  for (size_t i = 0; i < (test_few() ? 4 : 2 * sizeof columns / sizeof *columns); i++) {
    const int32_t K = columns[i / 2];
    const gbt_objective_kind kind = i / 2 % 2 ? GBT_OBJ_ABSOLUTE_ERROR : GBT_OBJ_SQUARED_ERROR;
    made *m = made_new(i + 1, 200, 3, NULL);
    made_columns(m, kind, K, i / 2 % 2 == 0, 5);
    train_job job = job_make(m, kind, K, 3);
    job.spec.params.max_depth = 3;
    job.spec.params.grow_policy = i % 2 ? GBT_SYMMETRIC : GBT_DEPTHWISE;
    if (i % 2) job.spec.params.multi_strategy = 1, job.spec.params.sketch = GBT_SKETCH_PROJECTION;
    int64_t splits = 0;
    if (!device_trains_alike(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL}, api_of(i / 2), &splits))
      test_note("%d columns, case %d", (int)K, (int)i);
    made_free(m);
  }
}

/* Any way of growth, in half of the jobs; with little room for histograms where these need not be all there. Returns
 * whether trees grow node by node. */
static int grow_somehow(random_job *r, uint64_t seed) {
  gbt_params *p = &r->job.spec.params;
  if (gbt_mix64(seed ^ 99) % 2) random_job_by_nodes(r, seed);
  p->hist_memory = p->grow_policy != GBT_SYMMETRIC && seed % 3 == 0 ? 1 : 1024; /* a layer must fit */
  return p->grow_policy != GBT_SYMMETRIC;
}

/* Common splits of columns, whatever is drawn: by the sum of gains, or by gradients that the device projects. */
static void common_trees_are_those_of_the_cpu(void) {
  int64_t splits = 0, jobs = 0, sums = 0, sets = 0, nodes = 0, node_sets = 0, kept = 0;
  for (uint64_t seed = 1; seed <= test_cases(SEEDS) && test_n_bad() < 3; seed++) {
    random_job r = random_job_make(seed, seed % 40 == 0 ? 6000 : 300);
    if (random_job_columns(&r, seed % 7 == 0 ? 9 : 2 + (int32_t)(seed / 2 % 7), seed)) {
      const int by_sum = r.job.spec.objective.n_outputs <= 8 && seed % 3 != 0;
      random_job_share_by(&r, seed, by_sum ? (int)(seed % 2) : seed % 7 == 0 ? GBT_SKETCH_AUTO : GBT_SKETCH_PROJECTION);
      const int by_nodes = grow_somehow(&r, seed);
      jobs++;
      sums += by_sum;
      nodes += by_sum && by_nodes;
      sets += by_sum && r.job.spec.params.max_cat_onehot < 8;
      node_sets += by_sum && by_nodes && r.job.spec.params.max_cat_onehot < 8;
      kept += by_nodes && r.job.spec.monotone != NULL;
      if (!device_trains_alike(&r.job, &r.how, api_of(seed / 4), &splits)) random_job_tell(&r, seed);
    }
    random_job_free(&r);
  }
  test_note("%" PRId64 " trainings, %" PRId64 " by sums, %" PRId64 " with sets; node by node %" PRId64 ", %" PRId64
            " with sets, %" PRId64 " with constraints; %" PRId64 " splits",
            jobs, sums, sets, nodes, node_sets, kept, splits);
  CHECK_SEEN(jobs > 60 && sums > 30 && sets > 10 && splits > 600);
  CHECK_SEEN(nodes > 10 && node_sets > 3 && kept > 3);
}

/* The limits of trees that grow node by node: numbers of leaves about powers of two, few layers or no limit of them,
 * two to eight columns, and tables of few rows, whose columns may have too few labels for any split. */
static void limits_of_nodes(void) {
  const int64_t leaves[] = {0, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17}, depths[] = {0, 1, 2, 3, 6}, rows[] = {3, 9, 40, 300};
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_HOLED, MADE_FEW, MADE_LEVELS};
  enum { LEAVES = sizeof leaves / sizeof *leaves, DEPTHS = sizeof depths / sizeof *depths };
  int64_t splits = 0;
  for (uint64_t i = 0; i < 2 * LEAVES * DEPTHS && test_n_bad() < 3; i += test_few() ? 3 : 1) {
    const int64_t most = leaves[i / 2 % LEAVES], depth = depths[i / 2 / LEAVES];
    const int32_t K = 2 + (int32_t)(i % 7);
    if (most == 0 && depth == 0) continue;
    made *m = made_new(i + 1, rows[gbt_mix64(i) % 4], 5, kinds);
    made_columns(m, GBT_OBJ_SQUARED_ERROR, K, i % 3 == 0, i + 5);
    train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, K, 3);
    gbt_params *p = &job.spec.params;
    p->grow_policy = i % 2 ? GBT_DEPTHWISE : GBT_LOSSGUIDE;
    p->multi_strategy = 1;
    p->max_leaves = most;
    p->max_depth = depth;
    p->min_child_weight = (double)(gbt_mix64(i) >> 8 & 3); /* some columns have too few labels */
    p->hist_memory = i / 7 % 2 ? 1 : 1024;
    p->max_cat_onehot = i % 5 == 0 ? 1 : 100;
    p->colsample_bylevel = i % 4 == 2 ? 0.6 : 1.0;
    p->cat_smooth = 1.0;
    p->min_data_per_group = 2;
    if (!device_trains_alike(&job, &(train_how){2, 0, GBT_SIMD_AUTO, NULL}, api_of(i / 2), &splits))
      test_note("case %d: %d columns, %d leaves, depth %d", (int)i, (int)K, (int)most, (int)depth);
    made_free(m);
  }
  CHECK(splits > 200);
}

static void common_trees_of_levels_are_those_of_the_cpu(void) {
  int64_t splits = 0, jobs = 0;
  for (uint64_t seed = 1; seed <= test_cases(1500) && test_n_bad() < 3; seed++) {
    random_job r = random_job_make(seed, 300);
    if (gbt_has_levels(&r.job.spec.objective)) {
      const int few = r.job.spec.objective.n_outputs <= 8;
      random_job_share_by(&r, seed, few ? (int)(seed % 3) : GBT_SKETCH_PROJECTION);
      grow_somehow(&r, seed);
      jobs++;
      if (!device_trains_alike(&r.job, &r.how, api_of(seed / 4), &splits)) random_job_tell(&r, seed);
    }
    random_job_free(&r);
  }
  test_note("%" PRId64 " trainings, %" PRId64 " splits", jobs, splits);
  CHECK_SEEN(jobs > 10 && splits > 50);
}

/* Of sums, where codes are partly on the device, and streamed. */
static void sums_with_codes_in_several_places(void) {
  int64_t splits = 0;
  for (uint64_t seed = 700; seed < 700 + test_cases(40) && test_n_bad() < 3; seed++) {
    random_job r = random_job_make(seed, 400);
    const int percent = (int)(seed % 3) * 30;
    if (random_job_columns(&r, 3, seed)) {
      random_job_share_by(&r, seed, GBT_SKETCH_NONE);
      grow_somehow(&r, seed);
      if (!device_trains_alike(&r.job, &r.how, cuda_apart_api(percent, 60 - percent), &splits))
        random_job_tell(&r, seed);
    }
    random_job_free(&r);
  }
  CHECK_SEEN(splits > 30);
}

void suite_cuda_columns(void) {
  RUN(trainings_are_those_of_the_cpu);
  RUN(codes_in_several_places);
  RUN(every_objective_of_the_table);
  RUN(more_columns_than_trees_of_a_batch);
  RUN(common_trees_are_those_of_the_cpu);
  RUN(limits_of_nodes);
  RUN(common_trees_of_levels_are_those_of_the_cpu);
  RUN(sums_with_codes_in_several_places);
}
