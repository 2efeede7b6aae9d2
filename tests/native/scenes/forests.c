/* See forests.h. */
#include "forests.h"

static char *text_of(const char *fmt, int32_t i) {
  char buf[64];
  snprintf(buf, sizeof buf, fmt, (int)i);
  char *copy = test_alloc(strlen(buf) + 1);
  strcpy(copy, buf);
  return copy;
}

gbt_schema *make_schema(test_rng *rng, int32_t n_features, int32_t levels) {
  gbt_schema_column *feat = test_alloc((size_t)n_features * sizeof *feat);
  static const char *const tags[] = {"", "double", "Date", "pr\xc3\xa9nom"};
  for (int32_t f = 0; f < n_features; f++) {
    feat[f].name = text_of(f % 3 == 0 ? "\xc3\xa4 %d" : "x%d", f);
    feat[f].tag = tags[test_below(rng, 4)];
    feat[f].type = (gbt_feature_type)(test_below(rng, 5) < 2 ? 0 : test_below(rng, 3));
    int32_t n = feat[f].type == GBT_NUMERIC ? 0 : (int32_t)test_below(rng, levels + 1);
    const char **text = test_alloc((size_t)n * sizeof *text);
    for (int32_t i = 0; i < n; i++)
      text[i] = i == 7 ? text_of("", i) : text_of(i % 2 ? "L%d" : "niveau \xe2\x82\xac%d", i);
    feat[f].n_levels = n;
    feat[f].levels = text;
  }
  gbt_mem mem = gbt_mem_default();
  gbt_schema *schema = NULL;
  CHECK_OK(gbt_schema_new(&mem, n_features, feat, &schema, test_err));
  for (int32_t f = 0; f < n_features; f++) {
    for (int32_t i = 0; i < feat[f].n_levels; i++) free((void *)(uintptr_t)feat[f].levels[i]);
    free((void *)(uintptr_t)feat[f].levels);
    free((void *)(uintptr_t)feat[f].name);
  }
  free(feat);
  return schema;
}

double make_number(test_rng *rng) {
  static const double odd[] = {-INFINITY, INFINITY, -0.0, 0.0, 1e300, -1e300, 5e-324, -5e-324, 1e-310, 0.1};
  int64_t kind = test_below(rng, 10);
  if (kind == 0) return odd[test_below(rng, 10)];
  if (kind < 3) return test_bell(rng);
  return (double)(test_below(rng, 41) - 20) / 2.0;
}

/* A random split by the node's feature; the set goes after those that are there. */
static void make_split(test_rng *rng, const gbt_schema *schema, gbt_node *node, uint32_t *words, uint32_t max_words,
                       uint32_t *n_words) {
  int32_t f = (int32_t)test_below(rng, schema->n_features);
  node->feat = (uint32_t)f | (uint32_t)(test_u(rng) & (GBT_NODE_MISSING_LEFT | GBT_NODE_BULK_LEFT));
  uint32_t most = (uint32_t)schema->col[schema->feat[f].col].n_levels / 32 + 1;
  if (schema->feat[f].type == GBT_CATEGORICAL && *n_words + most <= max_words && test_below(rng, 8) > 0) {
    uint32_t n = (uint32_t)test_below(rng, (int64_t)most + 1);
    node->feat |= GBT_NODE_CATEGORICAL;
    node->arg.set.beg = *n_words;
    node->arg.set.n_words = n;
    for (uint32_t i = 0; i < n; i++) words[(*n_words)++] = (uint32_t)test_u(rng);
  } else {
    node->arg.value = make_number(rng);
  }
}

uint32_t make_tree(test_rng *rng, const gbt_schema *schema, int32_t n_splits, tree_shape shape, gbt_node *nodes,
                   uint32_t *words, uint32_t max_words, uint32_t *n_words) {
  uint32_t n = 1, n_open = 1, oldest = 0, *open = test_alloc(((size_t)n_splits * 2 + 1) * sizeof *open);
  *n_words = 0;
  open[0] = 0;
  memset(nodes, 0, ((size_t)n_splits * 2 + 1) * sizeof *nodes);
  for (int32_t s = 0; s < n_splits && schema->n_features > 0; s++) {
    uint32_t at = shape == SHAPE_COMPLETE ? oldest++
                  : shape == SHAPE_CHAIN  ? n_open - 1 - (uint32_t)test_below(rng, n_open > 1 ? 2 : 1)
                                          : (uint32_t)test_below(rng, n_open);
    uint32_t i = open[at];
    make_split(rng, schema, &nodes[i], words, max_words, n_words);
    nodes[i].left = n;
    if (shape == SHAPE_COMPLETE)
      open[n_open++] = n;
    else
      open[at] = n;
    open[n_open++] = n + 1;
    n += 2;
  }
  for (uint32_t i = 0; i < n; i++)
    if (nodes[i].left == 0) nodes[i].arg.value = test_bell(rng) * (test_below(rng, 4) == 0 ? 1e6 : 0.1);
  free(open);
  return n;
}

/* A vector for every leaf, in another order than the leaves, and one that no leaf has. */
static double *make_vectors(test_rng *rng, gbt_node *nodes, uint32_t n, int32_t n_outputs) {
  size_t n_leaves = (size_t)n / 2 + 1;
  int64_t *order = test_permutation(rng, (int64_t)n_leaves + 1);
  double *values = test_alloc((n_leaves + 1) * (size_t)n_outputs * sizeof *values);
  for (size_t i = 0; i < (n_leaves + 1) * (size_t)n_outputs; i++) values[i] = test_bell(rng);
  for (uint32_t i = 0, leaf = 0; i < n; i++)
    if (nodes[i].left == 0) nodes[i].arg.vector = (uint64_t)order[leaf++];
  free(order);
  return values;
}

static void add_trees(test_rng *rng, const gbt_schema *schema, const forest_spec *spec, int64_t n_trees,
                      gbt_forest *forest) {
  size_t most = (size_t)spec->n_splits * 2 + 1;
  uint32_t max_words = 65536;
  gbt_node *nodes = test_alloc(most * sizeof *nodes);
  double *gain = test_alloc(most * sizeof *gain), *cover = test_alloc(most * sizeof *cover);
  uint32_t *count = test_alloc(most * sizeof *count), *words = test_alloc(max_words * sizeof *words);
  for (int64_t t = 0; t < n_trees; t++) {
    int32_t n_splits = spec->exact_size ? spec->n_splits : (int32_t)test_below(rng, spec->n_splits + 1);
    uint32_t n_words, n = make_tree(rng, schema, n_splits, spec->shape, nodes, words, max_words, &n_words);
    for (uint32_t i = 0; i < n; i++) {
      gain[i] = nodes[i].left == 0 ? 0.0 : test_unit(rng) * 100.0;
      cover[i] = test_unit(rng) * 1000.0;
      count[i] = (uint32_t)test_below(rng, 100000);
    }
    double *values = forest->n_leaf_outputs > 1 ? make_vectors(rng, nodes, n, forest->n_leaf_outputs) : NULL;
    gbt_tree_parts tree = {n, n_words, nodes, gain, cover, count, words, values, {0}};
    CHECK_OK(gbt_forest_add(forest, &tree, test_err));
    free(values);
  }
  free(nodes);
  free(gain);
  free(cover);
  free(count);
  free(words);
}

static gbt_forest *forest_of(test_rng *rng, const gbt_schema *schema, const forest_spec *spec, int32_t n_leaf_outputs) {
  gbt_mem mem = gbt_mem_default();
  gbt_forest_view shape = {.n_features = schema->n_features,
                           .n_outputs = spec->n_outputs,
                           .n_leaf_outputs = n_leaf_outputs,
                           .n_parallel = spec->n_parallel};
  gbt_forest *forest = NULL;
  CHECK_OK(gbt_forest_new_like(&mem, &shape, &forest, test_err));
  for (int32_t k = 0; k < spec->n_outputs; k++) forest->base[k] = test_bell(rng);
  add_trees(rng, schema, spec, spec->n_rounds * (int64_t)gbt_trees_per_round(&shape), forest);
  return forest;
}

gbt_forest *make_forest(test_rng *rng, const gbt_schema *schema, const forest_spec *spec) {
  return forest_of(rng, schema, spec, 1);
}

gbt_forest *make_vector_forest(test_rng *rng, const gbt_schema *schema, const forest_spec *spec) {
  return forest_of(rng, schema, spec, spec->n_outputs);
}

/* Every other row or so, ascending; the entries' number goes to *n. */
static int32_t *make_rows(test_rng *rng, int64_t n_rows, int64_t *n) {
  int32_t *rows = test_alloc((size_t)n_rows * sizeof *rows);
  int64_t share = test_below(rng, 5);
  *n = 0;
  for (int64_t r = 0; r < n_rows; r++)
    if (test_below(rng, 5) < share) rows[(*n)++] = (int32_t)r;
  return rows;
}

static void make_values(test_rng *rng, gbt_column *col, int64_t n) {
  col->storage = (gbt_storage)test_below(rng, 3);
  double *f64 = test_alloc((size_t)n * sizeof *f64);
  int32_t *i32 = (int32_t *)(void *)f64;
  int64_t *i64 = (int64_t *)(void *)f64;
  col->values = f64;
  for (int64_t i = 0; i < n; i++) {
    int missing = test_below(rng, 6) == 0;
    if (col->storage == GBT_F64) f64[i] = missing ? (double)NAN : make_number(rng);
    if (col->storage == GBT_I32) i32[i] = missing ? INT32_MIN : (int32_t)test_below(rng, 21) - 10;
    if (col->storage == GBT_I64) i64[i] = missing ? INT64_MIN : test_below(rng, 21) - 10;
  }
}

/* Codes for the feature's levels in another order, a few of them left out, with three that the feature does not know
 * and one without text. */
static void make_codes(test_rng *rng, const gbt_schema_column *feat, gbt_column *col, int64_t n) {
  int32_t n_known = feat->n_levels, n_levels = 0;
  const char **text = test_alloc(((size_t)n_known + 4) * sizeof *text);
  int64_t *order = test_permutation(rng, n_known + 4);
  static const char *const extra[4] = {"unseen 1", "unseen 2", "unseen 3", NULL};
  for (int32_t i = 0; i < n_known + 4; i++) {
    if (order[i] < n_known && n_known > 3 && test_below(rng, 10) == 0) continue;
    text[n_levels++] = order[i] < n_known ? feat->levels[order[i]] : extra[order[i] - n_known];
  }
  free(order);
  int32_t *code = test_alloc((size_t)n * sizeof *code);
  for (int64_t i = 0; i < n; i++) {
    int64_t kind = test_below(rng, 12);
    code[i] = kind == 0 ? INT32_MIN : kind == 1 ? 0 : 1 + (int32_t)test_below(rng, n_levels);
  }
  col->storage = GBT_CODES;
  col->values = code;
  col->n_levels = n_levels;
  col->levels = text;
}

made_table *make_table(test_rng *rng, const gbt_schema *schema, int64_t n_rows) {
  int32_t n_cols = schema->n_columns + 1;
  made_table *t = test_alloc(sizeof *t);
  t->cols = test_alloc((size_t)n_cols * sizeof *t->cols);
  memset(t->cols, 0, (size_t)n_cols * sizeof *t->cols);
  int64_t *order = test_permutation(rng, n_cols);
  for (int32_t c = 0; c < n_cols; c++) {
    static const gbt_schema_column spare = {.name = "a column too many", .tag = ""};
    gbt_column *col = &t->cols[order[c]];
    const gbt_schema_column *feat = c < schema->n_columns ? &schema->col[c] : &spare;
    int64_t n = n_rows;
    col->name = feat->name;
    col->tag = feat->tag;
    col->type = feat->type;
    if (test_below(rng, 3) == 0) {
      col->rows = make_rows(rng, n_rows, &n);
      col->n_entries = n;
    }
    if (feat->type != GBT_NUMERIC)
      make_codes(rng, feat, col, n);
    else if (col->rows == NULL || test_below(rng, 4) > 0)
      make_values(rng, col, n);
  }
  free(order);
  t->table = (gbt_table){.n_rows = n_rows, .n_cols = n_cols, .cols = t->cols};
  t->table.absent_missing = (int)test_below(rng, 2);
  return t;
}

void free_table(made_table *t) {
  for (int32_t c = 0; c < t->table.n_cols; c++) {
    free((void *)(uintptr_t)t->cols[c].values);
    free((void *)(uintptr_t)t->cols[c].rows);
    free((void *)(uintptr_t)t->cols[c].levels);
  }
  free(t->cols);
  free(t);
}
