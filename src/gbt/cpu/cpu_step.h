/* Further steps for the values of leaves; see cpu_step.c and tree/leaf_step.h. */
#ifndef GBT_CPU_CPU_STEP_H
#define GBT_CPU_CPU_STEP_H

#include "../tree/leaf_step.h"

struct cpu_backend;

typedef struct cpu_step_chunk { /* rows [beg, end) of the order, of a node */
  int32_t node;
  uint32_t beg, end;
  gbt_step_sums at;
} cpu_step_chunk;

typedef struct cpu_steps {
  int32_t n;           /* steps after the first one; 0: none, and the rest is not allocated */
  gbt_leaf_step *node; /* per node */
  size_t cap_node;
  cpu_step_chunk *chunk;
  size_t n_chunk, cap_chunk;
  double *max; /* of each node |g| and h */
  gbt_sum *sum;
  size_t cap_max, cap_sum;
  double *start; /* n_rows: scores of the task's output when the round began; NULL: no tree has changed them */
} cpu_steps;

/* How many steps there are, and room for scores where trees of an output share its gradients. */
gbt_status cpu_step_open(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_step_close(struct cpu_backend *be);

/* The first tree of the task's output begins. */
void cpu_step_output(struct cpu_backend *be);

/* Called when a tree is grown and fine sums are known: computes the best values for its nodes' own rows, to steps.node.
 * Does nothing with one step. */
gbt_status cpu_step_leaves(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

#endif
