/* The train set's sparse features once more, column by column: for splits, which read one feature of many rows, and for
 * the histogram of all rows.
 *
 *   pages       row 0: slot slot      row 1: -      row 2: slot slot slot     ...
 *   columns     block 0 | feature 0: (row, slot) (row, slot) ..  feature 1: ..  |  block 1 | feature 0: ..
 *
 * All rows are cut into row blocks of at most 65,536, so that a row within its block takes 16 bits; slots are relative
 * to the feature's first and take a byte where all sparse features have at most 256. Runs lie in the order of (block,
 * feature), each with ascending rows: col->beg[block * n_sparse + i] is the place where the run begins. */
#include <string.h>

#include "../base/comm.h"
#include "../base/order.h"
#include "../base/parallel.h"
#include "cpu.h"

#define BLOCK_ROWS 16384u /* a block's 16-bit gradients and marks stay in the second-level cache */
#define BLOCK_LEAST 1024u
#define BLOCK_MOST 65536u
#define BLOCK_ENTRIES 2e6
#define MARK_NS 1.0    /* to set and clear the mark of one entry */
#define SEARCH_NS 20.0 /* to look for one row in a run */

/* ---- making them ---- */

typedef struct column_pass {
  cpu_backend *be;
  uint32_t *feat; /* by sparse slot: which of the sparse features it belongs to */
  int fill;
} column_pass;

static void place_row(const column_pass *pass, const gbt_page *page, uint32_t row, uint16_t in_block, size_t *beg) {
  const gbt_layout *layout = pass->be->layout;
  cpu_sparse *col = &pass->be->sparse;
  const uint32_t *list = page->sparse_beg + (row - (uint32_t)page->row_beg);
  for (uint32_t e = list[0]; e < list[1]; e++) {
    uint32_t slot = page->sparse_slots[e], i = pass->feat[slot];
    GBT_ASSERT(i < (uint32_t)layout->n_sparse);
    size_t at = beg[i]++;
    if (!pass->fill) continue;
    slot -= layout->place[layout->sparse_feat[i]].slot_beg - layout->sparse_slot;
    col->row[at] = in_block;
    if (col->wide)
      ((uint16_t *)col->slot)[at] = (uint16_t)slot;
    else
      ((uint8_t *)col->slot)[at] = (uint8_t)slot;
  }
}

/* The rows of one row block in some pages. */
typedef struct block_job {
  const column_pass *pass;
  const cpu_span *span;
  int64_t first; /* row block of the first task */
} block_job;

/* While a block is filled, beg[i + 1] is the place of the next entry of run i; at the end it is the end of it. */
static void column_task(void *arg, int64_t task, int thread) {
  const block_job *job = arg;
  const cpu_backend *be = job->pass->be;
  const cpu_span *span = job->span;
  const int64_t block = job->first + task;
  uint32_t rows = be->sparse.block_rows, beg = (uint32_t)block * rows, row = beg;
  uint32_t end = be->n_rows - beg < rows ? (uint32_t)be->n_rows : beg + rows;
  size_t *place = be->sparse.beg + (size_t)block * (size_t)be->layout->n_sparse + 1;
  (void)thread;
  if (row < span->row_beg) row = (uint32_t)span->row_beg;
  if (end > span->row_end) end = (uint32_t)span->row_end;
  while (row < end) {
    const gbt_page *page = gbt_span_page(span->pages, cpu_page_row(&be->view, row));
    const int64_t page_end = cpu_row_from(be, page->row_beg + page->n_rows);
    for (; row < end && row < page_end; row++)
      place_row(job->pass, page, cpu_page_row(&be->view, row), (uint16_t)(row - beg), place);
  }
}

/* See gbt_pages_fn. A block's rows may be in several spans. */
static gbt_status place_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  const column_pass *pass = arg;
  const uint32_t rows = pass->be->sparse.block_rows;
  GBT_ASSERT(rows > 0);
  const cpu_span span = cpu_span_of(pass->be, pages);
  block_job job = {pass, &span, span.row_beg / rows};
  return gbt_parallel(ctx, (span.row_end + rows - 1) / rows - job.first, column_task, &job, err);
}

/* Rows of a block: so many that the begins of its runs take little memory compared with the entries, but not more work
 * than a task should have. */
static uint32_t choose_block_rows(const gbt_page_store *pages) {
  double entries = 1.0 + (double)gbt_pages_n_entries(pages), n_rows = (double)gbt_pages_n_rows(pages);
  GBT_ASSERT(n_rows > 0.0);
  double per_row = entries / n_rows, rows = 16.0 * gbt_pages_layout(pages)->n_sparse / per_row;
  rows = rows < BLOCK_ROWS ? BLOCK_ROWS : rows > BLOCK_MOST ? BLOCK_MOST : rows;
  if (rows * per_row > BLOCK_ENTRIES) rows = BLOCK_ENTRIES / per_row;
  return rows < BLOCK_LEAST ? BLOCK_LEAST : (uint32_t)rows;
}

/* How many rows meet each slot of one feature; pass->feat is not needed any more and holds the numbers. */
static void most_task(void *arg, int64_t task, int thread) {
  const column_pass *pass = arg;
  const gbt_layout *layout = pass->be->layout;
  const cpu_sparse *col = &pass->be->sparse;
  const gbt_place *place = &layout->place[layout->sparse_feat[task]];
  uint32_t *count = pass->feat + (place->slot_beg - layout->sparse_slot);
  (void)thread;
  memset(count, 0, place->n_slots * sizeof *count);
  for (int64_t block = 0; block < col->n_blocks; block++) {
    const size_t *beg = col->beg + block * layout->n_sparse + task;
    for (size_t e = beg[0]; e < beg[1]; e++)
      count[col->wide ? ((const uint16_t *)col->slot)[e] : ((const uint8_t *)col->slot)[e]]++;
  }
}

/* Sums of all ranks stay within 32 bits: a rank that has more rows than its part of them says so. */
static gbt_status find_most(gbt_ctx *ctx, column_pass *pass, gbt_error *err) {
  const gbt_layout *layout = pass->be->layout;
  cpu_sparse *col = &pass->be->sparse;
  const uint32_t n_slots = layout->n_slots - layout->sparse_slot;
  GBT_TRY(gbt_parallel(ctx, layout->n_sparse, most_task, pass, err));
  const uint32_t enough = UINT32_MAX / (uint32_t)gbt_comm_size(ctx);
  uint32_t has_more = 0;
  for (uint32_t s = 0; s < n_slots; s++) {
    if (pass->feat[s] <= enough) continue;
    pass->feat[s] = enough;
    has_more = 1;
  }
  const gbt_comm_part counts[2] = {{pass->feat, n_slots, GBT_COMM_U32}, {&has_more, 1, GBT_COMM_U32}};
  GBT_TRY(gbt_comm_sum_parts(ctx, counts, 2, err));
  for (uint32_t s = 0; s < n_slots; s++)
    if (pass->feat[s] > col->most) col->most = pass->feat[s];
  if (has_more > 0) col->most = UINT32_MAX;
  return GBT_OK;
}

static gbt_status fill_columns(gbt_ctx *ctx, column_pass *pass, gbt_error *err) {
  cpu_backend *be = pass->be;
  const gbt_layout *layout = be->layout;
  cpu_sparse *col = &be->sparse;
  size_t n_runs = (size_t)col->n_blocks * (size_t)layout->n_sparse, sum = 0;
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    const gbt_place *place = &layout->place[layout->sparse_feat[i]];
    for (uint32_t s = 0; s < place->n_slots; s++) pass->feat[place->slot_beg - layout->sparse_slot + s] = (uint32_t)i;
    if (place->n_slots > 256) col->wide = 1;
  }
  GBT_TRY(gbt_mem_zeros(&be->mem, n_runs + 1, sizeof *col->beg, &col->beg, err));
  GBT_TRY(cpu_train_pass(ctx, be, place_span, pass, err));
  for (size_t i = 1; i <= n_runs; i++) {
    size_t n = col->beg[i];
    col->beg[i] = sum;
    sum += n;
  }
  GBT_TRY(gbt_mem_array(&be->mem, sum, sizeof *col->row, &col->row, err));
  GBT_TRY(gbt_mem_array(&be->mem, sum, col->wide ? 2 : 1, &col->slot, err));
  pass->fill = 1;
  GBT_TRY(cpu_train_pass(ctx, be, place_span, pass, err));
  return find_most(ctx, pass, err);
}

gbt_status cpu_sparse_open(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  const gbt_layout *layout = be->layout;
  column_pass pass = {.be = be};
  if (layout->n_sparse == 0) return GBT_OK;
  if (be->n_rows > 0) { /* else there are no row blocks */
    be->sparse.block_rows = choose_block_rows(be->data[0]->pages);
    be->sparse.n_blocks = (be->n_rows + be->sparse.block_rows - 1) / be->sparse.block_rows;
  }
  GBT_ASSERT(be->sparse.block_rows <= BLOCK_MOST); /* a row within its block has 16 bits */
  GBT_TRY(gbt_mem_array(&be->mem, layout->n_slots - layout->sparse_slot, sizeof *pass.feat, &pass.feat, err));
  gbt_status status = fill_columns(ctx, &pass, err);
  gbt_mem_free(&be->mem, pass.feat);
  return status;
}

void cpu_sparse_close(cpu_backend *be) {
  gbt_mem_free(&be->mem, be->sparse.beg);
  gbt_mem_free(&be->mem, be->sparse.row);
  gbt_mem_free(&be->mem, be->sparse.slot);
}

/* ---- which way rows go ---- */

typedef struct run { /* entries [beg, end) of one feature in one row block */
  const uint16_t *row;
  const uint8_t *slot8;
  const uint16_t *slot16; /* NULL: slot8 */
  size_t beg, end;
} run;

static run run_of(const cpu_sparse *col, size_t at) {
  run r = {.row = col->row, .beg = col->beg[at], .end = col->beg[at + 1]};
  if (col->wide)
    r.slot16 = col->slot;
  else
    r.slot8 = col->slot;
  return r;
}

static uint32_t slot_at(const run *r, size_t e) { return r->slot16 ? r->slot16[e] : r->slot8[e]; }

/* The first entry with this row of the block or a later one. Branch-free. */
static size_t first_from(const run *r, size_t beg, uint32_t row) {
  const uint16_t *at = r->row + beg;
  size_t n = r->end - beg;
  while (n > 1) {
    size_t half = n / 2;
    at += at[half - 1] < row ? half : 0;
    n -= half;
  }
  return (size_t)(at - r->row) + (n == 1 && *at < row);
}

/* n rows of one row block, which begins with row `first`. Marks are a byte per row of the block, all 0 before and
 * after. */
static void sides_of_block(run r, const uint8_t *left, uint8_t zero_left, uint32_t first, const uint32_t *rows,
                           uint32_t n, uint8_t *mark, uint8_t *side) {
  memset(side, zero_left, n);
  GBT_ASSERT(gbt_ascend_u32(rows, n));
  r.beg = first_from(&r, r.beg, rows[0] - first);
  r.end = first_from(&r, r.beg, rows[n - 1] - first + 1);
  if (r.beg == r.end) return;
  if (rows[n - 1] - rows[0] == n - 1) { /* all rows from first to last */
    for (size_t e = r.beg; e < r.end; e++) side[first + r.row[e] - rows[0]] = left[slot_at(&r, e)];
  } else if ((double)(r.end - r.beg) * MARK_NS < (double)n * SEARCH_NS) {
    for (size_t e = r.beg; e < r.end; e++) mark[r.row[e]] = left[slot_at(&r, e)] ^ zero_left;
    for (uint32_t i = 0; i < n; i++) side[i] = zero_left ^ mark[rows[i] - first];
    for (size_t e = r.beg; e < r.end; e++) mark[r.row[e]] = 0;
  } else {
    for (uint32_t i = 0; i < n && r.beg < r.end; i++) {
      r.beg = first_from(&r, r.beg, rows[i] - first);
      if (r.beg < r.end && r.row[r.beg] == rows[i] - first) side[i] = left[slot_at(&r, r.beg)];
    }
  }
}

void cpu_sparse_sides(const cpu_backend *be, const gbt_place *place, const uint8_t *left, uint8_t zero_left,
                      const uint32_t *rows, uint32_t n, cpu_scratch *scratch) {
  const cpu_sparse *col = &be->sparse;
  for (uint32_t i = 0, m; i < n; i += m) {
    uint32_t block = rows[i] / col->block_rows, end = n, beg = block * col->block_rows;
    if (rows[n - 1] - beg >= col->block_rows) { /* the first row of another block */
      uint32_t lo = i + 1;
      while (lo < end) {
        uint32_t mid = lo + (end - lo) / 2;
        if (rows[mid] - beg < col->block_rows)
          lo = mid + 1;
        else
          end = mid;
      }
    }
    m = end - i;
    sides_of_block(run_of(col, (size_t)block * (size_t)be->layout->n_sparse + (size_t)place->pos), left, zero_left, beg,
                   rows + i, m, scratch->mark, scratch->side + i);
  }
}
