/* C99 source: tables of nodes, and functions that walk them. Numbers are written in base 16, so that no compiler rounds
 * them. Responses: to_c_response.c.
 *
 *   node    {number, left child or 0, place, column, flags}     place: split by levels: where its set begins in words;
 *           of a tree, as NAME_tree says where it begins         leaf with several values: where they begin in values;
 *                                                                linear leaf: 1 + its number
 *   words   a set: the number of its words, then these
 *   linear  {start, low, high, first term, terms}; term: {slope, grid}; grid: {column, first bin, bins}; bins: cut, the
 *           last one HUGE_VAL, and position. Leaves of numbers: {start, first term, terms}; term: {slope, column}
 *
 * to_c_read.c reads what is written here. */
#include <string.h>

#include "to_c.h"

enum { FLAG_MISSING = 1, FLAG_UNSEEN = 2, FLAG_SET = 4 };

/* Parts that a model has: for others the source has no table and no line, so that compilers do not warn. */
typedef struct c_parts {
  int texts, sets, codes, linear, numbers; /* numbers: linear leaves are of these */
} c_parts;

static c_parts parts_of(const gbti_outgoing *x) {
  c_parts has = {0, 0, 0, 0, gbt_linear_of_numbers(x->linear)};
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    has.texts |= x->schema->col[c].n_levels > 0;
    has.codes |= x->codes[c].n > 0 || x->codes[c].has_range;
  }
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      has.sets |= x->tree[t].node[i].left > 0 && x->tree[t].node[i].by_set;
      has.linear |= x->tree[t].node[i].linear > 0;
    }
  return has;
}

/* ---- the writer ---- */

static void put_finite(gbti_file *out, double x) {
  if (x - x == 0.0)
    gbti_put_hex(out, x);
  else
    gbti_put(out, x > 0.0 ? "HUGE_VAL" : "-HUGE_VAL");
}

/* Begins "static const TYPE NAME_what[] = {". Items are ended by commas. */
static void begin_table(gbti_file *out, const char *name, const char *type, const char *what) {
  gbti_put(out, "static const ");
  gbti_put_named(out, name, type);
  gbti_put(out, " ");
  gbti_put_named(out, name, what);
  gbti_put(out, "[] = {");
}

static void end_table(gbti_file *out, int is_empty) { gbti_put(out, is_empty ? "0};\n" : "};\n"); }

static void put_whole_item(gbti_file *out, size_t i, int64_t x) {
  gbti_put(out, i % 16 == 0 ? "\n" : " ");
  gbti_put_whole(out, x);
  gbti_put(out, ",");
}

static void put_number_item(gbti_file *out, size_t i, double x) {
  gbti_put(out, i % 4 == 0 ? "\n" : " ");
  put_finite(out, x);
  gbti_put(out, ",");
}

typedef struct level_text {
  const char *text;
  int32_t level;
} level_text;

/* By bytes: heap sort. */
static void sort_levels(level_text *a, size_t n) {
  for (size_t end = n, beg = n / 2; end > 1;) {
    level_text x;
    if (beg > 0) {
      x = a[--beg];
    } else {
      x = a[--end];
      a[end] = a[0];
    }
    size_t at = beg;
    for (size_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && strcmp(a[child].text, a[child + 1].text) < 0) child++;
      if (strcmp(x.text, a[child].text) >= 0) break;
      a[at] = a[child];
      at = child;
    }
    a[at] = x;
  }
}

/* Texts of all columns' levels, those of a column sorted; and the level of each. */
static gbt_status put_levels(const gbti_outgoing *x, gbti_file *out) {
  size_t n = 0, at = 0;
  level_text *text;
  for (int32_t c = 0; c < x->schema->n_columns; c++) n += (size_t)x->schema->col[c].n_levels;
  GBT_TRY(gbt_mem_array(&x->mem, n + 1, sizeof *text, &text, x->err));
  begin_table(out, x->name, "int32_t", "@_first_text");
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    const gbt_schema_column *col = &x->schema->col[c];
    put_whole_item(out, (size_t)c, (int64_t)at);
    for (int32_t l = 0; l < col->n_levels; l++) text[at + (size_t)l] = (level_text){col->levels[l], l};
    sort_levels(text + at, (size_t)col->n_levels);
    at += (size_t)col->n_levels;
  }
  put_whole_item(out, 1, (int64_t)n);
  end_table(out, 0);
  begin_table(out, x->name, "char *const", "@_text");
  for (size_t i = 0; i < n; i++) {
    gbti_put(out, "\n");
    gbti_put_c(out, text[i].text);
    gbti_put(out, ",");
  }
  end_table(out, n == 0);
  begin_table(out, x->name, "int32_t", "@_text_level");
  for (size_t i = 0; i < n; i++) put_whole_item(out, i, text[i].level);
  end_table(out, n == 0);
  gbt_mem_free(&x->mem, text);
  return GBT_OK;
}

static void put_codes(const gbti_outgoing *x, gbti_file *out) {
  size_t n = 0;
  begin_table(out, x->name, "int32_t", "@_first_code");
  for (int32_t c = 0; c <= x->schema->n_columns; c++) {
    put_whole_item(out, (size_t)c, (int64_t)n);
    if (c < x->schema->n_columns) n += (size_t)x->codes[c].n + (size_t)x->codes[c].has_range;
  }
  end_table(out, 0);
  begin_table(out, x->name, "double", "@_code"); /* ranges: low, high */
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    const gbti_codes *codes = &x->codes[c];
    for (int32_t i = 0; i < codes->n; i++) {
      put_number_item(out, 0, codes->value[i]);
      put_number_item(out, 1, codes->value[i]);
    }
    if (!codes->has_range) continue;
    put_number_item(out, 0, codes->low);
    put_number_item(out, 1, codes->high);
  }
  end_table(out, n == 0);
}

static void put_columns(const gbti_outgoing *x, gbti_file *out) {
  begin_table(out, x->name, "char *const", "@_name");
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    gbti_put(out, "\n");
    gbti_put_c(out, x->schema->col[c].name);
    gbti_put(out, ",");
  }
  end_table(out, x->schema->n_columns == 0);
  begin_table(out, x->name, "int32_t", "@_type"); /* gbt_feature_type */
  for (int32_t c = 0; c < x->schema->n_columns; c++) put_whole_item(out, (size_t)c, (int64_t)x->schema->col[c].type);
  end_table(out, x->schema->n_columns == 0);
}

/* Sizes of other tables after the nodes so far. */
typedef struct c_places {
  size_t words, values, linear;
} c_places;

static void put_node(const gbti_outgoing *x, gbti_file *out, const gbti_out_node *node, c_places *next) {
  int64_t place = node->linear > 0 ? (int64_t)++next->linear : 0, flags = 0;
  double number = node->by_set ? 0.0 : node->number;
  if (node->left == 0 && x->width > 1) {
    place = (int64_t)next->values;
    number = 0.0;
    next->values += (size_t)x->width;
  }
  if (node->left > 0) {
    flags = (node->missing_left ? FLAG_MISSING : 0) | (node->unseen_left ? FLAG_UNSEEN : 0);
    if (node->by_set) {
      flags |= FLAG_SET;
      place = (int64_t)next->words;
      next->words += 1 + node->n_words;
    }
  }
  gbti_put(out, "\n{");
  put_finite(out, number);
  const int64_t whole[] = {node->left, place, node->left > 0 ? node->column : 0, flags};
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
    gbti_put(out, ", ");
    gbti_put_whole(out, whole[i]);
  }
  gbti_put(out, "},");
}

static void put_trees(const gbti_outgoing *x, const c_parts *has, gbti_file *out) {
  c_places next = {0, 0, 0};
  size_t nodes = 0, at = 0;
  begin_table(out, x->name, "struct @_node_type", "@_node");
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) put_node(x, out, &x->tree[t].node[i], &next);
  gbti_put(out, x->n_trees == 0 ? "{0}};\n" : "};\n");
  begin_table(out, x->name, "uint32_t", "@_tree");
  for (uint64_t t = 0; t < x->n_trees; t++) {
    put_whole_item(out, (size_t)t, (int64_t)nodes);
    nodes += x->tree[t].n_nodes;
  }
  end_table(out, x->n_trees == 0);
  if (has->sets) begin_table(out, x->name, "uint32_t", "@_word");
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) {
      const gbti_out_node *node = &x->tree[t].node[i];
      if (node->left == 0 || !node->by_set) continue;
      put_whole_item(out, at++, (int64_t)node->n_words);
      for (uint32_t w = 0; w < node->n_words; w++) put_whole_item(out, at++, (int64_t)node->set[w]);
    }
  if (has->sets) end_table(out, 0);
  if (x->width == 1) return;
  begin_table(out, x->name, "double", "@_value");
  at = 0;
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++)
      for (int32_t k = 0; k < x->width && x->tree[t].node[i].left == 0; k++)
        put_number_item(out, at++, x->tree[t].node[i].values[k]);
  end_table(out, at == 0);
}

/* ---- linear leaves ---- */

static void put_pair(gbti_file *out, int64_t a, int64_t b) {
  gbti_put_whole(out, a);
  gbti_put(out, ", ");
  gbti_put_whole(out, b);
  gbti_put(out, "},");
}

static void put_grids(const gbti_outgoing *x, gbti_file *out) {
  const gbt_linear_view *linear = x->linear;
  begin_table(out, x->name, "struct @_grid_type", "@_grid");
  for (uint32_t g = 0; g < linear->n_grids; g++) {
    gbti_put(out, "\n{");
    gbti_put_whole(out, gbti_grid_column(x, g));
    gbti_put(out, ", ");
    put_pair(out, (int64_t)linear->grid[g].beg, linear->grid[g].n_bins);
  }
  end_table(out, 0);
  begin_table(out, x->name, "double", "@_cut");
  for (uint64_t i = 0; i < linear->n_values; i++) put_number_item(out, (size_t)i, linear->cut[i]);
  end_table(out, 0);
  begin_table(out, x->name, "int16_t", "@_position");
  for (uint64_t i = 0; i < linear->n_values; i++) put_whole_item(out, (size_t)i, linear->x[i]);
  end_table(out, 0);
}

/* Calls fn for each linear leaf in the order of the nodes; *at is for its use, 0 at first. */
static void each_linear(const gbti_outgoing *x, gbti_file *out,
                        void (*fn)(const gbti_outgoing *x, gbti_file *out, const gbt_linear_leaf *leaf, size_t *at)) {
  size_t at = 0;
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++)
      if (x->tree[t].node[i].linear > 0) fn(x, out, &x->linear->leaf[x->tree[t].node[i].linear - 1], &at);
}

/* at: the terms so far. */
static void put_linear_leaf(const gbti_outgoing *x, gbti_file *out, const gbt_linear_leaf *leaf, size_t *at) {
  const double number[] = {leaf->start, leaf->low, leaf->high};
  gbti_put(out, "\n{");
  for (int i = 0; i < (gbt_linear_of_numbers(x->linear) ? 1 : 3); i++) {
    put_finite(out, number[i]);
    gbti_put(out, ", ");
  }
  put_pair(out, (int64_t)*at, leaf->n_terms);
  *at += leaf->n_terms;
}

static void put_terms(const gbti_outgoing *x, gbti_file *out, const gbt_linear_leaf *leaf, size_t *at) {
  (void)at;
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const gbt_linear_term *term = &x->linear->term[leaf->term_beg + k];
    gbti_put(out, "\n{");
    put_finite(out, term->slope);
    gbti_put(out, ", ");
    gbti_put_whole(out, gbt_linear_of_numbers(x->linear) ? gbti_grid_column(x, term->grid) : (int64_t)term->grid);
    gbti_put(out, "},");
  }
}

static const char linear_types[] = "struct @_linear_type {\n  double start, low, high;\n  uint32_t first, n;\n};\n\n"
                                   "struct @_term_type {\n  double slope;\n  uint32_t grid;\n};\n\n"
                                   "struct @_grid_type {\n  int32_t column;\n  uint32_t first, n_bins;\n};\n\n";
static const char number_types[] = "struct @_linear_type {\n  double start;\n  uint32_t first, n;\n};\n\n"
                                   "struct @_term_type {\n  double slope;\n  int32_t column;\n};\n\n";

static void put_linear(const gbti_outgoing *x, gbti_file *out) {
  if (!gbt_linear_of_numbers(x->linear)) put_grids(x, out);
  begin_table(out, x->name, "struct @_linear_type", "@_linear");
  each_linear(x, out, put_linear_leaf);
  end_table(out, 0);
  begin_table(out, x->name, "struct @_term_type", "@_term");
  each_linear(x, out, put_terms);
  end_table(out, 0);
}

static const char missing_text_begin[] = "static int @_is_missing(int32_t column, double x) {\n";
static const char missing_text_codes[] =
    "  for (int32_t i = @_first_code[column]; i < @_first_code[column + 1]; i++)\n"
    "    if (x >= @_code[2 * i] && x <= @_code[2 * i + 1]) return 1;\n";
static const char missing_text_end[] = "  return x != x;\n}\n\n";

/* Products are rounded before they are added. */
static const char value_text_begin[] =
    "static double @_value_of(const struct @_node_type *leaf, const double *row) {\n"
    "  const struct @_linear_type *linear;\n"
    "  double value;\n"
    "  uint32_t k;\n"
    "  if (leaf->place == 0) return leaf->number;\n"
    "  linear = @_linear + (leaf->place - 1);\n"
    "  value = linear->start;\n"
    "  for (k = linear->first; k < linear->first + linear->n; k++) {\n";

/* The smallest bin with x <= cut. */
static const char value_text_bins[] =
    "    const struct @_grid_type *grid = @_grid + @_term[k].grid;\n"
    "    const double *cut = @_cut + grid->first, x = row[grid->column];\n"
    "    uint32_t low = 0, high = grid->n_bins - 1;\n"
    "    volatile double part;\n"
    "    if (@_is_missing(grid->column, x)) return leaf->number;\n"
    "    while (low < high) {\n"
    "      const uint32_t middle = low + (high - low) / 2;\n"
    "      if (x <= cut[middle])\n"
    "        high = middle;\n"
    "      else\n"
    "        low = middle + 1;\n"
    "    }\n"
    "    part = @_term[k].slope * (double)@_position[grid->first + low];\n"
    "    value += part;\n"
    "  }\n"
    "  value = value < linear->low ? linear->low : value;\n"
    "  return value > linear->high ? linear->high : value;\n"
    "}\n\n";

static const char value_text_numbers[] =
    "    const double x = row[@_term[k].column];\n"
    "    volatile double part;\n"
    "    if (@_is_missing(@_term[k].column, x)) return leaf->number;\n"
    "    part = @_term[k].slope * x;\n"
    "    value += part;\n"
    "  }\n"
    "  return value;\n"
    "}\n\n";

static void put_value_of(const gbti_outgoing *x, const c_parts *has, gbti_file *out) {
  gbti_put_named(out, x->name, missing_text_begin);
  gbti_put_named(out, x->name, has->codes ? missing_text_codes : "  (void)column;\n");
  gbti_put_named(out, x->name, missing_text_end);
  gbti_put_named(out, x->name, value_text_begin);
  gbti_put_named(out, x->name, has->numbers ? value_text_numbers : value_text_bins);
}

/* ---- functions ---- */

static const char head[] = "#include <math.h>\n"
                           "#include <stdint.h>\n"
                           "#include <string.h>\n\n"
                           "#if defined(__clang__)\n"
                           "#pragma STDC FP_CONTRACT OFF\n"
                           "#endif\n\n";

/* Declarations, which are for other files too. */
static const char declarations[] =
    "int @_columns(void);                               /* numbers of a row */\n"
    "const char *@_column(int column);                  /* the name of a column, from 0; NULL: there is none */\n"
    "double @_level(int column, const char *text);      /* the number of a level in a row; NULL is missing */\n"
    "int @_outputs(void);                               /* scores and responses of a row */\n"
    "const char *@_class(int output);                   /* the class of a response, NULL where there are none */\n"
    "const char *@_output(int output);                  /* the name of a raw score, NULL where there is none */\n"
    "void @_score(const double *row, const double *offset, double *out);   /* raw scores */\n"
    "void @_predict(const double *row, const double *offset, double *out); /* responses: means, probabilities */\n\n";

static const char columns_text[] =
    "int @_columns(void) { return @_N_COLUMNS; }\n\n"
    "int @_outputs(void) { return @_N_OUTPUTS; }\n\n"
    "const char *@_column(int column) { return column >= 0 && column < @_N_COLUMNS ? @_name[column] : NULL; }\n\n";

static const char level_text_begin[] = "double @_level(int column, const char *text) {\n"
                                       "  if (text == NULL || column < 0 || column >= @_N_COLUMNS) return @_nan();\n";
static const char level_text_search[] = "  int32_t beg = @_first_text[column], end = @_first_text[column + 1];\n"
                                        "  while (beg < end) {\n"
                                        "    int32_t middle = beg + (end - beg) / 2;\n"
                                        "    int order = strcmp(text, @_text[middle]);\n"
                                        "    if (order == 0) return (double)@_text_level[middle];\n"
                                        "    if (order < 0)\n"
                                        "      end = middle;\n"
                                        "    else\n"
                                        "      beg = middle + 1;\n"
                                        "  }\n";
static const char level_text_end[] = "  return @_type[column] == 1 ? -1.0 : @_nan();\n"
                                     "}\n\n";

static const char left_text_begin[] = "static int @_left(const struct @_node_type *node, double x) {\n"
                                      "  if (x != x) return (int)(node->flags & 1u);\n";
static const char left_text_set[] =
    "  if (node->flags & 4u) {\n"
    "    const uint32_t *words = @_word + node->place, level = x >= 0.0 && x < 2147483648.0 ? (uint32_t)x : 0;\n"
    "    const int32_t n_levels = @_first_text[node->column + 1] - @_first_text[node->column];\n"
    "    if ((double)level != x || level >= (uint32_t)n_levels) return (int)(node->flags >> 1 & 1u);\n"
    "    return level / 32u < words[0] ? (int)(words[1 + level / 32u] >> level % 32u & 1u) : 0;\n"
    "  }\n";
static const char left_text_set_unseen[] = "  if (node->flags & 4u) return (int)(node->flags >> 1 & 1u);\n";
static const char left_text_codes[] =
    "  for (int32_t i = @_first_code[node->column]; i < @_first_code[node->column + 1]; i++)\n"
    "    if (x >= @_code[2 * i] && x <= @_code[2 * i + 1]) return (int)(node->flags & 1u);\n";
static const char leaf_text[] =
    "  return x <= node->number;\n"
    "}\n\n"
    "static const struct @_node_type *@_leaf(uint32_t tree, const double *row) {\n"
    "  const struct @_node_type *root = @_node + @_tree[tree], *node = root;\n"
    "  while (node->left > 0) node = root + node->left + (@_left(node, row[node->column]) ? 0 : 1);\n"
    "  return node;\n"
    "}\n\n";

static void put_walk(const gbti_outgoing *x, const c_parts *has, gbti_file *out) {
  gbti_put_named(out, x->name, columns_text);
  gbti_put_named(out, x->name, level_text_begin);
  if (has->texts) gbti_put_named(out, x->name, level_text_search);
  gbti_put_named(out, x->name, level_text_end);
  gbti_put_named(out, x->name, left_text_begin);
  if (has->sets) gbti_put_named(out, x->name, has->texts ? left_text_set : left_text_set_unseen);
  if (has->codes) gbti_put_named(out, x->name, left_text_codes);
  gbti_put_named(out, x->name, leaf_text);
  if (has->linear) put_value_of(x, has, out);
}

static void put_constant(gbti_file *out, const char *name, const char *what, int64_t x) {
  gbti_put(out, "#define ");
  gbti_put_named(out, name, what);
  gbti_put(out, " ");
  gbti_put_whole(out, x);
  gbti_put(out, "\n");
}

/* The rounding of sums after each addition. */
static const char *rounded(const gbti_outgoing *x) { return x->sums.rule == GBT_SUM_FLOAT ? "(double)(float)" : ""; }

static void put_score(const gbti_outgoing *x, const c_parts *has, gbti_file *out) {
  const int at_end = gbti_sums_at_end(x);
  gbti_put_named(out, x->name, "void @_score(const double *row, const double *offset, double *out) {\n  uint32_t t;\n");
  gbti_put_named(out, x->name, "  int k;\n  for (k = 0; k < @_N_OUTPUTS; k++) out[k] = ");
  gbti_put(out, at_end ? "0.0;\n" : rounded(x));
  if (!at_end) gbti_put_named(out, x->name, "(offset == NULL ? @_base[k] : @_base[k] + offset[k]);\n");
  gbti_put_named(out, x->name,
            "  for (t = 0; t < @_n_trees; t++) {\n    const struct @_node_type *leaf = @_leaf(t, row);\n");
  if (x->width > 1) {
    gbti_put_named(out, x->name, "    for (k = 0; k < @_N_OUTPUTS; k++) out[k] = ");
    gbti_put(out, rounded(x));
    gbti_put_named(out, x->name, "(out[k] + @_value[leaf->place + (uint32_t)k]);\n  }\n");
  } else {
    gbti_put_named(out, x->name, "    k = (int)(t / @_N_PARALLEL % @_N_OUTPUTS);\n    out[k] = ");
    gbti_put(out, rounded(x));
    gbti_put_named(out, x->name, has->linear ? "(out[k] + @_value_of(leaf, row));\n" : "(out[k] + leaf->number);\n");
    gbti_put(out, "  }\n");
  }
  if (at_end) {
    gbti_put_named(out, x->name, "  for (k = 0; k < @_N_OUTPUTS; k++) {\n    volatile double sum = ");
    put_finite(out, x->sums.rule == GBT_SUM_SCALED ? x->sums.scale : x->n_rounds > 0 ? (double)x->n_rounds : 1.0);
    gbti_put(out, x->sums.rule == GBT_SUM_SCALED ? " * out[k];\n" : ";\n    sum = out[k] / sum;\n");
    gbti_put_named(out, x->name, "    out[k] = sum + @_base[k];\n    if (offset != NULL) out[k] += offset[k];\n  }\n");
  }
  gbti_put(out, "}\n\n");
}

/* A function from the number of an output to its text; text NULL: to NULL. */
static void put_texts_of_outputs(const gbti_outgoing *x, const char *function, const char *const *text,
                                 gbti_file *out) {
  gbti_put_named(out, x->name, function);
  if (text == NULL) {
    gbti_put(out, "  (void)output;\n  return NULL;\n}\n\n");
    return;
  }
  gbti_put(out, "  static const char *const name[] = {");
  for (int32_t k = 0; k < x->n_outputs; k++) {
    gbti_put(out, "\n    ");
    gbti_put_c(out, text[k]);
    gbti_put(out, ",");
  }
  gbti_put_named(out, x->name, "};\n  return output >= 0 && output < @_N_OUTPUTS ? name[output] : NULL;\n}\n\n");
}

static void put_names(const gbti_outgoing *x, gbti_file *out) {
  const int all = x->n_classes == x->n_outputs, second = x->n_classes == 2 && x->n_outputs == 1;
  put_texts_of_outputs(x, "const char *@_class(int output) {\n",
                       second ? x->classes + 1 : all ? x->classes : NULL, out);
  put_texts_of_outputs(x, "const char *@_output(int output) {\n", x->outputs, out);
}

gbt_status gbti_write_c(gbti_outgoing *x, gbti_file *out) {
  const c_parts has = parts_of(x);
  uint64_t n_nodes = 0;
  for (uint64_t t = 0; t < x->n_trees; t++) n_nodes += x->tree[t].n_nodes;
  if (n_nodes > UINT32_MAX / 2 || x->n_trees > UINT32_MAX / 2 || x->linear->n_terms > UINT32_MAX / 2)
    return gbti_refuse(x, NULL, "it has too many nodes; gbt_save() keeps it");
  gbti_put(out, "/* A model of gradient boosted trees, written by gbt: objective \"");
  gbti_put(out, gbt_objective_info_of(x->objective->kind)->name);
  gbti_put(out, "\", ");
  gbti_put_whole(out, (int64_t)x->n_trees);
  gbti_put_named(
      out, x->name,
      " trees. C99, needs no library.\n *\n"
      " * A row is an array of doubles, one for each column: numbers; for levels what @_level() gives; NAN where it\n"
      " * is missing. offset: NULL, or a number for each output that is added to the scores. Compile with\n"
      " * -ffp-contract=off where the processor has fused multiplications, so that the results are the same\n"
      " * everywhere. */\n");
  gbti_put(out, head);
  put_constant(out, x->name, "@_N_COLUMNS", x->schema->n_columns);
  put_constant(out, x->name, "@_N_OUTPUTS", x->n_outputs);
  put_constant(out, x->name, "@_N_PARALLEL", x->n_parallel);
  gbti_put_named(out, x->name, "static const uint32_t @_n_trees = ");
  gbti_put_whole(out, (int64_t)x->n_trees);
  gbti_put(out, ";\n\n");
  gbti_put_named(out, x->name, declarations);
  gbti_put_named(out, x->name,
            "struct @_node_type {\n  double number;\n  uint32_t left, place;\n  int32_t column;\n"
            "  uint32_t flags;\n};\n\n");
  if (has.linear) gbti_put_named(out, x->name, has.numbers ? number_types : linear_types);
  put_columns(x, out);
  if (has.codes) put_codes(x, out);
  if (has.texts) GBT_TRY(put_levels(x, out));
  begin_table(out, x->name, "double", "@_base");
  for (int32_t k = 0; k < x->n_outputs; k++) put_number_item(out, (size_t)k, x->base[k]);
  end_table(out, 0);
  put_trees(x, &has, out);
  if (has.linear) put_linear(x, out);
  gbti_put(out, "\n");
  gbti_put_named(out, x->name,
            "static double @_nan(void) {\n  const uint64_t u = 0x7ff8000000000000u;\n  double x;\n"
            "  memcpy(&x, &u, 8);\n  return x;\n}\n\n");
  put_names(x, out);
  put_walk(x, &has, out);
  put_score(x, &has, out);
  gbti_put_c_response(x, out);
  return GBT_OK;
}
