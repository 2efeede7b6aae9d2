/* Cuts and pages on a device, with sizes to choose: what tests call. See data.cuh. */
#ifndef GBT_CUDA_DATA_H
#define GBT_CUDA_DATA_H

#include "../../gbt/data/page_store.h"

/* Results do not depend on it. */
typedef struct cu_data_how {
  int64_t least; /* columns with fewer entries, pages with fewer cells, are left to the CPU */
  int64_t chunk; /* entries of a column that go up at once, or cells of a page */
} cu_data_how;

gbt_status cu_cuts_how(gbt_ctx *ctx, int32_t device, cu_data_how how, const gbt_table *table, const double *weight,
                       int32_t max_bin, gbt_cuts **out, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_pages_how(gbt_ctx *ctx, int32_t device, cu_data_how how, const gbt_binding *binding, const gbt_cuts *cuts,
                        int32_t page_rows, int own_cuts, gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

#endif
