/* The parts of making pages: layout (page.c), dense groups (page_build.c), sparse features (page_sparse.c), unknown
 * levels (page_unseen.c). */
#ifndef GBT_DATA_PAGE_IMPL_H
#define GBT_DATA_PAGE_IMPL_H

#include "bin.h"
#include "binding.h"
#include "page.h"

/* A pure function of the cuts. Free with gbti_layout_free, also after a failure. */
gbt_status gbti_layout_make(const gbt_mem *mem, const gbt_cuts *cuts, gbt_layout *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_layout_free(const gbt_mem *mem, gbt_layout *layout);

static inline size_t gbti_row_bytes(const gbt_group *group) { return (size_t)group->width * (group->wide ? 2 : 1); }

/* Rows are worked on in tiles: runs of rows of one page. */
typedef struct gbti_tile {
  int32_t page, beg, n_rows; /* beg: within the page */
} gbti_tile;

/* Tiles of up to tile_rows rows a page. */
int64_t gbti_n_tiles(const gbt_page_store *store, int32_t tile_rows);
gbti_tile gbti_tile_at(const gbt_page_store *store, int32_t tile_rows, int64_t tile);

/* Fills sparse_beg and sparse_slots of all pages; n_rows of the pages are set. */
gbt_status gbti_fill_sparse(gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts, gbt_page_store *store,
                            gbt_error *err) GBT_MUST_CHECK;

/* Fills unseen_beg and unseen_row; nothing is done where there is nothing to list. */
gbt_status gbti_list_unseen(gbt_ctx *ctx, const gbt_binding *binding, gbt_page_store *store,
                            gbt_error *err) GBT_MUST_CHECK;

#endif
