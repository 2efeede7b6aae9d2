/* Squared error: (s - y)^2 / 2. The response is the score. */
#ifndef GBT_OBJECTIVE_SQUARED_ERROR_H
#define GBT_OBJECTIVE_SQUARED_ERROR_H

#include "formula.h"

GBT_FN gbt_gh gbt_squared_error_gradient(double s, double y, const double *param) {
  (void)param;
  gbt_gh r = {s - y, 1.0};
  return r;
}

GBT_FN double gbt_squared_error_response(double s, const double *param) {
  (void)param;
  return s;
}

#endif
