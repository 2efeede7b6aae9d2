/* LightGBM's text files, versions 2 to 4: lines of KEY=VALUE, a block for each tree, and at the end the texts of
 * pandas' categories.
 *
 *   header   feature_names, feature_infos ([min:max] of numbers, a:b:c of categories), objective, average_output
 *   tree     arrays of its splits and of its leaves; a child c >= 0 is a split, ~c a leaf
 *
 * Numbers are doubles. A split by a number has a type of missing value:
 *
 *   none   NaN is 0          NaN   goes to the default side          zero   |x| <= 1e-35, and NaN: likewise
 *
 * Zeros that are missing belong to the column: its tag says so, and the host makes missing values of them. */
#include "readers.h"

#include <stdio.h>
#include <string.h>

#include "../base/bits.h"
#include "decimal.h"

typedef struct text_part {
  const char *at;
  size_t n;
} text_part;

typedef struct lgb_reader {
  gbti_plant *plant;
  gbt_error *err;
  const char *next, *end; /* what is not yet read */
  text_part objective, names, infos, sizes;
  int64_t n_features, n_outputs;
  int averages;
  int8_t *missing; /* by feature: the type of its splits, -1: none yet */
  uint8_t *linear_in; /* by feature: whether leaves are linear in it */
  double *numbers; /* room for an array of a tree */
  size_t cap_numbers;
} lgb_reader;

static gbt_status fault(const lgb_reader *r, const char *what) {
  return gbt_fail(r->err, GBT_E_FORMAT, "the LightGBM file is damaged, or from an unknown version: %s", what);
}

/* ---- texts ---- */

static int is_text(text_part part, const char *text) {
  return part.n == strlen(text) && memcmp(part.at, text, part.n) == 0;
}

/* 1, and the line without its end, when there is one. */
static int take_line(lgb_reader *r, text_part *line) {
  if (r->next == r->end) return 0;
  const char *stop = memchr(r->next, '\n', (size_t)(r->end - r->next));
  line->at = r->next;
  line->n = (size_t)((stop == NULL ? r->end : stop) - r->next);
  r->next = stop == NULL ? r->end : stop + 1;
  if (line->n > 0 && line->at[line->n - 1] == '\r') line->n--;
  return 1;
}

/* The value of a line "KEY=VALUE". */
static int value_of(text_part line, const char *key, text_part *value) {
  const size_t n = strlen(key);
  if (line.n <= n || memcmp(line.at, key, n) != 0 || line.at[n] != '=') return 0;
  value->at = line.at + n + 1;
  value->n = line.n - n - 1;
  return 1;
}

/* The next word of a text, which it is taken from. */
static int take_word(text_part *text, text_part *word) {
  while (text->n > 0 && *text->at == ' ') text->at++, text->n--;
  word->at = text->at;
  word->n = 0;
  while (text->n > 0 && *text->at != ' ') text->at++, text->n--, word->n++;
  return word->n > 0;
}

static gbt_status bad_array(const lgb_reader *r, const char *key) {
  return gbt_fail(r->err, GBT_E_FORMAT, "the LightGBM file is damaged: tree %llu: `%s` has an unexpected value or type",
                  (unsigned long long)r->plant->n_trees + 1, key);
}

/* n numbers, and no more. Thresholds may be infinite. */
static gbt_status read_numbers(const lgb_reader *r, text_part text, const char *key, size_t n, double *out) {
  text_part word;
  for (size_t i = 0; i < n; i++) {
    if (!take_word(&text, &word)) return bad_array(r, key);
    if (is_text(word, "inf") || is_text(word, "-inf")) {
      out[i] = gbt_from_bits((uint64_t)(*word.at == '-' ? 0xfff : 0x7ff) << 52);
      continue;
    }
    const gbti_decimal d = gbti_read_decimal(word.at, word.n);
    if (d.n != word.n) return bad_array(r, key);
    out[i] = d.nearest;
  }
  return take_word(&text, &word) ? bad_array(r, key) : GBT_OK;
}

static gbt_status read_whole(const lgb_reader *r, text_part text, const char *what, int64_t most, int64_t *out) {
  const gbti_decimal d = gbti_read_decimal(text.at, text.n);
  if (d.n == 0 || d.n != text.n || !(d.nearest >= 0.0 && d.nearest <= (double)most)) return fault(r, what);
  *out = (int64_t)d.nearest;
  return (double)*out == d.nearest ? GBT_OK : fault(r, what);
}

/* ---- the header ---- */

static gbt_status read_header(lgb_reader *r) {
  text_part line, value;
  int64_t most = -1;
  r->n_outputs = -1;
  for (;;) {
    const char *before = r->next;
    if (!take_line(r, &line)) return fault(r, "there are no trees");
    if (value_of(line, "Tree", &value) || is_text(line, "end of trees")) {
      r->next = before;
      break;
    }
    if (is_text(line, "average_output")) r->averages = 1;
    if (value_of(line, "objective", &value)) r->objective = value;
    if (value_of(line, "feature_names", &value)) r->names = value;
    if (value_of(line, "feature_infos", &value)) r->infos = value;
    if (value_of(line, "tree_sizes", &value)) r->sizes = value;
    if (value_of(line, "max_feature_idx", &value))
      GBT_TRY(read_whole(r, value, "`max_feature_idx` is not what it must be", (int64_t)(r->end - r->next), &most));
    if (value_of(line, "num_tree_per_iteration", &value))
      GBT_TRY(read_whole(r, value, "`num_tree_per_iteration` is not what it must be", (int64_t)(r->end - r->next),
                         &r->n_outputs));
  }
  r->n_features = most + 1;
  if (most < 0 || r->n_outputs < 1 || r->n_outputs > INT32_MAX)
    return fault(r, "`max_feature_idx` or `num_tree_per_iteration` is missing");
  return GBT_OK;
}

static gbt_status copy_of(const lgb_reader *r, text_part part, char **out) {
  GBT_TRY(gbt_mem_array(&r->plant->mem, part.n + 1, 1, out, r->err));
  memcpy(*out, part.at, part.n);
  (*out)[part.n] = 0;
  return memchr(*out, 0, part.n) == NULL ? GBT_OK : fault(r, "a name has a zero byte");
}

static gbt_status read_columns(lgb_reader *r) {
  text_part names = r->names, infos = r->infos, word;
  GBT_TRY(gbti_plant_columns(r->plant, r->n_features));
  GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)r->n_features, 1, &r->missing, r->err));
  memset(r->missing, -1, (size_t)r->n_features);
  GBT_TRY(gbt_mem_zeros(&r->plant->mem, (size_t)r->n_features, 1, &r->linear_in, r->err));
  for (int32_t c = 0; c < (int32_t)r->n_features; c++) {
    char *name = NULL;
    if (!take_word(&names, &word)) return fault(r, "the number of feature names is wrong");
    gbt_status status = copy_of(r, word, &name);
    if (status == GBT_OK) status = gbti_name_column(r->plant, c, name);
    gbt_mem_free(&r->plant->mem, name);
    GBT_TRY(status);
    if (!take_word(&infos, &word)) return fault(r, "`feature_infos` does not have all features");
    if (word.at[0] != '[' && !is_text(word, "none")) r->plant->column[c].categorical = r->plant->column[c].by_code = 1;
  }
  return take_word(&names, &word) ? gbti_not_offered(r->plant, "names of its features have spaces") : GBT_OK;
}

/* ---- objectives ---- */

typedef struct lgb_objective {
  const char *name;
  gbt_objective_kind kind; /* whose responses are LightGBM's; GBT_OBJ_CUSTOM: raw scores */
  const char *parameter;   /* its parameter, which has a line at the end of the file; or NULL */
} lgb_objective;

static const lgb_objective objectives[] = {{"regression", GBT_OBJ_SQUARED_ERROR, NULL},
                                           {"regression_l1", GBT_OBJ_ABSOLUTE_ERROR, NULL},
                                           {"huber", GBT_OBJ_HUBER, "alpha"},
                                           {"fair", GBT_OBJ_CUSTOM, NULL},
                                           {"poisson", GBT_OBJ_POISSON, NULL},
                                           {"quantile", GBT_OBJ_QUANTILE, "alpha"},
                                           {"mape", GBT_OBJ_MAPE, NULL},
                                           {"gamma", GBT_OBJ_GAMMA, NULL},
                                           {"tweedie", GBT_OBJ_TWEEDIE, "tweedie_variance_power"},
                                           {"binary", GBT_OBJ_LOGISTIC, NULL},
                                           {"multiclass", GBT_OBJ_SOFTMAX, NULL},
                                           {"cross_entropy", GBT_OBJ_CROSS_ENTROPY, NULL},
                                           {"lambdarank", GBT_OBJ_RANK_NDCG, NULL},
                                           {"rank_xendcg", GBT_OBJ_RANK_XENDCG, NULL}};

/* Those whose responses are not raw scores, and which gbt does not have. */
static int has_other_response(text_part name, int square_root) {
  return square_root || is_text(name, "multiclassova") || is_text(name, "cross_entropy_lambda");
}

/* The number behind a text in what is left of the file. */
static int find_number(const lgb_reader *r, const char *text, double *out) {
  const size_t n = strlen(text);
  for (const char *at = r->next; (size_t)(r->end - at) > n; at++) {
    at = memchr(at, *text, (size_t)(r->end - at) - n);
    if (at == NULL) return 0;
    if (memcmp(at, text, n) != 0) continue;
    const gbti_decimal d = gbti_read_decimal(at + n, (size_t)(r->end - at) - n);
    *out = d.nearest;
    return d.n > 0;
  }
  return 0;
}

/* Its line is "[alpha: 0.9]". */
static void read_parameter(const lgb_reader *r, const char *key, gbt_import_facts *facts) {
  char line[40];
  double x;
  if (key == NULL) return;
  snprintf(line, sizeof line, "\n[%s: ", key);
  if (find_number(r, line, &x)) gbti_set_parameter(r->plant, 0, key, x, facts);
}

/* After the trees, as parameters are behind them. */
static gbt_status read_objective(lgb_reader *r, gbt_import_facts *facts) {
  text_part words = r->objective, name, word;
  gbt_objective_kind kind = GBT_OBJ_CUSTOM;
  const char *parameter = NULL;
  double sigmoid = 1.0;
  int square_root = 0;
  take_word(&words, &name);
  while (take_word(&words, &word)) {
    square_root |= is_text(word, "sqrt");
    if (word.n > 8 && memcmp(word.at, "sigmoid:", 8) == 0) sigmoid = gbti_read_decimal(word.at + 8, word.n - 8).nearest;
  }
  for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
    if (is_text(name, objectives[i].name)) {
      kind = objectives[i].kind;
      parameter = objectives[i].parameter;
    }
  facts->raw_only = has_other_response(name, square_root);
  if (facts->raw_only) kind = GBT_OBJ_CUSTOM;
  const gbt_outputs_rule outputs = gbt_objective_info_of((int32_t)kind)->outputs;
  const int one = outputs == GBT_OUTPUTS_ONE || outputs == GBT_OUTPUTS_COLUMNS;
  if ((one && r->n_outputs > 1) || (outputs == GBT_OUTPUTS_CLASSES && r->n_outputs < 2))
    return fault(r, "its objective has another number of scores");
  snprintf(facts->objective, sizeof facts->objective, "%.*s", (int)(r->objective.n < 63 ? r->objective.n : 63),
           r->objective.n > 0 ? r->objective.at : "");
  r->plant->objective = gbt_objective_make(kind, (int32_t)r->n_outputs);
  read_parameter(r, parameter, facts);
  if (r->averages) r->plant->sums.rule = GBT_SUM_MEAN;
  if (kind != GBT_OBJ_LOGISTIC || sigmoid == 1.0) return GBT_OK;
  if (!(sigmoid > 0.0) || sigmoid - sigmoid != 0.0) return fault(r, "`sigmoid` is out of range");
  if (r->averages) return gbti_not_offered(r->plant, "it is a forest with a `sigmoid` other than 1");
  r->plant->sums = (gbt_sums){GBT_SUM_SCALED, sigmoid};
  return GBT_OK;
}

/* ---- trees ---- */

enum {
  FEATURE,
  GAIN,
  THRESHOLD,
  DECISION,
  LEFT,
  RIGHT,
  VALUE,
  LEAF_WEIGHT,
  LEAF_COUNT,
  WEIGHT,
  COUNT,
  BOUNDARIES,
  WORDS,
  CONST,
  N_USED,
  USED,
  COEFFICIENT,
  N_KEYS
};
static const char *const keys[N_KEYS] = {"split_feature", "split_gain",      "threshold",      "decision_type",
                                         "left_child",    "right_child",     "leaf_value",     "leaf_weight",
                                         "leaf_count",    "internal_weight", "internal_count", "cat_boundaries",
                                         "cat_threshold", "leaf_const",      "num_features",   "leaf_features",
                                         "leaf_coeff"};

typedef struct lgb_tree {
  text_part value[N_KEYS];
  int64_t n_leaves, n_sets, is_linear;
  size_t n_words;
} lgb_tree;

/* The lines of a tree, to the next one. */
static gbt_status read_lines(lgb_reader *r, lgb_tree *tree) {
  text_part line, value;
  memset(tree, 0, sizeof *tree);
  for (;;) {
    const char *before = r->next;
    if (!take_line(r, &line)) return fault(r, "the file ends within a tree");
    if (value_of(line, "Tree", &value) || is_text(line, "end of trees")) {
      r->next = before;
      break;
    }
    if (value_of(line, "num_leaves", &value))
      GBT_TRY(read_whole(r, value, "`num_leaves` is not what it must be", INT32_MAX / 2, &tree->n_leaves));
    if (value_of(line, "num_cat", &value))
      GBT_TRY(read_whole(r, value, "`num_cat` is not what it must be", INT32_MAX / 2, &tree->n_sets));
    if (value_of(line, "is_linear", &value))
      GBT_TRY(read_whole(r, value, "`is_linear` is not what it must be", 1, &tree->is_linear));
    for (int k = 0; k < N_KEYS; k++)
      if (value_of(line, keys[k], &value)) tree->value[k] = value;
  }
  if (tree->n_leaves < 1 || (size_t)tree->n_leaves > tree->value[VALUE].n + 1)
    return gbti_tree_fault(r->plant, "it has no leaves, or fewer than it says");
  if ((size_t)tree->n_sets > tree->value[BOUNDARIES].n)
    return gbti_tree_fault(r->plant, "it has fewer sets than it says");
  return GBT_OK;
}

/* An array of a tree to r->numbers. Those that may be empty are zeros then. */
static gbt_status read_array(lgb_reader *r, const lgb_tree *tree, int key, int64_t n, int may_be_empty) {
  GBT_TRY(gbt_mem_grow(&r->plant->mem, &r->numbers, &r->cap_numbers, (size_t)n + 1, sizeof *r->numbers, r->err));
  for (int64_t i = 0; i < n; i++) r->numbers[i] = 0.0;
  if (may_be_empty && tree->value[key].n == 0) return GBT_OK;
  return read_numbers(r, tree->value[key], keys[key], (size_t)n, r->numbers);
}

static int is_whole_in(double x, double least, double most) {
  return x >= least && x <= most && x == (double)(int64_t)x;
}

static gbt_status read_children(lgb_reader *r, const lgb_tree *tree) {
  const int64_t n = tree->n_leaves - 1;
  for (int side = 0; side < 2; side++) {
    const int key = side == 0 ? LEFT : RIGHT;
    GBT_TRY(read_array(r, tree, key, n, n == 0));
    for (int64_t i = 0; i < n; i++) {
      const double x = r->numbers[i];
      if (!is_whole_in(x, -(double)tree->n_leaves, (double)n - 1.0)) return bad_array(r, keys[key]);
      const int64_t child = x >= 0.0 ? (int64_t)x : n + (-1 - (int64_t)x);
      *(side == 0 ? &r->plant->node[i].left : &r->plant->node[i].right) = child;
    }
  }
  return GBT_OK;
}

/* The bits of the sets, as codes; set i: those from beg[i] to beg[i + 1]. */
static gbt_status read_sets(lgb_reader *r, const lgb_tree *tree, size_t *beg) {
  int64_t from = 0;
  int64_t *word_at;
  GBT_TRY(read_array(r, tree, BOUNDARIES, tree->n_sets + 1, 0));
  GBT_TRY(gbt_mem_array(&r->plant->mem, (size_t)tree->n_sets + 1, sizeof *word_at, &word_at, r->err));
  gbt_status status = GBT_OK;
  for (int64_t i = 0; status == GBT_OK && i <= tree->n_sets; i++) {
    const double x = r->numbers[i];
    if (!is_whole_in(x, i == 0 ? 0.0 : (double)from, i == 0 ? 0.0 : (double)tree->value[WORDS].n + 1.0))
      status = bad_array(r, keys[BOUNDARIES]);
    else
      word_at[i] = from = (int64_t)x;
  }
  if (status == GBT_OK) status = read_array(r, tree, WORDS, from, 0);
  for (int64_t i = 0; status == GBT_OK && i < tree->n_sets; i++) {
    beg[i] = r->plant->n_codes;
    for (int64_t w = word_at[i]; status == GBT_OK && w < word_at[i + 1]; w++) {
      if (!is_whole_in(r->numbers[w], 0.0, (double)UINT32_MAX)) status = bad_array(r, keys[WORDS]);
      const uint32_t word = status == GBT_OK ? (uint32_t)r->numbers[w] : 0;
      for (uint32_t b = 0; status == GBT_OK && b < 32; b++)
        if (word >> b & 1u) status = gbti_add_code(r->plant, (w - word_at[i]) * 32 + b);
    }
  }
  beg[tree->n_sets] = r->plant->n_codes;
  gbt_mem_free(&r->plant->mem, word_at);
  return status;
}

/* A split by a number: where a missing value goes, and which numbers of the column are missing values. */
static gbt_status settle_missing(lgb_reader *r, gbti_new_node *node, int decision) {
  const int type = decision >> 2 & 3, default_left = decision >> 1 & 1;
  int8_t *seen = &r->missing[node->feature];
  const int8_t zero = type == 1;
  if (type == 3) return gbti_tree_fault(r->plant, "a split has an unknown type of missing values");
  if (*seen >= 0 && *seen != zero)
    return gbti_not_offered(r->plant, "splits by one column take zeros for missing values and for numbers");
  *seen = zero;
  const int left = type == 0 ? 0.0 <= node->value : default_left;
  node->flags = left ? GBT_NODE_MISSING_LEFT : 0;
  return GBT_OK;
}

static gbt_status read_splits(lgb_reader *r, const lgb_tree *tree, const size_t *beg) {
  gbti_new_node *node = r->plant->node;
  const int64_t n = tree->n_leaves - 1;
  GBT_TRY(read_children(r, tree));
  GBT_TRY(read_array(r, tree, FEATURE, n, n == 0));
  for (int64_t i = 0; i < n; i++) {
    if (!is_whole_in(r->numbers[i], 0.0, (double)r->n_features - 1.0)) return bad_array(r, keys[FEATURE]);
    node[i].feature = (int32_t)r->numbers[i];
  }
  GBT_TRY(read_array(r, tree, THRESHOLD, n, n == 0));
  for (int64_t i = 0; i < n; i++) node[i].value = r->numbers[i];
  GBT_TRY(read_array(r, tree, GAIN, n, 1));
  for (int64_t i = 0; i < n; i++) node[i].gain = r->numbers[i];
  GBT_TRY(read_array(r, tree, DECISION, n, n == 0));
  for (int64_t i = 0; i < n; i++) {
    if (!is_whole_in(r->numbers[i], 0.0, 15.0)) return bad_array(r, keys[DECISION]);
    const int decision = (int)r->numbers[i];
    if (!(decision & 1)) {
      GBT_TRY(settle_missing(r, &node[i], decision));
      continue;
    }
    if (!is_whole_in(node[i].value, 0.0, (double)tree->n_sets - 1.0)) return bad_array(r, keys[THRESHOLD]);
    const size_t set = (size_t)node[i].value;
    node[i].flags = GBT_NODE_CATEGORICAL;
    node[i].set_beg = beg[set];
    node[i].set_n = beg[set + 1] - beg[set];
  }
  return GBT_OK;
}

/* Sums of hessians, or numbers of rows where an older file has none; and numbers of rows. */
static gbt_status read_weights(lgb_reader *r, const lgb_tree *tree) {
  const int64_t n = tree->n_leaves - 1;
  for (int leaves = 0; leaves < 2; leaves++) {
    gbti_new_node *node = r->plant->node + (leaves ? n : 0);
    const int64_t m = leaves ? tree->n_leaves : n;
    const int weight = leaves ? LEAF_WEIGHT : WEIGHT, count = leaves ? LEAF_COUNT : COUNT;
    GBT_TRY(read_array(r, tree, count, m, 1));
    for (int64_t i = 0; i < m; i++) {
      if (!is_whole_in(r->numbers[i], 0.0, (double)INT32_MAX)) return bad_array(r, keys[count]);
      node[i].count = (uint32_t)r->numbers[i];
      node[i].cover = r->numbers[i];
    }
    if (tree->value[weight].n == 0) continue;
    GBT_TRY(read_array(r, tree, weight, m, 1));
    for (int64_t i = 0; i < m; i++) node[i].cover = r->numbers[i];
  }
  return GBT_OK;
}

/* Leaves that are linear models: a constant, and coefficients of columns. Those without columns are the constant. */
static gbt_status read_slopes(lgb_reader *r, const lgb_tree *tree, gbti_new_node *leaf) {
  int64_t n = 0;
  GBT_TRY(read_array(r, tree, N_USED, tree->n_leaves, 1));
  for (int64_t i = 0; i < tree->n_leaves; i++) {
    const double most = (double)tree->value[USED].n - (double)n;
    if (!is_whole_in(r->numbers[i], 0.0, most < INT32_MAX ? most : INT32_MAX)) return bad_array(r, keys[N_USED]);
    leaf[i].slope_beg = (size_t)n;
    leaf[i].n_slopes = (uint32_t)r->numbers[i];
    n += leaf[i].n_slopes;
  }
  GBT_TRY(read_array(r, tree, CONST, tree->n_leaves, 0));
  for (int64_t i = 0; i < tree->n_leaves; i++) {
    leaf[i].start = r->numbers[i];
    if (leaf[i].n_slopes == 0) leaf[i].value = leaf[i].start;
  }
  GBT_TRY(read_array(r, tree, USED, n, n == 0));
  for (int64_t i = 0; i < n; i++) {
    if (!is_whole_in(r->numbers[i], 0.0, (double)r->n_features - 1.0)) return bad_array(r, keys[USED]);
    GBT_TRY(gbti_add_slope(r->plant, (gbti_new_slope){.feature = (int32_t)r->numbers[i]}));
    r->linear_in[(int32_t)r->numbers[i]] = 1;
  }
  GBT_TRY(read_array(r, tree, COEFFICIENT, n, n == 0));
  for (int64_t i = 0; i < n; i++) r->plant->slopes[i].slope = r->numbers[i];
  return GBT_OK;
}

static gbt_status read_leaves(lgb_reader *r, const lgb_tree *tree) {
  gbti_new_node *leaf = r->plant->node + (tree->n_leaves - 1);
  GBT_TRY(read_array(r, tree, VALUE, tree->n_leaves, 0));
  for (int64_t i = 0; i < tree->n_leaves; i++) {
    leaf[i].left = leaf[i].right = -1;
    leaf[i].value = r->numbers[i];
  }
  return tree->is_linear ? read_slopes(r, tree, leaf) : GBT_OK;
}

static gbt_status read_tree(lgb_reader *r) {
  lgb_tree tree;
  size_t *beg;
  GBT_TRY(read_lines(r, &tree));
  GBT_TRY(gbti_clear_nodes(r->plant, 2 * (size_t)tree.n_leaves - 1));
  GBT_TRY(gbt_mem_zeros(&r->plant->mem, (size_t)tree.n_sets + 1, sizeof *beg, &beg, r->err));
  gbt_status status = tree.n_sets > 0 ? read_sets(r, &tree, beg) : GBT_OK;
  if (status == GBT_OK) status = read_splits(r, &tree, beg);
  gbt_mem_free(&r->plant->mem, beg);
  GBT_TRY(status);
  GBT_TRY(read_leaves(r, &tree));
  GBT_TRY(read_weights(r, &tree));
  return gbti_plant_tree(r->plant);
}

/* The header has a size for each tree. */
static gbt_status check_number(const lgb_reader *r) {
  text_part sizes = r->sizes, word;
  size_t n = 0;
  if (sizes.at == NULL) return GBT_OK;
  while (take_word(&sizes, &word)) n++;
  return n == r->plant->n_trees ? GBT_OK : fault(r, "`tree_sizes` is of another number of trees");
}

static gbt_status read_trees(lgb_reader *r) {
  text_part line, value;
  for (;;) {
    if (!take_line(r, &line)) return fault(r, "the file ends within its trees");
    if (is_text(line, "end of trees")) break;
    if (value_of(line, "Tree", &value)) GBT_TRY(read_tree(r));
  }
  if (r->plant->n_trees % (size_t)r->n_outputs != 0) return fault(r, "its last round lacks trees");
  return check_number(r);
}

/* ---- texts of categories ---- */

/* Levels of a column: texts, or numbers, which are categories by their digits. */
static gbt_status read_levels(lgb_reader *r, gbti_document *doc, size_t list, int32_t c) {
  const int64_t n = gbti_count(doc, list);
  const char *text;
  char number[40];
  if (n < 0) return fault(r, "`pandas_categorical` is not what it must be");
  r->plant->column[c].by_code = 0;
  r->plant->column[c].numbers = n > 0 && gbti_kind_of(doc, gbti_first(doc, list)) == GBTI_VALUE_NUMBER;
  size_t at = gbti_first(doc, list);
  for (int64_t i = 0; i < n; i++, at = gbti_next(doc, at)) {
    if (!r->plant->column[c].numbers) {
      GBT_TRY(gbti_text(doc, at, "pandas_categorical", &text));
      GBT_TRY(gbti_add_level(r->plant, c, text));
      continue;
    }
    int64_t whole;
    GBT_TRY(gbti_whole(doc, at, "pandas_categorical", -((int64_t)1 << 53), (int64_t)1 << 53, &whole));
    snprintf(number, sizeof number, "%lld", (long long)whole);
    GBT_TRY(gbti_add_level(r->plant, c, number));
  }
  return GBT_OK;
}

/* One list for each column of categories, in their order. */
static gbt_status share_levels(lgb_reader *r, gbti_document *doc) {
  int64_t n_columns = 0;
  const int64_t n = gbti_count(doc, 0);
  if (n <= 0) return GBT_OK;
  for (int32_t c = 0; c < r->plant->n_columns; c++) n_columns += r->plant->column[c].categorical;
  if (n != n_columns)
    return gbti_not_offered(r->plant, "the file does not say to which columns its lists of levels belong");
  size_t at = gbti_first(doc, 0);
  for (int32_t c = 0; c < r->plant->n_columns; c++) {
    if (!r->plant->column[c].categorical) continue;
    GBT_TRY(read_levels(r, doc, at, c));
    at = gbti_next(doc, at);
  }
  return GBT_OK;
}

static gbt_status read_categories(lgb_reader *r, const char *beg) {
  static const char key[] = "\npandas_categorical:";
  const char *at = NULL, *from = beg;
  while ((size_t)(r->end - from) >= sizeof key - 1) {
    from = memchr(from, '\n', (size_t)(r->end - from) - (sizeof key - 2));
    if (from == NULL) break;
    if (memcmp(from, key, sizeof key - 1) == 0) at = from + sizeof key - 1;
    from++;
  }
  if (at == NULL || r->end - at < 1 || *at != '[') return GBT_OK;
  gbti_document doc = {.mem = r->plant->mem, .program = "LightGBM", .err = r->err};
  const char *stop = memchr(at, '\n', (size_t)(r->end - at));
  gbt_status status = gbti_document_open(&doc, (const uint8_t *)at, (size_t)((stop == NULL ? r->end : stop) - at));
  if (status == GBT_OK) status = share_levels(r, &doc);
  gbti_document_close(&doc);
  return status;
}

/* ---- the file ---- */

static gbt_status read_all(lgb_reader *r, gbt_import_facts *facts) {
  const char *beg = r->next;
  GBT_TRY(read_header(r));
  GBT_TRY(read_columns(r));
  GBT_TRY(read_categories(r, beg));
  GBT_TRY(read_trees(r));
  GBT_TRY(read_objective(r, facts));
  for (int32_t c = 0; c < r->plant->n_columns; c++) {
    r->plant->column[c].zero_missing = r->missing[c] == 1;
    if (r->missing[c] == 1 && r->linear_in[c])
      return gbti_not_offered(r->plant, "leaves take zeros of a column for numbers, and splits take them for missing "
                                        "values (`linear_tree` with `zero_as_missing`)");
  }
  memcpy(facts->program, "LightGBM", sizeof "LightGBM");
  facts->has_gain = facts->has_cover = facts->has_count = 1;
  return gbt_mem_zeros(&r->plant->mem, (size_t)r->n_outputs, sizeof *r->plant->base, &r->plant->base, r->err);
}

gbt_status gbti_read_lightgbm(const uint8_t *bytes, size_t n, gbti_plant *plant, gbt_import_facts *facts) {
  lgb_reader r = {.plant = plant, .err = plant->err, .next = (const char *)bytes, .end = (const char *)bytes + n};
  plant->program = "LightGBM";
  gbt_status status = read_all(&r, facts);
  gbt_mem_free(&plant->mem, r.missing);
  gbt_mem_free(&plant->mem, r.linear_in);
  gbt_mem_free(&plant->mem, r.numbers);
  return status;
}
