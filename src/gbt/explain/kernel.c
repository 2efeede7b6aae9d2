/* One text for all instruction sets: see kernel.h. */
#include "kernel.h"

#define VISIT(name, target)                                                                                    \
  target static void name(const gbti_visit *visit, const gbti_lanes *lanes, int pairs, double *acc) {          \
    const int32_t n = visit->plan->n_points;                                                                   \
    if (pairs) {                                                                                               \
      gbti_visit_tree(visit, lanes, n, 1, acc);                                                                \
      return;                                                                                                  \
    }                                                                                                          \
    switch (n) {                                                                                               \
    case 1: gbti_visit_tree(visit, lanes, 1, 0, acc); return;                                                  \
    case 2: gbti_visit_tree(visit, lanes, 2, 0, acc); return;                                                  \
    case 3: gbti_visit_tree(visit, lanes, 3, 0, acc); return;                                                  \
    case 4: gbti_visit_tree(visit, lanes, 4, 0, acc); return;                                                  \
    default: gbti_visit_tree(visit, lanes, n, 0, acc);                                                         \
    }                                                                                                          \
  }

VISIT(visit_scalar, )
#if defined(__x86_64__) && defined(__GNUC__)
VISIT(visit_avx2, __attribute__((target("avx2"))))
VISIT(visit_avx512, __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))))
#endif

gbti_visit_fn gbti_visit_for(gbt_simd simd) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (simd == GBT_SIMD_AVX512) return visit_avx512;
  if (simd == GBT_SIMD_AVX2) return visit_avx2;
#endif
  (void)simd;
  return visit_scalar;
}
