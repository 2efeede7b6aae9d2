/* Drawn rows' codes side by side, on the device: see gather.cu. */
#pragma once

#include "backend.cuh"

/* Room in every tree's state for the codes of as many rows as are drawn, hardly ever fewer. By cu_sizes_open, where
 * codes are CU_DRAWN_CODES. */
gbt_status cu_gather_plan(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* When the data sets are there. */
gbt_status cu_gather_open(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
void cu_gather_close(cu_backend *be);

/* Once drawn rows are counted: whether the batch has its rows gathered. Waits. Before they are placed. */
gbt_status cu_gather_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* Once they are placed: their codes. Issues work: a pass over all codes. */
gbt_status cu_gather_codes(gbt_ctx *ctx, cu_backend *be, gbt_error *err) GBT_MUST_CHECK;

/* When nothing is split any more: the orders have rows from now on. Nothing where none are gathered. */
gbt_status cu_gather_end(cu_backend *be, gbt_error *err) GBT_MUST_CHECK;
