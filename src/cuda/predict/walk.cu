/* Prediction, on the device: numbers to codes, rows through trees. See predict.cuh for the data.
 *
 *   k_codes   a thread takes a number: down the feature's tree of cuts, as the host does
 *   k_walk    a block takes CU_PREDICT_BLOCK x ROWS rows and an output. Their codes come into shared memory where they
 *             have room there; part after part of the output's trees comes by, too. A thread walks ROWS rows through a
 *             tree at the same time, as each walk is a chain of loads
 *   k_plain   a thread takes a row through trees that lie as in the forest
 *
 * Only one thread touches a row's score; it adds leaf values in tree order. Any grid is right. */
#include "predict.cuh"

struct cu_predict_codes {
  const cu_predict_feature *feat;
  const double *cut;
  uint32_t n_feats, n_rows, n_padded; /* rows from n_rows on count as 0.0 */
  uint64_t stride, code_stride;
  const double *x;
  uint16_t *code;
};

__global__ static void k_codes(cu_predict_codes a) {
  for (uint32_t j = blockIdx.y; j < a.n_feats; j += gridDim.y) {
    const cu_predict_feature f = a.feat[j];
    const double *cut = a.cut + f.cut_beg, *x = a.x + (uint64_t)(uint32_t)f.column * a.stride;
    for (uint32_t r = blockIdx.x * blockDim.x + threadIdx.x; r < a.n_padded; r += gridDim.x * blockDim.x) {
      double v = r < a.n_rows ? x[r] : 0.0;
      if (f.code_col[GBTI_PACK_LEVEL] >= 0)
        a.code[(uint64_t)(uint32_t)f.code_col[GBTI_PACK_LEVEL] * a.code_stride + r] = gbti_level_code(v);
      if (f.code_col[GBTI_PACK_LOW] < 0 && f.code_col[GBTI_PACK_HIGH] < 0) continue;
      uint32_t at = 1;
      for (uint32_t step = 0; step < f.n_steps; step++) at = gbti_cut_step(cut, at, v);
      uint16_t code = (uint16_t)(at - ((uint32_t)1 << f.n_steps));
      if (f.code_col[GBTI_PACK_LOW] >= 0)
        a.code[(uint64_t)(uint32_t)f.code_col[GBTI_PACK_LOW] * a.code_stride + r] = code;
      if (f.code_col[GBTI_PACK_HIGH] < 0) continue;
      a.code[(uint64_t)(uint32_t)f.code_col[GBTI_PACK_HIGH] * a.code_stride + r] = v != v ? (uint16_t)f.n_cuts : code;
    }
  }
}

struct cu_predict_walk {
  const cu_predict_node *blob;
  const cu_predict_tree *tree;
  const cu_predict_part *part;
  const uint32_t *part_beg;
  const uint16_t *code;
  uint64_t stride, code_stride, first_tree; /* first_tree: whose leaves are column 0 */
  uint32_t n_rows, n_code_cols, part_units;
  int32_t n_outputs;
  double *score;
  int32_t *leaf;
};

/* at[i]: the leaf that row i of the thread reaches; value[i]: the place of its value. Codes of row i in a column are
 * code[column * pitch + i * CU_PREDICT_BLOCK]. Rows that have arrived look at their leaf again, so that no load waits
 * for a branch. */
template <int ROWS, bool SETS>
__device__ static __forceinline__ void walk_nodes(const cu_predict_node *node, const uint32_t *words,
                                                  const uint16_t *code, uint64_t pitch, uint32_t *at, uint32_t *value) {
  int moving;
  CU_UNROLL
  for (int i = 0; i < ROWS; i++) at[i] = 0;
  do {
    cu_predict_node n[ROWS];
    uint32_t c[ROWS];
    CU_UNROLL
    for (int i = 0; i < ROWS; i++) n[i] = node[at[i]];
    CU_UNROLL
    for (int i = 0; i < ROWS; i++) c[i] = code[(n[i].what & 0xffffu) * pitch + (uint32_t)(i * CU_PREDICT_BLOCK)];
    moving = 0;
    CU_UNROLL
    for (int i = 0; i < ROWS; i++) {
      uint32_t order = n[i].what >> 16, right = c[i] > order;
      value[i] = n[i].next;
      if (SETS && order == GBTI_PACK_BY_LEVEL) {
        n[i] = node[n[i].next];
        right = gbti_goes_right_by_set(words, n[i].next + 1, words[n[i].next], c[i]);
        n[i].next = n[i].what;
      }
      at[i] = order == GBTI_PACK_LEAF ? at[i] : n[i].next + right;
      moving |= order != GBTI_PACK_LEAF;
    }
  } while (moving);
}

/* The same for a tree of layers: all rows ask the same at the same time. */
template <int ROWS>
__device__ static __forceinline__ void walk_layers(const cu_predict_node *node, const uint32_t *words, uint32_t depth,
                                                   const uint16_t *code, uint64_t pitch, uint32_t *at,
                                                   uint32_t *value) {
  CU_UNROLL
  for (int i = 0; i < ROWS; i++) value[i] = 0;
  for (uint32_t layer = 0; layer < depth; layer++) {
    const cu_predict_node n = node[layer];
    const uint16_t *column = code + (n.what & 0xffffu) * pitch;
    uint32_t order = n.what >> 16;
    CU_UNROLL
    for (int i = 0; i < ROWS; i++) {
      uint32_t c = column[i * CU_PREDICT_BLOCK], right = c > order;
      if (order == GBTI_PACK_BY_LEVEL) right = gbti_goes_right_by_set(words, n.next + 1, words[n.next], c);
      value[i] = 2 * value[i] + right;
    }
  }
  CU_UNROLL
  for (int i = 0; i < ROWS; i++) at[i] = ((const uint32_t *)(node + depth))[value[i]];
}

/* The thread's rows through a part's trees; from: the part's units. */
template <int ROWS>
__device__ static __forceinline__ void walk_part(const cu_predict_walk &a, const cu_predict_part &part,
                                                 const cu_predict_node *from, const uint16_t *code, uint64_t pitch,
                                                 uint32_t row, double *score) {
  for (uint32_t t = part.tree_beg; t < part.tree_end; t++) {
    const cu_predict_tree tree = a.tree[t];
    const cu_predict_node *node = from + (tree.at - part.at);
    uint32_t at[ROWS], value[ROWS];
    const uint32_t *words = (const uint32_t *)(node + tree.word_at);
    if (tree.kind == CU_PREDICT_LAYERS)
      walk_layers<ROWS>(node, words, tree.depth, code, pitch, at, value);
    else if (tree.kind == CU_PREDICT_NUMBERS)
      walk_nodes<ROWS, false>(node, words, code, pitch, at, value);
    else
      walk_nodes<ROWS, true>(node, words, code, pitch, at, value);
    CU_UNROLL
    for (int i = 0; i < ROWS; i++) {
      uint32_t r = row + (uint32_t)(i * CU_PREDICT_BLOCK);
      if (a.leaf == NULL) {
        cu_predict_node two = node[tree.value_at + value[i]];
        score[i] += gbt_from_bits((uint64_t)two.next << 32 | two.what);
      } else if (r < a.n_rows) {
        a.leaf[(tree.number - a.first_tree) * a.stride + r] = (int32_t)at[i];
      }
    }
  }
}

struct __align__(16) cu_predict_two {
  cu_predict_node unit[2];
};

template <int ROWS, bool NEAR> __global__ static void k_walk(cu_predict_walk a) {
  CU_DYN_SHARED(cu_predict_node, shared);
  enum { BLOCK_ROWS = CU_PREDICT_BLOCK * ROWS };
  uint32_t *near = (uint32_t *)(shared + a.part_units);
  uint32_t n_blocks = (a.n_rows + BLOCK_ROWS - 1) / BLOCK_ROWS, n_work = n_blocks * (uint32_t)a.n_outputs;
  for (uint32_t w = blockIdx.x; w < n_work; w += gridDim.x) {
    uint32_t output = w % (uint32_t)a.n_outputs, beg = w / (uint32_t)a.n_outputs * BLOCK_ROWS, row = beg + threadIdx.x;
    if (NEAR) {
      __syncthreads(); /* all threads have finished their walks */
      for (uint32_t i = threadIdx.x; i < a.n_code_cols * (BLOCK_ROWS / 2); i += CU_PREDICT_BLOCK)
        near[i] = *(const uint32_t *)(a.code + i / (BLOCK_ROWS / 2) * a.code_stride + beg + i % (BLOCK_ROWS / 2) * 2);
    }
    const uint16_t *code = NEAR ? (const uint16_t *)near + threadIdx.x : a.code + row;
    uint64_t pitch = NEAR ? (uint64_t)BLOCK_ROWS : a.code_stride;
    double score[ROWS];
    CU_UNROLL
    for (int i = 0; i < ROWS; i++) {
      uint32_t r = row + (uint32_t)(i * CU_PREDICT_BLOCK);
      score[i] = a.leaf == NULL && r < a.n_rows ? a.score[(uint32_t)output * a.stride + r] : 0.0;
    }
    for (uint32_t k = a.part_beg[output]; k < a.part_beg[output + 1]; k++) {
      const cu_predict_part part = a.part[k];
      const cu_predict_node *far = a.blob + part.at;
      __syncthreads(); /* codes are here; all threads have finished the part before */
      if (part.shared) {
        for (uint32_t i = threadIdx.x; i < part.n_units / 2; i += CU_PREDICT_BLOCK)
          ((cu_predict_two *)shared)[i] = ((const cu_predict_two *)far)[i];
        __syncthreads();
        walk_part<ROWS>(a, part, shared, code, pitch, row, score);
      } else {
        walk_part<ROWS>(a, part, far, code, pitch, row, score);
      }
    }
    CU_UNROLL
    for (int i = 0; i < ROWS; i++) {
      uint32_t r = row + (uint32_t)(i * CU_PREDICT_BLOCK);
      if (a.leaf == NULL && r < a.n_rows) a.score[(uint32_t)output * a.stride + r] = score[i];
    }
  }
}

struct cu_predict_plain_walk {
  const cu_predict_plain *tree;
  const gbt_node *node;
  const uint32_t *word;
  const double *x;
  uint64_t stride, first_tree;
  uint32_t n_trees, n_rows;
  double *score;
  int32_t *leaf;
};

__global__ static void k_plain(cu_predict_plain_walk a) {
  for (uint32_t r = blockIdx.x * blockDim.x + threadIdx.x; r < a.n_rows; r += gridDim.x * blockDim.x) {
    for (uint32_t t = 0; t < a.n_trees; t++) {
      const cu_predict_plain tree = a.tree[t];
      const gbt_node *node = a.node + tree.node_beg;
      uint32_t at = 0;
      while (node[at].left != 0) {
        double v = a.x[(uint64_t)(node[at].feat & GBT_NODE_FEATURE) * a.stride + r];
        at = node[at].left + (uint32_t)!gbt_goes_left(&node[at], v, a.word + tree.set_beg);
      }
      if (a.leaf == NULL)
        a.score[(uint32_t)tree.output * a.stride + r] += node[at].arg.value;
      else
        a.leaf[(tree.number - a.first_tree) * a.stride + r] = (int32_t)at;
    }
  }
}

static gbt_status code_rows(const cu_predict_device *device, const cu_predict_run *run, const cu_predict_chunk *chunk,
                            cudaStream_t stream, gbt_error *err) {
  if (run->feat.n == 0) return GBT_OK;
  uint32_t n_padded = (chunk->n_rows + CU_PREDICT_HEIGHT - 1) / CU_PREDICT_HEIGHT * CU_PREDICT_HEIGHT;
  cu_predict_codes codes = {run->feat.at,       run->cut.at, (uint32_t)run->feat.n,
                            chunk->n_rows,      n_padded,    chunk->stride,
                            chunk->code_stride, chunk->x,    chunk->code};
  unsigned columns = run->feat.n < 65535 ? (unsigned)run->feat.n : 65535u;
  dim3 grid(cu_predict_grid(device, n_padded / CU_BLOCK, 16), columns);
  CU_LAUNCH(k_codes, grid, CU_BLOCK, 0, stream, codes);
  CU_LAUNCHED();
  return GBT_OK;
}

/* Rows of a thread: ROWS when that leaves no part of the device without work. */
static int rows_per_thread(const cu_predict_device *device, uint32_t n_rows, int32_t n_outputs) {
  if (device->rows > 0) return device->rows > 1;
  uint64_t n_blocks = n_rows / (CU_PREDICT_BLOCK * CU_PREDICT_ROWS) * (uint64_t)(uint32_t)n_outputs;
  return n_blocks >= 2 * (uint64_t)(uint32_t)device->n_units;
}

static gbt_status pass_packed(const cu_predict_device *device, const cu_predict_runs *runs, const cu_predict_run *run,
                              int32_t n_outputs, const cu_predict_chunk *chunk, cudaStream_t stream, gbt_error *err) {
  cu_predict_walk walk = {run->blob.at,    run->tree.at,       run->part.at,    run->part_beg.at, chunk->code,
                          chunk->stride,   chunk->code_stride, runs->trees.beg, chunk->n_rows,    run->n_code_cols,
                          run->part_units, n_outputs,          chunk->score,    chunk->leaf};
  size_t units = run->part_units * sizeof(cu_predict_node);
  size_t codes = (size_t)run->n_code_cols * CU_PREDICT_BLOCK * sizeof(uint16_t);
  int rows = rows_per_thread(device, chunk->n_rows, n_outputs) ? CU_PREDICT_ROWS : 1;
  if (units + rows * codes > device->shared && device->rows == 0) rows = 1;
  int near = units + rows * codes <= device->shared;
  size_t shared = units + (near ? rows * codes : 0);
  void (*kernel)(cu_predict_walk) = rows > 1 ? (near ? k_walk<CU_PREDICT_ROWS, true> : k_walk<CU_PREDICT_ROWS, false>)
                                             : (near ? k_walk<1, true> : k_walk<1, false>);
  CU_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)device->shared));
  uint64_t height = (uint64_t)(CU_PREDICT_BLOCK * rows);
  unsigned grid = cu_predict_grid(device, (chunk->n_rows + height - 1) / height * (uint64_t)(uint32_t)n_outputs, 8);
  CU_LAUNCH(kernel, grid, CU_PREDICT_BLOCK, shared, stream, walk);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_predict_pass(const cu_predict_device *device, const cu_predict_runs *runs, const cu_predict_run *run,
                           int32_t n_outputs, const cu_predict_chunk *chunk, cudaStream_t stream, gbt_error *err) {
  if (run->packed) {
    GBT_TRY(code_rows(device, run, chunk, stream, err));
    return pass_packed(device, runs, run, n_outputs, chunk, stream, err);
  }
  cu_predict_plain_walk walk = {run->plain.at,   run->node.at,           run->word.at,  chunk->x,     chunk->stride,
                                runs->trees.beg, (uint32_t)run->plain.n, chunk->n_rows, chunk->score, chunk->leaf};
  CU_LAUNCH(k_plain, cu_predict_grid(device, (chunk->n_rows + CU_BLOCK - 1) / CU_BLOCK, 16), CU_BLOCK, 0, stream, walk);
  CU_LAUNCHED();
  return GBT_OK;
}
