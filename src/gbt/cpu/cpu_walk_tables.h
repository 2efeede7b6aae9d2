/* Trees as tables for cpu_walk.c and cpu_route.c, where bytes are looked up in registers; see cpu_walk_tables.c. */
#ifndef GBT_CPU_CPU_WALK_TABLES_H
#define GBT_CPU_CPU_WALK_TABLES_H

#include "../base/byte_walk.h"
#include "../data/page.h"

struct cpu_backend;

/* A node as rows walk through it: to `last`, or to the child before where the code goes left. A leaf is its own child:
 * mask is 0 there, and code 0 does not go left. */
typedef struct cpu_walk_node {
  const uint8_t *codes; /* by row: bytes, or, where wide, uint16_t */
  const uint8_t *left;  /* by code: 1 where it goes left */
  uint32_t last;
  uint16_t mask;
  uint16_t wide; /* 0 or 1 */
} cpu_walk_node;

enum {
  CPU_TABLE_ROWS = GBT_WALK_ROWS,
  CPU_TABLE_DEPTH = GBT_WALK_LAYERS
};

/* The input of tables: the nodes of be->fr, and how rows walk through them. */
typedef struct cpu_table_tree {
  const cpu_walk_node *node; /* codes are not used */
  const gbt_layout *layout;  /* of the data set whose rows walk */
  uint32_t depth;
  int any_missing; /* a row may be missing where no training row is */
} cpu_table_tree;

/* A column of bytes that a layer asks. */
typedef struct cpu_ask {
  int32_t column;   /* group * GBT_GROUP_MAX + pos */
  size_t table;     /* by place, the highest code that goes left: 255 where the node asks another column */
  uint32_t missing; /* the code that goes left wherever it is asked, or GBT_WALK_NO_MISSING */
} cpu_ask;

/* A node whose codes go left by a table of their own: it splits by level, or its column is shared by several features,
 * or has codes of two bytes. */
typedef struct cpu_ask_set {
  int32_t column;
  const uint8_t *left;      /* as in cpu_walk_node */
  size_t bits;              /* bytes: 32 bytes with a bit for every code that goes right; where wide, nothing */
  uint8_t wide, all, place; /* all: of a whole layer's nodes; else those of this place */
} cpu_ask_set;

typedef struct cpu_walk_layer {
  size_t ask, n_asks, set, n_sets;
  uint32_t width; /* of its tables: 16 to 128 bytes */
} cpu_walk_layer;

typedef struct cpu_walk_tables {
  int ready; /* made of the tree that is walked now */
  uint32_t depth;
  size_t n_asks, n_sets; /* of all layers */
  cpu_walk_layer layer[CPU_TABLE_DEPTH];
  cpu_ask *ask;
  cpu_ask_set *set;
  uint8_t *bytes;
  size_t cap_ask, cap_set, cap_bytes;
  uint32_t leaf[1 << CPU_TABLE_DEPTH]; /* by last place */
  uint8_t place[2 << CPU_TABLE_DEPTH]; /* by node, while the tables are made */
} cpu_walk_tables;

/* Tables of a tree; not ready where there are none. */
gbt_status cpu_walk_tables_make(const gbt_ctx *ctx, struct cpu_backend *be, const cpu_table_tree *tree,
                                cpu_walk_tables *tables, gbt_error *err) GBT_MUST_CHECK;
void cpu_walk_tables_free(const gbt_mem *mem, cpu_walk_tables *tables);

/* The columns that the tables ask, one after the other: *codes[k] is to be column number cpu_walk_tables_column(k) of
 * row 0, for k below n_asks + n_sets. */
static inline int32_t cpu_walk_tables_column(const cpu_walk_tables *tables, size_t k) {
  return k < tables->n_asks ? tables->ask[k].column : tables->set[k - tables->n_asks].column;
}

/* Leaves of rows [beg, end) to leaf[0 ..); end - beg is a multiple of CPU_TABLE_ROWS. Only where ready. */
void cpu_walk_tables_run(const cpu_walk_tables *tables, const uint8_t *const *codes, size_t beg, size_t end,
                         uint32_t *leaf);

/* n rows of `width` bytes, at most GBT_GROUP_MAX, which begin `stride` apart, column by column: byte k of row r to
 * to[k][r]. n is a multiple of CPU_TABLE_ROWS. Only where gbt_ctx_has_lookup. */
void cpu_walk_tables_turn(const uint8_t *rows, size_t stride, size_t width, size_t n, uint8_t *const *to);

#endif
