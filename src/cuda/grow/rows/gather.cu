/* Codes of a tree's drawn rows side by side on the device, where not all codes are there: one pass over them when the
 * tree begins, in place of one or two for every step (Ou, "Out-of-Core GPU Gradient Boosting", 2020, section 3.4, for
 * gradient-based sampling). The twin of cpu/cpu_gather.c.
 *
 *   drawn   3  4  9  12 ..           rows at the places 0 1 2 3 .. n_in - 1
 *   codes   tiles of these rows      in every tree's state, for gather_rows places; drawn_gh: their 32-bit gradients
 *   row     0  1  2  3 ..  n_in | 0  1  2  5 ..       the even order: places of drawn rows, then the other rows
 *
 * While the tree grows its orders have places, so kernels find codes as ever (cu_train_words), and whatever else
 * belongs to a row by cu_rows_at. After the last split k_rows_again turns places into rows again; the end of the tree
 * uses only rows. Places ascend as their rows do, so the order stays the same.
 *
 * How many rows are drawn is not known before: there is room for the expected number and a good deal more than it
 * varies by. When more are drawn all the same the batch grows from the extents. */
#include "gather.cuh"

#include "../state/ops.cuh"

/* ---- kernels ---- */

/* Codes of those drawn rows that the extent has. */
__global__ static void __launch_bounds__(CU_BLOCK) k_gather(cu_view all, cu_rows_view extent) {
  const cu_view v = cu_view_of_block(all);
  const cu_tile *from = cu_tiles_of(extent, v.tree->task.variant), *to = cu_train_tiles(v);
  const uint32_t beg = cu_lower_bound(v.drawn, 0u, v.tree->n_in, (uint32_t)extent.beg);
  const uint32_t end = cu_lower_bound(v.drawn, beg, v.tree->n_in, (uint32_t)extent.end);
  for (int32_t k = 0; k < extent.n_tiles; k++) {
    const cu_tile a = from[k], b = to[k];
    const uint32_t words = (uint32_t)a.words;
    const uint64_t n = (uint64_t)(end - beg) * words, step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
      const uint32_t place = beg + (uint32_t)(i / words), w = (uint32_t)i & (words - 1u);
      v.codes[b.at + (int64_t)((uint64_t)place * words + w)] =
          extent.words[a.at + (int64_t)((uint64_t)v.drawn[place] * words + w)];
    }
  }
}

/* Both orders. Elements that are no places of this tree are not read any more. */
__global__ static void __launch_bounds__(CU_BLOCK) k_rows_again(cu_view all) {
  const cu_view v = cu_view_of_block(all);
  const uint32_t n = v.tree->n_in;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    for (uint32_t odd = 0; odd < 2; odd++) {
      uint32_t *row = v.row + odd * v.order_rows + i;
      if (*row < n) *row = v.drawn[*row];
    }
}

/* ---- the host's side ---- */

/* The root of n, or a little more. */
static int64_t root_above(int64_t n) {
  int64_t root = 1;
  while (root * root < n) root += root / 8 + 1;
  return root;
}

/* Draws of n rows vary by no more than the root of n; rules of sizes may be off by a little, as they count ranges. */
static int64_t most_drawn(const cu_backend *be) {
  enum { DEVIATIONS = 8, LEAST = 64, SHARE = 64 };
  const int64_t expected = (int64_t)((double)be->n_rows * be->sample.share) + 1;
  const int64_t most = expected + DEVIATIONS * root_above(expected) + expected / SHARE + LEAST;
  return most < be->n_rows ? most : be->n_rows;
}

gbt_status cu_gather_plan(cu_backend *be, gbt_error *err) {
  const cu_dataset_spec spec = cu_dataset_spec_of(be);
  const int64_t most = most_drawn(be) * (100 - be->hooks.less_gathered) / 100;
  cu_gathered *g = &be->gather;
  GBT_TRY(cu_plan_make(&be->mem, &spec, be->layout, most, 1, &g->plan, err));
  be->view.gather_rows = (uint64_t)most;
  be->view.gather_words = g->plan.n_words + 1;
  return GBT_OK;
}

gbt_status cu_gather_open(cu_backend *be, gbt_error *err) {
  cu_gathered *g = &be->gather;
  const cu_dataset *data = &be->data[0];
  const size_t n = (size_t)g->plan.n_tiles, n_variants = (size_t)data->from->n_variants;
  if (be->view.shared) return GBT_OK; /* ranks grow in the same way */
  if (be->view.gather_rows == 0 || n == 0 || (cu_is_whole(data) && data->host_words == NULL)) return GBT_OK;
  GBT_ASSERT(g->plan.n_tiles == data->view.n_tiles);
  GBT_TRY(cu_new(&be->device.memory, &g->tile, n * n_variants, err));
  for (size_t v = 0; v < n_variants; v++)
    GBT_TRY(cu_put(&be->device, g->tile.at + v * n, g->plan.tile, n * sizeof *g->plan.tile, err));
  g->offered = 1;
  return GBT_OK;
}

void cu_gather_close(cu_backend *be) {
  cu_drop(&be->device.memory, &be->gather.tile);
  cu_plan_free(&be->mem, &be->gather.plan);
}

gbt_status cu_gather_begin(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  uint32_t most = 0;
  cu_use_extents(be);
  if (!be->gather.offered) return GBT_OK;
  GBT_TRY(cu_read_states(ctx, be, err));
  for (int32_t y = 0; y < be->view.n_trees; y++) {
    const uint32_t n_in = cu_down_of(be, y)->n_in;
    if (n_in > most) most = n_in;
  }
  if (most > be->view.gather_rows) return GBT_OK;
  be->view.gathered = 1;
  be->view.by_sides = be->view.listing = 0;
  be->view.train.beg = 0;
  be->view.train.end = be->n_rows;
  be->view.train.words = NULL;
  be->view.train.tile = be->gather.tile.at;
  be->view.train.copy = NULL;
  be->gather.n_batches++;
  return GBT_OK;
}

/* See cu_extent_fn. */
static gbt_status gather_extent(void *arg, const cu_rows_view *extent, gbt_error *err) {
  const cu_backend *be = (const cu_backend *)arg;
  const uint64_t n = be->view.gather_rows, rows = (uint64_t)(extent->end - extent->beg);
  const dim3 grid = cu_grids(be, ((n < rows ? n : rows) * CU_TILE_WORDS + CU_BLOCK - 1) / CU_BLOCK, 8);
  CU_LAUNCH(k_gather, grid, CU_BLOCK, 0, be->device.stream, be->view, *extent);
  CU_LAUNCHED();
  return GBT_OK;
}

gbt_status cu_gather_codes(gbt_ctx *ctx, cu_backend *be, gbt_error *err) {
  return be->view.gathered ? cu_train_pass(ctx, be, gather_extent, err) : GBT_OK;
}

gbt_status cu_gather_end(cu_backend *be, gbt_error *err) {
  if (!be->view.gathered) return GBT_OK;
  CU_LAUNCH(k_rows_again, cu_grids(be, (be->view.gather_rows + CU_BLOCK - 1) / CU_BLOCK, 8), CU_BLOCK, 0,
            be->device.stream, be->view);
  CU_LAUNCHED();
  cu_use_extents(be);
  return GBT_OK;
}
