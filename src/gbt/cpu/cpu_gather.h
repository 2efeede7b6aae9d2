/* The rows that a tree has drawn, gathered in memory; see cpu_gather.c. */
#ifndef GBT_CPU_CPU_GATHER_H
#define GBT_CPU_CPU_GATHER_H

#include "../base/ctx.h"
#include "../data/page_store.h"

struct cpu_backend;

typedef struct cpu_gather {
  int on;           /* the tree grows on gathered rows */
  uint8_t **strip;  /* n_strips: codes of the drawn rows, one behind the other; NULL: never gathered */
  size_t cap_rows;  /* of the strips */
  uint32_t *place;  /* n_rows: of a drawn row, its number among them */
  uint32_t *drawn;  /* cap_rows: the other way round */
  gbt_page *page;
  void **group;     /* of all pages: their strips and groups */
  size_t cap_page, cap_group, cap_drawn;
  gbt_page_span span; /* all pages */
} cpu_gather;

void cpu_gather_close(struct cpu_backend *be);

/* Once the tree's rows are in order: gathers them where pages stream, some rows are not drawn, and the others take no
 * more memory than pages may. */
gbt_status cpu_gather_rows(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* The tree is grown: pages have all rows again. */
void cpu_gather_end(struct cpu_backend *be);

#endif
