/* What the bench has to know of the CUDA backend beyond its face. */
#ifndef GBT_BENCH_PEEK_H
#define GBT_BENCH_PEEK_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The next tree is issued step by step, not as a recording that is replayed: its steps can be timed. */
void peek_step_by_step(gbt_backend *be);

#ifdef __cplusplus
}
#endif

#endif
