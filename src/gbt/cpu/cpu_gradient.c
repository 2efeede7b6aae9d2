/* Scores to fixed-point gradients, in two passes over blocks of rows. Maxima give the scales of all outputs; every pass
 * computes g and h again: that is cheaper than keeping 16 bytes a row.
 *
 *   start of the round   maxima of all outputs; softmax keeps two numbers a row
 *                        rows with factors (cpu_sample.c): then their sizes, and maxima once more, factors in; the
 *                        first pass keeps squares of sizes where the output's gradients will be
 *   first tree of k      every row's g and h of output k to fixed point. Only trees of k change the scores of k, so
 *                        these are still the gradients of the round's start, and one array serves all outputs in turn
 *                        (trees that grow together have an array for each output)
 *
 * A host's own g and h are gone when its call returns: those of all outputs are made at once.
 * A task takes CPU_TASK_ROWS rows, block by block; block arrays live in the thread's scratch. */
#include <string.h>

#include "../base/clock.h"
#include "../base/comm.h"
#include "../base/parallel.h"
#include "../objective/softmax.h"
#include "cpu.h"

gbt_status cpu_gradient_open(cpu_backend *be, gbt_error *err) {
  cpu_gradient *grad = &be->grad;
  size_t n = (size_t)be->n_rows, k = (size_t)be->n_outputs;
  size_t kept = gbt_gradients_are_kept(&be->objective) || be->together.n > 0 ? n * k : n;
  grad->fixed_output = -1;
  GBT_TRY(gbt_mem_array(&be->mem, kept, sizeof *grad->gh, &grad->gh, err));
  if (gbt_gradients_by_classes(&be->objective)) {
    GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *grad->softmax_top, &grad->softmax_top, err));
    GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *grad->softmax_sum, &grad->softmax_sum, err));
  }
  GBT_TRY(gbt_mem_zeros(&be->mem, k, sizeof *grad->scale, &grad->scale, err));
  GBT_TRY(gbt_mem_zeros(&be->mem, k, 1, &grad->wide, err));
  return gbt_mem_zeros(&be->mem, k, sizeof *grad->noise, &grad->noise, err);
}

void cpu_gradient_close(cpu_backend *be) {
  cpu_gradient *grad = &be->grad;
  void *blocks[] = {grad->gh,   grad->softmax_top, grad->softmax_sum, grad->scale,
                    grad->wide, grad->noise,       grad->pass_max,    grad->pass_sums};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&be->mem, blocks[i]);
}

typedef struct grad_pass {
  cpu_backend *be;
  const double *host_g, *host_h; /* the host's gradients, or NULL for the objective's own */
  int32_t output;                /* fixed point: whose */
  int by_classes;                /* the objective's own gradients need the scores of all classes */
  int wide;                      /* to 32 bits */
  int factors;                   /* gradients are multiplied by those of rows */
  int draws;                     /* which this pass draws first */
  int squares;                   /* the pass keeps those of sizes, by `unscaled`, where gradients will be */
  gbt_size_scale unscaled;
} grad_pass;

static uint64_t task_end(const cpu_backend *be, int64_t task, uint64_t rows) {
  uint64_t end = ((uint64_t)task + 1) * rows;
  return end < (uint64_t)be->n_rows ? end : (uint64_t)be->n_rows;
}

/* Rows of a task that looks at all outputs. */
static uint64_t max_rows(const cpu_backend *be) { return (uint64_t)gbt_task_rows(CPU_TASK_ROWS, be->n_outputs); }

static int64_t n_max_tasks(const cpu_backend *be) {
  int64_t n = (int64_t)(((uint64_t)be->n_rows + max_rows(be) - 1) / max_rows(be));
  return n > 0 ? n : 1;
}

static int32_t block_rows(uint64_t row, uint64_t end) {
  return (int32_t)(end - row < CPU_BLOCK ? end - row : CPU_BLOCK);
}

/* g and h of a block of output k, weights and factors in. p: its probabilities, where they are needed. */
static void block_gradients(const grad_pass *pass, int32_t k, uint64_t row, int32_t n, const double *p, double *g,
                            double *h) {
  const cpu_backend *be = pass->be;
  const gbt_rows *rows = &be->data[0]->rows;
  const double *label = gbt_field_of_output(rows, GBT_LABEL, k), *weight = gbt_field_of_output(rows, GBT_WEIGHT, k);
  size_t at = (size_t)k * (size_t)be->n_rows + row;
  if (pass->host_g) {
    memcpy(g, pass->host_g + at, (size_t)n * sizeof *g);
    memcpy(h, pass->host_h + at, (size_t)n * sizeof *h);
  } else if (pass->by_classes) {
    be->kernels->softmax_gradients(n, k, gbt_softmax_bound(be->n_outputs, be->params->softmax_hessian), p, label + row,
                                   g, h);
  } else {
    const gbt_objective its = gbt_objective_of_output(&be->objective, k);
    be->kernels->gradients(&its, n, be->score[0] + at, label + row, g, h);
  }
  if (weight) be->kernels->weigh(n, weight + row, g, h);
  if (pass->factors) be->kernels->multiply(n, be->sample.row + row, g, h);
}

_Static_assert(sizeof(double) == sizeof(gbt_gh32), "squares of sizes stand where gradients will");

/* Sizes of squares that find_maxima has kept. */
static void kept_size_task(void *arg, int64_t task, int thread) {
  const grad_pass *pass = arg;
  cpu_backend *be = pass->be;
  const double unit = gbt_size_unit(&be->sample.scale);
  double square[CPU_BLOCK];
  uint64_t rows = max_rows(be), end = task_end(be, task, rows);
  int32_t n;
  for (uint64_t row = (uint64_t)task * rows; row < end; row += (uint64_t)n) {
    n = block_rows(row, end);
    memcpy(square, be->grad.gh + row, (size_t)n * sizeof *square);
    for (int32_t i = 0; i < n; i++) square[i] *= unit;
    cpu_sample_sizes(be, thread, row, n, square);
  }
}

static void size_task(void *arg, int64_t task, int thread) {
  const grad_pass *pass = arg;
  cpu_backend *be = pass->be;
  double *g = be->scratch.of[thread].block, *h = g + CPU_BLOCK, *p = h + CPU_BLOCK, square[CPU_BLOCK];
  uint64_t rows = max_rows(be), end = task_end(be, task, rows);
  int32_t n;
  for (uint64_t row = (uint64_t)task * rows; row < end; row += (uint64_t)n) {
    n = block_rows(row, end);
    memset(square, 0, sizeof square);
    if (pass->by_classes)
      be->kernels->softmax(n, be->n_outputs, be->score[0] + row, (size_t)be->n_rows, p, be->grad.softmax_top + row,
                           be->grad.softmax_sum + row);
    for (int32_t k = 0; k < be->n_outputs; k++) {
      block_gradients(pass, k, row, n, p + (size_t)k * CPU_BLOCK, g, h);
      be->kernels->squares(n, &be->sample.scale, g, h, square);
    }
    cpu_sample_sizes(be, thread, row, n, square);
  }
}

static void max_task(void *arg, int64_t task, int thread) {
  const grad_pass *pass = arg;
  cpu_backend *be = pass->be;
  double *g = be->scratch.of[thread].block, *h = g + CPU_BLOCK, *p = h + CPU_BLOCK;
  double *max = be->grad.pass_max + 2 * (size_t)task * (size_t)be->n_outputs, square[CPU_BLOCK];
  uint64_t rows = max_rows(be), end = task_end(be, task, rows);
  int32_t n;
  for (uint64_t row = (uint64_t)task * rows; row < end; row += (uint64_t)n) {
    n = block_rows(row, end);
    if (pass->draws) cpu_sample_draw(be, thread, row, n);
    if (pass->by_classes)
      be->kernels->softmax(n, be->n_outputs, be->score[0] + row, (size_t)be->n_rows, p, be->grad.softmax_top + row,
                           be->grad.softmax_sum + row);
    if (pass->squares) memset(square, 0, sizeof square);
    for (int32_t k = 0; k < be->n_outputs; k++) {
      block_gradients(pass, k, row, n, p + (size_t)k * CPU_BLOCK, g, h);
      be->kernels->maxima(n, g, h, &max[2 * k], &max[2 * k + 1]);
      if (pass->squares) be->kernels->squares(n, &pass->unscaled, g, h, square);
    }
    if (pass->squares) memcpy(be->grad.gh + row, square, (size_t)n * sizeof *square);
  }
}

static void fix_task(void *arg, int64_t task, int thread) {
  const grad_pass *pass = arg;
  const cpu_backend *be = pass->be;
  double *g = be->scratch.of[thread].block, *h = g + CPU_BLOCK, *p = h + CPU_BLOCK;
  const gbt_scale *scale = &be->grad.scale[pass->output];
  gbt_gh32 *gh32 = be->grad.gh + cpu_gradients_at(be, pass->output);
  gbt_gh16 *gh16 = (gbt_gh16 *)(void *)gh32;
  uint32_t *low = (uint32_t *)(void *)(gh16 + be->n_rows);
  const double *score = be->score[0] + (size_t)pass->output * (size_t)be->n_rows;
  gbt_key32 key = cpu_rounding_key(be, pass->output);
  gbt_fixed_sums sums = {0, 0, 0};
  uint64_t end = task_end(be, task, CPU_TASK_ROWS);
  int32_t n;
  for (uint64_t row = (uint64_t)task * CPU_TASK_ROWS; row < end; row += (uint64_t)n) {
    n = block_rows(row, end);
    if (pass->by_classes)
      be->kernels->softmax_class(n, score + row, be->grad.softmax_top + row, be->grad.softmax_sum + row, p);
    block_gradients(pass, pass->output, row, n, p, g, h);
    if (pass->wide)
      be->kernels->fix_wide(n, scale->up_g, scale->up_h, g, h, gh32 + row);
    else
      be->kernels->fix(n, cpu_rows_before(be) + row, key, scale->up_g, scale->up_h, g, h, gh16 + row, low + row,
                       &sums);
  }
  be->grad.pass_sums[task] = sums;
}

static int wants_wide(const cpu_backend *be, int64_t size) {
  if (be->params->grad_bits != GBT_GRAD_AUTO) return be->params->grad_bits == GBT_GRAD_32;
  return gbt_fixed_coarse(size, be->sample.row ? be->sample.n_in : cpu_all_rows(be));
}


/* The maxima of all tasks, and of all ranks, in those of the first one. */
static gbt_status merge_maxima(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  size_t K = (size_t)be->n_outputs;
  double *all = be->grad.pass_max;
  int usable = 1; /* neither infinite nor NaN, which no maximum would show */
  for (int64_t t = 0; t < n_max_tasks(be); t++) {
    const double *max = all + 2 * K * (size_t)t;
    GBT_TRY(gbt_ctx_poll(ctx, err));
    for (size_t i = 0; i < 2 * K; i += 2) {
      usable &= gbt_scale_usable(max[i], max[i + 1]);
      all[i] = max[i] > all[i] ? max[i] : all[i];
      all[i + 1] = max[i + 1] > all[i + 1] ? max[i + 1] : all[i + 1];
    }
  }
  if (!usable) return gbt_gradients_overflow(be->grad.round, err);
  return gbt_comm_max_f64(ctx, all, 2 * K, err);
}

static gbt_status find_maxima(gbt_ctx *ctx, grad_pass *pass, gbt_error *err) {
  cpu_backend *be = pass->be;
  size_t K = (size_t)be->n_outputs, cells = 2 * (size_t)n_max_tasks(be) * K;
  double ns = 4.0 * (double)be->n_rows * (double)K;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->grad.pass_max, &be->grad.cap_pass[0], cells, sizeof *be->grad.pass_max, err));
  GBT_TRY(cpu_zero(ctx, be->grad.pass_max, cells * sizeof *be->grad.pass_max, err));
  GBT_TRY(cpu_parallel(ctx, n_max_tasks(be), ns, max_task, pass, err));
  return merge_maxima(ctx, be, err);
}

/* Draws the factors of all rows, and finds the maxima with them. */
static gbt_status draw_factors(gbt_ctx *ctx, grad_pass *pass, gbt_error *err) {
  cpu_backend *be = pass->be;
  GBT_TRY(cpu_sample_clear(ctx, be, err));
  if (cpu_sample_by_size(be)) {
    const double reg = be->params->sampling_method == GBT_SAMPLE_MVS ? be->base.size_reg : 0.0;
    pass->squares = reg >= 0.0; /* else it follows from the maxima */
    if (pass->squares) pass->unscaled = gbt_size_unscaled(reg);
    GBT_TRY(find_maxima(ctx, pass, err));
    cpu_sample_scale(be, be->grad.pass_max);
    const gbt_task_fn sizes = pass->squares && gbt_size_unit(&be->sample.scale) > 0.0 ? kept_size_task : size_task;
    pass->squares = 0;
    GBT_TRY(cpu_parallel(ctx, n_max_tasks(be), 8.0 * (double)be->n_rows * (double)be->n_outputs, sizes, pass, err));
  }
  GBT_TRY(cpu_sample_decide(ctx, be, err));
  pass->factors = pass->draws = 1;
  GBT_TRY(find_maxima(ctx, pass, err));
  pass->draws = 0;
  return cpu_sample_end(ctx, be, err);
}

static gbt_status find_scales(gbt_ctx *ctx, grad_pass *pass, gbt_error *err) {
  cpu_backend *be = pass->be;
  GBT_TRY(be->sample.row ? draw_factors(ctx, pass, err) : find_maxima(ctx, pass, err));
  for (size_t k = 0; k < (size_t)be->n_outputs; k++)
    be->grad.scale[k] = gbt_scale_less(be->grad.pass_max[2 * k], be->grad.pass_max[2 * k + 1],
                                       gbt_scale_spare(cpu_all_rows(be)));
  return GBT_OK;
}

/* To fixed point those of pass->output. Whether 16 bits do is known once they are made; mostly they do. */
static gbt_status fix_output(gbt_ctx *ctx, grad_pass *pass, gbt_error *err) {
  cpu_backend *be = pass->be;
  const int64_t n_tasks = cpu_n_tasks(be->n_rows);
  gbt_fixed_sums all = {0, 0, 0};
  pass->wide = 0;
  GBT_TRY(gbt_mem_grow(&be->mem, &be->grad.pass_sums, &be->grad.cap_pass[1], (size_t)n_tasks,
                       sizeof *be->grad.pass_sums, err));
  GBT_TRY(cpu_parallel(ctx, n_tasks, 4.0 * (double)be->n_rows, fix_task, pass, err));
  for (int64_t t = 0; t < n_tasks; t++) {
    all.size += be->grad.pass_sums[t].size;
    all.square += be->grad.pass_sums[t].square;
    all.h += be->grad.pass_sums[t].h;
  }
  int64_t sums[3] = {all.size, all.square, all.h};
  GBT_TRY(gbt_comm_sum_i64(ctx, sums, 3, err));
  all = (gbt_fixed_sums){sums[0], sums[1], sums[2]};
  GBT_ASSERT(all.size >= 0 && all.square >= 0 && all.h >= 0);
  pass->wide = wants_wide(be, all.size);
  be->grad.wide[pass->output] = (int8_t)pass->wide;
  be->grad.noise[pass->output] = gbt_noise(all, &be->grad.scale[pass->output]);
  return pass->wide ? cpu_parallel(ctx, n_tasks, 4.0 * (double)be->n_rows, fix_task, pass, err) : GBT_OK;
}

static void count_time(cpu_backend *be, int64_t since) {
  be->base.seconds[GBT_PHASE_GRADIENT] += (double)(gbt_clock_ns() - since) * 1e-9;
}

gbt_status cpu_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  grad_pass pass = {.be = be, .by_classes = gbt_gradients_by_classes(&be->objective)};
  int64_t t0 = gbt_clock_ns();
  be->grad.round = round;
  be->grad.fixed_output = -1;
  GBT_TRY(cpu_scratch_ready(ctx, be, err));
  gbt_status status = find_scales(ctx, &pass, err);
  count_time(be, t0);
  return status;
}

gbt_status cpu_gradients_of_tree(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  grad_pass pass = {.be = be,
                    .output = be->task.output,
                    .by_classes = gbt_gradients_by_classes(&be->objective),
                    .factors = be->sample.row != NULL};
  if (gbt_gradients_are_kept(&be->objective) || be->grad.fixed_output == be->task.output) return GBT_OK;
  int64_t t0 = gbt_clock_ns();
  be->grad.fixed_output = -1;
  GBT_TRY(fix_output(ctx, &pass, err));
  if (be->together.n == 0) GBT_TRY(cpu_renew_output(ctx, be, err)); /* else when the output's tree is finished */
  cpu_step_output(be);
  be->grad.fixed_output = be->task.output;
  count_time(be, t0);
  return GBT_OK;
}

gbt_status cpu_set_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, const double *g, const double *h,
                             gbt_error *err) {
  cpu_backend *be = (cpu_backend *)self;
  grad_pass pass = {.be = be, .host_g = g, .host_h = h};
  int64_t t0 = gbt_clock_ns();
  be->grad.round = round;
  GBT_TRY(cpu_scratch_ready(ctx, be, err));
  GBT_TRY(find_scales(ctx, &pass, err));
  for (pass.output = 0; pass.output < be->n_outputs; pass.output++) GBT_TRY(fix_output(ctx, &pass, err));
  count_time(be, t0);
  return GBT_OK;
}

gbt_units cpu_units(const cpu_backend *be) {
  const gbt_scale *scale = &be->grad.scale[be->task.output];
  double wide = be->view.wide ? 1.0 : 65536.0;
  gbt_units unit = {scale->down_g * wide, scale->down_h * wide};
  return unit;
}
