/* Drawn rows' codes side by side, on the device: see gather.cu. */
#pragma once

#include "../state/ranks.cuh"

/* Room in every tree's state for the codes of as many rows as are drawn, hardly ever fewer. By cu_sizes_open, where
 * codes are CU_DRAWN_CODES. */
gbt_status cu_gather_plan(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Called when the data sets are made. */
gbt_status cu_gather_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_gather_close(cu_backend *be);

/* Once drawn rows are counted: whether the batch has its rows gathered. Waits. Before they are placed. */
gbt_status cu_gather_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Once they are placed: their codes. Issues work: a pass over all codes. */
gbt_status cu_gather_codes(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* When nothing is split any more: the orders have rows from now on. Nothing where none are gathered. */
gbt_status cu_gather_end(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* A pass over the codes of the training set, of the batch's variant; fn gets the backend. See cu_extents_pass, which
 * waits for the stream where rows are streamed. */
static inline gbt_status cu_train_pass(gbt_ctx *ctx, cu_backend *be, cu_extent_fn fn, gbt_error *err) {
  GBT_TRY(cu_nccl_wait(ctx, be, err));
  return cu_extents_pass(ctx, &be->device, &be->data[0], be->task[0].variant, fn, be, err);
}

/* Codes are read as the training set's extents have them, not those of gathered rows. */
static inline void cu_use_extents(cu_backend *be) {
  const cu_dataset *train = &be->data[0];
  be->view.train = train->view;
  be->view.gathered = 0;
  be->view.listing = be->bounds.lists && be->bounds.keeps;
  be->view.by_sides = be->view.listing || !cu_is_whole(train);
}
