/* Cuts: how every feature's values become bins. A pure function of each column's multiset of (value, weight): exact
 * order statistics, never a sketch, so it does not depend on pages, threads or ranks.
 *
 *   numeric, ordinal   bins 0 .. n_bins-1;  bin b holds  cut[b-1] < x <= cut[b];  cut[n_bins-1] = +inf
 *   categorical        level i of the schema: levels that occur, most frequent first, ties by first row; bin i = level
 *                      i, for the first GBT_MAX_LEVELS of them
 *   missing            code n_bins, in every feature; `has_missing` says whether training rows have it
 *
 * Numeric cuts (definition). v_1 < v_2 < ... the distinct values with positive weight, W their total weight.
 *   up to max_bin distinct values: one bin each.
 *   otherwise, with B = max_bin: values of weight >= 2 W / B are heavy; each is cut off from its neighbours on both
 *   sides, H of them. The light rest (weight L) gets B - 2 H bins: its k-th cut, k = 1 .. B-2H-1, follows the smallest
 *   light value with cumulative light weight >= k L / (B - 2 H).
 *
 * Equal cuts merge. A cut after v_i lies midway between v_i and v_(i+1): v_i + (v_(i+1) - v_i) / 2, or v_i when that is
 * not finite or not below v_(i+1). A column without any such value has one bin. Weights enter as integers: round(w *
 * 2^k), at least 1 when w > 0, with k = 62 - ceil(log2(n_rows)) - e and 2^e the least power above all weights, so no
 * sum overflows.
 *
 * Numbers and ranks get at most max_bin bins, at most 65,535. Factors have a bin for every level that occurs, whatever
 * max_bin is; those beyond GBT_MAX_LEVELS (schema/schema.h), the rarest, have no bin: the column itself has missing
 * values there, its statistics have not. Levels are counted by rows, and so are n_filled and has_missing, whatever the
 * rows weigh. */
#ifndef GBT_DATA_CUTS_H
#define GBT_DATA_CUTS_H

#include "../base/hd.h"
#include "table.h"

#define GBT_MAX_BINS 65535

/* As max_bin: a bin for each distinct value. GBT_E_DATA names a column that has more than GBT_MOST_VALUES. */
#define GBT_EXACT_BINS 65536
#define GBT_MOST_VALUES 65534

typedef struct gbt_feature_cuts {
  int32_t n_bins;       /* >= 1; value bins without the missing one */
  int32_t has_missing;  /* training rows with a missing value exist */
  int32_t zero_bin;     /* bin of the value 0 (of the missing code when absent entries are missing); -1 categorical */
  const double *cut;    /* n_bins; NULL for categorical */
  int64_t n_filled; /* training rows outside zero_bin (categorical: all): decides between dense and sparse storage */
  int32_t onehot;   /* a factor that is split one level against the rest, however many there are */
} gbt_feature_cuts;

typedef struct gbt_cuts {
  int refs;
  gbt_mem mem;
  gbt_schema *schema;        /* shared */
  int32_t n_features;
  gbt_feature_cuts *feat;    /* n_features */
  int64_t n_rows;            /* of the table they came from */
  int absent_missing;        /* as in the table */
} gbt_cuts;

/* weight: n_rows finite numbers >= 0, or NULL. max_bin in [2, 65535], or GBT_EXACT_BINS. Checks the table first. */
gbt_status gbt_cuts_build(gbt_ctx *ctx, const gbt_table *table, const double *weight, int32_t max_bin, gbt_cuts **out,
                          gbt_error *err) GBT_MUST_CHECK;
gbt_cuts *gbt_cuts_ref(gbt_cuts *cuts);
void gbt_cuts_unref(gbt_cuts *cuts); /* NULL allowed */

/* The same cuts, and after them further features, which are the last ones of `schema`: numbers 0 .. n_bins[i] - 1, a
 * bin each, never missing. onehot: by feature of `cuts`, factors that are to be split one level against the rest; or
 * NULL. Both are copied; `schema` is shared. */
gbt_status gbti_cuts_extend(const gbt_mem *mem, const gbt_cuts *cuts, gbt_schema *schema, const int32_t *n_bins,
                            const uint8_t *onehot, gbt_cuts **out, gbt_error *err) GBT_MUST_CHECK;

/* Whether a feature is split by sets of levels: a factor of more levels than are split one against the rest. */
static inline int gbt_cuts_by_sets(const gbt_cuts *cuts, int32_t feat, int64_t max_cat_onehot) {
  return cuts->schema->feat[feat].type == GBT_CATEGORICAL && cuts->feat[feat].n_bins > max_cat_onehot &&
         !cuts->feat[feat].onehot;
}

/* The bin of a number: smallest b with x <= cut[b]; NaN gives n_bins. Categorical: x is the level's index; n_bins when
 * there is no such level. */
int32_t gbt_cuts_bin(const gbt_feature_cuts *feat, double x);

/* The same for code that has cuts by pointer, on devices too; cut is NULL for a categorical feature. */
GBT_FN int32_t gbt_cut_search(const double *cut, int32_t n_bins, double x) {
  if (x != x) return n_bins;
  if (cut == NULL) return x >= 0.0 && x < n_bins ? (int32_t)x : n_bins;
  int32_t low = 0, high = n_bins - 1;
  while (low < high) {
    int32_t mid = low + (high - low) / 2;
    if (x <= cut[mid])
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

#endif
