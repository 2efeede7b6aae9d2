/* Gradients of rows, and what an output's scales are made of: for gradient.cu, a kernel for each pass, and for
 * small_gradient.cu, which has all passes in one. */
#pragma once

#include "../../base/block.cuh"
#include "../backend.cuh"

/* g and h of a row, by gradient kind (objectives.def): GRADIENT_ROW and so on. aside: n_rows numbers and then n_rows
 * others: of softmax (top, sum), or the host's g, h. */
#define GRADIENT_ROW(name, param) \
  r = gbt_##name##_gradient(STEPPED ? score[row] + by : score[row], v.label[of_label + row], param)
#define GRADIENT_CLASSES(name, param)                                                                            \
  r = gbt_##name##_gradient(STEPPED ? gbt_softmax_stepped(score[row], aside[row], aside[n + row], by, bound) \
                                    : gbt_softmax_probability(score[row], aside[row], aside[n + row]),    \
                            v.label[row] == (double)output ? 1.0 : 0.0, bound)
#define GRADIENT_GIVEN(name, param) r.g = aside[row], r.h = aside[n + row]
#define GRADIENT_QUERY GRADIENT_GIVEN
#define GRADIENT_ORDERED GRADIENT_GIVEN
#define GRADIENT_TIME GRADIENT_GIVEN
#define GRADIENT_INTERVALS GRADIENT_GIVEN
#define GRADIENT_DISTRIBUTION GRADIENT_GIVEN

/* The parameters of a row's formulas, by outputs rule. */
#define PARAM_ONE v.objective.param
#define PARAM_COLUMNS v.objective.param
#define PARAM_CLASSES v.objective.param
#define PARAM_ANY v.objective.param
#define PARAM_TWO v.objective.param
#define PARAM_LEVELS cu_level_param(v, output)

/* Whether outputs may have labels and weights of their own, by outputs rule. */
#define OWN_ONE 0
#define OWN_COLUMNS 1
#define OWN_CLASSES 0
#define OWN_ANY 0
#define OWN_TWO 0
#define OWN_LEVELS 0

template <gbt_objective_kind KIND> __device__ static __forceinline__ constexpr int cu_may_own() {
  switch (KIND) {
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, ...) \
  case GBT_OBJ_##ID:                                             \
    return OWN_##outputs;
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  return 0;
}

/* The one parameter of an output, with several levels or without. */
__device__ static __forceinline__ const double *cu_level_param(const cu_view &v, int32_t output) {
  return v.objective.levels ? v.objective.levels + output : v.objective.param;
}

/* Weight and factor in. KIND is the objective's: kernels are made for each, so that none carries the formulas of the
 * others. STEPPED: at scores of the round's start that have moved by `by` (step.cu). */
template <gbt_objective_kind KIND, bool STEPPED = false>
__device__ static __forceinline__ gbt_gh cu_row_gradient(const cu_view &v, const double *aside, int32_t output,
                                                         uint64_t row, double by = 0.0) {
  const uint64_t n = (uint64_t)v.train.n_rows;
  const double *score = (STEPPED && v.start ? v.start : v.score) + (uint64_t)(uint32_t)output * n;
  const uint64_t of_label = cu_may_own<KIND>() ? cu_beg_of(v, v.columns, output) : 0;
  const uint64_t of_weight = cu_may_own<KIND>() ? cu_beg_of(v, v.own_weights, output) : 0;
  const double bound = gbt_softmax_bound(v.objective.n_outputs, v.params.softmax_hessian);
  gbt_gh r = {0.0, 0.0};
  (void)by;
  (void)bound;
  (void)of_label;
  switch (KIND) {
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, ...) \
  case GBT_OBJ_##ID:                                             \
    GRADIENT_##gradient(name, PARAM_##outputs);                  \
    break;
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  if (v.weight.at) {
    r.g = r.g * v.weight[of_weight + row];
    r.h = r.h * v.weight[of_weight + row];
  }
  if (v.factor) {
    r.g = r.g * (double)v.factor[row].factor;
    r.h = r.h * (double)v.factor[row].factor;
  }
  return r;
}

/* Largest |g| and h of the output. All threads of the grid's row of blocks. */
template <gbt_objective_kind KIND>
__device__ static __forceinline__ void cu_find_maxima(const cu_view &v, const double *aside, int32_t output) {
  const uint64_t n = (uint64_t)v.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  unsigned long long top_g = 0, top_h = 0;
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step) {
    gbt_gh r = cu_row_gradient<KIND>(v, aside, output, row);
    unsigned long long a = gbt_bits(r.g) & 0x7fffffffffffffffu, b = gbt_bits(r.h) & 0x7fffffffffffffffu;
    top_g = a > top_g ? a : top_g;
    top_h = b > top_h ? b : top_h;
  }
  top_g = cu_block_max(top_g);
  top_h = cu_block_max(top_h);
  if (threadIdx.x == 0) {
    atomicMax(&v.output[output].max_g, top_g);
    atomicMax(&v.output[output].max_h, top_h);
  }
}

/* The output's scale from its maxima; returns whether it is usable. A thread. */
__device__ static __forceinline__ int cu_scale_output(const cu_view &v, cu_output *o) {
  double max_g = gbt_from_bits(o->max_g), max_h = gbt_from_bits(o->max_h);
  int usable = gbt_scale_usable(max_g, max_h);
  const gbt_scale none = {0, 0, 0.0, 0.0, 0.0, 0.0};
  o->scale = usable ? gbt_scale_less(max_g, max_h, v.spare) : none;
  return usable;
}

/* A thread. */
__device__ static __forceinline__ void cu_fail_gradients(const cu_view &v) {
  if (v.tree->fault == 0) v.tree->fault_round = v.tree->round;
  v.tree->fault |= CU_FAULT_GRADIENT;
}

template <gbt_objective_kind KIND>
__device__ static __forceinline__ gbt_gh32 cu_row_fixed(const cu_view &v, const double *aside, int32_t output,
                                                        uint64_t row, const gbt_scale &scale) {
  gbt_gh32 q = {0, 0};
  if (!(scale.up_g > 0.0)) return q; /* a fault */
  gbt_gh r = cu_row_gradient<KIND>(v, aside, output, row);
  return gbt_fix32(r.g, r.h, scale.up_g, scale.up_h);
}

__device__ static __forceinline__ void cu_add_to(long long *sum, int64_t x) {
  atomicAdd((unsigned long long *)sum, (unsigned long long)x);
}

/* 16 bits, what they leave out, and their sums; to array `grads`. As cu_find_maxima. */
template <gbt_objective_kind KIND>
__device__ static __forceinline__ void cu_fix16_rows(const cu_view &v, const double *aside, int32_t output,
                                                     int32_t grads, uint64_t round) {
  const uint64_t n = (uint64_t)v.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  const gbt_scale scale = v.output[output].scale;
  const gbt_key32 key = cu_rounding_key(v, round, output);
  gbt_gh16 *gh16 = cu_gh16(v, grads);
  uint32_t *low = cu_low(v, grads);
  int64_t size = 0, square = 0;
  gbt_sum sum = {0, 0}, fine = {0, 0}; /* of 16 and of 32 bits */
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step) {
    gbt_gh32 q = cu_row_fixed<KIND>(v, aside, output, row, scale);
    gbt_gh16 r = gbt_fix16(q, gbt_hash32(key, v.before + row));
    int32_t g16 = r.g;
    low[row] = gbt_fix_low(q);
    cu_gh_put(gh16 + row, cu_gh_pack(r));
    size += g16 < 0 ? -g16 : g16;
    square += g16 * g16;
    sum.g += g16;
    sum.h += r.h;
    fine.g += q.g;
    fine.h += q.h;
  }
  size = cu_block_sum(size);
  square = cu_block_sum(square);
  sum = cu_block_sum(sum);
  fine = cu_block_sum(fine);
  if (threadIdx.x == 0) {
    cu_output *o = &v.output[output];
    cu_add_to(&o->size, size);
    cu_add_to(&o->square, square);
    cu_add_to(&o->g, sum.g);
    cu_add_to(&o->h, sum.h);
    cu_add_to(&o->fine_g, fine.g);
    cu_add_to(&o->fine_h, fine.h);
  }
}

/* 32 bits over the 16, when these do not do. As cu_find_maxima. */
template <gbt_objective_kind KIND>
__device__ static __forceinline__ void cu_fix32_rows(const cu_view &v, const double *aside, int32_t output,
                                                     int32_t grads) {
  const uint64_t n = (uint64_t)v.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  const gbt_scale scale = v.output[output].scale;
  gbt_gh32 *gh32 = cu_gh32(v, grads);
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step)
    gh32[row] = cu_row_fixed<KIND>(v, aside, output, row, scale);
}

/* Sets what a new tree needs from its output, and its root: all rows, or none as long as none is drawn. */
__device__ static __forceinline__ void cu_set_tree(const cu_view &v, cu_tree *tree, const cu_output *o) {
  const gbt_sum none = {0, 0};
  double unit = o->wide ? 1.0 : 65536.0;
  tree->unit.g = o->scale.down_g * unit;
  tree->unit.h = o->scale.down_h * unit;
  tree->down_h = o->scale.down_h;
  tree->noise = o->noise;
  tree->wide = o->wide;
  tree->whole = !v.samples;
  tree->root = tree->whole ? o->root : none;
  tree->n_in = tree->whole ? (uint32_t)v.train.n_rows : 0u;
  tree->all_in = tree->whole ? v.all_rows : 0;
}

/* 16 bits are made; whether they do. The sums begin again at 0. A thread. */
__device__ static __forceinline__ void cu_check_16_bits(const cu_view &v, cu_output *o) {
  const gbt_fixed_sums sums = {o->size, o->square, o->h};
  if (v.params.grad_bits != GBT_GRAD_AUTO)
    o->wide = v.params.grad_bits == GBT_GRAD_32;
  else
    o->wide = gbt_fixed_coarse(sums.size, v.factor ? v.sampler->n_in : v.all_rows);
  o->noise = gbt_noise(sums, &o->scale);
  o->root.g = o->wide ? o->fine_g : o->g;
  o->root.h = o->wide ? o->fine_h : o->h;
  o->size = o->square = o->h = o->g = o->fine_g = o->fine_h = 0;
}
