/* Squared error of log(1 + y), labels y > -1: (s - log(1 + y))^2 / 2. The response is exp(s) - 1: above -1 whatever the
 * score is, and the loss is convex in s. (XGBoost, whose score is the response, has to clip it and the hessian.) */
#ifndef GBT_OBJECTIVE_SQUARED_LOG_ERROR_H
#define GBT_OBJECTIVE_SQUARED_LOG_ERROR_H

#include "formula.h"

GBT_FN gbt_gh gbt_squared_log_error_gradient(double s, double y, const double *param) {
  (void)param;
  gbt_gh r = {s - gbt_log1p(y), 1.0};
  return r;
}

GBT_FN double gbt_squared_log_error_response(double s, const double *param) {
  (void)param;
  return gbt_expm1(s);
}

/* The minimiser: the mean of log(1 + y) - offset. */
GBT_FN gbt_base_terms gbt_squared_log_error_base_terms(double y, double offset, const double *param) {
  (void)param;
  gbt_base_terms t = {gbt_log1p(y) - offset, 1.0};
  return t;
}

GBT_FN double gbt_squared_log_error_base(double mean, const double *param) {
  (void)param;
  return mean;
}

#endif
