/* Bound tables inside the engine: what a binding is, and how the rows of features are read through it. */
#ifndef GBT_DATA_BINDING_H
#define GBT_DATA_BINDING_H

#include "table.h"

/* A table bound to a schema: the position of every column of the schema in the table, and for each with levels a map
 * from the table's codes to the schema's levels by text. Features are read through the schema's feature map. */
struct gbt_binding {
  gbt_mem mem;
  const gbt_table *table;   /* borrowed */
  const gbt_schema *schema; /* borrowed */
  int32_t *col;             /* n_columns: index into table->cols */
  int32_t **code_map;       /* n_columns: NULL, or [n_levels + 1]: by code; level index, -1 unseen, -2 missing */
  gbt_unseen unseen;
};

/* Reads rows [beg, beg + n) of `n_feats` features into out, row by row: out[r * stride + k] is feature feats[k] of row
 * beg + r. Numbers as doubles; missing = NaN; levels as their schema index, NaN from GBT_MAX_LEVELS on, unseen = -1 (or
 * NaN, by `unseen`). An unseen level of an ordinal feature has no rank to compare, so it is NaN in any case. Level
 * counts as their number for the row's level; of an unseen level no training row is counted: 0 (or NaN, by `unseen`).
 * Features with a table as the bin of the row's key; an unseen level makes it unknown (or is a missing one, by
 * `unseen`).
 * cursor: n_feats int64, one set per reading thread; zero it before the first call and read ascending rows, so that
 * sparse columns need no search (any order is right, only slower). */
void gbt_binding_read(const gbt_binding *binding, int64_t beg, int32_t n, const int32_t *feats, int32_t n_feats,
                      int64_t *cursor, double *out, int64_t stride);

/* The same for one feature, which is not copied when it lies in memory as it is read: then the host's own numbers come
 * back, else buf[0 .. n). */
const double *gbt_binding_values(const gbt_binding *binding, int64_t beg, int32_t n, int32_t feat, int64_t *cursor,
                                 double *buf);

enum { GBTI_CODE_UNSEEN = -1, GBTI_CODE_MISSING = -2 };

/* The levels of rows [beg, beg + n) of a categorical column of the schema, as keys are made of them: the level's
 * position, n_levels of a missing value, GBT_NO_LEVEL of an unseen one (n_levels, by `unseen`). cursor: one number; see
 * gbt_binding_read. */
void gbti_read_levels(const gbt_binding *binding, int32_t c, int64_t beg, int32_t n, int64_t *cursor, uint32_t *out);

/* gbt_binding_new for a table that gbt_table_check has passed. */
gbt_status gbti_binding_new(gbt_ctx *ctx, const gbt_table *table, const gbt_schema *schema, gbt_unseen unseen,
                            gbt_binding **out, gbt_error *err) GBT_MUST_CHECK;

/* The map of a column's codes to positions in `levels`; see gbt_binding.code_map. Owned by the caller. */
gbt_status gbti_code_map(gbt_ctx *ctx, int thread, const gbt_column *col, const char *const *levels, int32_t n_levels,
                         int32_t **out, gbt_error *err) GBT_MUST_CHECK;

#endif
