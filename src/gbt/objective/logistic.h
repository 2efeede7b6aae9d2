/* Logistic loss of labels in [0, 1]: log(1 + exp(s)) - y s. The response is the probability 1 / (1 + exp(-s)). */
#ifndef GBT_OBJECTIVE_LOGISTIC_H
#define GBT_OBJECTIVE_LOGISTIC_H

#include "formula.h"

GBT_FN gbt_gh gbt_logistic_gradient(double s, double y, const double *param) {
  (void)param;
  double p = gbt_sigmoid(s);
  gbt_gh r = {p - y, p * (1.0 - p)};
  return r;
}

GBT_FN double gbt_logistic_response(double s, const double *param) {
  (void)param;
  return gbt_sigmoid(s);
}

/* The log odds of the mean label, kept 1e-9 away from 0 and 1. Offsets are left out: with them there is no closed
 * form. */
GBT_FN gbt_base_terms gbt_logistic_base_terms(double y, double offset, const double *param) {
  (void)offset;
  (void)param;
  gbt_base_terms t = {y, 1.0};
  return t;
}

GBT_FN double gbt_logistic_base(double mean, const double *param) {
  (void)param;
  mean = mean < 1e-9 ? 1e-9 : mean;
  mean = mean > 1.0 - 1e-9 ? 1.0 - 1e-9 : mean;
  return gbt_log(mean / (1.0 - mean));
}

#endif
