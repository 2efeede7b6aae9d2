/* Predictions from a forest (in memory or in a model's bytes) for the rows of a bound table. The binding's schema is
 * that of the forest; trees.beg <= trees.end <= n_trees. GBT_E_ARG otherwise. */
#ifndef GBT_MODEL_PREDICT_H
#define GBT_MODEL_PREDICT_H

#include "../data/table.h"
#include "../objective/objective.h"
#include "../tree/view.h"

/* For repeated predictions from one forest: it keeps the trees in the packed form that is used for many rows. With many
 * small calls it packs the trees, too. Borrows the forest's arrays: the model or trainer must outlive it and not grow.
 * Free by gbt_predictor_free. One call at a time; a fork is safe. */
typedef struct gbt_predictor gbt_predictor;
gbt_status gbt_predictor_new(const gbt_mem *mem, const gbt_forest_view *forest, gbt_predictor **out,
                             gbt_error *err) GBT_MUST_CHECK;
void gbt_predictor_free(gbt_predictor *predictor); /* NULL allowed */

/* As gbt_predict_scores and gbt_predict_leaves, for the predictor's forest. */
gbt_status gbt_predictor_scores(gbt_ctx *ctx, gbt_predictor *predictor, const gbt_binding *binding,
                                gbt_tree_range trees, const double *offset, double *out, gbt_error *err) GBT_MUST_CHECK;
gbt_status gbt_predictor_leaves(gbt_ctx *ctx, gbt_predictor *predictor, const gbt_binding *binding,
                                gbt_tree_range trees, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

/* Raw scores: out[k * n_rows + row] = base[k] + offset + sum of leaf values, added in tree order (the order of
 * training, so that training rows get the scores of the trainer, to the last bit), or by the rule of the forest's
 * gbt_sums. offset: n_rows x n_outputs column by column, or NULL. */
gbt_status gbt_predict_scores(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                              gbt_tree_range trees, const double *offset, double *out, gbt_error *err) GBT_MUST_CHECK;

/* Leaf index: out[j * n_rows + row] = node number of the leaf (0 = root) that the row reaches in tree trees.beg + j. */
gbt_status gbt_predict_leaves(gbt_ctx *ctx, const gbt_forest_view *forest, const gbt_binding *binding,
                              gbt_tree_range trees, int32_t *out, gbt_error *err) GBT_MUST_CHECK;

/* Scores to responses in place, by the objective's header (objective/poisson.h): numbers, means, a probability, or one
 * for each class. x: n_rows x objective->n_outputs column by column. GBT_E_ARG for an invalid objective. */
gbt_status gbt_predict_response(gbt_ctx *ctx, const gbt_objective *objective, int64_t n_rows, double *x,
                                gbt_error *err) GBT_MUST_CHECK;

#endif
