/* Numbers of a column, and thresholds out of the same few, so that they meet and lie next to each other. For tests of
 * prediction. */
#ifndef GBT_TESTS_NUMBERS_H
#define GBT_TESTS_NUMBERS_H

#include <float.h>
#include <math.h>

#include "test.h"

typedef enum spread { SMALL_SET, BELL, WIDE, CROWDED, HUGE_STEP, N_SPREADS } spread;

static inline double draw(test_rng *rng, spread kind) {
  static const double odd[] = {-INFINITY, INFINITY, -0.0, 0.0, DBL_MAX, -DBL_MAX, 5e-324, -5e-324, DBL_MIN};
  if (test_below(rng, 20) == 0) return odd[test_below(rng, 9)];
  int32_t k = (int32_t)test_below(rng, 200) - 100;
  switch (kind) {
  case SMALL_SET:
    return (double)(k % 4) / 2.0;
  case BELL:
    return (double)k / 37.0;
  case WIDE:
    return k < 0 ? -ldexp(1.0, -10 * k - 500) : ldexp(1.5, 10 * k - 500);
  case CROWDED: /* neighbours in one cell of any grid, and far ones */
    return k % 3 == 0 ? ldexp(1.0, k) : 1.0 + (double)k * DBL_EPSILON;
  default:
    return 1e15 + (double)k;
  }
}

static inline double near(test_rng *rng, double x) {
  int64_t kind = test_below(rng, 3);
  return kind == 0 ? x : nextafter(x, kind == 1 ? (double)INFINITY : -(double)INFINITY);
}

#endif
