/* The way of columns up to the device: see cu_data.cuh. */
#include "cu_data.cuh"

#include <string.h>

gbt_status cu_host_alloc(size_t bytes, void *out, gbt_error *err) {
  void **at = (void **)out;
  *at = NULL;
  CU_TRY(cudaMallocHost(at, bytes > 0 ? bytes : 1));
  return GBT_OK;
}

gbt_status cu_stage_open(cu_memory *memory, size_t bytes, cu_stage *stage, gbt_error *err) {
  stage->bytes = bytes;
  CU_TRY(cudaStreamCreateWithFlags(&stage->stream, cudaStreamNonBlocking));
  stage->has_stream = 1;
  for (int half = 0; half < 2; half++) {
    CU_TRY(cudaEventCreateWithFlags(&stage->free_again[half], cudaEventDisableTiming));
    stage->n_events++;
    GBT_TRY(cu_host_alloc(bytes, &stage->host[half], err));
    GBT_TRY(cu_new(memory, &stage->raw[half], bytes, err));
  }
  return GBT_OK;
}

/* Errors are not looked at: whoever closes has one already, or needs nothing more from the device. */
void cu_stage_close(cu_memory *memory, cu_stage *stage) {
  if (stage->has_stream) (void)cudaStreamSynchronize(stage->stream);
  for (int half = 0; half < 2; half++) {
    if (half < stage->n_events) (void)cudaEventDestroy(stage->free_again[half]);
    if (stage->host[half] != NULL) (void)cudaFreeHost(stage->host[half]);
    stage->host[half] = NULL;
    cu_drop(memory, &stage->raw[half]);
  }
  if (stage->has_stream) (void)cudaStreamDestroy(stage->stream);
  stage->n_events = stage->has_stream = 0;
  (void)cudaGetLastError();
}

gbt_status cu_stage_next(cu_stage *stage, int *half, gbt_error *err) {
  *half = stage->turn;
  stage->turn ^= 1;
  CU_TRY(cudaEventSynchronize(stage->free_again[*half])); /* at once when it was never recorded */
  return GBT_OK;
}

gbt_status cu_stage_done(cu_stage *stage, int half, gbt_error *err) {
  CU_TRY(cudaEventRecord(stage->free_again[half], stage->stream));
  return GBT_OK;
}

/* ---- by all threads ---- */

static const size_t CU_COPY_TASK = (size_t)1 << 18;

struct cu_copy_job {
  unsigned char *to;
  const unsigned char *from;
  size_t bytes;
};

static void cu_copy_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const cu_copy_job *job = (const cu_copy_job *)arg;
  size_t beg = (size_t)task * CU_COPY_TASK, n = job->bytes - beg;
  memcpy(job->to + beg, job->from + beg, n < CU_COPY_TASK ? n : CU_COPY_TASK);
}

gbt_status cu_copy(gbt_ctx *ctx, void *to, const void *from, size_t bytes, gbt_error *err) {
  cu_copy_job job = {(unsigned char *)to, (const unsigned char *)from, bytes};
  return gbt_parallel(ctx, (int64_t)((bytes + CU_COPY_TASK - 1) / CU_COPY_TASK), cu_copy_task, &job, err);
}

gbt_status cu_data_grid(int32_t device, unsigned *most, gbt_error *err) {
  enum { BLOCKS_PER_UNIT = 8 };
  int n_units = 0;
  CU_TRY(cudaDeviceGetAttribute(&n_units, cudaDevAttrMultiProcessorCount, device));
  *most = (unsigned)(n_units > 0 ? n_units : 1) * BLOCKS_PER_UNIT;
  return GBT_OK;
}
