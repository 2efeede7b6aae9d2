/* A second copy of the train set's dense codes, column by column; see cpu_columns.c. */
#ifndef GBT_CPU_CPU_COLUMNS_H
#define GBT_CPU_CPU_COLUMNS_H

#include "../base/ctx.h"
#include "../data/page.h"

struct cpu_backend;

typedef struct cpu_columns {
  /* By variant n: [group * GBT_GROUP_MAX + pos]: codes of all train rows in one piece, and room for one more. NULL:
   * none are kept. */
  void **of;
  size_t n;
  int turns; /* the machine has what cpu_walk_tables_turn takes */
} cpu_columns;

/* Whether a table of this layout is narrow enough for columns to pay. */
int cpu_columns_pay(const gbt_layout *layout);

/* Bytes of a row in the columns of all groups. */
size_t cpu_columns_bytes(const gbt_layout *layout);

/* n rows of a group, whose codes begin at `codes`, to its columns: to[k] is column k, from its row `at` on. */
void cpu_columns_put(const struct cpu_backend *be, const gbt_group *group, const void *codes, size_t n, void *const *to,
                     size_t at);

/* The columns for the partition and for walks, where they pay: all ranks have them, or none has. */
gbt_status cpu_columns_open(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_columns_close(struct cpu_backend *be);

#endif
