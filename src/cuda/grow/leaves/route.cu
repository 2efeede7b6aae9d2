/* Rows that the tree did not sort while it grew (not drawn, or of a validation set) down to their leaves, by codes; the
 * leaves' values are added to their scores. One thread walks with one row.
 *
 * bin(x) <= b is the same as x <= cut[b], so this agrees to the bit with predicting from the values. Levels that the
 * cuts do not know have the missing code; in validation sets they go the way of most all the same.
 *
 * Every block first makes steps of the tree's first nodes, in shared memory: where a node's code is to be found in a
 * row of this data set, and what it is compared with. Nodes without a step (those of sparse or bundled features, or
 * after the first ROUTE_STEPS) are evaluated in full. */
#include "ops.cuh"

#include "../../base/block.cuh"

enum { ROUTE_STEPS = 1024 };
enum { ROUTE_ASK = 0, ROUTE_LEAF, ROUTE_NUMERIC, ROUTE_SET };

struct route_step {
  union {
    int64_t at;   /* the first word, in row 0, of the code of the node's column */
    double value; /* of a leaf */
  };
  int32_t left;
  uint32_t words, shift, bits; /* of a row; of a code */
  uint32_t n_bins;             /* the missing code */
  uint16_t bin;                /* numeric */
  uint8_t kind, missing_left;
};

struct route_pass {
  cu_rows_view data;
  double *score; /* of all outputs */
  int any_unseen;
};

__device__ static __forceinline__ route_step step_of(const cu_view &v, const cu_rows_view &data, int32_t id) {
  const gbt_grow_node *node = &v.node[id];
  route_step s;
  s.left = node->left;
  s.kind = ROUTE_ASK;
  if (node->left == 0) {
    s.kind = ROUTE_LEAF;
    s.value = v.value[id];
    return s;
  }
  const cu_feature f = data.feat[node->split.feat];
  if (f.column < 0 || f.zero_bin >= 0) return s;
  const cu_column column = data.column[f.column];
  const cu_tile *t = &data.tile[column.tile];
  const uint32_t bit = (uint32_t)column.lane * (uint32_t)t->bits;
  s.kind = node->split.kind == GBT_SPLIT_NUMERIC ? ROUTE_NUMERIC : ROUTE_SET;
  s.at = t->at + (bit >> 5);
  s.words = (uint32_t)t->words;
  s.shift = bit & 31u;
  s.bits = (uint32_t)t->bits;
  s.n_bins = (uint32_t)f.n_bins;
  s.bin = (uint16_t)node->split.bin;
  s.missing_left = (uint8_t)node->split.missing_left;
  return s;
}

/* gbt_page_unseen: whether the cell is one of unseen_row. */
__device__ static __forceinline__ int is_unseen(const cu_rows_view &data, int32_t feat, uint32_t row) {
  const uint64_t end = data.unseen_beg[feat + 1],
                 low = cu_lower_bound(data.unseen_row, data.unseen_beg[feat], end, row);
  return low < end && data.unseen_row[low] == row;
}

/* The way of a row at a node, asked in full. */
__device__ static __forceinline__ int ask_node(const cu_view &v, const route_pass &pass, int32_t id, uint32_t row) {
  const gbt_grow_node *node = &v.node[id];
  const int32_t feat = node->split.feat, code = cu_code(pass.data, feat, row);
  if (pass.any_unseen && code == pass.data.feat[feat].n_bins && is_unseen(pass.data, feat, row)) return node->bulk_left;
  return cu_goes_left(v, node, code);
}

__device__ static __forceinline__ int take_step(const cu_view &v, const route_pass &pass, const route_step &s,
                                                int32_t id, uint32_t row) {
  if (s.kind == ROUTE_ASK) return ask_node(v, pass, id, row);
  const uint32_t *w = pass.data.words + s.at + (uint64_t)row * s.words;
  uint32_t code = w[0] >> s.shift;
  if (s.shift + s.bits > 32u) code |= w[1] << (32u - s.shift);
  code &= (1u << s.bits) - 1u;
  if (code == s.n_bins) return pass.any_unseen ? ask_node(v, pass, id, row) : s.missing_left;
  if (s.kind == ROUTE_NUMERIC) return code <= s.bin;
  return gbt_bit(v.sets + v.node[id].set_beg, v.node[id].set_words, code);
}

__device__ static __forceinline__ double value_of(const cu_view &v, const route_pass &pass, const route_step *step,
                                                  uint32_t row) {
  int32_t id = 0;
  for (;;) {
    if (id < ROUTE_STEPS) {
      const route_step s = step[id];
      if (s.kind == ROUTE_LEAF) return s.value;
      id = s.left + !take_step(v, pass, s, id, row);
    } else {
      const int32_t left = v.node[id].left;
      if (left == 0) return v.value[id];
      id = left + !ask_node(v, pass, id, row);
    }
  }
}

/* Rows [beg, end) of `rows`; when it is NULL, those rows. A block that has none returns at once. */
__device__ static __forceinline__ void route(const cu_view &v, const route_pass &pass, const uint32_t *rows,
                                             uint64_t beg, uint64_t end) {
  CU_SHARED(route_step, step, ROUTE_STEPS);
  const uint64_t n = (uint64_t)pass.data.n_rows, stride = (uint64_t)gridDim.x * blockDim.x;
  const int32_t n_nodes = v.tree->n_nodes, n_steps = n_nodes < ROUTE_STEPS ? n_nodes : (int32_t)ROUTE_STEPS;
  double *score = pass.score + (uint64_t)(uint32_t)v.tree->task.output * n;
  if (beg + (uint64_t)blockIdx.x * blockDim.x >= end) return;
  for (int32_t i = (int32_t)threadIdx.x; i < n_steps; i += (int32_t)blockDim.x) step[i] = step_of(v, pass.data, i);
  __syncthreads();
  for (uint64_t i = beg + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride) {
    uint32_t row = rows ? rows[i] : (uint32_t)i;
    score[row] += value_of(v, pass, step, row);
  }
}

/* Routes the rows of the training set that were not drawn; they follow the drawn ones. As in growth, levels that its
 * cuts do not know count as missing. */
__global__ static void k_route_train(cu_view all, route_pass pass, int32_t turn) {
  const cu_view v = cu_of_turn(all, turn);
  pass.data = cu_variant_of(pass.data, v.tree->task.variant);
  uint64_t beg = v.tree->n_in, end = (uint64_t)pass.data.n_rows;
  if (!cu_has_all(pass.data)) {
    beg = cu_lower_bound(v.row, beg, end, (uint32_t)pass.data.beg);
    end = cu_lower_bound(v.row, beg, end, (uint32_t)pass.data.end);
  }
  route(v, pass, v.row, beg, end);
}

__global__ static void k_route_data(cu_view all, route_pass pass, int32_t turn) {
  route(cu_of_turn(all, turn), pass, nullptr, (uint64_t)pass.data.beg, (uint64_t)pass.data.end);
}

/* Blocks that stay for many rows each, since they all make the steps first. */
static dim3 route_grid(const cu_backend *be, int64_t n) {
  return cu_grids_of_turn(be, ((uint64_t)n + CU_BLOCK - 1) / CU_BLOCK, 6);
}

/* The purpose of a pass of a data set. */
struct route_job {
  cu_backend *be;
  int32_t s, turn;
  int all; /* of the training set all rows, not those that were not drawn */
};

/* See cu_extent_fn. */
static gbt_status route_extent(void *arg, const cu_rows_view *extent, gbt_error *err) {
  const route_job *job = (const route_job *)arg;
  const cu_backend *be = job->be;
  const int64_t n = extent->end - extent->beg;
  const cu_rows_view its = job->all && job->s == 0 ? cu_variant_of(*extent, be->task[0].variant) : *extent;
  const route_pass pass = {its, be->data[job->s].score.at, job->s > 0 && extent->unseen_beg != nullptr};
  if (job->s == 0 && !job->all)
    CU_LAUNCH(k_route_train, route_grid(be, n), CU_BLOCK, 0, be->device.stream, be->view, pass, job->turn);
  else
    CU_LAUNCH(k_route_data, route_grid(be, n), CU_BLOCK, 0, be->device.stream, be->view, pass, job->turn);
  CU_LAUNCHED();
  return GBT_OK;
}

static gbt_status route_job_run(gbt_ctx *ctx, route_job *job, gbt_error *err) {
  cu_backend *be = job->be;
  const int32_t variant = job->s == 0 ? be->task[0].variant : 0;
  return cu_extents_pass(ctx, &be->device, &be->data[job->s], variant, route_extent, job, err);
}

/* Trees of an output one after the other, as a row's score is a sum in their order. */
gbt_status cu_route(gbt_ctx *ctx, cu_backend *be, int32_t turn, gbt_error *err) {
  const int rest = be->view.samples && !cu_grows_in_one_kernel(be); /* small.cu takes along all rows */
  for (int32_t s = rest ? 0 : 1; s <= be->n_valid; s++) {
    route_job job = {be, s, turn, 0};
    GBT_TRY(route_job_run(ctx, &job, err));
  }
  return GBT_OK;
}

gbt_status cu_route_set(gbt_ctx *ctx, cu_backend *be, int32_t which, int32_t turn, gbt_error *err) {
  route_job job = {be, which, turn, 1};
  return route_job_run(ctx, &job, err);
}
