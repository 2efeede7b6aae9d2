/* Scores to responses, for objectives with one gradient a row. (Classes need all scores of a row: model/predict.c.) */
#ifndef GBT_OBJECTIVE_RESPONSE_H
#define GBT_OBJECTIVE_RESPONSE_H

#include "formulas.h"
#include "objective.h"

/* out[i] = response of s[i]; out may be s. The objective is looked at once. */
GBT_FN void gbt_responses(const gbt_objective *objective, const double *s, int64_t n, double *out) {
  const gbt_objective o = *objective;
  switch ((gbt_objective_kind)o.kind) {
#define GBT_RESPONSES_ROW(name) \
  for (int64_t i = 0; i < n; i++) out[i] = gbt_##name##_response(s[i], o.param)
#define GBT_RESPONSES_SCORE \
  for (int64_t i = 0; i < n; i++) out[i] = s[i]
#define GBT_RESPONSES_CLASSES(name) GBT_RESPONSES_SCORE
#define GBT_RESPONSES_GIVEN(name) GBT_RESPONSES_SCORE
#define GBT_RESPONSES_QUERY(name) GBT_RESPONSES_SCORE
#define GBT_RESPONSES_ORDERED(name) \
  for (int64_t i = 0; i < n; i++) out[i] = gbt_exp(s[i])
#define GBT_RESPONSES_TIME(name) GBT_RESPONSES_ROW(name)
#define GBT_RESPONSES_INTERVALS(name) GBT_RESPONSES_ROW(name)
#define GBT_RESPONSES_DISTRIBUTION(name) GBT_RESPONSES_SCORE /* need both scores: distribution.h */
#define GBT_OBJECTIVE(ID, name, aliases, gradient, ...) \
  case GBT_OBJ_##ID:                                    \
    GBT_RESPONSES_##gradient(name);                     \
    break;
#include "objectives.def"
#undef GBT_RESPONSES_ROW
#undef GBT_RESPONSES_SCORE
#undef GBT_RESPONSES_CLASSES
#undef GBT_RESPONSES_GIVEN
#undef GBT_RESPONSES_QUERY
#undef GBT_RESPONSES_ORDERED
#undef GBT_RESPONSES_TIME
#undef GBT_RESPONSES_INTERVALS
#undef GBT_RESPONSES_DISTRIBUTION
  case GBT_N_OBJECTIVES:
    break;
  }
}

GBT_FN double gbt_response(const gbt_objective *objective, double s) {
  double out = s;
  gbt_responses(objective, &s, 1, &out);
  return out;
}

#endif
