/* Rows that the tree did not see while it grew (not sampled, or of a validation set) down to their leaves, by bins.
 *
 * bin(x) <= b is the same as x <= cut[b], so this agrees to the bit with predicting from the values. Levels that the
 * cuts do not know stand in a page as missing; in validation sets they go the way of most all the same. */
#include "cpu.h"

#define ROUTE_ROWS 4096u

typedef struct route_pass {
  const cpu_backend *be;
  const gbt_rows *data;
  gbt_page_store *store;
  const gbt_layout *layout; /* of this data set: it may bundle other features than training */
  const uint32_t *table_row; /* its rows, see gbt_rows */
  const uint32_t *rows;     /* some of its rows; NULL: all */
  uint32_t n;
  const double *value;
  double *score;
  int any_unseen; /* not in the training set, whose sampled rows the tree took for missing */
} route_pass;

/* Those of a span: rows[beg .. end), or, without `rows`, rows [beg, end). */
typedef struct route_span {
  const route_pass *pass;
  const gbt_page_span *pages;
  uint32_t beg, end;
} route_span;

static int32_t leaf_of(const route_pass *pass, const gbt_page *page, int64_t row) {
  const cpu_backend *be = pass->be;
  const gbt_layout *layout = pass->layout;
  const gbt_grow_node *nodes = be->fr.node;
  int32_t at = 0, r = (int32_t)(row - page->row_beg);
  while (nodes[at].left) {
    const gbt_grow_node *node = &nodes[at];
    const gbt_split *s = &node->split;
    const gbt_place *place = &layout->place[s->feat];
    int32_t code, left;
    if (place->zero_bin >= 0) code = gbt_page_code(layout, be->cuts, page, r, s->feat);
    else {
      const gbt_group *group = &layout->group[place->group];
      size_t cell = (size_t)r * (size_t)group->stride + (size_t)place->pos;
      const void *codes = page->group[place->group];
      code = group->wide ? ((const uint16_t *)codes)[cell] : ((const uint8_t *)codes)[cell];
    }
    if (code == be->cuts->feat[s->feat].n_bins)
      left = pass->any_unseen && gbt_page_unseen(pass->store, s->feat, row) ? node->bulk_left : s->missing_left;
    else left = gbt_grow_bin_goes_left(node, be->fr.sets, code);
    GBT_ASSERT(node->left > at);
    at = node->left + !left;
  }
  return at;
}

static uint32_t row_at(const route_pass *pass, uint32_t i) { return pass->rows ? pass->rows[i] : i; }

/* The row of the table that a row of the data set is. */
static uint32_t table_row_of(const route_pass *pass, uint32_t row) {
  return pass->table_row ? pass->table_row[row] : row;
}

static void route_task(void *arg, int64_t task, int thread) {
  const route_span *span = arg;
  const route_pass *pass = span->pass;
  uint32_t i = span->beg + (uint32_t)task * ROUTE_ROWS, end = span->end - i < ROUTE_ROWS ? span->end : i + ROUTE_ROWS;
  (void)thread;
  while (i < end) {
    const gbt_page *page = gbt_span_page(span->pages, table_row_of(pass, row_at(pass, i)));
    const int64_t row_end = gbt_row_from(pass->data, page->row_beg + page->n_rows);
    for (; i < end && row_at(pass, i) < row_end; i++) {
      uint32_t row = row_at(pass, i);
      pass->score[row] += pass->value[leaf_of(pass, page, table_row_of(pass, row))];
    }
  }
}

/* See gbt_pages_fn. */
static gbt_status route_pages(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  const route_pass *pass = arg;
  const int64_t row_beg = gbt_row_from(pass->data, pages->row_beg);
  const int64_t row_end = gbt_row_from(pass->data, pages->row_end);
  route_span span = {pass, pages, (uint32_t)row_beg, (uint32_t)row_end};
  if (pass->rows) {
    span.beg = cpu_rows_below(pass->rows, 0, pass->n, row_beg);
    span.end = cpu_rows_below(pass->rows, span.beg, pass->n, row_end);
  }
  const uint32_t n = span.end - span.beg, n_tasks = n / ROUTE_ROWS + (n % ROUTE_ROWS > 0);
  return cpu_parallel(ctx, n_tasks, 10.0 * n, route_task, &span, err);
}

gbt_status cpu_route(gbt_ctx *ctx, cpu_backend *be, int32_t which, const uint32_t *rows, int64_t n,
                     const double *value, gbt_error *err) {
  const gbt_dataset *ds = be->data[which];
  double *score = be->score[which] + (size_t)be->task.output * (size_t)ds->rows.n;
  gbt_page_store *pages = which == 0 ? ds->variant[be->task.variant] : ds->pages;
  const uint32_t *unseen;
  int any_unseen = which > 0 && gbt_pages_unseen(pages, &unseen) != NULL;
  route_pass pass = {.be = be,
                     .data = &ds->rows,
                     .store = pages,
                     .layout = gbt_pages_layout(pages),
                     .table_row = ds->rows.table_row,
                     .rows = rows,
                     .n = (uint32_t)n,
                     .value = value,
                     .score = score,
                     .any_unseen = any_unseen};
  return n > 0 ? gbt_pages_pass(ctx, pages, route_pages, &pass, err) : GBT_OK;
}
