/* Contributions on a device. The same bits as gbt_explain: trees are made ready by the host (explain/prepare.c), and
 * kernels use its formulas (explain/step.h, explain/shares.h), a row a thread, tree after tree. */
#ifndef GBT_CUDA_EXPLAIN_H
#define GBT_CUDA_EXPLAIN_H

#if defined(__cplusplus)
extern "C" {
#endif

#include "../../gbt/explain/explain.h"

/* See gbt_device_api. */
gbt_status cu_explain(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                      const gbt_explain_spec *spec, const double *offset, double *out, gbt_error *err) GBT_MUST_CHECK;

/* Settings of tests; 0: the best choice. Results never depend on it, but for part_bytes: see gbti_explain_run. */
typedef struct cu_explain_limits {
  int64_t chunk_rows;
  size_t batch_bytes;  /* of trees that are made ready at a time */
  size_t part_bytes;   /* of the background's sets in one of them */
  size_t tree_bytes;   /* of those, on the device at a time */
  size_t device_bytes; /* that may be taken at all */
  int32_t warps;       /* of the grid */
} cu_explain_limits;

/* Contributions on a device, within these limits. Arguments as those of gbt_explain(). */
gbt_status cu_explain_within(gbt_ctx *ctx, int32_t device, const gbt_forest_view *forest, const gbt_binding *binding,
                             const gbt_explain_spec *spec, const double *offset, double *out,
                             const cu_explain_limits *limits, gbt_error *err) GBT_MUST_CHECK;

#if defined(__cplusplus)
}
#endif

#endif
