/* A data set's pages as tiles on the device, its labels and weights.
 *
 *   pages:  strips of groups, a row of codes of 8 or 16 bits            (data/page.h)
 *   tiles:  columns side by side, packed                                (cu_tile in dataset.cuh; which ones: tiles.cu)
 *
 * Pages go up as they are (base/stage.cuh), but for strips that are there already (resident.cuh; of a mask the numbers
 * of its rows go up), and a kernel packs them: a byte a code is what the host has in memory anyway, copying it is
 * cheaper for the host than shifting bits, and the device packs as fast as it writes. Only tables with nearly all of
 * their columns below 5 bits would send less if the host packed. */
#include "tiles.cuh"

#include "../base/stage.cuh"
#include "resident.cuh"

#include <string.h>

/* A data set on its way up. */
struct cu_dataset_up {
  const gbt_mem *mem;
  cu_device *device;
  const cu_dataset_spec *spec;
  cu_dataset *data;
  const cu_plan *plan;
  int32_t variant; /* that is going up; of the first one all tiles are, of others those of derived features */
  int32_t first_strip, first_tile; /* of these */
  uint64_t before;                 /* bytes of a row in the strips before them */
  cu_resident *resident; /* strips that need not go up; NULL: none */
  int picks;                   /* rows of a mask are picked from these strips on the device */
  size_t row_bytes;            /* that a row takes in a half: its codes, and its number where it is picked */
  cu_stage stage;
  cu_array<unsigned char> raw; /* numbers of rows that are picked, then rows as they are in the pages */
  cu_array<cu_source> source;  /* of the plan */
};

/* An array on the device with this content. */
template <class T>
static gbt_status send_new(cu_dataset_up *up, cu_array<T> *to, const T *from, size_t n, gbt_error *err) {
  GBT_TRY(cu_new(&up->device->memory, to, n, err));
  return cu_stage_send(&up->stage, to->at, from, n * sizeof(T), err);
}

/* ---- tiles ---- */

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
      words[t.at + ((uint64_t)beg + r) * per_row + w] = word;
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

/* Where tiles are written. */
static uint32_t *tile_words(const cu_dataset *data) { return data->host_words ? data->host_words : data->words.at; }

/* n rows from row beg on of a strip that is there, behind the numbers of those rows. */
static gbt_status bring_rows(cu_dataset_up *up, const unsigned char *strip, size_t stride, int64_t beg, uint32_t n,
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

/* Rows [beg, beg + n) of the data set, all in one page. */
static gbt_status send_rows(cu_dataset_up *up, const gbt_page *page, int64_t beg, uint32_t n, gbt_error *err) {
  cu_dataset *data = up->data;
  const gbt_layout *layout = gbt_pages_layout(data->from->pages);
  const uint32_t *table_row = data->from->rows.table_row;
  const int32_t n_tiles = up->plan->n_tiles - up->first_tile;
  const size_t numbers = up->picks ? n * sizeof *table_row : 0;
  unsigned char *half;
  size_t at = numbers;
  GBT_TRY(cu_stage_next(&up->stage, &half, err));
  if (up->picks) memcpy(half, table_row + beg, numbers);
  GBT_TRY(cu_stage_copy(&up->stage, up->raw.at, numbers, err));
  for (int32_t s = up->first_strip; s < layout->n_strips; s++) {
    const size_t stride = gbti_row_bytes(&layout->group[layout->strip_beg[s]]), first = (size_t)(beg - page->row_beg);
    const char *strip = (const char *)page->strip[s];
    const unsigned char *there = cu_resident_strip(up->resident, data->from->pages, s);
    if (there)
      GBT_TRY(bring_rows(up, there, stride, beg, n, up->raw.at + at, err));
    else if (table_row)
      GBT_TRY(cu_gather(up->stage.ctx, half + at, strip, (uint32_t)page->row_beg, table_row + beg, n, stride, err));
    else
      GBT_TRY(cu_copy(up->stage.ctx, half + at, strip + first * stride, n * stride, err));
    if (!there)
      CU_TRY(cudaMemcpyAsync(up->raw.at + at, half + at, n * stride, cudaMemcpyHostToDevice, up->stage.stream));
    at += n * stride;
  }
  GBT_TRY(cu_stage_done(&up->stage, err));
  dim3 grid(cu_grid(up->device, ((uint64_t)n * CU_TILE_WORDS + CU_BLOCK - 1) / CU_BLOCK, 16),
            (unsigned)(n_tiles < 1024 ? n_tiles : 1024));
  const cu_tile *tile = data->tile.at + (size_t)up->variant * (size_t)up->plan->n_tiles + (size_t)up->first_tile;
  CU_LAUNCH(k_pack, grid, CU_BLOCK, 0, up->stage.stream, tile_words(data), tile, n_tiles, up->source.at, up->before,
            up->raw.at + numbers, beg, n);
  CU_LAUNCHED();
  return GBT_OK;
}

/* See gbt_pages_fn. What is sent is in a half of the stage before the pages are released. */
static gbt_status send_span(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  cu_dataset_up *up = (cu_dataset_up *)arg;
  const gbt_rows *rows = &up->data->from->rows;
  const int64_t most = (int64_t)(up->stage.bytes / up->row_bytes);
  (void)ctx;
  for (int32_t k = 0; k < span->n_pages; k++) {
    const gbt_page *page = &span->page[k];
    const int64_t end = gbt_row_from(rows, page->row_beg + page->n_rows);
    for (int64_t r = gbt_row_from(rows, page->row_beg), n; r < end; r += n) {
      n = end - r < most ? end - r : most;
      GBT_TRY(send_rows(up, page, r, (uint32_t)n, err));
    }
  }
  return GBT_OK;
}

/* Leaves out what all variants share, which has gone up with the first. */
static void leave_out_base(cu_dataset_up *up) {
  const gbt_layout *layout = gbt_pages_layout(up->data->from->pages);
  for (; layout->strip_beg[up->first_strip] < layout->derived; up->first_strip++)
    up->before += gbti_row_bytes(&layout->group[layout->strip_beg[up->first_strip]]);
  up->first_tile = up->plan->base_tiles;
  up->picks = 0;
}

static gbt_status send_pages(cu_dataset_up *up, gbt_error *err) {
  const gbt_dataset *ds = up->data->from;
  GBT_TRY(cu_new(&up->device->memory, &up->raw, up->stage.bytes, err));
  for (up->variant = 0; up->variant < ds->n_variants && up->first_tile < up->plan->n_tiles; up->variant++) {
    GBT_TRY(gbt_pages_pass(up->stage.ctx, ds->variant[up->variant], send_span, up, err));
    if (up->variant == 0) leave_out_base(up);
  }
  return GBT_OK;
}

/* The tiles of all variants. */
static gbt_status send_tile_list(cu_dataset_up *up, gbt_error *err) {
  const cu_plan *p = up->plan;
  const size_t n = (size_t)p->n_tiles, n_variants = (size_t)up->data->from->n_variants;
  cu_tile *tile;
  GBT_TRY(gbt_mem_array(up->mem, n * n_variants, sizeof *tile, &tile, err));
  for (size_t v = 0; v < n_variants; v++) {
    cu_tile *its = tile + v * n;
    memcpy(its, p->tile, n * sizeof *its);
    for (size_t k = (size_t)p->base_tiles; k < n; k++) its[k].at += v * p->variant_words;
  }
  const gbt_status status = send_new(up, &up->data->tile, tile, n * n_variants, err);
  gbt_mem_free(up->mem, tile);
  return status;
}

/* Tiles on the host do not stream: those of pages that do, as they are in files and their budget is smaller than they
 * are, may take as much memory again as that budget, and no more. Nothing is allocated before. */
static gbt_status check_budget(const gbt_page_store *pages, uint64_t bytes, gbt_error *err) {
  const uint64_t budget = gbt_pages_memory(pages);
  if (gbt_pages_bytes(pages) <= budget || bytes <= budget) return GBT_OK;
  return gbt_fail_device(err, GBT_E_MEM,
                         "the data's codes have no room on the device, and their %.1f MB of the host's memory exceed "
                         "the %.1f MB that `memory` allows for pages in files; raise `memory` of gbt_open() or "
                         "gbt_data(), or `device_memory`",
                         (double)bytes / 1048576.0, (double)budget / 1048576.0);
}

/* Room for the tiles of all variants. Page-locked memory has the same address on the device (unified addressing, which
 * all 64-bit systems have), so kernels make and read tiles there as they would on the device. */
static gbt_status make_room(cu_dataset_up *up, uint64_t n_words, gbt_error *err) {
  cu_dataset *data = up->data;
  if (!up->spec->on_host) return cu_new(&up->device->memory, &data->words, n_words, err);
  GBT_TRY(check_budget(data->from->pages, n_words * sizeof *data->host_words, err));
  data->host_bytes = (size_t)n_words * sizeof *data->host_words;
  return cu_host_alloc(data->host_bytes, &data->host_words, err);
}

static gbt_status send_tiles(cu_dataset_up *up, gbt_error *err) {
  const cu_plan *p = up->plan;
  GBT_TRY(send_new(up, &up->source, p->source, (size_t)p->n_columns, err));
  GBT_TRY(make_room(up, p->n_words + 1, err));
  GBT_TRY(send_new(up, &up->data->column, p->column, (size_t)p->n_columns, err));
  GBT_TRY(send_tile_list(up, err));
  if (p->n_tiles > 0) GBT_TRY(send_pages(up, err));
  CU_TRY(cudaStreamSynchronize(up->stage.stream));
  cu_drop(&up->device->memory, &up->raw); /* what follows has their room */
  cu_drop(&up->device->memory, &up->source);
  return GBT_OK;
}

/* ---- what is not in tiles ---- */

struct cu_sparse_up {
  cu_dataset_up *up;
  uint64_t before; /* entries of the pages before */
};

/* Where the list of a row of the data set begins in its page; that of the next row is where it ends. */
static const uint32_t *list_of(const gbt_rows *rows, const gbt_page *page, int64_t row) {
  return page->sparse_beg + ((rows->table_row ? (int64_t)rows->table_row[row] : row) - page->row_beg);
}

/* The entries of rows [beg, end) of a mask, all in one page. */
static gbt_status send_picked(cu_sparse_up *lists, const gbt_page *page, int64_t beg, int64_t end, uint64_t n,
                              gbt_error *err) {
  cu_dataset_up *up = lists->up;
  uint32_t *picked, *to;
  GBT_TRY(gbt_mem_array(up->mem, (size_t)n, sizeof *picked, &picked, err));
  to = picked;
  for (int64_t r = beg; r < end; r++) {
    const uint32_t *list = list_of(&up->data->from->rows, page, r);
    for (uint32_t e = list[0]; e < list[1]; e++) *to++ = page->sparse_slots[e];
  }
  gbt_status status =
      cu_stage_send(&up->stage, up->data->sparse_slot.at + lists->before, picked, (size_t)n * sizeof *picked, err);
  gbt_mem_free(up->mem, picked);
  return status;
}

static gbt_status send_lists(cu_sparse_up *lists, const gbt_page *page, gbt_error *err) {
  cu_dataset_up *up = lists->up;
  cu_dataset *data = up->data;
  const gbt_rows *rows = &data->from->rows;
  const int64_t most = (int64_t)(up->stage.bytes / sizeof(uint64_t));
  const int64_t beg = gbt_row_from(rows, page->row_beg), end = gbt_row_from(rows, page->row_beg + page->n_rows);
  uint64_t entries = 0;
  unsigned char *half;
  for (int64_t r = beg, n; r < end; r += n) {
    n = end - r < most ? end - r : most;
    GBT_TRY(cu_stage_next(&up->stage, &half, err));
    for (int64_t i = 0; i < n; i++) {
      const uint32_t *list = list_of(rows, page, r + i);
      ((uint64_t *)(void *)half)[i] = lists->before + entries;
      entries += list[1] - list[0];
    }
    GBT_TRY(cu_stage_copy(&up->stage, data->sparse_beg.at + r, (size_t)n * sizeof(uint64_t), err));
    GBT_TRY(cu_stage_done(&up->stage, err));
  }
  if (rows->table_row)
    GBT_TRY(send_picked(lists, page, beg, end, entries, err));
  else
    GBT_TRY(cu_stage_send(&up->stage, data->sparse_slot.at + lists->before, page->sparse_slots,
                          (size_t)entries * sizeof(uint32_t), err));
  lists->before += entries;
  return GBT_OK;
}

/* See gbt_pages_fn. */
static gbt_status send_lists_of_span(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  (void)ctx;
  for (int32_t k = 0; k < span->n_pages; k++) GBT_TRY(send_lists((cu_sparse_up *)arg, &span->page[k], err));
  return GBT_OK;
}

/* See gbt_pages_fn. Adds up the entries of the data set's rows. */
static gbt_status count_entries(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  cu_sparse_up *lists = (cu_sparse_up *)arg;
  const gbt_rows *rows = &lists->up->data->from->rows;
  for (int32_t k = 0; k < span->n_pages; k++) {
    const gbt_page *page = &span->page[k];
    const int64_t end = gbt_row_from(rows, page->row_beg + page->n_rows);
    GBT_TRY(gbt_ctx_poll(ctx, err));
    for (int64_t r = gbt_row_from(rows, page->row_beg); r < end; r++)
      lists->before += list_of(rows, page, r)[1] - list_of(rows, page, r)[0];
  }
  return GBT_OK;
}

static gbt_status send_sparse(cu_dataset_up *up, gbt_error *err) {
  cu_dataset *data = up->data;
  gbt_page_store *pages = data->from->pages;
  const size_t n_rows = (size_t)data->from->rows.n;
  cu_sparse_up lists = {up, 0}, all = {up, (uint64_t)gbt_pages_n_entries(pages)};
  if (gbt_pages_layout(pages)->n_sparse == 0) return GBT_OK;
  if (data->from->rows.table_row) {
    all.before = 0;
    GBT_TRY(gbt_pages_pass(up->stage.ctx, pages, count_entries, &all, err));
  }
  GBT_TRY(cu_new(&up->device->memory, &data->sparse_beg, n_rows + 1, err));
  GBT_TRY(cu_new(&up->device->memory, &data->sparse_slot, (size_t)all.before, err));
  GBT_TRY(gbt_pages_pass(up->stage.ctx, pages, send_lists_of_span, &lists, err));
  return cu_stage_send(&up->stage, data->sparse_beg.at + n_rows, &lists.before, sizeof lists.before, err);
}

/* Cells of unseen levels by feature, as gbt_pages_unseen has them: those of the data set's rows. row: room for all of
 * the pages' rows. */
static void pick_unseen(const gbt_rows *rows, size_t n_features, const size_t *all_beg, const uint32_t *all_row,
                        uint64_t *beg, uint32_t *row) {
  uint64_t n = 0;
  for (size_t f = 0; f < n_features; f++) {
    beg[f] = n;
    for (size_t i = all_beg[f]; i < all_beg[f + 1]; i++) {
      const int64_t at = gbt_row_from(rows, all_row[i]);
      if (rows->table_row && (at == rows->n || rows->table_row[at] != all_row[i])) continue;
      row[n++] = (uint32_t)at;
    }
  }
  beg[n_features] = n;
}

static gbt_status send_unseen(cu_dataset_up *up, gbt_error *err) {
  cu_dataset *data = up->data;
  const uint32_t *rows;
  const size_t *unseen = gbt_pages_unseen(data->from->pages, &rows), n = (size_t)data->from->cuts->n_features;
  uint64_t *beg = NULL;
  uint32_t *row = NULL;
  if (!unseen) return GBT_OK;
  gbt_status status = gbt_mem_array(up->mem, n + 1, sizeof *beg, &beg, err);
  if (status == GBT_OK) status = gbt_mem_array(up->mem, unseen[n], sizeof *row, &row, err);
  if (status == GBT_OK) {
    pick_unseen(&data->from->rows, n, unseen, rows, beg, row);
    status = send_new(up, &data->unseen_beg, beg, n + 1, err);
  }
  if (status == GBT_OK) status = send_new(up, &data->unseen_row, row, (size_t)beg[n], err);
  gbt_mem_free(up->mem, beg);
  gbt_mem_free(up->mem, row);
  return status;
}

static cu_feature feature_of(const cu_dataset_spec *spec, const gbt_dataset *ds, const cu_plan *p, int32_t f) {
  const gbt_layout *layout = gbt_pages_layout(ds->pages);
  const gbt_place *place = &layout->place[f];
  const gbt_feature_cuts *cuts = &ds->cuts->feat[f];
  int categorical = ds->cuts->schema->feat[f].type == GBT_CATEGORICAL;
  cu_feature to = cu_feature();
  to.column = place->group < 0 ? -1 : p->number[place->group * GBT_GROUP_MAX + place->pos];
  to.slot = place->slot_beg;
  to.n_slots = place->n_slots;
  to.first = place->group < 0 ? place->slot_beg - layout->sparse_slot : place->first;
  to.zero_bin = place->zero_bin;
  to.n_bins = cuts->n_bins;
  const int by_sets = gbt_cuts_by_sets(ds->cuts, f, spec->max_cat_onehot);
  to.kind = !categorical ? CU_NUMERIC : by_sets ? CU_SET : CU_ONEHOT;
  to.has_missing = cuts->has_missing && gbt_place_has_missing(place, cuts->n_bins);
  to.counts = spec->counts[f];
  return to;
}

static gbt_status send_features(cu_dataset_up *up, gbt_error *err) {
  const gbt_dataset *ds = up->data->from;
  size_t n = (size_t)ds->cuts->n_features;
  cu_feature *feat;
  GBT_TRY(gbt_mem_array(up->mem, n, sizeof *feat, &feat, err));
  for (size_t f = 0; f < n; f++) feat[f] = feature_of(up->spec, ds, up->plan, (int32_t)f);
  gbt_status status = send_new(up, &up->data->feat, feat, n, err);
  gbt_mem_free(up->mem, feat);
  return status;
}

static gbt_status send_all(cu_dataset_up *up, gbt_error *err) {
  cu_dataset *data = up->data;
  const gbt_dataset *ds = data->from;
  size_t n = (size_t)ds->rows.n, n_tiles = (size_t)up->plan->n_tiles;
  GBT_TRY(send_tiles(up, err));
  GBT_TRY(send_sparse(up, err));
  GBT_TRY(send_unseen(up, err));
  GBT_TRY(send_features(up, err));
  const double *label = ds->rows.field[GBT_LABEL], *weight = ds->rows.field[GBT_WEIGHT];
  if (label) GBT_TRY(cu_numbers_send(&up->device->memory, &up->stage, label, n, &data->label, err));
  if (weight) GBT_TRY(cu_numbers_send(&up->device->memory, &up->stage, weight, n, &data->weight, err));
  GBT_TRY(cu_new(&up->device->memory, &data->score, n * (size_t)up->spec->n_outputs, err));
  GBT_TRY(gbt_mem_array(up->mem, n_tiles, sizeof *data->host_tile, &data->host_tile, err));
  memcpy(data->host_tile, up->plan->tile, n_tiles * sizeof *data->host_tile);
  CU_TRY(cudaStreamSynchronize(up->stage.stream));
  return GBT_OK;
}

static void look_at(cu_dataset *data, const cu_plan *p) {
  cu_rows_view *v = &data->view;
  v->n_rows = data->from->rows.n;
  v->words = tile_words(data);
  v->tile = data->tile.at;
  v->column = data->column.at;
  v->feat = data->feat.at;
  v->n_tiles = p->n_tiles;
  v->n_columns = p->n_columns;
  v->n_features = data->from->cuts->n_features;
  v->sparse_beg = data->sparse_beg.at;
  v->sparse_slot = data->sparse_slot.at;
  v->sparse_first = gbt_pages_layout(data->from->pages)->sparse_slot;
  v->unseen_beg = data->unseen_beg.at;
  v->unseen_row = data->unseen_row.at;
}

/* Of the stage: no more than the largest part has, at least a row. */
static size_t half_bytes(const gbt_dataset *ds, size_t row_bytes) {
  size_t n = (size_t)ds->rows.n, tiles = n * row_bytes, most = n * sizeof(double) + sizeof(cu_feature);
  if (tiles > most) most = tiles;
  if (most > CU_STAGE_BYTES) most = CU_STAGE_BYTES;
  return row_bytes > most ? row_bytes : most;
}

gbt_status cu_dataset_make(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, gbt_dataset *ds,
                           cu_dataset *data, gbt_error *err) {
  cu_plan plan = cu_plan();
  cu_dataset_up up = cu_dataset_up();
  up.mem = &ctx->mem;
  up.device = device;
  up.spec = spec;
  up.data = data;
  up.plan = &plan;
  up.resident = cu_resident_of(ds->pages, device->number);
  up.picks = up.resident != NULL && ds->rows.table_row != NULL;
  if (up.resident != NULL) up.resident->users++;
  *data = cu_dataset();
  data->from = gbt_dataset_ref(ds);
  gbt_status status = cu_plan_make(up.mem, spec, gbt_pages_layout(ds->pages), ds->rows.n, ds->n_variants, &plan, err);
  up.row_bytes = (size_t)plan.row_bytes + (up.picks ? sizeof *ds->rows.table_row : 0);
  if (status == GBT_OK) status = cu_stage_open(ctx, half_bytes(ds, up.row_bytes), &up.stage, err);
  if (status == GBT_OK) status = send_all(&up, err);
  cu_stage_close(&up.stage); /* waits */
  if (up.resident != NULL) up.resident->users--;
  data->base_columns = plan.base_columns;
  cu_drop(&device->memory, &up.raw);
  cu_drop(&device->memory, &up.source);
  if (status == GBT_OK)
    look_at(data, &plan);
  else
    cu_dataset_free(up.mem, device, data);
  cu_plan_free(up.mem, &plan);
  return status;
}

void cu_dataset_free(const gbt_mem *mem, cu_device *device, cu_dataset *data) {
  cu_memory *memory = &device->memory;
  cu_drop(memory, &data->words);
  cu_drop(memory, &data->sparse_slot);
  cu_drop(memory, &data->unseen_row);
  cu_drop(memory, &data->sparse_beg);
  cu_drop(memory, &data->unseen_beg);
  cu_drop(memory, &data->tile);
  cu_drop(memory, &data->column);
  cu_drop(memory, &data->feat);
  cu_numbers_drop(memory, &data->label);
  cu_numbers_drop(memory, &data->weight);
  cu_drop(memory, &data->score);
  cu_drop(memory, &data->copy);
  cu_drop(memory, &data->copy_beg);
  cu_host_free(&data->host_score);
  cu_host_free(&data->host_words);
  gbt_mem_free(mem, data->host_tile);
  gbt_dataset_unref((gbt_dataset *)data->from);
  *data = cu_dataset();
}
