/* Recordings of batches: whatever of one is refused, the training goes on and gives the bytes of the CPU. */
#include "../../src/cuda/grow/backend.cuh"

extern "C" {
#include "random_job.h"
}
#include "cuda_door.cuh"
#include "schedules.h"

static const train_how on_cpu = {1, 0, GBT_SIMD_AUTO, NULL};

/* ---- a backend whose beginnings of batches are watched ---- */

static gbt_backend_ops watched;
static gbt_status (*real_begin)(gbt_ctx *, gbt_backend *, const gbt_tree_task *, int32_t, gbt_error *);
static size_t most_nodes, nodes, taken_bytes; /* by all recordings */
static int64_t n_begun, n_replayed;

/* A failure that is planted into the second batch, which is recorded: on an emulated device alone. */
#if defined(GBT_TEST_SIMT)
static int64_t fail_at, n_failures;
static int and_later;

static int planted(void) { return n_begun == 2 && fail_at > 0; }
static void plant(void) {
  if (n_begun == 1) n_failures = 0;
  if (planted()) simt_fail_at(fail_at, and_later);
}
static void harvest(void) {
  if (planted()) n_failures = simt_failed();
  if (planted() && !and_later) simt_fail_at(0, 0);
}
#else
static void plant(void) {}
static void harvest(void) {}
#endif

static gbt_status begin_watched(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                                gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  n_begun++;
  plant();
  if (n_begun == 1) taken_bytes = be->device.memory.bytes;
  const gbt_status status = real_begin(ctx, self, task, n_trees, err);
  harvest();
  n_replayed += be->graph.replays != NULL;
  nodes = be->graph.n_nodes;
  if (n_begun == 4) taken_bytes = be->device.memory.bytes - taken_bytes;
  return status;
}

#if defined(GBT_TEST_SIMT)
/* The launch of a part that fails, counted from the fourth batch's first one after its beginning. */
static gbt_status (*real_partition)(gbt_ctx *, gbt_backend *, gbt_error *);
static gbt_status (*real_finish)(gbt_ctx *, gbt_backend *, gbt_forest *, gbt_error *);
static int64_t part_to_fail, n_parts;

static void plant_part(const gbt_backend *self) {
  if (n_begun == 4 && ((const cu_backend *)self)->graph.replays && ++n_parts == part_to_fail) simt_fail_at(1, 0);
}

static gbt_status partition_watched(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) {
  plant_part(self);
  return real_partition(ctx, self, err);
}

static gbt_status finish_watched(gbt_ctx *ctx, gbt_backend *self, gbt_forest *forest, gbt_error *err) {
  plant_part(self);
  return real_finish(ctx, self, forest, err);
}

static void watch_parts(void) {
  real_partition = watched.partition;
  real_finish = watched.finish_trees;
  watched.partition = partition_watched;
  watched.finish_trees = finish_watched;
}
#else
static void watch_parts(void) {}
#endif

static gbt_status open_watched(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                               gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  cu_backend *be = (cu_backend *)*out;
  be->hooks.most_nodes = most_nodes;
  watched = *be->base.ops;
  real_begin = watched.begin_trees;
  watched.begin_trees = begin_watched;
  watch_parts();
  be->base.ops = &watched;
  return GBT_OK;
}

static trained *train_watched(const train_job *job) {
  n_begun = n_replayed = 0;
  return train_through(open_watched, job, &on_cpu);
}

/* ---- tests ---- */

/* Batches of 3 trees, 4 rounds: issued, recorded, replayed twice. The memory of what is recorded is counted, and how
 * much there may be is kept to. */
static void recordings_are_bounded(void) {
  made *m = made_mixed(GBT_OBJ_SOFTMAX, 3);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, 3, 4);
  job.spec.params.max_depth = 3;
  trained *cpu = train(&job, &on_cpu);
  size_t whole = 0;
  for (int i = 0; i < 3; i++) {
    most_nodes = i == 0 ? 0 : i == 1 ? whole - 1 : whole;
    trained *cuda = train_watched(&job);
    CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
    CHECK_EQ_I64(n_begun, 4);
    CHECK_EQ_I64(n_replayed, i == 1 ? 0 : 3);
    if (i == 0) whole = nodes;
    CHECK_EQ_U64(nodes, i == 1 ? 0 : whole);
    CHECK_EQ_U64(taken_bytes, nodes * 4096);
    trained_free(cuda);
  }
  CHECK(whole > 20 && whole < 64);
  most_nodes = 0;
  trained_free(cpu);
  made_free(m);
}

#if defined(GBT_TEST_SIMT)
/* Trees that the host looks at: a recording of three parts. */
static void grow_leaves(train_job *job, int32_t leaves) {
  job->spec.params.grow_policy = GBT_LOSSGUIDE;
  job->spec.params.max_depth = 0;
  job->spec.params.max_leaves = leaves;
}

/* Each call of a recording fails once, from its begin to its launch; of three parts each ninth one. The first call of a
 * batch chooses the device, before. */
static void recordings_that_fail(void) {
  const gbt_objective_kind losses[] = {GBT_OBJ_SQUARED_ERROR, GBT_OBJ_CUSTOM, GBT_OBJ_SQUARED_ERROR};
  for (int i = 0; i < 3; i++) {
    const int32_t n_outputs = i == 1 ? 2 : 1;
    made *m = made_mixed(GBT_OBJ_SQUARED_ERROR, 1);
    train_job job = job_make(m, losses[i], n_outputs, 4);
    job.custom = losses[i] == GBT_OBJ_CUSTOM ? custom_gradients : NULL;
    job.spec.params.max_depth = 2;
    job.spec.params.num_parallel_tree = i == 0 ? 2 : 1;
    if (i == 2) grow_leaves(&job, 20);
    trained *cpu = train(&job, &on_cpu);
    const int64_t live = simt_live();
    int64_t n = 0, kept = 0;
    for (fail_at = 2; fail_at < 200; fail_at += (i == 2 ? 9 : 1) * (test_few() ? 4 : 1)) {
      trained *cuda = train_watched(&job);
      int ok = cpu != NULL && cuda != NULL && same_trained(cpu, cuda) && CHECK_EQ_I64(simt_live(), live);
      ok = ok && CHECK(n_replayed == 0 || n_replayed == 3) && CHECK_EQ_U64(taken_bytes, nodes * 4096);
      trained_free(cuda);
      if (!CHECK(ok)) test_note("call %" PRId64, fail_at);
      if (!ok || n_failures == 0) break;
      n++;
      kept += n_replayed > 0;
    }
    test_note("%" PRId64 " calls of a recording", n);
    CHECK_SEEN(n > (i == 2 ? 10 : 20) && n_replayed == 3);
    CHECK_SEEN(i == 2 ? kept <= 3 : kept == 1); /* the graph that is not needed any more could not be freed */
    trained_free(cpu);
    made_free(m);
  }
  fail_at = 0;
}

/* The launch of a later part fails: what it has is issued step by step, and so is the rest of the batch. */
static void parts_that_fail(void) {
  made *m = made_mixed(GBT_OBJ_SQUARED_ERROR, 1);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 5);
  grow_leaves(&job, 40);
  trained *cpu = train(&job, &on_cpu);
  int64_t all = 0;
  for (part_to_fail = 0; part_to_fail <= all; part_to_fail++) {
    n_parts = 0;
    trained *cuda = train_watched(&job);
    if (part_to_fail == 0) all = n_parts;
    CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
    CHECK_EQ_I64(n_parts, part_to_fail == 0 ? all : part_to_fail);
    CHECK_EQ_I64(n_begun, 5);
    CHECK_EQ_I64(n_replayed, part_to_fail == 0 ? 4 : 3); /* the recording is given up */
    trained_free(cuda);
  }
  part_to_fail = 0;
  CHECK(all >= 2);
  trained_free(cpu);
  made_free(m);
}

/* A device that is lost is reported, wherever it is lost. */
static void devices_lost_while_recording(void) {
  made *m = made_mixed(GBT_OBJ_SQUARED_ERROR, 1);
  train_job job = job_make(m, GBT_OBJ_SQUARED_ERROR, 1, 3);
  job.spec.params.max_depth = 2;
  const gbt_device_api door = cuda_door(open_watched);
  and_later = 1;
  for (fail_at = 1; fail_at < 30; fail_at += 7) {
    gbt_ctx ctx;
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    n_begun = 0;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
    if (job_open(&ctx, &job, 0, &spec)) {
      spec.device = &door;
      REQUIRE_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err));
      CHECK_FAILS(gbt_trainer_run(&ctx, tr, job.rounds, &why, test_err), GBT_E_DEVICE, "lost");
      CHECK_EQ_I64(n_begun, 2);
      gbt_trainer_free(tr);
    }
    simt_fail_at(0, 0);
    job_close(&spec);
    gbt_ctx_close(&ctx);
  }
  and_later = 0;
  fail_at = 0;
  made_free(m);
}
#endif

extern "C" void suite_cuda_graph(void);
void suite_cuda_graph(void) {
  RUN(recordings_are_bounded);
#if defined(GBT_TEST_SIMT)
  RUN(recordings_that_fail);
  RUN(parts_that_fail);
  RUN(devices_lost_while_recording);
#endif
}
