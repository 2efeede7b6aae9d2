/* Trainings whose codes have no room on the device: it reads them in the host's memory, and the bytes of the model stay
 * those of the CPU. */
#include "../../src/cuda/grow/backend.cuh"

extern "C" {
#include "random_job.h"
#include "stores.h"
}
#include "cuda_door.cuh"
#include "schedules.h"

extern "C" void suite_cuda_codes(void);

/* Where the codes are to stand when a test says so; where they stood in the training that was opened last. */
static cu_resides asked, taken;
static uint64_t on_host;

static void look_at(const gbt_backend *opened) {
  const cu_backend *be = (const cu_backend *)opened;
  taken = be->bounds.codes;
  on_host = opened->host_bytes;
  for (int32_t s = 0; s <= be->n_valid; s++) {
    const int away = taken == CU_NO_CODES || (s > 0 && taken == CU_TRAIN_CODES);
    CHECK((be->data[s].host_words != NULL) == away && (be->data[s].words.at != NULL) == !away);
    CHECK(be->data[s].view.words == (away ? be->data[s].host_words : be->data[s].words.at));
  }
}

static gbt_status open_asked(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                             gbt_error *err) {
  GBT_TRY(cu_open_with(ctx, device, spec, asked, out, err));
  look_at(*out);
  return GBT_OK;
}

static gbt_status open_any(gbt_ctx *ctx, int32_t device, const gbt_backend_spec *spec, gbt_backend **out,
                           gbt_error *err) {
  GBT_TRY(gbt_cuda_api()->open(ctx, device, spec, out, err));
  look_at(*out);
  return GBT_OK;
}

/* Random trainings of all kinds: growth, sampling, masks, sparse columns, bundles, sets, validation sets. */
static void places_do_not_show(void) {
  int n_away = 0;
  for (uint64_t seed = 1; seed <= 24; seed++) {
    random_job r = random_job_make(seed, 150);
    trained *cpu = train(&r.job, &r.how);
    for (int codes = CU_ALL_CODES; codes < CU_N_CODES; codes++) {
      asked = (cu_resides)codes;
      on_host = 0;
      trained *cuda = train_through(open_asked, &r.job, &r.how);
      if (!CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda))) random_job_tell(&r, seed);
      CHECK((on_host > 0) == (codes == CU_NO_CODES || (codes == CU_TRAIN_CODES && r.job.spec.n_valid > 0)));
      n_away += on_host > 0;
      trained_free(cuda);
    }
    trained_free(cpu);
    random_job_free(&r);
  }
  CHECK(n_away > 24);
}

enum { COLS = 60, ROWS = 24000 };

static train_job wide_job(made **train, made **valid) {
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = c % 7 ? MADE_BELL : MADE_ZEROS;
  *train = made_new(5, ROWS, COLS, kinds);
  *valid = made_new(6, ROWS, COLS, kinds);
  made_response(*train, GBT_OBJ_LOGISTIC, 1, 5);
  made_response(*valid, GBT_OBJ_LOGISTIC, 1, 6);
  train_job job = job_make(*train, GBT_OBJ_LOGISTIC, 1, 4);
  job.spec.params.max_depth = 3;
  job.spec.n_valid = 1;
  job.valid[0] = *valid;
  return job;
}

/* The limit that users set, in megabytes: codes leave the device one set after the other as it falls, never without
 * need, and the training keeps to it. */
static void limits_are_kept(void) {
  static const gbt_policy_kind growth[] = {GBT_DEPTHWISE, GBT_LOSSGUIDE, GBT_SYMMETRIC};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made *data, *valid;
  train_job job = wide_job(&data, &valid);
  for (int g = 0; g < 3; g++) {
    int seen[CU_N_CODES] = {0}, n_short = 0;
    job.spec.params.grow_policy = growth[g];
    job.spec.params.max_leaves = growth[g] == GBT_LOSSGUIDE ? 7 : 0;
    job.spec.params.device_memory = 0;
    trained *cpu = train(&job, &how);
    for (int64_t mb = 13; mb > 0; mb -= mb > 8 ? 2 : 1) {
      job.spec.params.device_memory = mb;
      gbt_ctx ctx;
      gbt_trainer_spec spec;
      gbt_trainer *tr = NULL;
      gbt_stop_reason why;
      gbt_error err;
      if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, NULL, NULL, test_err))) break;
      if (job_open(&ctx, &job, 0, &spec)) {
        const gbt_device_api door = cuda_door(open_any);
        spec.device = &door;
        const gbt_status status = gbt_trainer_new(&ctx, &spec, &tr, &err);
        CHECK(status == GBT_OK || (status == GBT_E_MEM && tr == NULL && strstr(err.msg, "limit of") != NULL));
        n_short += status != GBT_OK;
        if (status == GBT_OK && CHECK_OK(gbt_trainer_run(&ctx, tr, job.rounds, &why, test_err))) {
          trained *cuda = trained_of(&ctx, &job, &spec, tr);
          CHECK(cpu != NULL && same_trained(cpu, cuda));
          CHECK(gbt_trainer_device_bytes(tr) <= (uint64_t)mb << 20);
          CHECK_EQ_U64(gbt_trainer_host_bytes(tr), on_host);
          for (int later = taken + 1; later < CU_N_CODES; later++) CHECK_EQ_I64(seen[later], 0);
          seen[taken]++;
          trained_free(cuda);
        }
        gbt_trainer_free(tr);
      }
      job_close(&spec);
      gbt_ctx_close(&ctx);
    }
    if (!CHECK(seen[CU_ALL_CODES] > 0 && seen[CU_TRAIN_CODES] > 0 && seen[CU_NO_CODES] > 0 && n_short > 0))
      test_note("growth %d: %d, %d, %d times; %d times none", g, seen[0], seen[1], seen[2], n_short);
    trained_free(cpu);
  }
  made_free(data);
  made_free(valid);
}

/* Trains through open_asked with the codes there, from pages in files; how the opening of the trainer ended. */
static gbt_status train_from_files(train_job *job, cu_resides codes, const trained *cpu, gbt_error *err) {
  gbt_ctx ctx;
  gbt_trainer_spec spec;
  gbt_trainer *tr = NULL;
  gbt_stop_reason why;
  gbt_status status = GBT_E_INTERNAL;
  asked = codes;
  if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 2, GBT_SIMD_AUTO, NULL, NULL, test_err))) return status;
  if (job_open(&ctx, job, 0, &spec)) {
    const gbt_device_api door = cuda_door(open_asked);
    spec.device = &door;
    status = gbt_trainer_new(&ctx, &spec, &tr, err);
    if (status == GBT_OK && CHECK_OK(gbt_trainer_run(&ctx, tr, job->rounds, &why, test_err))) {
      trained *cuda = trained_of(&ctx, job, &spec, tr);
      CHECK(cpu != NULL && same_trained(cpu, cuda));
      trained_free(cuda);
    }
    gbt_trainer_free(tr);
  }
  job_close(&spec);
  gbt_ctx_close(&ctx);
  return status;
}

/* Files keep 0 or 24 bytes a row in memory, by the number of rows: codes of pages that stream go to the host's memory
 * as far as that, and no farther; those of pages that all stay do; on the device all do. */
static void budgets_of_files_are_kept(void) {
  static const struct {
    int n_rows, n_cols, fits;
  } cases[] = {{4000, 16, 0}, {4003, 16, 1}, {4003, 60, 0}};
  const train_how how = {2, 0, GBT_SIMD_AUTO, NULL};
  made_kind kinds[COLS];
  for (int c = 0; c < COLS; c++) kinds[c] = MADE_BELL;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    made *data = made_new(7, cases[i].n_rows, cases[i].n_cols, kinds);
    made_response(data, GBT_OBJ_LOGISTIC, 1, 7);
    train_job job = job_make(data, GBT_OBJ_LOGISTIC, 1, 2);
    gbt_error err;
    trained *cpu = train(&job, &how);
    const store_kind before = stores_use(STORE_FILE);
    CHECK(train_from_files(&job, CU_ALL_CODES, cpu, &err) == GBT_OK);
    const gbt_status status = train_from_files(&job, CU_NO_CODES, cpu, &err);
    stores_use(before);
    if (cases[i].fits)
      CHECK(status == GBT_OK);
    else
      CHECK(status == GBT_E_MEM && strstr(err.msg, "raise `memory` of gbt_open()") != NULL);
    trained_free(cpu);
    made_free(data);
  }
}

#if defined(GBT_TEST_SIMT)
/* Any call that fails while the backend opens, or grows its trees, leaves nothing behind. */
static void failures_leave_nothing(void) {
  random_job r = random_job_make(11, 60);
  const int64_t live = simt_live();
  int n_failed = 0, done = 0;
  asked = CU_NO_CODES;
  for (int64_t n = 1; n < 4000 && !done; n += 1 + n / 8) {
    gbt_ctx ctx;
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    gbt_error err;
    if (!CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err))) break;
    if (job_open(&ctx, &r.job, 0, &spec)) {
      const gbt_device_api door = cuda_door(open_asked);
      spec.device = &door;
      simt_fail_at(n, 0);
      gbt_status status = gbt_trainer_new(&ctx, &spec, &tr, &err);
      if (status == GBT_OK) status = gbt_trainer_run(&ctx, tr, r.job.rounds, &why, &err);
      done = simt_failed() == 0;
      n_failed += status != GBT_OK;
      CHECK(status == GBT_OK || status == GBT_E_MEM || status == GBT_E_DEVICE);
      simt_fail_at(0, 0);
      gbt_trainer_free(tr);
    }
    job_close(&spec);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(simt_live(), live);
  }
  CHECK(done && n_failed > 10);
  random_job_free(&r);
}
#endif

void suite_cuda_codes(void) {
  RUN(places_do_not_show);
  RUN(limits_are_kept);
  RUN(budgets_of_files_are_kept);
#if defined(GBT_TEST_SIMT)
  RUN(failures_leave_nothing);
#endif
}
