/* CUDA on the CPU, for tests: under a C++ compiler this header plays <cuda_runtime.h>, so that the text of a .cu file
 * compiles and runs on a machine without a GPU. README.md says what it can find and what it cannot.
 *
 *   simt.h         this: qualifiers and built-in variables, and what needs a macro (launches, shared arrays)
 *   types.h        dim3, int4, cudaError_t, ...          runtime.h   the functions of the CUDA runtime
 *   machine.h      threads, blocks and launches          control.h   what tests may read from and do to the machine
 *   collectives.h  barriers and warp functions
 *   atomics.h      atomics                               intrinsics.h  __popc and its like
 *
 *   fiber.cc (one thread), machine.cc (a grid of them), shared.cc, streams.cc, memory.cc, device.cc
 *
 * Every thread of a block is a fiber that runs until it has to wait for others. Blocks run one after the other, or
 * several side by side where a launch is cooperative or a test asks for it. What is
 * wrong ends the process with status 86 and a line that begins "simt:"; so this is for tests, never for users. */
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory> /* before __noinline__: it has an attribute of that name */

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict

/* Where a call is: the last parameters of functions that may have to say so. */
#define SIMT_AT const char *at_file = __builtin_FILE(), int at_line = __builtin_LINE()

#include "types.h"

#include "machine.h"

#include "atomics.h"
#include "collectives.h"
#include "intrinsics.h"
#include "runtime.h"

#define threadIdx (simt::now->id)
#define blockIdx (simt::block.id)
#define blockDim (simt::block.threads)
#define gridDim (simt::block.grid)
static const int warpSize = 32;

#define CU_LAUNCH(kernel, grid, block, shared, stream, ...) \
  simt::launch({#kernel, __FILE__, __LINE__}, false, kernel, grid, block, shared, stream, ##__VA_ARGS__)
#define CU_LAUNCH_TOGETHER(kernel, grid, block, shared, stream, ...) \
  simt::launch({#kernel, __FILE__, __LINE__}, true, kernel, grid, block, shared, stream, ##__VA_ARGS__)
#define CU_SHARED(T, name, n)                                                                      \
  static simt::Shared name##_shared_ = {{#name, __FILE__, __LINE__}, sizeof(T) * (n), 0, nullptr}; \
  static_assert(alignof(T) <= 16, "shared arrays are aligned to 16 bytes");                        \
  T(&name)[n] = *reinterpret_cast<T(*)[n]>(simt::shared(&name##_shared_))
#define CU_DYN_SHARED(T, name) T *name = reinterpret_cast<T *>(simt::block.dynamic)
