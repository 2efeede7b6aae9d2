/* The train set's dense codes once more, column by column, for the partition: the twin of cpu/cpu_columns.c.
 *
 *   tile         row 0: a b c d ..   row 1: a b c d ..   ...      a histogram reads whole rows
 *   copy[column] a a a a a ..        for all rows of the data     a split reads one code of many rows
 *
 * A sector of a tile holds one row's codes, one of the copy those of 32 rows: as long as a node has a good share of all
 * rows, the partition reads up to 32 times less. Columns of narrow tiles (a row is less than half of a sector) are not
 * worth it, neither are wide tables, whose histograms outweigh the partition. It is made last, when there is memory to
 * spare, of codes that are in one place: models do not depend on it. Of variants (data/extend.h) columns of derived
 * features are copied for each. */
#include "dataset.cuh"

enum {
  COPY_ROWS_MIN = 256,
  COPY_BYTES_MAX = 64 /* of a row */,
  COPY_WORDS_MIN = 4,
  COPY_SHARE = 4 /* of free memory */
};

static size_t code_bytes(uint32_t n_codes) { return n_codes > 256 ? 2 : 1; }

/* Where columns of every variant begin in the copy, CU_NO_COPY for those that have none; returns the bytes of all. */
static uint64_t plan_copy(const cu_dataset *data, const cu_column *column, uint64_t *beg) {
  const int32_t n = data->view.n_columns;
  uint64_t bytes = 0, a_row = 0;
  for (int32_t v = 0; v < data->from->n_variants; v++, beg += n)
    for (int32_t c = 0; c < n; c++) {
      const size_t size = code_bytes(column[c].n_codes);
      beg[c] = CU_NO_COPY;
      if (data->host_tile[column[c].tile].words < COPY_WORDS_MIN) continue;
      if (v > 0 && c < data->base_columns) {
        beg[c] = beg[c - n];
        continue;
      }
      beg[c] = bytes;
      bytes += ((uint64_t)data->view.n_rows * size + 31u) / 32u * 32u;
      a_row += v == 0 ? size : 0;
    }
  return a_row <= COPY_BYTES_MAX ? bytes : 0;
}

/* Columns from `first` on. Rows side by side in a block, columns of a tile one after the other: a tile's rows are read
 * once from memory. */
__global__ static void __launch_bounds__(CU_BLOCK)
    k_columns(cu_rows_view data, int32_t first, uint8_t *copy, const uint64_t *beg) {
  for (int64_t row = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; row < data.n_rows;
       row += (int64_t)gridDim.x * blockDim.x)
    for (int32_t c = first; c < data.n_columns; c++) {
      const uint64_t at = beg[c];
      if (at == CU_NO_COPY) continue;
      const uint32_t code = cu_column_code(data, c, (uint32_t)row);
      if (data.column[c].n_codes > 256u)
        ((uint16_t *)(void *)(copy + at))[row] = (uint16_t)code;
      else
        copy[at + (uint64_t)row] = (uint8_t)code;
    }
}

static gbt_status make_copy(cu_device *device, cu_dataset *data, const uint64_t *beg, uint64_t bytes, gbt_error *err) {
  cu_rows_view *v = &data->view;
  const unsigned grid = cu_grid(device, ((uint64_t)v->n_rows + CU_BLOCK - 1) / CU_BLOCK, 8);
  const size_t n = (size_t)v->n_columns;
  GBT_TRY(cu_new_from(device, &data->copy_beg, beg, n * (size_t)data->from->n_variants, err));
  GBT_TRY(cu_new(&device->memory, &data->copy, bytes, err));
  for (int32_t i = 0; i < data->from->n_variants; i++) {
    const int32_t first = i > 0 ? data->base_columns : 0;
    if (first < v->n_columns)
      CU_LAUNCH(k_columns, grid, CU_BLOCK, 0, device->stream, cu_variant_of(*v, i), first, data->copy.at,
                data->copy_beg.at + (size_t)i * n);
  }
  CU_LAUNCHED();
  CU_TRY(cudaStreamSynchronize(device->stream));
  v->copy = data->copy.at;
  v->copy_beg = data->copy_beg.at;
  return GBT_OK;
}

gbt_status cu_columns_make(const gbt_mem *mem, cu_device *device, cu_dataset *data, gbt_error *err) {
  const cu_rows_view *v = &data->view;
  size_t n = (size_t)v->n_columns;
  cu_column *column = NULL;
  uint64_t *beg = NULL, bytes = 0;
  gbt_status status = GBT_OK;
  if (v->n_rows < COPY_ROWS_MIN || n == 0 || !cu_is_whole(data)) return GBT_OK;
  GBT_TRY_GOTO(gbt_mem_array(mem, n, sizeof *column, &column, err), done);
  GBT_TRY_GOTO(gbt_mem_array(mem, n * (size_t)data->from->n_variants, sizeof *beg, &beg, err), done);
  GBT_TRY_GOTO(cu_get(device, column, v->column, n * sizeof *column, err), done);
  bytes = plan_copy(data, column, beg);
  if (bytes > 0 && bytes <= cu_free_bytes(&device->memory) / COPY_SHARE)
    status = make_copy(device, data, beg, bytes, err);
done:
  gbt_mem_free(mem, column);
  gbt_mem_free(mem, beg);
  return status;
}
