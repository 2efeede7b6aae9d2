/* Vectors of bytes that are looked up 16 at a time: AVX2, or NEON of 64-bit ARM. For files whose functions are compiled
 * with these instructions one by one; gbt_ctx_has_shuffle says whether they may run. Private to kernels.
 *
 * GBT_SHUFFLES is defined where this header defines anything. gcc on Windows expects vectors of 32 bytes on the stack
 * to be aligned although the stack is not (gcc's bug 54412), so vectors have 16 bytes there. */
#ifndef GBT_BASE_SHUFFLE_H
#define GBT_BASE_SHUFFLE_H

#include "ctx.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define GBT_SHUFFLES 1
#include <immintrin.h>
#define GBT_SHUFFLE_TARGET __attribute__((target("avx2")))
#elif defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define GBT_SHUFFLES 1
#include <arm_neon.h>
#define GBT_SHUFFLE_TARGET
#endif

#if defined(GBT_SHUFFLES)
#define GBT_SHUFFLE_FN GBT_SHUFFLE_TARGET __attribute__((always_inline)) static inline

#if defined(__aarch64__)

enum { GBT_BYTES = 16 };
typedef uint8x16_t gbt_bytes;
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_load(const uint8_t *p) { return vld1q_u8(p); }
GBT_SHUFFLE_FN void gbt_bytes_store(uint8_t *p, gbt_bytes x) { vst1q_u8(p, x); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_all(uint8_t x) { return vdupq_n_u8(x); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_and(gbt_bytes a, gbt_bytes b) { return vandq_u8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_and_not(gbt_bytes a, gbt_bytes b) { return vbicq_u8(a, b); } /* a & ~b */
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_xor(gbt_bytes a, gbt_bytes b) { return veorq_u8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_add(gbt_bytes a, gbt_bytes b) { return vaddq_u8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_sub(gbt_bytes a, gbt_bytes b) { return vsubq_u8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_min(gbt_bytes a, gbt_bytes b) { return vminq_u8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_equal(gbt_bytes a, gbt_bytes b) { return vceqq_u8(a, b); } /* all bits or none */
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_least(gbt_bytes a, gbt_bytes b) { return vcleq_u8(a, b); } /* a <= b */
/* b where at is 128 or more, else a. */
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_choose(gbt_bytes a, gbt_bytes b, gbt_bytes at) {
  return vbslq_u8(vcgeq_u8(at, vdupq_n_u8(128)), b, a);
}

/* table[at], from a table of 16, 32, 64 or 128 bytes; at is below that, or 128 or more, which gives 0. A constant width
 * leaves one of the ways. */
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_look_up(const uint8_t *table, size_t width, gbt_bytes at) {
  if (width == 16) return vqtbl1q_u8(vld1q_u8(table), at);
  if (width == 32) return vqtbl2q_u8(vld1q_u8_x2(table), at);
  uint8x16_t low = vqtbl4q_u8(vld1q_u8_x4(table), at); /* 0 where at is not below 64 */
  if (width == 64) return low;
  return vorrq_u8(low, vqtbl4q_u8(vld1q_u8_x4(table + 64), vsubq_u8(at, vdupq_n_u8(64))));
}

#elif !defined(_WIN32) || defined(__clang__)

enum { GBT_BYTES = 32 };
typedef __m256i gbt_bytes;
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_load(const uint8_t *p) {
  return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
GBT_SHUFFLE_FN void gbt_bytes_store(uint8_t *p, gbt_bytes x) { _mm256_storeu_si256((__m256i *)(void *)p, x); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_all(uint8_t x) { return _mm256_set1_epi8((char)x); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_and(gbt_bytes a, gbt_bytes b) { return _mm256_and_si256(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_and_not(gbt_bytes a, gbt_bytes b) { return _mm256_andnot_si256(b, a); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_xor(gbt_bytes a, gbt_bytes b) { return _mm256_xor_si256(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_add(gbt_bytes a, gbt_bytes b) { return _mm256_add_epi8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_sub(gbt_bytes a, gbt_bytes b) { return _mm256_sub_epi8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_min(gbt_bytes a, gbt_bytes b) { return _mm256_min_epu8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_equal(gbt_bytes a, gbt_bytes b) { return _mm256_cmpeq_epi8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_part(const uint8_t *table) { /* in every lane of 16 */
  return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_shuffle(gbt_bytes part, gbt_bytes at) { return _mm256_shuffle_epi8(part, at); }
/* b where the bit of at is set that lies `up` below the highest. */
#define GBT_BYTES_CHOOSE(a, b, at, up) _mm256_blendv_epi8(a, b, _mm256_slli_epi16(at, up))

#else

enum { GBT_BYTES = 16 };
typedef __m128i gbt_bytes;
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_load(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
GBT_SHUFFLE_FN void gbt_bytes_store(uint8_t *p, gbt_bytes x) { _mm_storeu_si128((__m128i *)(void *)p, x); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_all(uint8_t x) { return _mm_set1_epi8((char)x); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_and(gbt_bytes a, gbt_bytes b) { return _mm_and_si128(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_and_not(gbt_bytes a, gbt_bytes b) { return _mm_andnot_si128(b, a); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_xor(gbt_bytes a, gbt_bytes b) { return _mm_xor_si128(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_add(gbt_bytes a, gbt_bytes b) { return _mm_add_epi8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_sub(gbt_bytes a, gbt_bytes b) { return _mm_sub_epi8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_min(gbt_bytes a, gbt_bytes b) { return _mm_min_epu8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_equal(gbt_bytes a, gbt_bytes b) { return _mm_cmpeq_epi8(a, b); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_part(const uint8_t *table) {
  return _mm_loadu_si128((const __m128i *)(const void *)table);
}
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_shuffle(gbt_bytes part, gbt_bytes at) { return _mm_shuffle_epi8(part, at); }
#define GBT_BYTES_CHOOSE(a, b, at, up) _mm_blendv_epi8(a, b, _mm_slli_epi16(at, up))

#endif

#if defined(__x86_64__)

GBT_SHUFFLE_FN gbt_bytes gbt_bytes_least(gbt_bytes a, gbt_bytes b) { return gbt_bytes_equal(gbt_bytes_min(a, b), a); }
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_choose(gbt_bytes a, gbt_bytes b, gbt_bytes at) {
  return GBT_BYTES_CHOOSE(a, b, at, 0);
}

GBT_SHUFFLE_FN gbt_bytes gbt_bytes_of_32(const uint8_t *table, gbt_bytes at) {
  return GBT_BYTES_CHOOSE(gbt_bytes_shuffle(gbt_bytes_part(table), at),
                          gbt_bytes_shuffle(gbt_bytes_part(table + 16), at), at, 3);
}
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_of_64(const uint8_t *table, gbt_bytes at) {
  return GBT_BYTES_CHOOSE(gbt_bytes_of_32(table, at), gbt_bytes_of_32(table + 32, at), at, 2);
}
GBT_SHUFFLE_FN gbt_bytes gbt_bytes_look_up(const uint8_t *table, size_t width, gbt_bytes at) {
  if (width == 16) return gbt_bytes_shuffle(gbt_bytes_part(table), at);
  if (width == 32) return gbt_bytes_of_32(table, at);
  if (width == 64) return gbt_bytes_of_64(table, at);
  return GBT_BYTES_CHOOSE(gbt_bytes_of_64(table, at), gbt_bytes_of_64(table + 64, at), at, 1);
}

#endif

#endif

/* Whether what uses that may run. */
static inline int gbt_ctx_has_shuffle(const gbt_ctx *ctx) { return ctx->simd >= GBT_SIMD_AVX2; }

#endif
