/* The parts of making cuts and pages that a device may do: those that read every number of a table. The rest (checks,
 * weights, levels, layout, bundles, sparse lists, unknown levels) is done here in any case, and what comes out is the
 * same to the byte on the CPU and on a device.
 *
 * The engine calls the functions of the device's library directly, on the entering thread and outside gbt_parallel, so
 * they may call it. */
#ifndef GBT_DATA_OFFLOAD_H
#define GBT_DATA_OFFLOAD_H

#include "column.h"
#include "cut_order.h"
#include "cuts.h"
#include "dataset.h"
#include "page_store_impl.h"

/* Pages while they are made, all of them in memory; then a store takes them over. */
typedef struct gbti_pages {
  gbt_mem mem;
  gbti_page_info info;
  gbt_page *page;    /* n_pages; their arrays are NULL until their first row comes */
  size_t *slot_room; /* n_pages: of sparse_slots */
  gbti_resident *resident; /* owned; NULL: nothing */
} gbti_pages;

/* Rows [beg, end) of the pages. */
typedef struct gbti_row_range {
  int64_t beg, end;
} gbti_row_range;

/* A column on its way to cuts. Borrows all. */
typedef struct gbti_cut_input {
  gbti_column_reader in; /* n_entries < 2^32 - 1 */
  const gbt_table *table;
  const uint64_t *weight; /* by row, the same array for all columns; NULL: every row weighs 1 */
  int stays; /* the column's values stay where they are, unchanged, until the pages are made */
  uint64_t absent_weight; /* of all rows without an entry, when those are zeros */
  struct gbti_job *job;   /* of the tasks that read it on the CPU */
  int thread;
} gbti_cut_input;

/* The objects that a device has open for one data set. */
struct gbt_offload {
  /* The data that are worth the way, and how much goes at once; results do not depend on them. */
  int64_t least_entries; /* columns with fewer entries are cut here */
  int64_t least_cells;   /* chunks with fewer cells are binned here; a table in memory is one chunk */
  int64_t chunk;         /* entries of a column, or cells of a page */

  /* The cuts of a column: *cut is owned by the caller (from ctx->mem), *n_bins long, its last one infinite. */
  gbt_status (*cut)(gbt_offload *self, gbt_ctx *ctx, const gbti_cut_input *input, int32_t max_bin, double **cut,
                    int32_t *n_bins, gbt_error *err);

  /* Of the column cut last, whatever its rows weigh: entries with low < x <= high (low NaN: without it; high NaN:
   * none), and missing ones. */
  gbt_status (*count)(gbt_offload *self, double low, double high, int64_t *n_within, int64_t *n_missing,
                      gbt_error *err);

  /* Writes, of every strip that has a feature's own column, all bytes of the rows of a range: the codes of these
   * features, 0 elsewhere. The binding has these rows and no others; the pages have their memory. Called once for each
   * chunk of the table, in order; a table in memory is one chunk. *done: 0 when nothing was done, because it is not
   * worth the way. May leave pages->resident. What cutting needed is given back. */
  gbt_status (*bin)(gbt_offload *self, gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts,
                    gbti_pages *pages, gbti_row_range range, int *done, gbt_error *err);

  void (*close)(gbt_offload *self);
};

/* gbt_cuts_build of a feed, with its heavy part done by `offload`; NULL: here. Collective. */
struct gbti_feed;
gbt_status gbti_cuts_build(gbt_ctx *ctx, struct gbti_feed *feed, const double *weight, int32_t max_bin,
                           gbt_offload *offload, gbt_cuts **out, gbt_error *err) GBT_MUST_CHECK;

/* Rows of one page, side by side, that one task works on. */
typedef struct gbti_row_block {
  int32_t page, beg, n_rows; /* beg: within the page */
} gbti_row_block;

/* The blocks of up to block_rows rows that the rows of a range are cut into. */
int64_t gbti_n_row_blocks(const gbti_pages *pages, gbti_row_range range, int32_t block_rows);
gbti_row_block gbti_row_block_at(const gbti_pages *pages, gbti_row_range range, int32_t block_rows, int64_t block);

#endif
