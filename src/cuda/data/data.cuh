/* Cuts and pages on the device: what cuts.cu and bin.cu share. See data/offload.h for which part is done here.
 *
 * Columns go up as they lie in the host's memory, a chunk at a time (base/stage.cuh):
 *
 *   host column  ---threads--->  half  ---stream--->  raw  ---kernel--->  keys, or codes
 *
 * Those that are cut go up once, where there is room to keep them (kept.cu).
 *
 * Kernels read a stored value by the CPU's own text (data/column.h); level codes by a table of what they mean. */
#pragma once

#include "../base/stage.cuh"

extern "C" {
#include "../../gbt/data/offload.h"
}

struct cu_cutter;

/* A column of the table, as it went up. */
struct cu_kept_column {
  int32_t number, storage; /* storage: gbt_storage */
  int has_values;          /* 0: all entries are 1 */
  cu_array<unsigned char> raw;
  cu_array<int32_t> rows; /* sparse: of the entries, ascending; else empty */
};

/* Columns that were copied to make their cuts and are kept to make their codes: kept.cu. */
struct cu_kept {
  cu_memory memory; /* limited */
  cu_kept_column *column;
  int32_t n, next;
};

/* Help with a data set. Cutting has memory of its own from the first column to cu_bin or the end. */
struct cu_offload : gbt_offload {
  gbt_mem mem;
  int32_t device;
  cu_cutter *cutter;
  cu_kept kept;
  struct cu_resident *resident; /* of rows [0, resident_rows), until it is the pages'; NULL: codes do not stay */
  int64_t resident_rows;
};

/* The device being one that the door finds nothing wrong with; and its functions, see gbt_offload. */
gbt_status cu_offload_open(gbt_ctx *ctx, int32_t device, gbt_offload **out, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_cut(gbt_offload *self, gbt_ctx *ctx, const gbti_cut_input *input, int32_t max_bin, double **cut,
                  int32_t *n_bins, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_count(gbt_offload *self, double low, double high, int64_t *n_within, int64_t *n_missing,
                    gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_bin(gbt_offload *self, gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts,
                  gbti_pages *pages, gbti_row_range range, int *done, gbt_error *err) GBT_MUST_CHECK;
void cu_cutter_close(cu_offload *o);

/* A column goes up for its cuts: *kept has room for it, if it is to be kept; NULL: it is not. *is_there: it has gone up
 * for another feature. */
gbt_status cu_kept_begin(cu_offload *o, const gbti_cut_input *input, const cu_kept_column **kept, int *is_there,
                         gbt_error *err) GBT_MUST_CHECK;
const cu_kept_column *cu_kept_find(cu_offload *o, int32_t number); /* NULL: it is not kept */
void cu_kept_close(cu_offload *o);

/* Codes that stay (resident.cuh): room for all rows of the pages when their first ones come; they are the pages' when
 * the last ones have come, if the device has made all of them. */
gbt_status cu_resident_begin(cu_offload *o, const gbti_pages *pages, gbti_row_range range,
                             gbt_error *err) GBT_MUST_CHECK;
void cu_resident_end(cu_offload *o, gbti_pages *pages, gbti_row_range range);
void cu_resident_drop(cu_offload *o);

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

GBT_FN size_t cu_raw_bytes(int storage) { return storage == GBT_F64 || storage == GBT_I64 ? 8 : 4; }

__device__ static __forceinline__ double cu_raw_value(const cu_raw &raw, uint64_t i) {
  if (raw.values == NULL) return 1.0;
  if (raw.storage == GBT_F64) return ((const double *)raw.values)[i];
  if (raw.storage == GBT_I64) return gbti_of_i64(((const int64_t *)raw.values)[i]);
  int32_t v = ((const int32_t *)raw.values)[i];
  return raw.storage == GBT_I32 ? gbti_of_i32(v) : raw.levels[v < 0 ? 0 : v];
}
