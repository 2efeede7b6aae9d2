/* Linear leaves lie in the order of the nodes, their terms in the order of the leaves, and grids are those that terms
 * use, in the order of their features. So a view of some trees has only what these need. */
#include "forest_linear.h"

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

static int is_finite(double x) { return x - x == 0.0; }

static const char *grids_fault(const gbti_reader *r, const gbt_linear_view *linear, int32_t n_features) {
  uint64_t at = 0;
  for (uint32_t g = 0; g < linear->n_grids; g++) {
    const gbt_linear_grid *grid = &linear->grid[g];
    if (grid->feat < 0 || grid->feat >= n_features || (g > 0 && grid->feat <= grid[-1].feat))
      return "grids of linear leaves are not in the order of their features";
    const gbt_feature *feat = &r->parts.schema->feat[grid->feat];
    if (feat->kind != GBT_FEATURE_COLUMN || feat->type != GBT_NUMERIC)
      return "a grid of linear leaves belongs to a feature that is not numeric";
    if (grid->beg != at || grid->n_bins < 2 || (uint64_t)grid->n_bins > linear->n_values - at)
      return "a grid of linear leaves is not where it must be";
    const double *cut = linear->cut + at;
    for (int32_t b = 0; b < grid->n_bins; b++) {
      const int last = b + 1 == grid->n_bins;
      if (last == is_finite(cut[b]) || (last && !(cut[b] > 0.0)) || (b > 0 && !(cut[b] > cut[b - 1])))
        return "cuts of linear leaves do not ascend";
      if (linear->x[at + (uint64_t)b] < -GBT_LINEAR_HALF || linear->x[at + (uint64_t)b] > GBT_LINEAR_HALF)
        return "a position of linear leaves is out of range";
    }
    at += (uint64_t)grid->n_bins;
  }
  return at == linear->n_values ? NULL : "there are cuts that belong to no grid";
}

static const char *leaves_fault(const gbt_forest_view *forest) {
  const gbt_linear_view *linear = &forest->linear;
  uint64_t next = 0, term = 0;
  for (uint64_t i = 0; i < forest->n_nodes; i++) {
    if (linear->of[i] == 0) continue;
    if (forest->nodes[i].left != 0 || linear->of[i] != next + 1 || next == linear->n_leaves)
      return "a linear leaf is not where it must be";
    const gbt_linear_leaf *leaf = &linear->leaf[next++];
    if (leaf->zero != 0 || leaf->n_terms < 1 || leaf->n_terms > GBT_LINEAR_MOST || leaf->term_beg != term ||
        leaf->n_terms > linear->n_terms - term)
      return "the terms of a linear leaf are not where they must be";
    if (!is_finite(leaf->start) || !is_finite(leaf->low) || !is_finite(leaf->high) || leaf->low > leaf->high)
      return "the range of a linear leaf is invalid";
    for (uint32_t k = 0; k < leaf->n_terms; k++) {
      const gbt_linear_term *its = &linear->term[term + k];
      if (its->grid >= linear->n_grids) return "a slope belongs to no grid";
      if (its->mean < -GBT_LINEAR_HALF * GBT_LINEAR_MEAN || its->mean > GBT_LINEAR_HALF * GBT_LINEAR_MEAN)
        return "a mean of linear leaves is out of range";
      if (!(its->slope < 1e300 && its->slope > -1e300)) return "a slope is not finite";
    }
    term += leaf->n_terms;
  }
  return next == linear->n_leaves && term == linear->n_terms ? NULL : "there are linear leaves that belong to no node";
}

gbt_status gbti_read_linear(gbti_reader *r, gbt_forest_view *forest) {
  const uint64_t *n = r->n;
  const uint64_t any = n[GBTI_SEC_LINEAR_GRIDS] | n[GBTI_SEC_LINEAR_CUTS] | n[GBTI_SEC_LINEAR_X] |
                       n[GBTI_SEC_LINEAR_OF] | n[GBTI_SEC_LINEAR_LEAVES] | n[GBTI_SEC_LINEAR_TERMS];
  if (any == 0) return GBT_OK;
  if (n[GBTI_SEC_LINEAR_GRIDS] == 0 || n[GBTI_SEC_LINEAR_GRIDS] > UINT32_MAX || n[GBTI_SEC_LINEAR_LEAVES] == 0 ||
      n[GBTI_SEC_LINEAR_X] != n[GBTI_SEC_LINEAR_CUTS] || n[GBTI_SEC_LINEAR_OF] != forest->n_nodes ||
      forest->n_leaf_outputs != 1 || forest->sums.rule != GBT_SUM_PLAIN)
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
  const char *fault = grids_fault(r, &forest->linear, forest->n_features);
  if (fault == NULL) fault = leaves_fault(forest);
  return fault == NULL ? GBT_OK : gbti_damaged(r, fault);
}
