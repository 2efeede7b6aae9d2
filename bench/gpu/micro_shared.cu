/* Additions to shared memory: how many a second, by the form of a cell and by who meets whom.
 *
 * A table has 256 codes x 32 lanes. Patterns of the 8 cells that a thread adds to again and again:
 *   lane     code * 32 + lane, codes at random: every lane of a warp has a bank of its own (what src/cuda does)
 *   random   any cell: lanes meet in banks, seldom in cells
 *   hot      as lane, but nine of ten codes are the same one: warps meet in cells
 *   one      all threads add to one cell
 * `copies` tables, one for every copies-th warp, against that meeting.
 *
 * Theory: one addition per bank and clock, 32 a clock and multiprocessor. Forms that take more than one addition count
 * once, so their share says what is left of the bank's rate. */
#include "micro.cuh"

enum { CODES = 256, CELLS = CODES * WARP, AT = 8 };
enum pattern { LANE, RANDOM, HOT, ONE };
enum form { U32, PAIR, U64, F32, F64, SPLIT }; /* PAIR: two words. SPLIT: 64 bits as two words with a carry */

__device__ static __forceinline__ uint32_t cell_of(int pattern, uint32_t k) {
  uint32_t lane = threadIdx.x & (WARP - 1), x = scatter((blockIdx.x * blockDim.x + threadIdx.x) * AT + k);
  if (pattern == ONE) return 0;
  if (pattern == RANDOM) return x & (CELLS - 1);
  uint32_t code = x & (CODES - 1);
  if (pattern == HOT && (x >> 8) % 10u != 0) code = 7;
  return code * WARP + lane;
}

template <int FORM> struct form_of {
  typedef uint32_t word;
  enum { WORDS = FORM == PAIR || FORM == SPLIT ? 2 : 1 };
};
template <> struct form_of<U64> {
  typedef count64 word;
  enum { WORDS = 1 };
};
template <> struct form_of<F32> {
  typedef float word;
  enum { WORDS = 1 };
};
template <> struct form_of<F64> {
  typedef double word;
  enum { WORDS = 1 };
};

template <int FORM, class T> __device__ static __forceinline__ void add(T *table, uint32_t at) {
  if (FORM == SPLIT) {
    const uint32_t x = 0x80000001u; /* half of the additions carry */
    uint32_t old = atomicAdd((uint32_t *)&table[at], x);
    atomicAdd((uint32_t *)&table[CELLS + at], (uint32_t)(old > 0xffffffffu - x));
  } else {
    atomicAdd(&table[at], (T)1);
    if (FORM == PAIR) atomicAdd(&table[CELLS + at], (T)1);
  }
}

/* What a cell of the table counts as: additions, or (SPLIT) their 64-bit sum. */
template <int FORM, class T> __device__ static __forceinline__ count64 worth(const T *table, uint32_t at) {
  count64 low = (count64)table[at];
  if (FORM == PAIR) return low + (count64)table[CELLS + at];
  if (FORM == SPLIT) return low | (count64)table[CELLS + at] << 32;
  return low;
}

template <int FORM> __global__ static void k_adds(count64 *kept, int rounds, int pattern, int copies) {
  typedef typename form_of<FORM>::word T;
  CU_DYN_SHARED(T, tables);
  const uint32_t size = (uint32_t)form_of<FORM>::WORDS * CELLS;
  for (uint32_t i = threadIdx.x; i < size * (uint32_t)copies; i += blockDim.x) tables[i] = (T)0;
  __syncthreads();
  T *table = tables + size * ((threadIdx.x / WARP) % (uint32_t)copies);
  uint32_t at[AT];
  for (int k = 0; k < AT; k++) at[k] = cell_of(pattern, (uint32_t)k);
  for (int r = 0; r < rounds; r++) {
#if defined(__CUDACC__)
#pragma unroll
#endif
    for (int k = 0; k < AT; k++) add<FORM>(table, at[k]);
  }
  __syncthreads();
  count64 total = 0;
  for (int c = 0; c < copies; c++)
    for (uint32_t i = threadIdx.x; i < CELLS; i += blockDim.x) total += worth<FORM>(tables + size * (uint32_t)c, i);
  keep_total(kept, total);
}

template <int FORM> static void measure(micro *m, const char *name, int pattern, int copies) {
  const unsigned block = (unsigned)sized(m, 512, 64);
  const size_t bytes = sizeof(typename form_of<FORM>::word) * (uint32_t)form_of<FORM>::WORDS * CELLS * (size_t)copies;
  if (bytes > m->dev.shared_limit) {
    skipped(name, "too little shared memory");
    return;
  }
  unsigned per_unit = (unsigned)(m->dev.shared_limit / (bytes + 1024));
  per_unit = per_unit > 4 ? 4 : per_unit < 1 ? 1 : per_unit;
  const unsigned grid = (unsigned)sized(m, (size_t)m->dev.units * per_unit, 2);
  const int rounds = (int)sized(m, pattern == ONE || FORM > PAIR ? 512 : 4096, 2);
  TRY(cudaFuncSetAttribute(k_adds<FORM>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  double s =
      seconds_of(m, [&] { CU_LAUNCH(k_adds<FORM>, grid, block, bytes, m->stream, m->total, rounds, pattern, copies); });
  const count64 adds = (count64)grid * block * (count64)rounds * AT, each = FORM == PAIR    ? 2
                                                                            : FORM == SPLIT ? 0x80000001u
                                                                                            : 1;
  check(m, name, read_total(m, grid, block), adds * each);
  report(name, (double)adds / s * 1e-9, "Gadd/s", m->dev.units * 32.0 * m->dev.clock * 1e-9, "a bank a clock");
}

void micro_shared(micro *m) {
  measure<U32>(m, "shared u32 lane", LANE, 1);
  measure<U32>(m, "shared u32 random", RANDOM, 1);
  measure<U32>(m, "shared u32 hot", HOT, 1);
  measure<U32>(m, "shared u32 hot 2 copies", HOT, 2);
  measure<U32>(m, "shared u32 hot 4 copies", HOT, 4);
  measure<U32>(m, "shared u32 one cell", ONE, 1);
  measure<PAIR>(m, "shared pair of u32 lane", LANE, 1);
  measure<PAIR>(m, "shared pair of u32 random", RANDOM, 1);
  measure<PAIR>(m, "shared pair of u32 hot", HOT, 1);
  measure<PAIR>(m, "shared pair of u32 hot 2 copies", HOT, 2);
  measure<U64>(m, "shared u64 lane", LANE, 1);
  measure<U64>(m, "shared u64 random", RANDOM, 1);
  measure<U64>(m, "shared u64 hot", HOT, 1);
  measure<F32>(m, "shared f32 lane", LANE, 1);
  measure<F32>(m, "shared f32 random", RANDOM, 1);
  measure<F32>(m, "shared f32 hot", HOT, 1);
  measure<F64>(m, "shared f64 lane", LANE, 1);
  measure<F64>(m, "shared f64 random", RANDOM, 1);
  measure<SPLIT>(m, "shared u64 as two u32 lane", LANE, 1);
  measure<SPLIT>(m, "shared u64 as two u32 random", RANDOM, 1);
}
