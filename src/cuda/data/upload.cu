/* Pages to tiles:
 *
 *   pages:  strips of groups, a row of codes of 8 or 16 bits            (data/page.h)
 *   tiles:  columns side by side, packed                                (cu_tile in dataset.cuh; which ones: tiles.cu)
 *
 * Pages go up as they are (base/stage.cuh), but for strips that are there already (resident.cuh; of a mask the numbers
 * of its rows go up), and a kernel packs them: a byte a code is what the host has in memory anyway, copying it is
 * cheaper for the host than shifting bits, and the device packs as fast as it writes. Only tables with nearly all of
 * their columns below 5 bits would send less if the host packed. */
#include "upload.cuh"

#include <string.h>

/* Rows [beg, beg + n) of some tiles from their raw rows, which lack the first `before` bytes of the strips: a thread
 * makes a word. */
__global__ static void k_pack(uint32_t *words, const cu_tile *tile, int32_t n_tiles, const cu_source *source,
                              uint64_t before, const unsigned char *raw, int64_t beg, uint32_t n) {
  for (int32_t k = (int32_t)blockIdx.y; k < n_tiles; k += (int32_t)gridDim.y) {
    const cu_tile t = tile[k];
    const uint32_t per_row = (uint32_t)t.words, bits = (uint32_t)t.bits;
    const uint64_t all = (uint64_t)n * per_row, step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
      uint32_t w = (uint32_t)i & (per_row - 1u), first = w * 32u / bits, word = 0;
      uint64_t r = i / per_row;
      for (uint32_t c = first; c < (uint32_t)t.n_cols && c * bits < w * 32u + 32u; c++) {
        const cu_source from = source[(uint32_t)t.first_col + c];
        const unsigned char *at = raw + (from.before - before) * n + r * from.stride + from.at;
        uint32_t code = from.wide ? *(const uint16_t *)(const void *)at : *at;
        word |= code << (c * bits - w * 32u);
      }
      words[t.at + (int64_t)(((uint64_t)beg + r) * per_row + w)] = word;
    }
  }
}

/* Some rows of a strip: a thread takes a byte, so that a row's come from memory together. */
__global__ static void k_pick(const unsigned char *strip, uint32_t stride, const uint32_t *pick, uint32_t n,
                              unsigned char *to) {
  const uint32_t all = n * stride, step = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step)
    to[i] = strip[(uint64_t)pick[i / stride] * stride + i % stride];
}

/* Copies n rows from row beg on of a strip on the device to `to`; where rows are picked, those whose numbers are at
 * up->raw. */
static gbt_status bring_rows(cu_upload *up, const unsigned char *strip, size_t stride, int64_t beg, uint32_t n,
                             unsigned char *to, gbt_error *err) {
  cudaStream_t s = up->stage.stream;
  if (up->picks) {
    GBT_ASSERT(n * (uint64_t)stride <= UINT32_MAX / 2); /* of a half */
    const uint64_t blocks = (n * (uint64_t)stride + CU_BLOCK - 1) / CU_BLOCK;
    CU_LAUNCH(k_pick, cu_grid(up->device, blocks, 16), CU_BLOCK, 0, s, strip, (uint32_t)stride,
              (const uint32_t *)(const void *)up->raw.at, n, to);
    CU_LAUNCHED();
  } else {
    CU_TRY(cudaMemcpyAsync(to, strip + (size_t)beg * stride, n * stride, cudaMemcpyDeviceToDevice, s));
  }
  return GBT_OK;
}

/* The same rows of a strip of the pages, one after the other, into a half. */
static gbt_status take_rows(cu_upload *up, const gbt_page_span *span, int32_t strip, size_t stride, int64_t beg,
                            uint32_t n, unsigned char *to, gbt_error *err) {
  const gbt_rows *rows = &up->from->rows;
  for (int32_t k = 0; k < span->n_pages; k++) {
    const gbt_page *page = &span->page[k];
    const char *codes = (const char *)page->strip[strip];
    int64_t first = gbt_row_from(rows, page->row_beg), end = gbt_row_from(rows, page->row_beg + page->n_rows);
    if (first < beg) first = beg;
    if (end > beg + n) end = beg + n;
    if (first >= end) continue;
    const size_t its = (size_t)(end - first);
    unsigned char *at = to + (size_t)(first - beg) * stride;
    if (rows->table_row)
      GBT_TRY(cu_gather(up->stage.ctx, at, codes, (uint32_t)page->row_beg, rows->table_row + first, its, stride, err));
    else
      GBT_TRY(cu_copy(up->stage.ctx, at, codes + (size_t)(first - page->row_beg) * stride, its * stride, err));
  }
  return GBT_OK;
}

static gbt_status send_strips(cu_upload *up, const gbt_page_span *span, int64_t beg, uint32_t n, unsigned char *half,
                              size_t at, gbt_error *err) {
  const gbt_layout *layout = gbt_pages_layout(up->from->pages);
  for (int32_t s = up->first_strip; s < layout->n_strips; s++) {
    const size_t stride = gbti_row_bytes(&layout->group[layout->strip_beg[s]]);
    const unsigned char *there = cu_resident_strip(up->resident, up->from->pages, s);
    if (there) {
      GBT_TRY(bring_rows(up, there, stride, beg, n, up->raw.at + at, err));
    } else {
      GBT_TRY(take_rows(up, span, s, stride, beg, n, half + at, err));
      CU_TRY(cudaMemcpyAsync(up->raw.at + at, half + at, n * stride, cudaMemcpyHostToDevice, up->stage.stream));
    }
    at += n * stride;
  }
  return GBT_OK;
}

gbt_status cu_pages_pass(gbt_ctx *ctx, const gbt_dataset *ds, int32_t variant, int64_t end, gbt_pages_fn fn, void *arg,
                         gbt_error *err) {
  gbt_page_store *pages = ds->variant[variant];
  const uint32_t *table_row = ds->rows.table_row;
  const int64_t page_rows = gbt_pages_page_rows(pages);
  if (end == 0) return GBT_OK;
  const int64_t first = table_row ? (int64_t)table_row[0] : 0, last = table_row ? (int64_t)table_row[end - 1] : end - 1;
  return gbt_pages_pass_part(ctx, pages, (int32_t)(first / page_rows), (int32_t)(last / page_rows) + 1, fn, arg, err);
}

gbt_status cu_upload_send(cu_upload *up, const gbt_page_span *span, int64_t beg, uint32_t n, uint32_t *words,
                          const cu_tile *tile, gbt_error *err) {
  const size_t numbers = up->picks ? n * sizeof(uint32_t) : 0;
  const int32_t n_tiles = up->n_tiles - up->first_tile;
  unsigned char *half;
  GBT_TRY(cu_stage_next(&up->stage, &half, err));
  if (up->picks) memcpy(half, up->from->rows.table_row + beg, numbers);
  GBT_TRY(cu_stage_copy(&up->stage, up->raw.at, numbers, err));
  GBT_TRY(send_strips(up, span, beg, n, half, numbers, err));
  GBT_TRY(cu_stage_done(&up->stage, err));
  dim3 grid(cu_grid(up->device, ((uint64_t)n * CU_TILE_WORDS + CU_BLOCK - 1) / CU_BLOCK, 16),
            (unsigned)(n_tiles < 1024 ? n_tiles : 1024));
  CU_LAUNCH(k_pack, grid, CU_BLOCK, 0, up->stage.stream, words, tile + up->first_tile, n_tiles, up->source.at,
            up->before, up->raw.at + numbers, beg, n);
  CU_LAUNCHED();
  return GBT_OK;
}

void cu_upload_leave_base(cu_upload *up, const cu_plan *plan) {
  const gbt_layout *layout = gbt_pages_layout(up->from->pages);
  for (; layout->strip_beg[up->first_strip] < layout->derived; up->first_strip++)
    up->before += gbti_row_bytes(&layout->group[layout->strip_beg[up->first_strip]]);
  up->first_tile = plan->base_tiles;
  up->picks = 0;
}

gbt_status cu_upload_open(gbt_ctx *ctx, cu_device *device, const gbt_dataset *from, const cu_plan *plan, size_t most,
                          int uses_resident, cu_upload *up, gbt_error *err) {
  up->from = from;
  up->device = device;
  up->n_tiles = plan->n_tiles;
  if (uses_resident) up->resident = cu_resident_of(from->pages, device->number);
  if (up->resident != NULL) up->resident->users++;
  up->picks = up->resident != NULL && from->rows.table_row != NULL;
  up->row_bytes = (size_t)plan->row_bytes + (up->picks ? sizeof(uint32_t) : 0);
  GBT_TRY(cu_stage_open(ctx, most > up->row_bytes ? most : up->row_bytes, &up->stage, err));
  GBT_TRY(cu_new(&device->memory, &up->source, (size_t)plan->n_columns, err));
  GBT_TRY(cu_stage_send(&up->stage, up->source.at, plan->source, (size_t)plan->n_columns * sizeof *plan->source, err));
  return cu_new(&device->memory, &up->raw, up->stage.bytes, err);
}

void cu_upload_close(cu_upload *up) {
  cu_stage_close(&up->stage);
  if (up->resident != NULL) up->resident->users--;
  if (up->device == NULL) return;
  cu_drop(&up->device->memory, &up->raw);
  cu_drop(&up->device->memory, &up->source);
  *up = cu_upload();
}
