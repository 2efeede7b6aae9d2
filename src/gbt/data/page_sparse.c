/* Sparse features: from columns to a list of slots per row.
 *
 *   count   per row, how many of its codes are outside their zero bin      tasks: tiles of rows
 *   sum     counts to where each row's list begins                         tasks: pages
 *   fill    feature after feature, so a row's slots ascend by themselves   tasks: tiles of rows
 *
 * While it fills, sparse_beg[r + 1] is the place of row r's next slot; at the end it is the end of its list, which is
 * what it should be. No memory but the pages' own. */
#include "page_impl.h"

enum { TILE_WORK = 1 << 20, TILE_LEAST = 256, TILE_MOST = 65536 };

typedef struct sparse_job {
  gbti_job job;
  const gbt_binding *binding;
  const gbt_cuts *cuts;
  gbti_pages *pages;
  int32_t tile_rows;
  int fill;
} sparse_job;

/* One feature in rows of one tile. */
typedef struct sparse_tile {
  gbt_page *page;
  uint32_t *beg; /* of the tile's first row, plus 1 */
  const gbt_place *place;
} sparse_tile;

static void count_cells(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  sparse_tile *t = arg;
  (void)code;
  for (int32_t i = 0; i < n; i++) t->beg[row[i]]++;
}

static void place_cells(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  sparse_tile *t = arg;
  for (int32_t i = 0; i < n; i++)
    t->page->sparse_slots[t->beg[row[i]]++] = t->place->slot_beg + gbt_place_slot(t->place, code[i]);
}

static void tile_task(void *arg, int64_t task, int thread) {
  sparse_job *s = arg;
  const gbt_layout *layout = &s->pages->info.layout;
  gbti_tile tile = gbti_tile_at(s->pages, s->tile_rows, task);
  gbt_page *page = &s->pages->page[tile.page];
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    int32_t feat = layout->sparse_feat[i];
    sparse_tile t = {page, page->sparse_beg + 1 + tile.beg, &layout->place[feat]};
    gbti_each_filled(s->binding, s->cuts, feat, page->row_beg + tile.beg, tile.n_rows, s->fill,
                     s->fill ? place_cells : count_cells, &t);
    if (i % 256 == 255 && gbti_job_stopped(&s->job, thread)) return;
  }
}

static void sum_task(void *arg, int64_t task, int thread) {
  (void)thread;
  sparse_job *s = arg;
  gbt_page *page = &s->pages->page[task];
  gbt_error err;
  uint64_t sum = 0;
  for (int32_t r = 1; r <= page->n_rows; r++) {
    uint32_t count = page->sparse_beg[r];
    page->sparse_beg[r] = (uint32_t)sum;
    sum += count;
  }
  gbt_status status = GBT_OK;
  if (sum > UINT32_MAX)
    status = gbt_fail_on(&err, GBT_E_UNSUPPORTED, "page_rows",
                         "pages of %d rows hold too many filled cells of sparse columns; use a smaller `page_rows`",
                         (int)s->pages->info.page_rows);
  if (status == GBT_OK)
    status = gbt_mem_array(&s->pages->mem, (size_t)sum, sizeof *page->sparse_slots, &page->sparse_slots, &err);
  if (status != GBT_OK) gbti_job_fail(&s->job, &err);
}

/* Tiles large enough that finding a column's entries in them is little against reading these. */
static int32_t choose_tile(const gbt_binding *binding, const gbt_layout *layout) {
  double cells = 1.0, n_rows = (double)binding->table->n_rows;
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    const gbt_column *col = gbt_binding_column(binding, layout->sparse_feat[i]);
    cells += col->rows != NULL ? (double)col->n_entries : n_rows;
  }
  double rows = (TILE_WORK + 8.0 * layout->n_sparse) * n_rows / cells;
  return rows < TILE_LEAST ? TILE_LEAST : rows > TILE_MOST ? TILE_MOST : (int32_t)rows;
}

gbt_status gbti_fill_sparse(gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts, gbti_pages *pages,
                            gbt_error *err) {
  sparse_job s = {.binding = binding, .cuts = cuts, .pages = pages};
  s.tile_rows = choose_tile(binding, &pages->info.layout);
  int64_t n_tiles = gbti_n_tiles(pages, s.tile_rows);
  gbti_job_start(&s.job, ctx);
  for (int32_t p = 0; p < pages->info.n_pages; p++) {
    gbt_page *page = &pages->page[p];
    size_t n = (size_t)page->n_rows + 1;
    GBT_TRY(gbt_mem_zeros(&pages->mem, n, sizeof *page->sparse_beg, &page->sparse_beg, err));
    pages->info.bytes += n * sizeof *page->sparse_beg;
  }
  GBT_TRY(gbti_job_run(&s.job, n_tiles, tile_task, &s, err));
  GBT_TRY(gbti_job_run(&s.job, pages->info.n_pages, sum_task, &s, err));
  s.fill = 1;
  GBT_TRY(gbti_job_run(&s.job, n_tiles, tile_task, &s, err));
  for (int32_t p = 0; p < pages->info.n_pages; p++)
    pages->info.n_entries += pages->page[p].sparse_beg[pages->page[p].n_rows];
  pages->info.bytes += (size_t)pages->info.n_entries * sizeof *pages->page->sparse_slots;
  return GBT_OK;
}
