/* The order in which an emulated device runs its threads and blocks: for (int k = 0; test_schedule(k); k++) ... On a
 * device, and where the environment has asked for a schedule, once as it is. */
#ifndef GBT_TEST_SCHEDULES_H
#define GBT_TEST_SCHEDULES_H

#include <stdlib.h>

#if defined(GBT_TEST_SIMT)
#include "../simt/control.h"
#endif

static inline int test_schedule(int k) {
#if defined(GBT_TEST_SIMT)
  if (!getenv("SIMT_SCHED") && !getenv("SIMT_PREEMPT")) {
    simt_schedule(k == 1 ? SIMT_REVERSE : k >= 2 ? SIMT_RANDOM : SIMT_NATURAL, (uint64_t)k, k == 4 ? 3u : 0u);
    if (k < 5) return 1;
    simt_schedule(SIMT_NATURAL, 0, 0);
    return 0;
  }
#endif
  return k == 0;
}

#endif
