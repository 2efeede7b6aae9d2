/* Histograms of the step's builds, from rows.
 *
 * An item is a block of a build's rows (hist_block) and a tile. Items stand in a row, tree after tree, tile after tile,
 * and are shared out evenly: a thread block takes neighbours, and as long as they are of one build, and of at most
 * 65,535 rows, adds them up in shared memory. At the roots of a batch, where all trees have the same rows, blocks of
 * all of them walk through these side by side, so the codes come from memory once:
 *
 *   cells   g: [code * pitch + lane % pitch]   h: the same   rows: the same, where the tile counts
 *
 * 32-bit cells of 16-bit gradients cannot overflow then (|g| < 2^15, h < 2^16), and lane = column gives every lane a
 * bank of its own where pitch is 32. What is not 0 then goes to the build's histogram by 64-bit additions. Runs of few
 * rows, and tiles without room, do that row by row.
 *
 * A warp takes 32 rows at a time: their words come with all lanes at once (W loads that do not wait for each other) and
 * stay in registers; a lane then gets the word of its column, and the row's gradients, from the lane that has them:
 *
 *   held[q] of lane l: word l % W of row q * (32 / W) + l / W              W = 2: 16 rows a register
 *
 * With `wide` gradients the rows are added twice: the lower 16 bits, unsigned, and the upper ones. Everything is
 * integer addition, so neither the cut nor the order shows.
 *
 * Sparse features: a warp goes through the lists of 32 rows as if they were one, straight to global memory. */
#include "../base/block.cuh"
#include "backend.cuh"
#include "clear.cuh"

enum { NARROW = 0, LOW, HIGH }; /* the 16-bit gradients; halves of the 32-bit ones */
enum { SMALL_THREADS = 512, SMALL_BLOCKS = 2, LARGE_THREADS = 1024 };
enum : uint32_t { CELL_ROWS = 65535, FEW = 4 /* codes a row: with more of them cells do not pay */ };

/* Rows of a build. */
struct cu_share {
  uint32_t n;
  int32_t hist; /* the build's */
  const uint32_t *row;
  const void *gh; /* gbt_gh16 beside them, or, wide, gbt_gh32 by row */
};

/* Blocks [beg, end) of a build, beg counted from its first one. */
__device__ static __forceinline__ cu_share share_of(const cu_view &v, int32_t build, uint32_t beg, uint32_t end) {
  const cu_build b = v.build[build];
  const gbt_grow_node *node = &v.node[b.node];
  const cu_order order = cu_order_of(v, node->depth);
  const uint64_t first = (uint64_t)beg * v.hist_rows, stop = (uint64_t)end * v.hist_rows;
  cu_share s;
  s.n = (uint32_t)((stop < node->n_rows ? stop : node->n_rows) - first);
  s.hist = b.hist;
  s.row = order.row + node->order_beg + first;
  s.gh = order.gh + node->order_beg + first;
  if (v.tree->wide) s.gh = cu_gh32(v, v.tree->task.grads);
  return s;
}

/* Where a code's sums are in the build's histogram; the counts have the same place. */
__device__ static __forceinline__ uint64_t place_of(const cu_view &v, const cu_share &s, uint32_t slot) {
  return (uint64_t)(uint32_t)s.hist * v.n_slots + slot;
}

/* Of the root; later ones are cleared when rows are moved. */
__global__ static void __launch_bounds__(CU_BLOCK) k_hist_clear(cu_view all) { cu_clear_builds(cu_mine(all)); }

/* ---- adding rows ---- */

/* A lane's column of a tile, and where its sums go. */
struct cu_sink {
  uint32_t at;       /* of its first cell in shared memory */
  uint32_t n, pitch; /* cells of a kind; from code to code */
  int part, counts;  /* counts: rows are counted now */
  uint32_t slot;     /* of its first code */
};

/* g in the lower 16 bits and h in the upper ones. */
__device__ static __forceinline__ uint32_t both_of(const cu_share &s, uint32_t i, uint32_t row, int part) {
  if (part == NARROW) return cu_gh_bits((const gbt_gh16 *)s.gh + i);
  const gbt_gh32 q = ((const gbt_gh32 *)s.gh)[row];
  return part == LOW ? gbt_fix_low(q) : (uint32_t)q.g >> 16 | (q.h & 0xffff0000u);
}

/* g as a 32-bit number; that of the lower half of wide ones has no sign. */
__device__ static __forceinline__ uint32_t g_of(uint32_t both, int part) {
  return part == LOW ? both & 0xffffu : (uint32_t)(int32_t)(int16_t)both;
}

/* All rows of the share, to shared memory. */
template <int W>
__device__ static __forceinline__ void add_rows(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                const cu_tile &t, const cu_sink &to) {
  const uint32_t lane = cu_lane(), lanes = (uint32_t)t.lanes, column = lane & (lanes - 1u), together = 32u / lanes;
  const uint32_t bits = (uint32_t)t.bits, shift = column * bits & 31u, mask = (1u << bits) - 1u, steps = lanes / W;
  const uint32_t sub = lane / lanes, from = column * bits >> 5; /* of the rows taken together; word of the row */
  const int straddles = 32u % bits != 0, mine = column < (uint32_t)t.n_cols;
  const uint32_t *at = words + t.at + lane % W;
  for (uint32_t beg = cu_warp() * 32u; beg < s.n; beg += cu_n_warps() * 32u) {
    const uint32_t n = s.n - beg < 32u ? s.n - beg : 32u;
    uint32_t row = 0, both = 0, held[W];
    if (lane < n) {
      row = s.row[beg + lane];
      both = both_of(s, beg + lane, row, to.part);
    }
    CU_UNROLL
    for (int q = 0; q < W; q++) {
      const uint32_t r = (uint32_t)q * (32 / W) + lane / W, its = __shfl_sync(CU_ALL, row, (int)r);
      held[q] = r < n ? at[(uint64_t)its * W] : 0u;
    }
    CU_UNROLL
    for (int q = 0; q < W; q++)
      for (uint32_t k = 0; k < steps; k++) {
        const uint32_t first = ((uint32_t)q * steps + k) * together, r = first + sub;
        if (first >= n) break;
        const uint32_t src = (r % (32 / W) * W + from) & 31u, gh = __shfl_sync(CU_ALL, both, (int)r);
        uint32_t code = __shfl_sync(CU_ALL, held[q], (int)src) >> shift;
        if (straddles) code |= __shfl_sync(CU_ALL, held[q], (int)((src + 1u) & 31u)) << 1 << (31u - shift);
        if (!mine || r >= n) continue;
        const uint32_t cell = to.at + (code & mask) * to.pitch;
        atomicAdd(&cells[cell], g_of(gh, to.part));
        atomicAdd(&cells[cell + to.n], gh >> 16);
        if (to.counts) atomicAdd(&cells[cell + 2 * to.n], 1u);
      }
  }
}

/* The same of 16-bit gradients and codes of a byte, 4 W columns: what most tables have, so all that can be known stands
 * in the text and nothing branches. Rows behind the end add 0 to codes of row 0; lanes without a column add 0 to cells
 * of their own, as their codes are 0. */
template <int W, bool COUNTS>
__device__ static __forceinline__ void add_bytes(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                 const cu_tile &t, const cu_sink &to) {
  enum { LANES = 4 * W, TOGETHER = 32 / LANES, STEPS = 4, ROWS = 32 / W };
  const uint32_t lane = cu_lane(), column = lane % LANES, sub = lane / LANES;
  const uint32_t pick = 0x4440u | column % 4u, from = sub * W + column / 4u; /* byte of its word; lane that has it */
  const uint32_t keep = column < (uint32_t)t.n_cols ? ~0u : 0u;
  const uint32_t *at = words + t.at + lane % W;
  unsigned char *cell = (unsigned char *)(cells + to.at);
  const uint32_t pitch = to.pitch * (uint32_t)sizeof *cells, h_cells = to.n * (uint32_t)sizeof *cells;
  const uint32_t warp = __shfl_sync(CU_ALL, cu_warp(), 0); /* tells the compiler that a warp stays together */
  for (uint32_t beg = warp * 32u; beg < s.n; beg += cu_n_warps() * 32u) {
    uint32_t row = 0, both = 0, held[W];
    if (beg + lane < s.n) {
      row = s.row[beg + lane];
      both = both_of(s, beg + lane, row, NARROW);
    }
    __syncwarp();
    CU_UNROLL
    for (int q = 0; q < W; q++) {
      const uint32_t its = __shfl_sync(CU_ALL, row, (int)((uint32_t)q * ROWS + lane / W));
      held[q] = at[(uint64_t)its * W];
    }
    CU_UNROLL
    for (int q = 0; q < W; q++) {
      CU_UNROLL
      for (int k = 0; k < STEPS; k++) {
        const uint32_t r = (uint32_t)((q * STEPS + k) * TOGETHER) + sub;
        const uint32_t gh = __shfl_sync(CU_ALL, both, (int)r) & keep;
        const uint32_t word = __shfl_sync(CU_ALL, held[q], (int)((uint32_t)(k * TOGETHER * W) + from));
        unsigned char *its = cell + __byte_perm(word, 0, pick) * pitch;
        atomicAdd((uint32_t *)its, g_of(gh, NARROW));
        atomicAdd((uint32_t *)(its + h_cells), gh >> 16);
        if (COUNTS) atomicAdd((uint32_t *)(its + 2u * h_cells), beg + r < s.n ? keep & 1u : 0u);
      }
    }
  }
}

/* Tiles of bytes that have 4 columns for each word. */
__device__ static __forceinline__ int is_bytes(const cu_tile &t, const cu_sink &to) {
  return t.bits == 8 && t.lanes == 4 * t.words && to.part == NARROW;
}

template <bool COUNTS>
__device__ static __forceinline__ void add_tile_of_bytes(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                         const cu_tile &t, const cu_sink &to) {
  if (t.words == 8) return add_bytes<8, COUNTS>(cells, s, words, t, to);
  if (t.words == 4) return add_bytes<4, COUNTS>(cells, s, words, t, to);
  if (t.words == 2) return add_bytes<2, COUNTS>(cells, s, words, t, to);
  add_bytes<1, COUNTS>(cells, s, words, t, to);
}

__device__ static __forceinline__ void add_tile(uint32_t *cells, const cu_share &s, const uint32_t *words,
                                                const cu_tile &t, const cu_sink &to) {
  if (is_bytes(t, to))
    return to.counts ? add_tile_of_bytes<true>(cells, s, words, t, to)
                     : add_tile_of_bytes<false>(cells, s, words, t, to);
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

/* The same, straight to the histogram. */
__device__ static __forceinline__ void add_at_once(const cu_view &v, const cu_share &s, const cu_tile &t,
                                                   const cu_sink &to) {
  const uint32_t lanes = (uint32_t)t.lanes, column = threadIdx.x & (lanes - 1u);
  const int64_t weight = to.part == HIGH ? 65536 : 1;
  if (column >= (uint32_t)t.n_cols) return;
  for (uint32_t i = threadIdx.x / lanes; i < s.n; i += blockDim.x / lanes) {
    const uint32_t row = s.row[i], both = both_of(s, i, row, to.part);
    const uint64_t at = place_of(v, s, to.slot + cu_tile_code(v.train.words, t, (int32_t)column, row));
    cu_add64(&v.sum[at].g, (int64_t)(int32_t)g_of(both, to.part) * weight);
    cu_add64(&v.sum[at].h, (int64_t)(both >> 16) * weight);
    if (to.counts) atomicAdd(&v.count[at], 1u);
  }
}

/* Cells that are not 0 into the histogram; they are 0 afterwards. */
__device__ static __forceinline__ void flush(uint32_t *cells, const cu_view &v, const cu_share &s, const cu_tile &t,
                                             const cu_sink &to) {
  const uint32_t lanes = (uint32_t)t.lanes, pitch = to.pitch, column = threadIdx.x & (lanes - 1u), n = to.n;
  const int64_t weight = to.part == HIGH ? 65536 : 1;
  const uint64_t first = place_of(v, s, to.slot);
  for (uint32_t code = threadIdx.x / lanes; code < t.n_codes; code += blockDim.x / lanes) {
    uint32_t g = 0, h = 0, rows = 0;
    for (uint32_t at = code * pitch + column; at < (code + 1u) * pitch; at += lanes) {
      g += cells[at];
      h += cells[n + at];
      cells[at] = cells[n + at] = 0;
      if (!to.counts) continue;
      rows += cells[2 * n + at];
      cells[2 * n + at] = 0;
    }
    if (g != 0) cu_add64(&v.sum[first + code].g, (to.part == LOW ? (int64_t)g : (int64_t)(int32_t)g) * weight);
    if (h != 0) cu_add64(&v.sum[first + code].h, (int64_t)h * weight);
    if (rows != 0) atomicAdd(&v.count[first + code], rows);
  }
}

/* ---- the kernel ---- */

__device__ static __forceinline__ cu_sink sink_of(const cu_view &v, const cu_tile &t, int part) {
  const uint32_t column = threadIdx.x & ((uint32_t)t.lanes - 1u);
  cu_sink to = cu_sink();
  to.part = part;
  to.counts = t.counts && part != HIGH;
  to.pitch = (uint32_t)t.pitch;
  to.n = t.n_codes * to.pitch;
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
  return cu_warp_scan(y < (uint32_t)all.n_trees ? cu_beside(all.tree, all.stride * y)->n_hist_blocks : 0u);
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
    const cu_tile t = v.train.tile[first + (int32_t)(item / n_blocks)];
    const uint32_t block = (uint32_t)(item % n_blocks);
    const int wide = v.tree->wide;
    const int32_t build = cu_run_of(v.hist_block, v.tree->n_build, block);
    const uint32_t build_beg = v.hist_block[build];
    uint64_t n = v.hist_block[build + 1] - block;
    if (n > end - i) n = end - i;
    if (n > most) n = most;
    const cu_share s = share_of(v, build, block - build_beg, block - build_beg + (uint32_t)n);
    const int at_once = t.pitch == 0 || (uint64_t)s.n * FEW <= t.n_codes;
    for (int part = wide ? LOW : NARROW; part <= (wide ? HIGH : NARROW); part++) {
      const cu_sink to = sink_of(v, t, part);
      if (at_once) {
        add_at_once(v, s, t, to);
        continue;
      }
      add_tile(cells, s, v.train.words, t, to);
      __syncthreads();
      flush(cells, v, s, t, to);
      __syncthreads();
    }
    i += n;
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
    const uint32_t row = s.row[beg + lane];
    list = v.train.sparse_beg[row];
    n = (uint32_t)(v.train.sparse_beg[row + 1] - list);
    if (wide) {
      g = ((const gbt_gh32 *)s.gh)[row].g;
      h = ((const gbt_gh32 *)s.gh)[row].h;
    } else {
      const uint32_t both = cu_gh_bits((const gbt_gh16 *)s.gh + beg + lane);
      g = (int16_t)both;
      h = both >> 16;
    }
  }
  const uint32_t upto = cu_warp_scan(n), all = __shfl_sync(CU_ALL, upto, 31);
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
    const uint64_t at = place_of(v, s, v.train.sparse_slot[from + e]);
    cu_add64(&v.sum[at].g, eg);
    cu_add64(&v.sum[at].h, (int64_t)eh);
    if (counts) atomicAdd(&v.count[at], 1u);
  }
}

__global__ static void __launch_bounds__(CU_BLOCK) k_hist_sparse(cu_view all, int counts) {
  const cu_view v = cu_mine(all);
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

/* Whether so many blocks of the small kind as it is made for have room. */
static int is_small(const cu_backend *be, size_t bytes) { return bytes * SMALL_BLOCKS <= be->device.shared_limit; }

gbt_status cu_hist_open(cu_backend *be, gbt_error *err) {
  const int limit = (int)be->device.shared_limit;
  CU_TRY(cudaFuncSetAttribute((k_hist<SMALL_THREADS, SMALL_BLOCKS>), cudaFuncAttributeMaxDynamicSharedMemorySize,
                              limit / SMALL_BLOCKS));
  CU_TRY(cudaFuncSetAttribute((k_hist<LARGE_THREADS, 1>), cudaFuncAttributeMaxDynamicSharedMemorySize, limit));
  /* several blocks beside each other want all of it, not the least that one can do with */
  CU_TRY(
      cudaFuncSetAttribute((k_hist<SMALL_THREADS, SMALL_BLOCKS>), cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  return GBT_OK;
}

/* Neighbouring tiles that want about as much shared memory in one launch. */
static void launch_tiles(cu_backend *be) {
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
                be->device.stream, be->view, first, end - first, cells);
    else
      CU_LAUNCH((k_hist<LARGE_THREADS, 1>), cu_grid(&be->device, items, 1), LARGE_THREADS, most, be->device.stream,
                be->view, first, end - first, cells);
  }
}

static int counts_sparse(const cu_backend *be) {
  for (int32_t i = 0; i < be->layout->n_sparse; i++)
    if (be->bounds.counts[be->layout->sparse_feat[i]]) return 1;
  return 0;
}

gbt_status cu_build_hist(cu_backend *be, gbt_error *err) {
  const cu_view *v = &be->view;
  if (be->depth == 0) CU_LAUNCH(k_hist_clear, cu_grids(be, cu_clear_blocks(v), 8), CU_BLOCK, 0, be->device.stream, *v);
  launch_tiles(be);
  if (v->train.sparse_beg)
    CU_LAUNCH(k_hist_sparse, cu_grids(be, be->bounds.max_hist_blocks, 8), CU_BLOCK, 0, be->device.stream, *v,
              counts_sparse(be));
  CU_LAUNCHED();
  return GBT_OK;
}
