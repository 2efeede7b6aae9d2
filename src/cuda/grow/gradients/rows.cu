/* The rows of a sampled tree: which are drawn, their order, and the sums of their gradients for the root.
 *
 *   row   | drawn rows, ascending        n_in | the others, ascending |
 *
 * Without sampling nothing is done: the root's order is not stored (cu_tree.whole), and its sums are those of all rows
 * (gradient.cu). A row is drawn when its hash is below the share, which may be that of its class, or when it has a
 * factor (sample.cu):
 *
 *   k_draw     blocks of split_rows rows: a bit per row into mask, the block's count into block_in
 *   k_count    one block: block_in becomes the drawn rows before the block; n_in
 *   k_place    a drawn row goes to the number of drawn rows before it, another one to n_in + that of others before it
 *
 * Where drawn rows are gathered (gather.cu) the order has their places, and `drawn` their rows.
 *
 * A warp has a run of a block's words of mask to itself, so nothing in a block has to wait. The root's sums are 0
 * before: see cu_gradients_of_trees. */
#include "ops.cuh"

#include "../../base/block.cuh"
#include "../rows/gather.cuh"
#include "../state/ranks.cuh"

enum { ROWS_WARPS = CU_BLOCK / 32 };

/* The gradients that histograms take. */
__device__ static __forceinline__ gbt_sum row_sum(const cu_view &v, int32_t grads, uint32_t row, uint32_t both) {
  gbt_sum s = cu_gh_sum(both);
  if (v.tree->wide) {
    gbt_gh32 gh32 = cu_gh32(v, grads)[row];
    s.g = gh32.g;
    s.h = gh32.h;
  }
  return s;
}

/* All threads of the block. */
__device__ static __forceinline__ void add_to_root(const cu_view &v, gbt_sum sum) {
  sum = cu_block_sum(sum);
  if (threadIdx.x == 0) {
    cu_add64(&v.tree->root.g, sum.g);
    cu_add64(&v.tree->root.h, sum.h);
  }
}

/* Words of mask that a warp has of each block, and of those the ones that have rows. */
__device__ static __forceinline__ uint32_t words_of_warp(const cu_view &v) { return v.split_rows / 32 / ROWS_WARPS; }

__device__ static __forceinline__ int is_drawn(const cu_view &v, gbt_key32 key, uint64_t limit, uint64_t row) {
  if (v.factor) return v.factor[row].factor != 0.0f;
  if (v.class_limit) limit = v.class_limit[(int32_t)v.label[row]];
  return gbt_hash32(key, v.before + row) < limit;
}

__global__ static void k_draw(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const uint64_t n = (uint64_t)v.train.n_rows;
  const uint32_t words = words_of_warp(v), n_blocks = (uint32_t)((n + v.split_rows - 1) / v.split_rows);
  const gbt_key32 key = gbt_key((uint64_t)v.params.seed, GBT_FOR_ROWS, v.tree->task.tree, 0);
  const uint64_t limit = gbt_hash_limit(v.params.subsample);
  for (uint32_t b = blockIdx.x; b < n_blocks; b += gridDim.x) {
    uint32_t count = 0, first = cu_warp() * words;
    for (uint32_t w = first; w < first + words; w++) {
      uint64_t row = (uint64_t)b * v.split_rows + w * 32 + cu_lane();
      uint32_t drawn = __ballot_sync(CU_ALL, row < n && is_drawn(v, key, limit, row));
      if (cu_lane() == 0) v.mask[(uint64_t)b * (v.split_rows / 32) + w] = drawn;
      count += (uint32_t)__popc(drawn); /* the same in all lanes */
    }
    count = cu_block_sum(cu_lane() == 0 ? count : 0u);
    if (threadIdx.x == 0) v.block_in[b] = count;
  }
}

/* One block. */
__global__ static void k_count(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const uint64_t n = (uint64_t)v.train.n_rows;
  const uint32_t n_blocks = (uint32_t)((n + v.split_rows - 1) / v.split_rows);
  uint32_t n_in = cu_block_prefix(n_blocks, v.block_in, [&](int64_t b) { return v.block_in[b]; });
  if (threadIdx.x == 0) {
    v.tree->n_in = n_in;
    v.tree->all_in = n_in;
  }
}

__global__ static void k_place(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const uint64_t n = (uint64_t)v.train.n_rows;
  const uint32_t words = words_of_warp(v), n_blocks = (uint32_t)((n + v.split_rows - 1) / v.split_rows);
  const uint32_t n_in = v.tree->n_in;
  const int32_t grads = v.tree->task.grads;
  const gbt_gh16 *gh16 = cu_gh16(v, grads);
  gbt_sum sum = {0, 0};
  for (uint32_t b = blockIdx.x; b < n_blocks; b += gridDim.x) {
    const uint32_t *mask = v.mask + (uint64_t)b * (v.split_rows / 32);
    uint32_t first = cu_warp() * words, drawn_before = 0;
    for (uint32_t w = cu_lane(); w < first; w += 32) drawn_before += (uint32_t)__popc(mask[w]);
    drawn_before = v.block_in[b] + cu_warp_sum(drawn_before);
    for (uint32_t w = first; w < first + words; w++) {
      uint32_t drawn = mask[w], row = b * v.split_rows + w * 32 + cu_lane();
      uint32_t before = drawn_before + (uint32_t)__popc(drawn & cu_lanes_before());
      drawn_before += (uint32_t)__popc(drawn);
      if ((uint64_t)b * v.split_rows + w * 32 + cu_lane() >= n) continue;
      if ((drawn >> cu_lane()) & 1u) {
        uint32_t both = cu_gh_bits(gh16 + row);
        v.row[before] = v.gathered ? before : row;
        if (v.gathered) v.drawn[before] = row;
        if (v.gathered && v.tree->wide) v.drawn_gh[before] = cu_gh32(v, grads)[row];
        cu_gh_put(v.gh + before, both);
        sum = cu_plus(sum, row_sum(v, grads, row, both));
      } else {
        v.row[n_in + (row - before)] = row;
      }
    }
  }
  add_to_root(v, sum);
}

/* Launches are checked one by one: each trusts what the one before has written. */
gbt_status cu_rows_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  const uint64_t n = (uint64_t)be->n_rows;
  if (!be->view.samples) return GBT_OK;
  const dim3 grid = cu_grids(be, (n + be->view.split_rows - 1) / be->view.split_rows, 8);
  CU_LAUNCH(k_draw, grid, CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  CU_LAUNCH(k_count, cu_grids(be, 1, 1), CU_CONTROL, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  GBT_TRY(cu_gather_begin(ctx, be, err));
  CU_LAUNCH(k_place, grid, CU_BLOCK, 0, be->device.stream, be->view);
  CU_LAUNCHED();
  GBT_TRY(cu_share_roots(ctx, be, err));
  return cu_gather_codes(ctx, be, err);
}
