/* The categorical columns of a training: made as its specification says, on the device that it names. */
#ifndef GBT_BOOST_COLUMNS_H
#define GBT_BOOST_COLUMNS_H

#include "trainer.h"

/* gbti_encode (encode/encode.h) of the data sets of a specification: data[1 + spec->n_valid], the training set first.
 * Collective. */
gbt_status gbti_encode_columns(gbt_ctx *ctx, const gbt_trainer_spec *spec, gbt_dataset **data, uint8_t *chosen,
                               gbt_error *err) GBT_MUST_CHECK;

#endif
