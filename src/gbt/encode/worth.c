#include "worth.h"

#include <string.h>

#include "../base/hd.h"
#include "../base/parallel.h"

enum { TASK_ROWS = 65536, N_FORECASTS = 3, N_BINS = 256, FINE = GBTI_VALUE_BITS - 12, COARSE = 8 };

/* Labels of the rows in each bin. */
typedef struct bin_sums {
  int64_t sum[N_FORECASTS][N_BINS], rows[N_FORECASTS][N_BINS];
} bin_sums;

/* Values in 12 bits: a square is below 2^24 and a difference of squares, in units of 2^8, below 2^16, so that sums over
 * 2^31 rows of the squares of these stay below 2^63. */
typedef struct worth_job {
  const gbti_target *target;
  const gbti_part *part;
  const uint8_t *bin[N_FORECASTS]; /* whole, first, second */
  bin_sums *sums;                  /* by task */
  int64_t mean[N_FORECASTS][N_BINS], prior;
  int64_t *gain, *square; /* by task */
} worth_job;

static int64_t label_of(const worth_job *job, int64_t i) {
  return (int64_t)job->part->scale * gbti_part_code(job->part, job->target->label[i]);
}

static int64_t end_of(const worth_job *job, int64_t beg) {
  return job->target->n - beg < TASK_ROWS ? job->target->n : beg + TASK_ROWS;
}

static void sum_task(void *arg, int64_t task, int thread) {
  const worth_job *job = arg;
  const int64_t beg = task * TASK_ROWS, end = end_of(job, beg);
  bin_sums *to = &job->sums[task];
  (void)thread;
  memset(to, 0, sizeof *to);
  for (int64_t i = beg; i < end; i++) {
    const int64_t y = label_of(job, i);
    for (int f = 0; f < N_FORECASTS; f++) to->sum[f][job->bin[f][i]] += y, to->rows[f][job->bin[f][i]]++;
  }
}

/* Mean labels by bin, and of all rows. */
static void take_means(worth_job *job, int64_t n_tasks) {
  bin_sums *all = &job->sums[0];
  int64_t sum = 0;
  for (int64_t t = 1; t < n_tasks; t++)
    for (int f = 0; f < N_FORECASTS; f++)
      for (int b = 0; b < N_BINS; b++)
        all->sum[f][b] += job->sums[t].sum[f][b], all->rows[f][b] += job->sums[t].rows[f][b];
  for (int b = 0; b < N_BINS; b++) sum += all->sum[0][b];
  job->prior = sum / job->target->n;
  for (int f = 0; f < N_FORECASTS; f++)
    for (int b = 0; b < N_BINS; b++)
      job->mean[f][b] = all->rows[f][b] > 0 ? all->sum[f][b] / all->rows[f][b] : job->prior;
}

static int64_t miss(int64_t y, int64_t value) {
  const int64_t d = (y >> FINE) - (value >> FINE);
  return d * d;
}

static int64_t within(int64_t value) { return value < 0 ? 0 : value > GBTI_N_VALUES - 1 ? GBTI_N_VALUES - 1 : value; }

static void worth_task(void *arg, int64_t task, int thread) {
  const worth_job *job = arg;
  const int64_t beg = task * TASK_ROWS, end = end_of(job, beg);
  int64_t gain = 0, square = 0;
  (void)thread;
  for (int64_t i = beg; i < end; i++) {
    const int64_t y = label_of(job, i), added = job->mean[1][job->bin[1][i]] + job->mean[2][job->bin[2][i]];
    const int64_t better = miss(y, within(added - job->prior)) - miss(y, job->mean[0][job->bin[0][i]]);
    gain += better;
    square += better * better / ((int64_t)1 << 2 * COARSE);
  }
  job->gain[task] = gain;
  job->square[task] = square;
}

gbt_status gbti_worth(gbt_ctx *ctx, const gbti_target *target, int32_t part, gbti_forecast whole, gbti_forecast first,
                      gbti_forecast second, int *worth, gbt_error *err) {
  const int64_t n_tasks = (target->n + TASK_ROWS - 1) / TASK_ROWS;
  worth_job job = {.target = target, .part = &target->part[part], .bin = {whole.bin, first.bin, second.bin}};
  int64_t gain = 0, square = 0;
  gbt_status status = GBT_OK;
  GBT_ASSERT(whole.n_bins <= N_BINS && first.n_bins <= N_BINS && second.n_bins <= N_BINS);
  *worth = 0;
  if (n_tasks == 0) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, (size_t)n_tasks, sizeof *job.sums, &job.sums, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, 2 * (size_t)n_tasks, sizeof *job.gain, &job.gain, err), done);
  job.square = job.gain + n_tasks;
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks, sum_task, &job, err), done);
  take_means(&job, n_tasks);
  GBT_TRY_GOTO(gbt_parallel(ctx, n_tasks, worth_task, &job, err), done);
  for (int64_t t = 0; t < n_tasks; t++) gain += job.gain[t], square += job.square[t];
  const double by = (double)gain / (1 << COARSE);
  *worth = gain > 0 && by * by > (double)GBTI_WORTH_SIGMAS * GBTI_WORTH_SIGMAS * (double)square;
done:
  gbt_mem_free(&ctx->mem, job.sums);
  gbt_mem_free(&ctx->mem, job.gain);
  return status;
}
