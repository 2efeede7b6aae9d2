/* The factors of a round:
 *
 *   k_size_scale   one thread: from the outputs' maxima
 *   k_sizes        all rows: their sizes, and how many have which, counted in shared memory by every block
 *   k_rule         one thread: the rule of the round from the counts; forgets the maxima
 *   k_factors      all rows: sizes become factors; how many are not 0
 *
 * Of a custom objective with several outputs one output's gradients are on the device at a time: squares are added up
 * in `square` then. */
#include "sample.cuh"

#include "../state/ranks.cuh"
#include "gradient.cuh"

/* Launches the instance of a kernel that is for the objective. */
#define LAUNCH_FOR(ID, kernel, be, grid, ...)                                             \
  case GBT_OBJ_##ID:                                                                      \
    CU_LAUNCH(kernel<GBT_OBJ_##ID>, grid, CU_BLOCK, 0, (be)->device.stream, __VA_ARGS__); \
    break;

__global__ static void k_size_scale(cu_view v, double reg) {
  cu_sampler *s = v.sampler;
  double max_g = 0.0, max_h = 0.0;
  for (int32_t k = 0; k < v.objective.n_outputs; k++) {
    const double g = gbt_from_bits(v.output[k].max_g), h = gbt_from_bits(v.output[k].max_h);
    max_g = g > max_g ? g : max_g;
    max_h = h > max_h ? h : max_h;
  }
  const int by_hessians = v.params.sampling_method == GBT_SAMPLE_MVS;
  s->scale = gbt_size_scale_from(max_g, max_h, by_hessians ? gbt_size_reg(reg, max_g, max_h) : 0.0,
                                 v.objective.n_outputs);
  for (int b = 0; b < GBT_SIZE_BUCKETS; b++) s->count[b] = 0;
}

/* square: read for rows when first > 0, written when more outputs follow; otherwise unused. */
template <gbt_objective_kind KIND>
__global__ static void k_sizes(cu_view v, const double *aside, int32_t first, int32_t n_outputs, double *square) {
  CU_SHARED(uint32_t, count, GBT_SIZE_BUCKETS);
  const uint64_t n = (uint64_t)v.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  const gbt_size_scale scale = v.sampler->scale;
  const int last = first + n_outputs == v.objective.n_outputs;
  for (uint32_t b = threadIdx.x; b < GBT_SIZE_BUCKETS; b += blockDim.x) count[b] = 0;
  __syncthreads();
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step) {
    double its = first > 0 ? square[row] : 0.0;
    for (int32_t k = first; k < first + n_outputs; k++) {
      const gbt_gh r = cu_row_gradient<KIND>(v, aside, k, row);
      its += gbt_size_square(&scale, r.g, r.h);
    }
    if (last) {
      const uint32_t size = gbt_size_of(&scale, its);
      v.sampled[row].size = size;
      atomicAdd(&count[gbt_size_bucket(size)], 1u);
    } else {
      square[row] = its;
    }
  }
  __syncthreads();
  for (uint32_t b = threadIdx.x; b < GBT_SIZE_BUCKETS; b += blockDim.x)
    if (count[b] > 0) atomicAdd((unsigned long long *)&v.sampler->count[b], (unsigned long long)count[b]);
}

__global__ static void k_rule(cu_view v) {
  cu_sampler *s = v.sampler;
  const gbt_params *p = &v.params;
  s->rule = gbt_sample_rule_from(p->sampling_method, s->count, v.all_rows, p->subsample, p->top_rate,
                                 p->other_rate, p->bagging_temperature);
  s->n_in = 0;
  for (int32_t k = 0; k < v.objective.n_outputs; k++) v.output[k].max_g = v.output[k].max_h = 0;
}

__global__ static void k_factors(cu_view v, uint64_t round) {
  const uint64_t n = (uint64_t)v.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  const gbt_key32 draw = gbt_key((uint64_t)v.params.seed, GBT_FOR_FACTORS, round, 0);
  const gbt_key32 tie = gbt_key((uint64_t)v.params.seed, GBT_FOR_FACTORS, round, 1);
  const gbt_sample_rule rule = v.sampler->rule;
  int64_t n_in = 0;
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step) {
    const uint32_t size = rule.kind == GBT_SAMPLE_BAYESIAN ? 0u : v.sampled[row].size;
    const float factor = gbt_sample_factor(&rule, draw, tie, v.before + row, size);
    v.sampled[row].factor = factor;
    n_in += factor != 0.0f;
  }
  n_in = cu_block_sum(n_in);
  if (threadIdx.x == 0) cu_add_to((long long *)&v.sampler->n_in, n_in);
}

int cu_sample_by_size(const gbt_params *params) {
  return params->sampling_method == GBT_SAMPLE_MVS || params->sampling_method == GBT_SAMPLE_GOSS;
}

int cu_draws_rows(const gbt_backend_spec *spec) {
  return spec->params->subsample < 1.0 || spec->class_rate != NULL || cu_sample_by_size(spec->params);
}

void cu_sample_plan(cu_backend *be, const gbt_backend_spec *spec) {
  const gbt_params *p = be->params;
  double share = p->sampling_method == GBT_SAMPLE_GOSS ? p->top_rate + p->other_rate : p->subsample;
  for (int32_t k = 0; k < spec->n_class_rates && spec->class_rate != NULL; k++)
    if (k == 0 || spec->class_rate[k] > share) share = spec->class_rate[k];
  be->view.samples = cu_draws_rows(spec);
  be->sample.share = share;
}

gbt_status cu_sample_open(cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  cu_memory *memory = &be->device.memory;
  const size_t n = (size_t)be->n_rows;
  if (spec->class_rate != NULL) {
    uint64_t *limit = NULL;
    GBT_TRY(gbt_mem_array(&be->mem, (size_t)spec->n_class_rates, sizeof *limit, &limit, err));
    for (int32_t k = 0; k < spec->n_class_rates; k++) limit[k] = gbt_hash_limit(spec->class_rate[k]);
    const gbt_status status =
        cu_new_from(&be->device, &be->sample.class_limit, limit, (size_t)spec->n_class_rates, err);
    gbt_mem_free(&be->mem, limit);
    GBT_TRY(status);
    be->view.class_limit = be->sample.class_limit.at;
  }
  if (!cu_has_factors(be)) return GBT_OK;
  GBT_TRY(cu_new(memory, &be->sample.row, n, err));
  GBT_TRY(cu_new(memory, &be->sample.sampler, 1, err));
  if (gbt_gradients_are_kept(&be->objective) && be->n_outputs > 1 && cu_sample_by_size(be->params))
    GBT_TRY(cu_new(memory, &be->sample.square, n, err));
  be->view.sampled = be->sample.row.at;
  be->view.factor = be->sample.row.at;
  be->view.sampler = be->sample.sampler.at;
  return GBT_OK;
}

void cu_sample_close(cu_backend *be) {
  cu_memory *memory = &be->device.memory;
  cu_drop(memory, &be->sample.row);
  cu_drop(memory, &be->sample.sampler);
  cu_drop(memory, &be->sample.square);
  cu_drop(memory, &be->sample.class_limit);
}

static unsigned row_grid(const cu_backend *be) {
  return cu_grid(&be->device, ((uint64_t)be->n_rows + CU_BLOCK - 1) / CU_BLOCK, 8);
}

gbt_status cu_sample_begin(cu_backend *be, gbt_error *err) {
  CU_LAUNCH(k_size_scale, 1, 1, 0, be->device.stream, be->view, be->base.size_reg);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_sample_sizes(cu_backend *be, const double *aside, int32_t first, int32_t n_outputs, gbt_error *err) {
  const cu_view raw = cu_without_factors(be->view);
  double *square = be->sample.square.at;
  GBT_ASSERT(square != NULL || n_outputs == be->n_outputs);
  switch ((gbt_objective_kind)be->objective.kind) {
#define GBT_OBJECTIVE(ID, ...) LAUNCH_FOR(ID, k_sizes, be, row_grid(be), raw, aside, first, n_outputs, square)
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_sample_draw(gbt_ctx *ctx, cu_backend *be, uint64_t round, gbt_error *err) {
  if (cu_sample_by_size(be->params))
    GBT_TRY(cu_share_sums(ctx, be, be->view.sampler->count, GBT_SIZE_BUCKETS, err));
  CU_LAUNCH(k_rule, 1, 1, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  CU_LAUNCH(k_factors, row_grid(be), CU_BLOCK, 0, be->device.stream, be->view, round);
  CU_LAUNCHED();
  return cu_share_sums(ctx, be, &be->view.sampler->n_in, 1, err);
}
