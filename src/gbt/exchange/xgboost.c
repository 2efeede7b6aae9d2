/* XGBoost's JSON and UBJ, versions 1.3 and later.
 *
 *   learner   feature_names, feature_types, attributes, objective, learner_model_param
 *             gradient_booster   name; model: trees, tree_info (the output of each tree), cats (texts of levels)
 *                                of "dart" the model is in gbtree, and weight_drop has a factor for each tree
 *
 * A row goes left where (float)x < split_condition, or, of categories, where it is not in the node's set: the children
 * of such nodes change sides. Sums are float32, from the base score on, which files have in the space of responses. */
#include "readers.h"

#include <stdio.h>
#include <string.h>

#include "../math/elementary.h"
#include "decimal.h"

typedef struct xgb_reader {
  gbti_document *doc;
  gbti_plant *plant;
  gbt_error *err;
  size_t learner, param, objective, model, trees;
  int64_t n_features, n_outputs, n_trees, n_parallel, width; /* width: values of a leaf */
  double *weight;                                            /* of trees; NULL: 1 */
  int32_t *wholes;                                           /* room for the arrays of a tree: N_WHOLES times cap */
  double *numbers;                                           /* N_NUMBERS times cap */
  size_t cap_wholes, cap_numbers;
} xgb_reader;

/* ---- objectives ---- */

typedef enum xgb_link { LINK_NONE, LINK_LOGIT, LINK_LOG } xgb_link;

typedef struct xgb_objective {
  const char *name;
  gbt_objective_kind kind; /* whose responses are XGBoost's; GBT_OBJ_CUSTOM: raw scores */
  xgb_link base;           /* from the base score in the file to that of scores */
  const char *group, *key; /* where its parameter is; or NULL */
} xgb_objective;

static const xgb_objective objectives[] = {
    {"reg:squarederror", GBT_OBJ_SQUARED_ERROR, LINK_NONE, NULL, NULL},
    {"reg:linear", GBT_OBJ_SQUARED_ERROR, LINK_NONE, NULL, NULL},
    {"reg:squaredlogerror", GBT_OBJ_CUSTOM, LINK_NONE, NULL, NULL},
    {"reg:pseudohubererror", GBT_OBJ_PSEUDO_HUBER, LINK_NONE, "pseudo_huber_param", "huber_slope"},
    {"reg:absoluteerror", GBT_OBJ_ABSOLUTE_ERROR, LINK_NONE, NULL, NULL},
    {"reg:quantileerror", GBT_OBJ_QUANTILE, LINK_NONE, "quantile_loss_param", "quantile_alpha"},
    {"reg:expectileerror", GBT_OBJ_CUSTOM, LINK_NONE, NULL, NULL},
    {"binary:logistic", GBT_OBJ_LOGISTIC, LINK_LOGIT, NULL, NULL},
    {"reg:logistic", GBT_OBJ_LOGISTIC, LINK_LOGIT, NULL, NULL},
    {"binary:logitraw", GBT_OBJ_CUSTOM, LINK_LOGIT, NULL, NULL},
    {"binary:hinge", GBT_OBJ_CUSTOM, LINK_NONE, NULL, NULL},
    {"multi:softprob", GBT_OBJ_SOFTMAX, LINK_NONE, NULL, NULL},
    {"multi:softmax", GBT_OBJ_SOFTMAX, LINK_NONE, NULL, NULL},
    {"count:poisson", GBT_OBJ_POISSON, LINK_LOG, NULL, NULL},
    {"reg:gamma", GBT_OBJ_GAMMA, LINK_LOG, NULL, NULL},
    {"reg:tweedie", GBT_OBJ_TWEEDIE, LINK_LOG, "tweedie_regression_param", "tweedie_variance_power"},
    {"survival:cox", GBT_OBJ_COX, LINK_LOG, NULL, NULL},
    {"survival:aft", GBT_OBJ_AFT, LINK_LOG, "aft_loss_param", "aft_loss_distribution_scale"},
    {"rank:ndcg", GBT_OBJ_RANK_NDCG, LINK_NONE, NULL, NULL},
    {"rank:map", GBT_OBJ_RANK_MAP, LINK_NONE, NULL, NULL},
    {"rank:pairwise", GBT_OBJ_RANK_PAIRWISE, LINK_NONE, NULL, NULL},
};

static size_t get(const xgb_reader *r, size_t object, const char *key) { return gbti_get(r->doc, object, key); }

/* NULL for an objective of the user's own or one that is not known: scores are all that there is. */
static const xgb_objective *objective_of(const xgb_reader *r) {
  for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
    if (gbti_text_is(r->doc, get(r, r->objective, "name"), objectives[i].name)) return &objectives[i];
  return NULL;
}

/* The first number of "0.5", or of "[5E-1,..]". */
static int first_number(const char *text, double *out) {
  if (*text == '[') text++;
  const gbti_decimal d = gbti_read_decimal(text, strlen(text));
  *out = d.nearest;
  return d.n > 0;
}

/* The levels of "[1E-1,5E-1]", if there is an ascending one for each output; else scores are all that there is. */
static int read_quantiles(const char *text, int64_t n_outputs, gbt_import_facts *facts) {
  int32_t n = 0;
  if (*text++ != '[' || n_outputs > GBT_MOST_LEVELS) return 0;
  for (; n < n_outputs; n++) {
    const gbti_decimal d = gbti_read_decimal(text, strlen(text));
    if (d.n == 0 || !(d.nearest > (n == 0 ? 0.0 : facts->level[n - 1]) && d.nearest < 1.0)) return 0;
    facts->level[n] = d.nearest;
    text += d.n;
    if (*text++ != (n + 1 < n_outputs ? ',' : ']')) return 0;
  }
  facts->n_levels = n;
  return 1;
}

static gbt_status read_parameter(xgb_reader *r, const xgb_objective *o, gbt_import_facts *facts) {
  gbt_objective *to = &r->plant->objective;
  const char *text;
  const size_t group = o->group == NULL ? GBTI_NO_VALUE : get(r, r->objective, o->group);
  const int at = to->kind == GBT_OBJ_AFT ? 1 : 0; /* aft_dist, aft_scale */
  double x = 0.0;
  if (get(r, group, o->key) == GBTI_NO_VALUE) return GBT_OK;
  GBT_TRY(gbti_text(r->doc, get(r, group, o->key), o->key, &text));
  if (!first_number(text, &x)) return gbti_document_fault(r->doc, "a parameter of the objective is not a number");
  gbti_set_parameter(r->plant, at, o->key, x, facts);
  if (to->kind != GBT_OBJ_AFT) return GBT_OK;
  const size_t dist = get(r, group, "aft_loss_distribution");
  to->param[0] = gbti_text_is(r->doc, dist, "extreme") ? 2.0 : gbti_text_is(r->doc, dist, "logistic") ? 1.0 : 0.0;
  return GBT_OK;
}

static gbt_status read_objective(xgb_reader *r, const xgb_objective *o, gbt_import_facts *facts) {
  const char *text;
  gbt_objective_kind kind = o == NULL ? GBT_OBJ_CUSTOM : o->kind;
  const size_t name = get(r, r->objective, "name");
  if (name != GBTI_NO_VALUE) {
    GBT_TRY(gbti_text(r->doc, name, "objective", &text));
    snprintf(facts->objective, sizeof facts->objective, "%s", text);
  }
  const gbt_objective_info *info = gbt_objective_info_of((int32_t)kind);
  if (info->outputs == GBT_OUTPUTS_ONE && r->n_outputs > 1) kind = GBT_OBJ_CUSTOM; /* a score for each response */
  if (info->outputs == GBT_OUTPUTS_CLASSES && r->n_outputs < 2) kind = GBT_OBJ_CUSTOM;
  facts->raw_only = o != NULL && (strcmp(o->name, "binary:hinge") == 0 || (kind != o->kind && o->base != LINK_NONE));
  if (kind == GBT_OBJ_QUANTILE && r->n_outputs > 1) {
    GBT_TRY(gbti_text(r->doc, get(r, get(r, r->objective, o->group), o->key), o->key, &text));
    if (!read_quantiles(text, (int64_t)r->n_outputs, facts)) kind = GBT_OBJ_CUSTOM;
  }
  r->plant->objective = gbt_objective_make(kind, (int32_t)r->n_outputs);
  return kind == GBT_OBJ_CUSTOM || o->group == NULL ? GBT_OK : read_parameter(r, o, facts);
}

/* ---- the base score ---- */

static double to_f32(double x) { return (double)(float)x; }

/* As XGBoost computes it, in float32. (The logarithm is that of a double, rounded: a float32 logarithm of another
 * library can differ in the last bit.) */
static double link_of(xgb_link link, double p) {
  if (link == LINK_LOGIT) return to_f32(-gbt_log(to_f32(to_f32(1.0 / p) - 1.0)));
  return link == LINK_LOG ? to_f32(gbt_log(p)) : p;
}

static gbt_status read_base(xgb_reader *r, xgb_link link) {
  const char *text = "0.5";
  double *base;
  int64_t n = 0;
  GBT_TRY(gbt_mem_zeros(&r->plant->mem, (size_t)r->n_outputs, sizeof *base, &base, r->err));
  r->plant->base = base;
  if (get(r, r->param, "base_score") != GBTI_NO_VALUE)
    GBT_TRY(gbti_text(r->doc, get(r, r->param, "base_score"), "base_score", &text));
  const int list = *text == '[';
  for (text += list; n < r->n_outputs;) {
    const gbti_decimal d = gbti_read_decimal(text, strlen(text));
    if (d.n == 0) break;
    base[n++] = (double)d.nearest_f32;
    text += d.n;
    if (*text != ',') break;
    text++;
  }
  if (strcmp(text, list ? "]" : "") != 0 || (n != 1 && n != r->n_outputs))
    return gbti_document_fault(r->doc, "`base_score` must have a number for each score");
  for (int64_t k = 0; k < r->n_outputs; k++) {
    if (n == 1) base[k] = base[0];
    const double p = base[k];
    const int fits = link == LINK_NONE || (p > 0.0 && (link == LINK_LOG || p < 1.0));
    if (p - p != 0.0 || !fits) return gbti_document_fault(r->doc, "`base_score` is out of range");
  }
  for (int64_t k = 0; k < r->n_outputs; k++) base[k] = link_of(link, base[k]);
  return GBT_OK;
}

/* ---- columns ---- */

static gbt_status read_names(xgb_reader *r) {
  const size_t names = get(r, r->learner, "feature_names");
  const char *text;
  const int64_t n = gbti_count(r->doc, names);
  if (n <= 0) return GBT_OK;
  if (n != r->n_features) return gbti_document_fault(r->doc, "the number of feature names is wrong");
  size_t at = gbti_first(r->doc, names);
  for (int32_t c = 0; c < (int32_t)n; c++, at = gbti_next(r->doc, at)) {
    if (gbti_kind_of(r->doc, names) != GBTI_VALUE_ARRAY)
      return gbti_document_fault(r->doc, "`feature_names` are not strings");
    GBT_TRY(gbti_text(r->doc, at, "feature_names", &text));
    GBT_TRY(gbti_name_column(r->plant, c, text));
  }
  return GBT_OK;
}

/* Columns of type "c" are categories. */
static gbt_status read_types(xgb_reader *r) {
  const size_t types = get(r, r->learner, "feature_types");
  const int64_t n = gbti_count(r->doc, types);
  if (n <= 0 || gbti_kind_of(r->doc, types) != GBTI_VALUE_ARRAY) return GBT_OK;
  if (n != r->n_features) return gbti_document_fault(r->doc, "the number of feature types is wrong");
  size_t at = gbti_first(r->doc, types);
  for (int64_t c = 0; c < n; c++, at = gbti_next(r->doc, at))
    if (gbti_text_is(r->doc, at, "c")) r->plant->column[c].categorical = r->plant->column[c].by_code = 1;
  return GBT_OK;
}

/* The texts of a column's levels: bytes as numbers of 8 bits with a sign, and where each text begins and the last ends.
 */
static gbt_status read_levels(xgb_reader *r, int32_t c, size_t enc) {
  const gbt_mem *mem = &r->plant->mem;
  const size_t at = get(r, enc, "offsets"), values = get(r, enc, "values");
  const int64_t n = gbti_count(r->doc, at), n_bytes = gbti_count(r->doc, values);
  int32_t *offset = NULL, *byte = NULL;
  char *text = NULL;
  gbt_status status;
  if (n < 2) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n, sizeof *offset, &offset, r->err), done);
  GBT_TRY_GOTO(gbti_wholes(r->doc, at, "offsets", n, 0, INT32_MAX, offset), done);
  if (n_bytes < 0) {
    status = gbti_not_offered(r->plant, "levels of a column are numbers, not texts");
    goto done;
  }
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n_bytes, sizeof *byte, &byte, r->err), done);
  GBT_TRY_GOTO(gbti_wholes(r->doc, values, "values", n_bytes, -128, 255, byte), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, (size_t)n_bytes + 1, 1, &text, r->err), done);
  for (int64_t i = 0; i + 1 < n; i++) {
    const int64_t beg = offset[i], end = offset[i + 1];
    if (beg > end || end > n_bytes) {
      status = gbti_document_fault(r->doc, "the texts of levels are not where they must be");
      goto done;
    }
    for (int64_t k = beg; k < end; k++) {
      text[k - beg] = (char)(uint8_t)byte[k];
      if (text[k - beg] == 0) {
        status = gbti_document_fault(r->doc, "a level has a zero byte");
        goto done;
      }
    }
    text[end - beg] = 0;
    GBT_TRY_GOTO(gbti_add_level(r->plant, c, text), done);
  }
  r->plant->column[c].by_code = 0;
done:
  gbt_mem_free(mem, offset);
  gbt_mem_free(mem, byte);
  gbt_mem_free(mem, text);
  return status;
}

static gbt_status read_columns(xgb_reader *r) {
  GBT_TRY(gbti_plant_columns(r->plant, r->n_features));
  GBT_TRY(read_names(r));
  GBT_TRY(read_types(r));
  const size_t enc = get(r, get(r, r->model, "cats"), "enc");
  const int64_t n = gbti_count(r->doc, enc);
  if (n <= 0 || gbti_kind_of(r->doc, enc) != GBTI_VALUE_ARRAY) return GBT_OK;
  if (n != r->n_features) return gbti_document_fault(r->doc, "the number of lists of levels is wrong");
  size_t at = gbti_first(r->doc, enc);
  for (int32_t c = 0; c < (int32_t)n; c++, at = gbti_next(r->doc, at))
    if (r->plant->column[c].categorical) GBT_TRY(read_levels(r, c, at));
  return GBT_OK;
}

/* ---- trees ---- */

enum { LEFT, RIGHT, FEATURE, DEFAULT_LEFT, IS_SET, SET, SET_BEG, SET_N, N_WHOLES };
enum { CONDITION, GAIN, COVER, N_NUMBERS };

static int32_t *wholes_of(const xgb_reader *r, int k) { return r->wholes + (size_t)k * (r->cap_wholes / N_WHOLES); }
static double *numbers_of(const xgb_reader *r, int k) { return r->numbers + (size_t)k * (r->cap_numbers / N_NUMBERS); }

static gbt_status make_room(xgb_reader *r, size_t n) {
  const gbt_mem *mem = &r->plant->mem;
  GBT_TRY(gbt_mem_grow(mem, &r->wholes, &r->cap_wholes, n * N_WHOLES, sizeof *r->wholes, r->err));
  return gbt_mem_grow(mem, &r->numbers, &r->cap_numbers, n * N_NUMBERS, sizeof *r->numbers, r->err);
}

/* Arrays that older versions do not have are zeros. */
static gbt_status read_arrays(xgb_reader *r, size_t tree, int64_t n, int64_t n_sets) {
  static const char *const name[] = {"left_children", "right_children",   "split_indices",       "default_left",
                                     "split_type",    "categories_nodes", "categories_segments", "categories_sizes"};
  static const char *const number[] = {"split_conditions", "loss_changes", "sum_hessian"};
  for (int k = 0; k < N_WHOLES; k++) {
    const size_t at = get(r, tree, name[k]);
    const int64_t m = k < SET ? n : n_sets;
    const int64_t most = k == IS_SET || k == DEFAULT_LEFT ? 1 : INT32_MAX;
    if (at == GBTI_NO_VALUE && k >= IS_SET)
      memset(wholes_of(r, k), 0, (size_t)m * sizeof *r->wholes);
    else
      GBT_TRY(gbti_wholes(r->doc, at, name[k], m, k == LEFT || k == RIGHT ? -1 : 0, most, wholes_of(r, k)));
  }
  for (int k = 0; k < N_NUMBERS; k++)
    GBT_TRY(gbti_numbers(r->doc, get(r, tree, number[k]), number[k], n, 1, numbers_of(r, k)));
  return GBT_OK;
}

/* The codes of all sets of a tree, and to which nodes they belong. */
static gbt_status read_sets(xgb_reader *r, size_t tree, int64_t n, int64_t n_sets) {
  const size_t values = get(r, tree, "categories");
  const int64_t n_codes = gbti_count(r->doc, values) < 0 ? 0 : gbti_count(r->doc, values);
  const size_t first = r->plant->n_codes;
  int32_t *code;
  GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)n_codes, sizeof *code, &code, r->err));
  gbt_status status = n_codes > 0 ? gbti_wholes(r->doc, values, "categories", n_codes, 0, INT32_MAX, code) : GBT_OK;
  for (int64_t i = 0; status == GBT_OK && i < n_codes; i++) status = gbti_add_code(r->plant, code[i]);
  gbt_mem_free(&r->plant->mem, code);
  GBT_TRY(status);
  for (int64_t i = 0; i < n_sets; i++) {
    const int64_t node = wholes_of(r, SET)[i], beg = wholes_of(r, SET_BEG)[i], size = wholes_of(r, SET_N)[i];
    if (node >= n || beg > n_codes || size > n_codes - beg)
      return gbti_tree_fault(r->plant, "a set is not where it must be");
    r->plant->node[node].set_beg = first + (size_t)beg;
    r->plant->node[node].set_n = (size_t)size;
  }
  return GBT_OK;
}

/* Values of leaves that have several: rows of leaf_weights, whose number the leaf has as its right child. */
static gbt_status read_vectors(xgb_reader *r, size_t tree, int64_t n) {
  gbti_plant *p = r->plant;
  const size_t at = get(r, tree, "leaf_weights");
  const int64_t m = gbti_count(r->doc, at), n_rows = m / r->width;
  const size_t first = p->n_values;
  if (at == GBTI_NO_VALUE)
    return gbti_not_offered(p, "its leaves hold several values in the form of versions before 3.1");
  if (m < 0 || m % r->width != 0) return gbti_tree_fault(p, "values of leaves are missing");
  GBT_TRY(gbt_mem_grow(&p->mem, &p->values, &p->cap_values, first + (size_t)m, sizeof *p->values, r->err));
  GBT_TRY(gbti_numbers(r->doc, at, "leaf_weights", m, 1, p->values + first));
  p->n_values = first + (size_t)m;
  for (int64_t i = 0; i < n; i++) {
    const int32_t row = wholes_of(r, RIGHT)[i];
    if (wholes_of(r, LEFT)[i] >= 0) continue;
    if (row < 0 || row >= n_rows) return gbti_tree_fault(p, "the values of a leaf do not exist");
    p->node[i].vector = first + (size_t)row * (size_t)r->width;
  }
  return GBT_OK;
}

static void fill_node(const xgb_reader *r, int64_t i, double weight) {
  gbti_new_node *node = &r->plant->node[i];
  const double x = numbers_of(r, CONDITION)[i];
  node->gain = numbers_of(r, GAIN)[i];
  node->cover = numbers_of(r, COVER)[i];
  node->left = wholes_of(r, LEFT)[i];
  node->right = wholes_of(r, RIGHT)[i];
  if (node->left < 0) {
    node->value = to_f32(x * weight);
    return;
  }
  const int missing_left = wholes_of(r, DEFAULT_LEFT)[i];
  node->feature = wholes_of(r, FEATURE)[i];
  /* a number above all categories: a set that has none */
  const int no_category =
      node->feature < r->plant->n_columns && r->plant->column[node->feature].categorical && x >= 16777216.0;
  if (!wholes_of(r, IS_SET)[i] && !no_category) {
    node->flags = missing_left ? GBT_NODE_MISSING_LEFT : 0;
    node->value = x == x ? gbti_below_f32((float)x, 0) : x;
    return;
  }
  node->flags = GBT_NODE_CATEGORICAL | (missing_left ? 0 : GBT_NODE_MISSING_LEFT); /* children change sides */
  node->right = node->left;
  node->left = wholes_of(r, RIGHT)[i] < 0 ? INT64_MAX : wholes_of(r, RIGHT)[i]; /* no child: refused as such */
}

static gbt_status read_tree(xgb_reader *r, size_t tree, double weight) {
  gbti_plant *p = r->plant;
  const int64_t n = gbti_count(r->doc, get(r, tree, "left_children"));
  const size_t sets = get(r, tree, "categories_nodes");
  const int64_t n_sets = gbti_count(r->doc, sets) < 0 ? 0 : gbti_count(r->doc, sets);
  int64_t width = 1;
  if (n < 1) return gbti_tree_fault(p, "it has no nodes");
  const size_t said = get(r, get(r, tree, "tree_param"), "size_leaf_vector");
  if (said != GBTI_NO_VALUE) GBT_TRY(gbti_whole(r->doc, said, "size_leaf_vector", 0, INT32_MAX, &width));
  if ((width > 1 ? width : 1) != r->width)
    return gbti_tree_fault(p, "its leaves hold a different number of values than those of other trees");
  GBT_TRY(make_room(r, (size_t)(n > n_sets ? n : n_sets)));
  GBT_TRY(read_arrays(r, tree, n, n_sets));
  GBT_TRY(gbti_clear_nodes(p, (size_t)n));
  GBT_TRY(read_sets(r, tree, n, n_sets));
  if (r->width > 1) GBT_TRY(read_vectors(r, tree, n));
  for (int64_t i = 0; i < n; i++) fill_node(r, i, weight);
  return gbti_plant_tree(p);
}

/* The file may say where each round begins. */
static gbt_status check_rounds(xgb_reader *r, int64_t per_round) {
  const size_t begs = get(r, r->model, "iteration_indptr");
  const int64_t n = gbti_count(r->doc, begs);
  int32_t *beg;
  if (n <= 0) return GBT_OK;
  GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)n, sizeof *beg, &beg, r->err));
  gbt_status status = gbti_wholes(r->doc, begs, "iteration_indptr", n, 0, INT32_MAX, beg);
  if (status == GBT_OK && (n - 1) * per_round != r->n_trees)
    status = gbti_document_fault(r->doc, "`iteration_indptr` is of another number of trees");
  for (int64_t i = 0; status == GBT_OK && i < n; i++)
    if (beg[i] != i * per_round) status = gbti_not_offered(r->plant, "its rounds have different numbers of trees");
  gbt_mem_free(&r->plant->mem, beg);
  return status;
}

/* Trees must be in the order of rounds, outputs and parallel trees, as training leaves them. */
static gbt_status check_order(xgb_reader *r) {
  const size_t info = get(r, r->model, "tree_info");
  const int64_t per_round = (r->width > 1 ? 1 : r->n_outputs) * r->n_parallel;
  int32_t *output;
  if (r->n_trees % per_round != 0) return gbti_not_offered(r->plant, "its last round lacks trees");
  GBT_TRY(check_rounds(r, per_round));
  GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)r->n_trees, sizeof *output, &output, r->err));
  gbt_status status = gbti_wholes(r->doc, info, "tree_info", r->n_trees, 0, INT32_MAX, output);
  for (int64_t t = 0; status == GBT_OK && t < r->n_trees; t++) {
    const int64_t is = r->width > 1 ? 0 : t % per_round / r->n_parallel;
    if (output[t] != is) status = gbti_not_offered(r->plant, "its trees are not in the order of rounds and scores");
  }
  gbt_mem_free(&r->plant->mem, output);
  return status;
}

/* How many values the leaves of the first tree have: all must have as many. */
static gbt_status read_width(xgb_reader *r) {
  r->width = 1;
  if (r->n_trees == 0) return GBT_OK;
  const size_t first = gbti_first(r->doc, r->trees);
  const size_t said = get(r, get(r, first, "tree_param"), "size_leaf_vector");
  if (said != GBTI_NO_VALUE) GBT_TRY(gbti_whole(r->doc, said, "size_leaf_vector", 0, INT32_MAX, &r->width));
  if (r->width < 1) r->width = 1;
  if (r->width > 1 && r->width != r->n_outputs)
    return gbti_document_fault(r->doc, "leaves do not hold a value for each score");
  r->plant->n_leaf_outputs = (int32_t)r->width;
  return GBT_OK;
}

static gbt_status read_trees(xgb_reader *r) {
  GBT_TRY(read_width(r));
  GBT_TRY(check_order(r));
  size_t at = gbti_first(r->doc, r->trees);
  for (int64_t t = 0; t < r->n_trees; t++, at = gbti_next(r->doc, at))
    GBT_TRY(read_tree(r, at, r->weight == NULL ? 1.0 : r->weight[t]));
  return GBT_OK;
}

/* ---- the file ---- */

static gbt_status read_sizes(xgb_reader *r) {
  int64_t n_class = 0, n_target = 1, n_said = 0;
  const size_t target = get(r, r->param, "num_target"), class = get(r, r->param, "num_class");
  const size_t param = get(r, r->model, "gbtree_model_param"), parallel = get(r, param, "num_parallel_tree");
  const size_t said = get(r, param, "num_trees");
  GBT_TRY(gbti_whole(r->doc, get(r, r->param, "num_feature"), "num_feature", 0, INT32_MAX, &r->n_features));
  if (class != GBTI_NO_VALUE) GBT_TRY(gbti_whole(r->doc, class, "num_class", 0, INT32_MAX, &n_class));
  if (target != GBTI_NO_VALUE) GBT_TRY(gbti_whole(r->doc, target, "num_target", 0, INT32_MAX, &n_target));
  r->n_outputs = n_class > n_target ? n_class : n_target > 1 ? n_target : 1;
  r->n_parallel = 1;
  if (parallel != GBTI_NO_VALUE)
    GBT_TRY(gbti_whole(r->doc, parallel, "num_parallel_tree", 0, INT32_MAX, &r->n_parallel));
  if (r->n_parallel < 1) r->n_parallel = 1;
  if (r->n_outputs > (int64_t)r->doc->n_bytes || r->n_features > (int64_t)r->doc->n_bytes ||
      r->n_outputs * r->n_parallel > INT32_MAX)
    return gbti_document_fault(r->doc, "a number of features, scores or trees is out of range");
  r->plant->n_parallel = (int32_t)r->n_parallel;
  r->trees = get(r, r->model, "trees");
  r->n_trees = gbti_count(r->doc, r->trees);
  if (r->n_trees < 0 || gbti_kind_of(r->doc, r->trees) != GBTI_VALUE_ARRAY)
    return gbti_document_fault(r->doc, "there are no trees");
  if (said != GBTI_NO_VALUE) GBT_TRY(gbti_whole(r->doc, said, "num_trees", 0, INT32_MAX, &n_said));
  if (said != GBTI_NO_VALUE && n_said != r->n_trees)
    return gbti_document_fault(r->doc, "`num_trees` is not the number of its trees");
  return GBT_OK;
}

static gbt_status read_booster(xgb_reader *r) {
  const size_t booster = get(r, r->learner, "gradient_booster");
  const size_t name = get(r, booster, "name");
  r->model = get(r, booster, "model");
  if (gbti_text_is(r->doc, name, "gbtree")) return GBT_OK;
  if (gbti_text_is(r->doc, name, "gblinear"))
    return gbti_not_offered(r->plant, "its booster is \"gblinear\", a linear model without trees");
  if (!gbti_text_is(r->doc, name, "dart")) return gbti_document_fault(r->doc, "its booster is not known");
  r->model = get(r, get(r, booster, "gbtree"), "model");
  return GBT_OK;
}

static gbt_status read_weights(xgb_reader *r) {
  const size_t drop = get(r, get(r, r->learner, "gradient_booster"), "weight_drop");
  if (drop == GBTI_NO_VALUE) return GBT_OK;
  GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)r->n_trees, sizeof *r->weight, &r->weight, r->err));
  return gbti_numbers(r->doc, drop, "weight_drop", r->n_trees, 1, r->weight);
}

/* The version "3.2.0", and the round at which XGBoost's predict() in R stops. */
static gbt_status read_facts(xgb_reader *r, gbt_import_facts *facts) {
  const size_t version = gbti_get(r->doc, 0, "version");
  const size_t best = get(r, get(r, r->learner, "attributes"), "best_iteration");
  const int64_t rounds = r->n_trees / ((r->width > 1 ? 1 : r->n_outputs) * r->n_parallel);
  int32_t v[3];
  memcpy(facts->program, "XGBoost", sizeof "XGBoost");
  if (gbti_count(r->doc, version) == 3 && gbti_wholes(r->doc, version, "version", 3, 0, 999, v) == GBT_OK)
    snprintf(facts->version, sizeof facts->version, "%d.%d.%d", (int)v[0], (int)v[1], (int)v[2]);
  if (best != GBTI_NO_VALUE) {
    GBT_TRY(gbti_whole(r->doc, best, "best_iteration", 0, INT32_MAX, &facts->best_round));
    if (facts->best_round < rounds) facts->best_round++;
  }
  if (facts->best_round > rounds) facts->best_round = 0;
  facts->has_gain = facts->has_cover = 1;
  return GBT_OK;
}

static gbt_status read_all(xgb_reader *r, gbt_import_facts *facts) {
  r->learner = gbti_get(r->doc, 0, "learner");
  r->param = get(r, r->learner, "learner_model_param");
  r->objective = get(r, r->learner, "objective");
  const xgb_objective *objective = objective_of(r);
  GBT_TRY(read_booster(r));
  GBT_TRY(read_sizes(r));
  GBT_TRY(read_objective(r, objective, facts));
  GBT_TRY(read_base(r, objective == NULL ? LINK_NONE : objective->base));
  GBT_TRY(read_columns(r));
  GBT_TRY(read_weights(r));
  GBT_TRY(read_trees(r));
  return read_facts(r, facts);
}

gbt_status gbti_read_xgboost(gbti_document *doc, gbti_plant *plant, gbt_import_facts *facts) {
  xgb_reader r = {.doc = doc, .plant = plant, .err = plant->err};
  doc->program = plant->program = "XGBoost";
  plant->sums.rule = GBT_SUM_FLOAT;
  gbt_status status = read_all(&r, facts);
  gbt_mem_free(&plant->mem, r.weight);
  gbt_mem_free(&plant->mem, r.wholes);
  gbt_mem_free(&plant->mem, r.numbers);
  return status;
}
