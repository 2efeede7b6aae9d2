#include "job.h"

#include "../base/parallel.h"

void gbti_job_start(gbti_job *job, gbt_ctx *ctx) {
  job->ctx = ctx;
  atomic_init(&job->stop, 0);
  atomic_init(&job->failed, 0);
  job->err.code = GBT_OK;
}

int gbti_job_stopped(gbti_job *job, int thread) {
  if (thread == 0 && gbt_ctx_poll(job->ctx, NULL) != GBT_OK) atomic_store(&job->stop, 1);
  return atomic_load(&job->stop);
}

void gbti_job_fail(gbti_job *job, const gbt_error *err) {
  if (atomic_exchange(&job->failed, 1) == 0) job->err = *err; /* read after the tasks' end only */
  atomic_store(&job->stop, 1);
}

gbt_status gbti_job_end(gbti_job *job, gbt_error *err) {
  if (atomic_load(&job->failed)) {
    if (err != NULL) *err = job->err;
    return job->err.code;
  }
  return gbt_ctx_poll(job->ctx, err);
}

gbt_status gbti_job_run(gbti_job *job, int64_t n_tasks, gbt_task_fn fn, void *arg, gbt_error *err) {
  GBT_TRY(gbt_parallel(job->ctx, n_tasks, fn, arg, err));
  return gbti_job_end(job, err);
}
