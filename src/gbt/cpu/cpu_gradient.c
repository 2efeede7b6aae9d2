/* Scores to fixed-point gradients, in two passes over blocks of rows: maxima give the scale, then every row is
 * rounded. Both passes compute g and h anew: that is cheaper than keeping 16 bytes a row.
 *
 * A task takes CPU_TASK_ROWS rows, block by block; block arrays live in the thread's scratch. */
#include <string.h>

#include "cpu.h"

typedef struct grad_pass {
  cpu_backend *be;
  uint64_t round;
  const double *host_g, *host_h; /* the host's gradients, or NULL for the loss's own */
  double *max;                   /* tasks x outputs x 2 */
  gbt_fixed_sums *sums;          /* tasks x outputs */
  int fix;                       /* 0: maxima, 1: fixed point */
} grad_pass;

/* What a finished block of one output goes into. */
static void take_block(const grad_pass *pass, int64_t task, int32_t k, uint64_t row, int32_t n, double *g, double *h) {
  cpu_backend *be = pass->be;
  const double *weight = be->sets[0]->weight;
  size_t cell = (size_t)task * (size_t)be->n_outputs + (size_t)k;
  if (weight) be->kernels->weigh(n, weight + row, g, h);
  if (!pass->fix) {
    be->kernels->maxima(n, g, h, &pass->max[2 * cell], &pass->max[2 * cell + 1]);
    return;
  }
  size_t at = (size_t)k * (size_t)be->n_rows + row;
  gbt_key32 key = gbt_key((uint64_t)be->params->seed, GBT_FOR_ROUNDING, pass->round, (uint64_t)k);
  be->kernels->fix(n, row, key, be->scale[k].up_g, be->scale[k].up_h, g, h, be->gh32 + at, be->gh16 + at,
                   &pass->sums[cell]);
}

static void softmax_block(const grad_pass *pass, int64_t task, cpu_scratch *scratch, uint64_t row, int32_t n) {
  cpu_backend *be = pass->be;
  double *g = scratch->block, *h = g + CPU_BLOCK, *p = h + CPU_BLOCK;
  const double **score = scratch->pointer;
  for (int32_t k = 0; k < be->n_outputs; k++) score[k] = be->score[0] + (size_t)k * (size_t)be->n_rows + row;
  be->kernels->softmax(n, be->n_outputs, score, p);
  for (int32_t k = 0; k < be->n_outputs; k++) {
    be->kernels->softmax_gradients(n, k, p + (size_t)k * CPU_BLOCK, be->sets[0]->label + row, g, h);
    take_block(pass, task, k, row, n, g, h);
  }
}

static void grad_task(void *arg, int64_t task, int thread) {
  const grad_pass *pass = arg;
  cpu_backend *be = pass->be;
  cpu_scratch *scratch = &be->scratch[thread];
  uint64_t beg = (uint64_t)task * CPU_TASK_ROWS, end = beg + CPU_TASK_ROWS;
  if (end > (uint64_t)be->n_rows) end = (uint64_t)be->n_rows;
  for (uint64_t row = beg; row < end; row += CPU_BLOCK) {
    int32_t n = (int32_t)(end - row < CPU_BLOCK ? end - row : CPU_BLOCK);
    double *g = scratch->block, *h = g + CPU_BLOCK;
    if (!pass->host_g && be->loss == GBT_LOSS_SOFTMAX) {
      softmax_block(pass, task, scratch, row, n);
      continue;
    }
    for (int32_t k = 0; k < be->n_outputs; k++) {
      size_t at = (size_t)k * (size_t)be->n_rows + row;
      if (pass->host_g) {
        memcpy(g, pass->host_g + at, (size_t)n * sizeof *g);
        memcpy(h, pass->host_h + at, (size_t)n * sizeof *h);
      } else {
        be->kernels->gradients(be->loss, n, be->score[0] + at, be->sets[0]->label + row, g, h);
      }
      take_block(pass, task, k, row, n, g, h);
    }
  }
}

/* Most gradients so small against the largest that 16 bits would leave them little: fewer than 16 units on average. */
static int wants_wide(const cpu_backend *be, int64_t size) {
  if (be->params->grad_bits != GBT_GRAD_AUTO) return be->params->grad_bits == GBT_GRAD_32;
  return size < 16 * be->n_rows;
}

static gbt_status run_passes(gbt_ctx *ctx, grad_pass *pass, gbt_error *err) {
  cpu_backend *be = pass->be;
  gbt_status status = GBT_OK;
  int64_t t0 = gbt_clock_ns();
  int64_t n_tasks = (be->n_rows + CPU_TASK_ROWS - 1) / CPU_TASK_ROWS;
  size_t cells = (size_t)n_tasks * (size_t)be->n_outputs;
  double ns = 4.0 * (double)be->n_rows * (double)be->n_outputs;
  GBT_TRY_GOTO(cpu_scratch_ready(ctx, be, err), done);
  GBT_TRY_GOTO(gbt_mem_grow(&be->mem, &be->pass_max, &be->cap_pass[0], 2 * cells, sizeof *be->pass_max, err), done);
  GBT_TRY_GOTO(gbt_mem_grow(&be->mem, &be->pass_sums, &be->cap_pass[1], cells, sizeof *be->pass_sums, err), done);
  pass->max = be->pass_max;
  pass->sums = be->pass_sums;
  memset(pass->max, 0, 2 * cells * sizeof *pass->max);
  memset(pass->sums, 0, cells * sizeof *pass->sums);
  pass->fix = 0;
  GBT_TRY_GOTO(cpu_parallel(ctx, n_tasks, ns, grad_task, pass, err), done);
  for (int32_t k = 0; k < be->n_outputs; k++) {
    double max_g = 0.0, max_h = 0.0;
    int usable = 1; /* neither infinite nor NaN, which no maximum would show */
    for (int64_t t = 0; t < n_tasks; t++) {
      const double *m = &pass->max[2 * ((size_t)t * (size_t)be->n_outputs + (size_t)k)];
      usable &= m[0] < 1e290 && m[1] < 1e290;
      max_g = m[0] > max_g ? m[0] : max_g;
      max_h = m[1] > max_h ? m[1] : max_h;
    }
    if (!usable) {
      status = gbt_fail(err, GBT_E_DATA,
                        "the gradients overflow in round %lld; scale the response, lower eta or set max_delta_step",
                        (long long)pass->round + 1);
      goto done;
    }
    be->scale[k] = gbt_scale_from(max_g, max_h);
  }
  pass->fix = 1;
  GBT_TRY_GOTO(cpu_parallel(ctx, n_tasks, ns, grad_task, pass, err), done);
  for (int32_t k = 0; k < be->n_outputs; k++) {
    gbt_fixed_sums all = {0, 0, 0};
    for (int64_t t = 0; t < n_tasks; t++) {
      const gbt_fixed_sums *s = &pass->sums[(size_t)t * (size_t)be->n_outputs + (size_t)k];
      all.size += s->size;
      all.square += s->square;
      all.h += s->h;
    }
    be->wide[k] = (int8_t)wants_wide(be, all.size);
    be->noise[k] = gbt_noise(all, &be->scale[k]);
  }
done:
  be->base.seconds[GBT_PHASE_GRADIENT] += (double)(gbt_clock_ns() - t0) * 1e-9;
  return status;
}

gbt_status cpu_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, gbt_error *err) {
  grad_pass pass = {.be = (cpu_backend *)self, .round = round};
  return run_passes(ctx, &pass, err);
}

gbt_status cpu_set_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, const double *g, const double *h,
                             gbt_error *err) {
  grad_pass pass = {.be = (cpu_backend *)self, .round = round, .host_g = g, .host_h = h};
  return run_passes(ctx, &pass, err);
}
