/* The histograms of nodes: memory that is given to nodes and taken back, as far as the parameters allow.
 *
 * A histogram: sum[n_slots], and count[n_slots] where counts are wanted. Zero bins that the layout leaves out are made
 * up from the node's total by the search. The sparse part, at the end, is packed where `packed` says so: int64_t
 * instead of gbt_sum, see cpu_hist_sparse.c.
 *
 * A node's `hist` is the number of its histogram, -1 without one. Every histogram is free or belongs to one node. */
#ifndef GBT_CPU_CPU_HIST_POOL_H
#define GBT_CPU_CPU_HIST_POOL_H

#include "../base/ctx.h"
#include "../tree/frontier.h"

struct cpu_backend;

#define CPU_PACKED_ROWS 65536u /* the limit of a packed histogram: two sums in 64 bits */

typedef struct cpu_hist {
  gbt_sum *sum;
  uint32_t *count; /* NULL when no feature needs counts */
} cpu_hist;

typedef struct cpu_hist_pool {
  cpu_hist *hist;
  int32_t *free; /* numbers of the unused ones */
  size_t n, n_free, cap, cap_free;
  size_t most;    /* as many as memory allows */
  int any_counts; /* some feature needs row counts */
  int packed;     /* this tree: the sparse part of histograms */
  int skips;      /* children of few rows go without histograms: cpu_hist_skipped */
  int roomy;      /* histograms have room for a sparse part that is not packed */
  uint64_t n_columns; /* of all groups */
} cpu_hist_pool;

/* After cpu_split_open: whether rows are counted; whether nodes may go without histograms. */
gbt_status cpu_hist_pool_open(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_hist_pool_close(struct cpu_backend *be);

/* Whether the sparse part of the tree's histograms is packed. */
int cpu_hist_packs(const struct cpu_backend *be);

/* Decides packing for the tree that begins, whose nodes have no histograms yet; drops histograms that are too small. */
gbt_status cpu_hist_fit(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Bytes that a slot of the sparse part has room for. */
static inline size_t cpu_hist_sparse_bytes(const cpu_hist_pool *pool) {
  return pool->roomy ? sizeof(gbt_sum) : sizeof(int64_t);
}

/* Gives a node without one a histogram, its sums undefined. When all memory that is allowed is taken, that of a node in
 * wait or of an open one, whose children are then both built from rows: select takes no more nodes at once than there
 * are histograms for. */
gbt_status cpu_hist_take(gbt_ctx *ctx, struct cpu_backend *be, int32_t node, gbt_error *err) GBT_MUST_CHECK;

/* The same for a node that does not exist yet: no node refers to *hist. */
gbt_status cpu_hist_reserve(gbt_ctx *ctx, struct cpu_backend *be, int32_t *hist, gbt_error *err) GBT_MUST_CHECK;

/* A parent's histogram to a child that has none. */
void cpu_hist_inherit(struct cpu_backend *be, int32_t from, int32_t to);

/* Takes a node's histogram back, if it has one. */
void cpu_hist_release(struct cpu_backend *be, int32_t node);

/* The same of all nodes; of those that the last select found to have no place in the tree; and of a node that has been
 * searched, unless its children or the decision about its layer need it. */
void cpu_hist_release_all(struct cpu_backend *be);
void cpu_hist_release_dropped(struct cpu_backend *be);
void cpu_hist_release_searched(struct cpu_backend *be, int32_t node);

/* Whether the histograms of a layer's nodes are kept until its split is decided, although nothing uses them later. */
int cpu_hist_kept(const struct cpu_backend *be, int32_t depth);

/* Whether the children of a node, which are to be searched, have so few rows that they go without histograms: they are
 * searched by their rows, see cpu_split_rows.c and cpu_split_layer.c. So are all nodes below them. */
int cpu_hist_skipped(const struct cpu_backend *be, int32_t parent);

#endif
