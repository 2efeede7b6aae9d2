/* Statistics of categories on the device: see statistics.cu. */
#pragma once

#include "../base/mem.cuh"

extern "C" {
#include "../../gbt/encode/statistics_help.h"
}

/* The device being one that the door finds nothing wrong with. limit: bytes of its memory that may be taken, 0 for all
 * there is. */
gbt_status cu_statistics_open(gbt_ctx *ctx, int32_t device, size_t limit, gbti_statistics_help **out,
                              gbt_error *err) GBT_MUST_CHECK;
