/* Gradients of rows that belong together: objectives whose gradient of a row needs other rows, such as all rows of a
 * query. They are computed here, for all devices: a backend takes them by set_gradients.
 *
 *   scores of the training set -> gbt_joint_gradients -> g, h of every row, before weights -> set_gradients
 *
 * Sums over the rows of a query are sums of integers, and random choices are hashes of the seed, the round and the
 * scores and labels of a query, so the result depends neither on threads nor on the order of rows and queries.
 *
 * A kind of gradient (objectives.def) that is joint is one file here and one case in joint.c. */
#ifndef GBT_JOINT_JOINT_H
#define GBT_JOINT_JOINT_H

#include "../base/ctx.h"
#include "../base/rows.h"
#include "../objective/objective.h"
#include "cox.h"

typedef struct gbt_joint gbt_joint;

/* objective: one with gbt_gradients_are_joint(). rows: of the training set, borrowed until gbt_joint_free. Ranks: this
 * rank's. GBT_E_DATA names the field or row that does not suit the objective. Collective. */
gbt_status gbt_joint_new(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows, uint64_t seed,
                         gbt_joint **out, gbt_error *err) GBT_MUST_CHECK;
void gbt_joint_free(gbt_joint *joint); /* NULL is allowed */

/* score: rows.n x n_outputs of them. *g, *h: as many, borrowed until the next call; weights of rows are not yet in
 * them. Memory: 16 bytes a row and output for them. Ctrl-C takes effect within a task, which is well below 0.1 seconds.
 * Long queries of pairs and of yeti_rank are divided among all threads. */
gbt_status gbt_joint_gradients(gbt_ctx *ctx, gbt_joint *joint, uint64_t round, const double *score, const double **g,
                               const double **h, gbt_error *err) GBT_MUST_CHECK;

/* Objectives with a scale (gbt_gradients_by_scale). Moves it by at most so many steps towards the minimum at these
 * scores, where it is estimated. Ranks: collective. */
gbt_status gbt_joint_scale_steps(gbt_ctx *ctx, gbt_joint *joint, const double *score, int most,
                                 gbt_error *err) GBT_MUST_CHECK;

/* The scale, or another one: above 0. */
double gbt_joint_scale(const gbt_joint *joint);
void gbt_joint_set_scale(gbt_joint *joint, double scale);

/* Objectives of distributions: the scores before the first tree, from which the unit of the first parameter's gradients
 * follows, and how small a scale may become. */
void gbt_joint_set_base(gbt_joint *joint, const double *base);

/* Objectives of queries whose rows have positions: biases of these, which are part of the gradients but not of the
 * model (positions.h). n_biases: how many numbers, 0 without positions; biases: borrowed. move: after a round whose
 * gradients were computed last. Ranks: collective. */
uint32_t gbt_joint_n_biases(const gbt_joint *joint);
const double *gbt_joint_biases(const gbt_joint *joint);
int gbt_joint_biases_fit(const gbt_joint *joint,
                         const double *bias); /* whether they are numbers that could come of it */
void gbt_joint_set_biases(gbt_joint *joint, const double *bias);
gbt_status gbt_joint_move_biases(gbt_ctx *ctx, gbt_joint *joint, double eta, gbt_error *err) GBT_MUST_CHECK;

/* The risk sets of objectives of hazards; NULL: there are none. */
gbt_cox *gbt_joint_risk(gbt_joint *joint);

/* Objectives of hazards: those of the baseline at these scores, borrowed until the next call. Collective. */
gbt_status gbt_joint_hazards(gbt_ctx *ctx, gbt_joint *joint, const double *score, const gbt_cox **out,
                             gbt_error *err) GBT_MUST_CHECK;

#endif
