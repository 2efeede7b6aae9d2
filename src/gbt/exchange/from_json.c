/* gbt's own JSON -> the bytes of a model: docs/json-format.md. Trees are in gbt's order, so they are not planted
 * (plant.h). What is read here is only what memory and the loops of this file need: gbt_forest_check() and
 * gbt_model_open() have the rules for trees and linear leaves. */
#include <stdio.h>
#include <string.h>

#include "../base/bits.h"
#include "../bytes/utf8.h"
#include "../schema/schema_impl.h"
#include "../tree/check.h"
#include "decimal.h"
#include "from_json.h"

/* ---- words ---- */

const char *const gbti_json_key[GBTI_JSON_KEYS] = {"left",  "column", "split", "missing", "unseen",
                                                   "value", "gain",   "cover", "count"};
const char *const gbti_json_type[3] = {"number", "levels", "ordered"};
const char *const gbti_json_rule[4] = {"plain", "float32", "scaled", "mean"};
const char *const gbti_json_link[6] = {"score", "sigmoid", "exp", "expm1", "softmax", "sorted"};

/* By what R's vectors are. Columns of a response of two values each: those of a matrix. */
enum { CLASSES_ARE_TEXTS, CLASSES_ARE_LOGICAL, CLASSES_ARE_WHOLE, CLASSES_ARE_NUMBERS, CLASSES_OF_COLUMNS };
static const struct {
  const char *name;
  int are;
} class_types[] = {{"factor", CLASSES_ARE_TEXTS},      {"ordered", CLASSES_ARE_TEXTS},
                   {"character", CLASSES_ARE_TEXTS},   {"logical", CLASSES_ARE_LOGICAL},
                   {"integer", CLASSES_ARE_WHOLE},     {"double", CLASSES_ARE_NUMBERS},
                   {"integer64", CLASSES_ARE_NUMBERS}, {"matrix", CLASSES_OF_COLUMNS},
                   {"logical_matrix", CLASSES_OF_COLUMNS}};
enum { N_CLASS_TYPES = sizeof class_types / sizeof *class_types };

static int is_class_of(int are, const char *text, int64_t place) {
  const gbti_decimal d = gbti_read_decimal(text, strlen(text));
  if (are == CLASSES_ARE_TEXTS) return 1;
  if (are == CLASSES_ARE_LOGICAL) return strcmp(text, place == 0 ? "FALSE" : "TRUE") == 0;
  if (d.n == 0 || d.n != strlen(text) || d.nearest - d.nearest != 0.0) return 0;
  return are == CLASSES_ARE_NUMBERS || (d.nearest >= -INT32_MAX && d.nearest <= INT32_MAX &&
                                        d.nearest == (double)(int32_t)d.nearest);
}

const char *gbti_class_type_fault(const char *type, const gbt_objective *objective, const char *const *classes,
                                  int64_t n) {
  const gbt_label_rule labels = gbt_objective_info_of(objective->kind)->labels;
  const int columns = labels == GBT_LABELS_BINARY && objective->n_outputs > 1;
  int i = 0;
  while (i < N_CLASS_TYPES && strcmp(type, class_types[i].name) != 0) i++;
  if (i == N_CLASS_TYPES) return "`class_type` is none that is known";
  const int are = class_types[i].are;
  const int fits = (labels == GBT_LABELS_CLASS || labels == GBT_LABELS_BINARY) &&
                   columns == (are == CLASSES_OF_COLUMNS) && (n > 0 || are >= CLASSES_ARE_WHOLE);
  if (!fits) return "`class_type` is not one of its objective and `classes`";
  for (int64_t k = 0; k < n; k++)
    if (!is_class_of(are, classes[k], k)) return "`classes` are not of `class_type`";
  return NULL;
}

/* ---- values ---- */

static gbt_status fault(const gbti_own_reader *r, const char *what) { return gbti_document_fault(r->doc, what); }

/* The status of a call that had an error of its own. What it says of the data is a fault of the file. */
static gbt_status of_file(const gbti_own_reader *r, gbt_status status, const gbt_error *own) {
  if (status == GBT_E_DATA || status == GBT_E_FORMAT) return fault(r, own->msg);
  if (status != GBT_OK) *r->err = *own;
  return status;
}

gbt_status gbti_own_tree_fault(const gbti_own_reader *r, const char *what) {
  return gbt_fail(r->err, GBT_E_FORMAT, "the JSON file is damaged: tree %llu: %s",
                  (unsigned long long)r->forest.n_trees + 1, what);
}

gbt_status gbti_own_list(const gbti_own_reader *r, size_t value, const char *key, size_t *at, int64_t *n) {
  *at = 0; /* for compilers that do not see that a failure ends the caller */
  *n = 0;
  if (value == GBTI_NO_VALUE || gbti_kind_of(r->doc, value) != GBTI_VALUE_ARRAY)
    return gbt_fail(r->err, GBT_E_FORMAT, "the JSON file is damaged: `%s` is not a list", key);
  *n = gbti_count(r->doc, value);
  *at = *n > 0 ? gbti_first(r->doc, value) : 0;
  return GBT_OK;
}

static gbt_status number_of(const gbti_own_reader *r, size_t value, const char *key, double *out) {
  const int below = gbti_text_is(r->doc, value, "-Infinity");
  if (!below && !gbti_text_is(r->doc, value, "Infinity")) return gbti_number(r->doc, value, key, 0, out);
  *out = gbt_from_bits((uint64_t)(below ? 0xfff : 0x7ff) << 52);
  return GBT_OK;
}

/* The place of a text in a list of n; n: it is not there. */
static int place_of(const gbti_own_reader *r, size_t value, const char *const *list, int n) {
  int i = 0;
  while (i < n && !gbti_text_is(r->doc, value, list[i])) i++;
  return i;
}

static gbt_status copy_text(gbti_own_reader *r, size_t value, const char *key, char **out) {
  const char *text;
  GBT_TRY(gbti_text(r->doc, value, key, &text));
  const size_t n = strlen(text);
  if (!gbt_utf8_ok(text, n)) return fault(r, "a text is not UTF-8");
  GBT_TRY(gbt_mem_array(&r->mem, n + 1, 1, out, r->err));
  memcpy(*out, text, n + 1);
  return GBT_OK;
}

/* ---- columns ---- */

static gbt_status read_levels(gbti_own_reader *r, size_t column, gbt_schema_column *col) {
  size_t at;
  int64_t n;
  char **levels;
  GBT_TRY(gbti_own_list(r, gbti_get(r->doc, column, "levels"), "levels", &at, &n));
  if (n > INT32_MAX) return fault(r, "a column has too many levels");
  GBT_TRY(gbt_mem_zeros(&r->mem, (size_t)n, sizeof *levels, &levels, r->err));
  col->levels = (const char *const *)levels;
  for (int32_t i = 0; i < (int32_t)n; i++, at = gbti_next(r->doc, at)) {
    GBT_TRY(copy_text(r, at, "levels", &levels[i]));
    col->n_levels++;
  }
  return GBT_OK;
}

/* The column's tag says which of its numbers are missing values; the list must say the same. */
static gbt_status check_missing(const gbti_own_reader *r, size_t list, const gbt_schema_column *col) {
  gbti_codes codes = {0};
  double *room;
  size_t at = 0;
  int64_t n = 0, i = 0;
  int same;
  GBT_TRY(gbt_mem_array(&r->mem, strlen(col->tag) + 1, sizeof *room, &room, r->err));
  gbti_codes_of(col, room, &codes);
  gbt_status status = list == GBTI_NO_VALUE ? GBT_OK : gbti_own_list(r, list, "missing", &at, &n);
  same = n == codes.n + codes.has_range;
  for (; status == GBT_OK && same && i < n; i++, at = gbti_next(r->doc, at)) {
    double low = 0.0, high = 0.0;
    const int range = gbti_count(r->doc, at) == 2 && gbti_kind_of(r->doc, at) == GBTI_VALUE_ARRAY;
    const size_t first = range ? gbti_first(r->doc, at) : at;
    status = number_of(r, first, "missing", &low);
    if (status == GBT_OK && range) status = number_of(r, gbti_next(r->doc, first), "missing", &high);
    same = range == (i == codes.n) &&
           (range ? low == codes.low && high == codes.high : low == codes.value[i]);
  }
  gbt_mem_free(&r->mem, room);
  if (status == GBT_OK && !same) status = fault(r, "`missing` of a column is not what its tag says");
  return status;
}

static gbt_status read_column(gbti_own_reader *r, size_t column, gbt_schema_column *col) {
  char *text;
  GBT_TRY(copy_text(r, gbti_get(r->doc, column, "name"), "name", &text));
  col->name = text;
  GBT_TRY(copy_text(r, gbti_get(r->doc, column, "tag"), "tag", &text));
  col->tag = text;
  const int type = place_of(r, gbti_get(r->doc, column, "type"), gbti_json_type, 3);
  if (type == 3) return fault(r, "a column is of no type that is known");
  col->type = (gbt_feature_type)type;
  if (col->type != GBT_NUMERIC) return read_levels(r, column, col);
  return check_missing(r, gbti_get(r->doc, column, "missing"), col);
}

static gbt_status read_columns(gbti_own_reader *r) {
  size_t at;
  int64_t n;
  GBT_TRY(gbti_own_list(r, gbti_get(r->doc, 0, "columns"), "columns", &at, &n));
  if (n > (int64_t)GBT_NODE_FEATURE) return fault(r, "it has too many columns");
  GBT_TRY(gbt_mem_zeros(&r->mem, (size_t)n, sizeof *r->col, &r->col, r->err));
  r->n_columns = (int32_t)n;
  for (int32_t c = 0; c < r->n_columns; c++, at = gbti_next(r->doc, at)) GBT_TRY(read_column(r, at, &r->col[c]));
  r->forest.n_features = r->n_columns;
  gbt_error own = {0};
  return of_file(r, gbt_schema_new(&r->mem, r->n_columns, r->col, &r->schema, &own), &own);
}

/* ---- objective, base scores, texts ---- */

static gbt_status read_parameters(gbti_own_reader *r) {
  const gbt_objective_info *info = gbt_objective_info_of(r->objective.kind);
  const size_t list = gbti_get(r->doc, 0, "parameters");
  gbt_error own = {0};
  for (int i = 0; i < GBT_OBJECTIVE_PARAMS && info->param[i].name != NULL; i++) {
    const size_t value = gbti_get(r->doc, list, info->param[i].name);
    if (value == GBTI_NO_VALUE) continue;
    GBT_TRY(gbti_number(r->doc, value, info->param[i].name, 0, &r->objective.param[i]));
  }
  if (gbt_objective_check(&r->objective, &own) != GBT_OK) return fault(r, own.msg);
  if (!gbt_has_levels(&r->objective)) return GBT_OK;
  if (r->objective.n_outputs > GBT_MOST_LEVELS) return fault(r, "the objective has too many levels");
  r->facts->n_levels = r->objective.n_outputs;
  GBT_TRY(gbti_numbers(r->doc, gbti_get(r->doc, 0, "levels"), "levels", r->objective.n_outputs, 0, r->facts->level));
  r->objective.levels = r->facts->level;
  if (gbt_levels_check(&r->objective, &own) != GBT_OK) return fault(r, own.msg);
  r->objective.levels = NULL;
  return GBT_OK;
}

static gbt_status read_objective(gbti_own_reader *r) {
  int64_t n;
  int32_t kind = 0;
  const size_t name = gbti_get(r->doc, 0, "objective"), response = gbti_get(r->doc, 0, "response");
  GBT_TRY(gbti_whole(r->doc, gbti_get(r->doc, 0, "outputs"), "outputs", 1, INT32_MAX, &n));
  while (kind < GBT_N_OBJECTIVES && !gbti_text_is(r->doc, name, gbt_objective_info_of(kind)->name)) kind++;
  if (kind == GBT_N_OBJECTIVES) return fault(r, "its objective is none of gbt's");
  r->objective = gbt_objective_make((gbt_objective_kind)kind, (int32_t)n);
  if (gbt_is_distribution(&r->objective) || gbt_gradients_by_interval(&r->objective))
    return gbt_fail(r->err, GBT_E_UNSUPPORTED,
                    "the JSON model cannot be imported: a file does not say %s; gbt_save() keeps such a model",
                    gbt_is_distribution(&r->objective) ? "what the parameters of a distribution are"
                                                       : "which intervals of time its scores are of");
  if (!gbti_text_is(r->doc, response, gbti_json_link[gbti_link_of(&r->objective)]))
    return fault(r, "`response` is not that of its objective");
  if (gbti_count(r->doc, gbti_get(r->doc, 0, "base")) != n) return fault(r, "`base` has not a number for each output");
  GBT_TRY(gbt_mem_array(&r->mem, (size_t)n, sizeof *r->base, &r->base, r->err));
  GBT_TRY(gbti_numbers(r->doc, gbti_get(r->doc, 0, "base"), "base", n, 0, r->base));
  r->forest.base = r->base;
  r->forest.n_outputs = (int32_t)n;
  snprintf(r->facts->objective, sizeof r->facts->objective, "%s", gbt_objective_info_of(kind)->name);
  return read_parameters(r);
}

static gbt_status read_sums(gbti_own_reader *r) {
  const int rule = place_of(r, gbti_get(r->doc, 0, "sum"), gbti_json_rule, 4);
  r->forest.sums.rule = rule;
  if (rule == 4) return fault(r, "`sum` is no rule that is known");
  if (rule != GBT_SUM_SCALED) return GBT_OK;
  return gbti_number(r->doc, gbti_get(r->doc, 0, "scale"), "scale", 0, &r->forest.sums.scale);
}

static gbt_status read_texts(gbti_own_reader *r, const char *key, int64_t *n) {
  size_t at;
  GBT_TRY(gbti_own_list(r, gbti_get(r->doc, 0, key), key, &at, n));
  GBT_TRY(gbt_mem_grow(&r->mem, &r->text, &r->cap_texts, r->n_texts + (size_t)*n, sizeof *r->text, r->err));
  for (int64_t i = 0; i < *n; i++, at = gbti_next(r->doc, at)) {
    GBT_TRY(copy_text(r, at, key, &r->text[r->n_texts]));
    r->n_texts++;
  }
  return GBT_OK;
}

/* Texts may be none, or `many`, each once. */
static gbt_status check_texts(const gbti_own_reader *r, const char *const *text, int64_t n, int64_t many,
                              const char *number, const char *twice) {
  int32_t *place;
  if (n != 0 && n != many) return fault(r, number);
  GBT_TRY(gbt_mem_array(&r->mem, (size_t)n, sizeof *place, &place, r->err));
  gbt_status status = gbt_match_texts(&r->mem, text, (int32_t)n, text, (int32_t)n, place, r->err);
  for (int64_t i = 0; i < n && status == GBT_OK; i++)
    if (place[i] != i) status = fault(r, twice);
  gbt_mem_free(&r->mem, place);
  return status;
}

static gbt_status read_all_texts(gbti_own_reader *r) {
  const gbt_label_rule labels = gbt_objective_info_of(r->objective.kind)->labels;
  const int64_t n = r->forest.n_outputs;
  const int64_t n_classes = labels == GBT_LABELS_CLASS ? n : labels == GBT_LABELS_BINARY && n == 1 ? 2 : 0;
  GBT_TRY(read_texts(r, "classes", &r->n_classes));
  GBT_TRY(read_texts(r, "output_names", &r->n_names));
  const char *const *text = (const char *const *)r->text;
  GBT_TRY(check_texts(r, text, r->n_classes, n_classes, "`classes` are not as many as those of its objective",
                      "`classes` has a name twice"));
  GBT_TRY(check_texts(r, text == NULL ? NULL : text + r->n_classes, r->n_names, n,
                      "`output_names` has not a name for each output", "`output_names` has a name twice"));
  const size_t type = gbti_get(r->doc, 0, "class_type");
  if (type == GBTI_NO_VALUE) return GBT_OK;
  GBT_TRY(copy_text(r, type, "class_type", &r->class_type));
  const char *what = gbti_class_type_fault(r->class_type, &r->objective, text, r->n_classes);
  return what == NULL ? GBT_OK : fault(r, what);
}

/* ---- trees ---- */

static gbt_status read_set(gbti_own_reader *r, size_t value, const gbt_tree *tree, gbt_node *node) {
  size_t at;
  int64_t n, word;
  gbt_forest_view *forest = &r->forest;
  GBT_TRY(gbti_own_list(r, value, "split", &at, &n));
  if ((uint64_t)n + forest->n_words - tree->set_beg > UINT32_MAX)
    return gbti_own_tree_fault(r, "its sets are too large");
  GBT_TRY(gbt_mem_grow(&r->mem, &r->words, &r->cap_words, (size_t)forest->n_words + (size_t)n, sizeof *r->words,
                       r->err));
  node->feat |= GBT_NODE_CATEGORICAL;
  node->arg.set.beg = (uint32_t)(forest->n_words - tree->set_beg);
  node->arg.set.n_words = (uint32_t)n;
  for (int64_t i = 0; i < n; i++, at = gbti_next(r->doc, at)) {
    GBT_TRY(gbti_whole(r->doc, at, "split", 0, UINT32_MAX, &word));
    r->words[forest->n_words++] = (uint32_t)word;
  }
  return GBT_OK;
}

/* Columns of so many levels that sets do not tell the last ones apart: these go where missing values go. */
static int is_split_of_last(const gbti_own_reader *r, const gbt_tree *tree, const gbt_node *node) {
  const int32_t n_levels = r->col[node->feat & GBT_NODE_FEATURE].n_levels;
  const uint32_t n_words = node->arg.set.n_words;
  const uint32_t *words = n_words > 0 ? r->words + tree->set_beg + node->arg.set.beg : NULL;
  const int left = (node->feat & GBT_NODE_MISSING_LEFT) != 0;
  for (int32_t level = GBT_MAX_LEVELS; level < n_levels; level++) {
    if (gbt_bit(words, n_words, (uint32_t)level) != left) return 1;
    if ((uint32_t)level / 32 >= n_words) return 0; /* all others are like this one */
  }
  return 0;
}

static gbt_status read_split(gbti_own_reader *r, size_t value, const gbt_tree *tree, gbt_node *node) {
  const int levels = r->col[node->feat & GBT_NODE_FEATURE].type == GBT_CATEGORICAL;
  if (gbti_kind_of(r->doc, value) == GBTI_VALUE_ARRAY) {
    if (!levels) return gbti_own_tree_fault(r, "a column without levels, or with levels in order, is split by a set");
    return read_set(r, value, tree, node);
  }
  if (levels) return gbti_own_tree_fault(r, "a column of levels without an order is split by a number");
  return number_of(r, value, "split", &node->arg.value);
}

static gbt_status read_value(gbti_own_reader *r, size_t value, gbt_node *node) {
  gbt_forest_view *forest = &r->forest;
  const size_t width = (size_t)forest->n_leaf_outputs, n = (size_t)forest->n_vectors * width;
  if (width == 1) return gbti_number(r->doc, value, "value", 0, &node->arg.value);
  GBT_TRY(gbt_mem_grow(&r->mem, &r->values, &r->cap_values, n + width, sizeof *r->values, r->err));
  node->arg.vector = forest->n_vectors++;
  return gbti_numbers(r->doc, value, "value", (int64_t)width, 0, r->values + n);
}

static gbt_status read_field(gbti_own_reader *r, int key, size_t value, const gbt_tree *tree, size_t at) {
  gbt_node *node = &r->nodes[at];
  const int split = node->left > 0;
  int64_t x = 0;
  switch (key) {
  case GBTI_JSON_LEFT:
    GBT_TRY(gbti_whole(r->doc, value, "left", 0, INT32_MAX, &x));
    node->left = (uint32_t)x;
    return GBT_OK;
  case GBTI_JSON_COLUMN:
    if (!split) return GBT_OK;
    GBT_TRY(gbti_whole(r->doc, value, "column", 0, (int64_t)r->n_columns - 1, &x));
    node->feat = (uint32_t)x;
    return GBT_OK;
  case GBTI_JSON_SPLIT:
    return split ? read_split(r, value, tree, node) : GBT_OK;
  case GBTI_JSON_MISSING:
  case GBTI_JSON_UNSEEN:
    GBT_TRY(gbti_whole(r->doc, value, gbti_json_key[key], 0, 1, &x));
    if (split && x != 0) node->feat |= key == GBTI_JSON_MISSING ? GBT_NODE_MISSING_LEFT : GBT_NODE_BULK_LEFT;
    return GBT_OK;
  case GBTI_JSON_VALUE:
    return split ? GBT_OK : read_value(r, value, node);
  case GBTI_JSON_GAIN:
    return number_of(r, value, "gain", &r->gain[at]);
  case GBTI_JSON_COVER:
    return number_of(r, value, "cover", &r->cover[at]);
  default:
    GBT_TRY(gbti_whole(r->doc, value, "count", 0, UINT32_MAX, &x));
    r->count[at] = (uint32_t)x;
    return GBT_OK;
  }
}

static gbt_status room_for(gbti_own_reader *r, size_t n) {
  GBT_TRY(gbt_mem_grow(&r->mem, &r->nodes, &r->cap[0], n, sizeof *r->nodes, r->err));
  GBT_TRY(gbt_mem_grow(&r->mem, &r->gain, &r->cap[1], n, sizeof *r->gain, r->err));
  GBT_TRY(gbt_mem_grow(&r->mem, &r->cover, &r->cap[2], n, sizeof *r->cover, r->err));
  GBT_TRY(gbt_mem_grow(&r->mem, &r->count, &r->cap[3], n, sizeof *r->count, r->err));
  return r->linear ? gbt_mem_grow(&r->mem, &r->of, &r->cap[4], n, sizeof *r->of, r->err) : GBT_OK;
}

/* Splits of a layer of a symmetric tree have one set, gbt_same_set(), which the file has once a node. */
static void share_sets(gbti_own_reader *r, gbt_tree *tree) {
  gbt_forest_view *forest = &r->forest;
  uint32_t *words = forest->n_words > tree->set_beg ? r->words + tree->set_beg : NULL, n = 0;
  const gbt_node *last = NULL;
  for (gbt_node *node = r->nodes + tree->node_beg; node < r->nodes + tree->node_beg + tree->n_nodes; node++) {
    if (node->left == 0 || !(node->feat & GBT_NODE_CATEGORICAL)) continue;
    const uint32_t n_words = node->arg.set.n_words, beg = node->arg.set.beg;
    const int same = last != NULL && last->feat == node->feat && last->arg.set.n_words == n_words &&
                     (n_words == 0 || memcmp(words + last->arg.set.beg, words + beg, n_words * sizeof *words) == 0);
    node->arg.set.beg = same ? last->arg.set.beg : n;
    last = node;
    if (same) continue;
    if (n_words > 0) memmove(words + n, words + beg, n_words * sizeof *words);
    n += n_words;
  }
  forest->n_words = tree->set_beg + n;
  tree->n_words = n;
}

static gbt_status read_tree(gbti_own_reader *r, size_t value) {
  gbt_forest_view *forest = &r->forest;
  gbt_tree *tree = &r->trees[forest->n_trees];
  const size_t beg = (size_t)forest->n_nodes;
  int64_t n = 0, its;
  size_t at;
  for (int key = 0; key < GBTI_JSON_KEYS; key++) {
    GBT_TRY(gbti_own_list(r, gbti_get(r->doc, value, gbti_json_key[key]), gbti_json_key[key], &at, &its));
    if (key == GBTI_JSON_LEFT) {
      if (its < 1 || its > INT32_MAX) return gbti_own_tree_fault(r, "it has no nodes, or too many");
      n = its;
      GBT_TRY(room_for(r, beg + (size_t)n));
      memset(r->nodes + beg, 0, (size_t)n * sizeof *r->nodes);
      if (r->linear) memset(r->of + beg, 0, (size_t)n * sizeof *r->of);
      *tree = (gbt_tree){.node_beg = beg, .set_beg = forest->n_words, .n_nodes = (uint32_t)n};
      forest->n_nodes += (uint64_t)n;
    }
    if (its != n) return gbti_own_tree_fault(r, "its lists differ in length");
    for (size_t i = beg; i < beg + (size_t)n; i++, at = gbti_next(r->doc, at))
      GBT_TRY(read_field(r, key, at, tree, i));
  }
  share_sets(r, tree);
  for (size_t i = beg; i < beg + (size_t)n; i++)
    if (r->nodes[i].feat & GBT_NODE_CATEGORICAL && is_split_of_last(r, tree, &r->nodes[i]))
      return gbti_own_tree_fault(r, "a set tells levels beyond the 65,534th apart");
  return r->linear ? gbti_own_linear(r, value, beg, n) : GBT_OK;
}

/* Trees are in the order of rounds, then outputs, then parallel trees. */
static gbt_status read_trees(gbti_own_reader *r) {
  gbt_forest_view *forest = &r->forest;
  int64_t n, rounds, output, first = 0;
  size_t at;
  GBT_TRY(gbti_own_list(r, gbti_get(r->doc, 0, "trees"), "trees", &at, &n));
  GBT_TRY(gbti_whole(r->doc, gbti_get(r->doc, 0, "rounds"), "rounds", n > 0, n, &rounds));
  if (n > 0) GBT_TRY(gbti_whole(r->doc, gbti_get(r->doc, at, "output"), "output", -1, 0, &first));
  if (first < 0 && forest->n_outputs == 1) return fault(r, "a tree adds to all of one output");
  forest->n_leaf_outputs = first < 0 ? forest->n_outputs : 1;
  const int plain = forest->sums.rule == GBT_SUM_PLAIN;
  if (r->linear && (first < 0 || (r->numbers ? forest->sums.rule == GBT_SUM_FLOAT : !plain)))
    return fault(r, r->numbers ? "linear leaves are not for `sum` \"float32\", nor for trees that add to all outputs"
                               : "linear leaves are for `sum` \"plain\" and trees that add to one output");
  const int64_t width = first < 0 ? 1 : forest->n_outputs;
  const int64_t n_parallel = n > 0 ? n / rounds / width : 1;
  if (n_parallel < 1 || n_parallel > INT32_MAX || (n > 0 && n_parallel * width * rounds != n))
    return fault(r, "the number of trees does not fill its rounds");
  forest->n_parallel = (int32_t)n_parallel;
  GBT_TRY(gbt_mem_zeros(&r->mem, (size_t)n, sizeof *r->trees, &r->trees, r->err));
  for (int64_t t = 0; t < n; t++, at = gbti_next(r->doc, at)) {
    const int64_t own = first < 0 ? -1 : t / n_parallel % width;
    GBT_TRY(gbti_whole(r->doc, gbti_get(r->doc, at, "output"), "output", -1, INT32_MAX, &output));
    if (output != own) return gbti_own_tree_fault(r, "it does not add to the output whose turn it is");
    GBT_TRY(read_tree(r, at));
    forest->n_trees++;
  }
  return r->numbers ? gbti_own_columns(r) : GBT_OK;
}

/* ---- the model ---- */

static void tell_facts(const gbti_own_reader *r) {
  gbt_import_facts *facts = r->facts;
  const gbt_forest_view *forest = &r->forest;
  int splits = 0;
  memcpy(facts->program, "gbt", sizeof "gbt");
  for (uint64_t i = 0; i < forest->n_nodes; i++) {
    splits |= r->nodes[i].left > 0;
    facts->has_gain |= r->gain[i] != 0.0;
    facts->has_cover |= r->cover[i] != 0.0;
    facts->has_count |= r->count[i] != 0;
  }
  facts->has_gain |= !splits;
  facts->has_cover |= forest->n_nodes == 0;
  facts->has_count |= forest->n_nodes == 0;
  facts->has_offset = gbti_kind_of(r->doc, gbti_get(r->doc, 0, "offset")) == GBTI_VALUE_TRUE;
}

static void point_forest(gbti_own_reader *r) {
  gbt_forest_view *forest = &r->forest;
  forest->trees = r->trees;
  forest->nodes = r->nodes;
  forest->sets = r->words;
  forest->gain = r->gain;
  forest->cover = r->cover;
  forest->count = r->count;
  forest->leaf_values = r->values;
  if (forest->linear.n_leaves == 0) {
    memset(&forest->linear, 0, sizeof forest->linear);
    return;
  }
  forest->linear.of = r->of;
  forest->linear.leaf = r->leaf;
  forest->linear.term = r->term;
  forest->linear.grid = r->grid;
  forest->linear.cut = r->cut;
  forest->linear.x = r->x;
}

static gbt_status make_model(gbti_own_reader *r, uint8_t **out, size_t *n_out) {
  const char *what;
  gbt_error own = {0};
  gbt_model *model;
  point_forest(r);
  GBT_TRY(gbt_forest_check(&r->mem, &r->forest, r->schema->feat, &what, r->err));
  if (what == NULL && r->forest.linear.n_leaves > 0) what = gbt_linear_fault(&r->forest, r->schema->feat);
  if (what != NULL) return fault(r, what);
  gbt_meta meta[3];
  int32_t n_meta = 0;
  const char *const *text = (const char *const *)r->text;
  if (r->n_classes > 0)
    meta[n_meta++] = (gbt_meta){.name = "classes", .kind = GBT_META_TEXT, .n = r->n_classes, .text = text};
  if (r->n_names > 0)
    meta[n_meta++] =
        (gbt_meta){.name = "outputs", .kind = GBT_META_TEXT, .n = r->n_names, .text = text + r->n_classes};
  const char *const class_type = r->class_type;
  if (class_type != NULL)
    meta[n_meta++] = (gbt_meta){.name = "response", .kind = GBT_META_TEXT, .n = 1, .text = &class_type};
  const gbt_model_spec spec = {.forest = &r->forest,
                               .trees = {0, r->forest.n_trees},
                               .objective = r->objective,
                               .schema = r->schema,
                               .meta = meta,
                               .n_meta = n_meta};
  GBT_TRY(gbt_model_make(&r->mem, &spec, out, n_out, r->err));
  const gbt_status status = gbt_model_open(&r->mem, *out, *n_out, &model, &own);
  if (status == GBT_OK) {
    gbt_model_close(model);
    return GBT_OK;
  }
  gbt_mem_free(&r->mem, *out);
  *out = NULL;
  return of_file(r, status, &own);
}

static gbt_status read_all(gbti_own_reader *r, uint8_t **out, size_t *n_out) {
  GBT_TRY(read_columns(r));
  GBT_TRY(read_objective(r));
  GBT_TRY(read_sums(r));
  GBT_TRY(read_all_texts(r));
  GBT_TRY(gbti_own_grids(r));
  GBT_TRY(read_trees(r));
  tell_facts(r);
  return make_model(r, out, n_out);
}

static void drop(gbti_own_reader *r) {
  for (int32_t c = 0; c < r->n_columns; c++) {
    gbt_schema_column *col = &r->col[c];
    for (int32_t i = 0; i < col->n_levels; i++) gbt_mem_free(&r->mem, (char *)(uintptr_t)col->levels[i]);
    gbt_mem_free(&r->mem, (char **)(uintptr_t)col->levels);
    gbt_mem_free(&r->mem, (char *)(uintptr_t)col->name);
    gbt_mem_free(&r->mem, (char *)(uintptr_t)col->tag);
  }
  for (size_t i = 0; i < r->n_texts; i++) gbt_mem_free(&r->mem, r->text[i]);
  gbt_mem_free(&r->mem, r->class_type);
  gbt_schema_unref(r->schema);
  void *block[] = {r->col,    r->text,  r->base, r->trees, r->nodes, r->gain, r->cover, r->values,
                   r->count, r->words, r->of,   r->grid,  r->cut,   r->x,    r->leaf,  r->term};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&r->mem, block[i]);
}

gbt_status gbti_read_own_json(gbti_document *doc, gbt_import_facts *facts, uint8_t **out, size_t *n_out) {
  gbti_own_reader r = {.doc = doc, .mem = doc->mem, .err = doc->err, .facts = facts};
  const gbt_status status = read_all(&r, out, n_out);
  drop(&r);
  return status;
}
