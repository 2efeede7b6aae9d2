/* Histograms of the step's builds, from rows.
 *
 * An item is a block of a build's rows (hist_block) and a tile. Items are numbered tree after tree, tile after tile,
 * and are distributed evenly: a thread block takes consecutive ones, and as long as they belong to one build, and have
 * at most 65,535 rows, adds them up in shared memory:
 *
 *   cells   code 0: g of all positions | h | rows, where the tile counts        code 1: the same  ..
 *
 * There are `pitch` positions, each a column or one of several copies of it. 32-bit cells of 16-bit gradients cannot
 * overflow (|g| < 2^15, h < 2^16), and where pitch is 32 every lane has a bank of its own, whatever its code. What is
 * not 0 then goes to the build's histogram by 64-bit additions. Runs of few rows, and tiles without room, do that row
 * by row.
 *
 * A lane loads a row of words (half of one, where it has 8 words of bytes) by itself and walks through its columns, in
 * an order that is turned by the row, so that 32 lanes are at different positions. Tiles of bytes, which most tables
 * have, have a loop of their own: byte_lanes.cuh.
 *
 * With `wide` gradients the rows are added twice: the lower 16 bits, unsigned, and the upper ones. Everything is
 * integer addition, so neither the cut nor the order shows.
 *
 * A block adds up for one tree at a time, at the roots as well, where all trees of a batch have the same rows. For
 * several at once it would load the codes once: 8 of 76 cycles of the pipe for 32 rows of 32 columns, 4 of 38 of 16.
 * But each block would have all these trees' cells to empty, and not those of one. With two to seven trees that costs
 * more than it saves below 5 to 8 million rows, and above saves a tenth of the roots at best: three trees of 256 codes
 * fill the shared memory. Codes that the trees read one after the other are mostly in the second cache.
 *
 * Sparse features: a warp goes through the lists of 32 rows as if they were one, straight to global memory. */
#include "ops.cuh"

#include "../../base/block.cuh"
#include "../rows/gather.cuh"
#include "../state/ops.cuh"
#include "../state/ranks.cuh"
#include "byte_lanes.cuh"

enum { SMALL_THREADS = 512, SMALL_BLOCKS = 2, LARGE_THREADS = 1024 };
enum : uint32_t {
  CELL_ROWS = 65535,
  FEW = 4,       /* codes a row: with more of them cells do not pay */
  LANE_ROWS = 64 /* that the loops of a warp take at once at most, a power of two */
};

/* Rows of a build. */
struct cu_share {
  uint32_t n, first; /* row NULL: they are first .. first + n - 1 */
  int32_t hist;      /* the build's */
  const uint32_t *row;
  const void *gh; /* gbt_gh16 in the same order, or, wide, gbt_gh32 by row */
};

/* Blocks [beg, end) of a build, beg counted from its first one. */
__device__ static __forceinline__ cu_share share_of(const cu_view &v, int32_t build, uint32_t beg, uint32_t end) {
  const cu_build b = v.build[build];
  const gbt_grow_node *node = &v.node[b.node];
  const cu_order order = cu_order_of(v, node->depth);
  const uint64_t first = (uint64_t)beg * v.hist_rows, stop = (uint64_t)end * v.hist_rows;
  const int whole = v.tree->whole && node->depth == 0;
  cu_share s;
  s.n = (uint32_t)((stop < node->own_rows ? stop : node->own_rows) - first);
  s.first = (uint32_t)first;
  s.hist = b.hist;
  s.row = whole ? nullptr : order.row + node->order_beg + first;
  s.gh = order.gh + node->order_beg + first;
  if (v.tree->wide) s.gh = v.gathered ? v.drawn_gh : cu_gh32(v, v.tree->task.grads);
  return s;
}

/* Those of its rows that the extent has: a run of them, as they ascend, or descend. */
__device__ static __forceinline__ cu_share within_extent(const cu_view &v, cu_share s, int32_t id) {
  const int64_t first = s.first, beg = v.train.beg - first, end = v.train.end - first;
  uint32_t low = 0, high = s.n;
  if (!s.row) {
    low = (uint32_t)(beg < 0 ? 0 : beg > s.n ? s.n : beg);
    high = (uint32_t)(end < 0 ? 0 : end > s.n ? s.n : end);
  } else if (cu_descends(id)) {
    low = cu_first_below(s.row, 0u, s.n, (uint32_t)v.train.end);
    high = cu_first_below(s.row, low, s.n, (uint32_t)v.train.beg);
  } else {
    low = cu_lower_bound(s.row, 0u, s.n, (uint32_t)v.train.beg);
    high = cu_lower_bound(s.row, low, s.n, (uint32_t)v.train.end);
  }
  if (s.row) s.row += low;
  if (!v.tree->wide) s.gh = (const gbt_gh16 *)s.gh + low;
  s.first += low;
  s.n = high - low;
  return s;
}

/* The number of its row i. */
__device__ static __forceinline__ uint32_t row_of(const cu_share &s, uint32_t i) {
  return s.row ? s.row[i] : s.first + i;
}

/* Where a code's sums are in the build's histogram; the counts have the same place. */
__device__ static __forceinline__ uint64_t place_of(const cu_view &v, const cu_share &s, uint32_t slot) {
  return (uint64_t)(uint32_t)s.hist * v.n_slots + slot;
}

/* ---- adding rows ---- */

/* A lane's column of a tile, and where its sums go. */
struct cu_sink {
  uint32_t at;            /* of its first cell in shared memory */
  uint32_t pitch, stride; /* cells from g to h, and from there to rows; from code to code */
  int part, counts;       /* counts: rows are counted now */
  uint32_t slot;          /* of its first code */
};

/* g in the lower 16 bits and h in the upper ones. */
__device__ static __forceinline__ uint32_t both_of(const cu_share &s, uint32_t i, uint32_t row, int part) {
  if (part == CU_NARROW) return cu_gh_bits((const gbt_gh16 *)s.gh + i);
  const gbt_gh32 q = ((const gbt_gh32 *)s.gh)[row];
  return cu_half_of(q, part);
}

/* Rows of a lane, as many as it works on at once. */
template <int N> struct cu_lane_rows { uint32_t row[N], both[N]; };

/* Row i of the share and the rows at steps of `apart` after it. Rows past the end are row 0, with gradients of 0. */
template <int N>
__device__ static __forceinline__ cu_lane_rows<N> take_rows(const cu_share &s, uint32_t i, uint32_t apart, int part) {
  cu_lane_rows<N> r;
  CU_UNROLL
  for (uint32_t q = 0; q < N; q++) {
    const uint32_t at = i + q * apart;
    r.row[q] = r.both[q] = 0;
    if (at >= s.n) continue;
    r.row[q] = row_of(s, at);
    r.both[q] = both_of(s, at, r.row[q], part);
  }
  return r;
}

/* Words that are loaded at once. */
template <int V> struct alignas(4 * V) cu_held { uint32_t word[V]; };

/* Word k becomes word k ^ by. No register is addressed by a number that is not known. */
template <int V> __device__ static __forceinline__ void turn_words(cu_held<V> *held, uint32_t by) {
  CU_UNROLL
  for (int bit = 1; bit < V; bit *= 2) {
    CU_UNROLL
    for (int k = 0; k < V; k++) {
      const uint32_t a = held->word[k], b = held->word[k ^ bit];
      if (k & bit) continue;
      held->word[k] = by & (uint32_t)bit ? b : a;
      held->word[k ^ bit] = by & (uint32_t)bit ? a : b;
    }
  }
}

/* All rows of the share, to shared memory. A lane takes a row as a whole, one column in every step: column
 * s ^ turn, turn = lane % lanes of the tile, so that the lanes' positions (lane ^ s) % pitch are at different banks.
 * Slots of positions without a column (their codes are 0) are never read. */
template <int W>
__device__ static __forceinline__ void add_rows(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                const cu_tile &t, const cu_sink &to) {
  const uint32_t lane = cu_lane(), turn = lane & ((uint32_t)t.lanes - 1u), per_word = (uint32_t)t.lanes / W;
  const uint32_t bits = (uint32_t)t.bits, mask = (1u << bits) - 1u, within = turn & (per_word - 1u);
  cu_lane_rows<1> now = take_rows<1>(s, threadIdx.x, 0, to.part);
  for (uint32_t i = threadIdx.x; i - lane < s.n; i += blockDim.x) {
    cu_held<W> held = *(const cu_held<W> *)(const void *)(words + t.at + (uint64_t)now.row[0] * W);
    const cu_lane_rows<1> next = take_rows<1>(s, i + blockDim.x, 0, to.part);
    const uint32_t g = cu_part_g(now.both[0], to.part), h = now.both[0] >> 16, is_row = i < s.n ? 1u : 0u;
    turn_words(&held, turn * bits >> 5);
    CU_UNROLL
    for (uint32_t w = 0; w < W; w++)
      for (uint32_t k = 0; k < per_word; k++) {
        const uint32_t code = held.word[w] >> ((k ^ within) * bits) & mask;
        uint32_t *cell = cells + (code * to.stride + ((lane ^ (w * per_word + k)) & (to.pitch - 1u)));
        atomicAdd(cell, g);
        atomicAdd(cell + to.pitch, h);
        if (to.counts) atomicAdd(cell + 2 * to.pitch, is_row);
      }
    now = next;
  }
}

/* The same of codes of a byte, 4 W columns: what most tables have, so all that can be known is in the text and
 * nothing branches among the additions. COUNTS: the tile counts; WIDE: 32-bit gradients, the part that is asked for.
 * Codes, and the next rows' numbers and gradients, are loaded before the first addition. What positions without a
 * column get (their codes are 0) is never looked at. */
template <int W, uint32_t PITCH, bool COUNTS, bool WIDE>
__device__ static __forceinline__ void add_bytes(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                 const cu_tile &t, const cu_sink &to) {
  typedef cu_byte_lanes<W> lanes;
  const int part = WIDE ? to.part : (int)CU_NARROW;
  enum : uint32_t { ROUNDS = 2, V = lanes::WORDS, STRIDE = PITCH * (COUNTS ? 3 : 2) };
  static_assert(LANE_ROWS % (ROUNDS * lanes::ROWS) == 0, "no row past the end where it cannot be read");
  const uint32_t lane = cu_lane(), turn = lanes::turn_of(lane), step = cu_n_warps() * (ROUNDS * lanes::ROWS);
  const uint32_t select = 0x3210u ^ (turn & 3u) * 0x1111u, position = lanes::template position_of<PITCH>(lane);
  const uint32_t *at = words + t.at + lanes::word_of(lane);
  const uint32_t warp = __shfl_sync(CU_ALL, cu_warp(), 0); /* tells the compiler that a warp stays together */
  uint32_t i = warp * (ROUNDS * lanes::ROWS) + lanes::row_of(lane);
  cu_lane_rows<ROUNDS> now = take_rows<ROUNDS>(s, i, lanes::ROWS, part);
  __syncwarp();
  for (uint32_t beg = warp * (ROUNDS * lanes::ROWS); beg < s.n; beg += step, i += step) {
    cu_held<V> held[ROUNDS];
    CU_UNROLL
    for (uint32_t q = 0; q < ROUNDS; q++) held[q] = *(const cu_held<V> *)(const void *)(at + (uint64_t)now.row[q] * W);
    const cu_lane_rows<ROUNDS> next = take_rows<ROUNDS>(s, i + step, lanes::ROWS, part);
    __syncwarp(); /* loads stay before it */
    CU_UNROLL
    for (uint32_t q = 0; q < ROUNDS; q++) {
      const uint32_t g = cu_part_g(now.both[q], part), h = now.both[q] >> 16;
      turn_words(&held[q], turn / 4u);
      CU_UNROLL
      for (uint32_t k = 0; k < lanes::STEPS; k++) {
        const uint32_t word = __byte_perm(held[q].word[k / 4u], 0, select);
        uint32_t *cell = cells + (__byte_perm(word, 0, 0x4440u + k % 4u) * STRIDE + (position ^ k));
        atomicAdd(cell, g);
        atomicAdd(cell + PITCH, h);
        if (COUNTS) atomicAdd(cell + 2 * PITCH, part != CU_HIGH && i + q * lanes::ROWS < s.n ? 1u : 0u);
      }
    }
    now = next;
  }
}

/* Tiles of bytes that have 4 columns for each word. */
__device__ static __forceinline__ int is_bytes(const cu_tile &t) { return t.bits == 8 && t.lanes == 4 * t.words; }

template <int W, bool COUNTS, bool WIDE>
__device__ static __forceinline__ void add_words(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                 const cu_tile &t, const cu_sink &to) {
  if (t.pitch == 32) return add_bytes<W, 32, COUNTS, WIDE>(cells, s, words, t, to);
  add_bytes<W, 4 * W, COUNTS, WIDE>(cells, s, words, t, to);
}

template <bool COUNTS, bool WIDE>
__device__ static __forceinline__ void add_tile_of_bytes(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                         const cu_tile &t, const cu_sink &to) {
  if (t.words == 8) return add_bytes<8, 32, COUNTS, WIDE>(cells, s, words, t, to);
  if (t.words == 4) return add_words<4, COUNTS, WIDE>(cells, s, words, t, to);
  if (t.words == 2) return add_words<2, COUNTS, WIDE>(cells, s, words, t, to);
  add_words<1, COUNTS, WIDE>(cells, s, words, t, to);
}

__device__ static __forceinline__ void add_tile(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                const cu_tile &t, const cu_sink &to) {
  if (is_bytes(t) && to.part == CU_NARROW)
    return t.counts ? add_tile_of_bytes<true, false>(cells, s, words, t, to)
                    : add_tile_of_bytes<false, false>(cells, s, words, t, to);
  if (is_bytes(t))
    return t.counts ? add_tile_of_bytes<true, true>(cells, s, words, t, to)
                    : add_tile_of_bytes<false, true>(cells, s, words, t, to);
  switch (t.words) {
  case 1:
    add_rows<1>(cells, s, words, t, to);
    break;
  case 2:
    add_rows<2>(cells, s, words, t, to);
    break;
  case 4:
    add_rows<4>(cells, s, words, t, to);
    break;
  default:
    add_rows<8>(cells, s, words, t, to);
  }
}

/* The same for the rows from `first` on, added directly to the histogram. */
__device__ static __forceinline__ void add_at_once(const cu_view &v, const cu_share &s, uint32_t first,
                                                   const cu_tile &t, const cu_sink &to) {
  const uint32_t lanes = (uint32_t)t.lanes, column = threadIdx.x & (lanes - 1u);
  const int64_t weight = to.part == CU_HIGH ? 65536 : 1;
  if (column >= (uint32_t)t.n_cols) return;
  for (uint32_t i = first + threadIdx.x / lanes; i < s.n; i += blockDim.x / lanes) {
    const uint32_t row = row_of(s, i), both = both_of(s, i, row, to.part);
    const uint64_t at = place_of(v, s, to.slot + cu_tile_code(cu_train_words(v), t, (int32_t)column, row));
    cu_add64(&v.sum[at].g, (int64_t)(int32_t)cu_part_g(both, to.part) * weight);
    cu_add64(&v.sum[at].h, (int64_t)(both >> 16) * weight);
    if (to.counts) atomicAdd(&v.count[at], 1u);
  }
}

/* Takes a position's cells of a code and its copies, and leaves 0. Lanes begin with different copies, so that they are
 * at different banks. kind: 0 g, 1 h, 2 rows. */
__device__ static __forceinline__ uint32_t take_cells(uint32_t *cells, const cu_sink &to, uint32_t lanes, uint32_t code,
                                                      uint32_t column, uint32_t copy, uint32_t kind) {
  uint32_t sum = 0;
  for (uint32_t p = 0; p < to.pitch; p += lanes) {
    const uint32_t at = code * to.stride + kind * to.pitch + ((column + copy * lanes + p) & (to.pitch - 1u));
    sum += cells[at];
    cells[at] = 0;
  }
  return sum;
}

/* Number k of lane i of four neighbours becomes number i of lane k. */
__device__ static __forceinline__ void transpose_four(uint32_t *x) {
  CU_UNROLL
  for (uint32_t bit = 1; bit < 4; bit *= 2) {
    const uint32_t upper = cu_lane() & bit;
    CU_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
      if (k & bit) continue;
      const uint32_t gives = upper ? x[k] : x[k | bit], gets = __shfl_xor_sync(CU_ALL, gives, (int)bit);
      if (upper)
        x[k] = gets;
      else
        x[k | bit] = gets;
    }
  }
}

/* Cells that are not 0 into the histogram; they are 0 afterwards. A lane takes four neighbouring codes of a column, as
 * they are in the same 64 bytes of the histogram; four lanes then exchange what they have, so that they add to
 * neighbouring numbers, of one column after the other: the device carries additions out by sectors of 32 bytes. */
__device__ static __forceinline__ void flush(uint32_t *cells, const cu_view &v, const cu_share &s, const cu_tile &t,
                                             const cu_sink &to) {
  const uint32_t lanes = (uint32_t)t.lanes, column = threadIdx.x & (lanes - 1u), first = threadIdx.x / lanes;
  const uint64_t hist = place_of(v, s, 0);
  const uint32_t before = ((uint32_t)hist + to.slot) & 3u; /* codes of the first four that are none of the column's */
  const uint32_t n_fours = (t.n_codes + 3u + 3u) / 4u, step = blockDim.x / lanes;
  const uint32_t sub = cu_lane() & 3u, mine = column < (uint32_t)t.n_cols ? ~0u : 0u;
  const int has_sign = to.part != CU_LOW && sub % 2u == 0;
  const int64_t weight = to.part == CU_HIGH ? 65536 : 1;
  int32_t slot[4]; /* of the first of the codes that each of the four lanes has */
  CU_UNROLL
  for (uint32_t k = 0; k < 4; k++)
    slot[k] = cu_from((int32_t)(to.slot - before + 4u * first), (int)((cu_lane() & ~3u) + k));
  for (uint32_t base = 0; base < n_fours; base += step) {
    uint32_t x[8], rows[4];
    CU_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
      const uint32_t code = (base + first) * 4u + k - before; /* may be below 0, so above all codes */
      x[2 * k] = x[2 * k + 1] = rows[k] = 0;
      if (code >= t.n_codes) continue;
      x[2 * k] = take_cells(cells, to, lanes, code, column, first, 0) & mine;
      x[2 * k + 1] = take_cells(cells, to, lanes, code, column, first, 1) & mine;
      if (to.counts) rows[k] = take_cells(cells, to, lanes, code, column, first, 2) & mine;
    }
    transpose_four(x);
    transpose_four(x + 4);
    if (to.counts) transpose_four(rows);
    CU_UNROLL
    for (uint32_t k = 0; k < 4; k++) {
      const uint64_t place = hist + (uint64_t)(int64_t)slot[k];
      int64_t *sum = &v.sum[place].g + sub;
      CU_UNROLL
      for (uint32_t two = 0; two < 2; two++) { /* codes */
        const uint32_t y = x[4 * two + k];
        const int64_t value = has_sign ? (int64_t)(int32_t)y : (int64_t)y;
        if (y != 0) cu_add64(sum + 4 * two, value * weight);
      }
      if (rows[k] != 0) atomicAdd(&v.count[place + sub], rows[k]);
      slot[k] += (int32_t)(4u * step);
    }
  }
}

/* ---- the kernel ---- */

__device__ static __forceinline__ cu_sink sink_of(const cu_view &v, const cu_tile &t, int part) {
  const uint32_t column = threadIdx.x & ((uint32_t)t.lanes - 1u);
  cu_sink to = cu_sink();
  to.part = part;
  to.counts = t.counts && part != CU_HIGH;
  to.pitch = (uint32_t)t.pitch;
  to.stride = to.pitch * (t.counts ? 3u : 2u);
  to.at = cu_lane() & (to.pitch - 1u);
  /* lanes without a column add nothing, and their cells stay 0 */
  to.slot = column < (uint32_t)t.n_cols ? v.train.column[(uint32_t)t.first_col + column].slot : 0u;
  return to;
}

/* In lane y: blocks of rows that trees 0 .. y of the batch have to build from. Far below 2^32 even of all trees, and
 * one register, which the rows' loops are short of. */
__device__ static __forceinline__ uint32_t blocks_upto(const cu_view &all) {
  static_assert((int)GBT_MOST_TREES <= (int)CU_FULL, "a lane for every tree");
  const uint32_t y = cu_lane();
  return cu_warp_scan(y < (uint32_t)all.n_trees ? cu_shifted(all.tree, all.stride * y)->n_hist_blocks : 0u);
}

/* Tiles [first, first + n_tiles); n_cells: 32-bit words of shared memory. */
template <int THREADS, int BLOCKS>
__global__ static void __launch_bounds__(THREADS, BLOCKS)
    k_hist(cu_view all, int32_t first, int32_t n_tiles, uint32_t n_cells) {
  CU_DYN_SHARED(uint32_t, cells);
  const uint32_t upto = blocks_upto(all);
  const uint64_t n_items = (uint64_t)cu_from(upto, CU_FULL - 1) * (uint32_t)n_tiles;
  const uint64_t beg = n_items * blockIdx.x / gridDim.x, end = n_items * (blockIdx.x + 1u) / gridDim.x;
  if (beg == end) return;
  for (uint32_t i = threadIdx.x; i < n_cells; i += blockDim.x) cells[i] = 0;
  __syncthreads();
  for (uint64_t i = beg; i < end;) {
    const int y = __ffs((int)__ballot_sync(CU_ALL, (uint64_t)upto * (uint32_t)n_tiles > i)) - 1;
    const uint32_t before = y > 0 ? cu_from(upto, y - 1) : 0u;
    const cu_view v = cu_view_of(all, (uint32_t)y);
    const uint32_t n_blocks = cu_from(upto, y) - before, most = CELL_ROWS / v.hist_rows;
    const uint64_t item = i - (uint64_t)before * (uint32_t)n_tiles;
    const cu_tile t = cu_train_tiles(v)[first + (int32_t)(item / n_blocks)];
    const uint32_t block = (uint32_t)(item % n_blocks);
    const int wide = v.tree->wide;
    const int32_t build = cu_run_of(v.hist_block, v.tree->n_build, block);
    const uint32_t build_beg = v.hist_block[build];
    uint64_t n = v.hist_block[build + 1] - block;
    if (n > end - i) n = end - i;
    if (n > most) n = most;
    cu_share s = share_of(v, build, block - build_beg, block - build_beg + (uint32_t)n);
    i += n;
    if (!cu_has_all(v.train) && !v.listing) s = within_extent(v, s, v.build[build].node);
    /* row 0, which loops read past the end, is not resident then: loops get a multiple of LANE_ROWS rows */
    const uint32_t n_all = s.n, n_full = cu_has_all(v.train) ? s.n : s.n & ~(LANE_ROWS - 1u);
    if (n_all == 0) continue;
    const int at_once = t.pitch == 0 || n_full == 0 || (uint64_t)s.n * FEW <= t.n_codes;
    for (int part = wide ? CU_LOW : CU_NARROW; part <= (wide ? CU_HIGH : CU_NARROW); part++) {
      const cu_sink to = sink_of(v, t, part);
      s.n = n_all;
      if (at_once || n_full < n_all) add_at_once(v, s, at_once ? 0u : n_full, t, to);
      if (at_once) continue;
      s.n = n_full;
      add_tile(cells, s, cu_train_words(v), t, to);
      __syncthreads();
      flush(cells, v, s, t, to);
      __syncthreads();
    }
  }
}

/* ---- sparse features ---- */

/* A warp's 32 rows or fewer: entries of all their lists, lane by lane. */
__device__ static void add_lists(const cu_view &v, const cu_share &s, uint32_t beg, int wide, int counts) {
  const uint32_t lane = cu_lane();
  uint64_t list = 0;
  uint32_t n = 0;
  int32_t g = 0;
  uint32_t h = 0;
  if (beg + lane < s.n) {
    const uint32_t place = row_of(s, beg + lane), *at = cu_rows_at(v), row = at ? at[place] : place;
    list = v.train.sparse_beg[row];
    n = (uint32_t)(v.train.sparse_beg[row + 1] - list);
    if (wide) {
      g = ((const gbt_gh32 *)s.gh)[place].g;
      h = ((const gbt_gh32 *)s.gh)[place].h;
    } else {
      const uint32_t both = cu_gh_bits((const gbt_gh16 *)s.gh + beg + lane);
      g = (int16_t)both;
      h = both >> 16;
    }
  }
  const uint32_t upto = cu_warp_scan(n), all = __shfl_sync(CU_ALL, upto, 31);
  const uint64_t hist = place_of(v, s, v.train.sparse_first);
  list -= upto - n; /* so that entry e of all is at list + e */
  for (uint32_t base = 0; base < all; base += 32) {
    const uint32_t e = base + lane;
    uint32_t owner = 0; /* lanes whose entries all come before e */
    CU_UNROLL
    for (uint32_t half = 16; half > 0; half >>= 1)
      if (__shfl_sync(CU_ALL, upto, (int)(owner + half - 1u)) <= e) owner += half;
    const uint64_t from = __shfl_sync(CU_ALL, list, (int)owner);
    const int32_t eg = __shfl_sync(CU_ALL, g, (int)owner);
    const uint32_t eh = __shfl_sync(CU_ALL, h, (int)owner);
    if (e >= all) continue;
    const uint64_t at = hist + v.train.sparse_slot[from + e];
    cu_add64(&v.sum[at].g, eg);
    cu_add64(&v.sum[at].h, (int64_t)eh);
    if (counts) atomicAdd(&v.count[at], 1u);
  }
}

__global__ static void __launch_bounds__(CU_BLOCK) k_hist_sparse(cu_view all, int counts) {
  const cu_view v = cu_view_of_block(all);
  const uint32_t n_blocks = v.tree->n_hist_blocks;
  const int wide = v.tree->wide;
  for (uint32_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
    const int32_t build = cu_run_of(v.hist_block, v.tree->n_build, block);
    const uint32_t beg = block - v.hist_block[build];
    const cu_share s = share_of(v, build, beg, beg + 1u);
    for (uint32_t r = cu_warp() * 32u; r < s.n; r += cu_n_warps() * 32u) add_lists(v, s, r, wide, counts);
  }
}

/* ---- the host's side ---- */

static size_t cell_bytes(const cu_tile *t) { return (size_t)t->n_codes * (size_t)t->pitch * (t->counts ? 12u : 8u); }

/* Whether two blocks fit on a multiprocessor, for which the small kind is made. */
static int is_small(const cu_backend *be, size_t bytes) {
  static_assert(SMALL_BLOCKS == 2, "see cu_shared_of_two");
  return bytes <= cu_shared_of_two(be->device.shared_limit);
}

/* Both kinds request all of the memory that a multiprocessor divides between shared memory and cache. The other kernels
 * of a tree set no preference: then the driver keeps the current division unless a kernel cannot be launched otherwise
 * (the CUDA runtime's description of cudaFuncCachePreferNone), and none of them needs more. So the multiprocessors stay
 * as they are from a tree's first histogram on, and no kernel waits for a change. */
gbt_status cu_hist_open(cu_backend *be, gbt_error *err) {
  const int limit = (int)be->device.shared_limit, all = 100; /* percent */
  CU_TRY(cudaFuncSetAttribute((k_hist<SMALL_THREADS, SMALL_BLOCKS>), cudaFuncAttributeMaxDynamicSharedMemorySize,
                              (int)cu_shared_of_two(be->device.shared_limit)));
  CU_TRY(cudaFuncSetAttribute((k_hist<LARGE_THREADS, 1>), cudaFuncAttributeMaxDynamicSharedMemorySize, limit));
  CU_TRY(
      cudaFuncSetAttribute((k_hist<SMALL_THREADS, SMALL_BLOCKS>), cudaFuncAttributePreferredSharedMemoryCarveout, all));
  CU_TRY(cudaFuncSetAttribute((k_hist<LARGE_THREADS, 1>), cudaFuncAttributePreferredSharedMemoryCarveout, all));
  return GBT_OK;
}

/* Launches neighbouring tiles that need about as much shared memory together. view: with the codes that are to be
 * read. */
static void launch_tiles(cu_backend *be, const cu_view &view) {
  const cu_tile *tile = be->data[0].host_tile;
  const int32_t n_tiles = be->data[0].view.n_tiles;
  for (int32_t first = 0, end = 0; first < n_tiles; first = end) {
    const int small = is_small(be, cell_bytes(&tile[first]));
    size_t most = 0;
    for (; end < n_tiles && is_small(be, cell_bytes(&tile[end])) == small; end++)
      if (cell_bytes(&tile[end]) > most) most = cell_bytes(&tile[end]);
    const uint64_t items = (uint64_t)be->bounds.max_hist_blocks * (uint32_t)(end - first) * (uint32_t)be->view.n_trees;
    const uint32_t cells = (uint32_t)(most / sizeof(uint32_t));
    if (small)
      CU_LAUNCH((k_hist<SMALL_THREADS, SMALL_BLOCKS>), cu_grid(&be->device, items, SMALL_BLOCKS), SMALL_THREADS, most,
                be->device.stream, view, first, end - first, cells);
    else
      CU_LAUNCH((k_hist<LARGE_THREADS, 1>), cu_grid(&be->device, items, 1), LARGE_THREADS, most, be->device.stream,
                view, first, end - first, cells);
  }
}

static int counts_sparse(const cu_backend *be) {
  for (int32_t i = 0; i < be->layout->n_sparse; i++)
    if (be->bounds.counts[be->layout->sparse_feat[i]]) return 1;
  return 0;
}

static void launch_lists(cu_backend *be, const cu_view &view) {
  if (view.train.sparse_beg)
    CU_LAUNCH(k_hist_sparse, cu_grids(be, be->bounds.max_hist_blocks, 8), CU_BLOCK, 0, be->device.stream, view,
              counts_sparse(be));
}

/* See cu_extent_fn. Of the root's rows, or where nothing is listed: those of the builds that the extent has. */
static gbt_status add_extent(void *arg, const cu_rows_view *extent, gbt_error *err) {
  cu_backend *be = (cu_backend *)arg;
  cu_view view = be->view;
  view.train = *extent;
  view.listing = 0;
  launch_tiles(be, view);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_build_listed(cu_backend *be, const cu_rows_view *extent, gbt_error *err) {
  cu_view view = be->view;
  view.train = *extent;
  launch_tiles(be, view);
  launch_lists(be, view);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_build_hist(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  int n = 1;
  if (!cu_has_all(v->train)) GBT_TRY(cu_find_any(ctx, be, CU_BUILDS, &n, err));
  if (n == 0) return GBT_OK;
  if (cu_has_all(v->train))
    launch_tiles(be, *v);
  else
    GBT_TRY(cu_train_pass(ctx, be, add_extent, err));
  launch_lists(be, *v);
  CU_LAUNCHED();
  return cu_share_hists(ctx, be, err);
}
