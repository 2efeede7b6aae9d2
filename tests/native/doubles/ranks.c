/* One mutex, one condition. An operation is: put up what is mine, wait for all, read the others', wait for all. */
#define _POSIX_C_SOURCE 200809L
#include "ranks.h"

#include <pthread.h>
#include <time.h>

#include "../../src/gbt/base/parallel.h"

typedef struct world {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int size, n_waiting, dead; /* dead: number of the rank + 1 */
  uint64_t turn;             /* of the meetings so far */
  const void *mine[RANKS_MOST];
} world;

typedef struct seat {
  world *all;
  gbt_comm comm;
  void (*fn)(void *arg, const gbt_comm *comm);
  void *arg;
  ranks_traffic traffic;
  gbt_comm_move move; /* started, not finished */
  void *spare;        /* spare_bytes */
  size_t spare_bytes;
  int lost; /* see gbt_comm.lose */
} seat;

static void count_traffic(seat *s, int64_t operations, size_t sent, size_t taken) {
  s->traffic.operations += operations;
  s->traffic.sent += (int64_t)sent;
  s->traffic.taken += (int64_t)taken;
}

ranks_traffic ranks_traffic_of(const gbt_comm *comm) { return ((const seat *)comm->state)->traffic; }

static void wait_a_little(world *w) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&w->changed, &w->lock, &until);
}

/* Returns when all ranks are here. */
static gbt_status wait_for_all(seat *s, gbt_error *err) {
  world *w = s->all;
  time_t end = time(NULL) + RANKS_SECONDS;
  if (s->lost) return gbt_fail(err, GBT_E_DEVICE, "rank %d of %d has lost the others", s->comm.rank, w->size);
  pthread_mutex_lock(&w->lock);
  uint64_t turn = w->turn;
  if (++w->n_waiting == w->size) {
    w->n_waiting = 0;
    w->turn++;
    pthread_cond_broadcast(&w->changed);
  }
  while (w->turn == turn && w->dead == 0) {
    wait_a_little(w);
    if (w->turn != turn || w->dead != 0) break;
    pthread_mutex_unlock(&w->lock);
    if (time(NULL) > end) {
      printf("rank %d of %d waits for a rank that does not come\n", s->comm.rank, s->comm.size);
      fflush(stdout);
      abort();
    }
    pthread_mutex_lock(&w->lock);
  }
  int dead = w->turn == turn ? w->dead : 0;
  pthread_mutex_unlock(&w->lock);
  return dead ? gbt_fail(err, GBT_E_DEVICE, "rank %d of %d is lost", dead - 1, w->size) : GBT_OK;
}

static int64_t join_i64(int64_t a, int64_t b, gbt_comm_op op) {
  if (op == GBT_COMM_SUM) return (int64_t)((uint64_t)a + (uint64_t)b);
  return op == GBT_COMM_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

static void join(void *into, const void *from, size_t n, gbt_comm_type type, gbt_comm_op op) {
  for (size_t i = 0; i < n; i++) {
    if (type == GBT_COMM_I64) {
      int64_t *x = into;
      x[i] = join_i64(x[i], ((const int64_t *)from)[i], op);
    } else if (type == GBT_COMM_U32) {
      uint32_t *x = into;
      x[i] = (uint32_t)join_i64(x[i], ((const uint32_t *)from)[i], op);
    } else {
      double *x = into, y = ((const double *)from)[i];
      x[i] = (op == GBT_COMM_MIN) == (y < x[i]) ? y : x[i];
    }
  }
}

static gbt_status reduce_part(void *state, void *x, size_t n, gbt_comm_type type, gbt_comm_op op, gbt_error *err) {
  seat *s = state;
  world *w = s->all;
  size_t bytes = n * gbt_comm_width(type);
  w->mine[s->comm.rank] = x;
  count_traffic(s, 0, bytes, bytes);
  GBT_TRY(wait_for_all(s, err));
  void *all = test_alloc(bytes); /* in the order of the ranks, last first: what is exact does not care */
  if (bytes > 0) memcpy(all, w->mine[w->size - 1], bytes);
  for (int r = w->size - 1; r-- > 0;) join(all, w->mine[r], n, type, op);
  gbt_status status = wait_for_all(s, err);
  if (status == GBT_OK && bytes > 0) memcpy(x, all, bytes);
  free(all);
  return status;
}

static gbt_status reduce(void *state, const gbt_comm_part *part, size_t n_parts, gbt_comm_op op, gbt_error *err) {
  count_traffic(state, 1, 0, 0);
  for (size_t i = 0; i < n_parts; i++)
    GBT_TRY(reduce_part(state, part[i].x, part[i].n, part[i].type, op, err));
  return GBT_OK;
}

static gbt_status gather(void *state, const void *mine, const size_t *bytes, void *all, gbt_error *err) {
  seat *s = state;
  world *w = s->all;
  char *to = all;
  w->mine[s->comm.rank] = mine;
  count_traffic(s, 1, bytes[s->comm.rank], 0);
  GBT_TRY(wait_for_all(s, err));
  for (int r = 0; r < w->size; to += bytes[r++]) {
    if (bytes[r] > 0) memcpy(to, w->mine[r], bytes[r]);
    count_traffic(s, 0, 0, bytes[r]);
  }
  return wait_for_all(s, err);
}

static gbt_status broadcast(void *state, void *x, size_t bytes, int root, gbt_error *err) {
  seat *s = state;
  world *w = s->all;
  w->mine[s->comm.rank] = x;
  count_traffic(s, 1, s->comm.rank == root ? bytes : 0, bytes);
  GBT_TRY(wait_for_all(s, err));
  if (s->comm.rank != root && bytes > 0) memcpy(x, w->mine[root], bytes);
  return wait_for_all(s, err);
}

static gbt_status reduce_scatter(void *state, void *x, const size_t *count, gbt_comm_type type, void *own,
                                 gbt_error *err) {
  seat *s = state;
  world *w = s->all;
  const size_t width = gbt_comm_width(type), n = count[s->comm.rank];
  size_t beg = 0, all = 0;
  for (int r = 0; r < s->comm.rank; r++) beg += count[r];
  for (int r = 0; r < w->size; r++) all += count[r];
  w->mine[s->comm.rank] = x;
  count_traffic(s, 1, all * width, n * width);
  GBT_TRY(wait_for_all(s, err));
  if (n > 0) memset(own, 0, n * width);
  for (int r = 0; r < w->size && n > 0; r++)
    join(own, (const char *)w->mine[r] + beg * width, n, type, GBT_COMM_SUM);
  GBT_TRY(wait_for_all(s, err));
  if (all > 0) memset(x, 0x5a, all * width);
  return GBT_OK;
}

/* What a rank puts up in an exchange. */
typedef struct outgoing {
  const char *blocks;
  const size_t *sends;
} outgoing;

static gbt_status exchange(void *state, const void *out, const size_t *sends, void *in, const size_t *takes,
                           gbt_error *err) {
  seat *s = state;
  world *w = s->all;
  const outgoing mine = {out, sends};
  char *to = in;
  int fits = 1;
  w->mine[s->comm.rank] = &mine;
  GBT_TRY(wait_for_all(s, err));
  for (int r = 0; r < w->size; to += takes[r++]) {
    const outgoing *its = w->mine[r];
    const char *from = its->blocks;
    for (int b = 0; b < s->comm.rank; b++) from += its->sends[b];
    fits &= its->sends[s->comm.rank] == takes[r];
    if (fits && takes[r] > 0) memcpy(to, from, takes[r]);
    count_traffic(s, 0, sends[r], takes[r]);
  }
  count_traffic(s, 1, 0, 0);
  if (!fits) abort(); /* a rank expects other bytes than it gets */
  return wait_for_all(s, err);
}

static gbt_status start(void *state, const gbt_comm_move *move, gbt_error *err) {
  (void)err;
  ((seat *)state)->move = *move;
  return GBT_OK;
}

/* Piece by piece: a rank that was elsewhere joins them one by one. */
static gbt_status finish(void *state, gbt_error *err) {
  const gbt_comm_move *move = &((seat *)state)->move;
  for (size_t i = 0; i < move->n_parts; i++)
    for (size_t at = 0; at < move->part[i].n; at += move->most) {
      const gbt_comm_part *part = &move->part[i];
      const size_t left = part->n - at, n = left < move->most ? left : move->most;
      GBT_TRY(reduce_part(state, (char *)part->x + at * gbt_comm_width(part->type), n, part->type, move->op, err));
    }
  for (size_t i = 0; i < move->n_blocks; i++) {
    const gbt_comm_block *b = &move->block[i];
    GBT_TRY(reduce_scatter(state, b->x, b->count, b->type, b->own, err));
  }
  return move->bytes == NULL ? GBT_OK : gather(state, move->mine, move->bytes, move->all, err);
}

static void *spare(void *state, size_t bytes) {
  seat *s = state;
  if (s->spare != NULL && s->spare_bytes >= bytes) return s->spare;
  free(s->spare);
  s->spare = test_alloc(bytes);
  s->spare_bytes = bytes;
  return s->spare;
}

static void lose(void *state) { ((seat *)state)->lost = 1; }

void ranks_die(const gbt_comm *comm) {
  world *w = ((seat *)comm->state)->all;
  pthread_mutex_lock(&w->lock);
  w->dead = comm->rank + 1;
  pthread_cond_broadcast(&w->changed);
  pthread_mutex_unlock(&w->lock);
}

static void *seat_main(void *ptr) {
  seat *s = ptr;
  s->fn(s->arg, &s->comm);
  return NULL;
}

void ranks_run(int size, void (*fn)(void *arg, const gbt_comm *comm), void *arg) {
  world w = {.size = size};
  seat seats[RANKS_MOST];
  pthread_t thread[RANKS_MOST];
  if (pthread_mutex_init(&w.lock, NULL) != 0 || pthread_cond_init(&w.changed, NULL) != 0) abort();
  for (int r = 0; r < size; r++) {
    gbt_comm comm = {r, size, &seats[r], reduce, gather, broadcast, reduce_scatter, exchange, start, finish,
                     spare, lose, NULL};
    seats[r] = (seat){.all = &w, .comm = comm, .fn = fn, .arg = arg};
    if (pthread_create(&thread[r], NULL, seat_main, &seats[r]) != 0) abort();
  }
  for (int r = 0; r < size; r++) pthread_join(thread[r], NULL);
  for (int r = 0; r < size; r++) free(seats[r].spare);
  pthread_cond_destroy(&w.changed);
  pthread_mutex_destroy(&w.lock);
}
