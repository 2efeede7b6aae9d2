/* Trees of ONNX: TreeEnsemble of ai.onnx.ml 5, whose splits and leaves have lists of their own, or
 * TreeEnsembleRegressor of ai.onnx.ml 3, with a list of all nodes of a tree.
 *
 * The older operator has no sets. A set is a chain of nodes, each of which asks for one level: x == code ? one child,
 * the same for all of the chain : the next node. The chain has the levels of the side that has fewer. */
#include "../base/bits.h"
#include "decimal.h"
#include "formats.h"
#include "onnx.h"

/* ---- ai.onnx.ml 5 ---- */

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

static void put_item(gbti_file *list, int64_t x) { gbti_onnx_whole(list, ONNX_ATTRIBUTE_INTS, x); }

static void put_leaf(const onnx_writer *w, onnx_trees *to, int32_t target, double value) {
  put_item(&to->list[TARGET], target);
  gbti_onnx_real(w, &to->weights, value);
}

/* A tree of one leaf: a split, both of whose leaves are it. */
static void put_constant(const onnx_writer *w, onnx_trees *to, const gbti_out_tree *tree) {
  put_item(&to->list[FEATURE], 0);
  for (int k = 0; k < 2; k++) {
    put_item(&to->list[k == 0 ? TRUE_NODE : FALSE_NODE], to->n_leaves++);
    put_item(&to->list[k == 0 ? TRUE_LEAF : FALSE_LEAF], 1);
    put_leaf(w, to, tree->output, tree->node[0].number);
  }
  put_item(&to->list[MISSING], 0);
  gbti_put_bytes(&to->modes, &(uint8_t){ONNX_AT_MOST}, 1);
  gbti_onnx_real(w, &to->splits, 0.0);
  to->n_splits++;
}

/* Codes of the levels that go left, and a NaN; 0: there are none. */
static int put_members(onnx_writer *w, onnx_trees *to, const gbti_out_node *node) {
  const size_t before = to->n_members;
  for (int32_t level = -1; level < w->x->schema->col[node->column].n_levels; level++) {
    if (!gbti_out_left(w->x, node, level)) continue;
    gbti_onnx_real(w, &to->members, level + 2.0);
    to->n_members++;
  }
  if (to->n_members == before) return 0;
  gbti_onnx_real(w, &to->members, gbt_nan());
  to->n_members++;
  return 1;
}

/* The threshold of a column with levels, among their codes. */
static double code_at_most(double number, int32_t n_levels) {
  if (number < 0.0) return 1.0;
  return 2.0 + (number < (double)n_levels ? (double)(int32_t)number : (double)n_levels);
}

static double threshold_of(const onnx_writer *w, const gbti_out_node *node) {
  const gbt_schema_column *col = &w->x->schema->col[node->column];
  return col->type == GBT_NUMERIC ? node->number : code_at_most(node->number, col->n_levels);
}

static void put_split(onnx_writer *w, onnx_trees *to, const gbti_out_tree *tree, const gbti_out_node *node) {
  put_item(&to->list[FEATURE], w->place[node->column]);
  for (uint32_t k = 0; k < 2; k++) {
    const uint32_t child = node->left + k;
    put_item(&to->list[k == 0 ? TRUE_NODE : FALSE_NODE], w->id[child]);
    put_item(&to->list[k == 0 ? TRUE_LEAF : FALSE_LEAF], tree->node[child].left == 0);
  }
  put_item(&to->list[MISSING], node->missing_left);
  const int by_set = node->by_set && put_members(w, to, node); /* an empty set: codes at most 0 */
  gbti_put_bytes(&to->modes, &(uint8_t){by_set ? ONNX_MEMBER : ONNX_AT_MOST}, 1);
  gbti_onnx_real(w, &to->splits, node->by_set ? 0.0 : threshold_of(w, node));
}

static void put_tree(onnx_writer *w, onnx_trees *to, const gbti_out_tree *tree) {
  put_item(&to->roots, to->n_splits);
  if (tree->n_nodes == 1) {
    put_constant(w, to, tree);
    return;
  }
  for (uint32_t i = 0; i < tree->n_nodes; i++) w->id[i] = tree->node[i].left > 0 ? to->n_splits++ : to->n_leaves++;
  for (uint32_t i = 0; i < tree->n_nodes; i++)
    if (tree->node[i].left > 0)
      put_split(w, to, tree, &tree->node[i]);
    else
      put_leaf(w, to, tree->output, tree->node[i].number);
}

/* The list's fields, as an attribute. */
static void put_list(onnx_writer *w, const char *name, gbti_file *list, int type) {
  if (list->status != GBT_OK && w->part.status == GBT_OK) w->part.status = list->status;
  gbti_put_bytes(&w->part, list->at, list->n);
  gbti_onnx_attribute(w, name, type);
}

/* Their operator's inputs, outputs and what both operators have. */
static void begin_ensemble(onnx_writer *w) {
  const gbti_outgoing *x = w->x;
  gbti_onnx_link(w, 0, gbti_onnx_name(w, ":rows", -1).text);
  const int at_once = x->sums.rule == GBT_SUM_PLAIN || x->sums.rule == GBT_SUM_FLOAT;
  gbti_onnx_link(w, 1, gbti_onnx_name(w, at_once ? "_score" : ":sum", -1).text);
  gbti_onnx_whole_attribute(w, "n_targets", x->n_outputs);
}

static void put_ensemble(onnx_writer *w, onnx_trees *to) {
  begin_ensemble(w);
  gbti_onnx_whole_attribute(w, "aggregate_function", 1); /* SUM */
  gbti_onnx_whole_attribute(w, "post_transform", 0);
  for (int k = 0; k < N_LISTS; k++) put_list(w, lists[k], &to->list[k], ONNX_INTS);
  put_list(w, "tree_roots", &to->roots, ONNX_INTS);
  gbti_onnx_tensor(w, "nodes_modes", ONNX_BYTES, to->n_splits, &to->modes);
  gbti_onnx_tensor(w, "nodes_splits", ONNX_DOUBLES, to->n_splits, &to->splits);
  gbti_onnx_tensor(w, "leaf_weights", ONNX_DOUBLES, to->n_leaves, &to->weights);
  if (to->n_members > 0) gbti_onnx_tensor(w, "membership_values", ONNX_DOUBLES, to->n_members, &to->members);
  gbti_onnx_end(w, "TreeEnsemble", 1);
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

/* ---- ai.onnx.ml 3 ---- */

typedef enum flat_list {
  TREE,
  NODE,
  FLAT_FEATURE,
  TRUE_CHILD,
  FALSE_CHILD,
  FLAT_MISSING,
  TARGET_TREE,
  TARGET_NODE,
  TARGET_ID,
  N_FLAT
} flat_list;
static const char *const flat_lists[N_FLAT] = {
    "nodes_treeids",    "nodes_nodeids",  "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids",
    "nodes_missing_value_tracks_true", "target_treeids", "target_nodeids",   "target_ids"};

typedef struct flat_trees {
  gbti_file list[N_FLAT], modes, values, weights;
  int64_t tree; /* the one that is written */
  uint32_t n;   /* its nodes so far */
} flat_trees;

/* The next node of the tree. */
static void put_flat(const onnx_writer *w, flat_trees *to, const char *mode, double value, int32_t feature,
                     uint32_t yes, uint32_t no, int missing_yes) {
  const int64_t item[] = {to->tree, to->n++, feature, yes, no, missing_yes};
  for (int k = TREE; k <= FLAT_MISSING; k++) put_item(&to->list[k], item[k]);
  gbti_onnx_text(&to->modes, ONNX_ATTRIBUTE_STRINGS, mode);
  gbti_onnx_real(w, &to->values, value);
}

static void put_flat_leaf(const onnx_writer *w, flat_trees *to, int32_t target, double value) {
  put_item(&to->list[TARGET_TREE], to->tree);
  put_item(&to->list[TARGET_NODE], to->n);
  put_item(&to->list[TARGET_ID], target);
  gbti_onnx_real(w, &to->weights, value);
  put_flat(w, to, "LEAF", 0.0, 0, 0, 0, 0);
}

/* How many levels, of them and the unseen one, a set sends to its smaller side, and which one that is. */
static uint32_t n_asked(const onnx_writer *w, const gbti_out_node *node, int *left) {
  const uint32_t n = (uint32_t)w->x->schema->col[node->column].n_levels + 1;
  uint32_t n_left = 0;
  for (int32_t level = -1; level + 1 < (int32_t)n; level++)
    n_left += (uint32_t)(gbti_out_left(w->x, node, level) != 0);
  *left = n_left <= n - n_left;
  return *left ? n_left : n - n_left;
}

static void put_flat_set(const onnx_writer *w, flat_trees *to, const gbti_out_node *node) {
  int left;
  const uint32_t n = n_asked(w, node, &left), end = to->n + n;
  const uint32_t yes = w->id[node->left + !left], no = w->id[node->left + (uint32_t)left];
  const int missing_yes = (node->missing_left != 0) == left;
  if (n == 0) put_flat(w, to, "BRANCH_LEQ", 0.0, w->place[node->column], yes, no, missing_yes); /* codes are above 0 */
  for (int32_t level = -1; to->n < end; level++)
    if ((gbti_out_left(w->x, node, level) != 0) == left)
      put_flat(w, to, "BRANCH_EQ", level + 2.0, w->place[node->column], yes, to->n + 1 < end ? to->n + 1 : no,
               missing_yes);
}

static void put_flat_tree(const onnx_writer *w, flat_trees *to, const gbti_out_tree *tree) {
  uint32_t n = 0;
  int left;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    const gbti_out_node *node = &tree->node[i];
    const uint32_t asked = node->left > 0 && node->by_set ? n_asked(w, node, &left) : 1;
    w->id[i] = n;
    n += asked > 0 ? asked : 1;
  }
  to->n = 0;
  for (uint32_t i = 0; i < tree->n_nodes; i++) {
    const gbti_out_node *node = &tree->node[i];
    if (node->left == 0)
      put_flat_leaf(w, to, tree->output, node->number);
    else if (node->by_set)
      put_flat_set(w, to, node);
    else
      put_flat(w, to, "BRANCH_LEQ", (double)gbti_at_most_f32(threshold_of(w, node)), w->place[node->column],
               w->id[node->left], w->id[node->left + 1], node->missing_left != 0);
  }
}

/* Floats that are made, as an attribute. */
static void put_floats(onnx_writer *w, const char *name, gbti_file *values) {
  gbti_onnx_message(&w->part, ONNX_ATTRIBUTE_FLOATS, values);
  gbti_onnx_attribute(w, name, ONNX_REALS);
}

static void put_word(onnx_writer *w, const char *name, const char *word) {
  gbti_onnx_text(&w->part, ONNX_ATTRIBUTE_STRING, word);
  gbti_onnx_attribute(w, name, ONNX_STRING);
}

static void put_regressor(onnx_writer *w, flat_trees *to) {
  begin_ensemble(w);
  put_word(w, "aggregate_function", "SUM");
  put_word(w, "post_transform", "NONE");
  for (int k = 0; k < N_FLAT; k++) put_list(w, flat_lists[k], &to->list[k], ONNX_INTS);
  put_list(w, "nodes_modes", &to->modes, ONNX_STRINGS);
  put_floats(w, "nodes_values", &to->values);
  put_floats(w, "target_weights", &to->weights);
  gbti_onnx_end(w, "TreeEnsembleRegressor", 1);
}

static void put_flat_trees(onnx_writer *w) {
  const gbti_outgoing *x = w->x;
  flat_trees to = {.n = 0};
  gbti_file *all[N_FLAT + 3] = {[N_FLAT] = &to.modes, &to.values, &to.weights};
  for (int k = 0; k < N_FLAT; k++) all[k] = &to.list[k];
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) *all[k] = (gbti_file){.mem = x->mem, .err = x->err};
  for (uint64_t t = 0; t < x->n_trees; t++) {
    to.tree = (int64_t)t;
    put_flat_tree(w, &to, &x->tree[t]);
  }
  put_regressor(w, &to);
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) gbt_mem_free(&x->mem, all[k]->at);
}

void gbti_onnx_trees(onnx_writer *w) {
  if (w->floats)
    put_flat_trees(w);
  else
    put_trees(w);
}
