/* Several trainings at a time, such as the folds of a cross-validation. */
#ifndef GBT_BOOST_SIDE_BY_SIDE_H
#define GBT_BOOST_SIDE_BY_SIDE_H

#include "trainer.h"

/* gbt_trainer_run of n trainers (borrowed, all different), each on threads of its own, since small trainings do not
 * benefit from several threads. Their data sets may share pages in memory; a store of pages in files serves one
 * training at a time. None may train on a device, nor with ranks. why: n, filled in. The models are those of one
 * training after the other. If one fails, the others continue to their end, and the error of the first one in this
 * order is returned. GBT_CANCELLED: the trainers may have different numbers of rounds. */
gbt_status gbt_trainers_run(gbt_ctx *ctx, gbt_trainer *const *trainers, int64_t n, int64_t n_rounds,
                            gbt_stop_reason *why, gbt_error *err) GBT_MUST_CHECK;

#endif
