/* Softmax loss of a class y in 0 .. K-1: -log p[y], p = softmax of the row's K scores. Responses are the p. */
#ifndef GBT_OBJECTIVE_SOFTMAX_H
#define GBT_OBJECTIVE_SOFTMAX_H

#include "formula.h"

/* top: the largest score of the row, sum: of exp(score - top) over its classes. */
GBT_FN double gbt_softmax_probability(double s, double top, double sum) { return gbt_exp(s - top) / sum; }

/* Of n rows and K classes: top, sum and the probabilities. Scores of a class are contiguous, those of the next class
 * follow `stride` later; p likewise. p may be the scores. The sum goes over the classes in order. */
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

/* The factor of the hessian of a class over p (1 - p), the second derivative in its own score: K classes take their
 * steps at the same time, each as if the others did not change. asked: the parameter softmax_hessian. 2 bounds the
 * softmax's hessian, so that steps of all classes together never make the loss larger; K / (K - 1) (Friedman 2000) is
 * exact for a class whose step the others answer evenly. */
GBT_FN double gbt_softmax_bound(int32_t K, double asked) {
  return asked > 0.0 ? asked : (double)K / (double)(K - 1);
}

/* p: probability of this class; y1: 1 when it is the row's class; bound: gbt_softmax_bound. */
GBT_FN gbt_gh gbt_softmax_gradient(double p, double y1, double bound) {
  gbt_gh r = {p - y1, bound * p * (1.0 - p)};
  return r;
}

/* The probability once the class, whose score was s, has taken a step `by`; top and sum are those from before. The
 * others answer a step: the probability moves as if only this score moved, by bound * by, which makes the hessian above
 * the derivative of the gradient along the step. rest is 0 or more, as it is what other classes have added to sum. */
GBT_FN double gbt_softmax_stepped(double s, double top, double sum, double by, double bound) {
  const double rest = sum - gbt_exp(s - top), to = (s - top) + bound * by;
  if (to > 0.0) return 1.0 / (1.0 + rest * gbt_exp(-to));
  const double own = gbt_exp(to), all = own + rest;
  return all > 0.0 ? own / all : 1.0; /* no other class has anything */
}

/* The derivatives of the loss of a row of class y, whose scores move along a direction u: score k by t u_k,
 *
 *   by t        sum p_k (u_k - u_y)
 *   by t twice  sum p_k (u_k - u_y)^2 - (sum p_k (u_k - u_y))^2
 *
 * All 0; then gbt_softmax_along_add of every class in order, e = exp(score - top), by = u_k - u_y; then
 * gbt_softmax_along. */
typedef struct gbt_softmax_sums {
  double e, g, h;
} gbt_softmax_sums;

GBT_FN void gbt_softmax_along_add(gbt_softmax_sums *s, double e, double by) {
  s->e += e;
  s->g += e * by;
  s->h += (e * by) * by;
}

GBT_FN gbt_gh gbt_softmax_along(const gbt_softmax_sums *s) {
  gbt_gh r = {s->g / s->e, 0.0};
  const double h = s->h / s->e - r.g * r.g;
  if (h > 0.0) r.h = h; /* else rounding */
  return r;
}

/* The log of the class's share of the weights, at least 1e-9. */
GBT_FN double gbt_softmax_base(double share) { return gbt_log(share < 1e-9 ? 1e-9 : share); }

#endif
