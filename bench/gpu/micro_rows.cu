/* A histogram as training builds it: rows of 32 codes (32 bytes) and a 4-byte gradient each, in order or gathered by an
 * index, into tables in shared memory of 256 codes x 32 lanes, two 32-bit cells (g and h) for a code. A lane takes the
 * bytes that it has loaded itself, in an order turned by its row, as grow/steps/hist.cu does: a load of 16 bytes and
 * one of a gradient (and an index) for 32 additions, no shuffles. A block then adds its tables to 64-bit cells in
 * global memory.
 *
 * Rate: codes a second (each is two additions), of a bank a clock; bandwidth: bytes of rows, gradients and indices, of
 * the memory's. The smaller of the two shares does not bind. */
#include "micro.cuh"

#include "../../src/cuda/grow/steps/byte_lanes.cuh"

enum { CODES = 256, CELLS = CODES * WARP, ROUNDS = 2 };

struct hist {
  const uint8_t *codes;
  const uint32_t *gh;    /* g in the low 16 bits, h in the high ones */
  const uint32_t *index; /* NULL: rows in order */
  uint32_t n, block_rows;
  count64 *out; /* 2 * CELLS */
};

__global__ static void k_fill_codes(uint8_t *codes, size_t n, int hot) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    uint32_t x = scatter((uint32_t)i * 2654435761u + (uint32_t)(i >> 32));
    codes[i] = (uint8_t)(hot && (x >> 8) % 10u != 0 ? 7u : x);
  }
}

__global__ static void k_fill_rows(uint32_t *gh, uint32_t *index, uint32_t n, uint32_t step) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (gh) gh[i] = 1u | 2u << 16;
    if (index) index[i] = i * step + scatter(i) % step; /* one of every `step` rows, ascending */
  }
}

/* The words of a load with their numbers changed by XOR: which one is used in a step depends on the lane. */
__device__ static __forceinline__ void turn(uint32_t *word, uint32_t by) {
  const uint32_t a = by & 1u ? word[1] : word[0], b = by & 1u ? word[0] : word[1];
  const uint32_t c = by & 1u ? word[3] : word[2], d = by & 1u ? word[2] : word[3];
  word[0] = by & 2u ? c : a;
  word[1] = by & 2u ? d : b;
  word[2] = by & 2u ? a : c;
  word[3] = by & 2u ? b : d;
}

__device__ static __forceinline__ void add_rows(const hist &h, uint32_t *cells, uint32_t from, uint32_t to) {
  typedef cu_byte_lanes<8> lanes;
  const uint32_t lane = threadIdx.x & (WARP - 1), warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
  const uint32_t by = lanes::turn_of(lane), select = 0x3210u ^ (by & 3u) * 0x1111u;
  const uint32_t position = lanes::position_of<WARP>(lane), step = ROUNDS * lanes::ROWS;
  for (uint32_t beg = from + warp * step; beg < to; beg += warps * step) {
    uint32_t word[ROUNDS][4], gh[ROUNDS];
    CU_UNROLL
    for (uint32_t q = 0; q < ROUNDS; q++) {
      const uint32_t r = beg + q * lanes::ROWS + lanes::row_of(lane), at = r < to ? r : to - 1;
      const uint32_t row = h.index ? h.index[at] : at;
      const uint4 its = *(const uint4 *)(const void *)(h.codes + (size_t)row * WARP + lanes::word_of(lane) * 4u);
      word[q][0] = its.x, word[q][1] = its.y, word[q][2] = its.z, word[q][3] = its.w;
      gh[q] = r < to ? h.gh[at] : 0; /* gradients are in the order of the index */
    }
    CU_UNROLL
    for (uint32_t q = 0; q < ROUNDS; q++) {
      turn(word[q], by / 4u);
      CU_UNROLL
      for (uint32_t k = 0; k < lanes::STEPS; k++) {
        const uint32_t turned = __byte_perm(word[q][k / 4u], 0, select);
        uint32_t *cell = cells + (__byte_perm(turned, 0, 0x4440u + k % 4u) * (2 * WARP) + (position ^ k));
        atomicAdd(cell, gh[q] & 0xffffu);
        atomicAdd(cell + WARP, gh[q] >> 16);
      }
    }
  }
}

__global__ static void k_hist(hist h) {
  CU_DYN_SHARED(uint32_t, cell);
  for (uint32_t beg = blockIdx.x * h.block_rows; beg < h.n; beg += gridDim.x * h.block_rows) {
    uint32_t end = h.n - beg < h.block_rows ? h.n : beg + h.block_rows;
    for (uint32_t i = threadIdx.x; i < 2 * CELLS; i += blockDim.x) cell[i] = 0;
    __syncthreads();
    add_rows(h, cell, beg, end);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < 2 * CELLS; i += blockDim.x)
      if (cell[i]) atomicAdd(&h.out[i], (count64)cell[i]);
    __syncthreads();
  }
}

__global__ static void k_sum(const count64 *x, uint32_t n, count64 *kept) {
  count64 total = 0;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) total += x[i];
  keep_total(kept, total);
}

static void measure(micro *m, const char *name, hist h, uint32_t block) {
  const size_t bytes = 2 * CELLS * sizeof(uint32_t);
  unsigned per_unit = (unsigned)(m->dev.shared_limit / (bytes + 1024)), threads = 2048 / block; /* blocks that fit */
  if (per_unit > threads) per_unit = threads;
  unsigned most = (unsigned)sized(m, (size_t)m->dev.units * per_unit, 2);
  h.block_rows = h.n / most + 1; /* 16 bits a row: no cell overflows below 65,536 rows */
  h.block_rows = h.block_rows < 1024 ? 1024 : h.block_rows > 32768 ? 32768 : h.block_rows;
  unsigned need = (h.n + h.block_rows - 1) / h.block_rows, grid = need < most ? need : most;
  TRY(cudaFuncSetAttribute(k_hist, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  double s = seconds_of(m, [&] { CU_LAUNCH(k_hist, grid, block, bytes, m->stream, h); });
  /* one run more, checked */
  TRY(cudaMemsetAsync(h.out, 0, 2 * CELLS * sizeof *h.out, m->stream));
  CU_LAUNCH(k_hist, grid, block, bytes, m->stream, h);
  CU_LAUNCH(k_sum, 2u, 256u, 0, m->stream, h.out, 2u * CELLS, m->total);
  TRY(cudaGetLastError());
  check(m, name, read_total(m, 2, 256), (count64)h.n * WARP * 3);
  char text[128];
  double rate = (double)h.n / s, bytes_a_row = 32.0 + 4.0 + (h.index ? 4.0 : 0.0);
  snprintf(text, sizeof text, "%s block %u", name, block);
  report(text, rate * WARP * 1e-9, "Gcode/s", m->dev.units * 16.0 * m->dev.clock * 1e-9, "two adds a bank a clock");
  snprintf(text, sizeof text, "%s block %u bytes", name, block);
  report(text, rate * bytes_a_row * 1e-9, "GB/s", m->dev.bandwidth * 1e-9, "memory bandwidth");
}

void micro_rows(micro *m) {
  const uint32_t n = (uint32_t)sized(m, 32u << 20, 1000); /* 1 GiB of codes: far more than L2 */
  hist h = {};
  uint8_t *codes = device_array<uint8_t>((size_t)n * WARP);
  uint32_t *gh = device_array<uint32_t>(n), *index = device_array<uint32_t>(n);
  h.codes = codes;
  h.gh = gh;
  h.out = device_array<count64>(2 * CELLS);
  const unsigned fill = (unsigned)sized(m, 4096, 4);
  for (int hot = 0; hot < 2; hot++) {
    CU_LAUNCH(k_fill_codes, fill, 256u, 0, m->stream, codes, (size_t)n * WARP, hot);
    CU_LAUNCH(k_fill_rows, fill, 256u, 0, m->stream, gh, (uint32_t *)nullptr, n, 1u);
    h.n = n;
    h.index = nullptr;
    measure(m, hot ? "hist 32 columns hot" : "hist 32 columns", h, 256);
    measure(m, hot ? "hist 32 columns hot" : "hist 32 columns", h, 512);
    if (!hot) measure(m, "hist 32 columns", h, 1024);
    for (uint32_t step = 2; step <= 64 && !hot; step *= step == 2 ? 4 : 8) {
      char name[64];
      snprintf(name, sizeof name, "hist 32 columns 1 of %u rows", step);
      h.n = n / step;
      h.index = index;
      CU_LAUNCH(k_fill_rows, fill, 256u, 0, m->stream, (uint32_t *)nullptr, index, h.n, step);
      measure(m, name, h, 512);
    }
  }
  TRY(cudaFree(codes));
  TRY(cudaFree(gh));
  TRY(cudaFree(index));
  TRY(cudaFree(h.out));
}
