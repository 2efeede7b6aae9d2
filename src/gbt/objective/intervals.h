/* The intervals of an objective (gradient rule INTERVALS) and what is known of rows in them: hazard.h. */
#ifndef GBT_OBJECTIVE_INTERVALS_H
#define GBT_OBJECTIVE_INTERVALS_H

#include "../base/rows.h"
#include "hazard.h"
#include "objective.h"

static inline double gbt_interval_low(const gbt_objective *o, int32_t k) { return k > 0 ? o->breaks[k - 1] : 0.0; }

/* 1, 0 or GBT_HAZARD_UNKNOWN for interval k. rows: with LABEL and EVENT. */
static inline int gbt_interval_label(const gbt_objective *o, const gbt_rows *rows, int64_t row, int32_t k) {
  const double *entry = rows->field[GBT_ENTRY];
  return gbt_hazard_label(rows->field[GBT_LABEL][row], rows->field[GBT_EVENT][row] > 0.0,
                          entry != NULL ? entry[row] : 0.0, gbt_interval_low(o, k), o->breaks[k]);
}

/* Where a time lies: whole intervals before it, plus its share of the next one; n_outputs behind the last one. */
static inline double gbt_interval_place(const gbt_objective *o, double time) {
  int32_t k = 0;
  while (k < o->n_outputs && time >= o->breaks[k]) k++;
  if (k == o->n_outputs) return (double)k;
  const double low = gbt_interval_low(o, k), share = (time - low) / (o->breaks[k] - low);
  return (double)k + (share > 0.0 ? share : 0.0);
}

#endif
