/* Files that gbt_import() reads, evaluated: the model that it makes of them. */
#include <string.h>

#include "../base/bits.h"
#include "formats.h"

typedef struct read_model {
  gbt_mem mem;
  uint8_t *bytes;
  gbt_model *model;
} read_model;

/* The value of a column's cell in the model that was read: levels are found by their texts. */
static double value_of(const gbt_schema_column *col, const gbti_cell *cell) {
  if (col->type == GBT_NUMERIC) { /* the one range that gbt_import() gives a column: LightGBM's zeros */
    const int is_zero = cell->x >= -1.0000000180025095e-35 && cell->x <= 1.0000000180025095e-35;
    return is_zero && strncmp(col->tag, "coded:", 6) == 0 ? gbt_nan() : cell->x;
  }
  if (cell->text == NULL) return gbt_nan();
  const int32_t near = cell->x >= 0.0 ? (int32_t)cell->x : 0; /* where it mostly is */
  if (near < col->n_levels && strcmp(col->levels[near], cell->text) == 0) return (double)near;
  for (int32_t i = 0; i < col->n_levels; i++)
    if (strcmp(col->levels[i], cell->text) == 0) return (double)i;
  return -1.0;
}

/* The number that a row's leaf adds, in models whose leaves have one. */
static double leaf_of(const read_model *m, uint64_t t, const gbti_cell *row) {
  const gbt_forest_view *forest = gbt_model_forest(m->model);
  const gbt_schema *schema = gbt_model_schema(m->model);
  const gbt_tree *tree = &forest->trees[t];
  const gbt_node *node = &forest->nodes[tree->node_beg];
  uint32_t at = 0;
  while (node[at].left > 0) {
    const uint32_t column = node[at].feat & GBT_NODE_FEATURE;
    const double x = value_of(&schema->col[column], &row[column]);
    at = node[at].left + !gbt_goes_left(&node[at], x, forest->sets + tree->set_beg);
  }
  const gbt_linear_view *linear = &forest->linear;
  const uint32_t of = linear->n_leaves > 0 ? linear->of[tree->node_beg + at] : 0;
  if (of == 0) return node[at].arg.value;
  const gbt_linear_leaf *leaf = &linear->leaf[of - 1];
  const gbt_linear_term *term = linear->term + leaf->term_beg;
  double sum = leaf->start; /* LightGBM's are of numbers */
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const int32_t column = linear->grid[term[k].grid].feat;
    const double x = value_of(&schema->col[column], &row[column]);
    if (x != x) return node[at].arg.value;
    sum += term[k].slope * x;
  }
  return sum;
}

static int tree_of(void *state, uint64_t t, const gbti_cell *row, double *values) {
  const read_model *m = state;
  if (t >= gbt_model_forest(m->model)->n_trees || gbt_model_forest(m->model)->n_leaf_outputs > 1) return 0;
  values[0] = leaf_of(m, t, row);
  return 1;
}

static int score_of(void *state, const gbti_cell *row, double *scores) {
  const read_model *m = state;
  const gbt_forest_view *forest = gbt_model_forest(m->model);
  const gbt_forest_info about = gbt_forest_about(forest);
  const int floats = about.sums.rule == GBT_SUM_FLOAT;
  const int at_end = about.sums.rule == GBT_SUM_SCALED || about.sums.rule == GBT_SUM_MEAN;
  for (int32_t k = 0; k < about.n_outputs; k++) scores[k] = at_end ? 0.0 : about.base[k];
  for (uint64_t t = 0; t < about.n_trees; t++) {
    double *to = &scores[t % about.trees_per_round / (uint64_t)about.n_parallel];
    *to += leaf_of(m, t, row);
    if (floats) *to = (double)(float)*to;
  }
  for (int32_t k = 0; at_end && k < about.n_outputs; k++) {
    const double rounds = about.n_rounds > 0 ? (double)about.n_rounds : 1.0;
    scores[k] = (about.sums.rule == GBT_SUM_SCALED ? about.sums.scale * scores[k] : scores[k] / rounds) + about.base[k];
  }
  return 1;
}

static void close_model(void *state) {
  read_model *m = state;
  const gbt_mem mem = m->mem;
  gbt_model_close(m->model);
  gbt_mem_free(&mem, m->bytes);
  gbt_mem_free(&mem, m);
}

gbt_status gbti_read_back(const gbti_outgoing *x, const uint8_t *bytes, size_t n_bytes, gbti_evaluator *out) {
  read_model *m;
  gbt_import_facts facts;
  size_t n = 0;
  GBT_TRY(gbt_mem_zeros(&x->mem, 1, sizeof *m, &m, x->err));
  m->mem = x->mem;
  *out = (gbti_evaluator){m, tree_of, score_of, close_model};
  GBT_TRY(gbt_import(&m->mem, bytes, n_bytes, &facts, &m->bytes, &n, x->err));
  GBT_TRY(gbt_model_open(&m->mem, m->bytes, n, &m->model, x->err));
  if (gbt_model_schema(m->model)->n_columns > x->schema->n_columns ||
      gbt_model_forest(m->model)->n_outputs != x->n_outputs)
    return gbt_fail(x->err, GBT_E_INTERNAL, "the file that was made is of another model. Please report this");
  return GBT_OK;
}
