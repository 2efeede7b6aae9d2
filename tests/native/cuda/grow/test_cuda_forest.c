/* Forests of trees that grow on the device: the host appends a batch while the next one grows. */
#include "../../src/gbt/backend/device_api.h"
#include "fault.h"
#include "random_job.h"

const gbt_device_api *gbt_cuda_api(void);

static const train_how on_cpu = {1, 0, GBT_SIMD_AUTO, NULL};

/* Trees come into the forest while others grow. If there is no memory for them, the whole rounds before are there. */
static void forests_that_cannot_grow(void) {
  enum { ROUNDS = 5, PER_ROUND = 3 };
  made *m = made_mixed(GBT_OBJ_SOFTMAX, PER_ROUND);
  train_job job = job_make(m, GBT_OBJ_SOFTMAX, PER_ROUND, ROUNDS);
  job.spec.params.max_depth = 2;
  int64_t partly = 0, n = 0;
  size_t whole = 0;
  for (int64_t at = 0; at < 200; at++) { /* 0: none fails */
    fault f;
    gbt_ctx ctx;
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    gbt_error err;
    fault_start(&f, 0, 0);
    REQUIRE_OK(gbt_ctx_open(&ctx, fault_mem(&f), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
    REQUIRE(job_open(&ctx, &job, 0, &spec));
    spec.device = gbt_cuda_api();
    REQUIRE_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err));
    if (at > 0) f.fail_at = f.n_calls + at;
    const gbt_status status = gbt_trainer_run(&ctx, tr, ROUNDS, &why, &err);
    const int64_t rounds = gbt_trainer_rounds(tr), failed = f.n_failed;
    const gbt_forest *forest = gbt_trainer_forest(tr);
    CHECK_EQ_I64(status, failed > 0 ? GBT_E_MEM : GBT_OK);
    CHECK_EQ_U64(forest->n_trees, (size_t)rounds * PER_ROUND);
    CHECK(rounds < ROUNDS || failed == 0);
    if (at == 0) whole = forest->n_nodes;
    CHECK(failed > 0 || forest->n_nodes == whole);
    partly += failed > 0 && rounds > 0;
    n += failed > 0;
    gbt_trainer_free(tr);
    job_close(&spec);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
    if (at > 0 && failed == 0) break;
  }
  test_note("%" PRId64 " allocations, %" PRId64 " of them behind the first round", n, partly);
  CHECK(n > 5 && partly > 2);
  made_free(m);
}

/* Round after round, or all at once: the same trees, all of them there when a run is over. */
static void runs_in_pieces(void) {
  made *m = made_mixed(GBT_OBJ_LOGISTIC, 1);
  train_job job = job_make(m, GBT_OBJ_LOGISTIC, 1, 5);
  trained *cpu = train(&job, &on_cpu);
  for (int piece = 1; piece <= 5; piece += 2) {
    gbt_ctx ctx;
    gbt_trainer_spec spec;
    gbt_trainer *tr = NULL;
    gbt_stop_reason why;
    REQUIRE_OK(gbt_ctx_open(&ctx, gbt_mem_default(), 1, GBT_SIMD_AUTO, NULL, NULL, test_err));
    REQUIRE(job_open(&ctx, &job, 0, &spec));
    spec.device = gbt_cuda_api();
    REQUIRE_OK(gbt_trainer_new(&ctx, &spec, &tr, test_err));
    for (int k = 0, n; k < 5; k += n) {
      n = 5 - k < piece ? 5 - k : piece;
      CHECK_OK(gbt_trainer_run(&ctx, tr, n, &why, test_err));
      CHECK_EQ_U64(gbt_trainer_forest(tr)->n_trees, (size_t)(k + n));
    }
    trained *cuda = trained_of(&ctx, &job, &spec, tr);
    CHECK(cpu != NULL && cuda != NULL && same_trained(cpu, cuda));
    trained_free(cuda);
    gbt_trainer_free(tr);
    job_close(&spec);
    gbt_ctx_close(&ctx);
  }
  trained_free(cpu);
  made_free(m);
}

void suite_cuda_forest(void) {
  RUN(forests_that_cannot_grow);
  RUN(runs_in_pieces);
}
