/* Every function here has a loop for each distribution of objectives.def. */
#include "distribution.h"

#include "../math/fixed.h"
#include "formulas.h"

enum { ROOM_OF_SCALE = 8 }; /* scales may fall to exp(-8) of the first one */

#define OF_ROW(name) GBT_ASSERT(0)
#define OF_CLASSES OF_ROW
#define OF_GIVEN OF_ROW
#define OF_QUERY OF_ROW
#define OF_TIME OF_ROW
#define OF_ORDERED OF_ROW
#define OF_INTERVALS OF_ROW

static int has_location(const gbt_objective *o) { return gbt_objective_info_of(o->kind)->labels == GBT_LABELS_NUMBER; }

gbt_distribution_range gbt_distribution_range_of(const gbt_objective *o, const double *base) {
  gbt_distribution_range range = {-10.0, 15.0};
  if (!has_location(o)) return range;
  range.low = base[1] - ROOM_OF_SCALE;
  range.high = 700.0;
  return range;
}

double gbt_distribution_unit(const gbt_objective *o, const double *base) {
  if (!has_location(o)) return 1.0;
  const double powers = base[1] * 1.4426950408889634; /* log2 of the scale */
  const double limited = powers > 1000.0 ? 1000.0 : powers < -1000.0 ? -1000.0 : powers;
  return gbt_pow2((int)(limited < 0.0 ? limited - 0.5 : limited + 0.5));
}

void gbt_distribution_gradients(const gbt_objective *o, gbt_distribution_range range, double unit, const double *a,
                                const double *b, const double *y, const double *offset, int64_t n, gbt_gh (*gh)[2]) {
  const double *param = o->param;
  switch ((gbt_objective_kind)o->kind) {
#define OF_DISTRIBUTION(name)                                                                    \
  for (int64_t i = 0; i < n; i++) {                                                              \
    const double by = offset != NULL ? offset[i] : 0.0, low = range.low + by, high = range.high + by; \
    const double at = b[i] < low ? low : b[i] > high ? high : b[i];                              \
    gbt_##name##_gradient(a[i], at, y[i], param, unit, gh[i]);                                   \
    gbt_gh *its = &gh[i][1];                                                                     \
    if ((b[i] <= low && its->g > 0.0) || (b[i] >= high && its->g < 0.0)) its->g = 0.0;           \
  }
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    OF_##gradient(name);                                \
    break;
#include "objectives.def"
#undef OF_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
}

void gbt_distribution_natural(const gbt_objective *o, double *a, double *b, int64_t n) {
  switch ((gbt_objective_kind)o->kind) {
#define OF_DISTRIBUTION(name)                  \
  for (int64_t i = 0; i < n; i++) {            \
    double out[2];                             \
    gbt_##name##_natural(a[i], b[i], out);     \
    a[i] = out[0];                             \
    b[i] = out[1];                             \
  }
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    OF_##gradient(name);                                \
    break;
#include "objectives.def"
#undef OF_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
}

void gbt_distribution_means(const gbt_objective *o, const double *a, const double *b, int64_t n, double *out) {
  switch ((gbt_objective_kind)o->kind) {
#define OF_DISTRIBUTION(name) \
  for (int64_t i = 0; i < n; i++) out[i] = gbt_##name##_mean(a[i], b[i], o->param)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    OF_##gradient(name);                                \
    break;
#include "objectives.def"
#undef OF_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
}

void gbt_distribution_nloglik(const gbt_objective *o, const double *a, const double *b, const double *y, int64_t n,
                              double *out) {
  switch ((gbt_objective_kind)o->kind) {
#define OF_DISTRIBUTION(name) \
  for (int64_t i = 0; i < n; i++) out[i] = gbt_##name##_nloglik(a[i], b[i], y[i], o->param)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    OF_##gradient(name);                                \
    break;
#include "objectives.def"
#undef OF_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
}

void gbt_distribution_crps(const gbt_objective *o, const double *a, const double *b, const double *y, int64_t n,
                           double *out) {
  switch ((gbt_objective_kind)o->kind) {
#define OF_DISTRIBUTION(name) \
  for (int64_t i = 0; i < n; i++) out[i] = gbt_##name##_crps(a[i], b[i], y[i], o->param)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    OF_##gradient(name);                                \
    break;
#include "objectives.def"
#undef OF_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
}

double gbt_distribution_below(const gbt_objective *o, double a, double b, double y) {
  switch ((gbt_objective_kind)o->kind) {
#define OF_DISTRIBUTION(name) return gbt_##name##_below(a, b, y, o->param)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    OF_##gradient(name);                                \
    break;
#include "objectives.def"
#undef OF_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
  return 0.0;
}

double gbt_distribution_quantile(const gbt_objective *o, double a, double b, double p) {
  switch ((gbt_objective_kind)o->kind) {
#define OF_DISTRIBUTION(name) return gbt_##name##_quantile(a, b, p, o->param)
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    OF_##gradient(name);                                \
    break;
#include "objectives.def"
#undef OF_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
  return 0.0;
}

void gbt_distribution_within(const gbt_objective *o, const double *a, const double *b, const double *y, double level,
                             int64_t n, double *out) {
  const double low = (1.0 - level) / 2.0, high = (1.0 + level) / 2.0;
  for (int64_t i = 0; i < n; i++)
    out[i] = y[i] >= gbt_distribution_quantile(o, a[i], b[i], low) &&
                     y[i] <= gbt_distribution_quantile(o, a[i], b[i], high)
                 ? 1.0
                 : 0.0;
}
