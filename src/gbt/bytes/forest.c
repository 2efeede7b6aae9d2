/* The forest in a model's bytes. Trees are written one after the other and counted from 0, whatever their place in the
 * view, so that a view of some of a forest's trees gives the model of just these. */
#include "../tree/check.h"
#include "forest_linear.h"
#include "sections.h"

/* ---- writing ---- */

/* Counts the nodes, words and leaves of the trees, which are sound. */
static gbt_status measure_trees(gbti_writer *w) {
  const gbt_forest_view *forest = &w->parts->forest;
  gbt_tree_flaw flaw;
  GBT_TRY(gbt_trees_check(&w->mem, forest, w->parts->schema->feat, &flaw, w->err));
  if (flaw.what != NULL)
    return gbt_fail(w->err, GBT_E_INTERNAL, "the model cannot be written: tree %llu: %s",
                    (unsigned long long)(flaw.tree + 1), flaw.what);
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree *tree = &forest->trees[t];
    w->n[GBTI_SEC_NODES] += tree->n_nodes;
    w->n[GBTI_SEC_SETS] += tree->n_words;
    if (forest->n_leaf_outputs > 1)
      w->n[GBTI_SEC_LEAF_VALUES] += ((uint64_t)tree->n_nodes + 1) / 2 * (uint64_t)forest->n_leaf_outputs;
  }
  return GBT_OK;
}

static gbt_status measure_forest(gbti_writer *w) {
  const gbt_forest_view *forest = &w->parts->forest;
  const gbt_schema *schema = w->parts->schema;
  if (forest->n_features != schema->n_features)
    return gbt_fail(w->err, GBT_E_INTERNAL, "the forest has %d features and the schema has %d", (int)forest->n_features,
                    (int)schema->n_features);
  const char *fault = gbt_forest_fault(forest);
  if (fault != NULL) return gbt_fail(w->err, GBT_E_INTERNAL, "the model cannot be written: %s", fault);
  gbt_status status = measure_trees(w);
  w->n[GBTI_SEC_NUMBERS] = 1;
  w->n[GBTI_SEC_BASE] = (uint64_t)forest->n_outputs;
  w->n[GBTI_SEC_SUMS] = forest->sums.rule != GBT_SUM_PLAIN;
  w->n[GBTI_SEC_TREES] = forest->n_trees;
  w->n[GBTI_SEC_GAIN] = w->n[GBTI_SEC_COVER] = w->n[GBTI_SEC_COUNT] = w->n[GBTI_SEC_NODES];
  return status == GBT_OK ? gbti_measure_linear(w) : status;
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

static void put_forest(gbti_writer *w) {
  const gbt_forest_view *forest = &w->parts->forest;
  const gbti_model_numbers numbers = {forest->n_features, forest->n_outputs, forest->n_leaf_outputs,
                                      forest->n_parallel};
  gbt_tree *trees = gbti_out(w, GBTI_SEC_TREES);
  gbt_node *nodes = gbti_out(w, GBTI_SEC_NODES);
  uint32_t *sets = gbti_out(w, GBTI_SEC_SETS), *count = gbti_out(w, GBTI_SEC_COUNT);
  double *gain = gbti_out(w, GBTI_SEC_GAIN), *cover = gbti_out(w, GBTI_SEC_COVER);
  gbti_copy(gbti_out(w, GBTI_SEC_NUMBERS), &numbers, sizeof numbers);
  gbti_copy(gbti_out(w, GBTI_SEC_BASE), forest->base, (uint64_t)forest->n_outputs * sizeof *forest->base);
  if (forest->sums.rule != GBT_SUM_PLAIN) {
    const gbti_model_sums sums = {(uint32_t)forest->sums.rule, 0,
                                  forest->sums.rule == GBT_SUM_SCALED ? forest->sums.scale : 0.0};
    gbti_copy(gbti_out(w, GBTI_SEC_SUMS), &sums, sizeof sums);
  }
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
  gbti_put_linear(w);
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

/* There is one form only: plain forests have no record, and a scale is there where the rule has one. */
static gbt_status read_sums(const gbti_reader *r, gbt_forest_view *forest) {
  gbti_model_sums sums;
  if (r->n[GBTI_SEC_SUMS] == 0) return GBT_OK;
  memcpy(&sums, r->at[GBTI_SEC_SUMS], sizeof sums);
  const double none = 0.0;
  const int scaled = sums.rule == GBT_SUM_SCALED;
  if (r->n[GBTI_SEC_SUMS] != 1 || sums.zero != 0 || sums.rule == GBT_SUM_PLAIN || sums.rule > GBT_SUM_MEAN ||
      (!scaled && memcmp(&sums.scale, &none, sizeof none) != 0))
    return gbti_damaged(r, "the rule of its sums is unknown");
  forest->sums = (gbt_sums){(int32_t)sums.rule, sums.scale};
  return GBT_OK;
}

/* A negative number becomes a huge one, which no section holds. */
static gbt_status check_counts(const gbti_reader *r, const gbt_forest_view *forest) {
  const uint64_t *n = r->n;
  int ok = forest->n_features == r->parts.schema->n_features && (uint64_t)forest->n_outputs == n[GBTI_SEC_BASE] &&
           n[GBTI_SEC_GAIN] == forest->n_nodes && n[GBTI_SEC_COVER] == forest->n_nodes &&
           n[GBTI_SEC_COUNT] == forest->n_nodes &&
           (forest->n_leaf_outputs < 2 ? 0 : forest->n_vectors * (uint64_t)forest->n_leaf_outputs) ==
               n[GBTI_SEC_LEAF_VALUES];
  return ok ? GBT_OK : gbti_damaged(r, "numbers and sizes of sections do not match");
}

static gbt_status read_forest(gbti_reader *r) {
  gbt_forest_view *forest = &r->parts.forest;
  const char *fault;
  if (r->n[GBTI_SEC_NUMBERS] != 1) return gbti_damaged(r, "there must be one record of numbers");
  point_forest(r, forest);
  GBT_TRY(check_counts(r, forest));
  GBT_TRY(read_sums(r, forest));
  GBT_TRY(gbti_read_linear(r, forest));
  GBT_TRY(gbt_forest_check(&r->mem, forest, r->parts.schema->feat, &fault, r->err));
  return fault == NULL ? GBT_OK : gbti_damaged(r, fault);
}

const gbti_part gbti_part_forest = {measure_forest, put_forest, read_forest};
