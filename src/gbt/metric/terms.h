/* Metrics that are the mean over rows of a term of one score: what a row adds. Sums, weights and means are
 * boost/metric.c's, and on a device its own. A term of form RESPONSE takes the response p, one of form PROBABILITY the
 * sigmoid p of the score, the others the score s itself; y is the label, a the metric's parameter. On the log link
 * m = exp(s). */
#ifndef GBT_METRIC_TERMS_H
#define GBT_METRIC_TERMS_H

#include "../math/elementary.h"
#include "metric.h"

GBT_FN double gbt_one_nan(double x) { return x == x ? x : gbt_nan(); }

/* log(1 + x) for x > -1; below 1e-6 above -1 as there. */
GBT_FN double gbt_log_of_one_plus(double x) {
  double c = x > -1.0 + 1e-6 ? x : -1.0 + 1e-6;
  double u = 1.0 + c;
  return gbt_log(u) + (c - (u - 1.0)) / u; /* the rounding of 1 + c put back */
}

/* ---- numbers ---- */

GBT_FN double gbt_term_mse(double p, double y, double a) {
  (void)a;
  return (p - y) * (p - y);
}
GBT_FN double gbt_term_rmse(double p, double y, double a) { return gbt_term_mse(p, y, a); }

GBT_FN double gbt_term_mae(double p, double y, double a) {
  (void)a;
  return p > y ? p - y : y - p;
}

/* As LightGBM and CatBoost: labels within 1 of 0 count as 1 in the quotient. */
GBT_FN double gbt_term_mape(double p, double y, double a) {
  double size = y > 0.0 ? y : -y;
  return gbt_term_mae(p, y, a) / (size > 1.0 ? size : 1.0);
}

GBT_FN double gbt_term_msle(double p, double y, double a) {
  return gbt_term_mse(gbt_log_of_one_plus(p), gbt_log_of_one_plus(y), a);
}
GBT_FN double gbt_term_rmsle(double p, double y, double a) { return gbt_term_msle(p, y, a); }

/* Huber 1964, section 2. */
GBT_FN double gbt_term_huber(double p, double y, double a) {
  double d = p > y ? p - y : y - p;
  return d <= a ? 0.5 * d * d : a * (d - 0.5 * a);
}

/* a^2 (sqrt(1 + r^2) - 1) with r = error / a, as a^2 r^2 / (sqrt(1 + r^2) + 1): no difference of near numbers. */
GBT_FN double gbt_term_pseudo_huber(double p, double y, double a) {
  double d = p - y, r = d / a;
  return d * d / (gbt_sqrt(1.0 + r * r) + 1.0);
}

/* log cosh d = |d| + log(1 + exp(-2 |d|)) - log 2; near 0, where that is a difference of near numbers,
 * cosh d - 1 = t^2 / (2 (1 + t)) with t = exp(-|d|) - 1. */
GBT_FN double gbt_term_log_cosh(double p, double y, double a) {
  double d = gbt_term_mae(p, y, a);
  if (d < 1.0) {
    double t = gbt_expm1(-d);
    return gbt_log1p(t * t / (2.0 * (1.0 + t)));
  }
  return d + (gbt_softplus(-2.0 * d) - 0.693147180559945309);
}

/* a^2 (r - log(1 + r)) with r = |error| / a; near 0 by the series r^2/2 - r^3/3 + ... */
GBT_FN double gbt_term_fair(double p, double y, double a) {
  double r = gbt_term_mae(p, y, a) / a;
  if (r < 0.01) {
    double sum = 1.0 / 9.0;
    for (int k = 8; k >= 2; k--) sum = 1.0 / k - r * sum;
    return a * a * (r * r * sum);
  }
  return a * a * (r - gbt_log_of_one_plus(r));
}

/* Koenker and Bassett 1978, equation 1.2. */
GBT_FN double gbt_term_quantile(double p, double y, double a) { return y > p ? a * (y - p) : (1.0 - a) * (p - y); }

GBT_FN double gbt_term_coverage(double p, double y, double a) {
  (void)a;
  return y <= p ? 1.0 : 0.0;
}

/* Newey and Powell 1987, equation 2.2. */
GBT_FN double gbt_term_expectile(double p, double y, double a) { return (y > p ? a : 1.0 - a) * ((y - p) * (y - p)); }

/* ---- means on the log link ---- */

GBT_FN double gbt_term_poisson_deviance(double s, double y, double a) {
  double m = gbt_exp(s);
  (void)a;
  return 2.0 * ((y > 0.0 ? y * gbt_log(y / m) : 0.0) - (y - m));
}

GBT_FN double gbt_term_poisson_nloglik(double s, double y, double a) {
  (void)a;
  return gbt_exp(s) - y * s;
}

GBT_FN double gbt_term_gamma_deviance(double s, double y, double a) {
  double r = y * gbt_exp(-s);
  (void)a;
  return 2.0 * ((r - 1.0) - gbt_log(r));
}

GBT_FN double gbt_term_gamma_nloglik(double s, double y, double a) {
  (void)a;
  return y * gbt_exp(-s) + s;
}

/* Joergensen 1997, section 4.1: m^(2-a) / (2-a) - y m^(1-a) / (1-a), 1 < a < 2 */
GBT_FN double gbt_term_tweedie_nloglik(double s, double y, double a) {
  return gbt_exp((2.0 - a) * s) / (2.0 - a) + y * gbt_exp((1.0 - a) * s) / (a - 1.0);
}

GBT_FN double gbt_term_tweedie_deviance(double s, double y, double a) {
  double own = y > 0.0 ? gbt_exp((2.0 - a) * gbt_log(y)) / ((a - 1.0) * (2.0 - a)) : 0.0;
  return 2.0 * (gbt_term_tweedie_nloglik(s, y, a) - own);
}

/* Hilbe 2011, section 8.2.1: 2 (y log(y / m) - (y + 1/a) log((1 + a y) / (1 + a m))) */
GBT_FN double gbt_term_negative_binomial_deviance(double s, double y, double a) {
  double m = gbt_exp(s), x = a * (y - m) / (1.0 + a * m); /* the quotient of the logarithm, less 1 */
  double log_q = x > -0.5 && x < 0.5 ? gbt_log1p(x) : gbt_log((1.0 + a * y) / (1.0 + a * m));
  double both = (y + 1.0 / a) * log_q;
  return 2.0 * ((y > 0.0 ? y * gbt_log(y / m) : 0.0) - both);
}

/* ---- two classes ---- */

/* -(y log p + (1 - y) log(1 - p)) = y softplus(-s) + (1 - y) softplus(s): no difference of large numbers. Labels other
 * than 0 and 1 have the second form, which goes on from the first. */
GBT_FN double gbt_term_logloss(double s, double y, double a) {
  (void)a;
  return gbt_softplus(y == 1.0 ? -s : s);
}
GBT_FN double gbt_term_logloss_between(double s, double y, double first) {
  return y * gbt_softplus(-s) + (1.0 - y) * first;
}

GBT_FN double gbt_term_brier(double p, double y, double a) { return gbt_term_mse(p, y, a); }
GBT_FN double gbt_term_error(double p, double y, double a) { return (p > a) != (y > 0.5) ? 1.0 : 0.0; }

/* ---- all of them ---- */

/* A row's term of any metric on one score a row that is a mean. p: the response of score s. */
GBT_FN double gbt_metric_term(const gbt_metric *metric, double p, double s, double y) {
  const double a = metric->param;
  double first;
  switch ((gbt_metric_kind)metric->kind) {
#define TERM_RESPONSE(ID, name) case GBT_METRIC_##ID: return gbt_term_##name(p, y, a);
#define TERM_PROBABILITY(ID, name) case GBT_METRIC_##ID: return gbt_term_##name(gbt_sigmoid(s), y, a);
#define TERM_SCORE(ID, name) case GBT_METRIC_##ID: return gbt_term_##name(s, y, a);
#define TERM_LOGLOSS(ID, name)                                                                                     \
  case GBT_METRIC_##ID:                                                                                            \
    first = gbt_term_##name(s, y, a);                                                                              \
    return y != 0.0 && y != 1.0 ? gbt_term_##name##_between(s, y, first) : first;
#define TERM_NONE(ID, name) case GBT_METRIC_##ID: break;
#define TERM_CLASSES TERM_NONE
#define TERM_CONFUSION TERM_NONE
#define TERM_BINS TERM_NONE
#define TERM_VARIANCE TERM_NONE
#define TERM_RANKING TERM_NONE
#define TERM_QUERY TERM_NONE
#define TERM_RISK TERM_NONE
#define TERM_DISTRIBUTION TERM_NONE
#define TERM_CENSORED TERM_NONE
#define GBT_METRIC(ID, name, form, better, outputs, labels, parameter, aliases, text) TERM_##form(ID, name)
#include "metrics.def"
#undef GBT_METRIC
#undef TERM_RESPONSE
#undef TERM_PROBABILITY
#undef TERM_SCORE
#undef TERM_LOGLOSS
#undef TERM_NONE
#undef TERM_CLASSES
#undef TERM_CONFUSION
#undef TERM_BINS
#undef TERM_VARIANCE
#undef TERM_RANKING
#undef TERM_QUERY
#undef TERM_RISK
#undef TERM_DISTRIBUTION
#undef TERM_CENSORED
  case GBT_N_METRICS:
    break;
  }
  return 0.0;
}

/* The metric from the sums of terms and of weights. */
GBT_FN double gbt_metric_mean(const gbt_metric *metric, double terms, double weights) {
  double mean = terms / weights;
  if (metric->kind == GBT_METRIC_RMSE || metric->kind == GBT_METRIC_RMSLE) mean = gbt_sqrt(mean);
  return gbt_one_nan(mean);
}

#endif
