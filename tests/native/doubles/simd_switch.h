/* The instruction set that the machine has at best, for all contexts of the tests: in place of gbt_simd_best, see the
 * Makefile. The environment's GBT_TEST_SIMD (scalar, avx2, avx512, avx512vbmi) names a lower one than it really has. */
#ifndef GBT_TEST_SIMD_SWITCH_H
#define GBT_TEST_SIMD_SWITCH_H

/* 0, with a line that names the sets, when the environment asks for what is none of the machine's. */
int simd_from_environment(void);

#endif
