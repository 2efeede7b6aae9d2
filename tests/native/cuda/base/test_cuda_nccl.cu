/* A communicator of one rank, by the NCCL of the machine, or by the library that stands in for it (tests/nccl). */
#include "../../src/cuda/base/nccl.cuh"

#include <stdlib.h>

extern "C" {
#include "test.h"
}

extern "C" void suite_cuda_nccl(void);

/* Numbers of a type that the sum, or the maximum, of one rank leaves as they are. */
static void reduces_to_itself(const cu_nccl *nccl, cu_nccl_comm comm, cudaStream_t stream, int type, int op) {
  enum { N = 1000 };
  const size_t bytes = N * (type == CU_NCCL_UINT32 ? sizeof(uint32_t) : sizeof(int64_t));
  unsigned char from[N * sizeof(int64_t)], to[N * sizeof(int64_t)];
  void *at = NULL;
  int failed = -1;
  for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)(i * 37u + (i >> 8));
  memset(to, 0, sizeof to);
  CHECK(cudaMalloc(&at, bytes) == cudaSuccess);
  CHECK(cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK_EQ_I64(nccl->begin(), CU_NCCL_OK);
  CHECK_EQ_I64(nccl->all_reduce(at, at, N, type, op, comm, stream), CU_NCCL_OK);
  CHECK_EQ_I64(nccl->end(), CU_NCCL_OK);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK_EQ_I64(nccl->error(comm, &failed), CU_NCCL_OK);
  CHECK_EQ_I64(failed, CU_NCCL_OK);
  CHECK(cudaMemcpy(to, at, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK_EQ_BYTES(to, from, bytes);
  CHECK(cudaFree(at) == cudaSuccess);
}

static void one_rank_by_itself(void) {
  char text[512];
  cu_nccl nccl;
  cu_nccl_id id;
  cu_nccl_comm comm = NULL;
  cudaStream_t stream;
#ifdef GBT_TEST_NCCL
  setenv("GBT_NCCL", GBT_TEST_NCCL, 1);
#endif
  const int found = cu_nccl_find(&nccl, text, sizeof text);
  test_note("%s", text);
#ifdef GBT_TEST_NCCL
  CHECK(found);
  unsetenv("GBT_NCCL");
#endif
  if (!found) return;
  CHECK(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK_EQ_I64(nccl.make_id(&id), CU_NCCL_OK);
  if (CHECK_EQ_I64(nccl.open(&comm, 1, id, 0), CU_NCCL_OK)) {
    reduces_to_itself(&nccl, comm, stream, CU_NCCL_INT64, CU_NCCL_SUM);
    reduces_to_itself(&nccl, comm, stream, CU_NCCL_INT64, CU_NCCL_MAX);
    reduces_to_itself(&nccl, comm, stream, CU_NCCL_UINT32, CU_NCCL_SUM);
    CHECK_EQ_I64(nccl.abort(comm), CU_NCCL_OK);
  }
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

void suite_cuda_nccl(void) { RUN(one_rank_by_itself); }
