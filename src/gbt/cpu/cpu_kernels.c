#include "cpu_kernels.h"

#include "../objective/formulas.h"

#define TARGET
#define KERNEL(name) scalar_##name
#define KERNEL_NAME "scalar"
#include "cpu_kernels_body.h"
#undef TARGET
#undef KERNEL
#undef KERNEL_NAME

#if defined(__x86_64__) && defined(__GNUC__)
#define GBT_HAVE_X86_SIMD 1

#define TARGET __attribute__((target("avx2")))
#define KERNEL(name) avx2_##name
#define KERNEL_NAME "avx2"
#include "cpu_kernels_body.h"
#undef TARGET
#undef KERNEL
#undef KERNEL_NAME

#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#define KERNEL(name) avx512_##name
#define KERNEL_NAME "avx512"
#include "cpu_kernels_body.h"
#undef TARGET
#undef KERNEL
#undef KERNEL_NAME
#endif

const cpu_kernels *gbt_cpu_kernels(gbt_simd simd) {
#ifdef GBT_HAVE_X86_SIMD
  if (simd == GBT_SIMD_AVX512) return &avx512_table;
  if (simd == GBT_SIMD_AVX2) return &avx2_table;
#endif
  (void)simd;
  return &scalar_table;
}
