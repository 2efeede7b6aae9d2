/* cpu_list_cuts() for AVX-512: bins that hold something are found by masks and moved together, and only these are added
 * up. The same operations on the same numbers.
 *
 *   bins    | . . 3 . . . 1 . | 2 . . . . . . . |      blocks of eight
 *   listed  | 0 3 1 2                                  bin 0 always
 *   run     | 0 3 4 6
 */
#ifndef GBT_CPU_CPU_CUT_LIST_MASKED_H
#define GBT_CPU_CPU_CUT_LIST_MASKED_H

#include "cpu_cut_list.h"
#include "cpu_layer_gains_masked.h"

/* Sums up to each lane, and those up to the last one in all lanes of *before. */
MASKED_FN __m512i masked_run(__m512i v, __m512i *before) {
  const __m512i zero = _mm512_setzero_si512();
  v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 7));
  v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 6));
  v = _mm512_add_epi64(v, _mm512_alignr_epi64(v, zero, 4));
  v = _mm512_add_epi64(v, *before);
  *before = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), v);
  return v;
}

/* Eight bins from `at` on, of which those in `valid` exist, to place n of the list. Returns the place after them. */
MASKED_FN int32_t masked_list(const cpu_cut_list *to, int32_t at, __mmask8 valid, int32_t n, int packed) {
  const __m256i codes = _mm256_add_epi32(_mm256_set1_epi32(at), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  __mmask8 filled = at == 0;
  if (packed) {
    const __m512i both = _mm512_maskz_loadu_epi64(valid, to->both + at);
    filled |= _mm512_test_epi64_mask(both, both);
    _mm512_storeu_si512(to->part_g + n, _mm512_maskz_compress_epi64(filled, both));
  } else {
    __m512i g, h;
    masked_load(&to->sum[at].g, valid, &g, &h);
    const __m512i any = _mm512_or_si512(g, h);
    filled |= _mm512_test_epi64_mask(any, any);
    _mm512_storeu_si512(to->part_g + n, _mm512_maskz_compress_epi64(filled, g));
    _mm512_storeu_si512(to->part_h + n, _mm512_maskz_compress_epi64(filled, h));
  }
  _mm256_storeu_si256((__m256i *)(void *)(to->level + n), _mm256_maskz_compress_epi32(filled, codes));
  return n + __builtin_popcount(filled);
}

MASKED_FN int32_t cpu_list_cuts_masked(int32_t n_bins, const cpu_cut_list *to, int packed) {
  const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  const __m512d unit_g = _mm512_set1_pd(to->unit.g), unit_h = _mm512_set1_pd(to->unit.h);
  __m512i g_before = _mm512_setzero_si512(), h_before = _mm512_setzero_si512();
  int32_t n = 0;
  for (int32_t at = 0; at < n_bins; at += MASKED_BLOCK) n = masked_list(to, at, masked_valid(n_bins - at), n, packed);
  for (int32_t i = 0; i < n; i += MASKED_BLOCK) {
    const __mmask8 valid = masked_valid(n - i);
    __m512i g = masked_run(_mm512_maskz_loadu_epi64(valid, to->part_g + i), &g_before), h;
    if (packed) {
      h = _mm512_and_si512(g, _mm512_set1_epi64(0xffffffff));
      g = _mm512_srai_epi64(g, 32);
    } else {
      h = masked_run(_mm512_maskz_loadu_epi64(valid, to->part_h + i), &h_before);
    }
    _mm512_storeu_si512(&to->run[i].g, _mm512_permutex2var_epi64(g, low, h));
    _mm512_storeu_si512(&to->run[i + MASKED_BLOCK / 2].g, _mm512_permutex2var_epi64(g, high, h));
    _mm512_storeu_pd(to->g + i, _mm512_mul_pd(_mm512_cvtepi64_pd(g), unit_g));
    _mm512_storeu_pd(to->h + i, _mm512_mul_pd(_mm512_cvtepi64_pd(h), unit_h));
  }
  return n;
}

#endif
