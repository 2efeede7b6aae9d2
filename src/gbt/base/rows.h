/* Rows as objectives, metrics, backends and ranks see them: how many there are, and the numbers that belong to them
 * (row_fields.def). */
#ifndef GBT_BASE_ROWS_H
#define GBT_BASE_ROWS_H

#include <stddef.h>
#include <stdint.h>

typedef enum gbt_field {
#define GBT_ROW_FIELD(ID, ...) GBT_##ID,
#include "row_fields.def"
  GBT_N_FIELDS
} gbt_field;

typedef enum gbt_field_width { GBT_WIDTH_ROW, GBT_WIDTH_OUTPUT } gbt_field_width;
typedef enum gbt_field_rule { GBT_NUMBERS_FINITE, GBT_NUMBERS_WEIGHT, GBT_NUMBERS_BOUND } gbt_field_rule;

/* A row of row_fields.def; texts are static. */
typedef struct gbt_field_info {
  const char *name;
  gbt_field_width width;
  gbt_field_rule rule;
} gbt_field_info;

const gbt_field_info *gbt_field_about(gbt_field field);
const char *gbt_field_name(int field); /* "label", "weights", "offset"; see gbt_status_name */

/* All pointers are borrowed. A host that makes rows itself, for a metric, fills n and field; the rest may be 0. */
typedef struct gbt_rows {
  int64_t n;
  int64_t before;            /* ranks: how many such rows the ranks before this one have */
  const uint32_t *table_row; /* rows of a mask: which rows of their table they are, ascending; NULL: all of them */
  int64_t table_before;      /* ranks: how many rows the tables of the ranks before have */
  const double *field[GBT_N_FIELDS]; /* n numbers, or n x outputs column by column; NULL: not given */
  int32_t n_outputs[GBT_N_FIELDS];   /* numbers that a row has of a field; 0 or 1 where there is one at most */
} gbt_rows;

/* The numbers of a field for one output: its column, or those that all outputs have. */
static inline const double *gbt_field_of_output(const gbt_rows *rows, gbt_field field, int32_t output) {
  const double *all = rows->field[field];
  return all != NULL && rows->n_outputs[field] > 1 ? all + (int64_t)output * rows->n : all;
}

/* The rows as one output sees them. */
static inline gbt_rows gbt_rows_of_output(const gbt_rows *rows, int32_t output) {
  gbt_rows its = *rows;
  for (int f = 0; f < GBT_N_FIELDS; f++) {
    its.field[f] = gbt_field_of_output(rows, (gbt_field)f, output);
    its.n_outputs[f] = its.field[f] != NULL;
  }
  return its;
}

/* Of a row: the label; the weight, 1 where none are given; the offset of the first output, 0 where none is given; the
 * upper bound of its time, the label where none is given. */
static inline double gbt_label_of(const gbt_rows *rows, int64_t row) { return rows->field[GBT_LABEL][row]; }
static inline double gbt_weight_of(const gbt_rows *rows, int64_t row) {
  return rows->field[GBT_WEIGHT] ? rows->field[GBT_WEIGHT][row] : 1.0;
}
static inline double gbt_offset_of(const gbt_rows *rows, int64_t row) {
  return rows->field[GBT_OFFSET] ? rows->field[GBT_OFFSET][row] : 0.0;
}
static inline double gbt_upper_of(const gbt_rows *rows, int64_t row) {
  return rows->field[GBT_UPPER] ? rows->field[GBT_UPPER][row] : gbt_label_of(rows, row);
}

/* A row's number as hosts count, from 1 and through all tables. */
static inline int64_t gbt_row_number(const gbt_rows *rows, int64_t row) {
  return rows->table_before + (rows->table_row ? rows->table_row[row] : row) + 1;
}

/* The first of the rows from a row of the table on; n where none is. */
static inline int64_t gbt_row_from(const gbt_rows *rows, int64_t table_row) {
  int64_t beg = 0, end = rows->n;
  if (!rows->table_row) return table_row;
  while (beg < end) {
    const int64_t mid = beg + (end - beg) / 2;
    if ((int64_t)rows->table_row[mid] < table_row)
      beg = mid + 1;
    else
      end = mid;
  }
  return beg;
}

#endif
