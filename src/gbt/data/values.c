/* Values of bins: see values.h. A task is a column of a block of rows; blocks reach over pages, spans do not. */
#include "values.h"

#include <string.h>

#include "../base/bits.h"
#include "../base/parallel.h"
#include "../schema/dictionary.h"
#include "dataset_impl.h"

enum {
  MOST_ROWS = 65536,
  LEAST_ROWS = 1024,
  BLOCK_BYTES = 32 << 20,
  TASK_ROWS = 8192 /* of a column */
};

/* A column of the tables. */
typedef struct value_column {
  int32_t feat;    /* that is the column itself */
  int32_t n_bins;
  double *number;  /* n_bins + 1, by code; NULL for levels */
  int32_t *code;   /* n_bins + 1, by code: 1-based levels; NULL for numbers */
  const uint32_t *ids; /* of all rows, where the pages do not have all levels; else NULL */
} value_column;

typedef struct values {
  const gbt_dataset *ds;
  const gbt_layout *layout;
  gbt_table table;
  gbt_column *col;
  value_column *from;  /* table.n_cols */
  void *room;          /* of a block */
  char **unseen;       /* by column: the text of an unknown level; NULL for numbers */
  const char ***texts; /* by column: level texts, then that one */
  int64_t block_rows;
  gbt_values_fn fn;
  void *arg;
  const gbt_page_span *span; /* in work */
  int64_t beg, end;          /* rows in work */
} values;

/* The feature that is the column itself: mostly of its number. */
static int32_t own_feature(const gbt_schema *schema, int32_t col) {
  int32_t f = 0;
  if (col < schema->n_features && schema->feat[col].kind == GBT_FEATURE_COLUMN && schema->feat[col].col == col)
    return col;
  while (f < schema->n_features && (schema->feat[f].kind != GBT_FEATURE_COLUMN || schema->feat[f].col != col)) f++;
  GBT_ASSERT(f < schema->n_features);
  return f;
}

int gbt_dataset_has_cut(const gbt_dataset *ds, int32_t col, double threshold) {
  const gbt_feature_cuts *cuts = &ds->cuts->feat[own_feature(ds->cuts->schema, col)];
  if (cuts->cut == NULL) return 1;
  if (threshold != threshold) return 0;
  return cuts->cut[gbt_cut_search(cuts->cut, cuts->n_bins, threshold)] == threshold;
}

/* ---- reading pages ---- */

static int32_t level_code(const values *v, const value_column *from, int32_t code, int64_t row, int32_t n_levels) {
  if (from->ids != NULL) return from->ids[row] == (uint32_t)n_levels ? INT32_MIN : (int32_t)from->ids[row] + 1;
  if (code < from->n_bins) return from->code[code];
  return gbt_page_unseen(v->ds->pages, from->feat, row) ? n_levels + 1 : INT32_MIN;
}

/* Rows of one page, from row r of it on. */
static void read_rows(const values *v, int32_t c, const gbt_page *page, int32_t r, int64_t n, int64_t to) {
  const value_column *from = &v->from[c];
  const gbt_place *place = &v->layout->place[from->feat];
  const int32_t n_levels = from->code != NULL ? v->col[c].n_levels - 1 : 0;
  const gbt_group *group = place->group >= 0 && place->zero_bin < 0 ? &v->layout->group[place->group] : NULL;
  const uint8_t *c8 = group != NULL ? (const uint8_t *)page->group[place->group] + place->pos : NULL;
  const uint16_t *c16 = group != NULL ? (const uint16_t *)page->group[place->group] + place->pos : NULL;
  for (int64_t i = 0; i < n; i++, r++, to++) {
    const int64_t at = group != NULL ? (int64_t)r * group->stride : 0;
    const int32_t code = group == NULL    ? gbt_page_code(v->layout, v->ds->cuts, page, r, from->feat)
                         : group->wide    ? (int32_t)c16[at]
                                          : (int32_t)c8[at];
    if (from->number != NULL)
      ((double *)v->col[c].values)[to] = from->number[code];
    else
      ((int32_t *)v->col[c].values)[to] = level_code(v, from, code, page->row_beg + r, n_levels);
  }
}

static void read_task(void *arg, int64_t task, int thread) {
  const values *v = arg;
  (void)thread;
  GBT_ASSERT(v->table.n_cols > 0);
  const int32_t c = (int32_t)(task % v->table.n_cols);
  const int64_t beg = v->beg + task / v->table.n_cols * TASK_ROWS;
  const int64_t end = v->end < beg + TASK_ROWS ? v->end : beg + TASK_ROWS;
  for (int64_t row = beg, n; row < end; row += n) {
    const gbt_page *page = gbt_span_page(v->span, (uint32_t)row);
    n = page->row_beg + page->n_rows - row;
    if (n > end - row) n = end - row;
    read_rows(v, c, page, (int32_t)(row - page->row_beg), n, row - v->beg);
  }
}

static gbt_status values_of_span(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  values *v = arg;
  v->span = span;
  for (v->beg = span->row_beg; v->beg < span->row_end; v->beg = v->end) {
    v->end = span->row_end < v->beg + v->block_rows ? span->row_end : v->beg + v->block_rows;
    v->table.n_rows = v->end - v->beg;
    const int64_t parts = (v->table.n_rows + TASK_ROWS - 1) / TASK_ROWS;
    GBT_TRY(gbt_parallel(ctx, parts * v->table.n_cols, read_task, v, err));
    GBT_TRY(v->fn(v->arg, ctx, &v->table, v->beg, err));
  }
  return GBT_OK;
}

/* ---- columns ---- */

/* A text that is not among those of a column of the reader. */
static gbt_status unknown_text(const gbt_mem *mem, const gbt_schema_column *known, char **out, gbt_error *err) {
  size_t longest = 0;
  for (int32_t i = 0; i < known->n_levels; i++) {
    const size_t n = strlen(known->levels[i]);
    if (n > longest) longest = n;
  }
  static const char text[] = "a level that the cuts of the data do not have";
  const size_t n = sizeof text > longest + 2 ? sizeof text : longest + 2;
  GBT_TRY(gbt_mem_array(mem, n, 1, out, err));
  memset(*out, '.', n - 1); /* longer than all that are known */
  memcpy(*out, text, sizeof text - 1);
  (*out)[n - 1] = '\0';
  return GBT_OK;
}

static gbt_status number_column(const gbt_mem *mem, const gbt_feature_cuts *cuts, value_column *to, gbt_error *err) {
  GBT_TRY(gbt_mem_array(mem, (size_t)cuts->n_bins + 1, sizeof *to->number, &to->number, err));
  memcpy(to->number, cuts->cut, (size_t)cuts->n_bins * sizeof *to->number);
  to->number[cuts->n_bins] = gbt_from_bits(0x7ff8000000000000u);
  return GBT_OK;
}

/* Level of a bin: a category's number, or the highest rank that is not above its cut. */
static int32_t level_of_bin(const gbt_feature_cuts *cuts, int32_t b, int32_t n_levels) {
  if (cuts->cut == NULL) return b;
  return cuts->cut[b] < n_levels - 1 ? (int32_t)cuts->cut[b] : n_levels - 1;
}

static gbt_status level_column(const gbt_mem *mem, const gbt_feature_cuts *cuts, const gbt_schema_column *column,
                               const gbt_schema_column *known, values *v, int32_t c, gbt_error *err) {
  value_column *to = &v->from[c];
  const size_t n = (size_t)column->n_levels;
  GBT_TRY(gbt_mem_array(mem, (size_t)cuts->n_bins + 1, sizeof *to->code, &to->code, err));
  for (int32_t b = 0; b < cuts->n_bins; b++) to->code[b] = level_of_bin(cuts, b, column->n_levels) + 1;
  to->code[cuts->n_bins] = INT32_MIN;
  GBT_TRY(unknown_text(mem, known, &v->unseen[c], err));
  GBT_TRY(gbt_mem_array(mem, n + 1, sizeof *v->texts[c], &v->texts[c], err));
  if (n > 0) memcpy(v->texts[c], column->levels, n * sizeof *v->texts[c]);
  v->texts[c][n] = v->unseen[c];
  v->col[c].n_levels = column->n_levels + 1;
  v->col[c].levels = v->texts[c];
  return GBT_OK;
}

static gbt_status add_column(const gbt_mem *mem, values *v, int32_t col, const gbt_schema_column *known,
                             gbt_error *err) {
  const gbt_schema *schema = v->ds->cuts->schema;
  const gbt_schema_column *column = &schema->col[col];
  const int32_t c = v->table.n_cols++, feat = own_feature(schema, col);
  const gbt_feature_cuts *cuts = &v->ds->cuts->feat[feat];
  const int levels = column->type != GBT_NUMERIC;
  v->from[c] = (value_column){.feat = feat, .n_bins = cuts->n_bins};
  v->col[c] = (gbt_column){.name = column->name,
                           .tag = column->tag,
                           .type = column->type,
                           .storage = levels ? GBT_CODES : GBT_F64};
  if (!levels) return number_column(mem, cuts, &v->from[c], err);
  v->from[c].ids = gbt_pages_level_ids(v->ds->pages, feat);
  return level_column(mem, cuts, column, known, v, c, err);
}

static gbt_status add_columns(const gbt_mem *mem, values *v, const gbt_schema *reader, gbt_error *err) {
  const gbt_schema *schema = v->ds->cuts->schema;
  const size_t n = (size_t)schema->n_columns;
  gbt_dictionary *names;
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *v->col, &v->col, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *v->from, &v->from, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *v->unseen, &v->unseen, err));
  GBT_TRY(gbt_mem_zeros(mem, n, sizeof *v->texts, &v->texts, err));
  GBT_TRY(gbt_dictionary_new(mem, &names, err));
  gbt_status status = GBT_OK;
  int32_t number;
  for (int32_t c = 0; c < reader->n_columns && status == GBT_OK; c++)
    status = gbt_dictionary_add(names, reader->col[c].name, &number, err);
  for (int32_t c = 0; c < schema->n_columns && status == GBT_OK; c++) {
    number = gbt_dictionary_find(names, schema->col[c].name);
    if (number >= 0) status = add_column(mem, v, c, &reader->col[number], err);
  }
  gbt_dictionary_free(names);
  v->table.cols = v->col;
  return status;
}

/* Room for a block: every column's part has the bytes of doubles. */
static gbt_status make_room(const gbt_mem *mem, values *v, gbt_error *err) {
  const int32_t n = v->table.n_cols;
  int64_t rows = BLOCK_BYTES / 8 / (n > 0 ? n : 1);
  rows = rows > MOST_ROWS ? MOST_ROWS : rows < LEAST_ROWS ? LEAST_ROWS : rows;
  const int64_t all = gbt_pages_n_rows(v->ds->pages);
  v->block_rows = rows < all || all == 0 ? rows : all;
  GBT_TRY(gbt_mem_array(mem, (size_t)v->block_rows * (size_t)n, sizeof(double), &v->room, err));
  for (int32_t c = 0; c < n; c++) v->col[c].values = (double *)v->room + v->block_rows * c;
  return GBT_OK;
}

static void free_values(const gbt_mem *mem, values *v) {
  for (int32_t c = 0; c < v->table.n_cols; c++) {
    gbt_mem_free(mem, v->from[c].number);
    gbt_mem_free(mem, v->from[c].code);
    gbt_mem_free(mem, v->unseen[c]);
    gbt_mem_free(mem, v->texts[c]);
  }
  gbt_mem_free(mem, v->col);
  gbt_mem_free(mem, v->from);
  gbt_mem_free(mem, v->unseen);
  gbt_mem_free(mem, v->texts);
  gbt_mem_free(mem, v->room);
}

gbt_status gbt_dataset_values(gbt_ctx *ctx, const gbt_dataset *ds, const gbt_schema *reader, gbt_values_fn fn,
                              void *arg, gbt_error *err) {
  values v = {.ds = ds, .layout = gbt_pages_layout(ds->pages), .fn = fn, .arg = arg};
  gbt_status status;
  if (ds->table_row != NULL)
    return gbt_fail(err, GBT_E_UNSUPPORTED,
                    "the bins of a part of the rows (`mask`) cannot be read; give all rows of the data set");
  v.table.no_code_zero = 1;
  GBT_TRY_GOTO(add_columns(&ctx->mem, &v, reader, err), done);
  GBT_TRY_GOTO(make_room(&ctx->mem, &v, err), done);
  status = gbt_pages_pass(ctx, ds->pages, values_of_span, &v, err);
done:
  free_values(&ctx->mem, &v);
  return status;
}
