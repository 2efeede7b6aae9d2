/* Bandwidth of device memory: in order, and of gathered rows. The table holds 1 GiB, far more than the L2 cache.
 *
 * `1 of k`: an ascending index of one random row of every k. Values are the bytes that were asked for (the rows and 4
 * bytes of index each), so what a sector of 32 bytes carries in vain shows as a small share. `any order`: the index is
 * shuffled. A column has one byte a row; its rate is in rows.
 *
 * So that a thin selection is more than a launch, it is made several times, in pass p of the rows (index XOR p): every
 * pass takes other rows, one of every k. */
#include "micro.cuh"

enum { GATHER_BLOCK = 256 };

__global__ static void k_fill(uint32_t *x, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    x[i] = (uint32_t)i & 0xffu;
}

/* shuffle: positions are taken in an order without rhyme (an odd multiplier modulo a power of two is a permutation). */
__global__ static void k_index(uint32_t *index, uint32_t n, uint32_t step, int shuffle) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint32_t p = shuffle ? (i * 2654435761u) & (n - 1) : i;
    index[i] = p * step + (scatter(p) & (step - 1));
  }
}

__global__ static void k_read(const uint4 *x, size_t n, count64 *kept) {
  count64 total = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    uint4 v = x[i];
    total += (count64)v.x + v.y + v.z + v.w;
  }
  keep_total(kept, total);
}

__global__ static void k_copy(uint4 *to, const uint4 *from, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    to[i] = from[i];
}

/* Rows of 2^shift 32-bit words, a thread a word, so that neighbours read one row. */
__global__ static void k_gather(const uint32_t *x, const uint32_t *index, uint32_t n, uint32_t shift, uint32_t passes,
                                count64 *kept) {
  count64 total = 0;
  const uint32_t all = n << shift, word = (1u << shift) - 1;
  for (uint32_t p = 0; p < passes; p++)
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x)
      total += x[((size_t)(index[i >> shift] ^ p) << shift) + (i & word)];
  keep_total(kept, total);
}

__global__ static void k_gather_bytes(const uint8_t *x, const uint32_t *index, uint32_t n, uint32_t passes,
                                      count64 *kept) {
  count64 total = 0;
  for (uint32_t p = 0; p < passes; p++)
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      total += x[index[i] ^ p];
  keep_total(kept, total);
}

struct tables {
  uint32_t *x, *copy, *index; /* index: in the copy's place, never longer than half of it */
  size_t words;
  unsigned grid;
};

/* The checks' twins on the host, for a table of k_fill and an index of k_index. */
static count64 sum_of_rows(uint32_t n, uint32_t step, uint32_t shift, uint32_t passes) {
  count64 total = 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t p = 0; p < passes; p++) {
      size_t first = (size_t)((i * step + (scatter(i) & (step - 1))) ^ p) << shift;
      for (uint32_t w = 0; w < 1u << shift; w++) total += (uint32_t)(first + w) & 0xffu;
    }
  return total;
}

static count64 sum_of_bytes(uint32_t n, uint32_t step, uint32_t passes) {
  count64 total = 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t p = 0; p < passes; p++) { /* of a word's four bytes the first one holds the number */
      uint32_t at = (i * step + (scatter(i) & (step - 1))) ^ p;
      total += at & 3u ? 0 : (at >> 2) & 0xffu;
    }
  return total;
}

static void in_order(micro *m, const tables *t) {
  const double bytes = (double)t->words * 4.0;
  const count64 sum = t->words / 256 * (255 * 128);
  const size_t n = t->words / 4;
  const unsigned block = GATHER_BLOCK;
  const uint4 *x = (const uint4 *)t->x;
  uint4 *copy = (uint4 *)t->copy;
  double s = seconds_of(m, [&] { CU_LAUNCH(k_read, t->grid, block, 0, m->stream, x, n, m->total); });
  check(m, "read in order", read_total(m, t->grid, block), sum);
  report("read in order", bytes / s * 1e-9, "GB/s", m->dev.bandwidth * 1e-9, "memory bandwidth");
  s = seconds_of(m, [&] { CU_LAUNCH(k_copy, t->grid, block, 0, m->stream, copy, x, n); });
  CU_LAUNCH(k_read, t->grid, block, 0, m->stream, (const uint4 *)copy, n, m->total);
  check(m, "copy in order", read_total(m, t->grid, block), sum);
  report("copy in order: read and write", 2.0 * bytes / s * 1e-9, "GB/s", m->dev.bandwidth * 1e-9, "memory bandwidth");
}

static void rows(micro *m, const tables *t, uint32_t shift, uint32_t step, int shuffle) {
  const uint32_t n = (uint32_t)((t->words >> shift) / step), passes = step > 8 ? step / 8 : 1;
  const unsigned block = GATHER_BLOCK;
  const uint32_t *x = t->x, *index = t->index;
  char name[96];
  snprintf(name, sizeof name, "gather %u-byte rows 1 of %u%s", 4u << shift, step, shuffle ? " any order" : "");
  CU_LAUNCH(k_index, t->grid, block, 0, m->stream, t->index, n, step, shuffle);
  double s =
      seconds_of(m, [&] { CU_LAUNCH(k_gather, t->grid, block, 0, m->stream, x, index, n, shift, passes, m->total); });
  check(m, name, read_total(m, t->grid, block), sum_of_rows(n, step, shift, passes));
  report(name, (double)n * passes * ((4u << shift) + 4.0) / s * 1e-9, "GB/s", m->dev.bandwidth * 1e-9,
         "memory bandwidth");
}

/* Sectors hold 32 rows of a column: with one row of every k, the least bytes for a row are min(k, 32) and the index. */
static void column(micro *m, const tables *t, uint32_t step) {
  const uint32_t n = (uint32_t)(t->words * 4 / step), passes = step > 8 ? step / 8 : 1;
  const unsigned block = GATHER_BLOCK;
  const uint8_t *x = (const uint8_t *)t->x;
  const uint32_t *index = t->index;
  char name[96];
  snprintf(name, sizeof name, "gather 1-byte column 1 of %u", step);
  CU_LAUNCH(k_index, t->grid, block, 0, m->stream, t->index, n, step, 0);
  double s =
      seconds_of(m, [&] { CU_LAUNCH(k_gather_bytes, t->grid, block, 0, m->stream, x, index, n, passes, m->total); });
  check(m, name, read_total(m, t->grid, block), sum_of_bytes(n, step, passes));
  double least = 4.0 + (step < 32 ? step : 32);
  report(name, (double)n * passes / s * 1e-9, "Grow/s", m->dev.bandwidth / least * 1e-9, "sectors at memory bandwidth");
}

void micro_gathers(micro *m) {
  tables t = {};
  t.words = sized(m, (size_t)1 << 28, 8192);
  t.grid = (unsigned)sized(m, (size_t)m->dev.units * 16, 2);
  t.x = device_array<uint32_t>(t.words);
  t.copy = device_array<uint32_t>(t.words);
  t.index = t.copy;
  CU_LAUNCH(k_fill, t.grid, (unsigned)GATHER_BLOCK, 0, m->stream, t.x, t.words);
  in_order(m, &t);
  const uint32_t steps[] = {1, 2, 8, 32, 128, 256};
  for (uint32_t step : steps) rows(m, &t, 3, step, 0);
  for (uint32_t step = 8; step <= 128; step *= 16) {
    rows(m, &t, 3, step, 1);
    rows(m, &t, 2, step, 0);
    rows(m, &t, 4, step, 0);
  }
  for (uint32_t step = 8; step <= 128; step *= 4) column(m, &t, step);
  TRY(cudaFree(t.x));
  TRY(cudaFree(t.copy));
}
