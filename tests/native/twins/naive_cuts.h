/* The definition of cuts (data/cuts.h) taken literally: sort all, walk through all, 128-bit products. */
#ifndef GBT_TEST_NAIVE_CUTS_H
#define GBT_TEST_NAIVE_CUTS_H

#include "../../src/gbt/data/cuts.h"
#include "tables.h"

/* n_bins, cuts, counts of one feature; free with naive_cuts_free. */
gbt_feature_cuts naive_cuts(const double *x, const double *weight, int64_t n, int32_t max_bin, int absent_missing);
void naive_cuts_free(gbt_feature_cuts *cuts);

/* Checks that all of a and b is equal. */
void same_cuts(const gbt_feature_cuts *a, const gbt_feature_cuts *b);
void same_all_cuts(const gbt_cuts *a, const gbt_cuts *b); /* of all features, and the schemas */

/* Checks against the twin. */
void same_as_naive(const gbt_feature_cuts *f, const double *x, const double *weight, int64_t n, int32_t max_bin,
                   int absent_missing);

/* Cuts of a table, made on n_threads threads; the call is checked. */
gbt_cuts *test_cuts_of(const tables *t, const double *weight, int32_t max_bin, int n_threads);

#endif
