/* Checks that arrays are sorted, for GBT_ASSERT. They read every element. */
#ifndef GBT_BASE_ORDER_H
#define GBT_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "hd.h"

/* Whether each is larger than the one before. */
GBT_FN int gbt_ascend_i32(const int32_t *x, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (x[i - 1] >= x[i]) return 0;
  return 1;
}

GBT_FN int gbt_ascend_u32(const uint32_t *x, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (x[i - 1] >= x[i]) return 0;
  return 1;
}

GBT_FN int gbt_ascend_f64(const double *x, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (!(x[i - 1] < x[i])) return 0;
  return 1;
}

/* Whether none is smaller than the one before. */
GBT_FN int gbt_sorted_u64(const uint64_t *x, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (x[i - 1] > x[i]) return 0;
  return 1;
}

#endif
