/* Linear leaves of a finished tree; see cpu_linear.c. */
#ifndef GBT_CPU_CPU_LINEAR_H
#define GBT_CPU_CPU_LINEAR_H

#include "../backend/backend.h"
#include "../tree/linear_fit.h"

struct cpu_backend;

/* A leaf that may be linear: features of its path. */
typedef struct cpu_linear_item {
  int32_t node, n;
  uint32_t grid[GBT_LINEAR_MOST];
} cpu_linear_item;

/* The smallest and largest value of rows of a leaf. */
typedef struct cpu_linear_range {
  double low, high;
} cpu_linear_range;

typedef struct cpu_linear {
  int on;                  /* the tree that is finished may have linear leaves */
  gbt_linear_view view;    /* of the forest that it goes to: grids */
  int32_t *item_of;        /* by node: its item; -1: none */
  cpu_linear_item *item;   /* n_items */
  gbt_linear_wide *sum;    /* by item, GBT_LINEAR_SUMS of each */
  gbt_linear_wide *part;   /* the same by chunk */
  cpu_linear_range *range; /* by chunk */
  double *most;            /* by linear leaf: -low and high of all ranks */
  uint32_t *of;            /* by node: 0, or 1 + the number of its linear leaf */
  gbt_linear_leaf *leaf;
  gbt_linear_term *term;
  size_t n_items, n_leaves, n_terms;
  size_t cap_item_of, cap_item, cap_sum, cap_part, cap_range, cap_most, cap_of, cap_leaf, cap_term;
} cpu_linear;

/* There is no opening: what is needed grows with the trees. */
void cpu_linear_close(struct cpu_backend *be);

/* Whether the leaves of a tree for this forest may be linear. */
void cpu_linear_begin(struct cpu_backend *be, const gbt_forest *forest);

/* From the values of the leaves (be->leaf.value) and their rows (be->rows.chunk) to linear leaves; adds values to the
 * scores of these rows. */
gbt_status cpu_linear_leaves(gbt_ctx *ctx, struct cpu_backend *be, const gbt_forest *forest,
                             gbt_error *err) GBT_MUST_CHECK;

/* The value of leaf `node` for row r of a page; layout: of its pages. */
double cpu_linear_value(const struct cpu_backend *be, const gbt_layout *layout, const gbt_page *page, int32_t r,
                        int32_t node);

#endif
