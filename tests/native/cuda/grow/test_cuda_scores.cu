/* Scores are added to window by window (src/cuda/grow/leaves/scores.cu), which large data alone have: here all have. */
#include "../../src/cuda/grow/backend.cuh"

extern "C" {
#include "random_job.h"
}
#include "cuda_door.cuh"

extern "C" void suite_cuda_scores(void);

enum { WINDOW = 8192 /* rows */, MOST_RUNS = 1024 /* leaves and nodes of a tree; with more, leaf by leaf */ };

static gbt_status open_windows(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                               gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  cu_backend *be = (cu_backend *)*out;
  be->hooks.no_small = 1; /* that kernel adds to scores by itself */
  be->view.score_windows = 1;
  return GBT_OK;
}

static int compare(const train_job *job, const train_how *how, size_t *most_nodes) {
  trained *cpu = train(job, how), *cuda = train_through(open_windows, job, how);
  const int ok = CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
  for (size_t t = 0; cpu && most_nodes && t < cpu->forest->n_trees; t++)
    if (cpu->forest->trees[t].n_nodes > *most_nodes) *most_nodes = cpu->forest->trees[t].n_nodes;
  trained_free(cpu);
  trained_free(cuda);
  return ok;
}

static void random_trainings_are_those_of_the_cpu(void) {
  int policies[3] = {0}, drawn = 0, parallel = 0;
  for (uint64_t seed = 1; seed <= test_cases(60); seed++) {
    random_job r = random_job_make(seed, 400);
    if (!compare(&r.job, &r.how, NULL)) random_job_tell(&r, seed);
    policies[r.job.spec.params.grow_policy]++;
    drawn += r.job.spec.params.subsample < 1.0;
    parallel += r.job.spec.params.num_parallel_tree > 1;
    random_job_free(&r);
  }
  CHECK_SEEN(policies[0] > 5 && policies[1] > 5 && policies[2] > 5 && drawn > 5);
  test_note("%d with drawn rows, %d with parallel trees", drawn, parallel);
}

/* Rows around one and several windows; leaves that have all rows of a window, and none. */
static void rows_around_windows(void) {
  static const int64_t sizes[] = {WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW, 2 * WINDOW + 1, 5 * WINDOW + 77};
  static const gbt_policy_kind growth[] = {GBT_DEPTHWISE, GBT_LOSSGUIDE, GBT_SYMMETRIC};
  const made_kind kinds[] = {MADE_BELL, MADE_HOLED, MADE_FEW};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  for (size_t i = 0; i < 3 * (sizeof sizes / sizeof *sizes); i++) {
    if (test_few() && i % 3 != i / 3 % 3) continue;
    made *data = made_new(60 + i, sizes[i / 3], 3, kinds);
    made_response(data, GBT_OBJ_LOGISTIC, 1, 60 + i);
    train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, 3);
    job.spec.params.grow_policy = growth[i % 3];
    job.spec.params.max_depth = growth[i % 3] == GBT_LOSSGUIDE ? 0 : 5;
    job.spec.params.max_leaves = growth[i % 3] == GBT_LOSSGUIDE ? 31 : 0;
    job.spec.params.subsample = i % 2 ? 0.5 : 1.0;
    if (!compare(&job, &how, NULL)) test_note("%lld rows, growth %d", (long long)sizes[i / 3], (int)(i % 3));
    made_free(data);
  }
}

/* Little enough for the thread sanitizer. */
static void two_windows(void) {
  const made_kind kinds[] = {MADE_BELL};
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  made *data = made_new(59, WINDOW + 100, 1, kinds);
  made_response(data, GBT_OBJ_LOGISTIC, 1, 59);
  train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, 1);
  job.spec.params.max_depth = 2;
  CHECK(compare(&job, &how, NULL));
  made_free(data);
}

/* More leaves and nodes than a block keeps bounds for; and one leaf. */
static void trees_of_many_leaves(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made *data = made_new(80, 6000, 4, kinds);
  made_response(data, GBT_OBJ_SQUARED_ERROR, 1, 80);
  for (int few = 0; few < 2; few++) {
    size_t most_nodes = 0;
    train_job job = job_make(data, GBT_OBJ_SQUARED_ERROR, 1, test_few() ? 2 : 3);
    job.spec.params.max_depth = 14;
    job.spec.params.min_child_weight = few ? 1e9 : 0.0;
    CHECK(compare(&job, &how, &most_nodes));
    CHECK(few ? most_nodes == 1 : most_nodes > MOST_RUNS);
  }
  made_free(data);
}

void suite_cuda_scores(void) {
  RUN(random_trainings_are_those_of_the_cpu);
  RUN(two_windows);
  RUN(rows_around_windows);
  RUN(trees_of_many_leaves);
}
