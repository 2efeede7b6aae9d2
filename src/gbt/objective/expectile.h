/* Expectile loss of the residual r = s - y: a r^2 where the label is larger, (1 - a) r^2 elsewhere (Newey and Powell
 * 1987). param[0]: a, the level; 0.5 is squared error. The response is the score. */
#ifndef GBT_OBJECTIVE_EXPECTILE_H
#define GBT_OBJECTIVE_EXPECTILE_H

#include "formula.h"

GBT_FN gbt_gh gbt_expectile_gradient(double s, double y, const double *param) {
  double r = s - y, h = 2.0 * (r < 0.0 ? param[0] : 1.0 - param[0]);
  gbt_gh out = {h * r, h};
  return out;
}

GBT_FN double gbt_expectile_response(double s, const double *param) {
  (void)param;
  return s;
}

#endif
