/* Rows that the tree did not sort while it grew (not drawn, or of a validation set) down to their leaves, by codes; the
 * leaves' values are added to their scores. One thread walks with one row.
 *
 * bin(x) <= b is the same as x <= cut[b], so this agrees to the bit with predicting from the values. Levels that the
 * cuts do not know have the missing code; in validation sets they go the way of most all the same. */
#include "cu_block.cuh"

/* gbt_page_unseen: whether the cell is one of unseen_row. */
__device__ static __forceinline__ int is_unseen(const cu_rows_view &set, int32_t feat, uint32_t row) {
  uint64_t low = set.unseen_beg[feat], end = set.unseen_beg[feat + 1], high = end;
  while (low < high) {
    uint64_t mid = low + (high - low) / 2;
    if (set.unseen_row[mid] < row)
      low = mid + 1;
    else
      high = mid;
  }
  return low < end && set.unseen_row[low] == row;
}

__device__ static __forceinline__ int32_t leaf_of(const cu_view &v, const cu_rows_view &set, uint32_t row,
                                                  int any_unseen) {
  int32_t at = 0;
  while (v.node[at].left) {
    const gbt_grow_node *node = &v.node[at];
    const int32_t feat = node->split.feat, code = cu_code(set, feat, row);
    int left;
    if (any_unseen && code == set.feat[feat].n_bins && is_unseen(set, feat, row))
      left = node->bulk_left;
    else
      left = cu_goes_left(v, node, code);
    at = node->left + !left;
  }
  return at;
}

/* Of the training set: the rows behind those that were drawn. What its cuts do not know the tree took for missing. */
__global__ static void k_route_train(cu_view v) {
  const uint64_t n = (uint64_t)v.train.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  double *score = v.score + (uint64_t)(uint32_t)v.tree->task.output * n;
  uint64_t i = v.tree->n_in + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < n; i += step) {
    uint32_t row = v.order[0].row[i];
    score[row] += v.value[leaf_of(v, v.train, row, 0)];
  }
}

__global__ static void k_route_set(cu_view v, cu_rows_view set, double *score) {
  const uint64_t n = (uint64_t)set.n_rows, step = (uint64_t)gridDim.x * blockDim.x;
  const int any_unseen = set.unseen_beg != nullptr;
  score += (uint64_t)(uint32_t)v.tree->task.output * n;
  for (uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; row < n; row += step)
    score[row] += v.value[leaf_of(v, set, (uint32_t)row, any_unseen)];
}

static unsigned row_grid(const cu_backend *be, int64_t n) {
  return cu_grid(be, ((uint64_t)n + CU_BLOCK - 1) / CU_BLOCK, 8);
}

gbt_status cu_route(cu_backend *be, gbt_error *err) {
  if (be->params->subsample < 1.0)
    CU_LAUNCH(k_route_train, row_grid(be, be->n_rows), CU_BLOCK, 0, be->stream, be->view);
  for (int32_t s = 1; s <= be->n_valid; s++)
    CU_LAUNCH(k_route_set, row_grid(be, be->set[s].view.n_rows), CU_BLOCK, 0, be->stream, be->view, be->set[s].view,
              be->set[s].score.at);
  CU_LAUNCHED();
  return GBT_OK;
}
