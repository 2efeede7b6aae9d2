/* Polling, and tasks without helpers; pool.c has those with helpers. */
#include "parallel.h"

#include "clock.h"
#include "hd.h"
#include "pool.h"

gbt_status gbt_ctx_poll(gbt_ctx *ctx, gbt_error *err) {
  if (!ctx->stop) {
    if (ctx->poll == NULL || gbt_clock_ns() < ctx->next_poll_ns) return GBT_OK;
    ctx->stop = ctx->poll(ctx->user) != 0;
    gbti_ctx_usual_float(ctx);
    ctx->next_poll_ns = gbt_clock_ns() + GBTI_POLL_NS; /* counted from the end: a slow poll() must not eat the call */
    if (!ctx->stop) return GBT_OK;
    gbt_pool_stop(ctx->pool);
  }
  return gbt_fail(err, GBT_CANCELLED, "stopped on request");
}

int gbt_ctx_stopped(gbt_ctx *ctx, int thread) {
  return thread == 0 ? gbt_ctx_poll(ctx, NULL) != GBT_OK : gbt_pool_stopped(ctx->pool);
}

int64_t gbt_task_rows(int64_t most, int32_t n_outputs) {
  enum { LEAST_ROWS = 32, MOST_NUMBERS = 1 << 20 };
  int64_t rows = most;
  GBT_ASSERT(most > 0 && n_outputs > 0);
  while (rows > LEAST_ROWS && rows * n_outputs > MOST_NUMBERS) rows /= 2;
  return rows;
}

gbt_status gbt_parallel(gbt_ctx *ctx, int64_t n_tasks, gbt_task_fn fn, void *arg, gbt_error *err) {
  GBT_ASSERT(n_tasks >= 0);
  GBT_TRY(gbt_ctx_poll(ctx, err));
  if (n_tasks > 1 && ctx->pool != NULL) return gbt_pool_run(ctx, n_tasks, fn, arg, err);
  for (int64_t t = 0; t < n_tasks; t++) {
    if (t > 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    fn(arg, t, 0);
  }
  return ctx->stop ? gbt_ctx_poll(ctx, err) : GBT_OK; /* a task may have asked */
}
