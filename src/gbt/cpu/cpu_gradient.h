/* Gradients in fixed point; see cpu_gradient.c.
 *
 * A row's gradients are stored at its own index. They belong to one output, computed when its first tree of the round
 * begins (a tree changes only the scores of its own output); only gradients that the host computed, and those of trees
 * that grow together, are stored for all outputs. An output's gradients take 8 bytes a row, at
 * gh + cpu_gradients_at(be, output):
 *
 *   not wide   gh16 of all rows, then low of all rows: what 16 bits leave out (gbt_fix_low)
 *   wide       gh32 of all rows */
#ifndef GBT_CPU_CPU_GRADIENT_H
#define GBT_CPU_CPU_GRADIENT_H

#include "../backend/backend.h"
#include "../math/fixed.h"
#include "../tree/split.h"

struct cpu_backend;

typedef struct cpu_gradient {
  gbt_gh32 *gh;                      /* n_rows; custom loss, trees that grow together: n_outputs x n_rows */
  double *softmax_top, *softmax_sum; /* n_rows each, see cpu_kernels.h; NULL for other losses */
  uint64_t round;                    /* of the gradients */
  int32_t fixed_output;              /* whose gradients are stored; -1: none yet */
  gbt_scale *scale;                  /* per output */
  double *noise;                     /* per output, see gbt_noise */
  int8_t *wide;                      /* per output: histograms take the 32-bit gradients this round */
  double *pass_max;                  /* what each task found */
  gbt_fixed_sums *pass_sums;
  size_t cap_pass[2];
} cpu_gradient;

/* Room for gradients and scales of be->n_rows rows and all outputs. */
gbt_status cpu_gradient_open(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_gradient_close(struct cpu_backend *be);

/* See gradients and set_gradients of gbt_backend. */
gbt_status cpu_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, gbt_error *err) GBT_MUST_CHECK;
gbt_status cpu_set_gradients(gbt_ctx *ctx, gbt_backend *self, uint64_t round, const double *g, const double *h,
                             gbt_error *err) GBT_MUST_CHECK;

/* Makes the gradients of the task's output, unless they exist already. Sets its `wide` and `noise`. */
gbt_status cpu_gradients_of_tree(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Real numbers of one unit in the histograms of the current tree. */
gbt_units cpu_units(const struct cpu_backend *be);

#endif
