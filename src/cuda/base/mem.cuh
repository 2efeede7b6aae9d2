/* Failures of CUDA calls, device memory that is counted, page-locked memory. */
#pragma once

#include "port.cuh"

extern "C" {
#include "../../gbt/base/ctx.h"
#include "../../gbt/base/hd.h"
#include "../../gbt/base/mem.h"
#include "../../gbt/base/parallel.h"
}

/* ---- errors ---- */

/* A CUDA call's error as ours. Memory: GBT_E_MEM with the bytes asked for; else GBT_E_DEVICE. */
gbt_status cu_failed(cudaError_t code, const char *what, gbt_error *err);

#define CU_TRY(call)                                                     \
  do {                                                                   \
    cudaError_t cu_code_ = (call);                                       \
    if (cu_code_ != cudaSuccess) return cu_failed(cu_code_, #call, err); \
  } while (0)

/* After launches: what the driver refused at once. */
#define CU_LAUNCHED() CU_TRY(cudaGetLastError())

/* ---- device memory ---- */

/* Counts what it gave; `most` is the greatest sum so far. limit: bytes that may be taken, 0 for all there is. */
struct cu_memory {
  size_t bytes, most, limit;
};

/* n * size bytes on the device, not cleared; *out is NULL on failure. Never freed but by cu_free. */
gbt_status cu_alloc(cu_memory *memory, size_t n, size_t size, void *out, gbt_error *err) GBT_MUST_CHECK;
void cu_free(cu_memory *memory, void *block, size_t bytes); /* NULL allowed */

/* Bytes that may be had, by the device and by the limit; 0 when it does not say. */
size_t cu_free_bytes(const cu_memory *memory);

/* Counts bytes that CUDA takes for itself; 0: the limit has no room for them, nothing is counted. */
int cu_count(cu_memory *memory, size_t bytes) GBT_MUST_CHECK;
void cu_uncount(cu_memory *memory, size_t bytes);

/* An array with its size, so that closing needs none. */
template <class T> struct cu_array {
  T *at = nullptr;
  size_t n = 0;
};
template <class T> gbt_status cu_new(cu_memory *memory, cu_array<T> *a, size_t n, gbt_error *err) {
  GBT_TRY(cu_alloc(memory, n, sizeof(T), &a->at, err));
  a->n = n;
  return GBT_OK;
}
template <class T> void cu_drop(cu_memory *memory, cu_array<T> *a) {
  cu_free(memory, a->at, a->n * sizeof(T));
  a->at = nullptr;
  a->n = 0;
}

/* ---- page-locked memory of the host ---- */

gbt_status cu_host_alloc(size_t bytes, void *out, gbt_error *err) GBT_MUST_CHECK; /* *out is NULL on failure */
template <class T> void cu_host_free(T **block) {
  if (*block != NULL) (void)cudaFreeHost(*block);
  *block = NULL;
}
