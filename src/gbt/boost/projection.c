#include "projection.h"

#include <string.h>

#include "../base/bits.h"
#include "../base/comm.h"
#include "../base/exact_sum.h"
#include "../base/parallel.h"
#include "../base/rng.h"
#include "../objective/row_gradients.h"

enum { TASK_ROWS = 4096, BLOCK = 256 };

typedef struct projection {
  const gbt_objective *objective;
  const gbt_rows *rows;
  const double *u, *score; /* NULL: sizes are made, at `base` */
  const double *base;
  double *g, *h;
  int64_t task_rows;
  gbt_exact_sum *square, *weight; /* threads x columns */
} projection;

/* Gradients of column k of n <= BLOCK rows, and the weights, 1 where none are given. */
static void column_block(const projection *p, int32_t k, int64_t row, int32_t n, double *g, double *h, double *w) {
  const gbt_rows *rows = p->rows;
  const double *label = gbt_field_of_output(rows, GBT_LABEL, k) + row;
  const double *weight = gbt_field_of_output(rows, GBT_WEIGHT, k);
  const double *offset = gbt_field_of_output(rows, GBT_OFFSET, k), *score = p->score;
  double at[BLOCK];
  for (int32_t i = 0; score == NULL && i < n; i++) at[i] = p->base[k] + (offset ? offset[row + i] : 0.0);
  if (score != NULL) memcpy(at, score + (int64_t)k * rows->n + row, (size_t)n * sizeof *at);
  const gbt_objective its = gbt_objective_of_output(p->objective, k);
  gbt_row_gradients(&its, at, label, n, g, h);
  for (int32_t i = 0; i < n; i++) w[i] = weight ? weight[row + i] : 1.0;
}

static void project_block(const projection *p, int64_t row, int32_t n) {
  const int32_t K = p->objective->n_outputs;
  double g[BLOCK], h[BLOCK], w[BLOCK];
  double *to_g = p->g + row, *to_h = p->h + row;
  for (int32_t i = 0; i < n; i++) to_g[i] = to_h[i] = 0.0;
  for (int32_t k = 0; k < K; k++) {
    column_block(p, k, row, n, g, h, w);
    for (int32_t i = 0; i < n; i++) {
      to_g[i] += p->u[k] * (w[i] * g[i]);
      to_h[i] += w[i] * h[i];
    }
  }
  for (int32_t i = 0; i < n; i++) to_h[i] = to_h[i] / (double)K;
}

static void size_block(const projection *p, int64_t row, int32_t n, int thread) {
  const int32_t K = p->objective->n_outputs;
  double g[BLOCK], h[BLOCK], w[BLOCK];
  for (int32_t k = 0; k < K; k++) {
    gbt_exact_sum *square = &p->square[(size_t)thread * (size_t)K + (size_t)k];
    gbt_exact_sum *weight = &p->weight[(size_t)thread * (size_t)K + (size_t)k];
    column_block(p, k, row, n, g, h, w);
    for (int32_t i = 0; i < n; i++) {
      gbt_exact_add(weight, w[i]);
      gbt_exact_add(square, w[i] * (g[i] * g[i]));
    }
  }
}

static void rows_task(void *arg, int64_t task, int thread) {
  const projection *p = arg;
  const int64_t beg = task * p->task_rows, left = p->rows->n - beg;
  const int64_t end = beg + (left < p->task_rows ? left : p->task_rows);
  for (int64_t row = beg; row < end; row += BLOCK) {
    const int32_t n = end - row < BLOCK ? (int32_t)(end - row) : BLOCK;
    if (p->score != NULL)
      project_block(p, row, n);
    else
      size_block(p, row, n, thread);
  }
}

static gbt_status over_rows(gbt_ctx *ctx, projection *p, gbt_error *err) {
  p->task_rows = gbt_task_rows(TASK_ROWS, p->objective->n_outputs);
  return gbt_parallel(ctx, (p->rows->n + p->task_rows - 1) / p->task_rows, rows_task, p, err);
}

/* The root of a mean square, rounded down to a power of two; 1 where it is no such number. */
static double size_of(double square, double weight) {
  const double mean = weight > 0.0 ? square / weight : 0.0;
  const int e = (int)(gbt_bits(mean) >> 52 & 0x7ffu) - 1023;
  if (!(mean > 0.0) || e > 1022 || e < -1021) return 1.0;
  return gbt_pow2(e >= 0 ? e / 2 : -((1 - e) / 2));
}

gbt_status gbti_column_sizes(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, const double *base,
                             double *size, gbt_error *err) {
  const size_t K = (size_t)objective->n_outputs, cells = K * (size_t)ctx->n_threads;
  gbt_status status = GBT_OK;
  projection p = {.objective = objective, .rows = rows, .base = base};
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, cells, sizeof *p.square, &p.square, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, cells, sizeof *p.weight, &p.weight, err), done);
  GBT_TRY_GOTO(over_rows(ctx, &p, err), done);
  for (size_t c = K; c < cells; c++) {
    gbt_exact_merge(&p.square[c - c / K * K], &p.square[c]);
    gbt_exact_merge(&p.weight[c - c / K * K], &p.weight[c]);
  }
  GBT_TRY_GOTO(gbt_comm_sum_exact(ctx, p.square, K, err), done);
  GBT_TRY_GOTO(gbt_comm_sum_exact(ctx, p.weight, K, err), done);
  for (size_t k = 0; k < K; k++) size[k] = size_of(gbt_exact_value(&p.square[k]), gbt_exact_value(&p.weight[k]));
done:
  gbt_mem_free(&ctx->mem, p.square);
  gbt_mem_free(&ctx->mem, p.weight);
  return status;
}

void gbti_projection_direction(uint64_t seed, uint64_t round, int32_t K, const double *size, double *u) {
  const gbt_key32 key = gbt_key(seed, GBT_FOR_CONTRAST, round, 0);
  for (int32_t k = 0; k < K; k++) u[k] = (gbt_hash32(key, (uint64_t)k) & 1u ? 1.0 : -1.0) / size[k];
}

void gbti_levels_direction(uint64_t seed, uint64_t round, int32_t K, const double *size, double *u) {
  const uint64_t hash = gbt_hash32(gbt_key(seed, GBT_FOR_CONTRAST, round, 0), 0);
  const int32_t place = (int32_t)(hash * (uint64_t)K >> 32);
  for (int32_t k = 0; k < K; k++) u[k] = (k < place ? -1.0 : 1.0) / size[k];
}

gbt_status gbti_project_columns(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, const double *u,
                                const double *score, double *g, double *h, gbt_error *err) {
  projection p = {.objective = objective, .rows = rows, .u = u, .score = score, .g = g, .h = h};
  return over_rows(ctx, &p, err);
}
