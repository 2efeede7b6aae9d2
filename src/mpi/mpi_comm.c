/* The operations of base/comm.h by the non-blocking operations of MPI: a rank that waits sleeps between two tests. It
 * does not poll for Ctrl-C: an operation is completed all the same, and a request that it took would be lost where
 * nothing polls afterwards. So the request waits for the next poll of the engine or of R. MPI counts in int, so an
 * array of more than `most` numbers or bytes is sent in several operations. Moves have a communicator of their own, so
 * that the meeting of a rank that is elsewhere is not taken for a part of them.
 *
 * When a rank waits longer than `timeout`, or MPI reports an error, the ranks are lost to each other: all later
 * operations fail at once. The operation that was given up may go on in MPI, so its arrays are kept (mpi_kept.h).
 *
 * The end of the process. A rank that ends while others train would leave them waiting. So ranks meet once more at exit
 * (gbt_comm_leave): ranks that go on fail with the name of the one that left, and when all ranks are at exit, all end
 * MPI. Ranks that are lost to each other, also those of a group, cannot meet, and MPI's own end would wait for them. So
 * MPI_Abort ends the job, with code 1. */
#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#endif
#include "mpi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _WIN32
#include <process.h>
#include <windows.h>
#else
#include <unistd.h>
#endif

#include "../gbt/base/clock.h"
#include "../gbt/base/parallel.h"
#include "mpi_kept.h"
#include "mpi_library.h"

enum {
  AT_ONCE = 64,       /* operations that are on their way at the same time */
  MOST = 1 << 27,     /* numbers or bytes in one operation of MPI, whose counts are int, unless the caller has chosen */
  SPINS = 2000,       /* tests without sleep: about a millisecond */
  SHORT_SLEEPS = 4000 /* tests until sleeps become long */
};

/* Operations that have been started. */
typedef struct pending {
  gbt_mpi_handle request[AT_ONCE];
  int n;
} pending;

/* A move that has been started: what of it is on its way, and what comes next. */
typedef struct moving {
  gbt_comm_move move;
  pending going;
  int on, code;      /* started and not finished; what MPI said of the last operation */
  size_t part, at;   /* the next piece of a part */
  size_t block;
  int gathers;       /* the gathering is still to be started */
  int *counts;       /* room for (AT_ONCE + 2) * size: of the operations on their way */
} moving;

struct gbt_mpi {
  const gbt_mpi_library *library;
  gbt_mpi_handle group, of_moves; /* communicators: of moves, and of everything else */
  moving moving;
  gbt_comm comm;
  gbt_mpi_kept kept; /* comm, where its operations can be given up */
  int64_t limit_ns;  /* 0: none */
  int most;          /* see MOST */
  int lost;
  int *counts;     /* room for 2 * size */
  void *spare;     /* spare_bytes */
  size_t spare_bytes;
};

/* All processes of the launcher; size 0 until they are asked for. */
static gbt_mpi everybody;

static long process_of_mpi; /* the process that uses MPI; 0: none yet */
static int some_are_lost;   /* in any group */
static int gave_up;         /* after `timeout`: the others do not know */
static int n_moving;        /* groups with a move that was started and not finished */

/* ---- waiting ---- */

static void sleep_us(long us) {
#ifdef _WIN32
  Sleep(us < 1000 ? 0 : (DWORD)(us / 1000));
#else
  struct timespec pause = {0, us * 1000};
  nanosleep(&pause, NULL);
#endif
}

static void lose(gbt_mpi *mpi) { mpi->lost = some_are_lost = 1; }

static gbt_status fail_mpi(gbt_mpi *mpi, int code, gbt_error *err) {
  lose(mpi);
  if (gbt_mpi_survives(mpi->library)) {
    gbt_mpi_revoke(mpi->library, mpi->group);
    gbt_mpi_revoke(mpi->library, mpi->of_moves); /* some may wait there */
    return gbt_fail(err, GBT_E_DEVICE,
                    "rank %d of %d: the process of another rank has ended (MPI error %d); start the "
                    "job again",
                    mpi->comm.rank, mpi->comm.size, code);
  }
  return gbt_fail(err, GBT_E_DEVICE,
                  "rank %d of %d: the connection to the others failed (MPI error %d); start the job "
                  "again",
                  mpi->comm.rank, mpi->comm.size, code);
}

/* Waits until all of them are complete. code: what starting the last one returned. */
static gbt_status wait_for(gbt_mpi *mpi, int code, pending *all, gbt_error *err) {
  int done = 0, at = 0;
  int64_t start = 0;
  for (long turn = 0; code == 0 && at < all->n; turn++) {
    code = gbt_mpi_test(mpi->library, &all->request[at], &done);
    if (code == 0 && done) {
      at++;
      turn = -1;
      start = 0;
    }
    if (code != 0 || done || turn < SPINS) continue;
    if (start == 0) start = gbt_clock_ns();
    sleep_us(turn < SHORT_SLEEPS ? 20 : 200);
    if (mpi->limit_ns == 0 || gbt_clock_ns() - start < mpi->limit_ns) continue;
    lose(mpi);
    gave_up = 1;
    return gbt_fail(err, GBT_E_DEVICE,
                    "rank %d of %d has waited %g seconds for the others (the `timeout` of gbt_ranks()); one of them "
                    "hangs, has ended, or does something else",
                    mpi->comm.rank, mpi->comm.size, (double)mpi->limit_ns / 1e9);
  }
  all->n = 0;
  return code == 0 ? GBT_OK : fail_mpi(mpi, code, err);
}

static gbt_status check_here(const gbt_mpi *mpi, gbt_error *err) {
  if (!mpi->lost) return GBT_OK;
  return gbt_fail(err, GBT_E_DEVICE, "rank %d of %d: the connection to the others failed before; start the job again",
                  mpi->comm.rank, mpi->comm.size);
}

/* ---- the operations ---- */

static gbt_mpi_handle type_of(const gbt_mpi_library *m, gbt_comm_type type) {
  switch (type) {
  case GBT_COMM_I64:
    return m->int64;
  case GBT_COMM_U32:
    return m->uint32;
  case GBT_COMM_F64:
    break;
  }
  return m->float64;
}

static gbt_mpi_handle op_of(const gbt_mpi_library *m, gbt_comm_op op) {
  switch (op) {
  case GBT_COMM_SUM:
    return m->sum;
  case GBT_COMM_MIN:
    return m->min;
  case GBT_COMM_MAX:
    break;
  }
  return m->max;
}

static gbt_status reduce(void *state, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op, gbt_error *err) {
  gbt_mpi *mpi = state;
  const gbt_mpi_library *m = mpi->library;
  const size_t most = (size_t)mpi->most;
  pending all = {.n = 0};
  int code = 0;
  GBT_TRY(check_here(mpi, err));
  for (size_t i = 0; i < n_parts; i++) {
    const size_t width = gbt_comm_width(part[i].type);
    for (size_t at = 0; at < part[i].n; at += most) {
      const int k = part[i].n - at < most ? (int)(part[i].n - at) : mpi->most;
      code = gbt_mpi_iallreduce(m, (char *)part[i].x + at * width, k, type_of(m, part[i].type), op_of(m, op),
                                mpi->group, &all.request[all.n++]);
      if (code != 0 || all.n == AT_ONCE) GBT_TRY(wait_for(mpi, code, &all, err));
    }
  }
  return wait_for(mpi, code, &all, err);
}

static gbt_status broadcast(void *state, void *x, size_t bytes, int root, gbt_error *err) {
  gbt_mpi *mpi = state;
  const size_t most = (size_t)mpi->most;
  pending all = {.n = 0};
  GBT_TRY(check_here(mpi, err));
  for (size_t at = 0; at < bytes; at += most) {
    const int k = bytes - at < most ? (int)(bytes - at) : mpi->most;
    int code = gbt_mpi_ibcast(mpi->library, (char *)x + at, k, root, mpi->group, &all.request[all.n++]);
    GBT_TRY(wait_for(mpi, code, &all, err));
  }
  return GBT_OK;
}

/* Blocks of more than `most` bytes together: rank after rank sends its block to all. */
static gbt_status gather_long(gbt_mpi *mpi, const void *mine, const size_t *bytes, char *all,
                              gbt_error *err) {
  for (int r = 0; r < mpi->comm.size; all += bytes[r++]) {
    if (r == mpi->comm.rank && bytes[r] > 0) memcpy(all, mine, bytes[r]);
    GBT_TRY(broadcast(mpi, all, bytes[r], r, err));
  }
  return GBT_OK;
}

static gbt_status gather(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err) {
  gbt_mpi *mpi = state;
  const int size = mpi->comm.size;
  size_t total = 0;
  pending one = {.n = 1};
  GBT_TRY(check_here(mpi, err));
  for (int r = 0; r < size; r++) total += bytes[r];
  if (total > (size_t)mpi->most) return gather_long(mpi, mine, bytes, all, err);
  int *counts = mpi->counts, *starts = mpi->counts + size, at = 0;
  for (int r = 0; r < size; r++) {
    counts[r] = (int)bytes[r];
    starts[r] = at;
    at += counts[r];
  }
  int code = gbt_mpi_iallgatherv(mpi->library, mine, counts[mpi->comm.rank], all, counts, starts, mpi->group,
                                 &one.request[0]);
  return wait_for(mpi, code, &one, err);
}

/* Blocks of more than `most` numbers together: each is summed up at its rank. */
static gbt_status scatter_long(gbt_mpi *mpi, const char *x, const size_t *count, gbt_comm_type type, char *own,
                               gbt_error *err) {
  const gbt_mpi_library *m = mpi->library;
  const size_t width = gbt_comm_width(type), most = (size_t)mpi->most;
  pending all = {.n = 0};
  int code = 0;
  for (int r = 0; r < mpi->comm.size; x += count[r++] * width)
    for (size_t at = 0; at < count[r]; at += most) {
      const int k = count[r] - at < most ? (int)(count[r] - at) : mpi->most;
      char *to = r == mpi->comm.rank ? own + at * width : NULL;
      code = gbt_mpi_ireduce(m, x + at * width, to, k, type_of(m, type), m->sum, r, mpi->group, &all.request[all.n++]);
      if (code != 0 || all.n == AT_ONCE) GBT_TRY(wait_for(mpi, code, &all, err));
    }
  return wait_for(mpi, code, &all, err);
}

static gbt_status reduce_scatter(void *state, void *x, const size_t *count, gbt_comm_type type, void *own,
                                 gbt_error *err) {
  gbt_mpi *mpi = state;
  const gbt_mpi_library *m = mpi->library;
  size_t total = 0;
  pending one = {.n = 1};
  GBT_TRY(check_here(mpi, err));
  for (int r = 0; r < mpi->comm.size; r++) total += count[r];
  if (total == 0) return GBT_OK;
  if (total > (size_t)mpi->most) return scatter_long(mpi, x, count, type, own, err);
  for (int r = 0; r < mpi->comm.size; r++) mpi->counts[r] = (int)count[r];
  int code = gbt_mpi_ireduce_scatter(m, x, own, mpi->counts, type_of(m, type), m->sum, mpi->group, &one.request[0]);
  return wait_for(mpi, code, &one, err);
}

/* Where the block of a rank begins. */
static size_t start_of(const size_t *bytes, int rank) {
  size_t sum = 0;
  for (int r = 0; r < rank; r++) sum += bytes[r];
  return sum;
}

/* The next piece of a block, from `at` on; 0: there is none. */
static int piece_of(const gbt_mpi *mpi, size_t bytes, size_t at) {
  const size_t left = bytes > at ? bytes - at : 0;
  return left < (size_t)mpi->most ? (int)left : mpi->most;
}

/* In turn k each rank sends to the k-th rank after it, and takes from the k-th before it. Both know the length of a
 * block, so they need no other rank. Messages of two ranks rather than MPI_Ialltoallv, which Open MPI 4 does not
 * complete where a rank takes some kilobytes and sends none, or takes part without a byte. No circle of waiting ranks:
 * the first message, by turn and piece, that is not complete waits for nothing, as both of its ranks have finished
 * those before it, and so have started it. */
static gbt_status exchange(void *state, const void *out, const size_t *sends, void *in, const size_t *takes,
                           gbt_error *err) {
  gbt_mpi *mpi = state;
  const gbt_mpi_library *m = mpi->library;
  const int size = mpi->comm.size, self = mpi->comm.rank;
  pending all = {.n = 0};
  int code = 0;
  GBT_TRY(check_here(mpi, err));
  if (sends[self] > 0)
    memcpy((char *)in + start_of(takes, self), (const char *)out + start_of(sends, self), sends[self]);
  for (int k = 1; k < size; k++) {
    const int to = (self + k) % size, from = (self + size - k) % size;
    const char *next = (const char *)out + start_of(sends, to);
    char *place = (char *)in + start_of(takes, from);
    for (size_t at = 0; code == 0 && (at < sends[to] || at < takes[from]); at += (size_t)mpi->most) {
      const int s = piece_of(mpi, sends[to], at), t = piece_of(mpi, takes[from], at);
      if (t > 0) code = gbt_mpi_irecv(m, place + at, t, from, mpi->group, &all.request[all.n++]);
      if (code == 0 && s > 0) code = gbt_mpi_isend(m, next + at, s, to, mpi->group, &all.request[all.n++]);
      if (code != 0 || all.n > AT_ONCE - 2) GBT_TRY(wait_for(mpi, code, &all, err));
    }
  }
  return wait_for(mpi, code, &all, err);
}

/* ---- moves ---- */

static int post_part(gbt_mpi *mpi, gbt_mpi_handle *request) {
  moving *of = &mpi->moving;
  const gbt_comm_part *part = &of->move.part[of->part];
  const size_t most = of->move.most < (size_t)mpi->most ? of->move.most : (size_t)mpi->most;
  const size_t left = part->n - of->at;
  const int k = (int)(left < most ? left : most);
  char *x = (char *)part->x + of->at * gbt_comm_width(part->type);
  of->at += (size_t)k;
  return gbt_mpi_iallreduce(mpi->library, x, k, type_of(mpi->library, part->type), op_of(mpi->library, of->move.op),
                            mpi->of_moves, request);
}

static int post_block(gbt_mpi *mpi, int *counts, gbt_mpi_handle *request) {
  const gbt_comm_block *b = &mpi->moving.move.block[mpi->moving.block++];
  for (int r = 0; r < mpi->comm.size; r++) counts[r] = (int)b->count[r];
  return gbt_mpi_ireduce_scatter(mpi->library, b->x, b->own, counts, type_of(mpi->library, b->type),
                                 mpi->library->sum, mpi->of_moves, request);
}

static int post_gathering(gbt_mpi *mpi, gbt_mpi_handle *request) {
  const gbt_comm_move *move = &mpi->moving.move;
  const int size = mpi->comm.size;
  int *counts = mpi->moving.counts + (size_t)AT_ONCE * (size_t)size, *starts = counts + size, at = 0;
  for (int r = 0; r < size; at += counts[r++]) {
    counts[r] = (int)move->bytes[r];
    starts[r] = at;
  }
  mpi->moving.gathers = 0;
  return gbt_mpi_iallgatherv(mpi->library, move->mine, counts[mpi->comm.rank], move->all, counts, starts,
                             mpi->of_moves, request);
}

static int is_empty(const gbt_mpi *mpi, const gbt_comm_block *block) {
  for (int r = 0; r < mpi->comm.size; r++)
    if (block->count[r] > 0) return 0;
  return 1;
}

/* Starts operations of the move until AT_ONCE are on their way or all have been started. */
static void post_some(gbt_mpi *mpi) {
  moving *of = &mpi->moving;
  while (of->code == 0 && of->going.n < AT_ONCE) {
    gbt_mpi_handle *request = &of->going.request[of->going.n];
    if (of->part < of->move.n_parts && of->at == of->move.part[of->part].n) {
      of->part++;
      of->at = 0;
      continue;
    }
    if (of->part < of->move.n_parts) of->code = post_part(mpi, request);
    else if (of->block < of->move.n_blocks && is_empty(mpi, &of->move.block[of->block])) {
      of->block++;
      continue;
    } else if (of->block < of->move.n_blocks)
      of->code = post_block(mpi, of->counts + (size_t)of->going.n * (size_t)mpi->comm.size, request);
    else if (of->gathers) of->code = post_gathering(mpi, request);
    else return;
    of->going.n++;
  }
}

static gbt_status start(void *state, const gbt_comm_move *move, gbt_error *err) {
  gbt_mpi *mpi = state;
  moving *of = &mpi->moving;
  if (of->on) lose(mpi); /* ranks had started different things, which no rank completes */
  GBT_TRY(check_here(mpi, err));
  of->move = *move;
  of->on = 1;
  n_moving++;
  of->code = of->going.n = 0;
  of->part = of->at = of->block = 0;
  of->gathers = move->bytes != NULL;
  post_some(mpi);
  return of->code == 0 ? GBT_OK : fail_mpi(mpi, of->code, err);
}

static gbt_status finish(void *state, gbt_error *err) {
  gbt_mpi *mpi = state;
  while (mpi->moving.going.n > 0) {
    GBT_TRY(wait_for(mpi, mpi->moving.code, &mpi->moving.going, err));
    post_some(mpi);
  }
  mpi->moving.on = 0;
  n_moving--;
  return mpi->moving.code == 0 ? GBT_OK : fail_mpi(mpi, mpi->moving.code, err);
}

static void *spare(void *state, size_t bytes) {
  gbt_mpi *mpi = state;
  if (mpi->spare != NULL && mpi->spare_bytes >= bytes) return mpi->spare;
  void *more = malloc(bytes + 1);
  if (more == NULL) return NULL;
  free(mpi->spare);
  mpi->spare = more;
  mpi->spare_bytes = bytes;
  return more;
}

static void lose_all(void *state) { lose(state); }

/* ---- the end ---- */

static long this_process(void) {
#ifdef _WIN32
  return (long)_getpid();
#else
  return (long)getpid();
#endif
}

static void end_mpi(void) {
  int ended = 1;
  const gbt_mpi_library *m = gbt_mpi_library_opened();
  if (this_process() != process_of_mpi) return; /* a forked process, which has no part in it */
  if (m->finalized(&ended) != 0 || ended) return;
  if (!m->started_here && !some_are_lost) return; /* the package that started MPI ends it */
  while (!some_are_lost && n_moving == 0) {
    gbt_ctx ctx = {.n_threads = 1, .comm = everybody.comm.size > 0 ? gbt_mpi_comm(&everybody) : NULL};
    if (gbt_comm_leave(&ctx, NULL) != GBT_OK) continue; /* some go on: they fail now, and come to their ends */
    (void)m->finalize();
    return;
  }
  if (!gave_up && gbt_mpi_survives(m))
    (void)m->finalize(); /* all who are left know, and come to their ends */
  else
    (void)gbt_mpi_abort(m, m->world, 1);
}

/* ---- the beginning ---- */

static gbt_status check_launcher(const gbt_mpi *mpi, gbt_error *err) {
  const int launched = gbt_mpi_launched();
  if (mpi->comm.size > 1 || launched <= 1) return GBT_OK;
  return gbt_fail_on(err, GBT_E_ARG, "library",
                     "the launcher started %d processes, but the MPI library (%s) sees only this one: it belongs to "
                     "another MPI; use the mpirun of this library, or give the launcher's library as `library`",
                     launched, mpi->library->version);
}

/* Room for the counts of operations on `whole`. */
static gbt_status take_room(gbt_mpi *mpi, gbt_mpi_handle whole, int *code, gbt_error *err) {
  int size = 1;
  *code = gbt_mpi_size(mpi->library, whole, &size);
  const size_t room = (size_t)size * sizeof(int);
  if (*code != 0) return GBT_OK;
  mpi->counts = malloc(2 * room);
  mpi->moving.counts = malloc((AT_ONCE + 2) * room);
  return mpi->counts == NULL || mpi->moving.counts == NULL ? gbt_fail_mem(err, (AT_ONCE + 4) * room) : GBT_OK;
}

/* status: of this rank so far. A rank without memory takes part all the same, and then all ranks fail. */
static gbt_status join_ranks(const gbt_mpi_spec *spec, gbt_mpi_handle whole, gbt_mpi *mpi, gbt_status status,
                             gbt_error *err) {
  const gbt_mpi_library *m = mpi->library;
  int code = 0;
  if (status == GBT_OK) status = take_room(mpi, whole, &code, err);
  if (code == 0) code = gbt_mpi_dup(m, whole, &mpi->group);
  if (code == 0) code = gbt_mpi_dup(m, whole, &mpi->of_moves);
  if (code == 0) code = gbt_mpi_rank(m, mpi->group, &mpi->comm.rank);
  if (code == 0) code = gbt_mpi_size(m, mpi->group, &mpi->comm.size);
  if (code != 0 && spec->group != NULL)
    return gbt_fail_on(err, GBT_E_ARG, "comm",
                       "`comm` = %d is not the number of a communicator (MPI error %d); give Rmpi::mpi.comm.c2f() of "
                       "one, or pbdMPI::comm.c2f()",
                       (int)*spec->group, code);
  if (code != 0) return gbt_fail(err, GBT_E_DEVICE, "MPI cannot create a communicator (error %d)", code);
  mpi->comm = (gbt_comm){.rank = mpi->comm.rank,
                         .size = mpi->comm.size,
                         .state = mpi,
                         .reduce = reduce,
                         .gather = gather,
                         .broadcast = broadcast,
                         .reduce_scatter = reduce_scatter,
                         .exchange = exchange,
                         .start = start,
                         .finish = finish,
                         .spare = spare,
                         .lose = lose_all};
  gbt_ctx ctx = {.n_threads = 1, .comm = &mpi->comm};
  return gbt_comm_agree(&ctx, status, err);
}

static void set_limits(gbt_mpi *mpi, const gbt_mpi_spec *spec) {
  mpi->limit_ns = (int64_t)(spec->timeout * 1e9);
  mpi->most = spec->most > 0 ? (int)spec->most : MOST;
}

/* status: of this rank so far, GBT_OK or GBT_E_MEM. */
static gbt_status open_group(const gbt_mpi_spec *spec, gbt_mpi *mpi, gbt_status status, gbt_error *err) {
  gbt_mpi_library *m;
  GBT_TRY(gbt_mpi_library_open(spec->library, spec->start, &m, err));
  mpi->library = m;
  if (process_of_mpi == 0) {
    process_of_mpi = this_process();
    atexit(end_mpi);
  }
  set_limits(mpi, spec);
  gbt_mpi_handle whole = m->world;
  if (spec->group != NULL && !gbt_mpi_from_fortran(m, *spec->group, &whole))
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "comm", "`comm` cannot be used with this MPI library (%s); leave it out",
                       m->version);
  GBT_TRY(join_ranks(spec, whole, mpi, status, err));
  gbt_mpi_keep(&mpi->comm, &mpi->kept);
  return spec->group == NULL ? check_launcher(mpi, err) : GBT_OK;
}

gbt_status gbt_mpi_open(const gbt_mpi_spec *spec, gbt_mpi **out, gbt_error *err) {
  if (process_of_mpi != 0 && process_of_mpi != this_process())
    return gbt_fail(err, GBT_E_DEVICE,
                    "this process was forked from one that has started MPI, and cannot use it; start workers as new "
                    "processes");
  if (spec->group != NULL) {
    gbt_mpi *mpi = calloc(1, sizeof *mpi), none = {.library = NULL}; /* as long as the process */
    if (mpi == NULL) return open_group(spec, &none, gbt_fail_mem(err, sizeof *mpi), err);
    *out = mpi;
    return open_group(spec, mpi, GBT_OK, err);
  }
  if (everybody.comm.size == 0) {
    const gbt_status status = open_group(spec, &everybody, GBT_OK, err);
    if (status != GBT_OK) everybody.comm.size = 0;
    if (status != GBT_OK) return status;
  }
  gbt_mpi_library *m; /* a library that the caller names must be the one that is open */
  GBT_TRY(gbt_mpi_library_open(spec->library, spec->start, &m, err));
  set_limits(&everybody, spec);
  *out = &everybody;
  return GBT_OK;
}

const gbt_comm *gbt_mpi_comm(const gbt_mpi *mpi) {
  return mpi->limit_ns > 0 || gbt_mpi_survives(mpi->library) ? &mpi->kept.comm : &mpi->comm;
}

const char *gbt_mpi_version(const gbt_mpi *mpi) { return mpi->library->version; }
const char *gbt_mpi_family(const gbt_mpi *mpi) { return gbt_mpi_family_name(mpi->library->family); }
