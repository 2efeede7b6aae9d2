/* A column as a stream of doubles, for any storage: the one place that converts host values to numbers.
 *
 *   entries   what is stored: every row of a dense column, the entries of a sparse one
 *   rows      every row; absent ones filled in
 *
 * Missing is NaN. Level codes go through code_map (as in gbt_binding); statistics of a column with levels read as their
 * number for the level. */
#ifndef GBT_DATA_COLUMN_H
#define GBT_DATA_COLUMN_H

#include "../base/bits.h"
#include "binding.h"

typedef struct gbti_column_reader {
  const gbt_column *col;
  const int32_t *code_map; /* CODES only: [n_levels + 1] by code */
  const double *value;     /* statistics only: by level, what it reads as; NULL: its position */
  double absent;           /* value of rows without an entry */
  double unseen;           /* value of code_map's -1 */
  int32_t n_bins;          /* levels from this one on have no bin and read as missing; 0: all are as they are */
  int64_t n_entries;
} gbti_column_reader;

/* The type of a stored value; device code reads columns by the same text. */
GBT_FN double gbti_missing(void) { return gbt_from_bits(0x7ff8000000000000u); }
GBT_FN double gbti_of_i32(int32_t v) { return v == INT32_MIN ? gbti_missing() : (double)v; }
GBT_FN double gbti_of_i64(int64_t v) { return v == INT64_MIN ? gbti_missing() : (double)v; }

/* Borrows all. Unseen levels read as missing. */
gbti_column_reader gbti_column_reader_make(const gbt_table *table, const gbt_column *col, const int32_t *code_map,
                                           const double *value);

/* Entries [beg, beg + n) as doubles: in buf (n of them), or where they lie when no conversion is needed. */
const double *gbti_read_entries(const gbti_column_reader *in, int64_t beg, int32_t n, double *buf);

/* The same for rows. cursor: see gbt_binding_read. */
const double *gbti_read_rows(const gbti_column_reader *in, int64_t beg, int32_t n, int64_t *cursor, double *buf);

/* Sparse: the first entry whose row is `row` or later. `guess` is tried first. */
int64_t gbti_find_entry(const gbti_column_reader *in, int64_t row, int64_t guess);

/* The value of level code c, c = 0 .. col->n_levels: a table for callers that read the codes themselves. */
void gbti_code_values(const gbti_column_reader *in, double *out);

/* The table's column that a feature is made of, and the map of its codes. */
static inline const gbt_column *gbt_binding_column(const gbt_binding *binding, int32_t feat) {
  return &binding->table->cols[binding->col[binding->schema->feat[feat].col]];
}
static inline const int32_t *gbt_binding_codes(const gbt_binding *binding, int32_t feat) {
  return binding->code_map[binding->schema->feat[feat].col];
}

/* Reads one feature of a binding, not one that is read from a table. */
gbti_column_reader gbti_column_reader_of(const gbt_binding *binding, int32_t feat);

/* The same for one that is: rows [beg, beg + n) to out. */
void gbti_read_table(const gbt_binding *binding, int64_t beg, int32_t n, int32_t feat, int64_t *cursor, double *out);

#endif
