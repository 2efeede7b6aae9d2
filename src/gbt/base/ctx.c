/* The call context: opening and closing. */
#include "ctx.h"

#include <string.h>

#include "clock.h"
#include "parallel.h"
#include "pool.h"

gbt_simd gbt_simd_best(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) return GBT_SIMD_SCALAR;
  int wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? GBT_SIMD_AVX512 : GBT_SIMD_AVX2;
#else
  return GBT_SIMD_SCALAR;
#endif
}

const char *gbt_simd_name(int simd) {
  switch ((gbt_simd)simd) {
  case GBT_SIMD_AUTO:
    return "auto";
  case GBT_SIMD_SCALAR:
    return "scalar";
  case GBT_SIMD_AVX2:
    return "avx2";
  case GBT_SIMD_AVX512:
    return "avx512";
  }
  return NULL;
}

gbt_status gbt_ctx_open(gbt_ctx *ctx, gbt_mem mem, int n_threads, gbt_simd simd, int (*poll)(void *), void *user,
                        gbt_error *err) {
  memset(ctx, 0, sizeof *ctx);
  ctx->mem = mem;
  ctx->n_threads = 1;
  if (n_threads < 1)
    return gbt_fail_on(err, GBT_E_ARG, "threads", "`threads` is %d; give a number of 1 or more", n_threads);
  if ((int)simd < (int)GBT_SIMD_AUTO || (int)simd > (int)GBT_SIMD_AVX512)
    return gbt_fail_on(err, GBT_E_ARG, "simd", "there is no instruction set number %d", (int)simd);
  gbt_simd best = gbt_simd_best();
  ctx->simd = simd == GBT_SIMD_AUTO || simd > best ? best : simd;
  ctx->poll = poll;
  ctx->user = user;
  if (n_threads > GBT_MAX_THREADS) n_threads = GBT_MAX_THREADS;
  if (n_threads > 1) GBT_TRY(gbt_pool_open(&ctx->mem, n_threads - 1, &ctx->pool, err));
  ctx->n_threads = 1 + gbt_pool_helpers(ctx->pool);
  ctx->next_poll_ns = gbt_clock_ns() + GBTI_POLL_NS;
  return GBT_OK;
}

void gbt_ctx_close(gbt_ctx *ctx) {
  gbt_pool_close(ctx->pool);
  ctx->pool = NULL;
  ctx->n_threads = 1;
}
