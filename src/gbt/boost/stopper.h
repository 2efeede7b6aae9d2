/* Early stopping on one watched series of metric values. The caller owns the struct. */
#ifndef GBT_BOOST_STOPPER_H
#define GBT_BOOST_STOPPER_H

#include <stdint.h>

typedef struct gbt_stopper {
  int64_t patience;   /* rounds without improvement before stopping; 0: never stop */
  double min_delta;   /* an improvement must be larger than this (>= 0) */
  int maximise;       /* larger is better */
  int64_t best_round; /* 1-based; 0 before the first value */
  double best;        /* the value of that round; NaN before the first */
} gbt_stopper;

/* Starts a series, of which training stops when `patience` rounds have not improved on the best value by more than
 * min_delta. */
void gbt_stopper_start(gbt_stopper *stopper, int64_t patience, double min_delta, int maximise);

/* Takes the value after `round` (1-based). 1 = stop now. NaN never improves. */
int gbt_stopper_update(gbt_stopper *stopper, int64_t round, double value);

#endif
