/* Rules for trees that come from a file: see check.h. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "../base/bits.h"

/* Finite: neither NaN nor infinite. */
static int is_finite(double x) { return x - x == 0.0; }

/* The sets that were seen so far: the node of the last one, and the words of all. */
typedef struct sets_seen {
  const gbt_node *last;
  uint64_t n_words;
} sets_seen;

/* Splits of a layer of a symmetric tree share a set, which counts once. Otherwise sets may not have more words than
 * there are: so what is made of the sets of a tree is bounded by its bytes, wherever they come from. */
static const char *set_fault(const gbt_tree *tree, const gbt_node *node, sets_seen *sets) {
  uint32_t beg = node->arg.set.beg, n = node->arg.set.n_words;
  if (beg > tree->n_words || n > tree->n_words - beg) return "a set of levels lies outside of its tree";
  if (sets->last == NULL || !gbt_same_set(node, sets->last)) sets->n_words += n;
  sets->last = node;
  return sets->n_words > tree->n_words ? "sets of levels overlap" : NULL;
}

static const char *split_fault(const gbt_tree *tree, const gbt_node *node, const gbt_feature *feat, int32_t n_features,
                               sets_seen *sets) {
  uint32_t f = node->feat & GBT_NODE_FEATURE;
  if (f >= (uint32_t)n_features) return "a split uses a feature that does not exist";
  if (!(node->feat & GBT_NODE_CATEGORICAL)) return node->arg.value != node->arg.value ? "a threshold is NaN" : NULL;
  if (feat[f].type != GBT_CATEGORICAL) return "a split by levels uses a feature without levels";
  return set_fault(tree, node, sets);
}

static const char *leaf_fault(const gbt_node *node, const uint64_t *n_vectors) {
  if (node->feat != 0) return "a leaf has a feature";
  if (n_vectors != NULL) return node->arg.vector < *n_vectors ? NULL : "a leaf's values do not exist";
  return is_finite(node->arg.value) ? NULL : "a leaf's value is not finite";
}

const char *gbt_tree_fault(const gbt_tree *tree, const gbt_node *nodes, const gbt_feature *feat, int32_t n_features,
                           const uint64_t *n_vectors, uint64_t *seen) {
  uint32_t n = tree->n_nodes, n_children = 0;
  sets_seen sets = {NULL, 0};
  if (n == 0) return "it has no nodes";
  if (n > INT32_MAX) return "it has too many nodes";
  memset(seen, 0, ((size_t)n + 63) / 64 * sizeof *seen);
  for (uint32_t i = 0; i < n; i++) {
    const gbt_node *node = &nodes[i];
    uint32_t left = node->left;
    const char *fault;
    if (left == 0) {
      fault = leaf_fault(node, n_vectors);
      if (fault != NULL) return fault;
      continue;
    }
    if (left <= i || left >= n - 1) return "a child lies before its parent or outside of the tree";
    for (uint32_t c = left; c <= left + 1; c++) {
      uint64_t bit = (uint64_t)1 << (c & 63u);
      if (seen[c >> 6] & bit) return "a node has two parents";
      seen[c >> 6] |= bit;
    }
    n_children += 2;
    fault = split_fault(tree, node, feat, n_features, &sets);
    if (fault != NULL) return fault;
  }
  return n_children == n - 1 ? NULL : "a node has no parent";
}

const char *gbt_forest_fault(const gbt_forest_view *forest) {
  if (forest->n_features < 0 || (uint32_t)forest->n_features > GBT_NODE_FEATURE)
    return "the number of features is out of range";
  if (forest->n_outputs < 1 || forest->n_parallel < 1)
    return "the number of outputs or of parallel trees is out of range";
  if (forest->n_leaf_outputs != 1 && forest->n_leaf_outputs != forest->n_outputs)
    return "the number of values of a leaf is neither 1 nor that of the outputs";
  if (forest->n_trees % gbt_trees_per_round(forest) != 0) return "the number of trees does not fill its rounds";
  if (forest->sums.rule < GBT_SUM_PLAIN || forest->sums.rule > GBT_SUM_MEAN) return "the rule of its sums is unknown";
  if (forest->sums.rule == GBT_SUM_SCALED && (!is_finite(forest->sums.scale) || forest->sums.scale == 0.0))
    return "the scale of its sums is 0 or not finite";
  for (int32_t k = 0; k < forest->n_outputs; k++)
    if (!is_finite(forest->base[k])) return "a base score is not finite";
  for (uint64_t i = 0; i < forest->n_vectors * (uint64_t)forest->n_leaf_outputs; i++)
    if (!is_finite(forest->leaf_values[i])) return "a leaf's value is not finite";
  return NULL;
}

static const char *weights_fault(const double *gain, const double *cover, uint64_t n) {
  uint64_t n_nan = 0;
  for (uint64_t i = 0; i < n; i++) n_nan += gain[i] != gain[i] || cover[i] != cover[i];
  return n_nan == 0 ? NULL : "a gain or a cover is NaN";
}

/* ---- linear leaves ---- */

static const char *grids_fault(const gbt_linear_view *linear, const gbt_feature *feats, int32_t n_features) {
  uint64_t at = 0;
  for (uint32_t g = 0; g < linear->n_grids; g++) {
    const gbt_linear_grid *grid = &linear->grid[g];
    if (grid->feat < 0 || grid->feat >= n_features || (g > 0 && grid->feat <= grid[-1].feat))
      return "grids of linear leaves are not in the order of their features";
    const gbt_feature *feat = &feats[grid->feat];
    if (feat->kind != GBT_FEATURE_COLUMN || feat->type != GBT_NUMERIC)
      return "a grid of linear leaves belongs to a feature that is not numeric";
    if (linear->n_values == 0) {
      if (grid->beg != 0 || grid->n_bins != 0) return "a grid of linear leaves is not where it must be";
      continue;
    }
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

/* Whether a leaf has its constant at the means of its terms, as far as these are rounded: contributions take it so. */
static int has_means(const gbt_linear_leaf *leaf, const gbt_linear_term *term, double constant) {
  double at = leaf->start - constant, size = 0.0;
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    at += term[k].slope * gbt_linear_mean(&term[k]);
    size += fabs(term[k].slope);
  }
  const double rounded = 1e-9 * (fabs(leaf->start) + size * GBT_LINEAR_HALF) + 1e-300;
  return fabs(at) <= size * (1.0 / GBT_LINEAR_MEAN) + rounded;
}

/* Fields that only leaves of bins have are 0. */
static const char *number_fault(const gbt_linear_leaf *leaf, const gbt_linear_term *term) {
  uint64_t other = gbt_bits(leaf->low) | gbt_bits(leaf->high);
  for (uint32_t k = 0; k < leaf->n_terms; k++) other |= (uint32_t)term[k].mean;
  return other == 0 ? NULL : "a linear leaf of numbers has a range or means";
}

static const char *leaves_fault(const gbt_forest_view *forest) {
  const gbt_linear_view *linear = &forest->linear;
  const int numbers = gbt_linear_of_numbers(linear);
  uint64_t next = 0, term = 0;
  for (uint64_t i = 0; i < forest->n_nodes; i++) {
    if (linear->of[i] == 0) continue;
    if (forest->nodes[i].left != 0 || linear->of[i] != next + 1 || next == linear->n_leaves)
      return "a linear leaf is not where it must be";
    const gbt_linear_leaf *leaf = &linear->leaf[next++];
    if (leaf->zero != 0 || leaf->n_terms < 1 || (leaf->n_terms > GBT_LINEAR_MOST && !numbers) ||
        leaf->term_beg != term || leaf->n_terms > linear->n_terms - term)
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
    const char *fault = numbers ? number_fault(leaf, linear->term + term) : NULL;
    if (fault != NULL) return fault;
    if (!numbers && !has_means(leaf, linear->term + term, forest->nodes[i].arg.value))
      return "a linear leaf does not have its constant at the means of its columns";
    term += leaf->n_terms;
  }
  return next == linear->n_leaves && term == linear->n_terms ? NULL : "there are linear leaves that belong to no node";
}

const char *gbt_linear_fault(const gbt_forest_view *forest, const gbt_feature *feat) {
  const char *fault = grids_fault(&forest->linear, feat, forest->n_features);
  return fault != NULL ? fault : leaves_fault(forest);
}

/* ---- all trees ---- */

gbt_status gbt_trees_check(const gbt_mem *mem, const gbt_forest_view *forest, const gbt_feature *feat,
                           gbt_tree_flaw *flaw, gbt_error *err) {
  const uint64_t *n_vectors = forest->n_leaf_outputs > 1 ? &forest->n_vectors : NULL;
  uint64_t *seen;
  uint32_t most = 0;
  flaw->what = NULL;
  for (uint64_t t = 0; t < forest->n_trees; t++)
    if (forest->trees[t].n_nodes > most) most = forest->trees[t].n_nodes;
  GBT_TRY(gbt_mem_array(mem, ((size_t)most + 63) / 64, sizeof *seen, &seen, err));
  for (flaw->tree = 0; flaw->tree < forest->n_trees; flaw->tree++) {
    const gbt_tree *tree = &forest->trees[flaw->tree];
    const uint64_t beg = tree->node_beg;
    flaw->what = gbt_tree_fault(tree, forest->nodes + beg, feat, forest->n_features, n_vectors, seen);
    if (flaw->what == NULL) flaw->what = weights_fault(forest->gain + beg, forest->cover + beg, tree->n_nodes);
    if (flaw->what != NULL) break;
  }
  gbt_mem_free(mem, seen);
  return GBT_OK;
}

/* Trees must be contiguous and fill the arrays of nodes and sets. */
static const char *places_fault(const gbt_forest_view *forest) {
  uint64_t node = 0, word = 0;
  for (uint64_t t = 0; t < forest->n_trees; t++) {
    const gbt_tree *tree = &forest->trees[t];
    if (tree->node_beg != node || tree->set_beg != word) return "a tree is not where it must be";
    node += tree->n_nodes;
    word += tree->n_words;
  }
  const int all = node == forest->n_nodes && word == forest->n_words;
  return all ? NULL : "the trees have more or fewer nodes than there are";
}

/* Leaves have the vectors one by one. */
static const char *vectors_fault(const gbt_forest_view *forest) {
  uint64_t next = 0;
  if (forest->n_leaf_outputs == 1) return NULL;
  for (uint64_t i = 0; i < forest->n_nodes; i++)
    if (forest->nodes[i].left == 0 && forest->nodes[i].arg.vector != next++)
      return "the values of a leaf are not where they must be";
  return next == forest->n_vectors ? NULL : "there are values that belong to no leaf";
}

gbt_status gbt_forest_check(const gbt_mem *mem, const gbt_forest_view *forest, const gbt_feature *feat,
                            const char **fault, gbt_error *err) {
  gbt_tree_flaw flaw;
  *fault = gbt_forest_fault(forest);
  if (*fault == NULL) *fault = places_fault(forest);
  if (*fault == NULL) *fault = vectors_fault(forest);
  if (*fault != NULL) return GBT_OK;
  GBT_TRY(gbt_trees_check(mem, forest, feat, &flaw, err));
  *fault = flaw.what;
  return GBT_OK;
}
