/* The positions of cuts in the order of a column (see cuts.h), for both searches for them: by a grid (cuts_quantile.c),
 * and on a device.
 *
 *   W  total weight   B  max_bin   H  heavy values   L  weight of the light ones   M = B - 2 H  bins for these
 *
 * Values are their order keys; weights are integers, so orders are exact. */
#ifndef GBT_DATA_CUT_ORDER_H
#define GBT_DATA_CUT_ORDER_H

#include "../base/hd.h"
#include <stdint.h>

typedef struct gbti_aim {
  uint64_t least_heavy; /* values of this weight and more are heavy */
  uint64_t light;       /* L */
  uint64_t n_bins;      /* M >= 1: with B / 2 heavy values nothing else is left, and there are more than B values */
} gbti_aim;

GBT_FN uint64_t gbti_heavy_threshold(uint64_t total, uint64_t max_bin) { return (2 * total + max_bin - 1) / max_bin; }

GBT_FN gbti_aim gbti_aim_of(uint64_t total, uint64_t max_bin, uint64_t heavy, uint64_t n_heavy) {
  gbti_aim aim;
  aim.least_heavy = gbti_heavy_threshold(total, max_bin);
  aim.light = total - heavy;
  aim.n_bins = max_bin - 2 * n_heavy;
  GBT_ASSERT(heavy <= total && 2 * n_heavy < max_bin);
  return aim;
}

/* The k-th cut among light values, k = 1 .. M - 1, comes after the first value whose cumulative light weight reaches
 * this target: ceil(k L / M). */
GBT_FN uint64_t gbti_light_target(const gbti_aim *aim, uint64_t k) {
  uint64_t q = aim->light / aim->n_bins, r = aim->light % aim->n_bins; /* k L itself could overflow */
  return k * q + (k * r + aim->n_bins - 1) / aim->n_bins;
}

/* The cut between two neighbouring values. */
double gbti_cut_between(uint64_t key, uint64_t next_key);

#endif
