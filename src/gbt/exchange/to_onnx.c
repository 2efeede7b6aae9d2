/* ONNX: ai.onnx.ml 5, whose TreeEnsemble has doubles; IR 10, opset 21.
 *
 *   inputs       one for each column that trees split by, of its name: [N, 1], doubles, NaN is missing; levels are
 *                strings, "" is missing
 *   NAME:code_J  of levels: 2 + position, 1 is unseen (LabelEncoder)
 *   NAME:rows    all of them (Concat) -> NAME:sum (TreeEnsemble) -> NAME_score [N, outputs] -> NAME_response
 *
 * Base scores are in the leaves of the first trees, as a sum begins there with 0. The file is protobuf: fields of a
 * number, a kind (0: a varint; 2: bytes after their length) and a value. to_onnx_read.c reads what is written here. */
#include <stdio.h>
#include <string.h>

#include "../base/bits.h"
#include "formats.h"
#include "onnx.h"

typedef struct onnx_writer {
  const gbti_outgoing *x;
  uint8_t *used;   /* by column */
  int32_t *place;  /* by column: its feature */
  uint32_t *id;    /* by node of a tree: its number among the splits, or among the leaves, of all trees */
  gbti_file graph; /* the fields of the graph */
  gbti_file node;  /* those of one node */
  gbti_file part;  /* those of an attribute, or of a value's type */
  gbti_file inner; /* those of a part of it */
} onnx_writer;

/* ---- protobuf ---- */

static void put_varint(gbti_file *out, uint64_t x) {
  uint8_t byte[10];
  size_t n = 0;
  for (; x >= 128; x >>= 7) byte[n++] = (uint8_t)(x | 128u);
  byte[n++] = (uint8_t)x;
  gbti_put_bytes(out, byte, n);
}

static void put_whole(gbti_file *out, uint32_t field, int64_t x) {
  put_varint(out, (uint64_t)field << 3);
  put_varint(out, (uint64_t)x);
}

static void put_block(gbti_file *out, uint32_t field, const void *bytes, size_t n) {
  put_varint(out, (uint64_t)field << 3 | 2u);
  put_varint(out, n);
  gbti_put_bytes(out, bytes, n);
}

static void put_text(gbti_file *out, uint32_t field, const char *text) { put_block(out, field, text, strlen(text)); }

/* Moves the fields of a message into the one that it is part of. */
static void put_message(gbti_file *out, uint32_t field, gbti_file *message) {
  if (message->status != GBT_OK && out->status == GBT_OK) out->status = message->status;
  put_block(out, field, message->at, message->n);
  message->n = 0;
}

/* NAME and a text; number: after it, if it is not negative. */
typedef struct onnx_name {
  char text[96];
} onnx_name;
static onnx_name name_of(const onnx_writer *w, const char *what, int32_t number) {
  onnx_name name;
  if (number < 0)
    snprintf(name.text, sizeof name.text, "%s%s", w->x->name, what);
  else
    snprintf(name.text, sizeof name.text, "%s%s%d", w->x->name, what, (int)number);
  return name;
}

/* ---- nodes ---- */

static void put_link(onnx_writer *w, int is_output, const char *name) {
  put_text(&w->node, is_output ? ONNX_NODE_OUTPUT : ONNX_NODE_INPUT, name);
}

static void end_node(onnx_writer *w, const char *type, int is_ml) {
  put_text(&w->node, ONNX_NODE_TYPE, type);
  if (is_ml) put_text(&w->node, ONNX_NODE_DOMAIN, "ai.onnx.ml");
  put_message(&w->graph, ONNX_GRAPH_NODE, &w->node);
}

static void end_attribute(onnx_writer *w, const char *name, int type) {
  put_text(&w->inner, ONNX_ATTRIBUTE_NAME, name);
  put_whole(&w->inner, ONNX_ATTRIBUTE_TYPE, type);
  if (w->part.status != GBT_OK && w->inner.status == GBT_OK) w->inner.status = w->part.status;
  gbti_put_bytes(&w->inner, w->part.at, w->part.n);
  w->part.n = 0;
  put_message(&w->node, ONNX_NODE_ATTRIBUTE, &w->inner);
}

static void put_whole_attribute(onnx_writer *w, const char *name, int64_t x) {
  put_whole(&w->part, ONNX_ATTRIBUTE_INT, x);
  end_attribute(w, name, ONNX_INT);
}

static void put_little(gbti_file *out, double x) {
  uint8_t byte[8];
  const uint64_t u = gbt_bits(x);
  for (int i = 0; i < 8; i++) byte[i] = (uint8_t)(u >> (8 * i));
  gbti_put_bytes(out, byte, sizeof byte);
}

/* Ends a tensor of one dimension whose values are in `inner`. */
static void end_tensor(onnx_writer *w, const char *name, int type, size_t n, gbti_file *values) {
  gbti_file tensor = {.mem = w->x->mem, .err = w->x->err};
  put_whole(&tensor, ONNX_TENSOR_DIMS, (int64_t)n);
  put_whole(&tensor, ONNX_TENSOR_TYPE, type);
  put_message(&tensor, ONNX_TENSOR_RAW, values);
  put_message(&w->part, ONNX_ATTRIBUTE_TENSOR, &tensor);
  gbt_mem_free(&tensor.mem, tensor.at);
  end_attribute(w, name, ONNX_TENSOR);
}

/* ---- columns ---- */

static void put_value(onnx_writer *w, uint32_t field, const char *name, int type, int64_t width) {
  gbti_file shape = {.mem = w->x->mem, .err = w->x->err};
  put_text(&w->inner, ONNX_DIM_NAME, "N");
  put_message(&shape, ONNX_SHAPE_DIM, &w->inner);
  put_whole(&w->inner, ONNX_DIM_VALUE, width);
  put_message(&shape, ONNX_SHAPE_DIM, &w->inner);
  put_whole(&w->inner, ONNX_TENSOR_ELEMENTS, type);
  put_message(&w->inner, ONNX_TENSOR_SHAPE, &shape);
  put_message(&shape, ONNX_TYPE_TENSOR, &w->inner);
  put_text(&w->part, ONNX_VALUE_NAME, name);
  put_message(&w->part, ONNX_VALUE_TYPE, &shape);
  put_message(&w->graph, field, &w->part);
  gbt_mem_free(&shape.mem, shape.at);
}

/* Texts to numbers: 2 + position, 1 for others, NaN for "". */
static gbt_status put_encoder(onnx_writer *w, int32_t c) {
  const gbt_schema_column *col = &w->x->schema->col[c];
  const double others = col->type == GBT_CATEGORICAL ? 1.0 : gbt_nan();
  put_link(w, 0, col->name);
  put_link(w, 1, name_of(w, ":code_", c + 1).text);
  for (int32_t level = 0; level < col->n_levels; level++) {
    if (*col->levels[level] == 0)
      return gbti_refuse(w->x, col->name,
                         "column `%s` has the level \"\", which stands for missing values in ONNX; give the level "
                         "another name",
                         col->name);
    put_text(&w->part, ONNX_ATTRIBUTE_STRINGS, col->levels[level]);
  }
  put_text(&w->part, ONNX_ATTRIBUTE_STRINGS, "");
  end_attribute(w, "keys_strings", ONNX_STRINGS);
  for (int32_t level = 0; level < col->n_levels; level++) put_little(&w->inner, 2.0 + level);
  put_little(&w->inner, gbt_nan());
  end_tensor(w, "values_tensor", ONNX_DOUBLES, (size_t)col->n_levels + 1, &w->inner);
  put_little(&w->inner, others);
  end_tensor(w, "default_tensor", ONNX_DOUBLES, 1, &w->inner);
  end_node(w, "LabelEncoder", 1);
  return GBT_OK;
}

static gbt_status put_columns(onnx_writer *w) {
  const gbti_outgoing *x = w->x;
  const onnx_name own = name_of(w, ":", -1), score = name_of(w, "_score", -1), response = name_of(w, "_response", -1);
  int32_t n = 0;
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    const gbt_schema_column *col = &x->schema->col[c];
    if (!w->used[c]) continue;
    if (strncmp(col->name, own.text, strlen(own.text)) == 0 || strcmp(col->name, score.text) == 0 ||
        strcmp(col->name, response.text) == 0)
      return gbti_refuse(x, col->name, "column `%s` has the name of a part of the graph; give another `name`",
                         col->name);
    w->place[c] = n++;
    put_value(w, ONNX_GRAPH_INPUT, col->name, col->type == GBT_NUMERIC ? ONNX_DOUBLES : ONNX_TEXTS, 1);
    if (col->type != GBT_NUMERIC) GBT_TRY(put_encoder(w, c));
  }
  for (int32_t c = 0; c < x->schema->n_columns; c++)
    if (w->used[c])
      put_link(w, 0, x->schema->col[c].type == GBT_NUMERIC ? x->schema->col[c].name : name_of(w, ":code_", c + 1).text);
  put_link(w, 1, name_of(w, ":rows", -1).text);
  put_whole_attribute(w, "axis", 1);
  end_node(w, "Concat", 0);
  return GBT_OK;
}

/* ---- trees ---- */

/* A number for each split, or each leaf, of all trees, as fields of their attributes. */
typedef enum onnx_list { FEATURE, TRUE_NODE, FALSE_NODE, TRUE_LEAF, FALSE_LEAF, MISSING, TARGET, N_LISTS } onnx_list;
static const char *const lists[N_LISTS] = {"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids",
                                           "nodes_trueleafs",  "nodes_falseleafs",  "nodes_missing_value_tracks_true",
                                           "leaf_targetids"};

typedef struct onnx_trees {
  gbti_file list[N_LISTS], roots, modes, splits, members, weights;
  uint32_t n_splits, n_leaves;
  size_t n_members;
} onnx_trees;

static void put_item(gbti_file *list, int64_t x) { put_whole(list, ONNX_ATTRIBUTE_INTS, x); }

static void put_leaf(onnx_trees *to, int32_t target, double value) {
  put_item(&to->list[TARGET], target);
  put_little(&to->weights, value);
}

/* A tree of one leaf: a split, both of whose leaves are it. */
static void put_constant(onnx_trees *to, const gbti_out_tree *tree) {
  put_item(&to->list[FEATURE], 0);
  for (int k = 0; k < 2; k++) {
    put_item(&to->list[k == 0 ? TRUE_NODE : FALSE_NODE], to->n_leaves++);
    put_item(&to->list[k == 0 ? TRUE_LEAF : FALSE_LEAF], 1);
    put_leaf(to, tree->output, tree->node[0].number);
  }
  put_item(&to->list[MISSING], 0);
  gbti_put_bytes(&to->modes, &(uint8_t){ONNX_AT_MOST}, 1);
  put_little(&to->splits, 0.0);
  to->n_splits++;
}

/* Codes of the levels that go left, and a NaN; 0: there are none. */
static int put_members(onnx_writer *w, onnx_trees *to, const gbti_out_node *node) {
  const size_t before = to->n_members;
  for (int32_t level = -1; level < w->x->schema->col[node->column].n_levels; level++) {
    if (!gbti_out_left(w->x, node, level)) continue;
    put_little(&to->members, level + 2.0);
    to->n_members++;
  }
  if (to->n_members == before) return 0;
  put_little(&to->members, gbt_nan());
  to->n_members++;
  return 1;
}

/* The threshold of a column with levels, among their codes. */
static double code_at_most(double number, int32_t n_levels) {
  if (number < 0.0) return 1.0;
  return 2.0 + (number < (double)n_levels ? (double)(int32_t)number : (double)n_levels);
}

static void put_split(onnx_writer *w, onnx_trees *to, const gbti_out_tree *tree, const gbti_out_node *node) {
  const gbt_schema_column *col = &w->x->schema->col[node->column];
  const double number = col->type == GBT_NUMERIC ? node->number : code_at_most(node->number, col->n_levels);
  put_item(&to->list[FEATURE], w->place[node->column]);
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t child = node->left + k;
    put_item(&to->list[k == 0 ? TRUE_NODE : FALSE_NODE], w->id[child]);
    put_item(&to->list[k == 0 ? TRUE_LEAF : FALSE_LEAF], tree->node[child].left == 0);
  }
  put_item(&to->list[MISSING], node->missing_left);
  const int by_set = node->by_set && put_members(w, to, node); /* an empty set: codes at most 0 */
  gbti_put_bytes(&to->modes, &(uint8_t){by_set ? ONNX_MEMBER : ONNX_AT_MOST}, 1);
  put_little(&to->splits, node->by_set ? 0.0 : number);
}

static void put_tree(onnx_writer *w, onnx_trees *to, const gbti_out_tree *tree) {
  put_item(&to->roots, to->n_splits);
  if (tree->n_nodes == 1) {
    put_constant(to, tree);
    return;
  }
  for (uint32_t i = 0; i < tree->n_nodes; i++) w->id[i] = tree->node[i].left > 0 ? to->n_splits++ : to->n_leaves++;
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    if (tree->node[i].left > 0)
      put_split(w, to, tree, &tree->node[i]);
    else
      put_leaf(to, tree->output, tree->node[i].number);
}

/* The list's fields, as an attribute. */
static void put_list(onnx_writer *w, const char *name, gbti_file *list) {
  if (list->status != GBT_OK && w->part.status == GBT_OK) w->part.status = list->status;
  gbti_put_bytes(&w->part, list->at, list->n);
  end_attribute(w, name, ONNX_INTS);
}

static void put_ensemble(onnx_writer *w, onnx_trees *to) {
  const gbti_outgoing *x = w->x;
  put_link(w, 0, name_of(w, ":rows", -1).text);
  put_link(w, 1, x->sums.rule == GBT_SUM_PLAIN ? name_of(w, "_score", -1).text : name_of(w, ":sum", -1).text);
  put_whole_attribute(w, "aggregate_function", 1); /* SUM */
  put_whole_attribute(w, "post_transform", 0);
  put_whole_attribute(w, "n_targets", x->n_outputs);
  for (int k = 0; k < N_LISTS; k++) put_list(w, lists[k], &to->list[k]);
  put_list(w, "tree_roots", &to->roots);
  end_tensor(w, "nodes_modes", ONNX_BYTES, to->n_splits, &to->modes);
  end_tensor(w, "nodes_splits", ONNX_DOUBLES, to->n_splits, &to->splits);
  end_tensor(w, "leaf_weights", ONNX_DOUBLES, to->n_leaves, &to->weights);
  if (to->n_members > 0) end_tensor(w, "membership_values", ONNX_DOUBLES, to->n_members, &to->members);
  end_node(w, "TreeEnsemble", 1);
}

static void put_trees(onnx_writer *w) {
  const gbti_outgoing *x = w->x;
  onnx_trees to = {.n_splits = 0};
  gbti_file *all[] = {&to.roots, &to.modes, &to.splits, &to.members, &to.weights};
  for (int k = 0; k < N_LISTS; k++) to.list[k] = (gbti_file){.mem = x->mem, .err = x->err};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) *all[k] = (gbti_file){.mem = x->mem, .err = x->err};
  for (uint64_t t = 0; t < x->n_trees; t++) put_tree(w, &to, &x->tree[t]);
  put_ensemble(w, &to);
  for (int k = 0; k < N_LISTS; k++) gbt_mem_free(&x->mem, to.list[k].at);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) gbt_mem_free(&x->mem, all[k]->at);
}

/* ---- what follows ---- */

/* A constant: `out`, of one number. */
static void put_number(onnx_writer *w, const char *out, double x) {
  put_link(w, 1, out);
  put_little(&w->inner, x);
  end_tensor(w, "value", ONNX_DOUBLES, 1, &w->inner);
  end_node(w, "Constant", 0);
}

/* An operator of one or two operands (b: NULL or the second). */
static void put_operator(onnx_writer *w, const char *type, const char *a, const char *b, const char *out) {
  put_link(w, 0, a);
  if (b != NULL) put_link(w, 0, b);
  put_link(w, 1, out);
  if (strcmp(type, "Softmax") == 0) put_whole_attribute(w, "axis", 1);
  end_node(w, type, 0);
}

/* Scaled sums, or means. */
static void put_scale(onnx_writer *w) {
  const gbti_outgoing *x = w->x;
  const int scaled = x->sums.rule == GBT_SUM_SCALED;
  if (x->sums.rule == GBT_SUM_PLAIN) return;
  put_number(w, name_of(w, ":scale", -1).text, scaled ? x->sums.scale : x->n_rounds > 0 ? (double)x->n_rounds : 1.0);
  put_operator(w, scaled ? "Mul" : "Div", name_of(w, ":sum", -1).text, name_of(w, ":scale", -1).text,
               name_of(w, "_score", -1).text);
}

/* Scores in ascending order. */
static void put_sorted(onnx_writer *w) {
  put_link(w, 1, name_of(w, ":outputs", -1).text);
  for (int i = 0; i < 8; i++) gbti_put_bytes(&w->inner, &(uint8_t){i == 0 ? (uint8_t)w->x->n_outputs : 0}, 1);
  end_tensor(w, "value", ONNX_WHOLES, 1, &w->inner);
  end_node(w, "Constant", 0);
  put_link(w, 0, name_of(w, "_score", -1).text);
  put_link(w, 0, name_of(w, ":outputs", -1).text);
  put_link(w, 1, name_of(w, "_response", -1).text);
  put_link(w, 1, name_of(w, ":order", -1).text);
  put_whole_attribute(w, "axis", 1);
  put_whole_attribute(w, "largest", 0);
  end_node(w, "TopK", 0);
}

static void put_response(onnx_writer *w) {
  const onnx_name score = name_of(w, "_score", -1), response = name_of(w, "_response", -1);
  switch (w->x->link) {
  case GBTI_LINK_NONE:
    put_operator(w, "Identity", score.text, NULL, response.text);
    return;
  case GBTI_LINK_SIGMOID:
    put_operator(w, "Sigmoid", score.text, NULL, response.text);
    return;
  case GBTI_LINK_EXP:
    put_operator(w, "Exp", score.text, NULL, response.text);
    return;
  case GBTI_LINK_EXPM1:
    put_number(w, name_of(w, ":one", -1).text, 1.0);
    put_operator(w, "Exp", score.text, NULL, name_of(w, ":exp", -1).text);
    put_operator(w, "Sub", name_of(w, ":exp", -1).text, name_of(w, ":one", -1).text, response.text);
    return;
  case GBTI_LINK_SOFTMAX:
    put_operator(w, "Softmax", score.text, NULL, response.text);
    return;
  case GBTI_LINK_SORTED:
    put_sorted(w);
    return;
  }
}

/* ---- the whole ---- */

static void put_model(onnx_writer *w, gbti_file *out) {
  put_whole(out, ONNX_MODEL_IR, 10);
  put_text(out, ONNX_MODEL_PRODUCER, "gbt");
  for (int ml = 0; ml < 2; ml++) {
    put_text(&w->part, ONNX_OPSET_DOMAIN, ml ? "ai.onnx.ml" : "");
    put_whole(&w->part, ONNX_OPSET_VERSION, ml ? 5 : 21);
    put_message(out, ONNX_MODEL_OPSET, &w->part);
  }
  put_message(out, ONNX_MODEL_GRAPH, &w->graph);
}

static gbt_status write_parts(onnx_writer *w, gbti_file *out) {
  const gbti_outgoing *x = w->x;
  uint32_t most = 1;
  int any = 0;
  for (uint64_t t = 0; t < x->n_trees; t++) {
    if (x->tree[t].n_nodes > most) most = x->tree[t].n_nodes;
    for (uint32_t i = 0; i < x->tree[t].n_nodes; i++)
      if (x->tree[t].node[i].left > 0) any = w->used[x->tree[t].node[i].column] = 1;
  }
  if (x->schema->n_columns == 0) return gbti_refuse_for(x, NULL, GBTI_CAN_ALL, "it has no columns");
  if (!any) w->used[0] = 1; /* rows must have something */
  GBT_TRY(gbt_mem_array(&x->mem, most, sizeof *w->id, &w->id, x->err));
  put_text(&w->graph, ONNX_GRAPH_NAME, x->name);
  GBT_TRY(put_columns(w));
  put_trees(w);
  put_scale(w);
  put_response(w);
  put_value(w, ONNX_GRAPH_OUTPUT, name_of(w, "_score", -1).text, ONNX_DOUBLES, x->n_outputs);
  put_value(w, ONNX_GRAPH_OUTPUT, name_of(w, "_response", -1).text, ONNX_DOUBLES, x->n_outputs);
  put_model(w, out);
  if (out->status == GBT_OK && out->n > INT32_MAX)
    return gbti_refuse_for(x, NULL, GBTI_CAN_ALL, "it would be larger than 2 GB, which ONNX files cannot be");
  return GBT_OK;
}

gbt_status gbti_write_onnx(gbti_outgoing *x, gbti_file *out) {
  onnx_writer w = {.x = x};
  gbti_file *all[] = {&w.graph, &w.node, &w.part, &w.inner};
  gbt_status status;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) *all[k] = (gbti_file){.mem = x->mem, .err = x->err};
  GBT_TRY_GOTO(gbt_mem_zeros(&x->mem, (size_t)x->schema->n_columns + 1, 1, &w.used, x->err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&x->mem, (size_t)x->schema->n_columns + 1, sizeof *w.place, &w.place, x->err), done);
  GBT_TRY_GOTO(write_parts(&w, out), done);
done:
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) gbt_mem_free(&x->mem, all[k]->at);
  gbt_mem_free(&x->mem, w.used);
  gbt_mem_free(&x->mem, w.place);
  gbt_mem_free(&x->mem, w.id);
  return status;
}
