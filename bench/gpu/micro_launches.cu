/* What it costs to begin work: launches, events, waits, replay of a captured graph by node, a barrier of the whole grid
 * by cooperative launch (not known to the emulation). Microseconds of the host's clock, medians. */
#include "micro.cuh"

#include <time.h>

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#endif

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__global__ static void k_empty(int) {}

__global__ static void k_count(count64 *cell) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *cell += 1;
}

/* Median host seconds of `work`, a wait for the stream included. */
template <class F> static double host_seconds(micro *m, F work) {
  double s[MAX_REPEATS];
  for (int r = -1; r < m->repeats; r++) {
    TRY(cudaStreamSynchronize(m->stream));
    double t = now();
    work();
    TRY(cudaStreamSynchronize(m->stream));
    if (r >= 0) s[r] = now() - t;
  }
  TRY(cudaGetLastError());
  qsort(s, (size_t)m->repeats, sizeof *s, by_size);
  return s[m->repeats / 2];
}

static void chains(micro *m) {
  const int n = (int)sized(m, 2000, 20);
  count64 *cell = device_array<count64>(1), counted = 0;
  report("launch and wait", host_seconds(m, [&] { CU_LAUNCH(k_empty, 1u, 32u, 0, m->stream, 0); }) * 1e6, "us", 0, "");
  double s = host_seconds(m, [&] {
    for (int i = 0; i < n; i++) CU_LAUNCH(k_empty, 1u, 32u, 0, m->stream, 0);
  });
  report("empty kernel in a chain", s * 1e6 / n, "us", 0, "");
  s = host_seconds(m, [&] {
    for (int i = 0; i < n; i++) CU_LAUNCH(k_count, (unsigned)sized(m, 128, 3), 256u, 0, m->stream, cell);
  });
  report("kernel of 128 blocks in a chain", s * 1e6 / n, "us", 0, "");
  TRY(cudaMemcpy(&counted, cell, sizeof counted, cudaMemcpyDeviceToHost));
  check(m, "kernels in a chain", counted, (count64)n * (count64)(m->repeats + 1));
  s = host_seconds(m, [&] {
    for (int i = 0; i < n; i++) TRY(cudaMemsetAsync(cell, 0, 8, m->stream));
  });
  report("memset of 8 bytes in a chain", s * 1e6 / n, "us", 0, "");
  s = host_seconds(m, [&] {
    for (int i = 0; i < n / 10; i++) {
      TRY(cudaMemcpyAsync(&counted, cell, 8, cudaMemcpyDeviceToHost, m->stream));
      TRY(cudaStreamSynchronize(m->stream));
    }
  });
  report("8 bytes to the host and wait", s * 1e6 / (n / 10), "us", 0, "");
  TRY(cudaFree(cell));
}

/* A chain of n kernels, captured once and replayed. */
static void graph(micro *m, int n, unsigned blocks, const char *name) {
  count64 *cell = device_array<count64>(1), counted = 0;
  cudaGraph_t g;
  cudaGraphExec_t exec;
  TRY(cudaStreamBeginCapture(m->stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < n; i++) CU_LAUNCH(k_count, (unsigned)sized(m, blocks, 2), 256u, 0, m->stream, cell);
  TRY(cudaStreamEndCapture(m->stream, &g));
  TRY(cudaGraphInstantiate(&exec, g, 0));
  const int replays = (int)sized(m, 20, 2);
  double s = host_seconds(m, [&] {
    for (int i = 0; i < replays; i++) TRY(cudaGraphLaunch(exec, m->stream));
  });
  TRY(cudaMemcpy(&counted, cell, sizeof counted, cudaMemcpyDeviceToHost));
  check(m, name, counted, (count64)n * (count64)replays * (count64)(m->repeats + 1));
  report(name, s * 1e6 / replays / n, "us", 0, "");
  TRY(cudaGraphExecDestroy(exec));
  TRY(cudaGraphDestroy(g));
  TRY(cudaFree(cell));
}

#if defined(__CUDACC__)

/* Every block adds 1 between barriers, and looks that all others have done so. */
__global__ static void k_barriers(count64 *cell, count64 *wrong, int n) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int i = 1; i <= n; i++) {
    if (threadIdx.x == 0) atomicAdd(cell, (count64)1);
    grid.sync();
    if (threadIdx.x == 0 && atomicAdd(cell, 0ull) < (count64)i * gridDim.x) atomicAdd(wrong, 1ull);
  }
}

__global__ static void k_only_barriers(int n) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (int i = 0; i < n; i++) grid.sync();
}

static void barriers(micro *m, unsigned per_unit, const char *name) {
  count64 *cell = device_array<count64>(2), seen[2];
  count64 *wrong = cell + 1;
  int n = 100, many = 1100;
  dim3 grid((unsigned)m->dev.units * per_unit), block(256);
  void *checked[] = {&cell, &wrong, &n}, *few_args[] = {&n}, *many_args[] = {&many};
  TRY(cudaLaunchCooperativeKernel((const void *)k_barriers, grid, block, checked, 0, m->stream));
  TRY(cudaStreamSynchronize(m->stream));
  TRY(cudaMemcpy(seen, cell, sizeof seen, cudaMemcpyDeviceToHost));
  check(m, name, seen[0], (count64)n * grid.x);
  check(m, name, seen[1], 0);
  double few = host_seconds(
      m, [&] { TRY(cudaLaunchCooperativeKernel((const void *)k_only_barriers, grid, block, few_args, 0, m->stream)); });
  double long_one = host_seconds(m, [&] {
    TRY(cudaLaunchCooperativeKernel((const void *)k_only_barriers, grid, block, many_args, 0, m->stream));
  });
  report(name, (long_one - few) * 1e6 / (many - n), "us", 0, "");
  TRY(cudaFree(cell));
}

static void all_barriers(micro *m) {
  barriers(m, 1, "grid barrier 1 block a multiprocessor");
  barriers(m, 4, "grid barrier 4 blocks a multiprocessor");
}

#else

static void all_barriers(micro *) { skipped("grid barrier 1 block a multiprocessor", "emulation"); }

#endif

void micro_launches(micro *m) {
  chains(m);
  graph(m, 10, 1, "graph of 10 kernels: a node");
  graph(m, 100, 1, "graph of 100 kernels: a node");
  graph(m, 100, 128, "graph of 100 kernels of 128 blocks: a node");
  all_barriers(m);
}
