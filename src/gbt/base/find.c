#include "find.h"

#include <stdatomic.h>

#include "parallel.h"

enum { FIND_AT_ONCE = 65536 };

typedef struct find_job {
  int64_t n;
  gbt_find_fn find;
  const void *arg;
  _Atomic int64_t first; /* of those found so far; n: none */
} find_job;

static void find_task(void *arg, int64_t task, int thread) {
  find_job *job = arg;
  const int64_t beg = task * FIND_AT_ONCE, end = job->n - beg < FIND_AT_ONCE ? job->n : beg + FIND_AT_ONCE;
  int64_t known = atomic_load(&job->first);
  (void)thread;
  if (known <= beg) return;
  const int64_t found = job->find(job->arg, beg, end);
  if (found == end) return;
  while (found < known && !atomic_compare_exchange_weak(&job->first, &known, found)) continue;
}

gbt_status gbt_find_first(gbt_ctx *ctx, int64_t n, gbt_find_fn find, const void *arg, int64_t *out, gbt_error *err) {
  find_job job = {.n = n, .find = find, .arg = arg, .first = n};
  *out = n;
  GBT_TRY(gbt_parallel(ctx, (n + FIND_AT_ONCE - 1) / FIND_AT_ONCE, find_task, &job, err));
  *out = atomic_load(&job.first);
  return GBT_OK;
}

static int64_t find_positive(const void *arg, int64_t beg, int64_t end) {
  const double *x = arg;
  while (beg < end && !(x[beg] > 0.0)) beg++;
  return beg;
}

gbt_status gbt_any_positive(gbt_ctx *ctx, const double *x, int64_t n, int64_t *out, gbt_error *err) {
  int64_t at;
  GBT_TRY(gbt_find_first(ctx, n, find_positive, x, &at, err));
  *out = at < n;
  return GBT_OK;
}
