/* Gradients and hessians of many rows by scores and labels, for objectives with one gradient a row. */
#ifndef GBT_OBJECTIVE_ROW_GRADIENTS_H
#define GBT_OBJECTIVE_ROW_GRADIENTS_H

#include "formulas.h"
#include "objective.h"

/* g[i], h[i] of score s[i] and label y[i]. The objective is looked at once. */
GBT_FN void gbt_row_gradients(const gbt_objective *objective, const double *s, const double *y, int64_t n, double *g,
                              double *h) {
  const gbt_objective o = *objective;
  switch ((gbt_objective_kind)o.kind) {
#define ROW_GRADIENTS_ROW(name)                              \
  for (int64_t i = 0; i < n; i++) {                          \
    const gbt_gh r = gbt_##name##_gradient(s[i], y[i], o.param); \
    g[i] = r.g;                                              \
    h[i] = r.h;                                              \
  }
#define ROW_GRADIENTS_CLASSES(name) GBT_ASSERT(0)
#define ROW_GRADIENTS_GIVEN(name) GBT_ASSERT(0)
#define ROW_GRADIENTS_QUERY(name) GBT_ASSERT(0)
#define ROW_GRADIENTS_ORDERED(name) GBT_ASSERT(0)
#define ROW_GRADIENTS_TIME(name) GBT_ASSERT(0)
#define ROW_GRADIENTS_INTERVALS(name) GBT_ASSERT(0)
#define ROW_GRADIENTS_DISTRIBUTION(name) GBT_ASSERT(0)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    ROW_GRADIENTS_##gradient(name);                     \
    break;
#include "objectives.def"
#undef ROW_GRADIENTS_ROW
#undef ROW_GRADIENTS_CLASSES
#undef ROW_GRADIENTS_GIVEN
#undef ROW_GRADIENTS_QUERY
#undef ROW_GRADIENTS_ORDERED
#undef ROW_GRADIENTS_TIME
#undef ROW_GRADIENTS_INTERVALS
#undef ROW_GRADIENTS_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
}

#endif
