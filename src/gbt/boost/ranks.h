/* Communication of a training with the other ranks, except that of its backend. See base/comm.h. */
#ifndef GBT_BOOST_RANKS_H
#define GBT_BOOST_RANKS_H

#include "../base/comm.h"
#include "trainer.h"

/* Fails unless all ranks were given the same training: parameters, objective, metrics, constraints, stopping, and the
 * trees and base scores to start from. Collective. */
gbt_status gbt_ranks_check_spec(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_error *err) GBT_MUST_CHECK;

/* A hash of all that must be the same on all ranks. */
uint64_t gbt_ranks_mix_spec(const gbt_trainer_spec *spec);

/* Fails when the weights of a data set are 0 in all shares. Collective. */
gbt_status gbt_ranks_check_weights(gbt_ctx *ctx, const gbt_dataset *ds, gbt_error *err) GBT_MUST_CHECK;

/* Ranks that have rows have the same fields. Those without weights or an offset may have others with them: their
 * weights are 1, their offset is 0. */
gbt_status gbt_ranks_check_fields(gbt_ctx *ctx, const gbt_rows *rows, gbt_error *err) GBT_MUST_CHECK;

/* Bytes of spare memory for the rounds of a training, see gbt_comm_enter: room for a histogram and its sums, for lists
 * by rank, and for a megabyte of other things. The same on all ranks. */
size_t gbt_ranks_spare(const gbt_ctx *ctx, const gbt_dataset *train);

/* Whether the first rank says that the time is up: one clock decides for all. Collective. */
gbt_status gbt_ranks_time_is_up(gbt_ctx *ctx, int *up, gbt_error *err) GBT_MUST_CHECK;

#endif
