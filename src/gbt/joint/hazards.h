/* A baseline: the cumulative hazard of a row of score 0, by stratum. */
#ifndef GBT_JOINT_HAZARDS_H
#define GBT_JOINT_HAZARDS_H

#include <stdint.h>

/* hazard[k] from time[k] on, until the next time. Borrowed. */
typedef struct gbt_hazards {
  uint32_t n_strata;
  const double *stratum; /* n_strata: their numbers, ascending */
  const uint32_t *start; /* n_strata + 1: the first time of each */
  const double *time, *hazard;
} gbt_hazards;

#endif
