/* Instruction sets: the one place that asks the processor. Kernels are chosen by gbt_ctx.simd, which is never above
 * what the machine has; results do not depend on it. */
#ifndef GBT_BASE_SIMD_H
#define GBT_BASE_SIMD_H

/* Each set includes the ones before it. Scalar: what the compiler makes of plain C, which has vectors of 128 bits where
 * every processor of the kind has them (SSE2 of x86-64, NEON of 64-bit ARM). */
typedef enum gbt_simd {
  GBT_SIMD_AUTO = -1,
  GBT_SIMD_SCALAR = 0,
  GBT_SIMD_AVX2 = 1,
  GBT_SIMD_NEON = GBT_SIMD_AVX2, /* of 64-bit ARM: look-ups of bytes 16 at a time, see shuffle.h */
  GBT_SIMD_AVX512 = 2,           /* F, BW, DQ, VL */
  GBT_SIMD_AVX512_VBMI = 3       /* look-ups of bytes in registers, see look_up.h */
} gbt_simd;

/* The best set that this machine has and this build has code for. */
gbt_simd gbt_simd_best(void);

const char *gbt_simd_name(int simd); /* "auto", "scalar", "avx2" ("neon" on ARM), ...; see gbt_status_name */
const char *gbt_simd_here(int simd); /* the same; NULL for sets above gbt_simd_best() */

#endif
