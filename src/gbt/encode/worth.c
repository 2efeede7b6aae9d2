#include "worth.h"

#include "../base/parallel.h"

enum { TASK_ROWS = 65536, FINE = GBTI_VALUE_BITS - 12, COARSE = 8 };

/* Values in 12 bits: a square is below 2^24 and a difference of squares, in units of 2^8, below 2^16, so that sums over
 * 2^31 rows of the squares of these stay below 2^63. */
typedef struct worth_job {
  const gbti_target *target;
  const gbti_part *part;
  gbti_forecast whole, first, second;
  int64_t *gain, *square; /* by task */
} worth_job;

static int64_t miss(int64_t y, int64_t value) {
  const int64_t d = (y >> FINE) - (value >> FINE);
  return d * d;
}

static int64_t within(int64_t value) { return value < 0 ? 0 : value > GBTI_N_VALUES - 1 ? GBTI_N_VALUES - 1 : value; }

static void worth_task(void *arg, int64_t task, int thread) {
  const worth_job *job = arg;
  const int64_t n = job->target->n, beg = task * TASK_ROWS, end = n - beg < TASK_ROWS ? n : beg + TASK_ROWS;
  int64_t gain = 0, square = 0;
  (void)thread;
  for (int64_t i = beg; i < end; i++) {
    const int64_t y = (int64_t)job->part->scale * gbti_part_code(job->part, job->target->label[i]);
    const int64_t added = (int64_t)job->first.mean[job->first.bin[i]] + job->second.mean[job->second.bin[i]];
    const int64_t better = miss(y, within(added - job->part->prior)) - miss(y, job->whole.mean[job->whole.bin[i]]);
    gain += better;
    square += better * better / ((int64_t)1 << 2 * COARSE);
  }
  job->gain[task] = gain;
  job->square[task] = square;
}

gbt_status gbti_worth(gbt_ctx *ctx, const gbti_target *target, int32_t part, gbti_forecast whole, gbti_forecast first,
                      gbti_forecast second, int *worth, gbt_error *err) {
  const int64_t n_tasks = (target->n + TASK_ROWS - 1) / TASK_ROWS;
  worth_job job = {target, &target->part[part], whole, first, second, NULL, NULL};
  int64_t gain = 0, square = 0;
  GBT_TRY(gbt_mem_array(&ctx->mem, 2 * (size_t)n_tasks, sizeof *job.gain, &job.gain, err));
  job.square = job.gain + n_tasks;
  gbt_status status = gbt_parallel(ctx, n_tasks, worth_task, &job, err);
  for (int64_t t = 0; t < n_tasks && status == GBT_OK; t++) gain += job.gain[t], square += job.square[t];
  gbt_mem_free(&ctx->mem, job.gain);
  const double by = (double)gain / (1 << COARSE);
  *worth = gain > 0 && by * by > (double)GBTI_WORTH_SIGMAS * GBTI_WORTH_SIGMAS * (double)square;
  return status;
}
