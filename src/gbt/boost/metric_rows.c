/* Code for rows that the kinds of metrics share. */
#include "metric_rows.h"

#include "../base/hd.h"

enum { TASK_SCORES = 1 << 15 }; /* scores a task reads */

int64_t gbt_metric_task_rows(int32_t n_outputs) {
  GBT_ASSERT(n_outputs > 0);
  int64_t n = TASK_SCORES / n_outputs;
  if (n < GBTI_METRIC_BLOCK) n = GBTI_METRIC_BLOCK;
  while (n > 32 && n * n_outputs > 1 << 20) n /= 2; /* so that tasks stay short */
  return n;
}

gbt_status gbt_metric_no_class(const gbt_metric_rows *rows, int64_t row, gbt_error *err) {
  return gbt_fail(err, GBT_E_DATA, "row %lld: the label %.15g is not a class; classes are whole numbers from 0 to %d",
                  (long long)gbt_row_number(&rows->of, row), gbt_label_of(&rows->of, row),
                  (int)rows->objective.n_outputs - 1);
}
