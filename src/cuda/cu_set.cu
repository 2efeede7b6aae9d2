/* A data set's pages as tiles on the device, its labels and weights.
 *
 *   pages:  strips of groups, a row of codes of 8 or 16 bits            (data/page.h)
 *   tiles:  columns side by side, packed                                (cu_tile in cu.cuh; which ones: cu_tiles.cu)
 *
 * Pages go up as they are, through two page-locked buffers in turn, and a kernel packs them: a byte a code is what the
 * host has in memory anyway, copying it is cheaper for the host than shifting bits, and the device packs as fast as it
 * writes. Only tables with nearly all of their columns below 5 bits would send less if the host packed. */
#include "cu_tiles.cuh"

#include <string.h>

enum : size_t { STAGE_BYTES = (size_t)16 << 20, COPY_BYTES = (size_t)1 << 20 };

/* ---- the way up ---- */

/* Two page-locked buffers: one is filled while the other is copied. */
struct cu_set_stage {
  gbt_ctx *ctx;
  cu_backend *be;
  size_t room; /* bytes of each */
  unsigned char *buffer[2];
  cudaEvent_t copied[2];
  int turn;
  cu_array<unsigned char> raw; /* on the device: rows as they are in the pages */
};

static gbt_status stage_open(cu_set_stage *st, size_t room, gbt_error *err) {
  st->room = room;
  for (int k = 0; k < 2; k++) {
    CU_TRY(cudaMallocHost(&st->buffer[k], room));
    CU_TRY(cudaEventCreate(&st->copied[k]));
  }
  return GBT_OK;
}

static void stage_close(cu_set_stage *st) {
  if (st->be->stream) (void)cudaStreamSynchronize(st->be->stream);
  for (int k = 0; k < 2; k++) {
    if (st->buffer[k]) (void)cudaFreeHost(st->buffer[k]);
    if (st->copied[k]) (void)cudaEventDestroy(st->copied[k]);
  }
  cu_drop(&st->be->memory, &st->raw);
}

/* The buffer whose turn it is, once its last copy is over. */
static gbt_status stage_begin(cu_set_stage *st, unsigned char **buffer, gbt_error *err) {
  GBT_TRY(gbt_ctx_poll(st->ctx, err));
  CU_TRY(cudaEventSynchronize(st->copied[st->turn]));
  *buffer = st->buffer[st->turn];
  return GBT_OK;
}

static gbt_status stage_copy(cu_set_stage *st, void *to, size_t bytes, gbt_error *err) {
  CU_TRY(cudaMemcpyAsync(to, st->buffer[st->turn], bytes, cudaMemcpyHostToDevice, st->be->stream));
  CU_TRY(cudaEventRecord(st->copied[st->turn], st->be->stream));
  st->turn = !st->turn;
  return GBT_OK;
}

struct cu_copy {
  unsigned char *to;
  const unsigned char *from;
  size_t bytes;
};

static void copy_task(void *arg, int64_t task, int thread) {
  const cu_copy *c = (const cu_copy *)arg;
  size_t beg = (size_t)task * COPY_BYTES, n = c->bytes - beg < COPY_BYTES ? c->bytes - beg : (size_t)COPY_BYTES;
  (void)thread;
  memcpy(c->to + beg, c->from + beg, n);
}

/* memcpy on all threads of the call, where it is worth it. */
static gbt_status copy(gbt_ctx *ctx, unsigned char *to, const void *from, size_t bytes, gbt_error *err) {
  cu_copy c = {to, (const unsigned char *)from, bytes};
  int64_t n = (int64_t)((bytes + COPY_BYTES - 1) / COPY_BYTES);
  if (n > 1) return gbt_parallel(ctx, n, copy_task, &c, err);
  if (bytes > 0) memcpy(to, from, bytes);
  return GBT_OK;
}

static gbt_status send(cu_set_stage *st, void *to, const void *from, size_t bytes, gbt_error *err) {
  unsigned char *buffer = NULL;
  for (size_t at = 0, n; at < bytes; at += n) {
    n = bytes - at < st->room ? bytes - at : st->room;
    GBT_TRY(stage_begin(st, &buffer, err));
    GBT_TRY(copy(st->ctx, buffer, (const char *)from + at, n, err));
    GBT_TRY(stage_copy(st, (char *)to + at, n, err));
  }
  return GBT_OK;
}

/* An array on the device with this content. */
template <class T>
static gbt_status send_new(cu_set_stage *st, cu_array<T> *to, const T *from, size_t n, gbt_error *err) {
  GBT_TRY(cu_new(&st->be->memory, to, n, err));
  return send(st, to->at, from, n * sizeof(T), err);
}

/* ---- tiles ---- */

/* Rows [beg, beg + n) of all tiles from their raw rows: a thread makes a word. */
__global__ static void k_pack(uint32_t *words, const cu_tile *tile, int32_t n_tiles, const cu_source *source,
                              const unsigned char *raw, int64_t beg, uint32_t n) {
  for (int32_t k = (int32_t)blockIdx.y; k < n_tiles; k += (int32_t)gridDim.y) {
    const cu_tile t = tile[k];
    const uint32_t per_row = (uint32_t)t.words, bits = (uint32_t)t.bits;
    const uint64_t all = (uint64_t)n * per_row, step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
      uint32_t w = (uint32_t)i & (per_row - 1u), first = w * 32u / bits, word = 0;
      uint64_t r = i / per_row;
      for (uint32_t c = first; c < (uint32_t)t.n_cols && c * bits < w * 32u + 32u; c++) {
        const cu_source from = source[(uint32_t)t.first_col + c];
        const unsigned char *at = raw + from.before * n + r * from.stride + from.at;
        uint32_t code = from.wide ? *(const uint16_t *)(const void *)at : *at;
        word |= c * bits >= w * 32u ? code << (c * bits - w * 32u) : code >> (w * 32u - c * bits);
      }
      words[t.at + ((uint64_t)beg + r) * per_row + w] = word;
    }
  }
}

/* Rows [beg, beg + n) of a page. */
static gbt_status send_rows(cu_set_stage *st, cu_set *set, const cu_plan *p, const cu_source *source,
                            const gbt_page *page, int32_t beg, uint32_t n, gbt_error *err) {
  const gbt_layout *layout = &set->from->pages->layout;
  unsigned char *buffer = NULL;
  size_t at = 0;
  GBT_TRY(stage_begin(st, &buffer, err));
  for (int32_t s = 0; s < layout->n_strips; s++) {
    const gbt_group *group = &layout->group[layout->strip_beg[s]];
    size_t stride = (size_t)group->stride * (group->wide ? 2u : 1u);
    GBT_TRY(copy(st->ctx, buffer + at, (const char *)page->strip[s] + (size_t)beg * stride, n * stride, err));
    at += n * stride;
  }
  GBT_TRY(stage_copy(st, st->raw.at, at, err));
  dim3 grid(cu_grid(st->be, ((uint64_t)n * CU_TILE_WORDS + CU_BLOCK - 1) / CU_BLOCK, 16),
            (unsigned)(p->n_tiles < 1024 ? p->n_tiles : 1024));
  CU_LAUNCH(k_pack, grid, CU_BLOCK, 0, st->be->stream, set->words.at, set->tile.at, p->n_tiles, source, st->raw.at,
            page->row_beg + beg, n);
  CU_LAUNCHED();
  return GBT_OK;
}

static gbt_status send_tiles(cu_set_stage *st, cu_set *set, const cu_plan *p, const cu_source *source, gbt_error *err) {
  const gbt_page_store *pages = set->from->pages;
  GBT_TRY(cu_new(&st->be->memory, &set->words, p->n_words + 1, err));
  GBT_TRY(send_new(st, &set->column, p->column, (size_t)p->n_columns, err));
  GBT_TRY(send_new(st, &set->tile, p->tile, (size_t)p->n_tiles, err));
  if (p->n_tiles == 0) return GBT_OK;
  GBT_TRY(cu_new(&st->be->memory, &st->raw, st->room, err));
  for (int32_t k = 0; k < pages->n_pages; k++) {
    const gbt_page *page = &pages->page[k];
    uint32_t n, most = (uint32_t)(st->room / p->row_bytes);
    for (int32_t r = 0; r < page->n_rows; r += (int32_t)n) {
      n = (uint32_t)(page->n_rows - r) < most ? (uint32_t)(page->n_rows - r) : most;
      GBT_TRY(send_rows(st, set, p, source, page, r, n, err));
    }
  }
  return GBT_OK;
}

/* ---- what is not in tiles ---- */

static gbt_status send_sparse(cu_set_stage *st, cu_set *set, gbt_error *err) {
  const gbt_page_store *pages = set->from->pages;
  uint64_t all = 0;
  unsigned char *buffer = NULL;
  if (pages->layout.n_sparse == 0) return GBT_OK;
  for (int32_t k = 0; k < pages->n_pages; k++) all += pages->page[k].sparse_beg[pages->page[k].n_rows];
  GBT_TRY(cu_new(&st->be->memory, &set->sparse_beg, (size_t)pages->n_rows + 1, err));
  GBT_TRY(cu_new(&st->be->memory, &set->sparse_slot, all, err));
  uint64_t before = 0;
  for (int32_t k = 0; k < pages->n_pages; k++) {
    const gbt_page *page = &pages->page[k];
    size_t most = st->room / sizeof(uint64_t), rows = (size_t)page->n_rows;
    uint32_t entries = page->sparse_beg[rows];
    for (size_t r = 0, n; r < rows; r += n) {
      n = rows - r < most ? rows - r : most;
      GBT_TRY(stage_begin(st, &buffer, err));
      for (size_t i = 0; i < n; i++) ((uint64_t *)(void *)buffer)[i] = before + page->sparse_beg[r + i];
      GBT_TRY(stage_copy(st, set->sparse_beg.at + page->row_beg + r, n * sizeof(uint64_t), err));
    }
    GBT_TRY(send(st, set->sparse_slot.at + before, page->sparse_slots, entries * sizeof(uint32_t), err));
    before += entries;
  }
  return send(st, set->sparse_beg.at + pages->n_rows, &before, sizeof before, err);
}

static gbt_status send_unseen(cu_set_stage *st, cu_set *set, gbt_error *err) {
  const gbt_page_store *pages = set->from->pages;
  size_t n = (size_t)pages->layout.n_features;
  uint64_t *beg;
  if (!pages->unseen_beg) return GBT_OK;
  GBT_TRY(gbt_mem_array(&st->be->mem, n + 1, sizeof *beg, &beg, err));
  for (size_t f = 0; f <= n; f++) beg[f] = pages->unseen_beg[f];
  gbt_status status = send_new(st, &set->unseen_beg, beg, n + 1, err);
  gbt_mem_free(&st->be->mem, beg);
  GBT_TRY(status);
  return send_new(st, &set->unseen_row, pages->unseen_row, pages->unseen_beg[n], err);
}

static cu_feature feature_of(const cu_backend *be, const gbt_dataset *ds, const cu_plan *p, int32_t f) {
  const gbt_place *place = &ds->pages->layout.place[f];
  const gbt_feature_cuts *cuts = &ds->cuts->feat[f];
  int categorical = ds->cuts->schema->feat[f].type == GBT_CATEGORICAL;
  cu_feature to = cu_feature();
  to.column = place->group < 0 ? -1 : p->number[place->group * GBT_GROUP_MAX + place->pos];
  to.slot = place->slot_beg;
  to.n_slots = place->n_slots;
  to.first = place->first;
  to.zero_bin = place->zero_bin;
  to.n_bins = cuts->n_bins;
  const int by_sets = gbt_cuts_by_sets(ds->cuts, f, be->params->max_cat_onehot);
  to.kind = !categorical ? CU_NUMERIC : by_sets ? CU_SET : CU_ONEHOT;
  to.has_missing = cuts->has_missing && gbt_place_has_missing(place, cuts->n_bins);
  to.counts = be->counts[f];
  return to;
}

static gbt_status send_features(cu_set_stage *st, cu_set *set, const cu_plan *p, gbt_error *err) {
  size_t n = (size_t)set->from->cuts->n_features;
  cu_feature *feat;
  GBT_TRY(gbt_mem_array(&st->be->mem, n, sizeof *feat, &feat, err));
  for (size_t f = 0; f < n; f++) feat[f] = feature_of(st->be, set->from, p, (int32_t)f);
  gbt_status status = send_new(st, &set->feat, feat, n, err);
  gbt_mem_free(&st->be->mem, feat);
  return status;
}

static gbt_status send_all(cu_set_stage *st, cu_set *set, const cu_plan *p, gbt_error *err) {
  const gbt_dataset *ds = set->from;
  size_t n = (size_t)ds->n_rows;
  cu_array<cu_source> source;
  gbt_status status = send_new(st, &source, p->source, (size_t)p->n_columns, err);
  if (status == GBT_OK) status = send_tiles(st, set, p, source.at, err);
  if (source.at) (void)cudaStreamSynchronize(st->be->stream);
  cu_drop(&st->be->memory, &source);
  GBT_TRY(status);
  cu_drop(&st->be->memory, &st->raw);
  GBT_TRY(send_sparse(st, set, err));
  GBT_TRY(send_unseen(st, set, err));
  GBT_TRY(send_features(st, set, p, err));
  if (ds->label) GBT_TRY(send_new(st, &set->label, ds->label, n, err));
  if (ds->weight) GBT_TRY(send_new(st, &set->weight, ds->weight, n, err));
  GBT_TRY(cu_new(&st->be->memory, &set->score, n * (size_t)st->be->n_outputs, err));
  GBT_TRY(gbt_mem_array(&st->be->mem, (size_t)p->n_tiles, sizeof *set->host_tile, &set->host_tile, err));
  memcpy(set->host_tile, p->tile, (size_t)p->n_tiles * sizeof *set->host_tile);
  CU_TRY(cudaStreamSynchronize(st->be->stream));
  return GBT_OK;
}

static void look_at(cu_set *set, const cu_plan *p) {
  cu_rows_view *v = &set->view;
  v->n_rows = set->from->n_rows;
  v->words = set->words.at;
  v->tile = set->tile.at;
  v->column = set->column.at;
  v->feat = set->feat.at;
  v->n_tiles = p->n_tiles;
  v->n_columns = p->n_columns;
  v->n_features = set->from->cuts->n_features;
  v->sparse_beg = set->sparse_beg.at;
  v->sparse_slot = set->sparse_slot.at;
  v->unseen_beg = set->unseen_beg.at;
  v->unseen_row = set->unseen_row.at;
}

/* Bytes of a staging buffer: no more than the largest part has, at least a row. */
static size_t stage_room(const gbt_dataset *ds, const cu_plan *p) {
  size_t n = (size_t)ds->n_rows, tiles = n * p->row_bytes, most = n * sizeof(double) + sizeof(cu_feature);
  if (tiles > most) most = tiles;
  if (most > STAGE_BYTES) most = STAGE_BYTES;
  return p->row_bytes > most ? (size_t)p->row_bytes : most;
}

gbt_status cu_set_make(gbt_ctx *ctx, cu_backend *be, gbt_dataset *ds, cu_set *set, gbt_error *err) {
  cu_plan plan = cu_plan();
  cu_set_stage stage = cu_set_stage();
  stage.ctx = ctx;
  stage.be = be;
  *set = cu_set();
  set->from = gbt_dataset_ref(ds);
  gbt_status status = cu_plan_make(be, &ds->pages->layout, ds->n_rows, &plan, err);
  if (status == GBT_OK) status = stage_open(&stage, stage_room(ds, &plan), err);
  if (status == GBT_OK) status = send_all(&stage, set, &plan, err);
  stage_close(&stage);
  if (status == GBT_OK)
    look_at(set, &plan);
  else
    cu_set_free(be, set);
  cu_plan_free(&be->mem, &plan);
  return status;
}

void cu_set_free(cu_backend *be, cu_set *set) {
  cu_drop(&be->memory, &set->words);
  cu_drop(&be->memory, &set->sparse_slot);
  cu_drop(&be->memory, &set->unseen_row);
  cu_drop(&be->memory, &set->sparse_beg);
  cu_drop(&be->memory, &set->unseen_beg);
  cu_drop(&be->memory, &set->tile);
  cu_drop(&be->memory, &set->column);
  cu_drop(&be->memory, &set->feat);
  cu_drop(&be->memory, &set->label);
  cu_drop(&be->memory, &set->weight);
  cu_drop(&be->memory, &set->score);
  if (set->host_score) (void)cudaFreeHost(set->host_score);
  gbt_mem_free(&be->mem, set->host_tile);
  gbt_dataset_unref((gbt_dataset *)set->from);
  *set = cu_set();
}
