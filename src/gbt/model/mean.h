/* One model made of several that were trained on the same columns, such as with different seeds: its scores are the
 * means of their scores (tree/mean.h). Equal tables of statistics are stored once. */
#ifndef GBT_MODEL_MEAN_H
#define GBT_MODEL_MEAN_H

#include "model.h"

/* The bytes, allocated from mem (free with gbt_mem_free). members: n, 1 or more. GBT_E_ARG: objectives, columns, levels
 * or outputs differ. Meta entries as for gbt_model_make(); those of the members are left out. */
gbt_status gbt_model_make_mean(const gbt_mem *mem, const gbt_model *const *members, int32_t n, const gbt_meta *meta,
                               int32_t n_meta, uint8_t **out, size_t *n_bytes, gbt_error *err) GBT_MUST_CHECK;

#endif
