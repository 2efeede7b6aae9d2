/* Scores of the data sets: those to start with. Trees add to them in cpu_leaf.c and cpu_route.c. */
#include "cpu.h"

#include <string.h>

/* Scores of one data set before the first tree: the caller's, or base plus offset. A task takes CPU_TASK_ROWS rows of
 * an output. */
typedef struct start_pass {
  const gbt_rows *rows;
  const double *init, *base; /* init: NULL where there is none */
  int64_t n_parts;           /* of an output */
  double *score;
} start_pass;

static void start_task(void *arg, int64_t task, int thread) {
  const start_pass *pass = arg;
  size_t n = (size_t)pass->rows->n, k = (size_t)(task / pass->n_parts);
  size_t beg = (size_t)(task % pass->n_parts) * CPU_TASK_ROWS, end = n - beg < CPU_TASK_ROWS ? n : beg + CPU_TASK_ROWS;
  double *score = pass->score + k * n;
  const double *offset = pass->rows->field[GBT_OFFSET] ? pass->rows->field[GBT_OFFSET] + k * n : NULL;
  (void)thread;
  if (pass->init)
    memcpy(score + beg, pass->init + k * n + beg, (end - beg) * sizeof *score);
  else
    for (size_t i = beg; i < end; i++) score[i] = offset ? pass->base[k] + offset[i] : pass->base[k];
}

gbt_status cpu_score_open(gbt_ctx *ctx, cpu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  size_t K = (size_t)be->n_outputs;
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)be->n_valid + 1, sizeof *be->score, &be->score, err));
  for (int32_t s = 0; s <= be->n_valid; s++) {
    const gbt_rows *rows = &be->data[s]->rows;
    GBT_TRY(gbt_mem_array(&be->mem, (size_t)rows->n * K, sizeof **be->score, &be->score[s], err));
    start_pass pass = {rows, spec->init ? spec->init[s] : NULL, spec->base,
                       (rows->n + CPU_TASK_ROWS - 1) / CPU_TASK_ROWS, be->score[s]};
    double ns = 1.0 * (double)rows->n * (double)K;
    GBT_TRY(cpu_parallel(ctx, pass.n_parts * be->n_outputs, ns, start_task, &pass, err));
  }
  return GBT_OK;
}

void cpu_score_close(cpu_backend *be) {
  for (int32_t s = 0; be->score && s <= be->n_valid; s++) gbt_mem_free(&be->mem, be->score[s]);
  gbt_mem_free(&be->mem, be->score);
}
