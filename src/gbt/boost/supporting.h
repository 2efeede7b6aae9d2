/* Ordered boosting: the models that give the score which a training row would have if its own label had not been used
 * (Prokhorenkova et al. 2018, "CatBoost: unbiased boosting with categorical features", sections 4.1 and 5, algorithm 2;
 * they call them supporting models).
 *
 *   order    0 |-----|-----------|-----------------------|--------------- n     variant 0 of encode/visit.h
 *                    e0          e1                      e2                     e_j about twice e_(j-1)
 *   M_0      fitted  | scored    |
 *   M_1      fitted              | scored                |
 *   M_2      fitted                                      | scored
 *
 * All models have the trees that were grown, each model with its own leaf values: computed only from the rows that it
 * is fitted to and its own scores of them. A tree is grown with the gradients at the scores of the rows that models did
 * not see; rows before e0 keep the scores that training begins with. Bins of derived features are those of variant 0,
 * the same order, so that neither a row's statistics nor its score know its label.
 *
 * Every model is a CPU backend of its own, whatever device grows the trees: a data set of the rows that it is fitted
 * to, and one of those that it scores. So leaf values follow all the rules of training, and are exact. Over a round the
 * models fit fewer than 2 n rows and score n. One process; gradients that the objective computes. */
#ifndef GBT_BOOST_SUPPORTING_H
#define GBT_BOOST_SUPPORTING_H

#include "../backend/backend.h"

typedef struct gbt_supporting gbt_supporting;

/* GBT_E_UNSUPPORTED says what ordered boosting cannot do: gradients that the host computes, several ranks, both time
 * and group. train: the training set's. */
gbt_status gbt_supporting_check(const gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *train,
                                gbt_error *err) GBT_MUST_CHECK;

/* spec: that of the backend that grows the trees, its validation sets apart; borrowed as gbt_backend_spec says. start:
 * n_rows x n_outputs, the scores before the first tree. seed: of the order; rows of the same group or time
 * (encode/visit.h) are never parted. Free with gbt_supporting_free. */
gbt_status gbt_supporting_new(gbt_ctx *ctx, const gbt_backend_spec *spec, const double *start, uint64_t seed,
                              gbt_supporting **out, gbt_error *err) GBT_MUST_CHECK;
void gbt_supporting_free(gbt_supporting *s); /* NULL allowed */

/* A round begins: gradients of all models. *score: n_rows x n_outputs, column by column, the score of every row by the
 * model that did not see it; borrowed until the next call. */
gbt_status gbt_supporting_begin(gbt_ctx *ctx, gbt_supporting *s, uint64_t round, const double **score,
                                gbt_error *err) GBT_MUST_CHECK;

/* Fits every model's values to the trees of a batch, which are all trees of `drafts`. task[i].variant must be 0. */
gbt_status gbt_supporting_fit(gbt_ctx *ctx, gbt_supporting *s, const gbt_tree_task *task, int32_t n_trees,
                              const gbt_forest_view *drafts, gbt_error *err) GBT_MUST_CHECK;

/* The backend of model j, 0 first: its data sets are the rows that it is fitted to, and those that it scores. NULL when
 * j is their number. */
gbt_backend *gbt_supporting_backend(const gbt_supporting *supporting, int32_t j);

/* Rows of these data sets: which is 0 or 1. */
int64_t gbt_supporting_rows(const gbt_supporting *supporting, int32_t j, int32_t which);

#endif
