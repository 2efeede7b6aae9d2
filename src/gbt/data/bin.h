/* Finding the bins of many values of one feature: smallest b with x <= cut[b].
 *
 * A grid cell knows the first cut that can be the answer, and `steps` halvings find the right one from there:
 *
 *   cuts    |  |     |   |    | | |       |        x in cell c: the answer is among the 2^steps cuts from first[c]
 *   cells  .   .   .   .   .   .   .   .   .
 */
#ifndef GBT_DATA_BIN_H
#define GBT_DATA_BIN_H

#include "cuts.h"
#include "grid.h"

#define GBTI_BIN_CELL_BITS 11

typedef struct gbti_binner {
  const gbt_feature_cuts *feat; /* borrowed */
  int steps;                    /* -1: no grid */
  gbti_grid grid;
  uint16_t first[1 << GBTI_BIN_CELL_BITS];
} gbti_binner;

/* n_values: about how many will be asked for; few are not worth a grid. Neither is a grid that does not help. */
void gbti_binner_make(gbti_binner *binner, const gbt_feature_cuts *feat, int64_t n_values);

/* Codes of n values: the bin, or n_bins for NaN. For a categorical feature the values are level indices. */
void gbti_bin_values(const gbti_binner *binner, const double *x, int32_t n, int32_t *code);

#endif
