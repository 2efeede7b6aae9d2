#include "side_by_side.h"

#include "../base/comm.h"
#include "../base/parallel.h"

/* The stop function of each training's own ctx. */
typedef struct asker {
  gbt_ctx *outer;
  int thread; /* of the outer ctx, which the training runs on */
} asker;

typedef struct side_job {
  gbt_ctx *ctx;
  gbt_trainer *const *trainers;
  int64_t n_rounds;
  int n_threads; /* of each training */
  gbt_stop_reason *why;
  gbt_status *came; /* of each */
  gbt_error *err;
} side_job;

static int poll_outer(void *user) {
  const asker *a = user;
  return gbt_ctx_stopped(a->outer, a->thread);
}

static void run_one(void *arg, int64_t task, int thread) {
  const side_job *job = arg;
  asker a = {job->ctx, thread};
  gbt_error *err = &job->err[task];
  gbt_ctx inner;
  job->came[task] = gbt_ctx_open(&inner, job->ctx->mem, job->n_threads, job->ctx->simd, poll_outer, &a, err);
  if (job->came[task] != GBT_OK) return;
  job->came[task] = gbt_trainer_run(&inner, job->trainers[task], job->n_rounds, &job->why[task], err);
  gbt_ctx_close(&inner);
}

gbt_status gbt_trainers_run(gbt_ctx *ctx, gbt_trainer *const *trainers, int64_t n, int64_t n_rounds,
                            gbt_stop_reason *why, gbt_error *err) {
  GBT_ASSERT(gbt_comm_is_single(ctx));
  gbt_status *came = NULL, status = GBT_OK;
  gbt_error *errs = NULL;
  if (n <= 0) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n, sizeof *came, &came, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n, sizeof *errs, &errs, err), done);
  side_job job = {ctx, trainers, n_rounds, 1, why, came, errs};
  if (ctx->n_threads > n) job.n_threads = (int)(ctx->n_threads / n);
  for (int64_t i = 0; i < n; i++) {
    came[i] = GBT_OK;
    why[i] = GBT_RUN_DONE;
  }
  status = gbt_parallel(ctx, n, run_one, &job, err);
  for (int64_t i = n - 1; i >= 0; i--) {
    if (came[i] == GBT_OK || (came[i] == GBT_CANCELLED && status != GBT_OK)) continue;
    if (err != NULL) *err = errs[i];
    status = came[i];
  }
done:
  gbt_mem_free(&ctx->mem, errs);
  gbt_mem_free(&ctx->mem, came);
  return status;
}
