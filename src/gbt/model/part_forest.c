/* The forest in a model's bytes. Trees are written one after the other and counted from 0, whatever their place in the
 * view, so that a view of some of a forest's trees gives the model of just these. */
#include "part.h"

/* ---- writing ---- */

/* Counts the nodes, words and leaves of the trees, and looks whether they are sound. */
static gbt_status measure_trees(gbti_writer *w, uint64_t *seen) {
  const gbt_forest_view *forest = &w->parts->forest;
  const gbt_schema *schema = w->parts->schema;
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree *tree = &forest->trees[t];
    uint64_t beg = tree->node_beg;
    const char *fault = gbti_tree_fault(tree, forest->nodes + beg, schema->feat, schema->n_features,
                                        forest->n_leaf_outputs > 1 ? &forest->n_vectors : NULL, seen);
    if (fault == NULL) fault = gbti_weights_fault(forest->gain + beg, forest->cover + beg, tree->n_nodes);
    if (fault != NULL)
      return gbt_fail(w->err, GBT_E_INTERNAL, "the model cannot be written: tree %llu: %s", (unsigned long long)(t + 1),
                      fault);
    w->n[GBTI_SEC_NODES] += tree->n_nodes;
    w->n[GBTI_SEC_SETS] += tree->n_words;
    if (forest->n_leaf_outputs > 1)
      w->n[GBTI_SEC_LEAF_VALUES] += ((uint64_t)tree->n_nodes + 1) / 2 * (uint64_t)forest->n_leaf_outputs;
  }
  return GBT_OK;
}

static gbt_status new_seen(const gbt_mem *mem, const gbt_forest_view *forest, uint64_t **seen, gbt_error *err) {
  uint32_t most = 0;
  for (uint64_t t = 0; t < forest->n_trees; t++)
    if (forest->trees[t].n_nodes > most) most = forest->trees[t].n_nodes;
  return gbt_mem_array(mem, ((size_t)most + 63) / 64, sizeof **seen, seen, err);
}

gbt_status gbti_measure_forest(gbti_writer *w) {
  const gbt_forest_view *forest = &w->parts->forest;
  const gbt_schema *schema = w->parts->schema;
  if (forest->n_features != schema->n_features)
    return gbt_fail(w->err, GBT_E_INTERNAL, "a forest of %d features and a schema of %d", (int)forest->n_features,
                    (int)schema->n_features);
  const char *fault = gbti_forest_fault(forest);
  if (fault != NULL) return gbt_fail(w->err, GBT_E_INTERNAL, "the model cannot be written: %s", fault);
  uint64_t *seen;
  GBT_TRY(new_seen(&w->mem, forest, &seen, w->err));
  gbt_status status = measure_trees(w, seen);
  gbt_mem_free(&w->mem, seen);
  w->n[GBTI_SEC_NUMBERS] = 1;
  w->n[GBTI_SEC_BASE] = (uint64_t)forest->n_outputs;
  w->n[GBTI_SEC_TREES] = forest->n_trees;
  w->n[GBTI_SEC_GAIN] = w->n[GBTI_SEC_COVER] = w->n[GBTI_SEC_COUNT] = w->n[GBTI_SEC_NODES];
  return status;
}

/* The vectors of a tree whose nodes have been written; *next: the first one's number. */
static void put_vectors(const gbt_forest_view *forest, gbt_node *nodes, uint32_t n, double *values, uint64_t *next) {
  uint64_t width = (uint64_t)forest->n_leaf_outputs;
  for (uint32_t i = 0; i < n; i++) {
    if (nodes[i].left != 0) continue;
    gbti_copy(values + *next * width, forest->leaf_values + nodes[i].arg.vector * width, width * sizeof *values);
    nodes[i].arg.vector = (*next)++;
  }
}

void gbti_put_forest(gbti_writer *w) {
  const gbt_forest_view *forest = &w->parts->forest;
  const gbti_model_numbers numbers = {forest->n_features, forest->n_outputs, forest->n_leaf_outputs,
                                      forest->n_parallel};
  gbt_tree *trees = gbti_out(w, GBTI_SEC_TREES);
  gbt_node *nodes = gbti_out(w, GBTI_SEC_NODES);
  uint32_t *sets = gbti_out(w, GBTI_SEC_SETS), *count = gbti_out(w, GBTI_SEC_COUNT);
  double *gain = gbti_out(w, GBTI_SEC_GAIN), *cover = gbti_out(w, GBTI_SEC_COVER);
  gbti_copy(gbti_out(w, GBTI_SEC_NUMBERS), &numbers, sizeof numbers);
  gbti_copy(gbti_out(w, GBTI_SEC_BASE), forest->base, (uint64_t)forest->n_outputs * sizeof *forest->base);
  uint64_t node = 0, word = 0, vector = 0;
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree_parts from = gbt_tree_of(forest, t);
    uint64_t n = from.n_nodes;
    gbti_copy(nodes + node, from.nodes, n * sizeof *nodes);
    gbti_copy(gain + node, from.gain, n * sizeof *gain);
    gbti_copy(cover + node, from.cover, n * sizeof *cover);
    gbti_copy(count + node, from.count, n * sizeof *count);
    gbti_copy(sets + word, from.sets, from.n_words * sizeof *sets);
    if (forest->n_leaf_outputs > 1)
      put_vectors(forest, nodes + node, from.n_nodes, gbti_out(w, GBTI_SEC_LEAF_VALUES), &vector);
    trees[t].node_beg = node;
    trees[t].set_beg = word;
    trees[t].n_nodes = from.n_nodes;
    trees[t].n_words = from.n_words;
    node += n;
    word += from.n_words;
  }
}

/* ---- reading ---- */

static void point_forest(const gbti_reader *r, gbt_forest_view *forest) {
  gbti_model_numbers numbers;
  memcpy(&numbers, r->at[GBTI_SEC_NUMBERS], sizeof numbers);
  forest->n_features = numbers.n_features;
  forest->n_outputs = numbers.n_outputs;
  forest->n_leaf_outputs = numbers.n_leaf_outputs;
  forest->n_parallel = numbers.n_parallel;
  forest->n_trees = r->n[GBTI_SEC_TREES];
  forest->n_nodes = r->n[GBTI_SEC_NODES];
  forest->n_words = r->n[GBTI_SEC_SETS];
  forest->n_vectors = numbers.n_leaf_outputs > 1 ? r->n[GBTI_SEC_LEAF_VALUES] / (uint64_t)numbers.n_leaf_outputs : 0;
  forest->base = r->at[GBTI_SEC_BASE];
  forest->trees = r->at[GBTI_SEC_TREES];
  forest->nodes = r->at[GBTI_SEC_NODES];
  forest->sets = r->at[GBTI_SEC_SETS];
  forest->gain = r->at[GBTI_SEC_GAIN];
  forest->cover = r->at[GBTI_SEC_COVER];
  forest->count = r->at[GBTI_SEC_COUNT];
  forest->leaf_values = r->at[GBTI_SEC_LEAF_VALUES];
}

/* A negative number becomes a huge one, which no section holds. */
static gbt_status check_counts(const gbti_reader *r, const gbt_forest_view *forest) {
  const uint64_t *n = r->n;
  int ok = forest->n_features == r->model->schema->n_features && (uint64_t)forest->n_outputs == n[GBTI_SEC_BASE] &&
           n[GBTI_SEC_GAIN] == forest->n_nodes && n[GBTI_SEC_COVER] == forest->n_nodes &&
           n[GBTI_SEC_COUNT] == forest->n_nodes &&
           (forest->n_leaf_outputs < 2 ? 0 : forest->n_vectors * (uint64_t)forest->n_leaf_outputs) ==
               n[GBTI_SEC_LEAF_VALUES];
  return ok ? GBT_OK : gbti_damaged(r, "numbers and sizes of sections do not match");
}

/* Trees lie one behind the other and fill the sections of nodes and sets. */
static gbt_status check_tree_places(const gbti_reader *r, const gbt_forest_view *forest) {
  uint64_t node = 0, word = 0;
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree *tree = &forest->trees[t];
    if (tree->node_beg != node || tree->set_beg != word) return gbti_damaged(r, "a tree is not where it must be");
    node += tree->n_nodes;
    word += tree->n_words;
  }
  return node == forest->n_nodes && word == forest->n_words
             ? GBT_OK
             : gbti_damaged(r, "the trees have more or fewer nodes than there are");
}

/* Leaves have the vectors one by one. */
static gbt_status check_vectors(const gbti_reader *r, const gbt_forest_view *forest) {
  uint64_t next = 0;
  if (forest->n_leaf_outputs == 1) return GBT_OK;
  for (uint64_t i = 0; i < forest->n_nodes; i++)
    if (forest->nodes[i].left == 0 && forest->nodes[i].arg.vector != next++)
      return gbti_damaged(r, "the values of a leaf are not where they must be");
  return next == forest->n_vectors ? GBT_OK : gbti_damaged(r, "there are values of no leaf");
}

gbt_status gbti_read_forest(gbti_reader *r) {
  gbt_forest_view *forest = &r->model->parts.forest;
  const gbt_schema *schema = r->model->parts.schema;
  point_forest(r, forest);
  GBT_TRY(check_counts(r, forest));
  const char *fault = gbti_forest_fault(forest);
  if (fault == NULL) fault = gbti_weights_fault(forest->gain, forest->cover, forest->n_nodes);
  if (fault != NULL) return gbti_damaged(r, fault);
  GBT_TRY(check_tree_places(r, forest));
  GBT_TRY(check_vectors(r, forest));
  uint64_t *seen;
  GBT_TRY(new_seen(&r->mem, forest, &seen, r->err));
  for (uint64_t t = 0; t < forest->n_trees && fault == NULL; t++)
    fault = gbti_tree_fault(&forest->trees[t], forest->nodes + forest->trees[t].node_beg, schema->feat,
                            forest->n_features, forest->n_leaf_outputs > 1 ? &forest->n_vectors : NULL, seen);
  gbt_mem_free(&r->mem, seen);
  return fault == NULL ? GBT_OK : gbti_damaged(r, fault);
}
