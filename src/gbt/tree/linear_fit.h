/* The slopes of a linear leaf from sums over its rows, shared by all backends.
 *
 * A sum is one of whole numbers, so it does not depend on the order of the rows; it may need more than 64 bits and is
 * kept in two parts. The rest is a weighted regression of -g / h on the numbers X around their means, with a ridge
 * relative to each variance, so that the unit of a column does not matter. At the means the leaf has the value that it
 * would have without slopes. */
#ifndef GBT_TREE_LINEAR_FIT_H
#define GBT_TREE_LINEAR_FIT_H

#include "../math/fixed.h"
#include "linear.h"
#include "split.h"

/* high * 2^32 + low */
typedef struct gbt_linear_wide {
  int64_t high, low;
} gbt_linear_wide;

/* Sums over the rows of a leaf that have all its features: of g, h; g X and h X of each feature; h X X of each pair,
 * (a, b) with b <= a at a * (a + 1) / 2 + b. */
enum {
  GBT_LINEAR_G = 0,
  GBT_LINEAR_H = 1,
  GBT_LINEAR_GX = 2,
  GBT_LINEAR_HX = GBT_LINEAR_GX + GBT_LINEAR_MOST,
  GBT_LINEAR_HXX = GBT_LINEAR_HX + GBT_LINEAR_MOST,
  GBT_LINEAR_SUMS = GBT_LINEAR_HXX + GBT_LINEAR_MOST * (GBT_LINEAR_MOST + 1) / 2
};

GBT_FN int gbt_linear_pair(int a, int b) { return GBT_LINEAR_HXX + a * (a + 1) / 2 + b; }

GBT_FN void gbt_linear_add(gbt_linear_wide *sum, int64_t x) {
  sum->high += x >> 32;
  sum->low += x & 0xffffffff;
}

/* One form for each number: low below 2^32. */
GBT_FN void gbt_linear_settle(gbt_linear_wide *sum) {
  sum->high += sum->low >> 32;
  sum->low &= 0xffffffff;
}

GBT_FN double gbt_linear_real(gbt_linear_wide sum) { return (double)sum.high * 4294967296.0 + (double)sum.low; }

/* How a leaf is fitted. */
typedef struct gbt_linear_rule {
  double ridge;    /* linear_lambda */
  double noise;    /* of the gradients: gbt_noise */
  gbt_units units; /* of the sums' g and h */
} gbt_linear_rule;

#define GBT_LINEAR_PIVOT (1.0 / 1048576.0) /* a feature with less of its variance left is dropped */

/* slope[0 .. n) of a leaf's features, 0 of those that were dropped, and their means. Returns the gain of the slopes,
 * as gains of splits are; 0 and slopes 0 when it is less than twice what chance gives. sum: settled. */
GBT_FN double gbt_linear_fit(const gbt_linear_wide *sum, int n, gbt_linear_rule rule, double *slope, double *mean) {
  double low[GBT_LINEAR_MOST][GBT_LINEAR_MOST], pivot[GBT_LINEAR_MOST], y[GBT_LINEAR_MOST], gain = 0.0;
  const double G = gbt_linear_real(sum[GBT_LINEAR_G]), H = gbt_linear_real(sum[GBT_LINEAR_H]);
  int n_kept = 0;
  for (int a = 0; a < n; a++) slope[a] = mean[a] = 0.0;
  if (!(H > 0.0)) return 0.0;
  for (int a = 0; a < n; a++) {
    const double hx = gbt_linear_real(sum[GBT_LINEAR_HX + a]);
    double own = 0.0;
    mean[a] = hx / H;
    y[a] = gbt_linear_real(sum[GBT_LINEAR_GX + a]) - G * mean[a];
    for (int b = 0; b <= a; b++) { /* L D L' = the covariances, row by row */
      double c = gbt_linear_real(sum[gbt_linear_pair(a, b)]) - hx * mean[b];
      if (b == a) c += (own = c) * rule.ridge;
      for (int k = 0; k < b; k++) c -= low[a][k] * low[b][k] * pivot[k];
      low[a][b] = b < a ? (pivot[b] > 0.0 ? c / pivot[b] : 0.0) : 1.0;
      if (b == a) pivot[a] = own > 0.0 && c > own * GBT_LINEAR_PIVOT ? c : 0.0;
    }
    for (int k = 0; k < a; k++) y[a] -= low[a][k] * y[k];
    if (!(pivot[a] > 0.0)) y[a] = 0.0;
    else gain += y[a] * (y[a] / pivot[a]), n_kept++;
  }
  gain = ((gain * rule.units.g) * rule.units.g) / rule.units.h;
  if (!(gain > 2.0 * (double)n_kept * rule.noise) || !(gain < 1e300)) return 0.0;
  for (int a = n; a-- > 0;) {
    if (!(pivot[a] > 0.0)) continue;
    slope[a] = y[a] / pivot[a];
    for (int k = a + 1; k < n; k++) slope[a] -= low[k][a] * slope[k];
  }
  const double kept = 1.0 - ((double)n_kept * rule.noise) / gain; /* what chance gives is taken off */
  for (int a = 0; a < n; a++)
    if (pivot[a] > 0.0) slope[a] = -(((slope[a] * kept) * rule.units.g) / rule.units.h);
  return gain;
}

#endif
