/* Rows drawn by their gradients or weighed at random, and the chances of classes: math/sampling.h on the device, as in
 * cpu/cpu_sample.c. */
#pragma once

#include "../backend.cuh"

/* Whether trees have rows of their own. */
int cu_draws_rows(const gbt_backend_spec *spec);

/* Called before sizes are planned: the same, and the largest share of all rows that a tree is expected to draw. */
void cu_sample_plan(cu_backend *be, const gbt_backend_spec *spec);

/* Memory of the draws, as cu_sample_plan() planned it; close it in any case. */
gbt_status cu_sample_open(cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) GBT_MUST_CHECK;
void cu_sample_close(cu_backend *be);

/* Whether rows have factors. */
static inline int cu_has_factors(const cu_backend *be) { return be->params->sampling_method != GBT_SAMPLE_UNIFORM; }

/* The view in which they have none. */
static inline cu_view cu_without_factors(cu_view v) {
  v.factor = nullptr;
  return v;
}

/* Whether the sizes of gradients decide. */
int cu_sample_by_size(const gbt_params *params);

/* Once the maxima of all outputs, without factors, are there: how gradients become sizes. Nothing is counted. */
gbt_status cu_sample_begin(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Sizes of all rows. aside: as gradients are given it. Outputs [first, first + n_outputs), the last of which completes
 * them. */
gbt_status cu_sample_sizes(cu_backend *be, const double *aside, int32_t first, int32_t n_outputs,
                           gbt_error *err) GBT_MUST_CHECK;

/* The factors of all rows; the maxima of outputs are unknown again. */
gbt_status cu_sample_draw(gbt_ctx *ctx, cu_backend *be, uint64_t round, gbt_error *err) GBT_MUST_CHECK;
