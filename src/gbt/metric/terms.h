/* Metrics: what they are, and what a row adds to the sum that most of them are the mean of. Sums, weights and means are
 * boost/metric.c's, and on a device its own. */
#ifndef GBT_METRIC_TERMS_H
#define GBT_METRIC_TERMS_H

#include "../math/elementary.h"

typedef enum gbt_metric {
  GBT_METRIC_RMSE = 0,        /* sqrt(sum w (response - y)^2 / sum w) */
  GBT_METRIC_MAE,             /* sum w |response - y| / sum w */
  GBT_METRIC_LOGLOSS,         /* binary: -sum w (y log p + (1-y) log(1-p)) / sum w, from the score, so never infinite */
  GBT_METRIC_AUC,             /* area under the ROC curve; ties count half; NaN when one class is absent */
  GBT_METRIC_ERROR,           /* weighted share with (p > 0.5) != (y > 0.5) */
  GBT_METRIC_MLOGLOSS,        /* -sum w log p[y] / sum w */
  GBT_METRIC_MERROR,          /* weighted share where the largest score (lowest class on ties) is not y */
  GBT_METRIC_POISSON_DEVIANCE,/* 2 sum w (y log(y / m) - (y - m)) / sum w, m = exp(score) */
  GBT_N_METRICS
} gbt_metric;

/* p: response, s: score, y: label */
GBT_FN double gbt_term_rmse(double p, double y) { return (p - y) * (p - y); }
GBT_FN double gbt_term_mae(double p, double y) { return p > y ? p - y : y - p; }
GBT_FN double gbt_term_error(double p, double y) { return (p > 0.5) != (y > 0.5) ? 1.0 : 0.0; }

/* -(y log p + (1 - y) log(1 - p)) = y softplus(-s) + (1 - y) softplus(s): no difference of large numbers. Labels other
 * than 0 and 1 have the second form, which goes on from the first. */
GBT_FN double gbt_term_logloss(double s, double y) { return gbt_softplus(y == 1.0 ? -s : s); }
GBT_FN double gbt_term_logloss_between(double s, double y, double first) {
  return y * gbt_softplus(-s) + (1.0 - y) * first;
}

GBT_FN double gbt_term_poisson(double s, double y) {
  double m = gbt_exp(s);
  return 2.0 * ((y > 0.0 ? y * gbt_log(y / m) : 0.0) - (y - m));
}

/* top: the row's largest score, sum: of exp(score - top), class after class, mine: the score of the row's class */
GBT_FN double gbt_term_mlogloss(double top, double sum, double mine) { return gbt_log(sum) + (top - mine); }

GBT_FN int gbt_is_class(double y, int32_t n_outputs) { return y >= 0.0 && y < (double)n_outputs; }

/* A row's term of any metric on one score a row but AUC. p: the response of score s. */
GBT_FN double gbt_metric_term(gbt_metric metric, double p, double s, double y) {
  switch (metric) {
  case GBT_METRIC_RMSE:
    return gbt_term_rmse(p, y);
  case GBT_METRIC_MAE:
    return gbt_term_mae(p, y);
  case GBT_METRIC_ERROR:
    return gbt_term_error(gbt_sigmoid(s), y);
  case GBT_METRIC_LOGLOSS: {
    double first = gbt_term_logloss(s, y);
    return y != 0.0 && y != 1.0 ? gbt_term_logloss_between(s, y, first) : first;
  }
  default:
    return gbt_term_poisson(s, y);
  }
}

/* The metric from the sums of terms and of weights. */
GBT_FN double gbt_metric_mean(gbt_metric metric, double terms, double weights) {
  double mean = terms / weights;
  if (metric == GBT_METRIC_RMSE) mean = gbt_sqrt(mean);
  return mean == mean ? mean : gbt_from_bits(0x7ff8000000000000u); /* machines differ in the NaN of 0 / 0 */
}

#endif
