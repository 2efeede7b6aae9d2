/* Passes over the codes of a data set, wherever they are stored: see dataset.cuh. Rows without an extent come by slot
 * after slot of a ring of two:
 *
 *   host            read, fill a half | read, fill the other half | ..
 *   ring's stream        wait for `used` 0 | copy | pack to slot 0 | `packed` 0 | wait for `used` 1 | copy | ..
 *   device's stream                                  wait for `packed` 0 | the pass's kernels | `used` 0 | ..
 *
 * So reading, copying and the kernels of three consecutive pieces overlap. Pages are pinned by the entering thread,
 * which unpacks and checks them on all threads; what it has copied to a half is not read again, so pages are released
 * before the device is through with them. */
#include "upload.cuh"

enum { RING_SLOTS = 2 };

struct cu_ring {
  cu_upload pages;
  int64_t rows; /* of a slot */
  uint64_t slot_words;
  cu_array<uint32_t> words;
  cu_array<cu_tile> place; /* tiles of a slot whose rows begin with 0 */
  cu_array<cu_tile> tile;  /* of each slot n_tiles of each variant, of which one variant is written at a time */
  cudaEvent_t packed[RING_SLOTS], used[RING_SLOTS];
  int turn;
};

/* ---- the ring ---- */

/* Packed codes may be twice as wide as before. */
uint64_t cu_ring_room(const gbt_dataset *ds) {
  const uint64_t n = (uint64_t)gbt_pages_n_rows(ds->pages), bytes = gbt_pages_bytes(ds->pages);
  return (1u + 2u * RING_SLOTS) * cu_small_half(ds->rows.n, n > 0 ? (size_t)(bytes / n + 1) : 1) + ((uint64_t)1 << 16);
}

static gbt_status open_slots(cu_device *device, const cu_dataset *data, cu_plan *plan, cu_ring *r, gbt_error *err) {
  const size_t n = (size_t)plan->n_tiles;
  r->rows = cu_upload_rows(&r->pages);
  if (r->rows > data->stream_end) r->rows = data->stream_end;
  cu_plan_rows(plan, r->rows, 1);
  r->slot_words = (plan->n_words + 1 + CU_TILE_WORDS - 1) / CU_TILE_WORDS * CU_TILE_WORDS;
  GBT_TRY(cu_new(&device->memory, &r->words, RING_SLOTS * (size_t)r->slot_words, err));
  GBT_TRY(cu_new(&device->memory, &r->tile, RING_SLOTS * n * (size_t)data->from->n_variants, err));
  GBT_TRY(cu_new_from(device, &r->place, plan->tile, n, err));
  for (int k = 0; k < RING_SLOTS; k++) {
    CU_TRY(cudaEventCreateWithFlags(&r->packed[k], cudaEventDisableTiming));
    CU_TRY(cudaEventCreateWithFlags(&r->used[k], cudaEventDisableTiming));
  }
  return GBT_OK;
}

gbt_status cu_ring_open(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, cu_dataset *data,
                        gbt_error *err) {
  const gbt_dataset *ds = data->from;
  cu_plan plan = cu_plan();
  GBT_TRY(gbt_mem_zeros(&ctx->mem, 1, sizeof *data->ring, &data->ring, err));
  cu_ring *r = data->ring;
  gbt_status status = cu_plan_make(&ctx->mem, spec, gbt_pages_layout(ds->pages), ds->rows.n, 1, &plan, err);
  const size_t half = cu_small_half(data->stream_end, (size_t)plan.row_bytes);
  if (status == GBT_OK) status = cu_upload_open(ctx, device, ds, &plan, half, 0, &r->pages, err);
  if (status == GBT_OK) status = open_slots(device, data, &plan, r, err);
  cu_plan_free(&ctx->mem, &plan);
  return status;
}

void cu_ring_close(const gbt_mem *mem, cu_device *device, cu_dataset *data) {
  cu_ring *r = data->ring;
  if (!r) return;
  cu_upload_close(&r->pages);
  for (int k = 0; k < RING_SLOTS; k++) {
    if (r->packed[k]) (void)cudaEventDestroy(r->packed[k]);
    if (r->used[k]) (void)cudaEventDestroy(r->used[k]);
  }
  cu_drop(&device->memory, &r->words);
  cu_drop(&device->memory, &r->tile);
  cu_drop(&device->memory, &r->place);
  gbt_mem_free(mem, r);
  data->ring = NULL;
}

/* ---- passes ---- */

struct cu_pass {
  cu_device *device;
  cu_dataset *data;
  int32_t variant;
  cu_extent_fn fn;
  void *arg;
};

/* Tiles whose rows begin with `beg`. */
__global__ static void k_begin_with(const cu_tile *place, int32_t n, int64_t beg, cu_tile *tile) {
  for (int32_t k = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x); k < n; k += (int32_t)(gridDim.x * blockDim.x)) {
    cu_tile t = place[k];
    t.at -= beg * t.words;
    tile[k] = t;
  }
}

/* Rows [beg, beg + n), all in the span, by the slot whose turn it is. */
static gbt_status stream_rows(cu_pass *p, const gbt_page_span *span, int64_t beg, int64_t n, gbt_error *err) {
  cu_ring *r = p->data->ring;
  const int32_t n_tiles = p->data->view.n_tiles;
  const size_t tiles = (size_t)n_tiles * (size_t)p->data->from->n_variants;
  const int turn = r->turn;
  cu_tile *its = r->tile.at + (size_t)turn * tiles, *tile = its + (size_t)p->variant * (size_t)n_tiles;
  cudaStream_t s = r->pages.stage.stream;
  cu_rows_view view = p->data->view;
  view.beg = beg;
  view.end = beg + n;
  view.words = r->words.at + (size_t)turn * (size_t)r->slot_words;
  view.tile = its;
  r->turn = !turn;
  CU_TRY(cudaStreamWaitEvent(s, r->used[turn], 0)); /* goes on at once when it was never recorded */
  const unsigned grid = cu_grid(p->device, ((uint64_t)(uint32_t)n_tiles + CU_BLOCK - 1) / CU_BLOCK, 1);
  CU_LAUNCH(k_begin_with, grid, CU_BLOCK, 0, s, r->place.at, n_tiles, beg, tile);
  CU_LAUNCHED();
  GBT_TRY(cu_upload_send(&r->pages, span, beg, (uint32_t)n, r->words.at + (size_t)turn * (size_t)r->slot_words, tile,
                         err));
  CU_TRY(cudaEventRecord(r->packed[turn], s));
  CU_TRY(cudaStreamWaitEvent(p->device->stream, r->packed[turn], 0));
  GBT_TRY(p->fn(p->arg, &view, err));
  CU_TRY(cudaEventRecord(r->used[turn], p->device->stream));
  return GBT_OK;
}

/* See gbt_pages_fn. */
static gbt_status stream_span(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  cu_pass *p = (cu_pass *)arg;
  const gbt_rows *rows = &p->data->from->rows;
  const int64_t most = p->data->ring->rows, last = gbt_row_from(rows, span->row_end);
  const int64_t end = last < p->data->stream_end ? last : p->data->stream_end;
  (void)ctx;
  for (int64_t r = gbt_row_from(rows, span->row_beg), n; r < end; r += n) {
    n = end - r < most ? end - r : most;
    GBT_TRY(stream_rows(p, span, r, n, err));
  }
  return GBT_OK;
}

gbt_status cu_extents_pass(gbt_ctx *ctx, cu_device *device, cu_dataset *data, int32_t variant, cu_extent_fn fn,
                           void *arg, gbt_error *err) {
  cu_pass pass = {device, data, variant, fn, arg};
  for (int32_t e = 0; e < data->n_extents; e++) {
    const cu_extent *extent = &data->extent[e];
    cu_rows_view view = data->view;
    view.beg = extent->beg;
    view.end = extent->end;
    view.words = extent->words;
    view.tile = extent->tile;
    GBT_TRY(fn(arg, &view, err));
  }
  if (data->stream_end == 0) return GBT_OK;
  data->ring->pages.stage.ctx = ctx; /* this call's: threads, and whom to ask whether to stop */
  return cu_pages_pass(ctx, data->from, variant, data->stream_end, stream_span, &pass, err);
}
