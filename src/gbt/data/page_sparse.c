/* Sparse features: from columns to a list of slots per row.
 *
 *   count   per row, how many of its codes are outside their zero bin      tasks: row blocks
 *   sum     counts to where each row's list begins                         tasks: pages
 *   fill    feature after feature, so a row's slots ascend by themselves   tasks: row blocks
 *
 * While it fills, sparse_beg[r + 1] is the place of row r's next slot; at the end it is the end of its list, which is
 * what it should be. No memory but the pages' own. */
#include "page_impl.h"

enum { BLOCK_WORK = 1 << 20, BLOCK_LEAST = 256, BLOCK_MOST = 65536 };

typedef struct sparse_job {
  gbti_job job;
  const gbt_binding *binding;
  const gbt_cuts *cuts;
  gbti_pages *pages;
  int32_t block_rows;
  int fill;
} sparse_job;

/* One feature in a row block. */
typedef struct sparse_block {
  gbt_page *page;
  uint32_t *beg; /* of the block's first row, plus 1 */
  const gbt_place *place;
} sparse_block;

static void count_cells(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  sparse_block *b = arg;
  (void)code;
  for (int32_t i = 0; i < n; i++) b->beg[row[i]]++;
}

static void place_cells(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  sparse_block *b = arg;
  for (int32_t i = 0; i < n; i++)
    b->page->sparse_slots[b->beg[row[i]]++] = b->place->slot_beg + gbt_place_slot(b->place, code[i]);
}

static void block_task(void *arg, int64_t task, int thread) {
  sparse_job *s = arg;
  const gbt_layout *layout = &s->pages->info.layout;
  gbti_row_block block = gbti_row_block_at(s->pages, s->block_rows, task);
  gbt_page *page = &s->pages->page[block.page];
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    int32_t feat = layout->sparse_feat[i];
    sparse_block b = {page, page->sparse_beg + 1 + block.beg, &layout->place[feat]};
    gbti_each_filled(s->binding, s->cuts, feat, page->row_beg + block.beg, block.n_rows, s->fill,
                     s->fill ? place_cells : count_cells, &b);
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

/* Blocks large enough that finding a column's entries in them is little against reading these. */
static int32_t choose_block_rows(const gbt_binding *binding, const gbt_layout *layout) {
  double cells = 1.0, n_rows = (double)binding->table->n_rows;
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    const gbt_column *col = gbt_binding_column(binding, layout->sparse_feat[i]);
    cells += col->rows != NULL ? (double)col->n_entries : n_rows;
  }
  double rows = (BLOCK_WORK + 8.0 * layout->n_sparse) * n_rows / cells;
  return rows < BLOCK_LEAST ? BLOCK_LEAST : rows > BLOCK_MOST ? BLOCK_MOST : (int32_t)rows;
}

gbt_status gbti_fill_sparse(gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts, gbti_pages *pages,
                            gbt_error *err) {
  sparse_job s = {.binding = binding, .cuts = cuts, .pages = pages};
  s.block_rows = choose_block_rows(binding, &pages->info.layout);
  int64_t n_blocks = gbti_n_row_blocks(pages, s.block_rows);
  gbti_job_start(&s.job, ctx);
  for (int32_t p = 0; p < pages->info.n_pages; p++) {
    gbt_page *page = &pages->page[p];
    size_t n = (size_t)page->n_rows + 1;
    GBT_TRY(gbt_mem_zeros(&pages->mem, n, sizeof *page->sparse_beg, &page->sparse_beg, err));
    pages->info.bytes += n * sizeof *page->sparse_beg;
  }
  GBT_TRY(gbti_job_run(&s.job, n_blocks, block_task, &s, err));
  GBT_TRY(gbti_job_run(&s.job, pages->info.n_pages, sum_task, &s, err));
  s.fill = 1;
  GBT_TRY(gbti_job_run(&s.job, n_blocks, block_task, &s, err));
  for (int32_t p = 0; p < pages->info.n_pages; p++)
    pages->info.n_entries += pages->page[p].sparse_beg[pages->page[p].n_rows];
  pages->info.bytes += (size_t)pages->info.n_entries * sizeof *pages->page->sparse_slots;
  return GBT_OK;
}
