/* A data set on the device, and what histograms and partitions want, put together by hand, for the tests of single
 * operations. Under tests/simt, or on a device. */
#pragma once

#include "../../src/cuda/grow/steps/ops.cuh"

extern "C" {
#include "made.h"
#include "stores.h"
}

enum { MAX_NODES = 128, MAX_ARRAYS = 64 };

/* A data set on the device and all that histograms and partitions want. */
struct world {
  gbt_ctx ctx;
  made *m;
  gbt_dataset *ds;
  gbt_params params;
  cu_backend be;
  cu_dataset data;
  cu_array<unsigned char> array[MAX_ARRAYS]; /* by up() */
  int32_t n_arrays;
  test_rng rng;
  int open;
  /* the contents of the device, on the host */
  uint32_t n; /* positions */
  uint32_t *row[2];
  gbt_gh16 *gh[2];
  gbt_gh32 *gh32; /* by row */
  gbt_grow_node node[MAX_NODES];
  int32_t n_nodes;
  cu_tree tree;
};

struct shape {
  uint64_t seed;
  int64_t n_rows;
  int32_t n_cols, max_bin, page_rows;
  const made_kind *kinds;
  int32_t min_data, n_units;
  size_t shared_limit;
  int32_t tile_cols = 0;
};

template <class T> static inline T *host(size_t n) { return (T *)test_alloc(n * sizeof(T)); }

static inline int counts_feature(const world *w, int32_t f) {
  return w->params.min_data_in_leaf > 1 || (w->ds->cuts->schema->feat[f].type == GBT_CATEGORICAL &&
                                            w->ds->cuts->feat[f].n_bins > w->params.max_cat_onehot);
}

static inline gbt_status world_data_make(world *w, gbt_dataset *ds, cu_dataset *data) {
  const cu_dataset_spec spec = cu_dataset_spec_of(&w->be);
  return cu_dataset_make(&w->ctx, &w->be.device, &spec, ds, data, test_err);
}

static inline void world_data_free(world *w, cu_dataset *data) { cu_dataset_free(&w->be.mem, &w->be.device, data); }

/* Takes the table. */
static inline int world_open_with(world *w, made *m, const shape *s) {
  memset(&w->ctx, 0, sizeof w->ctx);
  w->be = cu_backend();
  w->data = cu_dataset();
  w->n_arrays = 0;
  w->open = 0;
  w->row[0] = w->row[1] = NULL;
  w->gh[0] = w->gh[1] = NULL;
  w->gh32 = NULL;
  w->rng.state = gbt_mix64(s->seed ^ 0x415);
  w->ctx = test_ctx(NULL, 1);
  w->m = m;
  made_response(m, GBT_OBJ_SQUARED_ERROR, 1, s->seed);
  w->params = gbt_params_default();
  w->params.min_data_in_leaf = s->min_data;
  w->params.min_child_weight = 0.0;
  w->ds = made_dataset(&w->ctx, m, NULL, s->max_bin, s->page_rows);
  if (w->ds == NULL) return 0;
  cu_backend *be = &w->be;
  be->mem = gbt_mem_default();
  be->params = &w->params;
  be->n_outputs = 1;
  be->n_features = w->ds->cuts->n_features;
  be->n_rows = w->ds->rows.n;
  be->device.n_units = s->n_units;
  be->bounds.tile_cols = s->tile_cols;
  be->device.shared_limit = s->shared_limit;
  be->cuts = w->ds->cuts;
  be->layout = gbt_pages_layout(w->ds->pages);
  be->bounds.counts = host<int8_t>((size_t)be->n_features);
  for (int32_t f = 0; f < be->n_features; f++) {
    be->bounds.counts[f] = (int8_t)counts_feature(w, f);
    be->view.any_counts |= be->bounds.counts[f];
  }
  if (!CHECK(cudaStreamCreate(&be->device.stream) == cudaSuccess)) return 0;
  if (!CHECK_OK(world_data_make(w, w->ds, &w->data))) return 0;
  be->data = &w->data;
  be->view.train = w->data.view;
  be->view.all_rows = be->n_rows;
  be->view.n_slots = be->layout->n_slots;
  be->view.n_features = be->n_features;
  be->view.objective = gbt_objective_make(GBT_OBJ_SQUARED_ERROR, 1);
  be->view.n_trees = be->view.n_turns = 1;
  be->view.params = w->params;
  be->view.policy = gbt_grow_policy_of(&w->params, NULL);
  w->open = CHECK_OK(cu_hist_open(be, test_err));
  return w->open;
}

static inline int world_open(world *w, const shape *s) {
  return world_open_with(w, made_new(s->seed, s->n_rows, s->n_cols, s->kinds), s);
}

static inline void world_close(world *w) {
  cu_backend *be = &w->be;
  if (be->device.stream) cudaStreamSynchronize(be->device.stream);
  world_data_free(w, &w->data);
  for (int32_t i = 0; i < w->n_arrays; i++) cu_drop(&be->device.memory, &w->array[i]);
  if (be->device.stream) cudaStreamDestroy(be->device.stream);
  CHECK_EQ_U64(be->device.memory.bytes, 0);
  for (int k = 0; k < 2; k++) {
    free(w->row[k]);
    free(w->gh[k]);
  }
  free(w->gh32);
  free(be->bounds.counts);
  gbt_dataset_unref(w->ds);
  made_free(w->m);
  gbt_ctx_close(&w->ctx);
}

template <class T> static inline T *up(world *w, const T *from, size_t n) {
  if (!CHECK(w->n_arrays < MAX_ARRAYS)) return NULL;
  cu_array<unsigned char> *a = &w->array[w->n_arrays++];
  if (!CHECK_OK(cu_new(&w->be.device.memory, a, n * sizeof(T), test_err))) return NULL;
  T *to = (T *)(void *)a->at;
  if (from && n > 0) CHECK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess);
  return to;
}

template <class T> static inline T *down(const world *w, const T *from, size_t n) {
  T *to = host<T>(n);
  CHECK(cudaStreamSynchronize(w->be.device.stream) == cudaSuccess);
  if (n > 0) CHECK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
  return to;
}

static inline int32_t page_code(const gbt_dataset *ds, uint32_t row, int32_t f) {
  return code_at(ds->pages, ds->cuts, row, f);
}

/* ---- rows of nodes ---- */

/* Some of the rows in runs of n_nodes nodes, of different depths; gradients up to the ends of their ranges. */
static inline void fill_rows(world *w, int32_t n_nodes, double share, int wide) {
  cu_backend *be = &w->be;
  cu_view *v = &be->view;
  size_t n_rows = (size_t)be->n_rows;
  for (int k = 0; k < 2; k++) {
    w->row[k] = host<uint32_t>(n_rows);
    w->gh[k] = host<gbt_gh16>(n_rows);
    memset(w->row[k], 0xee, n_rows * sizeof(uint32_t));
    memset(w->gh[k], 0xdd, n_rows * sizeof(gbt_gh16));
  }
  w->gh32 = host<gbt_gh32>(n_rows);
  for (size_t r = 0; r < n_rows; r++) {
    gbt_gh32 ends[3] = {{INT32_MAX - 65536, UINT32_MAX - 65536}, {-(INT32_MAX - 65536), 0}, {-1, 65535}};
    gbt_gh32 any = {(int32_t)(test_below(&w->rng, 4294836223) - (INT32_MAX - 65536)), (uint32_t)test_u(&w->rng) / 2};
    w->gh32[r] = test_below(&w->rng, 4) ? any : ends[test_below(&w->rng, 3)];
  }
  uint32_t *picked = host<uint32_t>(n_rows);
  w->n = 0;
  for (uint32_t r = 0; r < n_rows; r++)
    if (test_unit(&w->rng) < share) picked[w->n++] = r;
  for (int32_t i = 0; i < n_nodes; i++) {
    gbt_grow_node *node = &w->node[i];
    *node = gbt_grow_empty(-1, (int32_t)test_below(&w->rng, 5));
    uint32_t beg = i == 0 ? 0 : w->node[i - 1].order_beg + w->node[i - 1].n_rows, left = w->n - beg;
    node->order_beg = beg;
    node->n_rows = i == n_nodes - 1                        ? left
                   : (uint32_t)test_below(&w->rng, 8) == 0 ? (uint32_t)test_below(&w->rng, 3)
                                                           : (uint32_t)((double)left * test_unit(&w->rng) * 0.6);
    if (node->n_rows > left) node->n_rows = left;
    node->own_rows = node->n_rows;
    node->number = i;
    /* rows of a node ascend or descend: the run takes every so many of what is left */
    uint32_t *row = w->row[node->depth & 1] + beg;
    memcpy(row, picked + beg, node->n_rows * sizeof *row);
    for (uint32_t p = 0; cu_descends(i) && p < node->n_rows / 2; p++) {
      const uint32_t x = row[p], q = node->n_rows - 1 - p;
      row[p] = row[q];
      row[q] = x;
    }
    for (uint32_t p = 0; p < node->n_rows; p++)
      w->gh[node->depth & 1][beg + p] = gbt_fix16(w->gh32[row[p]], (uint32_t)test_u(&w->rng));
  }
  free(picked);
  w->n_nodes = n_nodes;
  w->tree = cu_tree();
  w->tree.wide = wide;
  w->tree.n_in = w->n;
  w->tree.all_in = w->n;
  w->tree.n_nodes = n_nodes;
  w->tree.n_leaves = n_nodes;
  w->tree.unit.g = w->tree.unit.h = 1.0;
  v->order_rows = n_rows + 1;
  v->row = up<uint32_t>(w, NULL, 2 * v->order_rows);
  v->gh = up<gbt_gh16>(w, NULL, 2 * v->order_rows);
  for (int32_t k = 0; k < 2; k++) {
    const cu_order order = cu_order_at(*v, k, 0, 0);
    CHECK(cudaMemcpy(order.row, w->row[k], n_rows * sizeof *order.row, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(order.gh, w->gh[k], n_rows * sizeof *order.gh, cudaMemcpyHostToDevice) == cudaSuccess);
  }
  v->gradients = (uint32_t *)(void *)up(w, w->gh32, n_rows);
  v->max_nodes = MAX_NODES;
  v->node = up<gbt_grow_node>(w, NULL, MAX_NODES);
  CHECK(cudaMemcpy(v->node, w->node, (size_t)n_nodes * sizeof *w->node, cudaMemcpyHostToDevice) == cudaSuccess);
}
