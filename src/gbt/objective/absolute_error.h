/* Absolute error |y - s|, whose best constant is the median. At s = y the gradient is 0, which lies between those of
 * both sides; there is no second derivative, and h = 1. Leaves are medians of the residuals in them (renewal.h). The
 * response is the score. */
#ifndef GBT_OBJECTIVE_ABSOLUTE_ERROR_H
#define GBT_OBJECTIVE_ABSOLUTE_ERROR_H

#include "formula.h"

GBT_FN gbt_gh gbt_absolute_error_gradient(double s, double y, const double *param) {
  (void)param;
  gbt_gh out = {s > y ? 1.0 : s < y ? -1.0 : 0.0, 1.0};
  return out;
}

GBT_FN double gbt_absolute_error_response(double s, const double *param) {
  (void)param;
  return s;
}

GBT_FN double gbt_absolute_error_level(const double *param) {
  (void)param;
  return 0.5;
}

GBT_FN double gbt_absolute_error_row_weight(double y) {
  (void)y;
  return 1.0;
}

#endif
