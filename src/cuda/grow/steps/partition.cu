/* Rows of the chosen nodes into their children, in one pass: rows are read and written once.
 *
 *   a node's run     |  left child: rows ascend  ->  |  <- right child: rows descend  |
 *
 * A block takes a piece of a node's rows (pieces.cuh), finds out which go left, and adds to the chain of the node's
 * pieces how many do (look_back.cuh). This gives the numbers of rows of earlier pieces that went left and right: left
 * rows are written after these from the front of the node's run, right rows before these from its back, so no block
 * needs the total numbers. The last piece has them and stores them for the block that makes the children.
 *
 * Rows come from the order of the node's depth and go to the next one. They ascend, but a right child's descend
 * (cu_descends), and pieces are counted from the lowest row on. Gradients go with the rows, unless histograms read them
 * by row (`wide`) or no child can be split.
 *
 * Where codes are not all in one place (data/dataset.cuh), a first pass notes which rows go left, extent by extent:
 * k_sides sets a bit of `sides` for each, at order_beg plus the row's place among its node's rows in ascending order.
 * k_partition then reads these bits and no codes. Where extents are streamed (cu_view.listing) a step is one pass:
 * which child's histogram is built is decided before its rows are counted, it is the one with less hessian, and while
 * an extent is there k_sides writes that child's rows of it where k_partition will put the children:
 *
 *   k_plan_lists | k_clear_sides | extent: k_sides, k_list_blocks, k_hist | the next one .. | k_partition
 *
 * Sums are whole numbers, so neither the choice of the child nor the order of its rows shows.
 *
 * k_partition also clears the histograms that may be built next, and its last block makes the children (children.cuh).
 * There are two sets of look-back states, which steps use alternately: each step clears that of the step before
 * (cu_tree.turn, which the children take over). */
#include "ops.cuh"

#include "../../base/block.cuh"
#include "../../base/last.cuh"
#include "../rows/gather.cuh"
#include "../rows/leaf_plan.cuh"
#include "../rows/look_back.cuh"
#include "../rows/pieces.cuh"
#include "../state/ops.cuh"
#include "../state/ranks.cuh"
#include "children.cuh"
#include "clear.cuh"

enum { AHEAD = 4 }; /* words that a warp works on at once: loads that do not wait for each other */
enum : uint32_t { MOST_WORDS = CU_PIECE_ROWS / 32u }; /* of a piece, a bit for a row */

/* The work of a block. */
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
  const uint32_t n_rows = node->own_rows, rows = cu_piece_rows(n_rows, all, v.split_rows);
  w.moves = !t->wide && cu_could_split(v, node, t->n_chosen);
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
    for (int k = 0; k < AHEAD; k++) code[k] = cu_tile_code(cu_train_words(v), read.tile, read.lane, row[k]);
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
    const uint32_t *at = cu_rows_at(v);
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++)
      left[k] = cu_goes_left(v, &node, cu_code(v.train, node.split.feat, at ? at[row[k]] : row[k]));
    return;
  }
  codes_of(v, read, row, code);
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) left[k] = cu_goes_left(v, &node, cu_code_of(read.feat, code[k]));
}

/* The same by the bits of k_sides, of AHEAD words of a piece of n rows. place: of the bit of its first row. */
__device__ static __forceinline__ void sides_at(const cu_view &v, uint32_t place, uint32_t n, uint32_t w, int *left) {
  CU_UNROLL
  for (int k = 0; k < AHEAD; k++) {
    const uint32_t at = (w + (uint32_t)k) * 32u + cu_lane(), bit = place + (at < n ? at : n - 1u);
    left[k] = (int)(v.sides[bit >> 5] >> (bit & 31u) & 1u);
  }
}

/* The rows of the piece to `row` and a bit for each that goes left to `mask`, both in shared memory. from: the lowest
 * row, others at from[i * step]; NULL: they are first, first + 1 .. first: the piece's first row among the node's.
 * Returns how many go left, of a warp's rows, in lane 0. */
__device__ static __forceinline__ uint32_t mark_rows(const cu_view &v, const gbt_grow_node &node, uint32_t n,
                                                     const uint32_t *from, uint32_t first, int32_t step, uint32_t *row,
                                                     uint32_t *mask) {
  const cu_reader read = v.by_sides ? cu_reader() : reader_of(v, node.split.feat);
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
    if (v.by_sides)
      sides_at(v, node.order_beg + first, n, w, left);
    else
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
                 r = (uint64_t)node.order_beg + node.own_rows - 1u - (beg - before);
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

/* Makes the children, and plans what comes next: after the tree's last step these are the leaves. All threads. */
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
  const cu_view v = cu_view_of_block(all);
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
    const int whole = v.tree->whole && node.depth == 0; /* the root's order is not stored */
    const cu_order from = cu_order_of(v, node.depth);
    const uint32_t beg = work.piece.beg, n = work.piece.n;
    const int32_t step = cu_descends(work.id) ? -1 : 1;
    const uint64_t at = (uint64_t)node.order_beg + (step < 0 ? node.own_rows - 1u - beg : beg);
    const uint32_t n_left = cu_block_sum(mark_rows(v, node, n, whole ? NULL : from.row + at, beg, step, row, mask));
    const cu_ends to = ends_of(v, node, beg, link(v, work, n_left, before));
    move_rows(n, to, row, mask, work.moves ? from.gh + at : NULL, step);
  }
  clear_other_turn(v);
  if (!LAST_STEP) cu_clear_builds(v);
  if (!v.shared && cu_is_last(&v.tree->came)) plan_next<LAST_STEP>(v, keeps); /* else: k_children */
}

/* ---- extent by extent ---- */

__global__ static void k_clear_sides(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const uint64_t n = v.order_rows / 32u + 2u, step = (uint64_t)gridDim.x * blockDim.x;
  if (v.tree->n_chosen == 0) return;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) v.sides[i] = 0;
  if (v.listing) cu_clear_hists(v, v.tree->n_hists - v.tree->n_build, v.tree->n_build);
}

/* Decides which children's histograms are built. Before children exist, the places of the nodes after the tree's last
 * one stand for them. All threads. */
__device__ static __forceinline__ void plan_lists(const cu_view &v) {
  cu_tree *t = v.tree;
  const int32_t n = t->n_chosen, first = t->n_nodes, hists = t->n_hists;
  const int has_room = first + 2 * n <= v.max_nodes; /* else there will be no children */
  uint32_t n_build = 0;
  for (int32_t beg = 0; beg < n; beg += (int32_t)blockDim.x) {
    const int32_t c = beg + (int32_t)threadIdx.x;
    const gbt_grow_node *node = c < n ? &v.node[v.chosen[c]] : nullptr;
    const uint32_t builds = node && has_room && node->n_rows > 0 && node->hist >= 0 && cu_could_split(v, node, n);
    uint32_t total;
    const uint32_t b = n_build + cu_block_scan(builds, &total);
    if (node) {
      const int32_t hist = builds ? hists + (int32_t)b : -1;
      const cu_listed listed = {hist, node->sum.h - node->split.left.h < node->split.left.h, 0u};
      v.listed[c] = listed;
    }
    if (builds) {
      gbt_grow_node child = gbt_grow_empty(0, node->depth + 1);
      child.order_beg = node->order_beg;
      v.node[first + c] = child;
      v.build[b].node = first + c;
      v.build[b].hist = hists + (int32_t)b;
    }
    n_build += total;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  GBT_ASSERT(hists + (int32_t)n_build <= v.max_hists);
  t->n_build = (int32_t)n_build;
  t->n_hists = hists + (int32_t)n_build;
  t->n_hist_blocks = 0;
  t->n_clear = 0; /* these are cleared before they are built */
}

__global__ static void __launch_bounds__(CU_CONTROL) k_plan_lists(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  if (v.tree->n_chosen > 0) {
    plan_lists(v);
  } else if (threadIdx.x == 0) { /* of the other trees of the batch rows are listed all the same */
    v.tree->n_build = 0;
    v.tree->n_hist_blocks = 0;
  }
}

/* Blocks of the rows that the extent has. */
__global__ static void __launch_bounds__(CU_CONTROL) k_list_blocks(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  cu_tree *t = v.tree;
  if (t->n_chosen == 0) return;
  for (int32_t b = (int32_t)threadIdx.x; b < t->n_build; b += (int32_t)blockDim.x) {
    cu_listed *listed = &v.listed[v.build[b].node - t->n_nodes];
    v.node[v.build[b].node].own_rows = listed->n;
    listed->n = 0;
  }
  __syncthreads();
  const uint32_t blocks = cu_block_prefix(t->n_build, v.hist_block,
                                          [&](int64_t b) {
                                            const uint32_t n_rows = v.node[v.build[b].node].own_rows;
                                            return cu_hist_blocks(v, n_rows);
                                          });
  if (threadIdx.x == 0) t->n_hist_blocks = blocks;
}

/* Appends a warp's rows that go to the child that is built to those already listed; each lane has a row and its
 * gradients. to: the front of the node's run. */
__device__ static __forceinline__ void list_rows(cu_listed *listed, const cu_order &to, int goes, uint32_t row,
                                                 const gbt_gh16 *gh) {
  const uint32_t bits = __ballot_sync(CU_ALL, goes);
  uint32_t at = 0;
  if (bits == 0) return;
  if (cu_lane() == 0) at = atomicAdd(&listed->n, (uint32_t)__popc(bits));
  at = cu_from(at, 0) + (uint32_t)__popc(bits & cu_lanes_before());
  if (!goes) return;
  to.row[at] = row;
  if (gh) cu_gh_put(&to.gh[at], cu_gh_bits(gh));
}

/* A bit for each row of a piece that the extent has and that goes left. Other rows of the piece are left out: of their
 * codes, those of the extent's first row are read. from, first, step: as in mark_rows; gh: as `from`; NULL: gradients
 * are found by rows. listed: the child that is built, or NULL. */
__device__ static __forceinline__ void note_sides(const cu_view &v, const gbt_grow_node &node, uint32_t n,
                                                  const uint32_t *from, uint32_t first, int32_t step,
                                                  const gbt_gh16 *gh, cu_listed *listed) {
  const cu_reader read = reader_of(v, node.split.feat);
  cu_order to = cu_order_of(v, node.depth + 1);
  const int right = listed ? listed->right : 0;
  to.row += node.order_beg;
  to.gh += node.order_beg;
  const uint32_t n_words = (n + 31u) / 32u, lane = cu_lane();
  for (uint32_t w = cu_warp() * AHEAD; w < n_words; w += cu_n_warps() * AHEAD) {
    uint32_t its[AHEAD], index[AHEAD];
    int left[AHEAD], within[AHEAD];
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      const uint32_t at = (w + (uint32_t)k) * 32u + lane, i = at < n ? at : n - 1u;
      its[k] = from ? from[(int64_t)i * step] : first + i;
      index[k] = i;
      within[k] = at < n && (int64_t)its[k] >= v.train.beg && (int64_t)its[k] < v.train.end;
      if (!within[k]) its[k] = (uint32_t)v.train.beg;
    }
    sides_of(v, node, read, its, left);
    CU_UNROLL
    for (int k = 0; k < AHEAD; k++) {
      const uint32_t bits = __ballot_sync(CU_ALL, left[k] && within[k]);
      if (listed)
        list_rows(listed, to, within[k] && (left[k] != 0) != right, its[k],
                  gh ? gh + (int64_t)index[k] * step : nullptr);
      const uint32_t place = node.order_beg + first + (w + (uint32_t)k) * 32u, shift = place & 31u;
      if (lane != 0 || bits == 0) continue;
      atomicOr(&v.sides[place >> 5], bits << shift);
      if (shift > 0 && bits >> (32u - shift) != 0) atomicOr(&v.sides[(place >> 5) + 1u], bits >> (32u - shift));
    }
  }
}

__global__ static void __launch_bounds__(CU_BLOCK) k_sides(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  for (uint32_t b = blockIdx.x; b < v.tree->n_split_blocks; b += gridDim.x) {
    const cu_work work = work_of(v, b);
    if (work.piece.n == 0) continue;
    const gbt_grow_node node = v.node[work.id];
    const int whole = v.tree->whole && node.depth == 0;
    const uint32_t beg = work.piece.beg, n = work.piece.n;
    const int32_t step = cu_descends(work.id) ? -1 : 1;
    const uint64_t at = (uint64_t)node.order_beg + (step < 0 ? node.own_rows - 1u - beg : beg);
    const cu_order order = cu_order_of(v, node.depth);
    const uint32_t *from = whole ? NULL : order.row + at;
    cu_listed *listed = v.listing && v.listed[work.chosen].hist >= 0 ? &v.listed[work.chosen] : NULL;
    const int64_t lowest = from ? from[0] : beg, highest = from ? from[(int64_t)(n - 1u) * step] : beg + n - 1u;
    if (highest >= v.train.beg && lowest < v.train.end)
      note_sides(v, node, n, from, beg, step, v.tree->wide ? NULL : order.gh + at, listed);
  }
}

/* See cu_extent_fn. */
static gbt_status note_extent(void *arg, const cu_rows_view *extent, gbt_error *err) {
  cu_backend *be = (cu_backend *)arg;
  cu_view view = be->view;
  view.train = *extent;
  CU_LAUNCH(k_sides, cu_grids(be, be->bounds.max_split_blocks, 8), CU_BLOCK, 0, be->device.stream, view);
  CU_LAUNCHED();
  if (!view.listing) return GBT_OK;
  CU_LAUNCH(k_list_blocks, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, view);
  CU_LAUNCHED();
  return cu_build_listed(be, extent, err);
}

static gbt_status note_all(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  int n;
  GBT_TRY(cu_find_any(ctx, be, CU_SPLITS, &n, err));
  if (n == 0) return GBT_OK;
  if (be->view.listing) {
    CU_LAUNCH(k_plan_lists, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view);
    CU_LAUNCHED();
  }
  CU_LAUNCH(k_clear_sides, cu_grids(be, be->view.order_rows / 32u / CU_BLOCK + 1u, 4), CU_BLOCK, 0, be->device.stream,
            be->view);
  CU_LAUNCHED();
  GBT_TRY(cu_train_pass(ctx, be, note_extent, err));
  return be->view.listing ? cu_share_hists(ctx, be, err) : GBT_OK;
}

/* ---- other ranks ---- */

__global__ static void __launch_bounds__(CU_CONTROL) k_own_left(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  for (int32_t c = (int32_t)threadIdx.x; c < v.tree->n_chosen; c += (int32_t)blockDim.x)
    v.all_left[c] = cu_left_rows(v, c);
}

__global__ static void __launch_bounds__(CU_BLOCK) k_children(cu_view all, int keeps) {
  plan_next<0>(cu_view_of_block(all), keeps);
}

/* The work of the last block of k_partition where there are no other ranks. */
static gbt_status make_children(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const dim3 one = cu_grids(be, 1, 1);
  CU_LAUNCH(k_own_left, one, CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  GBT_TRY(cu_share_left(ctx, be, err));
  CU_LAUNCH(k_children, one, CU_BLOCK, 0, be->device.stream, be->view, be->bounds.keeps);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_partition(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  if (be->view.by_sides) GBT_TRY(note_all(ctx, be, err));
  const uint64_t pieces = be->bounds.max_split_blocks, clear = cu_clear_blocks(&be->view);
  const int keeps = be->bounds.keeps;
  if (cu_last_step_is_known(be))
    CU_LAUNCH(k_partition<1>, cu_grids(be, pieces, 8), CU_BLOCK, 0, be->device.stream, be->view, keeps);
  else
    CU_LAUNCH(k_partition<0>, cu_grids(be, pieces > clear ? pieces : clear, 8), CU_BLOCK, 0, be->device.stream,
              be->view, keeps);
  CU_LAUNCHED();
  return be->view.shared ? make_children(ctx, be, err) : GBT_OK;
}
