/* Shared by distributions of counts. */
#ifndef GBT_OBJECTIVE_COUNTS_H
#define GBT_OBJECTIVE_COUNTS_H

#include "../math/gamma_functions.h"

/* Up to this mean probabilities are added up count by count from 0 on; that of 0 does not underflow. */
#define GBT_COUNTS_ONE_BY_ONE 500.0

/* x >= 0, without its fraction. */
GBT_FN double gbt_floor(double x) { return x < 9e15 ? (double)(int64_t)x : x; }

/* Returns the least count `at` whose probability (an expression in `at`) is p or more: between two that enclose it. */
#define GBT_SEARCH_COUNT(chance, p, mean)                                                   \
  do {                                                                                      \
    double low = -1.0, high = gbt_floor(mean) + 1.0, at = high;                             \
    while (high < 1e15 && (at = high, (chance) < (p))) low = high, high = 2.0 * high + 1.0; \
    while (high - low > 1.0) {                                                              \
      at = gbt_floor(0.5 * (low + 1.0) + 0.5 * (high + 1.0)) - 1.0;                         \
      if ((chance) < (p))                                                                   \
        low = at;                                                                           \
      else                                                                                  \
        high = at;                                                                          \
    }                                                                                       \
    return high;                                                                            \
  } while (0)

/* The probability of y or less in a Poisson distribution of mean m > 0. */
GBT_FN double gbt_poisson_below(double m, double y) {
  return y < 0.0 ? 0.0 : gbt_gamma_chance(gbt_floor(y) + 1.0, m, 1);
}

GBT_FN double gbt_poisson_quantile(double m, double p) {
  if (m > GBT_COUNTS_ONE_BY_ONE) {
    GBT_SEARCH_COUNT(gbt_poisson_below(m, at), p, m);
  }
  double chance = gbt_exp(-m), sum = chance, y = 0.0;
  while (sum < p) {
    y += 1.0;
    chance *= m / y;
    sum += chance;
    if (chance < 1e-18 && y > m) break; /* what is left is rounding */
  }
  return y;
}

#endif
