/* Checks of the arguments of a trainer, before anything is made. Errors are those of gbt_trainer_new. */
#ifndef GBT_BOOST_TRAINER_CHECK_H
#define GBT_BOOST_TRAINER_CHECK_H

#include "trainer.h"

/* Parameters, data sets, metrics; on all ranks. */
gbt_status gbt_trainer_check(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_error *err) GBT_MUST_CHECK;

/* The model to go on from, once the data sets have their features. */
gbt_status gbt_trainer_check_init(const gbt_trainer_spec *spec, gbt_error *err) GBT_MUST_CHECK;

#endif
