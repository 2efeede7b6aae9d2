/* Ranks that are threads of this process, for as long as one call lasts: comm.h by shared memory.
 *
 *   world   open | run fn on all ranks | run .. | close         no threads between two runs */
#ifndef GBT_BASE_WORLD_H
#define GBT_BASE_WORLD_H

#include "comm.h"

typedef struct gbt_world gbt_world;

enum { GBT_WORLD_MOST = 64 }; /* ranks */

/* size: 2 or more ranks. GBT_E_UNSUPPORTED in a build without threads. */
gbt_status gbt_world_open(const gbt_mem *mem, int size, gbt_world **out, gbt_error *err) GBT_MUST_CHECK;
void gbt_world_close(gbt_world *world); /* NULL allowed */

/* A rank's part of a run: own->comm is its communicator. Rank 0 is the caller's thread. */
typedef gbt_status (*gbt_world_fn)(void *arg, gbt_ctx *own, gbt_error *err);

/* fn on all ranks at the same time, each with a context of n_threads threads; returns when all have ended. It succeeds
 * on all of them, or returns the failure of the first rank that failed by itself. Requests to stop reach rank 0, and
 * through it the others. */
gbt_status gbt_world_run(gbt_ctx *ctx, gbt_world *world, int n_threads, gbt_world_fn fn, void *arg,
                         gbt_error *err) GBT_MUST_CHECK;

#endif
