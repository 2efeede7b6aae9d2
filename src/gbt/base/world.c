/* One mutex, one condition. An operation is: show the others where my numbers are, wait for all, read theirs, wait for
 * all. In a sum every rank adds up a slice of the numbers and writes it into the arrays of all, so no memory is taken.
 *
 *   rank 0   | its slice | ......... | ......... |      array of rank 0
 *   rank 1   | ......... | its slice | ......... |      array of rank 1 .. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "world.h"

#ifdef GBT_NO_THREADS

gbt_status gbt_world_open(const gbt_mem *mem, int size, gbt_world **out, gbt_error *err) {
  (void)mem, (void)size;
  *out = NULL;
  return gbt_fail_on(err, GBT_E_UNSUPPORTED, "devices",
                     "this build of gbt has no threads, which several devices need; give one device");
}

void gbt_world_close(gbt_world *world) { (void)world; }

gbt_status gbt_world_run(gbt_ctx *ctx, gbt_world *world, int n_threads, gbt_world_fn fn, void *arg, gbt_error *err) {
  (void)ctx, (void)world, (void)n_threads, (void)fn, (void)arg;
  return gbt_fail(err, GBT_E_INTERNAL, "ranks as threads in a build without threads");
}

#else

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "parallel.h"

/* A rank. */
typedef struct seat {
  gbt_world *world;
  gbt_comm comm;
  pthread_t thread;
  const void *mine; /* that the others may read */
  gbt_status status; /* by itself, before the ranks agree */
  gbt_error err;
} seat;

/* A run. */
typedef struct world_run {
  gbt_ctx *ctx;
  gbt_world_fn fn;
  void *arg;
  int n_threads;
} world_run;

struct gbt_world {
  gbt_mem mem;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int size, n_waiting;
  uint64_t turn; /* of the meetings so far */
  int begun;     /* of a run: 1: threads may begin; -1: they may not, as some could not be started; 0: not known */
  world_run run;
  atomic_int n_failed; /* ranks whose part of the run has failed by itself */
  seat *seat; /* size */
};

/* Returns when all ranks are here. */
static void meet(gbt_world *w) {
  pthread_mutex_lock(&w->lock);
  const uint64_t turn = w->turn;
  if (++w->n_waiting == w->size) {
    w->n_waiting = 0;
    w->turn++;
    pthread_cond_broadcast(&w->changed);
  }
  while (w->turn == turn) pthread_cond_wait(&w->changed, &w->lock);
  pthread_mutex_unlock(&w->lock);
}

static void show(seat *s, const void *mine) {
  s->mine = mine;
  meet(s->world);
}

/* ---- operations ---- */

#define JOIN(T, NAME)                                                                                            \
  static T NAME(T a, T b, gbt_comm_op op) {                                                                      \
    return op == GBT_COMM_MIN ? (b < a ? b : a) : (b > a ? b : a);                                               \
  }
JOIN(int64_t, extreme_i64)
JOIN(uint32_t, extreme_u32)
JOIN(double, extreme_f64)

static int64_t join_i64(int64_t a, int64_t b, gbt_comm_op op) {
  return op == GBT_COMM_SUM ? (int64_t)((uint64_t)a + (uint64_t)b) : extreme_i64(a, b, op);
}

/* Number i of all ranks' parts number p, joined. */
#define SLICE(T, JOINED)                                                           \
  for (size_t i = beg; i < end; i++) {                                             \
    T x = ((const T *)part_of(w, 0, p)->x)[i];                                     \
    for (int r = 1; r < w->size; r++) {                                            \
      const T y = ((const T *)part_of(w, r, p)->x)[i];                             \
      x = (JOINED);                                                                \
    }                                                                              \
    for (int r = 0; r < w->size; r++) ((T *)part_of(w, r, p)->x)[i] = x;           \
  }

static const gbt_comm_part *part_of(const gbt_world *w, int r, size_t p) {
  return (const gbt_comm_part *)w->seat[r].mine + p;
}

static gbt_status reduce(void *state, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op, gbt_error *err) {
  seat *s = state;
  const gbt_world *w = s->world;
  const size_t rank = (size_t)s->comm.rank, size = (size_t)w->size;
  (void)err;
  show(s, part);
  for (size_t p = 0; p < n_parts; p++) {
    const size_t n = part[p].n, each = n / size, rest = n % size;
    const size_t beg = each * rank + (rank < rest ? rank : rest), end = beg + each + (rank < rest);
    switch (part[p].type) {
    case GBT_COMM_I64:
      SLICE(int64_t, join_i64(x, y, op))
      break;
    case GBT_COMM_U32:
      SLICE(uint32_t, op == GBT_COMM_SUM ? x + y : extreme_u32(x, y, op))
      break;
    case GBT_COMM_F64:
      SLICE(double, extreme_f64(x, y, op))
      break;
    }
  }
  meet(s->world);
  return GBT_OK;
}

static gbt_status gather(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err) {
  seat *s = state;
  const gbt_world *w = s->world;
  char *to = all;
  (void)err;
  show(s, mine);
  for (int r = 0; r < w->size; to += bytes[r++])
    if (bytes[r] > 0) memcpy(to, w->seat[r].mine, bytes[r]);
  meet(s->world);
  return GBT_OK;
}

static gbt_status broadcast(void *state, void *x, size_t bytes, int root, gbt_error *err) {
  seat *s = state;
  (void)err;
  show(s, x);
  if (s->comm.rank != root && bytes > 0) memcpy(x, s->world->seat[root].mine, bytes);
  meet(s->world);
  return GBT_OK;
}

static void add(void *into, const void *from, size_t n, gbt_comm_type type) {
  if (type == GBT_COMM_U32) {
    uint32_t *x = into;
    for (size_t i = 0; i < n; i++) x[i] += ((const uint32_t *)from)[i];
  } else {
    uint64_t *x = into;
    for (size_t i = 0; i < n; i++) x[i] += ((const uint64_t *)from)[i];
  }
}

static gbt_status reduce_scatter(void *state, void *x, const size_t *count, gbt_comm_type type, void *own,
                                 gbt_error *err) {
  seat *s = state;
  const gbt_world *w = s->world;
  const size_t width = gbt_comm_width(type), n = count[s->comm.rank];
  size_t beg = 0;
  (void)err;
  for (int r = 0; r < s->comm.rank; r++) beg += count[r];
  show(s, x);
  if (n > 0) memset(own, 0, n * width);
  for (int r = 0; r < w->size && n > 0; r++) add(own, (const char *)w->seat[r].mine + beg * width, n, type);
  meet(s->world);
  return GBT_OK;
}

/* The blocks that a rank shows in an exchange. */
typedef struct outgoing {
  const char *blocks;
  const size_t *sends;
} outgoing;

static gbt_status exchange(void *state, const void *out, const size_t *sends, void *in, const size_t *takes,
                           gbt_error *err) {
  seat *s = state;
  const gbt_world *w = s->world;
  const outgoing mine = {out, sends};
  char *to = in;
  (void)err;
  show(s, &mine);
  for (int r = 0; r < w->size; to += takes[r++]) {
    const outgoing *its = w->seat[r].mine;
    const char *from = its->blocks;
    for (int b = 0; b < s->comm.rank; b++) from += its->sends[b];
    if (takes[r] > 0) memcpy(to, from, takes[r]);
  }
  meet(s->world);
  return GBT_OK;
}

static int failed(void *state) {
  seat *s = state;
  return atomic_load(&s->world->n_failed) > 0;
}

/* ---- life ---- */

gbt_status gbt_world_open(const gbt_mem *mem, int size, gbt_world **out, gbt_error *err) {
  gbt_world *w;
  *out = NULL;
  GBT_ASSERT(size >= 2 && size <= GBT_WORLD_MOST);
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *w, &w, err));
  w->mem = *mem;
  w->size = size;
  gbt_status status = gbt_mem_zeros(mem, (size_t)size, sizeof *w->seat, &w->seat, err);
  for (int r = 0; r < size && status == GBT_OK; r++) {
    w->seat[r].world = w;
    w->seat[r].comm = (gbt_comm){.rank = r,
                                 .size = size,
                                 .state = &w->seat[r],
                                 .reduce = reduce,
                                 .gather = gather,
                                 .broadcast = broadcast,
                                 .reduce_scatter = reduce_scatter,
                                 .exchange = exchange,
                                 .failed = failed};
  }
  if (status == GBT_OK && pthread_mutex_init(&w->lock, NULL) == 0) {
    if (pthread_cond_init(&w->changed, NULL) == 0) {
      *out = w;
      return GBT_OK;
    }
    pthread_mutex_destroy(&w->lock);
  }
  gbt_mem_free(mem, w->seat);
  gbt_mem_free(mem, w);
  return status != GBT_OK ? status : gbt_fail(err, GBT_E_MEM, "the system cannot create a mutex");
}

void gbt_world_close(gbt_world *w) {
  if (w == NULL) return;
  gbt_mem mem = w->mem;
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->lock);
  gbt_mem_free(&mem, w->seat);
  gbt_mem_free(&mem, w);
}

/* ---- runs ---- */

static int poll_outer(void *outer) { return gbt_ctx_stopped(outer, 0); }

static void run_rank(seat *s) {
  const world_run *run = &s->world->run;
  const int first = s->comm.rank == 0;
  gbt_error its; /* of the rank that the ranks agree on */
  gbt_ctx own = {.n_threads = 1};
  s->err = (gbt_error){.ranks_know = 0};
  s->status = gbt_ctx_open(&own, run->ctx->mem, run->n_threads, run->ctx->simd, first ? poll_outer : NULL,
                           first ? run->ctx : NULL, &s->err);
  const int open = s->status == GBT_OK;
  own.comm = &s->comm;
  if (open) s->status = run->fn(run->arg, &own, &s->err);
  if (s->status != GBT_OK) atomic_fetch_add(&s->world->n_failed, 1);
  its = s->err;
  const gbt_status agreed = gbt_comm_agree(&own, s->status, &its);
  if (s->status == GBT_OK && agreed != GBT_OK) {
    s->status = agreed;
    s->err = its;
    s->err.ranks_know = 1;
  }
  if (open) gbt_ctx_close(&own);
}

static void *seat_main(void *ptr) {
  seat *s = ptr;
  gbt_world *w = s->world;
  pthread_mutex_lock(&w->lock);
  while (w->begun == 0) pthread_cond_wait(&w->changed, &w->lock);
  const int begun = w->begun;
  pthread_mutex_unlock(&w->lock);
  if (begun > 0) run_rank(s);
  return NULL;
}

/* Starts the other ranks, which wait; returns how many. Threads inherit the signal mask: see pool.c. */
static int start_ranks(gbt_world *w) {
  int n = 0;
#ifndef _WIN32
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return 0;
#endif
  while (n + 1 < w->size && pthread_create(&w->seat[n + 1].thread, NULL, seat_main, &w->seat[n + 1]) == 0) n++;
#ifndef _WIN32
  pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
  return n;
}

/* The failure of the first rank that failed by itself. */
static gbt_status failure_of(const gbt_world *w, gbt_error *err) {
  const seat *first = NULL;
  for (int r = w->size - 1; r >= 0; r--)
    if (w->seat[r].status != GBT_OK && (first == NULL || !w->seat[r].err.ranks_know)) first = &w->seat[r];
  if (first == NULL) return GBT_OK;
  if (err != NULL) {
    *err = first->err;
    err->ranks_know = 0;
  }
  return first->status;
}

gbt_status gbt_world_run(gbt_ctx *ctx, gbt_world *w, int n_threads, gbt_world_fn fn, void *arg, gbt_error *err) {
  GBT_ASSERT(gbt_comm_is_single(ctx));
  w->run = (world_run){ctx, fn, arg, n_threads > 0 ? n_threads : 1};
  w->begun = 0;
  atomic_store(&w->n_failed, 0);
  const int n = start_ranks(w);
  pthread_mutex_lock(&w->lock);
  w->begun = n + 1 == w->size ? 1 : -1;
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
  if (w->begun > 0) run_rank(&w->seat[0]);
  for (int r = 1; r <= n; r++) pthread_join(w->seat[r].thread, NULL);
  if (w->begun < 0) return gbt_fail(err, GBT_E_MEM, "the system cannot create the threads for %d devices", w->size);
  return failure_of(w, err);
}

#endif
