/* Settings of users for columns (monotone signs, weights, interaction groups), translated to features: what is made of
 * a column follows the constraints of this column. A combination is in the interaction groups that have all its
 * columns; if there are groups and none has all of them, its weight is 0. */
#ifndef GBT_BOOST_CONSTRAINTS_H
#define GBT_BOOST_CONSTRAINTS_H

#include "trainer_impl.h"

typedef struct gbt_constraints {
  int8_t *monotone;   /* n_features; or NULL. A statistic of a column has no sign of its own: 0 */
  double *weight;     /* n_features, the column's, the least one's of a combination; or NULL */
  int32_t *group_beg; /* n_groups + 1 into group_feat; or NULL */
  int32_t *group_feat;
  int32_t n_groups;
} gbt_constraints;

/* Checks those of the spec and translates them to the features of its training data. GBT_E_ARG or GBT_E_UNSUPPORTED
 * name the column or group. Owned by the caller, to be freed also after a failure. */
gbt_status gbt_constraints_make(const gbt_mem *mem, const gbt_trainer_spec *spec, gbt_constraints *out,
                                gbt_error *err) GBT_MUST_CHECK;
void gbt_constraints_free(const gbt_mem *mem, gbt_constraints *constraints);

#endif
