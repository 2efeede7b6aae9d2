/* Sparse features: from columns to a list of slots per row.
 *
 *   count   per row, how many of its codes are outside their zero bin      tasks: tiles of rows
 *   sum     counts to where each row's list begins                         tasks: pages
 *   fill    feature after feature, so a row's slots ascend by themselves   tasks: tiles of rows
 *
 * While it fills, sparse_beg[r + 1] is the place of row r's next slot; at the end it is the end of its list, which is
 * what it should be. No memory but the pages' own. */
#include <math.h>

#include "page_impl.h"

enum { BLOCK = 1024, TILE_WORK = 1 << 20, TILE_LEAST = 256, TILE_MOST = 65536 };

typedef struct sparse_job {
  gbti_job job;
  const gbt_binding *binding;
  const gbt_cuts *cuts;
  gbt_page_store *store;
  int32_t tile_rows;
  int fill;
} sparse_job;

/* Whether a value is in the zero bin, without looking for its bin. */
typedef struct zero_test {
  double low, high; /* low < x <= high; NaN: no bound, or no number at all */
  int missing;      /* the zero bin is the missing code */
} zero_test;

static zero_test zero_test_of(const gbt_feature_cuts *f) {
  zero_test z = {(double)NAN, (double)NAN, f->zero_bin == f->n_bins};
  if (z.missing) return z;
  z.high = f->cut[f->zero_bin];
  if (f->zero_bin > 0) z.low = f->cut[f->zero_bin - 1];
  return z;
}

static int in_zero(const zero_test *z, double x) { return z->missing ? x != x : (x <= z->high) & !(x <= z->low); }

/* Values of one feature in rows of one tile, as they come: rows[i] (relative to the table), x[i]. */
typedef struct batch {
  int32_t n;
  double x[BLOCK];
  int64_t row[BLOCK];
} batch;

/* Counts or places the batch. */
static void take_batch(const sparse_job *s, gbt_page *page, int32_t feat, const gbti_binner *binner, const batch *b) {
  uint32_t *beg = page->sparse_beg + 1;
  if (!s->fill) {
    for (int32_t i = 0; i < b->n; i++) beg[b->row[i] - page->row_beg]++;
    return;
  }
  int32_t code[BLOCK];
  const gbt_place *place = &s->store->layout.place[feat];
  gbti_bin_values(binner, b->x, b->n, code);
  for (int32_t i = 0; i < b->n; i++) {
    uint32_t *slot = &page->sparse_slots[beg[b->row[i] - page->row_beg]++];
    *slot = place->slot_beg + gbt_place_slot(place, code[i]);
  }
}

/* n values of rows row[0], row[1], ... (rows NULL: beg, beg + 1, ...): those outside the zero bin into batch b. */
static void keep_filled(const zero_test *z, const double *x, const int32_t *rows, int64_t beg, int32_t n, batch *b) {
  int32_t m = 0;
  for (int32_t i = 0; i < n; i++) {
    b->x[m] = x[i];
    b->row[m] = rows != NULL ? rows[i] : beg + i;
    m += !in_zero(z, x[i]);
  }
  b->n = m;
}

static void feature_rows(const sparse_job *s, gbt_page *page, int32_t feat, int64_t beg, int32_t n) {
  gbti_reader in = gbti_reader_of(s->binding, feat);
  zero_test z = zero_test_of(&s->cuts->feat[feat]);
  gbti_binner binner;
  batch b;
  double buf[BLOCK];
  int64_t cursor = 0;
  if (in.col->rows != NULL && in_zero(&z, in.absent)) { /* entries alone: absent rows are in the zero bin */
    int64_t e = gbti_find_entry(&in, beg, -1), end = gbti_find_entry(&in, beg + n, -1);
    gbti_binner_make(&binner, &s->cuts->feat[feat], s->fill ? end - e : 0);
    for (int32_t m; e < end; e += m) {
      m = end - e < BLOCK ? (int32_t)(end - e) : BLOCK;
      keep_filled(&z, gbti_read_entries(&in, e, m, buf), in.col->rows + e, 0, m, &b);
      take_batch(s, page, feat, &binner, &b);
    }
    return;
  }
  gbti_binner_make(&binner, &s->cuts->feat[feat], s->fill ? n / 8 : 0);
  for (int32_t at = 0, m; at < n; at += m) {
    m = n - at < BLOCK ? n - at : BLOCK;
    keep_filled(&z, gbti_read_rows(&in, beg + at, m, &cursor, buf), NULL, beg + at, m, &b);
    take_batch(s, page, feat, &binner, &b);
  }
}

static void tile_task(void *arg, int64_t task, int thread) {
  sparse_job *s = arg;
  const gbt_layout *layout = &s->store->layout;
  gbti_tile tile = gbti_tile_at(s->store, s->tile_rows, task);
  gbt_page *page = &s->store->page[tile.page];
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    feature_rows(s, page, layout->sparse_feat[i], page->row_beg + tile.beg, tile.n_rows);
    if (i % 256 == 255 && gbti_job_stopped(&s->job, thread)) return;
  }
}

static void sum_task(void *arg, int64_t task, int thread) {
  (void)thread;
  sparse_job *s = arg;
  gbt_page *page = &s->store->page[task];
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
                         (int)s->store->page_rows);
  if (status == GBT_OK)
    status = gbt_mem_array(&s->store->mem, (size_t)sum, sizeof *page->sparse_slots, &page->sparse_slots, &err);
  if (status != GBT_OK) gbti_job_fail(&s->job, &err);
}

/* Tiles large enough that finding a column's entries in them is little against reading these. */
static int32_t choose_tile(const gbt_binding *binding, const gbt_layout *layout) {
  double cells = 1.0, n_rows = (double)binding->table->n_rows;
  for (int32_t i = 0; i < layout->n_sparse; i++) {
    const gbt_column *col = &binding->table->cols[binding->col[layout->sparse_feat[i]]];
    cells += col->rows != NULL ? (double)col->n_entries : n_rows;
  }
  double rows = (TILE_WORK + 8.0 * layout->n_sparse) * n_rows / cells;
  return rows < TILE_LEAST ? TILE_LEAST : rows > TILE_MOST ? TILE_MOST : (int32_t)rows;
}

gbt_status gbti_fill_sparse(gbt_ctx *ctx, const gbt_binding *binding, const gbt_cuts *cuts, gbt_page_store *store,
                            gbt_error *err) {
  sparse_job s = {.binding = binding, .cuts = cuts, .store = store};
  s.tile_rows = choose_tile(binding, &store->layout);
  int64_t n_tiles = gbti_n_tiles(store, s.tile_rows);
  gbti_job_start(&s.job, ctx);
  for (int32_t p = 0; p < store->n_pages; p++) {
    gbt_page *page = &store->page[p];
    size_t n = (size_t)page->n_rows + 1;
    GBT_TRY(gbt_mem_zeros(&store->mem, n, sizeof *page->sparse_beg, &page->sparse_beg, err));
    store->bytes += n * sizeof *page->sparse_beg;
  }
  GBT_TRY(gbti_job_run(&s.job, n_tiles, tile_task, &s, err));
  GBT_TRY(gbti_job_run(&s.job, store->n_pages, sum_task, &s, err));
  s.fill = 1;
  GBT_TRY(gbti_job_run(&s.job, n_tiles, tile_task, &s, err));
  for (int32_t p = 0; p < store->n_pages; p++)
    store->bytes += (size_t)store->page[p].sparse_beg[store->page[p].n_rows] * sizeof *store->page[p].sparse_slots;
  return GBT_OK;
}
