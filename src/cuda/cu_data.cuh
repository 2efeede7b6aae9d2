/* Cuts and pages on the device: what cu_cuts.cu and cu_bin.cu share. See data/offload.h for which part is done here.
 *
 * Columns go up as they lie in the host's memory, a chunk at a time, through two page-locked buffers: while one is
 * copied to the device, the host's threads fill the other.
 *
 *   host column  ---threads--->  host[half]  ---stream--->  raw[half]  ---kernel--->  keys, or codes
 *
 * Kernels read a stored value by the CPU's own text (data/column.h); level codes by a table of what they mean. */
#pragma once

#include "cu.cuh"

extern "C" {
#include "../gbt/data/offload.h"
#include "cu_data.h"
}

/* gbt_cuts_build and gbt_pages_build, the device being one that cu_info finds nothing wrong with. */
gbt_status cu_cuts(gbt_ctx *ctx, int32_t device, const gbt_table *table, const double *weight, int32_t max_bin,
                   gbt_cuts **out, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_pages(gbt_ctx *ctx, int32_t device, const gbt_binding *binding, const gbt_cuts *cuts, int32_t page_rows,
                    int own_cuts, gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

/* ---- the way up ---- */

struct cu_stage {
  cudaStream_t stream;
  cudaEvent_t free_again[2]; /* the half may be written by the host */
  int n_events, has_stream, turn;
  size_t bytes;           /* of a half */
  unsigned char *host[2]; /* page-locked */
  cu_array<unsigned char> raw[2];
};

/* All 0 before; close also after a failure. Closing waits for what is in the stream. */
gbt_status cu_stage_open(cu_memory *memory, size_t bytes, cu_stage *stage, gbt_error *err) GBT_MUST_CHECK;
void cu_stage_close(cu_memory *memory, cu_stage *stage);

/* The half that is written next; waits until it may be. */
gbt_status cu_stage_next(cu_stage *stage, int *half, gbt_error *err) GBT_MUST_CHECK;

/* After the last work in the stream that reads the half. */
gbt_status cu_stage_done(cu_stage *stage, int half, gbt_error *err) GBT_MUST_CHECK;

/* memcpy on all threads of ctx. */
gbt_status cu_copy(gbt_ctx *ctx, void *to, const void *from, size_t bytes, gbt_error *err) GBT_MUST_CHECK;

/* A page-locked block; NULL on failure. Free with cudaFreeHost. */
gbt_status cu_host_alloc(size_t bytes, void *out, gbt_error *err) GBT_MUST_CHECK;

/* Blocks of a grid over n things, `per_block` each: enough to keep the device busy. */
gbt_status cu_data_grid(int32_t device, unsigned *most, gbt_error *err) GBT_MUST_CHECK;
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
