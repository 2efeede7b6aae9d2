/* Metrics of a set by its scores on the device: the bits of gbt_metric_eval. A row's term is shared with the CPU
 * (math/metric_terms.h), and sums are exact (base/exact_sum.h), so they have no order.
 *
 * The long accumulator stands once, in global memory. A thread keeps five neighbouring limbs of it in registers,
 *
 *   limb   0 ... 30 [31 32 33 34 35] 36 ... 67        terms from 2^-44 to 2^52 in the beginning
 *
 * adds terms there, and empties them by atomics when a term lies elsewhere (the five are then moved to it) and at its
 * end, warp by warp where the lanes have the same five. A limb takes 2^31 pieces below 2^32; at most two for a term. */
#include "cu_block.cuh"

extern "C" {
#include "../gbt/base/exact_sum.h"
#include "../gbt/math/metric_terms.h"
}

enum { SUM_KEPT = 5, SUM_FIRST = 31, SUM_LAST = GBT_EXACT_LIMBS - SUM_KEPT - 1 };
static const int64_t most_rows = (int64_t)1 << 29;

struct cu_sums {
  gbt_exact_sum terms, weights;
  unsigned long long n_bad; /* labels that are no class */
};

/* ---- exact sums ---- */

/* Some neighbouring limbs of a thread. */
struct kept_limbs {
  int32_t at;
  int64_t limb[SUM_KEPT];
};

__device__ static __forceinline__ void keep_at(kept_limbs *k, int32_t at) {
  k->at = at;
  for (int i = 0; i < SUM_KEPT; i++) k->limb[i] = 0;
}

/* A limb's upper half goes to the next one, so that what is added stays below 2^32. */
__device__ static __forceinline__ void empty_limbs(const kept_limbs *k, gbt_exact_sum *sum) {
  for (int i = 0; i < SUM_KEPT; i++) {
    int64_t v = k->limb[i];
    if (v == 0) continue;
    cu_add64(&sum->limb[k->at + i], v & 0xffffffff);
    cu_add64(&sum->limb[k->at + i + 1], v >> 32);
  }
}

/* As gbt_exact_add. */
__device__ static __forceinline__ void add_term(kept_limbs *k, gbt_exact_sum *sum, double x) {
  const uint64_t u = gbt_bits(x);
  if (((u >> 52) & 0x7ffu) == 0x7ffu) {
    if ((u & 0xfffffffffffffu) != 0)
      cu_add64(&sum->n_nan, 1);
    else
      cu_add64(u >> 63 ? &sum->n_neg_inf : &sum->n_pos_inf, 1);
    return;
  }
  if (u << 1 == 0) return;
  const gbt_exact_pieces p = gbt_exact_split(u);
  int32_t d = (int32_t)p.limb - k->at;
  if (d < 0 || d > 2) {
    empty_limbs(k, sum);
    int32_t at = (int32_t)p.limb - 1;
    keep_at(k, at < 0 ? 0 : at > SUM_LAST ? (int32_t)SUM_LAST : at);
    d = (int32_t)p.limb - k->at;
  }
  k->limb[0] += d == 0 ? p.low : 0;
  k->limb[1] += d == 0 ? p.mid : d == 1 ? p.low : 0;
  k->limb[2] += d == 0 ? p.top : d == 1 ? p.mid : p.low;
  k->limb[3] += d == 0 ? 0 : d == 1 ? p.top : p.mid;
  k->limb[4] += d == 2 ? p.top : 0;
}

/* All lanes of the warp. */
__device__ static __forceinline__ void empty_warp(kept_limbs *k, gbt_exact_sum *sum) {
  if (__ballot_sync(CU_ALL, k->at == cu_from(k->at, 0)) != CU_ALL) {
    empty_limbs(k, sum);
    return;
  }
  for (int i = 0; i < SUM_KEPT; i++) k->limb[i] = cu_warp_sum(k->limb[i]);
  if (cu_lane() == 0) empty_limbs(k, sum);
}

/* ---- terms ---- */

struct metric_rows {
  int32_t metric, loss, n_outputs;
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
  kept_limbs terms, weights;
  uint32_t n_bad = 0;
  keep_at(&terms, SUM_FIRST);
  keep_at(&weights, SUM_FIRST);
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < m.n; row += step) {
    double term = 0.0;
    if (m.loss != GBT_LOSS_SOFTMAX)
      term = gbt_metric_term((gbt_metric)m.metric, (gbt_loss)m.loss, m.score[row], m.label[row]);
    else if (!class_term(m, row, &term))
      n_bad++;
    if (m.weight) {
      term *= m.weight[row];
      add_term(&weights, &sums->weights, m.weight[row]);
    }
    add_term(&terms, &sums->terms, term);
  }
  __syncwarp();
  empty_warp(&terms, &sums->terms);
  if (m.weight) empty_warp(&weights, &sums->weights);
  if (n_bad > 0) atomicAdd(&sums->n_bad, (unsigned long long)n_bad);
}

/* ---- the metric ---- */

/* What has to be refused, and why, the host says. */
static int offered(const cu_backend *be, int64_t n, int has_label, int32_t metric) {
  int by_class = metric == GBT_METRIC_MLOGLOSS || metric == GBT_METRIC_MERROR;
  if (metric == GBT_METRIC_AUC || n == 0 || n > most_rows || !has_label) return 0;
  return by_class == (be->loss == GBT_LOSS_SOFTMAX) && (by_class || be->n_outputs == 1);
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
  CU_TRY(cudaSetDevice(be->device));
  if (!be->sums) GBT_TRY(cu_keep(be, &be->sums, 1, err));
  const metric_rows m = {metric, be->loss, be->n_outputs, (uint64_t)n, set->score.at, set->label.at, set->weight.at};
  CU_TRY(cudaMemsetAsync(be->sums, 0, sizeof sums, be->stream));
  CU_LAUNCH(k_terms, cu_grid(be, ((uint64_t)n + CU_BLOCK - 1) / CU_BLOCK, 4), CU_BLOCK, 0, be->stream, m, be->sums);
  CU_LAUNCHED();
  CU_TRY(cudaMemcpyAsync(&sums, be->sums, sizeof sums, cudaMemcpyDeviceToHost, be->stream));
  CU_TRY(cudaStreamSynchronize(be->stream));
  if (sums.n_bad > 0) return GBT_OK;
  double weights = set->weight.at ? gbt_exact_value(&sums.weights) : (double)n;
  *out = gbt_metric_mean((gbt_metric)metric, gbt_exact_value(&sums.terms), weights);
  *done = 1;
  return GBT_OK;
}
