/* Where the names of CUDA come from: nvcc, or, for the tests on machines without a GPU, tests/simt, which runs the same
 * text on the CPU. Four things need a macro, everything else keeps its CUDA name. */
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define CU_LAUNCH(kernel, grid, block, shared, stream, ...) \
  (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define CU_SHARED(T, name, n) __shared__ T name[n]
#define CU_DYN_SHARED(T, name)                               \
  extern __shared__ __align__(16) unsigned char cu_dyn_[]; \
  T *name = reinterpret_cast<T *>(cu_dyn_)
#define CU_UNROLL _Pragma("unroll")
#else
#include "simt.h"
#define CU_UNROLL
#endif
