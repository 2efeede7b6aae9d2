/* The call context: opening and closing, polling, and the way of gbt_parallel without helpers. */
#if !defined(_POSIX_C_SOURCE) && !defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L
#endif
#include "ctx.h"

#include <string.h>
#include <time.h>

#include "pool.h"
#include "rng.h"

enum { POLL_NS = 20000000 };

int64_t gbt_clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t gbt_salt(const void *block) {
  return gbt_mix64((uint64_t)(uintptr_t)block ^ gbt_mix64((uint64_t)gbt_clock_ns()));
}

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
  ctx->next_poll_ns = gbt_clock_ns() + POLL_NS;
  return GBT_OK;
}

void gbt_ctx_close(gbt_ctx *ctx) {
  gbt_pool_close(ctx->pool);
  ctx->pool = NULL;
  ctx->n_threads = 1;
}

gbt_status gbt_ctx_poll(gbt_ctx *ctx, gbt_error *err) {
  if (!ctx->stop) {
    if (ctx->poll == NULL || gbt_clock_ns() < ctx->next_poll_ns) return GBT_OK;
    ctx->stop = ctx->poll(ctx->user) != 0;
    ctx->next_poll_ns = gbt_clock_ns() + POLL_NS; /* counted from the end: a slow poll() must not eat the call */
    if (!ctx->stop) return GBT_OK;
    gbt_pool_stop(ctx->pool);
  }
  return gbt_fail(err, GBT_CANCELLED, "stopped on request");
}

int gbt_ctx_stopped(gbt_ctx *ctx, int thread) {
  return thread == 0 ? gbt_ctx_poll(ctx, NULL) != GBT_OK : gbt_pool_stopped(ctx->pool);
}

int64_t gbt_task_rows(int64_t most, int32_t n_outputs) {
  enum { LEAST_ROWS = 32, MOST_NUMBERS = 1 << 20 };
  int64_t rows = most;
  GBT_ASSERT(most > 0 && n_outputs > 0);
  while (rows > LEAST_ROWS && rows * n_outputs > MOST_NUMBERS) rows /= 2;
  return rows;
}

gbt_status gbt_parallel(gbt_ctx *ctx, int64_t n_tasks, gbt_task_fn fn, void *arg, gbt_error *err) {
  GBT_ASSERT(n_tasks >= 0);
  GBT_TRY(gbt_ctx_poll(ctx, err));
  if (n_tasks > 1 && ctx->pool != NULL) return gbt_pool_run(ctx, n_tasks, fn, arg, err);
  for (int64_t t = 0; t < n_tasks; t++) {
    if (t > 0) GBT_TRY(gbt_ctx_poll(ctx, err));
    fn(arg, t, 0);
  }
  return GBT_OK;
}
