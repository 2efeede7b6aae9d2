/* The parts of making pages: what is bundled (page_bundle.c), layout (page.c), dense groups (page_build.c), sparse
 * features (page_sparse.c), cells outside zero bins (page_filled.c), unknown levels (page_unseen.c), ids of levels
 * without a bin (page_levels.c). What comes out goes to a store (page_memory.c). page_gather.c copies rows of one. */
#ifndef GBT_DATA_PAGE_IMPL_H
#define GBT_DATA_PAGE_IMPL_H

#include "../base/rows.h"
#include "bin.h"
#include "binding.h"
#include "column.h"
#include "feed.h"
#include "job.h"
#include "offload.h"
#include "page_sink.h"
#include "page_store.h"

/* How pages are to be made; all 0 is always right. */
typedef struct gbti_page_how {
  int own_cuts; /* the cuts were made from this very table: has_missing is that of its columns */
  int unbundled;
  gbt_offload *offload; /* does the heavy part; NULL: here */
  gbt_page_sink *sink;  /* where pages go; NULL: a store in memory */
  uint64_t *checksum;   /* by column of the schema, 0: checksums of the rows are added; NULL: not wanted */
} gbti_page_how;

/* gbt_pages_build of a feed that is bound, with more to choose. Results of training do not depend on that. */
gbt_status gbti_pages_build(gbt_ctx *ctx, gbti_feed *feed, const gbt_cuts *cuts, int32_t page_rows, gbti_page_how how,
                            gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

/* Features whose cells outside their zero bins never share a row of the table. */
typedef struct gbti_bundles {
  int32_t n;       /* bundles */
  int32_t *of;     /* n_features: the feature's bundle, or -1 */
  int8_t *missing; /* n_features: the missing code needs a slot; of candidates */
  int8_t *worth;   /* n: less work and memory than its members as sparse lists and single columns */
} gbti_bundles;

/* Free with gbti_bundles_free, also after a failure. */
gbt_status gbti_bundles_find(gbt_ctx *ctx, gbti_feed *feed, const gbt_cuts *cuts, gbti_page_how how,
                             gbti_bundles *out, gbt_error *err) GBT_MUST_CHECK;
void gbti_bundles_free(const gbt_mem *mem, gbti_bundles *bundles);

/* Codes of a bundle of byte columns, and of any. */
#define GBTI_BYTE_CODES 256
#define GBTI_BUNDLE_CODES 4096

/* In its zero bin nearly everywhere: a list of the other cells takes less room than a column. */
int gbti_nearly_empty(const gbt_cuts *cuts, const gbt_feature_cuts *f);

/* Slots of a feature whose zero bin is left out. */
uint32_t gbti_filled_slots(const gbt_feature_cuts *f, int has_missing);

/* Tables so small that neither sparse lists nor bundles are worth their own path. */
int gbti_stores_zeros(const gbt_cuts *cuts);

/* Fails when the cuts have more bins than histograms can hold. */
gbt_status gbti_layout_check(const gbt_cuts *cuts, gbt_error *err) GBT_MUST_CHECK;

/* bundles: borrowed. Free with gbti_layout_free, also after a failure. */
gbt_status gbti_layout_make(const gbt_mem *mem, const gbt_cuts *cuts, const gbti_bundles *bundles, gbt_layout *out,
                            gbt_error *err) GBT_MUST_CHECK;
void gbti_layout_free(const gbt_mem *mem, gbt_layout *layout);

/* The same where it is known how every feature is stored. All bundles are kept. sparse: by feature, 1 for those that
 * are lists, which have a zero bin and no bundle. */
gbt_status gbti_layout_make_as(const gbt_mem *mem, const gbt_cuts *cuts, const gbti_bundles *bundles,
                               const uint8_t *sparse, gbt_layout *out, gbt_error *err) GBT_MUST_CHECK;

/* gbti_layout_deal appends groups of these features, one column each, none bundled; the arrays have room for them.
 * slot: their first slot; returns the next free one. gbti_layout_strips appends strips of the groups from `first` on;
 * byte groups come first. */
uint64_t gbti_layout_deal(gbt_layout *layout, const gbt_cuts *cuts, const int32_t *feat, int32_t n, uint64_t slot);
void gbti_layout_strips(gbt_layout *layout, int32_t first);

/* The layout of an extended data set (extend.h): that of its base, extended by the features of `cuts` that the base
 * does not have. drop: as there. *shared (owned by the caller): for every strip that strip of the base which it is, -1
 * for a strip of its own; these come last. Free both, also after a failure. */
gbt_status gbti_layout_extend(const gbt_mem *mem, const gbt_layout *base, const gbt_cuts *cuts, const uint8_t *drop,
                              gbt_layout *out, int32_t **shared, gbt_error *err) GBT_MUST_CHECK;

/* A store of pages of that layout. All but the strips of its own are the pages of `inner`, of which it holds a
 * reference; its own are in memory and 0. drop, cuts: as above. after: such a store of the same pages, features and
 * drops, whose layout it shares; NULL: it makes one. */
gbt_status gbti_variant_store(gbt_page_store *inner, const gbt_cuts *cuts, const uint8_t *drop, gbt_page_store *after,
                              gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

/* Bins of a derived feature to the pages of such a store: gbti_extended_put. */
void gbti_variant_put(gbt_page_store *store, int32_t feature, const gbt_rows *rows, int64_t beg, int64_t end,
                      const uint8_t *bin, const uint32_t *at);

/* A feature's cells outside the zero bin in rows [beg, beg + n), in batches. row: relative to beg, ascending; code:
 * NULL unless wanted. Not for categorical features. */
enum { GBTI_BATCH = 1024 };
typedef void (*gbti_filled_fn)(void *arg, const int32_t *row, const int32_t *code, int32_t n);
void gbti_each_filled(const gbt_binding *binding, const gbt_cuts *cuts, int32_t feat, int64_t beg, int32_t n,
                      int with_codes, gbti_filled_fn fn, void *arg);

/* A sparse column whose absent rows are in the feature's zero bin. */
int gbti_absent_is_zero(const gbt_binding *binding, const gbt_cuts *cuts, int32_t feat);

/* Room for where the lists of a page begin. */
gbt_status gbti_sparse_room(gbti_pages *pages, gbt_page *page, gbt_error *err) GBT_MUST_CHECK;

/* The pages of n_rows rows; their memory comes by gbti_page_room. */
gbt_status gbti_list_pages(gbti_pages *pages, gbt_error *err) GBT_MUST_CHECK;

/* Room for the rows of a range, in pages that have none. */
gbt_status gbti_page_room(gbti_pages *pages, gbti_row_range range, gbt_error *err) GBT_MUST_CHECK;

/* Appends the lists of the rows of a range, which the binding has; its first row is row `first`. Ranges come in order;
 * sparse_slots is as long as it must be when the last row of its page has come. */
gbt_status gbti_fill_sparse(gbt_ctx *ctx, const gbt_binding *binding, int64_t first, const gbt_cuts *cuts,
                            gbti_pages *pages, gbti_row_range range, gbt_error *err) GBT_MUST_CHECK;

/* A page is filled: n_entries, and bytes with them. */
void gbti_count_sparse(gbti_pages *pages, const gbt_page *page);

/* Rows of one feature whose level is unknown, ascending. */
typedef struct gbti_unseen_list {
  uint32_t *row; /* owned */
  size_t n, cap;
} gbti_unseen_list;

/* Appends those of the binding's rows, of which the first one is row `beg`. list: by feature. */
gbt_status gbti_list_unseen(gbt_ctx *ctx, const gbt_binding *binding, int64_t beg, gbti_unseen_list *list,
                            gbt_error *err) GBT_MUST_CHECK;
void gbti_free_unseen(const gbt_mem *mem, gbti_unseen_list *list, int32_t n); /* list: NULL allowed */

/* Fills unseen_beg and unseen_row of n features; nothing is done where there is nothing to list. */
gbt_status gbti_join_unseen(const gbti_unseen_list *list, int32_t n, gbti_pages *pages, gbt_error *err) GBT_MUST_CHECK;

/* Room for the level ids of columns with more levels than bins. */
gbt_status gbti_level_ids_room(const gbt_schema *schema, gbti_pages *pages, gbt_error *err) GBT_MUST_CHECK;

/* Those of the binding's rows, of which the first one is row `beg`. */
gbt_status gbti_fill_level_ids(gbt_ctx *ctx, const gbt_binding *binding, int64_t beg, gbti_pages *pages,
                               gbt_error *err) GBT_MUST_CHECK;

/* Frees the arrays of a page. */
void gbti_page_drop(const gbti_pages *pages, gbt_page *page);

/* Frees the pages and what info points to. */
void gbti_pages_free(gbti_pages *pages);

/* A store in memory with copies of rows of `store`, in the order of `rows`, of which n and table_row are used. Layout
 * and counts of unknown levels are those of all rows. store: no variant. */
gbt_status gbti_pages_gather(gbt_ctx *ctx, gbt_page_store *store, const gbt_schema *schema, const gbt_rows *rows,
                             gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

/* A store that keeps these pages in memory; they are its own when it succeeds. */
gbt_status gbti_memory_store(gbti_pages *pages, gbt_page_store **out, gbt_error *err) GBT_MUST_CHECK;

#endif
