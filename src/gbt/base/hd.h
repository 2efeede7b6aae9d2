/* Functions that the C engine and the CUDA kernels share: one source text for CPU and GPU. */
#ifndef GBT_BASE_HD_H
#define GBT_BASE_HD_H

#if defined(__CUDACC__)
#define GBT_FN __host__ __device__ static __forceinline__
#elif defined(__GNUC__)
#define GBT_FN static inline __attribute__((always_inline, unused))
#else
#define GBT_FN static inline
#endif

/* Conditions that hold whatever the data are. The native tests are compiled with GBT_CHECKED and check them; elsewhere
 * nothing is done, as a package must never end its host's process. */
#if defined(GBT_CHECKED) && !defined(__CUDACC__)
#include <assert.h>
#define GBT_ASSERT(holds) assert(holds)
#else
#define GBT_ASSERT(holds) ((void)sizeof(holds))
#endif
/* In front of a function that only assertions call. */
#ifdef __GNUC__
#define GBT_ASSERT_FN static __attribute__((unused))
#else
#define GBT_ASSERT_FN static
#endif

#endif
