/* Which trainings grow their trees by the kernel of small.cu, and what it is given. */
#include "small.cuh"

#include "../search/ops.cuh"

extern "C" {
#include "../../../gbt/tree/features.h"
}

enum : size_t { STATIC_BYTES = 16384 /* of shared memory that the kernel has without being asked, or a little more */ };
enum {
  MOST_TREES = 2,   /* of a batch: they grow one after the other here, side by side elsewhere */
  UNIT_ROWS = 8192, /* for each multiprocessor: sums of what 16 bits leave out stay far below 2^31 */
  CELL_ROWS = 65535 /* that 32-bit cells can hold */
};

/* Up to where the kernel is quicker than the steps, by bench/gpu/model.py and the machine code; nothing of it measured.
 * Clocks of a multiprocessor at 1.75 GHz, for a layer:
 *
 *   steps      7 launches, 1.5 us and a gap of 1 us each: 30,600; and for each row 24 bytes moved, at 17 a clock: 1.4,
 *              and 0.25 for additions of 40 % of the rows to four columns
 *   k_small    2 gates of 1.5 us, 4 us until data flow: 12,300; and for each row and group of columns 90 instructions
 *              where it goes and 45 where it is added, of a warp's 32 lanes, two a clock: 1.7
 *
 * so with r rows for each multiprocessor and n groups: 12,300 + 1.7 n r <= 30,600 + (1.4 + 0.25 n) r. In tenths: */
enum { GAIN = 183000, GROUP_ROW = 15, ROW = 14 };
static int is_quicker(int64_t rows, int64_t n_groups, int64_t units) {
  return rows <= UNIT_ROWS * units && (GROUP_ROW * n_groups - ROW) * rows <= GAIN * units;
}

/* Nodes of a layer whose histograms are built. */
static uint32_t most_builds(const cu_backend *be) {
  return be->params->max_depth > 2 ? 1u << (be->params->max_depth - 2) : 1u;
}

/* Columns of the tile in a group: 4, 2 or 1; 0: not even one has room. */
static int32_t columns_of_group(const cu_backend *be, const cu_tile *t) {
  const size_t cell = t->counts ? 12u : 8u, one = (size_t)t->n_codes * most_builds(be) * cell;
  const size_t room = be->device.shared_limit > STATIC_BYTES ? be->device.shared_limit - STATIC_BYTES : 0;
  for (int32_t n = CU_SMALL_COLS; n > 0; n /= 2)
    if (one * (size_t)n <= room) return n;
  return 0;
}

/* Groups of all tiles, and the most words of shared memory that one needs. group: NULL: only counts them. */
static int32_t list_groups(const cu_backend *be, cu_small_group *group, uint32_t *n_words) {
  int32_t n = 0;
  *n_words = 2u * (uint32_t)be->view.max_nodes; /* end_rows */
  for (int32_t t = 0; t < be->data[0].view.n_tiles; t++) {
    const cu_tile *tile = &be->data[0].host_tile[t];
    const int32_t cols = columns_of_group(be, tile);
    for (int32_t lane = 0; lane < tile->n_cols; lane += cols, n++) {
      const int32_t its = tile->n_cols - lane < cols ? tile->n_cols - lane : cols;
      const uint32_t words = (uint32_t)its * tile->n_codes * most_builds(be) * (tile->counts ? 3u : 2u);
      if (words > *n_words) *n_words = words;
      if (group) group[n] = {t, lane, its};
    }
  }
  return n;
}

/* Whether trees may grow here, as far as the data and parameters go. All else is hist.cu's and what follows. */
static int is_small(const cu_backend *be) {
  const cu_view *v = &be->view;
  const gbt_policy_kind kind = gbt_policy_of(be->params);
  const int64_t units = be->device.n_units;
  if (be->params->sampling_method != GBT_SAMPLE_UNIFORM || v->class_limit) return 0;
  if (gbt_policy_one_split(kind) || gbt_policy_one_leaf(kind) || be->together) return 0;
  if (v->renews || v->n_steps > 0 || v->policy.smooth > 0.0) return 0;
  if (be->params->max_depth < 1 || be->params->max_depth > CU_SMALL_DEPTH || be->bounds.looks > 0 || !be->bounds.keeps)
    return 0;
  if (cu_searches_each(be)) return 0;
  if (v->n_set_feats > 0 || be->layout->n_sparse > 0 || !gbt_features_uniform(be->rules)) return 0;
  if (be->base.most_trees > MOST_TREES || be->n_rows < 1 || be->data[0].view.n_columns < 1) return 0;
  for (int32_t t = 0; t < be->data[0].view.n_tiles; t++)
    if (columns_of_group(be, &be->data[0].host_tile[t]) == 0) return 0;
  uint32_t n_words;
  return is_quicker(be->n_rows, list_groups(be, NULL, &n_words), units);
}

/* Ranges of rows: so many that all blocks have an item, none of more rows than cells can hold. */
static void plan_ranges(const cu_backend *be, cu_small *small) {
  const int64_t n = be->n_rows, groups = small->view.n_groups;
  int64_t ranges = (int64_t)small->grid / groups, most = (n + CU_SMALL_THREADS - 1) / CU_SMALL_THREADS,
          least = (n + CELL_ROWS - 1) / CELL_ROWS;
  if (ranges > most) ranges = most;
  if (ranges < least) ranges = least;
  small->view.range_rows = (uint32_t)((n + ranges - 1) / ranges);
  small->view.n_ranges = (int32_t)ranges;
}

/* The roots' histograms of the first trees: those of later ones are cleared by the trees before them. */
static gbt_status clear_roots(const cu_backend *be, gbt_error *err) {
  for (int32_t y = 0; y < be->base.most_trees; y++) {
    const cu_view v = cu_view_of(be->view, (uint32_t)y);
    CU_TRY(cudaMemsetAsync(v.sum, 0, v.n_slots * sizeof *v.sum, be->device.stream));
    if (v.any_counts) CU_TRY(cudaMemsetAsync(v.count, 0, v.n_slots * sizeof *v.count, be->device.stream));
  }
  return GBT_OK;
}

static gbt_status open_arrays(cu_backend *be, cu_small *small, gbt_error *err) {
  const size_t n = (size_t)be->n_rows, n_groups = (size_t)small->view.n_groups;
  cu_memory *memory = &be->device.memory;
  cu_small_group *group = NULL;
  uint32_t n_words;
  GBT_TRY(gbt_mem_array(&be->mem, n_groups, sizeof *group, &group, err));
  (void)list_groups(be, group, &n_words);
  const gbt_status status = cu_new_from(&be->device, &small->group, group, n_groups, err);
  gbt_mem_free(&be->mem, group);
  GBT_TRY(status);
  GBT_TRY(cu_new(memory, &small->at, 2 * n, err));
  GBT_TRY(cu_new(memory, &small->count, 2 * (size_t)CU_SMALL_STEPS, err));
  GBT_TRY(cu_new(memory, &small->gate, 1, err));
  CU_TRY(cudaMemsetAsync(small->count.at, 0, small->count.n * sizeof *small->count.at, be->device.stream));
  CU_TRY(cudaMemsetAsync(small->gate.at, 0, sizeof *small->gate.at, be->device.stream));
  CU_TRY(cudaMemsetAsync(be->view.output, 0, (size_t)be->n_outputs * sizeof *be->view.output, be->device.stream));
  small->view.group = small->group.at;
  small->view.at = small->at.at;
  small->view.count = small->count.at;
  small->view.gate = small->gate.at;
  return GBT_OK;
}

void cu_small_close(cu_backend *be) {
  cu_memory *memory = &be->device.memory;
  if (!be->small) return;
  cu_drop(memory, &be->small->group);
  cu_drop(memory, &be->small->at);
  cu_drop(memory, &be->small->count);
  cu_drop(memory, &be->small->gate);
  gbt_mem_free(&be->mem, be->small);
  be->small = NULL;
}

gbt_status cu_small_open(cu_backend *be, gbt_error *err) {
  int runs = 0;
  CU_TRY(cudaDeviceGetAttribute(&runs, cudaDevAttrCooperativeLaunch, be->device.number));
  if (!runs || !is_small(be)) return GBT_OK;
  GBT_TRY(gbt_mem_zeros(&be->mem, 1, sizeof *be->small, &be->small, err));
  cu_small *small = be->small;
  small->grid = (unsigned)be->device.n_units;
  small->view.n_groups = list_groups(be, NULL, &small->view.n_words);
  small->shared = small->view.n_words * sizeof(uint32_t);
  GBT_TRY(cu_small_prepare(small, &runs, err));
  if (!runs) {
    cu_small_close(be);
    return GBT_OK;
  }
  plan_ranges(be, small);
  GBT_TRY(clear_roots(be, err));
  return open_arrays(be, small, err);
}
