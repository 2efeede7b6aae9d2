/* Keys of rows: the combination of levels that a row has in some categorical columns, as one number in mixed radix,
 *
 *   key = (.. (level 0 * (n_levels 1 + 1) + level 1) * (n_levels 2 + 1) + ..)      n_levels stands for a missing level
 *
 * of which those that occur are numbered in ascending order. Numbers depend on the set of rows, never on their
 * order. */
#ifndef GBT_ENCODE_KEYS_H
#define GBT_ENCODE_KEYS_H

#include "../base/ctx.h"

/* A column of levels; borrowed. */
typedef struct gbti_key_column {
  const uint32_t *level; /* by row: a level, n_levels when missing, n_levels + 1 when it is none of these (unseen) */
  int64_t n_levels;      /* below 2^32 - 1 */
} gbti_key_column;

typedef struct gbti_keys {
  gbt_mem mem;
  int64_t n;       /* rows */
  int64_t n_keys;  /* keys that are kept */
  uint64_t *key;   /* n_keys, ascending; NULL for one column: key i is level i, the last the missing one */
  uint32_t *id;    /* n: by row, which key it has; n_keys for keys that are not kept, and where a level is unseen */
  uint32_t *count; /* n_keys + 1: rows of each key; the last: rows without */
} gbti_keys;

/* Whether keys of these columns are below 2^63, as gbti_keys_make requires. */
int gbti_keys_fit(const gbti_key_column *col, int32_t n_cols);

/* Keys of n rows (below 2^32), in whatever order the columns have them. One column: all its levels are keys, whatever
 * max_keys and min_count. Several: keys of at least c rows are kept, where c >= min_count is the least number with
 * which there are at most max_keys. Free with gbti_keys_free, also after a failure. */
gbt_status gbti_keys_make(gbt_ctx *ctx, const gbti_key_column *col, int32_t n_cols, int64_t n, int64_t max_keys,
                          uint32_t min_count, gbti_keys *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_keys_free(gbti_keys *keys);

/* Of further rows, with columns of the same n_levels: id[n], keys->n_keys where there is no such key. */
gbt_status gbti_keys_find(gbt_ctx *ctx, const gbti_keys *keys, const gbti_key_column *col, int32_t n_cols, int64_t n,
                          uint32_t *id, gbt_error *err) GBT_MUST_CHECK;

#endif
