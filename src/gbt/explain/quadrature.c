/* Points are the roots of Legendre's polynomial of degree n, moved from (-1, 1). Newton's steps from a guess near
 * enough; only + - * /, so the same bits everywhere. */
#include "quadrature.h"

#include "../base/hd.h"

/* cos(x) for 0 <= x <= pi, by its Taylor series about pi / 2; a guess, to some 1e-6. */
static double approximate_cos(double x) {
  double y = x - 1.5707963267948966, z = y * y, term = y, sum = 0.0;
  for (int k = 1; k < 14; k += 2) {
    sum -= term;
    term *= -z / (double)((k + 1) * (k + 2));
  }
  return sum;
}

/* Legendre's polynomial of degree n at x, and its derivative. |x| < 1. */
static double legendre(int32_t n, double x, double *slope) {
  double before = 1.0, p = x;
  for (int32_t k = 2; k <= n; k++) {
    double next = ((double)(2 * k - 1) * x * p - (double)(k - 1) * before) / (double)k;
    before = p;
    p = next;
  }
  *slope = (double)n * (x * p - before) / (x * x - 1.0);
  return p;
}

void gbti_quadrature(int32_t n, double *point, double *weight) {
  enum { STEPS = 12 };
  GBT_ASSERT(n >= 1);
  for (int32_t i = 0; i < (n + 1) / 2; i++) {
    double x = approximate_cos(3.141592653589793 * ((double)i + 0.75) / ((double)n + 0.5)), slope = 1.0;
    if (2 * i + 1 == n) x = 0.0;
    for (int s = 0; s < STEPS; s++) {
      double p = legendre(n, x, &slope);
      if (2 * i + 1 != n) x -= p / slope;
    }
    legendre(n, x, &slope);
    double w = 1.0 / ((1.0 - x * x) * slope * slope);
    point[i] = 0.5 - 0.5 * x;
    point[n - 1 - i] = 0.5 + 0.5 * x;
    weight[i] = weight[n - 1 - i] = w;
  }
}
