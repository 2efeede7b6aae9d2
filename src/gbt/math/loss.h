/* Losses: gradient and hessian in the raw score, and the way from scores to responses. Signs: g = dL/ds, h = d2L/ds2.
 * Weights multiply both, outside of here. */
#ifndef GBT_MATH_LOSS_H
#define GBT_MATH_LOSS_H

#include "elementary.h"

typedef enum gbt_loss {
  GBT_LOSS_SQUARED = 0, /* (s - y)^2 / 2 */
  GBT_LOSS_LOGISTIC,    /* y in [0, 1]: log(1 + exp(s)) - y s */
  GBT_LOSS_SOFTMAX,     /* y in 0 .. K-1: -log softmax(s)[y]; K scores a row */
  GBT_LOSS_POISSON,     /* y >= 0: exp(s) - y s */
  GBT_LOSS_CUSTOM,      /* the host gives g and h; response = score */
  GBT_N_LOSSES
} gbt_loss;

typedef struct gbt_gh {
  double g, h;
} gbt_gh;

GBT_FN gbt_gh gbt_grad_squared(double s, double y) {
  gbt_gh r = {s - y, 1.0};
  return r;
}

GBT_FN gbt_gh gbt_grad_logistic(double s, double y) {
  double p = gbt_sigmoid(s);
  gbt_gh r = {p - y, p * (1.0 - p)};
  return r;
}

/* p: softmax probability of the class at hand; y1: 1 when it is the row's class. The hessian is the diagonal times 2,
 * the usual upper bound of the softmax's hessian for K >= 2 classes treated one by one (Friedman 2000 uses K/(K-1)). */
GBT_FN gbt_gh gbt_grad_softmax(double p, double y1) {
  gbt_gh r = {p - y1, 2.0 * p * (1.0 - p)};
  return r;
}

GBT_FN gbt_gh gbt_grad_poisson(double s, double y) {
  double m = gbt_exp(s);
  gbt_gh r = {m - y, m};
  return r;
}

#endif
