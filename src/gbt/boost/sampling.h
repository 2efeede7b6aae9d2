/* How a training draws its rows (math/sampling.h): whether the method suits the training, and what it needs from
 * earlier rounds. */
#ifndef GBT_BOOST_SAMPLING_H
#define GBT_BOOST_SAMPLING_H

#include "../math/sampling.h"
#include "../tree/forest.h"
#include "trainer.h"

/* Of a specification whose parameters and labels are good. */
gbt_status gbt_sampling_check(const gbt_trainer_spec *spec, gbt_error *err) GBT_MUST_CHECK;

/* gbt_backend.size_reg for mvs: the parameter, or the mean square of the leaf weights of the last round, a leaf counted
 * as often as it has rows. It is the weight of the hessians in the variance of a leaf's value (Ibragimov & Gusev 2019,
 * section 4). Below 0 before the first round. eta: the shrinkage of that round; trees: settled. */
double gbt_sampling_reg(const gbt_params *params, double eta, const gbt_forest_view *trees);

#endif
