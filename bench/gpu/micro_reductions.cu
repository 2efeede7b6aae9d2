/* Additions of 64 bits to global memory (reductions: nobody asks for the old value), and reductions of whole runs of
 * shared memory by the bulk copy engine (compute capability 9.0 and later).
 *
 * `histogram`: all blocks add to the same 14,392 cells, one after the other, as blocks do that flush a histogram of 28
 * columns x 257 codes. `spread`: a run of cells of its own for every block, in 64 MB. `random`: any of them. `one`: a
 * single cell. No theory is known to the device's documents. */
#include "micro.cuh"

enum { HISTOGRAM, SPREAD, RANDOM, ONE, RED_BLOCK = 256, RUN = 2048 };

__global__ static void k_red(count64 *cell, uint32_t n_cells, int pattern, int rounds) {
  const uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int r = 0; r < rounds; r++) {
    uint32_t k = (uint32_t)r, at = 0;
    if (pattern == HISTOGRAM) at = (k * blockDim.x + threadIdx.x) % n_cells;
    if (pattern == SPREAD) at = (k * threads + t) % n_cells;
    if (pattern == RANDOM) at = scatter(k * threads + t) % n_cells;
    atomicAdd(&cell[at], 1ull);
  }
}

__global__ static void k_total(const count64 *x, uint32_t n, count64 *kept) {
  count64 total = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) total += x[i];
  keep_total(kept, total);
}

/* Every block adds a run of RUN cells of its shared memory to global memory, `rounds` times, at rotating places. */
__global__ static void k_bulk(count64 *cell, uint32_t n_runs, int rounds) {
  CU_DYN_SHARED(count64, run);
  for (uint32_t i = threadIdx.x; i < RUN; i += blockDim.x) run[i] = 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int r = 0; r < rounds; r++) {
    count64 *to = cell + (size_t)((blockIdx.x + (uint32_t)r) % n_runs) * RUN;
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64 [%0], [%1], %2;" ::"l"(
                     __cvta_generic_to_global(to)),
                 "r"((uint32_t)__cvta_generic_to_shared(run)), "r"((uint32_t)(RUN * sizeof *run))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#else
  __syncthreads();
  for (int r = 0; r < rounds; r++)
    for (uint32_t i = threadIdx.x; i < RUN; i += blockDim.x)
      atomicAdd(&cell[(size_t)((blockIdx.x + (uint32_t)r) % n_runs) * RUN + i], run[i]);
#endif
}

static count64 total_of(micro *m, const count64 *cell, uint32_t n) {
  const unsigned grid = (unsigned)sized(m, 1024, 2);
  CU_LAUNCH(k_total, grid, 256u, 0, m->stream, cell, n, m->total);
  TRY(cudaGetLastError());
  return read_total(m, grid, 256);
}

static void measure(micro *m, const char *name, count64 *cell, uint32_t n_cells, int pattern) {
  const unsigned grid = (unsigned)sized(m, (size_t)m->dev.units * 8, 2);
  const int rounds = (int)sized(m, pattern == ONE ? 64 : 512, 3);
  TRY(cudaMemsetAsync(cell, 0, n_cells * sizeof *cell, m->stream));
  double s =
      seconds_of(m, [&] { CU_LAUNCH(k_red, grid, (unsigned)RED_BLOCK, 0, m->stream, cell, n_cells, pattern, rounds); });
  const count64 adds = (count64)grid * RED_BLOCK * (count64)rounds;
  check(m, name, total_of(m, cell, n_cells), adds * (count64)(m->repeats + 1));
  report(name, (double)adds / s * 1e-9, "Gadd/s", 0, "");
}

static void measure_bulk(micro *m, const char *name, count64 *cell, uint32_t n_runs) {
  if (m->dev.major < 9) {
    skipped(name, "needs compute capability 9.0");
    return;
  }
  const unsigned grid = (unsigned)sized(m, (size_t)m->dev.units * 4, 2);
  const int rounds = (int)sized(m, 64, 3);
  TRY(cudaMemsetAsync(cell, 0, (size_t)n_runs * RUN * sizeof *cell, m->stream));
  double s =
      seconds_of(m, [&] { CU_LAUNCH(k_bulk, grid, 128u, RUN * sizeof(count64), m->stream, cell, n_runs, rounds); });
  const count64 adds = (count64)grid * RUN * (count64)rounds;
  check(m, name, total_of(m, cell, n_runs * RUN), adds * (count64)(m->repeats + 1));
  report(name, (double)adds / s * 1e-9, "Gadd/s", 0, "");
}

void micro_reductions(micro *m) {
  const uint32_t n_hist = 28 * 257 * 2, n_many = (uint32_t)sized(m, 8u << 20, 8 * RUN);
  count64 *cell = device_array<count64>(n_many);
  measure(m, "global u64 add histogram", cell, n_hist, HISTOGRAM);
  measure(m, "global u64 add spread", cell, n_many, SPREAD);
  measure(m, "global u64 add random", cell, n_many, RANDOM);
  measure(m, "global u64 add one cell", cell, 1, ONE);
  measure_bulk(m, "bulk reduction u64 to one 114 KB histogram", cell, 7);
  measure_bulk(m, "bulk reduction u64 spread", cell, n_many / RUN);
  TRY(cudaFree(cell));
}
