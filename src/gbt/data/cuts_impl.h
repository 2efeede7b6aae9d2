/* The parts of making cuts.
 *
 *   cuts.c              the call as a whole: weights, schema, one task per column, counts of filled rows
 *   cuts_categorical.c  dictionaries of columns with levels
 *   cuts_stream.c       the numbers of a column, block by block
 *   cuts_numeric.c      from a stream of numbers to cuts: few distinct values, or quantiles
 *   cuts_quantile.c     exact quantiles without sorting the column
 *   cuts_ranks.c        columns whose rows are shared out among ranks
 *   levels_ranks.c      dictionaries of such columns
 *   cuts_refine.c       exact quantiles of numbers that lie on several ranks */
#ifndef GBT_DATA_CUTS_IMPL_H
#define GBT_DATA_CUTS_IMPL_H

#include "../base/comm.h"
#include "column.h"
#include "cut_order.h"
#include "cuts.h"
#include "feed.h"
#include "job.h"
#include "offload.h"

/* The entries of a cut input, some at a time: those that are numbers and weigh something. The absent zeros come as one
 * entry, the last, with row GBTI_ABSENT.
 *
 *   gbti_stream s;  gbti_stream_open(&s, input);
 *   while (gbti_stream_next(&s)) ... s.n, s.x, s.row
 *   GBT_TRY(gbti_stream_end(&s, err));                   */
#define GBTI_BLOCK 1024
#define GBTI_ABSENT UINT32_MAX

typedef struct gbti_stream {
  const gbti_cut_input *input;
  int64_t at;
  int done, stopped;
  int32_t n;
  const double *x;          /* n numbers: in buf, or where the column lies */
  uint32_t row[GBTI_BLOCK]; /* with weights only */
  double buf[GBTI_BLOCK];
} gbti_stream;

void gbti_stream_open(gbti_stream *stream, const gbti_cut_input *input);
int gbti_stream_next(gbti_stream *stream);
gbt_status gbti_stream_end(const gbti_stream *stream, gbt_error *err) GBT_MUST_CHECK; /* GBT_CANCELLED when stopped */

static inline uint64_t gbti_row_weight(const gbti_cut_input *input, uint32_t row) {
  return row == GBTI_ABSENT ? input->absent_weight : input->weight[row];
}

/* The cuts of a numeric column: *out is owned by the caller (from mem), *n_bins long. exact: where it has more than
 * max_bin values, *n_bins is 0 and *out NULL. */
gbt_status gbti_numeric_cuts(const gbti_cut_input *input, int32_t max_bin, int exact, double **out, int32_t *n_bins,
                             gbt_error *err) GBT_MUST_CHECK;

/* The quantile part: for a column with more than max_bin distinct values. cut: room for max_bin; *n_cuts: those set,
 * the last (infinite) one not included. */
gbt_status gbti_quantile_cuts(const gbti_cut_input *input, int32_t max_bin, double *cut, int32_t *n_cuts,
                              gbt_error *err) GBT_MUST_CHECK;

/* Sorts n keys (and rows) of an input; tmp, row_tmp: as long. */
gbt_status gbti_sort_keys(const gbti_cut_input *input, uint64_t *key, uint32_t *row, uint64_t n, uint64_t *tmp,
                          uint32_t *row_tmp, gbt_error *err) GBT_MUST_CHECK;

/* ---- ranks ---- */

/* Distinct values of a column that weigh something, ascending, with the weights of all up to each. */
typedef struct gbti_runs {
  uint64_t *key, *upto; /* n, owned */
  int64_t n;
} gbti_runs;

/* Those of this rank's rows. */
gbt_status gbti_runs_make(const gbti_cut_input *input, gbti_runs *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_runs_free(const gbt_mem *mem, gbti_runs *runs);

/* Cuts of n columns as gbti_numeric_cuts makes them of the rows of all ranks, of which the runs are this rank's: cut[i]
 * is owned by the caller (from the memory of the job), n_bins[i] long; NULL and 0 as there. They are found by sums over
 * the ranks (cuts_refine.c). Memory beside the runs: gbti_refine_bytes() a column. Collective. */
gbt_status gbti_runs_cut(gbti_job *job, const gbti_runs *runs, int32_t n, int32_t max_bin, int exact, double **cut,
                         int32_t *n_bins, gbt_error *err) GBT_MUST_CHECK;
size_t gbti_refine_bytes(int32_t max_bin);

/* Fails unless all ranks have the same columns. *weighted: some rank has weights; all with rows must. Collective. */
gbt_status gbti_ranks_match(gbt_ctx *ctx, const gbt_table *table, const double *weight, int32_t max_bin,
                            int *weighted, gbt_error *err) GBT_MUST_CHECK;

/* A column with levels. */
typedef struct gbti_levels {
  int32_t n;
  const char **text; /* n, owned; texts of the table: categorical by frequency, ordinal in order */
  int32_t *map;      /* owned: [col->n_levels + 1], see gbt_binding.code_map */
  double *count;     /* n, owned; categorical: rows that have the level */
  int32_t has_missing; /* rows without a level exist; categorical */
  char *block; /* owned: texts of other ranks, or NULL */
} gbti_levels;

/* tally: of a categorical column when it is known already; NULL: made here. */
gbt_status gbti_levels_build(const gbt_mem *mem, const gbt_table *table, const gbt_column *col,
                             const gbti_tally *tally, gbti_job *job, int thread, gbti_levels *out,
                             gbt_error *err) GBT_MUST_CHECK;
void gbti_levels_free(const gbt_mem *mem, gbti_levels *levels);

/* Fails unless all ranks have the same counts of the columns whose levels are counted. Collective. */
gbt_status gbti_counts_match(gbt_ctx *ctx, const gbt_table *table, const gbti_levels *levels,
                             gbt_error *err) GBT_MUST_CHECK;

/* The counts of a categorical column as another schema has them (gbt_table.statistics). */
gbt_status gbti_levels_recount(gbt_ctx *ctx, const gbt_column *col, const gbt_schema *schema, gbti_levels *levels,
                               gbt_error *err) GBT_MUST_CHECK;

/* Rows by level of a categorical column of a table in memory, on a thread of the job; freed by gbti_tally_free. */
gbt_status gbti_tally_make(const gbt_mem *mem, const gbt_table *table, const gbt_column *col, gbti_job *job,
                           int thread, gbti_tally *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_tally_free(const gbt_mem *mem, gbti_tally *tally);

/* Levels in the order of bins: count[i], first[i] of level i; those of count 0 are left out. order: room for n.
 * *n_found: how many there are. */
gbt_status gbti_order_levels(const gbt_mem *mem, int32_t n, const uint32_t *count, const uint32_t *first,
                             uint32_t *order, int32_t *n_found, gbt_error *err) GBT_MUST_CHECK;

/* The levels of a categorical column over all ranks; no map is made. tally: see gbti_levels_build. A rank sends its
 * levels once and its part of those of all ranks once, texts and 16 bytes each. Collective. */
gbt_status gbti_levels_gather(gbt_ctx *ctx, const gbt_table *table, const gbt_column *col, const gbti_tally *tally,
                              gbti_job *job, gbt_share share, gbti_levels *out, gbt_error *err) GBT_MUST_CHECK;

#endif
