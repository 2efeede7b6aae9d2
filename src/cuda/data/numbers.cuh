/* Labels and weights on the device, in the narrowest form that is exact.
 *
 * They are doubles on the host and to every formula, but most are classes, counts, or numbers that a float holds: one
 * or four bytes then do for a row, of memory and of what every round reads. */
#pragma once

#include "../base/stage.cuh"

extern "C" {
#include "../../gbt/base/bits.h"
}

enum { CU_BYTES = 0, CU_FLOATS, CU_DOUBLES }; /* whole numbers from 0 to 255; what a float holds; all others */

/* Reads like an array of doubles. */
struct cu_numbers {
  const void *at; /* NULL: there are none */
  uint64_t n;
  int32_t form; /* the same for all */

  __device__ __forceinline__ double operator[](uint64_t i) const {
    if (form == CU_BYTES) return (double)((const uint8_t *)at)[i];
    return form == CU_FLOATS ? (double)((const float *)at)[i] : ((const double *)at)[i];
  }
};

/* Such numbers of the device that are doubles already. */
GBT_FN cu_numbers cu_doubles(const double *at, uint64_t n) {
  const cu_numbers x = {at, n, CU_DOUBLES};
  return x;
}

/* n numbers of the host; the stage's copies are under way when it returns. */
gbt_status cu_numbers_send(cu_memory *memory, cu_stage *stage, const double *from, size_t n, cu_numbers *to,
                           gbt_error *err) GBT_MUST_CHECK;
void cu_numbers_drop(cu_memory *memory, cu_numbers *x);

/* n of them, from number `beg` on; borrowed. None: none. */
cu_numbers cu_numbers_part(const cu_numbers &x, uint64_t beg, uint64_t n);
