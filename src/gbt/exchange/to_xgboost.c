/* XGBoost's JSON and UBJ, as version 3.2 writes them. Both have the same values: a small writer knows how each says
 * them.
 *
 * XGBoost goes left where (float)x < t, and with sets where the category is not in the set, known or not. So sets are
 * those of the side that unseen levels do not take, and children change sides where that is the left one; so do those
 * of a split whose left side has all numbers, as XGBoost takes no infinite threshold. Base scores are in the leaves of
 * the first round: XGBoost's would go through its link, whose last bit depends on the machine's logarithm. */
#include <stdio.h>
#include <string.h>

#include "decimal.h"
#include "formats.h"

typedef struct xgb_writer {
  gbti_outgoing *x;
  gbti_file *out;
  int ubj, first;   /* first: no comma before the next value */
  uint32_t *node;   /* of a tree: which one has this number in the file. XGBoost relies on right = left + 1 */
  uint32_t *parent; /* by number in the file */
} xgb_writer;

/* ---- values ---- */

static void put_big(xgb_writer *w, uint64_t u, int n_bytes) {
  uint8_t bytes[8];
  for (int i = 0; i < n_bytes; i++) bytes[i] = (uint8_t)(u >> (8 * (n_bytes - 1 - i)));
  gbti_put_bytes(w->out, bytes, (size_t)n_bytes);
}

static void put_length(xgb_writer *w, size_t n) {
  gbti_put(w->out, "L");
  put_big(w, n, 8);
}

static void comma(xgb_writer *w) {
  if (!w->ubj && !w->first) gbti_put(w->out, ",");
  w->first = 0;
}

static void put_key(xgb_writer *w, const char *key) {
  comma(w);
  if (w->ubj) {
    put_length(w, strlen(key));
    gbti_put(w->out, key);
    return;
  }
  gbti_put_json(w->out, key);
  gbti_put(w->out, ":");
  w->first = 1;
}

static void put_text(xgb_writer *w, const char *text) {
  comma(w);
  if (!w->ubj) {
    gbti_put_json(w->out, text);
    return;
  }
  gbti_put(w->out, "S");
  put_length(w, strlen(text));
  gbti_put(w->out, text);
}

static void begin(xgb_writer *w) {
  comma(w);
  gbti_put(w->out, "{");
  w->first = 1;
}

static void end(xgb_writer *w) {
  gbti_put(w->out, "}");
  w->first = 0;
}

/* An array of n values of any kind. */
static void begin_list(xgb_writer *w, size_t n) {
  comma(w);
  gbti_put(w->out, w->ubj ? "[#" : "[");
  if (w->ubj) put_length(w, n);
  w->first = 1;
}

static void end_list(xgb_writer *w) {
  if (!w->ubj) gbti_put(w->out, "]");
  w->first = 0;
}

static void put_whole(xgb_writer *w, int64_t x) {
  comma(w);
  if (!w->ubj) {
    gbti_put_whole(w->out, x);
    return;
  }
  gbti_put(w->out, "L");
  put_big(w, (uint64_t)x, 8);
}

/* An array of n numbers of one type: d float, i, U, l, L whole numbers of 1, 1, 4, 8 bytes. */
static void begin_array(xgb_writer *w, const char *type, size_t n) {
  comma(w);
  gbti_put(w->out, w->ubj ? "[$" : "[");
  if (w->ubj) {
    gbti_put(w->out, type);
    gbti_put(w->out, "#");
    put_length(w, n);
  }
  w->first = 1;
}

static void put_float(xgb_writer *w, double x) {
  const float f = (float)x;
  uint32_t u;
  comma(w);
  memcpy(&u, &f, sizeof u);
  if (w->ubj) {
    put_big(w, u, 4);
    return;
  }
  const size_t beg = w->out->n;
  gbti_put_float(w->out, f);
  for (size_t i = beg; i < w->out->n; i++)
    if (w->out->at[i] == '.' || w->out->at[i] == 'e') return;
  gbti_put(w->out, "E0"); /* else XGBoost takes it for a whole number and refuses it */
}

static void put_item(xgb_writer *w, const char *type, int64_t x) {
  comma(w);
  if (w->ubj)
    put_big(w, (uint64_t)x, *type == 'L' ? 8 : *type == 'l' ? 4 : 1);
  else
    gbti_put_whole(w->out, x);
}

static void put_number_text(xgb_writer *w, const char *key, int64_t x) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)x);
  put_key(w, key);
  put_text(w, text);
}

/* ---- objectives ---- */

typedef struct xgb_name {
  gbt_objective_kind kind;
  const char *name, *group, *key, *value; /* value NULL: the objective's first parameter */
} xgb_name;

static const xgb_name names[] = {
    {GBT_OBJ_LOGISTIC, "binary:logistic", "reg_loss_param", "scale_pos_weight", "1"},
    {GBT_OBJ_CROSS_ENTROPY, "reg:logistic", "reg_loss_param", "scale_pos_weight", "1"},
    {GBT_OBJ_POISSON, "count:poisson", "poisson_regression_param", "max_delta_step", "0.7"},
    {GBT_OBJ_GAMMA, "reg:gamma", NULL, NULL, NULL},
    {GBT_OBJ_TWEEDIE, "reg:tweedie", "tweedie_regression_param", "tweedie_variance_power", NULL},
    {GBT_OBJ_PSEUDO_HUBER, "reg:pseudohubererror", "pseudo_huber_param", "huber_slope", NULL},
    {GBT_OBJ_ABSOLUTE_ERROR, "reg:absoluteerror", NULL, NULL, NULL},
    {GBT_OBJ_COX, "survival:cox", NULL, NULL, NULL},
};
static const xgb_name by_link[] = {
    [GBTI_LINK_NONE] = {GBT_OBJ_CUSTOM, "reg:squarederror", "reg_loss_param", "scale_pos_weight", "1"},
    [GBTI_LINK_SIGMOID] = {GBT_OBJ_CUSTOM, "reg:logistic", "reg_loss_param", "scale_pos_weight", "1"},
    [GBTI_LINK_EXP] = {GBT_OBJ_CUSTOM, "count:poisson", "poisson_regression_param", "max_delta_step", "0.7"},
    [GBTI_LINK_EXPM1] = {GBT_OBJ_CUSTOM, "reg:squarederror", "reg_loss_param", "scale_pos_weight", "1"},
    [GBTI_LINK_SOFTMAX] = {GBT_OBJ_SOFTMAX, "multi:softprob", "softmax_multiclass_param", "num_class", ""},
    [GBTI_LINK_SORTED] = {GBT_OBJ_CUSTOM, "reg:squarederror", "reg_loss_param", "scale_pos_weight", "1"},
};

static const xgb_name *name_of(gbti_outgoing *x) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].kind == (gbt_objective_kind)x->objective->kind && x->n_outputs == 1) return &names[i];
  if (x->link == GBTI_LINK_EXPM1)
    gbti_tell(x, "XGBoost has no response exp(score) - 1: its predictions are raw scores");
  return &by_link[x->link];
}

/* Text that was made apart and ends with 0; it is freed. */
static void put_made(xgb_writer *w, gbti_file *made) {
  if (made->status == GBT_OK)
    put_text(w, (const char *)made->at);
  else
    w->out->status = made->status;
  gbt_mem_free(&made->mem, made->at);
}

/* "[1E-1,5E-1]" */
static void put_levels(xgb_writer *w, const double *level, int32_t n) {
  gbti_file list = {.mem = w->out->mem, .err = w->out->err};
  for (int32_t k = 0; k < n; k++) {
    gbti_put(&list, k == 0 ? "[" : ",");
    gbti_put_float(&list, (float)level[k]);
  }
  gbti_put_bytes(&list, "]", 2);
  put_made(w, &list);
}

static void put_objective(xgb_writer *w) {
  const gbt_objective *o = w->x->objective;
  const xgb_name *name = name_of(w->x);
  const int quantile = o->kind == GBT_OBJ_QUANTILE && (w->x->n_outputs == 1 || o->levels != NULL);
  begin(w);
  put_key(w, "name");
  put_text(w, quantile ? "reg:quantileerror" : name->name);
  if (quantile || name->group != NULL) {
    put_key(w, quantile ? "quantile_loss_param" : name->group);
    begin(w);
    put_key(w, quantile ? "quantile_alpha" : name->key);
    if (quantile)
      put_levels(w, w->x->n_outputs > 1 ? o->levels : o->param, w->x->n_outputs);
    else if (name->value != NULL && *name->value != 0)
      put_text(w, name->value);
    else {
      gbti_file number = {.mem = w->out->mem, .err = w->out->err};
      gbti_put_float(&number, name->value == NULL ? (float)o->param[0] : (float)w->x->n_outputs);
      gbti_put_bytes(&number, "", 1);
      put_made(w, &number);
    }
    end(w);
  }
  end(w);
  if (w->x->link == GBTI_LINK_SORTED) gbti_tell(w->x, "XGBoost does not sort the quantiles of a row: they may cross");
}

/* ---- columns ---- */

static int has_texts(const gbt_schema_column *col) {
  return col->type == GBT_CATEGORICAL && strcmp(col->tag, "category") != 0;
}

static void put_columns(xgb_writer *w) {
  const gbt_schema *schema = w->x->schema;
  put_key(w, "feature_names");
  begin_list(w, (size_t)schema->n_columns);
  for (int32_t c = 0; c < schema->n_columns; c++) put_text(w, schema->col[c].name);
  end_list(w);
  put_key(w, "feature_types");
  begin_list(w, (size_t)schema->n_columns);
  for (int32_t c = 0; c < schema->n_columns; c++) put_text(w, schema->col[c].type == GBT_CATEGORICAL ? "c" : "float");
  end_list(w);
}

/* By bytes with a sign, as XGBoost compares them. */
static int comes_before(const char *a, const char *b) {
  while (*a != 0 && *a == *b) a++, b++;
  if (*a == 0 || *b == 0) return *a == 0 && *b != 0;
  return (int8_t)*a < (int8_t)*b;
}

/* Texts of levels of a column in XGBoost's order: heap sort of their numbers. */
static void sort_levels(const char *const *text, int32_t *order, int32_t n) {
  for (int32_t i = 0; i < n; i++) order[i] = i;
  for (int32_t stop = n, beg = n / 2; stop > 1;) {
    int32_t x;
    if (beg > 0) {
      x = order[--beg];
    } else {
      x = order[--stop];
      order[stop] = order[0];
    }
    int32_t at = beg;
    for (int32_t child = 2 * at + 1; child < stop; child = 2 * at + 1) {
      if (child + 1 < stop && comes_before(text[order[child]], text[order[child + 1]])) child++;
      if (!comes_before(text[x], text[order[child]])) break;
      order[at] = order[child];
      at = child;
    }
    order[at] = x;
  }
}

static void put_level_texts(xgb_writer *w, const gbt_schema_column *col) {
  size_t n_bytes = 0;
  const int32_t n = has_texts(col) ? col->n_levels : 0;
  for (int32_t l = 0; l < n; l++) n_bytes += strlen(col->levels[l]);
  begin(w);
  put_key(w, "offsets");
  begin_array(w, "l", n > 0 ? (size_t)n + 1 : 0);
  int64_t at = 0;
  for (int32_t l = 0; l <= n && n > 0; l++) {
    put_item(w, "l", at);
    if (l < n) at += (int64_t)strlen(col->levels[l]);
  }
  end_list(w);
  put_key(w, "values");
  begin_array(w, "i", n_bytes);
  for (int32_t l = 0; l < n; l++)
    for (const char *p = col->levels[l]; *p != 0; p++) put_item(w, "i", (int8_t)*p);
  end_list(w);
  end(w);
}

static gbt_status put_cats(xgb_writer *w) {
  const gbt_schema *schema = w->x->schema;
  size_t n = 0;
  int any = 0;
  int32_t *order;
  for (int32_t c = 0; c < schema->n_columns; c++) {
    any |= has_texts(&schema->col[c]);
    if (has_texts(&schema->col[c])) n += (size_t)schema->col[c].n_levels;
  }
  if (n > INT32_MAX) return gbti_refuse_for(w->x, NULL, GBTI_CAN_ALL, "its columns have too many levels");
  GBT_TRY(gbt_mem_array(&w->x->mem, n + 1, sizeof *order, &order, w->x->err));
  begin(w);
  put_key(w, "enc");
  begin_list(w, any ? (size_t)schema->n_columns : 0);
  for (int32_t c = 0; c < schema->n_columns && any; c++) put_level_texts(w, &schema->col[c]);
  end_list(w);
  put_key(w, "feature_segments");
  begin_array(w, "l", any ? (size_t)schema->n_columns + 1 : 0);
  n = 0;
  for (int32_t c = 0; c <= schema->n_columns && any; c++) {
    put_item(w, "l", (int64_t)n);
    if (c == schema->n_columns || !has_texts(&schema->col[c])) continue;
    sort_levels(schema->col[c].levels, order + n, schema->col[c].n_levels);
    n += (size_t)schema->col[c].n_levels;
  }
  end_list(w);
  put_key(w, "sorted_idx");
  begin_array(w, "l", n);
  for (size_t i = 0; i < n; i++) put_item(w, "l", order[i]);
  end_list(w);
  end(w);
  gbt_mem_free(&w->x->mem, order);
  return GBT_OK;
}

/* ---- trees ---- */

/* Whether all finite float32 numbers are at most the threshold, which no float32 is above then. */
static int is_above_all(const gbti_out_node *node) {
  const double t = (double)gbti_above_f32(node->number);
  return t - t != 0.0;
}

/* Whether the children of a node change sides: those who are not in its set, or not below the lowest number, go to the
 * right one. */
static int is_turned(const gbti_out_node *node) {
  return node->left > 0 && (node->by_set ? !node->unseen_left : is_above_all(node));
}

static int is_listed(const gbti_out_node *node, int32_t level) {
  return gbt_bit(node->set, node->n_words, (uint32_t)level) == (is_turned(node) ? 1 : 0);
}

static size_t n_listed(const xgb_writer *w, const gbti_out_node *node) {
  size_t n = 0;
  if (node->left == 0 || !node->by_set) return 0;
  for (int32_t l = 0; l < w->x->schema->col[node->column].n_levels; l++) n += (size_t)is_listed(node, l);
  return n;
}

enum { LEFT, RIGHT, PARENT, FEATURE, DEFAULT_LEFT, TYPE, WEIGHT, GAIN, COVER, CONDITION, N_FIELDS };
static const char *const fields[N_FIELDS] = {"left_children", "right_children",  "parents",      "split_indices",
                                             "default_left",  "split_type",      "base_weights", "loss_changes",
                                             "sum_hessian",   "split_conditions"};
static const char *const types[N_FIELDS] = {"l", "l", "l", "l", "U", "U", "d", "d", "d", "d"};

static double finite_float(double x) {
  const double most = 3.4028234663852886e38;
  return x > most ? most : x < -most ? -most : x;
}

/* A set that lists nothing is no set for XGBoost: only missing values can go the other way. */
static int is_set(const xgb_writer *w, const gbti_out_node *node) { return n_listed(w, node) > 0; }

static double condition_of(const xgb_writer *w, const gbti_out_node *node) {
  if (node->left == 0) return node->number;
  if (!node->by_set) return is_turned(node) ? -3.4028234663852886e38 : (double)gbti_above_f32(node->number);
  return is_set(w, node) ? 1e-45 : 3.4028234663852886e38;
}

static void put_field(xgb_writer *w, int field, const gbti_out_node *node, int64_t parent) {
  const int split = node->left > 0, turned = is_turned(node);
  switch (field) {
  case LEFT:
    put_item(w, "l", split ? (int64_t)node->left : -1);
    break;
  case RIGHT:
    put_item(w, "l", split ? (int64_t)node->left + 1 : -1);
    break;
  case PARENT:
    put_item(w, "l", parent);
    break;
  case FEATURE:
    put_item(w, "l", split ? node->column : 0);
    break;
  case DEFAULT_LEFT:
    put_item(w, "U", split && (node->missing_left != 0) != turned);
    break;
  case TYPE:
    put_item(w, "U", is_set(w, node));
    break;
  case WEIGHT:
    put_float(w, split ? 0.0 : node->number);
    break;
  case GAIN:
    put_float(w, finite_float(node->gain));
    break;
  case COVER:
    put_float(w, finite_float(node->cover));
    break;
  default:
    put_float(w, condition_of(w, node));
  }
}

/* Children of nodes that are turned change their numbers: two children take the same two numbers as before. */
static void place_nodes(xgb_writer *w, const gbti_out_tree *tree) {
  w->node[0] = 0;
  w->parent[0] = INT32_MAX;
  for (uint32_t p = 0; p < tree->n_nodes; p++) {
    const gbti_out_node *node = &tree->node[w->node[p]];
    if (node->left == 0) continue;
    const uint32_t turned = (uint32_t)is_turned(node);
    w->node[node->left] = node->left + turned;
    w->node[node->left + 1] = node->left + !turned;
    w->parent[node->left] = w->parent[node->left + 1] = p;
  }
}

static gbt_status put_sets(xgb_writer *w, const gbti_out_tree *tree) {
  size_t n_sets = 0, n_codes = 0, at = 0;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    const size_t n = n_listed(w, &tree->node[w->node[i]]);
    n_sets += n > 0;
    n_codes += n;
  }
  put_key(w, "categories");
  begin_array(w, "l", n_codes);
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    const gbti_out_node *node = &tree->node[w->node[i]];
    if (node->left == 0 || !node->by_set) continue;
    const gbt_schema_column *col = &w->x->schema->col[node->column];
    for (int32_t l = 0; l < col->n_levels; l++) {
      if (!is_listed(node, l)) continue;
      const int64_t code = gbti_level_code(col, l);
      if (code < 0)
        return gbti_refuse_for(w->x, col->name, GBTI_CAN_UNSEEN,
                               "categories of column `%s` are not whole numbers from 0 to 16,777,215", col->name);
      put_item(w, "l", code);
    }
  }
  end_list(w);
  put_key(w, "categories_nodes");
  begin_array(w, "l", n_sets);
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    if (is_set(w, &tree->node[w->node[i]])) put_item(w, "l", i);
  end_list(w);
  for (int sizes = 0; sizes < 2; sizes++) {
    put_key(w, sizes ? "categories_sizes" : "categories_segments");
    begin_array(w, "L", n_sets);
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      const size_t n = n_listed(w, &tree->node[w->node[i]]);
      if (n > 0) put_item(w, "L", (int64_t)(sizes ? n : at));
      at += n;
    }
    end_list(w);
  }
  return GBT_OK;
}

static gbt_status put_tree(xgb_writer *w, uint64_t t) {
  const gbti_out_tree *tree = &w->x->tree[t];
  place_nodes(w, tree);
  begin(w);
  for (int field = 0; field < N_FIELDS; field++) {
    put_key(w, fields[field]);
    begin_array(w, types[field], tree->n_nodes);
    for (uint32_t i = 0; i < tree->n_nodes; i++) put_field(w, field, &tree->node[w->node[i]], (int64_t)w->parent[i]);
    end_list(w);
  }
  GBT_TRY(put_sets(w, tree));
  put_key(w, "id");
  put_whole(w, (int64_t)t);
  put_key(w, "tree_param");
  begin(w);
  put_number_text(w, "num_deleted", 0);
  put_number_text(w, "num_feature", w->x->schema->n_columns);
  put_number_text(w, "num_nodes", tree->n_nodes);
  put_number_text(w, "size_leaf_vector", 1);
  end(w);
  end(w);
  return GBT_OK;
}

static gbt_status put_trees(xgb_writer *w) {
  size_t most = 0;
  gbt_status status = GBT_OK;
  for (uint64_t t = 0; t < w->x->n_trees; t++)
    if (w->x->tree[t].n_nodes > most) most = w->x->tree[t].n_nodes;
  if (most > INT32_MAX || w->x->n_trees > INT32_MAX)
    return gbti_refuse_for(w->x, NULL, GBTI_CAN_ALL, "it has too many nodes");
  GBT_TRY(gbt_mem_array(&w->x->mem, most + 1, sizeof *w->node, &w->node, w->x->err));
  GBT_TRY(gbt_mem_array(&w->x->mem, most + 1, sizeof *w->parent, &w->parent, w->x->err));
  put_key(w, "trees");
  begin_list(w, (size_t)w->x->n_trees);
  for (uint64_t t = 0; t < w->x->n_trees && status == GBT_OK; t++) status = put_tree(w, t);
  end_list(w);
  return status;
}

/* ---- the file ---- */

static gbt_status put_model(xgb_writer *w) {
  const uint64_t per_round = (uint64_t)w->x->n_outputs * (uint64_t)w->x->n_parallel;
  begin(w);
  put_key(w, "cats");
  GBT_TRY(put_cats(w));
  put_key(w, "gbtree_model_param");
  begin(w);
  put_number_text(w, "num_parallel_tree", w->x->n_parallel);
  put_number_text(w, "num_trees", (int64_t)w->x->n_trees);
  end(w);
  put_key(w, "iteration_indptr");
  begin_list(w, (size_t)(w->x->n_trees / per_round) + 1);
  for (uint64_t t = 0; t <= w->x->n_trees; t += per_round) put_whole(w, (int64_t)t);
  end_list(w);
  put_key(w, "tree_info");
  begin_list(w, (size_t)w->x->n_trees);
  for (uint64_t t = 0; t < w->x->n_trees; t++) put_whole(w, w->x->tree[t].output);
  end_list(w);
  GBT_TRY(put_trees(w));
  end(w);
  return GBT_OK;
}

/* The base score whose link is 0. */
static const char *zero_score(gbti_link link) {
  return link == GBTI_LINK_SIGMOID ? "5E-1" : link == GBTI_LINK_EXP ? "1E0" : "0E0";
}

static gbt_status put_all(xgb_writer *w) {
  const int classes = w->x->link == GBTI_LINK_SOFTMAX;
  begin(w);
  put_key(w, "learner");
  begin(w);
  put_key(w, "attributes");
  begin(w);
  end(w);
  put_columns(w);
  put_key(w, "gradient_booster");
  begin(w);
  put_key(w, "model");
  GBT_TRY(put_model(w));
  put_key(w, "name");
  put_text(w, "gbtree");
  end(w);
  put_key(w, "learner_model_param");
  begin(w);
  put_key(w, "base_score");
  put_text(w, zero_score(w->x->link));
  put_number_text(w, "boost_from_average", 1);
  put_number_text(w, "num_class", classes ? w->x->n_outputs : 0);
  put_number_text(w, "num_feature", w->x->schema->n_columns);
  put_number_text(w, "num_target", classes ? 1 : w->x->n_outputs);
  end(w);
  put_key(w, "objective");
  put_objective(w);
  end(w);
  put_key(w, "version");
  begin_list(w, 3);
  put_whole(w, 3);
  put_whole(w, 2);
  put_whole(w, 0);
  end_list(w);
  end(w);
  return GBT_OK;
}

static gbt_status write_file(gbti_outgoing *x, gbti_file *out, int ubj) {
  xgb_writer w = {.x = x, .out = out, .ubj = ubj, .first = 1};
  const gbt_status status = put_all(&w);
  gbt_mem_free(&x->mem, w.node);
  gbt_mem_free(&x->mem, w.parent);
  return status;
}

gbt_status gbti_write_xgboost_json(gbti_outgoing *x, gbti_file *out) { return write_file(x, out, 0); }

gbt_status gbti_write_xgboost_ubj(gbti_outgoing *x, gbti_file *out) { return write_file(x, out, 1); }

gbt_status gbti_read_xgboost_json(const gbti_outgoing *x, const uint8_t *bytes, size_t n, gbti_evaluator *out) {
  return gbti_read_back(x, bytes, n, out);
}

gbt_status gbti_read_xgboost_ubj(const gbti_outgoing *x, const uint8_t *bytes, size_t n, gbti_evaluator *out) {
  return gbti_read_back(x, bytes, n, out);
}
