/* cpu_layer_gains() for AVX-512: codes that hold something are found by masks and moved together, so only these are
 * rated, and no branch depends on where they are. The same operations on the same numbers.
 *
 *   codes   | . . 3 . . . 1 . | 2 . . . . . . . |      blocks of eight
 *   sums    | 3 4 6                                    so far, of those that hold something
 *   gains   a | b c d                                  a: of the code before
 *   added   | a a b b b b c c | d d d d d d d d |      the place by how many bits the mask has up to it
 */
#ifndef GBT_CPU_CPU_LAYER_GAINS_MASKED_H
#define GBT_CPU_CPU_LAYER_GAINS_MASKED_H

#include <immintrin.h>

#include "cpu_layer_gains.h"

#define MASKED_FN __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"), always_inline)) static inline

enum { MASKED_BLOCK = 8, MASKED_BLOCKS = 32, MASKED_CHUNK = MASKED_BLOCK * MASKED_BLOCKS };

/* The codes of a chunk that hold something. */
typedef struct masked_chunk {
  int32_t n;                     /* of them */
  uint8_t filled[MASKED_BLOCKS]; /* by block: which codes */
  int64_t g[MASKED_CHUNK + MASKED_BLOCK], h[MASKED_CHUNK + MASKED_BLOCK];
} masked_chunk;

/* Which codes of a block exist when n of the chunk are left. */
MASKED_FN __mmask8 masked_valid(int32_t n) { return (__mmask8)(n < MASKED_BLOCK ? (1u << n) - 1u : 255u); }

/* Twice as many lanes: those of pairs. */
MASKED_FN __mmask8 masked_pairs(uint32_t valid) { return masked_valid(2 * __builtin_popcount(valid)); }

/* The sums of the codes in `valid` of a block, g apart from h. */
MASKED_FN void masked_load(const int64_t *pair, __mmask8 valid, __m512i *g, __m512i *h) {
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  const __m512i a = _mm512_maskz_loadu_epi64(masked_pairs(valid & 15u), pair);
  const __m512i b = _mm512_maskz_loadu_epi64(masked_pairs(valid >> 4), pair + MASKED_BLOCK);
  *g = _mm512_permutex2var_epi64(a, even, b);
  *h = _mm512_permutex2var_epi64(a, odd, b);
}

/* Compresses the block at `at` to its codes in `valid` and appends these to the chunk. Packed: only g. */
MASKED_FN void masked_close_up(const cpu_layer_codes *c, int32_t at, __mmask8 valid, int32_t block, masked_chunk *to,
                               int packed) {
  __mmask8 filled;
  if (packed) {
    const __m512i both = _mm512_maskz_loadu_epi64(valid, c->both + at);
    filled = _mm512_test_epi64_mask(both, both);
    _mm512_storeu_si512(to->g + to->n, _mm512_maskz_compress_epi64(filled, both));
  } else {
    __m512i g, h;
    masked_load(&c->sum[at].g, valid, &g, &h);
    const __m512i any = _mm512_or_si512(g, h);
    filled = _mm512_test_epi64_mask(any, any);
    _mm512_storeu_si512(to->g + to->n, _mm512_maskz_compress_epi64(filled, g));
    _mm512_storeu_si512(to->h + to->n, _mm512_maskz_compress_epi64(filled, h));
  }
  to->filled[block] = filled;
  to->n += __builtin_popcount(filled);
}

/* Numbers also where the last vector has no code. */
MASKED_FN void masked_pad(masked_chunk *chunk) {
  _mm512_storeu_si512(chunk->g + chunk->n, _mm512_setzero_si512());
  _mm512_storeu_si512(chunk->h + chunk->n, _mm512_setzero_si512());
}

/* gain[-1] and one more for each code in `filled`, each repeated for its code and the empty codes that follow. */
MASKED_FN __m512d masked_spread(const double *gain, __mmask8 filled) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  const uint64_t bits = (uint64_t)_mm_cvtsi128_si64(_mm_maskz_set1_epi8(filled, 1)) * ones; /* bits up to each code */
  const __m512i place = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128((long long)bits));
  return _mm512_permutex2var_pd(_mm512_loadu_pd(gain - 1), place, _mm512_loadu_pd(gain + 7));
}

MASKED_FN void masked_add(double *to, __mmask8 valid, __m512d gain) {
  _mm512_mask_storeu_pd(to, valid, _mm512_add_pd(_mm512_maskz_loadu_pd(valid, to), gain));
}

MASKED_FN void cpu_layer_gains_masked(int32_t n, const cpu_layer_codes *c, const gbt_rated *node, gbt_reg reg,
                                      double floor, double *right, double *left, int packed) {
  gbt_sum run = {0, 0};
  masked_chunk chunk;
  double gain[MASKED_BLOCK + MASKED_CHUNK + 2 * MASKED_BLOCK], *first = gain + MASKED_BLOCK;
  double last = cpu_layer_first(c, node, reg, floor);
  for (int32_t beg = 0; beg < n; beg += MASKED_CHUNK) {
    const int32_t len = n - beg < MASKED_CHUNK ? n - beg : MASKED_CHUNK;
    chunk.n = 0;
    for (int32_t b = 0; b < len; b += MASKED_BLOCK) {
      masked_close_up(c, beg + b, masked_valid(len - b), b / MASKED_BLOCK, &chunk, packed);
    }
    if (chunk.n == 0 && last == 0.0) continue;
    masked_pad(&chunk);
    for (int32_t i = 0; i < chunk.n; i++) {
      chunk.g[i] = run.g += chunk.g[i];
      if (!packed) chunk.h[i] = run.h += chunk.h[i];
    }
    first[-1] = last;
    for (int32_t i = 0; i < chunk.n; i += MASKED_BLOCK)
      for (int32_t k = i; k < i + MASKED_BLOCK; k++)
        first[k] = cpu_layer_rate(c, packed, chunk.g[k], chunk.h[k], node, reg, floor);
    const double *at = first;
    for (int32_t b = 0; b < len; b += MASKED_BLOCK) {
      const __mmask8 valid = masked_valid(len - b);
      const __mmask8 filled = chunk.filled[b / MASKED_BLOCK];
      const __m512d its = masked_spread(at, filled);
      masked_add(right + beg + b, valid, its);
      if (left) masked_add(left + beg + b, valid, its);
      at += __builtin_popcount(filled);
    }
    last = at[-1];
  }
}

#endif
