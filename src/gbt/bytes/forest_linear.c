/* Linear leaves lie in the order of the nodes, their terms in the order of the leaves, and grids are those that terms
 * use, in the order of their features. So a view of some trees has only what these need. */
#include "forest_linear.h"

#include "../tree/check.h"
#include "../tree/linear.h"

/* ---- writing ---- */

/* number[g]: of a grid that the trees use, from 1 in the order of the grids; 0: not used. To be freed. */
static gbt_status number_grids(const gbti_writer *w, uint32_t **number, uint32_t *n_used) {
  const gbt_forest_view *forest = &w->parts->forest;
  const gbt_linear_view *linear = &forest->linear;
  *n_used = 0;
  GBT_TRY(gbt_mem_zeros(&w->mem, linear->n_grids, sizeof **number, number, w->err));
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree_parts tree = gbt_tree_of(forest, t);
    for (uint32_t i = 0; tree.linear.of != NULL && i < tree.n_nodes; i++) {
      if (tree.linear.of[i] == 0) continue;
      const gbt_linear_leaf *leaf = &linear->leaf[tree.linear.of[i] - 1];
      for (uint32_t k = 0; k < leaf->n_terms; k++) (*number)[linear->term[leaf->term_beg + k].grid] = 1;
    }
  }
  for (uint32_t g = 0; g < linear->n_grids; g++)
    if ((*number)[g] > 0) (*number)[g] = ++*n_used;
  return GBT_OK;
}

gbt_status gbti_measure_linear(gbti_writer *w) {
  const gbt_forest_view *forest = &w->parts->forest;
  const gbt_linear_view *linear = &forest->linear;
  uint32_t n_used;
  if (linear->n_leaves == 0) return GBT_OK;
  GBT_TRY(number_grids(w, &w->linear, &n_used));
  if (n_used == 0) return GBT_OK;
  w->n[GBTI_SEC_LINEAR_OF] = w->n[GBTI_SEC_NODES];
  w->n[GBTI_SEC_LINEAR_GRIDS] = n_used;
  for (uint32_t g = 0; g < linear->n_grids; g++)
    if (w->linear[g] > 0) w->n[GBTI_SEC_LINEAR_CUTS] += (uint64_t)linear->grid[g].n_bins;
  w->n[GBTI_SEC_LINEAR_X] = w->n[GBTI_SEC_LINEAR_CUTS];
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree_parts tree = gbt_tree_of(forest, t);
    for (uint32_t i = 0; i < tree.n_nodes; i++) {
      if (tree.linear.of[i] == 0) continue;
      w->n[GBTI_SEC_LINEAR_LEAVES]++;
      w->n[GBTI_SEC_LINEAR_TERMS] += linear->leaf[tree.linear.of[i] - 1].n_terms;
    }
  }
  return GBT_OK;
}

static void put_grids(const gbti_writer *w) {
  const gbt_linear_view *linear = &w->parts->forest.linear;
  gbt_linear_grid *grid = gbti_out(w, GBTI_SEC_LINEAR_GRIDS);
  double *cut = gbti_out(w, GBTI_SEC_LINEAR_CUTS);
  int16_t *x = gbti_out(w, GBTI_SEC_LINEAR_X);
  uint64_t at = 0;
  for (uint32_t g = 0; g < linear->n_grids; g++) {
    const gbt_linear_grid *from = &linear->grid[g];
    const uint64_t n = (uint64_t)from->n_bins;
    if (w->linear[g] == 0) continue;
    grid[w->linear[g] - 1] = (gbt_linear_grid){from->feat, from->n_bins, at};
    if (n == 0) continue;
    gbti_copy(cut + at, linear->cut + from->beg, n * sizeof *cut);
    gbti_copy(x + at, linear->x + from->beg, n * sizeof *x);
    at += n;
  }
}

void gbti_put_linear(gbti_writer *w) {
  const gbt_forest_view *forest = &w->parts->forest;
  uint32_t *of = gbti_out(w, GBTI_SEC_LINEAR_OF), n_leaves = 0;
  gbt_linear_leaf *leaf = gbti_out(w, GBTI_SEC_LINEAR_LEAVES);
  gbt_linear_term *term = gbti_out(w, GBTI_SEC_LINEAR_TERMS);
  uint64_t n_terms = 0;
  if (w->n[GBTI_SEC_LINEAR_OF] == 0) return;
  put_grids(w);
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree_parts tree = gbt_tree_of(forest, t);
    for (uint32_t i = 0; i < tree.n_nodes; i++, of++) {
      *of = 0;
      if (tree.linear.of[i] == 0) continue;
      const gbt_linear_leaf *from = &tree.linear.leaf[tree.linear.of[i] - 1];
      for (uint32_t k = 0; k < from->n_terms; k++) {
        term[n_terms + k] = tree.linear.term[from->term_beg + k];
        term[n_terms + k].grid = w->linear[term[n_terms + k].grid] - 1;
      }
      leaf[n_leaves] = *from;
      leaf[n_leaves].term_beg = n_terms;
      n_terms += from->n_terms;
      *of = ++n_leaves;
    }
  }
}

/* ---- reading ---- */

gbt_status gbti_read_linear(gbti_reader *r, gbt_forest_view *forest) {
  const uint64_t *n = r->n;
  const gbt_sum_rule rule = (gbt_sum_rule)forest->sums.rule; /* leaves of numbers, which have no cuts, have others */
  const uint64_t any = n[GBTI_SEC_LINEAR_GRIDS] | n[GBTI_SEC_LINEAR_CUTS] | n[GBTI_SEC_LINEAR_X] |
                       n[GBTI_SEC_LINEAR_OF] | n[GBTI_SEC_LINEAR_LEAVES] | n[GBTI_SEC_LINEAR_TERMS];
  if (any == 0) return GBT_OK;
  if (n[GBTI_SEC_LINEAR_GRIDS] == 0 || n[GBTI_SEC_LINEAR_GRIDS] > UINT32_MAX || n[GBTI_SEC_LINEAR_LEAVES] == 0 ||
      n[GBTI_SEC_LINEAR_X] != n[GBTI_SEC_LINEAR_CUTS] || n[GBTI_SEC_LINEAR_OF] != forest->n_nodes ||
      forest->n_leaf_outputs != 1 || rule == GBT_SUM_FLOAT || (rule != GBT_SUM_PLAIN && n[GBTI_SEC_LINEAR_CUTS] > 0))
    return gbti_damaged(r, "sizes of the sections of linear leaves do not match");
  forest->linear = (gbt_linear_view){.n_leaves = n[GBTI_SEC_LINEAR_LEAVES],
                                     .n_terms = n[GBTI_SEC_LINEAR_TERMS],
                                     .n_values = n[GBTI_SEC_LINEAR_CUTS],
                                     .n_grids = (uint32_t)n[GBTI_SEC_LINEAR_GRIDS],
                                     .of = r->at[GBTI_SEC_LINEAR_OF],
                                     .leaf = r->at[GBTI_SEC_LINEAR_LEAVES],
                                     .term = r->at[GBTI_SEC_LINEAR_TERMS],
                                     .grid = r->at[GBTI_SEC_LINEAR_GRIDS],
                                     .cut = r->at[GBTI_SEC_LINEAR_CUTS],
                                     .x = r->at[GBTI_SEC_LINEAR_X]};
  const char *fault = gbt_linear_fault(forest, r->parts.schema->feat);
  return fault == NULL ? GBT_OK : gbti_damaged(r, fault);
}
