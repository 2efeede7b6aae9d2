/* Ordered target statistics (Prokhorenkova et al. 2018, CatBoost, section 3.2): the mean label of the rows of a key,
 * with some weight given to a prior. A training row's is made of the rows that an order has before it, so its own label
 * is not in it; the table of a model is made of all rows.
 *
 *   value = floor((s + A P) / (n + A)),   s, n: sums of weight * y and of weights over rows of the same key
 *                                         A, P: weight of the prior, prior
 *
 * All of it is in integers: s <= 2^62, A <= 2^42, P < 2^20, and so is the value. Values become bins by a look-up table
 * that is made of their histogram. */
#ifndef GBT_ENCODE_ORDERED_H
#define GBT_ENCODE_ORDERED_H

#include "../base/hd.h"
#include "target.h"

typedef struct gbti_statistic {
  int32_t part;         /* of the target */
  uint32_t prior;       /* P */
  int64_t prior_weight; /* A: gbti_prior_weight() */
} gbti_statistic;

/* floor(a / b) for 0 <= a, 0 < b and a quotient below 2^20: the rounded quotient's floor is at most one off. */
GBT_FN uint32_t gbti_quotient(int64_t a, int64_t b) {
  int64_t q = (int64_t)((double)a / (double)b);
  const int64_t rest = a - q * b;
  q += (rest >= b) - (rest < 0);
  return (uint32_t)q;
}

/* The request; all pointers are borrowed. */
typedef struct gbti_ordered {
  const gbti_visit *visit;
  const gbti_target *target;
  const uint32_t *id; /* by place in base order: the row's key, below n_ids */
  int64_t n_ids;
  const gbti_statistic *stat;
  int32_t n_stats; /* at least 1; those of one part are made together where they are neighbours */
} gbti_ordered;

/* How often each value occurs among the rows under one variant: count[stat], GBTI_N_VALUES each, overwritten. */
gbt_status gbti_ordered_count(gbt_ctx *ctx, const gbti_ordered *ask, int32_t variant, uint32_t *const *count,
                              gbt_error *err) GBT_MUST_CHECK;

/* Bins of the rows under the first n_variants variants: bin[variant * n_stats + stat], n each, by place in base order.
 * bin_of[stat]: GBTI_N_VALUES, the bin of every value. */
gbt_status gbti_ordered_bins(gbt_ctx *ctx, const gbti_ordered *ask, int32_t n_variants, const uint8_t *const *bin_of,
                             uint8_t *const *bin, gbt_error *err) GBT_MUST_CHECK;

/* Values over all rows: value[stat], n_ids each. An id without rows has the prior. */
gbt_status gbti_full_values(gbt_ctx *ctx, const gbti_ordered *ask, uint32_t *const *value,
                            gbt_error *err) GBT_MUST_CHECK;

enum { GBTI_MOST_BINS = 255 };

/* Values to at most max_bins (1 .. GBTI_MOST_BINS) bins that ascend with the value and hold about as many rows each:
 * every value that occurs is a bin when there are no more than max_bins, and one that fills a bin has it for itself
 * where bins last. Between the values of two bins the border is in the middle. count: GBTI_N_VALUES, as
 * gbti_ordered_count leaves it; no rows: one bin. bin_of: GBTI_N_VALUES. upper: max_bins, the largest value of each
 * bin; the last is GBTI_N_VALUES - 1. Returns the number of bins. */
int32_t gbti_value_cuts(const uint32_t *count, int32_t max_bins, uint8_t *bin_of, uint32_t *upper);

/* Numbers of rows to bins on a log scale: four bins for every doubling (1, 2, 3, 4, 5, 6, 7, 8-9, 10-11, ..), of which
 * those that hold a key are left, at most max_bins (1 .. GBTI_MOST_BINS): as many neighbours are put together as that
 * takes. count: by key, n_keys of them, 0 allowed. bin: n_keys. upper: max_bins, the largest number of rows of each
 * bin; the last is UINT32_MAX. A key without rows is in bin 0. Returns the number of bins, at least 1. */
int32_t gbti_count_bins(const uint32_t *count, int64_t n_keys, int32_t max_bins, uint8_t *bin, uint32_t *upper);

#endif
