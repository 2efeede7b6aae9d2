#include "grid.h"

#include "sort.h"

void gbt_grid_lay(gbt_grid *grid, uint32_t half, uint64_t low, uint64_t high) {
  GBT_ASSERT(half >= 1 && half <= (uint32_t)1 << 31 && low <= high && high <= INT64_MAX);
  grid->half = half;
  grid->base = low;
  grid->shift = 0;
  while ((high - low) >> grid->shift >= half) grid->shift++;
}

void gbt_grid_place(gbt_grid *grid, int bits, double *x, int32_t n) {
  enum { MOST = 1024 };
  uint64_t size[MOST], tmp[MOST], low = 0, high = INT64_MAX;
  int32_t m = 0;
  for (int32_t i = 0; i < n && m < MOST; i++) {
    size[m] = gbt_bits(x[i]) & INT64_MAX;
    m += x[i] < 0.0 || x[i] > 0.0;
  }
  gbt_sort_u64(size, NULL, (size_t)m, tmp, NULL);
  if (m > 0) {
    low = size[m / GBT_GRID_TRIM];
    high = size[m - 1 - m / GBT_GRID_TRIM];
  }
  GBT_ASSERT(bits >= 1 && bits <= 32);
  gbt_grid_lay(grid, (uint32_t)1 << (bits - 1), low, high);
}
