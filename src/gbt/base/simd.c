#include "simd.h"

#include <stddef.h>

#include "look_up.h"
#include "shuffle.h"

gbt_simd gbt_simd_best(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) return GBT_SIMD_SCALAR;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return GBT_SIMD_AVX2;
#if defined(GBT_LOOKS_UP)
  if (__builtin_cpu_supports("avx512vbmi")) return GBT_SIMD_AVX512_VBMI;
#endif
  return GBT_SIMD_AVX512;
#elif defined(GBT_SHUFFLES)
  return GBT_SIMD_NEON;
#else
  return GBT_SIMD_SCALAR;
#endif
}

const char *gbt_simd_name(int simd) {
  switch ((gbt_simd)simd) {
  case GBT_SIMD_AUTO:
    return "auto";
  case GBT_SIMD_SCALAR:
    return "scalar";
  case GBT_SIMD_AVX2:
#if defined(__aarch64__)
    return "neon";
#else
    return "avx2";
#endif
  case GBT_SIMD_AVX512:
    return "avx512";
  case GBT_SIMD_AVX512_VBMI:
    return "avx512vbmi";
  }
  return NULL;
}

const char *gbt_simd_here(int simd) { return simd <= (int)gbt_simd_best() ? gbt_simd_name(simd) : NULL; }
