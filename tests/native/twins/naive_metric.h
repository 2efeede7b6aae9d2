/* Metrics by their definitions, row by row and pair by pair, in long double. */
#ifndef GBT_TEST_NAIVE_METRIC_H
#define GBT_TEST_NAIVE_METRIC_H

#include "../../src/gbt/metric/metric.h"
#include "test.h"

typedef struct metric_rows {
  gbt_objective objective;
  int64_t n;
  double *score, *label, *weight; /* n x n_outputs column by column, n, n */
} metric_rows;

/* coarse: few distinct scores, so that there are ties. */
metric_rows metric_rows_new(test_rng *rng, gbt_objective_kind kind, int64_t n, int32_t n_outputs, int coarse);
void metric_rows_free(metric_rows *rows);

/* NaN where there is no such number. O(n^2) for metrics that rank. */
long double naive_metric(const metric_rows *rows, const gbt_metric *metric, int weighted);

/* Whether it has the metric, and this suits the objective; metrics of queries have a suite of their own. */
int naive_metric_has(int32_t metric, gbt_objective_kind kind);

#endif
