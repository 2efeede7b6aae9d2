/* Passes over the pages of any store, and what is known of them without one. */
#include "page_store_impl.h"

#include "../base/parallel.h"

gbt_page_store *gbt_page_store_ref(gbt_page_store *store) {
  store->refs++;
  return store;
}

void gbt_page_store_unref(gbt_page_store *store) {
  if (store == NULL || --store->refs > 0) return;
  store->ops->destroy(store);
}

const gbt_layout *gbt_pages_layout(const gbt_page_store *store) { return &store->info.layout; }
int64_t gbt_pages_n_rows(const gbt_page_store *store) { return store->info.n_rows; }
int32_t gbt_pages_n_pages(const gbt_page_store *store) { return store->info.n_pages; }
int32_t gbt_pages_page_rows(const gbt_page_store *store) { return store->info.page_rows; }
int gbt_pages_is_sparse(const gbt_page_store *store, int32_t feat) {
  return store->info.layout.place[feat].group < 0 && gbt_layout_uses(&store->info.layout, feat);
}
int64_t gbt_pages_n_entries(const gbt_page_store *store) { return store->info.n_entries; }
size_t gbt_pages_bytes(const gbt_page_store *store) { return store->info.bytes; }
int gbt_pages_stay(const gbt_page_store *store) { return store->most_pinned >= store->info.n_pages; }

const size_t *gbt_pages_unseen(const gbt_page_store *store, const uint32_t **rows) {
  *rows = store->info.unseen_row;
  return store->info.unseen_beg;
}

int gbt_page_unseen(const gbt_page_store *store, int32_t feat, int64_t row) {
  const gbti_page_info *info = &store->info;
  if (info->unseen_beg == NULL) return 0;
  size_t low = info->unseen_beg[feat], end = info->unseen_beg[feat + 1], high = end;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (info->unseen_row[mid] < row)
      low = mid + 1;
    else
      high = mid;
  }
  return low < end && info->unseen_row[low] == row;
}

int64_t gbt_pages_n_unseen(const gbt_page_store *store, int32_t col) { return store->info.n_unseen[col]; }

const uint32_t *gbt_pages_level_ids(const gbt_page_store *store, int32_t feat) {
  return store->info.level_id != NULL ? store->info.level_id[feat] : NULL;
}

static gbt_status run_span(gbt_ctx *ctx, gbt_page_store *store, int32_t first, int32_t n, gbt_pages_fn fn, void *arg,
                           gbt_error *err) {
  const gbti_store_ops *ops = store->ops;
  const gbt_page *page;
  GBT_TRY(ops->pin(store, ctx, first, n, &page, err));
  if (ops->read_ahead != NULL && first + n < store->info.n_pages) ops->read_ahead(store, first + n);
  const gbt_page *last = &page[n - 1];
  gbt_page_span span = {page, n, store->info.page_rows, page->row_beg, last->row_beg + last->n_rows};
  gbt_status status = fn(arg, ctx, &span, err);
  ops->release(store, page, n);
  return status;
}

gbt_status gbt_pages_pass(gbt_ctx *ctx, gbt_page_store *store, gbt_pages_fn fn, void *arg, gbt_error *err) {
  const int32_t n_pages = store->info.n_pages, most = store->most_pinned;
  GBT_ASSERT(most > 0);
  for (int32_t first = 0, n; first < n_pages; first += n) {
    n = n_pages - first < most ? n_pages - first : most;
    if (first > 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    GBT_TRY(run_span(ctx, store, first, n, fn, arg, err));
  }
  return GBT_OK;
}
