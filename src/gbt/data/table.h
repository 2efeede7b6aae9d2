/* The host's columns in its memory: borrowed, never copied, read only.
 *
 * Meaning of values
 *   F64        NaN (NA too) is missing; -Inf and Inf are ordinary extreme numbers
 *   I32        INT32_MIN is missing (R's integer and logical)
 *   I64        INT64_MIN is missing (bit64's integer64); converted to double, exact up to 2^53
 *   CODES      1-based level codes (R's factor); INT32_MIN is missing, and so is 0 unless the host says that it
 *              is an error (no_code_zero); code c is the text levels[c - 1]; a NULL text in levels is a missing
 *              value
 * A sparse column holds its entries only; absent rows are 0, or missing when table->absent_missing is set.
 * Entries are sorted by row, no row twice. */
#ifndef GBT_DATA_TABLE_H
#define GBT_DATA_TABLE_H

#include "../base/ctx.h"
#include "../schema/schema.h"

typedef enum gbt_storage { GBT_F64 = 0, GBT_I32, GBT_I64, GBT_CODES } gbt_storage;

const char *gbt_storage_name(int storage); /* "double", "integer", "integer64", "codes"; see gbt_status_name */

typedef enum gbt_unseen {
  GBT_UNSEEN_PRIOR = 0, /* goes to the side of most training rows */
  GBT_UNSEEN_MISSING,   /* is treated as a missing value */
  GBT_UNSEEN_ERROR      /* is GBT_E_DATA, which names column, row and level */
} gbt_unseen;

const char *gbt_unseen_name(int unseen); /* "prior", "missing", "error" */

typedef struct gbt_column {
  const char *name;
  const char *tag;            /* see gbt_schema_column.tag */
  gbt_feature_type type;      /* CODES: categorical or ordinal; others: numeric */
  gbt_storage storage;
  const void *values;         /* dense: n_rows. sparse: n_entries, or NULL when every entry is 1 (then storage F64) */
  const int32_t *rows;        /* NULL for dense; else 0-based rows of the entries */
  int64_t n_entries;          /* sparse only */
  int32_t n_levels;           /* CODES only */
  const char *const *levels;  /* CODES only */
  uint32_t derive;            /* features in addition to the column itself: bits 1u << gbt_feature_kind; 0: none */
} gbt_column;

typedef struct gbt_table {
  int64_t n_rows;
  int32_t n_cols;
  const gbt_column *cols;
  int absent_missing; /* sparse: absent entries are missing instead of zero */
  int no_code_zero;   /* a code of 0 is an error, not a missing value */
  const gbt_schema *statistics; /* derived features take their numbers from here, by column name and level text; levels
                                   that it does not have get 0. NULL: all are computed from the rows */
  int64_t rows_before;          /* rows before the first one, for messages. Ranks: set by the engine */
} gbt_table;

/* Checks what the rest relies on: n_rows in [0, 2^32 - 2], sorted in-range sparse rows, codes within their levels.
 * GBT_E_DATA names the column (and 1-based row). */
gbt_status gbt_table_check(gbt_ctx *ctx, const gbt_table *table, gbt_error *err) GBT_MUST_CHECK;

/* A table bound to a schema: the columns and level codes of the table are matched to those of the schema. It borrows
 * both: table, columns, values and schema must outlive it and not change. */
typedef struct gbt_binding gbt_binding;

/* Columns are matched by name, in any order; columns that the schema does not have are ignored. GBT_E_DATA: missing
 * columns, which the message lists; a factor instead of a number, or the other way round (logical, integer and double
 * are interchangeable, and a CODES column may be either kind of factor). Free by gbt_binding_free. With
 * GBT_UNSEEN_ERROR an unseen level *that occurs in a row* fails, naming column, level and 1-based row. Checks the table
 * first. */
gbt_status gbt_binding_new(gbt_ctx *ctx, const gbt_table *table, const gbt_schema *schema, gbt_unseen unseen,
                           gbt_binding **out, gbt_error *err) GBT_MUST_CHECK;
void gbt_binding_free(gbt_binding *binding); /* NULL allowed */

/* Adds to n[c], for every column c of the schema that has levels, the number of rows with a level that the schema does
 * not have, however they are treated. n: one for each column of the schema, initialised by the caller. */
gbt_status gbt_binding_unseen(gbt_ctx *ctx, const gbt_binding *binding, int64_t *n, gbt_error *err) GBT_MUST_CHECK;

#endif
