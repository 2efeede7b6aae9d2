/* The weights of trees that grow together (gbt_together in backend/backend.h):
 *
 *   weight of output k      1 / s_k^2, s_k the size of its gradients (projection.h); 1 for classes. A gain is a sum of
 *                           squares, so the column with the largest numbers would decide all splits
 *   direction               r_k / s_k of the round (projection.h), for classes its contrast (shared_splits.h): it puts
 *                           levels in order */
#ifndef GBT_BOOST_TOGETHER_H
#define GBT_BOOST_TOGETHER_H

#include "../backend/backend.h"

enum { GBTI_TOGETHER_MOST = 8 }; /* outputs: each has histograms of its own */

typedef struct gbti_together {
  gbt_together by;
  gbt_mem mem;
  gbt_objective objective;
  uint64_t seed;
  double *size, *weight, *direction; /* K each */
} gbti_together;

/* Whether the parameters choose it: multi_output_tree without projections. */
int gbti_grows_together(const gbt_objective *objective, const gbt_params *params);

/* Closed by gbti_together_close, also after a failure; all 0: nothing to close. Collective. */
gbt_status gbti_together_open(gbt_ctx *ctx, const gbt_backend_spec *spec, gbti_together *t,
                              gbt_error *err) GBT_MUST_CHECK;
void gbti_together_close(gbti_together *t);

/* A round begins. Nothing to do where trees do not grow together. */
void gbti_together_begin(gbti_together *t, uint64_t round);

#endif
