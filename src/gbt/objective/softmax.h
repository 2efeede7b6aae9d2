/* Softmax loss of a class y in 0 .. K-1: -log p[y], p = softmax of the row's K scores. Responses are the p. */
#ifndef GBT_OBJECTIVE_SOFTMAX_H
#define GBT_OBJECTIVE_SOFTMAX_H

#include "formula.h"

/* top: the largest score of the row, sum: of exp(score - top) over its classes. */
GBT_FN double gbt_softmax_probability(double s, double top, double sum) { return gbt_exp(s - top) / sum; }

/* Of n rows and K classes: top, sum and the probabilities. Scores of a class stand one after the other, those of the
 * next one `stride` behind; p likewise. p may be the scores. The sum goes over the classes in order. */
GBT_FN void gbt_softmax_rows(int64_t n, int32_t K, const double *score, size_t stride, double *p, size_t p_stride,
                             double *top, double *sum) {
  for (int64_t i = 0; i < n; i++) {
    top[i] = score[i];
    sum[i] = 0.0;
  }
  for (int32_t k = 1; k < K; k++) {
    const double *s = score + (size_t)k * stride;
    for (int64_t i = 0; i < n; i++) top[i] = s[i] > top[i] ? s[i] : top[i];
  }
  for (int32_t k = 0; k < K; k++) {
    const double *s = score + (size_t)k * stride;
    double *pk = p + (size_t)k * p_stride;
    for (int64_t i = 0; i < n; i++) {
      pk[i] = gbt_exp(s[i] - top[i]);
      sum[i] += pk[i];
    }
  }
  for (int32_t k = 0; k < K; k++) {
    double *pk = p + (size_t)k * p_stride;
    for (int64_t i = 0; i < n; i++) pk[i] = pk[i] / sum[i];
  }
}

/* p: probability of the class at hand; y1: 1 when it is the row's class. The hessian is the diagonal times 2, the usual
 * upper bound of the softmax's hessian for K >= 2 classes treated one by one (Friedman 2000 uses K / (K - 1)). */
GBT_FN gbt_gh gbt_softmax_gradient(double p, double y1) {
  gbt_gh r = {p - y1, 2.0 * p * (1.0 - p)};
  return r;
}

/* The log of the class's share of the weights, at least 1e-9. */
GBT_FN double gbt_softmax_base(double share) { return gbt_log(share < 1e-9 ? 1e-9 : share); }

#endif
