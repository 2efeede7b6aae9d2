/* JSON that to_json.c has written, evaluated. */
#include <string.h>

#include "../base/bits.h"
#include "document.h"
#include "formats.h"
#include "own_json.h"

/* ---- the document ---- */

typedef struct json_node {
  int64_t left, column, missing, unseen;
  double number;       /* threshold or value */
  size_t beg, n_words; /* set: in words; leaf with several values: in values */
  size_t linear, n_linear; /* linear leaf: where its numbers are; none of others */
  int by_set;
} json_node;

typedef struct json_tree {
  size_t beg; /* of nodes */
  int64_t n, output;
} json_tree;

typedef struct json_column {
  int type;
  size_t first_code, n_codes, n_levels, first_level;
} json_column;

typedef struct json_grid {
  int64_t column, n_bins;
  size_t cut, position; /* n_bins - 1, and n_bins numbers */
} json_grid;

typedef struct json_model {
  gbt_mem mem;
  gbt_error *err;
  gbti_document doc;
  json_column *column;
  json_tree *tree;
  json_node *node;
  json_grid *grid; /* n_grids */
  double *number; /* words, values of leaves, codes: pairs; of linear leaves and grids */
  char **level;   /* owned texts */
  size_t cap_nodes, n_nodes, cap_numbers, n_numbers, cap_levels, n_levels;
  int64_t n_columns, n_trees, n_outputs, n_rounds, width, n_grids, version;
  double *base;
  int rule;
  double scale;
} json_model;

static gbt_status put_in(json_model *m, double x) {
  GBT_TRY(gbt_mem_grow(&m->mem, &m->number, &m->cap_numbers, m->n_numbers + 1, sizeof *m->number, m->err));
  m->number[m->n_numbers++] = x;
  return GBT_OK;
}

static gbt_status number_of(json_model *m, size_t value, double *out) {
  *out = gbt_from_bits((uint64_t)0x7ff << 52);
  if (gbti_text_is(&m->doc, value, "Infinity")) return GBT_OK;
  *out = -*out;
  if (gbti_text_is(&m->doc, value, "-Infinity")) return GBT_OK;
  return gbti_number(&m->doc, value, "number", 0, out);
}

static gbt_status read_missing(json_model *m, size_t list, json_column *c) {
  const int64_t n = gbti_count(&m->doc, list);
  c->first_code = m->n_numbers;
  size_t at = n > 0 ? gbti_first(&m->doc, list) : 0;
  for (int64_t i = 0; i < n; i++, at = gbti_next(&m->doc, at)) {
    double low, high;
    if (gbti_count(&m->doc, at) == 2) {
      const size_t first = gbti_first(&m->doc, at);
      GBT_TRY(number_of(m, first, &low));
      GBT_TRY(number_of(m, gbti_next(&m->doc, first), &high));
    } else {
      GBT_TRY(number_of(m, at, &low));
      high = low;
    }
    GBT_TRY(put_in(m, low));
    GBT_TRY(put_in(m, high));
    c->n_codes++;
  }
  return GBT_OK;
}

static gbt_status read_levels(json_model *m, size_t list, json_column *c) {
  const int64_t n = gbti_count(&m->doc, list);
  const char *text;
  c->first_level = m->n_levels;
  size_t at = n > 0 ? gbti_first(&m->doc, list) : 0;
  for (int64_t i = 0; i < n; i++, at = gbti_next(&m->doc, at)) {
    GBT_TRY(gbti_text(&m->doc, at, "levels", &text));
    GBT_TRY(gbt_mem_grow(&m->mem, &m->level, &m->cap_levels, m->n_levels + 1, sizeof *m->level, m->err));
    GBT_TRY(gbt_mem_array(&m->mem, strlen(text) + 1, 1, &m->level[m->n_levels], m->err));
    memcpy(m->level[m->n_levels++], text, strlen(text) + 1);
    c->n_levels++;
  }
  return GBT_OK;
}

static gbt_status read_columns(json_model *m) {
  const size_t list = gbti_get(&m->doc, 0, "columns");
  if (gbti_count(&m->doc, list) != m->n_columns)
    return gbti_document_fault(&m->doc, "columns are not those of the model");
  GBT_TRY(gbt_mem_zeros(&m->mem, (size_t)m->n_columns, sizeof *m->column, &m->column, m->err));
  size_t at = m->n_columns > 0 ? gbti_first(&m->doc, list) : 0;
  for (int64_t c = 0; c < m->n_columns; c++, at = gbti_next(&m->doc, at)) {
    for (int type = 0; type < 3; type++)
      if (gbti_text_is(&m->doc, gbti_get(&m->doc, at, "type"), gbti_json_type[type])) m->column[c].type = type;
    GBT_TRY(read_missing(m, gbti_get(&m->doc, at, "missing"), &m->column[c]));
    GBT_TRY(read_levels(m, gbti_get(&m->doc, at, "levels"), &m->column[c]));
  }
  return GBT_OK;
}

/* A list of numbers, and where it is in m->number. null: none. */
static gbt_status read_list(json_model *m, size_t list, size_t *beg, size_t *n_numbers) {
  const int64_t n = gbti_count(&m->doc, list);
  *beg = m->n_numbers;
  *n_numbers = n > 0 ? (size_t)n : 0;
  size_t at = n > 0 ? gbti_first(&m->doc, list) : 0;
  for (int64_t i = 0; i < n; i++, at = gbti_next(&m->doc, at)) {
    double x;
    GBT_TRY(number_of(m, at, &x));
    GBT_TRY(put_in(m, x));
  }
  return GBT_OK;
}

static gbt_status read_grids(json_model *m) {
  const size_t list = gbti_get(&m->doc, 0, "grids");
  const int64_t n = gbti_count(&m->doc, list);
  m->n_grids = n > 0 ? n : 0;
  GBT_TRY(gbt_mem_zeros(&m->mem, (size_t)m->n_grids, sizeof *m->grid, &m->grid, m->err));
  size_t at = n > 0 ? gbti_first(&m->doc, list) : 0;
  for (int64_t g = 0; g < n; g++, at = gbti_next(&m->doc, at)) {
    json_grid *grid = &m->grid[g];
    size_t n_cuts, n_bins;
    const size_t column = gbti_get(&m->doc, at, "column");
    GBT_TRY(gbti_whole(&m->doc, column, "column", 0, m->n_columns - 1, &grid->column));
    GBT_TRY(read_list(m, gbti_get(&m->doc, at, "cuts"), &grid->cut, &n_cuts));
    GBT_TRY(read_list(m, gbti_get(&m->doc, at, "positions"), &grid->position, &n_bins));
    if (n_bins != n_cuts + 1) return gbti_document_fault(&m->doc, "a grid has not one position more than cuts");
    grid->n_bins = (int64_t)n_bins;
  }
  return GBT_OK;
}

/* A split or a value: null, a number, or numbers. */
static gbt_status read_part(json_model *m, size_t value, int is_split, json_node *node) {
  const int64_t n = gbti_count(&m->doc, value);
  if (gbti_kind_of(&m->doc, value) == GBTI_VALUE_NULL) return GBT_OK;
  if (n < 0) return number_of(m, value, &node->number);
  node->by_set = is_split;
  return read_list(m, value, &node->beg, &node->n_words);
}

static gbt_status read_field(json_model *m, int key, size_t value, json_node *node) {
  switch (key) {
  case GBTI_JSON_LEFT:
    return gbti_whole(&m->doc, value, gbti_json_key[key], 0, UINT32_MAX, &node->left);
  case GBTI_JSON_COLUMN:
    return gbti_whole(&m->doc, value, gbti_json_key[key], -1, m->n_columns - 1, &node->column);
  case GBTI_JSON_MISSING:
    return gbti_whole(&m->doc, value, gbti_json_key[key], 0, 1, &node->missing);
  case GBTI_JSON_UNSEEN:
    return gbti_whole(&m->doc, value, gbti_json_key[key], 0, 1, &node->unseen);
  default:
    return read_part(m, value, key == GBTI_JSON_SPLIT, node);
  }
}

static gbt_status read_linear(json_model *m, size_t list, const json_tree *to) {
  if (gbti_count(&m->doc, list) != to->n) return gbti_document_fault(&m->doc, "a tree lacks linear leaves");
  size_t at = gbti_first(&m->doc, list);
  for (int64_t i = 0; i < to->n; i++, at = gbti_next(&m->doc, at)) {
    json_node *node = &m->node[to->beg + (size_t)i];
    if (gbti_kind_of(&m->doc, at) == GBTI_VALUE_NULL) continue;
    GBT_TRY(read_list(m, at, &node->linear, &node->n_linear));
    const size_t first = m->version == 3 ? 1 : 3;
    const double n = (double)(m->version == 3 ? m->n_columns : m->n_grids);
    if (node->n_linear < first + 2 || node->n_linear % 2 == 0)
      return gbti_document_fault(&m->doc, "a linear leaf lacks numbers");
    for (size_t k = first; k < node->n_linear; k += 2) {
      const double of = m->number[node->linear + k];
      if (!(of >= 0.0 && of < n) || of != (double)(int64_t)of)
        return gbti_document_fault(&m->doc, "a linear leaf is linear in no grid, or no column");
    }
  }
  return GBT_OK;
}

static gbt_status read_tree(json_model *m, size_t tree, json_tree *to) {
  to->beg = m->n_nodes;
  to->n = gbti_count(&m->doc, gbti_get(&m->doc, tree, "left"));
  if (to->n < 1) return gbti_document_fault(&m->doc, "a tree has no nodes");
  GBT_TRY(gbti_whole(&m->doc, gbti_get(&m->doc, tree, "output"), "output", -1, m->n_outputs - 1, &to->output));
  GBT_TRY(gbt_mem_grow(&m->mem, &m->node, &m->cap_nodes, m->n_nodes + (size_t)to->n, sizeof *m->node, m->err));
  memset(m->node + to->beg, 0, (size_t)to->n * sizeof *m->node);
  m->n_nodes += (size_t)to->n;
  for (int key = 0; key <= GBTI_JSON_VALUE; key++) {
    const size_t list = gbti_get(&m->doc, tree, gbti_json_key[key]);
    if (gbti_count(&m->doc, list) != to->n) return gbti_document_fault(&m->doc, "a tree lacks values");
    size_t at = gbti_first(&m->doc, list);
    for (int64_t i = 0; i < to->n; i++, at = gbti_next(&m->doc, at))
      GBT_TRY(read_field(m, key, at, &m->node[to->beg + (size_t)i]));
  }
  return m->version > 1 ? read_linear(m, gbti_get(&m->doc, tree, "linear"), to) : GBT_OK;
}

static gbt_status read_all(json_model *m) {
  const gbti_document *doc = &m->doc;
  const size_t trees = gbti_get(doc, 0, "trees"), base = gbti_get(doc, 0, "base");
  GBT_TRY(gbti_whole(doc, gbti_get(doc, 0, "outputs"), "outputs", m->n_outputs, m->n_outputs, &m->n_outputs));
  GBT_TRY(gbti_whole(doc, gbti_get(doc, 0, "rounds"), "rounds", 0, (int64_t)1 << 53, &m->n_rounds));
  GBT_TRY(gbti_whole(doc, gbti_get(doc, 0, "version"), "version", 1, 3, &m->version));
  GBT_TRY(gbti_number(doc, gbti_get(doc, 0, "scale"), "scale", 0, &m->scale));
  GBT_TRY(gbt_mem_array(&m->mem, (size_t)m->n_outputs, sizeof *m->base, &m->base, m->err));
  GBT_TRY(gbti_numbers(doc, base, "base", m->n_outputs, 0, m->base));
  for (int rule = 0; rule < 4; rule++)
    if (gbti_text_is(doc, gbti_get(doc, 0, "sum"), gbti_json_rule[rule])) m->rule = rule;
  GBT_TRY(read_columns(m));
  GBT_TRY(read_grids(m));
  m->n_trees = gbti_count(doc, trees);
  if (m->n_trees < 0) return gbti_document_fault(doc, "there are no trees");
  GBT_TRY(gbt_mem_zeros(&m->mem, (size_t)m->n_trees, sizeof *m->tree, &m->tree, m->err));
  size_t at = m->n_trees > 0 ? gbti_first(doc, trees) : 0;
  for (int64_t t = 0; t < m->n_trees; t++, at = gbti_next(doc, at)) GBT_TRY(read_tree(m, at, &m->tree[t]));
  return GBT_OK;
}

/* ---- rows ---- */

/* The position of a level by its text; NaN is missing, -1 unseen. */
static double level_of(const json_model *m, const json_column *c, const char *text) {
  if (text == NULL) return gbt_nan();
  for (size_t i = 0; i < c->n_levels; i++)
    if (strcmp(m->level[c->first_level + i], text) == 0) return (double)i;
  return c->type == GBT_CATEGORICAL ? -1.0 : gbt_nan();
}

static int is_missing(const json_model *m, const json_column *c, double x) {
  int missing = x != x;
  for (size_t i = 0; i < c->n_codes; i++)
    missing |= x >= m->number[c->first_code + 2 * i] && x <= m->number[c->first_code + 2 * i + 1];
  return missing;
}

static int goes_left(const json_model *m, const json_node *node, const gbti_cell *row) {
  const json_column *c = &m->column[node->column];
  const double x = c->type == GBT_NUMERIC ? row[node->column].x : level_of(m, c, row[node->column].text);
  if (is_missing(m, c, x)) return (int)node->missing;
  if (!node->by_set) return x <= node->number;
  if (x < 0.0) return (int)node->unseen;
  if (x >= 4294967296.0) return 0;
  const uint32_t level = (uint32_t)x;
  const double word = level / 32 < node->n_words ? m->number[node->beg + level / 32] : 0.0;
  return word >= 0.0 && word < 4294967296.0 && ((uint32_t)word >> (level % 32) & 1u);
}

static const json_node *leaf_of(const json_model *m, uint64_t t, const gbti_cell *row) {
  const json_tree *tree = &m->tree[t];
  for (int64_t at = 0;;) {
    const json_node *node = &m->node[tree->beg + (size_t)at];
    if (node->left == 0) return node;
    if (node->left <= at || node->left + 1 >= tree->n || node->column < 0) return NULL;
    at = node->left + !goes_left(m, node, row);
  }
}

static double value_of_numbers(const json_model *m, const json_node *leaf, const gbti_cell *row) {
  const double *its = m->number + leaf->linear;
  double value = its[0];
  for (size_t k = 1; k < leaf->n_linear; k += 2) {
    const size_t column = (size_t)its[k];
    if (is_missing(m, &m->column[column], row[column].x)) return leaf->number;
    value += its[k + 1] * row[column].x;
  }
  return value;
}

/* The number that a leaf with one value adds. */
static double value_of(const json_model *m, const json_node *leaf, const gbti_cell *row) {
  const double *its = m->number + leaf->linear;
  if (leaf->n_linear == 0) return leaf->number;
  if (m->version == 3) return value_of_numbers(m, leaf, row);
  double value = its[0];
  for (size_t k = 3; k < leaf->n_linear; k += 2) {
    const json_grid *grid = &m->grid[(size_t)its[k]];
    const double x = row[grid->column].x;
    if (is_missing(m, &m->column[grid->column], x)) return leaf->number;
    size_t bin = 0, last = (size_t)grid->n_bins - 1; /* as many cuts are below x */
    while (bin < last) {
      const size_t middle = (bin + last) / 2;
      if (x > m->number[grid->cut + middle]) bin = middle + 1;
      else last = middle;
    }
    value += its[k + 1] * m->number[grid->position + bin];
  }
  return value < its[1] ? its[1] : value > its[2] ? its[2] : value;
}

static int tree_of(void *state, uint64_t t, const gbti_cell *row, double *values) {
  const json_model *m = state;
  const json_node *leaf = t < (uint64_t)m->n_trees ? leaf_of(m, t, row) : NULL;
  if (leaf == NULL || leaf->n_words > (size_t)m->width) return 0;
  values[0] = value_of(m, leaf, row);
  for (size_t k = 0; k < leaf->n_words; k++) values[k] = m->number[leaf->beg + k];
  return 1;
}

static int score_of(void *state, const gbti_cell *row, double *scores) {
  const json_model *m = state;
  const int at_end = m->rule == GBT_SUM_SCALED || m->rule == GBT_SUM_MEAN;
  for (int64_t k = 0; k < m->n_outputs; k++) {
    scores[k] = at_end ? 0.0 : m->base[k];
    if (m->rule == GBT_SUM_FLOAT) scores[k] = (double)(float)scores[k];
  }
  for (int64_t t = 0; t < m->n_trees; t++) {
    const json_node *leaf = leaf_of(m, (uint64_t)t, row);
    const int64_t own = m->tree[t].output;
    if (leaf == NULL || (own < 0 && leaf->n_words != (size_t)m->n_outputs)) return 0;
    for (int64_t k = own < 0 ? 0 : own; k < (own < 0 ? m->n_outputs : own + 1); k++) {
      scores[k] += own < 0 ? m->number[leaf->beg + (size_t)k] : value_of(m, leaf, row);
      if (m->rule == GBT_SUM_FLOAT) scores[k] = (double)(float)scores[k];
    }
  }
  for (int64_t k = 0; at_end && k < m->n_outputs; k++) {
    const double rounds = m->n_rounds > 0 ? (double)m->n_rounds : 1.0;
    scores[k] = (m->rule == GBT_SUM_SCALED ? m->scale * scores[k] : scores[k] / rounds) + m->base[k];
  }
  return 1;
}

static void close_json(void *state) {
  json_model *m = state;
  const gbt_mem mem = m->mem;
  for (size_t i = 0; i < m->n_levels; i++) gbt_mem_free(&mem, m->level[i]);
  void *block[] = {m->level, m->column, m->tree, m->node, m->grid, m->number, m->base};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&mem, block[i]);
  gbti_document_close(&m->doc);
  gbt_mem_free(&mem, m);
}

gbt_status gbti_read_json(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
  json_model *m;
  GBT_TRY(gbt_mem_zeros(&x->mem, 1, sizeof *m, &m, x->err));
  m->mem = x->mem;
  m->err = x->err;
  m->n_columns = x->schema->n_columns;
  m->n_outputs = x->n_outputs;
  m->width = x->width;
  m->doc = (gbti_document){.mem = x->mem, .program = "JSON", .err = x->err};
  *out = (gbti_evaluator){m, tree_of, score_of, close_json};
  GBT_TRY(gbti_document_open(&m->doc, bytes, n_bytes));
  return read_all(m);
}
