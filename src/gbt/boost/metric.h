/* Metrics: one number from scores, labels and weights, by exact sums, so that it does not depend on threads or pages.
 * */
#ifndef GBT_BOOST_METRIC_H
#define GBT_BOOST_METRIC_H

#include "../base/ctx.h"
#include "../joint/hazards.h"
#include "../metric/metric.h"

struct gbt_queries;  /* joint/queries.h */
struct gbt_timeline; /* joint/timeline.h */
struct gbt_cox;      /* joint/cox.h */

/* Data that metrics need in addition to the rows, made once for a data set. Parts that are NULL, except hazards, are
 * made when a metric needs them. */
typedef struct gbt_metric_aids {
  const struct gbt_queries *queries;
  const struct gbt_timeline *timeline; /* by strata */
  struct gbt_cox *cox;                 /* metrics change its hazards */
  const gbt_hazards *hazards;          /* for curves of objectives of hazards */
} gbt_metric_aids;

/* rows: with labels; aids: of these rows, or NULL; score: raw scores, offset included, rows x objective->n_outputs,
 * column by column. *out: the metric (metric/metrics.def), NaN where it is not defined for these rows. Labels must have
 * passed gbt_metric_labels_check(). GBT_E_DATA: a label is no class of the objective. GBT_E_UNSUPPORTED: the metric
 * needs hazards. Ranks: the rows are this rank's, possibly none; every rank gets the metric of the rows of all.
 * Collective. */
gbt_status gbt_metric_eval(gbt_ctx *ctx, const gbt_metric *metric, const gbt_objective *objective, const gbt_rows *rows,
                           const gbt_metric_aids *aids, const double *score, double *out,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
