/* Steps of growth in one pass over pages that are not all in memory; see cpu_stream.c. */
#ifndef GBT_CPU_CPU_STREAM_H
#define GBT_CPU_CPU_STREAM_H

#include "../backend/backend.h"

struct cpu_backend;

#define CPU_STREAM_NODES 4096 /* are split in one step, at most */

/* A chosen node. */
typedef struct cpu_stream_item {
  int32_t node;
  int32_t build;       /* which one of the builds its child is, -1: none */
  int32_t hist;        /* the node's histogram, while its children are not there; -1: none */
  uint32_t right_first; /* 1: the child that is built is the right one */
} cpu_stream_item;

/* Its rows in a run of pages: order[beg .. end). Those of the child that is built are in spare[beg ..), n_first of
 * them, the others backward from spare[end). */
typedef struct cpu_stream_part {
  uint32_t beg, end, n_first;
  uint32_t left_before; /* rows of the node that go left in the runs before */
} cpu_stream_part;

/* A step where pages stream; cpu_partition and cpu_build_hist call it through the view. */
typedef struct cpu_stream_ops {
  /* Partition of the chosen nodes, and the histograms of one child of each. Tables of the splits are there; what is
   * left to cpu_partition: counting, children. left: as cpu_part has it, to be filled in. */
  gbt_status (*split)(gbt_ctx *ctx, struct cpu_backend *be, int64_t *left, gbt_error *err);
  /* Once the children are there: their rows go to their places, and they get their histograms. */
  gbt_status (*settle)(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err);
  /* The histograms of builds [first, hist.n_build), whose rows are in order, in a pass of their own. */
  gbt_status (*build)(gbt_ctx *ctx, struct cpu_backend *be, size_t first, gbt_error *err);
} cpu_stream_ops;

typedef struct cpu_stream {
  const cpu_stream_ops *ops; /* NULL: pages do not stream */
  cpu_stream_item *item; /* by chosen node */
  size_t n_items, cap_item;
  cpu_stream_part *part; /* runs x items */
  size_t n_runs, cap_part;
  size_t n_built; /* builds of the step that partition has made */
} cpu_stream;

/* After cpu_columns_open: whether pages stream; of several ranks all do the same. */
gbt_status cpu_stream_open(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_stream_close(struct cpu_backend *be);

/* Whether the children of chosen node number i have their builds. */
static inline int cpu_stream_has_built(const cpu_stream *stream, size_t i) {
  return i < stream->n_items && stream->item[i].build >= 0;
}

#endif
