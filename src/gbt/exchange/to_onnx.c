/* ONNX: ai.onnx.ml 5, whose TreeEnsemble has doubles; IR 10, opset 21. Or ai.onnx.ml 3 with float32; IR 8, opset 13.
 *
 *   inputs       one for each column that trees split by, of its name: [N, 1], numbers, NaN is missing; levels are
 *                strings, "" is missing
 *   NAME:code_J  of levels: 2 + position, 1 is unseen (LabelEncoder)
 *   NAME:rows    all of them (Concat) -> NAME:sum (to_onnx_trees.c) -> NAME_score [N, outputs] -> NAME_response
 *
 * Base scores are in the leaves of the first trees, as a sum begins there with 0. The file is protobuf: fields of a
 * number, a kind (0: a varint; 2: bytes after their length; 5: 4 bytes) and a value. to_onnx_read.c reads what is
 * written here. */
#include <stdio.h>
#include <string.h>

#include "../base/bits.h"
#include "formats.h"
#include "onnx.h"

/* ---- protobuf ---- */

static void put_varint(gbti_file *out, uint64_t x) {
  uint8_t byte[10];
  size_t n = 0;
  for (; x >= 128; x >>= 7) byte[n++] = (uint8_t)(x | 128u);
  byte[n++] = (uint8_t)x;
  gbti_put_bytes(out, byte, n);
}

void gbti_onnx_whole(gbti_file *out, uint32_t field, int64_t x) {
  put_varint(out, (uint64_t)field << 3);
  put_varint(out, (uint64_t)x);
}

static void put_block(gbti_file *out, uint32_t field, const void *bytes, size_t n) {
  put_varint(out, (uint64_t)field << 3 | 2u);
  put_varint(out, n);
  gbti_put_bytes(out, bytes, n);
}

void gbti_onnx_text(gbti_file *out, uint32_t field, const char *text) { put_block(out, field, text, strlen(text)); }

/* Moves the fields of a message into the one that it is part of. */
void gbti_onnx_message(gbti_file *out, uint32_t field, gbti_file *message) {
  if (message->status != GBT_OK && out->status == GBT_OK) out->status = message->status;
  put_block(out, field, message->at, message->n);
  message->n = 0;
}

onnx_name gbti_onnx_name(const onnx_writer *w, const char *what, int32_t number) {
  onnx_name name;
  if (number < 0)
    snprintf(name.text, sizeof name.text, "%s%s", w->x->name, what);
  else
    snprintf(name.text, sizeof name.text, "%s%s%d", w->x->name, what, (int)number);
  return name;
}

/* ---- nodes ---- */

void gbti_onnx_link(onnx_writer *w, int is_output, const char *name) {
  gbti_onnx_text(&w->node, is_output ? ONNX_NODE_OUTPUT : ONNX_NODE_INPUT, name);
}

void gbti_onnx_end(onnx_writer *w, const char *type, int is_ml) {
  gbti_onnx_text(&w->node, ONNX_NODE_TYPE, type);
  if (is_ml) gbti_onnx_text(&w->node, ONNX_NODE_DOMAIN, "ai.onnx.ml");
  gbti_onnx_message(&w->graph, ONNX_GRAPH_NODE, &w->node);
}

void gbti_onnx_attribute(onnx_writer *w, const char *name, int type) {
  gbti_onnx_text(&w->inner, ONNX_ATTRIBUTE_NAME, name);
  gbti_onnx_whole(&w->inner, ONNX_ATTRIBUTE_TYPE, type);
  if (w->part.status != GBT_OK && w->inner.status == GBT_OK) w->inner.status = w->part.status;
  gbti_put_bytes(&w->inner, w->part.at, w->part.n);
  w->part.n = 0;
  gbti_onnx_message(&w->node, ONNX_NODE_ATTRIBUTE, &w->inner);
}

void gbti_onnx_whole_attribute(onnx_writer *w, const char *name, int64_t x) {
  gbti_onnx_whole(&w->part, ONNX_ATTRIBUTE_INT, x);
  gbti_onnx_attribute(w, name, ONNX_INT);
}

void gbti_onnx_real(const onnx_writer *w, gbti_file *out, double x) {
  uint8_t byte[8];
  uint64_t u = gbt_bits(x);
  if (w->floats) {
    const float f = (float)x;
    uint32_t v;
    memcpy(&v, &f, sizeof v);
    u = v;
  }
  for (int i = 0; i < 8; i++) byte[i] = (uint8_t)(u >> (8 * i));
  gbti_put_bytes(out, byte, w->floats ? 4 : 8);
}

static int type_of_reals(const onnx_writer *w) { return w->floats ? ONNX_FLOATS : ONNX_DOUBLES; }

void gbti_onnx_tensor(onnx_writer *w, const char *name, int type, size_t n, gbti_file *values) {
  gbti_file tensor = {.mem = w->x->mem, .err = w->x->err};
  gbti_onnx_whole(&tensor, ONNX_TENSOR_DIMS, (int64_t)n);
  gbti_onnx_whole(&tensor, ONNX_TENSOR_TYPE, type);
  gbti_onnx_message(&tensor, ONNX_TENSOR_RAW, values);
  gbti_onnx_message(&w->part, ONNX_ATTRIBUTE_TENSOR, &tensor);
  gbt_mem_free(&tensor.mem, tensor.at);
  gbti_onnx_attribute(w, name, ONNX_TENSOR);
}

/* ---- columns ---- */

static void put_value(onnx_writer *w, uint32_t field, const char *name, int type, int64_t width) {
  gbti_file shape = {.mem = w->x->mem, .err = w->x->err};
  gbti_onnx_text(&w->inner, ONNX_DIM_NAME, "N");
  gbti_onnx_message(&shape, ONNX_SHAPE_DIM, &w->inner);
  gbti_onnx_whole(&w->inner, ONNX_DIM_VALUE, width);
  gbti_onnx_message(&shape, ONNX_SHAPE_DIM, &w->inner);
  gbti_onnx_whole(&w->inner, ONNX_TENSOR_ELEMENTS, type);
  gbti_onnx_message(&w->inner, ONNX_TENSOR_SHAPE, &shape);
  gbti_onnx_message(&shape, ONNX_TYPE_TENSOR, &w->inner);
  gbti_onnx_text(&w->part, ONNX_VALUE_NAME, name);
  gbti_onnx_message(&w->part, ONNX_VALUE_TYPE, &shape);
  gbti_onnx_message(&w->graph, field, &w->part);
  gbt_mem_free(&shape.mem, shape.at);
}

/* Texts to numbers: 2 + position, 1 for others, NaN for "". */
static gbt_status put_encoder(onnx_writer *w, int32_t c) {
  const gbt_schema_column *col = &w->x->schema->col[c];
  const double others = col->type == GBT_CATEGORICAL ? 1.0 : gbt_nan();
  gbti_onnx_link(w, 0, col->name);
  gbti_onnx_link(w, 1, gbti_onnx_name(w, ":code_", c + 1).text);
  for (int32_t level = 0; level < col->n_levels; level++) {
    if (*col->levels[level] == 0)
      return gbti_refuse(w->x, col->name,
                         "column `%s` has the level \"\", which stands for missing values in ONNX; give the level "
                         "another name",
                         col->name);
    gbti_onnx_text(&w->part, ONNX_ATTRIBUTE_STRINGS, col->levels[level]);
  }
  gbti_onnx_text(&w->part, ONNX_ATTRIBUTE_STRINGS, "");
  gbti_onnx_attribute(w, "keys_strings", ONNX_STRINGS);
  for (int32_t level = 0; level < col->n_levels; level++) gbti_onnx_real(w, &w->inner, 2.0 + level);
  gbti_onnx_real(w, &w->inner, gbt_nan());
  if (w->floats) {
    gbti_onnx_message(&w->part, ONNX_ATTRIBUTE_FLOATS, &w->inner);
    gbti_onnx_attribute(w, "values_floats", ONNX_REALS);
    put_varint(&w->part, (uint64_t)ONNX_ATTRIBUTE_FLOAT << 3 | 5u);
    gbti_onnx_real(w, &w->part, others);
    gbti_onnx_attribute(w, "default_float", ONNX_FLOAT);
  } else {
    gbti_onnx_tensor(w, "values_tensor", ONNX_DOUBLES, (size_t)col->n_levels + 1, &w->inner);
    gbti_onnx_real(w, &w->inner, others);
    gbti_onnx_tensor(w, "default_tensor", ONNX_DOUBLES, 1, &w->inner);
  }
  gbti_onnx_end(w, "LabelEncoder", 1);
  return GBT_OK;
}

static gbt_status put_columns(onnx_writer *w) {
  const gbti_outgoing *x = w->x;
  const onnx_name own = gbti_onnx_name(w, ":", -1), score = gbti_onnx_name(w, "_score", -1),
                  response = gbti_onnx_name(w, "_response", -1);
  int32_t n = 0;
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    const gbt_schema_column *col = &x->schema->col[c];
    if (!w->used[c]) continue;
    if (strncmp(col->name, own.text, strlen(own.text)) == 0 || strcmp(col->name, score.text) == 0 ||
        strcmp(col->name, response.text) == 0)
      return gbti_refuse(x, col->name, "column `%s` has the name of a part of the graph; give another `name`",
                         col->name);
    w->place[c] = n++;
    put_value(w, ONNX_GRAPH_INPUT, col->name, col->type == GBT_NUMERIC ? type_of_reals(w) : ONNX_TEXTS, 1);
    if (col->type != GBT_NUMERIC) GBT_TRY(put_encoder(w, c));
  }
  for (int32_t c = 0; c < x->schema->n_columns; c++)
    if (w->used[c])
      gbti_onnx_link(w, 0, x->schema->col[c].type == GBT_NUMERIC ? x->schema->col[c].name
                                                                 : gbti_onnx_name(w, ":code_", c + 1).text);
  gbti_onnx_link(w, 1, gbti_onnx_name(w, ":rows", -1).text);
  gbti_onnx_whole_attribute(w, "axis", 1);
  gbti_onnx_end(w, "Concat", 0);
  return GBT_OK;
}

/* ---- what follows ---- */

/* A constant: `out`, of one number. */
static void put_number(onnx_writer *w, const char *out, double x) {
  gbti_onnx_link(w, 1, out);
  gbti_onnx_real(w, &w->inner, x);
  gbti_onnx_tensor(w, "value", type_of_reals(w), 1, &w->inner);
  gbti_onnx_end(w, "Constant", 0);
}

/* An operator of one or two operands (b: NULL or the second). */
static void put_operator(onnx_writer *w, const char *type, const char *a, const char *b, const char *out) {
  gbti_onnx_link(w, 0, a);
  if (b != NULL) gbti_onnx_link(w, 0, b);
  gbti_onnx_link(w, 1, out);
  if (strcmp(type, "Softmax") == 0) gbti_onnx_whole_attribute(w, "axis", 1);
  gbti_onnx_end(w, type, 0);
}

/* Scaled sums, or means. */
static void put_scale(onnx_writer *w) {
  const gbti_outgoing *x = w->x;
  const int scaled = x->sums.rule == GBT_SUM_SCALED;
  if (x->sums.rule == GBT_SUM_PLAIN || x->sums.rule == GBT_SUM_FLOAT) return;
  put_number(w, gbti_onnx_name(w, ":scale", -1).text,
             scaled ? x->sums.scale : x->n_rounds > 0 ? (double)x->n_rounds : 1.0);
  put_operator(w, scaled ? "Mul" : "Div", gbti_onnx_name(w, ":sum", -1).text, gbti_onnx_name(w, ":scale", -1).text,
               gbti_onnx_name(w, "_score", -1).text);
}

/* Scores in ascending order. */
static void put_sorted(onnx_writer *w) {
  gbti_onnx_link(w, 1, gbti_onnx_name(w, ":outputs", -1).text);
  for (int i = 0; i < 8; i++) gbti_put_bytes(&w->inner, &(uint8_t){i == 0 ? (uint8_t)w->x->n_outputs : 0}, 1);
  gbti_onnx_tensor(w, "value", ONNX_WHOLES, 1, &w->inner);
  gbti_onnx_end(w, "Constant", 0);
  gbti_onnx_link(w, 0, gbti_onnx_name(w, "_score", -1).text);
  gbti_onnx_link(w, 0, gbti_onnx_name(w, ":outputs", -1).text);
  gbti_onnx_link(w, 1, gbti_onnx_name(w, "_response", -1).text);
  gbti_onnx_link(w, 1, gbti_onnx_name(w, ":order", -1).text);
  gbti_onnx_whole_attribute(w, "axis", 1);
  gbti_onnx_whole_attribute(w, "largest", 0);
  gbti_onnx_end(w, "TopK", 0);
}

static void put_response(onnx_writer *w) {
  const onnx_name score = gbti_onnx_name(w, "_score", -1), response = gbti_onnx_name(w, "_response", -1);
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
    put_number(w, gbti_onnx_name(w, ":one", -1).text, 1.0);
    put_operator(w, "Exp", score.text, NULL, gbti_onnx_name(w, ":exp", -1).text);
    put_operator(w, "Sub", gbti_onnx_name(w, ":exp", -1).text, gbti_onnx_name(w, ":one", -1).text, response.text);
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
  gbti_onnx_whole(out, ONNX_MODEL_IR, w->floats ? 8 : 10);
  gbti_onnx_text(out, ONNX_MODEL_PRODUCER, "gbt");
  for (int ml = 0; ml < 2; ml++) {
    gbti_onnx_text(&w->part, ONNX_OPSET_DOMAIN, ml ? "ai.onnx.ml" : "");
    gbti_onnx_whole(&w->part, ONNX_OPSET_VERSION, w->floats ? (ml ? 3 : 13) : (ml ? 5 : 21));
    gbti_onnx_message(out, ONNX_MODEL_OPSET, &w->part);
  }
  gbti_onnx_message(out, ONNX_MODEL_GRAPH, &w->graph);
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
  gbti_onnx_text(&w->graph, ONNX_GRAPH_NAME, x->name);
  GBT_TRY(put_columns(w));
  gbti_onnx_trees(w);
  put_scale(w);
  put_response(w);
  put_value(w, ONNX_GRAPH_OUTPUT, gbti_onnx_name(w, "_score", -1).text, type_of_reals(w), x->n_outputs);
  put_value(w, ONNX_GRAPH_OUTPUT, gbti_onnx_name(w, "_response", -1).text, type_of_reals(w), x->n_outputs);
  put_model(w, out);
  if (out->status == GBT_OK && out->n > INT32_MAX)
    return gbti_refuse_for(x, NULL, GBTI_CAN_ALL, "it would be larger than 2 GB, which ONNX files cannot be");
  return GBT_OK;
}

static gbt_status write_onnx(gbti_outgoing *x, gbti_file *out) {
  onnx_writer w = {.x = x, .floats = (x->format->flags & GBTI_FLOATS) != 0};
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

gbt_status gbti_write_onnx(gbti_outgoing *x, gbti_file *out) { return write_onnx(x, out); }
gbt_status gbti_write_onnx_float(gbti_outgoing *x, gbti_file *out) { return write_onnx(x, out); }
