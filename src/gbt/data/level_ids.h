/* Which level every row of a data set has: what statistics of categorical columns are made of. Ids are those of the
 * data set's schema, so two data sets of the same cuts agree on them. */
#ifndef GBT_DATA_LEVEL_IDS_H
#define GBT_DATA_LEVEL_IDS_H

#include "dataset.h"

/* The ids of a categorical column (a column of the schema, not a feature) with L = schema.col[col].n_levels:
 *
 *   0 .. L - 1   position in schema.col[col].levels
 *   L            missing
 *   L + 1        a level that the schema does not have, where `unseen` was "prior" when ds was made; with "missing"
 *                such rows have L
 *
 * out: one for every row of the table that ds was made of (gbt_pages_n_rows of its pages), owned by the caller. A
 * mask's row i is at out[rows.table_row[i]]. In parallel, the same for any number of threads. Fails with GBT_CANCELLED
 * and as the store does when it cannot get at a page. Ranks: those of this rank's rows, not collective. */
gbt_status gbti_level_ids(gbt_ctx *ctx, const gbt_dataset *ds, int32_t col, uint32_t *out,
                          gbt_error *err) GBT_MUST_CHECK;

#endif
