/* C99 source: tables of nodes, and functions that walk them. Numbers are written in base 16, so that no compiler rounds
 * them. exp() is that of math/elementary.h: responses are the bits of predict().
 *
 *   node    {number, left child or 0, place, column, flags}     place: split by levels: where its set begins in words;
 *           of a tree, as NAME_tree says where it begins         leaf with several values: where they begin in values
 *   words   a set: the number of its words, then these
 *
 * to_c_read.c reads what is written here. */
#include <string.h>

#include "formats.h"

enum { FLAG_MISSING = 1, FLAG_UNSEEN = 2, FLAG_SET = 4 };

/* Parts that a model has: for others the source has no table and no line, so that compilers do not warn. */
typedef struct c_parts {
  int texts, sets, codes;
} c_parts;

static c_parts parts_of(const gbti_outgoing *x) {
  c_parts has = {0, 0, 0};
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    has.texts |= x->schema->col[c].n_levels > 0;
    has.codes |= x->codes[c].n > 0 || x->codes[c].has_range;
  }
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++)
      has.sets |= x->tree[t].node[i].left > 0 && x->tree[t].node[i].by_set;
  return has;
}

/* ---- the writer ---- */

/* A text with the model's name in the place of each @. */
static void put_named(gbti_file *out, const char *name, const char *text) {
  for (const char *at = text; *at != 0;) {
    const size_t n = strcspn(at, "@");
    gbti_put_bytes(out, at, n);
    at += n;
    if (*at == '@') {
      gbti_put(out, name);
      at++;
    }
  }
}

static void put_finite(gbti_file *out, double x) {
  if (x - x == 0.0)
    gbti_put_hex(out, x);
  else
    gbti_put(out, x > 0.0 ? "HUGE_VAL" : "-HUGE_VAL");
}

/* Begins "static const TYPE NAME_what[] = {". Items are ended by commas. */
static void begin_table(gbti_file *out, const char *name, const char *type, const char *what) {
  gbti_put(out, "static const ");
  put_named(out, name, type);
  gbti_put(out, " ");
  put_named(out, name, what);
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

static void put_node(const gbti_outgoing *x, gbti_file *out, const gbti_out_node *node, size_t *words, size_t *values) {
  int64_t place = 0, flags = 0;
  double number = node->by_set ? 0.0 : node->number;
  if (node->left == 0 && x->width > 1) {
    place = (int64_t)*values;
    number = 0.0;
    *values += (size_t)x->width;
  }
  if (node->left > 0) {
    flags = (node->missing_left ? FLAG_MISSING : 0) | (node->unseen_left ? FLAG_UNSEEN : 0);
    if (node->by_set) {
      flags |= FLAG_SET;
      place = (int64_t)*words;
      *words += 1 + node->n_words;
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
  size_t words = 0, values = 0, nodes = 0, at = 0;
  begin_table(out, x->name, "struct @_node_type", "@_node");
  for (uint64_t t = 0; t < x->n_trees; t++)
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++) put_node(x, out, &x->tree[t].node[i], &words, &values);
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
  put_named(out, x->name, columns_text);
  put_named(out, x->name, level_text_begin);
  if (has->texts) put_named(out, x->name, level_text_search);
  put_named(out, x->name, level_text_end);
  put_named(out, x->name, left_text_begin);
  if (has->sets) put_named(out, x->name, has->texts ? left_text_set : left_text_set_unseen);
  if (has->codes) put_named(out, x->name, left_text_codes);
  put_named(out, x->name, leaf_text);
}

static void put_constant(gbti_file *out, const char *name, const char *what, int64_t x) {
  gbti_put(out, "#define ");
  put_named(out, name, what);
  gbti_put(out, " ");
  gbti_put_whole(out, x);
  gbti_put(out, "\n");
}

/* The rounding of sums after each addition. */
static const char *rounded(const gbti_outgoing *x) { return x->sums.rule == GBT_SUM_FLOAT ? "(double)(float)" : ""; }

static void put_score(const gbti_outgoing *x, gbti_file *out) {
  const int at_end = gbti_sums_at_end(x);
  put_named(out, x->name, "void @_score(const double *row, const double *offset, double *out) {\n  uint32_t t;\n");
  put_named(out, x->name, "  int k;\n  for (k = 0; k < @_N_OUTPUTS; k++) out[k] = ");
  gbti_put(out, at_end ? "0.0;\n" : rounded(x));
  if (!at_end) put_named(out, x->name, "(offset == NULL ? @_base[k] : @_base[k] + offset[k]);\n");
  put_named(out, x->name,
            "  for (t = 0; t < @_n_trees; t++) {\n    const struct @_node_type *leaf = @_leaf(t, row);\n");
  if (x->width > 1) {
    put_named(out, x->name, "    for (k = 0; k < @_N_OUTPUTS; k++) out[k] = ");
    gbti_put(out, rounded(x));
    put_named(out, x->name, "(out[k] + @_value[leaf->place + (uint32_t)k]);\n  }\n");
  } else {
    put_named(out, x->name, "    k = (int)(t / @_N_PARALLEL % @_N_OUTPUTS);\n    out[k] = ");
    gbti_put(out, rounded(x));
    gbti_put(out, "(out[k] + leaf->number);\n  }\n");
  }
  if (at_end) {
    put_named(out, x->name, "  for (k = 0; k < @_N_OUTPUTS; k++) {\n    volatile double sum = ");
    put_finite(out, x->sums.rule == GBT_SUM_SCALED ? x->sums.scale : x->n_rounds > 0 ? (double)x->n_rounds : 1.0);
    gbti_put(out, x->sums.rule == GBT_SUM_SCALED ? " * out[k];\n" : ";\n    sum = out[k] / sum;\n");
    put_named(out, x->name, "    out[k] = sum + @_base[k];\n    if (offset != NULL) out[k] += offset[k];\n  }\n");
  }
  gbti_put(out, "}\n\n");
}

static const char exp_text[] = "static double @_exp(double x) {\n"
                               "  const double magic = 6755399441055744.0;\n"
                               "  double c, t, n, r, p, y;\n"
                               "  uint64_t u, v;\n"
                               "  c = x > 708.0 ? 708.0 : x;\n"
                               "  c = c < -708.0 ? -708.0 : c;\n"
                               "  t = c * 1.4426950408889634 + magic;\n"
                               "  n = t - magic;\n"
                               "  r = (c - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;\n"
                               "  p = 1.0 / 6227020800.0;\n"
                               "  p = p * r + 1.0 / 479001600.0;\n"
                               "  p = p * r + 1.0 / 39916800.0;\n"
                               "  p = p * r + 1.0 / 3628800.0;\n"
                               "  p = p * r + 1.0 / 362880.0;\n"
                               "  p = p * r + 1.0 / 40320.0;\n"
                               "  p = p * r + 1.0 / 5040.0;\n"
                               "  p = p * r + 1.0 / 720.0;\n"
                               "  p = p * r + 1.0 / 120.0;\n"
                               "  p = p * r + 1.0 / 24.0;\n"
                               "  p = p * r + 1.0 / 6.0;\n"
                               "  p = p * r + 0.5;\n"
                               "  y = (p * r) * r + r + 1.0;\n"
                               "  memcpy(&u, &y, 8);\n"
                               "  memcpy(&v, &t, 8);\n"
                               "  u += v << 52;\n"
                               "  memcpy(&y, &u, 8);\n"
                               "  return y;\n"
                               "}\n\n";

static const char expm1_text[] = "static double @_expm1(double x) {\n"
                                 "  double p = 1.0 / 6227020800.0;\n"
                                 "  if (!(x > -0.35 && x < 0.35)) return @_exp(x) - 1.0;\n"
                                 "  p = p * x + 1.0 / 479001600.0;\n"
                                 "  p = p * x + 1.0 / 39916800.0;\n"
                                 "  p = p * x + 1.0 / 3628800.0;\n"
                                 "  p = p * x + 1.0 / 362880.0;\n"
                                 "  p = p * x + 1.0 / 40320.0;\n"
                                 "  p = p * x + 1.0 / 5040.0;\n"
                                 "  p = p * x + 1.0 / 720.0;\n"
                                 "  p = p * x + 1.0 / 120.0;\n"
                                 "  p = p * x + 1.0 / 24.0;\n"
                                 "  p = p * x + 1.0 / 6.0;\n"
                                 "  p = p * x + 0.5;\n"
                                 "  return (p * x) * x + x;\n"
                                 "}\n\n";

static const char *response_text(gbti_link link) {
  switch (link) {
  case GBTI_LINK_NONE:
    break;
  case GBTI_LINK_SIGMOID:
    return "  for (int k = 0; k < @_N_OUTPUTS; k++) out[k] = 1.0 / (1.0 + @_exp(-out[k]));\n";
  case GBTI_LINK_EXP:
    return "  for (int k = 0; k < @_N_OUTPUTS; k++) out[k] = @_exp(out[k]);\n";
  case GBTI_LINK_EXPM1:
    return "  for (int k = 0; k < @_N_OUTPUTS; k++) out[k] = @_expm1(out[k]);\n";
  case GBTI_LINK_SOFTMAX:
    return "  double top = out[0], sum = 0.0;\n"
           "  for (int k = 1; k < @_N_OUTPUTS; k++) top = out[k] > top ? out[k] : top;\n"
           "  for (int k = 0; k < @_N_OUTPUTS; k++) {\n"
           "    out[k] = @_exp(out[k] - top);\n"
           "    sum += out[k];\n"
           "  }\n"
           "  for (int k = 0; k < @_N_OUTPUTS; k++) out[k] = out[k] / sum;\n";
  case GBTI_LINK_SORTED:
    return "  for (int k = 1; k < @_N_OUTPUTS; k++) {\n"
           "    double s = out[k];\n"
           "    int i = k;\n"
           "    for (; i > 0 && out[i - 1] > s; i--) out[i] = out[i - 1];\n"
           "    out[i] = s;\n"
           "  }\n";
  }
  return "";
}

static void put_response(const gbti_outgoing *x, gbti_file *out) {
  if (x->link != GBTI_LINK_NONE && x->link != GBTI_LINK_SORTED) put_named(out, x->name, exp_text);
  if (x->link == GBTI_LINK_EXPM1) put_named(out, x->name, expm1_text);
  put_named(out, x->name,
            "void @_predict(const double *row, const double *offset, double *out) {\n"
            "  @_score(row, offset, out);\n");
  put_named(out, x->name, response_text(x->link));
  gbti_put(out, "}\n");
}

/* A function from the number of an output to its text; text NULL: to NULL. */
static void put_texts_of_outputs(const gbti_outgoing *x, const char *function, const char *const *text,
                                 gbti_file *out) {
  put_named(out, x->name, function);
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
  put_named(out, x->name, "};\n  return output >= 0 && output < @_N_OUTPUTS ? name[output] : NULL;\n}\n\n");
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
  if (n_nodes > UINT32_MAX / 2 || x->n_trees > UINT32_MAX / 2)
    return gbti_refuse(x, NULL, "it has too many nodes; gbt_save() keeps it");
  gbti_put(out, "/* A model of gradient boosted trees, written by gbt: objective \"");
  gbti_put(out, gbt_objective_info_of(x->objective->kind)->name);
  gbti_put(out, "\", ");
  gbti_put_whole(out, (int64_t)x->n_trees);
  put_named(
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
  put_named(out, x->name, "static const uint32_t @_n_trees = ");
  gbti_put_whole(out, (int64_t)x->n_trees);
  gbti_put(out, ";\n\n");
  put_named(out, x->name, declarations);
  put_named(out, x->name,
            "struct @_node_type {\n  double number;\n  uint32_t left, place;\n  int32_t column;\n"
            "  uint32_t flags;\n};\n\n");
  put_columns(x, out);
  if (has.codes) put_codes(x, out);
  if (has.texts) GBT_TRY(put_levels(x, out));
  begin_table(out, x->name, "double", "@_base");
  for (int32_t k = 0; k < x->n_outputs; k++) put_number_item(out, (size_t)k, x->base[k]);
  end_table(out, 0);
  put_trees(x, &has, out);
  gbti_put(out, "\n");
  put_named(out, x->name,
            "static double @_nan(void) {\n  const uint64_t u = 0x7ff8000000000000u;\n  double x;\n"
            "  memcpy(&x, &u, 8);\n  return x;\n}\n\n");
  put_names(x, out);
  put_walk(x, &has, out);
  put_score(x, out);
  put_response(x, out);
  return GBT_OK;
}
