/* Scores of the data sets, before the first tree and as trees add to them. */
#ifndef GBT_CPU_CPU_SCORE_H
#define GBT_CPU_CPU_SCORE_H

#include "../backend/backend.h"

struct cpu_backend;

/* Scores to start with: the caller's, or base plus offset. */
gbt_status cpu_score_open(gbt_ctx *ctx, struct cpu_backend *be, const gbt_backend_spec *spec,
                          gbt_error *err) GBT_MUST_CHECK;
/* See set_scores of gbt_backend. */
gbt_status cpu_set_scores(gbt_ctx *ctx, gbt_backend *self, int32_t which, const double *score,
                          gbt_error *err) GBT_MUST_CHECK;
void cpu_score_close(struct cpu_backend *be);

#endif
