/* Ranks that are threads for the length of a call. */
#include <string.h>

#include "../../src/gbt/base/world.h"
#include "fault.h"
#include "test.h"

#ifndef GBT_NO_THREADS

enum { MOST = 8, N = 37 };

typedef struct world_job {
  int64_t sum[MOST][N];
  uint32_t count[MOST][N];
  double most[MOST][N];
  int64_t own[MOST][N];
  char gathered[MOST][MOST * 5], told[MOST][9], got[MOST][MOST];
  int bad;                                /* the rank that fails; -1: none */
  int after;                              /* it has met the others before */
  gbt_status how;
  int seen[MOST];                         /* whether a rank has seen a failure */
} world_job;

/* All operations once. */
static gbt_status all_of_them(void *arg, gbt_ctx *own, gbt_error *err) {
  world_job *job = arg;
  const int r = own->comm->rank, size = own->comm->size;
  size_t bytes[MOST], count[MOST], sends[MOST], takes[MOST];
  char mine[5], out[MOST];
  int64_t blocks[N];
  for (int i = 0; i < N; i++) {
    job->sum[r][i] = (int64_t)(r + 1) << 40 | i;
    job->count[r][i] = UINT32_MAX - (uint32_t)(i % 2);
    job->most[r][i] = (double)((r + i) % size);
    blocks[i] = r * 100 + i;
  }
  if (job->bad == r && !job->after) return gbt_fail(err, job->how, "rank %d does not want to", r);
  const gbt_comm_part parts[] = {{job->sum[r], N, GBT_COMM_I64}, {job->count[r], N, GBT_COMM_U32}};
  GBT_TRY(gbt_comm_sum_parts(own, parts, 2, err));
  GBT_TRY(gbt_comm_max_f64(own, job->most[r], N, err));
  if (job->bad == r) return gbt_fail(err, job->how, "rank %d does not want to", r);
  size_t left = N;
  for (int k = 0; k < size; k++) {
    bytes[k] = (size_t)(k % 3 == 0 ? 0 : k % 5);
    count[k] = k + 1 < size ? (size_t)k : left;
    left -= k + 1 < size ? (size_t)k : left;
    sends[k] = takes[k] = 1;
    out[k] = (char)('a' + r);
  }
  memset(mine, '0' + r, sizeof mine);
  GBT_TRY(gbt_comm_gather(own, mine, bytes, job->gathered[r], err));
  GBT_TRY(gbt_comm_sum_own(own, blocks, count, GBT_COMM_I64, job->own[r], err));
  memcpy(job->told[r], r == 1 ? "the word" : "nothing.", 9);
  GBT_TRY(gbt_comm_broadcast(own, job->told[r], 9, 1, err));
  return own->comm->exchange(own->comm->state, out, sends, job->got[r], takes, err);
}

/* The others see that a rank has failed without meeting it. */
static gbt_status see_failure(void *arg, gbt_ctx *own, gbt_error *err) {
  world_job *job = arg;
  if (own->comm->rank == job->bad) return gbt_fail(err, job->how, "rank %d does not want to", job->bad);
  while (job->bad >= 0 && !own->comm->failed(own->comm->state)) continue;
  job->seen[own->comm->rank] = own->comm->failed(own->comm->state);
  return gbt_comm_sync(own, err);
}

static void failures_are_seen_without_meeting(void) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_world *world = NULL;
  CHECK_OK(gbt_world_open(&ctx.mem, 4, &world, test_err));
  for (int bad = -1; bad < 4; bad++) { /* the next run knows nothing of the last one's */
    world_job job = {.bad = bad, .how = GBT_E_DEVICE};
    gbt_error err = {.msg = ""};
    CHECK_EQ_I64(gbt_world_run(&ctx, world, 1, see_failure, &job, &err), bad < 0 ? GBT_OK : GBT_E_DEVICE);
    for (int r = 0; r < 4; r++) CHECK_EQ_I64(job.seen[r], bad >= 0 && r != bad);
    job.bad = -1;
    CHECK_EQ_I64(gbt_world_run(&ctx, world, 1, see_failure, &job, &err), GBT_OK);
  }
  gbt_world_close(world);
  gbt_ctx_close(&ctx);
}

static gbt_status run(world_job *job, int size, gbt_error *err) {
  gbt_ctx ctx = test_ctx(NULL, 1);
  gbt_world *world = NULL;
  gbt_status status = gbt_world_open(&ctx.mem, size, &world, err);
  for (int times = 0; times < 2 && status == GBT_OK; times++)
    status = gbt_world_run(&ctx, world, 1, all_of_them, job, err);
  gbt_world_close(world);
  gbt_ctx_close(&ctx);
  return status;
}

static void operations_of_every_size(void) {
  for (int size = 2; size <= MOST; size++) {
    world_job job = {.bad = -1};
    CHECK_OK(run(&job, size, test_err));
    size_t n_gathered = 0, beg = 0;
    char gathered[MOST * 5];
    for (int k = 0; k < size; k++)
      for (int b = 0; b < (k % 3 == 0 ? 0 : k % 5); b++) gathered[n_gathered++] = (char)('0' + k);
    for (int r = 0; r < size; r++) {
      const size_t n = r + 1 < size ? (size_t)r : N - beg;
      for (int i = 0; i < N; i++) {
        CHECK_EQ_I64(job.sum[r][i], (int64_t)(size * (size + 1) / 2) << 40 | (int64_t)size * i);
        CHECK_EQ_U64(job.count[r][i], (uint32_t)size * (UINT32_MAX - (uint32_t)(i % 2)));
        CHECK(job.most[r][i] == (double)(size - 1));
      }
      for (size_t i = 0; i < n; i++)
        CHECK_EQ_I64(job.own[r][i], 100 * size * (size - 1) / 2 + size * (int64_t)(beg + i));
      CHECK_EQ_BYTES(job.gathered[r], gathered, n_gathered);
      CHECK_EQ_TEXT(job.told[r], "the word");
      for (int k = 0; k < size; k++) CHECK(job.got[r][k] == 'a' + k);
      beg += n;
    }
  }
}

/* The failure of one rank is that of the run, in its own words. */
static void one_rank_fails(void) {
  for (int size = 2; size <= 5; size++)
    for (int bad = 0; bad < size; bad++)
      for (int after = 0; after < 2; after++) {
        world_job job = {.bad = bad, .after = after, .how = after ? GBT_E_MEM : GBT_CANCELLED};
        char words[40];
        snprintf(words, sizeof words, "rank %d does not want to", bad);
        CHECK_EQ_I64(run(&job, size, test_err), job.how);
        CHECK_EQ_TEXT(test_err->msg, words);
        CHECK_EQ_I64(test_err->ranks_know, 0);
      }
}

/* Threads that the system does not start. */
static void threads_are_refused(void) {
  for (int n = 0; n < 3; n++) {
    world_job job = {.bad = -1};
    fault_threads = n;
    CHECK_EQ_I64(run(&job, 4, test_err), GBT_E_MEM);
    fault_threads = -1;
    CHECK(strstr(test_err->msg, "cannot create the threads") != NULL);
  }
}

#else

static void a_build_without_threads(void) {
  const gbt_mem mem = gbt_mem_default();
  gbt_world *world = NULL;
  CHECK_FAILS(gbt_world_open(&mem, 2, &world, test_err), GBT_E_UNSUPPORTED, "no threads");
  CHECK(world == NULL);
}

#endif

void suite_world(void) {
#ifdef GBT_NO_THREADS
  RUN(a_build_without_threads);
#else
  RUN(operations_of_every_size);
  RUN(failures_are_seen_without_meeting);
  RUN(one_rank_fails);
  RUN(threads_are_refused);
#endif
}
