/* A grid over the real line: which cell a number lies in, by its bits. Cells are fine where numbers are many: each half
 * takes magnitudes from 2^a up in equal steps of the bits, that is, so many cells to every power of two.
 *
 *   cells        0 ...            half-1 | half            ... 2 half - 1
 *   magnitudes   large <- steps <- base, 0, base -> steps -> large
 *
 * Magnitudes below `base` share the innermost cells, those beyond the last step the outermost. The cell never falls
 * when the number grows; nothing else is promised, results must not depend on the grid. */
#ifndef GBT_BASE_GRID_H
#define GBT_BASE_GRID_H

#include "bits.h"

/* The least and the largest of so many magnitudes are left out when a grid is laid: a few far numbers must not make it
 * coarse for all others. */
enum { GBT_GRID_TRIM = 128 };

typedef struct gbt_grid {
  uint64_t base; /* bits of the magnitude where the steps begin */
  int32_t shift; /* a step is 2^shift units in the last place */
  uint32_t half; /* cells on each side of 0 */
} gbt_grid;

/* Lays `half` cells on each side of 0, fine for magnitudes with bits in [low, high]. */
void gbt_grid_lay(gbt_grid *grid, uint32_t half, uint64_t low, uint64_t high);

/* Lays 2^bits cells over the bulk of n numbers (changed: scratch). NaN and zeros among them are passed over. */
void gbt_grid_place(gbt_grid *grid, int bits, double *x, int32_t n);

/* Which step the magnitude with these bits lies in, counted from 0: below `half`, and never less for a larger one. */
GBT_FN uint32_t gbt_grid_step(const gbt_grid *grid, uint64_t size) {
  int64_t over = (int64_t)(size - grid->base);
  uint64_t step = (uint64_t)(over & ~(over >> 63)) >> grid->shift; /* 0 below the base; no branch to guess */
  return step < grid->half ? (uint32_t)step : grid->half - 1;
}

GBT_FN uint32_t gbt_grid_cell(const gbt_grid *grid, double x) {
  uint64_t u = gbt_bits(x + 0.0); /* -0 + 0 = +0 */
  uint32_t t = gbt_grid_step(grid, u & INT64_MAX);
  return grid->half + (t ^ (uint32_t)((int64_t)u >> 63)); /* negative: half - 1 - t */
}

#endif
