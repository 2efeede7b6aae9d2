#include "row_sums.h"

#include "../base/comm.h"
#include "../base/parallel.h"

enum { TASK_ROWS = 16384 };

typedef struct sums_job {
  int64_t n_rows;
  int n_sums;
  gbt_row_sums_add add;
  const void *job;
  gbt_exact_sum *sum; /* threads x n_sums */
} sums_job;

static void sums_task(void *arg, int64_t task, int thread) {
  const sums_job *j = arg;
  const int64_t beg = task * TASK_ROWS, end = j->n_rows - beg < TASK_ROWS ? j->n_rows : beg + TASK_ROWS;
  j->add(j->job, beg, end, j->sum + (size_t)thread * (size_t)j->n_sums);
}

gbt_status gbt_row_sums(gbt_ctx *ctx, int64_t n_rows, int n_sums, gbt_row_sums_add add, const void *job, double *out,
                        gbt_error *err) {
  sums_job j = {.n_rows = n_rows, .n_sums = n_sums, .add = add, .job = job};
  const size_t n = (size_t)n_sums;
  gbt_status status;
  GBT_TRY(gbt_mem_zeros(&ctx->mem, (size_t)ctx->n_threads, n * sizeof *j.sum, &j.sum, err));
  GBT_TRY_GOTO(gbt_parallel(ctx, (n_rows + TASK_ROWS - 1) / TASK_ROWS, sums_task, &j, err), done);
  for (int t = 1; t < ctx->n_threads; t++)
    for (size_t k = 0; k < n; k++) gbt_exact_merge(&j.sum[k], &j.sum[(size_t)t * n + k]);
  GBT_TRY_GOTO(gbt_comm_sum_exact(ctx, j.sum, n, err), done);
  for (size_t k = 0; k < n; k++) out[k] = gbt_exact_value(&j.sum[k]);
done:
  gbt_mem_free(&ctx->mem, j.sum);
  return status;
}
