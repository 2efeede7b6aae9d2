/* The fingerprint of a table, of which gbt_dataset_fingerprint (dataset.h) makes that of a training. */
#ifndef GBT_DATA_FINGERPRINT_H
#define GBT_DATA_FINGERPRINT_H

#include "../base/ctx.h"
#include "../schema/schema.h"

/* Of the number of rows of all ranks; of every column's name, type, order of levels (ordinal) and checksum of this
 * rank's rows, which becomes that of all ranks. Never 0. Collective. */
gbt_status gbti_table_fingerprint(gbt_ctx *ctx, const gbt_schema *schema, int64_t n_rows, uint64_t *checksum,
                                  uint64_t *out, gbt_error *err) GBT_MUST_CHECK;

#endif
