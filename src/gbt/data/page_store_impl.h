/* The parts of a store of pages, for code that implements one. */
#ifndef GBT_DATA_PAGE_STORE_IMPL_H
#define GBT_DATA_PAGE_STORE_IMPL_H

#include "page_store.h"

/* Facts about all pages that are known without reading one. */
typedef struct gbti_page_info {
  gbt_layout layout;
  int64_t n_rows;
  int32_t page_rows; /* rows of every page but the last */
  int32_t n_pages;
  int64_t n_entries;    /* of the sparse lists */
  size_t bytes;         /* of all pages */
  size_t *unseen_beg;   /* n_features + 1 into unseen_row; NULL when there is no such cell */
  uint32_t *unseen_row; /* ascending by feature */
  int64_t *n_unseen;    /* by column: rows whose level the cuts do not know, whatever becomes of them */
  uint32_t **level_id;  /* by feature: n_rows ids (level_ids.h) of a column with more levels than bins, else NULL; NULL:
                           there is no such column */
} gbti_page_info;

/* Copies of the pages that a device keeps, so that they need not be copied again: the head of a struct of its library,
 * which recognises it by `free`. Freed with the store, on the thread that entered the engine or that collects the
 * host's garbage.
 */
typedef struct gbti_resident gbti_resident;
struct gbti_resident {
  void (*free)(gbti_resident *self);
};

/* pin, release and read_ahead may be called by several threads at the same time, each in passes of its own
 * (boost/devices.c); all others only by the thread that entered the engine, outside gbt_parallel, but for runs_read. A
 * store may have threads of its own. Passes may be nested: while a span is pinned, the call may poll, and what the host
 * does then may train on the same data. So most_pinned holds for each pass, and a store must serve several. */
typedef struct gbti_store_ops {
  const char *name;

  /* Makes pages [first, first + n) readable, n <= most_pinned; *pages: n in a row, whose address may be another one
   * each time. May wait, and then polls (gbt_ctx_poll); fails with a message when it cannot read them. */
  gbt_status (*pin)(gbt_page_store *store, gbt_ctx *ctx, int32_t first, int32_t n, const gbt_page **pages,
                    gbt_error *err);

  /* The caller reads these pages no more; called once for every pin. */
  void (*release)(gbt_page_store *store, const gbt_page *pages, int32_t n);

  /* n pages from `first` on are wanted soon: passes go through pages in order. first: 0 or more; there may be fewer
   * pages. Does not wait. NULL: no use. */
  void (*read_ahead)(gbt_page_store *store, int32_t first, int32_t n);

  /* Runs of up to n pages for every thread of the call, read by the threads themselves: *runs, room for them. NULL: the
   * store has no such thing, and pins instead. */
  gbt_status (*runs_open)(gbt_page_store *store, gbt_ctx *ctx, int32_t n, void **runs, gbt_error *err);

  /* Pages [first, first + n) on a thread, valid until its next call or runs_close. No page is asked for twice. */
  gbt_status (*runs_read)(gbt_page_store *store, void *runs, int thread, int32_t first, int32_t n,
                          const gbt_page **pages, gbt_error *err);

  /* Frees the runs; NULL allowed. */
  void (*runs_close)(gbt_page_store *store, void *runs);

  /* Frees all; nothing is pinned. */
  void (*destroy)(gbt_page_store *store);
} gbti_store_ops;

/* Every store's struct begins with this. */
struct gbt_page_store {
  const gbti_store_ops *ops;
  int refs;
  int32_t most_pinned; /* pages that one pass may have pinned at once, 1 or more; n_pages: all */
  uint64_t memory;     /* bytes of pages that may be in memory, where there are runs */
  int32_t most_read;   /* pages of the runs of all threads, where there are runs; a thread has one at least */
  gbt_mem mem;
  gbti_page_info info; /* the store decides who owns what it points to */
  gbti_resident *resident; /* owned; NULL: nothing */
  gbt_page_store *inner;   /* some strips are those of this store (shared); NULL: none */
  const int32_t *shared;   /* n_strips: which one of them it is, -1: none; NULL without `inner` */
};

/* Of the strip that the group is in. */
static inline size_t gbti_row_bytes(const gbt_group *group) { return (size_t)group->stride * (group->wide ? 2 : 1); }

#endif
