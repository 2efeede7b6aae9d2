/* Working memory of the threads. */
#ifndef GBT_CPU_CPU_SCRATCH_H
#define GBT_CPU_CPU_SCRATCH_H

#include "../base/ctx.h"
#include "../math/fixed.h"

struct cpu_backend;

#define CPU_SPLIT_FEATS 512  /* features that are searched in one go, at most */
#define CPU_HIST_BLOCK 4096u /* rows that stay in the second-level cache from one group of a strip to the next */

/* One thread's. */
typedef struct cpu_scratch {
  gbt_sum *acc;           /* accumulators of one strip, CPU_GROUP_ACC apart, of a group or of the sparse part */
  uint32_t *count;        /* the same */
  double *g, *h, *gain;   /* max_codes and CPU_LIST_SLACK, CPU_SPLIT_FEATS at least: prefix sums and gains of one
                             feature */
  uint32_t *level;        /* as many: categories in order */
  double *ratio;          /* as many */
  gbt_sum *sum;           /* as many: sums of one feature */
  int32_t *rest;          /* CPU_SPLIT_FEATS: features that are not searched together with others */
  int64_t *rows;          /* as many: prefix counts */
  int64_t *part;          /* as many: see cpu_list_cuts */
  double *block;          /* g, h and the probabilities of a block of rows: (2 + n_outputs) x CPU_BLOCK */
  gbt_gh32 *gh;           /* CPU_HIST_BLOCK: gradients of rows that are not neighbours, of either size */
  uint32_t *page_row;     /* CPU_HIST_BLOCK: rows as pages have them, where they have them elsewhere */
  double *sums;           /* 4 x max_codes, of trees that grow together node by node: gains with missing values right
                             and left, of all trees and of one */
  uint8_t *tried;         /* as many codes: whether a set is a candidate */
  uint8_t *mark, *side;   /* cpu_sparse_sides: block_rows, all 0; CPU_TASK_ROWS */
} cpu_scratch;

typedef struct cpu_scratches {
  cpu_scratch *of; /* by thread */
  int32_t n;
  uint32_t max_codes; /* of a feature, the missing one among them */
} cpu_scratches;

/* Before all else: how large it must be. */
void cpu_scratch_open(struct cpu_backend *be);

/* Scratch for every thread of this call. */
gbt_status cpu_scratch_ready(gbt_ctx *ctx, struct cpu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Accumulators of one thread, made again for what the pool holds now. */
gbt_status cpu_scratch_acc(struct cpu_backend *be, cpu_scratch *scratch, gbt_error *err) GBT_MUST_CHECK;

/* Of all threads. */
void cpu_scratch_close(struct cpu_backend *be);

#endif
