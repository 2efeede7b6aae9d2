/* Absolute percentage error |y - s| / max(1, |y|) (de Myttenaere et al. 2016; the 1 keeps labels near 0 from
 * dominating). It is absolute error with rows weighted by 1 / max(1, |y|), and so are g and the medians of the leaves
 * (renewal.h). As there is no second derivative, h = 1: so min_child_weight and lambda mean the same in every unit of
 * the response, as they do for absolute error. The response is the score. */
#ifndef GBT_OBJECTIVE_MAPE_H
#define GBT_OBJECTIVE_MAPE_H

#include "formula.h"

GBT_FN double gbt_mape_row_weight(double y) {
  const double size = y < 0.0 ? -y : y;
  return size > 1.0 ? 1.0 / size : 1.0;
}

GBT_FN gbt_gh gbt_mape_gradient(double s, double y, const double *param) {
  (void)param;
  const double w = gbt_mape_row_weight(y);
  gbt_gh out = {s > y ? w : s < y ? -w : 0.0, 1.0};
  return out;
}

GBT_FN double gbt_mape_response(double s, const double *param) {
  (void)param;
  return s;
}

GBT_FN double gbt_mape_level(const double *param) {
  (void)param;
  return 0.5;
}

#endif
