/* Metrics from exact sums over groups of rows, on the device: the bits of gbt_metric_of_cells. A row adds to cells by
 * atomics (metric/cells.h says what). So that blocks do not wait for each other where cells are few, there are several
 * copies of all cells, each for some of the blocks:
 *
 *   copy 0: cell 0, 1, ... | copy 1: cell 0, 1, ... | ...      k_merge adds the others to the first
 *
 * A limb takes 2^30 pieces below 2^32: a row adds to a cell at most twice, and there are up to 2^29 rows. */
#include "ops.cuh"

#include "../../base/exact.cuh"

extern "C" {
#include "../../../gbt/metric/cells.h"
}

enum { CELLS_ROOM = 14336, CELLS_COPIES = 64, CELL_WORDS = sizeof(gbt_exact_sum) / sizeof(int64_t) };

struct cu_cells {
  unsigned long long n_bad; /* labels that are no class */
  gbt_exact_sum cell[CELLS_ROOM]; /* all copies: 8 MB */
};

struct cell_rows {
  gbt_cells how;
  uint64_t n;
  const double *score;
  cu_numbers label, weight;
  uint32_t n_cells, n_copies;
};

__global__ static void k_cells(cell_rows r, cu_cells *cells) {
  const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  gbt_exact_sum *cell = cells->cell + (uint64_t)(blockIdx.x % r.n_copies) * r.n_cells;
  uint32_t n_bad = 0;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < r.n; i += step) {
    const gbt_cell_row row = {r.score + i, r.n, r.label[i], r.weight.at ? r.weight[i] : 1.0};
    gbt_cell_adds adds;
    gbt_cells_row(&r.how, &row, &adds);
    n_bad += adds.n == 0;
    CU_UNROLL for (int32_t k = 0; k < GBT_CELL_ADDS; k++)
      if (k < adds.n) cu_exact_add(&cell[adds.cell[k]], adds.value[k]);
  }
  if (n_bad > 0) atomicAdd(&cells->n_bad, (unsigned long long)n_bad);
}

__global__ static void k_merge(uint32_t n_cells, uint32_t n_copies, cu_cells *cells) {
  const uint64_t n = (uint64_t)n_cells * CELL_WORDS, step = (uint64_t)gridDim.x * blockDim.x;
  int64_t *word = (int64_t *)cells->cell;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    int64_t sum = word[i];
    for (uint32_t c = 1; c < n_copies; c++) sum += word[c * n + i];
    word[i] = sum;
  }
}

/* The sums of a stage as numbers; *bad: a label is no class. */
static gbt_status stage(cu_backend *be, const cell_rows &r, gbt_exact_sum *sum, double *cell, int *bad,
                        gbt_error *err) {
  cu_cells *cells = be->metrics.cells.at;
  const size_t bytes = r.n_cells * sizeof *sum;
  unsigned long long n_bad;
  CU_TRY(cudaMemsetAsync(&cells->n_bad, 0, sizeof n_bad, be->device.stream));
  CU_TRY(cudaMemsetAsync(cells->cell, 0, r.n_copies * bytes, be->device.stream));
  CU_LAUNCH(k_cells, cu_grid(&be->device, (r.n + CU_BLOCK - 1) / CU_BLOCK, 4), CU_BLOCK, 0, be->device.stream, r,
            cells);
  CU_LAUNCHED();
  CU_LAUNCH(k_merge, cu_grid(&be->device, (r.n_cells * (uint64_t)CELL_WORDS + CU_BLOCK - 1) / CU_BLOCK, 4), CU_BLOCK, 0,
            be->device.stream, r.n_cells, r.n_copies, cells);
  CU_LAUNCHED();
  CU_TRY(cudaMemcpyAsync(&n_bad, &cells->n_bad, sizeof n_bad, cudaMemcpyDeviceToHost, be->device.stream));
  CU_TRY(cudaMemcpyAsync(sum, cells->cell, bytes, cudaMemcpyDeviceToHost, be->device.stream));
  CU_TRY(cudaStreamSynchronize(be->device.stream));
  for (uint32_t c = 0; c < r.n_cells; c++) cell[c] = gbt_exact_value(&sum[c]);
  *bad = n_bad > 0;
  return GBT_OK;
}

static gbt_status stages(cu_backend *be, cell_rows *r, gbt_exact_sum *sum, double *cell, int *bad, gbt_error *err) {
  const int32_t n = gbt_cells_stages(&r->how);
  *bad = 0;
  for (int32_t s = 0; s < n && !*bad; s++) {
    if (s > 0) gbt_cells_next(&r->how, cell);
    GBT_TRY(stage(be, *r, sum, cell, bad, err));
  }
  return GBT_OK;
}

gbt_status cu_metric_of_cells(gbt_ctx *ctx, cu_backend *be, const cu_scored &rows, const gbt_metric *metric,
                              double *out, int *done, gbt_error *err) {
  const gbt_cells how = {*metric, rows.objective, 0, 0.0, 0.0};
  const uint32_t n_cells = (uint32_t)gbt_cells_count(&how);
  gbt_exact_sum *sum = nullptr;
  double *cell = nullptr;
  gbt_status status = GBT_OK;
  int bad = 0, refused;
  if (n_cells > CELLS_ROOM) return GBT_OK; /* the host does the work */
  GBT_TRY(cu_metric_room(&be->device.memory, &be->metrics.cells, 1, &refused, err));
  if (refused) return GBT_OK;
  GBT_ASSERT(n_cells > 0);
  const uint32_t fit = CELLS_ROOM / n_cells;
  cell_rows r = {how,
                 rows.n,
                 rows.score,
                 rows.label,
                 rows.weight,
                 n_cells,
                 fit < CELLS_COPIES ? fit : (uint32_t)CELLS_COPIES};
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n_cells, sizeof *sum, &sum, err), done);
  GBT_TRY_GOTO(gbt_mem_array(&ctx->mem, n_cells, sizeof *cell, &cell, err), done);
  GBT_TRY_GOTO(stages(be, &r, sum, cell, &bad, err), done);
  if (!bad) *out = gbt_cells_value(&r.how, cell);
  *done = !bad;
done:
  gbt_mem_free(&ctx->mem, cell);
  gbt_mem_free(&ctx->mem, sum);
  return status;
}

void cu_metric_cells_close(cu_backend *be) { cu_drop(&be->device.memory, &be->metrics.cells); }
