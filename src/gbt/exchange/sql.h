/* The writer of SQL: to_sql.c has the query, to_sql_trees.c the expressions of trees and of positions. */
#ifndef GBT_EXCHANGE_SQL_H
#define GBT_EXCHANGE_SQL_H

#include "formats.h"

typedef struct gbti_sql_writer {
  const gbti_outgoing *x;
  gbti_file *out;
  uint8_t *used;  /* by column */
  uint8_t *bins;  /* by column: whether linear leaves read its bins */
  int64_t before; /* steps before those of sums: 1 where leaves read bins, else 0 */
  uint32_t *size; /* nodes of the subtree at each node of a tree */
} gbti_sql_writer;

/* The largest double. */
#define GBTI_SQL_LARGEST "1.7976931348623157e308"

/* NAME and a text, and a number after it if it is not negative. */
void gbti_sql_name(gbti_sql_writer *w, const char *what, int64_t number);

/* A finite number. */
void gbti_sql_number(gbti_sql_writer *w, double x);

/* NAME_cJ of column c, which is J - 1. */
void gbti_sql_column(gbti_sql_writer *w, int32_t c);

/* A line with what tree t adds: "+" and the number of the tree as a comment, and its CASE. */
void gbti_sql_tree(gbti_sql_writer *w, uint64_t t);

/* The position in grid g of a number that is in one of the bins of [low, high], which are two or more. */
void gbti_sql_position(gbti_sql_writer *w, uint32_t g, int32_t low, int32_t high);

#endif
