/* Leaf values that are quantiles of residuals; see cpu_renew.c and objective/renewal.h. */
#ifndef GBT_CPU_CPU_RENEW_H
#define GBT_CPU_CPU_RENEW_H

#include "../objective/renewal.h"

struct cpu_backend;

typedef struct cpu_renewal {
  uint64_t *key;   /* n_rows: residuals when the round began; NULL: the objective's leaves are no quantiles */
  uint64_t *whole; /* n_rows: whole weights; NULL: all 1 */
  double level;
  gbt_pick *pick; /* per node */
  size_t cap_pick;
  uint64_t *weight; /* by digit, of each chunk of a node that has several */
  size_t cap_weight;
  size_t n_large; /* chunks of nodes that have several: the first ones */
  int shift;      /* of the digit that the pass looks at */
} cpu_renewal;

gbt_status cpu_renew_open(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_renew_close(struct cpu_backend *be);

/* A round begins: the residuals of all rows. */
gbt_status cpu_renew_round(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* A tree is grown: the picks of its leaves and kept nodes. Overwrites be->rows.chunk. */
gbt_status cpu_renew_leaves(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

#endif
