/* Metrics of rows in the order of their scores. A row has a gain and a base, as fixed-point numbers; with the sums over
 * groups g of equal scores, ascending,
 *
 *   area = sum over g of gain_g (2 base_below_g + base_g)
 *
 *   auc      gain: the weight of a positive row, base: of a negative one
 *            area / (2 gain base)
 *   gini     gain: weight times (label less the lowest label), base: weight
 *            (area - gain base) by scores / (area - gain base) by labels
 *   pr_auc   gain and base as auc
 *            sum over g of gain_g / gain  times  gain_from_g / (gain_from_g + base_from_g)
 *
 * where plain gain and base are those of all rows, and gain_from_g those of g and the groups above it. Areas are
 * 128-bit integers, so they do not depend on the order; gini is the quotient of two covariances, of labels with ranks
 * by score and with their own ranks, ties having their mean rank (Schechtman and Yitzhaki 1987). pr_auc is the average
 * precision of all thresholds; ties pass a threshold together. Its terms are real numbers and are added by an exact
 * sum. */
#ifndef GBT_METRIC_RANKING_H
#define GBT_METRIC_RANKING_H

#include "../base/bits.h"
#include "../math/wide.h"
#include "metric.h"

enum { GBT_RANK_BITS = 61 }; /* the total of a fixed-point number lies in [2^60, 2^61), rounding apart */

/* a - b and its sign. */
GBT_FN gbt_wide gbt_wide_distance(gbt_wide a, gbt_wide b, int *negative) {
  *negative = gbt_wide_less(a, b);
  return *negative ? gbt_wide_sub(b, a) : gbt_wide_sub(a, b);
}

/* How a real number x >= 0 becomes a fixed-point one: round(x 2^exponent). The power is in two factors, as it may
 * be beyond the doubles. */
typedef struct gbt_ranking_scale {
  double up[2];
  int32_t exponent;
} gbt_ranking_scale;

/* For numbers whose total is this, finite and above 0. */
GBT_FN gbt_ranking_scale gbt_ranking_scale_of(double total) {
  gbt_ranking_scale scale;
  int e = GBT_RANK_BITS + 1022;
  uint64_t u = gbt_bits(total);
  if (u >> 52 == 0) u = gbt_bits(total * 0x1p64), e += 64; /* subnormal */
  e -= (int)(u >> 52);
  scale.up[0] = gbt_pow2(e / 2);
  scale.up[1] = gbt_pow2(e - e / 2);
  scale.exponent = e;
  return scale;
}

GBT_FN uint64_t gbt_ranking_fixed(double x, const gbt_ranking_scale *scale) {
  return (uint64_t)(x * scale->up[0] * scale->up[1] + 0.5);
}

/* Gain and base of a row or of several. */
typedef struct gbt_ranking_pair {
  uint64_t gain, base;
} gbt_ranking_pair;

GBT_FN gbt_ranking_pair gbt_ranking_plus(gbt_ranking_pair a, gbt_ranking_pair b) {
  gbt_ranking_pair c = {a.gain + b.gain, a.base + b.base};
  return c;
}

GBT_FN gbt_ranking_pair gbt_ranking_minus(gbt_ranking_pair a, gbt_ranking_pair b) {
  gbt_ranking_pair c = {a.gain - b.gain, a.base - b.base};
  return c;
}

/* Values that are the same for all rows. */
typedef struct gbt_ranking {
  int32_t kind;             /* GBT_METRIC_AUC, _PR_AUC or _GINI */
  double low;               /* gini: the lowest label */
  gbt_ranking_scale gain, base;
  gbt_ranking_pair unit; /* gain and base of a row of weight 1, where they do not depend on the label */
} gbt_ranking;

/* A row's gain and base as real numbers. */
GBT_FN void gbt_ranking_row(const gbt_ranking *r, double y, double w, double *gain, double *base) {
  const int by_class = r->kind != GBT_METRIC_GINI, positive = y > 0.5;
  *gain = by_class ? (positive ? w : 0.0) : w * (y - r->low);
  *base = by_class ? (positive ? 0.0 : w) : w;
}

/* The scales from the totals; 0 when there is no metric: a NaN among the scores, nothing to gain, or no base. */
GBT_FN int gbt_ranking_begin(gbt_ranking *r, double gain, double base, int64_t n_nan) {
  const double most = 1.7976931348623157e308;
  if (n_nan > 0 || !(gain > 0.0 && gain <= most) || !(base > 0.0 && base <= most)) return 0;
  r->gain = gbt_ranking_scale_of(gain);
  r->base = gbt_ranking_scale_of(base);
  r->unit.gain = gain < 1.0 ? 0 : gbt_ranking_fixed(1.0, &r->gain); /* rows that weigh 1 are 1 and more together */
  r->unit.base = base < 1.0 ? 0 : gbt_ranking_fixed(1.0, &r->base);
  return 1;
}

GBT_FN gbt_wide gbt_ranking_area(gbt_ranking_pair group, uint64_t base_below) {
  return gbt_wide_product(group.gain, 2 * base_below + group.base);
}

/* from: the group and what is above it. Exponents are brought together as far as a double goes. */
GBT_FN double gbt_ranking_precision(const gbt_ranking *r, gbt_ranking_pair group, gbt_ranking_pair from) {
  int32_t d = r->gain.exponent - r->base.exponent;
  d = d > 900 ? 900 : d < -900 ? -900 : d;
  const double hits = (double)from.gain, others = (double)from.base * gbt_pow2(d);
  return (double)group.gain * (hits / (hits + others));
}

GBT_FN double gbt_auc_value(gbt_wide area, gbt_ranking_pair all) {
  return gbt_wide_ratio(area, gbt_wide_double(gbt_wide_product(all.gain, all.base)));
}

/* precisions: the sum of gbt_ranking_precision. */
GBT_FN double gbt_pr_auc_value(double precisions, gbt_ranking_pair all) {
  const double mean = precisions / (double)all.gain;
  return mean < 1.0 ? mean : 1.0; /* gains round */
}

GBT_FN double gbt_gini_value(gbt_wide by_score, gbt_wide by_label, gbt_ranking_pair all) {
  const gbt_wide middle = gbt_wide_product(all.gain, all.base);
  int negative, none;
  const gbt_wide had = gbt_wide_distance(by_score, middle, &negative);
  const gbt_wide best = gbt_wide_distance(by_label, middle, &none);
  if ((best.hi | best.lo) == 0) return gbt_from_bits(0x7ff8000000000000u); /* all labels are equal */
  const double size = gbt_wide_ratio(had, best);
  return negative ? -size : size;
}

#endif
