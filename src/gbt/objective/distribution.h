/* Distributions whose two parameters are the scores of a row (gradient rule DISTRIBUTION): a tree for each in a round.
 * The first is a mean or a location, or the logarithm of one; the second says how wide the distribution is, and mostly
 * is a logarithm as well. The formulas of each are in the header of its name:
 *
 *   gbt_NAME_gradient(a, b, y, param, unit, gh)   g: derivatives of minus the log-likelihood in the scores a and b;
 *                                                 h: their Fisher information. So a leaf takes a step of Fisher's
 *                                                 scoring (Rigby & Stasinopoulos 2005, Applied Statistics 54, 507-554)
 *   gbt_NAME_nloglik(a, b, y, param)              minus the log-likelihood
 *   gbt_NAME_natural(a, b, out)                   the parameters as users see them
 *   gbt_NAME_mean(a, b, param)                    the mean of the distribution
 *   gbt_NAME_below(a, b, y, param)                the probability of y or less
 *   gbt_NAME_quantile(a, b, p, param)             the least number that is not exceeded with probability p, 0 < p < 1
 *   gbt_NAME_crps(a, b, y, param)                 the continuous ranked probability score
 *
 * unit: of a location in numbers of the response, a power of two near the scale before the first tree. Its g and h are
 * multiplied by unit^2, so that hessians are near 1 and penalties mean what they mean for squared errors, whatever the
 * unit of the response; steps stay the same. */
#ifndef GBT_OBJECTIVE_DISTRIBUTION_H
#define GBT_OBJECTIVE_DISTRIBUTION_H

#include "formula.h"
#include "objective.h"

/* Scores of the second parameter that gradients are taken at; beyond them a gradient that points outwards is 0. */
typedef struct gbt_distribution_range {
  double low, high;
} gbt_distribution_range;

/* base: the scores before the first tree. A scale may fall to exp(-8) of the one there. */
gbt_distribution_range gbt_distribution_range_of(const gbt_objective *objective, const double *base);
double gbt_distribution_unit(const gbt_objective *objective, const double *base);

/* g and h of n rows: a, b scores, y labels, offset of b, or NULL. The range is that of b without its offset. */
void gbt_distribution_gradients(const gbt_objective *objective, gbt_distribution_range range, double unit,
                                const double *a, const double *b, const double *y, const double *offset, int64_t n,
                                gbt_gh (*gh)[2]);

/* The scores before the first tree, offsets apart: they maximise the likelihood of all rows. Exact sums, so they do not
 * depend on threads or ranks. Ranks: collective. */
gbt_status gbt_distribution_start(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, double *out,
                                  gbt_error *err) GBT_MUST_CHECK;

/* Of n rows; a, b: their scores. natural: parameters in place of them. */
void gbt_distribution_natural(const gbt_objective *objective, double *a, double *b, int64_t n);
void gbt_distribution_means(const gbt_objective *objective, const double *a, const double *b, int64_t n, double *out);
void gbt_distribution_nloglik(const gbt_objective *objective, const double *a, const double *b, const double *y,
                              int64_t n, double *out);
void gbt_distribution_crps(const gbt_objective *objective, const double *a, const double *b, const double *y,
                           int64_t n, double *out);
/* 1 where y lies between the quantiles (1 - level) / 2 and (1 + level) / 2, else 0. */
void gbt_distribution_within(const gbt_objective *objective, const double *a, const double *b, const double *y,
                             double level, int64_t n, double *out);
/* Of one row. */
double gbt_distribution_below(const gbt_objective *objective, double a, double b, double y);
double gbt_distribution_quantile(const gbt_objective *objective, double a, double b, double p);

#endif
