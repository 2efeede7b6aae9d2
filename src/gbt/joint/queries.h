/* The rows of a data set by query: the rows whose field GROUP is the same number. Ranking objectives and ranking
 * metrics look at all rows of a query together. Queries are in the order of their numbers, rows of a query in the order
 * of the data set, wherever they are in it. */
#ifndef GBT_JOINT_QUERIES_H
#define GBT_JOINT_QUERIES_H

#include "../base/ctx.h"
#include "../base/rows.h"

typedef struct gbt_queries {
  gbt_mem mem;
  int64_t n_rows;
  uint32_t n;       /* queries */
  uint32_t longest; /* the most rows of a query; 0 where there are no rows */
  uint32_t *start;  /* n + 1: the first place of each query in `row` */
  uint32_t *row;    /* n_rows: numbers of rows, query by query */
} gbt_queries;

/* rows: with the field GROUP, below 2^32 of them, possibly none. Free with gbt_queries_free, also after a failure.
 * Ranks: the queries of this rank; GBT_E_DATA when rows of a query are on two ranks. Collective. */
gbt_status gbt_queries_make(gbt_ctx *ctx, const gbt_rows *rows, gbt_queries *out, gbt_error *err) GBT_MUST_CHECK;
void gbt_queries_free(gbt_queries *queries);

static inline uint32_t gbt_rows_of_query(const gbt_queries *q, uint32_t query) {
  return q->start[query + 1] - q->start[query];
}

/* GBT_E_DATA: the weights of the rows of a query differ. The message has the query's first two rows that do. */
gbt_status gbt_queries_check_weights(const gbt_queries *queries, const gbt_rows *rows, const char *objective,
                                     gbt_error *err) GBT_MUST_CHECK;

#endif
