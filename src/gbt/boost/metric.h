/* Metrics: one number from scores, labels and weights, by exact sums, so it does not depend on threads or pages. */
#ifndef GBT_BOOST_METRIC_H
#define GBT_BOOST_METRIC_H

#include "../base/ctx.h"
#include "../metric/terms.h"
#include "../objective/objective.h"

const char *gbt_metric_name(gbt_metric metric);          /* "rmse", "mae", ..., "poisson_deviance" */
int gbt_metric_find(const char *name);                   /* -1 when unknown */
int gbt_metric_maximise(gbt_metric metric);              /* 1 for auc */
int gbt_metric_suits(gbt_metric metric, gbt_objective_kind kind); /* custom objectives: those on one score per row */
gbt_metric gbt_metric_of_objective(gbt_objective_kind kind);      /* its default metric, by objectives.def */

/* score: n x n_outputs, column by column; weight may be NULL. *out: the metric. */
gbt_status gbt_metric_eval(gbt_ctx *ctx, gbt_metric metric, const gbt_objective *objective, int64_t n,
                           const double *score, const double *label, const double *weight, double *out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
