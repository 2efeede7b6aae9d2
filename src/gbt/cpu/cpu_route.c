/* Rows that the tree did not see while it grew (not sampled, or of a validation set) down to their leaves, by bins.
 *
 * bin(x) <= b is the same as x <= cut[b], so this agrees to the bit with predicting from the values. Levels that the
 * cuts do not know are missing in a page; in validation sets they go the way of most all the same.
 *
 *   tables         blocks of rows are turned to columns, and 64 rows go down at once (cpu_walk_tables.c): where the
 *                  machine can, the tree is low and asks few groups, and most rows between the first and the last go
 *   side by side   LANES rows, each a chain of loads: node, code, table by code, next node
 *   one by one     where a split is on a sparse feature, or levels are unseen */
#include <string.h>

#include "../base/look_up.h"
#include "cpu.h"

#define ROUTE_ROWS 4096u

enum {
  LANES = 16,
  SHALLOW = 12, /* trees up to this depth are walked to their depth, others until all rows have arrived */
  STRIDE = 4,   /* steps between two looks whether they have */
  TURNED = 256, /* rows that are turned at once: their columns stay in the first-level cache */
  MOST_GROUPS = GBT_STRIP_MAX, /* that are turned for a tree */
  SPARSE = 4    /* a quarter of the rows at least, or those that go are led one by one */
};

/* A node as rows come to it: on to `last`, or to the child before where the code goes left. A leaf is its own child:
 * mask is 0 there, and code 0 does not go left. */
typedef struct route_node {
  const uint8_t *left; /* by code of the column: 1 where it goes left */
  int32_t group;
  uint32_t last, at; /* at: of the code in a row of the group, in bytes */
  uint16_t stride;   /* bytes of such a row */
  uint16_t mask;
  uint16_t wide; /* 0 or 1 */
} route_node;

typedef struct route_pass {
  const cpu_backend *be;
  const gbt_rows *data;
  cpu_rows_view view;       /* of this data set */
  const gbt_layout *layout; /* of this data set: it may bundle other features than training */
  const uint32_t *rows;     /* some of its rows; NULL: all */
  uint32_t n;
  const double *value; /* of nodes, which are added to scores; NULL: leaves are asked for */
  uint32_t *leaf;
  int any_unseen;   /* not in the training set, whose sampled rows the tree took for missing */
  route_node *node; /* NULL: rows go one by one */
  uint8_t *lut;     /* owned, as node */
  uint32_t depth;
  int any_wide;
  cpu_walk_tables tables; /* owned; not ready: rows go in other ways */
  int32_t group[MOST_GROUPS], n_groups; /* that the tables ask */
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
      left = pass->any_unseen && gbt_page_unseen(pass->view.pages, s->feat, row) ? node->bulk_left : s->missing_left;
    else left = gbt_grow_bin_goes_left(node, be->fr.sets, code);
    GBT_ASSERT(node->left > at);
    at = node->left + !left;
  }
  return at;
}

/* A row has come to a leaf. */
GBT_FN void arrive(const route_pass *pass, uint32_t row, uint32_t node) {
  if (pass->leaf) pass->leaf[row] = node;
  else pass->view.score[row] += pass->value[node];
}

/* A row goes one by one. */
static void lead(const route_pass *pass, const gbt_page *page, uint32_t row) {
  const int64_t at = cpu_page_row(&pass->view, row);
  const int32_t node = leaf_of(pass, page, at);
  if (pass->be->linear.on)
    pass->view.score[row] += cpu_linear_value(pass->be, pass->layout, page, (int32_t)(at - page->row_beg), node);
  else
    arrive(pass, row, (uint32_t)node);
}

static uint32_t row_at(const route_pass *pass, uint32_t i) { return pass->rows ? pass->rows[i] : i; }
static uint32_t page_row_at(const route_pass *pass, uint32_t i) { return cpu_page_row(&pass->view, row_at(pass, i)); }

/* ---- side by side ---- */

static int is_dense(const route_pass *pass) {
  const cpu_backend *be = pass->be;
  for (size_t i = 0; i < be->fr.n_nodes; i++)
    if (be->fr.node[i].left > 0 && pass->layout->place[be->fr.node[i].split.feat].group < 0) return 0;
  return pass->layout->n_groups > 0;
}

static gbt_status make_nodes(route_pass *pass, gbt_error *err) {
  const cpu_backend *be = pass->be;
  const size_t n = be->fr.n_nodes;
  size_t bytes = 1, at = 1; /* byte 0 is the table of leaves */
  for (size_t i = 0; i < n; i++)
    if (be->fr.node[i].left > 0) bytes += cpu_lut_size(pass->layout, be->fr.node[i].split.feat);
  GBT_TRY(gbt_mem_array(&be->mem, bytes, 1, &pass->lut, err));
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *pass->node, &pass->node, err));
  pass->lut[0] = 0;
  for (size_t i = 0; i < n; i++) {
    const gbt_grow_node *from = &be->fr.node[i];
    pass->node[i] = (route_node){.left = pass->lut, .last = (uint32_t)i};
    if ((uint32_t)from->depth > pass->depth) pass->depth = (uint32_t)from->depth;
    if (from->left == 0) continue;
    const gbt_place *place = &pass->layout->place[from->split.feat];
    const gbt_group *group = &pass->layout->group[place->group];
    const uint32_t size = group->wide ? 2 : 1;
    pass->node[i] = (route_node){.left = pass->lut + at,
                                 .group = place->group,
                                 .last = (uint32_t)from->left + 1,
                                 .at = (uint32_t)place->pos * size,
                                 .stride = (uint16_t)((uint32_t)group->stride * size),
                                 .mask = UINT16_MAX,
                                 .wide = group->wide != 0};
    pass->any_wide |= group->wide;
    cpu_fill_lut(be, pass->layout, from, pass->lut + at);
    at += cpu_lut_size(pass->layout, from->split.feat);
  }
  GBT_ASSERT(at == bytes);
  return GBT_OK;
}

GBT_FN uint32_t code_at(const route_node *node, const gbt_page *page, size_t row, int any_wide) {
  const uint8_t *codes = (const uint8_t *)page->group[node->group] + row * node->stride + node->at;
  uint16_t code;
  if (!any_wide || !node->wide) return *codes & node->mask;
  memcpy(&code, codes, sizeof code);
  return code;
}

GBT_FN void steps(const route_node *nodes, const gbt_page *page, const size_t row[LANES], uint32_t n_steps,
                  int any_wide, uint32_t at[LANES]) {
  for (uint32_t s = 0; s < n_steps; s++)
    for (int k = 0; k < LANES; k++) {
      const route_node *node = &nodes[at[k]];
      at[k] = node->last - node->left[code_at(node, page, row[k], any_wide)];
    }
}

static int all_arrived(const route_node *nodes, const uint32_t at[LANES]) {
  uint32_t any = 0;
  for (int k = 0; k < LANES; k++) any |= nodes[at[k]].mask;
  return any == 0;
}

/* Rows at places [beg, end), all of the page; beg < end. */
GBT_FN void walk_rows(const route_pass *pass, const gbt_page *page, uint32_t beg, uint32_t end, int any_wide) {
  for (uint32_t i = beg; i < end; i += LANES) {
    uint32_t at[LANES] = {0}, its[LANES];
    size_t row[LANES];
    for (uint32_t k = 0; k < LANES; k++) {
      its[k] = row_at(pass, end - i > k ? i + k : end - 1);
      row[k] = (size_t)((int64_t)cpu_page_row(&pass->view, its[k]) - page->row_beg);
    }
    if (pass->depth <= SHALLOW)
      steps(pass->node, page, row, pass->depth, any_wide, at);
    else
      while (!all_arrived(pass->node, at)) steps(pass->node, page, row, STRIDE, any_wide, at);
    for (uint32_t k = 0; k < LANES && k < end - i; k++) arrive(pass, its[k], at[k]);
  }
}

/* One function for each, so that neither takes the other's registers. */
static void walk_bytes(const route_pass *pass, const gbt_page *page, uint32_t beg, uint32_t end) {
  walk_rows(pass, page, beg, end, 0);
}
static void walk_wide(const route_pass *pass, const gbt_page *page, uint32_t beg, uint32_t end) {
  walk_rows(pass, page, beg, end, 1);
}

/* ---- tables ---- */

/* The groups of the tree's splits; 0 when they are more than are turned. */
static int find_groups(route_pass *pass) {
  const gbt_frontier *fr = &pass->be->fr;
  pass->n_groups = 0;
  for (size_t i = 0; i < fr->n_nodes; i++) {
    int32_t k = 0;
    if (fr->node[i].left == 0) continue;
    while (k < pass->n_groups && pass->group[k] != pass->node[i].group) k++;
    if (k == MOST_GROUPS) return 0;
    pass->group[k] = pass->node[i].group;
    if (k == pass->n_groups) pass->n_groups++;
  }
  return 1;
}

/* Of the nodes that are there. */
static gbt_status make_tables(const gbt_ctx *ctx, cpu_backend *be, route_pass *pass, int any_missing, gbt_error *err) {
  const size_t n = be->fr.n_nodes;
  cpu_walk_node *node;
  if (!gbt_ctx_has_lookup(ctx) || pass->depth > CPU_TABLE_DEPTH || pass->any_wide || !find_groups(pass)) return GBT_OK;
  GBT_TRY(gbt_mem_array(&be->mem, n, sizeof *node, &node, err));
  for (size_t i = 0; i < n; i++)
    node[i] = (cpu_walk_node){.left = pass->node[i].left, .last = pass->node[i].last, .mask = pass->node[i].mask};
  const cpu_table_tree tree = {node, pass->layout, pass->depth, any_missing};
  const gbt_status status = cpu_walk_tables_make(ctx, be, &tree, &pass->tables, err);
  gbt_mem_free(&be->mem, node);
  return status;
}

/* A block of rows of a page. */
typedef struct turned_rows {
  uint8_t cell[MOST_GROUPS * GBT_GROUP_MAX][TURNED];
  uint8_t *column[MOST_GROUPS * GBT_GROUP_MAX];
  const uint8_t *codes[1 << CPU_TABLE_DEPTH]; /* as the tables ask for them */
  uint32_t leaf[TURNED];
} turned_rows;

static void start_turning(const route_pass *pass, turned_rows *block) {
  const cpu_walk_tables *t = &pass->tables;
  GBT_ASSERT(t->n_asks + t->n_sets <= sizeof block->codes / sizeof *block->codes);
  for (int32_t k = 0; k < pass->n_groups * GBT_GROUP_MAX; k++) block->column[k] = block->cell[k];
  for (size_t k = 0; k < t->n_asks + t->n_sets; k++) {
    const int32_t column = cpu_walk_tables_column(t, k);
    int32_t g = 0;
    while (pass->group[g] != column / GBT_GROUP_MAX) g++;
    GBT_ASSERT(g < pass->n_groups);
    block->codes[k] = block->column[g * GBT_GROUP_MAX + column % GBT_GROUP_MAX];
  }
}

/* Places [beg, end), all of the page, as far as blocks of it go; returns how far. */
static uint32_t walk_turned(const route_pass *pass, const gbt_page *page, uint32_t beg, uint32_t end) {
  turned_rows block;
  uint32_t i = beg;
  start_turning(pass, &block);
  while (i < end) {
    const uint32_t first = page_row_at(pass, i), at = first - (uint32_t)page->row_beg;
    const uint32_t left = (uint32_t)page->n_rows - at;
    const uint32_t n = left < TURNED ? left / CPU_TABLE_ROWS * CPU_TABLE_ROWS : TURNED;
    if (n == 0) break;
    for (int32_t g = 0; g < pass->n_groups; g++) {
      const gbt_group *group = &pass->layout->group[pass->group[g]];
      cpu_walk_tables_turn((const uint8_t *)page->group[pass->group[g]] + (size_t)at * (size_t)group->stride,
                           (size_t)group->stride, (size_t)group->n_feats, n, block.column + g * GBT_GROUP_MAX);
    }
    cpu_walk_tables_run(&pass->tables, block.codes, 0, n, block.leaf);
    for (; i < end; i++) {
      const uint32_t row = row_at(pass, i), k = cpu_page_row(&pass->view, row) - first;
      if (k >= n) break;
      arrive(pass, row, block.leaf[k]);
    }
  }
  return i;
}

/* Places [beg, end), all of the page; beg < end. */
static void walk_page(const route_pass *pass, const gbt_page *page, uint32_t beg, uint32_t end) {
  if (pass->tables.ready) {
    const uint32_t first = page_row_at(pass, beg), last = page_row_at(pass, end - 1);
    if (end - beg >= (last - first) / SPARSE + 1) beg = walk_turned(pass, page, beg, end);
  }
  if (pass->any_wide) walk_wide(pass, page, beg, end);
  else walk_bytes(pass, page, beg, end);
}

/* ---- spans ---- */

/* Of places [beg, end), where those below row_end end. */
static uint32_t places_below(const route_pass *pass, uint32_t beg, uint32_t end, int64_t row_end) {
  if (pass->rows) return cpu_rows_below(pass->rows, beg, end, row_end);
  return row_end < (int64_t)end ? (uint32_t)row_end : end;
}

/* Places [i, end) of the span. */
static void route_places(const route_pass *pass, const gbt_page_span *pages, uint32_t i, uint32_t end) {
  while (i < end) {
    const gbt_page *page = gbt_span_page(pages, page_row_at(pass, i));
    const uint32_t page_end = places_below(pass, i, end, gbt_row_from(pass->data, page->row_beg + page->n_rows));
    if (pass->node != NULL) walk_page(pass, page, i, page_end);
    else
      for (uint32_t k = i; k < page_end; k++) lead(pass, page, row_at(pass, k));
    i = page_end;
  }
}

/* The places of a span. */
static route_span span_of(const route_pass *pass, const gbt_page_span *pages) {
  const int64_t row_beg = gbt_row_from(pass->data, pages->row_beg);
  const int64_t row_end = gbt_row_from(pass->data, pages->row_end);
  route_span span = {pass, pages, (uint32_t)row_beg, (uint32_t)row_end};
  if (pass->rows) {
    span.beg = cpu_rows_below(pass->rows, 0, pass->n, row_beg);
    span.end = cpu_rows_below(pass->rows, span.beg, pass->n, row_end);
  }
  return span;
}

static void route_task(void *arg, int64_t task, int thread) {
  const route_span *span = arg;
  uint32_t i = span->beg + (uint32_t)task * ROUTE_ROWS, end = span->end - i < ROUTE_ROWS ? span->end : i + ROUTE_ROWS;
  (void)thread;
  route_places(span->pass, span->pages, i, end);
}

/* Pages in memory; see gbt_pages_fn. */
static gbt_status route_pages(void *arg, gbt_ctx *ctx, const gbt_page_span *pages, gbt_error *err) {
  const route_span span = span_of(arg, pages);
  const uint32_t n = span.end - span.beg, n_tasks = n / ROUTE_ROWS + (n % ROUTE_ROWS > 0);
  return cpu_parallel(ctx, n_tasks, 10.0 * n, route_task, (void *)&span, err);
}

/* Others; see gbt_pages_task. */
static void route_run(void *arg, const gbt_page_span *pages, int64_t task, int thread) {
  const route_span span = span_of(arg, pages);
  (void)task;
  (void)thread;
  route_places(span.pass, pages, span.beg, span.end);
}

/* value or leaf: NULL. */
static gbt_status route(gbt_ctx *ctx, cpu_backend *be, int32_t which, const uint32_t *rows, int64_t n,
                        const double *value, uint32_t *leaf, gbt_error *err) {
  const gbt_dataset *ds = be->data[which];
  cpu_rows_view view = be->view;
  if (which > 0)
    view = (cpu_rows_view){.pages = ds->pages,
                           .page_row = ds->rows.table_row,
                           .score = be->score[which] + (size_t)be->task.output * (size_t)ds->rows.n};
  const uint32_t *unseen;
  int any_unseen = which > 0 && gbt_pages_unseen(view.pages, &unseen) != NULL;
  route_pass pass = {.be = be,
                     .data = &ds->rows,
                     .view = view,
                     .layout = gbt_pages_layout(view.pages),
                     .rows = rows,
                     .n = (uint32_t)n,
                     .value = value,
                     .leaf = leaf,
                     .any_unseen = any_unseen};
  gbt_status status = GBT_OK;
  GBT_ASSERT(be->view.span == NULL); /* scores are those of train rows */
  if (n == 0) return GBT_OK;
  if (!any_unseen && !be->linear.on && is_dense(&pass)) {
    status = make_nodes(&pass, err);
    if (status == GBT_OK) status = make_tables(ctx, be, &pass, which > 0, err);
  }
  if (status == GBT_OK && gbt_pages_stay(view.pages)) status = gbt_pages_pass(ctx, view.pages, route_pages, &pass, err);
  else if (status == GBT_OK) status = gbt_pages_each(ctx, view.pages, 1, route_run, &pass, err);
  cpu_walk_tables_free(&be->mem, &pass.tables);
  gbt_mem_free(&be->mem, pass.lut);
  gbt_mem_free(&be->mem, pass.node);
  return status;
}

gbt_status cpu_route(gbt_ctx *ctx, cpu_backend *be, int32_t which, const uint32_t *rows, int64_t n,
                     const double *value, gbt_error *err) {
  return route(ctx, be, which, rows, n, value, NULL, err);
}

gbt_status cpu_route_leaves(gbt_ctx *ctx, cpu_backend *be, int32_t which, uint32_t *leaf, gbt_error *err) {
  GBT_ASSERT(!be->linear.on);
  return route(ctx, be, which, NULL, be->data[which]->rows.n, NULL, leaf, err);
}
