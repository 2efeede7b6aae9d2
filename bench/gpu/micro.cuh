/* Measuring the device's primitives: what the programs of micro*.cu share.
 *
 * Every measurement checks the result of its kernels and prints one line
 *
 *     name,value,unit,share,of
 *
 * share: of the number that the device's clocks and widths promise (`of` says which); empty where there is none. Times
 * are medians of `repeats` timed by events, after one run that is not counted. Under tests/simt everything that the
 * emulation knows is run with tiny sizes: the checks then mean something, the times nothing. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../src/cuda/base/port.cuh"
#include "device.h"

typedef unsigned long long count64;
enum { MAX_REPEATS = 32, WARP = 32, MAX_WARPS = 1 << 18 };

struct micro {
  device_facts dev;
  cudaStream_t stream;
  cudaEvent_t from, to;
  int repeats, faults;
  count64 *total; /* on the device: MAX_WARPS, see keep_total */
};

#define TRY(call)                                                                               \
  do {                                                                                          \
    cudaError_t code_ = (call);                                                                 \
    if (code_ != cudaSuccess) {                                                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(code_)); \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

/* theory <= 0: none. */
static inline void report(const char *name, double value, const char *unit, double theory, const char *of) {
  if (theory > 0.0)
    printf("%s,%.5g,%s,%.3f,%s\n", name, value, unit, value / theory, of);
  else
    printf("%s,%.5g,%s,,\n", name, value, unit);
  fflush(stdout);
}

static inline void skipped(const char *name, const char *why) {
  printf("%s,,skipped,,%s\n", name, why);
  fflush(stdout);
}

/* The result of a measurement is what it must be. */
static inline void check(micro *m, const char *name, count64 found, count64 wanted) {
  if (found == wanted) return;
  fprintf(stderr, "%s: WRONG RESULT: %llu, must be %llu\n", name, found, wanted);
  m->faults++;
}

static inline int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median seconds of what `work` puts on the stream. */
template <class F> double seconds_of(micro *m, F work) {
  double s[MAX_REPEATS];
  for (int r = -1; r < m->repeats; r++) {
    float ms = 0;
    TRY(cudaEventRecord(m->from, m->stream));
    work();
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(m->to, m->stream));
    TRY(cudaEventSynchronize(m->to));
    TRY(cudaEventElapsedTime(&ms, m->from, m->to));
    if (r >= 0) s[r] = (double)ms * 1e-3;
  }
  qsort(s, (size_t)m->repeats, sizeof *s, by_size);
  return s[m->repeats / 2];
}

template <class T> T *device_array(size_t n) {
  T *p = nullptr;
  TRY(cudaMalloc(&p, n * sizeof(T)));
  TRY(cudaMemset(p, 0, n * sizeof(T)));
  return p;
}

/* What a kernel found, for its check: a number of every thread, added up by warps, so that no addition to one place can
 * show in the time. All threads of a warp must come here. */
__device__ static __forceinline__ void keep_total(count64 *total, count64 x) {
  for (int d = WARP / 2; d > 0; d /= 2) x += __shfl_down_sync(0xffffffffu, x, (unsigned)d);
  uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t % WARP == 0) total[t / WARP] = x;
}

/* The sum of what the threads of the last kernel kept. */
static inline count64 read_total(micro *m, unsigned grid, unsigned block) {
  static count64 host[MAX_WARPS];
  const size_t warps = (size_t)grid * block / WARP;
  count64 x = 0;
  if (warps > MAX_WARPS) {
    fprintf(stderr, "a grid of %zu warps is too large\n", warps);
    exit(1);
  }
  TRY(cudaStreamSynchronize(m->stream));
  TRY(cudaMemcpy(host, m->total, warps * sizeof *host, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < warps; i++) x += host[i];
  return x;
}

/* A size on a device, and under emulation. */
static inline size_t sized(const micro *m, size_t full, size_t tiny) { return m->dev.emulated ? tiny : full; }

/* 32 bits for a number: good enough to scatter addresses. */
__host__ __device__ static __forceinline__ uint32_t scatter(uint32_t x) {
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= x >> 15;
  x *= 0x735a2d97u;
  return x ^ (x >> 15);
}

/* The suites. */
void micro_shared(micro *m);
void micro_rows(micro *m);
void micro_reductions(micro *m);
void micro_gathers(micro *m);
void micro_launches(micro *m);
void micro_copies(micro *m);
void micro_math(micro *m);
