/* The train set's dense codes once more, column by column; see cpu_columns.c. */
#ifndef GBT_CPU_CPU_COLUMNS_H
#define GBT_CPU_CPU_COLUMNS_H

#include "../base/ctx.h"

struct cpu_backend;

typedef struct cpu_columns {
  /* By variant n: [group * GBT_GROUP_MAX + pos]: codes of all train rows in one piece, and room for one more. NULL:
   * none are kept. */
  void **of;
  size_t n;
} cpu_columns;

/* The columns for the partition and for walks, where they pay: all ranks have them, or none has. */
gbt_status cpu_columns_open(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_columns_close(struct cpu_backend *be);

#endif
