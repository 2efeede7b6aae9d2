/* Position bias: rows that were shown at the top are clicked more often, however relevant they are. Rows may have the
 * number of their position (field POSITION); what belongs to a position is estimated together with the trees, and has
 * no part in the model's scores:
 *
 *   additive   a bias b of each position. Gradients are those at score + b. After a round, G and H the sums of
 *              gradients and hessians and W the weight of the rows of position p, with regularisation c (LightGBM's):
 *
 *                b[p] += eta (-G - c W b[p]) / (H + c W + 0.001)
 *
 *   ratio      objectives by pairs: t+ and t- of each position, 1 at first. The weight D of a pair of rows i better
 *              than j becomes D / (t+[i] t-[j]). After a round, with the costs log(1 + e^-(s_i - s_j)) D of its pairs,
 *              L+[p] the sum of cost / t-[j] over the pairs whose better row i is at p, and f the first position with
 *              such pairs, t- likewise (Hu et al., "Unbiased LambdaMART", WWW 2019, equations 30 and 31):
 *
 *                t+[p] = t+[f] (L+[p] / L+[f])^(1 / (1 + norm))
 *
 * Sums are of integers, or exact, so that they depend neither on threads nor on ranks. */
#ifndef GBT_JOINT_POSITIONS_H
#define GBT_JOINT_POSITIONS_H

#include "../base/exact_sum.h"
#include "../objective/objective.h"
#include "pairs_sum.h"

enum { GBT_MOST_POSITIONS = 10000 };

typedef struct joint_positions {
  gbt_mem mem;
  const double *of; /* borrowed, by row: its position; NULL: no rows here */
  uint32_t n;       /* positions, of all ranks; 0: there are none, and the rest is 0 */
  int ratio;
  double reg, norm;
  double *bias;        /* additive: n; ratio: n of t+, then n of t- */
  double *shifted;     /* additive: the scores with biases; by row */
  gbt_exact_sum *cost; /* ratio: 2 n a thread: L+, L- */
  int32_t n_threads;   /* that there is room for in cost */
} joint_positions;

/* rows are borrowed. GBT_E_DATA names the row whose position is no whole number from 0. Collective. */
gbt_status joint_positions_open(gbt_ctx *ctx, const gbt_objective *objective, const gbt_rows *rows,
                                joint_positions *out, gbt_error *err) GBT_MUST_CHECK;
void joint_positions_free(joint_positions *p);

/* Numbers of a state: those in bias. */
static inline uint32_t joint_positions_state(const joint_positions *p) { return p->ratio ? 2 * p->n : p->n; }

/* Additive: the scores that gradients are computed at. Ratio: makes room for costs, and returns `score`. */
gbt_status joint_positions_begin(gbt_ctx *ctx, joint_positions *p, const gbt_rows *rows, const double *score,
                                 const double **out, gbt_error *err) GBT_MUST_CHECK;

/* After a round with these gradients, before weights. Collective. */
gbt_status joint_positions_move(gbt_ctx *ctx, joint_positions *p, const gbt_rows *rows, const double *g,
                                const double *h, double eta, gbt_error *err) GBT_MUST_CHECK;

/* ---- ratio: the pairs of a query ---- */

/* By how many bits weights of pairs may exceed those of pairs.h. */
int joint_ratio_bits(const joint_positions *p);

/* Place i with all its partners, see gbt_pair_kernels.around. pos: positions by place; weight: of the query; cost: this
 * thread's. */
gbt_pair_sum joint_ratio_around(const joint_positions *p, gbt_pair_target target, int by_distance,
                                const gbt_pair_rows *rows, const gbt_pair_query *query, const uint32_t *pos, double up,
                                double weight, uint32_t i, gbt_exact_sum *cost);

#endif
