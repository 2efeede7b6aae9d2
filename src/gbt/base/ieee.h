/* Stops the build where the compiler does not compute as IEEE 754 says: models would silently differ from those of
 * other machines. Wider registers round in other places, and flags such as -ffast-math let the compiler reorder sums.
 * configure includes this file to find that out. A compiler does not tell whether it fuses products with sums, so
 * configure requires -ffp-contract=off. */
#ifndef GBT_BASE_IEEE_H
#define GBT_BASE_IEEE_H

#include <float.h>

/* 16, 32: only types shorter than float are meant (processors that have _Float16). */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 && FLT_EVAL_METHOD != 32
#error "this compiler computes doubles with extra precision; on x86 the flags -msse2 -mfpmath=sse prevent that"
#endif

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "flags such as -ffast-math or -ffinite-math-only change results; compile gbt without them"
#endif

#endif
