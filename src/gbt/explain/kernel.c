/* One text for all instruction sets where compilers turn it into vectors; else a text for each: see kernel.h. */
#include "kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define AVX 1
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#endif

/* gcc takes vectors on the stack for aligned where Windows does not align it (gcc's bug 54412). */
#if defined(AVX) && !(defined(_WIN32) && !defined(__clang__))
#define VECTORS_PASS 1
#endif

#define VISIT(name, target)                                                                           \
  target static void name(const gbti_visit *visit, const gbti_lanes *lanes, int pairs, double *acc) { \
    const int32_t n = visit->plan->n_points;                                                          \
    if (pairs) {                                                                                      \
      gbti_visit_tree(visit, lanes, n, 1, acc);                                                       \
      return;                                                                                         \
    }                                                                                                 \
    switch (n) {                                                                                      \
    case 1:                                                                                           \
      gbti_visit_tree(visit, lanes, 1, 0, acc);                                                       \
      return;                                                                                         \
    case 2:                                                                                           \
      gbti_visit_tree(visit, lanes, 2, 0, acc);                                                       \
      return;                                                                                         \
    case 3:                                                                                           \
      gbti_visit_tree(visit, lanes, 3, 0, acc);                                                       \
      return;                                                                                         \
    case 4:                                                                                           \
      gbti_visit_tree(visit, lanes, 4, 0, acc);                                                       \
      return;                                                                                         \
    default:                                                                                          \
      gbti_visit_tree(visit, lanes, n, 0, acc);                                                       \
    }                                                                                                 \
  }

VISIT(visit_scalar, )

static uint64_t below_scalar(const double *x, double cut) {
  uint64_t out = 0;
  for (int r = 0; r < 64; r++) out |= (uint64_t)(x[r] <= cut) << r;
  return out;
}

GBT_FN void spread(const uint64_t *word, size_t stride, int32_t n, uint16_t *at) {
  for (int r = 0; r < 64; r++) at[r] = 0;
  for (int32_t a = 0; a < n; a++) {
    const uint64_t bits = word[(size_t)a * stride];
    for (int r = 0; r < 64; r++) at[r] = (uint16_t)(at[r] | (bits >> r & 1u) << a);
  }
}

static void spread_scalar(const uint64_t *word, size_t stride, int32_t n, uint16_t *at) { spread(word, stride, n, at); }

static void look_up_scalar(const double *table, int32_t bits, const uint16_t *at, double factor, double *to) {
  (void)bits;
  for (int r = 0; r < 64; r++) to[r] += factor * table[at[r]];
}

#if defined(AVX)
VISIT(visit_avx2, AVX2)
VISIT(visit_avx512, AVX512)
AVX2 static void spread_avx2(const uint64_t *word, size_t stride, int32_t n, uint16_t *at) {
  spread(word, stride, n, at);
}
#endif

#if defined(VECTORS_PASS)
AVX2 static uint64_t below_avx2(const double *x, double cut) {
  const __m256d c = _mm256_set1_pd(cut);
  uint64_t out = 0;
  for (int r = 0; r < 64; r += 4)
    out |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(x + r), c, _CMP_LE_OQ)) << r;
  return out;
}

AVX512 static uint64_t below_avx512(const double *x, double cut) {
  const __m512d c = _mm512_set1_pd(cut);
  uint64_t out = 0;
  for (int r = 0; r < 64; r += 8)
    out |= (uint64_t)_cvtmask8_u32(_mm512_cmp_pd_mask(_mm512_loadu_pd(x + r), c, _CMP_LE_OQ)) << r;
  return out;
}

AVX512 static void spread_avx512(const uint64_t *word, size_t stride, int32_t n, uint16_t *at) {
  __m512i low = _mm512_setzero_si512(), high = _mm512_setzero_si512();
  for (int32_t a = 0; a < n; a++) {
    const uint64_t bits = word[(size_t)a * stride];
    const __m512i one = _mm512_set1_epi16((short)(1u << a));
    low = _mm512_or_si512(low, _mm512_maskz_mov_epi16((__mmask32)bits, one));
    high = _mm512_or_si512(high, _mm512_maskz_mov_epi16((__mmask32)(bits >> 32), one));
  }
  _mm512_storeu_si512(at, low);
  _mm512_storeu_si512(at + 32, high);
}

/* Numbers of 16, 32 and 64 by permutations of registers: PICK takes one of 16 by the lowest four bits of `at`. */
#define PICK(i) _mm512_permutex2var_pd(t[2 * (i)], k, t[2 * (i) + 1])
AVX512 static void look_up_avx512(const double *table, int32_t bits, const uint16_t *at, double factor, double *to) {
  const __m512d f = _mm512_set1_pd(factor);
  __m512d t[8];
  for (int i = 0; i < 8; i++) t[i] = i < 1 << bits >> 3 ? _mm512_loadu_pd(table + 8 * i) : _mm512_setzero_pd();
  for (int r = 0; r < 64; r += 8) {
    const __m512i k = _mm512_cvtepu16_epi64(_mm_loadu_si128((const __m128i *)(const void *)(at + r)));
    __m512d x;
    if (bits > 6) {
      x = _mm512_i64gather_pd(k, table, 8);
    } else if (bits <= 4) {
      x = PICK(0);
    } else {
      const __mmask8 by4 = _mm512_test_epi64_mask(k, _mm512_set1_epi64(16));
      x = _mm512_mask_blend_pd(by4, PICK(0), PICK(1));
      if (bits == 6) {
        const __m512d other = _mm512_mask_blend_pd(by4, PICK(2), PICK(3));
        x = _mm512_mask_blend_pd(_mm512_test_epi64_mask(k, _mm512_set1_epi64(32)), x, other);
      }
    }
    _mm512_storeu_pd(to + r, _mm512_add_pd(_mm512_loadu_pd(to + r), _mm512_mul_pd(f, x)));
  }
}
#endif

gbti_kernel gbti_kernel_for(gbt_simd simd) {
  gbti_kernel kernel = {visit_scalar, below_scalar, spread_scalar, look_up_scalar};
#if defined(AVX)
  if (simd >= GBT_SIMD_AVX2) {
    kernel.visit = visit_avx2;
    kernel.spread = spread_avx2;
  }
  if (simd >= GBT_SIMD_AVX512) kernel.visit = visit_avx512;
#endif
#if defined(VECTORS_PASS)
  if (simd >= GBT_SIMD_AVX2) kernel.below = below_avx2;
  if (simd >= GBT_SIMD_AVX512) {
    kernel.below = below_avx512;
    kernel.spread = spread_avx512;
    kernel.look_up = look_up_avx512;
  }
#endif
  (void)simd;
  return kernel;
}
