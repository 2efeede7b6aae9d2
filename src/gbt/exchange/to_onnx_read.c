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
  onnx_bytes numbers;
  size_t width; /* bytes of a number */
  double others;
} onnx_encoder;

/* A split: which of a row's features, and the nodes that follow where the answer is yes or no. A leaf: `number` is
 * added to score `feature`. */
typedef struct onnx_node {
  int64_t feature;
  size_t child[2];
  double number;
  size_t member; /* mode ONNX_MEMBER: where its set begins, in numbers */
  int mode, missing_yes;
} onnx_node;
enum { LEAF = -1 }; /* a mode */

/* Lists of whole numbers: of ai.onnx.ml 5, and of 3. */
enum { FEATURE, TRUE_NODE, FALSE_NODE, MISSING, TRUE_LEAF, FALSE_LEAF, TARGET, ROOT, N_LISTS };
enum { TREE = TRUE_LEAF, NODE, TARGET_TREE, TARGET_NODE, TARGET_ID, N_FLAT, MOST_LISTS = N_FLAT };
static const char *const lists[N_LISTS] = {"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids",
                                           "nodes_missing_value_tracks_true", "nodes_trueleafs", "nodes_falseleafs",
                                           "leaf_targetids", "tree_roots"};
static const char *const flat_lists[N_FLAT] = {"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids",
                                               "nodes_missing_value_tracks_true", "nodes_treeids", "nodes_nodeids",
                                               "target_treeids", "target_nodeids", "target_ids"};

typedef struct onnx_model {
  gbt_mem mem;
  gbt_error *err;
  const gbt_schema *schema;
  uint8_t *copy;
  onnx_encoder *encoder;
  onnx_bytes *key;
  int64_t *feature; /* a column, or -1 and less an encoder */
  int64_t *list[MOST_LISTS];
  onnx_node *node;
  size_t *root; /* n_trees */
  size_t n_encoders, cap_encoders, n_keys, cap_keys, n_features, cap_features, n[MOST_LISTS], cap[MOST_LISTS];
  size_t n_trees;
  onnx_bytes members;
  int64_t n_targets;
  double scale;
  int32_t n_outputs;
  int floats; /* numbers of rows and sums are float32 */
  int how;    /* 0: scores are sums; 1: times scale, 2: by scale */
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

static int take_word(onnx_bytes *from, uint64_t *x) {
  *x = 0;
  if (from->n < 4) return 0;
  for (int k = 0; k < 4; k++) *x |= (uint64_t)from->at[k] << (8 * k);
  from->at += 4;
  from->n -= 4;
  return 1;
}

/* The next field; 0: there is none, or `failed`. */
static int take_field(onnx_model *m, onnx_bytes *from, onnx_field *f) {
  uint64_t tag;
  if (from->n == 0 || m->failed) return 0;
  m->failed = 1;
  if (!take_varint(from, &tag)) return 0;
  if ((tag & 7) == 5 ? !take_word(from, &f->whole) : !take_varint(from, &f->whole)) return 0;
  f->number = (uint32_t)(tag >> 3);
  f->bytes = (onnx_bytes){from->at, 0};
  if ((tag & 7) == 2) {
    if (f->whole > from->n) return 0;
    f->bytes.n = (size_t)f->whole;
    from->at += f->bytes.n;
    from->n -= f->bytes.n;
  } else if ((tag & 7) != 0 && (tag & 7) != 5) {
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

static double float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

static double float_at(onnx_bytes raw, size_t i) {
  uint64_t u;
  if (i >= raw.n / 4) return gbt_nan();
  onnx_bytes at = {raw.at + 4 * i, 4};
  return take_word(&at, &u) ? float_of((uint32_t)u) : gbt_nan();
}

static onnx_bytes floats_of(onnx_model *m, onnx_bytes node, const char *name) {
  return field_of(m, attribute_of(m, node, name), ONNX_ATTRIBUTE_FLOATS).bytes;
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
  const onnx_bytes others = attribute_of(m, node, "default_float");
  e->width = others.n > 0 ? 4 : 8;
  e->numbers = others.n > 0 ? floats_of(m, node, "values_floats") : tensor_of(m, node, "values_tensor", ONNX_DOUBLES);
  e->others = others.n > 0 ? float_of((uint32_t)field_of(m, others, ONNX_ATTRIBUTE_FLOAT).whole)
                           : number_at(tensor_of(m, node, "default_tensor", ONNX_DOUBLES), 0);
  if (e->numbers.n != e->width * e->n || e->column < 0) m->failed = 1;
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

static gbt_status read_list(onnx_model *m, onnx_bytes node, const char *name, int which) {
  onnx_bytes list = attribute_of(m, node, name);
  onnx_field f;
  while (take_field(m, &list, &f)) {
    if (f.number != ONNX_ATTRIBUTE_INTS) continue;
    GBT_TRY(gbt_mem_grow(&m->mem, &m->list[which], &m->cap[which], m->n[which] + 1, sizeof **m->list, m->err));
    m->list[which][m->n[which]++] = (int64_t)f.whole;
  }
  return GBT_OK;
}

static gbt_status make_nodes(onnx_model *m, size_t n_nodes, size_t n_trees) {
  GBT_TRY(gbt_mem_zeros(&m->mem, n_nodes + 1, sizeof *m->node, &m->node, m->err));
  return gbt_mem_zeros(&m->mem, n_trees + 1, sizeof *m->root, &m->root, m->err);
}

static int feature_is_known(const onnx_model *m, int64_t feature) {
  return feature >= 0 && feature < (int64_t)m->n_features;
}

/* ai.onnx.ml 5: splits, then leaves. Children are splits after their parents, or leaves. */
static int link_trees(onnx_model *m, onnx_bytes modes, onnx_bytes splits, onnx_bytes weights) {
  const size_t n = m->n[FEATURE], n_leaves = m->n[TARGET];
  size_t at = 0; /* in the members */
  if (modes.n != n || splits.n != 8 * n || weights.n != 8 * n_leaves) return 0;
  for (int k = 0; k < TARGET; k++)
    if (m->n[k] != n) return 0;
  for (size_t i = 0; i < n; i++) {
    onnx_node *node = &m->node[i];
    if (!feature_is_known(m, m->list[FEATURE][i])) return 0;
    *node = (onnx_node){.feature = m->list[FEATURE][i],
                        .number = number_at(splits, i),
                        .member = at,
                        .mode = modes.at[i],
                        .missing_yes = m->list[MISSING][i] == 1};
    for (int k = 0; k < 2; k++) {
      const int64_t child = m->list[TRUE_NODE + k][i], is_leaf = m->list[TRUE_LEAF + k][i];
      if (child < 0 || child >= (int64_t)(is_leaf ? n_leaves : n) || (!is_leaf && child <= (int64_t)i)) return 0;
      node->child[k] = (size_t)child + (is_leaf ? n : 0);
    }
    for (double member = 0.0; node->mode == ONNX_MEMBER && at < m->members.n / 8 && member == member;)
      member = number_at(m->members, at++);
  }
  for (size_t i = 0; i < n_leaves; i++) {
    if (m->list[TARGET][i] < 0 || m->list[TARGET][i] >= m->n_targets) return 0;
    m->node[n + i] = (onnx_node){.feature = m->list[TARGET][i], .number = number_at(weights, i), .mode = LEAF};
  }
  for (size_t t = 0; t < m->n[ROOT]; t++) {
    if (m->list[ROOT][t] < 0 || m->list[ROOT][t] >= (int64_t)n) return 0;
    m->root[t] = (size_t)m->list[ROOT][t];
  }
  m->n_trees = m->n[ROOT];
  return 1;
}

static gbt_status read_ensemble(onnx_model *m, onnx_bytes node) {
  for (int k = 0; k < N_LISTS; k++) GBT_TRY(read_list(m, node, lists[k], k));
  GBT_TRY(make_nodes(m, m->n[FEATURE] + m->n[TARGET], m->n[ROOT]));
  m->members = tensor_of(m, node, "membership_values", ONNX_DOUBLES);
  if (field_of(m, attribute_of(m, node, "aggregate_function"), ONNX_ATTRIBUTE_INT).whole != 1 ||
      !link_trees(m, tensor_of(m, node, "nodes_modes", ONNX_BYTES), tensor_of(m, node, "nodes_splits", ONNX_DOUBLES),
                  tensor_of(m, node, "leaf_weights", ONNX_DOUBLES)))
    m->failed = 1;
  return GBT_OK;
}

/* Of ai.onnx.ml 3: a place in the lists, which have the nodes of a tree after those of the one before. */
typedef struct flat_place {
  int64_t tree;
  size_t beg, end; /* its nodes */
  size_t target;   /* the next of the targets, which leaves have in their order */
  onnx_bytes modes, values, weights;
} flat_place;

static int link_flat_leaf(onnx_model *m, size_t i, flat_place *at) {
  const size_t t = at->target++;
  if (t >= m->n[TARGET_ID] || m->list[TARGET_TREE][t] != at->tree || m->list[TARGET_NODE][t] != m->list[NODE][i] ||
      m->list[TARGET_ID][t] < 0 || m->list[TARGET_ID][t] >= m->n_targets)
    return 0;
  m->node[i] = (onnx_node){.feature = m->list[TARGET_ID][t], .number = float_at(at->weights, t), .mode = LEAF};
  return 1;
}

static int link_flat_node(onnx_model *m, size_t i, flat_place *at) {
  onnx_field mode = {0};
  while (mode.number != ONNX_ATTRIBUTE_STRINGS)
    if (!take_field(m, &at->modes, &mode)) return 0;
  if (m->list[NODE][i] != (int64_t)(i - at->beg)) return 0;
  if (is_text(mode.bytes, "LEAF")) return link_flat_leaf(m, i, at);
  if (!is_text(mode.bytes, "BRANCH_LEQ") && !is_text(mode.bytes, "BRANCH_EQ")) return 0;
  if (!feature_is_known(m, m->list[FEATURE][i])) return 0;
  onnx_node *node = &m->node[i];
  *node = (onnx_node){.feature = m->list[FEATURE][i],
                      .number = float_at(at->values, i),
                      .mode = is_text(mode.bytes, "BRANCH_EQ") ? ONNX_EQUAL : ONNX_AT_MOST,
                      .missing_yes = m->list[MISSING][i] == 1};
  for (int k = 0; k < 2; k++) {
    const int64_t child = m->list[TRUE_NODE + k][i];
    if (child <= m->list[NODE][i] || child >= (int64_t)(at->end - at->beg)) return 0;
    node->child[k] = at->beg + (size_t)child;
  }
  return 1;
}

static int link_flat_trees(onnx_model *m, flat_place at) {
  const size_t n = m->n[FEATURE], n_targets = m->n[TARGET_ID];
  if (at.values.n != 4 * n || at.weights.n != 4 * n_targets) return 0;
  for (int k = 0; k < TARGET_TREE; k++)
    if (m->n[k] != n) return 0;
  if (m->n[TARGET_TREE] != n_targets || m->n[TARGET_NODE] != n_targets) return 0;
  for (size_t i = 0; i < n; i++) {
    if (i == at.end) {
      at.tree = (int64_t)m->n_trees;
      at.beg = i;
      while (at.end < n && m->list[TREE][at.end] == at.tree) at.end++;
      m->root[m->n_trees++] = i;
    }
    if (m->list[TREE][i] != at.tree || !link_flat_node(m, i, &at)) return 0;
  }
  return 1;
}

static gbt_status read_regressor(onnx_model *m, onnx_bytes node) {
  m->floats = 1;
  for (int k = 0; k < N_FLAT; k++) GBT_TRY(read_list(m, node, flat_lists[k], k));
  GBT_TRY(make_nodes(m, m->n[FEATURE], m->n[FEATURE]));
  const flat_place first = {.modes = attribute_of(m, node, "nodes_modes"),
                            .values = floats_of(m, node, "nodes_values"),
                            .weights = floats_of(m, node, "target_weights")};
  if (!is_text(field_of(m, attribute_of(m, node, "aggregate_function"), ONNX_ATTRIBUTE_STRING).bytes, "SUM") ||
      !link_flat_trees(m, first))
    m->failed = 1;
  return GBT_OK;
}

/* The node of the trees. */
static gbt_status read_trees(onnx_model *m, onnx_bytes node, int flat) {
  if (m->node != NULL) m->failed = 1;
  if (m->failed) return GBT_OK;
  m->n_targets = (int64_t)field_of(m, attribute_of(m, node, "n_targets"), ONNX_ATTRIBUTE_INT).whole;
  if (m->n_targets != m->n_outputs) m->failed = 1;
  return flat ? read_regressor(m, node) : read_ensemble(m, node);
}

static gbt_status read_graph(onnx_model *m, onnx_bytes graph) {
  onnx_field f;
  double constant = 0.0;
  while (take_field(m, &graph, &f)) {
    if (f.number != ONNX_GRAPH_NODE) continue;
    const onnx_bytes type = field_of(m, f.bytes, ONNX_NODE_TYPE).bytes;
    if (is_text(type, "LabelEncoder")) GBT_TRY(read_encoder(m, f.bytes));
    if (is_text(type, "Concat")) GBT_TRY(read_concat(m, f.bytes));
    if (is_text(type, "TreeEnsemble")) GBT_TRY(read_trees(m, f.bytes, 0));
    if (is_text(type, "TreeEnsembleRegressor")) GBT_TRY(read_trees(m, f.bytes, 1));
    if (is_text(type, "Constant")) {
      const onnx_bytes tensor = field_of(m, attribute_of(m, f.bytes, "value"), ONNX_ATTRIBUTE_TENSOR).bytes;
      constant = number_at(field_of(m, tensor, ONNX_TENSOR_RAW).bytes, 0);
    }
    if (is_text(type, "Mul") || is_text(type, "Div")) {
      m->how = is_text(type, "Mul") ? 1 : 2;
      m->scale = constant;
    }
  }
  if (m->failed || m->n_trees == 0)
    return gbt_fail(m->err, GBT_E_INTERNAL, "the ONNX file that was made cannot be read. Please report this");
  return GBT_OK;
}

/* ---- rows ---- */

static double feature_value(const onnx_model *m, int64_t feature, const gbti_cell *row) {
  const int64_t from = m->feature[feature];
  if (from >= 0) return m->floats ? (double)(float)row[from].x : row[from].x;
  const onnx_encoder *e = &m->encoder[-1 - from];
  const char *text = row[e->column].text == NULL ? "" : row[e->column].text;
  for (size_t i = 0; i < e->n; i++)
    if (is_text(m->key[e->beg + i], text)) return e->width == 4 ? float_at(e->numbers, i) : number_at(e->numbers, i);
  return e->others;
}

static int is_yes(const onnx_model *m, const onnx_node *node, const gbti_cell *row) {
  const double x = feature_value(m, node->feature, row);
  if (x != x) return node->missing_yes;
  if (node->mode == ONNX_AT_MOST) return x <= node->number;
  if (node->mode == ONNX_EQUAL) return x == node->number;
  for (size_t i = node->member;; i++) {
    const double member = number_at(m->members, i);
    if (member != member) return 0;
    if (member == x) return 1;
  }
}

static const onnx_node *leaf_of(const onnx_model *m, size_t tree, const gbti_cell *row) {
  const onnx_node *node = &m->node[m->root[tree]];
  while (node->mode != LEAF) node = &m->node[node->child[is_yes(m, node, row) ? 0 : 1]];
  return node;
}

static int tree_of(void *state, uint64_t t, const gbti_cell *row, double *values) {
  const onnx_model *m = state;
  if (t >= m->n_trees) return 0;
  values[0] = leaf_of(m, (size_t)t, row)->number;
  return 1;
}

static int score_of(void *state, const gbti_cell *row, double *scores) {
  const onnx_model *m = state;
  for (int64_t k = 0; k < m->n_targets; k++) scores[k] = 0.0;
  for (size_t t = 0; t < m->n_trees; t++) {
    const onnx_node *leaf = leaf_of(m, t, row);
    const double sum = scores[leaf->feature] + leaf->number;
    scores[leaf->feature] = m->floats ? (double)(float)sum : sum;
  }
  for (int64_t k = 0; k < m->n_targets && m->how > 0; k++)
    scores[k] = m->how == 1 ? scores[k] * m->scale : scores[k] / m->scale;
  return 1;
}

static void close_onnx(void *state) {
  onnx_model *m = state;
  const gbt_mem mem = m->mem;
  void *block[] = {m->copy, m->encoder, m->key, m->feature, m->node, m->root};
  for (size_t i = 0; i < sizeof block / sizeof *block; i++) gbt_mem_free(&mem, block[i]);
  for (int k = 0; k < MOST_LISTS; k++) gbt_mem_free(&mem, m->list[k]);
  gbt_mem_free(&mem, m);
}

static gbt_status read_onnx(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
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

gbt_status gbti_read_onnx(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
  return read_onnx(x, bytes, n_bytes, out);
}
gbt_status gbti_read_onnx_float(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
  return read_onnx(x, bytes, n_bytes, out);
}
