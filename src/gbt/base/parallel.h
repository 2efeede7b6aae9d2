/* Operations on a call's context, only for the engine, not for hosts: tasks on threads, and checks whether the host has
 * asked to stop. */
#ifndef GBT_BASE_PARALLEL_H
#define GBT_BASE_PARALLEL_H

#include "ctx.h"

enum { GBTI_POLL_NS = 20000000 }; /* between two calls of poll() */

/* Asks poll() when it is due. GBT_CANCELLED once it asked to stop. Entering thread only. */
gbt_status gbt_ctx_poll(gbt_ctx *ctx, gbt_error *err) GBT_MUST_CHECK;

/* After every call of a function of the host's, which may have changed how this thread computes: float_mode.h. Entering
 * thread only. */
void gbti_ctx_usual_float(gbt_ctx *ctx);

/* Long loops call this, also in tasks of gbt_parallel with the number of their thread. 1: give up, the result is
 * discarded. On the entering thread (0) it polls, which reads the clock: call it every few ten thousand steps. */
int gbt_ctx_stopped(gbt_ctx *ctx, int thread);

/* fn(arg, task, thread) for task = 0 .. n_tasks-1, each once, in any order, on all threads; thread is in
 * [0, n_threads). Returns when all are done. Polls between the tasks of the entering thread; when asked to stop, tasks
 * not yet begun are skipped and GBT_CANCELLED comes back, so a task should take a few milliseconds at most.
 * Not reentrant: fn must not call gbt_parallel. */
typedef void (*gbt_task_fn)(void *arg, int64_t task, int thread);
gbt_status gbt_parallel(gbt_ctx *ctx, int64_t n_tasks, gbt_task_fn fn, void *arg, gbt_error *err) GBT_MUST_CHECK;

/* Rows of a task that looks at n_outputs numbers of each: at most `most`, and fewer where that keeps tasks
 * short. */
int64_t gbt_task_rows(int64_t most, int32_t n_outputs);

#endif
