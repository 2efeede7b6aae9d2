/* Fits an existing tree once more on the rows of this backend; see cpu_refit.c. */
#ifndef GBT_CPU_CPU_REFIT_H
#define GBT_CPU_CPU_REFIT_H

#include "../backend/backend.h"

struct cpu_backend;

typedef struct cpu_refit {
  uint32_t *like; /* by node of the table: the node of the existing tree */
  size_t cap_like;
} cpu_refit;

/* There is no opening: what is needed grows with the trees. */
void cpu_refit_close(struct cpu_backend *be);

/* See refit_trees of gbt_backend; of one tree. */
gbt_status cpu_refit_trees(gbt_ctx *ctx, gbt_backend *self, const gbt_tree_task *task, int32_t n_trees,
                           const gbt_forest_view *like, uint64_t first, gbt_forest *forest,
                           gbt_error *err) GBT_MUST_CHECK;

#endif
