#include "cpu_kernels.h"

#include "../objective/formulas.h"

#define TARGET
#define KERNEL(name) scalar_##name
#define KERNEL_NAME "scalar"
#define LAYER_GAINS cpu_layer_gains
#define LIST_CUTS cpu_list_cuts
#include "cpu_kernels_body.h"
#undef TARGET
#undef KERNEL
#undef KERNEL_NAME

#if defined(__x86_64__) && defined(__GNUC__)
#define GBT_HAVE_X86_SIMD 1

#if !(defined(_WIN32) && !defined(__clang__)) /* vectors on the stack, see base/look_up.h */
#define LAYER_GAINS_AVX512 cpu_layer_gains_masked
#define LIST_CUTS_AVX512 cpu_list_cuts_masked
#include "cpu_cut_list_masked.h"
#else
#define LAYER_GAINS_AVX512 cpu_layer_gains
#define LIST_CUTS_AVX512 cpu_list_cuts
#endif

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
#undef LAYER_GAINS
#undef LIST_CUTS
#define LAYER_GAINS LAYER_GAINS_AVX512
#define LIST_CUTS LIST_CUTS_AVX512
#include "cpu_kernels_body.h"
#undef TARGET
#undef KERNEL
#undef KERNEL_NAME
#endif

const cpu_kernels *gbt_cpu_kernels(gbt_simd simd) {
#ifdef GBT_HAVE_X86_SIMD
  if (simd >= GBT_SIMD_AVX512) return &avx512_table;
  if (simd >= GBT_SIMD_AVX2) return &avx2_table;
#endif
  (void)simd;
  return &scalar_table;
}
