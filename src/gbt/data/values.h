/* Values that stand for bins: all values of a bin go to the same side at every split at the cuts, so any value of the
 * bin has the predictions of the rows that are in it.
 *
 *   number      bin b, of x with cut[b-1] < x <= cut[b]: its upper cut, Inf in the last one
 *   ordinal     the highest level of the bin
 *   category    the level itself; one that the cuts do not know is a level of its own, or missing, as ds was made
 *
 * A model may read them when the numbers it splits by are cuts: gbt_dataset_has_cut. */
#ifndef GBT_DATA_VALUES_H
#define GBT_DATA_VALUES_H

#include "dataset.h"

/* Rows [row_beg, row_beg + table->n_rows) of the data set; borrowed for the call. Called on the entering thread. */
typedef gbt_status (*gbt_values_fn)(void *arg, gbt_ctx *ctx, const gbt_table *table, int64_t row_beg, gbt_error *err);

/* All rows in order, some thousands at a time, in one pass over the pages. The tables have those columns of ds that
 * `reader` has, too, by name; `reader` is borrowed. GBT_E_UNSUPPORTED of a mask. Fails as fn does and as the store does
 * when it cannot get at a page, and with GBT_CANCELLED. Ranks: the rows of this rank, not collective. */
gbt_status gbt_dataset_values(gbt_ctx *ctx, const gbt_dataset *ds, const gbt_schema *reader, gbt_values_fn fn,
                              void *arg, gbt_error *err) GBT_MUST_CHECK;

/* Whether the bins of a column (of the schema of ds) say on which side of the threshold a value is: x <= threshold. A
 * column that is not split by numbers says it always. */
int gbt_dataset_has_cut(const gbt_dataset *ds, int32_t col, double threshold);

#endif
