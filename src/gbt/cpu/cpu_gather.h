/* The rows that a tree has drawn, gathered in memory; see cpu_gather.c. */
#ifndef GBT_CPU_CPU_GATHER_H
#define GBT_CPU_CPU_GATHER_H

#include "../base/ctx.h"
#include "../data/page_store.h"
#include "../math/fixed.h"

struct cpu_backend;

typedef struct cpu_gather {
  uint8_t **strip;  /* n_strips: codes of the drawn rows, contiguous; NULL: none are gathered */
  void **column;    /* as cpu_columns.of, for them; NULL: they do not fit into memory, or do not pay */
  size_t cap_rows;  /* of both */
  uint32_t *drawn;  /* by gathered row: which train row it is */
  gbt_gh32 *gh;     /* by gathered row: its gradients as histograms take them, gbt_gh16 or gbt_gh32 */
  gbt_page *page;
  void **group;     /* of all pages: their strips and groups */
  size_t cap_page, cap_group, cap_drawn, cap_gh;
  gbt_page_span span; /* all pages */
} cpu_gather;

/* Frees the memory of gathered rows; be may have none. */
void cpu_gather_close(struct cpu_backend *be);

/* Once the tree's rows are in order: gathers them, and lets the view point to them, where pages stream, rows are drawn,
 * and those of every rank take no more memory than its pages may, or than 8 bytes for each of its train rows. */
gbt_status cpu_gather_rows(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The tree is grown: the view is that of all train rows again, and `order` has them. */
gbt_status cpu_gather_end(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

#endif
