/* Trees that grow side by side on the device: however many of them, the bytes that the CPU gives, which grows them
 * one after the other. */
#include "../../src/cuda/grow/search/layer.cuh"

extern "C" {
#include "random_job.h"
}
#include "cuda_door.cuh"
#include "schedules.h"

/* The device, made to take at most so many trees at once; how many it would have taken, and whether the host looks at
 * them. come: nodes of a tree, and words of its sets, that come unasked at most, 0: as it is. */
static int32_t allowed_trees, offered_trees;
static int looked_at;
static size_t come, state_bytes;

/* ---- batches ---- */

static gbt_status open_narrow(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                              gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  cu_backend *be = (cu_backend *)*out;
  offered_trees = (*out)->most_trees;
  state_bytes = (size_t)be->view.stride;
  looked_at = be->bounds.looks > 0;
  if (come > 0 && come < be->down.cap_node) be->down.cap_node = come;
  if (come > 0 && come < be->down.cap_words) be->down.cap_words = come;
  if ((*out)->most_trees > allowed_trees) (*out)->most_trees = allowed_trees;
  return GBT_OK;
}

static trained *train_narrow(const train_job *job, const train_how *how, int32_t most) {
  allowed_trees = most;
  offered_trees = 0;
  return train_through(open_narrow, job, how);
}

/* A random job with many trees a round. */
static random_job job_of_many(uint64_t seed, int32_t n_outputs, int64_t per_output) {
  random_job r = random_job_make(seed, 120);
  random_job_draw_evenly(&r);
  const gbt_objective_kind loss = n_outputs == 1 ? GBT_OBJ_LOGISTIC : seed % 5 == 0 ? GBT_OBJ_CUSTOM : GBT_OBJ_SOFTMAX;
  gbt_params params = r.job.spec.params;
  params.num_parallel_tree = per_output;
  if (loss == GBT_OBJ_CUSTOM) params.leaf_iterations = 1; /* further steps need gradients of ours */
  if (loss != GBT_OBJ_SOFTMAX) params.softmax_hessian = 2.0;
  params.hist_memory = 1024;
  if (seed % 3 && params.grow_policy == GBT_DEPTHWISE) { /* the host has to look when they are complete */
    params.max_depth = 0;
    params.max_leaves = 20;
  }
  r.job.spec.objective = gbt_objective_make(loss, n_outputs); /* without the parameters of another one */
  r.job.spec.params = params;
  r.job.custom = loss == GBT_OBJ_CUSTOM ? custom_gradients : NULL;
  r.job.rounds = 3; /* issued, recorded, replayed */
  for (int32_t s = 0; s <= r.job.spec.n_valid; s++) {
    made *m = s == 0 ? r.data : r.valid[s - 1];
    made_response(m, loss, n_outputs, seed);
    if (m->offset) made_offset(m, n_outputs, seed + 1);
  }
  if (r.data->table.n_rows < 20) r.job.spec.n_valid = 0;
  return r;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void batches_do_not_show(void) {
  static const int32_t shapes[][2] = {{7, 1}, {3, 2}, {1, 7}, {5, 1}, {2, 3}, {3, 3}};
  static const int32_t most[] = {GBT_MOST_TREES, 1, 2, 3, 4, 5};
  int64_t together = 0, looked = 0, large = 0, policies[3] = {0}, sampled = 0, drawn = 0, sets = 0, valid = 0;
  for (uint64_t seed = 1; seed <= test_cases(30); seed++) {
    const int32_t *shape = shapes[seed % 6];
    random_job r = job_of_many(seed, shape[0], shape[1]);
    trained *cpu = train(&r.job, &r.how);
    int ok = cpu != NULL;
    for (int k = 0; k < 6 && ok; k++) {
      if (k > 0 && (seed + (uint64_t)k) % 5) continue;
      come = seed % 3 ? 1 + seed % 4 : 0;
      if (k % 2) setenv("SIMT_JUNK", "0", 1); /* new memory holds anything */
      trained *cuda = train_narrow(&r.job, &r.how, most[k]);
      come = 0;
      unsetenv("SIMT_JUNK");
      const int64_t want = least(shape[0] * shape[1], GBT_MOST_TREES);
      ok = cuda != NULL && same_trained(cpu, cuda) && CHECK_EQ_I64(offered_trees, want) &&
           CHECK_EQ_U64(state_bytes % 256, 0);
      large += seed % 3 && cuda != NULL && cuda->forest->n_nodes > 4 * cuda->forest->n_trees;
      together += most[k] > 1;
      looked += most[k] > 1 && looked_at;
      trained_free(cuda);
    }
    policies[r.job.spec.params.grow_policy]++;
    const gbt_params *p = &r.job.spec.params;
    sampled += p->subsample < 1.0;
    drawn += p->colsample_bylevel < 1.0 || p->colsample_bynode < 1.0 || r.job.spec.n_interact > 0;
    valid += r.job.spec.n_valid > 0;
    sets += cpu != NULL ? (int64_t)cpu->forest->n_words : 0;
    if (!CHECK(ok)) random_job_tell(&r, seed);
    trained_free(cpu);
    random_job_free(&r);
    if (!ok) return;
  }
  test_note("%" PRId64 " trainings of several trees at once, %" PRId64 " of trees that are looked at, %" PRId64
            " of trees that do not come unasked; %" PRId64 " jobs with features by layer or node",
            together, looked, large, drawn);
  CHECK_SEEN(together >= 40 && looked >= 5 && large >= 10 && sampled >= 5 && drawn >= 10 && sets > 50 && valid > 10);
  for (int p = 0; p < 3; p++) CHECK_SEEN(policies[p] >= 5);
}

/* The order in which blocks and threads run does not show either. */
static void batches_in_any_order(void) {
  for (uint64_t seed = 101; seed < 103; seed++) {
    random_job r = job_of_many(seed, 3, 1 + (int64_t)(seed % 2));
    trained *cpu = train(&r.job, &r.how);
    for (int k = 0; test_schedule(k); k++) {
      trained *cuda = train_narrow(&r.job, &r.how, GBT_MOST_TREES);
      CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
      trained_free(cuda);
    }
    trained_free(cpu);
    random_job_free(&r);
  }
}

/* Of one class's gradients all but one are tiny, so that its trees take 32 bits of them, the others' 16. */
static void batches_of_both_widths(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_FEW, MADE_LEVELS};
  const int64_t n = 1100; /* one of 16384 units alone is fewer than 16 on average */
  const int32_t n_outputs = 4;
  made *m = made_new(9, n, 3, kinds);
  made_response(m, GBT_OBJ_SOFTMAX, n_outputs, 9);
  made_offset(m, n_outputs, 9);
  for (int64_t r = 0; r < n; r++) {
    if (r == 77)
      m->label[r] = 1.0;
    else if (m->label[r] == 1.0)
      m->label[r] = 2.0;
    m->offset[n + r] = -15.0;
  }
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, n_outputs, 3);
  job.spec.params.max_depth = 3;
  job.spec.params.min_child_weight = 0.0;
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  const int bits[] = {GBT_GRAD_AUTO, GBT_GRAD_16, GBT_GRAD_32};
  uint64_t seen[3] = {0, 0, 0};
  for (int64_t per_output = 1; per_output <= 2; per_output++) {
    job.spec.params.num_parallel_tree = per_output;
    for (int b = 0; b < 3; b++) {
      job.spec.params.grad_bits = bits[b];
      trained *cpu = train(&job, &how), *cuda = b == 0 ? train_narrow(&job, &how, GBT_MOST_TREES) : NULL;
      if (b == 0) CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
      if (b == 0) CHECK_EQ_I64(offered_trees, n_outputs * per_output);
      if (cpu != NULL) seen[b] = forest_digest(0, cpu->forest);
      trained_free(cpu);
      trained_free(cuda);
    }
    CHECK(seen[0] != seen[1] && seen[0] != seen[2]);
  }
  made_free(m);
}

/* A leaf of one tree overflows: that is reported, whichever of the batch it is, and none of them stays. */
static void batch_fails(int32_t output) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL};
  enum { ROWS = 50, OUTPUTS = 3 };
  made *m = made_new(3, ROWS, 2, kinds);
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, 3);
  train_job job = job_make(m, GBT_OBJ_CUSTOM, OUTPUTS, 1);
  double gh[2][OUTPUTS * ROWS];
  for (int i = 0; i < OUTPUTS * ROWS; i++) {
    gh[0][i] = i / ROWS == output ? 1e200 : (double)(i % 7) - 3.0;
    gh[1][i] = i / ROWS == output ? 1e-200 : 1.0;
  }
  job.spec.params.lambda = job.spec.params.min_child_weight = 0.0;
  for (int on_device = 0; on_device < 2; on_device++) {
    gbt_ctx ctx;
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
    if (job_open(&ctx, &job, 0, &spec)) {
      spec.device = on_device ? gbt_cuda_api() : NULL;
      REQUIRE_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err));
      CHECK_OK(gbt_trainer_set_gradients(&ctx, tr, gh[0], gh[1], test_err));
      CHECK_FAILS(gbt_trainer_run(&ctx, tr, 1, &why, test_err), GBT_E_DATA, "leaf value");
      CHECK(gbt_trainer_forest(tr)->n_trees == 0 && gbt_trainer_rounds(tr) == 0);
      gbt_trainer_free(tr);
    }
    job_close(&spec);
    gbt_ctx_close(&ctx);
  }
  made_free(m);
}

static void batches_fail(void) {
  for (int32_t output = 0; output < 3; output++) batch_fails(output);
}

/* Trees may be too far apart for one copy of a part of each. */
static void batches_far_apart(void) {
  setenv("SIMT_PITCH", "4096", 1); /* a device knows nothing of it */
  for (uint64_t seed = 201; seed < 201 + test_cases(6); seed++) {
    random_job r = job_of_many(seed, seed % 2 ? 4 : 2, seed % 2 ? 1 : 2);
    trained *cpu = train(&r.job, &r.how), *cuda = train_narrow(&r.job, &r.how, GBT_MOST_TREES);
    if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) random_job_tell(&r, seed);
    trained_free(cuda);
    trained_free(cpu);
    random_job_free(&r);
  }
  unsetenv("SIMT_PITCH");
}

/* Histograms have as much room as the user gives: fewer trees at once. And where memory is short after all, fewer too.
 */
static void batches_have_room(void) {
  const made_kind kinds[] = {MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL, MADE_BELL};
  made *m = made_new(5, 600, 8, kinds);
  made_response(m, GBT_OBJ_SOFTMAX, 9, 5);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, 9, 2);
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  job.spec.params.max_depth = 5; /* 16 histograms of 8 x 256 sums of 16 bytes: half a megabyte */
  trained *cpu = train(&job, &how);
  static const struct {
    int64_t hist, device;
    int32_t least, most;
  } limits[] = {{0, 0, 9, 9}, {1, 0, 1, 2}, {2, 0, 3, 4}, {0, 8, 2, 4}, {0, 4, 1, 2}};
  for (int i = 0; i < 5; i += test_few() ? 2 : 1) {
    job.spec.params.hist_memory = limits[i].hist;
    job.spec.params.device_memory = limits[i].device;
    trained *cuda = train_narrow(&job, &how, GBT_MOST_TREES);
    CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
    if (!CHECK(offered_trees >= limits[i].least && offered_trees <= limits[i].most))
      test_note("limits %d: %d trees at once", i, (int)offered_trees);
    trained_free(cuda);
  }
  trained_free(cpu);
  made_free(m);
}

#if defined(GBT_TEST_SIMT)
/* A training with so much memory. 1: the same as `cpu`; *fewer: the first try took more than there was. */
static int fits(const train_job *job, const trained *cpu, size_t bytes, int *fewer) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  gbt_error err;
  int ok = 0;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err))) return 0;
  if (job_open(&ctx, job, 0, &spec)) {
    const gbt_device_api door = cuda_door(open_narrow);
    spec.device = &door;
    simt_memory(bytes);
    const gbt_status status = gbt_trainer_new(&ctx, &spec, &tr, &err);
    if (status == GBT_OK && CHECK_OK(gbt_trainer_run(&ctx, tr, job->rounds, &why, test_err))) {
      trained *cuda = trained_of(&ctx, job, &spec, tr);
      ok = same_trained(cpu, cuda);
      *fewer += offered_trees < least(job->spec.objective.n_outputs, (int64_t)(bytes / 4 / state_bytes));
      trained_free(cuda);
    }
    CHECK(status == GBT_OK || (status == GBT_E_MEM && tr == NULL));
    gbt_trainer_free(tr);
    simt_memory(0);
  }
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return ok;
}

/* What was planned may turn out to be too much, as sets and scores need room too: fewer trees then, and nothing of the
 * first try stays. */
static void batches_make_do(void) {
  const made_kind kinds[] = {MADE_BELL};
  made *m = made_new(5, 100, 1, kinds), *valid = made_new(6, 3000, 1, kinds);
  made_response(m, GBT_OBJ_SOFTMAX, 9, 5);
  made_response(valid, GBT_OBJ_SOFTMAX, 9, 6);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, 9, 1);
  job.spec.params.max_depth = 2;
  job.spec.n_valid = 1;
  job.valid[0] = valid;
  const train_how how = {1, 0, GBT_SIMD_AUTO, NULL};
  trained *cpu = train(&job, &how);
  const int64_t live = simt_live();
  int n_fit = 0, n_short = 0, fewer = 0;
  allowed_trees = GBT_MOST_TREES;
  for (size_t bytes = 150000; cpu != NULL && bytes < 900000; bytes += bytes / (test_few() ? 8 : 24)) {
    if (fits(&job, cpu, bytes, &fewer))
      n_fit++;
    else
      n_short += CHECK_EQ_I64(n_fit, 0);
    CHECK_EQ_I64(simt_live(), live);
  }
  if (!CHECK_SEEN(n_fit > 3 && n_short > 3 && fewer > 1))
    test_note("%d times enough, %d times not, %d times enough for fewer trees", n_fit, n_short, fewer);
  trained_free(cpu);
  made_free(m);
  made_free(valid);
}
#endif

extern "C" void suite_cuda_batch(void);
void suite_cuda_batch(void) {
  RUN(batches_do_not_show);
  RUN(batches_in_any_order);
  RUN(batches_of_both_widths);
  RUN(batches_fail);
  RUN(batches_far_apart);
  RUN(batches_have_room);
#if defined(GBT_TEST_SIMT)
  RUN(batches_make_do);
#endif
}
