/* The helper threads of one gbt_ctx. They live from gbt_ctx_open to gbt_ctx_close and sleep on a condition variable
 * between jobs. Builds without threads (GBT_NO_THREADS) never have a pool. */
#ifndef GBT_BASE_POOL_H
#define GBT_BASE_POOL_H

#include "ctx.h"
#include "parallel.h"

#define GBT_MAX_THREADS 1024

/* Up to n_helpers threads. *out is NULL when the machine grants none; that is no error. */
gbt_status gbt_pool_open(const gbt_mem *mem, int n_helpers, gbt_pool **out, gbt_error *err) GBT_MUST_CHECK;
int gbt_pool_helpers(const gbt_pool *pool);
void gbt_pool_close(gbt_pool *pool); /* NULL allowed; waits for the helpers' end */

/* Tells the helpers that the call was asked to stop; NULL allowed. What gbt_ctx_stopped() says on a helper. */
void gbt_pool_stop(gbt_pool *pool);
int gbt_pool_stopped(const gbt_pool *pool);

/* The work of gbt_parallel when there is a pool; n_tasks >= 1. */
gbt_status gbt_pool_run(gbt_ctx *ctx, int64_t n_tasks, gbt_task_fn fn, void *arg, gbt_error *err) GBT_MUST_CHECK;

#endif
