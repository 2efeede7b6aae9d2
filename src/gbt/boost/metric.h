/* Metrics: one number from scores, labels and weights, by exact sums, so it does not depend on threads or pages. */
#ifndef GBT_BOOST_METRIC_H
#define GBT_BOOST_METRIC_H

#include "../base/ctx.h"
#include "../metric/metric.h"

struct gbt_queries; /* joint/queries.h */

/* rows: with labels; queries: of these rows, or NULL to make them where the metric needs them; score: raw scores,
 * offset included, rows x objective->n_outputs, column by column. *out: the metric (metric/metrics.def), NaN where it
 * is not defined for these rows. Labels must have passed gbt_metric_labels_check(). GBT_E_DATA: a label is no class of
 * the objective. Ranks: the rows are this rank's, possibly none; every rank gets the metric of the rows of all.
 * Collective. */
gbt_status gbt_metric_eval(gbt_ctx *ctx, const gbt_metric *metric, const gbt_objective *objective, const gbt_rows *rows,
                           const struct gbt_queries *queries, const double *score, double *out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
