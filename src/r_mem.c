/* The engine's memory, as R's collector should see it. R counts its own vectors only: bins of 100 MB look to it like a
 * pointer of 56 bytes, so it has no reason to collect unreachable ones. So every block of the engine's is counted here,
 * and R is made to collect
 *
 *   when a handle is made and much was added since the last time: r_mem_settle()
 *   when memory runs out: then the block is asked for once more
 *
 *   block:  | bytes, in a gap of 16 | what the engine sees ...
 *
 * A collection runs finalizers, which is the user's code: as in a poll it may call the engine, but nothing of the call
 * that waits is there for it to change. Helper threads must not touch R. They ask the thread that entered the engine,
 * which collects when it polls. There are no locks here, so that a fork at any moment is safe. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "r_gbt.h"

#include <R_ext/Memory.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef GBT_NO_THREADS
#include <pthread.h>
#endif

enum { GAP = 16, WAIT_NS = 5000000, MOST_WAITS = 200 };

/* Collecting takes time, so as much as this may be added, or half of what is there when that is more. */
#define FREE_GROWTH ((int64_t)256 << 20)

static _Atomic int64_t n_live;       /* bytes of all blocks */
static int64_t n_settled;            /* bytes after the last collection, or fewer when blocks were released since */
static _Atomic int wanted;           /* a helper thread waits for a collection */
static _Atomic unsigned n_collected; /* collections so far */
static int interrupted;              /* Ctrl-C came during a collection */
#ifndef GBT_NO_THREADS
static pthread_t r_thread; /* R's; written once, when the package is loaded */
#endif

void r_mem_start(void) {
#ifndef GBT_NO_THREADS
  r_thread = pthread_self();
#endif
}

static int is_r_thread(void) {
#ifndef GBT_NO_THREADS
  return pthread_equal(pthread_self(), r_thread);
#else
  return 1;
#endif
}

static void collect_garbage(void *unused) {
  (void)unused;
  R_gc();
}

/* Nothing of R's may jump through the engine. What jumps out of a collection is Ctrl-C: errors of finalizers stay in
 * them. It is raised once the engine has let go of everything. */
static void collect(void) {
  atomic_store(&wanted, 0);
  if (!interrupted && R_ToplevelExec(collect_garbage, NULL) == FALSE) interrupted = 1;
  n_settled = atomic_load(&n_live);
  atomic_fetch_add(&n_collected, 1);
}

/* A helper thread: waits until the entering thread has collected, or is too busy to for a second. */
static void wait_for_collection(void) {
  const struct timespec a_little = {0, WAIT_NS};
  unsigned before = atomic_load(&n_collected);
  atomic_store(&wanted, 1);
  for (int i = 0; i < MOST_WAITS && atomic_load(&n_collected) == before; i++) nanosleep(&a_little, NULL);
}

static void *alloc(void *user, size_t bytes) {
  (void)user;
  if (bytes > SIZE_MAX - GAP) return NULL;
  char *raw = malloc(bytes + GAP);
  if (raw == NULL) {
    if (is_r_thread())
      collect();
    else
      wait_for_collection();
    raw = malloc(bytes + GAP);
    if (raw == NULL) return NULL;
  }
  memcpy(raw, &bytes, sizeof bytes);
  atomic_fetch_add(&n_live, (int64_t)bytes);
  return raw + GAP;
}

static void release(void *user, void *block) {
  (void)user;
  char *raw = (char *)block - GAP;
  size_t bytes;
  memcpy(&bytes, raw, sizeof bytes);
  atomic_fetch_sub(&n_live, (int64_t)bytes);
  free(raw);
}

gbt_mem r_mem(void) { return (gbt_mem){alloc, release, NULL}; }

void r_mem_settle(void) {
  int64_t live = atomic_load(&n_live);
  if (live < n_settled) n_settled = live;
  int64_t growth = n_settled / 2 > FREE_GROWTH ? n_settled / 2 : FREE_GROWTH;
  if (live - n_settled <= growth) return;
  R_gc();
  n_settled = atomic_load(&n_live);
}

int r_mem_poll(void) {
  if (atomic_load(&wanted)) collect();
  return interrupted;
}

int r_mem_interrupted(void) {
  int was = interrupted;
  interrupted = 0;
  return was;
}

double r_mem_live(void) { return (double)atomic_load(&n_live); }
