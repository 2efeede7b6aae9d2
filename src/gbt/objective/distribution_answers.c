#include "distribution_answers.h"

#include "../base/parallel.h"
#include "../base/rng.h"
#include "distribution.h"

enum { TASK_ANSWERS = 4096 };

typedef struct job {
  const gbt_objective *objective;
  gbt_distribution_ask ask;
  int64_t n, n_at, task_rows;
  const double *score, *at;
  uint64_t seed;
  double *out;
} job;

const char *gbt_distribution_ask_name(int ask) {
  static const char *const names[GBT_N_ASKS] = {"mean", "quantile", "below", "draw"};
  return ask >= 0 && ask < GBT_N_ASKS ? names[ask] : NULL;
}

/* A probability in (0, 1) of 53 bits. */
static double chance(uint64_t seed, int64_t draw, int64_t row) {
  const uint32_t high = gbt_hash32(gbt_key(seed, GBT_FOR_DRAWS, (uint64_t)draw, 0), (uint64_t)row);
  const uint32_t low = gbt_hash32(gbt_key(seed, GBT_FOR_DRAWS, (uint64_t)draw, 1), (uint64_t)row);
  const double p = ((double)high * 0x1p-32 + (double)(low >> 12) * 0x1p-52) + 0x1p-53;
  return p < 1.0 ? p : 1.0 - 0x1p-53;
}

static void answer_task(void *arg, int64_t task, int thread) {
  const job *j = arg;
  const int64_t beg = task * j->task_rows, end = j->n - beg < j->task_rows ? j->n : beg + j->task_rows;
  const double *a = j->score, *b = j->score + j->n;
  (void)thread;
  if (j->ask == GBT_ASK_MEAN) {
    gbt_distribution_means(j->objective, a + beg, b + beg, end - beg, j->out + beg);
    return;
  }
  for (int64_t k = 0; k < j->n_at; k++)
    for (int64_t i = beg; i < end; i++) {
      double *out = j->out + k * j->n + i;
      if (j->ask == GBT_ASK_BELOW)
        *out = gbt_distribution_below(j->objective, a[i], b[i], j->at[i]);
      else
        *out = gbt_distribution_quantile(j->objective, a[i], b[i],
                                         j->ask == GBT_ASK_DRAW ? chance(j->seed, k, i) : j->at[k]);
    }
}

gbt_status gbt_distribution_answers(gbt_ctx *ctx, const gbt_objective *objective, gbt_distribution_ask ask, int64_t n,
                                    const double *score, int64_t n_at, const double *at, uint64_t seed, double *out,
                                    gbt_error *err) {
  job j = {objective, ask, n, n_at, 0, score, at, seed, out};
  if (ask == GBT_ASK_MEAN || ask == GBT_ASK_BELOW) j.n_at = 1;
  GBT_TRY(gbt_objective_check(objective, err));
  if (j.n_at < 1 || n < 1) return GBT_OK;
  j.task_rows = j.n_at < TASK_ANSWERS ? TASK_ANSWERS / j.n_at : 1;
  return gbt_parallel(ctx, (n + j.task_rows - 1) / j.task_rows, answer_task, &j, err);
}
