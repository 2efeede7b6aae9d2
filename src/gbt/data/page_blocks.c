/* Blocks of rows that tasks work on. */
#include "offload.h"
#include "page_impl.h"

/* Blocks are numbered page by page; those that a range begins and ends in may be cut off. */
static int64_t block_of(const gbti_pages *pages, int32_t block_rows, int64_t row) {
  GBT_ASSERT(block_rows > 0 && pages->info.page_rows > 0);
  int64_t a_page = ((int64_t)pages->info.page_rows + block_rows - 1) / block_rows;
  return row / pages->info.page_rows * a_page + row % pages->info.page_rows / block_rows;
}

int64_t gbti_n_row_blocks(const gbti_pages *pages, gbti_row_range range, int32_t block_rows) {
  if (range.beg == range.end) return 0;
  return block_of(pages, block_rows, range.end - 1) - block_of(pages, block_rows, range.beg) + 1;
}

gbti_row_block gbti_row_block_at(const gbti_pages *pages, gbti_row_range range, int32_t block_rows, int64_t block) {
  int64_t a_page = ((int64_t)pages->info.page_rows + block_rows - 1) / block_rows;
  int64_t number = block_of(pages, block_rows, range.beg) + block;
  const int32_t p = (int32_t)(number / a_page);
  const gbt_page *page = &pages->page[p];
  int64_t beg = page->row_beg + number % a_page * block_rows, end = page->row_beg + page->n_rows;
  if (end > beg + block_rows) end = beg + block_rows;
  if (end > range.end) end = range.end;
  if (beg < range.beg) beg = range.beg;
  GBT_ASSERT(beg < end);
  return (gbti_row_block){p, (int32_t)(beg - page->row_beg), (int32_t)(end - beg)};
}
