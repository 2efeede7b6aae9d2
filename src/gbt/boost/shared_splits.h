/* A round's tree that has a value for every class, column of the response or level in a leaf (`multi_strategy =
 * "multi_output_tree"`). Columns and levels are projected as projection.h says, classes as follows.
 *
 * The splits are those of one tree, the structure. It is grown by the derivatives of the loss along one
 * direction u of the scores, a contrast of the classes that is drawn again for every round:
 *
 *   g = sum p_k (u_k - u_y)                    p: probabilities of the row's classes
 *   h = sum p_k (u_k - u_y)^2 - g^2            y: its class
 *
 * These are the first and second derivative of the softmax loss of scores s + t u by t (objective/softmax.h). Gradients
 * of all classes are so projected to one number a row (Iosipov and Vakhrushev 2022, "SketchBoost: fast gradient boosted
 * decision tree for multioutput problems", section 3, random projections; there of several dimensions, and with
 * hessians of 1).
 *
 *   u_k = a (z_k - mean of z)    z_k: normal deviates by the hash of the round and the class
 *                                a: such that the sum of u_k^2 is K - 1, K classes
 *
 * Then every class has a tree of its own: the splits of the structure with gains, kept nodes and leaf values by the
 * gradients of the class (refit_trees with `rates`), as if its growth had come to these splits. All of them take the
 * same draw of rows. They become the one tree of the round (tree/vectors.h); after the trees of an initial model that
 * has one for each class, they stay apart. A round searches for the splits of one tree, whatever the number of classes.
 *
 * The structure is grown by a backend of its own, on the same device, from gradients that are given. */
#ifndef GBT_BOOST_SHARED_SPLITS_H
#define GBT_BOOST_SHARED_SPLITS_H

#include "../backend/backend.h"
#include "../backend/device.h"

typedef struct gbt_shared_splits gbt_shared_splits;

/* Whether the parameters choose it. */
static inline int gbt_splits_are_shared(const gbt_params *params) { return params->multi_strategy != 0; }

/* Columns of a response, and levels; classes have a contrast. */
static inline int gbt_outputs_are_projected(const gbt_objective *objective) {
  return gbt_has_columns(objective) || (gbt_has_levels(objective) && objective->n_outputs > 1);
}

/* GBT_E_ARG, GBT_E_UNSUPPORTED: what trees cannot share splits with. */
gbt_status gbt_shared_splits_check(const gbt_objective *objective, const gbt_params *params,
                                   gbt_error *err) GBT_MUST_CHECK;

/* spec: that of the backend that fits the trees of the classes; borrowed as gbt_backend_spec says. Free with
 * gbt_shared_splits_free. */
gbt_status gbt_shared_splits_new(gbt_ctx *ctx, const gbt_backend_spec *spec, const gbt_device_api *device,
                                 int32_t number, gbt_shared_splits **out, gbt_error *err) GBT_MUST_CHECK;
void gbt_shared_splits_free(gbt_shared_splits *s); /* NULL allowed */

/* A round begins: gradients along its direction at the scores of `be`. */
gbt_status gbt_shared_splits_begin(gbt_ctx *ctx, gbt_shared_splits *s, gbt_backend *be, uint64_t round,
                                   gbt_error *err) GBT_MUST_CHECK;

/* Grows the structure of the round that was begun. task: of the first class. */
gbt_status gbt_shared_splits_grow(gbt_ctx *ctx, gbt_shared_splits *s, const gbt_tree_task *task,
                                  gbt_error *err) GBT_MUST_CHECK;

/* As many trees as there are classes, each of them the structure that was grown last; borrowed until the next one. */
gbt_forest_view gbt_shared_splits_trees(const gbt_shared_splits *s);

/* The backend that grows the structures; owned by s. */
gbt_backend *gbt_shared_splits_backend(const gbt_shared_splits *s);

/* The direction of a round, K numbers: of levels and columns, whose sizes are given (projection.h), or of classes. */
void gbti_outputs_direction(const gbt_objective *objective, uint64_t seed, uint64_t round, const double *size,
                            double *u);
/* That of classes, K > 1. */
void gbti_contrast_direction(uint64_t seed, uint64_t round, int32_t K, double *u);
/* Deviates u to the contrast that they give. Where all are alike (of two classes one round in 2^32): the first class
 * against the others. */
void gbti_contrast_of(int32_t K, double *u);

#endif
