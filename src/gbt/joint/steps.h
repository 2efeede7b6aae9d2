/* Step functions of time, by stratum: where a time is among the steps, and the estimate of Kaplan and Meier (1958). */
#ifndef GBT_JOINT_STEPS_H
#define GBT_JOINT_STEPS_H

#include <stdint.h>

/* The end of those of [beg, end) with a time up to t. time: ascending there. */
static inline uint32_t gbt_steps_until(const double *time, uint32_t beg, uint32_t end, double t) {
  while (beg < end) {
    const uint32_t mid = beg + (end - beg) / 2;
    if (time[mid] <= t)
      beg = mid + 1;
    else
      end = mid;
  }
  return beg;
}

/* The probability of not being censored after a time, by that before it. at_risk: weight of the rows that can be
 * censored at it, so without those with an event at the same time; censored: weight of those that are. */
static inline double gbt_uncensored_after(double before, int64_t at_risk, int64_t censored) {
  return censored > 0 ? before * ((double)(at_risk - censored) / (double)at_risk) : before;
}

#endif
