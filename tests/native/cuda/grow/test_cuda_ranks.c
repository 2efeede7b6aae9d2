/* Ranks that train on devices, one each: the bytes of the CPU with all rows, whatever the shares. The ranks are threads
 * of this process, their devices one and the same. */
#include <stdlib.h>

#include "cuda_steps.h"
#include "odd_job.h"
#include "random_job.h"
#include "ranks_job.h"
#ifdef GBT_TEST_SIMT
#include "../simt/control.h"
#endif

/* One model on ranks of uneven shares, by the way with other pages. */
static int check_job(const train_job *job, const trained *single, int size, uint64_t seed, int place) {
  shares *s = shares_new(job, size, seed, seed % 4 == 0);
  rank_how hows[RANKS_MOST];
  ranked out[RANKS_MOST];
  const int32_t pages[] = {0, 7, 64};
  for (int r = 0; r < size; r++) {
    hows[r] = rank_how_make(1, pages[(size + r) % 3]);
    hows[r].how.device = cuda_place_api(place);
  }
  shares_train(s, hows, out);
  const int ok = same_ranked(s, out, single);
  for (int r = 0; r < size; r++) ranked_free(&out[r]);
  shares_free(s);
  return ok;
}

/* On some of 1, 2, 3, 4 and 8 ranks, n of these. */
static void check_random(random_job *r, uint64_t seed, uint64_t n) {
  static const int sizes[] = {1, 2, 4, 3, 8};
  if (r->job.spec.params.grow_policy == GBT_SYMMETRIC) r->job.spec.params.hist_memory = 1024; /* a layer must fit */
  trained *single = train(&r->job, &r->how);
  int ok = CHECK(single != NULL);
  for (uint64_t i = 0; i < n && ok; i++)
    ok = check_job(&r->job, single, sizes[(seed + 2 * i) % 5], seed + i, (int)((seed / 5 + i) % CUDA_N_PLACES));
  if (!ok) random_job_tell(r, seed);
  trained_free(single);
}

static void random_trainings_are_those_of_the_cpu(void) {
  for (uint64_t seed = 1; seed <= test_cases(60) && test_n_bad() == 0; seed++) {
    random_job r = seed % 4 == 3 ? odd_job_make(seed, 200) : random_job_make(seed, 300);
    check_random(&r, seed, 2);
    random_job_free(&r);
  }
}

static void trees_that_share_their_splits(void) {
  int64_t n = 0;
  for (uint64_t seed = 1; seed <= test_cases(80) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 300);
    if (random_job_share(&r, seed) && !gbt_gradients_by_host(&r.job.spec.objective) &&
        r.job.spec.params.boosting == 0) {
      n++;
      if (seed / 2 % 2) random_job_by_nodes(&r, seed);
      check_random(&r, seed, 1);
    }
    random_job_free(&r);
  }
  CHECK_SEEN(n > 4);
}

/* Columns of a response, in half of the trainings with common splits, by sums of gains or projected. */
static void columns_are_those_of_the_cpu(void) {
  int64_t n = 0;
  for (uint64_t seed = 1; seed <= test_cases(80) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 300);
    if (random_job_columns(&r, 2 + (int32_t)(seed % 3), seed)) {
      if (seed / 2 % 2) {
        random_job_share_by(&r, seed, seed / 4 % 4 == 0 ? GBT_SKETCH_PROJECTION : GBT_SKETCH_NONE);
        if (seed / 8 % 2) random_job_by_nodes(&r, seed);
      }
      n++;
      check_random(&r, seed, 1);
    }
    random_job_free(&r);
  }
  CHECK_SEEN(n > 20);
}

/* More rows than a block of any kernel takes. */
static void larger_trainings_are_those_of_the_cpu(void) {
  for (uint64_t seed = 900; seed < 900 + test_cases(2) && test_n_bad() == 0; seed++) {
    random_job r = random_job_make(seed, 3000);
    check_random(&r, seed, 2);
    random_job_free(&r);
  }
}

/* A label that the rule allows. */
static double label_for(gbt_label_rule rule, double x) {
  switch (rule) {
  case GBT_LABELS_NUMBER:
    return x;
  case GBT_LABELS_BINARY:
    return x > 0.0;
  case GBT_LABELS_SHARE:
    return 1.0 / (1.0 + x * x);
  case GBT_LABELS_CLASS:
    return (double)((int)(x * x * 3.0) % 3);
  case GBT_LABELS_COUNT:
  case GBT_LABELS_NOT_NEGATIVE:
    return (double)(int)(x * x);
  case GBT_LABELS_POSITIVE:
    return x * x + 0.1;
  case GBT_LABELS_ABOVE_MINUS_ONE:
    return x * x - 0.9;
  }
  return x;
}

static void every_objective_of_the_table(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_HOLES, MADE_HOLED, MADE_FEW};
  for (int kind = 0; kind < GBT_N_OBJECTIVES; kind++) {
    const gbt_objective_info *info = gbt_objective_info_of(kind);
    const int pair = info->outputs == GBT_OUTPUTS_TWO;
    if (info->gradient == GBT_GRADIENT_GIVEN || (kind >= MADE_ROW_OBJECTIVES && !pair)) continue;
    made *data = made_new(3, 200, 4, kinds);
    made_weights(data, 5);
    data->label = test_alloc(200 * sizeof *data->label);
    for (int i = 0; i < 200; i++) data->label[i] = label_for(info->labels, data->signal[i]);
    for (int i = 0; i < 200 && info->gradient == GBT_GRADIENT_TIME; i++) data->label[i] += 0.5; /* times are above 0 */
    const int32_t n_outputs = info->outputs == GBT_OUTPUTS_CLASSES || info->outputs == GBT_OUTPUTS_LEVELS ? 3
                              : pair ? 2 : 1;
    made_offset(data, n_outputs, 6);
    train_job job = job_make(data, (gbt_objective_kind)kind, n_outputs, 2);
    if (info->outputs == GBT_OUTPUTS_LEVELS) job.spec.objective = made_objective((gbt_objective_kind)kind, 3, 1);
    job.spec.params.subsample = 0.8;
    job.spec.params.max_depth = 3;
    job.spec.params.leaf_iterations = pair ? 1 : 1 + kind % 3;
    trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
    if (!check_job(&job, single, 2 + kind % 3, (uint64_t)kind + 10, kind / 3 % CUDA_N_PLACES))
      test_note("objective %s, %d ranks", info->name, 2 + kind % 3);
    trained_free(single);
    made_free(data);
  }
}

/* ---- cost ---- */

/* Of a training with its data: bytes that a rank of four sends; how often its host waits for the device. */
typedef struct cost {
  int64_t bytes, waits;
} cost;

static cost cost_of(int policy, int64_t rounds) {
  enum { SIZE = 4 };
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_FEW, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL};
  made *data = made_new(5, 2000, 8, kinds);
  made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 4);
  train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, rounds);
  job.spec.params.grow_policy = policy;
  job.spec.params.max_depth = 5;
  job.max_bin = 63;
  ranks_counts counts[SIZE] = {{0}};
  rank_how hows[SIZE];
  ranked out[RANKS_MOST];
  shares *s = shares_new(&job, SIZE, 5, 0);
  for (int r = 0; r < SIZE; r++) {
    hows[r] = rank_how_make(1, 0);
    hows[r].how.device = gbt_cuda_api();
    hows[r].counts = &counts[r];
  }
  cost all = {0, 0};
#ifdef GBT_TEST_SIMT
  simt_count_again();
#endif
  shares_train(s, hows, out);
#ifdef GBT_TEST_SIMT
  all.waits = simt_counted().waits / SIZE;
#endif
  for (int r = 0; r < SIZE; r++) {
    CHECK_EQ_I64(out[r].status, GBT_OK);
    ranked_free(&out[r]);
  }
  shares_free(s);
  made_free(data);
  all.bytes = counts[0].bytes;
  return all;
}

/* Pinned, as the table of the suite ranks_cost. bench/results/ranks.md has what it was before the search was divided,
 * when all ranks got all sums, and before sums of few rows went in 32 bits. Parcels of histograms and offers are small
 * here, so that there are more waits than on a device. */
static void what_a_training_costs(void) {
  static const struct {
    int policy;
    int64_t three;     /* bytes of data and three rounds, cuts are found in most of it */
    int64_t tree, waits; /* of the third tree, -1: not asked */
  } pinned[] = {{GBT_DEPTHWISE, 839440, 67376, 34},
                {GBT_LOSSGUIDE, 839440, -1, -1},
                {GBT_SYMMETRIC, 853360, 72016, 34}};
  for (int i = 0; i < 3; i++) {
    const cost three = cost_of(pinned[i].policy, 3);
    CHECK_EQ_I64(three.bytes, pinned[i].three);
    if (pinned[i].tree < 0) continue;
    const cost two = cost_of(pinned[i].policy, 2);
    CHECK_EQ_I64(three.bytes - two.bytes, pinned[i].tree);
#ifdef GBT_TEST_SIMT
    CHECK_EQ_I64(three.waits - two.waits, pinned[i].waits);
#endif
  }
}

/* ---- failures ---- */

/* All ranks have ended with the same status and, unless it is success, the same words. */
static int same_end(const ranked *out, int size) {
  int ok = 1;
  for (int r = 1; r < size && ok; r++) {
    ok &= CHECK_EQ_I64(out[r].status, out[0].status) & CHECK_EQ_I64(out[r].rounds, out[0].rounds);
    if (ok && out[0].status != GBT_OK) ok &= CHECK_EQ_TEXT(out[r].err.msg, out[0].err.msg);
  }
  return ok;
}

/* One rank has room for fewer trees at once, or for none. */
static void one_device_has_little_memory(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_BELL, MADE_FEW, MADE_BELL, MADE_BELL};
  made *data = made_new(5, 1000, 6, kinds);
  made_response(data, GBT_OBJ_SOFTMAX, 4, 4);
  train_job job = job_make(data, GBT_OBJ_SOFTMAX, 4, 1);
  job.spec.params.max_depth = 3;
  trained *single = train(&job, &(train_how){1, 0, GBT_SIMD_AUTO, NULL});
  int64_t n_failed = 0, n_fine = 0;
  for (int kilobytes = 20; kilobytes < 10000; kilobytes += kilobytes / 2) {
    shares *s = shares_new(&job, 3, 4, 0);
    rank_how hows[RANKS_MOST];
    ranked out[RANKS_MOST];
    for (int r = 0; r < 3; r++) {
      hows[r] = rank_how_make(1, 0);
      hows[r].how.device = cuda_scarce_api(kilobytes);
    }
    shares_train(s, hows, out);
    same_end(out, 3);
    if (out[0].status == GBT_OK) n_fine += same_ranked(s, out, single);
    n_failed += out[0].status == GBT_E_MEM;
    if (!CHECK(out[0].status == GBT_OK || out[0].status == GBT_E_MEM)) test_note("%s", out[0].err.msg);
    for (int r = 0; r < 3; r++) ranked_free(&out[r]);
    shares_free(s);
  }
  CHECK(n_failed > 1 && n_fine > 1);
  test_note("%" PRId64 " without room, %" PRId64 " with room for some", n_failed, n_fine);
  trained_free(single);
  made_free(data);
}

#ifdef GBT_TEST_SIMT
/* The n-th call of CUDA fails, on whichever rank that is. */
static void calls_of_one_rank_fail(void) {
  random_job r = random_job_make(9, 100);
  shares *s = shares_new(&r.job, 3, 4, 0);
  int64_t n_bad = 0;
  for (int64_t n = 1, failed = 1; failed; n += 1 + n / (test_few() ? 2 : 8)) {
    const int64_t live = simt_live();
    rank_how hows[RANKS_MOST];
    ranked out[RANKS_MOST];
    for (int i = 0; i < 3; i++) {
      hows[i] = rank_how_make(1, 0);
      hows[i].how.device = gbt_cuda_api();
    }
    simt_fail_at(n, 0);
    shares_train(s, hows, out);
    failed = simt_failed() > 0;
    simt_fail_at(0, 0);
    int ok = same_end(out, 3) & CHECK_EQ_I64(simt_live(), live);
    n_bad += out[0].status != GBT_OK;
    if (!ok) test_note("call %" PRId64 ": %s", n, out[0].err.msg);
    for (int i = 0; i < 3; i++) ranked_free(&out[i]);
  }
  /* Which calls are made up for depends on the order in which the ranks come to them. */
  CHECK(n_bad > 0);
  shares_free(s);
  random_job_free(&r);
}
#endif

void suite_cuda_ranks(void) {
  RUN(random_trainings_are_those_of_the_cpu);
  RUN(trees_that_share_their_splits);
  RUN(columns_are_those_of_the_cpu);
  RUN(larger_trainings_are_those_of_the_cpu);
  RUN(every_objective_of_the_table);
  RUN(what_a_training_costs);
  RUN(one_device_has_little_memory);
#ifdef GBT_TEST_SIMT
  RUN(calls_of_one_rank_fail);
#endif
}
