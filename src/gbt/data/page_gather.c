/* Rows of the pages of any store, copied to a store in memory.
 *
 *   pages      row 0 1 2 3 | 4 5 6 7 | 8 9 ..       rows: 1 2 5 8
 *   copy           0 1         2       3            the same layout
 *
 * One pass reads all pages, one task a page. Where the list of a row's sparse features begins in the copy is known once
 * the lists before it are, so every task keeps the lists of its rows, and they are joined at the end. */
#include <string.h>

#include "page_impl.h"

enum { COPY_PAGE_ROWS = 131072 };

/* Slots of the sparse features of a page's rows. */
typedef struct slot_list {
  uint32_t *slot; /* owned */
  size_t n, cap;
} slot_list;

typedef struct copy_job {
  gbti_job job;
  const gbt_rows *rows;
  gbti_pages pages; /* of the copy */
  slot_list *list;  /* by task */
} copy_job;

/* Which row of the pages a row is. */
static int64_t page_row(const gbt_rows *rows, int64_t row) {
  return rows->table_row != NULL ? (int64_t)rows->table_row[row] : row;
}

static gbt_status copy_array(const gbt_mem *mem, const void *from, size_t n, size_t size, void *out, gbt_error *err) {
  void *to;
  GBT_TRY(gbt_mem_array(mem, n, size, out, err));
  memcpy(&to, out, sizeof to);
  if (n > 0) memcpy(to, from, n * size);
  return GBT_OK;
}

/* Free *to also after a failure. */
static gbt_status copy_layout(const gbt_mem *mem, const gbt_layout *from, gbt_layout *to, gbt_error *err) {
  const size_t n_features = (size_t)from->n_features, n_bundles = (size_t)from->n_bundles;
  const size_t n_members = (size_t)from->bundle_beg[n_bundles];
  GBT_ASSERT(from->unused == NULL);
  *to = *from;
  to->group = NULL;
  to->place = NULL;
  to->strip_beg = to->sparse_feat = to->bundle_beg = to->bundle_feat = NULL;
  GBT_TRY(copy_array(mem, from->group, (size_t)from->n_groups, sizeof *to->group, &to->group, err));
  GBT_TRY(copy_array(mem, from->place, n_features, sizeof *to->place, &to->place, err));
  GBT_TRY(copy_array(mem, from->strip_beg, (size_t)from->n_strips + 1, sizeof *to->strip_beg, &to->strip_beg, err));
  GBT_TRY(copy_array(mem, from->sparse_feat, (size_t)from->n_sparse, sizeof *to->sparse_feat, &to->sparse_feat, err));
  GBT_TRY(copy_array(mem, from->bundle_feat, n_members, sizeof *to->bundle_feat, &to->bundle_feat, err));
  return copy_array(mem, from->bundle_beg, n_bundles + 1, sizeof *to->bundle_beg, &to->bundle_beg, err);
}

/* ---- pages ---- */

static void copy_codes(const gbt_layout *layout, const gbt_page *from, int32_t at, const gbt_page *to, int32_t row) {
  for (int32_t s = 0; s < layout->n_strips; s++) {
    const size_t bytes = gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
    memcpy((char *)to->strip[s] + (size_t)row * bytes, (const char *)from->strip[s] + (size_t)at * bytes, bytes);
  }
}

/* The row's list goes to the task's; its length to where the row's end will be. */
static gbt_status copy_list(const gbt_mem *mem, const gbt_page *from, int32_t at, gbt_page *to, int32_t row,
                            slot_list *list, gbt_error *err) {
  const uint32_t *slot = from->sparse_slots + from->sparse_beg[at];
  const uint32_t n = from->sparse_beg[at + 1] - from->sparse_beg[at];
  GBT_TRY(gbt_mem_grow(mem, &list->slot, &list->cap, list->n + n, sizeof *slot, err));
  if (n > 0) memcpy(list->slot + list->n, slot, n * sizeof *slot);
  list->n += n;
  to->sparse_beg[row + 1] = n;
  return GBT_OK;
}

static gbt_status copy_page(copy_job *c, const gbt_page *from, slot_list *list, gbt_error *err) {
  const gbt_layout *layout = &c->pages.info.layout;
  const int64_t beg = gbt_row_from(c->rows, from->row_beg);
  const int64_t end = gbt_row_from(c->rows, from->row_beg + from->n_rows);
  for (int64_t i = beg; i < end; i++) {
    const int32_t at = (int32_t)(page_row(c->rows, i) - from->row_beg), row = (int32_t)(i % COPY_PAGE_ROWS);
    gbt_page *to = &c->pages.page[i / COPY_PAGE_ROWS];
    copy_codes(layout, from, at, to, row);
    if (layout->n_sparse > 0) GBT_TRY(copy_list(&c->job.ctx->mem, from, at, to, row, list, err));
  }
  return GBT_OK;
}

/* See gbt_pages_task; runs of one page. */
static void copy_task(void *arg, const gbt_page_span *span, int64_t task, int thread) {
  copy_job *c = arg;
  gbt_error err;
  if (gbti_job_stopped(&c->job, thread)) return;
  if (copy_page(c, span->page, &c->list[task], &err) != GBT_OK) gbti_job_fail(&c->job, &err);
}

/* ---- lists ---- */

/* The lists of a page of the copy: lengths become where they end. */
static gbt_status list_room(gbti_pages *pages, gbt_page *page, gbt_error *err) {
  uint64_t sum = 0;
  for (int32_t r = 1; r <= page->n_rows; r++) {
    sum += page->sparse_beg[r];
    if (sum > UINT32_MAX)
      return gbt_fail(err, GBT_E_UNSUPPORTED, "%d rows hold too many filled cells of sparse columns",
                      (int)page->n_rows);
    page->sparse_beg[r] = (uint32_t)sum;
  }
  return gbt_mem_array(&pages->mem, (size_t)sum, sizeof *page->sparse_slots, &page->sparse_slots, err);
}

static gbt_status join_lists(copy_job *c, gbt_error *err) {
  gbti_pages *pages = &c->pages;
  const slot_list *list = c->list;
  size_t at = 0; /* of *list */
  for (int32_t p = 0; p < pages->info.n_pages; p++) {
    gbt_page *page = &pages->page[p];
    if (page->sparse_beg == NULL) continue;
    GBT_TRY(list_room(pages, page, err));
    for (size_t to = 0, n, need = page->sparse_beg[page->n_rows]; to < need; to += n, at += n) {
      for (; at == list->n; list++) at = 0;
      n = list->n - at < need - to ? list->n - at : need - to;
      memcpy(page->sparse_slots + to, list->slot + at, n * sizeof *list->slot);
    }
    gbti_count_sparse(pages, page);
  }
  return GBT_OK;
}

/* ---- what pages do not have ---- */

/* Ids of levels and rows of unknown ones. */
static gbt_status copy_facts(const gbti_page_info *from, const gbt_schema *schema, const gbt_rows *rows,
                             gbti_pages *pages, gbti_unseen_list *list, gbt_error *err) {
  gbti_page_info *to = &pages->info;
  GBT_TRY(copy_array(&pages->mem, from->n_unseen, (size_t)schema->n_columns, sizeof *to->n_unseen, &to->n_unseen, err));
  GBT_TRY(gbti_level_ids_room(schema, pages, err));
  for (int32_t f = 0; f < schema->n_features; f++) {
    for (int64_t i = 0; to->level_id != NULL && to->level_id[f] != NULL && i < rows->n; i++)
      to->level_id[f][i] = from->level_id[f][page_row(rows, i)];
    const size_t beg = from->unseen_beg != NULL ? from->unseen_beg[f] : 0;
    const size_t end = from->unseen_beg != NULL ? from->unseen_beg[f + 1] : 0;
    for (size_t k = beg; k < end; k++) {
      const int64_t row = gbt_row_from(rows, from->unseen_row[k]);
      if (row >= rows->n || page_row(rows, row) != from->unseen_row[k]) continue;
      GBT_TRY(gbt_mem_grow(&pages->mem, &list[f].row, &list[f].cap, list[f].n + 1, sizeof *list[f].row, err));
      list[f].row[list[f].n++] = (uint32_t)row;
    }
  }
  return gbti_join_unseen(list, schema->n_features, pages, err);
}

static gbt_status copy_all(gbt_ctx *ctx, copy_job *c, gbt_page_store *store, gbt_error *err) {
  gbti_pages *pages = &c->pages;
  GBT_TRY(copy_layout(&pages->mem, &store->info.layout, &pages->info.layout, err));
  GBT_TRY(gbti_list_pages(pages, err));
  GBT_TRY(gbti_page_room(pages, (gbti_row_range){0, pages->info.n_rows}, err));
  gbti_job_start(&c->job, ctx);
  if (pages->info.n_rows > 0) GBT_TRY(gbt_pages_each(ctx, store, 1, copy_task, c, err));
  GBT_TRY(gbti_job_end(&c->job, err));
  return join_lists(c, err);
}

gbt_status gbti_pages_gather(gbt_ctx *ctx, gbt_page_store *store, const gbt_schema *schema, const gbt_rows *rows,
                             gbt_page_store **out, gbt_error *err) {
  gbt_status status = GBT_OK;
  const int64_t n_tasks = gbt_pages_n_runs(store, 1);
  copy_job c = {.rows = rows, .pages = {.mem = store->mem}};
  gbti_unseen_list *list = NULL;
  GBT_ASSERT(store->inner == NULL);
  *out = NULL;
  c.pages.info.n_rows = rows->n;
  c.pages.info.page_rows = COPY_PAGE_ROWS;
  GBT_TRY_GOTO(gbt_mem_zeros(&ctx->mem, (size_t)n_tasks, sizeof *c.list, &c.list, err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&store->mem, (size_t)schema->n_features, sizeof *list, &list, err), done);
  GBT_TRY_GOTO(copy_all(ctx, &c, store, err), done);
  GBT_TRY_GOTO(copy_facts(&store->info, schema, rows, &c.pages, list, err), done);
  GBT_TRY_GOTO(gbti_memory_store(&c.pages, out, err), done);
done:
  for (int64_t t = 0; c.list != NULL && t < n_tasks; t++) gbt_mem_free(&ctx->mem, c.list[t].slot);
  gbt_mem_free(&ctx->mem, c.list);
  gbti_free_unseen(&store->mem, list, schema->n_features);
  if (status != GBT_OK) gbti_pages_free(&c.pages);
  return status;
}
