/* CatBoost's JSON.
 *
 *   features_info     float_features (flat_feature_index: the column; nan_value_treatment), categorical_features,
 *                     cat_features_hash (the text of a hash)
 *   oblivious_trees   splits, the first is the lowest bit of a leaf's number; leaf_values, leaf_weights
 *   trees             others: split, left and right within each other, value and weight of leaves
 *   scale_and_bias    a score is scale * sum + bias
 *
 * A row goes right where (float)x > border, where its category has the split's hash, or where a statistic of its
 * category is above a border (catboost_ctr.h). */
#include "readers.h"

#include <stdio.h>
#include <string.h>

#include "../base/sort.h"
#include "catboost_ctr.h"
#include "decimal.h"

typedef struct cat_reader {
  gbti_document *doc;
  gbti_plant *plant;
  gbt_error *err;
  size_t features, floats, categories;
  int64_t n_floats, n_categories, n_outputs;
  int32_t *float_column, *category_column; /* by the feature's place in its list */
  uint8_t *nan_right;                      /* by float feature */
  gbti_hashes *levels;                     /* by category feature: places are levels */
  gbti_hashes texts;                       /* places in text_at */
  size_t *text_at;                         /* values that are texts of hashes */
  gbti_ctrs ctrs;
  int64_t n_splits; /* borders of numbers and categories, which split_index counts first */
  size_t *open;     /* values of a nested tree that are to be read, by node */
  size_t cap_open;
  int has_weights;
} cat_reader;

static size_t get(const cat_reader *r, size_t object, const char *key) { return gbti_get(r->doc, object, key); }

/* ---- columns ---- */

static gbt_status name_of(cat_reader *r, size_t feature, int32_t column) {
  const char *text;
  static const char *const key[] = {"feature_name", "feature_id"};
  for (int k = 0; k < 2; k++) {
    const size_t at = get(r, feature, key[k]);
    if (at == GBTI_NO_VALUE) continue;
    GBT_TRY(gbti_text(r->doc, at, key[k], &text));
    if (*text != 0) return gbti_name_column(r->plant, column, text);
  }
  return GBT_OK;
}

static gbt_status column_of(cat_reader *r, size_t feature, uint8_t *taken, int32_t *out) {
  int64_t at;
  GBT_TRY(gbti_whole(r->doc, get(r, feature, "flat_feature_index"), "flat_feature_index", 0,
                     (int64_t)r->plant->n_columns - 1, &at));
  if (taken[at]) return gbti_document_fault(r->doc, "two features belong to one column");
  taken[at] = 1;
  *out = (int32_t)at;
  return name_of(r, feature, *out);
}

static int64_t count_list(const cat_reader *r, const char *key, size_t *list) {
  *list = get(r, r->features, key);
  if (*list == GBTI_NO_VALUE || gbti_kind_of(r->doc, *list) != GBTI_VALUE_ARRAY) return 0;
  return gbti_count(r->doc, *list);
}

/* A hash of the file, as 32 bits. */
static gbt_status hash_of(const cat_reader *r, size_t value, const char *what, uint32_t *out) {
  int64_t hash;
  GBT_TRY(gbti_whole(r->doc, value, what, -((int64_t)1 << 32), (int64_t)1 << 32, &hash));
  *out = (uint32_t)hash;
  return GBT_OK;
}

static gbt_status sort_hashes(const cat_reader *r, gbti_hashes *list) {
  uint64_t *scratch;
  GBT_TRY(gbt_mem_array(&r->plant->mem, list->n, sizeof *scratch, &scratch, r->err));
  gbt_sort_u64(list->key, NULL, list->n, scratch, NULL);
  gbt_mem_free(&r->plant->mem, scratch);
  return GBT_OK;
}

/* The first place of a hash; -1: there is none. */
static int64_t find_hash(const gbti_hashes *list, uint32_t hash) {
  size_t beg = 0, end = list->n;
  while (beg < end) {
    const size_t middle = beg + (end - beg) / 2;
    if (list->key[middle] >> 32 < hash)
      beg = middle + 1;
    else
      end = middle;
  }
  return beg < list->n && list->key[beg] >> 32 == hash ? (int64_t)(list->key[beg] & UINT32_MAX) : -1;
}

/* The hashes whose texts the file has. */
static gbt_status read_texts(cat_reader *r) {
  size_t list, at;
  uint32_t hash;
  const int64_t n = count_list(r, "cat_features_hash", &list);
  if (n <= 0) return GBT_OK;
  if (n > UINT32_MAX) return gbti_document_fault(r->doc, "`cat_features_hash` is too long");
  GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)n, sizeof *r->texts.key, &r->texts.key, r->err));
  GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)n, sizeof *r->text_at, &r->text_at, r->err));
  at = gbti_first(r->doc, list);
  for (size_t i = 0; i < (size_t)n; i++, at = gbti_next(r->doc, at)) {
    GBT_TRY(hash_of(r, get(r, at, "hash"), "hash", &hash));
    r->texts.key[i] = (uint64_t)hash << 32 | i;
    r->text_at[i] = get(r, at, "value");
  }
  r->texts.n = (size_t)n;
  return sort_hashes(r, &r->texts);
}

/* Levels in the order of a list. */
static gbt_status add_levels(cat_reader *r, int32_t column, const gbti_hashes *levels, size_t beg) {
  const char *text;
  if (levels->n > GBT_MAX_LEVELS) return gbti_not_offered(r->plant, "a column has more than 65,534 levels");
  for (size_t i = beg; i < levels->n; i++) {
    const int64_t its = find_hash(&r->texts, (uint32_t)(levels->key[i] >> 32));
    if (its < 0) return gbti_lacks_texts(r->plant);
    GBT_TRY(gbti_text(r->doc, r->text_at[its], "value", &text));
    GBT_TRY(gbti_add_level(r->plant, column, text));
  }
  return GBT_OK;
}

/* Levels that only statistics have come after those of one-hot features. */
static gbt_status join_levels(cat_reader *r, int32_t category, gbti_hashes *levels) {
  const gbti_hashes known = *levels;
  gbti_hashes more = {NULL, 0};
  uint64_t *all = NULL;
  gbt_status status = gbti_ctr_levels(&r->ctrs, category, &r->texts, &more);
  if (status == GBT_OK && more.n > 0)
    status = gbt_mem_array(&r->plant->mem, known.n + more.n, sizeof *all, &all, r->err);
  if (all != NULL) {
    for (size_t i = 0; i < known.n; i++) all[i] = known.key[i];
    for (size_t i = 0; i < more.n; i++) {
      const uint64_t hash = more.key[i] >> 32;
      if (find_hash(&known, (uint32_t)hash) >= 0) continue;
      all[levels->n] = hash << 32 | levels->n;
      levels->n++;
    }
    gbt_mem_free(&r->plant->mem, known.key);
    levels->key = all;
  }
  gbt_mem_free(&r->plant->mem, more.key);
  return status;
}

/* The levels of a column, in the order of the hashes of its one-hot features, then of its statistics. */
static gbt_status read_levels(cat_reader *r, size_t feature, int32_t category, gbti_hashes *levels) {
  const int32_t column = r->category_column[category];
  const size_t values = get(r, feature, "values");
  const int64_t n = gbti_count(r->doc, values);
  uint32_t hash;
  r->plant->column[column].categorical = 1;
  if (n > 0 && gbti_kind_of(r->doc, values) == GBTI_VALUE_ARRAY) {
    GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)n, sizeof *levels->key, &levels->key, r->err));
    size_t at = gbti_first(r->doc, values);
    for (size_t i = 0; i < (size_t)n; i++, at = gbti_next(r->doc, at)) {
      GBT_TRY(hash_of(r, at, "values", &hash));
      levels->key[levels->n++] = (uint64_t)hash << 32 | i;
    }
    GBT_TRY(add_levels(r, column, levels, 0));
    r->n_splits += n;
    GBT_TRY(sort_hashes(r, levels));
  }
  const size_t n_known = levels->n;
  GBT_TRY(join_levels(r, category, levels));
  GBT_TRY(add_levels(r, column, levels, n_known));
  return n_known < levels->n && n_known > 0 ? sort_hashes(r, levels) : GBT_OK;
}

static gbt_status read_floats(cat_reader *r, uint8_t *taken) {
  size_t at = r->n_floats > 0 ? gbti_first(r->doc, r->floats) : 0;
  for (int64_t i = 0; i < r->n_floats; i++, at = gbti_next(r->doc, at)) {
    GBT_TRY(column_of(r, at, taken, &r->float_column[i]));
    r->nan_right[i] = (uint8_t)gbti_text_is(r->doc, get(r, at, "nan_value_treatment"), "AsTrue");
    const int64_t n_borders = gbti_count(r->doc, get(r, at, "borders"));
    r->n_splits += n_borders > 0 ? n_borders : 0;
  }
  return GBT_OK;
}

static gbt_status read_categories(cat_reader *r, uint8_t *taken) {
  GBT_TRY(read_texts(r));
  GBT_TRY(gbti_ctrs_open(&r->ctrs, r->features, r->n_categories, r->n_outputs));
  size_t at = r->n_categories > 0 ? gbti_first(r->doc, r->categories) : 0;
  for (int64_t i = 0; i < r->n_categories; i++, at = gbti_next(r->doc, at)) {
    GBT_TRY(column_of(r, at, taken, &r->category_column[i]));
    GBT_TRY(read_levels(r, at, (int32_t)i, &r->levels[i]));
  }
  return GBT_OK;
}

static gbt_status read_columns(cat_reader *r) {
  const gbt_mem *mem = &r->plant->mem;
  uint8_t *taken;
  size_t other;
  r->features = gbti_get(r->doc, 0, "features_info");
  r->n_floats = count_list(r, "float_features", &r->floats);
  r->n_categories = count_list(r, "categorical_features", &r->categories);
  if (count_list(r, "text_features", &other) > 0 || count_list(r, "embedding_features", &other) > 0)
    return gbti_not_offered(r->plant, "it has features of texts or embeddings");
  GBT_TRY(gbti_plant_columns(r->plant, r->n_floats + r->n_categories));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)r->n_floats + 1, sizeof *r->float_column, &r->float_column, r->err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)r->n_floats + 1, 1, &r->nan_right, r->err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)r->n_categories + 1, sizeof *r->category_column, &r->category_column, r->err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)r->n_categories + 1, sizeof *r->levels, &r->levels, r->err));
  GBT_TRY(gbt_mem_zeros(mem, (size_t)r->plant->n_columns + 1, 1, &taken, r->err));
  gbt_status status = read_floats(r, taken);
  if (status == GBT_OK) status = read_categories(r, taken);
  gbt_mem_free(mem, taken);
  return status;
}

/* ---- objectives ---- */

typedef struct cat_objective {
  const char *name;
  gbt_objective_kind kind; /* whose responses are CatBoost's */
  const char *key;         /* its parameter, or NULL */
} cat_objective;

static const cat_objective objectives[] = {{"RMSE", GBT_OBJ_SQUARED_ERROR, NULL},
                                           {"MultiRMSE", GBT_OBJ_SQUARED_ERROR, NULL},
                                           {"MultiLogloss", GBT_OBJ_LOGISTIC, NULL},
                                           {"MultiCrossEntropy", GBT_OBJ_CROSS_ENTROPY, NULL},
                                           {"Logloss", GBT_OBJ_LOGISTIC, NULL},
                                           {"CrossEntropy", GBT_OBJ_CROSS_ENTROPY, NULL},
                                           {"MultiClass", GBT_OBJ_SOFTMAX, NULL},
                                           {"Poisson", GBT_OBJ_POISSON, NULL},
                                           {"Tweedie", GBT_OBJ_TWEEDIE, "variance_power"},
                                           {"MAE", GBT_OBJ_ABSOLUTE_ERROR, NULL},
                                           {"Quantile", GBT_OBJ_QUANTILE, "alpha"},
                                           {"Huber", GBT_OBJ_HUBER, "delta"},
                                           {"Expectile", GBT_OBJ_EXPECTILE, "alpha"},
                                           {"LogCosh", GBT_OBJ_LOG_COSH, NULL},
                                           {"MAPE", GBT_OBJ_MAPE, NULL},
                                           {"Cox", GBT_OBJ_COX, NULL},
                                           {"QueryRMSE", GBT_OBJ_QUERY_RMSE, NULL},
                                           {"QuerySoftMax", GBT_OBJ_QUERY_SOFTMAX, NULL},
                                           {"YetiRank", GBT_OBJ_YETI_RANK, NULL},
                                           {"PairLogit", GBT_OBJ_PAIR_LOGIT, NULL}};

static gbt_status read_parameter(cat_reader *r, size_t params, const char *key, gbt_import_facts *facts) {
  const size_t at = key == NULL ? GBTI_NO_VALUE : get(r, params, key);
  double x = 0.0;
  if (at == GBTI_NO_VALUE) return GBT_OK;
  GBT_TRY(gbti_number(r->doc, at, key, 0, &x));
  gbti_set_parameter(r->plant, 0, key, x, facts);
  return GBT_OK;
}

static gbt_status read_objective(cat_reader *r, gbt_import_facts *facts) {
  const size_t info = gbti_get(r->doc, 0, "model_info");
  const size_t loss = get(r, get(r, info, "params"), "loss_function"), type = get(r, loss, "type");
  gbt_objective_kind kind = GBT_OBJ_CUSTOM;
  const char *text = "", *key = NULL;
  for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
    if (gbti_text_is(r->doc, type, objectives[i].name)) {
      kind = objectives[i].kind;
      key = objectives[i].key;
    }
  facts->raw_only = gbti_text_is(r->doc, type, "MultiClassOneVsAll");
  const gbt_outputs_rule outputs = gbt_objective_info_of((int32_t)kind)->outputs;
  if ((outputs == GBT_OUTPUTS_ONE && r->n_outputs > 1) || (outputs == GBT_OUTPUTS_CLASSES && r->n_outputs < 2))
    kind = GBT_OBJ_CUSTOM;
  if (type != GBTI_NO_VALUE) GBT_TRY(gbti_text(r->doc, type, "type", &text));
  snprintf(facts->objective, sizeof facts->objective, "%s", text);
  r->plant->objective = gbt_objective_make(kind, (int32_t)r->n_outputs);
  if (kind == GBT_OBJ_CUSTOM) return GBT_OK;
  return read_parameter(r, get(r, loss, "params"), key, facts);
}

static gbt_status read_scale(cat_reader *r) {
  const size_t both = gbti_get(r->doc, 0, "scale_and_bias");
  double scale = 1.0;
  if (gbti_count(r->doc, both) != 2 || gbti_kind_of(r->doc, both) != GBTI_VALUE_ARRAY)
    return gbti_document_fault(r->doc, "`scale_and_bias` is not what it must be");
  const size_t first = gbti_first(r->doc, both), bias = gbti_next(r->doc, first);
  GBT_TRY(gbti_number(r->doc, first, "scale_and_bias", 0, &scale));
  r->n_outputs = gbti_count(r->doc, bias) < 0 ? 1 : gbti_count(r->doc, bias);
  if (r->n_outputs < 1 || r->n_outputs > INT32_MAX || scale - scale != 0.0 || scale == 0.0)
    return gbti_document_fault(r->doc, "`scale_and_bias` is not what it must be");
  r->plant->sums = (gbt_sums){GBT_SUM_SCALED, scale};
  r->plant->n_leaf_outputs = (int32_t)r->n_outputs;
  GBT_TRY(gbt_mem_zeros(&r->plant->mem, (size_t)r->n_outputs, sizeof *r->plant->base, &r->plant->base, r->err));
  if (gbti_count(r->doc, bias) < 0) return gbti_number(r->doc, bias, "scale_and_bias", 0, r->plant->base);
  GBT_TRY(gbti_numbers(r->doc, bias, "scale_and_bias", r->n_outputs, 0, r->plant->base));
  for (int64_t k = 0; k < r->n_outputs; k++)
    if (r->plant->base[k] - r->plant->base[k] != 0.0) return gbti_document_fault(r->doc, "a bias is not finite");
  return GBT_OK;
}

/* ---- trees ---- */

/* A split: its node but the children; `swap` says that the rows that go left in gbt are those that go right. */
static gbt_status read_split(cat_reader *r, size_t split, gbti_new_node *node, int *swap) {
  const size_t type = get(r, split, "split_type");
  double border = 0.0;
  int64_t at;
  uint32_t hash;
  *swap = 0;
  if (gbti_text_is(r->doc, type, "FloatFeature")) {
    GBT_TRY(gbti_whole(r->doc, get(r, split, "float_feature_index"), "float_feature_index", 0, r->n_floats - 1, &at));
    GBT_TRY(gbti_number(r->doc, get(r, split, "border"), "border", 1, &border));
    if (border != border) return gbti_tree_fault(r->plant, "a border is not a number");
    node->feature = r->float_column[at];
    node->value = gbti_below_f32((float)border, 1);
    node->flags = r->nan_right[at] ? 0 : GBT_NODE_MISSING_LEFT;
    return GBT_OK;
  }
  if (gbti_text_is(r->doc, type, "OnlineCtr")) {
    size_t its;
    GBT_TRY(gbti_ctr_find(&r->ctrs, split, r->n_splits, &its));
    const int32_t category = r->ctrs.ctr[r->ctrs.border[its].ctr].category;
    node->feature = r->category_column[category];
    *swap = 1;
    return gbti_ctr_split(&r->ctrs, its, &r->levels[category], node);
  }
  if (!gbti_text_is(r->doc, type, "OneHotFeature")) return gbti_tree_fault(r->plant, "a split is of an unknown type");
  GBT_TRY(gbti_whole(r->doc, get(r, split, "cat_feature_index"), "cat_feature_index", 0, r->n_categories - 1, &at));
  GBT_TRY(hash_of(r, get(r, split, "value"), "value", &hash));
  const int64_t level = find_hash(&r->levels[at], hash);
  if (level < 0) return gbti_tree_fault(r->plant, "a split is by a category that its column does not have");
  node->feature = r->category_column[at];
  node->flags = GBT_NODE_CATEGORICAL;
  node->set_beg = r->plant->n_codes;
  node->set_n = 1;
  *swap = 1;
  return gbti_add_code(r->plant, level);
}

static void join(gbti_new_node *node, int64_t left, int64_t right, int swap) {
  node->left = swap ? right : left;
  node->right = swap ? left : right;
}

/* Values of a leaf: a number, or one for each score. */
static gbt_status put_value(cat_reader *r, gbti_new_node *leaf, const double *value) {
  gbti_plant *p = r->plant;
  leaf->left = leaf->right = -1;
  leaf->value = value[0];
  if (r->n_outputs == 1) return GBT_OK;
  GBT_TRY(
      gbt_mem_grow(&p->mem, &p->values, &p->cap_values, p->n_values + (size_t)r->n_outputs, sizeof *p->values, r->err));
  leaf->vector = p->n_values;
  memcpy(p->values + p->n_values, value, (size_t)r->n_outputs * sizeof *value);
  p->n_values += (size_t)r->n_outputs;
  return GBT_OK;
}

/* Covers of splits: children come after their parents. */
static void add_covers(gbti_plant *p) {
  for (size_t i = p->n_nodes; i-- > 0;)
    if (p->node[i].left >= 0) p->node[i].cover = p->node[p->node[i].left].cover + p->node[p->node[i].right].cover;
}

static gbt_status read_oblivious_leaves(cat_reader *r, size_t tree, int64_t n) {
  const size_t values = get(r, tree, "leaf_values"), weights = get(r, tree, "leaf_weights");
  double *value = NULL, *weight = NULL;
  gbt_status status;
  GBT_TRY_GOTO(gbt_mem_zeros(&r->plant->mem, (size_t)(n * r->n_outputs), sizeof *value, &value, r->err), done);
  GBT_TRY_GOTO(gbt_mem_zeros(&r->plant->mem, (size_t)n, sizeof *weight, &weight, r->err), done);
  GBT_TRY_GOTO(gbti_numbers(r->doc, values, "leaf_values", n * r->n_outputs, 0, value), done);
  if (gbti_count(r->doc, weights) == n)
    GBT_TRY_GOTO(gbti_numbers(r->doc, weights, "leaf_weights", n, 0, weight), done);
  else
    r->has_weights = 0;
  for (int64_t i = 0; i < n; i++) {
    gbti_new_node *leaf = &r->plant->node[n - 1 + i];
    leaf->cover = weight[i];
    GBT_TRY_GOTO(put_value(r, leaf, value + i * r->n_outputs), done);
  }
done:
  gbt_mem_free(&r->plant->mem, value);
  gbt_mem_free(&r->plant->mem, weight);
  return status;
}

/* Layer by layer, the last split at the root, so that leaves have their numbers from left to right. */
static gbt_status read_oblivious(cat_reader *r, size_t tree) {
  const size_t splits = get(r, tree, "splits");
  const int64_t depth = gbti_count(r->doc, splits), n_values = gbti_count(r->doc, get(r, tree, "leaf_values"));
  const int64_t n = depth >= 0 && depth < 32 ? (int64_t)1 << depth : 0;
  if (n == 0 || n_values != n * r->n_outputs || (depth > 0 && gbti_kind_of(r->doc, splits) != GBTI_VALUE_ARRAY))
    return gbti_tree_fault(r->plant, "it does not have a value for each leaf");
  GBT_TRY(gbti_clear_nodes(r->plant, 2 * (size_t)n - 1));
  size_t at = depth > 0 ? gbti_first(r->doc, splits) : 0;
  for (int64_t layer = depth - 1; layer >= 0; layer--, at = gbti_next(r->doc, at)) {
    gbti_new_node like = {0};
    int swap;
    GBT_TRY(read_split(r, at, &like, &swap));
    const int64_t width = (int64_t)1 << layer;
    for (int64_t i = width - 1; i < 2 * width - 1; i++) {
      r->plant->node[i] = like;
      join(&r->plant->node[i], 2 * i + 1, 2 * i + 2, swap);
    }
  }
  GBT_TRY(read_oblivious_leaves(r, tree, n));
  add_covers(r->plant);
  return gbti_plant_tree(r->plant);
}

static gbt_status read_leaf(cat_reader *r, size_t value, size_t weight, gbti_new_node *leaf) {
  double one = 0.0, *all = &one;
  const size_t n = (size_t)r->n_outputs;
  if (n > 1) GBT_TRY(gbt_mem_zeros(&r->plant->mem, n, sizeof *all, &all, r->err));
  gbt_status status = n > 1 || gbti_count(r->doc, value) >= 0 ? gbti_numbers(r->doc, value, "value", (int64_t)n, 0, all)
                                                              : gbti_number(r->doc, value, "value", 0, all);
  if (status == GBT_OK && weight == GBTI_NO_VALUE)
    r->has_weights = 0;
  else if (status == GBT_OK)
    status = gbti_number(r->doc, weight, "weight", 0, &leaf->cover);
  if (status == GBT_OK) status = put_value(r, leaf, all);
  if (n > 1) gbt_mem_free(&r->plant->mem, all);
  return status;
}

static gbt_status add_node(cat_reader *r, size_t value) {
  gbti_plant *p = r->plant;
  const size_t n = p->n_nodes;
  GBT_TRY(gbt_mem_grow(&p->mem, &p->node, &p->cap_nodes, n + 1, sizeof *p->node, r->err));
  GBT_TRY(gbt_mem_grow(&p->mem, &r->open, &r->cap_open, n + 1, sizeof *r->open, r->err));
  memset(&p->node[n], 0, sizeof *p->node);
  r->open[n] = value;
  p->n_nodes++;
  return GBT_OK;
}

/* A tree of values within values, layer by layer. */
static gbt_status read_nested(cat_reader *r, size_t tree) {
  gbti_plant *p = r->plant;
  p->n_nodes = 0;
  GBT_TRY(add_node(r, tree));
  for (size_t i = 0; i < p->n_nodes; i++) {
    const size_t at = r->open[i], split = get(r, at, "split"), left = get(r, at, "left"), right = get(r, at, "right");
    int swap;
    if (split == GBTI_NO_VALUE) {
      GBT_TRY(read_leaf(r, get(r, at, "value"), get(r, at, "weight"), &p->node[i]));
      continue;
    }
    if (left == GBTI_NO_VALUE || right == GBTI_NO_VALUE) return gbti_tree_fault(p, "a child does not exist");
    GBT_TRY(read_split(r, split, &p->node[i], &swap));
    join(&p->node[i], (int64_t)p->n_nodes, (int64_t)p->n_nodes + 1, swap);
    GBT_TRY(add_node(r, left));
    GBT_TRY(add_node(r, right));
  }
  add_covers(p);
  return gbti_plant_tree(p);
}

static gbt_status read_trees(cat_reader *r) {
  const size_t oblivious = gbti_get(r->doc, 0, "oblivious_trees"), other = gbti_get(r->doc, 0, "trees");
  const size_t list = oblivious != GBTI_NO_VALUE ? oblivious : other;
  const int64_t n = gbti_count(r->doc, list);
  if (n < 0 || gbti_kind_of(r->doc, list) != GBTI_VALUE_ARRAY) return gbti_document_fault(r->doc, "there are no trees");
  size_t at = gbti_first(r->doc, list);
  for (int64_t t = 0; t < n; t++, at = gbti_next(r->doc, at))
    GBT_TRY(oblivious != GBTI_NO_VALUE ? read_oblivious(r, at) : read_nested(r, at));
  return GBT_OK;
}

/* ---- the file ---- */

/* Names of classes, texts or numbers. */
static gbt_status read_classes(cat_reader *r) {
  const size_t params = get(r, gbti_get(r->doc, 0, "model_info"), "class_params");
  const size_t names = get(r, params, "class_names");
  const int64_t n = gbti_count(r->doc, names);
  char number[40];
  const char *text = number;
  if (n <= 0 || gbti_kind_of(r->doc, names) != GBTI_VALUE_ARRAY) return GBT_OK;
  size_t at = gbti_first(r->doc, names);
  for (int64_t i = 0; i < n; i++, at = gbti_next(r->doc, at)) {
    double x = 0.0;
    if (gbti_kind_of(r->doc, at) == GBTI_VALUE_TEXT) {
      GBT_TRY(gbti_text(r->doc, at, "class_names", &text));
    } else {
      GBT_TRY(gbti_number(r->doc, at, "class_names", 0, &x));
      snprintf(number, sizeof number, "%.15g", x);
      text = number;
    }
    GBT_TRY(gbti_add_class(r->plant, text));
  }
  return GBT_OK;
}

static gbt_status read_all(cat_reader *r, gbt_import_facts *facts) {
  GBT_TRY(read_scale(r));
  GBT_TRY(read_objective(r, facts));
  GBT_TRY(read_columns(r));
  GBT_TRY(read_trees(r));
  GBT_TRY(read_classes(r));
  memcpy(facts->program, "CatBoost", sizeof "CatBoost");
  facts->has_cover = r->has_weights;
  return GBT_OK;
}

gbt_status gbti_read_catboost(gbti_document *doc, gbti_plant *plant, gbt_import_facts *facts) {
  cat_reader r = {.doc = doc, .plant = plant, .err = plant->err, .has_weights = 1};
  r.ctrs = (gbti_ctrs){.doc = doc, .plant = plant};
  doc->program = plant->program = "CatBoost";
  gbt_status status = read_all(&r, facts);
  for (int64_t i = 0; r.levels != NULL && i < r.n_categories; i++) gbt_mem_free(&plant->mem, r.levels[i].key);
  gbti_ctrs_close(&r.ctrs);
  void *blocks[] = {r.float_column, r.category_column, r.nan_right, r.open, r.levels, r.texts.key, r.text_at};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gbt_mem_free(&plant->mem, blocks[i]);
  return status;
}
