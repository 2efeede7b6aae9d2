/* Trees as hosts can read them. */
#include "view.h"

#include <math.h>
#include <stddef.h>

#include "../base/float_mode.h"
#include "forest.h"

gbt_forest_info gbt_forest_about(const gbt_forest_view *forest) {
  gbt_forest_info about = {.n_features = forest->n_features,
                           .n_outputs = forest->n_outputs,
                           .n_leaf_outputs = forest->n_leaf_outputs,
                           .n_parallel = forest->n_parallel,
                           .n_trees = forest->n_trees,
                           .trees_per_round = gbt_trees_per_round(forest),
                           .n_nodes = forest->n_nodes,
                           .base = forest->base,
                           .sums = forest->sums};
  GBT_ASSERT(about.trees_per_round > 0);
  about.n_rounds = about.n_trees / about.trees_per_round;
  return about;
}

uint32_t gbt_tree_n_nodes(const gbt_forest_view *forest, uint64_t tree) {
  GBT_ASSERT(tree < forest->n_trees);
  return forest->trees[tree].n_nodes;
}

gbt_node_info gbt_tree_node(const gbt_forest_view *forest, uint64_t tree, uint32_t node) {
  GBT_ASSERT(tree < forest->n_trees && node < forest->trees[tree].n_nodes);
  uint64_t i = forest->trees[tree].node_beg + node;
  const gbt_node *at = &forest->nodes[i];
  gbt_node_info out = {.feature = -1, .threshold = NAN, .cover = forest->cover[i], .count = forest->count[i]};
  if (at->left == 0) {
    out.value = forest->n_leaf_outputs > 1 ? forest->leaf_values + at->arg.vector * (uint64_t)forest->n_leaf_outputs
                                           : &at->arg.value;
    return out;
  }
  out.feature = (int32_t)(at->feat & GBT_NODE_FEATURE);
  out.left = at->left;
  out.missing_left = (at->feat & GBT_NODE_MISSING_LEFT) != 0;
  out.bulk_left = (at->feat & GBT_NODE_BULK_LEFT) != 0;
  out.gain = forest->gain[i];
  if (at->feat & GBT_NODE_CATEGORICAL) {
    out.by_set = 1;
    out.n_words = at->arg.set.n_words;
    if (out.n_words > 0) out.set = forest->sets + forest->trees[tree].set_beg + at->arg.set.beg;
  } else {
    out.threshold = at->arg.value;
  }
  return out;
}

uint32_t gbt_forest_n_units(const gbt_forest_view *forest) {
  return forest->linear.n_leaves > 0 ? forest->linear.n_grids : 0;
}

/* NaN where the cuts of the grid have no unit: a file may have any. */
static gbt_slope_unit unit_of(const gbt_linear_view *linear, const gbt_linear_grid *grid) {
  gbt_slope_unit out = {.known = 1, .centre = NAN, .up = {NAN, NAN}};
  if (gbt_linear_of_numbers(linear)) return (gbt_slope_unit){.known = 1, .centre = 0.0, .up = {1.0, 1.0}};
  (void)gbt_linear_units(linear->cut + grid->beg, grid->n_bins, &out.centre, out.up);
  return out;
}

/* NULL: the leaf is constant. */
static const gbt_linear_leaf *linear_leaf(const gbt_forest_view *forest, uint64_t tree, uint32_t node) {
  GBT_ASSERT(tree < forest->n_trees && node < forest->trees[tree].n_nodes);
  const gbt_linear_view *linear = &forest->linear;
  const uint32_t of = linear->n_leaves > 0 ? linear->of[forest->trees[tree].node_beg + node] : 0;
  return of == 0 ? NULL : &linear->leaf[of - 1];
}

static gbt_leaf_slope slope_of(const gbt_linear_view *linear, const gbt_linear_term *term, const gbt_slope_unit *unit) {
  const gbt_slope_unit *its = &unit[term->grid];
  return (gbt_leaf_slope){linear->grid[term->grid].feat, (term->slope * its->up[0]) * its->up[1]};
}

gbt_leaf_slopes gbt_tree_slopes(const gbt_forest_view *forest, uint64_t tree, uint32_t node, gbt_slope_unit *unit) {
  const gbt_linear_view *linear = &forest->linear;
  const gbt_linear_leaf *leaf = linear_leaf(forest, tree, node);
  gbt_leaf_slopes out = {.n = 0};
  if (leaf == NULL) return out;
  const uint32_t other_float = gbti_float_begin();
  const int numbers = gbt_linear_of_numbers(linear);
  out.n = leaf->n_terms;
  out.intercept = leaf->start;
  out.low = numbers ? -INFINITY : leaf->low;
  out.high = numbers ? INFINITY : leaf->high;
  for (uint32_t k = 0; k < out.n; k++) {
    const gbt_linear_term *term = &linear->term[leaf->term_beg + k];
    gbt_slope_unit *its = &unit[term->grid];
    GBT_ASSERT(term->grid < linear->n_grids);
    if (!its->known) *its = unit_of(linear, &linear->grid[term->grid]);
    if (!numbers) out.intercept -= slope_of(linear, term, unit).slope * its->centre;
  }
  gbti_float_end(other_float);
  return out;
}

gbt_leaf_slope gbt_tree_slope(const gbt_forest_view *forest, uint64_t tree, uint32_t node, uint32_t k,
                              const gbt_slope_unit *unit) {
  const gbt_linear_leaf *leaf = linear_leaf(forest, tree, node);
  GBT_ASSERT(leaf != NULL && k < leaf->n_terms);
  const uint32_t other_float = gbti_float_begin();
  const gbt_leaf_slope out = slope_of(&forest->linear, &forest->linear.term[leaf->term_beg + k], unit);
  gbti_float_end(other_float);
  return out;
}

void gbt_importance(const gbt_forest_view *forest, gbt_tree_range trees, double *gain, double *cover, double *splits) {
  const uint32_t other_float = gbti_float_begin();
  for (int32_t f = 0; f < forest->n_features; f++) gain[f] = cover[f] = splits[f] = 0.0;
  uint64_t end = trees.end < forest->n_trees ? trees.end : forest->n_trees;
  for (uint64_t t = trees.beg; t < end; t++) {
    uint64_t beg = forest->trees[t].node_beg;
    for (uint64_t i = beg; i < beg + forest->trees[t].n_nodes; i++) {
      const gbt_node *node = &forest->nodes[i];
      if (node->left == 0) continue;
      uint32_t f = node->feat & GBT_NODE_FEATURE;
      gain[f] += forest->gain[i];
      cover[f] += forest->cover[i];
      splits[f] += 1.0;
    }
  }
  gbti_float_end(other_float);
}
