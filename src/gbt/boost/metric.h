/* Metrics: one number from scores, labels and weights, by exact sums, so it does not depend on threads or pages. */
#ifndef GBT_BOOST_METRIC_H
#define GBT_BOOST_METRIC_H

#include "../base/ctx.h"
#include "../math/loss.h"

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

const char *gbt_metric_name(gbt_metric metric);          /* "rmse", "mae", ..., "poisson_deviance" */
int gbt_metric_find(const char *name);                   /* -1 when unknown */
int gbt_metric_maximise(gbt_metric metric);              /* 1 for auc */
int gbt_metric_suits(gbt_metric metric, gbt_loss loss);  /* custom losses: those on one score per row */
gbt_metric gbt_metric_of_loss(gbt_loss loss);            /* the usual one: rmse, logloss, mlogloss, poisson_deviance */

/* score: n x n_outputs, column by column; weight may be NULL. *out: the metric. */
gbt_status gbt_metric_eval(gbt_ctx *ctx, gbt_metric metric, gbt_loss loss, int64_t n, int32_t n_outputs,
                           const double *score, const double *label, const double *weight, double *out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
