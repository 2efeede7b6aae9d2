/* What the rest of data/ needs of bindings. */
#ifndef GBT_DATA_BINDING_H
#define GBT_DATA_BINDING_H

#include "column.h"
#include "job.h"

enum { GBTI_CODE_UNSEEN = -1, GBTI_CODE_MISSING = -2 };

/* gbt_binding_new for a table that gbt_table_check has passed. */
gbt_status gbti_binding_new(gbt_ctx *ctx, const gbt_table *table, const gbt_schema *schema, gbt_unseen unseen,
                            gbt_binding **out, gbt_error *err) GBT_MUST_CHECK;

/* The map of a column's codes to positions in `levels`; see gbt_binding.code_map. Owned by the caller. */
gbt_status gbti_code_map(gbt_ctx *ctx, int thread, const gbt_column *col, const char *const *levels, int32_t n_levels,
                         int32_t **out, gbt_error *err) GBT_MUST_CHECK;

#endif
