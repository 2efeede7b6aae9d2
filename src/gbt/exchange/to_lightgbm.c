/* LightGBM's text, version 4: see lightgbm.c for its lines.
 *
 * LightGBM goes left where x <= t, in double, as gbt does, and with sets where the category is in the set; missing and
 * unknown categories go right. So unseen levels go with missing values, and where both go left, children change sides
 * and the set is of the other levels. The file has no base scores: they are in the leaves of the first round. */
#include <string.h>

#include "../base/bits.h"
#include "formats.h"

typedef struct lgb_writer {
  gbti_outgoing *x;
  gbti_file *out;
  int by_number; /* categories of all columns are whole numbers; else they are positions, and the file has the levels */
  int64_t *number;  /* by node: of splits and of leaves, each from 0 */
  uint8_t *is_zero; /* by column: zeros are missing values */
} lgb_writer;

/* ---- what the format cannot say ---- */

static gbt_status check_sums(const gbti_outgoing *x) {
  if (x->sums.rule == GBT_SUM_MEAN && x->n_parallel > 1)
    return gbti_refuse_for(x, NULL, GBTI_CAN_BASE, "its scores are means over several trees a round");
  if (x->sums.rule != GBT_SUM_SCALED || x->sums.scale == 1.0 || x->objective->kind == GBT_OBJ_LOGISTIC) return GBT_OK;
  return gbti_refuse_for(x, NULL, GBTI_CAN_END, "its scores are scaled sums of trees");
}

static gbt_status check_columns(lgb_writer *w) {
  const double zero = 1.0000000180025095e-35; /* the largest number that LightGBM takes for zero */
  w->by_number = 1;
  GBT_TRY(gbt_mem_zeros(&w->x->mem, (size_t)w->x->schema->n_columns, 1, &w->is_zero, w->x->err));
  for (int32_t c = 0; c < w->x->schema->n_columns; c++) {
    const gbt_schema_column *col = &w->x->schema->col[c];
    const gbti_codes *codes = &w->x->codes[c];
    if (col->type == GBT_CATEGORICAL && strcmp(col->tag, "category") != 0) w->by_number = 0;
    if (codes->n == 0 && !codes->has_range) continue;
    if (codes->n > 0 || codes->low != -zero || codes->high != zero)
      return gbti_refuse_for(w->x, col->name, codes->has_range ? GBTI_CAN_RANGES : GBTI_CAN_CODES,
                             "column `%s` has numbers other than 0 that stand for missing values", col->name);
    w->is_zero[c] = 1;
  }
  return w->x->schema->n_columns > 0 ? GBT_OK : gbti_refuse_for(w->x, NULL, GBTI_CAN_ALL, "it has no columns");
}

/* Trees of a round in the order of LightGBM: those of all scores, then the next ones. */
static gbt_status order_trees(gbti_outgoing *x) {
  const uint64_t n_parallel = (uint64_t)x->n_parallel, n_outputs = (uint64_t)x->n_outputs;
  gbti_out_tree *tree;
  if (n_parallel == 1 || n_outputs == 1) {
    x->n_parallel = 1;
    return GBT_OK;
  }
  GBT_TRY(gbt_mem_array(&x->mem, (size_t)x->n_trees, sizeof *tree, &tree, x->err));
  for (uint64_t t = 0; t < x->n_trees; t++) {
    const uint64_t round = t / (n_parallel * n_outputs), k = t / n_parallel % n_outputs, i = t % n_parallel;
    tree[(round * n_parallel + i) * n_outputs + k] = x->tree[t];
  }
  gbt_mem_free(&x->mem, x->tree);
  x->tree = tree;
  x->n_parallel = 1;
  return GBT_OK;
}

/* ---- the header ---- */

typedef struct lgb_name {
  gbt_objective_kind kind;
  const char *name;
} lgb_name;

static const lgb_name names[] = {{GBT_OBJ_SQUARED_ERROR, "regression"},
                                 {GBT_OBJ_ABSOLUTE_ERROR, "regression_l1"},
                                 {GBT_OBJ_HUBER, "huber"},
                                 {GBT_OBJ_POISSON, "poisson"},
                                 {GBT_OBJ_QUANTILE, "quantile"},
                                 {GBT_OBJ_MAPE, "mape"},
                                 {GBT_OBJ_GAMMA, "gamma"},
                                 {GBT_OBJ_TWEEDIE, "tweedie"},
                                 {GBT_OBJ_CROSS_ENTROPY, "cross_entropy"},
                                 {GBT_OBJ_RANK_NDCG, "lambdarank"},
                                 {GBT_OBJ_RANK_XENDCG, "rank_xendcg"}};

/* NULL: none, so that responses are raw scores. */
static const char *name_of(const gbti_outgoing *x) {
  for (size_t i = 0; i < sizeof names / sizeof *names && x->n_outputs == 1; i++)
    if (names[i].kind == (gbt_objective_kind)x->objective->kind) return names[i].name;
  if (x->n_outputs > 1) return NULL;
  return x->link == GBTI_LINK_EXP ? "poisson" : x->link == GBTI_LINK_SIGMOID ? "cross_entropy" : "regression";
}

static void put_objective(lgb_writer *w) {
  const gbti_outgoing *x = w->x;
  const int ova = x->n_outputs > 1 && x->link == GBTI_LINK_SIGMOID;
  if (x->link == GBTI_LINK_SOFTMAX || ova) {
    gbti_put(w->out, ova ? "objective=multiclassova num_class:" : "objective=multiclass num_class:");
    gbti_put_whole(w->out, x->n_outputs);
    gbti_put(w->out, ova ? " sigmoid:1\n" : "\n");
  } else if (x->objective->kind == GBT_OBJ_LOGISTIC) {
    gbti_put(w->out, "objective=binary sigmoid:");
    gbti_put_double(w->out, x->sums.rule == GBT_SUM_SCALED ? x->sums.scale : 1.0);
    gbti_put(w->out, "\n");
  } else if (name_of(x) != NULL) {
    gbti_put(w->out, "objective=");
    gbti_put(w->out, name_of(x));
    gbti_put(w->out, "\n");
  }
  if (x->sums.rule == GBT_SUM_MEAN) gbti_put(w->out, "average_output\n");
  if (x->link == GBTI_LINK_EXPM1)
    gbti_tell(w->x, "LightGBM has no response exp(score) - 1: its predictions are raw scores");
  if (x->link == GBTI_LINK_SORTED) gbti_tell(w->x, "LightGBM does not sort the quantiles of a row: they may cross");
  if (x->n_outputs > 1 && x->link == GBTI_LINK_EXP)
    gbti_tell(w->x, "LightGBM has no such objective with several scores: its predictions are raw scores");
  if (x->sums.rule == GBT_SUM_MEAN)
    gbti_tell(w->x,
              "LightGBM's raw scores of such a forest are sums of trees; its other predictions are those of means");
  if (x->sums.rule == GBT_SUM_SCALED && x->sums.scale != 1.0)
    gbti_tell(w->x, "LightGBM's raw scores are not multiplied by the `sigmoid` of its objective; its other predictions "
                    "are the same");
}

/* Blanks would end a name. */
static void put_name(lgb_writer *w, const char *name) {
  for (; *name != 0; name++) {
    const int blank = *name == ' ' || *name == '\t' || *name == '\n' || *name == '\r';
    if (blank) gbti_tell(w->x, "blanks in names of columns are written as `_`, as LightGBM writes them");
    gbti_put_bytes(w->out, blank ? "_" : name, 1);
  }
}

static gbt_status put_infos(lgb_writer *w) {
  gbti_thresholds list = {0};
  gbt_status status = gbti_thresholds_of(w->x, &list);
  gbti_put(w->out, "feature_infos=");
  for (int32_t c = 0; status == GBT_OK && c < w->x->schema->n_columns; c++) {
    const gbt_schema_column *col = &w->x->schema->col[c];
    if (c > 0) gbti_put(w->out, " ");
    if (col->type == GBT_CATEGORICAL) {
      gbti_put(w->out, "-1");
      for (int32_t l = 0; l < col->n_levels; l++) {
        gbti_put(w->out, ":");
        gbti_put_whole(w->out, w->by_number ? gbti_level_code(col, l) : l);
      }
    } else if (list.beg[c] == list.beg[c + 1]) {
      gbti_put(w->out, "none");
    } else {
      gbti_put(w->out, "[");
      gbti_put_double(w->out, gbt_order_value(list.key[list.beg[c]]));
      gbti_put(w->out, ":");
      gbti_put_double(w->out, gbt_order_value(list.key[list.beg[c + 1] - 1]));
      gbti_put(w->out, "]");
    }
  }
  gbti_put(w->out, "\n");
  gbti_thresholds_drop(w->x, &list);
  return status;
}

/* ---- trees ---- */

static int is_turned(const gbti_out_node *node) { return node->by_set && node->missing_left; }

/* Words of the set of a split, at least one; NULL counts them only. */
static gbt_status put_set(lgb_writer *w, const gbti_out_node *node, uint32_t **words, size_t *cap, size_t *n) {
  const gbt_schema_column *col = &w->x->schema->col[node->column];
  *n = 1;
  GBT_TRY(gbt_mem_grow(&w->x->mem, words, cap, 1, sizeof **words, w->x->err));
  (*words)[0] = 0;
  for (int32_t l = 0; l < col->n_levels; l++) {
    if (gbt_bit(node->set, node->n_words, (uint32_t)l) == is_turned(node)) continue;
    const int64_t code = w->by_number ? gbti_level_code(col, l) : l;
    if (code < 0)
      return gbti_refuse_for(w->x, col->name, GBTI_CAN_UNSEEN,
                             "categories of column `%s` are not whole numbers from 0 to 16,777,215", col->name);
    const size_t word = (size_t)code / 32;
    GBT_TRY(gbt_mem_grow(&w->x->mem, words, cap, word + 1, sizeof **words, w->x->err));
    for (; *n <= word; (*n)++) (*words)[*n] = 0;
    (*words)[word] |= 1u << (code % 32);
  }
  return GBT_OK;
}

static gbt_status put_sets(lgb_writer *w, const gbti_out_tree *tree) {
  uint32_t *words = NULL;
  size_t cap = 0, n, at = 0;
  gbt_status status = GBT_OK;
  for (int boundaries = 1; boundaries >= 0; boundaries--) {
    gbti_put(w->out, boundaries ? "cat_boundaries=0" : "cat_threshold=");
    int first = 1;
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      const gbti_out_node *node = &tree->node[i];
      if (node->left == 0 || !node->by_set) continue;
      GBT_TRY_GOTO(put_set(w, node, &words, &cap, &n), done);
      at += n;
      if (boundaries) {
        gbti_put(w->out, " ");
        gbti_put_whole(w->out, (int64_t)at);
      }
      for (size_t k = 0; k < n && !boundaries; k++, first = 0) {
        if (!first) gbti_put(w->out, " ");
        gbti_put_whole(w->out, (int64_t)words[k]);
      }
    }
    gbti_put(w->out, "\n");
  }
done:
  gbt_mem_free(&w->x->mem, words);
  return status;
}

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
  INTERNAL_VALUE,
  INTERNAL_WEIGHT,
  INTERNAL_COUNT,
  N_FIELDS
};
static const char *const fields[N_FIELDS] = {"split_feature", "split_gain",     "threshold",       "decision_type",
                                             "left_child",    "right_child",    "leaf_value",      "leaf_weight",
                                             "leaf_count",    "internal_value", "internal_weight", "internal_count"};

static int is_of_leaves(int field) { return field == VALUE || field == LEAF_WEIGHT || field == LEAF_COUNT; }

static int64_t child_of(const lgb_writer *w, const gbti_out_tree *tree, uint32_t child) {
  return tree->node[child].left > 0 ? w->number[child] : -1 - w->number[child];
}

static void put_field(lgb_writer *w, const gbti_out_tree *tree, int field, const gbti_out_node *node, int64_t set) {
  const uint32_t turned = (uint32_t)is_turned(node);
  switch (field) {
  case FEATURE:
    gbti_put_whole(w->out, node->column);
    break;
  case GAIN:
    gbti_put_double(w->out, node->gain);
    break;
  case THRESHOLD:
    if (node->by_set)
      gbti_put_whole(w->out, set);
    else
      gbti_put_double(w->out, node->number);
    break;
  case DECISION: /* sets; else missing values are zeros or NaN, and their side */
    gbti_put_whole(w->out, node->by_set ? 1 : (w->is_zero[node->column] ? 4 : 8) + (node->missing_left ? 2 : 0));
    break;
  case LEFT:
    gbti_put_whole(w->out, child_of(w, tree, node->left + turned));
    break;
  case RIGHT:
    gbti_put_whole(w->out, child_of(w, tree, node->left + !turned));
    break;
  case VALUE:
    gbti_put_double(w->out, node->number);
    break;
  case LEAF_WEIGHT:
  case INTERNAL_WEIGHT:
    gbti_put_double(w->out, node->cover);
    break;
  case INTERNAL_VALUE:
    gbti_put(w->out, "0");
    break;
  default:
    gbti_put_whole(w->out, node->count < INT32_MAX ? (int64_t)node->count : INT32_MAX);
  }
}

/* Of each leaf of a tree with linear ones: its constant, how many columns it has, these, or their coefficients. */
static void put_slopes(lgb_writer *w, const gbti_out_tree *tree, int what) {
  static const char *const lists[] = {"leaf_const=", "num_features=", "leaf_features=", "leaf_coeff="};
  const gbt_linear_view *linear = w->x->linear;
  const gbt_linear_leaf constant = {.n_terms = 0};
  gbti_put(w->out, lists[what]);
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    const gbti_out_node *node = &tree->node[i];
    if (node->left > 0) continue;
    const gbt_linear_leaf *leaf = node->linear > 0 ? &linear->leaf[node->linear - 1] : &constant;
    if (what == 0) gbti_put_double(w->out, node->linear > 0 ? leaf->start : node->number);
    if (what == 1) gbti_put_whole(w->out, leaf->n_terms);
    for (uint32_t k = 0; what > 1 && k < leaf->n_terms; k++) {
      const gbt_linear_term *term = &linear->term[leaf->term_beg + k];
      if (what == 2)
        gbti_put_whole(w->out, gbti_grid_column(w->x, term->grid));
      else
        gbti_put_double(w->out, term->slope);
      gbti_put(w->out, " ");
    }
    gbti_put(w->out, i + 1 < tree->n_nodes || what > 1 ? " " : "");
  }
  gbti_put(w->out, "\n");
}

static gbt_status put_tree(lgb_writer *w, uint64_t t) {
  const gbti_out_tree *tree = &w->x->tree[t];
  int64_t n_splits = 0, n_leaves = 0, n_sets = 0;
  int linear = 0;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    w->number[i] = tree->node[i].left > 0 ? n_splits++ : n_leaves++;
    n_sets += tree->node[i].left > 0 && tree->node[i].by_set;
    linear |= tree->node[i].left == 0 && tree->node[i].linear > 0;
  }
  gbti_put(w->out, "Tree=");
  gbti_put_whole(w->out, (int64_t)t);
  gbti_put(w->out, "\nnum_leaves=");
  gbti_put_whole(w->out, n_leaves);
  gbti_put(w->out, "\nnum_cat=");
  gbti_put_whole(w->out, n_sets);
  gbti_put(w->out, "\n");
  for (int field = 0; field < N_FIELDS; field++) {
    int64_t set = 0;
    int first = 1;
    if (field == INTERNAL_VALUE && n_sets > 0) GBT_TRY(put_sets(w, tree));
    gbti_put(w->out, fields[field]);
    gbti_put(w->out, "=");
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
      const gbti_out_node *node = &tree->node[i];
      if ((node->left == 0) != is_of_leaves(field)) continue;
      if (!first) gbti_put(w->out, " ");
      first = 0;
      put_field(w, tree, field, node, set);
      set += node->by_set;
    }
    gbti_put(w->out, "\n");
  }
  gbti_put(w->out, linear ? "is_linear=1\n" : "is_linear=0\n");
  for (int what = 0; linear && what < 4; what++) put_slopes(w, tree, what);
  gbti_put(w->out, "shrinkage=1\n\n\n");
  return GBT_OK;
}

/* All trees, and the bytes of each. */
static gbt_status put_trees(lgb_writer *w, int64_t *size) {
  for (uint64_t t = 0; t < w->x->n_trees; t++) {
    const size_t beg = w->out->n;
    GBT_TRY(put_tree(w, t));
    size[t] = (int64_t)(w->out->n - beg);
  }
  return w->out->status;
}

/* ---- the file ---- */

static void put_level_lists(lgb_writer *w) {
  int first = 1;
  gbti_put(w->out, "\npandas_categorical:");
  if (w->by_number) {
    gbti_put(w->out, "null\n");
    return;
  }
  gbti_put(w->out, "[");
  for (int32_t c = 0; c < w->x->schema->n_columns; c++) {
    const gbt_schema_column *col = &w->x->schema->col[c];
    const int numbers = strcmp(col->tag, "category") == 0;
    if (col->type != GBT_CATEGORICAL) continue;
    gbti_put(w->out, first ? "[" : ", [");
    first = 0;
    for (int32_t l = 0; l < col->n_levels; l++) {
      if (l > 0) gbti_put(w->out, ", ");
      if (numbers)
        gbti_put(w->out, col->levels[l]);
      else
        gbti_put_json(w->out, col->levels[l]);
    }
    gbti_put(w->out, "]");
  }
  gbti_put(w->out, "]\n");
}

static void put_header(lgb_writer *w) {
  const gbti_outgoing *x = w->x;
  gbti_put(w->out, "tree\nversion=v4\nnum_class=");
  gbti_put_whole(w->out, x->n_outputs);
  gbti_put(w->out, "\nnum_tree_per_iteration=");
  gbti_put_whole(w->out, x->n_outputs);
  gbti_put(w->out, "\nlabel_index=0\nmax_feature_idx=");
  gbti_put_whole(w->out, x->schema->n_columns - 1);
  gbti_put(w->out, "\n");
  put_objective(w);
  gbti_put(w->out, "feature_names=");
  for (int32_t c = 0; c < x->schema->n_columns; c++) {
    if (c > 0) gbti_put(w->out, " ");
    put_name(w, x->schema->col[c].name);
  }
  gbti_put(w->out, "\n");
}

static void put_parameters(lgb_writer *w) {
  const gbt_objective *o = w->x->objective;
  gbti_put(w->out, "parameters:\n[boosting: ");
  gbti_put(w->out, w->x->sums.rule == GBT_SUM_MEAN ? "rf]\n" : "gbdt]\n");
  if (w->x->n_outputs == 1 && (o->kind == GBT_OBJ_HUBER || o->kind == GBT_OBJ_QUANTILE || o->kind == GBT_OBJ_TWEEDIE)) {
    gbti_put(w->out, o->kind == GBT_OBJ_TWEEDIE ? "[tweedie_variance_power: " : "[alpha: ");
    gbti_put_double(w->out, o->param[0]);
    gbti_put(w->out, "]\n");
  }
  gbti_put(w->out, "\nend of parameters\n");
}

static gbt_status put_all(lgb_writer *w) {
  gbti_file trees = {.mem = w->out->mem, .err = w->out->err}, *file = w->out;
  size_t most = 1;
  int64_t *size = NULL;
  gbt_status status;
  for (uint64_t t = 0; t < w->x->n_trees; t++)
    if (w->x->tree[t].n_nodes > most) most = w->x->tree[t].n_nodes;
  GBT_TRY_GOTO(gbt_mem_array(&w->x->mem, most, sizeof *w->number, &w->number, w->x->err), done);
  GBT_TRY_GOTO(gbt_mem_array(&w->x->mem, (size_t)w->x->n_trees, sizeof *size, &size, w->x->err), done);
  w->out = &trees;
  status = put_trees(w, size);
  w->out = file;
  if (status != GBT_OK) goto done;
  put_header(w);
  GBT_TRY_GOTO(put_infos(w), done);
  gbti_put(file, "tree_sizes=");
  for (uint64_t t = 0; t < w->x->n_trees; t++) {
    if (t > 0) gbti_put(file, " ");
    gbti_put_whole(file, size[t]);
  }
  gbti_put(file, "\n\n");
  gbti_put_bytes(file, trees.at, trees.n);
  gbti_put(file, "end of trees\n\nfeature_importances:\n\n");
  put_parameters(w);
  put_level_lists(w);
done:
  gbt_mem_free(&w->x->mem, size);
  gbt_mem_free(&trees.mem, trees.at);
  return status;
}

gbt_status gbti_write_lightgbm_text(gbti_outgoing *x, gbti_file *out) {
  lgb_writer w = {.x = x, .out = out};
  gbt_status status;
  GBT_TRY_GOTO(check_sums(x), done);
  GBT_TRY_GOTO(check_columns(&w), done);
  GBT_TRY_GOTO(order_trees(x), done);
  status = put_all(&w);
done:
  gbt_mem_free(&x->mem, w.number);
  gbt_mem_free(&x->mem, w.is_zero);
  return status;
}

gbt_status gbti_read_lightgbm_text(const gbti_outgoing *x, const uint8_t *bytes, size_t n, gbti_evaluator *out) {
  return gbti_read_back(x, bytes, n, out);
}
