/* Metrics of a set by its scores on the device: the bits of gbt_metric_eval. A row's term is shared with the CPU
 * (metric/terms.h), and sums are exact (base/exact_sum.h), so they have no order. See base/exact.cuh. */
#include "../base/exact.cuh"
#include "backend.cuh"

extern "C" {
#include "../../gbt/metric/terms.h"
#include "../../gbt/objective/response.h"
}

static const int64_t most_rows = (int64_t)1 << 29;

struct cu_sums {
  gbt_exact_sum terms, weights;
  unsigned long long n_bad; /* labels that are no class */
};

/* ---- terms ---- */

struct metric_rows {
  gbt_objective objective;
  int32_t metric, n_outputs;
  uint64_t n;
  const double *score, *label, *weight;
};

/* Metrics with a score for every class; 0 when the label is none. */
__device__ static __forceinline__ int class_term(const metric_rows &m, uint64_t row, double *out) {
  const double y = m.label[row];
  double top = m.score[row], sum = 0.0;
  int32_t best = 0;
  if (!gbt_is_class(y, m.n_outputs)) return 0;
  for (int32_t k = 1; k < m.n_outputs; k++) {
    double s = m.score[(uint64_t)k * m.n + row];
    best = s > top ? k : best;
    top = s > top ? s : top;
  }
  if (m.metric == GBT_METRIC_MERROR) {
    *out = best != (int32_t)y ? 1.0 : 0.0;
    return 1;
  }
  for (int32_t k = 0; k < m.n_outputs; k++) sum += gbt_exp(m.score[(uint64_t)k * m.n + row] - top);
  *out = gbt_term_mlogloss(top, sum, m.score[(uint64_t)y * m.n + row]);
  return 1;
}

__global__ static void k_terms(metric_rows m, cu_sums *sums) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  cu_limbs terms, weights;
  uint32_t n_bad = 0;
  cu_limbs_at(&terms, CU_LIMBS_FIRST);
  cu_limbs_at(&weights, CU_LIMBS_FIRST);
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < m.n; row += step) {
    double term = 0.0;
    if (m.objective.kind != GBT_OBJ_SOFTMAX)
      term =
          gbt_metric_term((gbt_metric)m.metric, gbt_response(&m.objective, m.score[row]), m.score[row], m.label[row]);
    else if (!class_term(m, row, &term))
      n_bad++;
    if (m.weight) {
      term *= m.weight[row];
      cu_limbs_add(&weights, &sums->weights, m.weight[row]);
    }
    cu_limbs_add(&terms, &sums->terms, term);
  }
  __syncwarp();
  cu_limbs_empty_warp(&terms, &sums->terms);
  if (m.weight) cu_limbs_empty_warp(&weights, &sums->weights);
  if (n_bad > 0) atomicAdd(&sums->n_bad, (unsigned long long)n_bad);
}

/* ---- the metric ---- */

/* What has to be refused, and why, the host says. */
static int offered(const cu_backend *be, int64_t n, int has_label, int32_t metric) {
  int by_class = metric == GBT_METRIC_MLOGLOSS || metric == GBT_METRIC_MERROR;
  if (n == 0 || n > most_rows || !has_label) return 0;
  return by_class == (be->objective.kind == GBT_OBJ_SOFTMAX) && (by_class || be->n_outputs == 1);
}

gbt_status cu_metric(gbt_ctx *ctx, gbt_backend *self, int32_t which, int32_t metric, double *out, int *done,
                     gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  const cu_set *set = &be->set[which];
  const int64_t n = set->view.n_rows;
  cu_sums sums;
  *done = 0;
  if (!offered(be, n, set->label.at != nullptr, metric)) return GBT_OK;
  GBT_TRY(gbt_ctx_poll(ctx, err));
  CU_TRY(cudaSetDevice(be->device.number));
  if (metric == GBT_METRIC_AUC) return cu_auc_of(be, which, out, done, err);
  cu_array<cu_sums> *room = &be->metrics.sums;
  if (!room->at) {
    gbt_error no_room;
    gbt_status status = cu_new(&be->device.memory, room, 1, &no_room);
    if (status == GBT_E_MEM) return GBT_OK; /* the host does the work */
    if (status != GBT_OK && err) *err = no_room;
    GBT_TRY(status);
  }
  const metric_rows m = {be->objective, metric,        be->n_outputs, (uint64_t)n,
                         set->score.at, set->label.at, set->weight.at};
  CU_TRY(cudaMemsetAsync(room->at, 0, sizeof sums, be->device.stream));
  CU_LAUNCH(k_terms, cu_grid(&be->device, ((uint64_t)n + CU_BLOCK - 1) / CU_BLOCK, 4), CU_BLOCK, 0, be->device.stream,
            m, room->at);
  CU_LAUNCHED();
  CU_TRY(cudaMemcpyAsync(&sums, room->at, sizeof sums, cudaMemcpyDeviceToHost, be->device.stream));
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  if (sums.n_bad > 0) return GBT_OK;
  double weights = set->weight.at ? gbt_exact_value(&sums.weights) : (double)n;
  *out = gbt_metric_mean((gbt_metric)metric, gbt_exact_value(&sums.terms), weights);
  *done = 1;
  return GBT_OK;
}

void cu_metrics_close(cu_backend *be) {
  cu_drop(&be->device.memory, &be->metrics.sums);
  cu_drop(&be->device.memory, &be->metrics.auc.block);
}
