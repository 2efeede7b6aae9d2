/* The twin of prediction: one row through one tree by recursion over gbt_goes_left, values added tree after tree. */
#ifndef GBT_TEST_NAIVE_PREDICT_H
#define GBT_TEST_NAIVE_PREDICT_H

#include "../../src/gbt/model/predict_job.h"
#include "../../src/gbt/objective/objective.h"

/* n_rows x trees, to be freed with free(). */
int32_t *twin_leaves(const gbt_forest_view *view, const gbt_binding *binding, gbt_tree_range trees);

/* n_rows x n_outputs, to be freed with free(). leaves: of the same trees. */
double *twin_scores(const gbt_forest_view *view, int64_t n_rows, gbt_tree_range trees, const double *offset,
                    const int32_t *leaves);

/* Scores to responses, in place: one formula after the other. x: n_rows x n_outputs. */
void twin_responses(const gbt_objective *objective, int64_t n_rows, double *x);

/* The class of a row, of n_rows x n_outputs responses. */
int32_t twin_class(const gbt_objective *objective, int64_t n_rows, const double *p, int64_t row);

/* Leaves by the direct way and by the packed one, whatever gbt_predict_leaves would choose, against those of the twin.
 * Returns the number of packs; trees that cannot be packed go the direct way. */
int64_t check_both_ways(gbt_ctx *ctx, const gbt_forest_view *view, const gbt_binding *binding, gbt_tree_range trees,
                        const int32_t *want);

/* The same for scores, by the packed way alone. want: n_rows x n_outputs. */
void check_scores_packed(gbt_ctx *ctx, const gbt_forest_view *view, const gbt_binding *binding, gbt_tree_range trees,
                         const double *offset, const double *want);

#endif
