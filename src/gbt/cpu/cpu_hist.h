/* The plan of building the fresh nodes' histograms; see cpu_hist.c. */
#ifndef GBT_CPU_CPU_HIST_H
#define GBT_CPU_CPU_HIST_H

#include "../backend/backend.h"
#include "../base/lock.h"
#include "cpu_hist_pool.h"
#include "cpu_rows.h"
#include "cpu_scratch.h"

#define CPU_HIST_ROWS 32768u /* rows of a task, and of nodes without histograms; at most CPU_PACKED_ROWS */
#define CPU_GROUP_ACC 4128 /* accumulators of a byte group: at most 16 x 257 and a dummy */
#define CPU_HIST_LOCKS 64

/* A histogram to be built from rows, and one to be got by subtraction. */
typedef struct cpu_build {
  int32_t node, hist;
  int32_t from;    /* the histogram that it will be taken off, -1: none */
  int32_t wanted;  /* not only to be taken off */
  int32_t at_once; /* the sparse part is taken off while it is added up */
  uint32_t n_lists; /* the sparse part: units of lists by row; 0: column by column, of all rows */
} cpu_build;

typedef struct cpu_subtract {
  int32_t from, what; /* histograms: from -= what */
  int32_t build;      /* of `what` */
} cpu_subtract;

typedef struct cpu_unit { /* rows [beg, end) of the row order into the groups of a strip of one histogram */
  int32_t build, strip;   /* n_strips: rows into the sparse part; n_strips + 1: all rows, sparse features [beg, end) */
  uint32_t beg, end;
  int32_t shared; /* others add to the same place: merge under the lock */
} cpu_unit;

typedef struct cpu_hist_plan {
  cpu_build *build;
  size_t n_build, cap_build;
  cpu_subtract *subtract;
  size_t n_subtract, cap_subtract;
  cpu_unit *unit;
  size_t n_unit, cap_unit;
  int8_t *group_counts; /* n_groups + 1: the group needs counts */
  int8_t *started;      /* builds x (n_groups + 1): a shared histogram group has been written to */
  size_t cap_started;
  uint32_t acc_slots; /* of the largest strip's accumulators */
  gbt_lock lock[CPU_HIST_LOCKS];
  int n_locks;
} cpu_hist_plan;

/* After cpu_split_open: which groups need counts, and how large accumulators are. */
gbt_status cpu_hist_open(struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_hist_close(struct cpu_backend *be);

/* See build_hist of gbt_backend. */
gbt_status cpu_build_hist(gbt_ctx *ctx, gbt_backend *self, gbt_error *err) GBT_MUST_CHECK;

/* The input of passes of cpu_stream.c. Nothing has been added to the builds of the plan yet; rows of the span, which
 * ascend, are added to a build; builds from `first` on to which nothing was added are zero. */
gbt_status cpu_hist_start(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cpu_hist_add(const cpu_span *span, int32_t build, const uint32_t *rows, uint32_t n, int thread);
void cpu_hist_fill(struct cpu_backend *be, size_t first);

/* Sums of one group in a node of at most CPU_HIST_ROWS rows, all of them in the span, into the thread's accumulators:
 * cpu_search_feature finds them there. */
void cpu_hist_group(const cpu_span *span, const gbt_grow_node *node, int32_t group, cpu_scratch *scratch);

/* Whether the accumulators of a group lie CPU_STRIDE apart, see cpu_hist_kernels.h. */
static inline int cpu_hist_strided(const gbt_group *group, int wide_sums) { return !wide_sums && !group->wide; }

/* The sparse part of all builds: how each is done; units for the rows of a span, appended to be->hist.unit; running
 * one; slots [beg, end) of a subtraction. */
void cpu_hist_start_sparse(gbt_ctx *ctx, struct cpu_backend *be);
gbt_status cpu_hist_plan_sparse(gbt_ctx *ctx, const cpu_span *span, gbt_error *err) GBT_MUST_CHECK;
void cpu_hist_sparse_unit(const cpu_span *span, const cpu_unit *unit, cpu_scratch *scratch);
void cpu_hist_sparse_subtract(const struct cpu_backend *be, const cpu_subtract *s, uint32_t beg, uint32_t end);

#endif
