/* Cross entropy of labels that are shares, in [0, 1]: the loss of logistic.h. A row of weight w and label y counts as
 * w y successes and w (1 - y) failures. The response is the share 1 / (1 + exp(-s)). */
#ifndef GBT_OBJECTIVE_CROSS_ENTROPY_H
#define GBT_OBJECTIVE_CROSS_ENTROPY_H

#include "logistic.h"

GBT_FN gbt_gh gbt_cross_entropy_gradient(double s, double y, const double *param) {
  return gbt_logistic_gradient(s, y, param);
}

GBT_FN double gbt_cross_entropy_response(double s, const double *param) { return gbt_logistic_response(s, param); }

GBT_FN gbt_base_terms gbt_cross_entropy_base_terms(double y, double offset, const double *param) {
  return gbt_logistic_base_terms(y, offset, param);
}

GBT_FN double gbt_cross_entropy_base(double mean, const double *param) { return gbt_logistic_base(mean, param); }

#endif
