/* A grid over the real line: which cell a number lies in, by its bits. Cells are fine where numbers are many: each half
 * takes magnitudes from 2^a up in equal steps of the bits, that is, so many cells to every power of two.
 *
 *   cells        0 ...            half-1 | half            ... 2 half - 1
 *   magnitudes   large <- steps <- base, 0, base -> steps -> large
 *
 * Magnitudes below `base` share the innermost cells, those beyond the last step the outermost. The cell never falls
 * when the number grows; nothing else is promised, results must not depend on the grid. */
#ifndef GBT_DATA_GRID_H
#define GBT_DATA_GRID_H

#include "../base/bits.h"

typedef struct gbti_grid {
  uint64_t base; /* bits of the magnitude where the steps begin */
  int shift;     /* a step is 2^shift units in the last place */
  uint32_t half; /* cells on each side of 0 */
} gbti_grid;

/* Lays 2^bits cells over the bulk of n numbers (changed: scratch). NaN and zeros among them are passed over. */
void gbti_grid_place(gbti_grid *grid, int bits, double *x, int32_t n);

GBT_FN uint32_t gbti_grid_cell(const gbti_grid *grid, double x) {
  uint64_t u = gbt_bits(x + 0.0); /* -0 + 0 = +0 */
  int64_t over = (int64_t)((u & INT64_MAX) - grid->base);
  uint64_t step = (uint64_t)(over & ~(over >> 63)) >> grid->shift; /* 0 below the base; no branch to guess */
  uint32_t t = step < grid->half ? (uint32_t)step : grid->half - 1;
  return grid->half + (t ^ (uint32_t)((int64_t)u >> 63)); /* negative: half - 1 - t */
}

GBT_FN int gbti_bit_length(uint64_t x) {
  int n = 0;
  while (n < 64 && x >> n != 0) n++;
  return n;
}

#endif
