/* Scores to fixed-point gradients. As on the CPU (cpu/cpu_gradient.c) a round begins with maxima of all outputs, which
 * give the scales; the gradients of an output are made when its first tree begins. Every pass computes g and h again.
 *
 *   cu_gradients            k_round   k_softmax (two numbers a row)   k_maxima   k_scales
 *                           rows with factors: maxima without them, sizes, factors (sample.cu) before
 *   cu_gradients_of_trees   k_fix16   k_judge (wide?)   k_fix32, which returns at once unless wide
 *   cu_set_gradients        all of that, output by output; one output's g and h are on the device at a time
 *   cu_set_projection       of one output, made from the scores of another backend: of classes by k_contrast, of
 *                           columns and levels by k_project
 *
 * Maxima are those of bits: magnitudes of doubles order like unsigned integers, NaN above all. What cannot be scaled
 * sets a fault, which the host sees at the end of the tree; until then such an output's gradients are all 0. */
#include "ops.cuh"

#include "../leaves/ops.cuh"
#include "../small/small.cuh"
#include "../state/ranks.cuh"
#include "gradient.cuh"
#include "sample.cuh"

/* Launches the instance of a kernel that is for the objective. */
#define LAUNCH_FOR(ID, kernel, be, grid, ...)                                             \
  case GBT_OBJ_##ID:                                                                      \
    CU_LAUNCH(kernel<GBT_OBJ_##ID>, grid, CU_BLOCK, 0, (be)->device.stream, __VA_ARGS__); \
    break;

/* A round begins: nothing is known of the outputs. */
__global__ static void k_round(cu_view v, uint64_t round, uint32_t most_trees) {
  for (int32_t k = (int32_t)threadIdx.x; k < v.objective.n_outputs; k += (int32_t)blockDim.x) {
    cu_output *o = &v.output[k];
    o->max_g = o->max_h = 0;
    o->size = o->square = o->h = o->g = o->fine_g = o->fine_h = 0;
  }
  for (uint32_t y = threadIdx.x; y < most_trees; y += blockDim.x) cu_shifted(v.tree, v.stride * y)->round = round;
}

/* The largest score of each row and, class after class, the sum of exp(score - largest). */
__global__ static void k_softmax(cu_view v, double *softmax) {
  const uint64_t n = (uint64_t)v.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step) {
    double top = v.score[row], sum = 0.0;
    for (uint64_t k = 1; k < (uint64_t)v.objective.n_outputs; k++) {
      double s = v.score[k * n + row];
      top = s > top ? s : top;
    }
    for (uint64_t k = 0; k < (uint64_t)v.objective.n_outputs; k++) sum += gbt_exp(v.score[k * n + row] - top);
    softmax[row] = top;
    softmax[n + row] = sum;
  }
}

/* To aside, g and then h of all rows: the derivatives of the loss of `from` along u. */
__global__ static void k_contrast(cu_view from, const double *u, double *aside) {
  const uint64_t n = (uint64_t)from.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  const int32_t n_outputs = from.objective.n_outputs;
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step) {
    const double own = u[(int32_t)from.label[row]];
    gbt_softmax_sums sums = {0.0, 0.0, 0.0};
    double top = from.score[row];
    for (int32_t k = 1; k < n_outputs; k++) {
      const double s = from.score[(uint64_t)k * n + row];
      top = s > top ? s : top;
    }
    for (int32_t k = 0; k < n_outputs; k++)
      gbt_softmax_along_add(&sums, gbt_exp(from.score[(uint64_t)k * n + row] - top), u[k] - own);
    const gbt_gh gh = gbt_softmax_along(&sums);
    aside[row] = gh.g;
    aside[n + row] = gh.h;
  }
}

/* To aside, g and then h of all rows: the sum of u times the gradients of all outputs, and the mean of the hessians.
 * Rows have no factors yet. */
template <gbt_objective_kind KIND> __global__ static void k_project(cu_view from, const double *u, double *aside) {
  const uint64_t n = (uint64_t)from.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  const int32_t n_outputs = from.objective.n_outputs;
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step) {
    gbt_gh sum = {0.0, 0.0};
    for (int32_t k = 0; k < n_outputs; k++) {
      const gbt_gh gh = cu_row_gradient<KIND>(from, nullptr, k, row);
      sum.g += u[k] * gh.g;
      sum.h += gh.h;
    }
    aside[row] = sum.g;
    aside[n + row] = sum.h / (double)n_outputs;
  }
}

/* Of outputs [first, first + n_outputs): blockIdx.y goes over them. */
template <gbt_objective_kind KIND>
__global__ static void k_maxima(cu_view v, const double *aside, int32_t first, int32_t n_outputs) {
  for (int32_t k = first + (int32_t)blockIdx.y; k < first + n_outputs; k += (int32_t)gridDim.y)
    cu_find_maxima<KIND>(v, aside, k);
}

/* One block. */
__global__ static void k_scales(cu_view v, int32_t first, int32_t n_outputs) {
  int bad = 0;
  for (int32_t k = first + (int32_t)threadIdx.x; k < first + n_outputs; k += (int32_t)blockDim.x)
    bad |= !cu_scale_output(v, &v.output[k]);
  bad = __syncthreads_or(bad);
  if (bad && threadIdx.x == 0) cu_fail_gradients(v);
}

/* The trees whose gradients a block makes, and where. given >= 0: those of this output, in the array of its number;
 * else those of one of the batch's outputs, which its first tree names. */
struct cu_asked_output {
  cu_tree *tree;
  int32_t output, grads;
};
__device__ static __forceinline__ cu_asked_output asked_of(const cu_view &all, int32_t given) {
  cu_asked_output q = {all.tree, given, given};
  if (given >= 0) return q;
  q.tree = cu_of_turn(all, 0).tree;
  q.output = q.tree->task.output;
  q.grads = q.tree->task.grads;
  return q;
}

template <gbt_objective_kind KIND> __global__ static void k_fix16(cu_view v, const double *aside, int32_t given) {
  const cu_asked_output asked = asked_of(v, given);
  cu_fix16_rows<KIND>(v, aside, asked.output, asked.grads, v.tree->round);
}

template <gbt_objective_kind KIND> __global__ static void k_fix32(cu_view v, const double *aside, int32_t given) {
  const cu_asked_output asked = asked_of(v, given);
  if (v.output[asked.output].wide) cu_fix32_rows<KIND>(v, aside, asked.output, asked.grads);
}

/* One thread. */
__global__ static void k_judge(cu_view v, int32_t given) {
  const cu_asked_output asked = asked_of(v, given);
  cu_output *o = &v.output[asked.output];
  cu_check_16_bits(v, o);
  if (given < 0) cu_set_tree(v, asked.tree, o);
}

/* Trees whose output was judged for another tree, or before. */
__global__ static void k_tell(cu_view all) {
  cu_tree *tree = cu_view_of_block(all).tree;
  cu_set_tree(all, tree, &all.output[tree->task.output]);
}

__global__ static void k_base(double *score, int64_t n, double base, int has_offset) {
  const int64_t step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    score[i] = has_offset ? base + score[i] : base;
}

/* Blocks for a pass over n rows. */
static uint64_t row_blocks(int64_t n) { return ((uint64_t)n + CU_BLOCK - 1) / CU_BLOCK; }
static unsigned row_grid(const cu_backend *be, int64_t n) { return cu_grid(&be->device, row_blocks(n), 8); }

/* v: with factors or without. */
static gbt_status find_maxima(gbt_ctx *ctx, cu_backend *be, const cu_view &v, const double *aside, int32_t first,
                              int32_t n_outputs, gbt_error *err) {
  dim3 grid(row_grid(be, be->n_rows), (unsigned)(n_outputs < 65535 ? n_outputs : 65535));
  switch ((gbt_objective_kind)be->objective.kind) {
#define GBT_OBJECTIVE(ID, ...) LAUNCH_FOR(ID, k_maxima, be, grid, v, aside, first, n_outputs)
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  CU_LAUNCHED();
  return cu_share_maxima(ctx, be, first, n_outputs, err);
}

static gbt_status find_scales(gbt_ctx *ctx, cu_backend *be, const double *aside, int32_t first, int32_t n_outputs,
                              gbt_error *err) {
  GBT_TRY(find_maxima(ctx, be, be->view, aside, first, n_outputs, err));
  CU_LAUNCH(k_scales, 1, CU_CONTROL, 0, be->device.stream, be->view, first, n_outputs);
  CU_LAUNCHED();
  return GBT_OK;
}

static gbt_status fix_wide(cu_backend *be, dim3 grid, const double *aside, int32_t given, gbt_error *err) {
  switch ((gbt_objective_kind)be->objective.kind) {
#define GBT_OBJECTIVE(ID, ...) LAUNCH_FOR(ID, k_fix32, be, grid, be->view, aside, given)
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  CU_LAUNCHED();
  return GBT_OK;
}

/* Of one output, or (given < 0) of those of the batch. */
static gbt_status fix_outputs(gbt_ctx *ctx, cu_backend *be, const double *aside, int32_t given, gbt_error *err) {
  const unsigned n_outputs = given < 0 ? (unsigned)(be->view.n_trees / be->view.n_turns) : 1u;
  const dim3 grid = cu_grids_for(be, n_outputs, row_blocks(be->n_rows), 8), one(1, n_outputs);
  switch ((gbt_objective_kind)be->objective.kind) {
#define GBT_OBJECTIVE(ID, ...) LAUNCH_FOR(ID, k_fix16, be, grid, be->view, aside, given)
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  CU_LAUNCHED();
  GBT_TRY(cu_share_fixed(ctx, be, given < 0 ? be->task[0].output : given, (int32_t)n_outputs, err));
  CU_LAUNCH(k_judge, one, 1, 0, be->device.stream, be->view, given);
  CU_LAUNCHED();
  return be->params->grad_bits == GBT_GRAD_16 ? GBT_OK : fix_wide(be, grid, aside, given, err);
}

/* Numbers of 8 bytes go up in halves of no more than they have. */
static size_t half_bytes(size_t n) {
  const size_t bytes = n * sizeof(double);
  return bytes < 1 ? 1 : bytes < CU_STAGE_BYTES ? bytes : (size_t)CU_STAGE_BYTES;
}

gbt_status cu_gradients_open(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const int aside = gbt_gradients_by_classes(&be->objective) || gbt_gradients_are_kept(&be->objective);
  const size_t n = (size_t)be->n_rows;
  cu_memory *memory = &be->device.memory;
  be->grad.fixed_output = -1;
  GBT_TRY(cu_new(memory, &be->grad.gradients, 2 * n * (size_t)cu_gradient_arrays(be), err));
  GBT_TRY(cu_new(memory, &be->grad.output, (size_t)be->n_outputs, err));
  if (aside) GBT_TRY(cu_new(memory, &be->grad.aside, 2 * n, err));
  be->view.gradients = be->grad.gradients.at;
  be->view.output = be->grad.output.at;
  if (gbt_gradients_are_kept(&be->objective))
    return cu_stage_open_in(ctx, be->device.stream, half_bytes(n), &be->grad.stage, err);
  return GBT_OK;
}

void cu_gradients_close(cu_backend *be) {
  cu_stage_close(&be->grad.stage);
  cu_drop(&be->device.memory, &be->grad.gradients);
  cu_drop(&be->device.memory, &be->grad.output);
  cu_drop(&be->device.memory, &be->grad.aside);
  cu_drop(&be->device.memory, &be->grad.direction);
}

gbt_status cu_gradients(gbt_ctx *ctx, cu_backend *be, uint64_t round, gbt_error *err) {
  GBT_TRY(gbt_ctx_poll(ctx, err));
  be->grad.trees_set = cu_small_gradients(be, round);
  be->grad.fixed_output = be->grad.trees_set ? 0 : -1;
  if (be->grad.trees_set) return GBT_OK;
  CU_LAUNCH(k_round, 1, CU_CONTROL, 0, be->device.stream, be->view, round, (uint32_t)be->base.most_trees);
  if (gbt_gradients_by_classes(&be->objective))
    CU_LAUNCH(k_softmax, row_grid(be, be->n_rows), CU_BLOCK, 0, be->device.stream, be->view, be->grad.aside.at);
  GBT_TRY(cu_step_round(be, err));
  if (cu_sample_by_size(be->params)) {
    GBT_TRY(find_maxima(ctx, be, cu_without_factors(be->view), be->grad.aside.at, 0, be->n_outputs, err));
    GBT_TRY(cu_sample_begin(be, err));
    GBT_TRY(cu_sample_sizes(be, be->grad.aside.at, 0, be->n_outputs, err));
  }
  if (cu_has_factors(be)) GBT_TRY(cu_sample_draw(ctx, be, round, err));
  return find_scales(ctx, be, be->grad.aside.at, 0, be->n_outputs, err);
}

gbt_status cu_gradients_of_trees(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const int fixed = cu_are_fixed(be);
  if (be->grad.trees_set) return GBT_OK;
  GBT_ASSERT(!fixed || gbt_gradients_are_kept(&be->objective) || !be->view.reuses_gh16);
  if (!fixed) {
    be->grad.fixed_output = -1;
    GBT_TRY(fix_outputs(ctx, be, be->grad.aside.at, -1, err));
    GBT_TRY(cu_renew_outputs(be, err));
  }
  return !fixed && be->view.n_turns == 1 ? GBT_OK : cu_set_trees(be, err);
}

gbt_status cu_set_trees(cu_backend *be, gbt_error *err) {
  CU_LAUNCH(k_tell, cu_grids(be, 1, 1), 1, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  return GBT_OK;
}

/* The host's g and h of output k go up. */
static gbt_status send_output(gbt_ctx *ctx, cu_backend *be, const double *g, const double *h, int32_t k,
                              gbt_error *err) {
  const size_t n = (size_t)be->n_rows, bytes = n * sizeof(double);
  double *aside = be->grad.aside.at;
  GBT_TRY(gbt_ctx_poll(ctx, err));
  GBT_TRY(cu_stage_send(&be->grad.stage, aside, g + (size_t)k * n, bytes, err));
  return cu_stage_send(&be->grad.stage, aside + n, h + (size_t)k * n, bytes, err);
}

/* Factors by the host's gradients. Those of several outputs go up once for their maxima and once for their sizes.
 * g, h: NULL where those of the one output are aside. */
static gbt_status draw_given(gbt_ctx *ctx, cu_backend *be, uint64_t round, const double *g, const double *h,
                             gbt_error *err) {
  const double *aside = be->grad.aside.at;
  const int by_size = cu_sample_by_size(be->params);
  for (int32_t k = 0; by_size && k < be->n_outputs; k++) {
    if (g != nullptr) GBT_TRY(send_output(ctx, be, g, h, k, err));
    GBT_TRY(find_maxima(ctx, be, cu_without_factors(be->view), aside, k, 1, err));
  }
  if (by_size) GBT_TRY(cu_sample_begin(be, err));
  for (int32_t k = 0; by_size && k < be->n_outputs; k++) {
    if (be->n_outputs > 1) GBT_TRY(send_output(ctx, be, g, h, k, err));
    GBT_TRY(cu_sample_sizes(be, aside, k, 1, err));
  }
  return cu_sample_draw(ctx, be, round, err);
}

/* Scale and fixed point of output k, whose g and h are aside. */
static gbt_status fix_aside(gbt_ctx *ctx, cu_backend *be, int32_t k, gbt_error *err) {
  GBT_TRY(find_scales(ctx, be, be->grad.aside.at, k, 1, err));
  return fix_outputs(ctx, be, be->grad.aside.at, k, err);
}

/* The caller's g and h are in the stage when it returns: an output's go up while the device is at work on those of the
 * one before. */
gbt_status cu_set_gradients(gbt_ctx *ctx, cu_backend *be, uint64_t round, const double *g, const double *h,
                            gbt_error *err) {
  be->grad.stage.ctx = ctx;
  CU_LAUNCH(k_round, 1, CU_CONTROL, 0, be->device.stream, be->view, round, (uint32_t)be->base.most_trees);
  CU_LAUNCHED();
  if (cu_has_factors(be)) GBT_TRY(draw_given(ctx, be, round, g, h, err));
  for (int32_t k = 0; k < be->n_outputs; k++) {
    GBT_TRY(send_output(ctx, be, g, h, k, err));
    GBT_TRY(fix_aside(ctx, be, k, err));
    GBT_TRY(cu_nccl_wait(ctx, be, err)); /* the stage waits for the stream */
  }
  return GBT_OK;
}

/* By outputs rule: those that trees share splits of. */
#define PROJECT_CLASSES(ID) \
  CU_LAUNCH(k_contrast, row_grid(be, be->n_rows), CU_BLOCK, 0, be->device.stream, v, u, be->grad.aside.at)
#define PROJECT_COLUMNS(ID) \
  CU_LAUNCH(k_project<GBT_OBJ_##ID>, row_grid(be, be->n_rows), CU_BLOCK, 0, be->device.stream, v, u, be->grad.aside.at)
#define PROJECT_LEVELS(ID) PROJECT_COLUMNS(ID)
#define PROJECT_ONE(ID) GBT_ASSERT(0)
#define PROJECT_ANY(ID) GBT_ASSERT(0)
#define PROJECT_TWO(ID) GBT_ASSERT(0)

/* u: on the device. */
static gbt_status project(cu_backend *be, const cu_backend *from, const double *u, gbt_error *err) {
  const cu_view v = cu_without_factors(from->view);
  switch ((gbt_objective_kind)from->objective.kind) {
#define GBT_OBJECTIVE(ID, name, aliases, gradient, outputs, ...) \
  case GBT_OBJ_##ID:                                             \
    PROJECT_##outputs(ID);                                       \
    break;
#include "../../../gbt/objective/objectives.def"
  case GBT_N_OBJECTIVES:
    break;
  }
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_set_projection(gbt_ctx *ctx, cu_backend *be, const cu_backend *from, const double *u, uint64_t round,
                             gbt_error *err) {
  const size_t K = (size_t)from->n_outputs;
  GBT_ASSERT(be->n_outputs == 1 && gbt_gradients_are_kept(&be->objective) && be->n_rows == from->n_rows);
  if (!be->grad.direction.at) GBT_TRY(cu_new(&be->device.memory, &be->grad.direction, K, err));
  GBT_TRY(cu_put(&be->device, be->grad.direction.at, u, K * sizeof *u, err));
  CU_TRY(cudaStreamSynchronize(from->device.stream)); /* its scores are there */
  CU_LAUNCH(k_round, 1, CU_CONTROL, 0, be->device.stream, be->view, round, (uint32_t)be->base.most_trees);
  CU_LAUNCHED();
  GBT_TRY(project(be, from, be->grad.direction.at, err));
  if (cu_has_factors(be)) GBT_TRY(draw_given(ctx, be, round, nullptr, nullptr, err));
  return fix_aside(ctx, be, 0, err);
}

/* The first scores of data set s: the caller's numbers, offsets, or (NULL) nothing. */
static const double *given_scores(const cu_backend *be, const gbt_backend_spec *spec, int32_t s) {
  return spec->init && spec->init[s] ? spec->init[s] : be->data[s].from->rows.field[GBT_OFFSET];
}

/* Scores of a data set before the first tree: the caller's, or base plus offset. */
static gbt_status init_data(gbt_ctx *ctx, cu_backend *be, cu_stage *stage, const gbt_backend_spec *spec, int32_t s,
                            gbt_error *err) {
  cu_dataset *data = &be->data[s];
  const gbt_rows *rows = &data->from->rows;
  const size_t n = (size_t)rows->n, all = n * (size_t)be->n_outputs;
  const double *from = given_scores(be, spec, s);
  if (!data->score.at) GBT_TRY(cu_new(&be->device.memory, &data->score, all, err));
  if (n == 0) return GBT_OK;
  if (from && !stage->stream) GBT_TRY(cu_stage_open_in(ctx, be->device.stream, half_bytes(all), stage, err));
  if (from) GBT_TRY(cu_stage_send(stage, data->score.at, from, all * sizeof(double), err));
  if (from && from != rows->field[GBT_OFFSET]) return GBT_OK;
  for (int32_t k = 0; k < be->n_outputs; k++)
    CU_LAUNCH(k_base, row_grid(be, rows->n), CU_BLOCK, 0, be->device.stream, data->score.at + (size_t)k * n, rows->n,
              spec->base[k], from != nullptr);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_init_scores(gbt_ctx *ctx, cu_backend *be, const gbt_backend_spec *spec, gbt_error *err) {
  gbt_status status = GBT_OK;
  cu_stage stage = cu_stage(); /* for all sets, open when the first has something to send */
  for (int32_t s = 0; status == GBT_OK && s <= be->n_valid; s++) status = init_data(ctx, be, &stage, spec, s, err);
  cu_stage_close(&stage); /* waits */
  GBT_TRY(status);
  be->view.score = be->data[0].score.at;
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  return GBT_OK;
}
