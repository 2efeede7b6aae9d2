/* Rows of the chosen nodes into their children, stable: rows stay ascending within a node.
 *
 *   positions   |  node a: block 0 | block 1 | .. |  node b: ..        split_rows each but a node's last
 *   k_mark      a warp takes 32 positions at a time: which rows go left, as a word of bits; counts of the blocks
 *   children    (frontier.cu) counts become rows that go left before a block in its node; children get their runs
 *   k_move      rows, and their gradients, from the order of their depth to the next one: a left row behind the left
 *               rows before it in the left child's run, a right row likewise in the right one's
 *
 * k_move also clears the histograms that are to be built next.
 *
 * Nothing is moved back: children's runs are in the other order. With `wide` gradients histograms read those by row, so
 * rows are moved alone. */
#include "../base/block.cuh"
#include "backend.cuh"
#include "clear.cuh"

enum { AHEAD = 4 }; /* words that a warp works on at once: loads that do not wait for each other */

/* Positions of a block of a chosen node. */
struct cu_positions {
  int32_t id;      /* of the node */
  uint32_t beg, n; /* beg: within the node */
  uint32_t n_words;
};

__device__ static __forceinline__ cu_positions run_of(const cu_view &v, uint32_t block) {
  const int32_t c = cu_run_of(v.split_block, v.tree->n_chosen, block);
  cu_positions r;
  r.id = v.chosen[c];
  r.beg = (block - v.split_block[c]) * v.split_rows;
  r.n = v.node[r.id].n_rows - r.beg;
  if (r.n > v.split_rows) r.n = v.split_rows;
  r.n_words = (r.n + 31u) / 32u;
  return r;
}

/* ---- marking ---- */

/* Where a node's split feature has its codes: in the copy, in its tile, or (column < 0) in the rows' lists. */
struct cu_reader {
  cu_feature feat;
  cu_tile tile;
  int32_t lane;
  const uint8_t *copy; /* NULL: none */
  int wide;            /* the copy has 16-bit codes */
};

__device__ static __forceinline__ cu_reader reader_of(const cu_view &v, int32_t feat) {
  cu_reader r;
  r.feat = v.train.feat[feat];
  r.copy = NULL;
  r.wide = 0;
  if (r.feat.column < 0) return r;
  const cu_column c = v.train.column[r.feat.column];
  r.tile = v.train.tile[c.tile];
  r.lane = c.lane;
  r.wide = c.n_codes > 256u;
  if (v.train.copy && v.train.copy_beg[r.feat.column] != CU_NO_COPY)
    r.copy = v.train.copy + v.train.copy_beg[r.feat.column];
  return r;
}

/* The column's codes in AHEAD rows. */
__device__ static __forceinline__ void codes_of(const cu_view &v, const cu_reader &read, const uint32_t *row,
                                                uint32_t *code) {
  if (!read.copy) {
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) code[k] = cu_tile_code(v.train.words, read.tile, read.lane, row[k]);
  } else if (read.wide) {
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) code[k] = ((const uint16_t *)(const void *)read.copy)[row[k]];
  } else {
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) code[k] = read.copy[row[k]];
  }
}

/* Whether the rows of 32 * AHEAD positions go left, from `beg` of the block on; positions behind its end do not. */
__device__ static __forceinline__ void sides_of(const cu_view &v, const gbt_grow_node &node, const cu_reader &read,
                                                const uint32_t *row, uint32_t beg, uint32_t n, int *left) {
  uint32_t its[AHEAD], code[AHEAD];
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) {
    const uint32_t at = beg + (uint32_t)k * 32u + cu_lane();
    its[k] = row[at < n ? at : n - 1u];
  }
  if (read.feat.column < 0) {
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) left[k] = cu_goes_left(v, &node, cu_code(v.train, node.split.feat, its[k]));
  } else {
    codes_of(v, read, its, code);
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) left[k] = cu_goes_left(v, &node, cu_code_of(read.feat, code[k]));
  }
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) left[k] = left[k] && beg + (uint32_t)k * 32u + cu_lane() < n;
}

__global__ static void __launch_bounds__(CU_BLOCK) k_mark(cu_view all) {
  const cu_view v = cu_mine(all);
  const uint32_t n_blocks = v.tree->n_split_blocks, words = v.split_rows / 32u;
  for (uint32_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
    const cu_positions run = run_of(v, block);
    const gbt_grow_node node = v.node[run.id];
    const cu_reader read = reader_of(v, node.split.feat);
    const uint32_t *row = cu_order_of(v, node.depth).row + node.order_beg + run.beg;
    uint32_t *mask = v.mask + (uint64_t)block * words, n_left = 0;
    for (uint32_t w = cu_warp() * AHEAD; w < run.n_words; w += cu_n_warps() * AHEAD) {
      int left[AHEAD];
      uint32_t word = 0;
      sides_of(v, node, read, row, w * 32u, run.n, left);
      CU_UNROLL
      for (int k = 0; k < AHEAD; k++) {
        const uint32_t bits = __ballot_sync(CU_ALL, left[k]);
        n_left += (uint32_t)__popc(bits);
        if (cu_lane() == (uint32_t)k) word = bits;
      }
      if (cu_lane() < AHEAD && w + cu_lane() < run.n_words) mask[w + cu_lane()] = word;
    }
    n_left = cu_block_sum(cu_lane() == 0 ? n_left : 0u);
    if (threadIdx.x == 0) v.block_left[block] = n_left;
  }
}

/* ---- moving ---- */

/* Where a block's rows go: those before it in its node have taken the places before. */
struct cu_ends {
  uint32_t *left_row, *right_row;
  gbt_gh16 *left_gh, *right_gh;
};

__device__ static __forceinline__ cu_ends ends_of(const cu_view &v, const cu_positions &run, uint32_t block) {
  const gbt_grow_node *node = &v.node[run.id], *left = &v.node[node->left];
  const cu_order to = cu_order_of(v, node->depth + 1);
  const uint32_t before = v.block_left[block];
  const uint32_t l = left[0].order_beg + before, r = left[1].order_beg + (run.beg - before);
  cu_ends e = {to.row + l, to.row + r, to.gh + l, to.gh + r};
  return e;
}

/* Positions of AHEAD words of a block: words[k] of lane k, and how many go left before it. */
__device__ static __forceinline__ void move_words(const cu_positions &run, const cu_ends &to, const uint32_t *row,
                                                  const gbt_gh16 *gh, uint32_t w, const uint32_t *word,
                                                  const uint32_t *before, int wide) {
  uint32_t its[AHEAD], both[AHEAD];
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) {
    uint32_t at = (w + (uint32_t)k) * 32u + cu_lane();
    if (at >= run.n) at = run.n - 1u;
    its[k] = row[at];
    both[k] = wide ? 0u : cu_gh_bits(&gh[at]);
  }
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) {
    const uint32_t at = (w + (uint32_t)k) * 32u + cu_lane();
    if (at >= run.n) continue;
    const uint32_t l = before[k] + (uint32_t)__popc(word[k] & cu_lanes_before());
    if (word[k] >> cu_lane() & 1u) {
      to.left_row[l] = its[k];
      if (!wide) cu_gh_put(&to.left_gh[l], both[k]);
    } else {
      to.right_row[at - l] = its[k];
      if (!wide) cu_gh_put(&to.right_gh[at - l], both[k]);
    }
  }
}

/* Every warp sums up the words of the whole block, 32 at a time, so no one waits. */
__global__ static void __launch_bounds__(CU_BLOCK) k_move(cu_view all) {
  const cu_view v = cu_mine(all);
  const uint32_t n_blocks = v.tree->n_split_blocks, words = v.split_rows / 32u;
  const int wide = v.tree->wide;
  for (uint32_t block = blockIdx.x; block < n_blocks; block += gridDim.x) {
    const cu_positions run = run_of(v, block);
    const cu_ends to = ends_of(v, run, block);
    const cu_order from = cu_order_of(v, v.node[run.id].depth);
    const uint32_t beg = v.node[run.id].order_beg + run.beg, *mask = v.mask + (uint64_t)block * words;
    uint32_t passed = 0;
    for (uint32_t base = 0; base < run.n_words; base += 32) {
      const uint32_t mine = base + cu_lane() < run.n_words ? mask[base + cu_lane()] : 0u;
      const uint32_t upto = cu_warp_scan((uint32_t)__popc(mine)), before = passed + upto - (uint32_t)__popc(mine);
      for (uint32_t w = cu_warp() * AHEAD; w < 32u && base + w < run.n_words; w += cu_n_warps() * AHEAD) {
        uint32_t word[AHEAD], left[AHEAD];
        CU_UNROLL
        for (int k = 0; k < AHEAD; k++) {
          word[k] = __shfl_sync(CU_ALL, mine, (int)w + k);
          left[k] = __shfl_sync(CU_ALL, before, (int)w + k);
        }
        move_words(run, to, from.row + beg, from.gh + beg, base + w, word, left, wide);
      }
      passed += __shfl_sync(CU_ALL, upto, 31);
    }
  }
  cu_clear_builds(v);
}

gbt_status cu_partition(cu_backend *be, gbt_error *err) {
  const uint64_t mark = be->bounds.max_split_blocks, clear = cu_clear_blocks(&be->view);
  CU_LAUNCH(k_mark, cu_grids(be, mark, 8), CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  GBT_TRY(cu_make_children(be, err));
  CU_LAUNCH(k_move, cu_grids(be, mark > clear ? mark : clear, 8), CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  return GBT_OK;
}
