#include "exps.h"

#include "../math/elementary.h"

/* Vectorises where it is compiled for vectors. */
static void exps(double *x, size_t n) {
  for (size_t i = 0; i < n; i++) x[i] = gbt_exp(x[i]);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void avx2_exps(double *x, size_t n) {
  for (size_t i = 0; i < n; i++) x[i] = gbt_exp(x[i]);
}

__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))) static void avx512_exps(double *x, size_t n) {
  for (size_t i = 0; i < n; i++) x[i] = gbt_exp(x[i]);
}
#endif

void gbt_exps(gbt_simd simd, double *x, size_t n) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (simd >= GBT_SIMD_AVX512) {
    avx512_exps(x, n);
    return;
  }
  if (simd >= GBT_SIMD_AVX2) {
    avx2_exps(x, n);
    return;
  }
#endif
  (void)simd;
  exps(x, n);
}
