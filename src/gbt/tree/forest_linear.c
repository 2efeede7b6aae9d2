/* Linear leaves in the growing forest. Room is made before anything is copied, as for the nodes. */
#include <string.h>

#include "forest.h"

void gbti_forest_free_linear(gbt_forest *forest) {
  gbt_linear_store *linear = forest->linear;
  if (linear == NULL) return;
  gbt_mem_free(&forest->mem, linear->of);
  gbt_mem_free(&forest->mem, linear->leaf);
  gbt_mem_free(&forest->mem, linear->term);
  gbt_mem_free(&forest->mem, linear->grid);
  gbt_mem_free(&forest->mem, linear->cut);
  gbt_mem_free(&forest->mem, linear->x);
  gbt_mem_free(&forest->mem, linear);
  forest->linear = NULL;
}

/* Room for so many grids with so many values together; freed with the forest. */
static gbt_status new_grids(gbt_forest *forest, uint32_t n_grids, size_t n_values, gbt_error *err) {
  const gbt_mem *mem = &forest->mem;
  GBT_ASSERT(forest->linear == NULL && forest->n_nodes == 0);
  GBT_TRY(gbt_mem_zeros(mem, 1, sizeof *forest->linear, &forest->linear, err));
  gbt_linear_store *linear = forest->linear;
  GBT_TRY(gbt_mem_array(mem, n_grids, sizeof *linear->grid, &linear->grid, err));
  GBT_TRY(gbt_mem_array(mem, n_values, sizeof *linear->cut, &linear->cut, err));
  return gbt_mem_array(mem, n_values, sizeof *linear->x, &linear->x, err);
}

gbt_status gbt_forest_use_linear(gbt_forest *forest, const double *const *cut, const int32_t *n_bins, gbt_error *err) {
  uint32_t n_grids = 0;
  size_t n_values = 0;
  for (int32_t f = 0; f < forest->n_features; f++)
    if (cut[f] != NULL) n_grids++, n_values += (size_t)n_bins[f];
  GBT_TRY(new_grids(forest, n_grids, n_values, err));
  gbt_linear_store *linear = forest->linear;
  for (int32_t f = 0; f < forest->n_features; f++) {
    if (cut[f] == NULL || !gbt_linear_positions(cut[f], n_bins[f], linear->x + linear->n_values)) continue;
    memcpy(linear->cut + linear->n_values, cut[f], (size_t)n_bins[f] * sizeof *linear->cut);
    linear->grid[linear->n_grids++] = (gbt_linear_grid){f, n_bins[f], linear->n_values};
    linear->n_values += (size_t)n_bins[f];
  }
  return GBT_OK;
}

/* The place of a feature's grid among n grids whose features ascend; -1: it has none. */
static int32_t find_grid(const gbt_linear_grid *grid, uint32_t n, int32_t feat) {
  uint32_t low = 0, high = n;
  while (low < high) {
    const uint32_t mid = low + (high - low) / 2;
    if (grid[mid].feat < feat) low = mid + 1;
    else high = mid;
  }
  return low < n && grid[low].feat == feat ? (int32_t)low : -1;
}

/* Appends a grid; there is room. */
static void put_grid(gbt_linear_store *linear, const gbt_linear_view *from, uint32_t g) {
  gbt_linear_grid *to = &linear->grid[linear->n_grids++];
  const gbt_linear_grid *its = &from->grid[g];
  const size_t n = (size_t)its->n_bins;
  *to = (gbt_linear_grid){its->feat, its->n_bins, linear->n_values};
  if (n == 0) return;
  memcpy(linear->cut + to->beg, from->cut + its->beg, n * sizeof *linear->cut);
  memcpy(linear->x + to->beg, from->x + its->beg, n * sizeof *linear->x);
  linear->n_values += n;
}

gbt_status gbti_forest_take_grids(gbt_forest *forest, const gbt_forest_view *views, int32_t n, gbt_error *err) {
  uint32_t n_grids = 0;
  size_t n_values = 0;
  for (int32_t m = 0; m < n; m++) {
    n_grids += views[m].linear.n_grids;
    n_values += (size_t)views[m].linear.n_values;
  }
  if (n_grids == 0) return GBT_OK;
  GBT_TRY(new_grids(forest, n_grids, n_values, err));
  for (int32_t f = 0; f < forest->n_features; f++)
    for (int32_t m = 0; m < n; m++) {
      const gbt_linear_view *from = &views[m].linear;
      const int32_t at = find_grid(from->grid, from->n_grids, f);
      if (at < 0) continue;
      put_grid(forest->linear, from, (uint32_t)at); /* of the first one that has it */
      break;
    }
  return GBT_OK;
}

int32_t gbt_forest_grid_of(const gbt_forest *forest, int32_t feat) {
  return find_grid(forest->linear->grid, forest->linear->n_grids, feat);
}

static int same_grid(const gbt_linear_store *linear, uint32_t own, const gbt_linear_view *from, uint32_t its) {
  const gbt_linear_grid *a = &linear->grid[own], *b = &from->grid[its];
  const size_t n = (size_t)a->n_bins;
  if (n == 0 || a->n_bins != b->n_bins) return a->n_bins == b->n_bins;
  return memcmp(linear->cut + a->beg, from->cut + b->beg, n * sizeof *linear->cut) == 0 &&
         memcmp(linear->x + a->beg, from->x + b->beg, n * sizeof *linear->x) == 0;
}

gbt_status gbti_forest_match_grids(const gbt_forest *forest, const gbt_linear_view *from, uint32_t **map,
                                   gbt_error *err) {
  *map = NULL;
  if (from->n_leaves == 0) return GBT_OK;
  if (forest->linear == NULL)
    return gbt_fail_on(err, GBT_E_ARG, "leaf_model",
                       "the initial model has linear leaves; set `leaf_model = \"linear\"`");
  const gbt_forest_view own = gbt_forest_view_of(forest);
  if (gbt_linear_of_numbers(from) != gbt_linear_of_numbers(&own.linear))
    return gbt_fail_on(err, GBT_E_ARG, "leaf_model",
                       "linear leaves of an imported model read numbers, and those of gbt read bins, so both cannot be "
                       "in one model; predict with each of the models");
  GBT_TRY(gbt_mem_array(&forest->mem, from->n_grids, sizeof **map, map, err));
  for (uint32_t g = 0; g < from->n_grids; g++) {
    const int32_t its = gbt_forest_grid_of(forest, from->grid[g].feat);
    if (its >= 0 && same_grid(forest->linear, (uint32_t)its, from, g)) {
      (*map)[g] = (uint32_t)its;
      continue;
    }
    gbt_mem_free(&forest->mem, *map);
    *map = NULL;
    return gbt_fail_on(err, GBT_E_ARG, "leaf_model",
                       "the model has linear leaves, which read other cuts than those at hand; take the cuts of its "
                       "training data (`reference`), or train a new model");
  }
  return GBT_OK;
}

gbt_status gbti_forest_linear_room(gbt_forest *forest, size_t n_nodes, uint64_t leaves, uint64_t terms,
                                   gbt_error *err) {
  gbt_linear_store *linear = forest->linear;
  const gbt_mem *mem = &forest->mem;
  if (linear == NULL) return GBT_OK;
  GBT_TRY(gbt_mem_grow(mem, &linear->of, &linear->cap_of, n_nodes, sizeof *linear->of, err));
  GBT_TRY(gbt_mem_grow(mem, &linear->leaf, &linear->cap_leaves, linear->n_leaves + (size_t)leaves,
                       sizeof *linear->leaf, err));
  return gbt_mem_grow(mem, &linear->term, &linear->cap_terms, linear->n_terms + (size_t)terms, sizeof *linear->term,
                      err);
}

/* The tree's nodes are the last ones of the forest. */
void gbti_forest_put_linear(gbt_forest *forest, const gbt_tree_parts *tree, const uint32_t *map) {
  gbt_linear_store *linear = forest->linear;
  if (linear == NULL) return;
  uint32_t *of = linear->of + (forest->n_nodes - tree->n_nodes);
  memset(of, 0, tree->n_nodes * sizeof *of);
  for (uint32_t i = 0; tree->linear.of != NULL && i < tree->n_nodes; i++) {
    if (tree->linear.of[i] == 0) continue;
    gbt_linear_leaf leaf = tree->linear.leaf[tree->linear.of[i] - 1];
    for (uint32_t k = 0; k < leaf.n_terms; k++) {
      gbt_linear_term *term = &linear->term[linear->n_terms + k];
      *term = tree->linear.term[leaf.term_beg + k];
      if (map != NULL) term->grid = map[term->grid];
    }
    leaf.term_beg = linear->n_terms;
    linear->n_terms += leaf.n_terms;
    linear->leaf[linear->n_leaves++] = leaf;
    of[i] = (uint32_t)linear->n_leaves;
  }
}

void gbti_linear_first(gbt_linear_view *linear, uint64_t n_nodes) {
  if (linear->n_grids == 0) return;
  uint64_t n = n_nodes; /* the last node that has some */
  while (n > 0 && linear->of[n - 1] == 0) n--;
  linear->n_leaves = n > 0 ? linear->of[n - 1] : 0;
  const gbt_linear_leaf *last = linear->n_leaves > 0 ? &linear->leaf[linear->n_leaves - 1] : NULL;
  linear->n_terms = last != NULL ? last->term_beg + last->n_terms : 0;
}
