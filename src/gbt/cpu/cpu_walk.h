/* Sends train rows down a whole tree whose splits are given; see cpu_walk.c. */
#ifndef GBT_CPU_CPU_WALK_H
#define GBT_CPU_CPU_WALK_H

#include "../backend/backend.h"
#include "cpu_walk_tables.h"

struct cpu_backend;

/* The sums of the rows of a leaf. */
typedef struct cpu_walk_sum {
  int64_t g, h;               /* of 32-bit gradients */
  int64_t coarse_g, coarse_h; /* in units of the histograms; 0 where they are not needed */
  int64_t n;
} cpu_walk_sum;

typedef struct cpu_walk {
  cpu_walk_node *node;
  uint8_t *lut;
  cpu_walk_sum *sum; /* by thread, by node */
  size_t cap_node, cap_lut, cap_sum;
  uint32_t depth; /* of the tree */
  int led;        /* be->rows.spare has the leaves of all rows: until rows are drawn or partitioned */
  int any_wide;
  cpu_walk_tables tables;
  const uint8_t **codes; /* for the tables */
  size_t cap_codes;
} cpu_walk;

/* There is no opening: what is needed grows with the trees. */
void cpu_walk_close(struct cpu_backend *be);

/* Whether a node has the split of the one before: in a layer of a symmetric tree. */
int cpu_has_split_before(const struct cpu_backend *be, size_t node);

/* Sends all train rows down the tree of be->fr, whose nodes have only splits yet, all on columns that are kept. Writes
 * the leaves of all rows to be->rows.spare, unless they are there, rows and sums of the sampled ones of all ranks into
 * the nodes, and fine sums of all nodes. */
gbt_status cpu_walk_tree(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Whether all splits of the tree are on features that have a column of their own (cpu_has_column). */
int cpu_walk_can(const struct cpu_backend *be);

/* Adds the values of their leaves (be->leaf.value) to the scores of all train rows, sampled or not. Only where
 * cpu_walk_can. */
gbt_status cpu_walk_scores(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

#endif
