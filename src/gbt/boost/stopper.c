/* Early stopping. */
#include "stopper.h"

#include "../base/bits.h"
#include "../base/float_mode.h"

void gbt_stopper_start(gbt_stopper *stopper, int64_t patience, double min_delta, int maximise) {
  stopper->patience = patience;
  stopper->min_delta = min_delta;
  stopper->maximise = maximise;
  stopper->best_round = 0;
  stopper->best = gbt_from_bits(0x7ff8000000000000u);
}

int gbt_stopper_update(gbt_stopper *stopper, int64_t round, double value) {
  const uint32_t other_float = gbti_float_begin();
  double gain = stopper->maximise ? value - stopper->best : stopper->best - value;
  int first = stopper->best_round == 0 && value == value;
  if (first || gain > stopper->min_delta) {
    stopper->best_round = round;
    stopper->best = value;
  }
  gbti_float_end(other_float);
  return stopper->patience > 0 && round - stopper->best_round >= stopper->patience;
}
