/* A data set on the device: where its codes are stored, its labels and weights.
 *
 * cu_code_room decides which rows' tiles are on the device and which on the host; upload.cu makes tiles from the pages.
 * All fields of rows, and codes that are not in tiles, are on the device in any case. */
#include "upload.cuh"

#include <string.h>

/* A data set on its way up. */
struct cu_dataset_up {
  const gbt_mem *mem;
  cu_device *device;
  const cu_dataset_spec *spec;
  cu_dataset *data;
  cu_plan *plan;
  cu_upload pages; /* its stage brings everything */
  int32_t variant; /* that is going up; of the first one all tiles are, of others those of derived features */
};

/* An array on the device with this content. */
template <class T>
static gbt_status send_new(cu_dataset_up *up, cu_array<T> *to, const T *from, size_t n, gbt_error *err) {
  GBT_TRY(cu_new(&up->device->memory, to, n, err));
  return cu_stage_send(&up->pages.stage, to->at, from, n * sizeof(T), err);
}

/* ---- codes ---- */

/* See gbt_pages_fn. What is sent is in a half of the stage before the pages are released. */
static gbt_status send_span(void *arg, gbt_ctx *ctx, const gbt_page_span *span, gbt_error *err) {
  cu_dataset_up *up = (cu_dataset_up *)arg;
  const gbt_rows *rows = &up->data->from->rows;
  const int64_t most = cu_upload_rows(&up->pages), first = gbt_row_from(rows, span->row_beg);
  const int64_t last = gbt_row_from(rows, span->row_end);
  (void)ctx;
  for (int32_t e = 0; e < up->data->n_extents; e++) {
    const cu_extent *to = &up->data->extent[e];
    const cu_tile *tile = to->tile + (size_t)up->variant * (size_t)up->plan->n_tiles;
    const int64_t beg = first > to->beg ? first : to->beg, end = last < to->end ? last : to->end;
    for (int64_t r = beg, n; r < end; r += n) {
      n = end - r < most ? end - r : most;
      GBT_TRY(cu_upload_send(&up->pages, span, r, (uint32_t)n, to->words, tile, err));
    }
  }
  return GBT_OK;
}

static gbt_status send_pages(cu_dataset_up *up, gbt_error *err) {
  const gbt_dataset *ds = up->data->from;
  cu_upload *pages = &up->pages;
  for (up->variant = 0; up->variant < ds->n_variants && pages->first_tile < up->plan->n_tiles; up->variant++) {
    GBT_TRY(cu_pages_pass(pages->stage.ctx, ds, up->variant, ds->rows.n, send_span, up, err));
    if (up->variant == 0) cu_upload_leave_base(pages, up->plan);
  }
  return GBT_OK;
}

/* The tiles of all variants of rows [beg, end), as the plan places so many rows. */
static void list_tiles(const cu_plan *p, int64_t beg, int32_t n_variants, cu_tile *tile) {
  const size_t n = (size_t)p->n_tiles;
  for (int32_t v = 0; v < n_variants; v++) {
    cu_tile *its = tile + (size_t)v * n;
    memcpy(its, p->tile, n * sizeof *its);
    for (size_t k = (size_t)p->base_tiles; k < n; k++) its[k].at += (int64_t)((uint64_t)v * p->variant_words);
    for (size_t k = 0; k < n; k++) its[k].at -= beg * its[k].words;
  }
}

static gbt_status send_tile_lists(cu_dataset_up *up, gbt_error *err) {
  cu_dataset *data = up->data;
  const int32_t n_variants = data->from->n_variants;
  const size_t n = (size_t)up->plan->n_tiles * (size_t)n_variants;
  cu_tile *tile;
  GBT_TRY(gbt_mem_array(up->mem, n * (size_t)data->n_extents, sizeof *tile, &tile, err));
  for (int32_t e = 0; e < data->n_extents; e++) {
    cu_plan_rows(up->plan, data->extent[e].end - data->extent[e].beg, n_variants);
    list_tiles(up->plan, data->extent[e].beg, n_variants, tile + (size_t)e * n);
  }
  const gbt_status status = send_new(up, &data->tile, tile, n * (size_t)data->n_extents, err);
  for (int32_t e = 0; e < data->n_extents; e++) data->extent[e].tile = data->tile.at + (size_t)e * n;
  gbt_mem_free(up->mem, tile);
  return status;
}

static void add_extent(cu_dataset *data, int64_t beg, int64_t end, uint32_t *words) {
  const cu_extent extent = {beg, end, words, NULL};
  if (beg < end || data->from->rows.n == 0) data->extent[data->n_extents++] = extent;
}

/* Words that the tiles of so many rows take. One more: kernels read two neighbouring ones. */
static uint64_t words_of(cu_dataset_up *up, int64_t n_rows) {
  cu_plan_rows(up->plan, n_rows, up->data->from->n_variants);
  return up->plan->n_words + 1;
}

/* Device memory for the last rows; *beg: the first of them. What is free is not known to the byte, so fewer rows are
 * tried where not all have to be there. */
static gbt_status place_on_device(cu_dataset_up *up, uint64_t room, int64_t *beg, gbt_error *err) {
  cu_dataset *data = up->data;
  const int64_t n = data->from->rows.n;
  int64_t fit = room == CU_ALL_ROWS ? n : cu_plan_fit(up->plan, n, data->from->n_variants, room);
  gbt_status status = GBT_OK;
  for (; fit > 0 || n == 0; fit /= 2) {
    status = cu_new(&up->device->memory, &data->words, words_of(up, fit), err);
    if (status != GBT_E_MEM || room == CU_ALL_ROWS || n == 0) break;
    status = GBT_OK;
  }
  *beg = n - fit;
  if (status == GBT_OK) add_extent(data, *beg, n, data->words.at);
  return status;
}

/* The same of the host, for the rows before `end`. Where the system has no page-locked memory left, they are streamed.
 */
static void place_on_host(cu_dataset_up *up, uint64_t room, int64_t end, int64_t *beg) {
  cu_dataset *data = up->data;
  gbt_error no_room;
  const int64_t fit = cu_plan_fit(up->plan, end, data->from->n_variants, room);
  *beg = end;
  if (fit == 0) return;
  const size_t bytes = words_of(up, fit) * sizeof *data->host_words;
  if (cu_host_alloc(bytes, &data->host_words, &no_room) != GBT_OK) return;
  data->host_bytes = bytes;
  *beg = end - fit;
  add_extent(data, *beg, end, data->host_words);
}

static gbt_status make_codes(cu_dataset_up *up, cu_code_room room, gbt_error *err) {
  cu_dataset *data = up->data;
  cu_rows_view *v = &data->view;
  int64_t beg = 0;
  GBT_TRY(place_on_device(up, room.device, &beg, err));
  if (beg > 0) place_on_host(up, room.host, beg, &data->stream_end);
  GBT_TRY(send_tile_lists(up, err));
  if (up->plan->n_tiles > 0) GBT_TRY(send_pages(up, err));
  CU_TRY(cudaStreamSynchronize(up->pages.stage.stream));
  cu_drop(&up->device->memory, &up->pages.raw); /* what follows has their room */
  cu_drop(&up->device->memory, &up->pages.source);
  v->beg = v->end = 0;
  if (!cu_is_whole(data)) return GBT_OK;
  v->end = v->n_rows;
  v->words = data->extent[0].words;
  v->tile = data->extent[0].tile;
  return GBT_OK;
}

uint64_t cu_code_bytes(const cu_dataset *data) {
  const uint64_t n = (uint64_t)data->from->rows.n, n_variants = (uint64_t)(uint32_t)data->from->n_variants;
  uint64_t words = 0;
  for (int32_t k = 0; k < data->view.n_tiles; k++) {
    const cu_tile *t = &data->host_tile[k];
    words += n * (uint32_t)t->words * (t->first_col < data->base_columns ? 1u : n_variants);
  }
  return words * sizeof(uint32_t);
}

uint64_t cu_host_room(const gbt_dataset *ds) {
  const uint64_t memory = gbt_pages_memory(ds->pages), all = (uint64_t)gbt_pages_n_rows(ds->pages);
  const uint64_t n = (uint64_t)ds->rows.n;
  if (gbt_pages_bytes(ds->pages) <= memory || all == 0) return UINT64_MAX;
  return memory / all * n + memory % all * n / all;
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
  uint32_t *sparse_slot = up->data->sparse_slot.at + lists->before;
  gbt_status status = cu_stage_send(&up->pages.stage, sparse_slot, picked, (size_t)n * sizeof *picked, err);
  gbt_mem_free(up->mem, picked);
  return status;
}

static gbt_status send_lists(cu_sparse_up *lists, const gbt_page *page, gbt_error *err) {
  cu_dataset_up *up = lists->up;
  cu_dataset *data = up->data;
  const gbt_rows *rows = &data->from->rows;
  const int64_t most = (int64_t)(up->pages.stage.bytes / sizeof(uint64_t));
  const int64_t beg = gbt_row_from(rows, page->row_beg), end = gbt_row_from(rows, page->row_beg + page->n_rows);
  uint64_t entries = 0;
  unsigned char *half;
  for (int64_t r = beg, n; r < end; r += n) {
    n = end - r < most ? end - r : most;
    GBT_TRY(cu_stage_next(&up->pages.stage, &half, err));
    for (int64_t i = 0; i < n; i++) {
      const uint32_t *list = list_of(rows, page, r + i);
      ((uint64_t *)(void *)half)[i] = lists->before + entries;
      entries += list[1] - list[0];
    }
    GBT_TRY(cu_stage_copy(&up->pages.stage, data->sparse_beg.at + r, (size_t)n * sizeof(uint64_t), err));
    GBT_TRY(cu_stage_done(&up->pages.stage, err));
  }
  if (rows->table_row)
    GBT_TRY(send_picked(lists, page, beg, end, entries, err));
  else
    GBT_TRY(cu_stage_send(&up->pages.stage, data->sparse_slot.at + lists->before, page->sparse_slots,
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
    GBT_TRY(cu_pages_pass(up->pages.stage.ctx, data->from, 0, (int64_t)n_rows, count_entries, &all, err));
  }
  GBT_TRY(cu_new(&up->device->memory, &data->sparse_beg, n_rows + 1, err));
  GBT_TRY(cu_new(&up->device->memory, &data->sparse_slot, (size_t)all.before, err));
  GBT_TRY(cu_pages_pass(up->pages.stage.ctx, data->from, 0, (int64_t)n_rows, send_lists_of_span, &lists, err));
  return cu_stage_send(&up->pages.stage, data->sparse_beg.at + n_rows, &lists.before, sizeof lists.before, err);
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

/* A field's numbers, of one output after the other where they have their own; none: none. */
static gbt_status send_field(cu_dataset_up *up, gbt_field field, cu_numbers *to, gbt_error *err) {
  const gbt_rows *rows = &up->data->from->rows;
  const size_t n_outputs = rows->n_outputs[field] > 1 ? (size_t)rows->n_outputs[field] : 1;
  if (!rows->field[field]) return GBT_OK;
  return cu_numbers_send(&up->device->memory, &up->pages.stage, rows->field[field], (size_t)rows->n * n_outputs, to,
                         err);
}

/* All but the codes. */
static gbt_status make_rest(cu_dataset_up *up, gbt_error *err) {
  cu_dataset *data = up->data;
  const gbt_dataset *ds = data->from;
  size_t n = (size_t)ds->rows.n, n_tiles = (size_t)up->plan->n_tiles;
  GBT_TRY(send_new(up, &data->column, up->plan->column, (size_t)up->plan->n_columns, err));
  GBT_TRY(send_sparse(up, err));
  GBT_TRY(send_unseen(up, err));
  GBT_TRY(send_features(up, err));
  GBT_TRY(send_field(up, GBT_LABEL, &data->label, err));
  GBT_TRY(send_field(up, GBT_WEIGHT, &data->weight, err));
  GBT_TRY(cu_new(&up->device->memory, &data->score, n * (size_t)up->spec->n_outputs, err));
  GBT_TRY(gbt_mem_array(up->mem, n_tiles, sizeof *data->host_tile, &data->host_tile, err));
  cu_plan_rows(up->plan, ds->rows.n, ds->n_variants);
  memcpy(data->host_tile, up->plan->tile, n_tiles * sizeof *data->host_tile);
  CU_TRY(cudaStreamSynchronize(up->pages.stage.stream));
  return GBT_OK;
}

static void set_view(cu_dataset *data, const cu_plan *p) {
  cu_rows_view *v = &data->view;
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

/* The codes (room: where; NULL: not now), the rest, or both. */
static gbt_status make_parts(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, const cu_code_room *room,
                             int rest, cu_dataset *data, gbt_error *err) {
  const gbt_dataset *ds = data->from;
  cu_plan plan = cu_plan();
  cu_dataset_up up = cu_dataset_up();
  up.mem = &ctx->mem;
  up.device = device;
  up.spec = spec;
  up.data = data;
  up.plan = &plan;
  data->view.n_rows = ds->rows.n;
  gbt_status status = cu_plan_make(up.mem, spec, gbt_pages_layout(ds->pages), ds->rows.n, ds->n_variants, &plan, err);
  const size_t row_bytes = (size_t)plan.row_bytes + sizeof(uint32_t); /* its number, too, if it is picked */
  const int scarce = room && room->device != CU_ALL_ROWS;
  const size_t most = scarce ? cu_small_half(ds->rows.n, row_bytes) : half_bytes(ds, row_bytes);
  if (status == GBT_OK && room) status = cu_upload_open(ctx, device, ds, &plan, most, 1, &up.pages, err);
  if (status == GBT_OK && !room) status = cu_stage_open(ctx, most, &up.pages.stage, err);
  if (status == GBT_OK && room) status = make_codes(&up, *room, err);
  if (status == GBT_OK && rest) status = make_rest(&up, err);
  cu_upload_close(&up.pages); /* waits */
  data->base_columns = plan.base_columns;
  if (status == GBT_OK && rest) set_view(data, &plan);
  cu_plan_free(up.mem, &plan);
  if (status == GBT_OK && data->stream_end > 0) status = cu_ring_open(ctx, device, spec, data, err);
  if (status != GBT_OK) cu_dataset_free(up.mem, device, data);
  return status;
}

gbt_status cu_dataset_make(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, gbt_dataset *ds,
                           cu_dataset *data, gbt_error *err) {
  const cu_code_room room = {CU_ALL_ROWS, 0};
  *data = cu_dataset();
  data->from = gbt_dataset_ref(ds);
  return make_parts(ctx, device, spec, &room, 1, data, err);
}

gbt_status cu_dataset_begin(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, gbt_dataset *ds,
                            cu_dataset *data, gbt_error *err) {
  *data = cu_dataset();
  data->from = gbt_dataset_ref(ds);
  return make_parts(ctx, device, spec, NULL, 1, data, err);
}

gbt_status cu_dataset_fill(gbt_ctx *ctx, cu_device *device, const cu_dataset_spec *spec, cu_code_room room,
                           cu_dataset *data, gbt_error *err) {
  return make_parts(ctx, device, spec, &room, 0, data, err);
}

void cu_dataset_free(const gbt_mem *mem, cu_device *device, cu_dataset *data) {
  cu_memory *memory = &device->memory;
  cu_ring_close(mem, device, data);
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
