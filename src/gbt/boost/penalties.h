/* Penalties on features that the model does not use yet, and by how much they lower gains in the next round (handicaps
 * in tree/contest.h).
 *
 *   first_use_penalty   by column, taken off the gain of a feature: the sum over its columns that no tree uses. A
 *                       column is used when a tree splits by it or by what is made of it
 * Trees are those of the rounds before, the initial model's among them. Penalties do not change within a round, so the
 * trees do not depend on the order in which trees and nodes are grown, side by side or ahead of the policy. */
#ifndef GBT_BOOST_PENALTIES_H
#define GBT_BOOST_PENALTIES_H

#include "../tree/contest.h"
#include "../tree/forest.h"
#include "trainer_impl.h"

typedef struct gbt_penalties {
  double *handicap;       /* n_features of the data; NULL: there are no penalties */
  double *cost;           /* n_columns */
  uint8_t *column_used;   /* n_columns */
  size_t n_trees; /* of the forest, that have been looked at */
} gbt_penalties;

/* Checks and copies those of the spec. GBT_E_ARG names the column. To be freed also after a failure. */
gbt_status gbt_penalties_make(const gbt_mem *mem, const gbt_trainer_spec *spec, gbt_penalties *out,
                              gbt_error *err) GBT_MUST_CHECK;
void gbt_penalties_free(const gbt_mem *mem, gbt_penalties *penalties);

/* Before a round: looks at the trees that are new. schema: of the forest's features, those of the data coming first. */
void gbt_penalties_update(gbt_penalties *penalties, const gbt_schema *data, const gbt_schema *schema,
                          const gbt_forest_view *trees);

#endif
