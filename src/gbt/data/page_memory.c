/* The store whose pages are all in memory: to pin one is to know where it lies. */
#include "page_impl.h"
#include "page_store_impl.h"

void gbti_page_drop(const gbti_pages *pages, gbt_page *page) {
  for (int32_t s = 0; page->strip != NULL && s < pages->info.layout.n_strips; s++)
    gbt_mem_free(&pages->mem, page->strip[s]);
  gbt_mem_free(&pages->mem, page->strip);
  gbt_mem_free(&pages->mem, page->group);
  gbt_mem_free(&pages->mem, page->sparse_beg);
  gbt_mem_free(&pages->mem, page->sparse_slots);
  page->strip = page->group = NULL;
  page->sparse_beg = page->sparse_slots = NULL;
}

void gbti_pages_free(gbti_pages *pages) {
  gbti_page_info *info = &pages->info;
  for (int32_t p = 0; pages->page != NULL && p < info->n_pages; p++) gbti_page_drop(pages, &pages->page[p]);
  gbt_mem_free(&pages->mem, pages->page);
  gbt_mem_free(&pages->mem, pages->slot_room);
  gbt_mem_free(&pages->mem, info->unseen_beg);
  gbt_mem_free(&pages->mem, info->unseen_row);
  gbt_mem_free(&pages->mem, info->n_unseen);
  for (int32_t f = 0; info->level_id != NULL && f < info->layout.n_features; f++)
    gbt_mem_free(&pages->mem, info->level_id[f]);
  gbt_mem_free(&pages->mem, info->level_id);
  gbti_layout_free(&pages->mem, &info->layout);
  if (pages->resident != NULL) pages->resident->free(pages->resident);
}

typedef struct memory_store {
  gbt_page_store base;
  gbt_page *page; /* n_pages */
} memory_store;

static gbt_status pin(gbt_page_store *store, gbt_ctx *ctx, int32_t first, int32_t n, const gbt_page **pages,
                      gbt_error *err) {
  (void)ctx;
  (void)n;
  (void)err;
  *pages = ((memory_store *)store)->page + first;
  return GBT_OK;
}

static void release(gbt_page_store *store, const gbt_page *pages, int32_t n) {
  (void)store;
  (void)pages;
  (void)n;
}

static void destroy(gbt_page_store *store) {
  gbt_mem mem = store->mem;
  gbti_pages pages = {
      .mem = mem, .info = store->info, .page = ((memory_store *)store)->page, .resident = store->resident};
  gbti_pages_free(&pages);
  gbt_mem_free(&mem, store);
}

static const gbti_store_ops memory_ops = {.name = "memory", .pin = pin, .release = release, .destroy = destroy};

gbt_status gbti_memory_store(gbti_pages *pages, gbt_page_store **out, gbt_error *err) {
  memory_store *store;
  *out = NULL;
  GBT_TRY(gbt_mem_zeros(&pages->mem, 1, sizeof *store, &store, err));
  store->base.ops = &memory_ops;
  store->base.refs = 1;
  store->base.most_pinned = pages->info.n_pages > 0 ? pages->info.n_pages : 1;
  store->base.mem = pages->mem;
  store->base.info = pages->info;
  store->base.resident = pages->resident;
  store->page = pages->page;
  gbt_mem_free(&pages->mem, pages->slot_room);
  *out = &store->base;
  return GBT_OK;
}
