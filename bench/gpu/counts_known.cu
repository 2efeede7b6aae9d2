/* A kernel of which every count is known: the counting of counts.c is right, or nothing it says is. */
#include "../../src/cuda/base/port.cuh"

extern "C" {
#include "../../tests/simt/control.h"
int counts_are_right(void);
}

enum { BLOCKS = 2, THREADS = 64, N = BLOCKS * THREADS, APART = 8 };

/* A thread reads 4 bytes in order, writes 8 in a sector of its own, twice, and adds to a global and a shared cell. */
__global__ static void k_known(const uint32_t *from, uint64_t *to, unsigned *sum) {
  CU_SHARED(unsigned, cell, 1);
  const uint32_t t = blockIdx.x * THREADS + threadIdx.x;
  const uint32_t x = from[t];
  to[t * APART] = x;
  atomicAdd(&cell[0], x);
  atomicAdd(sum, 1u);
  __syncthreads();
  to[t * APART] = x + 1u;
}

int counts_are_right(void) {
  uint32_t *from = nullptr;
  uint64_t *to = nullptr;
  unsigned *sum = nullptr;
  simt_traffic t = {};
  if (cudaMalloc(&from, N * sizeof *from) || cudaMalloc(&to, N * APART * sizeof *to) || cudaMalloc(&sum, sizeof *sum))
    return 0;
  (void)cudaMemset(from, 0, N * sizeof *from);
  simt_count_again();
  simt_watch(to, N * APART * sizeof *to / 2);
  CU_LAUNCH(k_known, BLOCKS, THREADS, 0, 0, from, to, sum);
  const int found = simt_traffic_of(0, &t), more = simt_traffic_of(1, &t);
  const int right = found && !more && t.launches == 1 && t.blocks == BLOCKS && t.read == N * 4 &&
                    t.written == N * (8 + 8 + 4) && t.sectors_read == N * 4 / 32 + 1 && t.sectors_written == N + 1 &&
                    t.watched_read == 0 && t.watched_written == N / 2 && t.global_adds == N && t.shared_adds == N &&
                    t.shared_bytes == N * 4;
  simt_watch(nullptr, 0);
  (void)cudaFree(from);
  (void)cudaFree(to);
  (void)cudaFree(sum);
  return right;
}
