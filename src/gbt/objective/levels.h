/* Several levels of one objective, such as quantiles (outputs rule LEVELS): responses are the scores of a row in
 * ascending order, so that they never cross. Where two scores cross, exchanging them lowers the pinball loss of every
 * label: in the sum over levels a_k of (y < q_k ? (1 - a_k) (q_k - y) : a_k (y - q_k)) only -a_k q_k depends on which q
 * goes with which a, and the exchange lowers it by (a_2 - a_1) (q_1 - q_2). */
#ifndef GBT_OBJECTIVE_LEVELS_H
#define GBT_OBJECTIVE_LEVELS_H

#include "objective.h"

/* x[0], x[stride], ..: n <= GBT_MOST_LEVELS numbers, ascending afterwards. They mostly are before: insertion. */
static inline void gbt_sort_levels(double *x, size_t stride, int32_t n) {
  for (int32_t k = 1; k < n; k++) {
    const double s = x[(size_t)k * stride];
    int32_t i = k;
    for (; i > 0 && x[(size_t)(i - 1) * stride] > s; i--) x[(size_t)i * stride] = x[(size_t)(i - 1) * stride];
    x[(size_t)i * stride] = s;
  }
}

/* The place of a level; -1: there is none. */
static inline int32_t gbt_level_place(const gbt_objective *o, double level) {
  for (int32_t k = 0; o->levels != NULL && k < o->n_outputs; k++)
    if (o->levels[k] == level) return k;
  return -1;
}

#endif
