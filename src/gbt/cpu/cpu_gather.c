/* Drawn rows, gathered: where pages are not all in memory, one pass brings the codes of a tree's rows there, and all
 * steps of its growth go without the files (Ou, "Out-of-core GPU gradient boosting", 2020, section 3.4, which does so
 * for gradient-based sampling).
 *
 *   pages      row 0 1 2 3 | 4 5 6 7 | 8 9 ..       drawn: 1 2 5 8
 *   gathered         0 1         2     3            codes, columns and gradients, one page or several of GATHER_ROWS
 *   order      0 1 2 3 | 0 3 4 6 ..                 of gathered rows, and the rest as ever
 *
 * While the tree grows its rows are those of a small table in memory, in everything that growth looks at; then `order`
 * gets the numbers of train rows back. The hash that rounds gradients and draws rows takes only the latter. */
#include "cpu.h"

#include <string.h>

#include "../base/comm.h"
#include "../data/page_store_impl.h"

enum {
  GATHER_ROWS = 65536,
  ROW_BYTES = 8 /* for every train row, drawn or not, gathered codes may take in any case */
};

static size_t n_columns(const gbt_layout *layout) { return (size_t)layout->n_groups * GBT_GROUP_MAX; }

static void free_codes(cpu_backend *be) {
  cpu_gather *g = &be->gather;
  for (int32_t s = 0; g->strip != NULL && s < be->layout->n_strips; s++) gbt_mem_free(&be->mem, g->strip[s]);
  for (size_t c = 0; g->column != NULL && c < n_columns(be->layout); c++) gbt_mem_free(&be->mem, g->column[c]);
  gbt_mem_free(&be->mem, g->strip);
  gbt_mem_free(&be->mem, g->column);
  g->strip = NULL;
  g->column = NULL;
  g->cap_rows = 0;
}

void cpu_gather_close(cpu_backend *be) {
  cpu_gather *g = &be->gather;
  free_codes(be);
  gbt_mem_free(&be->mem, g->drawn);
  gbt_mem_free(&be->mem, g->gh);
  gbt_mem_free(&be->mem, g->page);
  gbt_mem_free(&be->mem, g->group);
}

static size_t strip_bytes(const gbt_layout *layout, int32_t s) {
  return gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
}

static size_t row_bytes(const gbt_layout *layout) {
  size_t bytes = 0;
  for (int32_t s = 0; s < layout->n_strips; s++) bytes += strip_bytes(layout, s);
  return bytes;
}

static gbt_status make_columns(cpu_backend *be, size_t room, gbt_error *err) {
  const gbt_layout *layout = be->layout;
  cpu_gather *g = &be->gather;
  GBT_TRY(gbt_mem_zeros(&be->mem, n_columns(layout), sizeof *g->column, &g->column, err));
  for (int32_t k = 0; k < layout->n_groups; k++)
    for (int32_t c = 0; c < layout->group[k].n_feats; c++)
      GBT_TRY(gbt_mem_array(&be->mem, room, layout->group[k].wide ? 2 : 1, &g->column[k * GBT_GROUP_MAX + c], err));
  return GBT_OK;
}

/* Room for n rows; a later tree may have drawn some more. */
static gbt_status make_room(cpu_backend *be, size_t n, int columns, gbt_error *err) {
  cpu_gather *g = &be->gather;
  const int32_t n_strips = be->layout->n_strips;
  const size_t some = n / 64, room = n + some < (size_t)be->n_rows ? n + some : (size_t)be->n_rows;
  GBT_TRY(gbt_mem_grow(&be->mem, &g->drawn, &g->cap_drawn, n, sizeof *g->drawn, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &g->gh, &g->cap_gh, n, sizeof *g->gh, err));
  if (n <= g->cap_rows && columns == (g->column != NULL)) return GBT_OK;
  free_codes(be);
  GBT_TRY(gbt_mem_zeros(&be->mem, (size_t)n_strips, sizeof *g->strip, &g->strip, err));
  for (int32_t s = 0; s < n_strips; s++)
    GBT_TRY(gbt_mem_array(&be->mem, room, strip_bytes(be->layout, s), &g->strip[s], err));
  if (columns) GBT_TRY(make_columns(be, room, err));
  g->cap_rows = room;
  return GBT_OK;
}

static gbt_status make_pages(cpu_backend *be, size_t n, gbt_error *err) {
  cpu_gather *g = &be->gather;
  const gbt_layout *layout = be->layout;
  const size_t n_pointers = (size_t)(layout->n_strips + layout->n_groups);
  const size_t n_pages = (n + GATHER_ROWS - 1) / GATHER_ROWS;
  GBT_TRY(gbt_mem_grow(&be->mem, &g->page, &g->cap_page, n_pages, sizeof *g->page, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &g->group, &g->cap_group, n_pages * n_pointers, sizeof *g->group, err));
  for (size_t p = 0; p < n_pages; p++) {
    const size_t beg = p * GATHER_ROWS, left = n - beg;
    void **strip = g->group + p * n_pointers, **group = strip + layout->n_strips;
    g->page[p] = (gbt_page){.row_beg = (int64_t)beg,
                            .n_rows = left < GATHER_ROWS ? (int32_t)left : GATHER_ROWS,
                            .strip = strip,
                            .group = group};
    for (int32_t s = 0; s < layout->n_strips; s++) {
      strip[s] = g->strip[s] + beg * strip_bytes(layout, s);
      for (int32_t k = layout->strip_beg[s]; k < layout->strip_beg[s + 1]; k++)
        group[k] = (char *)strip[s] + layout->group[k].lead * (layout->group[k].wide ? 2 : 1);
    }
  }
  g->span = (gbt_page_span){g->page, (int32_t)n_pages, GATHER_ROWS, 0, (int64_t)n};
  return GBT_OK;
}

/* Rows of one page, `bytes` each: known when compiled for the usual widths. */
GBT_FN void copy_rows(const uint8_t *from, const uint32_t *row, uint32_t n, uint32_t row_beg, uint8_t *to,
                      size_t bytes) {
  for (uint32_t i = 0; i < n; i++) memcpy(to + i * bytes, from + (size_t)(row[i] - row_beg) * bytes, bytes);
}

static void copy_strip(const uint8_t *from, const uint32_t *row, uint32_t n, uint32_t row_beg, uint8_t *to,
                       size_t bytes) {
  switch (bytes) {
  case 16:
    copy_rows(from, row, n, row_beg, to, 16);
    break;
  case 32:
    copy_rows(from, row, n, row_beg, to, 32);
    break;
  case 48:
    copy_rows(from, row, n, row_beg, to, 48);
    break;
  case 64:
    copy_rows(from, row, n, row_beg, to, 64);
    break;
  default:
    copy_rows(from, row, n, row_beg, to, bytes);
    break;
  }
}

/* Rows order[beg .. end), all of the page, COPY_ROWS at a time: they are in the cache when columns are made of them. */
enum { COPY_ROWS = 1024 };

static void gather_page(const cpu_backend *be, const gbt_page *page, uint32_t beg, uint32_t end) {
  const gbt_layout *layout = be->layout;
  const cpu_gather *g = &be->gather;
  uint32_t to_at[COPY_ROWS];
  for (uint32_t i = beg, n; i < end; i += n) {
    n = end - i < COPY_ROWS ? end - i : COPY_ROWS;
    const uint32_t *at = cpu_page_rows(&be->view, be->rows.order + i, n, to_at);
    for (int32_t s = 0; s < layout->n_strips; s++) {
      const size_t bytes = strip_bytes(layout, s);
      uint8_t *to = g->strip[s] + (size_t)i * bytes;
      copy_strip(page->strip[s], at, n, (uint32_t)page->row_beg, to, bytes);
      for (int32_t k = layout->strip_beg[s]; g->column != NULL && k < layout->strip_beg[s + 1]; k++) {
        const gbt_group *group = &layout->group[k];
        cpu_columns_put(be, group, to + group->lead * (group->wide ? 2 : 1), n, g->column + k * GBT_GROUP_MAX, i);
      }
    }
  }
}

/* See gbt_pages_task. */
static void gather_task(void *arg, const gbt_page_span *pages, int64_t task, int thread) {
  cpu_backend *be = arg;
  const cpu_span span = cpu_span_of(be, pages);
  uint32_t beg = 0, end = be->rows.n_in;
  (void)task;
  (void)thread;
  cpu_span_rows(&span, &beg, &end);
  for (uint32_t stop; beg < end; beg = stop) {
    const gbt_page *page = cpu_span_page(&span, be->rows.order, beg, end, &stop);
    gather_page(be, page, beg, stop);
  }
}

/* ---- numbers ---- */

/* Gradients come along, and rows get their numbers among the drawn ones. */
static void number_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const uint32_t beg = (uint32_t)task * CPU_TASK_ROWS, end = cpu_task_end(beg, be->rows.n_in);
  const gbt_gh32 *gh32 = be->view.gh32;
  const gbt_gh16 *gh16 = be->view.gh16;
  gbt_gh16 *to16 = (gbt_gh16 *)(void *)be->gather.gh;
  uint32_t *order = be->rows.order, *drawn = be->gather.drawn;
  (void)thread;
  for (uint32_t i = beg; i < end; i++) {
    const uint32_t row = order[i];
    if (gh32) be->gather.gh[i] = gh32[row];
    else to16[i] = gh16[row];
    drawn[i] = row;
    order[i] = i;
  }
}

static void restore_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const uint32_t beg = (uint32_t)task * CPU_TASK_ROWS, end = cpu_task_end(beg, be->rows.n_in);
  (void)thread;
  for (uint32_t i = beg; i < end; i++) be->rows.order[i] = be->gather.drawn[be->rows.order[i]];
}

static gbt_status run_on_drawn_rows(gbt_ctx *ctx, cpu_backend *be, gbt_task_fn fn, gbt_error *err) {
  return cpu_parallel(ctx, cpu_n_tasks(be->rows.n_in), 2.0 * be->rows.n_in, fn, be, err);
}

gbt_status cpu_gather_rows(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_gather *g = &be->gather;
  gbt_page_store *pages = be->view.pages;
  const size_t n = be->rows.n_in, bytes = row_bytes(be->layout), more = cpu_columns_bytes(be->layout);
  const uint64_t memory = gbt_pages_memory(pages), always = ROW_BYTES * (uint64_t)be->n_rows;
  const uint64_t room = memory > always ? memory : always;
  GBT_ASSERT(be->view.span == NULL);
  if (!be->view.stream || !cpu_rows_are_drawn(be)) return GBT_OK;
  int64_t lack = n > room / bytes;
  GBT_TRY(gbt_comm_sum_i64(ctx, &lack, 1, err)); /* ranks grow in the same way */
  if (lack > 0) return GBT_OK;
  GBT_TRY(make_room(be, n, cpu_columns_pay(be->layout) && n <= room / (bytes + more), err));
  if (n > 0) GBT_TRY(gbt_pages_each(ctx, pages, 1, gather_task, be, err));
  GBT_TRY(make_pages(be, n, err));
  GBT_TRY(run_on_drawn_rows(ctx, be, number_task, err));
  cpu_rows_view view = {.pages = pages, .span = &g->span, .column = g->column, .wide = be->view.wide};
  view.score = be->view.score;
  if (view.wide) view.gh32 = g->gh;
  else view.gh16 = (const gbt_gh16 *)(const void *)g->gh;
  be->view = view;
  return GBT_OK;
}

gbt_status cpu_gather_end(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  if (be->view.span == NULL) return GBT_OK;
  cpu_view_train(be);
  return run_on_drawn_rows(ctx, be, restore_task, err);
}
