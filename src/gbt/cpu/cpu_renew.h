/* Leaf values that are quantiles of residuals; see cpu_renew.c and objective/renewal.h. */
#ifndef GBT_CPU_CPU_RENEW_H
#define GBT_CPU_CPU_RENEW_H

#include "../objective/renewal.h"

struct cpu_backend;

typedef struct cpu_renewal {
  uint64_t *key;   /* n_rows: residuals of an output when the round began; NULL: leaves are no quantiles */
  uint64_t *whole; /* n_rows: whole weights, of that output where they are by output; NULL: all 1 */
  double level;    /* of that output */
  gbt_pick *pick; /* per node */
  size_t cap_pick;
  int32_t *large; /* nodes that are searched together */
  size_t cap_large, n_large;
  uint64_t *weight; /* by digit, of each chunk of some of these */
  uint64_t *sum;    /* by digit, of these nodes */
  size_t cap_weight, cap_sum;
  int shift; /* of the digit that the pass looks at */
} cpu_renewal;

/* Whole weights of the rows and room for keys; nothing where leaves are not renewed. Collective. */
gbt_status cpu_renew_open(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_renew_close(struct cpu_backend *be);

/* The first tree of an output in this round begins: the residuals of all rows, whose scores are still those of the
 * round's start. */
gbt_status cpu_renew_output(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* A tree is grown: the picks of its leaves and of the other nodes whose quantiles are needed. Overwrites
 * be->rows.chunk. */
gbt_status cpu_renew_leaves(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* A node's quantile before bounds and shrinkage; 0 where none was needed. */
double cpu_renew_value(const struct cpu_backend *be, size_t node);

/* Sets the bounds of a node's children by the constraints. value: the node's before shrinkage. Nodes come in order. */
void cpu_renew_bound(struct cpu_backend *be, size_t node, double value);

#endif
