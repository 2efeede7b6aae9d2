/* Tasks on threads, where there is enough work for them. */
#include "cpu_parallel.h"

#include <string.h>

#include "../base/parallel.h"

/* Work that takes less than this stays on the entering thread. Waking the others costs ten microseconds at best; when
 * other processes keep the cores busy, every hand-over waits for the end of their time slices, several milliseconds. */
#define CPU_WORTH_THREADS_NS 150e3

int cpu_worth_threads(double ns) { return ns >= CPU_WORTH_THREADS_NS; }

gbt_status cpu_parallel(gbt_ctx *ctx, int64_t n_tasks, double ns, gbt_task_fn fn, void *arg, gbt_error *err) {
  if (cpu_worth_threads(ns)) return gbt_parallel(ctx, n_tasks, fn, arg, err);
  GBT_TRY(gbt_ctx_poll(ctx, err));
  for (int64_t t = 0; t < n_tasks; t++) fn(arg, t, 0);
  return GBT_OK;
}

typedef struct zero_job {
  char *at;
  size_t bytes;
} zero_job;

enum { ZERO_BYTES = 1 << 20 };

static void zero_task(void *arg, int64_t task, int thread) {
  const zero_job *job = arg;
  size_t beg = (size_t)task * ZERO_BYTES, rest = job->bytes - beg;
  (void)thread;
  memset(job->at + beg, 0, rest < ZERO_BYTES ? rest : ZERO_BYTES);
}

gbt_status cpu_zero(gbt_ctx *ctx, void *at, size_t bytes, gbt_error *err) {
  zero_job job = {at, bytes};
  return cpu_parallel(ctx, (int64_t)((bytes + ZERO_BYTES - 1) / ZERO_BYTES), 0.3 * (double)bytes, zero_task, &job,
                      err);
}
