/* The pages of a data set, accessed by a few operations. Other folders do not depend on where a page is kept, in
 * memory, in a file or elsewhere.
 *
 * Rows are reached by passes. A pass takes all pages in order, as many at a time as the store can keep pinned, and
 * calls its function for every such span:
 *
 *   pages    0  1  2  3  4  5  6          a store that keeps two pinned
 *   spans   [0  1][2  3][4  5][6]         pin, work on all threads, release; meanwhile the store reads ahead
 *   spans   [0  1  2  3  4  5  6]         a store in memory keeps all of them pinned: one span, no waiting
 *
 * A node's rows ascend, so those of a span are a run of them, and those of a page in turn. Work that adds up integers
 * may be cut by spans in any way. A span's pages are valid until its function returns, and may lie elsewhere in the
 * next pass: no pointer into a page may be kept.
 *
 * A store is built once and then read only, so that data sets may share it. */
#ifndef GBT_DATA_PAGE_STORE_H
#define GBT_DATA_PAGE_STORE_H

#include "page.h"

/* Reference counted; only the thread that enters the engine changes the count. */
typedef struct gbt_page_store gbt_page_store;

/* Changes with the hidden struct: a device's library must have been built with the same one (backend/device.h). */
#define GBT_PAGE_STORE_VERSION 4u

gbt_page_store *gbt_page_store_ref(gbt_page_store *store);
void gbt_page_store_unref(gbt_page_store *store); /* NULL allowed */

/* Facts that need no page. Borrowed, valid as long as the store. */
const gbt_layout *gbt_pages_layout(const gbt_page_store *store);
int64_t gbt_pages_n_rows(const gbt_page_store *store);
int32_t gbt_pages_n_pages(const gbt_page_store *store);
int32_t gbt_pages_page_rows(const gbt_page_store *store); /* rows of every page but the last */
int gbt_pages_is_sparse(const gbt_page_store *store, int32_t feat); /* kept as lists by row, without its zero bin */
int64_t gbt_pages_n_entries(const gbt_page_store *store); /* of the sparse lists of all pages */
size_t gbt_pages_bytes(const gbt_page_store *store);      /* of all pages */
uint64_t gbt_pages_memory(const gbt_page_store *store);   /* bytes that pages in memory may take; 2^64 - 1: any */
int gbt_pages_stay(const gbt_page_store *store);          /* a pass has all of them at once, as they are in memory */

/* Rows whose level is unknown and which go where most rows go, by feature, ascending: those of feature f are
 * rows[beg[f] .. beg[f + 1]). Returns beg, or NULL when there is no such cell. */
const size_t *gbt_pages_unseen(const gbt_page_store *store, const uint32_t **rows);

/* Whether the cell is one of these. */
int gbt_page_unseen(const gbt_page_store *store, int32_t feat, int64_t row);

/* Rows whose level the cuts do not know, of a column of the schema, whatever becomes of them. */
int64_t gbt_pages_n_unseen(const gbt_page_store *store, int32_t col);

/* Level ids of all rows (level_ids.h), of a feature that is a column with more levels than bins; NULL for others. */
const uint32_t *gbt_pages_level_ids(const gbt_page_store *store, int32_t feat);

/* Pages in a row that are pinned: rows [row_beg, row_end) of the data. */
typedef struct gbt_page_span {
  const gbt_page *page; /* n_pages */
  int32_t n_pages;
  int32_t page_rows; /* rows of every page but the last */
  int64_t row_beg, row_end;
} gbt_page_span;

/* The page of a row of the span. */
static inline const gbt_page *gbt_span_page(const gbt_page_span *span, uint32_t row) {
  GBT_ASSERT(row >= span->row_beg && row < span->row_end);
  return &span->page[(row - (uint32_t)span->row_beg) / (uint32_t)span->page_rows];
}

/* Called on the entering thread for every span; works on all threads by gbt_parallel. Its first failure ends the
 * pass. */
typedef gbt_status (*gbt_pages_fn)(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err);

/* fn for all spans, first to last; never called when there are no rows. Fails as fn does, as the store does when it
 * cannot get at a page, and with GBT_CANCELLED. fn may begin another pass, also of the same store. */
gbt_status gbt_pages_pass(gbt_ctx *ctx, gbt_page_store *store, gbt_pages_fn fn, void *arg,
                          gbt_error *err) GBT_MUST_CHECK;

/* The same for only pages [first, end). */
gbt_status gbt_pages_pass_part(gbt_ctx *ctx, gbt_page_store *store, int32_t first, int32_t end, gbt_pages_fn fn,
                               void *arg, gbt_error *err) GBT_MUST_CHECK;

/* The same as a pass for short runs of at most `run` pages, each of which a single thread reads and processes, so that
 * what it has just read is still in its cache. Tasks are numbered in the order of pages, 0 to gbt_pages_n_runs - 1, and
 * come in any order, on all threads (gbt_parallel); they may be skipped once another one's pages could not be read: the
 * pass fails then. run: 1 to gbt_pages_most_run. */
typedef void (*gbt_pages_task)(void *arg, const gbt_page_span *span, int64_t task, int thread);
int64_t gbt_pages_n_runs(const gbt_page_store *store, int32_t run);
gbt_status gbt_pages_each(gbt_ctx *ctx, gbt_page_store *store, int32_t run, gbt_pages_task fn, void *arg,
                          gbt_error *err) GBT_MUST_CHECK;

/* Pages of a run, at most: what the store may have in memory, for so many threads. */
int32_t gbt_pages_most_run(const gbt_page_store *store, int n_threads);

/* Bins a table; the pages are kept in memory. page_rows = 0 means the default (131,072). The binding must have been
 * made against cuts->schema. */
gbt_status gbt_pages_build(gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts, int32_t page_rows,
                           gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

#endif
