/* The work of a thread of an explanation since it last polled. Private to explain/. */
#ifndef GBT_EXPLAIN_PACE_H
#define GBT_EXPLAIN_PACE_H

#include "../base/parallel.h"

enum {
  GBTI_POLL_STEPS = 200000, /* between two looks; a step is about a nanosecond */
  GBTI_VISIT_STEPS = 10     /* of a step of a visit (step.h), or a number that is looked up for 64 rows */
};

typedef struct gbti_pace {
  gbt_ctx *ctx;
  int thread;
  int64_t steps;
} gbti_pace;

/* After so many steps more: 1 when asked to stop. */
static inline int gbti_stopped(gbti_pace *pace, int64_t steps) {
  pace->steps += steps;
  if (pace->steps < GBTI_POLL_STEPS) return 0;
  pace->steps = 0;
  return gbt_ctx_stopped(pace->ctx, pace->thread);
}

#endif
