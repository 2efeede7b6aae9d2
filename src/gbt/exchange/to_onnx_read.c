/* The ONNX of to_onnx.c, evaluated: its graph from the inputs to the scores, by the fields that runtimes look at. What
 * follows the scores is the runtime's. */
#include <string.h>

#include "../base/bits.h"
#include "formats.h"
#include "onnx.h"

typedef struct onnx_bytes {
  const uint8_t *at;
  size_t n;
} onnx_bytes;

typedef struct onnx_encoder {
  onnx_bytes out; /* what the node gives */
  int32_t column; /* what it takes */
  size_t beg, n;  /* keys of the model's, and as many numbers */
  const uint8_t *number;
  double others;
} onnx_encoder;

enum { FEATURE, TRUE_NODE, FALSE_NODE, TRUE_LEAF, FALSE_LEAF, MISSING, TARGET, ROOT, N_LISTS };
static const char *const lists[N_LISTS] = {"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids",
                                           "nodes_trueleafs",  "nodes_falseleafs",  "nodes_missing_value_tracks_true",
                                           "leaf_targetids",   "tree_roots"};

typedef struct onnx_model {
  gbt_mem mem;
  gbt_error *err;
  const gbt_schema *schema;
  uint8_t *copy;
  onnx_encoder *encoder;
  onnx_bytes *key;
  int64_t *feature; /* a column, or -1 and less an encoder */
  int64_t *list[N_LISTS];
  size_t *member; /* by split: where its set begins, in numbers */
  size_t n_encoders, cap_encoders, n_keys, cap_keys, n_features, cap_features, n[N_LISTS], cap[N_LISTS];
  onnx_bytes modes, splits, weights, members;
  int64_t n_targets;
  double scale;
  int32_t n_outputs;
  int has_trees;
  int how; /* 0: scores are sums; 1: times scale, 2: by scale */
  int failed;
} onnx_model;

/* ---- protobuf ---- */

typedef struct onnx_field {
  uint32_t number;
  uint64_t whole;
  onnx_bytes bytes;
} onnx_field;

static int take_varint(onnx_bytes *from, uint64_t *x) {
  *x = 0;
  for (int shift = 0; from->n > 0 && shift < 64; shift += 7) {
    const uint8_t b = *from->at++;
    from->n--;
    *x |= (uint64_t)(b & 127u) << shift;
    if (b < 128) return 1;
  }
  return 0;
}

/* The next field; 0: there is none, or `failed`. */
static int take_field(onnx_model *m, onnx_bytes *from, onnx_field *f) {
  uint64_t tag;
  if (from->n == 0 || m->failed) return 0;
  m->failed = 1;
  if (!take_varint(from, &tag) || !take_varint(from, &f->whole)) return 0;
  f->number = (uint32_t)(tag >> 3);
  f->bytes = (onnx_bytes){from->at, 0};
  if ((tag & 7) == 2) {
    if (f->whole > from->n) return 0;
    f->bytes.n = (size_t)f->whole;
    from->at += f->bytes.n;
    from->n -= f->bytes.n;
  } else if ((tag & 7) != 0) {
    return 0;
  }
  m->failed = 0;
  return 1;
}

/* The first field of a number; zeros where there is none. */
static onnx_field field_of(onnx_model *m, onnx_bytes message, uint32_t number) {
  onnx_field f = {0};
  while (take_field(m, &message, &f))
    if (f.number == number) return f;
  return (onnx_field){0};
}

static int is_text(onnx_bytes b, const char *text) { return b.n == strlen(text) && memcmp(b.at, text, b.n) == 0; }

static int same_bytes(onnx_bytes a, onnx_bytes b) { return a.n == b.n && memcmp(a.at, b.at, a.n) == 0; }

static onnx_bytes attribute_of(onnx_model *m, onnx_bytes node, const char *name) {
  onnx_field f;
  while (take_field(m, &node, &f))
    if (f.number == ONNX_NODE_ATTRIBUTE && is_text(field_of(m, f.bytes, ONNX_ATTRIBUTE_NAME).bytes, name))
      return f.bytes;
  return (onnx_bytes){NULL, 0};
}

static onnx_bytes tensor_of(onnx_model *m, onnx_bytes node, const char *name, uint64_t type) {
  const onnx_bytes tensor = field_of(m, attribute_of(m, node, name), ONNX_ATTRIBUTE_TENSOR).bytes;
  const onnx_bytes raw = field_of(m, tensor, ONNX_TENSOR_RAW).bytes;
  const size_t width = type == ONNX_BYTES ? 1 : 8;
  if (tensor.n > 0 &&
      (field_of(m, tensor, ONNX_TENSOR_TYPE).whole != type || field_of(m, tensor, ONNX_TENSOR_DIMS).whole > raw.n ||
       field_of(m, tensor, ONNX_TENSOR_DIMS).whole * width != raw.n))
    m->failed = 1;
  return raw;
}

static double number_at(onnx_bytes raw, size_t i) {
  uint64_t u = 0;
  if (i >= raw.n / 8) return gbt_nan();
  for (size_t k = 0; k < 8; k++) u |= (uint64_t)raw.at[8 * i + k] << (8 * k);
  return gbt_from_bits(u);
}

/* ---- the graph ---- */

static gbt_status read_encoder(onnx_model *m, onnx_bytes node) {
  onnx_bytes keys = attribute_of(m, node, "keys_strings");
  const onnx_bytes in = field_of(m, node, ONNX_NODE_INPUT).bytes;
  onnx_field f;
  GBT_TRY(gbt_mem_grow(&m->mem, &m->encoder, &m->cap_encoders, m->n_encoders + 1, sizeof *m->encoder, m->err));
  onnx_encoder *e = &m->encoder[m->n_encoders++];
  *e = (onnx_encoder){.out = field_of(m, node, ONNX_NODE_OUTPUT).bytes, .column = -1, .beg = m->n_keys};
  for (int32_t c = 0; c < m->schema->n_columns; c++)
    if (is_text(in, m->schema->col[c].name)) e->column = c;
  while (take_field(m, &keys, &f)) {
    if (f.number != ONNX_ATTRIBUTE_STRINGS) continue;
    GBT_TRY(gbt_mem_grow(&m->mem, &m->key, &m->cap_keys, m->n_keys + 1, sizeof *m->key, m->err));
    m->key[m->n_keys++] = f.bytes;
    e->n++;
  }
  const onnx_bytes values = tensor_of(m, node, "values_tensor", ONNX_DOUBLES);
  e->number = values.at;
  e->others = number_at(tensor_of(m, node, "default_tensor", ONNX_DOUBLES), 0);
  if (values.n != 8 * e->n || e->column < 0) m->failed = 1;
  return GBT_OK;
}

static gbt_status read_concat(onnx_model *m, onnx_bytes node) {
  onnx_field f;
  while (take_field(m, &node, &f)) {
    int64_t feature = INT64_MIN;
    if (f.number != ONNX_NODE_INPUT) continue;
    for (int32_t c = 0; c < m->schema->n_columns; c++)
      if (m->schema->col[c].type == GBT_NUMERIC && is_text(f.bytes, m->schema->col[c].name)) feature = c;
    for (size_t i = 0; i < m->n_encoders; i++)
      if (same_bytes(f.bytes, m->encoder[i].out)) feature = -1 - (int64_t)i;
    if (feature == INT64_MIN) m->failed = 1;
    GBT_TRY(gbt_mem_grow(&m->mem, &m->feature, &m->cap_features, m->n_features + 1, sizeof *m->feature, m->err));
    m->feature[m->n_features++] = feature;
  }
  return GBT_OK;
}

static gbt_status read_list(onnx_model *m, onnx_bytes node, int which) {
  onnx_bytes list = attribute_of(m, node, lists[which]);
  onnx_field f;
  while (take_field(m, &list, &f)) {
    if (f.number != ONNX_ATTRIBUTE_INTS) continue;
    GBT_TRY(gbt_mem_grow(&m->mem, &m->list[which], &m->cap[which], m->n[which] + 1, sizeof **m->list, m->err));
    m->list[which][m->n[which]++] = (int64_t)f.whole;
  }
  return GBT_OK;
}

/* Children are splits after their parents, or leaves. */
static int trees_are_sound(const onnx_model *m) {
  const size_t n = m->n[FEATURE], n_leaves = m->n[TARGET];
  if (m->modes.n != n || m->splits.n != 8 * n || m->weights.n != 8 * n_leaves) return 0;
  for (int k = 0; k < TARGET; k++)
    if (m->n[k] != n) return 0;
  for (size_t i = 0; i < n; i++) {
    if (m->list[FEATURE][i] < 0 || m->list[FEATURE][i] >= (int64_t)m->n_features) return 0;
    for (int k = 0; k < 2; k++) {
      const int64_t child = m->list[TRUE_NODE + k][i], is_leaf = m->list[TRUE_LEAF + k][i];
      if (child < 0 || child >= (int64_t)(is_leaf ? n_leaves : n) || (!is_leaf && child <= (int64_t)i)) return 0;
    }
  }
  for (size_t i = 0; i < n_leaves; i++)
    if (m->list[TARGET][i] < 0 || m->list[TARGET][i] >= m->n_targets) return 0;
  for (size_t t = 0; t < m->n[ROOT]; t++)
    if (m->list[ROOT][t] < 0 || m->list[ROOT][t] >= (int64_t)n) return 0;
  return 1;
}

static gbt_status read_ensemble(onnx_model *m, onnx_bytes node) {
  size_t at = 0;
  if (m->has_trees) m->failed = 1;
  if (m->failed) return GBT_OK;
  m->has_trees = 1;
  for (int k = 0; k < N_LISTS; k++) GBT_TRY(read_list(m, node, k));
  m->n_targets = (int64_t)field_of(m, attribute_of(m, node, "n_targets"), ONNX_ATTRIBUTE_INT).whole;
  m->modes = tensor_of(m, node, "nodes_modes", ONNX_BYTES);
  m->splits = tensor_of(m, node, "nodes_splits", ONNX_DOUBLES);
  m->weights = tensor_of(m, node, "leaf_weights", ONNX_DOUBLES);
  m->members = tensor_of(m, node, "membership_values", ONNX_DOUBLES);
  if (field_of(m, attribute_of(m, node, "aggregate_function"), ONNX_ATTRIBUTE_INT).whole != 1 ||
      m->n_targets != m->n_outputs || !trees_are_sound(m))
    m->failed = 1;
  GBT_TRY(gbt_mem_zeros(&m->mem, m->n[FEATURE] + 1, sizeof *m->member, &m->member, m->err));
  for (size_t i = 0; i < m->modes.n && !m->failed; i++) {
    m->member[i] = at;
    double member = 0.0;
    while (m->modes.at[i] == ONNX_MEMBER && at < m->members.n / 8 && member == member)
      member = number_at(m->members, at++);
  }
  return GBT_OK;
}

static gbt_status read_graph(onnx_model *m, onnx_bytes graph) {
  onnx_field f;
  double constant = 0.0;
  while (take_field(m, &graph, &f)) {
    if (f.number != ONNX_GRAPH_NODE) continue;
    const onnx_bytes type = field_of(m, f.bytes, ONNX_NODE_TYPE).bytes;
    if (is_text(type, "LabelEncoder")) GBT_TRY(read_encoder(m, f.bytes));
    if (is_text(type, "Concat")) GBT_TRY(read_concat(m, f.bytes));
    if (is_text(type, "TreeEnsemble")) GBT_TRY(read_ensemble(m, f.bytes));
    if (is_text(type, "Constant")) {
      const onnx_bytes tensor = field_of(m, attribute_of(m, f.bytes, "value"), ONNX_ATTRIBUTE_TENSOR).bytes;
      constant = number_at(field_of(m, tensor, ONNX_TENSOR_RAW).bytes, 0);
    }
    if (is_text(type, "Mul") || is_text(type, "Div")) {
      m->how = is_text(type, "Mul") ? 1 : 2;
      m->scale = constant;
    }
  }
  if (m->failed || m->n[ROOT] == 0)
    return gbt_fail(m->err, GBT_E_INTERNAL, "the ONNX file that was made cannot be read. Please report this");
  return GBT_OK;
}

/* ---- rows ---- */

static double feature_value(const onnx_model *m, int64_t feature, const gbti_cell *row) {
  const int64_t from = m->feature[feature];
  if (from >= 0) return row[from].x;
  const onnx_encoder *e = &m->encoder[-1 - from];
  const char *text = row[e->column].text == NULL ? "" : row[e->column].text;
  for (size_t i = 0; i < e->n; i++)
    if (is_text(m->key[e->beg + i], text)) return number_at((onnx_bytes){e->number, 8 * e->n}, i);
  return e->others;
}

static int is_true(const onnx_model *m, size_t node, const gbti_cell *row) {
  const double x = feature_value(m, m->list[FEATURE][node], row);
  if (x != x) return m->list[MISSING][node] == 1;
  if (m->modes.at[node] == ONNX_AT_MOST) return x <= number_at(m->splits, node);
  for (size_t i = m->member[node];; i++) {
    const double member = number_at(m->members, i);
    if (member != member) return 0;
    if (member == x) return 1;
  }
}

static size_t leaf_of(const onnx_model *m, size_t tree, const gbti_cell *row) {
  for (size_t at = (size_t)m->list[ROOT][tree];;) {
    const int side = is_true(m, at, row) ? 0 : 1;
    const size_t child = (size_t)m->list[TRUE_NODE + side][at];
    if (m->list[TRUE_LEAF + side][at]) return child;
    at = child;
  }
}

static int tree_of(void *state, uint64_t t, const gbti_cell *row, double *values) {
  const onnx_model *m = state;
  if (t >= m->n[ROOT]) return 0;
  values[0] = number_at(m->weights, leaf_of(m, (size_t)t, row));
  return 1;
}

static int score_of(void *state, const gbti_cell *row, double *scores) {
  const onnx_model *m = state;
  for (int64_t k = 0; k < m->n_targets; k++) scores[k] = 0.0;
  for (size_t t = 0; t < m->n[ROOT]; t++) {
    const size_t leaf = leaf_of(m, t, row);
    scores[m->list[TARGET][leaf]] += number_at(m->weights, leaf);
  }
  for (int64_t k = 0; k < m->n_targets && m->how > 0; k++)
    scores[k] = m->how == 1 ? scores[k] * m->scale : scores[k] / m->scale;
  return 1;
}

static void close_onnx(void *state) {
  onnx_model *m = state;
  const gbt_mem mem = m->mem;
  void *block[] = {m->copy, m->encoder, m->key, m->feature, m->member};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&mem, block[i]);
  for (int k = 0; k < N_LISTS; k++) gbt_mem_free(&mem, m->list[k]);
  gbt_mem_free(&mem, m);
}

gbt_status gbti_read_onnx(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
  onnx_model *m;
  GBT_TRY(gbt_mem_zeros(&x->mem, 1, sizeof *m, &m, x->err));
  m->mem = x->mem;
  m->err = x->err;
  m->schema = x->schema;
  m->n_outputs = x->n_outputs;
  *out = (gbti_evaluator){m, tree_of, score_of, close_onnx};
  GBT_TRY(gbt_mem_array(&m->mem, n_bytes + 1, 1, &m->copy, m->err));
  memcpy(m->copy, bytes, n_bytes);
  return read_graph(m, field_of(m, (onnx_bytes){m->copy, n_bytes}, ONNX_MODEL_GRAPH).bytes);
}
