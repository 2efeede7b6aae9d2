/* The fingerprint of a table. gbt_dataset_fingerprint (dataset.h) makes the fingerprint of a training of it. */
#ifndef GBT_DATA_FINGERPRINT_H
#define GBT_DATA_FINGERPRINT_H

#include "../schema/schema.h"
#include "dataset.h"

/* Of the number of rows of all ranks; of every column's name, type, order of levels (ordinal) and checksum of this
 * rank's rows, which becomes that of all ranks. Never 0. Collective. */
gbt_status gbti_table_fingerprint(gbt_ctx *ctx, const gbt_schema *schema, int64_t n_rows, uint64_t *checksum,
                                  uint64_t *out, gbt_error *err) GBT_MUST_CHECK;

/* A hash of the rows of all ranks in their order: of the table as far as its fingerprint is known, of which rows of it
 * they are, of their fields, and of scores, n_outputs for every row, column by column (NULL: none). Collective, without
 * an agreement. */
gbt_status gbti_rows_fingerprint(gbt_ctx *ctx, const gbt_dataset *ds, const double *score, int32_t n_outputs,
                                 uint64_t *out, gbt_error *err) GBT_MUST_CHECK;

#endif
