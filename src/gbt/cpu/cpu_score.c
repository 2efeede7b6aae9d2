/* Scores of the data sets: those to start with, or that the host gives. Trees add to them in cpu_leaf.c and
 * cpu_route.c. */
#include "cpu.h"

#include <string.h>

#include "../math/shrink.h"

/* Scores of one data set become those before the first tree (the caller's, or base plus offset), or shrink towards base
 * plus offset. A task takes CPU_TASK_ROWS rows of an output. */
typedef struct score_job {
  const gbt_rows *rows;
  const double *init, *base; /* init: NULL where there is none */
  int64_t n_parts;           /* of an output */
  double factor;             /* of shrinking */
  double *score;
} score_job;

/* A task's rows [beg, end) of output k. */
typedef struct score_part {
  size_t k, beg, end;
  double *score;        /* of the output */
  const double *offset; /* of the output; NULL: none */
} score_part;

static score_part part_of(const score_job *job, int64_t task) {
  const size_t n = (size_t)job->rows->n, k = (size_t)(task / job->n_parts);
  const size_t beg = (size_t)(task % job->n_parts) * CPU_TASK_ROWS;
  const double *offset = job->rows->field[GBT_OFFSET];
  return (score_part){.k = k,
                      .beg = beg,
                      .end = n - beg < CPU_TASK_ROWS ? n : beg + CPU_TASK_ROWS,
                      .score = job->score + k * n,
                      .offset = offset ? offset + k * n : NULL};
}

static void start_task(void *arg, int64_t task, int thread) {
  const score_job *job = arg;
  const score_part p = part_of(job, task);
  const double *init = job->init ? job->init + p.k * (size_t)job->rows->n : NULL;
  (void)thread;
  if (init)
    memcpy(p.score + p.beg, init + p.beg, (p.end - p.beg) * sizeof *p.score);
  else
    for (size_t i = p.beg; i < p.end; i++) p.score[i] = p.offset ? job->base[p.k] + p.offset[i] : job->base[p.k];
}

static void shrink_task(void *arg, int64_t task, int thread) {
  const score_job *job = arg;
  const score_part p = part_of(job, task);
  (void)thread;
  for (size_t i = p.beg; i < p.end; i++)
    p.score[i] = gbt_shrunk(p.score[i], p.offset ? job->base[p.k] + p.offset[i] : job->base[p.k], job->factor);
}

/* task: of all rows and outputs of the data set; job: what else it needs. */
static gbt_status each_part(gbt_ctx *ctx, cpu_backend *be, int32_t which, void (*task)(void *, int64_t, int),
                            score_job job, gbt_error *err) {
  job.rows = &be->data[which]->rows;
  job.n_parts = (job.rows->n + CPU_TASK_ROWS - 1) / CPU_TASK_ROWS;
  job.score = be->score[which];
  const double ns = 1.0 * (double)job.rows->n * (double)be->n_outputs;
  return cpu_parallel(ctx, job.n_parts * be->n_outputs, ns, task, &job, err);
}

static gbt_status start(gbt_ctx *ctx, cpu_backend *be, int32_t which, const double *init, const double *base,
                        gbt_error *err) {
  return each_part(ctx, be, which, start_task, (score_job){.init = init, .base = base}, err);
}

gbt_status cpu_set_scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double *score, gbt_error *err) {
  return start(ctx, (cpu_backend *)self, which, score, NULL, err);
}

gbt_status cpu_shrink_scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double *base, double factor,
                             gbt_error *err) {
  return each_part(ctx, (cpu_backend *)self, which, shrink_task, (score_job){.base = base, .factor = factor}, err);
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
