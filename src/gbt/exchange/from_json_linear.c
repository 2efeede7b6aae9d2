/* Linear leaves of gbt's own JSON: grids, and slopes and means of leaves. gbt_linear_fault() has the other rules. */
#include <string.h>

#include "../base/bits.h"
#include "from_json.h"
#include "plant.h"

static gbt_status fault(const gbti_own_reader *r, const char *what) { return gbti_document_fault(r->doc, what); }

/* ---- grids ---- */

static gbt_status read_grid(gbti_own_reader *r, size_t value, uint32_t g) {
  size_t at, positions;
  int64_t n, n_bins, x;
  gbt_linear_view *linear = &r->forest.linear;
  gbt_linear_grid *grid = &r->grid[g];
  GBT_TRY(gbti_whole(r->doc, gbti_get(r->doc, value, "column"), "column", 0, (int64_t)r->n_columns - 1, &x));
  GBT_TRY(gbti_own_list(r, gbti_get(r->doc, value, "cuts"), "cuts", &at, &n));
  GBT_TRY(gbti_own_list(r, gbti_get(r->doc, value, "positions"), "positions", &positions, &n_bins));
  if (n_bins != n + 1 || n_bins > INT32_MAX) return fault(r, "a grid has not one position more than cuts");
  *grid = (gbt_linear_grid){(int32_t)x, (int32_t)n_bins, linear->n_values};
  linear->n_values += (uint64_t)n_bins;
  GBT_TRY(gbt_mem_grow(&r->mem, &r->cut, &r->cap_cut, (size_t)linear->n_values, sizeof *r->cut, r->err));
  GBT_TRY(gbt_mem_grow(&r->mem, &r->x, &r->cap_x, (size_t)linear->n_values, sizeof *r->x, r->err));
  for (int64_t i = 0; i < n; i++, at = gbti_next(r->doc, at))
    GBT_TRY(gbti_number(r->doc, at, "cuts", 0, &r->cut[grid->beg + (uint64_t)i]));
  r->cut[grid->beg + (uint64_t)n] = gbt_from_bits((uint64_t)0x7ff << 52);
  for (int64_t i = 0; i < n_bins; i++, positions = gbti_next(r->doc, positions)) {
    GBT_TRY(gbti_whole(r->doc, positions, "positions", -GBT_LINEAR_HALF, GBT_LINEAR_HALF, &x));
    r->x[grid->beg + (uint64_t)i] = (int16_t)x;
  }
  return GBT_OK;
}

gbt_status gbti_own_grids(gbti_own_reader *r) {
  size_t at;
  int64_t n, version;
  GBT_TRY(gbti_whole(r->doc, gbti_get(r->doc, 0, "version"), "version", 1, 3, &version));
  r->linear = version > 1;
  r->numbers = version == 3;
  if (version != 2) return GBT_OK;
  GBT_TRY(gbti_own_list(r, gbti_get(r->doc, 0, "grids"), "grids", &at, &n));
  if (n > r->n_columns) return fault(r, "there are more grids than columns");
  GBT_TRY(gbt_mem_zeros(&r->mem, (size_t)n, sizeof *r->grid, &r->grid, r->err));
  for (uint32_t g = 0; g < (uint32_t)n; g++, at = gbti_next(r->doc, at)) GBT_TRY(read_grid(r, at, g));
  r->forest.linear.n_grids = (uint32_t)n;
  return GBT_OK;
}

/* ---- leaves ---- */

/* [start, low, high, grid, slope, grid, slope, ..]; of numbers [start, column, slope, column, slope, ..], where grids
 * are columns at first: gbti_own_columns(). */
static gbt_status read_slopes(gbti_own_reader *r, size_t value, size_t node) {
  gbt_linear_view *linear = &r->forest.linear;
  const int64_t n_ends = r->numbers ? 1 : 3, most = r->numbers ? INT32_MAX : n_ends + 2 * GBT_LINEAR_MOST;
  const int64_t last = (r->numbers ? (int64_t)r->n_columns : (int64_t)linear->n_grids) - 1;
  size_t at;
  int64_t n, grid;
  GBT_TRY(gbti_own_list(r, value, "linear", &at, &n));
  if (n < n_ends + 2 || n % 2 == 0 || n > most || r->nodes[node].left > 0)
    return gbti_own_tree_fault(r, "a linear leaf lacks numbers, has too many, or is none");
  gbt_linear_leaf leaf = {.term_beg = linear->n_terms, .n_terms = (uint32_t)(n - n_ends) / 2};
  double *const ends[] = {&leaf.start, &leaf.low, &leaf.high};
  for (int i = 0; i < n_ends; i++, at = gbti_next(r->doc, at)) GBT_TRY(gbti_number(r->doc, at, "linear", 0, ends[i]));
  linear->n_terms += leaf.n_terms;
  GBT_TRY(gbt_mem_grow(&r->mem, &r->leaf, &r->cap_leaves, (size_t)linear->n_leaves + 1, sizeof *r->leaf, r->err));
  GBT_TRY(gbt_mem_grow(&r->mem, &r->term, &r->cap_terms, (size_t)linear->n_terms, sizeof *r->term, r->err));
  for (uint32_t k = 0; k < leaf.n_terms; k++, at = gbti_next(r->doc, at)) {
    gbt_linear_term *term = &r->term[leaf.term_beg + k];
    *term = (gbt_linear_term){0};
    GBT_TRY(gbti_whole(r->doc, at, "linear", 0, last, &grid));
    term->grid = (uint32_t)grid;
    at = gbti_next(r->doc, at);
    GBT_TRY(gbti_number(r->doc, at, "linear", 0, &term->slope));
  }
  r->leaf[linear->n_leaves++] = leaf;
  r->of[node] = (uint32_t)linear->n_leaves;
  return GBT_OK;
}

/* Means of a leaf's numbers, in positions: whole multiples of 1 / GBT_LINEAR_MEAN. */
static gbt_status read_means(gbti_own_reader *r, size_t value, size_t node) {
  const gbt_linear_leaf *leaf = &r->leaf[r->of[node] - 1];
  double mean = 0.0;
  size_t at;
  int64_t n;
  GBT_TRY(gbti_own_list(r, value, "means", &at, &n));
  if (n != leaf->n_terms) return gbti_own_tree_fault(r, "a linear leaf has not a mean for each slope");
  for (uint32_t k = 0; k < leaf->n_terms; k++, at = gbti_next(r->doc, at)) {
    GBT_TRY(gbti_number(r->doc, at, "means", 0, &mean));
    mean *= GBT_LINEAR_MEAN;
    if (!(mean >= -GBT_LINEAR_HALF * (double)GBT_LINEAR_MEAN && mean <= GBT_LINEAR_HALF * (double)GBT_LINEAR_MEAN) ||
        mean != (double)(int32_t)mean)
      return gbti_own_tree_fault(r, "a mean is no position");
    r->term[leaf->term_beg + k].mean = (int32_t)mean;
  }
  return GBT_OK;
}

gbt_status gbti_own_columns(gbti_own_reader *r) {
  gbt_linear_view *linear = &r->forest.linear;
  return gbti_grids_of_columns(&r->mem, r->term, (size_t)linear->n_terms, r->n_columns, &r->grid, &linear->n_grids,
                               r->err);
}

gbt_status gbti_own_linear(gbti_own_reader *r, size_t tree, size_t beg, int64_t n) {
  size_t at, means = gbti_get(r->doc, tree, "means");
  int64_t its;
  GBT_TRY(gbti_own_list(r, gbti_get(r->doc, tree, "linear"), "linear", &at, &its));
  if (its != n) return gbti_own_tree_fault(r, "its lists differ in length");
  for (size_t i = beg; i < beg + (size_t)n; i++, at = gbti_next(r->doc, at))
    if (gbti_kind_of(r->doc, at) != GBTI_VALUE_NULL) GBT_TRY(read_slopes(r, at, i));
  if (r->numbers) return GBT_OK; /* of which means are not known */
  GBT_TRY(gbti_own_list(r, means, "means", &at, &its));
  if (its != n) return gbti_own_tree_fault(r, "its lists differ in length");
  for (size_t i = beg; i < beg + (size_t)n; i++, at = gbti_next(r->doc, at)) {
    const int constant = gbti_kind_of(r->doc, at) == GBTI_VALUE_NULL;
    if (constant != (r->of[i] == 0))
      return gbti_own_tree_fault(r, "`means` and `linear` are not null for the same nodes");
    if (!constant) GBT_TRY(read_means(r, at, i));
  }
  return GBT_OK;
}
