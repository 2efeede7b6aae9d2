/* A column as a stream of doubles, whatever its storage: the one place that knows how host values become numbers.
 *
 *   entries   what is stored: every row of a dense column, the entries of a sparse one
 *   rows      every row; absent ones filled in
 *
 * Missing is NaN. Level codes go through code_map (as in gbt_binding). */
#ifndef GBT_DATA_COLUMN_H
#define GBT_DATA_COLUMN_H

#include "table.h"

typedef struct gbti_reader {
  const gbt_column *col;
  const int32_t *code_map; /* CODES only: [n_levels + 1] by code */
  double absent;           /* value of rows without an entry */
  double unseen;           /* value of code_map's -1 */
  int64_t n_entries;
} gbti_reader;

/* Borrows all. */
gbti_reader gbti_reader_make(const gbt_table *table, const gbt_column *col, const int32_t *code_map, double unseen);

/* Entries [beg, beg + n) as doubles: in buf (n of them), or where they lie when no conversion is needed. */
const double *gbti_read_entries(const gbti_reader *in, int64_t beg, int32_t n, double *buf);

/* The same for rows. cursor: see gbt_binding_read. */
const double *gbti_read_rows(const gbti_reader *in, int64_t beg, int32_t n, int64_t *cursor, double *buf);

/* Sparse: the first entry whose row is at or behind `row`. `guess` is tried first. */
int64_t gbti_find_entry(const gbti_reader *in, int64_t row, int64_t guess);

#endif
