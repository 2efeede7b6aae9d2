/* The end of a tree; see cpu_leaf.c, and cpu_route.c for rows that were not partitioned. */
#ifndef GBT_CPU_CPU_LEAF_H
#define GBT_CPU_CPU_LEAF_H

#include "../backend/backend.h"
#include "../backend/export.h"
#include "../base/parallel.h"

struct cpu_backend;

typedef struct cpu_leaves {
  gbt_sum *fine; /* per node: sums of 32-bit gradients */
  size_t cap_fine;
  int64_t *rows; /* per node: rows of all ranks; where there are several */
  size_t cap_rows;
  double *value; /* per node: leaf values */
  size_t cap_value;
  uint32_t **of; /* by validation set: the leaves of its rows; where trees share splits, else NULL */
  gbt_export out;
} cpu_leaves;

/* There is no opening: everything grows with the trees. */
void cpu_leaf_close(struct cpu_backend *be);

/* Sums of all nodes, of all ranks, from what fn makes of the leaves' chunks (chunk->fine) and the contents of
 * be->leaf.fine of the leaves before. be->rows.chunk lists the leaves' rows afterwards. */
gbt_status cpu_leaf_sums(gbt_ctx *ctx, struct cpu_backend *be, gbt_task_fn fn, gbt_error *err) GBT_MUST_CHECK;

/* See finish_trees of gbt_backend; of one tree. */
gbt_status cpu_finish_tree(gbt_ctx *ctx, gbt_backend *self, gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;

/* The same of a tree down which cpu_walk_tree has led all rows. */
gbt_status cpu_finish_walked(gbt_ctx *ctx, struct cpu_backend *be, gbt_forest *forest, gbt_error *err) GBT_MUST_CHECK;

/* Adds the finished tree's values to scores of rows that were not partitioned: rows (ascending indices into data set
 * `which`, or NULL for all of it). values: per node. */
gbt_status cpu_route(gbt_ctx *ctx, struct cpu_backend *be, int32_t which, const uint32_t *rows, int64_t n,
                     const double *value, gbt_error *err) GBT_MUST_CHECK;

/* The leaves of all rows of data set `which`. Not where leaves are linear. */
gbt_status cpu_route_leaves(gbt_ctx *ctx, struct cpu_backend *be, int32_t which, uint32_t *leaf,
                            gbt_error *err) GBT_MUST_CHECK;

#endif
