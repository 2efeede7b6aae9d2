/* How the histogram of a feature is built and searched. The same for all backends. */
#ifndef GBT_BACKEND_FEATURE_PLAN_H
#define GBT_BACKEND_FEATURE_PLAN_H

#include "../data/page.h"
#include "../params.h"

typedef struct gbt_feature_plan {
  int8_t by_sets; /* it is split by sets of levels */
  int8_t counts;  /* the rows of its bins are counted */
} gbt_feature_plan;

/* Of a feature that is unused: nothing. */
static inline gbt_feature_plan gbt_feature_plan_of(const gbt_cuts *cuts, const gbt_layout *layout, int32_t feat,
                                                   const gbt_params *params) {
  gbt_feature_plan plan = {0, 0};
  if (!gbt_layout_uses(layout, feat)) return plan;
  plan.by_sets = gbt_cuts_by_sets(cuts, feat, params->max_cat_onehot) != 0;
  plan.counts = plan.by_sets || params->min_data_in_leaf > 1;
  return plan;
}

#endif
