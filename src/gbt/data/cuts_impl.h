/* The parts of making cuts.
 *
 *   cuts.c              the call as a whole: weights, schema, one task per column, counts of filled rows
 *   cuts_categorical.c  dictionaries of columns with levels
 *   cuts_numeric.c      from a stream of numbers to cuts: few distinct values, or quantiles
 *   cuts_quantile.c     exact quantiles without sorting the column */
#ifndef GBT_DATA_CUTS_IMPL_H
#define GBT_DATA_CUTS_IMPL_H

#include "column.h"
#include "cuts.h"
#include "job.h"
#include "offload.h"
#include "rank.h"

/* A column on its way to cuts. Borrows all. */
typedef struct gbti_source {
  gbti_reader in;
  const uint64_t *weight; /* by row; NULL: every row weighs 1 */
  uint64_t absent_weight; /* of all rows without an entry, when those are zeros */
  gbti_job *job;
  int thread;
} gbti_source;

/* The entries of a source, some at a time: those that are numbers and weigh something. The absent zeros come as one
 * entry, the last, with row GBTI_ABSENT.
 *
 *   gbti_stream s;  gbti_stream_open(&s, source);
 *   while (gbti_stream_next(&s)) ... s.n, s.x, s.row
 *   GBT_TRY(gbti_stream_end(&s, err));                   */
#define GBTI_BLOCK 1024
#define GBTI_ABSENT UINT32_MAX

typedef struct gbti_stream {
  const gbti_source *source;
  int64_t at;
  int done, stopped;
  int32_t n;
  const double *x;          /* n numbers: in buf, or where the column lies */
  uint32_t row[GBTI_BLOCK]; /* with weights only */
  double buf[GBTI_BLOCK];
} gbti_stream;

void gbti_stream_open(gbti_stream *stream, const gbti_source *source);
int gbti_stream_next(gbti_stream *stream);
gbt_status gbti_stream_end(const gbti_stream *stream, gbt_error *err) GBT_MUST_CHECK; /* GBT_CANCELLED when stopped */

static inline uint64_t gbti_row_weight(const gbti_source *source, uint32_t row) {
  return row == GBTI_ABSENT ? source->absent_weight : source->weight[row];
}

/* The cuts of a numeric column: *out is owned by the caller (from mem), *n_bins long. */
gbt_status gbti_numeric_cuts(const gbti_source *source, int32_t max_bin, double **out, int32_t *n_bins,
                             gbt_error *err) GBT_MUST_CHECK;

/* The quantile part: for a column with more than max_bin distinct values. cut: room for max_bin; *n_cuts: those set,
 * the last (infinite) one not included. */
gbt_status gbti_quantile_cuts(const gbti_source *source, int32_t max_bin, double *cut, int32_t *n_cuts,
                              gbt_error *err) GBT_MUST_CHECK;

/* A column with levels. */
typedef struct gbti_levels {
  int32_t n;
  const char **text; /* n, owned; texts of the table: categorical by bin, ordinal by rank */
  int32_t *map;      /* owned: [col->n_levels + 1], see gbt_binding.code_map */
  int32_t has_missing;
} gbti_levels;

gbt_status gbti_levels_build(const gbt_mem *mem, const gbt_table *table, const gbt_column *col, gbti_job *job,
                             int thread, gbti_levels *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_levels_free(const gbt_mem *mem, gbti_levels *levels);

#endif
