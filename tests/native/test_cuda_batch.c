/* Trees that grow beside each other on the device: however many of them, the bytes that the CPU gives, which grows them
 * one after the other. */
#define _POSIX_C_SOURCE 200809L
#include "../../src/gbt/backend/device.h"
#include "random_job.h"
#include "schedules.h"

const gbt_device_api *gbt_cuda_api(void);

/* The device, made to take at most so many trees at once; and how many it would have taken. */
static int32_t allowed_trees, offered_trees;
static gbt_device_api narrow;

static gbt_status open_narrow(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                              gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  offered_trees = (*out)->most_trees;
  if ((*out)->most_trees > allowed_trees) (*out)->most_trees = allowed_trees;
  return GBT_OK;
}

static trained *train_narrow(const train_job *job, const train_how *how, int32_t most) {
  train_how device = *how;
  narrow = *gbt_cuda_api();
  narrow.open = open_narrow;
  device.device = &narrow;
  allowed_trees = most;
  offered_trees = 0;
  return train(job, &device);
}

/* A random job with many trees a round. */
static random_job job_of_many(uint64_t seed, int32_t n_outputs, int64_t per_output) {
  random_job r = random_job_make(seed, 120);
  const gbt_loss loss = n_outputs == 1 ? GBT_LOSS_LOGISTIC : seed % 5 == 0 ? GBT_LOSS_CUSTOM : GBT_LOSS_SOFTMAX;
  gbt_params params = r.job.spec.params;
  params.num_parallel_tree = per_output;
  params.hist_memory = 1024;
  if (seed % 4) { /* mostly trees that the host need not look at */
    params.colsample_bynode = 1.0;
    r.job.spec.n_interact = 0;
  }
  r.job.spec.loss = loss;
  r.job.spec.n_outputs = n_outputs;
  r.job.spec.params = params;
  r.job.custom = loss == GBT_LOSS_CUSTOM ? custom_gradients : NULL;
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

/* Whether the host must look at the trees of a job while they grow. */
static int is_looked_at(const random_job *r) {
  const gbt_params *p = &r->job.spec.params;
  int by_node = p->colsample_bynode < 1.0 || r->job.spec.n_interact > 0;
  int by_level = p->colsample_bylevel < 1.0 && (p->max_depth == 0 || p->grow_policy == GBT_LOSSGUIDE);
  return by_node || by_level || (p->max_depth == 0 && p->grow_policy != GBT_LOSSGUIDE);
}

static void batches_do_not_show(void) {
  static const int32_t shapes[][2] = {{7, 1}, {3, 2}, {1, 7}, {5, 1}, {2, 3}, {3, 3}};
  static const int32_t most[] = {GBT_MOST_TREES, 1, 2, 3, 4, 5};
  int64_t alone = 0, together = 0, policies[3] = {0}, sampled = 0, sets = 0, valid = 0;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    const int32_t *shape = shapes[seed % 6];
    random_job r = job_of_many(seed, shape[0], shape[1]);
    trained *cpu = train(&r.job, &r.how);
    int ok = cpu != NULL;
    for (int k = 0; k < 6 && ok; k++) {
      if (k > 0 && (seed + (uint64_t)k) % 3) continue;
      trained *cuda = train_narrow(&r.job, &r.how, most[k]);
      const int64_t want = is_looked_at(&r) ? 1 : least(shape[0] * shape[1], GBT_MOST_TREES);
      ok = cuda != NULL && same_trained(cpu, cuda) && CHECK_EQ_I64(offered_trees, want);
      alone += offered_trees == 1;
      together += offered_trees > 1 && most[k] > 1;
      trained_free(cuda);
    }
    policies[r.job.spec.params.grow_policy]++;
    sampled += r.job.spec.params.subsample < 1.0;
    valid += r.job.spec.n_valid > 0;
    sets += cpu != NULL ? (int64_t)cpu->forest->n_words : 0;
    if (!CHECK(ok)) random_job_tell(&r, seed);
    trained_free(cpu);
    random_job_free(&r);
    if (!ok) return;
  }
  test_note("%" PRId64 " trainings of several trees at once, %" PRId64 " of trees that are looked at", together, alone);
  CHECK(together >= 40 && alone >= 10 && sampled >= 5 && sets > 50 && valid > 10);
  for (int p = 0; p < 3; p++) CHECK(policies[p] >= 5);
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

/* Trees may stand too far apart for one copy of a part of each. */
static void batches_far_apart(void) {
  setenv("SIMT_PITCH", "4096", 1); /* a device knows nothing of it */
  for (uint64_t seed = 201; seed < 207; seed++) {
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
  made_response(m, GBT_LOSS_SOFTMAX, 9, 5);
  train_job job = job_make(m, GBT_LOSS_SOFTMAX, 9, 3);
  const train_how how = {.threads = 2};
  job.spec.params.max_depth = 5; /* 16 histograms of 8 x 256 sums of 16 bytes: half a megabyte */
  trained *cpu = train(&job, &how);
  static const struct {
    int64_t hist, device;
    int32_t least, most;
  } limits[] = {{0, 0, 9, 9}, {1, 0, 1, 2}, {2, 0, 3, 4}, {0, 8, 2, 4}, {0, 4, 1, 2}};
  for (int i = 0; i < 5; i++) {
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

void suite_cuda_batch(void) {
  RUN(batches_do_not_show);
  RUN(batches_in_any_order);
  RUN(batches_far_apart);
  RUN(batches_have_room);
}
