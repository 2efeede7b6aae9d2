/* Scores of the data sets: those to start with, or that the host gives. Trees add to them in cpu_leaf.c and
 * cpu_route.c. */
#include "cpu.h"

#include <string.h>

/* Scores of one data set become those before the first tree: the caller's, or base plus offset. A task takes
 * CPU_TASK_ROWS rows of an output. */
typedef struct score_job {
  const gbt_rows *rows;
  const double *init, *base; /* init: NULL where there is none */
  int64_t n_parts;           /* of an output */
  double *score;
} score_job;

static void start_task(void *arg, int64_t task, int thread) {
  const score_job *job = arg;
  const size_t n = (size_t)job->rows->n, k = (size_t)(task / job->n_parts);
  const size_t beg = (size_t)(task % job->n_parts) * CPU_TASK_ROWS;
  const size_t end = n - beg < CPU_TASK_ROWS ? n : beg + CPU_TASK_ROWS;
  const double *offset = job->rows->field[GBT_OFFSET];
  double *score = job->score + k * n;
  (void)thread;
  if (job->init)
    memcpy(score + beg, job->init + k * n + beg, (end - beg) * sizeof *score);
  else
    for (size_t i = beg; i < end; i++) score[i] = offset ? job->base[k] + offset[k * n + i] : job->base[k];
}

static gbt_status start(gbt_ctx *ctx, cpu_backend *be, int32_t which, const double *init, const double *base,
                        gbt_error *err) {
  const gbt_rows *rows = &be->data[which]->rows;
  score_job job = {.rows = rows, .init = init, .base = base, .score = be->score[which]};
  job.n_parts = (rows->n + CPU_TASK_ROWS - 1) / CPU_TASK_ROWS;
  const double ns = 1.0 * (double)rows->n * (double)be->n_outputs;
  return cpu_parallel(ctx, job.n_parts * be->n_outputs, ns, start_task, &job, err);
}

gbt_status cpu_set_scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double *score, gbt_error *err) {
  return start(ctx, (cpu_backend *)self, which, score, NULL, err);
}

gbt_status cpu_score_open(gbt_ctx *ctx, cpu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  size_t K = (size_t)be->n_outputs;
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_valid + 1, sizeof *be->score, &be->score, err));
  for (int32_t s = 0; s <= be->n_valid; s++) {
    const gbt_rows *rows = &be->data[s]->rows;
    GBT_TRY(gbt_mem_array(&be->mem, (size_t)rows->n * K, sizeof **be->score, &be->score[s], err));
    GBT_TRY(start(ctx, be, s, spec->init ? spec->init[s] : NULL, spec->base, err));
  }
  return GBT_OK;
}

void cpu_score_close(cpu_backend *be) {
  for (int32_t s = 0; be->score && s <= be->n_valid; s++) gbt_mem_free(&be->mem, be->score[s]);
  gbt_mem_free(&be->mem, be->score);
}
