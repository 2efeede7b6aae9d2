/* A finished tree's values to the scores of the rows that it has sorted.
 *
 * Leaf by leaf a block takes a piece of a leaf's rows (leaf.cuh), and reads and writes 8 bytes of each sector that it
 * fetches. For many rows that moves three times the bytes that are needed (bench/results/gpu-h100.md). Then a block
 * takes a window of neighbouring rows instead. As a leaf's rows ascend, or descend, those that are in the window are a
 * run, which is found by bisection; the block notes whose rows they are, and goes over the window's scores in order:
 *
 *   rows of leaf a   ..  | 4 6 9 |  ..           owner   b b a b a c b a ..   in shared memory
 *   rows of leaf b  .. | 2 3 5 8 | ..            score   + + + + + + + + ..   one after the other
 *
 * Each row is in one leaf at most, so the order in which scores are added to does not show. */
#include "ops.cuh"

#include "leaf.cuh"

enum : uint32_t { WINDOW = 8192, MOST_RUNS = 1024, NO_RUN = 0xffff };

/* Rows of a leaf as they ascend. */
struct cu_ascending {
  const uint32_t *row; /* of its lowest row; NULL: they are 0, 1 .. */
  int32_t step;
  uint32_t n;
};

__device__ static __forceinline__ cu_ascending ascending_of(const cu_view &v, int32_t at) {
  const cu_leaf_run run = v.leaf_run[at];
  cu_ascending a = {NULL, 1, run.n_rows};
  if (run.n_rows == 0 || (v.tree->whole && run.depth == 0)) return a;
  a.row = cu_order_of(v, run.depth).row + run.order_beg;
  if (!cu_descends(at)) return a;
  a.row += run.n_rows - 1u;
  a.step = -1;
  return a;
}

__device__ static __forceinline__ uint32_t row_at(const cu_ascending &a, uint32_t i) {
  return a.row ? a.row[(int64_t)i * a.step] : i;
}

/* How many of them are below a row. */
__device__ static __forceinline__ uint32_t rows_below(const cu_ascending &a, uint64_t row) {
  uint32_t lo = 0, hi = a.n;
  if (!a.row) return row < a.n ? (uint32_t)row : a.n;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2u;
    if (row_at(a, mid) < row)
      lo = mid + 1u;
    else
      hi = mid;
  }
  return lo;
}

__device__ static __forceinline__ void add_by_pieces(const cu_view &v, double *score) {
  for (uint32_t b = blockIdx.x; b < v.tree->n_leaf_blocks; b += gridDim.x) {
    cu_leaf_rows r = cu_rows_of_block(v, b);
    double value = v.value[r.node];
    for (uint32_t i = threadIdx.x; i < r.n; i += blockDim.x) score[cu_row_at(r, i)] += value;
  }
}

__device__ static __forceinline__ double *scores_of(const cu_view &v) {
  return v.score + (uint64_t)(uint32_t)v.tree->task.output * (uint64_t)v.train.n_rows;
}

__global__ static void k_scores(cu_view all, int32_t turn) {
  const cu_view v = cu_of_turn(all, turn);
  add_by_pieces(v, scores_of(v));
}

/* Neighbouring windows are a block's, so that the rows below one are known from the one before. */
__global__ static void __launch_bounds__(CU_BLOCK, 6) k_score_windows(cu_view all, int32_t turn) {
  const cu_view v = cu_of_turn(all, turn);
  CU_SHARED(uint16_t, owner, WINDOW);
  CU_SHARED(uint32_t, below, MOST_RUNS);
  CU_SHARED(uint32_t, upto, MOST_RUNS);
  CU_SHARED(double, value, MOST_RUNS);
  double *score = scores_of(v);
  const uint64_t n_rows = (uint64_t)v.train.n_rows, n_windows = (n_rows + WINDOW - 1u) / WINDOW;
  const uint64_t first = n_windows * blockIdx.x / gridDim.x, last = n_windows * (blockIdx.x + 1u) / gridDim.x;
  const uint32_t n_runs = (uint32_t)v.tree->n_runs;
  if (n_runs > MOST_RUNS) return add_by_pieces(v, score);
  for (uint32_t k = threadIdx.x; k < n_runs; k += blockDim.x) {
    upto[k] = rows_below(ascending_of(v, (int32_t)k), first * WINDOW);
    value[k] = v.value[v.leaf_run[k].node];
  }
  for (uint64_t w = first; w < last; w++) {
    const uint64_t beg = w * WINDOW, end = beg + WINDOW < n_rows ? beg + WINDOW : n_rows;
    for (uint32_t i = threadIdx.x; i < WINDOW; i += blockDim.x) owner[i] = (uint16_t)NO_RUN;
    for (uint32_t k = threadIdx.x; k < n_runs; k += blockDim.x) {
      below[k] = upto[k];
      upto[k] = rows_below(ascending_of(v, (int32_t)k), end);
    }
    __syncthreads();
    for (uint32_t k = cu_warp(); k < n_runs; k += cu_n_warps()) {
      if (below[k] == upto[k]) continue;
      const cu_ascending a = ascending_of(v, (int32_t)k);
      for (uint32_t i = below[k] + cu_lane(); i < upto[k]; i += CU_FULL) {
        const uint32_t row = row_at(a, i);
        GBT_ASSERT(row >= beg && row < end);
        owner[row - (uint32_t)beg] = (uint16_t)k;
      }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < (uint32_t)(end - beg); i += blockDim.x)
      if (owner[i] != (uint16_t)NO_RUN) score[beg + i] += value[owner[i]];
    __syncthreads(); /* before `owner` is written again */
  }
}

gbt_status cu_add_scores(cu_backend *be, int32_t turn, gbt_error *err) {
  const uint64_t n_windows = ((uint64_t)be->n_rows + WINDOW - 1u) / WINDOW, n_pieces = be->bounds.max_leaf_blocks;
  if (be->view.score_windows)
    CU_LAUNCH(k_score_windows, cu_grids_of_turn(be, n_windows, 6), CU_BLOCK, 0, be->device.stream, be->view, turn);
  else
    CU_LAUNCH(k_scores, cu_grids_of_turn(be, n_pieces, 8), CU_BLOCK, 0, be->device.stream, be->view, turn);
  CU_LAUNCHED();
  return GBT_OK;
}
