/* Rows of the chosen nodes into their children, in one pass: rows are read and written once.
 *
 *   a node's run     |  left child: rows ascend  ->  |  <- right child: rows descend  |
 *
 * A block takes a piece of a node's rows (pieces.cuh), finds out which go left, and adds to the chain of the node's
 * pieces how many do (look_back.cuh). It then knows how many rows went either way before: left rows go behind those
 * from the front of the node's run, right rows before those from its back, so nobody has to know how many there are in
 * all. The last piece does, and tells the block that makes the children.
 *
 * Rows come from the order of the node's depth and go to the next one. They ascend, but a right child's descend
 * (cu_descends), and pieces are counted from the lowest row on. Gradients go with the rows, unless histograms read them
 * by row (`wide`) or no child can be split.
 *
 * k_partition also clears the histograms that may be built next, and its last block makes the children (children.cuh).
 * States of look-back are of two steps by turns: each clears those of the step before (cu_tree.turn, which goes on with
 * the children). */
#include "../base/block.cuh"
#include "../base/last.cuh"
#include "backend.cuh"
#include "children.cuh"
#include "clear.cuh"
#include "leaf_plan.cuh"
#include "look_back.cuh"
#include "pieces.cuh"

enum { AHEAD = 4 }; /* words that a warp works on at once: loads that do not wait for each other */
enum : uint32_t { MOST_WORDS = CU_PIECE_ROWS / 32u }; /* of a piece, a bit for a row */

/* What a block works on. */
struct cu_work {
  cu_piece piece;
  int32_t chosen; /* the node's number among the chosen, -1: nothing is left to be done */
  int32_t id;
  int moves;            /* gradients go with the rows */
  uint32_t first, last; /* the node's states; the last piece that has rows */
};

/* The piece of a number among all. */
__device__ static __forceinline__ cu_work work_of(const cu_view &v, uint32_t ticket) {
  const cu_tree *t = v.tree;
  cu_work w = cu_work();
  w.chosen = -1;
  if (ticket >= t->n_split_blocks) return w;
  const uint32_t of_share = t->n_split_blocks / t->n_split_shares, share = ticket / of_share;
  const uint32_t place = ticket % of_share;
  w.chosen = cu_run_of(v.split_block, t->n_chosen, place);
  w.id = v.chosen[w.chosen];
  const uint32_t beg = v.split_block[w.chosen], n = v.split_block[w.chosen + 1] - beg, all = n * t->n_split_shares;
  const gbt_grow_node *node = &v.node[w.id];
  const uint32_t n_rows = node->n_rows, rows = cu_piece_rows(n_rows, all, v.split_rows);
  w.moves = !t->wide && cu_goes_on(v, node, t->n_chosen);
  w.piece = cu_piece_of(n_rows, share * n + (place - beg), all, v.split_rows);
  w.first = beg * t->n_split_shares;
  w.last = (n_rows - 1u) / rows;
  return w;
}

/* ---- which rows go left ---- */

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
  r.tile = cu_train_tiles(v)[c.tile];
  r.lane = c.lane;
  r.wide = c.n_codes > 256u;
  if (!v.train.copy) return r;
  const uint64_t beg = cu_copy_beg(v, r.feat.column);
  if (beg != CU_NO_COPY) r.copy = v.train.copy + beg;
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

/* Whether rows go left. */
__device__ static __forceinline__ void sides_of(const cu_view &v, const gbt_grow_node &node, const cu_reader &read,
                                                const uint32_t *row, int *left) {
  uint32_t code[AHEAD];
  if (read.feat.column < 0) {
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) left[k] = cu_goes_left(v, &node, cu_code(v.train, node.split.feat, row[k]));
    return;
  }
  codes_of(v, read, row, code);
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) left[k] = cu_goes_left(v, &node, cu_code_of(read.feat, code[k]));
}

/* The rows of the piece to `row` and a bit for each that goes left to `mask`, both in shared memory. from: the lowest
 * row, others at from[i * step]; NULL: they are first, first + 1 .. Returns how many go left, of a warp's rows, in lane
 * 0. */
__device__ static __forceinline__ uint32_t mark_rows(const cu_view &v, const gbt_grow_node &node, uint32_t n,
                                                     const uint32_t *from, uint32_t first, int32_t step, uint32_t *row,
                                                     uint32_t *mask) {
  const cu_reader read = reader_of(v, node.split.feat);
  const uint32_t n_words = (n + 31u) / 32u, lane = cu_lane();
  uint32_t n_left = 0;
  for (uint32_t w = cu_warp() * AHEAD; w < n_words; w += cu_n_warps() * AHEAD) {
    uint32_t its[AHEAD], word = 0;
    int left[AHEAD];
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      const uint32_t at = (w + (uint32_t)k) * 32u + lane, i = at < n ? at : n - 1u;
      its[k] = from ? from[(int64_t)i * step] : first + i;
    }
    sides_of(v, node, read, its, left);
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      const uint32_t at = (w + (uint32_t)k) * 32u + lane;
      const uint32_t bits = __ballot_sync(CU_ALL, left[k] && at < n);
      n_left += (uint32_t)__popc(bits);
      if (lane == (uint32_t)k) word = bits;
      if (at < n) row[at] = its[k];
    }
    if (lane < AHEAD && w + lane < n_words) mask[w + lane] = word;
  }
  return lane == 0 ? n_left : 0u;
}

/* ---- moving ---- */

/* Where a piece's rows go: left rows upwards from the first place, right ones downwards. */
struct cu_ends {
  uint32_t *left_row, *right_row;
  gbt_gh16 *left_gh, *right_gh;
};

__device__ static __forceinline__ cu_ends ends_of(const cu_view &v, const gbt_grow_node &node, uint32_t beg,
                                                  uint32_t before) {
  const cu_order to = cu_order_of(v, node.depth + 1);
  const uint64_t l = (uint64_t)node.order_beg + before,
                 r = (uint64_t)node.order_beg + node.n_rows - 1u - (beg - before);
  const cu_ends e = {to.row + l, to.row + r, to.gh + l, to.gh + r};
  return e;
}

/* AHEAD words of a piece: word[k] of lane k, and before[k] rows of the piece that go left before it. gh: as `from` of
 * mark_rows; NULL: gradients stay. */
__device__ static __forceinline__ void move_words(uint32_t n, const cu_ends &to, const uint32_t *row,
                                                  const gbt_gh16 *gh, int32_t step, uint32_t w, const uint32_t *word,
                                                  const uint32_t *before) {
  uint32_t both[AHEAD];
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) {
    const uint32_t at = (w + (uint32_t)k) * 32u + cu_lane();
    both[k] = gh ? cu_gh_bits(&gh[(int64_t)(at < n ? at : n - 1u) * step]) : 0u;
  }
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) {
    const uint32_t at = (w + (uint32_t)k) * 32u + cu_lane();
    if (at >= n) continue;
    const uint32_t l = before[k] + (uint32_t)__popc(word[k] & cu_lanes_before());
    if (word[k] >> cu_lane() & 1u) {
      to.left_row[l] = row[at];
      if (gh) cu_gh_put(&to.left_gh[l], both[k]);
    } else {
      const int64_t r = -(int64_t)(at - l);
      to.right_row[r] = row[at];
      if (gh) cu_gh_put(&to.right_gh[r], both[k]);
    }
  }
}

/* Every warp sums up the words of the whole piece, 32 at a time, so no one waits. */
__device__ static __forceinline__ void move_rows(uint32_t n, const cu_ends &to, const uint32_t *row,
                                                 const uint32_t *mask, const gbt_gh16 *gh, int32_t step) {
  const uint32_t n_words = (n + 31u) / 32u;
  uint32_t passed = 0;
  for (uint32_t base = 0; base < n_words; base += 32) {
    const uint32_t mine = base + cu_lane() < n_words ? mask[base + cu_lane()] : 0u;
    const uint32_t upto = cu_warp_scan((uint32_t)__popc(mine)), before = passed + upto - (uint32_t)__popc(mine);
    for (uint32_t w = cu_warp() * AHEAD; w < 32u && base + w < n_words; w += cu_n_warps() * AHEAD) {
      uint32_t word[AHEAD], left[AHEAD];
      CU_UNROLL
      for (int k = 0; k < AHEAD; k++) {
        word[k] = __shfl_sync(CU_ALL, mine, (int)w + k);
        left[k] = __shfl_sync(CU_ALL, before, (int)w + k);
      }
      move_words(n, to, row, gh, step, base + w, word, left);
    }
    passed += __shfl_sync(CU_ALL, upto, 31);
  }
}

/* ---- the kernel ---- */

/* The piece's part in its node's chain; all threads get the rows that go left before it. */
__device__ static __forceinline__ uint32_t link(const cu_view &v, const cu_work &work, uint32_t n_left,
                                                uint32_t *shared) {
  if (cu_warp() == 0) {
    unsigned long long *state = cu_states(v, v.tree->turn) + work.first;
    const uint32_t i = work.piece.number;
    if (cu_lane() == 0) cu_publish(&state[i], i == 0 ? CU_SUM_UPTO : CU_ITS_SUM, n_left);
    const uint32_t before = cu_look_back(state, i);
    if (cu_lane() == 0) {
      if (i > 0) cu_publish(&state[i], CU_SUM_UPTO, before + n_left);
      if (i == work.last) v.left_rows[work.chosen] = before + n_left;
      *shared = before;
    }
  }
  __syncthreads();
  return *shared;
}

__device__ static __forceinline__ void clear_other_turn(const cu_view &v) {
  cu_tree *t = v.tree;
  const int32_t other = !t->turn;
  const uint32_t n = t->n_states[other];
  unsigned long long *state = cu_states(v, other);
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) state[i] = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) t->ticket[other] = 0;
}

/* Makes the children, and plans what comes next: the leaves, behind the tree's last step. All threads. */
template <int LAST_STEP> __device__ static __forceinline__ void plan_next(const cu_view &v, int keeps) {
  const int32_t n = cu_make_children(v);
  if (!LAST_STEP) {
    if (n > 0) cu_plan_builds(v, keeps);
    return;
  }
  __syncthreads();
  cu_plan_leaves(v);
}

template <int LAST_STEP> __global__ static void __launch_bounds__(CU_BLOCK, 4) k_partition(cu_view all, int keeps) {
  const cu_view v = cu_mine(all);
  CU_SHARED(uint32_t, row, CU_PIECE_ROWS);
  CU_SHARED(uint32_t, mask, MOST_WORDS);
  CU_SHARED(cu_work, taken, 1);
  CU_SHARED(uint32_t, before, 1);
  while (v.tree->n_split_blocks > 0) {
    if (threadIdx.x == 0) taken[0] = work_of(v, atomicAdd(&v.tree->ticket[v.tree->turn], 1u));
    __syncthreads();
    const cu_work work = taken[0];
    if (work.chosen < 0) break;
    if (work.piece.n == 0) {
      __syncthreads(); /* `taken` may be written again */
      continue;
    }
    const gbt_grow_node node = v.node[work.id];
    const int whole = v.tree->whole && node.depth == 0; /* the root's order stands nowhere */
    const cu_order from = cu_order_of(v, node.depth);
    const uint32_t beg = work.piece.beg, n = work.piece.n;
    const int32_t step = cu_descends(work.id) ? -1 : 1;
    const uint64_t at = (uint64_t)node.order_beg + (step < 0 ? node.n_rows - 1u - beg : beg);
    const uint32_t n_left = cu_block_sum(mark_rows(v, node, n, whole ? NULL : from.row + at, beg, step, row, mask));
    const cu_ends to = ends_of(v, node, beg, link(v, work, n_left, before));
    move_rows(n, to, row, mask, work.moves ? from.gh + at : NULL, step);
  }
  clear_other_turn(v);
  if (!LAST_STEP) cu_clear_builds(v);
  if (cu_is_last(&v.tree->came)) plan_next<LAST_STEP>(v, keeps);
}

gbt_status cu_partition(cu_backend *be, gbt_error *err) {
  const uint64_t pieces = be->bounds.max_split_blocks, clear = cu_clear_blocks(&be->view);
  const int keeps = be->bounds.keeps;
  if (cu_ends_blind(be))
    CU_LAUNCH(k_partition<1>, cu_grids(be, pieces, 8), CU_BLOCK, 0, be->device.stream, be->view, keeps);
  else
    CU_LAUNCH(k_partition<0>, cu_grids(be, pieces > clear ? pieces : clear, 8), CU_BLOCK, 0, be->device.stream,
              be->view, keeps);
  CU_LAUNCHED();
  return GBT_OK;
}
