/* A table in chunks, so that it need not be in memory as a whole: rows of a file, of a query, or of a function of the
 * host.
 *
 *   rewind   chunk 1: rows 1 .. 1000   chunk 2: rows 1001 .. 2000   ...   NULL     a pass
 *   rewind   chunk 1: rows 1 .. 500    chunk 2: rows 501 .. 1000    ...   NULL     the next pass, cut in any other way
 *
 * The engine reads a source several times: once to count rows and levels, once for each batch of columns to find cuts,
 * once or more to find features that share a column, and once to bin the rows. Every pass must yield the same rows in
 * the same order; checksums of values, level texts and rows are compared with those of the first pass, and a difference
 * is GBT_E_DATA.
 *
 * All chunks have the same columns in the same order: name, tag, type, storage, dense or sparse, what is derived. The
 * levels of a GBT_CATEGORICAL column may differ between chunks, since they are matched by text. Those of a GBT_ORDINAL
 * column must be the same in every chunk, as their order is part of the data. A chunk may have no rows, but must have
 * the columns. The data set is the same, to the byte, as from one table of all rows, for any division into chunks. */
#ifndef GBT_DATA_SOURCE_H
#define GBT_DATA_SOURCE_H

#include "table.h"

typedef struct gbt_source {
  void *state;    /* the host's; an argument of the functions */
  int64_t n_rows; /* of all chunks together (with ranks: of this rank); -1: not known, which with ranks costs one more
                     pass */

  /* Begins a pass: the next chunk is the first one. Called before every pass, the first included. */
  gbt_status (*rewind)(void *state, gbt_ctx *ctx, gbt_error *err);

  /* *chunk: the rows that follow, or NULL after the last chunk. The table and all it points to are borrowed until the
   * next call of rewind or next, or the end of the call that reads the source; only `statistics`, which is taken from
   * the first chunk, is borrowed for the whole of that call. rows_before is ignored. When the first chunk has all of
   * n_rows, it is read where it lies, as a table in memory.
   *
   * Both functions are called on the thread that entered the engine, outside gbt_parallel. If they take long, they
   * must call gbt_ctx_poll. If they fail, they set err, and the call that reads the source ends without calling them
   * again. */
  gbt_status (*next)(void *state, gbt_ctx *ctx, const gbt_table **chunk, gbt_error *err);

  /* Called before a pass that reads only columns cols[0 .. n): in its chunks the other dense columns, except codes, may
   * have any values, so the source need not read them. cols NULL: the following passes read all. cols is borrowed for
   * the call. want NULL: the source always delivers all columns. */
  void (*want)(void *state, const int32_t *cols, int32_t n);
} gbt_source;

#endif
