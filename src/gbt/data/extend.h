/* Data sets with features that are made when a training begins: statistics of the rows themselves, whose bins depend on
 * the labels. An extended data set has the rows, the fields and the pages of another one, its base, followed by columns
 * of bins:
 *
 *   base's pages   strip 0 | strip 1 |                      shared; each strip is in memory once
 *   variant 0      strip 0 | strip 1 | derived 0
 *   variant 1      strip 0 | strip 1 | derived 0            the same features, other bins
 *
 * Every variant is a store of pages of its own, all of one layout; a tree is grown on one of them
 * (gbt_tree_task.variant). Variants differ only in the bins of derived features. A data set that is not extended has
 * one variant, its pages.
 *
 * Derived features come after all others, are numeric with at most GBT_DERIVED_BINS bins, so that a code is a byte, and
 * are never missing. They have groups and strips of their own. Features of the base may be dropped: they keep their
 * numbers and their cuts, but are unused (gbt_layout.unused): histograms do not have them, and no node may split by
 * them. */
#ifndef GBT_DATA_EXTEND_H
#define GBT_DATA_EXTEND_H

#include "dataset_impl.h"

/* ds (shared by *out while that is there) with the features of `cuts` (shared): first those of ds, with the same cuts,
 * then the derived ones. drop: n_features of ds, not 0 where a feature is unused from now on; NULL: none. n_variants: 1
 * to GBT_MOST_VARIANTS. Fields are those that ds has now; ds may be a mask or a view. Bins of derived features are 0
 * until they are put. What a store can pin at a time is as with ds. Memory: one byte for each row of the table, derived
 * feature and variant, rounded up to 4 bytes a row.
 *
 * GBT_E_UNSUPPORTED when there are more bins than histograms can hold. Free by gbt_dataset_unref. */
gbt_status gbti_dataset_extend(gbt_ctx *ctx, gbt_dataset *ds, gbt_cuts *cuts, const uint8_t *drop, int32_t n_variants,
                               gbt_dataset **out, gbt_error *err) GBT_MUST_CHECK;

/* Bins of a derived feature in one variant: row r of [beg, end) gets bin[at[r]], or bin[r] where at is NULL. Rows are
 * those of the data set; of a mask, at and bin use the mask's numbers. Bins are below the feature's n_bins. Different
 * rows, features or variants may be put by several threads at once; the data set must not be trained on meanwhile. */
void gbti_extended_put(gbt_dataset *ext, int32_t variant, int32_t feature, int64_t beg, int64_t end, const uint8_t *bin,
                       const uint32_t *at);

#endif
