/* The arguments of the kernel of small.cu in addition to the trees' view. */
#pragma once

#include "../../base/gate.cuh"
#include "../backend.cuh"

enum {
  CU_SMALL_THREADS = 512,
  CU_SMALL_DEPTH = 8,                         /* most max_depth */
  CU_SMALL_STEPS = 1 << (CU_SMALL_DEPTH - 1), /* most nodes of a layer that are split */
  CU_SMALL_COLS = 4                           /* of a group */
};

/* Columns of a tile whose histograms a block has in shared memory. */
struct cu_small_group {
  int32_t tile, lane, n_cols;
};

/* Pointers on the device. */
struct cu_small_view {
  const cu_small_group *group; /* n_groups */
  int32_t n_groups, n_ranges;  /* items: a group and a range of rows */
  uint32_t range_rows;
  uint32_t n_words; /* of shared memory that the launch asks for */
  uint16_t *at;     /* 2 n_rows, by turns: the number of a row's node, and whether it was drawn */
  uint32_t *count;  /* rows of the next children, or of the root; 0 between kernels */
  cu_gate *gate;
  int task_is_arg; /* the task is an argument, so that it needs no copy: never in recorded launches */
  cu_task task;
};

struct cu_small {
  cu_small_view view;
  size_t shared; /* bytes */
  unsigned grid;
  cu_array<cu_small_group> group;
  cu_array<uint16_t> at;
  cu_array<uint32_t> count;
  cu_array<cu_gate> gate;
};

/* Whether the kernel runs with so much shared memory; which is asked for. By cu_small_open. */
gbt_status cu_small_prepare(const cu_small *small, int *runs, gbt_error *err) GBT_MUST_CHECK;

/* Trees of small data, each grown by one kernel: made where data and device suit, when the data sets are there; freed;
 * instead of cu_rows_begin and all steps, if cu_grows_in_one_kernel says so before and after; instead of cu_leaves. */
gbt_status cu_small_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_small_close(cu_backend *be);
gbt_status cu_small_grow(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
gbt_status cu_small_end(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
/* Gradients of the round and of all its trees by one kernel: small_gradient.cu. 0: it is not for this training, or was
 * refused. */
int cu_small_gradients(cu_backend *be, uint64_t round);
