#include "pairs_sum.h"

#define TARGET
#define KERNEL(name) scalar_##name
#include "pairs_body.h"
#undef TARGET
#undef KERNEL

#if defined(__x86_64__) && defined(__GNUC__)
#define TARGET __attribute__((target("avx2")))
#define KERNEL(name) avx2_##name
#include "pairs_body.h"
#undef TARGET
#undef KERNEL

#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define KERNEL(name) avx512_##name
#include "pairs_body.h"
#undef TARGET
#undef KERNEL
#endif

gbt_pair_kernels gbt_pair_kernels_of(gbt_simd simd) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (simd >= GBT_SIMD_AVX512) return (gbt_pair_kernels){avx512_sum_after, avx512_sum_around};
  if (simd >= GBT_SIMD_AVX2) return (gbt_pair_kernels){avx2_sum_after, avx2_sum_around};
#endif
  (void)simd;
  return (gbt_pair_kernels){scalar_sum_after, scalar_sum_around};
}
