/* Trees as tables for cpu_walk.c, where bytes are looked up in registers; see cpu_walk_tables.c. */
#ifndef GBT_CPU_CPU_WALK_TABLES_H
#define GBT_CPU_CPU_WALK_TABLES_H

#include "../base/ctx.h"

struct cpu_backend;

enum {
  CPU_TABLE_ROWS = 64, /* that walk side by side */
  CPU_TABLE_DEPTH = 8, /* places on the last layer are a byte */
  CPU_NO_MISSING = 256 /* no code */
};

/* A column of bytes that a layer asks. */
typedef struct cpu_ask {
  const uint8_t *codes;
  size_t table;     /* by place, the highest code that goes left: 255 where the node asks another column */
  uint32_t missing; /* the code that goes left wherever it is asked, or CPU_NO_MISSING */
} cpu_ask;

/* A node whose codes go left by a table of their own: it splits by level, or its column is shared by several features,
 * or has codes of two bytes. */
typedef struct cpu_ask_set {
  const uint8_t *codes;
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
  cpu_walk_layer layer[CPU_TABLE_DEPTH];
  cpu_ask *ask;
  cpu_ask_set *set;
  uint8_t *bytes;
  size_t cap_ask, cap_set, cap_bytes;
  uint32_t leaf[1 << CPU_TABLE_DEPTH]; /* by last place */
  uint8_t place[2 << CPU_TABLE_DEPTH]; /* by node, while the tables are made */
} cpu_walk_tables;

/* Tables of the tree whose nodes cpu_walk.c has made; not ready where there are none. */
gbt_status cpu_walk_tables_make(const gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_walk_tables_close(struct cpu_backend *be);

/* Leaves of rows [beg, end); end - beg is a multiple of CPU_TABLE_ROWS. Only where ready. */
void cpu_walk_tables_run(const struct cpu_backend *be, size_t beg, size_t end, uint32_t *leaf);

#endif
