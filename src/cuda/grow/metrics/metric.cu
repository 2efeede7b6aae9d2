/* Metrics of a data set by its scores on the device: the bits of gbt_metric_eval. Here are those that are means: a
 * row's term is shared with the CPU (metric/terms.h, metric/class_terms.h), and sums are exact (base/exact_sum.h), so
 * they have no order. See base/exact.cuh. */
#include "ops.cuh"

#include "../../base/exact.cuh"

extern "C" {
#include "../../../gbt/metric/class_terms.h"
#include "../../../gbt/metric/terms.h"
#include "../../../gbt/objective/response.h"
}

static const int64_t most_rows = (int64_t)1 << 29;

struct cu_sums {
  gbt_exact_sum terms, weights;
  unsigned long long n_bad; /* labels that are no class */
};

struct metric_rows {
  gbt_metric metric;
  gbt_objective objective;
  uint64_t n;
  const double *score;
  cu_numbers label, weight;
};

/* ---- terms ---- */

#define WALK(name)                                                                                                 \
  for (int32_t k = 0; k < m.objective.n_outputs; k++)                                                              \
    gbt_class_add_##name(&sums, &x, m.score[(uint64_t)k * m.n + row], k);                                          \
  return gbt_class_term_##name(&sums, &x, m.metric.param);

/* Of the scores of all classes; the label is one. */
__device__ static __forceinline__ double class_term(const metric_rows &m, uint64_t row) {
  gbt_class_row x = {m.score[row], 0, (int32_t)m.label[row], 0.0};
  gbt_class_sums sums = {0.0, 0.0};
  for (int32_t k = 1; k < m.objective.n_outputs; k++) gbt_class_best(&x, m.score[(uint64_t)k * m.n + row], k);
  x.mine = m.score[(uint64_t)x.label * m.n + row];
  switch ((gbt_metric_kind)m.metric.kind) {
#define TERM_CLASSES(ID, name) case GBT_METRIC_##ID: WALK(name)
#define TERM_NONE(ID, name) case GBT_METRIC_##ID: break;
#define TERM_RESPONSE TERM_NONE
#define TERM_PROBABILITY TERM_NONE
#define TERM_SCORE TERM_NONE
#define TERM_LOGLOSS TERM_NONE
#define TERM_CONFUSION TERM_NONE
#define TERM_BINS TERM_NONE
#define TERM_VARIANCE TERM_NONE
#define TERM_RANKING TERM_NONE
#define TERM_QUERY TERM_NONE
#define TERM_RISK TERM_NONE
#define TERM_DISTRIBUTION TERM_NONE
#define TERM_CENSORED TERM_NONE
#define GBT_METRIC(ID, name, form, better, outputs, labels, parameter, aliases, text) TERM_##form(ID, name)
#include "../../../gbt/metric/metrics.def"
  case GBT_N_METRICS:
    break;
  }
  return 0.0;
}

__global__ static void k_terms(metric_rows m, int by_class, cu_sums *sums) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  cu_limbs terms, weights;
  uint32_t n_bad = 0;
  cu_limbs_at(&terms, CU_LIMBS_FIRST);
  cu_limbs_at(&weights, CU_LIMBS_FIRST);
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < m.n; row += step) {
    double term = 0.0;
    if (!by_class)
      term = gbt_metric_term(&m.metric, gbt_response(&m.objective, m.score[row]), m.score[row], m.label[row]);
    else if (gbt_is_class(m.label[row], m.objective.n_outputs))
      term = class_term(m, row);
    else
      n_bad++;
    if (m.weight.at) {
      term *= m.weight[row];
      cu_limbs_add(&weights, &sums->weights, m.weight[row]);
    }
    cu_limbs_add(&terms, &sums->terms, term);
  }
  __syncwarp();
  cu_limbs_empty_warp(&terms, &sums->terms);
  if (m.weight.at) cu_limbs_empty_warp(&weights, &sums->weights);
  if (n_bad > 0) atomicAdd(&sums->n_bad, (unsigned long long)n_bad);
}

/* ---- the metric ---- */

/* Those of a column of the response; of all, where there is one. */
static cu_scored rows_of(const cu_backend *be, int32_t which, int32_t column) {
  const cu_dataset *data = &be->data[which];
  const uint64_t n = (uint64_t)data->view.n_rows, beg = (uint64_t)(uint32_t)column * n;
  const int own_weights = data->weight.n > n;
  cu_scored rows = {be->objective, n, data->score.at, data->label, data->weight};
  if (!gbt_has_columns(&be->objective)) return rows;
  rows.objective.n_outputs = 1;
  rows.score += beg;
  rows.label = cu_numbers_part(data->label, beg, n);
  if (own_weights) rows.weight = cu_numbers_part(data->weight, beg, n);
  return rows;
}

/* Of columns [first, first + n_columns) together: the mean over their cells. */
static gbt_status mean_metric(cu_backend *be, int32_t which, int32_t first, int32_t n_columns,
                              const gbt_metric *metric, double *out, int *done, gbt_error *err) {
  const int by_class = gbt_responses_by_classes(&be->objective);
  const uint64_t n = (uint64_t)be->data[which].view.n_rows;
  cu_array<cu_sums> *room = &be->metrics.sums;
  cu_sums sums;
  int refused;
  GBT_TRY(cu_metric_room(&be->device.memory, room, 1, &refused, err));
  if (refused) return GBT_OK; /* the host does the work */
  CU_TRY(cudaMemsetAsync(room->at, 0, sizeof sums, be->device.stream));
  for (int32_t k = first; k < first + n_columns; k++) {
    const cu_scored rows = rows_of(be, which, k);
    const metric_rows m = {*metric, rows.objective, n, rows.score, rows.label, rows.weight};
    CU_LAUNCH(k_terms, cu_grid(&be->device, (n + CU_BLOCK - 1) / CU_BLOCK, 4), CU_BLOCK, 0, be->device.stream, m,
              by_class, room->at);
    CU_LAUNCHED();
  }
  CU_TRY(cudaMemcpyAsync(&sums, room->at, sizeof sums, cudaMemcpyDeviceToHost, be->device.stream));
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  if (sums.n_bad > 0) return GBT_OK;
  const int weighted = be->data[which].weight.at != NULL;
  const double weights = weighted ? gbt_exact_value(&sums.weights) : (double)(n * (uint64_t)n_columns);
  *out = gbt_metric_mean(metric, gbt_exact_value(&sums.terms), weights);
  *done = 1;
  return GBT_OK;
}

/* Of one column, or of a response that has one. */
static gbt_status column_metric(gbt_ctx *ctx, cu_backend *be, int32_t which, int32_t column, const gbt_metric *metric,
                                double *out, int *done, gbt_error *err) {
  switch (gbt_metric_about(metric->kind)->form) {
  case GBT_FORM_MEAN:
    return mean_metric(be, which, column, 1, metric, out, done, err);
  case GBT_FORM_CELLS:
    return cu_metric_of_cells(ctx, be, rows_of(be, which, column), metric, out, done, err);
  case GBT_FORM_QUERY: /* the host computes it */
  case GBT_FORM_RISK:
  case GBT_FORM_CENSORED:
  case GBT_FORM_DISTRIBUTION:
    return GBT_OK;
  case GBT_FORM_RANKING:
    break;
  }
  return cu_metric_of_ranking(be, which, rows_of(be, which, column), metric, out, done, err);
}

/* Of all columns: see gbt_metric_eval(). */
static gbt_status columns_metric(gbt_ctx *ctx, cu_backend *be, int32_t which, const gbt_metric *metric, double *out,
                                 int *done, gbt_error *err) {
  const int32_t n_columns = be->n_outputs;
  double sum = 0.0;
  int32_t n = 0;
  if (gbt_metric_about(metric->kind)->form == GBT_FORM_MEAN)
    return mean_metric(be, which, 0, n_columns, metric, out, done, err);
  for (int32_t k = 0; k < n_columns; k++) {
    double value = 0.0;
    int its = 0;
    GBT_TRY(column_metric(ctx, be, which, k, metric, &value, &its, err));
    if (!its) return GBT_OK;
    if (value != value) continue;
    sum += value;
    n++;
  }
  *out = sum / (double)n; /* NaN where it is defined for none */
  *done = 1;
  return GBT_OK;
}

gbt_status cu_metric(gbt_ctx *ctx, gbt_backend *self, int32_t which, const gbt_metric *metric, double *out, int *done,
                     gbt_error *err) {
  cu_backend *be = (cu_backend *)self;
  const cu_dataset *data = &be->data[which];
  const int32_t n_columns = gbt_has_columns(&be->objective) ? be->n_outputs : 1;
  const int64_t n = data->view.n_rows;
  *done = 0;
  if (be->view.shared) return GBT_OK; /* the host asks the other ranks */
  /* what has to be refused, and why, the host says */
  if (n == 0 || n > most_rows / n_columns || !data->label.at || gbt_has_levels(&be->objective) ||
      gbt_is_distribution(&be->objective) ||
      gbt_metric_check(metric, &be->objective, nullptr) != GBT_OK)
    return GBT_OK;
  GBT_TRY(gbt_ctx_poll(ctx, err));
  CU_TRY(cudaSetDevice(be->device.number));
  if (n_columns > 1 && metric->output == 0) return columns_metric(ctx, be, which, metric, out, done, err);
  return column_metric(ctx, be, which, metric->output > 0 ? metric->output - 1 : 0, metric, out, done, err);
}

void cu_metrics_close(cu_backend *be) {
  cu_drop(&be->device.memory, &be->metrics.sums);
  cu_metric_cells_close(be);
  cu_drop(&be->device.memory, &be->metrics.ranking.block);
  cu_drop(&be->device.memory, &be->metrics.ranking.gain);
}
