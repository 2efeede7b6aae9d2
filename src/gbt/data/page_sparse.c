/* Sparse features: from columns to a list of slots per row.
 *
 *   count   per row, how many of its codes are outside their zero bin      tasks: row blocks
 *   sum     counts to where each row's list begins                         tasks: pages
 *   fill    feature after feature, so a row's slots ascend by themselves   tasks: row blocks
 *
 * While it fills, sparse_beg[r + 1] is the place of row r's next slot; at the end it is the end of its list, which is
 * what it should be. No memory but the pages' own. */
#include <string.h>

#include "page_impl.h"

enum { BLOCK_WORK = 1 << 20, BLOCK_LEAST = 256, BLOCK_MOST = 65536 };

typedef struct sparse_job {
  gbti_job job;
  const gbt_binding *binding;
  const gbt_cuts *cuts;
  gbti_pages *pages;
  gbti_row_range range; /* the rows in work */
  int64_t first;        /* row of the binding's first one */
  int64_t first_page;
  int32_t block_rows;
  int fill;
} sparse_job;

/* One feature in a row block. */
typedef struct sparse_block {
  gbt_page *page;
  uint32_t *beg; /* of the block's first row, plus 1 */
  const gbt_place *place;
  uint32_t first; /* slot of the feature, in lists */
} sparse_block;

static void count_cells(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  sparse_block *b = arg;
  (void)code;
  for (int32_t i = 0; i < n; i++) b->beg[row[i]]++;
}

static void place_cells(void *arg, const int32_t *row, const int32_t *code, int32_t n) {
  sparse_block *b = arg;
  for (int32_t i = 0; i < n; i++)
    b->page->sparse_slots[b->beg[row[i]]++] = b->first + gbt_place_slot(b->place, code[i]);
}

static void block_task(void *arg, int64_t task, int thread) {
  sparse_job *s = arg;
  const gbt_layout *layout = &s->pages->info.layout;
  gbti_row_block block = gbti_row_block_at(s->pages, s->range, s->block_rows, task);
  gbt_page *page = &s->pages->page[block.page];
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    int32_t feat = layout->sparse_feat[i];
    const gbt_place *place = &layout->place[feat];
    sparse_block b = {page, page->sparse_beg + 1 + block.beg, place, place->slot_beg - layout->sparse_slot};
    gbti_each_filled(s->binding, s->cuts, feat, page->row_beg + block.beg - s->first, block.n_rows, s->fill,
                     s->fill ? place_cells : count_cells, &b);
    if (i % 256 == 255 && gbti_job_stopped(&s->job, thread)) return;
  }
}

/* The rows of a page that are in work. */
static gbti_row_range current_rows(const sparse_job *s, const gbt_page *page) {
  int64_t beg = s->range.beg - page->row_beg, end = s->range.end - page->row_beg;
  return (gbti_row_range){beg > 0 ? beg : 0, end < page->n_rows ? end : page->n_rows};
}

/* Room for n slots: just so many where all rows of a page are in work, else more than are needed now. */
static gbt_status slot_room(sparse_job *s, int64_t p, gbti_row_range in, uint64_t n, gbt_error *err) {
  gbt_page *page = &s->pages->page[p];
  if (n > UINT32_MAX)
    return gbt_fail_on(err, GBT_E_UNSUPPORTED, "page_rows",
                       "pages of %d rows hold too many filled cells of sparse columns; use a smaller `page_rows`",
                       (int)s->pages->info.page_rows);
  if (in.beg > 0 || in.end < page->n_rows)
    return gbt_mem_grow(&s->pages->mem, &page->sparse_slots, &s->pages->slot_room[p], (size_t)n,
                        sizeof *page->sparse_slots, err);
  s->pages->slot_room[p] = (size_t)n;
  return gbt_mem_array(&s->pages->mem, (size_t)n, sizeof *page->sparse_slots, &page->sparse_slots, err);
}

static void sum_task(void *arg, int64_t task, int thread) {
  (void)thread;
  sparse_job *s = arg;
  gbt_page *page = &s->pages->page[s->first_page + task];
  const gbti_row_range in = current_rows(s, page);
  gbt_error err;
  uint64_t sum = page->sparse_beg[in.beg];
  for (int64_t r = in.beg + 1; r <= in.end; r++) {
    uint32_t count = page->sparse_beg[r];
    page->sparse_beg[r] = (uint32_t)sum;
    sum += count;
  }
  if (slot_room(s, s->first_page + task, in, sum, &err) != GBT_OK) gbti_job_fail(&s->job, &err);
}

/* A page that is complete gives back what room it does not need. */
static gbt_status fit_slots(gbti_pages *pages, int64_t p, gbt_error *err) {
  gbt_page *page = &pages->page[p];
  const size_t n = page->sparse_beg[page->n_rows];
  uint32_t *fit;
  if (pages->slot_room[p] == n && page->sparse_slots != NULL) return GBT_OK;
  GBT_TRY(gbt_mem_array(&pages->mem, n, sizeof *fit, &fit, err));
  if (n > 0) memcpy(fit, page->sparse_slots, n * sizeof *fit);
  gbt_mem_free(&pages->mem, page->sparse_slots);
  page->sparse_slots = fit;
  pages->slot_room[p] = n;
  return GBT_OK;
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

gbt_status gbti_sparse_room(gbti_pages *pages, gbt_page *page, gbt_error *err) {
  const size_t n = (size_t)page->n_rows + 1;
  GBT_TRY(gbt_mem_zeros(&pages->mem, n, sizeof *page->sparse_beg, &page->sparse_beg, err));
  pages->info.bytes += n * sizeof *page->sparse_beg;
  return GBT_OK;
}

gbt_status gbti_fill_sparse(gbt_ctx *ctx, const gbt_binding *binding, int64_t first, const gbt_cuts *cuts,
                            gbti_pages *pages, gbti_row_range range, gbt_error *err) {
  sparse_job s = {.binding = binding, .cuts = cuts, .pages = pages, .range = range, .first = first};
  if (range.beg == range.end) return GBT_OK;
  s.first_page = range.beg / pages->info.page_rows;
  s.block_rows = choose_block_rows(binding, &pages->info.layout);
  const int64_t n_blocks = gbti_n_row_blocks(pages, range, s.block_rows);
  const int64_t end_page = (range.end - 1) / pages->info.page_rows + 1;
  gbti_job_start(&s.job, ctx);
  GBT_TRY(gbti_job_run(&s.job, n_blocks, block_task, &s, err));
  GBT_TRY(gbti_job_run(&s.job, end_page - s.first_page, sum_task, &s, err));
  s.fill = 1;
  GBT_TRY(gbti_job_run(&s.job, n_blocks, block_task, &s, err));
  for (int64_t p = s.first_page; p < end_page; p++)
    if (range.end >= pages->page[p].row_beg + pages->page[p].n_rows) GBT_TRY(fit_slots(pages, p, err));
  return GBT_OK;
}

void gbti_count_sparse(gbti_pages *pages, const gbt_page *page) {
  if (pages->info.layout.n_sparse == 0) return;
  const size_t n = page->sparse_beg[page->n_rows];
  pages->info.n_entries += (int64_t)n;
  pages->info.bytes += n * sizeof *page->sparse_slots;
}
