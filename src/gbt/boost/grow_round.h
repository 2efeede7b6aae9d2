/* All trees of a round: grown by one backend, or the splits by one and the values by another. */
#ifndef GBT_BOOST_GROW_ROUND_H
#define GBT_BOOST_GROW_ROUND_H

#include "trainer_state.h"

/* Appends them to the trainer's forest. round: the number of the round in the run. Gradients are there. */
gbt_status gbti_grow_round(gbt_ctx *ctx, gbt_trainer *tr, uint64_t round, gbt_error *err) GBT_MUST_CHECK;

#endif
