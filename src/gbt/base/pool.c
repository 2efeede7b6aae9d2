/* The thread pool. One mutex guards everything but the counter that hands out tasks.
 *
 *   entering thread                          helper
 *   open a job, wake the helpers             wait until a job is open that it has not seen
 *   take tasks, polling between them         enter (n_busy + 1), take tasks, leave (n_busy - 1)
 *   close the job: no helper enters now      the last one out signals
 *   wait until n_busy is 0, polling
 *
 * A helper that wakes too late finds the job closed and goes on sleeping: short jobs do not wait for slow wake-ups.
 * No thread spins. A stop moves the task counter to the end, so that no thread finds another task. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "pool.h"

#ifdef GBT_NO_THREADS

struct gbt_pool {
  int unused;
};

gbt_status gbt_pool_open(const gbt_mem *mem, int n_helpers, gbt_pool **out, gbt_error *err) {
  (void)mem, (void)n_helpers, (void)err;
  *out = NULL;
  return GBT_OK;
}

int gbt_pool_helpers(const gbt_pool *pool) {
  (void)pool;
  return 0;
}

void gbt_pool_close(gbt_pool *pool) { (void)pool; }

void gbt_pool_stop(gbt_pool *pool) { (void)pool; }

int gbt_pool_stopped(const gbt_pool *pool) {
  (void)pool;
  return 0;
}

gbt_status gbt_pool_run(gbt_ctx *ctx, int64_t n_tasks, gbt_task_fn fn, void *arg, gbt_error *err) {
  (void)ctx, (void)n_tasks, (void)fn, (void)arg;
  return gbt_fail(err, GBT_E_INTERNAL, "a thread pool in a build without threads");
}

#else

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "hd.h"
#include "parallel.h"

enum { WAIT_NS = 20000000 };

typedef struct helper {
  gbt_pool *pool;
  pthread_t thread;
  int index; /* as fn sees it: 1 .. n_helpers; the entering thread is 0 */
} helper;

struct gbt_pool {
  gbt_mem mem;
  int n_helpers;
  helper *helpers; /* n_helpers */
  pthread_mutex_t lock;
  pthread_cond_t wake; /* a job was opened, or quit */
  pthread_cond_t done; /* the last helper left the job */
  /* under lock */
  int quit, open, n_busy;
  uint64_t job; /* number of the latest job */
  gbt_task_fn fn;
  void *arg;
  int64_t n_tasks;
  /* free for all, on a cache line of its own */
  _Alignas(64) _Atomic int64_t next;
  atomic_int stopped;
};

static void *helper_main(void *ptr) {
  const helper *self = ptr;
  gbt_pool *pool = self->pool;
  uint64_t seen = 0;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    while (!pool->quit && !(pool->open && pool->job != seen)) pthread_cond_wait(&pool->wake, &pool->lock);
    if (pool->quit) break;
    seen = pool->job;
    pool->n_busy++;
    GBT_ASSERT(pool->n_busy <= pool->n_helpers);
    gbt_task_fn fn = pool->fn;
    void *arg = pool->arg;
    int64_t n_tasks = pool->n_tasks;
    pthread_mutex_unlock(&pool->lock);
    for (int64_t t; (t = atomic_fetch_add(&pool->next, 1)) < n_tasks;) fn(arg, t, self->index);
    pthread_mutex_lock(&pool->lock);
    if (--pool->n_busy == 0) pthread_cond_signal(&pool->done);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

/* Condition variables wait by the monotonic clock where that can be had, so that a clock set back delays no poll. */
#if defined(__APPLE__) || defined(_WIN32)
#define WAIT_CLOCK CLOCK_REALTIME
static int cond_init(pthread_cond_t *cond) { return pthread_cond_init(cond, NULL); }
#else
#define WAIT_CLOCK CLOCK_MONOTONIC
static int cond_init(pthread_cond_t *cond) {
  pthread_condattr_t attr;
  if (pthread_condattr_init(&attr) != 0) return 1;
  int bad = pthread_condattr_setclock(&attr, WAIT_CLOCK) != 0 || pthread_cond_init(cond, &attr) != 0;
  pthread_condattr_destroy(&attr);
  return bad;
}
#endif

/* 0 on success. */
static int init_locks(gbt_pool *pool) {
  if (pthread_mutex_init(&pool->lock, NULL) != 0) return 1;
  if (cond_init(&pool->wake) == 0) {
    if (cond_init(&pool->done) == 0) return 0;
    pthread_cond_destroy(&pool->wake);
  }
  pthread_mutex_destroy(&pool->lock);
  return 1;
}

/* Threads inherit the signal mask: with everything blocked while they start, the host's handlers run on its own
 * threads only. */
static int start_helpers(gbt_pool *pool, int n_wanted) {
#ifndef _WIN32
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return 0;
#endif
  int n = 0;
  for (; n < n_wanted; n++) {
    helper *h = &pool->helpers[n];
    h->pool = pool;
    h->index = n + 1;
    if (pthread_create(&h->thread, NULL, helper_main, h) != 0) break;
  }
#ifndef _WIN32
  pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
  return n;
}

gbt_status gbt_pool_open(const gbt_mem *mem, int n_helpers, gbt_pool **out, gbt_error *err) {
  gbt_pool *pool;
  helper *helpers;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *pool, &pool, err));
  gbt_status status = gbt_mem_zeros(mem, (size_t)n_helpers, sizeof *helpers, &helpers, err);
  pool->mem = *mem;
  pool->helpers = helpers;
  atomic_init(&pool->next, 0);
  atomic_init(&pool->stopped, 0);
  if (status == GBT_OK && init_locks(pool) == 0) {
    pool->n_helpers = start_helpers(pool, n_helpers);
    if (pool->n_helpers > 0) {
      *out = pool;
      return GBT_OK;
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
  }
  gbt_mem_free(mem, helpers);
  gbt_mem_free(mem, pool);
  return status;
}

int gbt_pool_helpers(const gbt_pool *pool) { return pool == NULL ? 0 : pool->n_helpers; }

void gbt_pool_close(gbt_pool *pool) {
  if (pool == NULL) return;
  pthread_mutex_lock(&pool->lock);
  pool->quit = 1;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < pool->n_helpers; i++) pthread_join(pool->helpers[i].thread, NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  gbt_mem mem = pool->mem;
  gbt_mem_free(&mem, pool->helpers);
  gbt_mem_free(&mem, pool);
}

void gbt_pool_stop(gbt_pool *pool) {
  if (pool != NULL) atomic_store(&pool->stopped, 1);
}

int gbt_pool_stopped(const gbt_pool *pool) { return atomic_load(&pool->stopped); }

static void open_job(gbt_pool *pool, int64_t n_tasks, gbt_task_fn fn, void *arg) {
  pthread_mutex_lock(&pool->lock);
  GBT_ASSERT(!pool->open && pool->n_busy == 0);
  pool->fn = fn;
  pool->arg = arg;
  pool->n_tasks = n_tasks;
  atomic_store(&pool->next, 0);
  pool->job++;
  pool->open = 1;
  if (n_tasks > pool->n_helpers) {
    pthread_cond_broadcast(&pool->wake);
  } else {
    for (int64_t i = 1; i < n_tasks; i++) pthread_cond_signal(&pool->wake); /* the entering thread takes one itself */
  }
  pthread_mutex_unlock(&pool->lock);
}

/* Waits for `done` with the lock held, for the length of a poll's interval at most. */
static void wait_for_poll_interval(gbt_pool *pool) {
  struct timespec until;
  clock_gettime(WAIT_CLOCK, &until);
  until.tv_nsec += WAIT_NS;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&pool->done, &pool->lock, &until);
}

gbt_status gbt_pool_run(gbt_ctx *ctx, int64_t n_tasks, gbt_task_fn fn, void *arg, gbt_error *err) {
  gbt_pool *pool = ctx->pool;
  gbt_status status = GBT_OK;
  open_job(pool, n_tasks, fn, arg);
  for (;;) {
    status = gbt_ctx_poll(ctx, err);
    if (status != GBT_OK) atomic_store(&pool->next, n_tasks);
    int64_t t = atomic_fetch_add(&pool->next, 1);
    if (t >= n_tasks) break;
    fn(arg, t, 0);
  }
  pthread_mutex_lock(&pool->lock);
  pool->open = 0;
  while (pool->n_busy > 0) { /* every task is taken, or none is to be taken any more */
    wait_for_poll_interval(pool);
    if (pool->n_busy == 0 || status != GBT_OK) continue;
    pthread_mutex_unlock(&pool->lock); /* poll() runs the host's code: not under the lock */
    status = gbt_ctx_poll(ctx, err);
    pthread_mutex_lock(&pool->lock);
  }
  pthread_mutex_unlock(&pool->lock);
  return status;
}

#endif
