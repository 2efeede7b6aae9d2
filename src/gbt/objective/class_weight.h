/* Weights of classes. A row's weight times that of its class is its weight in training. */
#ifndef GBT_OBJECTIVE_CLASS_WEIGHT_H
#define GBT_OBJECTIVE_CLASS_WEIGHT_H

#include "objective.h"

/* The weights that give all classes the same total weight and do not change the mean weight of the rows: W / (K W_k),
 * where K is the number of classes, W_k the weight of all rows of class k, and W that of all rows (class_weight =
 * "balanced" of scikit-learn). By exact sums, over all ranks. rows: labels 0 .. n_classes - 1, which are not checked.
 * out: n_classes numbers. GBT_E_DATA: all rows of a class have weight 0. Collective. */
gbt_status gbt_class_balance(gbt_ctx *ctx, const gbt_rows *rows, int32_t n_classes, double *out,
                             gbt_error *err) GBT_MUST_CHECK;

/* out[i] = weight of row i * class_weight[its class]. class_weight: n_classes; out: rows->n numbers, may be the array
 * of the rows' own weights. Labels as above. */
gbt_status gbt_class_weigh(gbt_ctx *ctx, const gbt_rows *rows, int32_t n_classes, const double *class_weight,
                           double *out, gbt_error *err) GBT_MUST_CHECK;

/* Checks the n probabilities by which rows are drawn by class (gbt_trainer_spec.class_rate): one for each class of the
 * objective, 0 to 1, some above 0. GBT_E_ARG on `subsample`; GBT_E_UNSUPPORTED when the objective has no classes. */
gbt_status gbt_class_rates_check(const gbt_objective *objective, const double *rate, int32_t n,
                                 gbt_error *err) GBT_MUST_CHECK;

#endif
