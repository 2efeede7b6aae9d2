/* Predictions of a model for the rows of a bound table, as the objective in the model's bytes defines them. */
#ifndef GBT_MODEL_ANSWER_H
#define GBT_MODEL_ANSWER_H

#include "../backend/device.h"
#include "model.h"
#include "predict.h"

typedef enum gbt_answer {
  GBT_ANSWER_LINK,     /* raw scores: double, n_rows x n_outputs, column by column */
  GBT_ANSWER_RESPONSE, /* the objective's responses of them (probabilities, means): the same shape */
  GBT_ANSWER_CLASS,    /* int32_t, n_rows: number of the most probable class, the lower one of equals */
  GBT_ANSWER_LEAF      /* int32_t, n_rows x trees, as gbt_predict_leaves */
} gbt_answer;
const char *gbt_answer_name(int answer); /* "link", "response", "class", "leaf"; NULL: there is none */

/* Where a model predicts: on a device if its library offers the work, otherwise on the CPU, with the same
 * results. */
typedef struct gbt_answer_place {
  gbt_predictor *keep;       /* of the model's forest, for the CPU; NULL: trees are packed again */
  const gbt_device_api *api; /* borrowed; NULL: the CPU */
  int32_t device;            /* its number */
} gbt_answer_place;

/* binding: the table bound to the model's schema. trees: whole rounds or any others, trees.end <= n_trees. offset:
 * n_rows x n_outputs or NULL; leaves ignore it. at: NULL is the CPU with nothing kept. out: the caller's, with the type
 * and shape of gbt_answer. GBT_E_ARG: no such trees, or a table bound to another schema. GBT_E_UNSUPPORTED: classes of
 * an objective that has none. */
gbt_status gbt_model_answer(gbt_ctx *ctx, const gbt_model *model, const gbt_answer_place *at,
                            const gbt_binding *binding, gbt_answer what, gbt_tree_range trees, const double *offset,
                            void *out, gbt_error *err) GBT_MUST_CHECK;

/* The same for the rows of a data set, from its bins, in one pass over its pages, on the CPU. The results equal those
 * for the rows themselves. unseen: how to treat levels that the model does not have. out: as above, for all rows.
 * GBT_E_DATA names a column that the model splits at a number that is not a cut of the data set. GBT_E_UNSUPPORTED: the
 * data set is a mask (gbt_dataset_mask). */
gbt_status gbt_model_answer_bins(gbt_ctx *ctx, const gbt_model *model, gbt_predictor *keep, const gbt_dataset *ds,
                                 gbt_unseen unseen, gbt_answer what, gbt_tree_range trees, const double *offset,
                                 void *out, gbt_error *err) GBT_MUST_CHECK;

/* GBT_OK, or GBT_E_UNSUPPORTED when the model's objective has no classes. */
gbt_status gbt_model_has_classes(const gbt_model *model, gbt_error *err) GBT_MUST_CHECK;

#endif
