/* The way up to the device: two page-locked halves. While one is copied, the host's threads fill the other.
 *
 *   host memory  ---threads--->  half 0 | half 1  ---the stage's stream--->  device
 * Data that go up unchanged are sent (cu_stage_send). Data that are put together on the way are written into a half:
 *
 *   cu_stage_next   waits until the half may be written again
 *   cu_stage_copy   its bytes are on their way; kernels that read them follow in the stage's stream
 *   cu_stage_done   from where on it may be written again; the turn goes to the other half
 *
 * All work of a stage is in one stream, so what it writes on the device needs no second half: a copy waits for the
 * kernel that reads what the one before it brought.
 *
 * Prediction does not use stages (predict/predict.cu): its chunks run concurrently in two streams, so that the device
 * walks the trees for one chunk while the other is copied, and the host converts columns to numbers as it reads
 * them. */
#pragma once

#include "mem.cuh"

enum : size_t { CU_STAGE_BYTES = (size_t)16 << 20 }; /* of a half that is to bring large things */

struct cu_stage {
  gbt_ctx *ctx;
  cudaStream_t stream;
  int borrows;               /* the stream is another's */
  size_t bytes;              /* of a half */
  unsigned char *half[2];    /* page-locked */
  cudaEvent_t free_again[2]; /* the half may be written by the host */
  int turn;                  /* whose it is */
};

/* All 0 before; close also after a failure. Closing waits for what is in the stream. In a stream of its own, or in
 * another's, which stays: what is sent then follows what was issued in it before, and goes before the rest. */
gbt_status cu_stage_open(gbt_ctx *ctx, size_t bytes, cu_stage *stage, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_stage_open_in(gbt_ctx *ctx, cudaStream_t stream, size_t bytes, cu_stage *stage,
                            gbt_error *err) GBT_MUST_CHECK;
void cu_stage_close(cu_stage *stage);

/* The half whose turn it is, once it may be written; then its bytes on their way to the device; then the other half's
 * turn. In this order; see above. */
gbt_status cu_stage_next(cu_stage *stage, unsigned char **half, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_stage_copy(cu_stage *stage, void *to, size_t bytes, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_stage_done(cu_stage *stage, gbt_error *err) GBT_MUST_CHECK;

/* Does not wait for the last two halves; `from` is not needed any more. */
gbt_status cu_stage_send(cu_stage *stage, void *to, const void *from, size_t bytes, gbt_error *err) GBT_MUST_CHECK;

/* Some rows of `size` bytes each, one after the other, on all threads of ctx: the n in `pick`; `from` begins with row
 * `first`. */
gbt_status cu_gather(gbt_ctx *ctx, void *to, const void *from, uint32_t first, const uint32_t *pick, size_t n,
                     size_t size, gbt_error *err) GBT_MUST_CHECK;

/* memcpy on all threads of ctx. */
gbt_status cu_copy(gbt_ctx *ctx, void *to, const void *from, size_t bytes, gbt_error *err) GBT_MUST_CHECK;
