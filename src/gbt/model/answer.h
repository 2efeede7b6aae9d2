/* What a model answers for the rows of a bound table: the model's bytes alone say how, by the objective in them. */
#ifndef GBT_MODEL_ANSWER_H
#define GBT_MODEL_ANSWER_H

#include "model.h"
#include "predict.h"

typedef enum gbt_answer {
  GBT_ANSWER_LINK,     /* raw scores: double, n_rows x n_outputs, column by column */
  GBT_ANSWER_RESPONSE, /* the objective's responses of them (probabilities, means): the same shape */
  GBT_ANSWER_CLASS,    /* int32_t, n_rows: number of the most probable class, the lower one of equals */
  GBT_ANSWER_LEAF      /* int32_t, n_rows x trees, as gbt_predict_leaves */
} gbt_answer;
const char *gbt_answer_name(int answer); /* "link", "response", "class", "leaf"; NULL: there is none */

/* trees: whole rounds or any others. offset: n_rows x n_outputs or NULL; leaves do without. keep: NULL, or a predictor
 * of the model's forest. out: as the answer says. GBT_E_UNSUPPORTED where classes are asked of an objective without. */
gbt_status gbt_model_answer(gbt_ctx *ctx, const gbt_model *model, gbt_predictor *keep, const gbt_binding *binding,
                            gbt_answer what, gbt_tree_range trees, const double *offset, void *out,
                            gbt_error *err) GBT_MUST_CHECK;

/* The same for the rows of a data set, by its bins, in one pass over its pages: the very answers of the rows that it
 * was made of. unseen: what a level is that the model does not know. out: as above, of all rows. GBT_E_DATA names a
 * column whose bins do not say on which side of a split values are: its cuts are not those of the model's training.
 * GBT_E_UNSUPPORTED of a mask (gbt_dataset_mask). */
typedef struct gbt_dataset gbt_dataset;
gbt_status gbt_model_answer_bins(gbt_ctx *ctx, const gbt_model *model, gbt_predictor *keep, const gbt_dataset *ds,
                                 gbt_unseen unseen, gbt_answer what, gbt_tree_range trees, const double *offset,
                                 void *out, gbt_error *err) GBT_MUST_CHECK;

/* The second half, for scores that come from elsewhere (a device): x are n_rows x n_outputs scores and become responses
 * where responses or classes are asked for. classes: n_rows, written for GBT_ANSWER_CLASS alone; else NULL. */
gbt_status gbt_model_finish(gbt_ctx *ctx, const gbt_model *model, gbt_answer what, int64_t n_rows, double *x,
                            int32_t *classes, gbt_error *err) GBT_MUST_CHECK;

/* GBT_OK, or GBT_E_UNSUPPORTED when the model's objective has no classes. */
gbt_status gbt_model_has_classes(const gbt_model *model, gbt_error *err) GBT_MUST_CHECK;

#endif
