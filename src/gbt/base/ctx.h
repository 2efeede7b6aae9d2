/* One call into the engine: memory, threads, and the host's request to stop.
 *
 * A gbt_ctx is valid for one call from the host (R, the test driver). It has no threads between calls, so a fork
 * between calls is safe. */
#ifndef GBT_BASE_CTX_H
#define GBT_BASE_CTX_H

#include "mem.h"
#include "simd.h"

typedef struct gbt_pool gbt_pool;
struct gbt_comm;

/* All fields are filled by gbt_ctx_open; after it a host may set `comm`, and reads the rest. */
typedef struct gbt_ctx {
  gbt_mem mem;
  int n_threads; /* threads that run, the caller's included; >= 1 */
  gbt_simd simd; /* never above what the machine has; results do not depend on it */
  /* non-zero asks to stop: the call returns GBT_CANCELLED. Called on the entering thread only, about every 20 ms; may
   * be NULL */
  int (*poll)(void *user);
  void *user;
  gbt_pool *pool;       /* helper threads; NULL when n_threads is 1 */
  int64_t next_poll_ns; /* when poll is called next, by the monotonic clock */
  int stop; /* 1 once poll() has asked to stop; stays 1 */
  uint32_t other_float; /* how the entering thread computed before, for gbti_float_end(); 0: as usual */
  /* the other ranks that train the same model, see comm.h: borrowed. NULL (as gbt_ctx_open sets it): none */
  const struct gbt_comm *comm;
  uint32_t comm_calls; /* collective operations so far; the same on all ranks */
  int comm_failed;     /* 1: a rank failed, and this one returns its error */
  void *comm_spare;    /* see gbt_comm_enter: borrowed, NULL outside of a stretch */
  size_t comm_spare_bytes;
} gbt_ctx;

/* Starts up to n_threads - 1 helper threads, 1023 at most. If the system starts fewer, ctx->n_threads is their number.
 * Helpers block all signals and sleep while there is nothing to do. simd: GBT_SIMD_AUTO, or more than the machine has:
 * the best that it has. poll may be NULL; user is its argument. Close with gbt_ctx_close, also on failure of later
 * calls. GBT_E_ARG: n_threads is below 1, or there is no such simd. Between the two the calling thread computes by the
 * usual rules (float_mode.h), so both are called by the same thread. */
gbt_status gbt_ctx_open(gbt_ctx *ctx, gbt_mem mem, int n_threads, gbt_simd simd, int (*poll)(void *), void *user,
                        gbt_error *err) GBT_MUST_CHECK;
void gbt_ctx_close(gbt_ctx *ctx);

#endif
