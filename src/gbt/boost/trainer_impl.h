/* Trainer functions for the engine and its tests, in addition to trainer.h. */
#ifndef GBT_BOOST_TRAINER_IMPL_H
#define GBT_BOOST_TRAINER_IMPL_H

#include "../data/dataset_impl.h"
#include "../tree/forest.h"
#include "trainer.h"

/* Borrowed until free or the next run. */
const gbt_forest *gbt_trainer_forest(const gbt_trainer *trainer);

#endif
