/* Metrics on the device. */
#pragma once

#include "../backend.cuh"

/* The `metric` op of backend.h. */
gbt_status cu_metric(gbt_ctx *ctx, gbt_backend *self, int32_t which, const gbt_metric *metric, double *out, int *done,
                     gbt_error *err) GBT_MUST_CHECK;

void cu_metrics_close(cu_backend *be);

/* Rows of a data set and their scores: all there is of them, or of one column of the response. Borrowed. */
struct cu_scored {
  gbt_objective objective; /* of a column: with one output */
  uint64_t n;
  const double *score;
  cu_numbers label, weight;
};

/* By cu_metric; which: the data set that they are of. GBT_OK with *done = 0: there is no room, or a label is no class.
 */
gbt_status cu_metric_of_cells(gbt_ctx *ctx, cu_backend *be, const cu_scored &rows, const gbt_metric *metric,
                              double *out, int *done, gbt_error *err) GBT_MUST_CHECK;
void cu_metric_cells_close(cu_backend *be);
gbt_status cu_metric_of_ranking(cu_backend *be, int32_t which, const cu_scored &rows, const gbt_metric *metric,
                                double *out, int *done, gbt_error *err) GBT_MUST_CHECK;

/* Scratch of a metric. *refused: there is no room for it. */
template <class T> gbt_status cu_metric_room(cu_memory *memory, cu_array<T> *room, size_t n, int *refused,
                                             gbt_error *err) {
  gbt_error no_room;
  *refused = 0;
  if (room->at && room->n >= n) return GBT_OK;
  cu_drop(memory, room);
  gbt_status status = cu_new(memory, room, n, &no_room);
  *refused = status == GBT_E_MEM;
  if (status != GBT_OK && !*refused && err) *err = no_room;
  return *refused ? GBT_OK : status;
}
