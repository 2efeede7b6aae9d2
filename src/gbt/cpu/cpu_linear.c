/* Linear leaves of a finished tree (tree/linear.h).
 *
 *   items    leaves that have numeric features on their path, the nearest GBT_LINEAR_MOST of them
 *   sums     a pass over the leaves' rows: a block of rows at a time, its codes feature by feature, then products
 *   slopes   from the sums of all chunks and ranks (tree/linear_fit.h); leaves that gain too little stay constant
 *   scores   a second pass adds values to the scores of these rows; the smallest and largest one are the leaf's range
 *
 * Rows that were not drawn, and validation rows, come to the leaves later (cpu_route.c). */
#include <string.h>

#include "../base/comm.h"
#include "../base/order.h"
#include "cpu.h"

enum { BLOCK = 64 }; /* rows whose codes are read at a time */

void cpu_linear_close(cpu_backend *be) {
  cpu_linear *linear = &be->linear;
  gbt_mem_free(&be->mem, linear->item_of);
  gbt_mem_free(&be->mem, linear->item);
  gbt_mem_free(&be->mem, linear->sum);
  gbt_mem_free(&be->mem, linear->part);
  gbt_mem_free(&be->mem, linear->range);
  gbt_mem_free(&be->mem, linear->most);
  gbt_mem_free(&be->mem, linear->of);
  gbt_mem_free(&be->mem, linear->leaf);
  gbt_mem_free(&be->mem, linear->term);
}

void cpu_linear_begin(cpu_backend *be, const gbt_forest *forest) {
  be->linear.on = forest->linear != NULL;
  if (be->linear.on) be->linear.view = gbt_forest_view_of(forest).linear;
}

/* ---- items ---- */

/* The grids of the numeric features above a leaf, nearest first. */
static void list_grids(const cpu_backend *be, const gbt_forest *forest, cpu_linear_item *item) {
  item->n = 0;
  for (int32_t i = be->fr.node[item->node].parent; i >= 0 && item->n < GBT_LINEAR_MOST; i = be->fr.node[i].parent) {
    const int32_t grid = gbt_forest_grid_of(forest, be->fr.node[i].split.feat);
    int32_t k = 0;
    if (grid < 0) continue;
    while (k < item->n && item->grid[k] != (uint32_t)grid) k++;
    if (k == item->n) item->grid[item->n++] = (uint32_t)grid;
  }
}

static gbt_status list_items(cpu_backend *be, const gbt_forest *forest, gbt_error *err) {
  cpu_linear *linear = &be->linear;
  const size_t n = be->fr.n_nodes;
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->item_of, &linear->cap_item_of, n, sizeof *linear->item_of, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->of, &linear->cap_of, n, sizeof *linear->of, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->item, &linear->cap_item, n, sizeof *linear->item, err));
  linear->n_items = 0;
  for (size_t i = 0; i < n; i++) {
    cpu_linear_item *item = &linear->item[linear->n_items];
    linear->item_of[i] = -1;
    linear->of[i] = 0;
    if (be->fr.node[i].left > 0) continue;
    item->node = (int32_t)i;
    list_grids(be, forest, item);
    if (item->n > 0) linear->item_of[i] = (int32_t)linear->n_items++;
  }
  return GBT_OK;
}

/* Where the rows from `at` on cease to ascend. */
static uint32_t run_end(const uint32_t *rows, uint32_t at, uint32_t n) {
  do at++;
  while (at < n && rows[at - 1] < rows[at]);
  return at;
}

/* Rows of a leaf that growth had split ahead in vain are a run for each of the parts. Neighbouring runs are merged
 * until there is one; spare: room for n. */
static void sort_rows(uint32_t *rows, uint32_t *spare, uint32_t n) {
  while (!gbt_ascend_u32(rows, n)) {
    for (uint32_t at = 0, end; at < n; at = end) {
      const uint32_t mid = run_end(rows, at, n);
      end = mid < n ? run_end(rows, mid, n) : n;
      for (uint32_t i = at, a = at, b = mid; i < end; i++)
        spare[i] = b == end || (a < mid && rows[a] < rows[b]) ? rows[a++] : rows[b++];
    }
    memcpy(rows, spare, n * sizeof *rows);
  }
}

static void sort_task(void *arg, int64_t task, int thread) {
  cpu_backend *be = arg;
  const gbt_grow_node *node = &be->fr.node[be->linear.item[task].node];
  (void)thread;
  sort_rows(be->rows.order + node->order_beg, be->rows.spare + node->order_beg, node->own_rows);
}

/* ---- reading ---- */

/* X of n rows of a page, in a feature that has grid g. */
static void read_x(const cpu_backend *be, const gbt_page *page, const uint32_t *page_row, uint32_t n, uint32_t g,
                   int32_t *x) {
  const gbt_linear_grid *grid = &be->linear.view.grid[g];
  const gbt_place *place = &be->layout->place[grid->feat];
  const int16_t *at = be->linear.view.x + grid->beg;
  const uint32_t beg = (uint32_t)page->row_beg;
  const int32_t n_bins = grid->n_bins;
  if (place->zero_bin >= 0 || place->group < 0) {
    for (uint32_t i = 0; i < n; i++) {
      const int32_t code = gbt_page_code(be->layout, be->cuts, page, (int32_t)(page_row[i] - beg), grid->feat);
      x[i] = code < n_bins ? at[code] : GBT_LINEAR_MISSING;
    }
    return;
  }
  const gbt_group *group = &be->layout->group[place->group];
  const size_t stride = (size_t)group->stride, pos = (size_t)place->pos;
  const uint8_t *c8 = page->group[place->group];
  const uint16_t *c16 = page->group[place->group];
  for (uint32_t i = 0; i < n; i++) {
    const size_t cell = (size_t)(page_row[i] - beg) * stride + pos;
    const int32_t code = group->wide ? c16[cell] : c8[cell];
    x[i] = code < n_bins ? at[code] : GBT_LINEAR_MISSING;
  }
}

/* A block of rows of a leaf: X feature by feature, and whether one is missing. */
typedef struct linear_block {
  const uint32_t *rows; /* n */
  uint32_t n;
  int32_t x[GBT_LINEAR_MOST][BLOCK];
  int any_missing;
  uint8_t missing[BLOCK];
} linear_block;

static void read_block(const cpu_backend *be, const gbt_page *page, const uint32_t *grid, int32_t n_grids,
                       linear_block *block) {
  uint32_t room[BLOCK];
  const uint32_t *page_row = cpu_page_rows(&be->view, block->rows, block->n, room);
  block->any_missing = 0;
  memset(block->missing, 0, sizeof block->missing);
  for (int32_t k = 0; k < n_grids; k++) {
    read_x(be, page, page_row, block->n, grid[k], block->x[k]);
    for (uint32_t i = 0; i < block->n; i++) block->missing[i] |= block->x[k][i] == GBT_LINEAR_MISSING;
  }
  for (uint32_t i = 0; i < block->n; i++) block->any_missing |= block->missing[i];
}

/* Calls fn for all blocks of a chunk's rows of the span. */
typedef void (*block_fn)(const cpu_backend *be, size_t chunk, const linear_block *block);

static void each_block(const cpu_span *span, size_t c, const uint32_t *grid, int32_t n_grids, block_fn fn) {
  const cpu_backend *be = span->be;
  cpu_chunk *chunk = &be->rows.chunk[c];
  const uint32_t *order = be->rows.order;
  const uint32_t end = cpu_rows_below(order, chunk->next, chunk->end, span->row_end);
  linear_block block;
  for (uint32_t beg = chunk->next, stop; beg < end; beg = stop) {
    const gbt_page *page = cpu_span_page(span, order, beg, end, &stop);
    for (uint32_t i = beg; i < stop; i += BLOCK) {
      block.rows = order + i;
      block.n = stop - i < BLOCK ? stop - i : BLOCK;
      read_block(be, page, grid, n_grids, &block);
      fn(be, c, &block);
    }
  }
  chunk->next = end;
}

/* ---- sums ---- */

/* Gradients of 32 bits: a product may take all of 64. */
static void add_wide(const cpu_backend *be, const linear_block *block, int32_t n, gbt_linear_wide *sum) {
  for (uint32_t i = 0; i < block->n; i++) {
    const gbt_gh32 *gh = &be->view.gh32[block->rows[i]];
    if (block->missing[i]) continue;
    gbt_linear_add(&sum[GBT_LINEAR_G], gh->g);
    gbt_linear_add(&sum[GBT_LINEAR_H], gh->h);
    for (int32_t a = 0; a < n; a++) {
      const int64_t hx = (int64_t)gh->h * block->x[a][i];
      gbt_linear_add(&sum[GBT_LINEAR_GX + a], (int64_t)gh->g * block->x[a][i]);
      gbt_linear_add(&sum[GBT_LINEAR_HX + a], hx);
      for (int32_t b = 0; b <= a; b++) gbt_linear_add(&sum[gbt_linear_pair(a, b)], hx * block->x[b][i]);
    }
  }
}

/* Gradients of 16 bits: a product takes 45, those of a block 51. */
static void add_narrow(const cpu_backend *be, const linear_block *block, int32_t n, gbt_linear_wide *sum) {
  int32_t g[BLOCK], h[BLOCK], hx[BLOCK], x[GBT_LINEAR_MOST][BLOCK];
  int64_t sum_g = 0, sum_h = 0;
  for (uint32_t i = 0; i < block->n; i++) {
    const gbt_gh16 gh = be->view.gh16[block->rows[i]];
    g[i] = block->missing[i] ? 0 : gh.g;
    h[i] = block->missing[i] ? 0 : gh.h;
    sum_g += g[i];
    sum_h += h[i];
  }
  gbt_linear_add(&sum[GBT_LINEAR_G], sum_g);
  gbt_linear_add(&sum[GBT_LINEAR_H], sum_h);
  for (int32_t a = 0; a < n; a++) {
    int64_t sum_gx = 0, sum_hx = 0;
    for (uint32_t i = 0; i < block->n; i++) {
      x[a][i] = block->missing[i] ? 0 : block->x[a][i];
      hx[i] = h[i] * x[a][i];
      sum_gx += (int64_t)g[i] * x[a][i];
      sum_hx += hx[i];
    }
    gbt_linear_add(&sum[GBT_LINEAR_GX + a], sum_gx);
    gbt_linear_add(&sum[GBT_LINEAR_HX + a], sum_hx);
    for (int32_t b = 0; b <= a; b++) {
      int64_t sum_hxx = 0;
      for (uint32_t i = 0; i < block->n; i++) sum_hxx += (int64_t)hx[i] * x[b][i];
      gbt_linear_add(&sum[gbt_linear_pair(a, b)], sum_hxx);
    }
  }
}

static void sum_block(const cpu_backend *be, size_t chunk, const linear_block *block) {
  const int32_t n = be->linear.item[be->linear.item_of[be->rows.chunk[chunk].node]].n;
  gbt_linear_wide *sum = be->linear.part + chunk * GBT_LINEAR_SUMS;
  if (be->view.wide) add_wide(be, block, n, sum);
  else add_narrow(be, block, n, sum);
}

static void sum_task(void *arg, int64_t task, int thread) {
  const cpu_span *span = arg;
  const cpu_linear *linear = &span->be->linear;
  const int32_t at = linear->item_of[span->be->rows.chunk[task].node];
  (void)thread;
  if (at >= 0) each_block(span, (size_t)task, linear->item[at].grid, linear->item[at].n, sum_block);
}

/* See gbt_pages_fn. */
static gbt_status sum_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  cpu_span span = cpu_span_of(arg, pages);
  const double ns = 30.0 * cpu_chunk_rows(span.be) * cpu_span_share(&span);
  return cpu_parallel(ctx, (int64_t)span.be->rows.n_chunk, ns, sum_task, &span, err);
}

static void rewind_chunks(cpu_backend *be) {
  for (size_t c = 0; c < be->rows.n_chunk; c++) be->rows.chunk[c].next = be->rows.chunk[c].beg;
}

/* The sums of all items, over all ranks; there are items. */
static gbt_status sum_items(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_linear *linear = &be->linear;
  const size_t n_chunk = be->rows.n_chunk, n = linear->n_items * GBT_LINEAR_SUMS;
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->part, &linear->cap_part, n_chunk * GBT_LINEAR_SUMS, sizeof *linear->part,
                       err));
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->sum, &linear->cap_sum, n, sizeof *linear->sum, err));
  if (n_chunk > 0) memset(linear->part, 0, n_chunk * GBT_LINEAR_SUMS * sizeof *linear->part); /* a rank may have none */
  memset(linear->sum, 0, n * sizeof *linear->sum);
  rewind_chunks(be);
  GBT_TRY(cpu_train_pass(ctx, be, sum_span, be, err));
  for (size_t c = 0; c < n_chunk; c++) {
    const int32_t at = linear->item_of[be->rows.chunk[c].node];
    gbt_linear_wide *to = linear->sum + (size_t)(at < 0 ? 0 : at) * GBT_LINEAR_SUMS;
    const gbt_linear_wide *from = linear->part + c * GBT_LINEAR_SUMS;
    for (int k = 0; at >= 0 && k < GBT_LINEAR_SUMS; k++) to[k].high += from[k].high, to[k].low += from[k].low;
  }
  for (size_t i = 0; i < n; i++) gbt_linear_settle(&linear->sum[i]);
  const gbt_comm_part sums = {linear->sum, 2 * n, GBT_COMM_I64};
  GBT_TRY(gbt_comm_sum_parts(ctx, &sums, 1, err));
  for (size_t i = 0; i < n; i++) gbt_linear_settle(&linear->sum[i]);
  return GBT_OK;
}

/* ---- slopes ---- */

/* The linear leaf of an item, if its slopes gain enough. */
static void make_leaf(cpu_backend *be, const cpu_linear_item *item, const gbt_linear_wide *sum,
                      const gbt_linear_rule *rule) {
  cpu_linear *linear = &be->linear;
  double slope[GBT_LINEAR_MOST], mean[GBT_LINEAR_MOST];
  const double step = be->params->max_delta_step, most = step > 0.0 ? step * be->task.shrinkage : GBT_GROW_INFINITY;
  gbt_linear_leaf leaf = {.start = be->leaf.value[item->node], .low = -most, .high = most, .term_beg = linear->n_terms};
  gbt_linear_term *term = linear->term + linear->n_terms;
  double size = 0.0;
  if (!(gbt_linear_fit(sum, item->n, *rule, slope, mean) > 0.0)) return;
  for (int32_t k = 0; k < item->n; k++) {
    const double its = slope[k] * be->task.shrinkage;
    if (its == 0.0) continue;
    leaf.start -= its * mean[k];
    size += (its < 0.0 ? -its : its) * (2.0 * GBT_LINEAR_HALF);
    term[leaf.n_terms++] = (gbt_linear_term){its, item->grid[k], (int32_t)gbt_round_i64(mean[k] * GBT_LINEAR_MEAN)};
  }
  if (leaf.n_terms == 0 || !gbt_grow_value_ok(size) || !gbt_grow_value_ok(leaf.start)) return;
  linear->n_terms += leaf.n_terms;
  linear->leaf[linear->n_leaves++] = leaf;
  linear->of[item->node] = (uint32_t)linear->n_leaves;
}

static gbt_status make_leaves(cpu_backend *be, gbt_error *err) {
  cpu_linear *linear = &be->linear;
  const size_t n = linear->n_items;
  const gbt_linear_rule rule = {be->params->linear_lambda, be->grad.noise[be->task.output], cpu_units(be)};
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->leaf, &linear->cap_leaf, n, sizeof *linear->leaf, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->term, &linear->cap_term, n * GBT_LINEAR_MOST, sizeof *linear->term, err));
  linear->n_leaves = linear->n_terms = 0;
  for (size_t i = 0; i < n; i++) make_leaf(be, &linear->item[i], linear->sum + i * GBT_LINEAR_SUMS, &rule);
  return GBT_OK;
}

/* ---- scores ---- */

static void score_block(const cpu_backend *be, size_t chunk, const linear_block *block) {
  const int32_t node = be->rows.chunk[chunk].node;
  const gbt_linear_leaf *leaf = &be->linear.leaf[be->linear.of[node] - 1];
  const gbt_linear_term *term = be->linear.term + leaf->term_beg;
  cpu_linear_range *range = &be->linear.range[chunk];
  double value[BLOCK];
  for (uint32_t i = 0; i < block->n; i++) value[i] = leaf->start;
  for (uint32_t k = 0; k < leaf->n_terms; k++)
    for (uint32_t i = 0; i < block->n; i++) value[i] += term[k].slope * (double)block->x[k][i];
  for (uint32_t i = 0; i < block->n; i++) {
    value[i] = gbt_linear_clip(leaf, value[i]);
    if (block->any_missing && block->missing[i]) {
      value[i] = be->leaf.value[node];
    } else {
      range->low = value[i] < range->low ? value[i] : range->low;
      range->high = value[i] > range->high ? value[i] : range->high;
    }
    be->view.score[block->rows[i]] += value[i];
  }
}

static void score_task(void *arg, int64_t task, int thread) {
  const cpu_span *span = arg;
  const cpu_backend *be = span->be;
  cpu_chunk *chunk = &be->rows.chunk[task];
  const uint32_t of = be->linear.of[chunk->node];
  uint32_t grid[GBT_LINEAR_MOST];
  (void)thread;
  if (of > 0) {
    const gbt_linear_leaf *leaf = &be->linear.leaf[of - 1];
    for (uint32_t k = 0; k < leaf->n_terms; k++) grid[k] = be->linear.term[leaf->term_beg + k].grid;
    each_block(span, (size_t)task, grid, (int32_t)leaf->n_terms, score_block);
    return;
  }
  for (; chunk->next < chunk->end; chunk->next++)
    be->view.score[be->rows.order[chunk->next]] += be->leaf.value[chunk->node];
}

/* See gbt_pages_fn. */
static gbt_status score_span(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  cpu_span span = cpu_span_of(arg, pages);
  const double ns = 8.0 * cpu_chunk_rows(span.be) * cpu_span_share(&span);
  return cpu_parallel(ctx, (int64_t)span.be->rows.n_chunk, ns, score_task, &span, err);
}

/* Scores, and the ranges of the leaves by their rows of all ranks. */
static gbt_status score_rows(gbt_ctx *ctx, cpu_backend *be, gbt_error *err) {
  cpu_linear *linear = &be->linear;
  const size_t n_chunk = be->rows.n_chunk, n = 2 * linear->n_leaves;
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->range, &linear->cap_range, n_chunk, sizeof *linear->range, err));
  GBT_TRY(gbt_mem_grow(&be->mem, &linear->most, &linear->cap_most, n, sizeof *linear->most, err));
  for (size_t c = 0; c < n_chunk; c++) linear->range[c] = (cpu_linear_range){GBT_GROW_INFINITY, -GBT_GROW_INFINITY};
  for (size_t i = 0; i < n; i++) linear->most[i] = -GBT_GROW_INFINITY;
  rewind_chunks(be);
  GBT_TRY(cpu_train_pass(ctx, be, score_span, be, err));
  for (size_t c = 0; c < n_chunk; c++) {
    const uint32_t of = linear->of[be->rows.chunk[c].node];
    if (of == 0) continue;
    double *most = linear->most + 2 * (of - 1);
    most[0] = -linear->range[c].low > most[0] ? -linear->range[c].low : most[0];
    most[1] = linear->range[c].high > most[1] ? linear->range[c].high : most[1];
  }
  if (n > 0) GBT_TRY(gbt_comm_max_f64(ctx, linear->most, n, err));
  for (size_t i = 0; i < linear->n_leaves; i++) {
    linear->leaf[i].low = -linear->most[2 * i];
    linear->leaf[i].high = linear->most[2 * i + 1];
    GBT_ASSERT(linear->leaf[i].low <= linear->leaf[i].high);
  }
  return GBT_OK;
}

gbt_status cpu_linear_leaves(gbt_ctx *ctx, cpu_backend *be, const gbt_forest *forest, gbt_error *err) {
  GBT_TRY(list_items(be, forest, err));
  if (be->linear.n_items > 0) { /* as many on all ranks */
    GBT_TRY(cpu_parallel(ctx, (int64_t)be->linear.n_items, 1.0 * be->rows.n_in, sort_task, be, err));
    GBT_TRY(sum_items(ctx, be, err));
  }
  GBT_TRY(make_leaves(be, err));
  return score_rows(ctx, be, err);
}

double cpu_linear_value(const cpu_backend *be, const gbt_layout *layout, const gbt_page *page, int32_t r,
                        int32_t node) {
  const cpu_linear *linear = &be->linear;
  int32_t x[GBT_LINEAR_MOST];
  if (linear->of[node] == 0) return be->leaf.value[node];
  const gbt_linear_leaf *leaf = &linear->leaf[linear->of[node] - 1];
  const gbt_linear_term *term = linear->term + leaf->term_beg;
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const gbt_linear_grid *grid = &linear->view.grid[term[k].grid];
    const int32_t code = gbt_page_code(layout, be->cuts, page, r, grid->feat);
    if (code >= grid->n_bins) return be->leaf.value[node];
    x[k] = linear->view.x[grid->beg + (uint64_t)code];
  }
  return gbt_linear_value(leaf, term, x);
}
