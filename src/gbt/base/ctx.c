/* The call context: opening and closing. */
#include "ctx.h"

#include <string.h>

#include "clock.h"
#include "float_mode.h"
#include "parallel.h"
#include "pool.h"

gbt_status gbt_ctx_open(gbt_ctx *ctx, gbt_mem mem, int n_threads, gbt_simd simd, int (*poll)(void *), void *user,
                        gbt_error *err) {
  memset(ctx, 0, sizeof *ctx);
  ctx->mem = mem;
  ctx->n_threads = 1;
  if (n_threads < 1)
    return gbt_fail_on(err, GBT_E_ARG, "threads", "`threads` is %d; give a number of 1 or more", n_threads);
  if (gbt_simd_name((int)simd) == NULL)
    return gbt_fail_on(err, GBT_E_ARG, "simd", "there is no instruction set number %d", (int)simd);
  gbt_simd best = gbt_simd_best();
  ctx->simd = simd == GBT_SIMD_AUTO || simd > best ? best : simd;
  ctx->poll = poll;
  ctx->user = user;
  if (n_threads > GBT_MAX_THREADS) n_threads = GBT_MAX_THREADS;
  ctx->other_float = gbti_float_begin(); /* helpers begin as this thread is */
  if (n_threads > 1) {
    const gbt_status status = gbt_pool_open(&ctx->mem, n_threads - 1, &ctx->pool, err);
    if (status != GBT_OK) {
      gbti_float_end(ctx->other_float);
      return status;
    }
  }
  ctx->n_threads = 1 + gbt_pool_helpers(ctx->pool);
  ctx->next_poll_ns = gbt_clock_ns() + GBTI_POLL_NS;
  return GBT_OK;
}

void gbti_ctx_usual_float(gbt_ctx *ctx) {
  const uint32_t other = gbti_float_begin();
  if (other != 0) ctx->other_float = other;
}

void gbt_ctx_close(gbt_ctx *ctx) {
  gbt_pool_close(ctx->pool);
  ctx->pool = NULL;
  ctx->n_threads = 1;
  gbti_float_end(ctx->other_float);
  ctx->other_float = 0;
}
