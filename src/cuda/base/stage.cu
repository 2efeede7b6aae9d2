/* The way up to the device: see stage.cuh. */
#include "stage.cuh"

#include <string.h>

static gbt_status open_halves(gbt_ctx *ctx, size_t bytes, cu_stage *stage, gbt_error *err) {
  GBT_ASSERT(bytes > 0);
  stage->ctx = ctx;
  stage->bytes = bytes;
  for (int k = 0; k < 2; k++) {
    CU_TRY(cudaEventCreateWithFlags(&stage->free_again[k], cudaEventDisableTiming));
    GBT_TRY(cu_host_alloc(bytes, &stage->half[k], err));
  }
  return GBT_OK;
}

gbt_status cu_stage_open(gbt_ctx *ctx, size_t bytes, cu_stage *stage, gbt_error *err) {
  GBT_ASSERT(stage->stream == NULL);
  CU_TRY(cudaStreamCreateWithFlags(&stage->stream, cudaStreamNonBlocking));
  return open_halves(ctx, bytes, stage, err);
}

gbt_status cu_stage_open_in(gbt_ctx *ctx, cudaStream_t stream, size_t bytes, cu_stage *stage, gbt_error *err) {
  GBT_ASSERT(stage->stream == NULL);
  stage->stream = stream;
  stage->borrows = 1;
  return open_halves(ctx, bytes, stage, err);
}

/* Errors are ignored: callers that close have one already, or need nothing more from the device. */
void cu_stage_close(cu_stage *stage) {
  if (stage->stream != NULL) (void)cudaStreamSynchronize(stage->stream);
  for (int k = 0; k < 2; k++) {
    if (stage->free_again[k] != NULL) (void)cudaEventDestroy(stage->free_again[k]);
    cu_host_free(&stage->half[k]);
  }
  if (stage->stream != NULL && !stage->borrows) (void)cudaStreamDestroy(stage->stream);
  *stage = cu_stage();
  (void)cudaGetLastError();
}

gbt_status cu_stage_next(cu_stage *stage, unsigned char **half, gbt_error *err) {
  GBT_TRY(gbt_ctx_poll(stage->ctx, err));
  CU_TRY(cudaEventSynchronize(stage->free_again[stage->turn])); /* at once when it was never recorded */
  *half = stage->half[stage->turn];
  return GBT_OK;
}

gbt_status cu_stage_copy(cu_stage *stage, void *to, size_t bytes, gbt_error *err) {
  GBT_ASSERT(bytes <= stage->bytes);
  if (bytes > 0) CU_TRY(cudaMemcpyAsync(to, stage->half[stage->turn], bytes, cudaMemcpyHostToDevice, stage->stream));
  return GBT_OK;
}

gbt_status cu_stage_done(cu_stage *stage, gbt_error *err) {
  CU_TRY(cudaEventRecord(stage->free_again[stage->turn], stage->stream));
  stage->turn ^= 1;
  return GBT_OK;
}

gbt_status cu_stage_send(cu_stage *stage, void *to, const void *from, size_t bytes, gbt_error *err) {
  unsigned char *half = NULL;
  for (size_t at = 0, n; at < bytes; at += n) {
    n = bytes - at < stage->bytes ? bytes - at : stage->bytes;
    GBT_TRY(cu_stage_next(stage, &half, err));
    GBT_TRY(cu_copy(stage->ctx, half, (const unsigned char *)from + at, n, err));
    GBT_TRY(cu_stage_copy(stage, (unsigned char *)to + at, n, err));
    GBT_TRY(cu_stage_done(stage, err));
  }
  return GBT_OK;
}

/* ---- by all threads ---- */

static const size_t COPY_TASK = (size_t)1 << 18;

struct cu_copy_job {
  unsigned char *to;
  const unsigned char *from;
  size_t bytes;
};

static void copy_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const cu_copy_job *job = (const cu_copy_job *)arg;
  size_t beg = (size_t)task * COPY_TASK, n = job->bytes - beg;
  memcpy(job->to + beg, job->from + beg, n < COPY_TASK ? n : COPY_TASK);
}

gbt_status cu_copy(gbt_ctx *ctx, void *to, const void *from, size_t bytes, gbt_error *err) {
  cu_copy_job job = {(unsigned char *)to, (const unsigned char *)from, bytes};
  return gbt_parallel(ctx, (int64_t)((bytes + COPY_TASK - 1) / COPY_TASK), copy_task, &job, err);
}

struct cu_gather_job {
  unsigned char *to;
  const unsigned char *from;
  uint32_t first;
  const uint32_t *pick;
  size_t n, size, task_rows;
};

static void gather_task(void *arg, int64_t task, int thread) {
  (void)thread;
  const cu_gather_job *job = (const cu_gather_job *)arg;
  const size_t beg = (size_t)task * job->task_rows, left = job->n - beg;
  for (size_t i = beg; i < beg + (left < job->task_rows ? left : job->task_rows); i++) {
    GBT_ASSERT(job->pick[i] >= job->first);
    memcpy(job->to + i * job->size, job->from + (job->pick[i] - job->first) * job->size, job->size);
  }
}

gbt_status cu_gather(gbt_ctx *ctx, void *to, const void *from, uint32_t first, const uint32_t *pick, size_t n,
                     size_t size, gbt_error *err) {
  GBT_ASSERT(size > 0);
  const size_t task_rows = COPY_TASK / size + 1;
  cu_gather_job job = {(unsigned char *)to, (const unsigned char *)from, first, pick, n, size, task_rows};
  return gbt_parallel(ctx, (int64_t)((n + task_rows - 1) / task_rows), gather_task, &job, err);
}
