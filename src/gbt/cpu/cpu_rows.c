/* The rows of a tree: which are drawn, their order, and the sums of their gradients for the root.
 *
 *   rows      | drawn rows, ascending        n_in | the others, ascending |
 *
 * Without sampling a chunk numbers its rows and adds their gradients up. With sampling it writes its drawn rows forward
 * and the others backward into spare, at its own place; once the counts are known, both are copied to theirs. */
#include <string.h>

#include "../base/order.h"
#include "../base/rng.h"
#include "cpu.h"

gbt_status cpu_rows_open(cpu_backend *be, gbt_error *err) {
  size_t n = (size_t)be->n_rows;
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *be->rows.order, &be->rows.order, err));
  return gbt_mem_array(&be->mem, n, sizeof *be->rows.spare, &be->rows.spare, err);
}

void cpu_rows_close(cpu_backend *be) {
  gbt_mem_free(&be->mem, be->rows.order);
  gbt_mem_free(&be->mem, be->rows.spare);
  gbt_mem_free(&be->mem, be->rows.chunk);
}

void cpu_view_train(cpu_backend *be) {
  const size_t n = (size_t)be->n_rows;
  cpu_rows_view view = {.pages = be->data[0]->variant[be->task.variant],
                        .page_row = be->data[0]->rows.table_row,
                        .column = be->columns.of ? be->columns.of + (size_t)be->task.variant * be->columns.n : NULL,
                        .score = be->score ? be->score[0] + (size_t)be->task.output * n : NULL,
                        .wide = be->grad.wide && be->grad.wide[be->task.output],
                        .stream = be->stream.ops};
  GBT_ASSERT(be->task.variant >= 0 && be->task.variant < be->data[0]->n_variants);
  GBT_ASSERT(!view.stream || view.column == NULL);
  if (be->grad.gh && view.wide) view.gh32 = be->grad.gh + cpu_gradients_at(be, be->task.output);
  if (be->grad.gh && !view.wide) {
    view.gh16 = (const gbt_gh16 *)(const void *)(be->grad.gh + cpu_gradients_at(be, be->task.output));
    view.low = (const uint32_t *)(const void *)(view.gh16 + n);
  }
  be->view = view;
}

gbt_status cpu_add_chunks(cpu_backend *be, int32_t node, int32_t item, uint32_t beg, uint32_t n, gbt_error *err) {
  const size_t n_chunks = (size_t)cpu_n_tasks(n);
  const uint32_t end = beg + n;
  GBT_ASSERT((int64_t)beg + n <= be->n_rows);
  GBT_TRY(gbt_mem_grow(&be->mem, &be->rows.chunk, &be->rows.cap_chunk, be->rows.n_chunk + n_chunks,
                       sizeof *be->rows.chunk, err));
  for (uint32_t at = beg, next; at < end; at = next) {
    next = cpu_task_end(at, end);
    be->rows.chunk[be->rows.n_chunk++] =
        (cpu_chunk){.node = node, .item = item, .beg = at, .end = next, .next = at, .whole = n_chunks == 1};
  }
  return GBT_OK;
}

double cpu_chunk_rows(const cpu_backend *be) {
  double n = 0.0;
  for (size_t c = 0; c < be->rows.n_chunk; c++) n += be->rows.chunk[c].end - be->rows.chunk[c].beg;
  return n;
}

uint32_t cpu_rows_below(const uint32_t *rows, uint32_t beg, uint32_t end, int64_t row_end) {
  if (beg == end || (int64_t)rows[end - 1] < row_end) return end;
  uint32_t lo = beg, hi = end;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if ((int64_t)rows[mid] < row_end) lo = mid + 1;
    else hi = mid;
  }
  GBT_ASSERT(lo >= beg && lo < end);
  return lo;
}

cpu_span cpu_span_of(cpu_backend *be, const gbt_page_span *pages) {
  if (!pages) return (cpu_span){be, NULL, 0, be->n_rows};
  return (cpu_span){be, pages, cpu_row_from(be, pages->row_beg), cpu_row_from(be, pages->row_end)};
}

gbt_status cpu_train_pass(gbt_ctx *ctx, cpu_backend *be, gbt_pages_fn fn, void *arg, gbt_error *err) {
  if (be->n_rows == 0) return GBT_OK;
  return be->view.span ? fn(arg, ctx, be->view.span, err) : gbt_pages_pass(ctx, be->view.pages, fn, arg, err);
}

const uint32_t *cpu_page_rows(const cpu_rows_view *view, const uint32_t *rows, uint32_t n, uint32_t *to) {
  if (!view->page_row) return rows;
  for (uint32_t i = 0; i < n; i++) to[i] = view->page_row[rows[i]];
  return to;
}

const gbt_page *cpu_span_page(const cpu_span *span, const uint32_t *rows, uint32_t beg, uint32_t end, uint32_t *stop) {
  GBT_ASSERT(beg < end && (int64_t)rows[beg] >= span->row_beg && (int64_t)rows[beg] < span->row_end);
  const gbt_page *page = gbt_span_page(span->pages, cpu_page_row(&span->be->view, rows[beg]));
  *stop = cpu_rows_below(rows, beg, end, cpu_row_from(span->be, page->row_beg + page->n_rows));
  GBT_ASSERT(*stop > beg);
  return page;
}

void cpu_span_rows(const cpu_span *span, uint32_t *beg, uint32_t *end) {
  const uint32_t *order = span->be->rows.order;
  *end = cpu_rows_below(order, *beg, *end, span->row_end);
  if (span->row_beg > 0) *beg = cpu_rows_below(order, *beg, *end, span->row_beg);
}

double cpu_span_share(const cpu_span *span) {
  GBT_ASSERT(span->be->n_rows > 0);
  return (double)(span->row_end - span->row_beg) / (double)span->be->n_rows;
}

gbt_sum cpu_sum_rows(const cpu_backend *be, uint32_t beg, uint32_t end) {
  const gbt_gh16 *gh16 = be->view.gh16;
  const gbt_gh32 *gh32 = be->view.gh32;
  gbt_sum s = {0, 0};
  GBT_ASSERT(beg <= end && (int64_t)end <= be->n_rows);
  if (be->view.wide)
    for (uint32_t i = beg; i < end; i++) s.g += gh32[be->rows.order[i]].g, s.h += gh32[be->rows.order[i]].h;
  else
    for (uint32_t i = beg; i < end; i++) s.g += gh16[be->rows.order[i]].g, s.h += gh16[be->rows.order[i]].h;
  return s;
}

static void number_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  cpu_chunk *chunk = &be->rows.chunk[task];
  (void)thread;
  for (uint32_t i = chunk->beg; i < chunk->end; i++) be->rows.order[i] = i;
  chunk->fine = cpu_sum_rows(be, chunk->beg, chunk->end);
}

/* Whether a row is drawn: by its factor, or when the hash of its number among the rows of all ranks is below the share,
 * which may be that of its class. */
typedef struct row_draw {
  const gbt_sampled *factor;
  const uint64_t *class_limit;
  const double *label;
  uint64_t limit, rows_before;
  gbt_key32 key;
} row_draw;

static row_draw draw_of(const cpu_backend *be) {
  return (row_draw){.factor = be->sample.row,
                    .class_limit = be->sample.class_limit,
                    .label = be->data[0]->rows.field[GBT_LABEL],
                    .limit = gbt_hash_limit(be->params->subsample),
                    .rows_before = cpu_rows_before(be),
                    .key = gbt_key((uint64_t)be->params->seed, GBT_FOR_ROWS, be->task.tree, 0)};
}

/* Of rows [row, row + n), n <= CPU_BLOCK: 1 where it is drawn. */
static void find_drawn(const cpu_backend *be, const row_draw *draw, uint32_t row, uint32_t n, uint8_t *drawn) {
  if (draw->factor != NULL)
    for (uint32_t i = 0; i < n; i++) drawn[i] = draw->factor[row + i].factor != 0.0f;
  else if (draw->class_limit != NULL)
    for (uint32_t i = 0; i < n; i++)
      drawn[i] = gbt_hash32(draw->key, draw->rows_before + row + i) < draw->class_limit[(int32_t)draw->label[row + i]];
  else
    be->kernels->draws((int32_t)n, draw->key, draw->rows_before + row, draw->limit, drawn);
}

int cpu_rows_are_drawn(const cpu_backend *be) {
  return be->params->subsample < 1.0 || be->sample.class_limit != NULL || cpu_sample_by_size(be);
}

static void draw_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  cpu_chunk *chunk = &be->rows.chunk[task];
  const row_draw draw = draw_of(be);
  uint32_t *in = be->rows.spare + chunk->beg, *out = be->rows.spare + chunk->end;
  (void)thread;
  uint8_t drawn[CPU_BLOCK];
  for (uint32_t row = chunk->beg, n; row < chunk->end; row += n) {
    n = chunk->end - row < CPU_BLOCK ? chunk->end - row : CPU_BLOCK;
    find_drawn(be, &draw, row, n, drawn);
    for (uint32_t i = 0; i < n; i++) {
      *in = row + i; /* one of the two is overwritten by the next row */
      out[-1] = row + i;
      in += drawn[i];
      out -= 1u - drawn[i];
    }
  }
  chunk->n_left = (uint32_t)(in - (be->rows.spare + chunk->beg));
}

static void order_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  cpu_chunk *chunk = &be->rows.chunk[task];
  uint32_t *others = be->rows.order + be->rows.n_in + (chunk->beg - chunk->left_before);
  (void)thread;
  memcpy(be->rows.order + chunk->left_before, be->rows.spare + chunk->beg,
         (size_t)chunk->n_left * sizeof *be->rows.order);
  for (const uint32_t *from = be->rows.spare + chunk->end; from > be->rows.spare + chunk->beg + chunk->n_left;)
    *others++ = *--from;
  chunk->fine = cpu_sum_rows(be, chunk->left_before, chunk->left_before + chunk->n_left);
}

static gbt_status draw_rows(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  GBT_TRY(cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 3.0 * (double)be->n_rows, draw_task, be, err));
  be->rows.n_in = 0;
  for (size_t c = 0; c < be->rows.n_chunk; c++) {
    be->rows.chunk[c].left_before = be->rows.n_in;
    be->rows.n_in += be->rows.chunk[c].n_left;
  }
  GBT_ASSERT((int64_t)be->rows.n_in <= be->n_rows);
  return cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 1.0 * (double)be->n_rows, order_task, be, err);
}

static gbt_sum sum_of_chunks(const cpu_backend *be) {
  gbt_sum sum = {0, 0};
  for (size_t c = 0; c < be->rows.n_chunk; c++) {
    sum.g += be->rows.chunk[c].fine.g;
    sum.h += be->rows.chunk[c].fine.h;
  }
  return sum;
}

gbt_status cpu_rows_begin(gbt_ctx *ctx, cpu_backend *be, int64_t *n_in, gbt_sum *sum, gbt_error *err) {
  uint32_t n = (uint32_t)be->n_rows;
  be->walk.led = 0;
  be->rows.n_chunk = 0;
  GBT_TRY(cpu_add_chunks(be, 0, 0, 0, n, err));
  if (cpu_rows_are_drawn(be)) {
    GBT_TRY(draw_rows(ctx, be, err));
  } else {
    be->rows.n_in = n;
    GBT_TRY(cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 1.0 * n, number_task, be, err));
  }
  *n_in = be->rows.n_in;
  *sum = sum_of_chunks(be);
  GBT_ASSERT(gbt_ascend_u32(be->rows.order, be->rows.n_in));
  GBT_ASSERT(gbt_ascend_u32(be->rows.order + be->rows.n_in, (size_t)be->n_rows - be->rows.n_in));
  GBT_ASSERT(sum->h >= 0);
  return GBT_OK;
}

static void sum_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  cpu_chunk *chunk = &be->rows.chunk[task];
  (void)thread;
  chunk->fine = cpu_sum_rows(be, chunk->beg, chunk->end);
}

gbt_status cpu_rows_sum(gbt_ctx *ctx, cpu_backend *be, gbt_sum *sum, gbt_error *err) {
  be->rows.n_chunk = 0;
  GBT_TRY(cpu_add_chunks(be, 0, 0, 0, be->rows.n_in, err));
  GBT_TRY(cpu_parallel(ctx, (int64_t)be->rows.n_chunk, 1.0 * be->rows.n_in, sum_task, be, err));
  *sum = sum_of_chunks(be);
  return GBT_OK;
}
