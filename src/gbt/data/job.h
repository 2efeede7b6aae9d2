/* Parallel work whose tasks may fail, or run so long that they may be asked to stop before they end.
 *
 *   gbti_job_run      gbt_parallel, and after it the first failure that a task reported
 *   gbti_job_end      the same for tasks of another pass, such as gbt_pages_each
 *   gbti_job_stopped  long loops call it; 1: give up, the result is discarded */
#ifndef GBT_DATA_JOB_H
#define GBT_DATA_JOB_H

#include <stdatomic.h>

#include "../base/ctx.h"
#include "../base/parallel.h"

typedef struct gbti_job {
  gbt_ctx *ctx;
  atomic_int stop;   /* a task failed or the caller asked to stop */
  atomic_int failed; /* err is taken */
  gbt_error err;
} gbti_job;

/* Before the first run; several runs may follow, until one fails. */
void gbti_job_start(gbti_job *job, gbt_ctx *ctx);

/* Polls when `thread` is the entering one, so it costs a look at the clock: ask every few ten thousand steps. */
int gbti_job_stopped(gbti_job *job, int thread);

/* From a task: the first failure is kept, the others are dropped. */
void gbti_job_fail(gbti_job *job, const gbt_error *err);

/* After the tasks: the first failure, or GBT_CANCELLED when asked to stop. */
gbt_status gbti_job_end(gbti_job *job, gbt_error *err) GBT_MUST_CHECK;

/* fn(arg, task, thread) for all tasks, as gbt_parallel; then gbti_job_end. */
gbt_status gbti_job_run(gbti_job *job, int64_t n_tasks, gbt_task_fn fn, void *arg, gbt_error *err) GBT_MUST_CHECK;

/* Columns that one task takes when a column costs `rows` steps: tables of very many short columns need no task each.
 * At least one, however long a column is. */
GBT_MUST_CHECK static inline int32_t gbti_cols_per_task(int64_t rows) {
  enum { TASK_STEPS = 32768, COLUMN_STEPS = 128 };
  return rows < TASK_STEPS - COLUMN_STEPS ? (int32_t)(TASK_STEPS / (rows + COLUMN_STEPS)) : 1;
}

#endif
