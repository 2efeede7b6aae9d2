/* Tasks on threads, where there is enough work for them. */
#ifndef GBT_CPU_CPU_PARALLEL_H
#define GBT_CPU_CPU_PARALLEL_H

#include "../base/ctx.h"
#include "../base/parallel.h"

/* gbt_parallel for tasks that take about `ns` nanoseconds in all. */
gbt_status cpu_parallel(gbt_ctx *ctx, int64_t n_tasks, double ns, gbt_task_fn fn, void *arg,
                        gbt_error *err) GBT_MUST_CHECK;

/* Whether work that takes so long goes to threads there. */
int cpu_worth_threads(double ns);

/* Zeros, on all threads where it is much. */
gbt_status cpu_zero(gbt_ctx *ctx, void *at, size_t bytes, gbt_error *err) GBT_MUST_CHECK;

#endif
