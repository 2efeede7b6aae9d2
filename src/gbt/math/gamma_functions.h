/* The gamma function and its relatives, and the probabilities of gamma, beta and Poisson distributions, from + - * /
 * and math/elementary.h: the same bits everywhere. Arguments are above 0. Errors, measured in
 * tests/native/math/test_gamma_functions.c, are below 1e-13 of the value or of 1; probabilities of shapes near 1e5 are
 * wrong by up to 1e-9. */
#ifndef GBT_MATH_GAMMA_FUNCTIONS_H
#define GBT_MATH_GAMMA_FUNCTIONS_H

#include "normal.h"

/* Stirling's series: log Gamma(x) - ((x - 1/2) log x - x + log sqrt(2 pi)) for x >= 8. */
GBT_FN double gbt_stirling_rest(double x) {
  const double r = 1.0 / x, z = r * r;
  double p = -3617.0 / 122400.0;
  p = p * z + 1.0 / 156.0;
  p = p * z - 691.0 / 360360.0;
  p = p * z + 1.0 / 1188.0;
  p = p * z - 1.0 / 1680.0;
  p = p * z + 1.0 / 1260.0;
  p = p * z - 1.0 / 360.0;
  p = p * z + 1.0 / 12.0;
  return p * r;
}

GBT_FN double gbt_log_gamma(double x) {
  double below = 1.0; /* Gamma(x + n) = x (x + 1) .. (x + n - 1) Gamma(x) */
  for (; x < 8.0; x += 1.0) below *= x;
  return (((x - 0.5) * gbt_log(x) - x) + GBT_LOG_SQRT_2PI) + (gbt_stirling_rest(x) - gbt_log(below));
}

/* The derivative of log Gamma, and its derivative. */
GBT_FN double gbt_digamma(double x) {
  double below = 0.0;
  for (; x < 8.0; x += 1.0) below += 1.0 / x;
  const double r = 1.0 / x, z = r * r;
  double p = 3617.0 / 8160.0;
  p = p * z - 1.0 / 12.0;
  p = p * z + 691.0 / 32760.0;
  p = p * z - 1.0 / 132.0;
  p = p * z + 1.0 / 240.0;
  p = p * z - 1.0 / 252.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 12.0;
  return ((gbt_log(x) - 0.5 * r) + p * z) - below;
}

GBT_FN double gbt_trigamma(double x) {
  double below = 0.0;
  for (; x < 8.0; x += 1.0) below += 1.0 / (x * x);
  const double r = 1.0 / x, z = r * r;
  double p = -3617.0 / 510.0;
  p = p * z + 7.0 / 6.0;
  p = p * z - 691.0 / 2730.0;
  p = p * z + 5.0 / 66.0;
  p = p * z - 1.0 / 30.0;
  p = p * z + 1.0 / 42.0;
  p = p * z - 1.0 / 30.0;
  p = p * z + 1.0 / 6.0;
  return (((p * z) * r + 0.5 * z) + r) + below;
}

/* log (Gamma(x + 1/2) / Gamma(x)) */
GBT_FN double gbt_log_gamma_half(double x) {
  if (x < 100.0) return gbt_log_gamma(x + 0.5) - gbt_log_gamma(x);
  const double r = 1.0 / x, z = r * r;
  return 0.5 * gbt_log(x) + (((17.0 / 14336.0 * z - 1.0 / 640.0) * z + 1.0 / 192.0) * z - 1.0 / 8.0) * r;
}

/* ---- gamma ---- */

enum { GBT_MOST_TERMS = 20000 };

/* Denominators of continued fractions are kept off 0 (Lentz's way, as Thompson & Barnett 1986 have it). */
GBT_FN double gbt_off_zero(double x) { return x < 1e-300 && x > -1e-300 ? 1e-300 : x; }
GBT_FN int gbt_is_one(double x) { return x - 1.0 < 1e-16 && x - 1.0 > -1e-16; }

/* log of x^k e^-x / Gamma(k + 1). */
GBT_FN double gbt_gamma_term(double k, double x) {
  if (k < 8.0) return (k * gbt_log(x) - x) - gbt_log_gamma(k + 1.0);
  const double far = (x - k) / k; /* k log x - x - log Gamma(k + 1) without what cancels */
  const double unlike = far < 0.5 && far > -0.5 ? far - gbt_log1p(far) : far - gbt_log(x / k);
  return ((-k * unlike - 0.5 * gbt_log(k)) - GBT_LOG_SQRT_2PI) - gbt_stirling_rest(k);
}

/* Of shape k and scale 1: the probability of x or less, or (above) of more. Shapes from 1e5 on by the cube root, which
 * is nearly normal (Wilson & Hilferty 1931). */
GBT_FN double gbt_gamma_chance(double k, double x, int above) {
  if (!(x > 0.0)) return above ? 1.0 : 0.0;
  if (k >= 1e5) {
    const double v = 1.0 / (9.0 * k), cube = gbt_exp(gbt_log(x / k) / 3.0);
    const double z = (cube - (1.0 - v)) / gbt_sqrt(v);
    return gbt_normal_tail(above ? z : -z) / GBT_SQRT_2PI;
  }
  const double head = gbt_exp(gbt_gamma_term(k, x));
  if (x < k + 1.0) { /* head (1 + x / (k + 1) + x^2 / ((k + 1) (k + 2)) + ..) */
    double sum = 1.0, term = 1.0;
    for (int i = 1; i < GBT_MOST_TERMS && term > 1e-17 * sum; i++) {
      term *= x / (k + (double)i);
      sum += term;
    }
    double p = head * sum;
    p = p < 1.0 ? p : 1.0;
    return above ? 1.0 - p : p;
  }
  /* a continued fraction of the upper part, from its first term on (Lentz's way) */
  double b = x + 1.0 - k, c = 1e300, d = 1.0 / b, f = d;
  for (int i = 1; i < GBT_MOST_TERMS; i++) {
    const double a = -(double)i * ((double)i - k);
    b += 2.0;
    d = 1.0 / gbt_off_zero(a * d + b);
    c = gbt_off_zero(b + a / c);
    f *= c * d;
    if (gbt_is_one(c * d)) break;
  }
  double q = head * k * f; /* x^k e^-x / Gamma(k) f */
  q = q < 1.0 ? q : 1.0;
  return above ? q : 1.0 - q;
}

/* The number that is not exceeded with probability p, 0 < p < 1: Newton's steps for its logarithm u and that of the
 * smaller tail, kept between two numbers that enclose it. */
GBT_FN double gbt_gamma_quantile(double k, double p) {
  const int upper = p > 0.5;
  const double to = upper ? 1.0 - p : p, v = 1.0 / (9.0 * k);
  const double root = (1.0 - v) + gbt_normal_quantile(p) * gbt_sqrt(v);
  double low = -708.0, high = 700.0;
  double u = root > 0.1 ? gbt_log(k) + 3.0 * gbt_log(root) : (gbt_log(p) + gbt_log_gamma(k + 1.0)) / k;
  for (int i = 0; i < 200; i++) {
    if (!(u > low && u < high)) u = 0.5 * low + 0.5 * high;
    const double x = gbt_exp(u), at = gbt_gamma_chance(k, x, upper), term = gbt_gamma_term(k, x);
    const double slope = term > -690.0 ? gbt_exp(term) * k : 0.0; /* 0: it saturates, so halve the bracket */
    const int over = upper ? at < to : at > to;
    if (at == to) break;
    if (over) high = u;
    if (!over) low = u;
    const double by = at > 0.0 && slope > 0.0 ? gbt_log(at / to) * at / slope : 0.0;
    const double next = by != 0.0 ? (upper ? u + by : u - by) : low, least = 1e-15 * (1.0 + (u < 0.0 ? -u : u));
    if (high - low < least || (next - u < least && u - next < least)) break;
    u = next;
  }
  return gbt_exp(u);
}

/* ---- beta ---- */

/* log (Gamma(a + b) / (Gamma(a) Gamma(b + 1))), without what cancels where both are large. */
GBT_FN double gbt_log_choose(double a, double b) {
  return (gbt_log_gamma(a + b) - gbt_log_gamma(a)) - gbt_log_gamma(b + 1.0);
}

/* The incomplete beta function I_x(a, b), y = 1 - x: the probability of x or less. */
GBT_FN double gbt_beta_chance(double a, double b, double x, double y) {
  if (!(x > 0.0)) return 0.0;
  if (!(y > 0.0)) return 1.0;
  const int turned = x > (a + 1.0) / (a + b + 2.0);
  if (turned) {
    double swap = a;
    a = b, b = swap;
    swap = x, x = y, y = swap;
  }
  const double head = gbt_exp(((a * gbt_log(x) + b * gbt_log(y)) + gbt_log_gamma(a + b)) -
                              (gbt_log_gamma(a + 1.0) + gbt_log_gamma(b)));
  double c = 1.0, d = 1.0 / gbt_off_zero(1.0 - (a + b) * x / (a + 1.0)), f = d;
  for (int i = 1; i < GBT_MOST_TERMS; i++) {
    const double m = (double)i;
    double by = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    d = 1.0 / gbt_off_zero(1.0 + by * d);
    c = gbt_off_zero(1.0 + by / c);
    f *= c * d;
    by = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    d = 1.0 / gbt_off_zero(1.0 + by * d);
    c = gbt_off_zero(1.0 + by / c);
    f *= c * d;
    if (gbt_is_one(c * d)) break;
  }
  double p = head * f;
  p = p < 1.0 ? p : 1.0;
  return turned ? 1.0 - p : p;
}

#endif
