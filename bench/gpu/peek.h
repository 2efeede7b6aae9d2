/* What the bench has to know of the CUDA backend beyond its face. */
#ifndef GBT_BENCH_PEEK_H
#define GBT_BENCH_PEEK_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The next tree is issued step by step, not as a recording that is replayed: its steps can be timed. */
void peek_step_by_step(gbt_backend *be);

/* Where the histograms of tree `tree` of a batch lie: device memory of `bytes` bytes. NULL: there is no such tree. */
const void *peek_histograms(const gbt_backend *be, int32_t tree, size_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
