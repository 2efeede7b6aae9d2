/* Finding the bins of many values of one feature: smallest b with x <= cut[b].
 *
 * First a place to start from, so that the answer is among the 2^steps cuts from there; then `steps` halvings:
 *
 *   cuts    |  |     |   |    | | |       |        grid: the cell of x knows the first cut that it can be
 *   cells  .   .   .   .   .   .   .   .   .       no grid: one comparison decides between front and back
 */
#ifndef GBT_DATA_BIN_H
#define GBT_DATA_BIN_H

#include "cuts.h"
#include "../base/grid.h"

#define GBTI_BIN_CELL_BITS 11

typedef struct gbti_binner {
  const gbt_feature_cuts *feat; /* borrowed */
  int steps, has_grid;
  uint32_t pivot; /* no grid: start[cut[pivot] < x] */
  gbt_grid grid; /* else:    start[cell of x] */
  uint16_t start[1 << GBTI_BIN_CELL_BITS];
} gbti_binner;

/* n_values: about how many will be asked for; few are not worth a grid. */
void gbti_binner_make(gbti_binner *binner, const gbt_feature_cuts *feat, int64_t n_values);

/* Codes of n values: the bin, or n_bins for NaN. For a categorical feature the values are level indices. */
void gbti_bin_values(const gbti_binner *binner, const double *x, int32_t n, int32_t *code);

#endif
