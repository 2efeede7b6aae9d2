/* Prediction on a device. The same bits as gbt_predict_scores and gbt_predict_leaves: rows become codes by the pack's
 * cuts, walk the pack's trees, and leaf values are added tree after tree (model/predict_job.h). */
#ifndef GBT_CUDA_PREDICT_H
#define GBT_CUDA_PREDICT_H

#if defined(__cplusplus)
extern "C" {
#endif

#include "../../gbt/model/predict_job.h"

/* See gbt_device_api. */
gbt_status cu_predict_scores(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                             uint64_t first, uint64_t n, const double *offset, double *out,
                             gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_predict_leaves(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                             uint64_t first, uint64_t n, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

/* Settings of tests; 0: the best choice. Results never depend on it. */
typedef struct cu_predict_limits {
  int64_t chunk_rows;
  size_t shared_bytes; /* of a block */
  size_t forest_bytes; /* of trees on the device at a time */
  size_t table_bytes;  /* of tables on the device; else those that pay */
  size_t device_bytes; /* that may be taken at all */
  int32_t rows;        /* of a thread: 1 or 4 */
  int32_t blocks;      /* of a grid */
} cu_predict_limits;

/* A job that gbti_predict_check has passed; its scores have been started. */
gbt_status cu_predict(gbt_ctx *ctx, int32_t device, const gbti_predict_job *job, gbt_tree_range trees,
                      const cu_predict_limits *limits, gbt_error *err) GBT_MUST_CHECK;

#if defined(__cplusplus)
}
#endif

#endif
