/* A table on its way to a data set: one in memory, or a source that is read several times.
 *
 *   gbti_feed_open      checks, counts, lists levels: from here on all about the table as a whole is known
 *   gbti_feed_pass      its chunks in order; a table in memory is one chunk
 *   gbti_feed_fetch     some columns as a whole, for what needs all values at once
 *   gbti_feed_bind      the table bound to a schema; then gbti_feed_pass_bound gives chunks that are bound
 *   gbti_feed_finish    what can only be seen at the end
 *
 * `table` is the host's own table when that is in memory. Else it is made here: its columns have names, types, kinds,
 * the number of their entries and all levels that occur, but values only while they are fetched. Codes of fetched
 * categorical columns are those of these levels.
 *
 * A source of several chunks may yield other values in a later pass, by a fault of the host. So no pass relies on what
 * an earlier pass found: every chunk is checked as if it were the first, room is never exceeded, and checksums of the
 * columns are compared where results depend on the values. */
#ifndef GBT_DATA_FEED_H
#define GBT_DATA_FEED_H

#include "../base/comm.h"
#include "../schema/dictionary.h"
#include "column.h"
#include "job.h"
#include "source.h"

/* Rows of every level of a categorical column; codes with one text are one level, that of the lowest of them. */
typedef struct gbti_tally {
  int32_t *twin;           /* n_levels: the first level with the same text; -1: none */
  uint32_t *count, *first; /* n_levels + 1, by code: rows, and the first of them */
  int64_t n_given;         /* rows that have a level */
} gbti_tally;

/* The results of the first pass for a column. */
typedef struct gbti_found {
  gbt_dictionary *levels; /* categorical: those that occur, in the order of their first rows; else NULL */
  gbti_tally tally;       /* of these */
  size_t cap_count, cap_first;
} gbti_found;

typedef struct gbti_feed gbti_feed;
struct gbti_feed {
  gbt_ctx *ctx;
  gbt_table table; /* see above */
  gbt_share share; /* where its rows are among those of all ranks */
  int in_memory;
  gbt_source source;  /* next is NULL when there is none */
  size_t fetch_bytes; /* that fetched columns may take together; a single column may take more */

  const gbt_binding *binding; /* of `table`: gbti_feed_bind */
  gbt_binding *own_binding;   /* the same, or NULL when it is borrowed */
  const gbt_schema *schema;
  gbt_unseen unseen;

  /* chunks only */
  const gbt_table *probed; /* the first chunk, when it has been read and not been used */
  gbt_dictionary *texts;   /* names, tags, levels of ordinal columns */
  gbt_column *col;         /* table.cols; NULL until the first chunk */
  gbti_found *found;       /* table.n_cols */
  uint64_t *checksum;      /* table.n_cols: of the first pass */
  void **fetched;          /* table.n_cols x 2: owned values and rows; NULL: no columns are fetched */
  int counted;             /* table.n_rows was counted in a whole pass, not stated by the source */
};

enum { GBTI_FETCH_BYTES = 256 << 20 };

/* One of table and source is NULL. Collective. Close it in any case. */
gbt_status gbti_feed_open(gbt_ctx *ctx, const gbt_table *table, const gbt_source *source, size_t fetch_bytes,
                          gbti_feed *feed, gbt_error *err) GBT_MUST_CHECK;
void gbti_feed_close(gbti_feed *feed);

/* A table in memory that is bound already: borrows the binding, needs no close. */
gbti_feed gbti_feed_of(gbt_ctx *ctx, const gbt_binding *binding);

/* fn for every chunk, checked and with rows_before set; beg: rows of this feed before it. */
typedef gbt_status (*gbti_chunk_fn)(void *arg, gbti_feed *feed, const gbt_table *chunk, int64_t beg, gbt_error *err);
gbt_status gbti_feed_pass(gbti_feed *feed, gbti_chunk_fn fn, void *arg, gbt_error *err) GBT_MUST_CHECK;

/* feed->binding is made: of a table in memory by gbti_binding_new; else its columns are found and their types checked,
 * and it serves to ask about columns, not to read them. */
gbt_status gbti_feed_bind(gbti_feed *feed, const gbt_schema *schema, gbt_unseen unseen, gbt_error *err) GBT_MUST_CHECK;

/* The same for chunks bound to feed->schema; a binding is freed after its call. After gbti_feed_bind. */
typedef gbt_status (*gbti_bound_fn)(void *arg, gbti_feed *feed, const gbt_binding *chunk, int64_t beg, gbt_error *err);
gbt_status gbti_feed_pass_bound(gbti_feed *feed, gbti_bound_fn fn, void *arg, gbt_error *err) GBT_MUST_CHECK;

/* Fails when a source has more rows although by its number of rows the first chunk is all. */
gbt_status gbti_feed_finish(gbti_feed *feed, gbt_error *err) GBT_MUST_CHECK;

/* Bytes that a column takes while it is fetched; 0 in memory. */
size_t gbti_feed_column_bytes(const gbti_feed *feed, int32_t col);

/* The values of n columns of the table, until they are dropped or others are fetched. In memory: nothing to do. */
gbt_status gbti_feed_fetch(gbti_feed *feed, const int32_t *cols, int32_t n, gbt_error *err) GBT_MUST_CHECK;
void gbti_feed_drop(gbti_feed *feed);

/* ---- parts ---- */

/* `rows` of a sparse column points here while they are not there. */
extern const int32_t gbti_no_rows[1];

/* feed_pass.c: a pass begins (unless its first chunk has been read already), its next chunk, NULL at the end; and the
 * rows of a chunk that comes after `beg` others are refused if they are too many, before anything is read of it. */
gbt_status gbti_feed_begin_pass(gbti_feed *feed, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbti_feed_next_chunk(gbti_feed *feed, const gbt_table **chunk, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbti_feed_check_rows(const gbti_feed *feed, int64_t beg, int64_t n, gbt_error *err) GBT_MUST_CHECK;
/* The error: n rows are not as many as there should be. than: "" or "at least ". */
gbt_status gbti_feed_wrong_rows(const gbti_feed *feed, int64_t n, const char *than, gbt_error *err);

/* The first pass: feed_survey.c. */
gbt_status gbti_feed_survey(gbti_feed *feed, gbt_error *err) GBT_MUST_CHECK;

/* feed_columns.c: the chunk has the columns of the first one, which it becomes when there was none. number: of the
 * chunk, from 1. */
gbt_status gbti_feed_match(gbti_feed *feed, const gbt_table *chunk, int64_t number, gbt_error *err) GBT_MUST_CHECK;

/* Adds the values of a chunk's columns cols[0 .. n), NULL: the first n, to sum[0 .. n). The sum over all chunks depends
 * on the rows, not on how they are cut or stored; that over all ranks on nothing else either. */
gbt_status gbti_checksum_add(gbti_feed *feed, const gbt_table *chunk, int64_t beg, const int32_t *cols, int32_t n,
                             uint64_t *sum, gbt_error *err) GBT_MUST_CHECK;

/* Fails unless the sums of these columns are those of the first pass. */
gbt_status gbti_checksum_match(const gbti_feed *feed, const int32_t *cols, int32_t n, const uint64_t *sum,
                               gbt_error *err) GBT_MUST_CHECK;

#endif
