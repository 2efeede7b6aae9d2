/* Pinball loss of the residual y - s: a (y - s) where the label is larger, (1 - a) (s - y) elsewhere (Koenker and
 * Bassett 1978). param[0]: a, the level; 0.5 predicts medians. At s = y the gradient is 0, which lies between those of
 * both sides. There is no second derivative; h = 1 makes splits compare mean signs. Leaves are quantiles of the
 * residuals in them (renewal.h). The response is the score; of several levels see levels.h. */
#ifndef GBT_OBJECTIVE_QUANTILE_H
#define GBT_OBJECTIVE_QUANTILE_H

#include "formula.h"

GBT_FN gbt_gh gbt_quantile_gradient(double s, double y, const double *param) {
  gbt_gh out = {s > y ? 1.0 - param[0] : s < y ? -param[0] : 0.0, 1.0};
  return out;
}

GBT_FN double gbt_quantile_response(double s, const double *param) {
  (void)param;
  return s;
}

GBT_FN double gbt_quantile_level(const double *param) { return param[0]; }

GBT_FN double gbt_quantile_row_weight(double y) {
  (void)y;
  return 1.0;
}

#endif
