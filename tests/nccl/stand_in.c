/* A library that stands in for NCCL (libnccl.so.2) where there are no GPUs: ranks are threads of one process, and
 * device memory is the host's (tests/simt). It has the functions that src/cuda/base/nccl.cuh asks for, of which
 * operations are carried out when their group ends, by adding up on the host. As there, a rank does not learn that
 * another one has failed: its operations stay under way until it aborts them.
 *
 *   NCCL_STAND_IN_FAIL=k   operation number k of a communicator fails, on the rank that comes to it; 0: the first rank
 *                          cannot make an id */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, SYSTEM_ERROR = 2, INVALID = 4, IN_PROGRESS = 7 };
enum { UINT32 = 3, INT64 = 4, SUM = 0, MAX = 2, MIN = 3, MOST = 64, QUEUE = 256 };

typedef struct id {
  char bytes[128];
} id;

typedef struct world {
  id name;
  int size, n_here, n_left, n_waiting, n_operations, lost;
  uint64_t turn;
  const void *send[MOST];
  void *receive[MOST];
  struct world *next;
} world;

typedef struct ncclComm {
  world *all;
  int rank;
  int hangs; /* it waits for a rank that has failed */
} *comm;

/* root: of a reduction to one rank; ALL: to every rank; GATHER: nothing is added up. */
enum { ALL = -1, GATHER = -2 };

typedef struct operation {
  const void *send;
  void *receive;
  size_t n;
  int type, op, root;
  comm c;
} operation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static world *worlds;
static atomic_int n_ids;
static _Thread_local operation queue[QUEUE];
static _Thread_local int n_queued, depth;

int ncclGetVersion(int *out) {
  *out = 20000; /* 2.0.0, which no real one is called by this number */
  return OK;
}

const char *ncclGetErrorString(int result) { return result == OK ? "no error" : "the stand-in fails"; }

/* The operation that fails, or -1. */
static int failing(void) {
  const char *fail = getenv("NCCL_STAND_IN_FAIL");
  return fail == NULL ? -1 : atoi(fail);
}

int ncclGetUniqueId(id *out) {
  memset(out, 0, sizeof *out);
  if (failing() == 0) return SYSTEM_ERROR;
  const int number = atomic_fetch_add(&n_ids, 1) + 1;
  memcpy(out->bytes, &number, sizeof number);
  return OK;
}

/* With the lock held: waits until all are here; 0 when a rank is lost. */
static int meet(world *w) {
  const uint64_t turn = w->turn;
  if (++w->n_waiting == w->size) {
    w->n_waiting = 0;
    w->turn++;
    pthread_cond_broadcast(&changed);
  }
  while (w->turn == turn && !w->lost) pthread_cond_wait(&changed, &lock);
  return w->turn != turn;
}

int ncclCommInitRank(comm *out, int size, id name, int rank) {
  if (size < 1 || size > MOST || rank < 0 || rank >= size) return INVALID;
  pthread_mutex_lock(&lock);
  world *w = worlds;
  while (w != NULL && memcmp(&w->name, &name, sizeof name) != 0) w = w->next;
  if (w == NULL && (w = calloc(1, sizeof *w)) != NULL) {
    w->name = name;
    w->size = size;
    w->next = worlds;
    worlds = w;
  }
  *out = w == NULL ? NULL : malloc(sizeof **out);
  if (*out == NULL) {
    pthread_mutex_unlock(&lock);
    return SYSTEM_ERROR;
  }
  **out = (struct ncclComm){w, rank, 0};
  w->n_here++;
  const int met = meet(w);
  pthread_mutex_unlock(&lock);
  return met ? OK : SYSTEM_ERROR;
}

static void leave(world *w) {
  world **at = &worlds;
  if (++w->n_left < w->n_here) return;
  while (*at != w) at = &(*at)->next;
  *at = w->next;
  free(w);
}

int ncclCommAbort(comm c) {
  pthread_mutex_lock(&lock);
  c->all->lost = 1;
  pthread_cond_broadcast(&changed);
  leave(c->all);
  pthread_mutex_unlock(&lock);
  free(c);
  return OK;
}

int ncclCommGetAsyncError(comm c, int *out) {
  *out = c->hangs ? IN_PROGRESS : OK;
  return OK;
}

/* ---- sums ---- */

static int64_t joined(int64_t a, int64_t b, int op) {
  if (op == SUM) return (int64_t)((uint64_t)a + (uint64_t)b);
  return op == MAX ? (a > b ? a : b) : (a < b ? a : b);
}

/* This rank's slice of the numbers, to the arrays of all ranks. */
static void reduce_slice(const world *w, const operation *o) {
  const size_t rank = (size_t)o->c->rank, size = (size_t)w->size;
  const size_t beg = o->n * rank / size, end = o->n * (rank + 1) / size;
  for (size_t i = beg; i < end; i++) {
    if (o->type == INT64) {
      int64_t x = ((const int64_t *)w->send[0])[i];
      for (int r = 1; r < w->size; r++) x = joined(x, ((const int64_t *)w->send[r])[i], o->op);
      for (int r = 0; r < w->size; r++)
        if (o->root == ALL || o->root == r) ((int64_t *)w->receive[r])[i] = x;
    } else {
      uint32_t x = ((const uint32_t *)w->send[0])[i];
      for (int r = 1; r < w->size; r++) x = (uint32_t)joined(x, ((const uint32_t *)w->send[r])[i], o->op);
      for (int r = 0; r < w->size; r++)
        if (o->root == ALL || o->root == r) ((uint32_t *)w->receive[r])[i] = x;
    }
  }
}

/* The numbers of all ranks, to this rank's array. */
static void gather(const world *w, const operation *o) {
  const size_t bytes = o->n * (o->type == INT64 ? sizeof(int64_t) : sizeof(uint32_t));
  for (int r = 0; r < w->size; r++) memcpy((char *)o->receive + (size_t)r * bytes, w->send[r], bytes);
}

static int carry_out(const operation *o) {
  world *w = o->c->all;
  pthread_mutex_lock(&lock);
  const int fails = ++w->n_operations == failing();
  if (fails) {
    w->lost = 1;
    pthread_cond_broadcast(&changed);
  }
  w->send[o->c->rank] = o->send;
  w->receive[o->c->rank] = o->receive;
  int met = !w->lost && meet(w);
  pthread_mutex_unlock(&lock);
  o->c->hangs |= !met;
  if (!met) return fails ? SYSTEM_ERROR : OK;
  if (o->root == GATHER)
    gather(w, o);
  else
    reduce_slice(w, o);
  pthread_mutex_lock(&lock);
  met = !w->lost && meet(w);
  pthread_mutex_unlock(&lock);
  o->c->hangs |= !met;
  return OK;
}

/* What was issued to the stream before has run: the emulated device is waited for. */
static int issue(const operation *o) {
  if ((o->type != INT64 && o->type != UINT32) || (o->op != SUM && o->op != MAX && o->op != MIN)) return INVALID;
  if (depth == 0) return carry_out(o);
  if (n_queued == QUEUE) return SYSTEM_ERROR;
  queue[n_queued++] = *o;
  return OK;
}

int ncclAllReduce(const void *send, void *receive, size_t n, int type, int op, comm c, void *stream) {
  const operation o = {send, receive, n, type, op, ALL, c};
  (void)stream;
  return issue(&o);
}

int ncclReduce(const void *send, void *receive, size_t n, int type, int op, int root, comm c, void *stream) {
  const operation o = {send, receive, n, type, op, root, c};
  (void)stream;
  return root < 0 || root >= c->all->size ? INVALID : issue(&o);
}

int ncclAllGather(const void *send, void *receive, size_t n, int type, comm c, void *stream) {
  const operation o = {send, receive, n, type, SUM, GATHER, c};
  (void)stream;
  return issue(&o);
}

int ncclGroupStart(void) {
  depth++;
  return OK;
}

int ncclGroupEnd(void) {
  int result = OK;
  if (depth == 0) return INVALID;
  if (--depth > 0) return OK;
  for (int i = 0; i < n_queued && result == OK; i++) result = carry_out(&queue[i]);
  n_queued = 0;
  return result;
}
