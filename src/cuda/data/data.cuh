/* Cuts and pages on the device: what cuts.cu and bin.cu share. See data/offload.h for which part is done here.
 *
 * Columns go up as they lie in the host's memory, a chunk at a time (base/stage.cuh):
 *
 *   host column  ---threads--->  half  ---stream--->  raw  ---kernel--->  keys, or codes
 *
 * Kernels read a stored value by the CPU's own text (data/column.h); level codes by a table of what they mean. */
#pragma once

#include "../base/stage.cuh"

extern "C" {
#include "../../gbt/data/offload.h"
#include "data.h"
}

/* gbt_cuts_build and gbt_pages_build, the device being one that cu_info finds nothing wrong with. */
gbt_status cu_cuts(gbt_ctx *ctx, int32_t device, const gbt_table *table, const double *weight, int32_t max_bin,
                   gbt_cuts **out, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_pages(gbt_ctx *ctx, int32_t device, const gbt_binding *binding, const gbt_cuts *cuts, int32_t page_rows,
                    int own_cuts, gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

/* Blocks of a grid over n things, `per_block` each: enough to keep the device busy. */
static inline gbt_status cu_data_grid(int32_t device, unsigned *most, gbt_error *err) {
  enum { BLOCKS_PER_UNIT = 8 };
  int n_units = 0;
  CU_TRY(cudaDeviceGetAttribute(&n_units, cudaDevAttrMultiProcessorCount, device));
  *most = (unsigned)(n_units > 0 ? n_units : 1) * BLOCKS_PER_UNIT;
  return GBT_OK;
}
static inline unsigned cu_blocks(unsigned most, uint64_t n, unsigned per_block) {
  uint64_t blocks = (n + per_block - 1) / per_block;
  return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/* ---- stored values, on the device ---- */

struct cu_raw {
  const void *values;   /* NULL: all are 1 */
  const double *levels; /* CODES: what code c reads as */
  int32_t storage;      /* gbt_storage */
};

static inline size_t cu_raw_bytes(int storage) { return storage == GBT_F64 || storage == GBT_I64 ? 8 : 4; }

__device__ static __forceinline__ double cu_raw_value(const cu_raw &raw, uint64_t i) {
  if (raw.values == NULL) return 1.0;
  if (raw.storage == GBT_F64) return ((const double *)raw.values)[i];
  if (raw.storage == GBT_I64) return gbti_of_i64(((const int64_t *)raw.values)[i]);
  int32_t v = ((const int32_t *)raw.values)[i];
  return raw.storage == GBT_I32 ? gbti_of_i32(v) : raw.levels[v < 0 ? 0 : v];
}
