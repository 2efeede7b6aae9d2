#include "grid.h"

#include "../base/sort.h"

/* The least and the largest hundredth or so of the magnitudes are left out: a few far numbers must not make the grid
 * coarse for all others. */
void gbti_grid_place(gbti_grid *grid, int bits, double *x, int32_t n) {
  enum { MOST = 1024, TRIM = 128 };
  uint64_t size[MOST], tmp[MOST], low = 0, high = INT64_MAX;
  int32_t m = 0;
  for (int32_t i = 0; i < n && m < MOST; i++) {
    size[m] = gbt_bits(x[i]) & INT64_MAX;
    m += x[i] < 0.0 || x[i] > 0.0;
  }
  gbt_sort_u64(size, NULL, (size_t)m, tmp, NULL);
  if (m > 0) {
    low = size[m / TRIM];
    high = size[m - 1 - m / TRIM];
  }
  GBT_ASSERT(bits >= 1 && bits <= 32 && low <= high);
  int length = gbti_bit_length(high - low);
  grid->half = (uint32_t)1 << (bits - 1);
  grid->base = low;
  grid->shift = length > bits - 1 ? length - (bits - 1) : 0;
}
