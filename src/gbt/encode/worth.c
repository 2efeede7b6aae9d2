#include "worth.h"

#include <string.h>

#include "../base/hd.h"
#include "../base/parallel.h"

enum {
  TASK_ROWS = 65536,
  N_FORECASTS = 3, /* whole, first, second */
  N_OTHERS = 3,    /* what the whole is held against: the sum, the first, the second */
  N_BINS = 256,
  VALUE_BITS = 12, /* of labels and forecasts, counted from the least label */
  COARSE = 8
};

/* Labels of the rows in each bin. */
typedef struct bin_sums {
  int64_t sum[N_FORECASTS][N_BINS], rows[N_FORECASTS][N_BINS], least, most;
} bin_sums;

/* How much less the whole misses than each other one, and the squares of that: the sum of a task, in two parts. */
typedef struct differences {
  int64_t gain[N_OTHERS];
  uint64_t square[N_OTHERS], rest[N_OTHERS];
} differences;

/* Labels and forecasts are between the least and the largest label. What is above the least, shifted to 12 bits, is
 * compared: a square is below 2^24, the square of a difference of squares below 2^48, and that of 2^16 rows of a task
 * below 2^64. Tasks are added up in units of 2^16, and what is left of each. */
typedef struct worth_job {
  const gbti_target *target;
  const gbti_part *part;
  const uint8_t *bin[N_FORECASTS];
  int n_forecasts;
  bin_sums *sums; /* by task */
  int64_t mean[N_FORECASTS][N_BINS], prior, least, most;
  int shift;
  differences *found; /* by task */
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
  to->least = to->most = label_of(job, beg);
  for (int64_t i = beg; i < end; i++) {
    const int64_t y = label_of(job, i);
    if (y < to->least) to->least = y;
    if (y > to->most) to->most = y;
    for (int f = 0; f < job->n_forecasts; f++) to->sum[f][job->bin[f][i]] += y, to->rows[f][job->bin[f][i]]++;
  }
}

/* Mean labels by bin, and of all rows; the range of labels. */
static void take_means(worth_job *job, int64_t n_tasks) {
  bin_sums *all = &job->sums[0];
  int64_t sum = 0;
  for (int64_t t = 1; t < n_tasks; t++) {
    if (job->sums[t].least < all->least) all->least = job->sums[t].least;
    if (job->sums[t].most > all->most) all->most = job->sums[t].most;
  }
  job->least = all->least;
  job->most = all->most;
  for (job->shift = 0; (job->most - job->least) >> job->shift >> VALUE_BITS > 0;) job->shift++;
  for (int64_t t = 1; t < n_tasks; t++)
    for (int f = 0; f < job->n_forecasts; f++)
      for (int b = 0; b < N_BINS; b++)
        all->sum[f][b] += job->sums[t].sum[f][b], all->rows[f][b] += job->sums[t].rows[f][b];
  for (int b = 0; b < N_BINS; b++) sum += all->sum[0][b];
  job->prior = sum / job->target->n;
  for (int f = 0; f < job->n_forecasts; f++)
    for (int b = 0; b < N_BINS; b++)
      job->mean[f][b] = all->rows[f][b] > 0 ? all->sum[f][b] / all->rows[f][b] : job->prior;
}

static int64_t miss(const worth_job *job, int64_t y, int64_t value) {
  const int64_t d = ((y - job->least) >> job->shift) - ((value - job->least) >> job->shift);
  return d * d;
}

static int64_t within(const worth_job *job, int64_t value) {
  return value < job->least ? job->least : value > job->most ? job->most : value;
}

static void worth_task(void *arg, int64_t task, int thread) {
  const worth_job *job = arg;
  const int64_t beg = task * TASK_ROWS, end = end_of(job, beg);
  differences found = {{0}, {0}, {0}};
  (void)thread;
  for (int64_t i = beg; i < end; i++) {
    const int64_t y = label_of(job, i), first = job->mean[1][job->bin[1][i]], second = job->mean[2][job->bin[2][i]];
    const int64_t other[N_OTHERS] = {within(job, first + second - job->prior), first, second};
    const int64_t whole = miss(job, y, job->mean[0][job->bin[0][i]]);
    for (int k = 0; k < N_OTHERS; k++) {
      const int64_t better = miss(job, y, other[k]) - whole;
      found.gain[k] += better;
      found.rest[k] += (uint64_t)(better * better);
    }
  }
  for (int k = 0; k < N_OTHERS; k++) {
    found.square[k] = found.rest[k] >> 2 * COARSE;
    found.rest[k] &= ((uint64_t)1 << 2 * COARSE) - 1;
  }
  job->found[task] = found;
}

/* Of all tasks, to the first. */
static gbt_status compare_forecasts(gbt_ctx *ctx, worth_job *job, int64_t n_tasks, gbt_error *err) {
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n_tasks, sizeof *job->found, &job->found, err));
  GBT_TRY(gbt_parallel(ctx, n_tasks, worth_task, job, err));
  for (int64_t t = 1; t < n_tasks; t++)
    for (int k = 0; k < N_OTHERS; k++) {
      job->found[0].gain[k] += job->found[t].gain[k];
      job->found[0].square[k] += job->found[t].square[k];
      job->found[0].rest[k] += job->found[t].rest[k];
    }
  return GBT_OK;
}

static int is_above_chance(const differences *found, int k) {
  const double by = (double)found->gain[k] / (1 << COARSE);
  const double square = (double)found->square[k] + (double)found->rest[k] / (1 << 2 * COARSE);
  return found->gain[k] > 0 && by * by > (double)GBTI_WORTH_SIGMAS * GBTI_WORTH_SIGMAS * square;
}

/* Fills sums and means. */
static gbt_status compute_forecasts(gbt_ctx *ctx, worth_job *job, int64_t n_tasks, gbt_error *err) {
  GBT_TRY(gbt_mem_array(&ctx->mem, (size_t)n_tasks, sizeof *job->sums, &job->sums, err));
  GBT_TRY(gbt_parallel(ctx, n_tasks, sum_task, job, err));
  take_means(job, n_tasks);
  return GBT_OK;
}

static int64_t n_tasks_of(const gbti_target *target) { return (target->n + TASK_ROWS - 1) / TASK_ROWS; }

gbt_status gbti_worth(gbt_ctx *ctx, const gbti_target *target, int32_t part, gbti_forecast whole, gbti_forecast first,
                      gbti_forecast second, int64_t *gain, gbt_error *err) {
  const int64_t n_tasks = n_tasks_of(target);
  worth_job job = {.target = target,
                   .part = &target->part[part],
                   .bin = {whole.bin, first.bin, second.bin},
                   .n_forecasts = N_FORECASTS};
  gbt_status status = GBT_OK;
  GBT_ASSERT(whole.n_bins <= N_BINS && first.n_bins <= N_BINS && second.n_bins <= N_BINS);
  *gain = 0;
  if (n_tasks == 0) return GBT_OK;
  GBT_TRY_GOTO(compute_forecasts(ctx, &job, n_tasks, err), done);
  GBT_TRY_GOTO(compare_forecasts(ctx, &job, n_tasks, err), done);
  *gain = job.found[0].gain[0];
  for (int k = 1; k < N_OTHERS; k++)
    if (job.found[0].gain[k] < *gain) *gain = job.found[0].gain[k];
  for (int k = 0; k < N_OTHERS; k++)
    if (!is_above_chance(&job.found[0], k)) *gain = 0;
done:
  gbt_mem_free(&ctx->mem, job.sums);
  gbt_mem_free(&ctx->mem, job.found);
  return status;
}

/* The squares of what bins differ from the prior by: sums over rows of miss(y, prior) - miss(y, mean) but for rounding.
 */
gbt_status gbti_explained(gbt_ctx *ctx, const gbti_target *target, int32_t part, gbti_forecast forecast, int64_t *gain,
                          gbt_error *err) {
  const int64_t n_tasks = n_tasks_of(target);
  worth_job job = {.target = target, .part = &target->part[part], .bin = {forecast.bin}, .n_forecasts = 1};
  gbt_status status = GBT_OK;
  GBT_ASSERT(forecast.n_bins <= N_BINS);
  *gain = 0;
  if (n_tasks == 0) return GBT_OK;
  GBT_TRY_GOTO(compute_forecasts(ctx, &job, n_tasks, err), done);
  for (int b = 0; b < N_BINS; b++) *gain += job.sums[0].rows[0][b] * miss(&job, job.prior, job.mean[0][b]);
done:
  gbt_mem_free(&ctx->mem, job.sums);
  return status;
}
