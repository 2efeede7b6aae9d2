/* From the entries of a column to the values that cuts lie between. Everything issues work in a stream and does not
 * wait; `most`: blocks that keep the device busy. See cut_order.cu. */
#pragma once

#include "data.cuh"

#define CU_NO_RUN UINT32_MAX

enum { CU_CUT_PART = 2048 }; /* entries; what part_sum and part_first have a place for */

/* Results for a column, on the device. */
struct cu_found {
  unsigned long long n_missing, n_within;
  uint64_t total;     /* weight */
  uint32_t n_list[3]; /* ends, runs, heavy runs */
  uint32_t n_runs, n_candidates;
  gbti_aim aim;
};

/* Candidate cuts: each after a run, with the keys before and after it. Runs may come twice, in any order, or be
 * none. */
struct cu_candidate {
  uint64_t key, next;
  uint32_t run, unused;
};

/* A column as kernels see it. */
struct cu_cut_view {
  uint64_t n; /* keys, the absent entries' one included */
  const uint64_t *key;
  const uint32_t *row;    /* NULL: every entry weighs 1 */
  const uint64_t *weight; /* by row */
  uint64_t *upto;         /* only with weights */
  uint64_t absent;        /* weight of the entry that stands for all absent ones; 0: there is none */
  uint64_t *part_sum;
  uint32_t *part_first;
  uint32_t *ends, *runs, *heavy; /* lists; without weights runs are ends, one and the same */
  uint64_t *heavy_before;        /* weight of the heavy runs before the j-th */
  cu_candidate *candidate;
  cu_found *found;
  uint32_t max_bin;
};

/* Keys [first, first + n) of the column; with `row` their rows as well, `rows` on the device or NULL for all rows in
 * order. Missing values are counted in `found`. */
gbt_status cu_cut_keys(const cu_raw *values, const int32_t *rows, uint64_t n, uint64_t first, uint64_t *key,
                       uint32_t *row, cu_found *found, unsigned most, cudaStream_t stream,
                       gbt_error *err) GBT_MUST_CHECK;

/* All entries that are absent as one, a zero, at this place. */
gbt_status cu_cut_absent(uint64_t at, uint64_t *key, uint32_t *row, cudaStream_t stream, gbt_error *err) GBT_MUST_CHECK;

/* Of sorted keys the candidates, and their number in `found`. */
gbt_status cu_cut_candidates(const cu_cut_view *v, unsigned most, cudaStream_t stream, gbt_error *err) GBT_MUST_CHECK;

/* Of sorted keys found->n_within: how many lie in (low, high]; low NaN: without it; high NaN: none. */
gbt_status cu_cut_within(const cu_cut_view *v, double low, double high, cudaStream_t stream,
                         gbt_error *err) GBT_MUST_CHECK;
