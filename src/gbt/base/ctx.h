/* One call into the engine: memory, threads, and the way to be asked to stop.
 *
 * A gbt_ctx lives for one call from the host (R, the test driver). Nothing in it outlives the call, so there are no
 * threads between calls and a fork between calls is safe. */
#ifndef GBT_BASE_CTX_H
#define GBT_BASE_CTX_H

#include "hd.h"
#include "mem.h"

typedef struct gbt_pool gbt_pool;
struct gbt_comm;

typedef enum gbt_simd { GBT_SIMD_AUTO = -1, GBT_SIMD_SCALAR = 0, GBT_SIMD_AVX2 = 1, GBT_SIMD_AVX512 = 2 } gbt_simd;

typedef struct gbt_ctx {
  gbt_mem mem;
  int n_threads; /* threads that run, the caller's included; >= 1 */
  gbt_simd simd; /* never above what the machine has; results do not depend on it */
  /* non-zero asks to stop; called on the entering thread only, about every 20 ms; may be NULL */
  int (*poll)(void *user);
  void *user;
  gbt_pool *pool; /* NULL when n_threads is 1 */
  int64_t next_poll_ns;
  int stop; /* set once poll() asked; sticky */
  /* the other ranks that train the same model, see comm.h: borrowed; NULL, as gbt_ctx_open leaves it: there are none */
  const struct gbt_comm *comm;
  uint32_t comm_calls; /* collective operations so far; the same on all ranks */
  int comm_failed;     /* a rank failed, and this one is on its way out */
} gbt_ctx;

/* Starts up to n_threads - 1 helper threads. A machine that grants fewer gives fewer: n_threads tells. Helpers block
 * all signals and sleep while there is nothing to do. poll may be NULL. Close with gbt_ctx_close, also on failure
 * of later calls. */
gbt_status gbt_ctx_open(gbt_ctx *ctx, gbt_mem mem, int n_threads, gbt_simd simd, int (*poll)(void *), void *user,
                        gbt_error *err) GBT_MUST_CHECK;
void gbt_ctx_close(gbt_ctx *ctx);

/* Asks poll() when it is due. GBT_CANCELLED once it asked to stop. Entering thread only. */
gbt_status gbt_ctx_poll(gbt_ctx *ctx, gbt_error *err) GBT_MUST_CHECK;

/* Asked inside long loops, also by tasks of gbt_parallel on their thread: 1: give up, nobody wants the result any more.
 * On the entering thread (0) it polls, and costs a look at the clock: ask every few ten thousand steps. */
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

/* The best instruction set this machine and compiler offer. */
gbt_simd gbt_simd_best(void);

const char *gbt_simd_name(int simd); /* "auto", "scalar", "avx2", "avx512"; see gbt_status_name */

/* Nanoseconds of a monotonic clock. */
int64_t gbt_clock_ns(void);

/* A number that nobody can foresee, of the clock and the address of a block. Goes into the hashes of what may come from
 * a file, so that no file can be made whose entries all meet in one place of a table. Must not show in a result. */
uint64_t gbt_salt(const void *block);

#endif
