/* Looking bytes up in registers, 64 at a time, by AVX-512 with VBMI. For files that are compiled with these
 * instructions function by function; gbt_ctx_has_lookup says whether they may run.
 *
 * GBT_LOOKS_UP is defined where this header defines anything: not on other processors, and not with gcc on Windows,
 * which expects vectors on the stack to be aligned although the stack is not (gcc's bug 54412). */
#ifndef GBT_BASE_LOOK_UP_H
#define GBT_BASE_LOOK_UP_H

#include "ctx.h"

#if defined(__x86_64__) && defined(__GNUC__) && !(defined(_WIN32) && !defined(__clang__))
#define GBT_LOOKS_UP 1
#include <immintrin.h>

#define GBT_LOOK_UP_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi")))
#define GBT_LOOK_UP_FN GBT_LOOK_UP_TARGET __attribute__((always_inline)) static inline

/* table[at], from a table of 16, 32, 64, 128 or 256 bytes; at is below that. A constant width leaves one of the ways.
 */
GBT_LOOK_UP_FN __m512i gbt_look_up(const uint8_t *table, size_t width, __m512i at) {
  if (width == 16)
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)table)), at);
  if (width == 32)
    return _mm512_permutexvar_epi8(at,
                                   _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)table)));
  if (width == 64) return _mm512_permutexvar_epi8(at, _mm512_loadu_si512(table));
  __m512i low = _mm512_permutex2var_epi8(_mm512_loadu_si512(table), at, _mm512_loadu_si512(table + 64));
  if (width == 128) return low;
  __m512i high = _mm512_permutex2var_epi8(_mm512_loadu_si512(table + 128), at, _mm512_loadu_si512(table + 192));
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high);
}

#endif

/* Whether what uses that may run. */
static inline int gbt_ctx_has_lookup(const gbt_ctx *ctx) { return ctx->simd >= GBT_SIMD_AVX512_VBMI; }

#endif
