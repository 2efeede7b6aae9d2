/* Statistics of categorical columns, made when a training begins: data sets are extended by derived features
 * (data/extend.h).
 *
 *   plan        which columns, single or combined, and which statistics                         plan.h
 *   orders      in which the rows are taken; labels as whole numbers                            visit.h, target.h
 *   keys        of the rows of every data set                                                   keys.h
 *   statistics  of each training row from the rows before it, in each of two orders; tables     ordered.h
 *   bins        of the training rows by order, of the validation rows by table
 *
 * The training set has a variant for every order. Trees are grown by the first one; their leaf values are those of the
 * rows by the second one (refit_trees in backend/backend.h), because leaf values computed from the same bins as the
 * splits would be too optimistic (Prokhorenkova et al. 2018, CatBoost, section 4). */
#ifndef GBT_ENCODE_ENCODE_H
#define GBT_ENCODE_ENCODE_H

#include "../data/dataset_impl.h"
#include "../objective/objective.h"
#include "../params.h"
#include "cat_method.h"

/* The requests for the columns; borrowed. */
typedef struct gbti_wish {
  const uint8_t *cat_method; /* as in gbt_trainer_spec */
  /* columns that may meet, as in gbt_trainer_spec: others are not combined. n_interact 0: all may */
  const int32_t *interact_beg, *interact_col;
  int32_t n_interact;
  struct gbti_statistics_help *help; /* a device's, see statistics_help.h; NULL: everything is done here */
} gbti_wish;

/* data: n_data data sets of the same cuts, the training set first, its label set unless the objective is custom. Each
 * is replaced by its extension, which shares it, and the reference to it given up; nothing is done where the plan
 * derives nothing. chosen: n_columns, is filled: what was made of each column, 0 where it is not categorical. On
 * failure data are as before. Ranks: each has its share of the extensions of all rows (gather.h). Collective. */
gbt_status gbti_encode(gbt_ctx *ctx, const gbt_params *params, const gbt_objective *objective, const gbti_wish *wish,
                       gbt_dataset **data, int32_t n_data, uint8_t *chosen, gbt_error *err) GBT_MUST_CHECK;

#endif
