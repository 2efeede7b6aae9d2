/* Where the names of CUDA come from: nvcc, or, for the tests on machines without a GPU, tests/simt, which runs the same
 * text on the CPU. Some things need a macro, everything else keeps its CUDA name.
 *
 * CU_LAUNCH_TOGETHER: all blocks of the grid are resident at once, so they may wait for each other. */
#pragma once

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define CU_LAUNCH(kernel, grid, block, shared, stream, ...) \
  (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define CU_LAUNCH_TOGETHER(kernel, grid, block, shared, stream, ...) \
  cu_launch_together((kernel), (grid), (block), (shared), (stream), __VA_ARGS__)
#define CU_SHARED(T, name, n) __shared__ T name[n]
#define CU_DYN_SHARED(T, name)                               \
  extern __shared__ __align__(16) unsigned char cu_dyn_[]; \
  T *name = reinterpret_cast<T *>(cu_dyn_)
#define CU_UNROLL _Pragma("unroll")

#include <cstdint>
#include <type_traits>

/* As with CU_LAUNCH, cudaGetLastError returns the error of the launch. Arguments are converted to the types of the
 * kernel's parameters. */
template <class... P>
static inline void cu_launch_together(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                                      std::common_type_t<P>... args) {
  void *at[] = {(void *)&args...};
  (void)cudaLaunchCooperativeKernel((const void *)kernel, grid, block, at, shared, stream);
}

/* Reads what another block may be writing: one read, which the compiler neither drops nor moves; only fences order
 * it. */
template <class T> __device__ static __forceinline__ T cu_read_once(const T *at) { return *(const volatile T *)at; }

/* Adds to a number in global memory without returning the old value, so that the thread does not wait. The compiler
 * turns an atomicAdd with an unused result into the same instruction, but not in a kernel with fences. */
__device__ static __forceinline__ void cu_add(int64_t *to, int64_t x) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(x) : "memory");
}
__device__ static __forceinline__ void cu_add(uint32_t *to, uint32_t x) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(x) : "memory");
}
#else
#include "simt.h"
#define CU_UNROLL
static inline void cu_add(int64_t *to, int64_t x) { atomicAdd((unsigned long long *)to, (unsigned long long)x); }
static inline void cu_add(uint32_t *to, uint32_t x) { atomicAdd(to, x); }
template <class T> static inline T cu_read_once(const T *at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
#endif
