/* Linear leaves: a leaf whose value depends on up to GBT_LINEAR_MOST numeric features that the tree split by above it.
 *
 *   grid   of a feature: its cuts, and a whole number X for each of its bins, the position of the middle of the bin
 *   leaf   start + slope * X + slope * X + ..., clipped to [low, high], the range of its training rows
 *
 * A row for which one of these features is missing gets the value of the leaf's node instead, as in a tree of constant
 * leaves. X depends only on the bin, so a row has the same value whether its bins or its numbers are known; and x
 * cannot leave the data, as the outer bins have an end. Trees whose leaves are all constant have none of this.
 *
 * Leaves of numbers are those of imported models: start + slope * x + slope * x + ..., where x are the numbers
 * themselves, of any number of features, and nothing is clipped. All leaves of a forest are of one kind, and grids
 * without bins say so: n_bins is 0; low, high and means are 0. */
#ifndef GBT_TREE_LINEAR_H
#define GBT_TREE_LINEAR_H

#include <stdint.h>

#include "../base/hd.h"
#include "../base/mem.h"

enum {
  GBT_LINEAR_MOST = 6,           /* features of a leaf */
  GBT_LINEAR_HALF = 1 << 14,     /* X is from -GBT_LINEAR_HALF to GBT_LINEAR_HALF */
  GBT_LINEAR_MEAN = 1 << 16,     /* the unit of means is X / GBT_LINEAR_MEAN */
  GBT_LINEAR_MISSING = INT32_MIN /* in place of X */
};

typedef struct gbt_linear_grid {
  int32_t feat, n_bins;
  uint64_t beg; /* its n_bins entries of the cuts, which end with +Inf, and of the numbers X */
} gbt_linear_grid;

typedef struct gbt_linear_leaf {
  double start, low, high;
  uint64_t term_beg;
  uint32_t n_terms, zero; /* 1 .. GBT_LINEAR_MOST, of numbers 1 or more; 0 */
} gbt_linear_leaf;

typedef struct gbt_linear_term {
  double slope;
  uint32_t grid; /* its number */
  int32_t mean;  /* of X over the rows that the leaf was fitted to, by their hessians: times GBT_LINEAR_MEAN, rounded */
} gbt_linear_term;

/* Borrowed pointers. All 0 where the trees of a forest have constant leaves only. */
typedef struct gbt_linear_view {
  uint64_t n_leaves, n_terms, n_values; /* linear leaves; their terms; entries of all grids */
  uint32_t n_grids;
  const uint32_t *of; /* by node of the forest: 0, or 1 + the number of its linear leaf, which ascend */
  const gbt_linear_leaf *leaf;
  const gbt_linear_term *term;
  const gbt_linear_grid *grid;
  const double *cut;
  const int16_t *x;
} gbt_linear_view;

/* Those of a tree: by node 0, or 1 + the number of its leaf. All NULL: its leaves are constant. */
typedef struct gbt_linear_tree {
  const uint32_t *of;
  const gbt_linear_leaf *leaf;
  const gbt_linear_term *term; /* of grids with the forest's numbers */
} gbt_linear_tree;

/* Whether the leaves read numbers, not bins. */
GBT_FN int gbt_linear_of_numbers(const gbt_linear_view *linear) {
  return linear->n_grids > 0 && linear->n_values == 0;
}

/* Which bin a number is in: the smallest b with x <= cut[b]. x is not NaN. */
GBT_FN int32_t gbt_linear_bin(const double *cut, int32_t n_bins, double x) {
  int32_t low = 0, high = n_bins - 1;
  while (low < high) {
    const int32_t mid = low + (high - low) / 2;
    if (x <= cut[mid]) high = mid;
    else low = mid + 1;
  }
  return low;
}

/* X of a number; GBT_LINEAR_MISSING of NaN. */
GBT_FN int32_t gbt_linear_x(const gbt_linear_view *linear, uint32_t grid, double x) {
  const gbt_linear_grid *its = &linear->grid[grid];
  GBT_ASSERT(grid < linear->n_grids);
  if (x != x) return GBT_LINEAR_MISSING;
  return linear->x[its->beg + (uint64_t)gbt_linear_bin(linear->cut + its->beg, its->n_bins, x)];
}

GBT_FN double gbt_linear_clip(const gbt_linear_leaf *leaf, double value) {
  value = value < leaf->low ? leaf->low : value;
  return value > leaf->high ? leaf->high : value;
}

GBT_FN double gbt_linear_mean(const gbt_linear_term *term) { return (double)term->mean * (1.0 / GBT_LINEAR_MEAN); }

/* The value of a leaf; x: one of each of its terms, none missing. */
GBT_FN double gbt_linear_value(const gbt_linear_leaf *leaf, const gbt_linear_term *terms, const int32_t *x) {
  double value = leaf->start;
  for (uint32_t k = 0; k < leaf->n_terms; k++) value += terms[k].slope * (double)x[k];
  return gbt_linear_clip(leaf, value);
}

/* The value of a leaf of numbers; x: by feature; constant: where one of its numbers is missing. */
GBT_FN double gbt_linear_number(const gbt_linear_view *linear, const gbt_linear_leaf *leaf, const double *x,
                                double constant) {
  const gbt_linear_term *term = linear->term + leaf->term_beg;
  double value = leaf->start;
  for (uint32_t k = 0; k < leaf->n_terms; k++) {
    const double its = x[linear->grid[term[k].grid].feat];
    if (its != its) return constant;
    value += term[k].slope * its;
  }
  return value;
}

/* The numbers X of the bins of a feature, from its cuts: cut[0 .. n_bins - 2] ascend, cut[n_bins - 1] = +Inf. A
 * bin lies in the middle between its cuts; the outer ones reach half as far beyond their only cut as the next bin is
 * wide. Returns 0 when there is nothing to tell bins apart by: a single bin, or cuts that are not finite. */
int gbt_linear_positions(const double *cut, int32_t n_bins, int16_t *x);

/* The meaning of these numbers: X is the whole number nearest to (middle of the bin - centre) * up[0] * up[1]; `up` are
 * powers of two. Returns 0 when there are none. */
int gbt_linear_units(const double *cut, int32_t n_bins, double *centre, double up[2]);

#endif
