/* The rows that a metric is computed over, in the form in which the parts of boost/ pass them. */
#ifndef GBT_BOOST_METRIC_ROWS_H
#define GBT_BOOST_METRIC_ROWS_H

#include "../base/ctx.h"
#include "metric.h"

typedef struct gbt_metric_rows {
  gbt_metric metric;
  gbt_objective objective;
  gbt_rows of;         /* their labels and weights are read */
  const gbt_metric_aids *aids; /* of these rows; never NULL */
  const double *score; /* of.n x objective.n_outputs, column by column; borrowed */
} gbt_metric_rows;

/* Metrics of form GBT_FORM_CELLS: metric_cells.c. */
gbt_status gbt_metric_of_cells(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) GBT_MUST_CHECK;

/* Metrics of form GBT_FORM_RANKING: ranking.c. Ranks: memory by the rows of this rank and of its range of scores, about
 * 100 bytes a row. */
gbt_status gbt_metric_of_ranking(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) GBT_MUST_CHECK;

/* Metrics of form GBT_FORM_QUERY: metric_queries.c. */
gbt_status gbt_metric_of_queries(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) GBT_MUST_CHECK;

/* Metrics of form GBT_FORM_RISK: metric_risk.c. Ranks: a rank has all rows for a while, about 100 bytes each. */
gbt_status gbt_metric_of_risk(gbt_ctx *ctx, const gbt_metric_rows *rows, double *out, gbt_error *err) GBT_MUST_CHECK;

/* GBT_E_DATA: the rows do not have the fields that such a metric needs, or have some that it does not support. data:
 * the name of the rows. */
gbt_status gbt_metric_risk_check(const gbt_metric *metric, const gbt_objective *objective, const gbt_rows *rows,
                                 const char *data, gbt_error *err) GBT_MUST_CHECK;

/* Whether a metric needs the hazards of a baseline; whether rows, those of all ranks, have any event. Collective. */
int gbt_metric_needs_hazards(const gbt_metric *metric, const gbt_objective *objective);
gbt_status gbt_metric_any_event(gbt_ctx *ctx, const gbt_rows *rows, int *any, gbt_error *err) GBT_MUST_CHECK;

/* GBT_E_DATA: the label of this row (from 0) is no class. */
gbt_status gbt_metric_no_class(const gbt_metric_rows *rows, int64_t row, gbt_error *err) GBT_MUST_CHECK;

enum { GBTI_METRIC_BLOCK = 256 }; /* rows whose terms are made side by side */

/* Rows of a task, so that it takes well below a millisecond. */
int64_t gbt_metric_task_rows(int32_t n_outputs);

#endif
