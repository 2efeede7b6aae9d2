/* A candidate split and the total order among candidates. Shared by all backends. */
#ifndef GBT_TREE_SPLIT_H
#define GBT_TREE_SPLIT_H

#include "../math/fixed.h"
#include "../math/gain.h"
#include "../params.h"

typedef enum gbt_split_kind {
  GBT_SPLIT_NONE = 0,
  GBT_SPLIT_NUMERIC, /* codes <= bin go left */
  GBT_SPLIT_ONEHOT,  /* the code `bin` goes left */
  GBT_SPLIT_SET      /* the first `bin` levels in order of gradient go left (the last ones when from_top) */
} gbt_split_kind;

typedef struct gbt_split {
  double gain;          /* > 0 unless kind is NONE */
  int32_t kind, feat, bin;
  int8_t from_top;      /* SET only */
  int8_t missing_left;  /* where the missing code goes; undecided (0) when the node has no missing value here */
  int8_t has_missing;   /* the node has missing values of this feature: their sums are not 0, or they were counted */
  gbt_sum left;         /* sums of the left child */
} gbt_split;

/* 1 when a beats b: larger gain, then lower feature, lower bin, bottom before top, missing right before left. */
GBT_FN int gbt_split_beats(const gbt_split *a, const gbt_split *b) {
  if (b->kind == GBT_SPLIT_NONE) return a->kind != GBT_SPLIT_NONE;
  if (a->kind == GBT_SPLIT_NONE) return 0;
  if (a->gain != b->gain) return a->gain > b->gain;
  if (a->feat != b->feat) return a->feat < b->feat;
  if (a->bin != b->bin) return a->bin < b->bin;
  if (a->from_top != b->from_top) return a->from_top < b->from_top;
  return a->missing_left < b->missing_left;
}

/* The least rows on either side of a set of levels, and between the sets that are tried, in a node of n_rows. */
GBT_FN int64_t gbt_set_least(const gbt_params *params, int64_t n_rows) {
  int64_t least = params->min_data_per_group;
  if (least > n_rows / 4) least = n_rows / 4; /* small nodes: a quarter of the rows is enough */
  return least > params->min_data_in_leaf ? least : params->min_data_in_leaf;
}

/* Sums in histogram units to real numbers. */
typedef struct gbt_units {
  double g, h;
} gbt_units;

/* The least gain that can be more than rounding. A gradient unit u is rounded with variance <= u^2 / 4 a row, so a
 * split of n rows of pure rounding noise gains about u^2 n / (4 h) a side; 8 u^2 n / h lies far above the best of
 * thousands of such candidates and far below any real gain (u is 2^-15 of the largest gradient). */
GBT_FN double gbt_noise_floor(gbt_units unit, int64_t n_rows, double h) {
  return h > 0.0 ? 8.0 * unit.g * unit.g * (double)n_rows / h : 0.0;
}

#endif
