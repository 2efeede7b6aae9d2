/* The call context and its thread pool: every task once, stops, helpers that are refused, sleep, signals, forks. */
#define _POSIX_C_SOURCE 200809L
#include "fault.h"
#include "port.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "../../src/gbt/base/clock.h"
#include "../../src/gbt/base/parallel.h"

#ifdef GBT_NO_THREADS
enum { HAVE_THREADS = 0 };
#else
enum { HAVE_THREADS = 1 };
#endif

static void sleep_ms(int64_t ms) { port_sleep_ns(ms * 1000000); }

typedef struct tally {
  int n_threads;
  int64_t n_tasks;
  uint8_t *done; /* n_tasks: how often; plain memory, so that the thread sanitizer sees a task given twice */
  _Atomic int64_t per_thread[64], n_done, n_bad;
} tally;

static void count_task(void *arg, int64_t task, int thread) {
  tally *t = arg;
  if (task < 0 || task >= t->n_tasks || thread < 0 || thread >= t->n_threads) {
    atomic_fetch_add(&t->n_bad, 1);
    return;
  }
  t->done[task]++;
  atomic_fetch_add(&t->per_thread[thread], 1);
  atomic_fetch_add(&t->n_done, 1);
}

static void start_tally(tally *t, const gbt_ctx *ctx, int64_t n_tasks) {
  memset(t, 0, sizeof *t);
  t->n_threads = ctx->n_threads;
  t->n_tasks = n_tasks;
  t->done = test_alloc((size_t)n_tasks);
  memset(t->done, 0, (size_t)n_tasks);
}

static void every_task_runs_once(void) {
  static const int threads[] = {1, 2, 3, 8};
  static const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 1000, 50000};
  for (int i = 0; i < 4; i++) {
    gbt_ctx ctx = test_ctx(NULL, threads[i]);
    CHECK_EQ_I64(ctx.n_threads, HAVE_THREADS ? threads[i] : 1);
    CHECK_EQ_I64(ctx.pool != NULL, ctx.n_threads > 1);
    for (int k = 0; k < 9; k++) {
      tally t;
      start_tally(&t, &ctx, sizes[k]);
      CHECK_OK(gbt_parallel(&ctx, sizes[k], count_task, &t, test_err));
      int64_t wrong = 0;
      for (int64_t j = 0; j < sizes[k]; j++) wrong += t.done[j] != 1;
      CHECK_EQ_I64(wrong, 0);
      CHECK_EQ_I64(t.n_bad, 0);
      free(t.done);
    }
    gbt_ctx_close(&ctx);
    gbt_ctx_close(&ctx); /* twice does no harm */
  }
}

/* Thousands of jobs of a few tiny tasks: helpers that come late must neither join the wrong job nor hold up the next.
 */
static void many_short_jobs(void) {
  gbt_ctx ctx = test_ctx(NULL, 4);
  int64_t wrong = 0;
  for (int64_t i = 0; i < 5000; i++) {
    tally t;
    start_tally(&t, &ctx, 1 + i % 6);
    wrong += gbt_parallel(&ctx, t.n_tasks, count_task, &t, test_err) != GBT_OK;
    for (int64_t j = 0; j < t.n_tasks; j++) wrong += t.done[j] != 1;
    free(t.done);
  }
  CHECK_EQ_I64(wrong, 0);
  gbt_ctx_close(&ctx);
}

typedef struct meeting {
  _Atomic int n_here;
  int n_wanted;
} meeting;

/* Holds its thread until all the others are in a task as well. */
static void meet_task(void *arg, int64_t task, int thread) {
  (void)task, (void)thread;
  meeting *m = arg;
  atomic_fetch_add(&m->n_here, 1);
  while (atomic_load(&m->n_here) < m->n_wanted) sleep_ms(1);
}

/* n tasks that wait for each other can end only if n threads run them. */
static void all_threads_work_at_once(void) {
  gbt_ctx ctx = test_ctx(NULL, 5);
  for (int i = 0; i < 20; i++) {
    meeting m = {0, ctx.n_threads};
    CHECK_OK(gbt_parallel(&ctx, ctx.n_threads, meet_task, &m, test_err));
    CHECK_EQ_I64(m.n_here, ctx.n_threads);
  }
  gbt_ctx_close(&ctx);
}

static void arguments_are_checked(void) {
  gbt_ctx ctx;
  gbt_mem mem = gbt_mem_default();
  CHECK_FAILS(gbt_ctx_open(&ctx, mem, 0, GBT_SIMD_AUTO, NULL, NULL, test_err), GBT_E_ARG, "`threads` is 0");
  gbt_ctx_close(&ctx);
  CHECK_FAILS(gbt_ctx_open(&ctx, mem, 1, (gbt_simd)7, NULL, NULL, test_err), GBT_E_ARG, "instruction set");
  gbt_ctx_close(&ctx);
  for (int simd = GBT_SIMD_AUTO; simd <= GBT_SIMD_AVX512; simd++) {
    REQUIRE_OK(gbt_ctx_open(&ctx, mem, 1, (gbt_simd)simd, NULL, NULL, test_err));
    int want = simd == GBT_SIMD_AUTO || simd > (int)gbt_simd_best() ? (int)gbt_simd_best() : simd;
    CHECK_EQ_I64(ctx.simd, want);
    gbt_ctx_close(&ctx);
  }
  test_note("best instruction set: %d", (int)gbt_simd_best());
}

static void refused_threads_are_done_without(void) {
  for (int granted = 0; granted < 4; granted++) {
    fault f;
    fault_start(&f, 0, 0);
    gbt_mem mem = fault_mem(&f);
    atomic_store(&fault_threads, granted);
    gbt_ctx ctx = test_ctx(&mem, 8);
    CHECK_EQ_I64(ctx.n_threads, HAVE_THREADS ? 1 + granted : 1);
    tally t;
    start_tally(&t, &ctx, 500);
    CHECK_OK(gbt_parallel(&ctx, 500, count_task, &t, test_err));
    CHECK_EQ_I64(t.n_done, 500);
    CHECK_EQ_I64(t.n_bad, 0);
    free(t.done);
    gbt_ctx_close(&ctx);
    CHECK_EQ_I64(f.n_live, 0);
  }
  atomic_store(&fault_threads, -1);
}

static gbt_status open_op(const gbt_mem *mem, void *arg, gbt_error *err) {
  (void)arg;
  gbt_ctx ctx;
  gbt_status status = gbt_ctx_open(&ctx, *mem, 3, GBT_SIMD_AUTO, NULL, NULL, err);
  gbt_ctx_close(&ctx);
  return status;
}

static void open_survives_failing_allocations(void) { CHECK_EQ_I64(fault_sweep(open_op, NULL), HAVE_THREADS ? 2 : 0); }

typedef struct asker {
  pthread_t thread; /* the entering one */
  int64_t n_asked, stop_at;
  _Atomic int release; /* set by the first question */
  int n_foreign;       /* questions on other threads */
} asker;

static int ask(void *user) {
  asker *a = user;
  a->n_foreign += !pthread_equal(a->thread, pthread_self());
  a->n_asked++;
  atomic_store(&a->release, 1);
  return a->stop_at > 0 && a->n_asked >= a->stop_at;
}

static gbt_ctx asking_ctx(asker *a, int n_threads, int64_t stop_at) {
  memset(a, 0, sizeof *a);
  a->thread = pthread_self();
  a->stop_at = stop_at;
  gbt_ctx ctx;
  CHECK_OK(gbt_ctx_open(&ctx, gbt_mem_default(), n_threads, GBT_SIMD_AUTO, ask, a, test_err));
  return ctx;
}

static void slow_task(void *arg, int64_t task, int thread) {
  count_task(arg, task, thread);
  sleep_ms(1);
}

/* A stop comes soon, nothing begins after it, and it stays. */
static void stops_stop(void) {
  for (int n_threads = 1; n_threads <= 4; n_threads++) {
    asker a;
    gbt_ctx ctx = asking_ctx(&a, n_threads, 2);
    tally t;
    start_tally(&t, &ctx, 100000);
    int64_t start = gbt_clock_ns();
    CHECK_FAILS(gbt_parallel(&ctx, 100000, slow_task, &t, test_err), GBT_CANCELLED, "stopped");
    double ms = (double)(gbt_clock_ns() - start) / 1e6;
    CHECK(ms > 30.0 && ms < 20000.0); /* asked every 20 ms; the second time it stops. All tasks take 25 s or more */
    CHECK_EQ_I64(a.n_asked, 2);
    CHECK_EQ_I64(a.n_foreign, 0);
    int64_t before = t.n_done;
    CHECK(before > 0 && before < 100000);
    CHECK_FAILS(gbt_parallel(&ctx, 10, slow_task, &t, test_err), GBT_CANCELLED, "stopped");
    CHECK_FAILS(gbt_parallel(&ctx, 1, slow_task, &t, test_err), GBT_CANCELLED, "stopped");
    CHECK_FAILS(gbt_ctx_poll(&ctx, test_err), GBT_CANCELLED, "stopped");
    CHECK_EQ_I64(t.n_done, before);
    CHECK_EQ_I64(a.n_asked, 2);
    int64_t wrong = 0;
    for (int64_t i = 0; i < t.n_tasks; i++) wrong += t.done[i] > 1;
    CHECK_EQ_I64(wrong, 0);
    free(t.done);
    gbt_ctx_close(&ctx);
  }
}

static void asks_about_every_20_ms(void) {
  for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
    asker a;
    gbt_ctx ctx = asking_ctx(&a, n_threads, 0);
    tally t;
    start_tally(&t, &ctx, 200 * n_threads);
    int64_t start = gbt_clock_ns();
    CHECK_OK(gbt_parallel(&ctx, t.n_tasks, slow_task, &t, test_err));
    int64_t ms = (gbt_clock_ns() - start) / 1000000;
    CHECK(a.n_asked >= 1 && a.n_asked <= ms / 20 + 1);
    CHECK_EQ_I64(t.n_done, t.n_tasks);
    free(t.done);
    gbt_ctx_close(&ctx);
  }
}

typedef struct handover {
  asker *a;
  _Atomic int helper_in;
} handover;

/* The entering thread's task ends when a helper has begun; the helper's ends when the host was asked. */
static void handover_task(void *arg, int64_t task, int thread) {
  (void)task;
  handover *h = arg;
  if (thread > 0) {
    atomic_store(&h->helper_in, 1);
    while (!atomic_load(&h->a->release)) sleep_ms(1);
  } else {
    while (!atomic_load(&h->helper_in)) sleep_ms(1);
  }
}

/* While it waits for the others at the end, the entering thread goes on asking; this would hang if it did not. */
static void asks_while_it_waits(void) {
  for (int stop = 0; stop <= 1; stop++) {
    asker a;
    gbt_ctx ctx = asking_ctx(&a, 2, stop);
    handover h = {&a, 0};
    ctx.next_poll_ns = gbt_clock_ns() + 50000000;
    gbt_status status = HAVE_THREADS ? gbt_parallel(&ctx, 2, handover_task, &h, NULL) : GBT_OK;
    CHECK_EQ_I64(status, stop && HAVE_THREADS ? GBT_CANCELLED : GBT_OK);
    CHECK_EQ_I64(a.n_foreign, 0);
    gbt_ctx_close(&ctx);
  }
}

static void helper_ends_last_task(void *arg, int64_t task, int thread) {
  (void)task;
  handover *h = arg;
  if (thread > 0) {
    atomic_store(&h->helper_in, 1);
    sleep_ms(3);
  } else {
    while (HAVE_THREADS && !atomic_load(&h->helper_in)) sleep_ms(1);
  }
}

/* The last helper wakes the entering thread; it does not sit out its 20 ms. */
static void the_end_is_noticed_at_once(void) {
  gbt_ctx ctx = test_ctx(NULL, 2);
  int64_t least = INT64_MAX;
  for (int i = 0; i < 50; i++) {
    handover h = {NULL, 0};
    int64_t start = gbt_clock_ns();
    CHECK_OK(gbt_parallel(&ctx, 2, helper_ends_last_task, &h, test_err));
    if (gbt_clock_ns() - start < least) least = gbt_clock_ns() - start;
  }
  CHECK(least < 18000000);
  gbt_ctx_close(&ctx);
}

static void one_sleeps_task(void *arg, int64_t task, int thread) {
  (void)arg, (void)thread;
  if (task == 0) sleep_ms(300);
}

/* Neither helpers without a job, nor a thread that waits for the last task, use the processor. */
static void waiting_threads_sleep(void) {
  gbt_ctx ctx = test_ctx(NULL, 4);
  double start = port_own_processor_s();
  sleep_ms(300);
  CHECK(port_own_processor_s() - start < 0.1);
  start = port_own_processor_s();
  CHECK_OK(gbt_parallel(&ctx, 4, one_sleeps_task, NULL, test_err));
  CHECK(port_own_processor_s() - start < 0.1);
  gbt_ctx_close(&ctx);
}

#ifndef _WIN32 /* which has no masks of signals */
typedef struct masks {
  meeting meet; /* first: the task meets, so that every thread looks */
  _Atomic int n_open, n_looked;
} masks;

static void mask_task(void *arg, int64_t task, int thread) {
  masks *m = arg;
  static const int sigs[] = {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGSEGV, SIGPIPE};
  meet_task(&m->meet, task, thread);
  if (thread == 0) return;
  sigset_t set;
  pthread_sigmask(SIG_SETMASK, NULL, &set);
  for (int i = 0; i < 7; i++) atomic_fetch_add(&m->n_open, !sigismember(&set, sigs[i]));
  atomic_fetch_add(&m->n_looked, 1);
}

static void helpers_block_signals(void) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  gbt_ctx ctx = test_ctx(NULL, 3);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  for (int sig = 1; sig < 32; sig++) CHECK_EQ_I64(sigismember(&before, sig), sigismember(&after, sig));
  masks m = {{0, ctx.n_threads}, 0, 0};
  CHECK_OK(gbt_parallel(&ctx, ctx.n_threads, mask_task, &m, test_err));
  CHECK_EQ_I64(m.n_looked, ctx.n_threads - 1);
  CHECK_EQ_I64(m.n_open, 0);
  gbt_ctx_close(&ctx);
}

#endif

/* What a child does: a whole call with threads of its own. 0 when all is well. */
static int child_work(const void *arg, void *shared) {
  (void)arg, (void)shared;
  gbt_ctx ctx = test_ctx(NULL, 3);
  tally t;
  start_tally(&t, &ctx, 1000);
  gbt_status status = gbt_parallel(&ctx, 1000, count_task, &t, NULL);
  int bad = status != GBT_OK || t.n_done != 1000 || t.n_bad != 0;
  free(t.done);
  gbt_ctx_close(&ctx);
  return bad;
}

static void forks_between_calls(void) {
  for (int i = 0; i < 5; i++) {
    CHECK_EQ_I64(child_work(NULL, NULL), 0);
    port_child child;
    REQUIRE(port_child_start(&child, child_work, NULL, 0, NULL));
    CHECK_EQ_I64(child_work(NULL, NULL), 0);
    CHECK_EQ_I64(port_child_wait(&child), 0);
  }
}

void suite_threads(void) {
  RUN(every_task_runs_once);
  RUN(many_short_jobs);
  RUN(all_threads_work_at_once);
  RUN(arguments_are_checked);
  RUN(refused_threads_are_done_without);
  RUN(open_survives_failing_allocations);
  RUN(stops_stop);
  RUN(asks_about_every_20_ms);
  RUN(asks_while_it_waits);
  RUN(the_end_is_noticed_at_once);
  RUN(waiting_threads_sleep);
#ifndef _WIN32
  RUN(helpers_block_signals);
#endif
  RUN(forks_between_calls);
}
